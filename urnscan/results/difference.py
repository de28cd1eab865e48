"""Two tables of one kind, classes or clusters -> what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from urnscan.errors import FatalError
from urnscan.results.changed_classes import changed_classes
from urnscan.results.changed_records import changed_records
from urnscan.results.changes import CAME, CHANGED, WENT
from urnscan.results.opening import differing_options, open_tables
from urnscan.run.groupings import SpillFolder
from urnscan.run.options import Options
from urnscan.tables.reading import Table
from urnscan.tables.schemas import CHANGED_RECORDS, CHANGES

_SCHEMAS = {"classes": CHANGES, "clusters": CHANGED_RECORDS}
_COMPARED = {"classes": "names", "clusters": "records"}


@dataclass
class Difference:
    """Two tables of classes, or two of clusters, and how many rows differ once `rows` has given all that do.

    Raises FatalError if one is no such table, or if the tables are of two kinds.
    """

    old: str
    new: str
    outputs: Sequence[str] = ()
    """Files that are written, and must not be read."""
    options: Options = field(default_factory=Options)
    """Of which `memory`, `nid` and `not_nid` count."""
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys((CAME, WENT, CHANGED), 0))
    """Number of classes or records for each value of `change`."""

    def __post_init__(self) -> None:
        self._tables = [self._table(name) for name in (self.old, self.new)]
        old, new = (table.kind for table in self._tables)
        if old != new:
            raise FatalError(f"{self.new}: holds {new}, and {self.old} {old}: compare two tables of one kind")
        self.schema: pa.Schema = _SCHEMAS[old]
        """CHANGES for classes, CHANGED_RECORDS for clusters."""
        if self.schema is not CHANGES and self.options.leaves_out:
            raise FatalError(f"{self.old}: holds clusters; namespaces can be chosen only among classes")

    def remarks(self) -> Iterator[str]:
        """A line about each option that differs in the runs of the tables."""
        for difference in differing_options(self._tables):
            yield f"{difference}: {_COMPARED[self._tables[0].kind]} may differ for that reason alone"

    def rows(self, spill_folder: Path | None = None) -> Iterator[pa.RecordBatch]:
        """Rows of `schema`, sorted: of classes by `urn`, of records by source, member, identifier and place.

        What does not fit in the memory waits in a folder in `spill_folder`; None: in that for temporary files.
        Raises FatalError for a damaged table.
        """
        with ExitStack() as stack:
            folder = SpillFolder(spill_folder)
            stack.callback(folder.remove)
            for changes in self._changes(folder.get):
                for change in changes:
                    self.counts[change["change"]] += 1
                if changes:
                    yield pa.RecordBatch.from_pylist(changes, self.schema)

    def _changes(self, folder: Callable[[], Path]) -> Iterator[list[dict[str, Any]]]:
        if self.schema is CHANGES:
            return changed_classes(self._tables, self.options)
        return changed_records(self._tables, self.options.memory, folder)

    def _table(self, name: str) -> Table:
        tables = open_tables([name], self.outputs, *_SCHEMAS)
        if len(tables) > 1:
            raise FatalError(f"{name}: holds {len(tables)} tables; urnscan merge makes one of them")
        return tables[0]
