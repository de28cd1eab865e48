"""Deduplication from Python, with the clusters in memory."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.dedup.job import DedupReport, run
from urnscan.dedup.outputs import Dumps, Outputs
from urnscan.dedup.policy import Policy
from urnscan.display.text import counted, html_counts, html_failures, html_table, html_trimming
from urnscan.library.shared import as_table, watched
from urnscan.run.options import Options, named_inputs, read_keywords
from urnscan.run.tasks import plan_size
from urnscan.tables.schemas import CLUSTERS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Dedup", "deduplicate"]

_NOT_HERE = {"column", "jobs", "memory"}  # options of a scan that mean nothing here
_SHOWN = 20  # clusters shown in a notebook
_NAMED = 3  # URNs shown of each


@dataclass(frozen=True, eq=False)
class Dedup:
    """Result of a deduplication. A notebook shows a table of the largest clusters."""

    clusters: pa.Table = field(repr=False)
    """One row per record, in the order of the dumps."""
    report: DedupReport
    """Counts and failures."""

    def to_pandas(self) -> pd.DataFrame:
        """Convert `clusters` to a pandas frame."""
        frame: pd.DataFrame = self.clusters.to_pandas()
        return frame

    def _repr_html_(self) -> str:
        report = self.report
        counts = [
            counted(report.inputs, "dump"),
            counted(report.records, "record"),
            counted(report.clusters, "cluster"),
            counted(report.duplicates, "duplicate"),
        ]
        sizes = self.clusters.group_by("cluster", use_threads=False).aggregate([([], "count_all")])
        sizes = sizes.filter(pc.greater(sizes.column("count_all"), 1))
        order = pc.sort_indices(sizes, [("count_all", "descending"), ("cluster", "ascending")])
        largest = dict(zip(*(column.to_pylist() for column in sizes.take(order[:_SHOWN]).columns), strict=True))
        is_shown = pc.is_in(self.clusters.column("cluster"), pa.array(largest, pa.int64()))
        kept = self.clusters.filter(pc.and_(is_shown, pc.equal(self.clusters.column("rank"), 1))).to_pylist()
        rows = {
            row["cluster"]: (
                *(row["cluster"], largest[row["cluster"]], row["source"], row["record"], row["record_id"]),
                ", ".join(row["joined_by"][:_NAMED]) + (", …" if len(row["joined_by"]) > _NAMED else ""),
            )
            for row in kept
        }
        names = ("cluster", "records", "source of the one kept", "record", "record_id", "joined_by")
        table = html_table(names, [rows[cluster] for cluster in largest]) if largest else ""
        more = f"<p>the {_SHOWN} largest of {len(sizes):,} with duplicates</p>" if len(sizes) > _SHOWN else ""
        return html_counts(*counts) + table + more + html_trimming(report.trimmable) + html_failures(report.failures)


def deduplicate(
    *dumps: str | os.PathLike[str],
    deduplicated: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: bool | None = None,
    **options: Any,  # noqa: ANN401 (those of Policy and Options)
) -> Dedup:
    """Find the records of bibliographic dumps that name the same thing by their URNs.

    `deduplicated` is a file or a folder for the dumps without duplicates; with `force` it is replaced. `options` are the
    fields of `Policy`, named as on the command line: `fields`, `weak`, `max_class`, `keep`, `record`; and the options of
    `scan` except `column`, `jobs` and `memory`. `equivalence` is "namespace" by default. `progress` is as in `scan`.
    Returns a row for each record, and the counts; records and inputs that cannot be read are in `report.failures`.
    Raises FatalError if no dump could be read or `deduplicated` cannot be written, ArgumentError (a ValueError and a
    TypeError) for invalid options. All rows are in memory: for very large dumps use the command.

    >>> from urnscan import deduplicate, samples
    >>> found = deduplicate(samples() / "catalogue.marcxml.xml", fields=True)
    >>> found.report.records, found.report.duplicates
    (5, 1)
    >>> found.clusters.select(["record_id", "cluster", "kept"]).slice(1, 1).to_pylist()
    [{'record_id': '990000102', 'cluster': 1, 'kept': False}]
    """
    given = {"equivalence": "namespace", **options}
    policy, rules = read_keywords("deduplicate", given, Policy, Options, without=_NOT_HERE)
    inputs = named_inputs(dumps)
    rows: list[pa.RecordBatch] = []
    with contextlib.ExitStack() as stack:
        paths = [] if deduplicated is None else [os.fsdecode(deduplicated)]
        files = None if deduplicated is None else stack.enter_context(Dumps(paths[0], force=force))
        wanted = Outputs(clusters=rows.append, dumps=files, paths=paths)
        readings = 1 if files is None else 2
        with watched(progress, "reading", lambda: plan_size(inputs, rules, paths, readings)) as shown:
            report = run(inputs, rules, policy, wanted, shown)
        if files is not None:
            files.commit()
    return Dedup(as_table(rows, CLUSTERS), report)
