"""Inputs that the arguments of a run name: files as they are, folders walked, patterns expanded.

The order is that of the arguments; inside a folder that of the octets of the names, whatever the file system gives,
so that a run on the same files is the same run. What was named is always read; only what was met is filtered.
"""
# A Path for each of a million files would cost more than all the rest of a walk.
# ruff: noqa: PTH208, PTH112, PTH114, PTH116, PTH119

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator
from errno import ENAMETOOLONG, ENOENT, ENOTDIR
from fnmatch import fnmatchcase

import numpy as np

from urnscan.errors import SourceError
from urnscan.sources.inputs import Input, Listed, name_of, one_by_one
from urnscan.sources.lists import PathList, with_remedy
from urnscan.sources.remote.urls import is_remote, is_url, local_path, real_place
from urnscan.sources.selection import TEMPORARY_SUFFIX, Selection, fits, with_next
from urnscan.sources.states import UNKNOWN, file_sizes

__all__ = ["find_inputs", "find_listed"]

_TEMPORARY = os.fsencode(TEMPORARY_SUFFIX)
_AT_ONCE = 1 << 12  # files of a folder that are looked at together
_MAGIC = re.compile(r"[*?\[]")

Identity = tuple[int, int]  # st_dev, st_ino


_EVERYTHING = Selection()


def find_inputs(
    arguments: Iterable[str | PathList], selection: Selection = _EVERYTHING, skip: Collection[str] = ()
) -> Iterator[Input | SourceError]:
    """The inputs that the arguments name, found as they are asked for; in place of one that cannot be, its error.

    * "-" is standard input; an existing path that is no folder is an input, whatever it is.
    * A folder is walked, depth first, hidden files included. FIFOs, sockets and devices in it are passed over, and so
      are files whose `real_place` is in `skip` (a run's own outputs) and names that end in TEMPORARY_SUFFIX.
    * A URL is an object in a store, a folder of one, which is walked as well, or a pattern of such names. `file://` is
      the path that follows it.
    * Anything else is a pattern, if it has `*`, `?` or `[` in it: `**` stands for any number of folders, hidden names
      match like others. What it matches counts as named, in the order of a walk. Nothing matched is an error.
    * What a list names is a path or a URL, never a pattern, and passed over if it is in `skip`. One that names nothing is
      an error.

    Raises FatalError for a list that cannot be read.
    """
    return one_by_one(find_listed(arguments, selection, skip))


def find_listed(
    arguments: Iterable[str | PathList], selection: Selection = _EVERYTHING, skip: Collection[str] = ()
) -> Iterator[Listed | Input | SourceError]:
    """Inputs as `find_inputs` gives them, with the files of a folder or a list together where they are many."""
    finder = _Finder(selection, skip)
    for argument in arguments:
        if isinstance(argument, PathList):
            yield from finder.find_each(argument)
        elif argument == "-":
            yield Input("-", None, None)
        else:
            yield from finder.find(argument)


