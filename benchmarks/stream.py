"""Write dense text with a given number of classes to standard output, as fast as possible.

    python stream.py BYTES CLASSES COUNTS

Each line has 80 bytes and one URN: one of CLASSES names, drawn at random, in one of four spellings. With CLASSES 0 all
names are different. At the end the numbers of occurrences and of classes are written to the file COUNTS.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

__all__ = ["LINE", "lines"]

LINE = 80
"""Bytes of a line."""

_ROWS = 1 << 14  # lines made at a time, so that they fit into the processor's cache
_DIGITS = 8
_NIDS = (b"nbn:de:gbv", b"isbn:3", b"example", b"uuid:f81d")
_SPELLINGS = ((b"urn", b"%2C"), (b"URN", b"%2C"), (b"urn", b"%2c"), (b"Urn", b"%2c"))
_PROSE = b"the library holds a copy of each volume that was printed before the war"


def _templates() -> tuple[npt.NDArray[np.uint8], int]:
    """A line for each NID and spelling, and the column where the digits of the name begin in all of them."""
    ends = [b"0" * _DIGITS + comma + b"x>\n" for _, comma in _SPELLINGS]
    at = LINE - len(ends[0])
    heads = [b" <%b:%b:" % (scheme, nid) for nid in _NIDS for scheme, _ in _SPELLINGS]
    found = [_PROSE[: at - len(head)] + head + ends[number % len(ends)] for number, head in enumerate(heads)]
    return np.frombuffer(b"".join(found), np.uint8).reshape(-1, LINE), at


def lines(byte_count: int, classes: int, drawn: npt.NDArray[np.bool_]) -> Iterator[npt.NDArray[np.uint8]]:
    """Give whole lines in blocks, at most `byte_count`; sets `drawn` for the classes in them. Without classes, all names are different."""
    templates, at = _templates()
    four_digits = np.frombuffer(b"".join(b"%04x" % number for number in range(1 << 16)), np.uint32)
    chance = np.random.default_rng(classes)
    every = byte_count // LINE
    for first in range(0, every, _ROWS):
        rows = min(every - first, _ROWS)
        if classes:
            names = chance.integers(0, classes, rows, np.uint32)
            drawn[names] = True
        else:
            names = np.arange(first, first + rows, dtype=np.uint32)
        spelling = chance.integers(0, len(_SPELLINGS), rows, np.uint32)
        block = templates[(names % len(_NIDS)) * len(_SPELLINGS) + spelling]
        scattered = names * np.uint32(0x9E3779B1)  # odd, so names stay different; neighbours are scattered
        digits = np.stack([four_digits[scattered >> 16], four_digits[scattered & 0xFFFF]], axis=1)
        block[:, at : at + _DIGITS] = digits.view(np.uint8)
        yield block


def main(byte_count: int, classes: int, counts: Path) -> None:
    """Write the stream and its counts."""
    drawn = np.zeros(classes, np.bool_)
    for block in lines(byte_count, classes, drawn):
        sys.stdout.buffer.write(block.data)
    sys.stdout.buffer.flush()
    counts.write_text(f"{byte_count // LINE} {int(drawn.sum()) if classes else byte_count // LINE}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
