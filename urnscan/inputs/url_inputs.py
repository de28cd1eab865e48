"""Inputs that a URL names, and the place of an output that is a URL."""

import dataclasses
from collections.abc import Callable, Collection, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from urnscan.errors import SourceError, SourceNote
from urnscan.inputs.selection import DELTA_LOG, LAKE, TEMPORARY_SUFFIX, Selection, with_next
from urnscan.stores.filesystems import open_bucket, open_file_system, open_store
from urnscan.stores.input import Input
from urnscan.stores.store import PAUSES, Entry, Result, Trouble, in_thread, patiently
from urnscan.stores.urls import HTTP, Remote, Url, parse_url


def find_remote(
    argument: str, selection: Selection, skip: Collection[str], *, is_pattern: bool = True
) -> Iterator[Input | SourceError]:
    """Find the inputs of a URL: an object, those of a folder, or those that match the URL if it may be a pattern.

    A page of the web is a folder only if its title says that it lists one. `skip`: names of inputs to pass over.
    """
    try:
        yield from _Finder(parse_url(argument), selection, skip).find(is_pattern=is_pattern)
    except SourceError as error:
        yield error


class _Finder:
    def __init__(self, url: Url, selection: Selection, skip: Collection[str]) -> None:
        self._selection = selection
        self._skip = skip
        self._name = url.name
        self._open(url)

    def _open(self, url: Url) -> None:
        self._url = url
        self._store = patiently(self._name, url, lambda: open_store(url))

    def find(self, *, is_pattern: bool) -> Iterator[Input | SourceError]:
        """Find the inputs: an object of exactly this name comes before objects that match it as a pattern."""
        url = self._url
        entry = patiently(self._name, url, lambda: self._store.find(self._store.path_of(url.path)))
        top, parts = url.pattern
        if entry is not None and entry.is_folder:
            yield from self._below(entry, [])
        elif entry is not None and (url.scheme in HTTP or not url.path.endswith("/")):
            yield self._input(entry)
        elif not parts or not is_pattern:
            yield SourceError(self._name, "does not exist")
        else:
            # The query of a page does not belong to the pages below it.
            self._open(Url(url.scheme, url.user, url.host, top, "" if url.scheme in HTTP else url.options))
            found = None
            for found in self._below(Entry(self._store.path_of(top), "", is_folder=True), parts):
                yield found
            if found is None:
                yield SourceError(self._name, "does not exist, and nothing matches it as a pattern")

    def _below(self, top: Entry, pattern: list[str]) -> Iterator[Input | SourceError]:
        """Find the inputs below a folder that match the parts of a pattern, depth first, in the order of a local walk.

        A folder that matches the whole pattern is walked: what is in it is an input if the selection takes it.
        """
        parts = [part for part in pattern if part]
        # The folders on the way down: entries that are left; parts of the pattern that may match next (behind the last:
        # the folder is being walked); path from the walked folder on.
        way = [(self._entries(top), with_next(parts, {0}), "")]
        while way:
            entries, wanted, above = way[-1]
            entry = next(entries, None)
            if entry is None:
                way.pop()
                continue
            if isinstance(entry, SourceError):
                yield entry
                continue
            is_walked = len(parts) in wanted
            path = above + entry.name
            if is_walked:
                is_taken = self._selection.takes(entry.name, path, is_folder=entry.is_folder)
                reached = wanted if is_taken else set()
            else:
                reached = {at + 1 for at in wanted if parts[at] != "**" and fnmatchcase(entry.name, parts[at])}
                reached |= {at for at in wanted if parts[at] == "**" and entry.is_folder}
            if entry.is_folder:
                if reached:
                    way.append((self._entries(entry), with_next(parts, reached), path + "/" if is_walked else ""))
            elif len(parts) in reached and (is_walked or pattern[-1]):
                source = self._input(entry)
                if source.name not in self._skip:
                    yield source

    def _entries(self, folder: Entry) -> Iterator[Entry | SourceError]:
        """List a folder, sorted by the octets of the names; one error for a folder that cannot be listed."""
        name = self._store.name_of(folder.path)
        try:
            entries = patiently(name, self._url, lambda: list(self._store.entries(folder.path)))
        except SourceError as error:
            yield error
            return
        entries.sort(key=lambda entry: (entry.name.encode("utf-8", "surrogateescape"), entry.is_folder))
        for entry in entries:
            # Keys in object stores may have an empty part; the libraries take such a folder for the one it is in.
            if not entry.name or len(entry.path) <= len(folder.path.rstrip("/")):
                yield SourceError(name, 'objects below it with "//" in their names cannot be read')
            elif not entry.name.endswith(TEMPORARY_SUFFIX):
                if entry.is_folder and entry.name == DELTA_LOG:
                    yield SourceNote(name, LAKE)
                yield entry

    def _input(self, entry: Entry) -> Input:
        name = self._store.name_of(entry.path)
        return Input(name, None, entry.size, Remote(self._url, entry.path, name), entry.mark)


