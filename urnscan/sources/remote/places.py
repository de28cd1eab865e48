"""Remote inputs and outputs: which objects a URL names, reading them over a network that fails, putting a file there.

What may pass is tried again, from the octet that was reached; what was changed meanwhile is an error, never a mixture.
"""

import contextlib
import io
import threading
import time
from collections.abc import Callable, Collection, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeVar

from urnscan.errors import SourceError
from urnscan.sources.inputs import Input
from urnscan.sources.reader import Reader
from urnscan.sources.remote.stores import Content, Entry, Store, Trouble, explain, open_store
from urnscan.sources.remote.urls import HTTP, Remote, Url, parse_url
from urnscan.sources.walk import TEMPORARY_SUFFIX, Selection, fits, with_next

__all__ = ["RemotePlace", "RemoteReader", "find_remote", "open_remote"]

_PAUSES = (0.2, 1.0, 3.0)  # seconds between the tries
_BLOCK = 8 << 20  # octets of one request to an object store: fewer, and the latency of each would count
_BUFFER = 1 << 18  # octets that are read at least where someone seeks

Result = TypeVar("Result")


def find_remote(
    argument: str, selection: Selection, skip: Collection[str], *, is_pattern: bool = True
) -> Iterator[Input | SourceError]:
    """The inputs that a URL names, like those of a path: an object, a folder's, or those that match it as a pattern, if
    it may be one.

    Links there are none, and a page of the web is a folder only if its title says that it lists one. `skip` are names.
    """
    try:
        yield from _Finder(parse_url(argument), selection, skip).find(is_pattern=is_pattern)
    except SourceError as error:
        yield error


def open_remote(source: Remote) -> "RemoteReader":
    """A reader of an object. Raises SourceError."""
    return RemoteReader(source)


class _Finder:
    def __init__(self, url: Url, selection: Selection, skip: Collection[str]) -> None:
        self._selection = selection
        self._skip = skip
        self._name = url.name
        self._url = url
        self._store = self._opened()

    def _opened(self) -> Store:
        return _patiently(self._name, self._url, lambda: open_store(self._url))

    def find(self, *, is_pattern: bool) -> Iterator[Input | SourceError]:
        """The inputs of the URL: what is there by this very name comes before what matches it as a pattern."""
        url = self._url
        entry = _patiently(self._name, url, lambda: self._store.find(self._store.path_of(url.path)))
        top, parts = url.pattern
        if entry is not None and entry.is_folder:
            yield from self._walk(entry)
        elif entry is not None and (url.scheme in HTTP or not url.path.endswith("/")):
            yield self._input(entry, self._store.name_of(entry.path))
        elif not parts or not is_pattern:
            yield SourceError(self._name, "does not exist")
        else:
            # The options of a page are not those of the pages below it.
            self._url = Url(url.scheme, url.user, url.host, top, "" if url.scheme in HTTP else url.options)
            self._store = self._opened()
            match = None
            for match in self._matches(Entry(self._store.path_of(top), "", is_folder=True), parts):
                yield match
            if match is None:
                yield SourceError(self._name, "does not exist, and nothing matches it as a pattern")

    def _walk(self, root: Entry) -> Iterator[Input | SourceError]:
        """The inputs in a folder and in those below it, in the order of a local walk."""
        way: list[tuple[Iterator[Entry | SourceError], str]] = [(self._entries(root), "")]
        while way:
            entry = next(way[-1][0], None)
            if entry is None:
                way.pop()
            elif isinstance(entry, SourceError):
                yield entry
            else:
                relative = way[-1][1] + entry.name
                if fits(self._selection.exclude, entry.name, relative, is_folder=entry.is_folder):
                    continue
                include = self._selection.include
                if entry.is_folder:
                    way.append((self._entries(entry), relative + "/"))
                elif not include or fits(include, entry.name, relative, is_folder=False):
                    yield from self._unless_own(entry)

    def _matches(self, top: Entry, parts: list[str]) -> Iterator[Input | SourceError]:
        """The inputs of what matches the parts of a pattern, in the order of a walk."""
        only_folders = parts[-1] == ""
        parts = [part for part in parts if part]
        wanted = with_next(parts, {0})
        if len(parts) in wanted:
            yield from self._walk(top)
            return
        way = [(self._entries(top), wanted)]
        while way:
            candidates, wanted = way[-1]
            entry = next(candidates, None)
            if entry is None:
                way.pop()
                continue
            if isinstance(entry, SourceError):
                yield entry
                continue
            reached = {at + 1 for at in wanted if parts[at] != "**" and fnmatchcase(entry.name, parts[at])}
            if entry.is_folder:
                reached = with_next(parts, reached)
            if len(parts) in reached:
                if entry.is_folder:
                    yield from self._walk(entry)
                elif not only_folders:
                    yield from self._unless_own(entry)
            elif entry.is_folder:
                reached = with_next(parts, reached | {at for at in wanted if parts[at] == "**"})
                if reached:
                    way.append((self._entries(entry), reached))

    def _entries(self, folder: Entry) -> Iterator[Entry | SourceError]:
        """What is in a folder, sorted by the octets of the names; what cannot be listed is one error."""
        name = self._store.name_of(folder.path)
        try:
            entries = _patiently(name, self._url, lambda: list(self._store.entries(folder.path)))
        except SourceError as error:
            yield error
            return
        entries.sort(key=lambda entry: (entry.name.encode("utf-8", "surrogateescape"), entry.is_folder))
        for entry in entries:
            # Keys in object stores may have an empty part; the libraries take such a folder for the one it is in.
            if not entry.name or len(entry.path) <= len(folder.path.rstrip("/")):
                yield SourceError(name, 'objects below it with "//" in their names cannot be read')
            elif not entry.name.endswith(TEMPORARY_SUFFIX):
                yield entry

    def _unless_own(self, entry: Entry) -> Iterator[Input]:
        name = self._store.name_of(entry.path)
        if name not in self._skip:
            yield self._input(entry, name)

    def _input(self, entry: Entry, name: str) -> Input:
        return Input(name, None, entry.size, Remote(self._url, entry.path, name))


