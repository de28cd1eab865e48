"""The report of `urnscan dedup`: how much of the dumps is duplicate, and by what it was judged.

The page shows, each in a section of its own:

* how many records, clusters and duplicates there are, and how many records nothing is known of;
* the inputs, their format, and what of them is damaged, has no identifier, or is a duplicate;
* how large the clusters are, as a table with bars;
* the largest clusters, with the URNs that join them: the first to look at where too much was joined;
* the URNs that too many records hold to join them;
* examples: the records of a cluster side by side, marked what joins them and what differs;
* what the run went by, and what could not be read.

Where there is nothing to show a section says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from urnscan.report.excerpts import Line, compare
from urnscan.report.page import Bar, bars, page, percent, ranges

__all__ = ["Common", "Example", "ExampleRecord", "Input", "Large", "Summary", "render"]

_INPUTS = 50
"""More inputs are only counted."""
_OPEN = 3
"""So many examples are open when the page is."""


@dataclass(frozen=True, slots=True)
class Input:
    """A dump."""

    name: str
    format: str
    records: int
    damaged: int = 0
    """How many of its records could not be read as one."""
    without: int = 0
    """How many hold no identifier."""
    removed: int = 0
    """How many are duplicates, of records of this dump or of another."""


@dataclass(frozen=True, slots=True)
class Large:
    """One of the largest clusters."""

    cluster: int
    size: int
    """How many records it has."""
    urns: Sequence[str]
    """Some of those that join it, canonical."""
    records: Sequence[str]
    """What some of its records are called."""
    more_urns: int = 0


@dataclass(frozen=True, slots=True)
class Common:
    """A class of URNs that too many records hold."""

    urn: str
    records: int


@dataclass(frozen=True, slots=True)
class ExampleRecord:
    """A record of an example."""

    source: str
    number: int
    """Which record of its source."""
    offset: int
    """Octets from the beginning of its source."""
    identifier: str | None
    excerpt: str
    """What stands at its beginning, decoded; controls and all, as it is this page's business to make them visible."""
    rest: int = 0
    """How many octets of it the excerpt leaves out."""
    urns: Sequence[str] = ()
    """All of its classes, canonical."""
    joined_by: Sequence[str] = ()
    """Those of them that other records of the cluster hold, too."""
    spellings: Sequence[str] = ()
    """Of those that join, as the excerpt has them: these are marked in it."""
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Example:
    """A cluster, some of its records side by side."""

    cluster: int
    size: int
    records: Sequence[ExampleRecord]


@dataclass(frozen=True, slots=True)
class Summary:
    """All that the report says; sequences are shown in the order that they have."""

    version: str
    """Of urnscan."""
    inputs: Sequence[Input]
    records: int
    clusters: int
    duplicates: int
    """Records that are not kept."""
    without: int
    """Records without identifiers, which are a cluster each."""
    sizes: Mapping[int, int]
    """How many clusters have so many records."""
    largest: Sequence[Large] = ()
    common: Sequence[Common] = ()
    more_common: int = 0
    examples: Sequence[Example] = ()
    settings: Sequence[tuple[str, str]] = ()
    """Options and their values."""
    failures: Sequence[str] = ()
    more_failures: int = 0
    title: str = "Duplicate records"


@dataclass(frozen=True, slots=True)
class _Column:
    """A record of an example, with its excerpt as it is shown."""

    record: ExampleRecord
    lines: Sequence[Line]
    others: Sequence[str]
    """Its URNs that join nothing."""


def render(summary: Summary) -> str:
    """The report as a page of HTML, to be written in UTF-8; it names no date, no machine, and nothing in the network."""
    return page(
        "dedup.html",
        summary=summary,
        damaged=sum(dump.damaged for dump in summary.inputs),
        inputs=summary.inputs[:_INPUTS],
        sizes=_sizes(summary.sizes, summary.records),
        common=bars((common.urn, common.records) for common in summary.common),
        examples=[(example, _columns(example)) for example in summary.examples],
        open=_OPEN,
    )


def _sizes(sizes: Mapping[int, int], records: int) -> list[Bar]:
    """The sizes of clusters, with how many there are and how many records they have in all."""
    rows = [
        (label, sum(sizes[size] for size in within), sum(size * sizes[size] for size in within))
        for label, within in ranges(sizes)
    ]
    return bars((label, clusters, held, percent(held, records)) for label, clusters, held in rows if clusters)


def _columns(example: Example) -> list[_Column]:
    """The records of an example side by side."""
    lines = compare([record.excerpt for record in example.records], [record.spellings for record in example.records])
    return [
        _Column(record, shown, [urn for urn in record.urns if urn not in joining])
        for record, shown, joining in zip(
            example.records, lines, (set(record.joined_by) for record in example.records), strict=True
        )
    ]
