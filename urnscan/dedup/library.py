"""Deduplication from Python, for a notebook."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from urnscan.dedup.outputs import Dumps
from urnscan.dedup.policy import Policy
from urnscan.dedup.running import DedupReport, run
from urnscan.options import Options
from urnscan.tables import CLUSTERS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Dedup", "deduplicate"]


_NOT_HERE = {"column", "jobs", "memory"}  # options of a scan that mean nothing here


@dataclass(frozen=True)
class Dedup:
    """What deduplication found."""

    clusters: pa.Table = field(repr=False)
    """One row per record, in the order of the dumps."""
    report: DedupReport

    def to_pandas(self) -> pd.DataFrame:
        """The records as a pandas frame."""
        frame: pd.DataFrame = self.clusters.to_pandas()
        return frame


def deduplicate(
    *dumps: str | os.PathLike[str],
    deduplicated: str | os.PathLike[str] | None = None,
    force: bool = False,
    **options: Any,  # noqa: ANN401 (those of Policy and Options)
) -> Dedup:
    """Find the records of bibliographic dumps that name the same thing by their URNs; hold what is known of each in memory.

    `deduplicated` is a file, or a folder, for the dumps without duplicates; with `force` it is replaced. `options` are the
    fields of `Policy`, named as on the command line: `fields`, `weak`, `max_class`, `keep`, `record`; and those of `scan`
    but `column`, `jobs` and `memory`, with `equivalence` "namespace" by default. Records and inputs that cannot be read are in `report.failures`.
    Raises FatalError where no dump could be read, or `deduplicated` cannot be written; ValueError and TypeError for options
    that are none. For more than memory holds use the command.
    """
    for name in _NOT_HERE & options.keys():
        raise TypeError(f"deduplicate has no option {name!r}")
    given = {field.name: options.pop(field.name) for field in fields(Policy) if field.name in options}
    found: list[pa.RecordBatch] = []
    with contextlib.ExitStack() as stack:
        outputs = [] if deduplicated is None else [os.fsdecode(deduplicated)]
        files = [stack.enter_context(Dumps(path, force=force)) for path in outputs]
        report = run(
            [os.fsdecode(path) for path in dumps],
            Options(**{"equivalence": "namespace", **options}),
            Policy(**given),
            clusters=found.append,
            dumps=files[0] if files else None,
            outputs=outputs,
        )
        for file in files:
            file.commit()
    return Dedup(pa.Table.from_batches(found, CLUSTERS).unify_dictionaries(), report)
