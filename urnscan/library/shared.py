"""Functions that `scan`, `deduplicate` and others share: progress, errors, tables."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from urnscan.display.progress import Progress, show_if_wanted
from urnscan.display.text import in_line
from urnscan.errors import ArgumentError, FatalError, SourceError, SourceNote
from urnscan.stores.urls import is_url
from urnscan.tables.metadata import KEY, with_metadata

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


_IN_TEXTS = re.compile(r"\s|urn:", re.IGNORECASE)
"""Pattern of white space and "urn:". An argument that contains either is probably a text, not a path."""
LISTS_REJECTS = "urnscan.scan(..., rejects=True)"
"""The call that makes a table of rejects, for messages."""
# Maximum number of characters of a text in a message.
_SHOWN = 60


@contextlib.contextmanager
def watched(wanted: bool | None, stage: str, total: Callable[[], int | None]) -> Iterator[Progress]:
    """Context manager that shows the progress of a run until it ends, and yields the `Progress`, the functions that the
    run calls to report progress.

    `wanted`: whether to show a bar; None: in a notebook or an interactive session. `stage` is the name of the first
    stage; `total` returns the number of bytes to read, None if unknown. If inputs failed before a FatalError in the
    context, the FatalError is raised again with the first failure in its message. Raises ArgumentError if `wanted` is
    not True, False or None.
    """
    if wanted not in (None, True, False):
        raise ArgumentError(f"progress must be True, False or None, not {wanted!r}")
    failures: list[SourceError] = []

    def on_failure(failure: SourceError) -> None:
        if not isinstance(failure, SourceNote):
            failures.append(failure)

    try:
        with contextlib.ExitStack() as stack:
            shown = show_if_wanted(wanted, stage, total, stack)
            yield dataclasses.replace(shown, on_failure=on_failure)
    except FatalError as error:
        if not failures:
            raise
        more = f" (and {len(failures) - 1:,} more)" if len(failures) > 1 else ""
        raise FatalError(f"{error}: {_failure_line(failures[0])}{more}") from error


def _failure_line(failure: SourceError) -> str:
    """The failure as a line. If the name of the input looks like a text, and is neither a URL nor an existing path, the
    line also names the functions for texts.
    """
    name = failure.source
    if not _IN_TEXTS.search(name) or is_url(name) or os.path.lexists(name):
        return in_line(str(failure))
    shown = in_line(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…")
    return f"{shown}: {failure.reason}; urnscan.find takes a text, urnscan.scan_frame a column of texts"


def as_table(batches: Sequence[pa.RecordBatch], schema: pa.Schema, metadata: Mapping[str, Any]) -> pa.Table:
    """Return a table of the schema with the rows of the batches (no rows without batches). Its metadata, which replace
    those of the schema, are the metadata of a run as JSON under the key `urnscan`, and the entries that pandas reads.

    Columns of the batches may be dictionary-encoded, even if the columns of the schema are not.
    """
    table = pa.Table.from_batches(batches, batches[0].schema if batches else schema).unify_dictionaries().cast(schema)
    return table.replace_schema_metadata(with_metadata(schema, metadata).metadata)


def as_frame(table: pa.Table) -> pd.DataFrame:
    """Convert a table that `as_table` made to a pandas frame, with the same values, types and `attrs` that
    `pandas.read_parquet` reads from the file.
    """
    frame: pd.DataFrame = table.to_pandas()
    for name in frame.columns[frame.dtypes == "category"]:
        # A dictionary may have values that do not occur; pandas would count each of them.
        frame[name] = frame[name].cat.remove_unused_categories()
    # Arrow sets the attributes only since version 22.
    frame.attrs = {KEY: json.loads(table.schema.metadata[KEY.encode()])}
    return frame


def as_polars(table: pa.Table) -> pl.DataFrame:
    """Convert a table that `as_table` made to a Polars frame. Raises ImportError if Polars is not installed.

    Dictionary-encoded columns become strings, because Polars cannot join categorical columns with strings.
    """
    try:
        import polars as pl  # noqa: PLC0415 (few programs have it)
    except ImportError as error:
        raise ImportError("this needs Polars: pip install 'urnscan[polars]'") from error
    return pl.DataFrame(table).with_columns(pl.col(pl.Categorical).cast(pl.String))
