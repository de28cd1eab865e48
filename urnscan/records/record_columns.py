"""Records read together: those that compiled code takes apart, and those that a reader reads one by one, in the same columns."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Sequence
from typing import NamedTuple

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


class _TakenApart(NamedTuple):
    """Records that compiled code has taken apart."""

    fields: list[Fields]
    texts: list[Texts]
    refused: npt.NDArray[np.bool_]
    """Records that have to be read one by one."""


def read_columns(reader: RecordReader, found: Sequence[Cut | Run]) -> Columns:
    """Read records that a reader of the same kind has found."""
    parts, texts, refused = _take_apart(reader, found)
    total = len(refused)
    one_by_one = [
        (number, reader.record(cut))
        for number, cut in zip(np.flatnonzero(refused).tolist(), itertools.compress(cuts(found), refused), strict=True)
    ]
    damaged = {number: each for number, each in one_by_one if isinstance(each, Damaged)}
    records = [(number, each) for number, each in one_by_one if isinstance(each, Record)]
    identifiers, descriptions = pa.nulls(total, pa.string()), octets_array([b""] * total)
    own: list[Texts] = []
    described: dict[int, bytes] = {}
    marc = [(number, each.marc) for number, each in records if each.marc is not None]
    if parts or marc:
        numbers = np.array([*(range(total) if parts else ()), *(number for number, _ in marc)], np.int64)
        if marc:
            parts.append(in_columns([fields for _, fields in marc]))
        read = reader.marc.read(Fields.joined(parts), numbers)
        own += read.own
        if len(numbers) > len(marc):
            identifiers, descriptions = read.identifiers[:total], read.descriptions[:total]
        described = dict(zip((number for number, _ in marc), read.descriptions[-len(marc) :].to_pylist(), strict=False))
    if not records:
        return Columns(identifiers, texts, own, descriptions, damaged)
    place = np.arange(total)
    place[[number for number, _ in records]] = total + np.arange(len(records))
    names = text_array([each.identifier for _, each in records])
    packed = octets_array([described.get(number, b"") + each.description for number, each in records])
    return Columns(
        pa.concat_arrays([identifiers, names]).take(number_array(place)),
        [*texts, *_searched(records)],
        [*Texts.of_own(_own(records)), *own],
        pa.concat_arrays([descriptions, packed]).take(number_array(place)),
        damaged,
    )


def cuts(found: Sequence[Cut | Run]) -> Iterator[Cut]:
    """Records one by one."""
    return itertools.chain.from_iterable(each.cuts() if isinstance(each, Run) else (each,) for each in found)


def _take_apart(reader: RecordReader, found: Sequence[Cut | Run]) -> _TakenApart:
    """Have compiled code take records apart, as far as there is some for the format."""
    total = sum(map(count_of, found))
    if not isinstance(reader, RunReader) or not total:
        return _TakenApart([], [], np.ones(total, np.bool_))
    parts, texts = [], []
    first = 0
    for _, some in itertools.groupby(found, operator.attrgetter("around")):
        run = Run.joined([*some])
        fields = reader.fields_of(run)
        parts.append(fields)
        if reader.has_texts:
            which = np.flatnonzero(fields.totals != REFUSED)
            texts.append(Texts(first + which, np.zeros(len(which), np.int64), reader.texts_of(run, which)))
        first += len(run.ends)
    return _TakenApart(parts, texts, np.concatenate([each.totals for each in parts]) == REFUSED)


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
