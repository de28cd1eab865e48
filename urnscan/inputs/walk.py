"""Folders -> the inputs in and below them, depth first, sorted by the bytes of the names."""
# A Path for each of a million files would cost more than all the rest of a walk.
# ruff: noqa: PTH208, PTH112, PTH116, PTH119

import contextlib
import os
import stat
from collections.abc import Collection, Iterator
from typing import TypeAlias

import numpy as np

from urnscan.errors import SourceError, SourceNote
from urnscan.formats.small_files import UNKNOWN, file_states
from urnscan.inputs.own_outputs import OwnOutputs
from urnscan.inputs.selection import DELTA_LOG, LAKE, Selection
from urnscan.stores.input import Input, Listed, name_of
from urnscan.stores.temporary import TEMPORARY_SUFFIX

AT_ONCE = 1 << 12
"""Maximum number of files whose sizes are read by one call."""
_TEMPORARY = os.fsencode(TEMPORARY_SUFFIX)

Identity: TypeAlias = tuple[int, int]
"""Identity of a folder on this machine: the numbers of its device and of its inode (`st_dev`, `st_ino`)."""


def walk(root: str, selection: Selection, own: OwnOutputs) -> Iterator[Listed | Input | SourceError]:
    """Yield the files in and below the folder `root` that `selection` accepts, depth first, sorted by the bytes of the
    names: neighbouring files together as `Listed`, a file to which a link leads as `Input`.

    A folder that cannot be listed yields an error, as does a broken link; a folder that is a Delta or Iceberg table a
    SourceNote (no failure). FIFOs, sockets, devices, links (unless `selection.follow`) and outputs of the run (`own`)
    are skipped. Raises FatalError for an output of the run that is there already, and that urnscan did not write.
    """
    return _Walk(root, selection, own).inputs()


class _Walk:
    def __init__(self, root: str, selection: Selection, own: OwnOutputs) -> None:
        self._root = root
        self._root_length = len(root.rstrip("/")) + 1
        self._selection = selection
        self._own = own

    def inputs(self) -> Iterator[Listed | Input | SourceError]:
        follow = self._selection.follow
        # The folders from the top to the current folder, each with its remaining entries.
        way = [(self._listing(self._root), identity(self._root, follow=follow))]
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
                if is_link and not follow:
                    continue
                is_folder = os.path.isdir(path) if is_link else stat.S_ISDIR(status.st_mode)
                if not self._takes(path, is_folder=is_folder, is_link=is_link):
                    continue
                if is_folder:
                    key = identity(path, follow=follow)
                    # A link to a folder that contains the link would be an endless loop.
                    if key is None or all(key != above for _, above in way):
                        way.append((self._listing(path), key))
                else:
                    status = os.stat(path) if is_link else status
                    if stat.S_ISREG(status.st_mode):
                        yield input_of(path, status)
            except OSError as error:
                yield SourceError.from_os(name_of(path), error)

    def _listing(self, folder: str) -> Iterator[Listed | str | SourceError]:
        """Yield the entries of a folder, sorted: regular files that are inputs (`Listed`), and the paths of folders,
        links and others, which are not yet selected. Also yields an error if it cannot be listed, and a note about a
        Delta or Iceberg table.
        """
        try:
            names = os.listdir(os.fsencode(folder))
        except OSError as error:
            yield SourceError.from_os(name_of(folder), error)
            return
        if _is_lake_table(folder, names):
            yield SourceNote(name_of(folder), LAKE)
        names.sort()
        prefix = os.fsencode(folder if folder.endswith("/") else folder + "/")
        is_filtered = bool(self._selection.include or self._selection.exclude)
        for at in range(0, len(names), AT_ONCE):
            block = names[at : at + AT_ONCE]
            are_special = is_filtered or self._own.may_be_among(block)
            for entry in regular_files(prefix, block):
                if isinstance(entry, Listed) and (are_special or _TEMPORARY + b"\0" in entry.paths):
                    yield entry.chosen(np.array([self._takes(file.path or "") for file in entry]))
                else:
                    yield entry

    def _takes(self, path: str, *, is_folder: bool = False, is_link: bool = False) -> bool:
        if not self._selection.takes(os.path.basename(path), path[self._root_length :], is_folder=is_folder):
            return False
        return is_folder or not self._own.has_file(path, is_link=is_link)


def regular_files(prefix: bytes, names: list[bytes]) -> Iterator[Listed | str]:
    """Yield, in the order of `names`, neighbouring regular files together as `Listed`, and the path of each other name:
    of a folder, a link, a device, or something that does not exist.

    The path is `prefix` + name; `prefix` is empty or ends with "/". Reads the size of each file. If a name contains
    NUL, yields all names, without `prefix`, none as `Listed`.
    """
    paths = prefix + (b"\0" + prefix).join(names) + b"\0"
    ends = np.flatnonzero(np.frombuffer(paths, np.uint8) == 0) + 1
    if len(ends) != len(names):
        # A line of a list contains NUL, which is impossible in a file name.
        yield from map(os.fsdecode, names)
        return
    files = Listed(paths, ends, file_states(paths, ends, follow=False)[0])
    start = 0
    for at in [*np.flatnonzero(files.sizes == UNKNOWN).tolist(), len(names)]:
        if at > start:
            yield files.between(start, at)
        if at < len(names):
            yield os.fsdecode(prefix + names[at])
        start = at + 1


def identity(folder: str, *, follow: bool) -> Identity | None:
    """Numbers of the device and inode of a folder, by which a walk that follows links notices that a folder contains
    itself.

    None if `follow` is false, as it is then not needed, or if `stat` fails.
    """
    try:
        status = os.stat(folder) if follow else None
    except OSError:
        return None
    return status and (status.st_dev, status.st_ino)


def input_of(path: str, status: os.stat_result) -> Input:
    """Make an `Input` of a path that is not a folder; `status`: result of `os.stat` for the path.

    Its size is that of a regular file; None for a FIFO or a device.
    """
    return Input(name_of(path), path, status.st_size if stat.S_ISREG(status.st_mode) else None)


def _is_lake_table(folder: str, names: Collection[bytes]) -> bool:
    log: list[str] = []
    if b"metadata" in names:
        with contextlib.suppress(OSError):
            log = os.listdir(f"{folder}/metadata")
    return DELTA_LOG.encode() in names or any(name.endswith(".metadata.json") for name in log)
