"""Tables of occurrences -> classes, the same as in a run over all inputs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import number_array, numbers, text_array
from urnscan.display.progress import ROWS, Progress, Stage
from urnscan.errors import FatalError
from urnscan.grouping.out_of_core import Grouping
from urnscan.results.opening import options_of_names
from urnscan.tables.readers import TableFile
from urnscan.tables.rows import class_rows
from urnscan.tables.schemas import SINGLE
from urnscan.urn.syntax import get_syntax


class ClassesOfOccurrences:
    """Groups the rows of tables of occurrences (OCCURRENCES), which are added in order, into classes (CODED_CLASSES
    rows: one for each canonical form).
    """

    def __init__(self, table: TableFile, grouping: Grouping) -> None:
        """`table` is any of the tables: all must come from runs with the same options. `grouping`, which must be empty,
        groups the rows.

        Raises FatalError if the run of the table had `--rules`, because a table does not contain the rules.
        """
        if table.metadata().get("rules"):
            raise FatalError(
                f"{table.path}: its run had --rules, and the table does not hold the rules; merge tables of classes"
            )
        self._options = options_of_names(table)
        self._grouping = grouping
        # Names of the inputs, by their numbers.
        self._names: dict[int, str] = {}
        # Table and input of the last row.
        self._last: tuple[int, str] | None = None

    def add(self, table: int, rows: pa.RecordBatch) -> None:
        """Add the next rows of the table with the number `table`. The rows of a table are added in their order, and
        tables in the order of rising numbers.
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
        number = (len(self._names) - 1 + np.cumsum(begins)).astype(np.int32)
        starts = np.flatnonzero(begins)
        self._names.update(zip(number[starts].tolist(), source.take(number_array(starts)).to_pylist(), strict=True))
        self._last = table, source[-1].as_py()
        text, urn = rows.column("text"), rows.column("urn")
        columns = [
            urn,
            pc.if_else(pc.equal(text, urn), text_array([""])[0], text),
            number_array(number),
            rows.column("member"),
            rows.column("start"),
        ]
        self._grouping.add(pa.RecordBatch.from_arrays(columns, schema=SINGLE))

    def classes(self, progress: Progress) -> Iterator[pa.RecordBatch]:
        """Yield CODED_CLASSES rows, sorted by `urn`, for all added rows. Can be called only once, after the last `add`.

        `progress` gets the stage "grouping" and the numbers of grouped rows.
        """
        progress.on_stage(Stage("grouping", self._grouping.complete(), ROWS))
        in_rows = partial(class_rows, names=self._names, level=self._options.level)
        return self._grouping.classes(in_rows, progress.on_progress, get_syntax(self._options.syntax))
