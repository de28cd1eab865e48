"""The table of wrong ISBN and ISSN in the fields of records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from urnscan.compiled.arrow import number_array
from urnscan.dedup.read.batches import WrongRow
from urnscan.tables.schemas import WRONG


class WrongRows:
    """Adds the dump, number and ID of the record to each wrong number."""

    def __init__(self, numbers: Sequence[WrongRow]) -> None:
        """`numbers` are those of all dumps, ascending by `row`."""
        self._numbers = numbers
        self._records = np.array([number.row for number in numbers], np.int64)
        # Number of the first record of the next batch.
        self._next = 0

    def rows(self, clusters: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows of WRONG for the next rows of the table of clusters, which must come in the order of the
        table; without rows if no number in these records is wrong.
        """
        first, self._next = self._next, self._next + len(clusters)
        start, end = np.searchsorted(self._records, [first, self._next])
        records = clusters.take(number_array(self._records[start:end] - first))
        columns = dict(zip(records.schema.names, records.columns, strict=True))
        for name in ("number", "message", "title"):
            values = [getattr(number, name) for number in self._numbers[start:end]]
            columns[name] = pa.array(values, WRONG.field(name).type)
        return pa.RecordBatch.from_arrays([columns[name] for name in WRONG.names], schema=WRONG)
