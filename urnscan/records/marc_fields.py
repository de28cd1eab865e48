"""The own identifiers of a MARC 21 record, from its data fields, however these are written down (ISO 2709, MARCXML).

The fields are those of the table `marc` in fields.toml (MARC 21 Format for Bibliographic Data, 01X-09X, 841-88X).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

from urnscan.records.fields import OwnField, of_subfields, own_fields
from urnscan.records.record import Own

__all__ = ["own_identifiers"]


def own_identifiers(tag: str, first: str, second: str, subfields: Iterable[tuple[str, str]]) -> Iterator[Own]:
    """The identifiers of the record itself in one field: its tag, its two indicators (an empty one is a blank), its
    subfields as pairs of code and value.
    """
    rows = _rows(tag, first or " ", second or " ")
    return of_subfields(list(subfields), rows) if rows else iter(())


@functools.lru_cache(maxsize=1 << 10)
def _rows(tag: str, first: str, second: str) -> tuple[OwnField, ...]:
    """The rows of the table for a field with these indicators."""
    return tuple(
        row
        for row in own_fields("marc").get(tag, ())
        if (row.first is None or first in row.first) and (row.second is None or second in row.second)
    )
