"""Where a record's own identifiers stand: a table of data (`fields.toml`), by format and by field."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

__all__ = ["OwnField", "own_fields"]


@dataclasses.dataclass(frozen=True, slots=True)
class OwnField:
    """A field that holds an identifier of the record itself; what is empty or None asks for nothing."""

    field: str
    first: str | None = None
    """The first indicators that it may have (MARC), each a character of this."""
    second: str | None = None
    parts: str = ""
    """The codes of the subfields that hold the identifier, each a character."""
    qualifier: str = ""
    """The code of the subfields behind such a one that say of what it is the identifier (MARC)."""
    scheme: str = ""
    """What the identifier is, in lower case."""
    scheme_in: str = ""
    """The subfield or attribute that says what it is."""
    schemes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """What is meant by what stands there, if it is a code."""
    unless: tuple[str, str] | None = None
    """An attribute and its value with which the field counts for nothing."""


@functools.cache
def own_fields(format_name: str) -> Mapping[str, tuple[OwnField, ...]]:
    """The fields of a format (a table of `fields.toml`) that hold a record's own identifiers, by the name of the field."""
    import tomllib  # noqa: PLC0415 (needed only where own identifiers are asked for)

    with (files(__package__) / "fields.toml").open("rb") as file:
        entries = tomllib.load(file)[format_name]
    by_field: dict[str, list[OwnField]] = {}
    for entry in entries:
        unless = entry.pop("unless", None)
        by_field.setdefault(entry["field"], []).append(OwnField(**entry, unless=unless and tuple(unless)))
    return MappingProxyType({name: tuple(fields) for name, fields in by_field.items()})
