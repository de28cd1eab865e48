"""The rows of a table for a page: JSON, compressed (deflate), in base64. So no text can end an element.

In this form, 100,000 classes take one or two megabytes, and a browser reads them in a tenth of a second. The script
shows a few rows at a time: 100,000 rows in the document would make a browser too slow.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

COLUMNS = {
    "urn": "urn",
    "nid": "nid",
    "status": "nid_status",
    "occurrence_count": "occurrence_count",
    "source_count": "source_count",
    "spelling_count": "spelling_count",
    "valid": "valid",
    "problem": "problem",
    "source": "first_source",
    "member": "first_member",
    "start": "first_start",
}
"""Columns of a class in the page, and their names in the table of classes."""
_REPEATING = ("nid", "status", "problem", "hint", "source", "member")
LONGEST = 400
"""Maximum number of characters of a text; a longer one is cut."""
_LONGEST_SOURCE = 2000
"""Maximum number of characters of the name of a source; a longer one is cut."""
_CHOICES = 300
"""Maximum number of choices of a filter. If there are more namespaces, the choices are those with the most classes."""


class Place(NamedTuple):
    """A place where a name of a class occurs."""

    source: str
    """Path or URL of the file."""
    member: str | None
    """Member of an archive or the like; None without one."""
    line: int
    """Line in the text, from 1."""
    start: int
    """Bytes of the text before the name."""
    text: str
    """The name as it is written there."""


class Embedded(NamedTuple):
    """Rows of classes (a class is all spellings of one name) in the form in which a page contains them."""

    data: str
    """The rows as JSON, compressed (deflate, in the format of zlib), in base64."""
    rows: int
    """Number of rows."""
    cut: int
    """Number of URNs that are too long for the page, so that it has only their first characters."""
    columns: Mapping[str, Sequence[Any]]
    """The columns given to `embed`, with long texts cut (not links), and without the common folder in names of sources.
    """
    namespaces: Sequence[str]
    """Choices of the filter of namespaces, sorted; at most the 300 namespaces with the most classes."""
    problems: Sequence[str]
    """Choices of the filter of problems: the first 300 codes, sorted."""

    def first(self, most: int) -> list[dict[str, Any]]:
        """Return the `most` rows with the most occurrences, the most frequent first: each as a mapping from the names
        of columns in the page (keys of COLUMNS, such as `urn`) to values. All rows if there are fewer.
        """
        count = self.columns["occurrence_count"]
        places = sorted(range(self.rows), key=lambda row: -count[row])[:most]
        return [{name: self.columns[name][place] for name in COLUMNS} for place in places]


def embed(
    columns: Mapping[str, Sequence[Any]], places: Sequence[Sequence[Place]] | None, about: Mapping[str, Any]
) -> Embedded:
    """Convert rows of classes to the form in which a page contains them: JSON, compressed, in base64.

    `columns` has the keys of COLUMNS (`urn`, `nid`, …), `spellings` (pairs of text and count), `link` and `hint`, with
    a value for each class. `places`: the first places of each class; None without the table of occurrences. `about` has
    other values for the script, by name, among them `folder`, the common folder of all sources ("" for none), which is
    removed from their names. Texts in `columns` and `places` of more than 400 characters, in `source` 2,000, are cut,
    but not links.
    """
    # The script gets a JSON object. A column in which values repeat has its distinct values in "values", and in "at" the
    # index of the value of each row. A spelling is null if it is equal to the canonical form. A place has five numbers:
    # source, member, line, start, spelling. If the page does not list the spelling, the fifth is its text.
    urns, spellings, folder = columns["urn"], columns["spellings"], about["folder"]
    shortened = sum(len(urn) > LONGEST for urn in urns)
    columns = {**columns, "source": [name.removeprefix(folder) for name in columns["source"]]}
    columns = {name: [_short(name, value) for value in values] for name, values in columns.items()}
    values: dict[str, Any] = {**columns, **about}
    indices: dict[str, dict[str | None, int]] = {name: {} for name in _REPEATING}

    def index(name: str, value: str | None) -> int:
        return indices[name].setdefault(value, len(indices[name]))

    def numbers(place: Place, texts: Sequence[str]) -> tuple[int | str, ...]:
        source, member = _short("source", place.source.removeprefix(folder)), cut(place.member)
        text = texts.index(place.text) if place.text in texts else cut(place.text)
        return index("source", source), index("member", member), place.line, place.start, text

    for name in _REPEATING:
        values[name] = {"at": [index(name, value) for value in columns[name]]}
    values["spellings"] = [
        [value for text, count in of_class for value in (None if text == urn else cut(text), count)]
        for urn, of_class in zip(urns, spellings, strict=True)
    ]
    values["places"] = places and [
        [number for place in of_class for number in numbers(place, [text for text, _ in of_class_spellings])]
        for of_class, of_class_spellings in zip(places, spellings, strict=True)
    ]
    for name in _REPEATING:
        values[name]["values"] = list(indices[name])
    data = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
    codes = {code for problem in values["problem"]["values"] if problem for code in problem.split("; ")}
    return Embedded(
        data=packed(data),
        rows=len(urns),
        cut=shortened,
        columns=columns,
        namespaces=sorted(nid for nid, _ in Counter(columns["nid"]).most_common(_CHOICES)),
        problems=sorted(codes)[:_CHOICES],
    )


def packed(data: bytes) -> str:
    """Compress bytes (deflate, in the format of zlib), and return them in base64."""
    return base64.b64encode(zlib.compress(data, 6)).decode()


def _short(column: str, value: Any) -> Any:  # noqa: ANN401 (any value of a column)
    return value if column == "link" else cut(value, _LONGEST_SOURCE if column == "source" else LONGEST)


def cut(value: Any, most: int = LONGEST) -> Any:  # noqa: ANN401 (any value of a column)
    """Return a text of more than `most` characters as its first `most` characters and an ellipsis; return any other
    value unchanged.
    """
    return f"{value[:most]}…" if isinstance(value, str) and len(value) > most else value
