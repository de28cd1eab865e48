"""From dumps to clusters, and to dumps without duplicates: read, join, write."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.arrow import flag_array, number_array, numbers, text_array
from urnscan.dedup.harvest import Dump, Harvest
from urnscan.dedup.policy import Policy, ranks
from urnscan.dedup.rewriting import Dumps, Summed, copy_without, excerpt
from urnscan.dedup.summary import EXCERPT, Chosen, Place
from urnscan.errors import FatalError, SourceError
from urnscan.options import Options
from urnscan.planning import found_inputs
from urnscan.records.buffer import Buffer
from urnscan.running import Failures, SpillFolder
from urnscan.sources import Checks, Document, open_documents
from urnscan.tables import CLUSTERS

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
    clusters: int = 0
    trimmable: int = 0
    """Occurrences that `trim` would have changed."""
    common: Sequence[tuple[str, int]] = ()
    """The classes that too many records share to be joined by them, and how many do; those with the most first."""
    failures: list[SourceError] = field(default_factory=list)
    seconds: float = 0.0

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
                "common": len(self.common),
            },
        }


def run(
    inputs: Sequence[str],
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
    with ExitStack() as stack:
        folder = SpillFolder(spill_folder)
        stack.callback(folder.remove)
        harvest = Harvest(
            options,
            policy,
            failures=Failures(report.failures, on_failure, strict=options.strict),
            folder=folder.get,
            on_read=on_progress,
            dumps=dumps,
            again=dumps is not None or page is not None,
        )
        stack.callback(harvest.close)
        harvest.read(found_inputs(inputs, options, outputs))
        if report.failures and not harvest.dumps:
            raise FatalError("no input could be read")
        on_stage("joining")
        found = _Found(harvest, policy)
        report.inputs = len(harvest.dumps)
        report.octets = sum(dump.octets for dump in harvest.dumps)
        report.damaged = sum(dump.damaged for dump in harvest.dumps)
        report.records = harvest.records
        report.trimmable = harvest.trimmable
        report.clusters = int(found.cluster.max(initial=0))
        report.common = found.common
        on_stage("writing")
        chosen = Chosen(found.cluster)
        if clusters is not None or page is not None:
            for rows in found.rows():
                if clusters is not None:
                    clusters(rows)
                if page is not None:
                    chosen.take(rows)
        again = _Again(harvest, options, on_progress)
        if dumps is not None:
            read = zip(again.read(), found.places(), strict=True)
            for source, in_it in itertools.groupby(read, lambda each: each[0][0].source):
                with dumps.open(source) as write:
                    for (dump, buffer), places in in_it:
                        write.begin(dump.format.line_ends)
                        copy_without(buffer, places, dump.format.separator, write)
        if page is not None:
            from urnscan.report.dedup import render  # noqa: PLC0415 (its templates take a while to load)

            excerpts = dict(again.excerpts(chosen.places()))
            summary = chosen.summary(harvest.dumps, options, policy, report.common, report.failures, excerpts)
            page(render(summary).encode())
    report.seconds = time.monotonic() - began
    return report


class _Found:
    """What is known of the records when all are read."""

    def __init__(self, harvest: Harvest, policy: Policy) -> None:
        """Raises FatalError."""
        joined = harvest.edges.clusters(harvest.records)
        self.common = joined.common
        self.cluster = joined.cluster
        self._joins = joined.joins
        self._rank = ranks(policy.keep, joined.cluster, harvest.lengths, harvest.counts)
        self._harvest = harvest

    def rows(self) -> Iterator[pa.RecordBatch]:
        """CLUSTERS rows of all records. Raises FatalError."""
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
            yield pa.RecordBatch.from_arrays(
                [columns.get(name) or rows.column(name) for name in CLUSTERS.names], schema=CLUSTERS
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


class _Again:
    """The second reading of the dumps."""

    def __init__(self, harvest: Harvest, options: Options, on_read: Callable[[int], object]) -> None:
        self._dumps = harvest.dumps
        self._spool = harvest.spool
        self._reading = dataclasses.replace(options.reading, columns=())
        self._on_read = on_read

    def read(self) -> Iterator[tuple[Dump, Buffer]]:
        """The dumps, each to be read to its end. Raises FatalError where one is not the same as it was."""
        for dump, summed in self._open(self._dumps):
            yield dump, Buffer(summed.read_on)
            if (summed.octets, summed.sum) != (dump.octets, dump.sum):
                raise _changed(dump)

    def excerpts(self, places: Mapping[Place, int]) -> Iterator[tuple[Place, bytes]]:
        """The beginnings of the records at these places, each with how many octets it has. Raises FatalError."""
        wanted: dict[tuple[str, str | None], list[int]] = {}
        for source, member, offset in sorted(places, key=lambda place: place[2]):
            wanted.setdefault((source, member), []).append(offset)
        for dump, summed in self._open([dump for dump in self._dumps if (dump.source.name, dump.member) in wanted]):
            buffer = Buffer(summed.read_on)
            for offset in wanted[dump.source.name, dump.member]:
                place = (dump.source.name, dump.member, offset)
                yield place, excerpt(buffer, offset, min(places[place], EXCERPT))

    def _open(self, dumps: Sequence[Dump]) -> Iterator[tuple[Dump, Summed]]:
        """Some of the dumps, in their order. Raises FatalError where one is not there any more."""
        for source, in_it in itertools.groupby(dumps, lambda dump: dump.source):
            waiting = deque(in_it)
            while self._spool is not None and waiting and (kept := waiting[0].kept) is not None:
                yield waiting.popleft(), Summed(self._spool.read_again(*kept))
            if not waiting:
                continue
            try:
                with closing(open_documents(source, self._reading, Checks(), self._on_read)) as documents:  # type: ignore[type-var]
                    for number, document in enumerate(documents):
                        if number == waiting[0].number and isinstance(document, Document):
                            yield waiting.popleft(), Summed(document.reader.read_into)
                        if not waiting:
                            break
            except SourceError as error:
                if waiting:
                    raise FatalError(f"{error}: it could be read when it was read first") from error
            if waiting:
                raise _changed(waiting[0])


def _changed(dump: Dump) -> FatalError:
    return FatalError(f"{dump.name}: has changed since it was read first: run it again when nobody writes it")
