"""Fields of a record of MARC, written in any format -> the form of ISO 2709, which compiled code reads, or lines for people."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from urnscan.records.decoded_text import first_name, in_line

LEADERS = ("LDR", "000")
"""Tags of the leader in formats that write it as a field."""
STATUS, DELETED = 5, b"d"
"""Index of the status in the leader, and the status of a deleted record."""
_DELETION = "DEL"

SplitField = tuple[str, Sequence[tuple[str, str]]]
"""Indicators and subfields (pairs of code and value) of a field; for a control field, the data and no subfields."""

# Characters.
_LEADER = 24
MARKS = str.maketrans("\x1e\x1f\x1b", "\t\t\t")
"""Controls -> tabs: delimiters and terminators of ISO 2709, and the escape that changes the character set in MARC-8."""


class MarcBytes(NamedTuple):
    """The leader of a MARC record, and those of its fields whose tags were asked for, in the form of ISO 2709."""

    leader: bytes
    """The leader; its status is DELETED if a field marks the record as deleted (`leader_with_status`)."""
    total: int
    """Number of all fields of the record, also of those that `fields` lacks."""
    fields: Sequence[tuple[int, bytes]]
    """Tags, as numbers, and fields, without field terminators."""


def leader_with_status(leader: bytes, tags: Collection[str]) -> bytes:
    """Return the leader of a record that has fields with the tags `tags`: with the status DELETED (`d`) if DEL, the
    mark of Aleph and Alma for deleted records, is among them; otherwise unchanged.

    >>> leader_with_status(b"00092nam a22", ["001", "DEL"])
    b'00092dam a22'
    """
    return leader[:STATUS].ljust(STATUS) + DELETED + leader[STATUS + 1 :] if _DELETION in tags else leader


@dataclass(frozen=True)
class MarcFields:
    """Leader and fields of a MARC record that was read from any format. A field is split into subfields only when it is
    needed.
    """

    leader: str
    """Leader; empty if the record has none."""
    fields: Sequence[tuple[str, Any]]
    """Pairs of tag and field, in order. What a field is depends on the format: `split` splits it."""
    split: Callable[[Any], SplitField]
    """Function from a field to its indicators and subfields (pairs of code and value)."""

    @property
    def number(self) -> str | None:
        """Control number (001), without white space around it; None if there is none."""
        return first_name(self.split(field)[0] for tag, field in self.fields if tag == "001")

    def data(self, tags: Collection[str]) -> MarcBytes:
        """Return the leader and those fields whose tags (of three digits) are in `tags`, in the form of ISO 2709, which
        compiled code reads. `MarcBytes.total` counts all fields.
        """
        return MarcBytes(
            leader_with_status(
                self.leader[:_LEADER].translate(MARKS).encode("utf-8", "replace"), [tag for tag, _ in self.fields]
            ),
            sum(tag not in LEADERS for tag, _ in self.fields),
            [(int(tag), self._bytes(tag, field)) for tag, field in self.fields if tag in tags],
        )

    def _bytes(self, tag: str, field: object) -> bytes:
        first, subfields = self.split(field)
        if tag.startswith("00"):
            parts = [first]
        else:
            # A field without subfields gets a delimiter, too: without one, it would be a control field.
            coded = [f"{code if len(code) == 1 else ' '}{value}" for code, value in subfields]
            parts = [f"{first:2}"[:2], *(coded or [""])]
        return "\x1f".join(part.translate(MARKS) for part in parts).encode("utf-8", "replace")

    def lines(self) -> str:
        """Return the record as text in the form of MARC editors: a line for the leader and for each field, `$` before
        the code of a subfield (`245 10 $a Inks`).
        """
        lines = [f"LDR    {in_line(self.leader)}"]
        for tag, field in self.fields:
            if tag in LEADERS:
                continue
            first, subfields = self.split(field)
            if subfields:
                shown = (f"${in_line(code)} {in_line(value)}" for code, value in subfields)
                lines.append(" ".join((f"{in_line(tag)} {in_line(first):2}", *shown)))
            else:
                lines.append(f"{in_line(tag)}    {in_line(first)}")
        return "\n".join(lines)
