"""Rows of a table inside a page: columns as JSON, deflated, in base64, so that no text can end the element or begin
one.

A hundred thousand classes take one or two megabytes like this, and a browser reads them in a tenth of a second.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

__all__ = ["COLUMNS", "Embedded", "cut", "embed"]

COLUMNS = ("urn", "nid", "status", "count", "sources", "variants", "valid", "problem", "first_source")
"""Columns of a class."""
_REPEATING = ("nid", "status", "problem", "first_source")
_LONGEST = 400
"""Characters of a text; longer texts are cut."""
_CHOICES = 300
"""Choices of a filter; of more namespaces, those with the most classes."""


class Embedded(NamedTuple):
    """Rows as a page holds them."""

    octets: str
    rows: int
    cut: int
    """Number of names that are cut."""
    columns: Mapping[str, Sequence[Any]]
    namespaces: Sequence[str]
    """Choices of the filter of namespaces."""
    problems: Sequence[str]

    def first(self, most: int) -> list[dict[str, Any]]:
        """The `most` most frequent rows."""
        count = self.columns["count"]
        places = sorted(range(self.rows), key=lambda row: -count[row])[:most]
        return [{name: self.columns[name][place] for name in COLUMNS} for place in places]


def embed(columns: Mapping[str, Sequence[Any]]) -> Embedded:
    """Rows, sorted by name, as a page holds them."""
    shortened = sum(len(urn) > _LONGEST for urn in columns["urn"])
    columns = {name: [cut(value) for value in columns[name]] for name in COLUMNS}
    packed: dict[str, Any] = {}
    for name, values in columns.items():
        if name in _REPEATING:
            places: dict[str | None, int] = {}
            packed[name] = {"at": [places.setdefault(value, len(places)) for value in values], "values": list(places)}
        else:
            packed[name] = values
    octets = json.dumps(packed, ensure_ascii=False, separators=(",", ":")).encode()
    codes = {code for problem in packed["problem"]["values"] if problem for code in problem.split("; ")}
    return Embedded(
        base64.b64encode(zlib.compress(octets, 9)).decode(),
        len(columns["urn"]),
        shortened,
        columns,
        sorted(nid for nid, _ in Counter(columns["nid"]).most_common(_CHOICES)),
        sorted(codes)[:_CHOICES],
    )


def cut(value: Any) -> Any:  # noqa: ANN401 (whatever a column holds)
    """A value; of a text that is too long, the beginning."""
    return f"{value[:_LONGEST]}…" if isinstance(value, str) and len(value) > _LONGEST else value