class RemotePlace:
    """Place of an output that is a URL. Methods raise SourceError, the first one too."""

    def __init__(self, argument: str) -> None:
        url = parse_url(argument)
        self.name = url.name
        if url.scheme in HTTP:
            raise SourceError(self.name, "nothing can be written to the web; name a file or an object store")
        if url.path.strip("/") == "" or url.path.endswith("/"):
            raise SourceError(self.name, "names a folder; name a file in it")
        self.base_name = url.path.rsplit("/", 1)[-1]
        self._url = url
        self._store = patiently(self.name, url, lambda: open_file_system(url, tries=len(PAUSES)))
        self._path = patiently(self.name, url, lambda: self._store.path_of(url.path))

    def find(self) -> Entry | None:
        """Entry that is there now."""
        return patiently(self.name, self._url, lambda: self._store.find(self._path))

    def put(self, file: Path) -> None:
        """Copy a file there; it appears when it is whole, and never if the copying is interrupted."""
        in_thread(lambda: patiently(self.name, self._url, lambda: self._put(file))).result()

    def _put(self, file: Path) -> None:
        self._store.put(file, self._path)
        found = self._store.find(self._path)
        if found is None or found.size != file.stat().st_size:
            raise Trouble("what arrived is not what was sent", passing=True)


class RemoteFolder:
    """Folder of outputs in a store that pyarrow reaches. Methods raise SourceError, the first one too."""

    def __init__(self, url: Url) -> None:
        self.url = url
        if url.path.strip("/") == "":
            raise SourceError(url.name, "names a bucket; name a folder in it")
        self._store = patiently(url.name, url, lambda: open_bucket(url, tries=len(PAUSES)))
        self._path = patiently(url.name, url, lambda: self._store.path_of(url.path))

    def beside(self, suffix: str) -> "RemoteFolder":
        """The folder with a longer name."""
        return RemoteFolder(dataclasses.replace(self.url, path=self.url.path.rstrip("/") + suffix))

    def exists(self, name: str = "") -> bool:
        """Tell if there is a file of this name in the folder, or the folder itself."""
        return self._patiently(lambda: self._store.find(self._inside(name))) is not None

    def put(self, file: Path, name: str) -> None:
        """Copy a file into the folder."""
        self._patiently(lambda: self._store.put(file, self._inside(name)))

    def take(self, folder: "RemoteFolder", name: str, new_name: str) -> None:
        """Move a file of another folder of the bucket to this one."""
        path = self._store.path_of(f"{folder.url.path.rstrip('/')}/{name}")
        self._patiently(lambda: self._store.move(path, self._inside(new_name)))

    def delete(self) -> None:
        """Delete the folder with all that is in it, if it is there."""
        if self.exists():
            self._patiently(lambda: self._store.delete(self._path))

    def _inside(self, name: str) -> str:
        return f"{self._path}/{name}" if name else self._path

    def _patiently(self, action: Callable[[], Result]) -> Result:
        return patiently(self.url.name, self.url, action)
