"""Members of a tar archive with usual headers: compiled code finds many by one call; `tar.py` reads all other members.

A header is usual if all its numbers are octal digits, as programs write them. A pax header is skipped if it does not
change the name, the size or the holes of the next file. `tar.py` would give the same members.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.compiled.ascii import EQUALS, LF, SPACE, is_digit
from urnscan.compiled.bytes import ByteArray, copy, find_byte
from urnscan.compiled.jit import compiled, inner, read_only
from urnscan.formats.contents import Label, Labels, Names, Texts

BLOCK = 512
MAGIC_AT = 257
GNU_MAGIC = b"ustar  \0"
"""Magic string in headers of GNU tar, which have no name prefix, unlike those of ustar."""
LONGEST_EXTENSION = 1 << 20
"""Maximum bytes in an extension header, which has a long name or pax records for the next file."""

_MAX = 1 << 11  # maximum files per call
_NAME, _FRONT, _FRONT_END = 100, 345, 500  # end of the name; start and end of the name prefix
_SIZE, _SIZE_END, _SUM, _SUM_END, _KIND = 124, 135, 148, 154, 156
_FILE, _PAX = b"0x"
_FIRST_EMPTY, _LAST_EMPTY = b"16"  # links, devices, folders, FIFOs, whatever size their headers give
_DIGIT, _SPACE, _NUL = 1, 2, 4  # kinds of bytes in numbers
_KINDS = np.zeros(256, np.uint8)
_KINDS[np.frombuffer(b"01234567", np.uint8)] = _DIGIT
_KINDS[[0x20, 0]] = _SPACE, _NUL
_USUAL = np.zeros(BLOCK, np.uint8)
"""For each byte of a header the allowed kinds; 0: any byte."""
for _at in (100, 108, 116, 329, 337):  # mode, owner, group, device
    _USUAL[_at : _at + 6], _USUAL[_at + 6], _USUAL[_at + 7] = _DIGIT, _DIGIT | _SPACE, _SPACE | _NUL
for _at in (_SIZE, 136):  # and the time
    _USUAL[_at : _at + 11], _USUAL[_at + 11] = _DIGIT, _SPACE | _NUL
_USUAL[_SUM:_SUM_END], _USUAL[_SUM_END:_KIND] = _DIGIT, _SPACE | _NUL
_USUAL[329:345] |= _NUL
_CHECKED = np.flatnonzero(_USUAL)
SAID = np.frombuffer(b"psG", np.uint8)
"""First byte of each pax keyword that changes a member: `path`, `size`, `GNU.sparse…`."""


class MemberRun(NamedTuple):
    """Members of a tar archive that are complete at the beginning of a block of bytes; not always all of them."""

    texts: Texts
    """The files that have bytes."""
    passed: int
    """Number of the other members, which have no data: folders, links, devices, empty files."""
    end: int
    """Index in the block after these members and the extension headers between or after them; 0 if nothing is taken."""


class UsualFiles:
    """Finds the members of a tar archive whose headers are usual: all numbers are octal digits, and no extension header
    changes the name, size or holes of a file. One object is for many blocks of bytes, and for one thread.
    """

    def __init__(self) -> None:
        self._heads = np.empty(_MAX * BLOCK, np.uint8)
        self._spans = np.empty((3, _MAX), np.int64)

    def find(self, data: memoryview) -> MemberRun:
        """Find the members at the beginning of `data`, up to the first that is incomplete or unusual; at most 2,048
        files with bytes. `data` begins with a header.

        The texts of the files are slices of `data`. Members without bytes (folders, links, empty files) are only
        counted, in `MemberRun.passed`. If nothing can be taken, `MemberRun.end` is 0.
        """
        count = passed = end = 0
        if data:
            count, passed, end = _find(read_only(np.frombuffer(data, np.uint8)), self._heads, self._spans)
        heads = self._heads[: count * BLOCK].tobytes()
        starts, ends, name_ends = self._spans[:, :count].copy()

        def label(number: int) -> Label:
            return Label(name_of(heads[number * BLOCK : (number + 1) * BLOCK]))

        names = Names(np.frombuffer(heads, np.uint8), np.arange(count) * BLOCK, name_ends)
        return MemberRun(Texts(data, Labels(label, range(count)), starts, ends, names=names), passed, end)


def name_of(block: bytes) -> str:
    r"""The name of a file in its tar header `block` (512 bytes), with the name prefix of ustar, if there is one:
    `prefix/name`. Bytes that are not UTF-8 are escaped: `\xfe` for the byte FE.
    """
    name, front = block[:_NAME].split(b"\0", 1)[0], block[_FRONT:_FRONT_END].split(b"\0", 1)[0]
    if front and not block.startswith(GNU_MAGIC, MAGIC_AT):
        name = front + b"/" + name
    return name.decode(errors="backslashreplace")


@compiled
def _find(data: ByteArray, heads: ByteArray, spans: npt.NDArray[np.int64]) -> tuple[int, int, int]:
    """Find the files and the members without data at the beginning of `data`, up to an unusual or incomplete one, or
    until `spans` is full: a column for each file, with start and end in `data`, and end of the name in `heads`, which
    gets a copy of each header. Returns the number of files, of members without data, and the index after them in
    `data`.
    """
    starts, ends, name_ends = spans[0], spans[1], spans[2]
    count = passed = at = 0
    while count < len(starts) and len(data) - at > BLOCK and _is_usual(data, at):
        kind = data[at + _KIND]
        size = _octal(data, at + _SIZE, at + _SIZE_END)
        start = at + BLOCK
        after = start + (size + BLOCK - 1) // BLOCK * BLOCK
        if _FIRST_EMPTY <= kind <= _LAST_EMPTY or (kind == _FILE and size == 0):
            passed += 1
            after = start
        elif size == 0 or after > len(data):
            break
        elif kind == _FILE:
            name_end = 0
            while name_end < _NAME and data[at + name_end] != 0:
                name_end += 1
            starts[count], ends[count], name_ends[count] = start, start + size, count * BLOCK + name_end
            copy(data, at, start, heads, count * BLOCK)
            count += 1
        elif kind != _PAX or size > LONGEST_EXTENSION or not _says_little(data, start, start + size):
            break
        at = after
    return count, passed, at


@inner
def _is_usual(data: ByteArray, at: int) -> bool:
    """Whether the 512 bytes at `at` (they must exist) are a header with octal numbers and a valid checksum."""
    for place in _CHECKED:
        if not _KINDS[data[at + place]] & _USUAL[place]:
            return False
    # The bytes of the checksum count as spaces.
    total = SPACE * (_KIND - _SUM)
    for i in range(at, at + BLOCK):
        total += int(np.int64(data[i]))
    for i in range(at + _SUM, at + _KIND):
        total -= int(np.int64(data[i]))
    return bool(total == _octal(data, at + _SUM, at + _SUM_END))


@inner
def _octal(data: ByteArray, start: int, end: int) -> int:
    number = 0
    for i in range(start, end):
        number = 8 * number + int(np.int64(data[i])) - 0x30
    return number


@inner
def _says_little(data: ByteArray, at: int, end: int) -> bool:
    """Whether the records of a pax header, `data[at:end]`, are complete, and none can change a path, a size or a sparse
    file.
    """
    while at < end:
        begin, length = at, 0
        while at < min(end, begin + 18) and is_digit(data[at]):
            length = 10 * length + int(np.int64(data[at])) - 0x30
            at += 1
        if at == begin or at + 1 >= end or data[at] != SPACE:
            return False
        for byte in SAID:
            if data[at + 1] == byte:
                return False
        at = find_byte(data, at, end, EQUALS)
        last = begin + length
        if not at + 1 < last <= end or data[last - 1] != LF:
            return False
        at = last
    return True
