"""Two tables of classes -> their differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from urnscan.errors import FatalError
from urnscan.results.changed_classes import CAME, CHANGED, WENT, changed_classes
from urnscan.results.opening import differing_options, open_tables
from urnscan.run.options import Options
from urnscan.tables.readers import TableFile
from urnscan.tables.schemas import CHANGES


@dataclass
class Difference:
    """The comparison of two tables of classes, in the files `old` and `new`. `rows` compares them; `counts` is complete
    after all `rows` were read.

    The constructor opens the files. It raises FatalError if a file cannot be read, is not a single table of classes, or
    is one of `outputs`; also for a table of clusters.
    """

    old: str
    """Path of the earlier table, or of a folder with only this table."""
    new: str
    """Path of the later table, in the same way."""
    outputs: Sequence[str] = ()
    """Files that are written, and must not be read."""
    options: Options = field(default_factory=Options)
    """Options of the comparison: only `memory` (bytes), `nid` and `not_nid` (which classes are compared) have an
    effect.
    """
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys((CAME, WENT, CHANGED), 0))
    """Number of yielded rows for each value of the column `change`: CAME, WENT, CHANGED."""

    def __post_init__(self) -> None:
        self._tables = [self._table(name) for name in (self.old, self.new)]

    def remarks(self) -> Iterator[str]:
        """Yield a message for each table that does not say the options of its run, and for each option that differs
        between the two runs; nothing if there is none.
        """
        for table in self._tables:
            if not table.metadata():
                yield f"{table.path}: does not say which options its run had: names may differ for that reason alone"
        for difference in differing_options([table for table in self._tables if table.metadata()]):
            yield f"{difference}: names may differ for that reason alone"

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Yield CHANGES rows (one for each class that differs), sorted by `urn`, and add their numbers to `counts`, so
        call it once. Yields nothing if no class differs. Raises FatalError for a damaged table.
        """
        for changes in changed_classes(self._tables, self.options):
            for change in changes:
                self.counts[change["change"]] += 1
            if changes:
                yield pa.RecordBatch.from_pylist(changes, CHANGES)

    def _table(self, name: str) -> TableFile:
        tables = open_tables([name], self.outputs, "classes", "clusters", of_runs=False)
        if tables[0].kind == "clusters":
            raise FatalError(
                f"{name}: contains clusters, and only classes are compared; man urnscan-diff compares clusters in SQL"
            )
        if len(tables) > 1:
            raise FatalError(f"{name}: contains {len(tables)} tables; make one of them with urnscan merge")
        return tables[0]
