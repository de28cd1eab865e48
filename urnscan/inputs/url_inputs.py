"""URLs -> inputs: an object, the objects in a folder, or the objects that match a pattern."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from urnscan.errors import SourceError, SourceNote
from urnscan.inputs.own_outputs import OwnOutputs
from urnscan.inputs.selection import DELTA_LOG, LAKE, Selection, with_next
from urnscan.stores.filesystems import open_store
from urnscan.stores.input import Input
from urnscan.stores.store import Entry, patiently
from urnscan.stores.temporary import TEMPORARY_SUFFIX
from urnscan.stores.urls import HTTP, Remote, Url, parse_url

# A server may invent a list of links for each page, without end.
_DEEPEST = 64  # maximum depth of folders
_MAX_LISTED = 1_000_000  # maximum number of pages and folders


def find_remote(
    argument: str, selection: Selection, own: OwnOutputs, *, is_pattern: bool = True
) -> Iterator[Input | SourceError]:
    """Yield the inputs of a URL: the object with this URL; if it is a folder, the objects in and below it; if there is
    neither and `is_pattern`, the objects that match, and the objects below a folder that matches.

    Objects come depth first, sorted by name. `selection` excludes objects below folders, and `own` (outputs of the run)
    also objects that match a pattern; the object that the URL names is always yielded. A web page is a folder only if
    its title is that of a list of files. Also yields a SourceError if nothing is found or a folder cannot be listed,
    and a SourceNote (no failure) for a Delta table. Raises FatalError for an output of the run that is there already,
    and that urnscan did not write.
    """
    try:
        yield from _Finder(parse_url(argument), selection, own).find(is_pattern=is_pattern)
    except SourceError as error:
        yield error


class _Finder:
    def __init__(self, url: Url, selection: Selection, own: OwnOutputs) -> None:
        self._selection = selection
        self._own = own
        self._name = url.name
        self._open(url)

    def _open(self, url: Url) -> None:
        self._url = url
        self._store = patiently(self._name, url, lambda: open_store(url))

    def find(self, *, is_pattern: bool) -> Iterator[Input | SourceError]:
        """Yield the inputs of the URL, and errors. With `is_pattern`, a URL that does not exist is read as a pattern.
        May be called once.
        """
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
            # A query belongs only to the page in the URL, not to the pages below.
            self._open(Url(url.scheme, url.user, url.host, top, "" if url.scheme in HTTP else url.options))
            source = None
            for source in self._below(Entry(self._store.path_of(top), "", is_folder=True), parts):
                yield source
            if source is None:
                yield SourceError(self._name, "does not exist, and nothing matches it as a pattern")

    def _below(self, top: Entry, pattern: list[str]) -> Iterator[Input | SourceError]:
        """Yield the inputs below a folder that match a pattern (its parts between "/"), depth first, and errors. `[]`
        matches the folder itself. In a folder that matches, the selection decides which files are inputs; a file that
        matches is an input. Outputs of the run are left out.
        """
        parts = [part for part in pattern if part]
        # The folders from the top to the current folder. For each: the remaining entries; the positions in the pattern
        # that may match next (after the last part: the folder is walked); the path below the walked folder.
        way = [(self._entries(top), with_next(parts, {0}), "")]
        listed = 0
        is_reported = False
        while way:
            entries, positions, above = way[-1]
            entry = next(entries, None)
            if entry is None:
                way.pop()
                continue
            if isinstance(entry, SourceError):
                yield entry
                continue
            listed += 1
            if self._url.scheme in HTTP and listed > _MAX_LISTED:
                yield SourceError(
                    self._name, f"lists more than {_MAX_LISTED:,} pages and folders; the rest is not read"
                )
                return
            is_walked = len(parts) in positions
            path = above + entry.name
            if is_walked:
                is_taken = self._selection.takes(entry.name, path, is_folder=entry.is_folder)
                next_positions = positions if is_taken else set()
            else:
                next_positions = {
                    at + 1 for at in positions if parts[at] != "**" and fnmatchcase(entry.name, parts[at])
                }
                next_positions |= {at for at in positions if parts[at] == "**" and entry.is_folder}
            if entry.is_folder:
                if self._url.scheme in HTTP and len(way) == _DEEPEST:
                    if not is_reported:
                        yield SourceError(self._name, f"lists folders more than {_DEEPEST} deep, which are not read")
                    is_reported = True
                elif next_positions:
                    way.append(
                        (self._entries(entry), with_next(parts, next_positions), path + "/" if is_walked else "")
                    )
            elif len(parts) in next_positions and (is_walked or pattern[-1]):
                source = self._input(entry)
                if not self._own.has(source.name, source.name):
                    yield source

    def _entries(self, folder: Entry) -> Iterator[Entry | SourceError]:
        """Yield the entries of a folder, sorted by name, without temporary files of runs; also errors, and a note about
        a Delta table.
        """
        name = self._store.name_of(folder.path)
        try:
            entries = patiently(name, self._url, lambda: list(self._store.entries(folder.path)))
        except SourceError as error:
            yield error
            return
        entries.sort(key=lambda entry: (entry.name.encode("utf-8", "surrogateescape"), entry.is_folder))
        for entry in entries:
            # Keys in object stores may have an empty part; the libraries confuse a folder "" with its parent folder.
            if not entry.name or len(entry.path) <= len(folder.path.rstrip("/")):
                yield SourceError(name, 'objects below it with "//" in their names cannot be read')
            elif not entry.name.endswith(TEMPORARY_SUFFIX):
                if entry.is_folder and entry.name == DELTA_LOG:
                    yield SourceNote(name, LAKE)
                yield entry

    def _input(self, entry: Entry) -> Input:
        name = self._store.name_of(entry.path)
        return Input(name, None, entry.size, Remote(self._url, entry.path, name), entry.mark)
