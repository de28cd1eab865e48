"""The reader of batches: reads and scans the records of a batch together, into rows."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from urnscan.compiled.arrow import flag_array, number_array, numbers, text_array
from urnscan.compiled.bytes import Integers
from urnscan.dedup.read.batches import ROWS, Batch, ReadBatch, ReadSettings, WrongRow, digest_of
from urnscan.framing.lines import Damaged
from urnscan.records.columns import Columns, Texts
from urnscan.records.description import shown_title
from urnscan.records.fields import Own
from urnscan.records.identifier_columns import as_texts
from urnscan.records.identifiers import wrong_numbers
from urnscan.records.key_columns import KeyColumns
from urnscan.records.record import Cut, RecordReader, Run, count_of, description_of
from urnscan.records.record_columns import bytes_of_each, read_columns
from urnscan.records.wrong_numbers import find_wrong
from urnscan.run.options import Options
from urnscan.run.task_results import Counts
from urnscan.scanner.blocks import OtherReadings
from urnscan.scanner.scanners import make_scanner
from urnscan.tables.rows import canonical_column
from urnscan.tables.scanned_columns import scan_values

# `stop` of a match that is longer than `max_length`.
_CUT = -1


class BatchReader:
    """Reads and scans batches; threads must not share it."""

    def __init__(self, options: Options) -> None:
        self._scanner = make_scanner(options.grammar(count_lines=False), options.recover)
        self._level = options.level
        self._opened: tuple[ReadSettings, RecordReader, KeyColumns | None] | None = None

    def read(self, batch: Batch) -> ReadBatch:
        """Read the records of a batch, scan their texts, and return rows and counts. A damaged record raises nothing:
        it is in `damaged` of the result.
        """
        if self._opened is None or self._opened[0] != batch.settings:
            self._opened = batch.settings, batch.settings.reader(), batch.settings.key_reader()
        settings, reader, keys_of = self._opened
        damaged = [(number, item) for number, item in batch.items if isinstance(item, Damaged)]
        records = [item for _, item in batch.items if not isinstance(item, Damaged)]
        number = _numbers_of(batch)
        columns = read_columns(reader, records)
        damaged += ((int(number[at]), error) for at, error in columns.damaged.items())
        texts, only_wrong, wrong = _of_own(columns, settings) if settings.own else (columns.texts, [], [])
        keys = [] if keys_of is None else [*keys_of.read(columns)]
        byte_count = bytes_of_each(records) if settings.digests or (keys_of and keys_of.has_bytes) else []
        if keys_of is not None and keys_of.has_bytes:
            keys.append(keys_of.of_bytes(byte_count))
        names, counts, cut_off = self._names(Texts.joined(texts), Texts.joined(keys), len(number))
        digests = np.array([*map(digest_of, byte_count)] if settings.digests else np.zeros(len(number)), np.int64)
        numbered, *place, digest = (number_array(values) for values in (number, *_places(records), digests))
        arrays = [numbered, columns.identifiers, *place, names, columns.descriptions, digest]
        rows = pa.RecordBatch.from_arrays(arrays, schema=ROWS)
        deleted = columns.deleted
        if columns.damaged:
            is_read = np.ones(len(number), np.bool_)
            is_read[[*columns.damaged]] = False
            rows = rows.filter(flag_array(is_read))
            row = np.cumsum(is_read) - 1
            only_wrong = [(int(row[at]), number) for at, number in only_wrong]
            wrong = [wrong_one._replace(row=int(row[wrong_one.row])) for wrong_one in wrong]
            deleted = row[deleted]
        return ReadBatch(rows, sorted(damaged), counts, cut_off, only_wrong, wrong, sorted(deleted.tolist()))

    def _names(self, texts: Texts, keys: Texts, count: int) -> tuple[pa.ListArray, Counts, int]:
        """The names of each of `count` records: canonical forms of the URNs in `texts`, then other identifiers
        (`keys`). Also counts of URNs that options left out or would change, and the number of URNs longer than
        `max_length`.
        """
        places, forms = [np.empty(0, np.int64)], [text_array([])]
        left_out, counts, cut_off = self._scanner.left_out, Counts(), 0
        for hits in scan_values(self._scanner, texts.texts.view(pa.binary())):
            whole = hits.matches.stop != _CUT
            place, form = hits.value, canonical_column(hits.matches, self._level)
            if not whole.all():
                place, form = place[whole], form.filter(flag_array(whole))
            places.append(place)
            forms.append(form)
            counts += Counts(**OtherReadings.of(hits.matches, self._scanner.grammar)._asdict())
            cut_off += int(np.count_nonzero(~whole))
        owner = np.concatenate([texts.record[np.concatenate(places)], keys.record])
        urn = pa.concat_arrays([*forms, keys.texts]).dictionary_encode()
        codes = numbers(urn.indices)
        _, first = np.unique(owner * np.int64(len(urn.dictionary) or 1) + codes, return_index=True)
        first = first[np.lexsort((first, owner[first]))]
        ends = np.searchsorted(owner[first], np.arange(count + 1)).astype(np.int32)
        named = urn.dictionary.take(number_array(codes[first]))
        names = pa.ListArray.from_arrays(number_array(ends), named, type=ROWS.field("names").type)
        return names, counts + Counts(left_out=self._scanner.left_out - left_out), cut_off


def _of_own(columns: Columns, settings: ReadSettings) -> tuple[list[Texts], list[tuple[int, str]], list[WrongRow]]:
    """The texts of record-level identifiers; index and first wrong number of each record whose identifiers are all
    wrong; and all wrong numbers, if the settings want them.
    """
    texts, doubtful = [], []
    has_text = np.zeros(len(columns.identifiers), np.bool_)
    for own in columns.own:
        if not own.is_key:
            identifiers = as_texts(own.texts, own.scheme)
            texts.append(Texts(own.record[identifiers.rows], own.order[identifiers.rows], identifiers.texts))
            has_text[own.record[identifiers.rows]] = True
            doubtful.append((own, identifiers.doubtful))
    suspects: list[tuple[int, int, Own]] = []
    for own, among in doubtful:
        which = among if settings.wrong else among[~has_text[own.record[among]]]
        places = (own.record[which].tolist(), own.order[which].tolist())
        numbers_ = own.texts.take(number_array(which)).to_pylist()
        suspects += ((*place, Own(text, own.scheme)) for *place, text in zip(*places, numbers_, strict=True))
    suspects.sort(key=operator.itemgetter(0, 1))
    first: dict[int, str] = {}
    for record, _, name in suspects:
        if not has_text[record] and record not in first and (digits := next(wrong_numbers(name), None)) is not None:
            first[record] = digits
    wrong = [(record, number) for record, _, name in suspects for number in find_wrong(name)] if settings.wrong else []
    return (
        texts,
        [*first.items()],
        [WrongRow(record, *number, _title_of(columns, record)) for record, number in wrong],
    )


def _title_of(columns: Columns, record: int) -> str | None:
    title = description_of(columns.descriptions[record].as_py()).title
    return title and shown_title(title)


def _numbers_of(batch: Batch) -> Integers:
    """The numbers in the dump, from 1, of the records that are not known to be damaged."""
    runs = [(first, count_of(item)) for first, item in batch.items if not isinstance(item, Damaged)]
    return np.concatenate([np.empty(0, np.int64), *(np.arange(first, first + count) for first, count in runs)])


def _places(records: Sequence[Cut | Run]) -> tuple[Integers, Integers]:
    """Offset in the dump, and length in bytes, of each record, also of each in a run."""
    offsets = [item.offset + item.starts if isinstance(item, Run) else [item.offset] for item in records]
    lengths = [item.ends - item.starts if isinstance(item, Run) else [len(item.data)] for item in records]
    nothing = np.empty(0, np.int64)
    return np.concatenate([nothing, *offsets]).astype(np.int64), np.concatenate([nothing, *lengths]).astype(np.int64)
