"""The mapping table: each removed record, and the record that is kept instead."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import number_array, numbers
from urnscan.dedup.clustering import KEPT, Clustering
from urnscan.tables.schemas import MAPPING


class Redirects:
    """Finds for each removed record the record that is kept instead."""

    def __init__(self, clustering: Clustering) -> None:
        """Read dump, number, ID and digest (hash of the bytes) of each record that is kept instead of removed ones into
        memory. Raises FatalError if the disk fails.
        """
        table = pa.Table.from_batches(clustering.kept(), KEPT).unify_dictionaries().combine_chunks()
        # If several records of N-Triples describe a work, all are kept: the first record represents them.
        self._clusters, first = np.unique(numbers(table.column("cluster").combine_chunks()), return_index=True)
        self._kept = table.take(number_array(first))

    def rows(self, clusters: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the table of removed records (MAPPING) for rows of the table of clusters (`clusters`, any
        number): a single batch, or nothing if none of the records is removed.
        """
        removed = clusters.filter(pc.equal(clusters.column("decision"), "removed"))
        if not len(removed):
            return
        at = number_array(np.searchsorted(self._clusters, numbers(removed.column("cluster"))))
        kept = self._kept.take(at).combine_chunks()
        columns = {name: removed.column(name) for name in removed.schema.names}
        columns |= {f"kept_{name}": kept.column(name).chunk(0) for name in KEPT.names}
        yield pa.RecordBatch.from_arrays([columns[name] for name in MAPPING.names], schema=MAPPING)
