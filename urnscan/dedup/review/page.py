"""The page for people who decide: the rows of `--review`, and the records, side by side.

The records are read once more, in the order of the dumps. The page has them by component; so a file keeps their
excerpts until the page is written, and memory holds one block of the page.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa

from urnscan.compiled.arrow import numbers
from urnscan.dedup.read.batches import digest_of
from urnscan.dedup.reread import SecondReading, changed
from urnscan.dedup.review.excerpts import READ, Beginning, Excerpt, Excerpts
from urnscan.dedup.review.review_table import Review, review_rows, shown_digest
from urnscan.report.excerpts import compare
from urnscan.report.review_page import Block, ShownRecord, render
from urnscan.tables.output_file import as_fatal
from urnscan.tables.schemas import REVIEW
from urnscan.tables.writers import TEXT_FORMS
from urnscan.version import __version__

# Characters of excerpts in a block; a component is never split.
_BLOCK = 1 << 18
# Records whose excerpts are made together, each of at most READ bytes.
_AT_ONCE = 128


class _ExcerptFile:
    """Excerpts of records, by the row of the record, in an unnamed file."""

    def __init__(self, folder: Path, rows: int) -> None:
        """Raises FatalError if the file cannot be made in `folder`."""
        self._name = str(folder)
        self._ends = np.zeros((rows, 2), np.int64)
        with as_fatal(self._name):
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed by `close`)

    def keep(self, row: int, excerpt: Excerpt) -> None:
        """Append the excerpt of a row. Raises FatalError if the disk is full."""
        with as_fatal(self._name):
            start = self._file.tell()
            self._file.write(json.dumps(excerpt).encode())
            self._ends[row] = start, self._file.tell()

    def __getitem__(self, row: int) -> Excerpt:
        """Read the excerpt of a row; `keep` must not be called afterwards. Raises FatalError."""
        start, end = self._ends[row].tolist()
        with as_fatal(self._name):
            self._file.seek(start)
            text, rest, spellings = json.loads(self._file.read(end - start))
        return Excerpt(text, rest, [(spelling, name) for spelling, name in spellings])

    def close(self) -> None:
        """Delete the file."""
        self._file.close()


def page_of(review: Review, again: SecondReading, excerpts: Excerpts, folder: Callable[[], Path]) -> Iterator[bytes]:
    """The bytes of the page. `folder` gives the folder for a file with the excerpts. Raises FatalError."""
    table = review.table()
    if table is None:
        yield from map(str.encode, render(0, 0, __version__, iter(())))
        return
    with closing(_ExcerptFile(folder(), len(table))) as kept:
        _keep_excerpts(kept, table, review, again, excerpts)
        # Components are numbered from 1.
        starts = np.flatnonzero(np.diff(numbers(table.column("component")), prepend=0))
        yield from map(str.encode, render(len(starts), len(table), __version__, _blocks(kept, table, starts)))


def _keep_excerpts(
    kept: _ExcerptFile, table: pa.RecordBatch, review: Review, again: SecondReading, excerpts: Excerpts
) -> None:
    """Read the records of all rows, and keep their excerpts. Raises FatalError, also for a record that has changed."""
    dump_of, start, length = (numbers(table.column(name)) for name in ("dump", "start", "length"))
    order = np.lexsort((start, dump_of))
    places = {
        review.dumps[number]: [
            (int(start[row]), min(int(length[row]), READ)) for row in order[dump_of[order] == number]
        ]
        for number in np.unique(dump_of).tolist()
    }
    read = zip(order.tolist(), again.excerpts(places), strict=True)
    while chunk := list(itertools.islice(read, _AT_ONCE)):
        for row, ((dump, _), data) in chunk:
            if length[row] <= READ and shown_digest(digest_of(data)) != table.column("digest")[row].as_py():
                raise changed(dump)
        beginnings = [Beginning(dump, data, int(length[row])) for row, ((dump, _), data) in chunk]
        for (row, _), excerpt in zip(chunk, excerpts.of(beginnings), strict=True):
            kept.keep(row, excerpt)


def _blocks(kept: _ExcerptFile, table: pa.RecordBatch, starts: np.ndarray) -> Iterator[Block]:
    """Blocks of the page: rows and records of neighbouring components."""
    head, lines = TEXT_FORMS[".csv"](REVIEW)
    records: list[ShownRecord] = []
    first, size = 0, 0
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(table)], strict=True):
        own = [kept[row] for row in range(start, end)]
        records += _side_by_side(own, table.slice(start, end - start))
        size += sum(len(excerpt.text) for excerpt in own)
        if size >= _BLOCK or end == len(table):
            rows = lines(review_rows(table.slice(first, end - first)))
            yield Block(head + bytes(rows), records)
            head, records, first, size = b"", [], end, 0


def _side_by_side(excerpts: list[Excerpt], rows: pa.RecordBatch) -> list[ShownRecord]:
    """The records of a component, with marked differences and marked names that several records have."""
    names = Counter(
        name for column in ("urns", "other_keys") for of_record in rows.column(column).to_pylist() for name in of_record
    )
    marked = [[spelling for spelling, name in excerpt.spellings if names[name] > 1] for excerpt in excerpts]
    lines = compare([excerpt.text for excerpt in excerpts], marked)
    return [ShownRecord(excerpt.rest, of_record) for excerpt, of_record in zip(excerpts, lines, strict=True)]
