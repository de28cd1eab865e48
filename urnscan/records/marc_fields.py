"""Fields of a record of MARC, whatever they are written in: as in ISO 2709, so that compiled code reads them, and for a person."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from urnscan.records.decoded_text import first_name, in_line

LEADERS = ("LDR", "000")
"""Tags of the leader, where it is written as a field."""

Parted = tuple[str, Sequence[tuple[str, str]]]
"""Indicators, and codes with values; of a control field its data, and nothing."""

_LEADER = 24  # characters
MARKS = str.maketrans("\x1e\x1f\x1b", "\t\t\t")
"""Controls with which ISO 2709 separates fields and subfields, and MARC-8 changes its character set, as other white space."""


class MarcOctets(NamedTuple):
    """The fields of a record that are asked for, as in ISO 2709."""

    leader: bytes
    total: int
    """Number of all fields of the record."""
    fields: Sequence[tuple[int, bytes]]
    """Tags and fields, without field terminators."""


@dataclass(frozen=True)
class MarcFields:
    """The fields of a record, which are taken apart only where somebody asks for them."""

    leader: str
    fields: Sequence[tuple[str, Any]]
    """Tags, each with what `parted` takes."""
    parted: Callable[[Any], Parted]

    @property
    def number(self) -> str | None:
        """Control number (001); None if there is none."""
        return first_name(self.parted(field)[0] for tag, field in self.fields if tag == "001")

    def octets(self, tags: Collection[str]) -> MarcOctets:
        """The fields with some tags as in ISO 2709."""
        return MarcOctets(
            self.leader[:_LEADER].translate(MARKS).encode("utf-8", "replace"),
            sum(tag not in LEADERS for tag, _ in self.fields),
            [(int(tag), self._octets(tag, field)) for tag, field in self.fields if tag in tags],
        )

    def _octets(self, tag: str, field: object) -> bytes:
        first, subfields = self.parted(field)
        if tag.startswith("00"):
            parts = [first]
        else:  # without subfields it has a delimiter all the same, which says that it is no control field
            coded = [f"{code if len(code) == 1 else ' '}{value}" for code, value in subfields]
            parts = [f"{first:2}"[:2], *(coded or [""])]
        return "\x1f".join(part.translate(MARKS) for part in parts).encode("utf-8", "replace")

    def lines(self) -> str:
        """The record as editors of MARC show it: a line for each field, `$` before codes, however it is written."""
        lines = [f"LDR    {in_line(self.leader)}"]
        for tag, field in self.fields:
            if tag in LEADERS:
                continue
            first, subfields = self.parted(field)
            if subfields:
                shown = (f"${in_line(code)} {in_line(value)}" for code, value in subfields)
                lines.append(" ".join((f"{in_line(tag)} {in_line(first):2}", *shown)))
            else:
                lines.append(f"{in_line(tag)}    {in_line(first)}")
        return "\n".join(lines)
