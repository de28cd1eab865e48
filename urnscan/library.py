"""Scanning from Python: a notebook's corpus, or a column of text that any engine hands over in batches."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.arrow import text_array
from urnscan.columns import is_text, scan_values
from urnscan.errors import FatalError, SourceError
from urnscan.options import Options
from urnscan.pipeline import Report, run
from urnscan.tables import CLASSES, OCCURRENCES, REJECTS, Found, canonical_column
from urnscan.views import make_scanner

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Scan", "scan", "scan_batches"]

_SHOWN = 20  # classes that a notebook shows


@dataclass(frozen=True)
class Scan:
    """What a scan found; in a notebook it shows itself as a table of the most frequent classes."""

    classes: pa.Table = field(repr=False)
    """One row per equivalence class, sorted by `urn`."""
    occurrences: pa.Table = field(repr=False)
    """One row per occurrence, in the order of the inputs, then by offset."""
    report: Report
    rejects: pa.Table | None = field(default=None, repr=False)
    """One row for each place where a URN nearly begins, in the same order; None where they were not asked for."""

    def to_pandas(self) -> pd.DataFrame:
        """The classes as a pandas frame."""
        frame: pd.DataFrame = self.classes.to_pandas()
        return frame

    def _repr_html_(self) -> str:
        report = self.report
        counts = {"occurrence": report.occurrences, "class": report.classes, "input": report.inputs}
        if report.failures:
            counts["failure"] = len(report.failures)
        head = ", ".join(f"{count:,} {_plural(word, count)}" for word, count in counts.items())
        top = self.classes.select(["urn", "nid", "nid_status", "count", "source_count", "variant_count"])
        top = top.take(pc.sort_indices(top, [("count", "descending"), ("urn", "ascending")])[:_SHOWN])
        rows = [f"<tr>{''.join(f'<th>{name}</th>' for name in top.column_names)}</tr>"]
        rows += [
            f"<tr>{''.join(f'<td>{html.escape(str(value))}</td>' for value in row.values())}</tr>"
            for row in top.to_pylist()
        ]
        failures = "".join(f"<li>{html.escape(str(failure))}</li>" for failure in report.failures[:_SHOWN])
        more = f"<p>the {_SHOWN} most frequent of {report.classes:,}</p>" if self.classes.num_rows > _SHOWN else ""
        return f"<p><b>{head}</b></p><table>{''.join(rows)}</table>{more}" + (failures and f"<ul>{failures}</ul>")


def _plural(word: str, count: int | None) -> str:
    return word if count == 1 else word + ("es" if word.endswith("s") else "s")


def scan(
    *inputs: str | os.PathLike[str],
    rejects: bool = False,
    **options: Any,  # noqa: ANN401 (those of Options)
) -> Scan:
    """Scan files, folders, globs, URLs or standard input (`-`) and hold what is found in memory.

    `options` are the fields of `Options`, named as on the command line: `syntax`, `equivalence`, `trim`, `recover`,
    `resolver_tail`, `max_length` (octets), `include`, `exclude`, `follow`, `encoding`, `column`, `max_ratio`, `max_size`
    (octets), `max_depth`, `max_members`, `jobs` (threads), `memory` (octets), `strict`. Inputs that fail are in
    `report.failures`. `rejects` asks for what begins like a URN and is none.
    Raises FatalError where none could be read, ValueError and TypeError for options that are none.
    For more than memory holds use the command.
    """
    found: list[pa.RecordBatch] = []
    grouped: list[pa.RecordBatch] = []
    rejected: list[pa.RecordBatch] = []
    failures: list[SourceError] = []
    try:
        report = run(
            [os.fsdecode(path) for path in inputs],
            Options(**options),
            occurrences=found.append,
            classes=grouped.append,
            rejects=rejected.append if rejects else None,
            on_failure=failures.append,
        )
    except FatalError as error:
        if not failures:
            raise
        more = f" (and {len(failures) - 1:,} more)" if len(failures) > 1 else ""
        raise FatalError(f"{error}: {failures[0]}{more}") from error
    return Scan(
        classes=pa.Table.from_batches(grouped, CLASSES).unify_dictionaries(),
        occurrences=pa.Table.from_batches(found, OCCURRENCES).unify_dictionaries(),
        report=report,
        rejects=pa.Table.from_batches(rejected, REJECTS).unify_dictionaries() if rejects else None,
    )


def scan_batches(
    batches: Iterable[pa.RecordBatch] | pa.Table,
    column: str,
    **options: Any,  # noqa: ANN401 (those of Options)
) -> Iterator[pa.RecordBatch]:
    """The occurrences in a column of text or octets of batches or a table, in batches.

    Rows are those of the occurrence table: `source` is empty, `member` is `row/column` with the rows of all batches
    counted from 0, `offset` counts octets within the value, and so does `line`. null holds nothing. `options` are
    those of `scan` that say what is found: `syntax`, `equivalence`, `trim`, `recover`, `resolver_tail`,
    `max_length`. Raises KeyError for a column that is not there, TypeError for one that is not text.
    """
    rules = Options(**options)
    scanner = make_scanner(rules.grammar(count_lines=True), rules.recover)
    first_row = 0
    for batch in batches.to_batches() if isinstance(batches, pa.Table) else batches:
        if column not in batch.schema.names:
            raise KeyError(f"no column {column!r} among {', '.join(batch.schema.names)}")
        values = batch.column(column)
        if not is_text(values.type):
            raise TypeError(f"column {column!r} is {values.type}, not text")
        for hits in scan_values(scanner, values):
            found = Found(
                matches=hits.matches,
                offset=hits.offset,
                line=hits.line,
                source=np.zeros(len(hits.matches), np.int32),
                names=[""],
                member=text_array([f"{first_row + row}/{column}" for row in hits.value.tolist()]),
                urn=canonical_column(hits.matches, rules.level),
            )
            yield found.occurrences()
        first_row += len(values)
