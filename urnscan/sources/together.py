"""Many small files read at one go: without the GIL, which each call to the system would give up and wait for again."""

import os
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from urnscan.compiled import IS_COMPILED, compiled, from_c
from urnscan.sources.walk import Input

__all__ = ["NOT_READ", "read_together"]

NOT_READ = -1
"""In the place of a length: of an input that is to be read on its own, because it is no file, or large, or cannot be."""

_FLAGS = os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC | os.O_NONBLOCK  # not to wait for what has become a FIFO meanwhile

_open = from_c("open", "intc", "uintp", "intc")
_read = from_c("read", "intp", "intc", "uintp", "uintp")
_close = from_c("close", "intc", "intc")


def read_together(inputs: Sequence[Input], octets: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Read files into `octets`, one behind the other; the length of each, or NOT_READ.

    Whatever goes wrong with one shows when it is read on its own.
    """
    lengths = np.full(len(inputs), NOT_READ, np.int64)
    files = [place for place, source in enumerate(inputs) if source.path is not None and source.size is not None]
    if files and IS_COMPILED:
        paths = [os.fsencode(inputs[place].path or "") for place in files]
        begins = np.cumsum([0, *(len(path) + 1 for path in paths)])
        names = np.frombuffer(b"\0".join([*paths, b""]), np.uint8)
        lengths[files] = _read_files(names, begins[:-1], _FLAGS, octets)
    return lengths


@compiled
def _read_files(
    names: npt.NDArray[np.uint8], begins: npt.NDArray[np.int64], flags: int, octets: npt.NDArray[np.uint8]
) -> npt.NDArray[np.int64]:
    """The length of each file: their names lie end to end, each with a NUL behind it."""
    lengths = np.full(len(begins), NOT_READ)
    filled = 0
    for i in range(len(begins)):
        descriptor = _open(names.ctypes.data + np.uintp(begins[i]), flags)
        if descriptor < 0:
            continue
        end = filled
        got = 1
        while got > 0 and end < len(octets):
            got = _read(descriptor, octets.ctypes.data + np.uintp(end), np.uintp(len(octets) - end))
            end += max(got, 0)
        _close(descriptor)
        if got == 0:  # its end was seen
            lengths[i] = end - filled
            filled = end
    return lengths
