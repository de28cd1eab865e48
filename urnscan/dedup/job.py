"""One run of deduplication: read the dumps, join their records, write the results."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.arrays.arrow import flag_array, number_array, numbers, text_array
from urnscan.dedup.components import components
from urnscan.dedup.copies import copy_without
from urnscan.dedup.harvest import Harvest
from urnscan.dedup.outputs import Dumps, Outputs
from urnscan.dedup.policy import Policy, ranks
from urnscan.dedup.second_reading import Dump, SecondReading
from urnscan.display.progress import Progress
from urnscan.display.text import html_failures, html_fields
from urnscan.errors import FatalError, SourceError
from urnscan.run.failures import Failures, SpillFolder
from urnscan.run.options import Options
from urnscan.run.tasks import Argument, found_inputs
from urnscan.tables.schemas import CLUSTERS

if TYPE_CHECKING:
    from urnscan.dedup.summary import Chosen

__all__ = ["DedupReport", "run"]


@dataclass
class DedupReport:
    """Counts and failures of a run."""

    inputs: int = 0
    """Dumps with records."""
    octets: int = 0
    """Octets of text that were read."""
    records: int = 0
    """Records that could be read."""
    damaged: int = 0
    """Records that could not be read."""
    without: int = 0
    """Records without a URN."""
    silent: Sequence[tuple[str, int]] = ()
    """Dumps without any URN: name and number of records."""
    clusters: int = 0
    """Groups of records that name the same thing; a record that shares no URN is a cluster by itself."""
    duplicates: int = 0
    """Records that are not kept."""
    cut: int = 0
    """URNs that were left out because they are longer than `max_length`."""
    trimmable: int = 0
    """Occurrences that `trim` would have changed."""
    common: Sequence[tuple[str, int]] = ()
    """Classes that join nothing because they stand in too many records, with the number of records; largest first."""
    failures: list[SourceError] = field(default_factory=list)
    """Records and inputs that could not be read, in the order of the dumps."""
    seconds: float = 0.0
    """Duration of the run."""

    def add(self, harvest: Harvest, clustering: _Clustering) -> None:
        """Take over the counts."""
        dumps = harvest.dumps
        self.inputs = len(dumps)
        self.octets = sum(dump.octets for dump in dumps)
        self.records = harvest.records
        self.damaged = sum(dump.damaged for dump in dumps)
        self.without = sum(dump.without for dump in dumps)
        self.silent = [(dump.name, dump.records) for dump in dumps if 0 < dump.records == dump.without]
        self.trimmable = harvest.trimmable
        self.cut = harvest.cut
        self.clusters = int(clustering.cluster.max(initial=0))
        self.duplicates = int(np.count_nonzero(clustering.rank > 1))
        self.common = clustering.common

    def _repr_html_(self) -> str:
        """Show the counts, then the failures, in a notebook."""
        names = "inputs octets records damaged without clusters duplicates cut trimmable silent common seconds"
        values = ((name, getattr(self, name)) for name in names.split())
        shown = ((name, value if isinstance(value, int | float) else len(value)) for name, value in values)
        return html_fields(shown) + html_failures(self.failures)

    def metadata(self, options: Options, policy: Policy) -> dict[str, Any]:
        """Metadata of the table of clusters: the same for two runs with the same inputs and options."""
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
    inputs: Sequence[Argument], options: Options, policy: Policy, outputs: Outputs, progress: Progress
) -> DedupReport:
    """Find the clusters of the records in dumps and write the outputs that are wanted.

    `progress` is told of failures, of octets as they are read, and of the stages "joining" and "writing".
    Raises FatalError if no input could be read, with `strict` if one could not, and if the dumps cannot be written;
    raises the errors of the outputs.
    """
    if policy.fields and options.syntax == "rfc2141bis-03":
        raise FatalError(
            "--fields is not for --syntax rfc2141bis-03, in which a DOI cannot be written: a name ends at /"
        )
    began = time.monotonic()
    report = DedupReport()
    found = found_inputs(inputs, options, outputs.paths)
    if outputs.dumps is not None:
        found, foreseen = itertools.tee(found)
        outputs.dumps.foresee(foreseen, outputs.paths)
    with ExitStack() as stack:
        folder = SpillFolder(outputs.spill_folder)
        stack.callback(folder.remove)
        failures = Failures(report.failures, progress.on_failure, strict=options.strict)
        harvest = Harvest(options, policy, outputs, failures, folder.get, progress.on_progress)
        stack.callback(harvest.close)
        harvest.read(found)
        if report.failures and not harvest.dumps:
            raise FatalError("no input could be read")
        progress.on_stage("joining")
        clustering = _Clustering(harvest, policy)
        report.add(harvest, clustering)
        progress.on_stage("writing")
        chosen = None if outputs.page is None else _chosen(clustering, harvest)
        if outputs.clusters is not None or chosen is not None:
            for dump, rows in clustering.rows():
                if outputs.clusters is not None:
                    outputs.clusters(rows)
                if chosen is not None:
                    chosen.take(dump, rows)
        again = harvest.second_reading()
        excerpts = {} if chosen is None else dict(again.excerpts(chosen.places()))
        if outputs.dumps is not None:
            _write(outputs.dumps, again, clustering)
            for source in harvest.empty:  # their files are empty, too
                with outputs.dumps.open(source):
                    pass
        if outputs.page is not None and chosen is not None:
            outputs.page(chosen.page(options, policy, report.common, report.failures, excerpts))
    report.seconds = time.monotonic() - began
    return report


def _chosen(clustering: _Clustering, harvest: Harvest) -> Chosen:
    from urnscan.dedup.summary import Chosen  # noqa: PLC0415 (templates are slow to load)

    return Chosen(clustering.cluster, harvest.dumps)


def _write(dumps: Dumps, again: SecondReading, clustering: _Clustering) -> None:
    """Write the dumps without duplicates. Raises FatalError."""
    places = clustering.places()
    for source, of_source in itertools.groupby(again.read(), lambda each: each[0].source):
        with dumps.open(source) as write:
            for dump, buffer in of_source:
                write.begin(dump.format.line_ends)
                copy_without(buffer, itertools.islice(places, dump.records), dump.format.separator, write)


class _Clustering:
    """Clusters of all records, and the ranks of the records in them."""

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
        self.rank = ranks(policy.keep, self.cluster, unit, harvest.lengths, harvest.counts)
        self._joins = joined.joins
        self._harvest = harvest

    def rows(self) -> Iterator[tuple[Dump, pa.RecordBatch]]:
        """CLUSTERS rows of all records, each batch with its dump. Raises FatalError."""
        edge = 0
        for dump, record, rows in self._batches():
            urns = rows.column("urns")
            rank = self.rank[record : record + len(rows)].astype(np.int64)
            columns = {
                "cluster": number_array(self.cluster[record : record + len(rows)].astype(np.int64)),
                "source": _repeated(dump.source.name, len(rows)),
                "member": _repeated(dump.member, len(rows)),
                "joined_by": _filtered(urns, self._joins[edge : edge + len(urns.values)]),
                "rank": number_array(rank),
                "kept": flag_array(rank == 1),
            }
            ordered = [columns[name] if name in columns else rows.column(name) for name in CLUSTERS.names]
            yield dump, pa.RecordBatch.from_arrays(ordered, schema=CLUSTERS)
            edge += len(urns.values)

    def places(self) -> Iterator[tuple[int, int, bool]]:
        """Offset, length and whether it is kept, of all records. Raises FatalError."""
        for _, record, rows in self._batches():
            kept = self.rank[record : record + len(rows)] == 1
            columns = (numbers(rows.column(name)).tolist() for name in ("offset", "length"))
            yield from zip(*columns, kept.tolist(), strict=True)

    def _batches(self) -> Iterator[tuple[Dump, int, pa.RecordBatch]]:
        """ROWS of all records, each batch with its dump and the number of its first record. Raises FatalError."""
        batches = self._harvest.rows.batches()
        for dump in self._harvest.dumps:
            record = dump.first
            while record < dump.first + dump.records:
                rows = next(batches)
                yield dump, record, rows
                record += len(rows)


def _repeated(text: str | None, count: int) -> pa.DictionaryArray:
    index = number_array(np.zeros(count, np.int32))
    return pa.DictionaryArray.from_arrays(
        index if text is not None else pa.nulls(count, pa.int32()), text_array([text or ""])
    )


def _filtered(urns: pa.ListArray, which: npt.NDArray[np.bool_]) -> pa.ListArray:
    """Lists with only those of their values that `which` marks."""
    ends = np.append(np.int32(0), np.cumsum(which, dtype=np.int32))[numbers(urns.offsets)]
    return pa.ListArray.from_arrays(number_array(ends), urns.values.filter(flag_array(which)), type=urns.type)
