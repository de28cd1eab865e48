"""Records read together: those that compiled code takes apart, and those that a reader reads one by one, in the same columns."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.compiled.arrow import number_array, octets_array, text_array
from urnscan.framing.lines import Damaged
from urnscan.records.columns import Columns, Texts
from urnscan.records.fields import Own
from urnscan.records.marc_columns import in_columns
from urnscan.records.marc_runs import REFUSED, Fields
from urnscan.records.record import Cut, Record, RecordReader, Run, RunReader, count_of


def read_columns(reader: RecordReader, found: Sequence[Cut | Run]) -> Columns:
    """Read records that a reader of the same kind has found: compiled code takes them apart, and the reader reads any that it
    refuses.
    """
    fields, texts = _take_apart(reader, found)
    refused = fields.totals == REFUSED
    one_by_one = zip(np.flatnonzero(refused).tolist(), _cuts_at(found, refused), strict=True)
    read = [(number, reader.record(cut)) for number, cut in one_by_one]
    damaged = {number: each for number, each in read if isinstance(each, Damaged)}
    records = [(number, each) for number, each in read if isinstance(each, Record)]
    marc = {number: each.marc for number, each in records if each.marc is not None}
    numbers = np.concatenate([np.arange(len(refused)), np.array([*marc], np.int64)])
    if marc:
        fields = Fields.joined([fields, in_columns([*marc.values()])])
    columns = reader.marc.read(fields, numbers)._replace(texts=texts, damaged=damaged)
    return _with_records(columns, records, len(refused), [*marc]) if records else columns


def _with_records(columns: Columns, records: Sequence[tuple[int, Record]], total: int, marc: Sequence[int]) -> Columns:
    """Put records that were read one by one into columns. Behind the columns of all stand those of some with fields of MARC."""
    described = dict(zip(marc, columns.descriptions[total:].to_pylist(), strict=True))
    names = text_array([each.identifier for _, each in records])
    packed = octets_array([described.get(number, b"") + each.description for number, each in records])
    place = np.arange(total)
    place[[number for number, _ in records]] = total + np.arange(len(records))
    return columns._replace(
        identifiers=pa.concat_arrays([columns.identifiers[:total], names]).take(number_array(place)),
        texts=[*columns.texts, *_searched(records)],
        own=[*Texts.of_own(_own(records)), *columns.own],
        descriptions=pa.concat_arrays([columns.descriptions[:total], packed]).take(number_array(place)),
    )


def _cuts_at(found: Sequence[Cut | Run], refused: npt.NDArray[np.bool_]) -> Iterator[Cut]:
    """The records that are marked, one by one. Of a run, no object is made for any other: it may have thousands."""
    first = 0
    for item in found:
        last = first + count_of(item)
        if isinstance(item, Run):
            yield from item.cuts(np.flatnonzero(refused[first:last]))
        elif refused[first]:
            yield item
        first = last


def octets_of_each(found: Sequence[Cut | Run]) -> list[bytes]:
    """The octets of each record."""
    octets: list[bytes] = []
    for item in found:
        octets += item.octets_of_each() if isinstance(item, Run) else (item.octets,)
    return octets


def _take_apart(reader: RecordReader, found: Sequence[Cut | Run]) -> tuple[Fields, list[Texts]]:
    """The fields of records, and their texts, as far as compiled code can take them apart."""
    if not isinstance(reader, RunReader) or not found:
        return Fields.room(np.empty(0, np.uint8), sum(map(count_of, found)), 0), []
    parts: list[Fields] = []
    texts: list[Texts] = []
    first = 0
    for _, some in itertools.groupby(found, operator.attrgetter("around")):
        run = Run.joined([*some])
        fields = reader.fields_of(run)
        parts.append(fields)
        if reader.has_texts:
            which = np.flatnonzero(fields.totals != REFUSED)
            texts.append(Texts(first + which, np.zeros(len(which), np.int64), reader.texts_of(run, which)))
        first += len(run.ends)
    return Fields.joined(parts), texts


def _own(records: Sequence[tuple[int, Record]]) -> Iterator[tuple[int, int, Own]]:
    """Own identifiers, which stand before those in fields of MARC."""
    return ((number, place - len(each.own), own) for number, each in records for place, own in enumerate(each.own))


def _searched(records: Sequence[tuple[int, Record]]) -> list[Texts]:
    """The texts of records in which URNs are searched."""
    found = [(number, place, text) for number, each in records for place, text in enumerate(each.texts)]
    if not found:
        return []
    number, order, texts = zip(*found, strict=True)
    return [Texts(np.array(number, np.int64), np.array(order, np.int64), octets_array(texts))]
