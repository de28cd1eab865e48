"""Fields of MARC, whatever they are written in: which of its two families a record is of, and what its fields say.

MARC 21 and UNIMARC are written alike, but their tags mean other things: 010 is the LCCN in the one, the ISBN in the
other. Nothing around the fields tells which it is for certain (many UNIMARC leaders end with 4500), so the fields do, in
each record: UNIMARC has the title in 200, MARC 21 in 245. If both or neither are there, 100 $a tells: in UNIMARC it has
coded data, with a date of eight digits and a type of date at its beginning.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from urnscan.records import description
from urnscan.records.fields import Own, Table, admitting, of_subfields, of_value
from urnscan.records.record import in_line

FAMILIES = ("marc", "unimarc")
"""Names of the tables of MARC 21 and of UNIMARC."""

LEADERS = ("LDR", "000")
"""Tags of the leader, where it is written as a field."""

Parted = tuple[str, Sequence[tuple[str, str]]]
"""Indicators, and codes with values; of a control field its data, and nothing."""

_GENERAL = re.compile("[0-9]{8}[a-z|]")


@dataclass(frozen=True)
class MarcFields:
    """The fields of a record, which are taken apart only where a table asks for them."""

    leader: str
    fields: Sequence[tuple[str, Any]]
    """Tags, each with what `parted` takes."""
    parted: Callable[[Any], Parted]

    @functools.cached_property
    def family(self) -> str:
        """Name of the tables that say what the fields mean."""
        tags = {tag for tag, _ in self.fields}
        return family("200" in tags, "245" in tags, lambda: self._value("100", "a"))

    @property
    def number(self) -> str | None:
        """Control number (001); None if there is none."""
        return self._value("001", "").strip() or None

    def own(self, table: Table) -> Iterator[Own]:
        """Own identifiers by a table of the family."""
        for tag, field in self.fields:
            if rows := table.get(tag):
                indicators, subfields = self.parted(field)
                if tag.startswith("00"):
                    yield from of_value(indicators.strip(), rows)
                else:
                    yield from of_subfields(subfields, admitting(rows, *f"{indicators:2}"[:2]))

    def statements(self, table: description.Table) -> Iterator[description.Statement]:
        """The statements of the record, by a table of the family."""
        kind = self.leader[6:7]
        yield from description.of_text(self.leader, table.get("leader", ()), kind)
        count = sum(tag not in LEADERS for tag, _ in self.fields)
        yield from description.of_text(str(count), table.get("count", ()))
        for tag, field in self.fields:
            if rows := table.get(tag):
                indicators, subfields = self.parted(field)
                if tag.startswith("00"):
                    yield from description.of_text(indicators, rows, kind)
                else:
                    yield from description.of_subfields(subfields, rows, f"{indicators:2}"[1])

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

    def _value(self, tag: str, code: str) -> str:
        """Value of the first such subfield, or of the first such control field; empty if there is none."""
        parted = (self.parted(field) for each, field in self.fields if each == tag)
        values = (said for data, parts in parted for at, said in (parts if code else (("", data),)) if at == code)
        return next(values, "")


def family(has_200: bool, has_245: bool, general: Callable[[], str]) -> str:
    """The family of a record with or without 200 and 245. `general` gives its first 100 $a, and is asked only in doubt."""
    if has_200 != has_245:
        return FAMILIES[has_200]
    return FAMILIES[_GENERAL.match(general()) is not None]
