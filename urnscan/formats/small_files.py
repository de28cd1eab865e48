"""Many files by one call: their sizes and times, the bytes of small files, and whether these may be other than text.

Compiled code calls the system without the GIL. Each call from Python would release the GIL and wait to get it back,
which with two threads takes longer than reading. Small files are read into a single buffer, and checked whether they
are definitely plain text.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.compiled.bytes import ByteArray, Integers
from urnscan.compiled.jit import IS_COMPILED, compiled, from_c, inner
from urnscan.formats.contents import Names
from urnscan.stores.input import Listed

HEAD = 1 << 12
"""Number of first bytes of a file in which NUL is searched for."""

UNKNOWN = -1
"""Size that `file_states` returns for a path that does not lead to a regular file."""

# statx(2), whose structure is the same on every Linux.
_CAN_ASK = IS_COMPILED and sys.platform == "linux"
_HERE, _NO_FOLLOW = -100, 0x100  # AT_FDCWD, AT_SYMLINK_NOFOLLOW
_WANTED = 0x241  # STATX_TYPE, STATX_MTIME, STATX_SIZE
_STRUCTURE, _MODE, _SIZE, _SECONDS, _NANOSECONDS = 256, 28, 40, 112, 120  # bytes of the structure; offsets of fields
_TYPE, _REGULAR = 0o170000, 0o100000

_FLAGS = os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC | os.O_NONBLOCK  # O_NONBLOCK: the file may have become a FIFO

_statx = from_c("statx", "intc", "intc", "uintp", "intc", "uintc", "uintp")
_open = from_c("open", "intc", "uintp", "intc")
_read = from_c("read", "intp", "intc", "uintp", "uintp")
_close = from_c("close", "intc", "intc")


def file_states(paths: bytes, ends: Integers, *, follow: bool) -> tuple[Integers, Integers]:
    """For each path the size in bytes, and the time of the last change in nanoseconds since 1970.

    `paths`: joined paths, each with NUL after it; `ends`: the index after each NUL. `follow`: whether symbolic links
    are followed. Returns two int64 arrays of the length of `ends`; if a path does not lead to a regular file, its size
    is UNKNOWN (-1) and its time 0.
    """
    sizes, times = np.full(len(ends), UNKNOWN, np.int64), np.zeros(len(ends), np.int64)
    if _CAN_ASK and paths:
        flags = 0 if follow else _NO_FOLLOW
        _ask(np.frombuffer(paths, np.uint8), ends, flags, _Answer.room(), sizes, times)
        return sizes, times
    for i, path in enumerate(paths.split(b"\0")[:-1]):
        try:
            status = os.stat(path, follow_symlinks=follow)  # noqa: PTH116 (bytes)
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            sizes[i], times[i] = status.st_size, status.st_mtime_ns
    return sizes, times


class _Answer(NamedTuple):
    """The structure of statx(2) as three views of the same memory: numbers of 2, 4 and 8 bytes."""

    in_2: npt.NDArray[np.uint16]
    in_4: npt.NDArray[np.uint32]
    in_8: Integers

    @classmethod
    def room(cls) -> _Answer:
        structure = np.zeros(_STRUCTURE // 8, np.int64)
        return cls(structure.view(np.uint16), structure.view(np.uint32), structure)


@compiled
def _ask(paths: ByteArray, ends: Integers, flags: int, answer: _Answer, sizes: Integers, times: Integers) -> None:
    begin = 0
    for i in range(len(ends)):
        path = paths.ctypes.data + np.uintp(begin)
        failed = _statx(_HERE, path, flags, _WANTED, answer.in_8.ctypes.data)
        if not failed and answer.in_2[_MODE // 2] & _TYPE == _REGULAR:
            sizes[i] = answer.in_8[_SIZE // 8]
            times[i] = answer.in_8[_SECONDS // 8] * 1_000_000_000 + np.int64(answer.in_4[_NANOSECONDS // 4])
        begin = ends[i]


class Doubts(NamedTuple):
    """Signatures and suffixes by which files are found that may not be plain text: doubtful files, to be examined.

    A file with NUL in the first 4,096 bytes, or with a name that is not ASCII, is doubtful, too; an empty one only by its
    name.
    """

    begins: npt.NDArray[np.bool_]
    """For each of the 256 byte values, whether a signature can begin with this byte."""
    signs: npt.NDArray[np.bool_]
    """All signatures, joined: a row of 256 for each byte of a signature, true for the possible values of this byte."""
    sign_ends: Integers
    """For each signature the index after its last row in `signs`."""
    suffixes: ByteArray
    """Suffixes of names, with the dot, in lower case, joined."""
    ends: Integers
    """For each suffix the index after its last byte in `suffixes`."""

    @classmethod
    def of(cls, signs: Sequence[Sequence[bytes]], suffixes: Sequence[bytes]) -> Doubts:
        """Make `Doubts`. `signs`: signatures (at least one), each with the possible values of each byte; `suffixes`: in
        lower case.
        """
        places = [data for sign in signs for data in sign]
        may_stand = np.zeros((len(places), 256), np.bool_)
        numbers = np.repeat(np.arange(len(places)), [len(data) for data in places])
        may_stand[numbers, np.frombuffer(b"".join(places), np.uint8)] = True
        sign_ends = np.cumsum([len(sign) for sign in signs])
        begins = np.logical_or.reduce(may_stand[[0, *sign_ends[:-1]]])
        data, ends = np.frombuffer(b"".join(suffixes), np.uint8), np.cumsum([len(suffix) for suffix in suffixes])
        return cls(begins, may_stand, sign_ends, data, ends)

    def of_texts(self, data: ByteArray, starts: Integers, ends: Integers) -> npt.NDArray[np.bool_]:
        """For each file `data[starts[i]:ends[i]]`, whether it may not be plain text: by a signature, or NUL in its first
        4,096 bytes.
        """
        are_doubtful = np.zeros(len(starts), np.bool_)
        _find_doubtful(data, starts, ends, self, are_doubtful)
        return are_doubtful

    def of_names(self, names: Names) -> npt.NDArray[np.bool_]:
        """For each name, whether its file may not be plain text: the name ends with one of the suffixes, in any case,
        or its part after the last slash is not ASCII.
        """
        are_doubtful = np.zeros(len(names.starts), np.bool_)
        _find_telling(names, self, are_doubtful)
        return are_doubtful


class SmallFiles(NamedTuple):
    """Result of `read_together`. The files that were read are the first `len(lengths)` of the given files."""

    lengths: Integers
    """For each file that was read its number of bytes."""
    doubtful: Integers
    """Indices, in `lengths`, of the files that may not be plain text."""
    is_stuck: bool
    """Whether the next file could not be read whole, and must be read singly: too large or unreadable."""


def read_together(files: Listed, text: ByteArray, *, separator: int, full: int, doubts: Doubts) -> SmallFiles:
    """Read files one after the other into the front of `text`, each followed by the byte `separator`.

    Stops when at least `full` bytes are there, at the end of `files`, or at a file that cannot be read whole
    (`is_stuck`). `text` must be larger than `full`, so that the last file finds room. `doubts`: signatures and suffixes
    of files that may not be plain text. Without compiled code no file is read (then `is_stuck` is true).
    """
    if not IS_COMPILED:
        return SmallFiles(np.empty(0, np.int64), np.empty(0, np.int64), is_stuck=True)
    paths = np.frombuffer(files.paths, np.uint8)
    lengths, are_doubtful = np.empty(len(files.ends), np.int64), np.zeros(len(files.ends), np.bool_)
    count, is_stuck = _read_files((paths, files.ends), (text, full, separator), doubts, lengths, are_doubtful)
    return SmallFiles(lengths[:count], np.flatnonzero(are_doubtful[:count]), is_stuck)


@compiled
def _read_files(
    files: tuple[ByteArray, Integers],
    room: tuple[ByteArray, int, int],
    doubts: Doubts,
    lengths: Integers,
    are_doubtful: npt.NDArray[np.bool_],
) -> tuple[int, bool]:
    """Read files, given by their paths, each with a NUL after it, and the ends of these. `room`: array for the bytes,
    number of bytes after which no further file is read, and byte after each file. Returns how many were read, and
    whether the next one could not be read whole.

    `are_doubtful` gets whether a file may not be plain text.
    """
    paths, ends = files
    text, full, separator = room
    filled = begin = 0
    for i in range(len(ends)):
        if filled >= full:
            return i, False
        descriptor = _open(paths.ctypes.data + np.uintp(begin), _FLAGS)
        if descriptor < 0:
            return i, True
        end = filled
        got = 1
        while got > 0 and end < len(text):
            got = _read(descriptor, text.ctypes.data + np.uintp(end), np.uintp(len(text) - end))
            end += max(got, 0)
        _close(descriptor)
        # An error, or the buffer is full before the end of the file.
        if got != 0:
            return i, True
        path = paths[begin : ends[i] - 1]
        are_doubtful[i] = (end > filled and _may_be_more(text[filled:end], doubts)) or _is_telling(path, doubts)
        lengths[i] = end - filled
        text[end] = separator
        filled = end + 1
        begin = ends[i]
    return len(ends), False


@compiled
def _find_doubtful(
    data: ByteArray,
    starts: Integers,
    ends: Integers,
    doubts: Doubts,
    are_doubtful: npt.NDArray[np.bool_],
) -> None:
    for i in range(len(starts)):
        are_doubtful[i] = ends[i] > starts[i] and _may_be_more(data[starts[i] : ends[i]], doubts)


@compiled
def _find_telling(names: Names, doubts: Doubts, are_doubtful: npt.NDArray[np.bool_]) -> None:
    for i in range(len(names.starts)):
        are_doubtful[i] = _is_telling(names.data[names.starts[i] : names.ends[i]], doubts)


@inner
def _may_be_more(data: ByteArray, doubts: Doubts) -> bool:
    # Precondition: `data` is not empty.
    has_nul = False
    for byte in data[:HEAD]:
        has_nul |= byte == 0
    return bool(has_nul or (doubts.begins[data[0]] and _has_sign(data, doubts)))


@inner
def _has_sign(data: ByteArray, doubts: Doubts) -> bool:
    begin = 0
    for end in doubts.sign_ends:
        k = 0
        while k < end - begin and k < len(data) and doubts.signs[begin + k, data[k]]:
            k += 1
        if k == end - begin:
            return True
        begin = end
    return False


@inner
def _is_telling(path: ByteArray, doubts: Doubts) -> bool:
    """Whether the name of a file is not ASCII, or ends with a suffix of `doubts` in any case."""
    for at in range(len(path) - 1, -1, -1):
        if path[at] == 0x2F:
            break
        if path[at] >= 0x80:
            return True
    begin = 0
    for end in doubts.ends:
        k = 0
        while k < end - begin and k < len(path):
            byte = path[len(path) - 1 - k]
            if 0x41 <= byte <= 0x5A:
                byte |= 0x20
            if byte != doubts.suffixes[end - 1 - k]:
                break
            k += 1
        if k == end - begin:
            return True
        begin = end
    return False
