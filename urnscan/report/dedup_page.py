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
    """A dump, and counts of its records."""

    name: str
    """Name of the dump, as in messages."""
    format: str
    """Title of the format, as in `MARC (ISO 2709)`."""
    records: int
    """Records that could be read."""
    damaged: int = 0
    """Records that cannot be read."""
    without: int = 0
    """Records without a URN and without another key."""
    removed: int = 0
    """Records that are removed as duplicates."""


@dataclass(frozen=True, slots=True)
class Large:
    """A cluster (records that are treated as the same work) in the list of the largest clusters."""

    cluster: int
    """Number of the cluster in the table of clusters, from 1."""
    size: int
    """Number of records."""
    urns: Sequence[str]
    """Some URNs and keys that join the records, or other entries of `joined_by`, such as `decision`."""
    records: Sequence[str]
    """Names of some records: the ID in the dump, or else `record 12`, and the title."""
    more_urns: int = 0
    """Number of further URNs and keys of the named records."""


@dataclass(frozen=True, slots=True)
class ExampleRecord:
    """A record of an example (some records of a cluster), with the start of its text."""

    source: str
    """Name of the dump."""
    number: int
    """Number of the record in the dump, from 1."""
    start: int
    """Bytes from the start of the dump to the record."""
    identifier: str | None
    """ID of the record in the dump; None if there is no ID."""
    excerpt: str
    """The first characters of the record, as the format shows a record to people, with control characters."""
    rest: int = 0
    """Bytes of the record after the excerpt."""
    urns: Sequence[str] = ()
    """Canonical forms of all URNs in the record."""
    joined_by: Sequence[str] = ()
    """URNs and keys of the record that other records of the cluster contain, too; and `description:first-page` or the
    like, if descriptions joined it, or `decision`, if people did.
    """
    spellings: Sequence[str] = ()
    """The entries of `joined_by` as they are written in the excerpt, where they are marked."""
    kept: bool = False
    """Whether the record is kept."""


@dataclass(frozen=True, slots=True)
class Example:
    """Some records of a cluster (records that are treated as the same work), shown next to each other."""

    cluster: int
    """Number of the cluster in the table of clusters, from 1."""
    size: int
    """Number of all records of the cluster."""
    records: Sequence[ExampleRecord]


@dataclass(frozen=True, slots=True)
class Summary:
    """Contents of the report; sequences are shown in their order."""

    version: str
    """Version of urnscan."""
    inputs: Sequence[Input]
    """The dumps. The page shows the first 50, and counts the others."""
    records: int
    """Records that could be read, in all dumps."""
    clusters: int
    """Clusters: records that are treated as the same work. A record that joins no other record is a cluster, too."""
    duplicates: int
    """Records that are not kept."""
    without: int
    """Records without a URN and without another key."""
    sizes: Mapping[int, int]
    """Number of clusters, by the number of their records."""
    largest: Sequence[Large] = ()
    """The largest clusters."""
    common: Sequence[tuple[str, int]] = ()
    """URNs and other keys in so many records that they join none of them, and their numbers of records; the largest
    first.
    """
    more_common: int = 0
    """Number of such keys that `common` leaves out."""
    examples: Sequence[Example] = ()
    """Clusters whose records are shown next to each other."""
    settings: Sequence[tuple[str, str]] = ()
    """Options as the command has them (`--keys`), and their values as texts."""
    failures: Sequence[str] = ()
    """Messages about records and inputs that could not be read."""
    more_failures: int = 0
    """Number of failures that `failures` leaves out."""
    doubts: int = 0
    """Groups of records that identifiers connect, with a record in doubt."""
    wrong: Sequence[tuple[str, str]] = ()
    """Records whose identifiers all have a wrong check digit: name of the record, and its first identifier."""
    more_wrong: int = 0
    """Number of such records that `wrong` leaves out."""
    title: str = "Duplicate records"
    """Title of the page."""


def render(summary: Summary) -> str:
    """Return the report as an HTML page, to be written in UTF-8. The same summary gives the same page."""
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
    records = example.records
    lines = compare([record.excerpt for record in records], [record.spellings for record in records])
    return list(zip(records, lines, strict=True))
