"""Lines of JSON that are as usual, read many at a time; all others are left to `framing.json_values`."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from urnscan.compiled.ascii import CASE
from urnscan.compiled.jit import read_only
from urnscan.compiled.octets import count_lf, find_words
from urnscan.formats.tables.values import PlacedValues, in_place
from urnscan.framing.buffer import Buffer

_MOST = 1 << 18  # octets of lines that are read at a time
_MOST_PLACES = 1 << 16
_LINE, _ESCAPE = b'\n{"', b"\\u0"  # what begins a line, as programs write it, and the escape of a character
_LF, _QUOTE, _ZERO, _EIGHT, _BACKSLASH, _OPEN, _CLOSE = np.frombuffer(b'\n"08\\{}', np.uint8)
_ESCAPED = re.compile(rb"\\u00[0-7]")  # a character of ASCII, which may occur in a name


class UsualLines:
    """Reads lines that are objects, and the members of them with some names that are strings.

    A line is left if anything about it is unusual: it is blank, damaged, no object, may have a name twice or with escapes,
    or such a member is an array or an object. Then it has to be read with more care.
    """

    def __init__(self, names: Sequence[str]) -> None:
        """`names` are in ASCII, without quotation marks and backslashes."""
        import msgspec  # noqa: PLC0415 (few runs need it)

        self._names = [in_place(name) for name in names]
        self._keys = [b'"%b"' % name.encode() for name in names]
        members = {f"member{number}": name for number, name in enumerate(names)}
        fields = [(member, Any, None) for member in members]
        line = msgspec.defstruct("Line", fields, rename=members, gc=False)
        self._members = [attrgetter(member) for member in members]
        self._decoder = msgspec.json.Decoder(line)
        words = [_LINE, _ESCAPE, *(key[: len(_LINE)] for key in self._keys)]
        self._words = read_only(np.array([[octet | CASE for octet in word] for word in words], np.uint8))
        self._places = np.empty(_MOST_PLACES, np.int64)
        self._nothing = line()
        self._errors = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
        self._starts: list[int] = []  # of the lines that were looked at, and of the next
        self._unusual: list[int] = []
        self._columns: list[list[Any]] = []

    def read(self, buffer: Buffer, first: int) -> tuple[int, PlacedValues]:
        """Read the usual lines from the next octet on, as far as they are in memory, and take them: their number, and the values
        in them. `first` is the number of the first.
        """
        at = bisect.bisect_left(self._starts, buffer.offset)
        if at + 1 >= len(self._starts) or self._starts[at] != buffer.offset:
            self._look(buffer)
            at = 0
        unusual = bisect.bisect_left(self._unusual, at)
        end = self._unusual[unusual] if unusual < len(self._unusual) else len(self._starts) - 1
        if end <= at:
            return 0, ([], [])
        buffer.at += self._starts[end] - self._starts[at]
        strings = [
            (number, column, value)
            for column, values in enumerate(self._columns)
            for number, value in enumerate(values[at:end], first)
            if value and isinstance(value, str)
        ]
        if len(self._columns) > 1:
            strings.sort()
        places: list[tuple[object, ...]] = [(number, self._names[column]) for number, column, _ in strings]
        return end - at, ([value.encode() for _, _, value in strings], places)

    def _look(self, buffer: Buffer) -> None:
        """Decode the next lines that are in memory."""
        end = buffer.octets.rfind(b"\n", buffer.at, buffer.at + _MOST) + 1
        block = buffer.octets[buffer.at : end]
        if not self._look_at_all(block, buffer.offset):
            self._look_at_each(block, buffer.offset)

    def _look_at_all(self, block: bytes, offset: int) -> bool:
        """Decode lines by one call, if nothing is unusual in any of them and each is an object without white space around it."""
        if not block.startswith(_LINE[1:]) or not block.endswith(b"}\n"):
            return False
        octets = read_only(np.frombuffer(block, np.uint8))
        last = len(octets) - len(_LINE) + 1
        count, reached = find_words(octets, 0, last, self._words, self._places)
        places = self._places[:count]
        first = octets[places]
        breaks = places[first == _LF]
        breaks = breaks[(octets[breaks - 1] == _CLOSE) & (octets[breaks + 1] == _OPEN)]
        lines = len(breaks) + 1
        escapes = places[first == _BACKSLASH]
        are_ascii = (octets[escapes + 3] == _ZERO) & (octets[escapes + 4] < _EIGHT)
        if reached < last or lines != count_lf(octets, 0, len(octets)) or are_ascii.any():
            return False
        try:
            records = self._decoder.decode_lines(block)
        except self._errors:
            return False
        if len(records) != lines:
            return False
        columns = [[*map(member, records)] for member in self._members]
        quotes = places[first == _QUOTE].tolist()
        for key, values in zip(self._keys, columns, strict=True):
            is_single = sum(block.startswith(key, at) for at in quotes) == len(values) - values.count(None)
            if not is_single or {list, dict} & {*map(type, values)}:
                return False
        self._starts = [offset, *(breaks + (offset + 1)).tolist(), offset + len(block)]
        self._columns, self._unusual = columns, []
        return True

    def _look_at_each(self, block: bytes, offset: int) -> None:
        """Decode lines one by one."""
        lines = block.split(b"\n")[:-1]
        self._starts = [*itertools.accumulate((len(line) + 1 for line in lines), initial=offset)]
        records = []
        for line in lines:
            try:
                records.append(self._decoder.decode(line))
            except self._errors:
                records.append(self._nothing)
        unusual = {at for at, record in enumerate(records) if record is self._nothing}
        self._columns = [[*map(member, records)] for member in self._members]
        for key, values in zip(self._keys, self._columns, strict=True):
            unusual.update(at for at, value in enumerate(values) if isinstance(value, list | dict))
            # A member that is null counts as one that is not there: it gives nothing.
            if block.count(key) != len(values) - values.count(None):
                unusual.update(at for at, line in enumerate(lines) if line.count(key) > 1)
        if _ESCAPED.search(block):
            unusual.update(at for at, line in enumerate(lines) if _ESCAPED.search(line))
        self._unusual = sorted(unusual)
