"""Two tables of clusters -> the records that came, went or changed.

A record is known by its source, its member and its identifier. Where identifiers are missing, or one stands twice, the
place in the dump (`start`) tells records apart: a dump that was not edited has each record at its place, and where one
was edited, two records are never taken for one because they are, say, the third without an identifier.

So rows are sorted twice: by cluster, to find the record that is kept in place of one that is removed; then by what a
record is known by, in both tables, to compare them side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.arrays.arrow import decoded, flag_array, flags_of, number_array, numbers, octet_strings, text_array
from urnscan.results.changes import CAME, CHANGED, WENT, are_unequal, elements_that_differ, what_differs
from urnscan.results.sorting import KEY, Sorter
from urnscan.results.windows import one_batch, rows_at_once, windows
from urnscan.sources.layers import INSIDE
from urnscan.tables.reading import Table

_READ = "cluster source member record_id start urns other_keys joined_by cluster_rank decision reason title".split()
_LISTS = ("urns", "other_keys", "joined_by")
_REPLACED_BY = "replaced_by"
_VALUES = ("decision", "reason", _REPLACED_BY)
"""Columns whose values are compared; of the columns in `_LISTS` the elements are."""
_OF_RECORD = ("source", "member", "record_id", "start", "title")
_DIGITS = 19  # of a number in a key
_NUL, _ESCAPED, _BETWEEN = "\0", "\0\1", "\0\0"  # fields of a key may hold any character
_SAME = "same"  # equal for two rows that may be one record
_NEW = "is_new"


def changed_records(tables: Sequence[Table], memory: int, folder: Callable[[], Path]) -> Iterator[list[dict[str, Any]]]:
    """CHANGED_RECORDS rows, sorted by source, member, identifier and start; `tables` are the old one and the new one.

    Rows that do not fit in `memory` wait in files in the folder. Raises FatalError.
    """
    runs = [(table.path, _by_record(table, memory // 2, folder)) for table in tables]
    held: pa.RecordBatch | None = None  # rows of the last record, of which more rows may follow
    apart = ""  # records with this in _SAME are told apart by their places
    for window in windows(runs, KEY):
        batches = [_marked(rows, is_new=bool(number)) for number, taken in enumerate(window) for rows in taken]
        rows = one_batch([held, *batches] if held is not None else batches)
        rows = rows.take(pc.sort_indices(rows, [(KEY, "ascending"), (_NEW, "ascending")]))
        held, rows, last = _without_last(rows, apart)
        yield list(_differing(rows, apart))
        apart = last
    if held is not None:
        yield list(_differing(held, apart))


def record_names(rows: pa.RecordBatch) -> pa.StringArray:
    """Names of records for people: `dump.xml:990000101`, one without identifier by its place, `a.zip!/dump.xml:@1691`."""
    source, member, record_id = (decoded(rows.column(name)) for name in ("source", "member", "record_id"))
    nothing = text_array([""])[0]
    inside = pc.binary_join_element_wise(text_array([INSIDE])[0], member, nothing).fill_null(nothing)
    place = pc.binary_join_element_wise(text_array(["@"])[0], rows.column("start").cast(pa.string()), nothing)
    name = pc.coalesce(record_id, place)
    return pc.binary_join_element_wise(source, inside, text_array([":"])[0], name, nothing)


def _by_record(table: Table, memory: int, folder: Callable[[], Path]) -> Iterator[pa.RecordBatch]:
    """The rows of a table, sorted by what a record is known by."""
    by_cluster, by_record = Sorter(memory, folder), Sorter(memory, folder)
    first = 0
    for rows in table.batches(*_READ, most=rows_at_once(memory, 2, table.row_octets)):
        number = _digits(number_array(np.arange(first, first + len(rows))))
        first += len(rows)
        columns = {name: decoded(rows.column(name)) for name in rows.schema.names}
        key = _joined(_digits(columns["cluster"]), _digits(columns["cluster_rank"]), number)
        by_cluster.add(pa.RecordBatch.from_pydict(columns | {"number": number, KEY: key}))
    for rows in _with_replacements(by_cluster.rows()):
        columns = {name: rows.column(name) for name in (*_OF_RECORD, *_VALUES, *_LISTS)}
        has_id = columns["record_id"].is_valid()
        same = _joined(
            _escaped(columns["source"]),
            _escaped(_marked_null(columns["member"])),
            _escaped(_marked_null(columns["record_id"])),
        )
        key = _joined(same, _digits(columns["start"]), rows.column("number"))
        by_record.add(pa.RecordBatch.from_pydict(columns | {"has_id": has_id, _SAME: same, KEY: key}))
    yield from _numbered(by_record.rows())


def _with_replacements(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows that are sorted by cluster, with the name of the first of the cluster where a record is removed."""
    cluster, name = 0, text_array([None])
    for rows in batches:
        clusters = numbers(rows.column("cluster"))
        begins = np.diff(clusters, prepend=cluster) != 0
        first = np.maximum.accumulate(np.where(begins, np.arange(1, len(rows) + 1), 0))
        names = pa.concat_arrays([name, record_names(rows)])
        firsts = names.take(number_array(first))
        removed = pc.equal(rows.column("decision"), "removed")
        yield rows.append_column(_REPLACED_BY, pc.if_else(removed, firsts, text_array([None])[0]))
        cluster, name = int(clusters[-1]), firsts[-1:]


