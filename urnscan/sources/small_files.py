"""Many small files read at one go: without the GIL, which each call to the system would give up and wait for again.

They are laid into one text as they are read. Which of them are surely text is seen then, too.
"""

import os
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.arrays.jit import IS_COMPILED, compiled, from_c
from urnscan.sources.inputs import Listed

__all__ = ["HEAD", "Doubts", "Read", "read_together"]

HEAD = 1 << 12
"""Octets of a file by which its form is told."""

_FLAGS = os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC | os.O_NONBLOCK  # not to wait for what has become a FIFO meanwhile

_open = from_c("open", "intc", "uintp", "intc")
_read = from_c("read", "intp", "intc", "uintp", "uintp")
_close = from_c("close", "intc", "intc")


class Doubts(NamedTuple):
    """Signs that a file may not be plain text. A NUL at its beginning is one in any case, and a name that is not ASCII."""

    begins: npt.NDArray[np.bool_]
    """For each octet, whether it is one to begin so."""
    suffixes: npt.NDArray[np.uint8]
    """Suffixes of names, lower case, end to end."""
    ends: npt.NDArray[np.int64]
    """The end of each suffix."""


@dataclass(frozen=True, slots=True)
class Read:
    """Files that were read, from the first one on."""

    lengths: npt.NDArray[np.int64]
    """Octets of each file."""
    doubtful: npt.NDArray[np.int64]
    """Indices of the files that may not be plain text."""
    is_stuck: bool
    """Whether the next file is to be read on its own: it is no regular file, or large, or cannot be read."""


def read_together(files: Listed, text: npt.NDArray[np.uint8], *, separator: int, full: int, doubts: Doubts) -> Read:
    """Read files into `text`, one behind the other with the separator behind each.

    It goes on while less than `full` octets are there, so a file has the rest of the room in any case.
    """
    if not IS_COMPILED:
        return Read(np.empty(0, np.int64), np.empty(0, np.int64), is_stuck=True)
    lengths, are_doubtful, is_stuck = _read_files(
        np.frombuffer(files.paths, np.uint8), files.ends, text, full, separator, doubts
    )
    return Read(lengths, np.flatnonzero(are_doubtful), is_stuck)


@compiled
def _read_files(
    paths: npt.NDArray[np.uint8],
    ends: npt.NDArray[np.int64],
    text: npt.NDArray[np.uint8],
    full: int,
    separator: int,
    doubts: Doubts,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_], bool]:
    """The lengths of files whose paths each end with a NUL, which are doubtful, and whether it is stuck."""
    lengths = np.empty(len(ends), np.int64)
    are_doubtful = np.zeros(len(ends), np.bool_)
    filled = begin = 0
    for i in range(len(ends)):
        if filled >= full:
            return lengths[:i], are_doubtful[:i], False
        descriptor = _open(paths.ctypes.data + np.uintp(begin), _FLAGS)
        if descriptor < 0:
            return lengths[:i], are_doubtful[:i], True
        end = filled
        got = 1
        while got > 0 and end < len(text):
            got = _read(descriptor, text.ctypes.data + np.uintp(end), np.uintp(len(text) - end))
            end += max(got, 0)
        _close(descriptor)
        if got != 0:  # its end was not seen
            return lengths[:i], are_doubtful[:i], True
        are_doubtful[i] = end > filled and (
            _may_be_more(text[filled:end], doubts.begins)
            or _is_telling(paths[begin : ends[i] - 1], doubts.suffixes, doubts.ends)
        )
        lengths[i] = end - filled
        text[end] = separator
        filled = end + 1
        begin = ends[i]
    return lengths, are_doubtful, False


@compiled
def _may_be_more(octets: npt.NDArray[np.uint8], begins: npt.NDArray[np.bool_]) -> bool:
    """Whether octets, at least one, need not be text as they are."""
    has_nul = False
    for octet in octets[:HEAD]:
        has_nul |= octet == 0
    return bool(has_nul or begins[octets[0]])


@compiled
def _is_telling(path: npt.NDArray[np.uint8], suffixes: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> bool:
    """Whether a name ends in one of the suffixes, or does not say so in ASCII."""
    for at in range(len(path) - 1, -1, -1):
        if path[at] == 0x2F:
            break
        if path[at] >= 0x80:
            return True
    begin = 0
    for end in ends:
        length = end - begin
        k = 0
        while k < length and k < len(path):
            octet = path[len(path) - 1 - k]
            if 0x41 <= octet <= 0x5A:
                octet |= 0x20
            if octet != suffixes[end - 1 - k]:
                break
            k += 1
        if k == length:
            return True
        begin = end
    return False
