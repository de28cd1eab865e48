"""A run of deduplication: read the dumps, join their records, write the results."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from urnscan.dedup.cluster_records import cluster_records
from urnscan.dedup.clustering import Clustering
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
from urnscan.display.text import counted, html_failures, html_fields, others_left_out
from urnscan.errors import FatalError, NoDumpNote, SourceError, SourceNote, count_in_metadata, count_of, option
from urnscan.run.failures import Failures
from urnscan.run.groupings import SpillFolder
from urnscan.run.options import Options
from urnscan.run.tasks import Argument, run_inputs
from urnscan.stores.input import Input
from urnscan.stores.urls import real_place
from urnscan.tables.schemas import CANDIDATES, CLUSTERS, REVIEW

if TYPE_CHECKING:
    from urnscan.dedup.write.summary import ReportClusters

# Dumps without identifiers, and records with wrong identifiers, that are reported.
_REPORTED = 5


@dataclass
class DedupReport:
    """Result of a deduplication: counts of records and clusters, ignored keys, failures and notes."""

    inputs: int = 0
    """Dumps that were read: files, or members of archives, in a known format."""
    empty: int = 0
    """Inputs without a byte."""
    byte_count: int = 0
    """Bytes of text that were read."""
    records: int = 0
    """Records that could be read."""
    damaged: int = 0
    """Records that could not be read."""
    without: int = 0
    """Records without a URN and without another key."""
    wrong: int = 0
    """Records without a URN or key, but with an ISBN or ISSN whose check digit is wrong."""
    wrong_identifiers: Sequence[tuple[str, str]] = ()
    """For up to 100 of the records counted in `wrong`: the name of the record, and the wrong identifier."""
    wrong_numbers: int = 0
    """Wrong ISBN and ISSN in fields of records, if `wrong` was named."""
    clusters: int = 0
    """Clusters: records that are treated as the same work. A record that joins no other record is a cluster, too."""
    duplicates: int = 0
    """Records that are removed."""
    described: int = 0
    """Duplicates that no identifier joins to their cluster: only descriptions (title, author, year, page) do. The
    number by which joins by description make the clusters fewer.
    """
    cut: int = 0
    """URNs that are ignored because they are longer than `max_length`."""
    trimmable: int = 0
    """Occurrences that `trim` would have changed."""
    components_in_names: int = 0
    """Occurrences whose names contain components of RFC 8141 (`?+`, `?=`, `#`); 0 except in rfc2141."""
    longer_in_rfc8141: int = 0
    """Occurrences whose names continue in RFC 8141, after `~` or `&`; 0 except in rfc2141."""
    cut_short: int = 0
    """Other occurrences that are followed by a character that looks like a part of the name (`ü`)."""
    left_out: int | None = None
    """Occurrences of names that do not count because of `nid` and `not_nid`; None if all names count."""
    silent: Sequence[tuple[str, int, bool]] = ()
    """Dumps in which no record has an identifier or is joined by its description: the name of the dump, the number of
    its records, and True if only record-level identifiers count.
    """
    unread: Sequence[tuple[str, str]] = ()
    """Dumps with records in an unknown format inside (OAI-PMH, SRU): the name of the dump, and the element, such as `ead`."""
    unknown: Sequence[str] = ()
    """Names of dumps without a known field for identifiers, so that every URN in them counts."""
    doubts: int = 0
    """Groups in doubt. In each, a record has a reason for which people should look at it, mostly because it shares a key
    with a record of another cluster; or it has changed after they decided about it.
    """
    decided: int = 0
    """Groups in doubt (part of `doubts`) in which people decided about each record in doubt: `review` leaves them out."""
    untitled: int = 0
    """Clusters of several records without any title, without those about which people decided."""
    candidates: int = 0
    """Pairs of records that share no key and may be the same, if `candidates` was named."""
    refused: Sequence[tuple[str, int, str]] = ()
    """Rows of `decisions` that were not applied: the file, the line, and the reason."""
    remarks: Sequence[tuple[str, int, str]] = ()
    """Rows of `decisions` that were applied, and keep or remove more than they say: the file, the line, and what."""
    too_large: Sequence[tuple[str, int]] = ()
    """Groups of more than `max_cluster` records that URNs connect, so that none of them is joined: the name of the first
    record, and the number of records; the largest first.
    """
    carried: int = 0
    """Fields of removed records that were copied into kept records (`carry`)."""
    not_carried: Sequence[tuple[str, str]] = ()
    """Records whose fields were not copied, or that stayed unchanged: the name of the record, and the reason."""
    common: Sequence[tuple[str, int]] = ()
    """URNs and keys in more than `max_class` records, which join nothing: the key, and the number of records; the largest first."""
    failures: list[SourceError] = field(default_factory=list)
    """Records and inputs that could not be read, in the order of the dumps."""
    notes: list[SourceNote] = field(default_factory=list)
    """Files that are not dumps, and other notes that are not failures."""
    seconds: float = 0.0
    """Duration of the run, in seconds."""

    def _repr_html_(self) -> str:
        """Show the counts, then the failures and the notes, in a notebook."""
        values = {name: value for name, value in vars(self).items() if name not in ("failures", "notes")}
        shown = (
            (name.replace("_", " "), len(value) if isinstance(value, Sequence) else value)
            for name, value in values.items()
        )
        return html_fields(shown) + html_failures(self.failures, self.notes)

    def parts(self, *, has_keys: bool) -> list[str]:
        """Return the counts of the summary, in words: `["2 dumps", "10 records", "7 clusters", "3 duplicates"]`, and
        others that are not 0. `has_keys`: keys other than URNs can join records.
        """
        without = "without identifiers" if has_keys else "without URNs"
        without += "" if self.left_out is None else " that count"
        wrong = f" ({self.wrong:,} with a wrong check digit)" if self.wrong else ""
        described = f" ({self.described:,} by description alone)" if self.described else ""
        number = f"{self.decided:,} " if self.decided < self.doubts else "all " if self.doubts > 1 else ""
        decided = f" ({number}decided)" if self.decided else ""
        return [
            *(counted(self.inputs, "dump"), counted(self.records, "record")),
            *(counted(self.clusters, "cluster"), counted(self.duplicates, "duplicate") + described),
            *([f"{counted(self.doubts, 'group')} in doubt{decided}"] if self.doubts else []),
            *([counted(self.candidates, "candidate")] if self.candidates else []),
            *([counted(self.wrong_numbers, "wrong number")] if self.wrong_numbers else []),
            *([f"{counted(self.carried, 'field')} copied"] if self.carried else []),
            *([f"{self.without:,} {without}{wrong}"] if self.without else []),
            *others_left_out(self.left_out),
        ]

    def silences(self) -> list[str]:
        """Return messages about dumps without identifiers, dumps in which every URN counts, dumps with unknown fields,
        and clusters without titles; empty if there are none.

        Up to five dumps of each kind are named; a message counts the rest.
        """
        which = "" if self.left_out is None else f" that {option('nid', None)} and {option('not_nid', None)} let count"
        without = [
            f"{name}: none of its {counted(records, 'record')} "
            + (
                f"has a record-level identifier{which}; {option('any_urn')} counts every URN"
                if own
                else f"contains a URN{which}"
            )
            for name, records, own in self.silent
        ]
        unknown = [
            f"{name}: no field is known to contain identifiers, so every URN in a record counts"
            for name in self.unknown
        ]
        unread = [
            f"{name}: the fields of <{element}> are not known, so only the identifiers in the headers count; "
            f"{option('any_urn')} counts every URN"
            for name, element in self.unread
        ]
        untitled = (
            f"{counted(self.untitled, 'cluster')} of records without titles: only identifiers join them; "
            f"{option('review', None)} shows them"
        )
        return [*_first(without), *_first(unknown), *_first(unread), *([untitled] if self.untitled else [])]

    def mistakes(self) -> list[str]:
        """Return messages about records whose only identifiers have a wrong check digit: the first five, and the number
        of the rest; empty if there are none.
        """
        lines = [
            f"{name}: its only identifier, {identifier}, has a wrong check digit, so nothing joins it"
            for name, identifier in self.wrong_identifiers[:_REPORTED]
        ]
        if self.wrong > _REPORTED:
            lines.append(
                f"{counted(self.wrong - _REPORTED, 'more record')} with nothing but a wrong check digit; "
                f"{option('wrong', None)} lists all wrong numbers"
            )
        return lines

    def metadata(self, options: Options, policy: Policy) -> dict[str, Any]:
        """Return the metadata of the table of clusters: options and counts. They are the same for two runs with the
        same inputs and options.
        """
        numbers_of = "inputs failures notes byte_count records damaged clusters duplicates".split()
        numbers_of += "doubts untitled too_large trimmable components_in_names".split()
        numbers_of += "longer_in_rfc8141 cut_short left_out common".split()
        values = {name: getattr(self, name) for name in numbers_of}
        counts = {name: len(value) if isinstance(value, Sequence) else value for name, value in values.items()}
        counts |= {"failures": count_of(self.failures), "notes": count_in_metadata(self.notes)}
        return {**options.metadata(), **policy.metadata(), "counts": counts}


def _first(sentences: Sequence[str]) -> list[str]:
    """The first five messages about dumps, and a message that counts the rest."""
    rest = len(sentences) - _REPORTED
    return [*sentences[:_REPORTED], *([f"{counted(rest, 'more dump')} of this kind"] if rest > 0 else [])]


def run(
    inputs: Sequence[Argument], options: Options, policy: Policy, outputs: Outputs, progress: Progress
) -> DedupReport:
    """Find the clusters of the records in dumps, write the outputs, and return the counts.

    `progress` is called with failures and notes, with numbers of bytes and rows, and with each stage that follows the
    reading: edges are joined, descriptions unpacked and compared, records chosen by them, rows written, candidates
    compared, examples for the page read, dumps copied. Bytes of a dump count when its records are read, not only found.

    Raises FatalError if no input could be read, with `strict` if any input could not be read, if the dumps cannot be
    written, and for an option that needs an output that is missing; raises the errors of the outputs.
    """
    _check(policy, outputs)
    began = time.monotonic()
    failures = Failures(progress.on_failure, strict=options.strict)
    report = DedupReport(failures=failures.failures, notes=failures.notes)
    named = frozenset(map(str, inputs))
    admitted = _foreseen(run_inputs(inputs, options, [*outputs.paths, *policy.files]), policy, outputs)
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
            outputs.review(table.select(REVIEW.names))
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


def _check(policy: Policy, outputs: Outputs) -> None:
    """Raise FatalError for an option that needs another option."""
    if outputs.review_all and not outputs.has_review:
        raise FatalError(f"{option('review_all', None)} needs {option('review', 'FILE')}")
    if policy.any_urn and outputs.wrong is not None:
        raise FatalError(f"{option('wrong', None)} checks the fields of records; leave out {option('any_urn')}")
    if policy.carry and outputs.dumps is None:
        raise FatalError(f"{option('carry', None)} needs {option('deduplicated', 'FILE')}")


def _foreseen(inputs: Iterator[Input | SourceError], policy: Policy, outputs: Outputs) -> Iterator[Input | SourceError]:
    """Check that the copies of all inputs can be written, and return the inputs. Raises FatalError for a copy that
    cannot.
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
    """Write rows of clusters, rows of the mapping from removed to kept records, and rows of wrong ISBN and ISSN."""
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
    """Write the dumps of the kept records, and the dumps of the removed records. Raises FatalError."""
    for kept, dumps in outputs.copies.items():
        if kept and policy.carry:
            carry = Carry(policy.carry, clustering, again)
            _copy(again, carry.places(), dumps)
            report.carried, report.not_carried = carry.fields, carry.refused
        else:
            _copy(again, clustering.places(kept=kept), dumps)


def _copy(again: SecondReading, places: Iterator[Places], dumps: Dumps) -> None:
    """Copy the dumps without some of their records. `places` says which records stay. Raises FatalError."""
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
    report.doubts = int(np.count_nonzero(clustering.components_in_doubt()))
    report.decided = report.doubts - int(np.count_nonzero(clustering.components_to_decide()))
    for name in ("trimmable", "components_in_names", "longer_in_rfc8141", "cut_short"):
        setattr(report, name, getattr(reading.records.occurrences, name))


def _shown(clustering: Clustering, outputs: Outputs) -> Flags:
    """Whether the review has a component, by its number."""
    if outputs.review_all:
        return clustering.components_in_doubt() | clustering.components_with_removals()
    return clustering.components_to_decide()


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