def _numbered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows that are sorted by record, with keys that the other table has too: the number of a row leads nowhere there.

    In its place is the number of rows before it that are at the same place: two members of an archive may have one name.
    """
    last, count = "", 0
    for rows in batches:
        place = _joined(rows.column(_SAME), _digits(rows.column("start")))
        begins = _begins(place, last)
        at = np.arange(len(rows))
        number = at - np.maximum.accumulate(np.where(begins, at, 0))
        number[: int(np.argmax(begins)) if begins.any() else len(rows)] += count
        last, count = place[-1].as_py(), int(number[-1]) + 1
        columns = dict(zip(rows.schema.names, rows.columns, strict=True))
        yield pa.RecordBatch.from_pydict(columns | {KEY: _joined(place, _digits(number_array(number)))})


def _without_last(rows: pa.RecordBatch, apart: str) -> tuple[pa.RecordBatch | None, pa.RecordBatch, str]:
    """The rows of the last record, the rows before them, and in what `_SAME` records are told apart by their places.

    No rows are held back where it is known already that these records are several.
    """
    same = rows.column(_SAME)
    last = same[-1].as_py()
    begin = len(rows) - 1
    while begin and begin > len(rows) - 3 and same[begin - 1].as_py() == last:
        begin -= 1
    new = flags_of(rows.column(_NEW))[begin:].sum()
    if last == apart or new > 1 or len(rows) - begin - new > 1:
        return None, rows, last
    return rows.slice(begin), rows.slice(0, begin), apart


def _differing(rows: pa.RecordBatch, apart: str) -> Iterator[dict[str, Any]]:
    """CHANGED_RECORDS rows of both tables' rows, in their order; records are not cut in two, but for those `apart`."""
    if not len(rows):
        return
    is_new = flags_of(rows.column(_NEW))
    begins = _begins(rows.column(_SAME), "")
    group = np.cumsum(begins) - 1
    counts = [np.bincount(group[is_new == side], minlength=group[-1] + 1) for side in (False, True)]
    has_one = (counts[0] == 1) & (counts[1] == 1)
    if apart:
        has_one[group[flags_of(pc.equal(rows.column(_SAME), apart))]] = False
    by_id = has_one[group] & flags_of(rows.column("has_id"))
    at_place = ~_begins(rows.column(KEY), "")[1:]
    is_pair = np.append((is_new[1:] != is_new[:-1]) & ~begins[1:] & (by_id[1:] | at_place), False)
    pairs = np.flatnonzero(is_pair)
    olds, news = (np.where(is_new[pairs] == side, pairs, pairs + 1) for side in (False, True))
    comparable = _comparable(rows)
    differ = np.zeros(len(pairs), np.bool_)
    for column in comparable.values():
        differ |= are_unequal(*(column.take(number_array(side)) for side in (olds, news)))
    alone = ~is_pair
    alone[1:] &= ~is_pair[:-1]
    places = np.sort(np.concatenate([np.flatnonzero(alone), pairs[differ]]))
    of_pair = dict(zip(pairs.tolist(), zip(olds.tolist(), news.tolist(), strict=True), strict=True))
    sides = [
        of_pair[place] if is_pair[place] else (None, place) if is_new[place] else (place, None) for place in places
    ]
    needed = sorted({place for pair in sides for place in pair if place is not None})
    told = dict(zip(needed, rows.take(number_array(np.array(needed, np.int64))).to_pylist(), strict=True))
    for old, new in sides:
        record = told[old if new is None else new]
        change = CAME if old is None else WENT if new is None else CHANGED
        if changes := list(_what_differs(told.get(old, {}), told.get(new, {}))):
            yield {"change": change, **{name: record[name] for name in _OF_RECORD}, "changes": changes}


def _what_differs(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """The values that differ in two rows of a record, as text; of no record all are none. The order of keys is no value."""
    yield from what_differs(old, new, _VALUES)
    for name in _LISTS:
        yield from elements_that_differ(name, old.get(name, ()), new.get(name, ()))


def _comparable(rows: pa.RecordBatch) -> Mapping[str, pa.Array]:
    """The columns that are compared; lists as strings, and their lengths."""
    columns = {name: rows.column(name) for name in _VALUES}
    for name in _LISTS:
        lists = rows.column(name)
        strings = pa.ListArray.from_arrays(lists.offsets, _escaped(lists.values))
        columns[name] = pc.binary_join(strings, _BETWEEN)
        columns[f"{name} count"] = pc.list_value_length(lists)
    return columns


def _begins(keys: pa.StringArray, last: str) -> npt.NDArray[np.bool_]:
    """Whether each key is another than the one before it; `last` is before the first."""
    begins = np.ones(len(keys), np.bool_)
    begins[0] = keys[0].as_py() != last
    begins[1:] = flags_of(pc.not_equal(keys[1:], keys[:-1]))
    return begins


def _marked(rows: pa.RecordBatch, *, is_new: bool) -> pa.RecordBatch:
    return rows.append_column(_NEW, flag_array(np.full(len(rows), is_new)))


def _marked_null(column: pa.StringArray) -> pa.StringArray:
    """Strings of which none is empty, but for null."""
    nothing = text_array([""])[0]
    return pc.binary_join_element_wise(text_array(["+"])[0], column, nothing).fill_null(nothing)


def _joined(*columns: pa.StringArray) -> pa.StringArray:
    return pc.binary_join_element_wise(*columns, text_array([_BETWEEN])[0])


def _escaped(column: pa.StringArray) -> pa.StringArray:
    """Strings in which `_BETWEEN` does not stand, in the same order."""
    octets, offsets = octet_strings(column)
    if 0 not in octets[: offsets[-1] if len(offsets) else 0]:
        return column
    return pc.replace_substring(column, _NUL, _ESCAPED)


def _digits(column: pa.Array) -> pa.StringArray:
    """Numbers as strings that sort in the same order; null is the number 0."""
    return pc.utf8_lpad(column.cast(pa.string()).fill_null("0"), _DIGITS, "0")
