"""Parts that `scan` and `deduplicate` share: progress, errors, tables."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from urnscan.display.progress import Progress, show_if_wanted
from urnscan.errors import FatalError

__all__ = ["as_table", "watched"]


@contextlib.contextmanager
def watched(wanted: bool | None, stage: str, total: Callable[[], int | None]) -> Iterator[Progress]:
    """Show the progress of a run, as `show_if_wanted` does. A FatalError within also names the first failure."""
    failures: list[object] = []
    try:
        with contextlib.ExitStack() as stack:
            shown = show_if_wanted(wanted, stage, total, stack)
            yield dataclasses.replace(shown, on_failure=failures.append)
    except FatalError as error:
        if not failures:
            raise
        more = f" (and {len(failures) - 1:,} more)" if len(failures) > 1 else ""
        raise FatalError(f"{error}: {failures[0]}{more}") from error


def as_table(batches: Sequence[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    """Batches as a table in which all batches share their dictionaries."""
    return pa.Table.from_batches(batches, schema).unify_dictionaries()
