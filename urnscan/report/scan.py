"""The report of `urnscan report`: what a scan found, and a table of its classes to search, sort and page through.

The page shows, each in a section of its own:

* the numbers of occurrences, classes, namespaces, spellings and problems;
* the namespaces, with their standing in the IANA registry;
* the sizes of the classes, on two logarithmic axes;
* the classes with the most spellings, and the differences of these;
* the sources with the most;
* the ends of matches, and what `--trim` would cut off there (needs the occurrences);
* valid and invalid names, and problems by kind;
* the classes themselves, up to a number that a browser can handle: of more, the most frequent;
* the settings of the run.

The page has one script, and a policy by which a browser runs no other. Without the script the page still shows the most
frequent classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from urnscan.report.charts import bar_chart, size_chart
from urnscan.report.embedded import embed
from urnscan.report.page import digest, page, ranges, script
from urnscan.report.spellings import Run, differences, ways

__all__ = [
    "PROBLEMS",
    "Ends",
    "Kind",
    "Namespace",
    "Problem",
    "Size",
    "Source",
    "Spelling",
    "Summary",
    "Varied",
    "render",
]

_DRAWN = 12
"""Bars of a chart; the table beside it has all rows."""
_FIRST = 25
"""Classes that the page shows without its script."""
_AROUND, _LONG = 40, 400
"""Characters of a long name: those kept of a prefix that all its spellings share, and those shown in all."""

PROBLEMS: Mapping[str, str] = {
    "nss-grammar": "does not fit the grammar of its namespace",
    "check-digit": "the check digit is wrong",
    "dnb-check-digit": "not the check digit of the German National Library, which not every such name has",
    "nul-octet": "holds the octet NUL, percent-encoded (RFC 2141 §2.4)",
    "repeated-keyword": "a directive stands there twice (rfc2141bis-03 §2.3)",
    "mixed-scripts": "scripts in one word that do not go together (UTS #39)",
    "confusable": "characters that look like ASCII among those that are (UTS #39)",
    "invisible-character": "characters that are not seen (UTS #39)",
}
"""Meaning of the codes in the column `problem`."""

_OCTETS = {
    None: "end of the text",
    -1: "cut at --max-length",
    0: "NUL",
    9: "tab",
    10: "line feed",
    13: "carriage return",
    30: "end of a field (U+001E)",
    31: "subfield (U+001F)",
    32: "space",
    127: "DEL",
}
_NAMES = {
    '"': "quotation mark",
    "<": "less than",
    ">": "greater than",
    "[": "opening bracket",
    "]": "closing bracket",
    "{": "opening brace",
    "}": "closing brace",
    "\\": "backslash",
    "&": "ampersand",
    "`": "grave accent",
    "|": "vertical bar",
    "^": "circumflex",
    "%": "percent sign without two hex digits",
    "#": "number sign",
    "?": "question mark",
    ",": "comma",
    ";": "semicolon",
    ".": "full stop",
    ")": "closing parenthesis",
    "'": "apostrophe",
    "/": "slash",
    "~": "tilde",
}


@dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace."""

    nid: str
    status: str
    occurrences: int
    classes: int


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of names."""

    name: str
    occurrences: int
    classes: int


@dataclass(frozen=True, slots=True)
class Spelling:
    """One of the spellings of a class."""

    text: str
    count: int


@dataclass(frozen=True, slots=True)
class Varied:
    """A class with many spellings, and the most frequent of them."""

    urn: str
    occurrences: int
    variants: int
    spellings: Sequence[Spelling]


@dataclass(frozen=True, slots=True)
class Source:
    """An input."""

    name: str
    occurrences: int | None
    """None if they were not counted."""
    classes: int
    """Classes that were found here first."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Ends of matches."""

    stops: Mapping[int | None, int]
    """Number of matches by the octet that ended them; None is the end of the text, -1 a cut."""
    trailing: Mapping[int, int]
    """Number of matches by the octets that `--trim` would cut off."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A code of the column `problem`."""

    code: str
    occurrences: int
    classes: int
    examples: Sequence[str]


@dataclass(frozen=True, slots=True)
class Summary:
    """Contents of the report; sequences are shown in their order."""

    version: str
    """Version of urnscan."""
    file: str
    occurrences: int
    classes: int
    spellings: int
    varied: int
    """Classes with more than one spelling."""
    namespaces: Sequence[Namespace]
    more_namespaces: int
    statuses: Sequence[Kind]
    sizes: Mapping[int, int]
    """Number of classes by number of occurrences."""
    most_varied: Sequence[Varied]
    sources: Sequence[Source]
    more_sources: int
    ends: Ends | None
    """None if the occurrences were not given."""
    verdicts: Sequence[Kind]
    """Kinds with the names `valid`, `invalid`, `unknown`."""
    problems: Sequence[Problem]
    frequent: Mapping[str, Sequence[object]]
    """The most frequent classes, in the columns `urnscan.report.embedded.COLUMNS`."""
    settings: Sequence[tuple[str, str]] = ()
    title: str = "URNs found"


