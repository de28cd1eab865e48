"""A run of deduplication: read the dumps, join their records, write the results."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from urnscan.dedup.cluster_records import cluster_records
from urnscan.dedup.clustering import Clustering
from urnscan.dedup.dedup_report import DedupReport
from urnscan.dedup.join.components import Flags
from urnscan.dedup.policy import Policy
from urnscan.dedup.read.read_dumps import ReadDumps, read_dumps
from urnscan.dedup.reread import SecondReading
from urnscan.dedup.review.candidates import candidates
from urnscan.dedup.review.review_table import Review, ShownPairs
from urnscan.dedup.write.carried_fields import Carry
from urnscan.dedup.write.copies import Places, copy_without, places_of
from urnscan.dedup.write.mapping import Redirects
from urnscan.dedup.write.outputs import Dumps, Outputs
from urnscan.dedup.write.wrong_rows import WrongRows
from urnscan.display.progress import ROWS, Progress, Stage
from urnscan.errors import FatalError, NoDumpNote, SourceError, SourceNote, option
from urnscan.run.failures import Failures
from urnscan.run.groupings import SpillFolder
from urnscan.run.options import Options
from urnscan.run.tasks import Argument, run_inputs
from urnscan.stores.input import Input, name_of
from urnscan.stores.urls import is_remote, local_path, parse_url, real_place
from urnscan.tables.schemas import CANDIDATES, CLUSTERS, REVIEW

if TYPE_CHECKING:
    from urnscan.dedup.write.summary import ReportClusters


def run(
    inputs: Sequence[Argument], options: Options, policy: Policy, outputs: Outputs, progress: Progress
) -> DedupReport:
    """Find the clusters of the records in dumps, write the outputs that are not None, and return the counts. The caller
    completes the outputs: nothing is closed here.

    `progress` is called with failures and notes, with numbers of bytes and rows, and with each stage that follows the
    reading.

    Raises FatalError, for example if no input could be read, with `strict` if any input could not be read, and for
    options that do not fit together; raises the errors of the outputs.
    """
    _check(policy, outputs)
    began = time.monotonic()
    failures = Failures(progress.on_failure, strict=options.strict)
    report = DedupReport(failures=failures.failures, notes=failures.notes)
    named = frozenset(_names(inputs))
    given = _each_file_once(run_inputs(inputs, options, [*outputs.paths, *policy.files]))
    admitted = _foreseen(given, policy, outputs)
    with ExitStack() as stack:
        folder = SpillFolder(outputs.spill_folder)
        stack.callback(folder.remove)
        reading = read_dumps(admitted, options, policy, outputs, failures, folder.get, progress.on_progress, named)
        stack.callback(reading.close)
        if not reading.dumps and (report.failures or any(isinstance(note, NoDumpNote) for note in report.notes)):
            raise FatalError("no input could be read")
        clustering = cluster_records(reading, policy, progress)
        stack.callback(clustering.close)
        _count(report, reading, clustering)
        vars(report).update(clustering.counts)
        report.left_out = reading.records.occurrences.left_out if options.leaves_out else None
        chosen = None if outputs.page is None else _report_clusters(clustering, reading)
        redirects = None if outputs.mapping is None else Redirects(clustering)
        wrong = None if outputs.wrong is None else WrongRows(reading.records.wrong_numbers)
        review = Review(_shown(clustering, outputs), reading.dumps) if outputs.has_review else None
        takers = [collector.take for collector in (review, chosen) if collector is not None]
        if takers or any((outputs.clusters, redirects, wrong)):
            progress.on_stage(Stage("writing", report.records, ROWS))
            for dump, rows in clustering.rows():
                _write(rows, outputs, redirects, wrong)
                for take in takers:
                    take(dump, rows)
                progress.on_progress(len(rows))
        if outputs.review is not None and review is not None and (table := review.table()) is not None:
            outputs.review(table.select(REVIEW.names).cast(REVIEW))
        pairs = ShownPairs()
        if outputs.candidates is not None:
            for rows in candidates(clustering, progress):
                outputs.candidates(rows.select(CANDIDATES.names))
                report.candidates += len(rows)
                if outputs.review_page is not None:
                    pairs.take(rows)
        again = reading.second_reading
        excerpts = {}
        if chosen is not None:
            progress.on_stage(Stage("reading examples"))
            excerpts = dict(again.excerpts(chosen.places()))
        if outputs.copies:
            progress.on_stage(Stage("copying", report.byte_count * (len(outputs.copies) + bool(policy.carry))))
            _copy_all(outputs, policy, clustering, again, report)
            for source, dumps in itertools.product(reading.empty, outputs.copies.values()):
                with dumps.open(source):  # their files are empty, too
                    pass
        if outputs.review_page is not None and review is not None:
            progress.on_stage(Stage("reading what is in doubt"))
            for data in _review_page(review, pairs, again, options, policy, folder):
                outputs.review_page(data)
        if outputs.page is not None and chosen is not None:
            outputs.page(chosen.page(options, policy, report, excerpts))
    report.seconds = time.monotonic() - began
    return report


def _names(arguments: Iterable[Argument]) -> Iterator[str]:
    """Yield, for each argument that is a path or a URL, the name that its input has in messages. An invalid URL has
    none, nor has a list.
    """
    for argument in arguments:
        # An invalid URL is reported when the inputs are read.
        with contextlib.suppress(SourceError):
            if isinstance(argument, str):
                yield parse_url(argument).name if is_remote(argument) else name_of(local_path(argument))


def _check(policy: Policy, outputs: Outputs) -> None:
    if outputs.review_all and not outputs.has_review:
        raise FatalError(f"{option('review_all', None)} needs {option('review', 'FILE')}")
    if policy.any_urn and outputs.wrong is not None:
        raise FatalError(f"{option('wrong', None)} checks the fields of records; leave out {option('any_urn')}")
    if policy.carry and outputs.dumps is None:
        raise FatalError(f"{option('carry', None)} needs {option('deduplicated', 'FILE')}")


def _each_file_once(inputs: Iterable[Input | SourceError]) -> Iterator[Input | SourceError]:
    """Yield the inputs, with a note instead of each file that came before under another name: a symbolic or hard link.
    Read twice, each of its records would be a duplicate of itself.
    """
    names: dict[tuple[int, ...], str] = {}
    for source in inputs:
        if isinstance(source, Input) and source.path is not None:
            # A file that is gone is reported when it is opened.
            with contextlib.suppress(OSError):
                status = Path(source.path).stat()
                # Some file systems give several files one inode, so size and time must be the same, too.
                key = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
                first = names.setdefault(key, source.name)
                if first != source.name:
                    yield SourceNote(source.name, f"is the file {first} under another name, and is not read again")
                    continue
        yield source


def _foreseen(inputs: Iterator[Input | SourceError], policy: Policy, outputs: Outputs) -> Iterator[Input | SourceError]:
    """Return the inputs, unread, after a check that their copies can be written, and that no output is a table of the
    options, such as `decisions`. With copies, all inputs are listed first.
    """
    written = [*outputs.paths]
    for dumps in outputs.copies.values():
        inputs, foreseen = itertools.tee(inputs)
        written += dumps.foresee(foreseen, written)
    for path in policy.files:
        if real_place(path) in map(real_place, written):
            raise FatalError(f"{path}: is an input and an output; name another output")
    return inputs


def _write(rows: pa.RecordBatch, outputs: Outputs, redirects: Redirects | None, wrong: WrongRows | None) -> None:
    if outputs.clusters is not None:
        outputs.clusters(rows.select(CLUSTERS.names))
    if outputs.mapping is not None and redirects is not None:
        for mapped in redirects.rows(rows):
            outputs.mapping(mapped)
    if outputs.wrong is not None and wrong is not None:
        outputs.wrong(wrong.rows(rows))


def _copy_all(
    outputs: Outputs, policy: Policy, clustering: Clustering, again: SecondReading, report: DedupReport
) -> None:
    """Write the dumps of the kept and of the removed records, if asked for. With `policy.carry`, kept records get fields
    of removed ones, and `report` gets the number of copied fields, and the records that could not be read or changed.
    """
    for kept, dumps in outputs.copies.items():
        if kept and policy.carry:
            carry = Carry(policy.carry, clustering, again)
            _copy(again, carry.places(), dumps)
            report.carried, report.not_carried = carry.fields, carry.refused()
        else:
            _copy(again, clustering.places(kept=kept), dumps)


def _copy(again: SecondReading, places: Iterator[Places], dumps: Dumps) -> None:
    """Copy all dumps. `places`, in the order of the dumps: where each record is, and whether it stays."""
    for source, of_source in itertools.groupby(again.read(), lambda opened: opened[0].source):
        with dumps.open(source) as write:
            for dump, buffer in of_source:
                write.begin(dump.format.line_ends)
                copy_without(buffer, places_of(dump.records, places), dump.format.separator, write)


def _count(report: DedupReport, reading: ReadDumps, clustering: Clustering) -> None:
    dumps = reading.dumps
    report.inputs, report.empty = len(dumps), len(reading.empty)
    report.byte_count = sum(dump.byte_count for dump in dumps)
    report.records = reading.records.count
    report.damaged = sum(dump.damaged for dump in dumps)
    report.without = sum(dump.without for dump in dumps)
    report.wrong_numbers = len(reading.records.wrong_numbers)
    report.wrong, report.wrong_identifiers = sum(dump.wrong for dump in dumps), reading.records.wrong
    report.silent = [
        (dump.name, dump.records, dump.own)
        for dump in dumps
        if 0 < dump.records == dump.without
        and not clustering.citation_places[dump.first : dump.first + dump.records].any()
    ]
    if not reading.any_urn:
        report.unread = [(dump.name, dump.unread) for dump in dumps if dump.unread]
        report.unknown = [dump.name for dump in dumps if dump.records and dump.format.has_fields and not dump.own]
    report.cut = reading.records.cut
    report.doubts = int(np.count_nonzero(clustering.components_with(clustering.in_doubt)))
    report.decided = report.doubts - int(np.count_nonzero(clustering.components_with(clustering.to_decide)))
    for name in ("trimmable", "components_in_names", "longer_in_rfc8141", "cut_short"):
        setattr(report, name, getattr(reading.records.occurrences, name))


def _shown(clustering: Clustering, outputs: Outputs) -> Flags:
    if outputs.review_all:
        return clustering.components_with(clustering.in_doubt | (clustering.rank > 1))
    return clustering.components_with(clustering.to_decide)


def _review_page(
    review: Review,
    pairs: ShownPairs,
    again: SecondReading,
    options: Options,
    policy: Policy,
    folder: SpillFolder,
) -> Iterator[bytes]:
    from urnscan.dedup.review.excerpts import Excerpts  # noqa: PLC0415
    from urnscan.dedup.review.page import page_of  # noqa: PLC0415 (templates are slow to load)

    return page_of(review, pairs, again, Excerpts(options, policy), folder.get)


def _report_clusters(clustering: Clustering, reading: ReadDumps) -> ReportClusters:
    from urnscan.dedup.write.summary import ReportClusters  # noqa: PLC0415 (templates are slow to load)

    return ReportClusters(clustering.cluster, reading.dumps)
