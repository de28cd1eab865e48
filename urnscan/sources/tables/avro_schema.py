"""Schemas of Avro (Apache Avro 1.12) as functions that walk through binary data and take the text in it.

A function takes the octets, where a value begins, its place, and what was found; it returns the octet behind the value.
What is not read is passed over by such a function, too, without a place.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from urnscan.errors import SourceError
from urnscan.sources.layers import Layer
from urnscan.sources.tables.leaves import tails_of
from urnscan.sources.tables.values import below, in_place, no_column


class DataError(Exception):
    """Octets that are not what the schema says; its text says why."""


@dataclass(slots=True)
class Found:
    """Values of text, none of them empty, and the place of each."""

    values: list[bytes] = field(default_factory=list)
    places: list[str] = field(default_factory=list)


_Walk: TypeAlias = Callable[[bytes, int, str, Found], int]


class _Part(NamedTuple):
    """A part of a schema."""

    walk: _Walk
    has_text: bool
    """Whether there may be text in it that is read."""


_SIZES = {"null": 0, "boolean": 1, "float": 4, "double": 8}  # octets of types without a length
_NO_TEXT = ("decimal", "duration")  # logical types of octets that are numbers
_NAMED = ("record", "error", "enum", "fixed")
_DEEPEST = 200  # types in each other; a Python that calls itself more often gives up


class Schema:
    """A schema, and the columns of it that are read."""

    def __init__(self, octets: bytes, columns: tuple[str, ...]) -> None:
        """Raises ValueError or RecursionError for what is no schema."""
        schema = _full(json.loads(octets), "")
        is_record = isinstance(schema, dict) and schema.get("type") in ("record", "error")
        self.names = [str(each["name"]) for each in schema["fields"]] if is_record else []
        """The names of the columns."""
        self._columns = columns
        self._named: dict[str, dict[str, Any]] = {}
        self._parts: dict[tuple[object, ...], _Part] = {}
        self._found: set[str] = set()  # of the columns, those that are there
        self._texts: set[str] = set()  # of those, the ones with text in them
        self.read, self.has_text = self._part(schema, columns or ("",), "", 0 if is_record else 1)

    def errors(self, layer: Layer) -> Iterator[SourceError]:
        """Errors for columns that are not there, if none is, and for those that hold no text."""
        if self._columns and not self._found:
            yield no_column(layer, self._columns, self.names)
        for column in self._columns:
            if column in self._found - self._texts:
                yield SourceError(layer.name, f"column {column!r} is not text")

    def _part(self, schema: Any, tails: tuple[str, ...], way: str, depth: int) -> _Part:  # noqa: ANN401 (it is JSON)
        """The part for a schema. `tails` are the ways into it that are read, `way` is that by which it was reached."""
        if depth > _DEEPEST:
            raise ValueError("nested too deep")
        if isinstance(schema, list):
            branches = [self._part(branch, tails, way, depth + 1) for branch in schema]
            part = _Part(_union([branch.walk for branch in branches]), any(branch.has_text for branch in branches))
        elif isinstance(schema, str):
            part = self._named_part(schema, tails, way, depth) if schema in self._named else _plain(schema, tails)
        elif schema["type"] in _NAMED:
            self._named[schema["name"]] = schema
            part = self._named_part(schema["name"], tails, way, depth)
        elif schema["type"] == "array":
            items = self._part(schema["items"], tails, way, depth + 1)
            part = _Part(_array(items.walk), items.has_text)
        elif schema["type"] == "map":
            key = self._field("string", "key", tails, way, depth)
            value = self._field(schema["values"], "value", tails, way, depth)
            part = _Part(_array(_record([(".key", key), (".value", value)])), key.has_text or value.has_text)
        else:
            is_number = schema.get("logicalType") in _NO_TEXT
            part = self._part(schema["type"], () if is_number else tails, way, depth + 1)
        if "" in tails:
            self._found.add(way)
            self._texts |= {way} if part.has_text else set()
        return part

    def _field(self, schema: Any, name: str, tails: tuple[str, ...], way: str, depth: int) -> _Part:  # noqa: ANN401 (it is JSON)
        inner = ("",) if "" in tails else tails_of(name, tails)
        return self._part(schema, inner, f"{way}.{name}" if way else name, depth + 1)

    def _named_part(self, name: str, tails: tuple[str, ...], way: str, depth: int) -> _Part:
        """The part for a type with a name, which may contain itself."""
        key = name, tails, depth == 0
        if key not in self._parts:
            parts = self._parts

            def later(octets: bytes, at: int, place: str, out: Found) -> int:
                return parts[key].walk(octets, at, place, out)

            parts[key] = _Part(later, bool(tails))
            parts[key] = self._new_part(self._named[name], tails, way, depth)
        return self._parts[key]

    def _new_part(self, schema: dict[str, Any], tails: tuple[str, ...], way: str, depth: int) -> _Part:
        if schema["type"] == "enum":
            return _Part(_number, has_text=False)
        if schema["type"] == "fixed":
            is_text = "" in tails and schema.get("logicalType") not in _NO_TEXT
            return _Part(_fixed(schema["size"], is_text=is_text), is_text)
        joint = "." if depth else "/"  # row/column, and all that is deeper as column.field
        fields = []
        for each in schema["fields"]:
            name = str(each["name"])
            fields.append((joint + in_place(name), self._field(each["type"], name, tails, way, depth)))
        return _Part(_record(fields), any(part.has_text for _, part in fields))


def _full(schema: Any, space: str) -> Any:  # noqa: ANN401 (it is JSON)
    """The schema with all names in full, as a name without a full stop is one of the namespace around it.

    Raises ValueError for what is no schema.
    """
    match schema:
        case str():
            is_own = "." not in schema and schema not in (*_SIZES, "int", "long", "string", "bytes")
            return f"{space}.{schema}" if space and is_own else schema
        case list():
            return [_full(branch, space) for branch in schema]
        case {"type": "record" | "error" | "enum" | "fixed", "name": str(name)}:
            space = name.rpartition(".")[0] if "." in name else str(schema.get("namespace", space) or "")
            schema = schema | {"name": name if "." in name or not space else f"{space}.{name}"}
            if schema["type"] == "fixed" and not isinstance(schema.get("size"), int):
                raise ValueError("a type has no size")
            if schema["type"] in ("record", "error"):
                fields = [field | {"type": _full(field["type"], space)} for field in _fields(schema)]
                schema["fields"] = fields
            return schema
        case {"type": "array", "items": items}:
            return {"type": "array", "items": _full(items, space)}
        case {"type": "map", "values": values}:
            return {"type": "map", "values": _full(values, space)}
        case {"type": (str() | list() | dict()) as kind} if kind not in (*_NAMED, "array", "map"):
            return schema | {"type": _full(kind, space)}
    raise ValueError("its schema is damaged")


def _fields(record: dict[str, Any]) -> list[dict[str, Any]]:
    fields = record.get("fields")
    if not isinstance(fields, list) or not all(
        isinstance(each, dict) and {"name", "type"} <= each.keys() for each in fields
    ):
        raise ValueError("a record has no fields")
    return fields


def _plain(kind: str, tails: tuple[str, ...]) -> _Part:
    """The part for a type without a name."""
    if kind in ("string", "bytes"):
        return _Part(_take, has_text=True) if "" in tails else _Part(_pass, has_text=False)
    if kind in ("int", "long"):
        return _Part(_number, has_text=False)
    if kind not in _SIZES:
        raise ValueError(f"there is no type {kind[:50]!r}")
    return _Part(_fixed(_SIZES[kind], is_text=False), has_text=False)


def number(octets: bytes, at: int, *, is_signed: bool = True) -> tuple[int, int]:
    """A number of variable length, in zigzag if it is signed, and the octet behind it. Raises DataError."""
    if at < len(octets) and octets[at] < 0x80:  # as nearly all of them
        return (octets[at] >> 1) ^ -(octets[at] & 1) if is_signed else octets[at], at + 1
    value = shift = 0
    while True:
        if at >= len(octets) or shift > 63:
            raise DataError("it ends too early" if shift <= 63 else "a number is too long")
        octet = octets[at]
        at += 1
        value |= (octet & 0x7F) << shift
        if octet < 0x80:
            return (value >> 1) ^ -(value & 1) if is_signed else value, at
        shift += 7


def octets_at(octets: bytes, at: int) -> tuple[bytes, int]:
    """Octets behind their length, and the octet behind them. Raises DataError."""
    size, at = number(octets, at)
    if not 0 <= size <= len(octets) - at:
        raise DataError("a text is longer than what follows")
    return octets[at : at + size], at + size


def _take(octets: bytes, at: int, place: str, out: Found) -> int:
    """Take a text."""
    value, at = octets_at(octets, at)
    if value:
        out.values.append(value)
        out.places.append(place)
    return at


def _pass(octets: bytes, at: int, _: str, __: Found) -> int:
    """Pass over a text."""
    size, at = number(octets, at)
    if not 0 <= size <= len(octets) - at:
        raise DataError("a text is longer than what follows")
    return at + size


def _number(octets: bytes, at: int, _: str, __: Found) -> int:
    """Pass over a number."""
    while at < len(octets):
        at += 1
        if octets[at - 1] < 0x80:
            return at
    raise DataError("it ends too early")


def _fixed(size: int, *, is_text: bool) -> _Walk:
    def fixed(octets: bytes, at: int, place: str, out: Found) -> int:
        if not 0 <= size <= len(octets) - at:
            raise DataError("it ends too early")
        if is_text and size:
            out.values.append(octets[at : at + size])
            out.places.append(place)
        return at + size

    return fixed


def _union(branches: list[_Walk]) -> _Walk:
    def union(octets: bytes, at: int, place: str, out: Found) -> int:
        which, at = number(octets, at)
        if not 0 <= which < len(branches):
            raise DataError("a union has no such branch")
        return branches[which](octets, at, place, out)

    return union


def _record(fields: list[tuple[str, _Part]]) -> _Walk:
    ways = [(name if part.has_text else "", part.walk) for name, part in fields]

    def record(octets: bytes, at: int, place: str, out: Found) -> int:
        for name, walk in ways:
            at = walk(octets, at, below(place, name) if name else place, out)
        return at

    return record


def _array(walk: _Walk) -> _Walk:
    def array(octets: bytes, at: int, place: str, out: Found) -> int:
        index = 0
        while True:
            count, at = number(octets, at)
            if not count:
                return at
            if count < 0:
                count, (_, at) = -count, number(octets, at)
            for _ in range(count):
                before = at
                at = walk(octets, at, below(place, f"[{index}]"), out)
                if at == before:  # they take no octets, and there may be as many as somebody likes to write
                    break
                index += 1

    return array
