"""The report of `urnscan report`: figures of a scan, and a table of its classes that readers can search and sort.

The sections of the page are in the template `scan.html`. The page has one script, and a policy by which a browser runs
only this script. Without it, the page still shows the most frequent classes.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from urnscan.report.embedded import Place, embed
from urnscan.report.page import by_size, digest, page, script
from urnscan.report.spelling_differences import differences, ways
from urnscan.urn.namespaces.registry import OURS, Rulebook
from urnscan.urn.problems import PROBLEMS

_FIRST = 25
"""Number of classes that the page shows without the script."""
_AROUND, _LONG = 40, 400
"""Characters of a long name that are shown: of the prefix that all spellings share, and in all."""

VERDICTS = {
    "valid": "fits what is registered for its namespace",
    "invalid": "does not fit what is registered for its namespace",
    "unknown": "nothing certain is known of such names",
}
"""Results of the check of names by the rules of their namespace -> the meaning, in words."""

_BYTES = {
    None: "end of the text",
    -1: "cut at --max-length",
    0: "NUL",
    9: "tab",
    10: "line feed",
    13: "carriage return",
    30: "end of a field (U+001E)",
    31: "subfield (U+001F)",
    32: "space",
    37: "% percent sign without two hex digits",
    127: "DEL",
}


@dataclass(frozen=True, slots=True)
class CountRow:
    """A row of a table of counts: the counts of a namespace, a status of registration, a source, a verdict or a
    problem.
    """

    name: str
    """The namespace, status, source, verdict (`valid`, `invalid`, `unknown`), or code of a problem."""
    occurrences: int | None
    """Number of occurrences; None for a source if the report is made without the table of occurrences."""
    classes: int
    """Number of classes (a class is all spellings of one name). For a source: of the classes whose first place is in
    it.
    """
    status: str = ""
    """For a namespace: the status of registration (a `NidStatus`, such as `formal`); otherwise empty."""
    examples: Sequence[tuple[str, str]] = ()
    """For a problem: names with the problem. A hint follows each: the correct check digit, in words, or an empty text.
    """


@dataclass(frozen=True, slots=True)
class VariedClass:
    """One of the classes (a class is all spellings of one name) with the most spellings."""

    urn: str
    """Canonical form of the class."""
    occurrences: int
    """Number of occurrences."""
    spelling_count: int
    """Number of all spellings."""
    spellings: Sequence[tuple[str, int]]
    """The most frequent spellings, each with its number of occurrences."""


@dataclass(frozen=True, slots=True)
class MatchEnds:
    """Numbers of matches by how they ended."""

    stops: Mapping[int | None, int]
    """Number of matches by the byte after them, as a number. None is the end of the text, -1 the limit of
    `--max-length`.
    """
    punctuation: Mapping[int, int]
    """Number of matches by the number of bytes at their end that `--trim` would cut off; 0 is no byte."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Contents of the report of a scan; sequences are shown in their order."""

    version: str
    """Version of urnscan."""
    file: str
    """Path of the table of classes."""
    occurrences: int
    """Number of all occurrences."""
    classes: int
    """Number of all classes: a class is the spellings of one name."""
    spellings: int
    """Number of different spellings, of all classes together."""
    varied: int
    """Number of classes with several spellings."""
    namespaces: Sequence[CountRow]
    """Counts by namespace, the most frequent first."""
    more_namespaces: int
    """Number of namespaces that `namespaces` leaves out."""
    statuses: Sequence[CountRow]
    """Counts by status of registration, the most frequent first."""
    sizes: Mapping[int, int]
    """Number of classes by number of occurrences."""
    most_varied: Sequence[VariedClass]
    """The classes with the most spellings."""
    sources: Sequence[CountRow]
    """Counts by source, those with the most occurrences first; or the most classes, if the number of occurrences is
    unknown.
    """
    more_sources: int
    """Number of sources that `sources` leaves out."""
    folder: str
    """The folder that contains all sources, with its final `/`; empty if there is none."""
    ends: MatchEnds | None
    """How the matches ended; None if the report is made without the table of occurrences."""
    verdicts: Sequence[CountRow]
    """Counts by verdict; the names of the rows are `valid`, `invalid`, `unknown`."""
    problems: Sequence[CountRow]
    """Counts by code of problem. A class with several codes counts in each."""
    frequent: Mapping[str, Sequence[Any]]
    """The most frequent classes, in columns (name -> a value for each class): those of
    `urnscan.report.embedded.COLUMNS`, `spellings` (pairs of text and count), `link` (address at a resolver) and `hint`
    (the correct check digit, in words).
    """
    places: Sequence[Sequence[Place]] | None
    """The first places of each class in `frequent`; None if the report is made without the table of occurrences."""
    settings: Sequence[tuple[str, str]] = ()
    """Options of the scan and some counts, in words, and their values as texts (`TableFile.settings`)."""
    rulebook: Rulebook = OURS
    """The rules of namespaces whose titles are shown."""
    title: str = "URNs found"
    """Title of the page."""


