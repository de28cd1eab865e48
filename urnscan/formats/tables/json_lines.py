"""Usual lines of JSON Lines, decoded by msgspec; `framing.json_values` reads all other lines."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from urnscan.formats.tables.values import Place, PlacedValues, in_lists, in_place
from urnscan.framing.buffer import Buffer

_MAX = 1 << 18  # maximum bytes of lines per call
# Maximum depth of arrays with usual strings. Each level costs a pass over all values.
_DEEPEST = 3
_ESCAPED = re.compile(rb"\\u00[0-7]")  # a character of ASCII, which may occur in a name


class UsualLines:
    """Fast reader of JSON Lines: gives the strings, also those in arrays, that are values of given names in the objects
    of the lines. An object of this class is for one input.

    Reads only usual lines. A line is unusual if it is blank, damaged or not an object, if a name may occur twice or has
    escapes, or if a value of a given name is an object, contains one, or has arrays more than three deep.
    """

    def __init__(self, names: Sequence[str]) -> None:
        """`names`: distinct names of members of the objects in the lines, not of objects in them (`a.b` is a name, not
        a path); at least one; in ASCII, without quotation marks and backslashes.
        """
        import msgspec  # noqa: PLC0415 (few runs need it)

        self._names = [in_place(name) for name in names]
        self._keys = [b'"%b"' % name.encode() for name in names]
        members = {f"member{number}": name for number, name in enumerate(names)}
        fields = [(member, Any, msgspec.UNSET) for member in members]
        line = msgspec.defstruct("Line", fields, rename=members, gc=False)
        self._members = [attrgetter(member) for member in members]
        self._decoder = msgspec.json.Decoder(line)
        self._absent, self._nothing = msgspec.UNSET, line()
        self._errors = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
        self._starts: list[int] = []  # offsets of the decoded lines, and of the next line
        self._unusual: list[int] = []  # indices of unusual lines
        self._values: list[bytes] = []  # members of all lines; an array is replaced by its elements
        self._lengths = self._offsets = np.zeros(1, np.int64)  # bytes of each value; index in _values of each line
        self._levels: list[tuple[list[bool], npt.NDArray[np.int64]]] = []

    def read(self, buffer: Buffer, first: int) -> tuple[int, PlacedValues | None]:
        """Take the usual lines from the next byte of `buffer` on, the first of a line, that are whole in its memory;
        reads no more into it.

        Returns the number of these lines, and a pair: the values of the given names in them (bytes, without empty
        ones), and the function from an index in them to a place `line/name`. `first`: number that the first line gets
        in these places. (0, None), and nothing is taken, if the next line is unusual, not whole in memory or very long.
        """
        at = bisect.bisect_left(self._starts, buffer.offset)
        if at + 1 >= len(self._starts) or self._starts[at] != buffer.offset:
            self._look(buffer)
            at = 0
        unusual = bisect.bisect_left(self._unusual, at)
        end = self._unusual[unusual] if unusual < len(self._unusual) else len(self._starts) - 1
        if end <= at:
            return 0, None
        buffer.at += self._starts[end] - self._starts[at]
        cells = slice(self._offsets[at], self._offsets[end])
        values = self._values[cells]
        place = self._place(first - at)
        filled = cells.start + np.flatnonzero(self._lengths[cells])
        return end - at, ([*filter(None, values)], lambda index: place(int(filled[index])))

    def _place(self, first: int) -> Place:
        """Function from an index in `_values` to the place `line/name`. `first`: number in places of the first decoded
        line.
        """
        names = self._names

        def of_member(member: int) -> str:
            line, column = divmod(member, len(names))
            return f"{first + line}/{names[column]}"

        place: Place = of_member
        for are_arrays, offsets in self._levels:
            place = _in_cells(place, are_arrays, offsets)
        return place

    def _spread(self, columns: Iterable[Sequence[Any]], unusual: Iterable[int]) -> None:
        """Store the values of the decoded lines, with arrays replaced by their elements, and which lines are unusual:
        also those with an object, or an array more than three deep. `columns`: for each name its values in all lines.
        """
        cells = [*itertools.chain.from_iterable(zip(*columns, strict=True))]
        self._offsets = np.arange(0, len(cells) + 1, len(self._names))
        self._levels = []
        while list in (kinds := {*map(type, cells)}) and len(self._levels) < _DEEPEST:
            are_arrays = [type(cell) is list for cell in cells]
            lists = [cell if is_array else (cell,) for cell, is_array in zip(cells, are_arrays, strict=True)]
            offsets = np.cumsum([0, *map(len, lists)])
            cells = [*itertools.chain.from_iterable(lists)]
            self._offsets = offsets[self._offsets]
            self._levels.append((are_arrays, offsets))
        if {list, dict} & kinds:
            deep = [number for number, cell in enumerate(cells) if isinstance(cell, list | dict)]
            unusual = {*unusual, *(np.searchsorted(self._offsets, deep, "right") - 1).tolist()}
        self._values = [cell.encode() if type(cell) is str else b"" for cell in cells]
        self._lengths = np.array([*map(len, self._values)], np.int64)
        self._unusual = sorted(unusual)

    def _look(self, buffer: Buffer) -> None:
        """Decode the next whole lines in the memory of `buffer` (at most 256 KiB) without taking them, and find the
        unusual lines.
        """
        end = buffer.data.rfind(b"\n", buffer.at, buffer.at + _MAX) + 1
        block = buffer.data[buffer.at : end]
        lines = block.split(b"\n")[:-1]
        self._starts = [*itertools.accumulate((len(line) + 1 for line in lines), initial=buffer.offset)]
        records = []
        for line in lines:
            try:
                records.append(self._decoder.decode(line))
            except self._errors:
                records.append(self._nothing)
        unusual = {at for at, record in enumerate(records) if record is self._nothing}
        columns = [[*map(member, records)] for member in self._members]
        # Counts alone would not show a name that occurs twice, once of it with escapes.
        has_escapes = _ESCAPED.search(block) is not None
        for key, values in zip(self._keys, columns, strict=True):
            if has_escapes or block.count(key) != len(values) - values.count(self._absent):
                unusual.update(at for at, line in enumerate(lines) if line.count(key) > 1)
        if has_escapes:
            unusual.update(at for at, line in enumerate(lines) if _ESCAPED.search(line))
        self._spread(columns, unusual)


def _in_cells(place: Place, are_arrays: list[bool], offsets: npt.NDArray[np.int64]) -> Place:
    """Function from the index of a value to its place, after arrays were replaced by their elements. `place`: that
    function before; `offsets`: new index of each old value, or of its first element.
    """
    of_element = in_lists(place, offsets)

    def of_cell(cell: int) -> str:
        which = int(np.searchsorted(offsets, cell, "right")) - 1
        return of_element(cell) if are_arrays[which] else place(which)

    return of_cell
