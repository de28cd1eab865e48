"""Summaries of tasks, which executors send to the driver: counts, failures, lines."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from urnscan.errors import SourceError
from urnscan.run.options import Options
from urnscan.run.pipeline import Report
from urnscan.run.task_results import Counts
from urnscan.spark.keys import KeySample

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass
class TaskSummary:
    """Summary of a task, which an executor sends to the driver."""

    task: int
    """Number of the task in the run, from 0."""
    part_of: int | None
    """Number of the file among the inputs, from 0, if the task is a part of a huge file; else None."""
    failures: Sequence[SourceError] = ()
    """Failures and notes (remarks on inputs that are not failures)."""
    counts: Counts = field(default_factory=Counts)
    """Counts of inputs, bytes and occurrences of the task."""
    lines: int = 0
    """Number of LF bytes in the task, if the task is a part of a huge file; otherwise without meaning."""
    blobs: Counter[str] = field(default_factory=Counter)
    """Kind of blob -> number of bytes of blobs of the task, except `partial`: such a blob has rows of several tasks."""


def collect(blobs: DataFrame) -> tuple[list[TaskSummary], KeySample]:
    """Run the scan whose RESULTS rows of the kind `summaries`, and no others, are in `blobs`. Returns the summaries of
    all tasks, in the order of the tasks, and a sample of the keys (canonical forms).
    """
    all_summaries, sample = [], KeySample()
    for (blob,) in blobs.select("rows").collect():
        summaries, keys = pickle.loads(blob)  # noqa: S301 (pickled by executors, which run the same code)
        all_summaries += summaries
        sample.add(keys)
    return sorted(all_summaries, key=lambda summary: summary.task), sample


def report_of(summaries: Sequence[TaskSummary], options: Options) -> Report:
    """Return a report with the sums of counts, and with all failures and notes. The parts of a file count as a single
    input, and equal failures of the parts count once.
    """
    counts, failures, reported, counted_files = Counts(), [], set(), set()
    for summary in summaries:
        counts += summary.counts
        if summary.part_of is not None and summary.counts.inputs:
            counts += Counts(inputs=-1 if summary.part_of in counted_files else 0)
            counted_files.add(summary.part_of)
        for failure in summary.failures:
            if summary.part_of is None or (summary.part_of, str(failure)) not in reported:
                failures.append(failure)
                reported.add((summary.part_of, str(failure)))
    return Report.of(counts, failures, options)


def lines_before_parts(summaries: Sequence[TaskSummary]) -> dict[int, int]:
    """Number, from 0, of a task that is a part of a file -> the number of LF bytes in the earlier parts of this file.
    The summaries are in the order of the tasks. Other tasks are left out.
    """
    lines_before: dict[int, int] = {}
    lines: Counter[int] = Counter()
    for summary in summaries:
        if summary.part_of is not None:
            lines_before[summary.task] = lines[summary.part_of]
            lines[summary.part_of] += summary.lines
    return lines_before
