"""The table for people who decide: all records of doubtful components."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from urnscan.compiled.arrow import flag_array, number_array, numbers
from urnscan.dedup.join.components import Flags
from urnscan.dedup.reread import Dump
from urnscan.tables.schemas import REVIEW

KEEP, REMOVE, APART, TOGETHER = "keep", "remove", "apart", "together"
"""Decisions of people about a record: it is kept for its cluster; it is removed; it joins no other; it is the same as others."""

_PROPOSED = {"alone": APART, "kept": KEEP, "removed": REMOVE, "apart": APART}


def shown_digest(digest: int) -> str:
    """A digest as the table has it: no spreadsheet treats it as a number."""
    return f"d{digest % (1 << 64):016x}"


def review_rows(table: pa.RecordBatch) -> pa.RecordBatch:
    """The REVIEW columns of a table."""
    return pa.RecordBatch.from_arrays([table.column(name) for name in REVIEW.names], schema=REVIEW)


class Review:
    """Collects the records of doubtful components, in memory, to give them by component and cluster."""

    def __init__(self, is_doubtful: Flags) -> None:
        """`is_doubtful`: whether a component is, by its number."""
        self._is_doubtful = is_doubtful
        self._batches: list[pa.RecordBatch] = []
        self.dumps: list[Dump] = []
        """Dumps with such records, by the numbers in the column `dump` of `table`."""

    def take(self, dump: Dump, rows: pa.RecordBatch) -> None:
        """Collect what is in doubt of the rows of `Clustering.rows`, all of this dump."""
        doubtful = rows.filter(flag_array(self._is_doubtful[numbers(rows.column("component"))]))
        if not len(doubtful):
            return
        proposed = [_PROPOSED[decision] for decision in doubtful.column("decision").to_pylist()]
        if not self.dumps or self.dumps[-1] is not dump:
            self.dumps.append(dump)
        columns = {name: doubtful.column(name) for name in (*REVIEW.names, "cluster_rank", "length")}
        columns["dump"] = number_array(np.full(len(doubtful), len(self.dumps) - 1, np.int32))
        columns["decision"] = pa.array(proposed, pa.string())
        columns["digest"] = pa.array(map(shown_digest, numbers(doubtful.column("digest")).tolist()), pa.string())
        self._batches.append(pa.RecordBatch.from_pydict(columns))

    def table(self) -> pa.RecordBatch | None:
        """All collected records, sorted by component, cluster and rank; None if there are none.

        The columns are those of REVIEW, and after them `dump` and `length`: the number of the dump, and the number of
        octets.
        """
        if not self._batches:
            return None
        table = pa.Table.from_batches(self._batches).unify_dictionaries().combine_chunks()
        self._batches.clear()
        keys = [numbers(table.column(name).chunk(0)) for name in ("cluster_rank", "cluster", "component")]
        (rows,) = table.take(number_array(np.lexsort(keys))).combine_chunks().to_batches()
        return rows

    def rows(self) -> Iterator[pa.RecordBatch]:
        """All collected records as REVIEW rows."""
        table = self.table()
        if table is not None:
            yield review_rows(table)
