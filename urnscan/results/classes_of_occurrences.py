"""Tables of occurrences -> classes, the same as in a run over all inputs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import number_array, numbers, text_array
from urnscan.errors import FatalError
from urnscan.grouping.out_of_core import Grouping
from urnscan.results.opening import options_of_names
from urnscan.tables.readers import TableFile
from urnscan.tables.schemas import SINGLE


class ClassesOfOccurrences:
    """Adds the rows of tables of occurrences (OCCURRENCES), in order, to `grouping`, which makes a class of the rows
    with the same `urn`: the canonical form at the level of the runs, which is not computed again.
    """

    def __init__(self, table: TableFile, grouping: Grouping) -> None:
        """`table` is any of the tables: all must come from runs with the same options. `grouping`, which must be empty,
        groups the rows.

        Raises FatalError if the table lacks the options of its run or has invalid ones, or if the run had `--rules`,
        which a table does not contain.
        """
        if table.metadata().get("rules"):
            raise FatalError(
                f"{table.path}: its run had --rules, and the table does not hold the rules; merge tables of classes"
            )
        self.options = options_of_names(table)
        """The options of the runs that decide the rows of classes."""
        self.grouping = grouping
        self.names: dict[int, str] = {}
        """Number of an input, from 0 -> the name."""
        # Table and input of the last row.
        self._last: tuple[int, str] | None = None

    def add(self, table: int, rows: pa.RecordBatch) -> None:
        """Add the next rows of the table with the number `table`. The rows of a table are added in their order, in
        which the rows of an input are neighbours, and tables in the order of rising numbers.
        """
        if not len(rows):
            return
        source = rows.column("source")
        codes = numbers(source.indices)
        # The rows of an input are neighbours: where the source changes, the next input begins.
        begins = np.ones(len(rows), np.bool_)
        begins[1:] = codes[1:] != codes[:-1]
        first = table, source[0].as_py()
        begins[0] = first != self._last
        number = (len(self.names) - 1 + np.cumsum(begins)).astype(np.int32)
        starts = np.flatnonzero(begins)
        self.names.update(zip(number[starts].tolist(), source.take(number_array(starts)).to_pylist(), strict=True))
        self._last = table, source[-1].as_py()
        text, urn = rows.column("text"), rows.column("urn")
        columns = [
            urn,
            pc.if_else(pc.equal(text, urn), text_array([""])[0], text),
            number_array(number),
            rows.column("member"),
            rows.column("start"),
        ]
        self.grouping.add(pa.RecordBatch.from_arrays(columns, schema=SINGLE))
