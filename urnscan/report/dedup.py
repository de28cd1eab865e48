"""The report of `urnscan dedup`: duplicates in the dumps, and the evidence for them.

The page shows, each in a section of its own:

* the numbers of records, clusters and duplicates, and of records without identifiers;
* the inputs with their formats, damaged records, records without identifiers, and duplicates;
* the sizes of the clusters, as a table with bars;
* the largest clusters, with the URNs that join them: too much may have been joined there;
* URNs that join no records, because too many records hold them;
* examples: records of a cluster side by side, with marks on what joins them and what differs;
* the settings of the run, and inputs that could not be read.

A section without contents says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from urnscan.report.charts import Bar, bars
from urnscan.report.excerpts import Line, compare
from urnscan.report.page import page, percent, ranges

__all__ = ["Common", "Example", "ExampleRecord", "Input", "Large", "Summary", "render"]

_INPUTS = 50
"""Inputs that are shown; more are only counted."""
_OPEN = 3
"""Examples that are open at first."""


@dataclass(frozen=True, slots=True)
class Input:
    """A dump."""

    name: str
    format: str
    records: int
    damaged: int = 0
    """Records that could not be read."""
    without: int = 0
    """Records without an identifier."""
    removed: int = 0
    """Duplicates of records of this dump or of another."""


@dataclass(frozen=True, slots=True)
class Large:
    """One of the largest clusters."""

    cluster: int
    size: int
    """Number of its records."""
    urns: Sequence[str]
    """Some of the URNs that join it, canonical."""
    records: Sequence[str]
    """Names of some of its records."""
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
    """Its number in its source."""
    offset: int
    """Octets from the beginning of its source."""
    identifier: str | None
    excerpt: str
    """Its beginning, decoded, with its controls, which the page makes visible."""
    rest: int = 0
    """Octets that the excerpt leaves out."""
    urns: Sequence[str] = ()
    """All of its classes, canonical."""
    joined_by: Sequence[str] = ()
    """Those of `urns` that other records of the cluster hold, too."""
    spellings: Sequence[str] = ()
    """Spellings of `joined_by` in the excerpt, which are marked there."""
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Example:
    """Some records of a cluster, side by side."""

    cluster: int
    size: int
    records: Sequence[ExampleRecord]


@dataclass(frozen=True, slots=True)
class Summary:
    """Contents of the report; sequences are shown in their order."""

    version: str
    """Version of urnscan."""
    inputs: Sequence[Input]
    records: int
    clusters: int
    duplicates: int
    """Records that are not kept."""
    without: int
    """Records without identifiers, which are a cluster each."""
    sizes: Mapping[int, int]
    """Number of clusters by number of records."""
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
    """A record of an example, with its excerpt as shown."""

    record: ExampleRecord
    lines: Sequence[Line]
    others: Sequence[str]
    """URNs that join no records."""


def render(summary: Summary) -> str:
    """The report as HTML, to be written in UTF-8, without date, name of the machine or address in the network."""
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
    """Ranges of sizes of clusters, with the number of clusters and of their records."""
    rows = [
        (label, sum(sizes[size] for size in within), sum(size * sizes[size] for size in within))
        for label, within in ranges(sizes)
    ]
    return bars((label, clusters, held, percent(held, records)) for label, clusters, held in rows if clusters)


def _columns(example: Example) -> list[_Column]:
    """The records of an example, to be shown side by side."""
    lines = compare([record.excerpt for record in example.records], [record.spellings for record in example.records])
    return [
        _Column(record, shown, [urn for urn in record.urns if urn not in joining])
        for record, shown, joining in zip(
            example.records, lines, (set(record.joined_by) for record in example.records), strict=True
        )
    ]
