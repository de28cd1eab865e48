"""Records that readers find -> columns. Compiled code reads most records, `RecordReader.record` each of the rest."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.compiled.arrow import bytes_array, number_array, text_array
from urnscan.framing.lines import Damaged
from urnscan.records.columns import Columns, Texts
from urnscan.records.fields import Own
from urnscan.records.marc_columns import in_columns
from urnscan.records.marc_runs import REFUSED, Fields
from urnscan.records.record import Cut, Record, RecordReader, Run, RunReader, count_of


def read_columns(reader: RecordReader, items: Sequence[Cut | Run]) -> Columns:
    """Read the fields of the records in `items`, which a reader of the same class found, and return their values in
    columns. Records are numbered from 0 over all items. A record that cannot be read is in `Columns.damaged`.
    """
    fields, texts = _fields_and_texts(reader, items)
    is_refused = fields.totals == REFUSED
    one_by_one = zip(np.flatnonzero(is_refused).tolist(), _cuts_at(items, is_refused), strict=True)
    results = [(number, reader.record(cut)) for number, cut in one_by_one]
    damaged = {number: result for number, result in results if isinstance(result, Damaged)}
    records = [(number, result) for number, result in results if isinstance(result, Record)]
    marc = {number: record.marc for number, record in records if record.marc is not None}
    numbers = np.concatenate([np.arange(len(is_refused)), np.array([*marc], np.int64)])
    if marc:
        fields = Fields.joined([fields, in_columns([*marc.values()])])
    columns = reader.marc.read(fields, numbers)._replace(texts=texts, damaged=damaged)
    return _with_records(columns, records, len(is_refused), [*marc]) if records else columns


def _with_records(columns: Columns, records: Sequence[tuple[int, Record]], total: int, marc: Sequence[int]) -> Columns:
    """The columns of all `total` records, with the values of `records` (number and record), which have none in
    `columns` so far. After the first `total` rows, `columns` has a row with values of MARC fields for each number in
    `marc`.
    """
    of_marc = dict(zip(marc, columns.descriptions[total:].to_pylist(), strict=True))
    names = text_array([record.identifier for _, record in records])
    packed = bytes_array([of_marc.get(number, b"") + record.description for number, record in records])
    place = np.arange(total)
    place[[number for number, _ in records]] = total + np.arange(len(records))
    deleted = [number for number, record in records if record.is_deleted]
    return columns._replace(
        identifiers=pa.concat_arrays([columns.identifiers[:total], names]).take(number_array(place)),
        texts=[*columns.texts, *_texts(records)],
        own=[*Texts.of_own(_own(records)), *columns.own],
        descriptions=pa.concat_arrays([columns.descriptions[:total], packed]).take(number_array(place)),
        deleted=np.append(columns.deleted, np.array(deleted, np.int64)),
    )


def _cuts_at(items: Sequence[Cut | Run], is_chosen: npt.NDArray[np.bool_]) -> Iterator[Cut]:
    """The chosen records; `is_chosen` has a flag for each record of all items."""
    first = 0
    for item in items:
        last = first + count_of(item)
        if isinstance(item, Run):
            yield from item.cuts(np.flatnonzero(is_chosen[first:last]))
        elif is_chosen[first]:
            yield item
        first = last


def bytes_of_each(items: Sequence[Cut | Run]) -> list[bytes]:
    """Return a list with the bytes of each record, in order. A `Cut` is one record, a `Run` several neighbours."""
    data: list[bytes] = []
    for item in items:
        data += item.bytes_of_each() if isinstance(item, Run) else (item.data,)
    return data


def _fields_and_texts(reader: RecordReader, items: Sequence[Cut | Run]) -> tuple[Fields, list[Texts]]:
    """Fields and texts of the records that compiled code can read. The others have the total `REFUSED`."""
    if not isinstance(reader, RunReader) or not items:
        return Fields.room(np.empty(0, np.uint8), sum(map(count_of, items)), 0), []
    parts: list[Fields] = []
    texts: list[Texts] = []
    first = 0
    for _, neighbours in itertools.groupby(items, operator.attrgetter("around")):
        run = Run.joined([*neighbours])
        fields = reader.fields_of(run)
        parts.append(fields)
        if reader.has_texts:
            numbers = np.flatnonzero(fields.totals != REFUSED)
            texts.append(Texts(first + numbers, np.zeros(len(numbers), np.int64), reader.texts_of(run, numbers)))
        first += len(run.ends)
    return Fields.joined(parts), texts


def _own(records: Sequence[tuple[int, Record]]) -> Iterator[tuple[int, int, Own]]:
    """(record, order, identifier). The orders are negative, so that identifiers in MARC fields come later."""
    return (
        (number, place - len(record.own), own) for number, record in records for place, own in enumerate(record.own)
    )


def _texts(records: Sequence[tuple[int, Record]]) -> list[Texts]:
    rows = [(number, place, text) for number, record in records for place, text in enumerate(record.texts)]
    if not rows:
        return []
    number, order, texts = zip(*rows, strict=True)
    return [Texts(np.array(number, np.int64), np.array(order, np.int64), bytes_array(texts))]
