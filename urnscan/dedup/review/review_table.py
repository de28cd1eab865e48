"""Tables for people who decide: the records of the components that are shown, and pairs of records that may be the
same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.compiled.arrow import flag_array, number_array, numbers, string_array
from urnscan.dedup.join.components import Flags
from urnscan.dedup.reread import Dump
from urnscan.tables.schemas import CANDIDATES, REVIEW

KEEP, REMOVE, APART, TOGETHER = "keep", "remove", "apart", "together"
"""Decisions of people about a record. KEEP: it is the kept record of its cluster. REMOVE: another record is kept
instead. APART: it stays, and joins no other record. TOGETHER: the same work as the other records of its group with this
decision.
"""

MAX_PAIRS = 10_000
"""Maximum number of pairs in a page: then its records take some megabytes, and a browser opens it in a second."""

LOCATION = pa.schema([("dump", pa.int32()), ("start", pa.int64()), ("length", pa.int64())])
"""Columns of the place of a record: index of the dump, from 0, offset of the record, number of bytes."""
LOCATED_CANDIDATES = pa.schema(
    [*CANDIDATES, *LOCATION, *(field.with_name(f"other_{field.name}") for field in LOCATION)]
)
"""Columns of CANDIDATES, and the places of both records."""
PAGE = pa.schema(
    field.with_nullable(True)
    for field in [*REVIEW, *(CANDIDATES.field(name) for name in CANDIDATES.names if name not in REVIEW.names)]
)
"""Columns of the table in a page with pairs, which the page saves: a row for each record, as in REVIEW, or for each
pair, as in CANDIDATES; the columns of the other kind are null.
"""

# A record that is alone without a reason simply stays.
_PROPOSED = {"alone": KEEP, "kept": KEEP, "removed": REMOVE, "apart": APART}


def shown_digests(digests: npt.NDArray[np.int64]) -> pa.StringArray:
    """Return digests (hashes of records) in the form of tables: `d` and 16 hexadecimal digits.

    >>> shown_digests(np.array([0, -1])).to_pylist()
    ['d0000000000000000', 'dffffffffffffffff']
    """
    shown = np.full((len(digests), 17), ord("d"), np.uint8)
    shown[:, 1:] = np.frombuffer(digests.astype(">i8").tobytes().hex().encode(), np.uint8).reshape(-1, 16)
    return string_array(shown.ravel(), np.arange(len(digests) + 1, dtype=np.int32) * np.int32(17))


def shown_digest(digest: int) -> str:
    """Return a digest (hash of a record) in the form of tables: 255 -> `d00000000000000ff`."""
    return str(shown_digests(np.array([digest]))[0])


class Review:
    """Collects, in memory, the records of components (groups that keys connect) that people should see, and sorts them
    by component and cluster.
    """

    def __init__(self, is_shown: Flags, dumps: Sequence[Dump]) -> None:
        """`is_shown`: whether people should see a component, by its number, from 1 (index 0 is unused). `dumps`: all
        dumps of the run.
        """
        self._is_shown = is_shown
        self._number = {dump: number for number, dump in enumerate(dumps)}
        self._batches: list[pa.RecordBatch] = []

    def take(self, dump: Dump, rows: pa.RecordBatch) -> None:
        """Add those of `rows` that people should see; the column `decision` becomes a proposal (`kept` -> `keep`).
        `rows`: of the table of clusters, with the columns of REVIEW. `dump` is the dump of all rows.
        """
        shown = rows.filter(flag_array(self._is_shown[numbers(rows.column("component"))]))
        if not len(shown):
            return
        proposed = [_PROPOSED[decision] for decision in shown.column("decision").to_pylist()]
        columns = {name: shown.column(name) for name in (*REVIEW.names, "cluster_rank", "length")}
        columns["dump"] = number_array(np.full(len(shown), self._number[dump], np.int32))
        columns["decision"] = pa.array(proposed, pa.string())
        self._batches.append(pa.RecordBatch.from_pydict(columns))

    def table(self) -> pa.RecordBatch | None:
        """Return all added records, sorted by component, cluster and rank, and forget them; None without records.

        Columns: those of REVIEW, then `cluster_rank`, `length` and `dump`: rank in the cluster, number of bytes, and
        index of the dump, from 0.
        """
        if not self._batches:
            return None
        table = pa.Table.from_batches(self._batches).unify_dictionaries().combine_chunks()
        self._batches.clear()
        keys = [numbers(table.column(name).chunk(0)) for name in ("cluster_rank", "cluster", "component")]
        (rows,) = table.take(number_array(np.lexsort(keys))).combine_chunks().to_batches()
        return rows


class ShownPairs:
    """Collects candidates (pairs of records that may be the same) for a page, in memory: the most similar ones, up to
    MAX_PAIRS, in the order of the table.
    """

    def __init__(self) -> None:
        self._rows = LOCATED_CANDIDATES.empty_table()
        self.left_out = 0
        """Number of collected pairs that are not shown, because they are less similar."""

    def take(self, rows: pa.RecordBatch) -> None:
        """Add rows with the columns of LOCATED_CANDIDATES. Of more than MAX_PAIRS pairs, the least similar are
        dropped.
        """
        table = pa.concat_tables([self._rows, pa.Table.from_batches([rows])]).unify_dictionaries().combine_chunks()
        if len(table) > MAX_PAIRS:
            similarity = table.column("similarity").to_numpy()
            order = np.sort(np.argsort(-similarity, kind="stable")[:MAX_PAIRS])
            self.left_out += len(table) - MAX_PAIRS
            table = table.take(number_array(order))
        self._rows = table

    def table(self) -> pa.RecordBatch | None:
        """Return the pairs, in the order in which they were added, with the columns of LOCATED_CANDIDATES; None if
        there are none.
        """
        batches = self._rows.combine_chunks().to_batches()
        return batches[0] if batches else None
