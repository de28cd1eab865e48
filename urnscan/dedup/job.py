"""From dumps to clusters, and to dumps without duplicates: read, join, write."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.arrays.arrow import flag_array, number_array, numbers, text_array
from urnscan.dedup.components import components
from urnscan.dedup.copies import copy_without
from urnscan.dedup.harvest import Harvest
from urnscan.dedup.outputs import Dumps
from urnscan.dedup.policy import Policy, ranks
from urnscan.dedup.second_reading import Again, Dump
from urnscan.display.text import html_failures, html_fields
from urnscan.errors import FatalError, SourceError
from urnscan.run.failures import Failures, SpillFolder
from urnscan.run.options import Options
from urnscan.run.tasks import Argument, found_inputs
from urnscan.sources import Input
from urnscan.tables.rows import CLUSTERS

if TYPE_CHECKING:
    from urnscan.dedup.summary import Chosen
    from urnscan.report.dedup import Summary

__all__ = ["DedupReport", "Sink", "run"]

Sink = Callable[[pa.RecordBatch], None]
"""Takes batches of CLUSTERS rows, in order."""


@dataclass
class DedupReport:
    """What a run did."""

    inputs: int = 0
    """Dumps in which there were records."""
    octets: int = 0
    """Octets of text that were read."""
    records: int = 0
    """Records that could be read."""
    damaged: int = 0
    """Records that could not."""
    without: int = 0
    """Records in which no URN was found."""
    silent: Sequence[tuple[str, int]] = ()
    """The dumps in which none was found at all, and how many records they have."""
    clusters: int = 0
    """Groups of records that name the same thing; one that shares no URN is a cluster by itself."""
    duplicates: int = 0
    """Records that are not kept."""
    cut: int = 0
    """URNs that were left out as they are longer than a match may be."""
    trimmable: int = 0
    """Occurrences that `trim` would have changed."""
    common: Sequence[tuple[str, int]] = ()
    """The classes that too many records share to be joined by them, and how many do; those with the most first."""
    failures: list[SourceError] = field(default_factory=list)
    """Records and inputs that could not be read, in the order of the dumps."""
    seconds: float = 0.0
    """How long it took."""

    def add(self, harvest: Harvest, found: _Found) -> None:
        """Take over what was counted."""
        dumps = harvest.dumps
        self.inputs = len(dumps)
        self.octets = sum(dump.octets for dump in dumps)
        self.records = harvest.records
        self.damaged = sum(dump.damaged for dump in dumps)
        self.without = sum(dump.without for dump in dumps)
        self.silent = [(dump.name, dump.records) for dump in dumps if 0 < dump.records == dump.without]
        self.trimmable = harvest.trimmable
        self.cut = harvest.cut
        self.clusters = int(found.cluster.max(initial=0))
        self.duplicates = found.duplicates
        self.common = found.common

    def _repr_html_(self) -> str:
        """As a notebook shows it: the counts, then what could not be read."""
        names = (
            "inputs octets records damaged without clusters duplicates cut trimmable seconds"  # those that are numbers
        )
        shown = [(name, getattr(self, name)) for name in names.split()]
        shown[-1:-1] = [("silent", len(self.silent)), ("common", len(self.common))]
        return html_fields(shown) + html_failures(self.failures)

    def metadata(self, options: Options, policy: Policy) -> dict[str, Any]:
        """What the file says of itself: nothing that differs between two runs with the same inputs and options."""
        return {
            **options.metadata(),
            **dataclasses.asdict(policy),
            "counts": {
                "inputs": self.inputs,
                "failures": len(self.failures),
                "octets": self.octets,
                "records": self.records,
                "damaged": self.damaged,
                "clusters": self.clusters,
                "duplicates": self.duplicates,
                "common": len(self.common),
            },
        }


def run(
    inputs: Sequence[Argument],
    options: Options,
    policy: Policy,
    *,
    clusters: Sink | None = None,
    dumps: Dumps | None = None,
    page: Callable[[bytes], object] | None = None,
    outputs: Collection[str] = (),
    spill_folder: Path | None = None,
    on_failure: Callable[[SourceError], None] = lambda _: None,
    on_progress: Callable[[int], object] = lambda _: None,
    on_stage: Callable[[str], object] = lambda _: None,
) -> DedupReport:
    """Find the clusters of the records in dumps; give CLUSTERS rows to `clusters`, the records that are kept to `dumps`,
    and a report for people, HTML, to `page`: to those that are given.

    `outputs`, `spill_folder` and `on_failure` are as in `pipeline.run`; `on_progress` is told how many octets of the
    inputs were read since the last call, `on_stage` what comes now, in a word.
    Returns the report. Raises FatalError where no input could be read, and with `strict` where one could not; where
    dumps cannot be written; what a sink raises.
    """
    if policy.fields and options.syntax == "rfc2141bis-03":
        raise FatalError(
            "--fields is not for --syntax rfc2141bis-03, in which a DOI cannot be written: a name ends at /"
        )
    began = time.monotonic()
    report = DedupReport()
    reading = dataclasses.replace(options.reading, columns=())
    found_in = _foreseen(found_inputs(inputs, options, outputs), dumps, outputs)
    with ExitStack() as stack:
        folder = SpillFolder(spill_folder)
        stack.callback(folder.remove)
        harvest = Harvest(
            options,
            policy,
            reading,
            failures=Failures(report.failures, on_failure, strict=options.strict),
            folder=folder.get,
            on_read=on_progress,
            dumps=dumps,
            again=dumps is not None or page is not None,
        )
        stack.callback(harvest.close)
        harvest.read(found_in)
        if report.failures and not harvest.dumps:
            raise FatalError("no input could be read")
        on_stage("joining")
        found = _Found(harvest, policy)
        report.add(harvest, found)
        on_stage("writing")
        chosen = None if page is None else _chosen(found, harvest)
        _give_rows(found, clusters, chosen)
        again = Again(harvest.dumps, harvest.spool, reading, on_progress)
        excerpts = {} if chosen is None else dict(again.excerpts(chosen.places()))
        if dumps is not None:
            _write(dumps, again, found)
            for source in harvest.empty:  # they get a file as others do
                with dumps.open(source):
                    pass
        if page is not None and chosen is not None:
            page(_rendered(chosen.summary(options, policy, report.common, report.failures, excerpts)))
    report.seconds = time.monotonic() - began
    return report


def _foreseen(
    inputs: Iterator[Input | SourceError], dumps: Dumps | None, outputs: Collection[str]
) -> Iterator[Input | SourceError]:
    """The inputs, of which the dumps that are written, if any, are told beforehand. Raises FatalError."""
    if dumps is None:
        return inputs
    inputs, foreseen = itertools.tee(inputs)
    dumps.foresee(foreseen, outputs)
    return inputs


def _chosen(found: _Found, harvest: Harvest) -> Chosen:
    """What is to be shown on the page."""
    from urnscan.dedup.summary import Chosen  # noqa: PLC0415 (what makes pages takes a while to load)

    return Chosen(found.cluster, harvest.dumps)


def _rendered(summary: Summary) -> bytes:
    """The page."""
    from urnscan.report.dedup import render  # noqa: PLC0415 (the same)

    return render(summary).encode()


def _give_rows(found: _Found, clusters: Sink | None, chosen: Chosen | None) -> None:
    """Give CLUSTERS rows to those who want them. Raises FatalError, and what a sink raises."""
    if clusters is None and chosen is None:
        return
    for dump, rows in found.rows():
        if clusters is not None:
            clusters(rows)
        if chosen is not None:
            chosen.take(dump, rows)


def _write(dumps: Dumps, again: Again, found: _Found) -> None:
    """Write the dumps without duplicates. Raises FatalError."""
    read = zip(again.read(), found.places(), strict=True)
    for source, in_it in itertools.groupby(read, lambda each: each[0][0].source):
        with dumps.open(source) as write:
            for (dump, buffer), places in in_it:
                write.begin(dump.format.line_ends)
                copy_without(buffer, places, dump.format.separator, write)


class _Found:
    """What is known of the records when all are read."""

    def __init__(self, harvest: Harvest, policy: Policy) -> None:
        """Raises FatalError."""
        joined = harvest.edges.join()
        first, other = joined.first, joined.other
        unit = np.arange(harvest.records, dtype=np.int32)
        if harvest.pieces is not None:
            pieces = harvest.pieces.join()
            unit = components(harvest.records, pieces.first, pieces.other) - np.int32(1)
            first, other = np.concatenate([first, pieces.first]), np.concatenate([other, pieces.other])
        self.common = joined.common
        self.cluster = components(harvest.records, first, other)
        self._joins = joined.joins
        self._rank = ranks(policy.keep, self.cluster, unit, harvest.lengths, harvest.counts)
        self._harvest = harvest

    @property
    def duplicates(self) -> int:
        """How many records are not kept."""
        return int(np.count_nonzero(self._rank > 1))

    def rows(self) -> Iterator[tuple[Dump, pa.RecordBatch]]:
        """CLUSTERS rows of all records, those of each dump apart. Raises FatalError."""
        record = edge = 0
        dumps = iter(self._harvest.dumps)
        dump = None
        for rows in self._harvest.rows.batches():
            while dump is None or record == dump.first + dump.records:
                dump = next(dumps)
            urns = rows.column("urns")
            rank = self._rank[record : record + len(rows)].astype(np.int64)
            columns = {
                "cluster": number_array(self.cluster[record : record + len(rows)].astype(np.int64)),
                "source": _repeated(dump.source.name, len(rows)),
                "member": _repeated(dump.member, len(rows)),
                "joined_by": _filtered(urns, self._joins[edge : edge + len(urns.values)]),
                "rank": number_array(rank),
                "kept": flag_array(rank == 1),
            }
            yield (
                dump,
                pa.RecordBatch.from_arrays(
                    [columns[name] if name in columns else rows.column(name) for name in CLUSTERS.names],
                    schema=CLUSTERS,
                ),
            )
            record += len(rows)
            edge += len(urns.values)

    def places(self) -> Iterator[Iterator[tuple[int, int, bool]]]:
        """For each dump, to be taken before the next is asked for: of each of its records where it begins, how many octets
        it has, and whether it is kept. Raises FatalError.
        """
        batches = self._harvest.rows.batches()

        def of(dump: Dump) -> Iterator[tuple[int, int, bool]]:
            record = dump.first
            while record < dump.first + dump.records:
                rows = next(batches)
                kept = self._rank[record : record + len(rows)] == 1
                columns = (numbers(rows.column(name)).tolist() for name in ("offset", "length"))
                yield from zip(*columns, kept.tolist(), strict=True)
                record += len(rows)

        for dump in self._harvest.dumps:
            yield of(dump)


def _repeated(text: str | None, count: int) -> pa.DictionaryArray:
    index = number_array(np.zeros(count, np.int32))
    return pa.DictionaryArray.from_arrays(
        index if text is not None else pa.nulls(count, pa.int32()), text_array([text or ""])
    )


def _filtered(urns: pa.ListArray, which: npt.NDArray[np.bool_]) -> pa.ListArray:
    """The lists without those of their values that are not in `which`."""
    ends = np.append(np.int32(0), np.cumsum(which, dtype=np.int32))[numbers(urns.offsets)]
    return pa.ListArray.from_arrays(number_array(ends), urns.values.filter(flag_array(which)), type=urns.type)
