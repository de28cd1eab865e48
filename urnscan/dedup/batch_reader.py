"""The reader of batches: it reads and scans the records of a batch, runs of them together, into rows."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from urnscan.arrays.arrow import flag_array, number_array, numbers, octets_array, string_array, text_array
from urnscan.arrays.octets import Integers
from urnscan.arrays.strings import cut
from urnscan.dedup.batches import ROWS, Batch, ReadBatch, Wanted, digest_of
from urnscan.framing.lines import Damaged
from urnscan.records.fields import Own
from urnscan.records.identifier_columns import as_texts
from urnscan.records.identifiers import as_text, with_wrong_digit
from urnscan.records.key_columns import KeyColumns
from urnscan.records.keys import LAST
from urnscan.records.record import Columns, Cut, Ordered, OrderedText, Record, RecordReader, Run
from urnscan.run.options import Options
from urnscan.run.pieces import Counts
from urnscan.scanner.blocks import components_in_names
from urnscan.scanner.views import make_scanner
from urnscan.tables.rows import canonical_column
from urnscan.tables.values import scan_values

_NAMELESS = pa.schema([field for field in ROWS if field.name != "names"])
_CUT = -1  # `stop` of a match that was cut at `max_length`


class _Texts:
    """Texts of records, each with the row of its record and its order there."""

    def __init__(self) -> None:
        self._columns: list[tuple[Integers, Integers, pa.BinaryArray]] = []

    def add(self, rows: Integers, order: Integers, texts: pa.Array) -> None:
        """Append a column of strings or octets."""
        self._columns.append((rows, order, texts.view(pa.binary())))

    def add_each(self, texts: Sequence[OrderedText], row: Integers) -> None:
        """Append texts one by one. `row`: the row of each record."""
        if texts:
            columns = Ordered.of(texts)
            self.add(row[columns.record], columns.order, columns.texts)

    def in_order(self) -> tuple[Integers, pa.BinaryArray]:
        """Rows and texts, in the order of the rows."""
        if not self._columns:
            return np.empty(0, np.int64), octets_array([])
        rows, order, texts = zip(*self._columns, strict=True)
        row = np.concatenate(rows)
        by_row = np.lexsort((np.concatenate(order), row))
        return row[by_row], pa.concat_arrays(texts).take(number_array(by_row))


class _Rows:
    """Rows of a batch, without their names, and the texts and keys in which these are found."""

    def __init__(self, wanted: Wanted, reader: RecordReader, keys_of: KeyColumns | None) -> None:
        self._wanted, self._reader, self._keys_of = wanted, reader, keys_of
        self._chunks: list[pa.RecordBatch] = []
        self.count = 0
        self.texts, self.keys = _Texts(), _Texts()
        self.wrong: list[tuple[int, str]] = []
        """See `ReadBatch.wrong`."""

    def add_run(self, number: int, run: Run, columns: Columns) -> None:
        """Append the records of a run that are read together. `number`: that of the first in the dump."""
        is_read = ~columns.alone
        row = np.cumsum(is_read) - 1 + self.count
        starts, ends = run.starts[is_read], run.ends[is_read]
        if self._wanted.fields:
            self._add_own(columns, row)
        if self._reader.has_texts:
            texts = cut(np.frombuffer(run.octets, np.uint8), starts.astype(np.int32), ends.astype(np.int32))
            self.texts.add(row[is_read], np.zeros(len(starts), np.int64), string_array(*texts))
        if self._keys_of is not None:
            for keys in self._keys_of.read(columns):
                self.keys.add(row[keys.record], keys.order, keys.texts)
            if (of_octets := self._keys_of.reader.of_octets(run)) is not None:
                self.keys.add(row[is_read], np.full(len(starts), LAST), of_octets.filter(flag_array(is_read)))
        digests = np.zeros(len(starts), np.int64)
        if self._wanted.digests:
            places = zip(starts.tolist(), ends.tolist(), strict=True)
            digests = np.array([digest_of(run.octets[start:end]) for start, end in places], np.int64)
        which = flag_array(is_read)
        self._add(
            number + np.flatnonzero(is_read),
            columns.identifiers.filter(which),
            run.offset + starts,
            ends - starts,
            columns.descriptions.filter(which),
            digests,
        )

    def _add_own(self, columns: Columns, row: Integers) -> None:
        """Append the texts of own identifiers of a run, and mark records that only a wrong identifier names."""
        others = [(record, order, own, as_text(own)) for record, order, own in columns.others]
        self.texts.add_each([(record, order, text) for record, order, _, text in others if text is not None], row)
        has_text = np.zeros(len(row), np.bool_)
        has_text[[record for record, _, _, text in others if text is not None]] = True
        doubtful = []
        for values in columns.values:
            if not values.is_key:
                found = as_texts(values.texts, values.scheme)
                self.texts.add(row[values.record[found.which]], values.order[found.which], found.texts)
                has_text[values.record[found.which]] = True
                doubtful.append((values, found.doubtful))
        suspects = [(record, order, own) for record, order, own, _ in others if not has_text[record]]
        for values, among in doubtful:
            which = among[~has_text[values.record[among]]]
            places = (values.record[which].tolist(), values.order[which].tolist())
            texts = values.texts.take(number_array(which)).to_pylist()
            suspects += (
                (record, order, Own(text, values.scheme)) for record, order, text in zip(*places, texts, strict=True)
            )
        suspects.sort(key=operator.itemgetter(1))
        first: dict[int, str] = {}
        for record, _, own in suspects:
            if record not in first and (wrong := with_wrong_digit(own)) is not None:
                first[record] = wrong
        self.wrong += ((int(row[record]), wrong) for record, wrong in first.items())

    def add_each(self, records: Sequence[tuple[int, Record]]) -> None:
        """Append records with their numbers in the dump."""
        texts: list[tuple[int, bytes]] = []
        keys: list[tuple[int, str]] = []
        for row, (_, record) in enumerate(records, self.count):
            own = record.own if self._wanted.fields else ()
            of_own = [(row, text.encode()) for each in own if (text := as_text(each)) is not None]
            if not of_own and (wrong := next(filter(None, map(with_wrong_digit, own)), None)) is not None:
                self.wrong.append((row, wrong))
            texts += of_own
            texts += ((row, text) for text in record.texts)
            if self._keys_of is not None:
                keys += ((row, key) for key in self._keys_of.reader.of_record(record))
        for each, columns, array_of in ((texts, self.texts, octets_array), (keys, self.keys, text_array)):
            if each:
                rows, values = zip(*each, strict=True)
                columns.add(np.array(rows, np.int64), np.zeros(len(rows), np.int64), array_of(values))
        self._add(
            np.array([number for number, _ in records], np.int64),
            text_array([record.identifier for _, record in records]),
            np.array([record.offset for _, record in records], np.int64),
            np.array([len(record.octets) for _, record in records], np.int64),
            octets_array([record.description for _, record in records]),
            np.array([digest_of(record.octets) if self._wanted.digests else 0 for _, record in records], np.int64),
        )

    def _add(self, *columns: Integers | pa.Array) -> None:
        """Append rows: ROWS without names."""
        arrays = [number_array(each) if isinstance(each, np.ndarray) else each for each in columns]
        self._chunks.append(pa.RecordBatch.from_arrays(arrays, schema=_NAMELESS))
        self.count += len(arrays[0])

    def table(self, names: pa.ListArray) -> tuple[pa.RecordBatch, Sequence[tuple[int, str]]]:
        """ROWS, in the order of the records, and what is wrong in them. `names`: those of each row."""
        rows = pa.concat_batches(self._chunks)
        rows = pa.RecordBatch.from_arrays(
            [names if name == "names" else rows.column(name) for name in ROWS.names], schema=ROWS
        )
        number = numbers(rows.column("record"))
        if np.all(number[1:] > number[:-1]):
            return rows, self.wrong
        order = np.argsort(number)
        place = np.argsort(order)
        return rows.take(number_array(order)), sorted((int(place[row]), wrong) for row, wrong in self.wrong)


class BatchReader:
    """Reader and scanner of batches, for one thread."""

    def __init__(self, options: Options) -> None:
        self._scanner = make_scanner(options.grammar(count_lines=False), options.recover)
        self._level = options.level
        self._opened: tuple[Wanted, RecordReader, KeyColumns | None] | None = None

    def read(self, batch: Batch) -> ReadBatch:
        """Read a batch."""
        if self._opened is None or self._opened[0] != batch.wanted:
            self._opened = batch.wanted, batch.wanted.reader(), batch.wanted.key_reader()
        reader = self._opened[1]
        rows = _Rows(*self._opened)
        damaged: list[tuple[int, Damaged]] = []
        cuts: list[tuple[int, Cut]] = []
        for number, found in batch.found:
            if isinstance(found, Damaged):
                damaged.append((number, found))
            elif isinstance(found, Cut):
                cuts.append((number, found))
            else:
                columns = reader.columns(found)
                rows.add_run(number, found, columns)
                if columns.alone.any():
                    cuts += itertools.compress(enumerate(found.cuts(), number), columns.alone.tolist())
        records = []
        for number, each in cuts:
            one = reader.record(each)
            if isinstance(one, Damaged):
                damaged.append((number, one))
            else:
                records.append((number, one))
        rows.add_each(records)
        names, counts, cut_off = self._names(rows)
        table, wrong = rows.table(names)
        return ReadBatch(table, sorted(damaged), counts, cut_off, wrong)

    def _names(self, rows: _Rows) -> tuple[pa.ListArray, Counts, int]:
        """The column `names` of the records, the counts of their occurrences, and the URNs that were cut.

        Each record gets each canonical form once, in the order of the first occurrences, and its keys behind them.
        """
        places, forms = [np.empty(0, np.int64)], [text_array([])]
        left_out, trimmable, components, cut_off = self._scanner.left_out, 0, 0, 0
        text_rows, texts = rows.texts.in_order()
        for hits in scan_values(self._scanner, texts):
            whole = hits.matches.stop != _CUT
            place, form = hits.value, canonical_column(hits.matches, self._level)
            if not whole.all():
                place, form = place[whole], form.filter(flag_array(whole))
            places.append(place)
            forms.append(form)
            trimmable += int(np.count_nonzero(hits.matches.punctuation))
            components += components_in_names(hits.matches, self._scanner.grammar)
            cut_off += int(np.count_nonzero(~whole))
        key_rows, keys = rows.keys.in_order()
        owner = np.concatenate([text_rows[np.concatenate(places)], key_rows])
        urn = pa.concat_arrays([*forms, keys.view(pa.string())]).dictionary_encode()
        codes = numbers(urn.indices)
        _, first = np.unique(owner * np.int64(len(urn.dictionary) or 1) + codes, return_index=True)
        first = first[np.lexsort((first, owner[first]))]
        ends = np.searchsorted(owner[first], np.arange(rows.count + 1)).astype(np.int32)
        named = urn.dictionary.take(number_array(codes[first]))
        names = pa.ListArray.from_arrays(number_array(ends), named, type=ROWS.field("names").type)
        left_out = self._scanner.left_out - left_out
        return names, Counts(trimmable=trimmable, left_out=left_out, components_in_names=components), cut_off
