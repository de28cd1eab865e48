"""The page for people who decide: the rows of `--review` and of `--candidates`, and the records themselves, side by side.

The records are read once more, in the order of the dumps. The page has them by group; so their excerpts are in a file until it
is written, and memory holds one block of the page.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import flags_of, number_array, numbers
from urnscan.dedup.clustering import BY_DECISION
from urnscan.dedup.join.components import Numbers
from urnscan.dedup.read.batches import digest_of
from urnscan.dedup.reread import SecondReading, changed
from urnscan.dedup.review.excerpts import READ, Beginning, Excerpt, Excerpts
from urnscan.dedup.review.review_table import APART, LOCATION, PAGE, Review, ShownPairs, shown_digest
from urnscan.records.keys import keys
from urnscan.report.excerpts import compare
from urnscan.report.review_page import Block, Counts, ShownRecord, render
from urnscan.tables.output_file import as_fatal
from urnscan.tables.schemas import REVIEW
from urnscan.tables.writers import TEXT_FORMS
from urnscan.version import __version__

_RECORD = ["urns", "other_keys", "digest", *LOCATION.names]
# Keys with a control number, and what is between the number and the dump or institution before it.
_OF_CONTROL_NUMBERS = {"local": ":", "agency": "/", "id": "/"}
# Characters of excerpts in a block; a group is never split.
_BLOCK = 1 << 18
# Records whose excerpts are made together, each of at most READ bytes.
_AT_ONCE = 128


class _ExcerptFile:
    """Excerpts by number, in a file without a name."""

    def __init__(self, folder: Path, most: int) -> None:
        self._name = str(folder)
        self._ends = np.zeros((most, 2), np.int64)
        with as_fatal(self._name):
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed by `close`)

    def keep(self, number: int, excerpt: Excerpt) -> None:
        """Append an excerpt. `number`: a new number, from 0, below `most`."""
        with as_fatal(self._name):
            start = self._file.tell()
            self._file.write(json.dumps(excerpt).encode())
            self._ends[number] = start, self._file.tell()

    def __getitem__(self, number: int) -> Excerpt:
        """Read the excerpt with a number. After the first call, `keep` must not be called."""
        start, end = self._ends[number].tolist()
        with as_fatal(self._name):
            self._file.seek(start)
            text, rest, spellings = json.loads(self._file.read(end - start))
        return Excerpt(text, rest, [(spelling, name) for spelling, name in spellings])

    def close(self) -> None:
        self._file.close()


@dataclass(frozen=True, slots=True)
class _Kind:
    """The rows of one kind (components, or pairs) on a page, and the records that they show."""

    rows: pa.RecordBatch
    records: pa.RecordBatch
    """The records, in the order of the rows: identifiers, digest, and LOCATION."""
    starts: Sequence[int]
    """Index in `records` of the first record of each group (a component, or a pair)."""
    of_row: int
    """Number of records that a row shows: 1, or 2 for pairs."""


def page_of(
    review: Review, pairs: ShownPairs, again: SecondReading, excerpts: Excerpts, folder: Callable[[], Path]
) -> Iterator[bytes]:
    """Yield the bytes of the page of `--review`, in pieces; a page without records if there are none.

    `review` and `pairs` have collected the rows. `again` reads the records, `excerpts` prepares their text. `folder`
    returns the folder for a temporary file. Raises FatalError if the disk is full or fails, or if a record cannot be
    read again or has changed; records of more than 64 KiB are not checked.
    """
    table, candidates = review.table(), pairs.table()
    schema = REVIEW if candidates is None else PAGE
    kinds = []
    counts = Counts(0, 0, 0, pairs.left_out)
    if table is not None:
        # Components are numbered from 1.
        starts = np.flatnonzero(np.diff(numbers(table.column("component")), prepend=0)).tolist()
        kinds.append(_Kind(_with_nulls(table, schema), table.select(_RECORD), starts, 1))
        is_doubt = ~flags_of(pc.is_null(table.column("reason"))) | flags_of(pc.equal(table.column("decision"), APART))
        not_in_doubt = len(starts) - int(np.count_nonzero(np.logical_or.reduceat(is_doubt, starts)))
        counts = counts._replace(groups=len(starts), records=len(table), not_in_doubt=not_in_doubt)
    if candidates is not None:
        kinds.append(_Kind(_with_nulls(candidates, schema), _ends(candidates), range(0, 2 * len(candidates), 2), 2))
        counts = counts._replace(pairs=len(candidates))
    if not kinds:
        yield from map(str.encode, render(counts, __version__, iter(())))
        return
    joins = [
        *((key.name, key.shared + " (supporting key)" * key.unsure) for key in keys().values()),
        (BY_DECISION, "people decided so"),
    ]
    (records,) = pa.Table.from_batches([kind.records for kind in kinds]).combine_chunks().to_batches()
    with closing(_ExcerptFile(folder(), len(records))) as kept:
        of_record = _keep_excerpts(kept, records, again, excerpts)
        yield from map(str.encode, render(counts, __version__, _blocks(kept, of_record, kinds, schema), joins))


def _with_nulls(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [
        rows.column(field.name) if field.name in rows.schema.names else pa.nulls(len(rows), field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _ends(pairs: pa.RecordBatch) -> pa.RecordBatch:
    """The records of pairs, two rows for each pair: the first record and the other one."""
    order = number_array(np.arange(2 * len(pairs)).reshape(2, -1).T.ravel())
    columns = [pa.concat_arrays([pairs.column(name), pairs.column(f"other_{name}")]).take(order) for name in _RECORD]
    return pa.RecordBatch.from_arrays(columns, names=_RECORD)


def _keep_excerpts(kept: _ExcerptFile, records: pa.RecordBatch, again: SecondReading, excerpts: Excerpts) -> Numbers:
    """Read the records again, put the excerpt of each into `kept` once, and return the number of the excerpt of each
    row. Raises FatalError if a record of at most READ bytes has changed.
    """
    dump_of, start, length = (numbers(records.column(name)) for name in LOCATION.names)
    places, first, of_record = np.unique(np.stack([dump_of, start]), axis=1, return_index=True, return_inverse=True)
    lengths = np.minimum(length[first], READ)
    wanted = {
        again.dumps[number]: [*zip(places[1, mine].tolist(), lengths[mine].tolist(), strict=True)]
        for number in np.unique(places[0]).tolist()
        for mine in [places[0] == number]
    }
    digests = records.column("digest")
    read = zip(first.tolist(), again.excerpts(wanted), strict=True)
    number = 0
    while chunk := list(itertools.islice(read, _AT_ONCE)):
        for row, ((dump, _), data) in chunk:
            if length[row] <= READ and shown_digest(digest_of(data)) != digests[row].as_py():
                raise changed(dump)
        beginnings = [Beginning(dump, data, int(length[row])) for row, ((dump, _), data) in chunk]
        for excerpt in excerpts.of(beginnings):
            kept.keep(number, excerpt)
            number += 1
    return of_record.ravel().astype(np.int32)


def _blocks(kept: _ExcerptFile, of_record: Numbers, kinds: Sequence[_Kind], schema: pa.Schema) -> Iterator[Block]:
    """Yield blocks of the page: rows as CSV, with the header only in the first block, and the records that they show.
    `of_record`: for each record of all `kinds`, in sequence, the number of its excerpt.
    """
    head, lines = TEXT_FORMS[".csv"](schema)
    before = 0
    for kind in kinds:
        shown: list[ShownRecord] = []
        first, size = 0, 0
        count = len(kind.records)
        for start, end in zip(kind.starts, [*kind.starts[1:], count], strict=True):
            own = [kept[number] for number in of_record[before + start : before + end].tolist()]
            rows = kind.rows.slice(start // kind.of_row, (end - start) // kind.of_row)
            shown += _side_by_side(own, kind.records.slice(start, end - start), rows.column("joined_by"))
            size += sum(len(excerpt.text) for excerpt in own)
            if size >= _BLOCK or end == count:
                rows = kind.rows.slice(first // kind.of_row, (end - first) // kind.of_row)
                yield Block(head + bytes(lines(rows)), shown)
                head, shown, first, size = b"", [], end, 0
        before += count


def _side_by_side(excerpts: list[Excerpt], rows: pa.RecordBatch, joined_by: pa.ListArray) -> list[ShownRecord]:
    """The records of a group, with marks for differences, for shared names, and for control numbers that join them.
    `rows`: identifiers of each record. `joined_by`: the keys that join records, for each row of the table.
    """
    numbers_of_records = {number for of_row in joined_by.to_pylist() for number in _control_numbers(of_row or ())}
    names = Counter(
        name for column in ("urns", "other_keys") for of_record in rows.column(column).to_pylist() for name in of_record
    )
    marked = [
        [*numbers_of_records, *(spelling for spelling, name in excerpt.spellings if names[name] > 1)]
        for excerpt in excerpts
    ]
    lines = compare([excerpt.text for excerpt in excerpts], marked)
    return [ShownRecord(excerpt.rest, of_record) for excerpt, of_record in zip(excerpts, lines, strict=True)]


def _control_numbers(joined_by: Sequence[str]) -> Iterator[str]:
    """The control numbers (MARC 001) in the keys that join a record: `local:3:a12` and `agency:dlc/a12` give `a12`."""
    for name in joined_by:
        kind, _, key = name.partition(":")
        if kind in _OF_CONTROL_NUMBERS:
            yield key.partition(_OF_CONTROL_NUMBERS[kind])[2]
