"""Parts that `scan` and `deduplicate` share: progress, errors, tables."""

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


_OF_TEXTS = re.compile(r"\s|urn:", re.IGNORECASE)
"""Signs of a text, such as white space; hardly a path has them."""
_SHOWN = 60  # characters of a text


@contextlib.contextmanager
def watched(wanted: bool | None, stage: str, total: Callable[[], int | None]) -> Iterator[Progress]:
    """Show the progress of a run, as `show_if_wanted` does. A FatalError within also names the first failure."""
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
        raise FatalError(f"{error}: {_told(failures[0])}{more}") from error


def _told(failure: SourceError) -> str:
    """The failure in a line. A text in the place of a path is cut short, with the functions that take texts."""
    name = failure.source
    if not _OF_TEXTS.search(name) or is_url(name) or os.path.lexists(name):
        return in_line(str(failure))
    shown = in_line(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…")
    return f"{shown}: {failure.reason}; urnscan.find takes a text, urnscan.scan_batches a column of texts"


def as_table(batches: Sequence[pa.RecordBatch], schema: pa.Schema, said: Mapping[str, Any]) -> pa.Table:
    """Batches as a table of the schema in which all batches share their dictionaries, with the metadata of a file.

    Columns may have dictionaries where the schema has none.
    """
    table = pa.Table.from_batches(batches, batches[0].schema if batches else schema).unify_dictionaries().cast(schema)
    return table.replace_schema_metadata(with_metadata(schema, said).metadata)


def as_frame(table: pa.Table) -> pd.DataFrame:
    """A table of `as_table` as `pandas.read_parquet` reads its file, with its types and attributes."""
    frame: pd.DataFrame = table.to_pandas()
    frame.attrs = {KEY: json.loads(table.schema.metadata[KEY.encode()])}  # Arrow before 22 does not
    return frame
