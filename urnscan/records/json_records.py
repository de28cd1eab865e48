"""Records that are JSON values: JSON Lines; an array, an array within an object, or values one after the other."""

from __future__ import annotations

from collections.abc import Iterator

from urnscan.framing.buffer import Buffer
from urnscan.framing.json_layout import are_lines
from urnscan.framing.json_values import Value, ValueLines, Values
from urnscan.framing.lines import Damaged
from urnscan.records.fields import own_fields
from urnscan.records.json_wrappers import find_array
from urnscan.records.named_values import as_octets, identifier, own_identifiers
from urnscan.records.record import Record, whole

__all__ = ["JsonArrayRecords", "JsonLineRecords", "is_json_array", "is_json_lines"]


def is_json_lines(head: bytes, name: str) -> bool | None:
    """Whether each line is a value, by the first, or by the name: .jsonl, .ndjson and such."""
    try:
        return are_lines(head, name, find_array)
    except ValueError:
        return False


def is_json_array(head: bytes, name: str) -> bool | None:
    """Whether it is an array, or one or more objects, over several lines."""
    try:
        in_lines = are_lines(head, name, find_array)
    except ValueError:
        return False
    return None if in_lines is None else not in_lines


class _JsonRecords:
    """Makes records of values."""

    def __init__(self, values: ValueLines | Values, *, own: bool) -> None:
        self._values = values
        self._own = own_fields("json") if own else None

    def read(self, buffer: Buffer) -> Iterator[Record | Damaged]:
        """Read the values, a line with its LF, any other without what is around it."""
        for found in self._values.read(buffer):
            yield found if isinstance(found, Damaged) else self._record(found)

    def _record(self, found: Value) -> Record:
        pairs = found.value if isinstance(found.value, tuple) else ()
        called = identifier(pairs)
        name = None if called is None else whole(called)
        if self._own is not None:
            return Record(found.offset, found.octets, name, own=tuple(own_identifiers(pairs, self._own)))
        is_escaped = b"\\" in found.octets
        text = as_octets("\0".join(_strings(found.value))) if is_escaped else found.octets
        return Record(found.offset, found.octets, name, (text,))


class JsonLineRecords(_JsonRecords):
    """Reads JSON Lines."""

    def __init__(self, *, own: bool) -> None:
        """`own`: only identifiers of the record itself are asked for."""
        super().__init__(ValueLines(), own=own)


class JsonArrayRecords(_JsonRecords):
    """Reads the elements of an array, of the array in an object that holds the records, or values that are in none."""

    def __init__(self, *, own: bool) -> None:
        """`own`: only identifiers of the record itself are asked for."""
        super().__init__(Values(wraps=find_array), own=own)


def _strings(value: object) -> Iterator[str]:
    """Strings in a value, names of members too."""
    values = [value]
    while values:
        value = values.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, (tuple, list)):
            values.extend(value)