class Size(NamedTuple):
    """Classes of about the same size."""

    label: str
    classes: int
    occurrences: int


class _Shown(NamedTuple):
    """A spelling as shown."""

    spelling: Spelling
    runs: Sequence[Run]
    ways: Sequence[str]
    rest: int


class _Class(NamedTuple):
    """A class with its spellings as shown."""

    varied: Varied
    before: int
    """Characters of the common prefix that are left out."""
    start: str
    rest: int
    spellings: Sequence[_Shown]


def render(summary: Summary) -> str:
    """The report as HTML, to be written in UTF-8, without date, name of the machine or address in the network."""
    embedded = embed(summary.frequent)
    program = script("classes.js")
    source_numbers = [
        (source.name, source.classes)
        if source.occurrences is None
        else (source.name, source.occurrences, source.classes)
        for source in summary.sources[:_DRAWN]
    ]
    return page(
        "scan.html",
        summary=summary,
        program=program,
        digest=digest(program),
        embedded=embedded,
        first=embedded.first(_FIRST),
        nids=summary.namespaces[0].nid if summary.namespaces else None,
        all_namespaces=len(summary.namespaces) + summary.more_namespaces,
        namespace_chart=bar_chart((each.nid, each.occurrences, each.classes) for each in summary.namespaces[:_DRAWN]),
        status_chart=bar_chart((each.name, each.occurrences, each.classes) for each in summary.statuses),
        size_chart=size_chart(summary.sizes),
        sizes=_sizes(summary.sizes),
        once=summary.sizes.get(1, 0),
        largest=max(summary.sizes, default=0),
        varied=[_shown(each) for each in summary.most_varied],
        all_sources=len(summary.sources) + summary.more_sources,
        source_chart=bar_chart(source_numbers),
        stops=_stops(summary.ends),
        stop_chart=bar_chart(_stops(summary.ends)[:_DRAWN]),
        trailing=sorted(summary.ends.trailing.items()) if summary.ends else [],
        trimmable=sum(number for octets, number in summary.ends.trailing.items() if octets) if summary.ends else 0,
        verdicts={kind.name: kind for kind in summary.verdicts},
        problem_chart=bar_chart((each.code, each.occurrences, each.classes) for each in summary.problems[:_DRAWN]),
        meanings=PROBLEMS,
        drawn=_DRAWN,
    )


def _sizes(sizes: Mapping[int, int]) -> list[Size]:
    """Ranges of sizes of classes."""
    rows: list[Size] = []
    for label, within in ranges(sizes):
        rows.append(Size(label, sum(sizes[size] for size in within), sum(size * sizes[size] for size in within)))
    return rows


def _stops(ends: Ends | None) -> list[tuple[str, int]]:
    """Octets that ended matches, in words, by frequency."""
    stops = {} if ends is None else ends.stops
    counts: dict[str, int] = {}
    for octet, number in sorted(stops.items(), key=lambda item: (-item[1], -2 if item[0] is None else item[0])):
        label = _octet(octet)
        counts[label] = counts.get(label, 0) + number
    return sorted(counts.items(), key=lambda item: -item[1])


def _octet(octet: int | None) -> str:
    """Name of an octet.

    >>> _octet(34), _octet(10), _octet(None), _octet(195), _octet(65)
    ('" quotation mark', 'line feed', 'end of the text', 'non-ASCII character', 'A')
    """
    if octet in _OCTETS:
        return _OCTETS[octet]
    if octet is None or not 32 < octet < 127:
        return "non-ASCII character" if octet is not None and octet > 127 else f"octet {octet}"
    character = chr(octet)
    return f"{character} {_NAMES.get(character, '')}".rstrip()


def _shown(varied: Varied) -> _Class:
    """The spellings of a class, shortened."""
    texts = [varied.urn, *(spelling.text for spelling in varied.spellings)]
    before = 0
    if max(map(len, texts)) > _LONG:
        least, greatest = min(texts), max(texts)
        common = next((at for at, pair in enumerate(zip(least, greatest, strict=False)) if pair[0] != pair[1]), 0)
        before = max(0, common - _AROUND)
    canonical = varied.urn[before : before + _LONG]
    shown = []
    for spelling in varied.spellings:
        text = spelling.text[before : before + _LONG]
        rest = len(spelling.text) - before - len(text)
        whole = not before and not rest and len(canonical) == len(varied.urn)
        shown.append(_Shown(spelling, differences(canonical, text), ways(canonical, text) if whole else [], rest))
    return _Class(varied, before, canonical, len(varied.urn) - before - len(canonical), shown)