class _Octets:
    """The octets of an object, whatever happens to the connections over which they come."""

    def __init__(self, source: Remote) -> None:
        """Opens it. Raises SourceError."""
        self.source = source
        self._content: Content | None = None
        self._reads = 0
        self._is_checked = False
        self._patiently(lambda: self._open(0))
        content = self._opened(0)
        self.size, self.seekable, self._mark = content.size, content.seekable, content.mark

    def read_at(self, position: int, view: memoryview) -> int:
        """Fill the front of the view from an octet on; how many octets were filled, 0 at the end. Raises SourceError."""
        return self._patiently(lambda: self._read(position, view), position)

    def close(self) -> None:
        """Let go of it."""
        if self._content is not None:
            content, self._content = self._content, None
            content.close()

    def _patiently(self, action: Callable[[], Result], position: int = 0) -> Result:
        return _patiently(self.source.name, self.source.url, action, position, self.close)

    def _open(self, position: int) -> None:
        self.store = open_store(self.source.url)
        self._content = self.store.open(self.source.path, position)

    def _opened(self, position: int) -> Content:
        """The object, opened again where a try before this one failed, and the same as it was."""
        if self._content is None:
            self._open(position)
            content = self._opened(position)
            if content.mark != self._mark:
                raise Trouble("changed while it was read: read no further", passing=False)
            if content.mark is None and self._reads:
                reason = "the connection broke off, and nothing tells whether it is still the same: read no further"
                raise Trouble(reason, passing=False)
            return content
        return self._content

    def _read(self, position: int, view: memoryview) -> int:
        content = self._opened(position)
        got = content.read_at(position, view)
        if got:
            self._reads += 1
        elif content.size is not None and position < content.size:
            raise Trouble(f"ended at octet {position} of {content.size}", passing=True)
        elif self._reads > 1 and not content.is_whole and not self._is_checked:
            self.close()
            self._opened(position)  # raises if what was read in pieces is not the same any more
            self._is_checked = True
        return got


class RemoteReader(Reader):
    """An object, front to back; of an object store the next block is fetched while the one before is read."""

    def __init__(self, source: Remote) -> None:
        """Raises SourceError."""
        self._octets = _Octets(source)
        self._ahead: _Fetch | None = None
        self._block = memoryview(b"")
        self._at = 0

    def read_into(self, view: memoryview) -> int:
        """Fill the front of the view."""
        if not self._octets.store.reads_ahead:
            got = self._octets.read_at(self._at, view)
            self._at += got
            return got
        if not self._block:
            self._block = self._next_block()
        got = min(len(view), len(self._block))
        view[:got] = self._block[:got]
        self._block = self._block[got:]
        return got

    def _next_block(self) -> memoryview:
        ahead = self._ahead or _Fetch(self._octets, self._at)
        self._ahead = None
        block = ahead.get()
        self._at += len(block)
        if block and (self._octets.size is None or self._at < self._octets.size or self._at > _BLOCK):
            self._ahead = _Fetch(self._octets, self._at)
        return block

    def reopen(self) -> io.BufferedIOBase | None:
        """A file with the same octets, if the store can give any part of them. Raises SourceError."""
        if not self._octets.seekable:
            return None
        return io.BufferedReader(_Raw(_Octets(self._octets.source)), _BUFFER)

    def close(self) -> None:
        """Let go of the object; what is being fetched comes to its end by itself."""
        if self._ahead is None:
            self._octets.close()
        self._ahead = None
        self._block = memoryview(b"")


