"""The table for people who decide: all records of the components that they should see."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.compiled.arrow import flag_array, number_array, numbers, string_array
from urnscan.dedup.join.components import Flags
from urnscan.dedup.reread import Dump
from urnscan.tables.schemas import REVIEW

KEEP, REMOVE, APART, TOGETHER = "keep", "remove", "apart", "together"
"""Decisions of people about a record: kept for its cluster; removed; joins no other record; the same as other records."""

# As many rows propose APART as the summary counts in doubt. A record that is alone without a reason simply stays.
_PROPOSED = {"alone": KEEP, "kept": KEEP, "removed": REMOVE, "apart": APART}


def shown_digests(digests: npt.NDArray[np.int64]) -> pa.StringArray:
    """Digests in the form of tables: `d` and hexadecimal digits, so that spreadsheets do not read numbers.

    >>> shown_digests(np.array([0, -1])).to_pylist()
    ['d0000000000000000', 'dffffffffffffffff']
    """
    shown = np.full((len(digests), 17), ord("d"), np.uint8)
    shown[:, 1:] = np.frombuffer(digests.astype(">i8").tobytes().hex().encode(), np.uint8).reshape(-1, 16)
    return string_array(shown.ravel(), np.arange(len(digests) + 1, dtype=np.int32) * np.int32(17))


def shown_digest(digest: int) -> str:
    """A digest in the form of `shown_digests`."""
    return str(shown_digests(np.array([digest]))[0])


def review_rows(table: pa.RecordBatch) -> pa.RecordBatch:
    """The REVIEW columns of a table."""
    return pa.RecordBatch.from_arrays([table.column(name) for name in REVIEW.names], schema=REVIEW)


class Review:
    """Collects the records of components that people should see, in memory, and sorts them by component and cluster."""

    def __init__(self, is_shown: Flags) -> None:
        """`is_shown`: whether people should see a component, by the number of the component."""
        self._is_shown = is_shown
        self._batches: list[pa.RecordBatch] = []
        self.dumps: list[Dump] = []
        """Dumps with collected records, by the number in the column `dump` of `table`."""

    def take(self, dump: Dump, rows: pa.RecordBatch) -> None:
        """Collect the rows of `Clustering.rows` that people should see; all rows are of the same dump."""
        shown = rows.filter(flag_array(self._is_shown[numbers(rows.column("component"))]))
        if not len(shown):
            return
        proposed = [_PROPOSED[decision] for decision in shown.column("decision").to_pylist()]
        if not self.dumps or self.dumps[-1] is not dump:
            self.dumps.append(dump)
        columns = {name: shown.column(name) for name in (*REVIEW.names, "cluster_rank", "length")}
        columns["dump"] = number_array(np.full(len(shown), len(self.dumps) - 1, np.int32))
        columns["decision"] = pa.array(proposed, pa.string())
        self._batches.append(pa.RecordBatch.from_pydict(columns))

    def table(self) -> pa.RecordBatch | None:
        """All collected records, sorted by component, cluster and rank; None without records.

        The columns are the columns of REVIEW, then `dump` and `length`: the index in `dumps`, and the number of bytes.
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
