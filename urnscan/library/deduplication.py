"""Deduplication from Python, for a notebook."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.dedup.job import DedupReport, run
from urnscan.dedup.outputs import Dumps
from urnscan.dedup.policy import Policy
from urnscan.display.progress import show_if_wanted
from urnscan.display.text import counted, html_counts, html_failures, html_table, html_trimming
from urnscan.errors import SourceError
from urnscan.run.failures import saying_why
from urnscan.run.options import Options, named_inputs, read_keywords
from urnscan.run.tasks import plan_size
from urnscan.tables.rows import CLUSTERS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Dedup", "deduplicate"]

_NOT_HERE = {"column", "jobs", "memory"}  # options of a scan that mean nothing here
_SHOWN = 20  # clusters that a notebook shows
_NAMED = 3  # names of a cluster that it shows


@dataclass(frozen=True, eq=False)
class Dedup:
    """What deduplication found; in a notebook it shows itself as a table of the largest clusters."""

    clusters: pa.Table = field(repr=False)
    """One row per record, in the order of the dumps."""
    report: DedupReport
    """What was counted, and what could not be read."""

    def to_pandas(self) -> pd.DataFrame:
        """The records as a pandas frame."""
        frame: pd.DataFrame = self.clusters.to_pandas()
        return frame

    def _repr_html_(self) -> str:
        report = self.report
        head = [
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
        return html_counts(*head) + table + more + html_trimming(report.trimmable) + html_failures(report.failures)


def deduplicate(
    *dumps: str | os.PathLike[str],
    deduplicated: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: bool | None = None,
    **options: Any,  # noqa: ANN401 (those of Policy and Options)
) -> Dedup:
    """Find the records of bibliographic dumps that name the same thing by their URNs; hold what is known of each in memory.

    `deduplicated` is a file, or a folder, for the dumps without duplicates; with `force` it is replaced. `options` are the
    fields of `Policy`, named as on the command line: `fields`, `weak`, `max_class`, `keep`, `record`; and those of `scan`
    but `column`, `jobs` and `memory`, with `equivalence` "namespace" by default. `progress` is as in `scan`.
    Returns a row for each record and what was counted; records and inputs that cannot be read are in `report.failures`.
    Raises FatalError where no dump could be read, or `deduplicated` cannot be written; ArgumentError (a ValueError and a
    TypeError) for options that are none. For more than memory holds use the command.

    >>> from urnscan import deduplicate, samples
    >>> found = deduplicate(samples() / "catalogue.marcxml.xml", fields=True)
    >>> found.report.records, found.report.duplicates
    (5, 1)
    >>> found.clusters.select(["record_id", "cluster", "kept"]).slice(1, 1).to_pylist()
    [{'record_id': '990000102', 'cluster': 1, 'kept': False}]
    """
    given = {"equivalence": "namespace", **options}
    policy, rules = read_keywords("deduplicate", given, Policy, Options, without=_NOT_HERE)
    paths = named_inputs(dumps)
    found: list[pa.RecordBatch] = []
    failures: list[SourceError] = []
    with contextlib.ExitStack() as stack:
        outputs = [] if deduplicated is None else [os.fsdecode(deduplicated)]
        files = [stack.enter_context(Dumps(path, force=force)) for path in outputs]
        with saying_why(failures), contextlib.ExitStack() as bar:
            shown = show_if_wanted(progress, "reading", lambda: plan_size(paths, rules, outputs, len(files) + 1), bar)
            report = run(
                paths,
                rules,
                policy,
                clusters=found.append,
                dumps=files[0] if files else None,
                outputs=outputs,
                on_failure=failures.append,
                on_progress=shown.on_progress,
                on_stage=shown.on_stage,
            )
        for file in files:
            file.commit()
    return Dedup(pa.Table.from_batches(found, CLUSTERS).unify_dictionaries(), report)
