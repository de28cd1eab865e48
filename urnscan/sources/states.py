"""Sizes and times of many files in one call, without giving up the GIL for each (as in `small_files.py`)."""

import os
import stat
import sys

import numpy as np
import numpy.typing as npt

from urnscan.arrays.jit import IS_COMPILED, compiled, from_c

__all__ = ["UNKNOWN", "file_sizes", "states_of_files"]

UNKNOWN = -1
"""Size of what is no regular file or is not there, and of all files on systems where this cannot be asked."""

# statx(2), whose structure is the same on every Linux.
_CAN_ASK = IS_COMPILED and sys.platform == "linux"
_HERE, _NO_FOLLOW = -100, 0x100  # AT_FDCWD, AT_SYMLINK_NOFOLLOW
_WANTED = 0x241  # STATX_TYPE, STATX_MTIME, STATX_SIZE
_STRUCTURE, _MODE, _SIZE, _SECONDS, _NANOSECONDS = 256, 28, 40, 112, 120  # octets in all, and where these stand
_TYPE, _REGULAR = 0o170000, 0o100000

_statx = from_c("statx", "intc", "intc", "uintp", "intc", "uintc", "uintp")


def file_sizes(paths: bytes, ends: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The octets of the regular file at each path, or UNKNOWN; links are not followed.

    The paths lie end to end, each with a NUL behind it, where it ends.
    """
    if not len(ends) or not _CAN_ASK:
        return np.full(len(ends), UNKNOWN, np.int64)
    sizes: npt.NDArray[np.int64] = _file_states(np.frombuffer(paths, np.uint8), ends, _NO_FOLLOW)[0]
    return sizes


def states_of_files(paths: bytes, ends: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The octets of the regular file to which each path leads, or UNKNOWN, and the time of its last change in nanoseconds
    since 1970; the paths as in `file_sizes`, at least one.
    """
    if _CAN_ASK:
        states: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] = _file_states(
            np.frombuffer(paths, np.uint8), ends, 0
        )
        return states
    sizes, times = np.full(len(ends), UNKNOWN, np.int64), np.zeros(len(ends), np.int64)
    for i, path in enumerate(paths.split(b"\0")[:-1]):
        try:
            found = os.stat(path)  # noqa: PTH116 (octets)
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode):
            sizes[i], times[i] = found.st_size, found.st_mtime_ns
    return sizes, times


@compiled
def _file_states(
    paths: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64], flags: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    sizes, times = np.full(len(ends), UNKNOWN), np.zeros(len(ends), np.int64)
    structure = np.zeros(_STRUCTURE, np.uint8)
    begin = 0
    for i in range(len(ends)):
        failed = _statx(_HERE, paths.ctypes.data + np.uintp(begin), flags, _WANTED, structure.ctypes.data)
        mode = structure[_MODE : _MODE + 2].view(np.uint16)[0]
        if not failed and mode & _TYPE == _REGULAR:
            sizes[i] = structure[_SIZE : _SIZE + 8].view(np.int64)[0]
            seconds = structure[_SECONDS : _SECONDS + 8].view(np.int64)[0]
            times[i] = seconds * 1_000_000_000 + np.int64(structure[_NANOSECONDS : _NANOSECONDS + 4].view(np.uint32)[0])
        begin = ends[i]
    return sizes, times
