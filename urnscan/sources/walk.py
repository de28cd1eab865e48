"""Inputs that the arguments of a run name: files as they are, folders walked, patterns expanded.

The order is that of the arguments; inside a folder that of the octets of the names, whatever the file system gives,
so that a run on the same files is the same run. What was named is always read; only what was met is filtered.
"""
# A Path for each of a million files would cost more than all the rest of a walk.
# ruff: noqa: PTH208, PTH112, PTH114, PTH116, PTH119

import contextlib
import functools
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from errno import ENAMETOOLONG, ENOENT, ENOTDIR
from fnmatch import fnmatchcase
from typing import TypeAlias

import numpy as np

from urnscan.errors import FatalError, SourceError, SourceNote
from urnscan.sources.cdx import RecordIndex
from urnscan.sources.inputs import Input, Listed, name_of
from urnscan.sources.lists import PathList, with_remedy
from urnscan.sources.remote.urls import is_remote, is_url, local_path, real_place
from urnscan.sources.selection import DELTA_LOG, LAKE, TEMPORARY_SUFFIX, Selection, fits, with_next
from urnscan.sources.small_files import UNKNOWN, file_states

_TEMPORARY = os.fsencode(TEMPORARY_SUFFIX)
_AT_ONCE = 1 << 12  # files of a folder that are looked at together
_MAGIC = re.compile(r"[*?\[]")

Found: TypeAlias = Listed | Input | SourceError
Identity: TypeAlias = tuple[int, int]  # st_dev, st_ino
Candidate: TypeAlias = tuple[str, bool, bool]  # path, whether it is a folder, whether it is a link

_EVERYTHING = Selection()


def find_listed(
    arguments: Iterable[str | PathList | RecordIndex],
    selection: Selection = _EVERYTHING,
    skip: Collection[str] = (),
    foreign: Collection[str] = (),
) -> Iterator[Found]:
    """The inputs that the arguments name, found as they are asked for; in place of one that cannot be, its error.

    * "-" is standard input; an existing path that is no folder is an input, whatever it is.
    * A folder is walked, depth first, hidden files included. FIFOs, sockets and devices in it are passed over, files whose
      `real_place` is in `skip` (a run's own outputs), and names that end in TEMPORARY_SUFFIX.
    * A URL is an object in a store, a folder of one, or a pattern of such names; `file://` stands before a path.
    * Anything else with `*`, `?` or `[` in it is a pattern: `**` stands for any number of folders. Matches count as
      named, in the order of a walk. Nothing matched is an error.
    * A list names paths and URLs, never patterns; those in `skip` are passed over. A list of nothing is an error.
    * An index names files and the records of them that are read.

    Raises FatalError for a list that cannot be read, and for a file in `foreign`: outputs, also in `skip`, at whose place
    a file lies that is no result of an earlier run, and so is an input that would be replaced.
    """
    finder = _Finder(selection, skip, foreign)
    for argument in arguments:
        if isinstance(argument, PathList):
            yield from finder.find_each(argument)
        elif isinstance(argument, RecordIndex):
            yield from argument.find(finder.find_named)
        elif argument == "-":
            yield Input("-", None, None)
        else:
            yield from finder.find(argument)


