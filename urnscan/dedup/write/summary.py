"""The HTML report of a run: sizes of clusters, the largest clusters, some records side by side."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import number_array, number_scalar
from urnscan.dedup.dedup_report import DedupReport
from urnscan.dedup.join.components import Numbers
from urnscan.dedup.policy import Policy
from urnscan.dedup.reread import Dump, Place
from urnscan.dedup.review.excerpts import READ, Beginning, Excerpt, Excerpts
from urnscan.errors import count_of
from urnscan.report.dedup_page import Example, ExampleRecord, Input, Large, Summary, render
from urnscan.run.options import Options
from urnscan.version import __version__

# Clusters in the list of the largest clusters.
_LARGEST = 10
# Records and URNs that are shown of each of these clusters.
_NAMED = 5
# Number of examples whose records are of several dumps.
_ACROSS = 4
# Number of examples from the first clusters.
_FIRST = 4
# Records of an example.
_SIDE_BY_SIDE = 3
# Characters of a title in the list of the largest clusters.
_TITLE = 60
_COMMON = 100
_FAILURES = 20

_ClusterRow = Mapping[str, Any]


class ReportClusters:
    """Chooses the clusters (records that are treated as the same work) that the HTML report shows, and collects the
    rows of their records.
    """

    def __init__(self, cluster: Numbers, dumps: Sequence[Dump]) -> None:
        """Choose the clusters. `cluster`: number, from 1, of the cluster of each record. `dumps`: all dumps."""
        self._dumps = dumps
        self._sizes = sizes = np.bincount(cluster, minlength=1)
        largest = np.argsort(-sizes, kind="stable")[:_LARGEST]
        self._largest = largest[sizes[largest] > 1].tolist()
        small = np.flatnonzero((sizes > 1) & (sizes <= _SIDE_BY_SIDE))
        # Clusters with records of several dumps come first: they are the most interesting.
        begins = np.array([dump.first for dump in dumps])
        first, last = np.zeros(len(sizes), np.int64), np.zeros(len(sizes), np.int64)
        last[cluster] = np.arange(len(cluster))
        first[cluster[::-1]] = np.arange(len(cluster))[::-1]
        is_across = np.searchsorted(begins, first[small], "right") < np.searchsorted(begins, last[small], "right")
        across = small[is_across][:_ACROSS].tolist()
        self._example_clusters = list(dict.fromkeys([*across, *small[:_FIRST].tolist(), *self._largest[:2]]))
        self._wanted = number_array(np.array([*self._largest, *self._example_clusters], np.int64))
        self._rows: dict[int, list[tuple[Dump, _ClusterRow]]] = defaultdict(list)
        self._removed: Counter[Dump] = Counter()

    def take(self, dump: Dump, rows: pa.RecordBatch) -> None:
        """Count the removed records in rows of the table of clusters (CLUSTERS), and keep the rows that the report
        shows. `dump` is the dump of all rows. Call it with all rows before `places` and `page`.
        """
        self._removed[dump] += len(rows) - rows.column("kept").true_count
        wanted = pc.and_(
            pc.is_in(rows.column("cluster"), value_set=self._wanted),
            pc.less_equal(rows.column("cluster_rank"), number_scalar(_NAMED)),
        )
        for row in rows.filter(wanted).to_pylist():
            self._rows[row["cluster"]].append((dump, row))

    def places(self) -> Mapping[Dump, Sequence[tuple[int, int]]]:
        """Return the offset and the number of bytes to read of each record whose text is shown, by dump, ascending."""
        places: dict[Dump, set[tuple[int, int]]] = defaultdict(set)
        for cluster in self._example_clusters:
            for dump, row in self._examples(cluster):
                places[dump].add((row["start"], min(row["length"], READ)))
        return {dump: sorted(of_dump) for dump, of_dump in places.items()}

    def _examples(self, cluster: int) -> Sequence[tuple[Dump, _ClusterRow]]:
        return sorted(self._rows[cluster], key=lambda item: item[1]["cluster_rank"])[:_SIDE_BY_SIDE]

    def page(
        self,
        options: Options,
        policy: Policy,
        report: DedupReport,
        excerpts: Mapping[Place, bytes],
    ) -> bytes:
        """Return the HTML report in UTF-8; called after `take` had all rows. `report` has the counts of the run,
        `excerpts` the bytes of the records in `places`, by dump and offset.
        """
        sizes = Counter(self._sizes[1:].tolist())
        made = Excerpts(options, policy)
        inputs = [
            Input(dump.name, dump.format.title, dump.records, dump.damaged, dump.without, self._removed[dump])
            for dump in self._dumps
        ]
        summary = Summary(
            version=__version__,
            inputs=inputs,
            records=sum(item.records for item in inputs),
            clusters=sizes.total(),
            duplicates=self._removed.total(),
            without=sum(item.without for item in inputs),
            doubts=report.doubts,
            wrong=report.wrong_identifiers,
            more_wrong=report.wrong - len(report.wrong_identifiers),
            sizes=sizes,
            largest=[self._large(cluster) for cluster in self._largest],
            common=report.common[:_COMMON],
            more_common=max(0, len(report.common) - _COMMON),
            examples=[
                Example(
                    cluster,
                    int(self._sizes[cluster]),
                    self._side_by_side(cluster, made, excerpts),
                )
                for cluster in self._example_clusters
            ],
            settings=_settings(options, policy),
            failures=[str(failure) for failure in report.failures[:_FAILURES]],
            more_failures=count_of(report.failures[_FAILURES:]),
        )
        return render(summary).encode()

    def _side_by_side(self, cluster: int, made: Excerpts, excerpts: Mapping[Place, bytes]) -> list[ExampleRecord]:
        shown = self._examples(cluster)
        beginnings = [Beginning(dump, excerpts[dump, row["start"]], row["length"]) for dump, row in shown]
        return [_example(row, dump, excerpt) for (dump, row), excerpt in zip(shown, made.of(beginnings), strict=True)]

    def _large(self, cluster: int) -> Large:
        rows = [row for _, row in self._rows[cluster]]
        urns = list(dict.fromkeys(urn for row in rows for urn in row["joined_by"]))
        ids = Counter(row["record_id"] for row in rows)
        names = [_name(row, is_shared=ids[row["record_id"]] > 1) for row in rows]
        return Large(cluster, int(self._sizes[cluster]), urns[:_NAMED], names, max(0, len(urns) - _NAMED))


def _name(row: _ClusterRow, *, is_shared: bool) -> str:
    """ID and title of a record. Its number replaces a missing ID, and is added to a shared one."""
    number, title = f"record {row['record']:,}", row["title"]
    name = f"{row['record_id']} ({number})" if row["record_id"] and is_shared else row["record_id"] or number
    cut = title if title is None or len(title) <= _TITLE else f"{title[:_TITLE].rstrip()}…"
    return f'{name} "{cut}"' if cut else name


def _example(row: _ClusterRow, dump: Dump, excerpt: Excerpt) -> ExampleRecord:
    return ExampleRecord(
        source=dump.name,
        number=row["record"],
        start=row["start"],
        identifier=row["record_id"],
        excerpt=excerpt.text,
        rest=excerpt.rest,
        urns=row["urns"],
        joined_by=row["joined_by"],
        spellings=list(dict.fromkeys(text for text, urn in excerpt.spellings if urn in row["joined_by"])),
        kept=row["kept"],
    )


def _settings(options: Options, policy: Policy) -> Sequence[tuple[str, str]]:
    recover = ",".join(options.recover)
    return [
        ("--equivalence", options.equivalence),
        ("--syntax", options.syntax),
        ("--keys", ",".join(policy.keys)),
        ("--keep", ",".join(policy.keep)),
        *([("--carry", ",".join(policy.carry))] if policy.carry else []),
        *(("--decisions", path) for path in (policy.decisions.paths if policy.decisions else ())),
        *([("--never-join", policy.never_join.path)] if policy.never_join else []),
        ("--weak", ",".join(policy.weak) or "nothing"),
        ("--max-class", f"{policy.max_class:,}" if isinstance(policy.max_class, int) else policy.max_class),
        ("--agree", ",".join(policy.agree) or "none"),
        ("--max-cluster", f"{policy.max_cluster:,}"),
        ("--any-urn", "yes" if policy.any_urn else "no"),
        ("--trim", "yes" if options.trim else "no"),
        ("--resolver-tail", options.resolver_tail),
        *([("--recover", recover)] if recover else []),
        *([("--nid", ",".join(options.nid))] if options.nid else []),
        *([("--not-nid", ",".join(options.not_nid))] if options.not_nid else []),
        *([("--rules", f"SHA-256 {options.level.rulebook.sha256}")] if options.rules else []),
    ]
