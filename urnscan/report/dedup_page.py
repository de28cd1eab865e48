"""The report of `urnscan dedup`: duplicates in the dumps, and the evidence for them.

The sections of the page are in the template `dedup.html`. A section without contents says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from urnscan.report.excerpts import Line, compare
from urnscan.report.page import by_size, common_folder, page

_INPUTS = 50
"""Number of inputs that are shown; further inputs are only counted."""
_OPEN = 3
"""Number of examples that are open at first."""


@dataclass(frozen=True, slots=True)
class Input:
    """A dump, and counts of the records in the dump."""

    name: str
    format: str
    records: int
    damaged: int = 0
    """Records that cannot be read."""
    without: int = 0
    """Records without an identifier."""
    removed: int = 0
    """Duplicates."""


@dataclass(frozen=True, slots=True)
class Large:
    """A cluster in the list of the largest clusters: number of records, some URNs and keys that join them, names of
    some records.
    """

    cluster: int
    size: int
    urns: Sequence[str]
    records: Sequence[str]
    more_urns: int = 0


@dataclass(frozen=True, slots=True)
class Common:
    """A URN or another key that too many records contain."""

    urn: str
    records: int


@dataclass(frozen=True, slots=True)
class ExampleRecord:
    """A record of an example."""

    source: str
    number: int
    """Number of the record in its source."""
    start: int
    """Bytes from the start of the source."""
    identifier: str | None
    excerpt: str
    """The start of the record, decoded, with its control characters."""
    rest: int = 0
    """Bytes that the excerpt leaves out."""
    urns: Sequence[str] = ()
    """Canonical forms of all URNs in the record."""
    joined_by: Sequence[str] = ()
    """URNs and keys of the record that other records of the cluster contain, too."""
    spellings: Sequence[str] = ()
    """Spellings of `joined_by` in the excerpt, which are marked there."""
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Example:
    """Some records of a cluster, shown next to each other."""

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
    """Records without identifiers. Each of them is a cluster."""
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
    apart: int = 0
    """Records in doubt: each shares a key with other records, but is alone in its cluster."""
    wrong: Sequence[tuple[str, str]] = ()
    """Name and identifier of each record whose only identifier has a wrong check digit."""
    more_wrong: int = 0
    title: str = "Duplicate records"


def render(summary: Summary) -> str:
    """The report as HTML, to be written in UTF-8, without date, name of the machine or address in the network."""
    return page(
        "dedup.html",
        summary=summary,
        shown=_INPUTS,
        folder=common_folder(dump.name for dump in summary.inputs),
        sizes=[row for row in by_size(summary.sizes) if row[1]],
        examples=[(example, _with_lines(example)) for example in summary.examples],
        open=_OPEN,
    )


def _with_lines(example: Example) -> list[tuple[ExampleRecord, Sequence[Line]]]:
    """The records of an example, each with the lines of the excerpt."""
    records = example.records
    lines = compare([record.excerpt for record in records], [record.spellings for record in records])
    return list(zip(records, lines, strict=True))