class _Finder:
    def __init__(self, selection: Selection, skip: Collection[str], foreign: Collection[str]) -> None:
        self._selection = selection
        self._skip = frozenset(skip)
        self._foreign = frozenset(foreign)
        self._skip_names = frozenset(os.path.basename(path) for path in skip)
        self._skip_octets = frozenset(map(os.fsencode, self._skip_names))

    def find_each(self, paths: PathList) -> Iterator[Found]:
        """The inputs that a list names. Raises FatalError."""
        from urnscan.sources.ahead import in_turn  # noqa: PLC0415 (only lists need threads)

        return in_turn(self._parts(paths))

    def _parts(self, paths: PathList) -> Iterator[Iterator[Found] | Callable[[], Iterator[Found]]]:
        """The inputs of each path of a list; those of a URL by a function, as it is to be asked for. Raises FatalError."""
        some: list[bytes] = []
        for some in paths.read(_AT_ONCE):
            may_be_own = not self._skip_octets.isdisjoint(path.rpartition(b"/")[2] for path in some)
            for found in self._sized(b"", some):
                if isinstance(found, Listed) and may_be_own:
                    yield iter([found.chosen(np.array([not self._is_own(each.path or "") for each in found]))])
                elif isinstance(found, Listed):
                    yield iter([found])
                elif not self._names_own(found):
                    named = functools.partial(self._named, found)
                    yield named if is_remote(found) else named()
            yield iter([])  # nothing waits for the next lines of a list that somebody still writes
        if not some:
            yield iter([SourceError(paths.name, "the list names no inputs")])

    def find_named(self, path: str) -> Iterator[Found]:
        """The inputs of a path or URL that an index names; none for an output of the run. Raises FatalError."""
        return iter(()) if self._names_own(path) else self.find(path, is_pattern=False)

    def _named(self, path: str) -> Iterator[Found]:
        """The inputs of a path of a list that is no regular file."""
        for each in self.find(path, is_pattern=False):
            yield with_remedy(each, path) if isinstance(each, SourceError) else each

    def find(self, path: str, *, is_pattern: bool = True) -> Iterator[Found]:
        """The inputs of a path, or of a pattern if it may be one, that was named."""
        try:
            status = os.stat(path)
        except ValueError:
            yield SourceError(path.encode("unicode_escape").decode(), "no file can have such a name")
        except OSError as error:
            if error.errno not in (ENOENT, ENOTDIR, ENAMETOOLONG):
                yield SourceError.from_os(name_of(path), error)
            elif is_url(path):
                yield from self._find_url(path, is_pattern=is_pattern)
            elif not is_pattern or not _MAGIC.search(path):
                yield SourceError(name_of(path), "no such file or folder")
            else:
                yield from self._expand(path)
        else:
            yield from self._existing(path, status)

    def _find_url(self, url: str, *, is_pattern: bool) -> Iterator[Found]:
        if is_remote(url):
            from urnscan.sources.remote.places import find_remote  # noqa: PLC0415 (not loaded where no URL is read)

            yield from find_remote(url, self._selection, self._skip, is_pattern=is_pattern)
            return
        try:
            path = local_path(url)
        except SourceError as error:
            yield error
        else:
            yield from self.find(path, is_pattern=is_pattern)

    def _existing(self, path: str, status: os.stat_result) -> Iterator[Found]:
        if stat.S_ISDIR(status.st_mode):
            yield from self._walk(path.rstrip("/") or "/")
        else:
            yield _input(path, status)

    def _walk(self, root: str) -> Iterator[Found]:
        """The inputs in a folder and in those below it."""
        root_length = len(root.rstrip("/")) + 1
        # Folders on the way down, each with what is left of it.
        way = [(self._listing(root, root_length), self._identity(root))]
        while way:
            listing, _ = way[-1]
            path = next(listing, None)
            if path is None:
                way.pop()
                continue
            if not isinstance(path, str):
                yield path
                continue
            try:
                status = os.lstat(path)
                is_link = stat.S_ISLNK(status.st_mode)
                if is_link and not self._selection.follow:
                    continue
                is_folder = os.path.isdir(path) if is_link else stat.S_ISDIR(status.st_mode)
                if not self._is_taken(path, root_length, is_folder=is_folder, is_link=is_link):
                    continue
                if is_folder:
                    identity = self._identity(path)
                    if identity is None or all(identity != above for _, above in way):
                        way.append((self._listing(path, root_length), identity))
                else:
                    status = os.stat(path) if is_link else status
                    if stat.S_ISREG(status.st_mode):
                        yield _input(path, status)
            except OSError as error:
                yield SourceError.from_os(name_of(path), error)

    def _identity(self, folder: str) -> Identity | None:
        """Key of a folder; None where no links are followed, which alone make loops, and where listing it will fail."""
        try:
            status = os.stat(folder) if self._selection.follow else None
        except OSError:
            return None
        return status and (status.st_dev, status.st_ino)

    def _listing(self, folder: str, root_length: int) -> Iterator[Listed | str | SourceError]:
        """Entries of a folder, sorted by the octets of the names: files that are inputs, and paths of all else."""
        try:
            names = os.listdir(os.fsencode(folder))
        except OSError as error:
            yield SourceError.from_os(name_of(folder), error)
            return
        if _is_lake_table(folder, names):
            yield SourceNote(name_of(folder), LAKE)
        names.sort()
        before = os.fsencode(folder if folder.endswith("/") else folder + "/")
        is_filtered = bool(self._selection.include or self._selection.exclude)
        for at in range(0, len(names), _AT_ONCE):
            some = names[at : at + _AT_ONCE]
            are_special = is_filtered or not self._skip_octets.isdisjoint(some)
            for found in self._sized(before, some):
                if isinstance(found, Listed) and (are_special or _TEMPORARY + b"\0" in found.paths):
                    yield found.chosen(np.array([self._is_taken(each.path or "", root_length) for each in found]))
                else:
                    yield found

    def _sized(self, before: bytes, names: list[bytes]) -> Iterator[Listed | str]:
        """Regular files that stand next to each other, and paths of all else; `before` stands before each of the names."""
        paths = before + (b"\0" + before).join(names) + b"\0"
        ends = np.flatnonzero(np.frombuffer(paths, np.uint8) == 0) + 1
        if len(ends) != len(names):  # a line of a list that has a NUL in it: no file can have such a name
            yield from map(os.fsdecode, names)
            return
        files = Listed(paths, ends, file_states(paths, ends, follow=False)[0])
        start = 0
        for at in [*np.flatnonzero(files.sizes == UNKNOWN).tolist(), len(names)]:
            if at > start:
                yield files.between(start, at)
            if at < len(names):
                yield os.fsdecode(before + names[at])
            start = at + 1

    def _is_taken(self, path: str, root_length: int, *, is_folder: bool = False, is_link: bool = False) -> bool:
        """Whether a file that was met is an input, or a folder is entered."""
        name, relative = os.path.basename(path), path[root_length:]
        include, exclude = self._selection.include, self._selection.exclude
        if name.endswith(TEMPORARY_SUFFIX) or fits(exclude, name, relative, is_folder=is_folder):
            return False
        if is_folder:
            return True
        is_included = not include or fits(include, name, relative, is_folder=False)
        return is_included and not self._is_own(path, is_link=is_link)

    def _expand(self, pattern: str) -> Iterator[Found]:
        """The inputs of everything that matches a pattern."""
        match = None
        for match in self._matches(pattern):
            if isinstance(match, SourceError):
                yield match
                continue
            try:
                status = os.stat(match)
            except OSError as error:
                yield SourceError.from_os(name_of(match), error)
            else:
                yield from self._existing(match, status)
        if match is None:
            yield SourceError(name_of(pattern), "no such file or folder, and no file matches it as a pattern")

    def _matches(self, pattern: str) -> Iterator[str | SourceError]:
        """The paths that match a pattern, in the order of a walk, and the errors on the way.

        `glob` follows links in circles, gives what is in a folder beside the folder itself, and does not sort. Here the
        folders are walked once, with the set of the parts of the pattern that an entry may match; a folder that matches
        is left to the walk.
        """
        parts = pattern.split("/")
        first = next(at for at, part in enumerate(parts) if _MAGIC.search(part))
        top = "".join(part + "/" for part in parts[:first])  # as it was written, to begin the paths with
        folder = top.rstrip("/") or top[:1] or "."
        only_folders = parts[-1] == ""
        parts = [part for part in parts[first:] if part]
        wanted = with_next(parts, {0})
        if len(parts) in wanted:
            if os.path.isdir(folder):
                yield folder
            return
        follow = self._selection.follow
        way = [(self._candidates(top, parts, wanted), wanted, self._identity(folder))]
        while way:
            candidates, wanted, _ = way[-1]
            candidate = next(candidates, None)
            if candidate is None:
                way.pop()
                continue
            if isinstance(candidate, SourceError):
                yield candidate
                continue
            path, is_folder, is_link = candidate
            name = os.path.basename(path)
            reached = {at + 1 for at in wanted if parts[at] != "**" and fnmatchcase(name, parts[at])}
            if is_folder:
                reached = with_next(parts, reached)
            if len(parts) in reached:
                if is_folder or not (only_folders or self._is_own(path, is_link=is_link)):
                    yield path
            elif is_folder:
                identity = self._identity(path)
                # Only `**` goes round in circles, and only by links.
                if all(identity != above for _, _, above in way) if follow else not is_link:
                    reached |= {at for at in wanted if parts[at] == "**"}
                if reached:
                    reached = with_next(parts, reached)
                    way.append((self._candidates(path + "/", parts, reached), reached, identity))

    def _candidates(self, folder: str, parts: list[str], wanted: Collection[int]) -> Iterator[Candidate | SourceError]:
        """Entries of a folder that can match one of the wanted parts; `folder` ends in "/" or is empty."""
        names = {parts[at] for at in wanted}
        if not any(map(_MAGIC.search, names)):  # nothing to list, and perhaps no right to
            for name in sorted(names, key=os.fsencode):
                path = folder + name
                if os.path.lexists(path):
                    yield path, os.path.isdir(path), os.path.islink(path)
            return
        try:
            with os.scandir(folder or ".") as found:
                entries = sorted(found, key=lambda entry: os.fsencode(entry.name))
        except OSError as error:
            if error.errno not in (ENOENT, ENOTDIR):
                yield SourceError.from_os(name_of(folder.rstrip("/") or folder[:1] or "."), error)
            return
        for entry in entries:
            if not entry.name.endswith(TEMPORARY_SUFFIX):
                path, is_link = folder + entry.name, entry.is_symlink()
                yield path, os.path.isdir(path) if is_link else entry.is_dir(), is_link

    def _is_own(self, path: str, *, is_link: bool = False) -> bool:
        """Whether a file is one of the run's outputs; the real path is looked up only where it can be one."""
        may_be = bool(self._skip) and (is_link or os.path.basename(path) in self._skip_names)
        return may_be and self._is_skipped(os.path.realpath(path))

    def _names_own(self, argument: str) -> bool:
        """Whether a path or URL leads to one of the run's outputs."""
        try:
            place = real_place(argument) if self._skip else ""
        except (SourceError, ValueError):  # that is told when it is looked for
            return False
        return self._is_skipped(place)

    def _is_skipped(self, place: str) -> bool:
        """Whether a real path or a URL is one of the run's outputs. Raises FatalError for one that is an input, too."""
        if place in self._foreign:
            raise FatalError(
                f"{name_of(place)}: is an output, and an input in a folder or a list: name another file to write"
            )
        return place in self._skip


def _is_lake_table(folder: str, names: Collection[bytes]) -> bool:
    """Whether a folder with these entries is a table of Delta or Iceberg."""
    log: list[str] = []
    if b"metadata" in names:
        with contextlib.suppress(OSError):
            log = os.listdir(f"{folder}/metadata")
    return DELTA_LOG.encode() in names or any(name.endswith(".metadata.json") for name in log)


def _input(path: str, status: os.stat_result) -> Input:
    return Input(name_of(path), path, status.st_size if stat.S_ISREG(status.st_mode) else None)