def render(summary: Summary) -> str:
    """Return the report as an HTML page, to be written in UTF-8. The same summary gives the same page."""
    nids = set(summary.frequent["nid"])
    about = {
        "all": summary.classes,
        "folder": summary.folder,
        "verdicts": VERDICTS,
        "problems": dict(PROBLEMS),
        "titles": {nid: rule.title for nid, rule in summary.rulebook.rules.items() if nid in nids},
    }
    embedded = embed(summary.frequent, summary.places, about)
    program = script("classes.js")
    return page(
        "scan.html",
        summary=summary,
        program=program,
        digest=digest(program),
        embedded=embedded,
        first=embedded.first(_FIRST),
        sizes=by_size(summary.sizes),
        varied=[(varied, _shortened(varied)) for varied in summary.most_varied],
        stops=_stops({} if summary.ends is None else summary.ends.stops),
        meanings=PROBLEMS,
    )


def _stops(stops: Mapping[int | None, int]) -> list[tuple[str, int]]:
    """Names of the bytes that ended matches, with counts, the most frequent first. `stops`: byte (as for `_byte`) ->
    count.
    """
    counts: Counter[str] = Counter()
    for byte, number in sorted(stops.items(), key=lambda item: (-item[1], -2 if item[0] is None else item[0])):
        counts[_byte(byte)] += number
    return counts.most_common()


def _byte(byte: int | None) -> str:
    """Name of the byte after a match. None is the end of the text, -1 the limit of `--max-length`.

    >>> _byte(34), _byte(10), _byte(None), _byte(195), _byte(65)
    ('" quotation mark', 'line feed', 'end of the text', 'non-ASCII character', 'A')
    """
    if byte in _BYTES:
        return _BYTES[byte]
    if byte is None or not 32 < byte < 127:
        return "non-ASCII character" if byte is not None and byte > 127 else f"byte {byte}"
    character = chr(byte)
    return character if character.isalnum() else f"{character} {unicodedata.name(character).lower()}"


def _shortened(varied: VariedClass) -> dict[str, Any]:
    """A class for the page, with long names cut."""
    # Of the canonical form, `skipped` characters are left out, `start` is shown, and `rest` characters are left out. A
    # spelling is a tuple: parts, count, kinds of differences, and number of characters left out at the end.
    texts = [varied.urn, *(text for text, _ in varied.spellings)]
    skipped = 0
    if max(map(len, texts)) > _LONG:
        # A prefix that the least and the greatest text share is shared by all texts.
        least, greatest = min(texts), max(texts)
        common = next((at for at, pair in enumerate(zip(least, greatest, strict=False)) if pair[0] != pair[1]), 0)
        skipped = max(0, common - _AROUND)
    start = varied.urn[skipped : skipped + _LONG]
    spellings = []
    for spelling, count in varied.spellings:
        text = spelling[skipped : skipped + _LONG]
        is_whole = start == varied.urn and text == spelling
        kinds = ways(start, text) if is_whole else []
        spellings.append((differences(start, text), count, kinds, len(spelling) - skipped - len(text)))
    return {"skipped": skipped, "start": start, "rest": len(varied.urn) - skipped - len(start), "spellings": spellings}