class _Fetch(threading.Thread):
    """A block that is being fetched, by a thread that nobody needs to wait for."""

    def __init__(self, octets: _Octets, position: int) -> None:
        super().__init__(daemon=True, name="urnscan-ahead")
        self._octets = octets
        self._position = position
        self._filled = memoryview(b"")
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        """Fetch it."""
        try:
            size = self._octets.size
            block = memoryview(bytearray(_BLOCK if size is None else max(1, min(_BLOCK, size - self._position))))
            self._filled = block[: self._octets.read_at(self._position, block)]
        except BaseException as error:  # noqa: BLE001 (it is raised where the block is taken)
            self._error = error

    def get(self) -> memoryview:
        """The block, empty at the end. Raises SourceError."""
        self.join()
        if self._error is not None:
            raise self._error
        return self._filled


class _Raw(io.RawIOBase):
    """An object as a file of Python's, for those who seek."""

    def __init__(self, octets: _Octets) -> None:
        self._octets = octets
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        begin = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._octets.size or 0}[whence]
        if begin + offset < 0:
            raise ValueError("before the beginning")
        self._at = begin + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any buffer
        view = memoryview(buffer).cast("B")
        got = 0
        if view and self._at < (self._octets.size or 0):
            got = self._octets.read_at(self._at, view)
        self._at += got
        return got

    def close(self) -> None:
        if not self.closed:
            self._octets.close()
        super().close()


class RemotePlace:
    """Where an output goes that is a URL. Raises SourceError, here and later."""

    def __init__(self, argument: str) -> None:
        url = parse_url(argument)
        self.name = url.name
        if url.scheme in HTTP:
            raise SourceError(self.name, "nothing can be written to the web; name a file or an object store")
        if url.path.strip("/") == "" or url.path.endswith("/"):
            raise SourceError(self.name, "names a folder; name a file in it")
        self.base_name = url.path.rsplit("/", 1)[-1]
        self._url = url
        self._store = self._patiently(lambda: open_store(url, tries=len(_PAUSES)))
        self._path = self._patiently(lambda: self._store.path_of(url.path))

    def find(self) -> Entry | None:
        """What is there now."""
        return self._patiently(lambda: self._store.find(self._path))

    def put(self, file: Path) -> None:
        """Put a file there; it appears when it is whole."""
        failed: list[SourceError] = []

        def put() -> None:
            try:
                self._patiently(lambda: self._put(file))
            except SourceError as error:
                failed.append(error)

        # In a thread of its own it can be interrupted, and then never completes.
        thread = threading.Thread(target=put, daemon=True, name="urnscan-put")
        thread.start()
        thread.join()
        if failed:
            raise failed[0]

    def _put(self, file: Path) -> None:
        self._store.put(file, self._path)
        found = self._store.find(self._path)
        if found is None or found.size != file.stat().st_size:
            raise Trouble("what arrived is not what was sent", passing=True)

    def _patiently(self, action: Callable[[], Result]) -> Result:
        return _patiently(self.name, self._url, action)


def _patiently(
    name: str, url: Url, action: Callable[[], Result], position: int = 0, on_failure: Callable[[], object] = int
) -> Result:
    """What an action gives, tried again where its failure may pass. Raises SourceError."""
    for pause in (*_PAUSES, None):
        try:
            return action()
        except SourceError:
            raise
        except Exception as error:  # noqa: BLE001 (each library has its own)
            with contextlib.suppress(Exception):  # what is broken already need not close well
                on_failure()
            trouble = explain(error, url)
            if pause is None or not trouble.passing:
                reason = str(trouble)
                if position and " octet " not in reason:
                    reason += f" (octet {position})"
                tries = f"; tried {len(_PAUSES) + 1} times" if trouble.passing else ""
                raise SourceError(name, reason + tries) from None
            time.sleep(pause)
    raise AssertionError