class _Finder:
    def __init__(self, selection: Selection, skip: Collection[str]) -> None:
        self._selection = selection
        self._skip = frozenset(skip)
        self._skip_names = frozenset(os.path.basename(path) for path in skip)
        self._skip_octets = frozenset(map(os.fsencode, self._skip_names))

    def find_each(self, paths: PathList) -> Iterator[Listed | Input | SourceError]:
        """The inputs that a list names. Raises FatalError."""
        some: list[bytes] = []
        for some in paths.read(_AT_ONCE):
            for found in self._sized(b"", some):
                if isinstance(found, str):
                    if not self._names_own(found):
                        for each in self.find(found, is_pattern=False):
                            yield with_remedy(each, found) if isinstance(each, SourceError) else each
                    continue
                files = found
                if not self._skip_octets.isdisjoint(path.rpartition(b"/")[2] for path in some):
                    files = found.chosen(np.array([not self._is_own(each.path or "") for each in found]))
                yield files
        if not some:
            yield SourceError(paths.name, "the list names no inputs")

    def find(self, path: str, *, is_pattern: bool = True) -> Iterator[Listed | Input | SourceError]:
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

    def _find_url(self, url: str, *, is_pattern: bool) -> Iterator[Listed | Input | SourceError]:
        """The inputs of a URL."""
        if not is_remote(url):
            try:
                path = local_path(url)
            except SourceError as error:
                yield error
            else:
                yield from self.find(path, is_pattern=is_pattern)
            return
        from urnscan.sources.remote.places import find_remote  # noqa: PLC0415 (who reads no URL loads nothing for it)

        yield from find_remote(url, self._selection, self._skip, is_pattern=is_pattern)

    def _existing(self, path: str, status: os.stat_result) -> Iterator[Listed | Input | SourceError]:
        if stat.S_ISDIR(status.st_mode):
            yield from self._walk(path.rstrip("/") or "/", _identity(status))
        else:
            yield _input(path, status)

    def _walk(self, root: str, identity: Identity) -> Iterator[Listed | Input | SourceError]:
        """The inputs in a folder and in those below it."""
        follow = self._selection.follow
        root_length = len(root.rstrip("/")) + 1
        try:
            way = [(self._listing(root, root_length), identity)]  # the folders on the way down, each with what is left
        except OSError as error:
            yield SourceError.from_os(name_of(root), error)
            return
        while way:
            path = next(way[-1][0], None)
            if path is None:
                way.pop()
                continue
            if isinstance(path, Listed):
                yield path
                continue
            try:
                name, relative = os.path.basename(path), path[root_length:]
                status = os.lstat(path)
                is_link = stat.S_ISLNK(status.st_mode)
                if name.endswith(TEMPORARY_SUFFIX) or (is_link and not follow):
                    continue
                is_folder = os.path.isdir(path) if is_link else stat.S_ISDIR(status.st_mode)
                if fits(self._selection.exclude, name, relative, is_folder=is_folder):
                    continue
                if is_folder:
                    # Only links make loops, so only with them is it worth a stat to know a folder again.
                    identity = _identity(os.stat(path)) if follow else (0, 0)
                    if not follow or all(identity != above for _, above in way):
                        way.append((self._listing(path, root_length), identity))
                elif self._is_included(name, relative):
                    status = os.stat(path) if is_link else status
                    if stat.S_ISREG(status.st_mode) and not self._is_own(path, is_link=is_link):
                        yield _input(path, status)
            except OSError as error:
                yield SourceError.from_os(name_of(path), error)

    def _listing(self, folder: str, root_length: int) -> Iterator[Listed | str]:
        """Entries of a folder, sorted by the octets of the names: the files that are inputs, and the paths of all else.

        It is listed at once, with OSError where it cannot be.
        """
        names = os.listdir(os.fsencode(folder))
        names.sort()
        return self._wanted(folder, names, root_length)

    def _wanted(self, folder: str, names: list[bytes], root_length: int) -> Iterator[Listed | str]:
        """Entries of a folder, without regular files that are no inputs."""
        before = os.fsencode(folder if folder.endswith("/") else folder + "/")
        is_filtered = bool(self._selection.include or self._selection.exclude)
        for at in range(0, len(names), _AT_ONCE):
            some = names[at : at + _AT_ONCE]
            are_special = is_filtered or not self._skip_octets.isdisjoint(some)
            for found in self._sized(before, some):
                if isinstance(found, Listed) and (are_special or _TEMPORARY + b"\0" in found.paths):
                    yield found.chosen(np.array([self._is_wanted(each.path or "", root_length) for each in found]))
                else:
                    yield found

    def _sized(self, before: bytes, names: list[bytes]) -> Iterator[Listed | str]:
        """Regular files that stand next to each other with their sizes, and the paths of all else; `before` stands before
        each of the names.
        """
        paths = before + (b"\0" + before).join(names) + b"\0"
        ends = np.flatnonzero(np.frombuffer(paths, np.uint8) == 0) + 1
        if len(ends) != len(names):  # a line of a list that has a NUL in it: no file can have such a name
            yield from map(os.fsdecode, names)
            return
        files = Listed(paths, ends, file_sizes(paths, ends))
        start = 0
        for at in [*np.flatnonzero(files.sizes == UNKNOWN).tolist(), len(names)]:
            if at > start:
                yield files.between(start, at)
            if at < len(names):
                yield os.fsdecode(before + names[at])
            start = at + 1

    def _is_wanted(self, path: str, root_length: int) -> bool:
        """Whether a file that was met is an input."""
        name, relative = os.path.basename(path), path[root_length:]
        return (
            not name.endswith(TEMPORARY_SUFFIX)
            and not fits(self._selection.exclude, name, relative, is_folder=False)
            and self._is_included(name, relative)
            and not self._is_own(path)
        )

    def _expand(self, pattern: str) -> Iterator[Listed | Input | SourceError]:
        """The inputs of everything that matches a pattern."""
        found = False
        for match in self._matches(pattern):
            found = True
            if isinstance(match, SourceError):
                yield match
                continue
            try:
                status = os.stat(match)
            except OSError as error:
                yield SourceError.from_os(name_of(match), error)
            else:
                yield from self._existing(match, status)
        if not found:
            yield SourceError(name_of(pattern), "no such file or folder, and no file matches it as a pattern")

    def _matches(self, pattern: str) -> Iterator[str | SourceError]:
        """The paths that match a pattern, in the order of a walk, and the errors on the way.

        `glob` would do but for three things: it follows links, so two links to a folder above them make it try 2**40
        paths; it gives what is in a folder beside the folder itself, which would be read twice; and it sorts nothing,
        so that all paths would have to be in memory. Here the folders are walked once, with the set of the parts of the
        pattern that an entry may match; a folder that matches is left to the walk.
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
        try:
            way = [(self._candidates(top, parts, wanted), wanted, _identity(os.stat(folder)))]
        except OSError as error:
            if error.errno not in (ENOENT, ENOTDIR):
                yield SourceError.from_os(name_of(folder), error)
            return
        while way:
            candidates, wanted, _ = way[-1]
            candidate = next(candidates, None)
            if candidate is None:
                way.pop()
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
                try:
                    identity = _identity(os.stat(path)) if follow else (0, 0)
                    # Only `**` goes round in circles, and only by links.
                    if all(identity != above for _, _, above in way) if follow else not is_link:
                        reached |= {at for at in wanted if parts[at] == "**"}
                    if reached:
                        reached = with_next(parts, reached)
                        way.append((self._candidates(path + "/", parts, reached), reached, identity))
                except OSError as error:
                    yield SourceError.from_os(name_of(path), error)

    def _candidates(self, folder: str, parts: list[str], wanted: Collection[int]) -> Iterator[tuple[str, bool, bool]]:
        """Entries of a folder that can match one of the wanted parts: path, whether it is a folder, whether it is a link.

        `folder` ends in "/" or is empty. It is listed only where a name is not known, as it may be closed to listing.
        """
        names = {parts[at] for at in wanted}
        if any(map(_MAGIC.search, names)):
            entries = _entries(folder or ".")
            return (
                (folder + entry.name, _is_folder(entry), entry.is_symlink())
                for entry in entries
                if not entry.name.endswith(TEMPORARY_SUFFIX)
            )
        paths = (folder + name for name in sorted(names, key=os.fsencode))
        return ((path, os.path.isdir(path), os.path.islink(path)) for path in paths if os.path.lexists(path))

    def _is_included(self, name: str, relative: str) -> bool:
        include = self._selection.include
        return not include or fits(include, name, relative, is_folder=False)

    def _is_own(self, path: str, *, is_link: bool = False) -> bool:
        """Whether a file is one of the run's outputs; the real path is looked up only where it can be one."""
        return (
            bool(self._skip)
            and (is_link or os.path.basename(path) in self._skip_names)
            and os.path.realpath(path) in self._skip
        )

    def _names_own(self, argument: str) -> bool:
        """Whether a path or URL leads to one of the run's outputs."""
        try:
            return bool(self._skip) and real_place(argument) in self._skip
        except (SourceError, ValueError):  # that is told when it is looked for
            return False


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """Entries of a folder, sorted by the octets of the names; raises OSError."""
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: os.fsencode(entry.name))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder or a link to one; a link that goes round in a circle is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _identity(status: os.stat_result) -> Identity:
    return status.st_dev, status.st_ino


def _input(path: str, status: os.stat_result) -> Input:
    return Input(name_of(path), path, status.st_size if stat.S_ISREG(status.st_mode) else None)
