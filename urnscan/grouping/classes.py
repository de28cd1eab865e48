"""Occurrences added up to equivalence classes, in memory. Only this module defines a class.

A partial row (`schemas.PARTIAL`) is the sum of some occurrences of one spelling of one class; a single occurrence
(`schemas.SINGLE`) is one, too. Partial rows of a spelling add up to one row, in whatever order they are added. So
threads can sort and add up rows, spill them, and add them up again. The first row of a class has its `sources`,
`first_…` and `last_source`; the other rows have 0 sources.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from urnscan.arrays.arrow import number_array, numbers, octet_strings, string_array
from urnscan.arrays.jit import compiled, inlined, read_only
from urnscan.arrays.octets import Integers, Octets, copy
from urnscan.arrays.strings import (
    Column,
    Offsets,
    Rows,
    Sorting,
    argsort_pairs,
    compare,
    same,
    sort_words,
    take,
    take_numbers,
)
from urnscan.errors import FatalError
from urnscan.tables.schemas import GROUPED, PARTIAL, SINGLE
from urnscan.urn.problem_columns import marks_of
from urnscan.urn.syntax import Syntax

MOST_SPELLINGS = 100
"""Listed spellings of a class, at most."""

_SCHEME = len("urn:")
_FIRST = ["first_source", "first_member", "first_start"]
_NUMBERS = ["occurrence_count", "sources", "first_source", "last_source"]
_MOST_OCTETS = 1 << 31  # offsets are 32 bits wide
_TOO_MUCH = "the spellings of one name have more than 2 GiB in all; a lower --max-length cuts them"


def add_up(batches: Sequence[pa.RecordBatch], shared: int = 0) -> pa.RecordBatch:
    """Add up SINGLE or PARTIAL rows, in the order of the inputs: one PARTIAL row for each spelling, sorted by class,
    then text. All keys begin with the same `shared` octets.
    """
    rows = _partial(one_batch(batches))
    names = rows.select(["urn", "text"])
    order = argsort_pairs(max(shared, _SCHEME), *map(octet_strings, names.columns))
    names = taken(names, order)  # neighbours are compared faster if they lie side by side
    urns, texts = map(octet_strings, names.columns)
    sums = _sums(_Rows(read_only(order), *(numbers(rows.column(name)) for name in _NUMBERS)), urns, texts)
    if len(sums.spellings) < len(order):
        names = taken(names, sums.spellings)
    first_source, *first = taken(rows.select(_FIRST), sums.first_rows).columns
    added = number_array(sums.counts), number_array(sums.sources), first_source, number_array(sums.last_sources)
    return pa.RecordBatch.from_arrays([*names.columns, *added, *first], schema=PARTIAL)


def classes_of(rows: pa.RecordBatch, syntax: Syntax | None) -> pa.RecordBatch:
    """GROUPED rows of PARTIAL rows that are added up. Without a syntax, spellings are not looked at: `marks` are 0."""
    starts = np.flatnonzero(numbers(rows.column("sources")))
    counts = numbers(rows.column("occurrence_count"))
    urn, text = octet_strings(rows.column("urn")), octet_strings(rows.column("text"))
    heads = rows if len(starts) == rows.num_rows else rows.take(number_array(starts))
    bounds = np.append(starts, rows.num_rows)
    ranked, listed, list_offsets = _rank_spellings(bounds, counts, (urn, text))
    texts, own_counts = _spelled(urn, text, ranked) if len(text[0]) else urn, take_numbers(counts, ranked)
    marks = np.zeros(rows.num_rows, np.uint8) if syntax is None else marks_of(*texts, syntax)
    if len(listed) < rows.num_rows:
        texts, own_counts = take(*texts, listed), take_numbers(own_counts, listed)
    lists = GROUPED.field("spellings").type
    spellings = pa.StructArray.from_arrays(
        [string_array(*texts), number_array(own_counts)], fields=list(lists.value_type)
    )
    return pa.RecordBatch.from_arrays(
        [
            heads.column("urn"),
            number_array(np.add.reduceat(counts, starts)),
            heads.column("sources"),
            number_array(np.diff(bounds)),
            pa.ListArray.from_arrays(number_array(list_offsets), spellings, type=lists),
            *(heads.column(name) for name in _FIRST),
            number_array(np.bitwise_or.reduceat(marks, starts)),  # of all spellings, also of those that are not listed
        ],
        schema=GROUPED,
    )


def one_schema(schemas: Iterable[pa.Schema]) -> pa.Schema:
    """Schema of the concatenated batches: PARTIAL if any of them is, else SINGLE."""
    return SINGLE if all(schema.equals(SINGLE) for schema in schemas) else PARTIAL


def one_batch(batches: Sequence[pa.RecordBatch], schema: pa.Schema | None = None) -> pa.RecordBatch:
    """All rows in one batch, of that schema or `one_schema`.

    Raises FatalError if their strings are more than an array can hold.
    """
    schema = schema or one_schema(batch.schema for batch in batches)
    if schema is PARTIAL:
        batches = [_partial(batch) for batch in batches]
    rows: list[pa.RecordBatch] = pa.Table.from_batches(batches, schema).combine_chunks().to_batches()
    if not rows:
        return pa.RecordBatch.from_pylist([], schema)
    octets = [rows[0].column(name).buffers()[2] for name in ("urn", "text")]
    if len(rows) > 1 or sum(each.size for each in octets if each) >= _MOST_OCTETS:
        raise FatalError(_TOO_MUCH)
    return rows[0]


def taken(rows: pa.RecordBatch, order: Rows) -> pa.RecordBatch:
    """Take rows of a batch, in this order. A column of strings may have nulls."""
    columns = []
    for column in rows.columns:
        if not pa.types.is_string(column.type):
            columns.append(number_array(take_numbers(numbers(column), order)))
        elif not column.null_count:
            columns.append(string_array(*take(*octet_strings(column), order)))
        elif column.null_count == len(column):
            columns.append(pa.nulls(len(order), column.type))
        else:
            columns.append(column.take(number_array(order)))
    return pa.RecordBatch.from_arrays(columns, schema=rows.schema)


def _partial(rows: pa.RecordBatch) -> pa.RecordBatch:
    """SINGLE rows as PARTIAL rows."""
    if rows.schema.equals(PARTIAL):
        return rows
    ones = number_array(np.ones(rows.num_rows, np.int64))
    own = dict(zip(rows.schema.names, rows.columns, strict=True))
    own |= {"occurrence_count": ones, "sources": ones, "last_source": own["first_source"]}
    return pa.RecordBatch.from_arrays([own[name] for name in PARTIAL.names], schema=PARTIAL)


class _Rows(NamedTuple):
    """Rows as columns of numbers, in the order of the inputs; `order` is that of their strings."""

    order: Rows
    counts: Integers
    sources: Integers
    first_source: Rows
    last_source: Rows


class _Sums(NamedTuple):
    """A row for each spelling."""

    spellings: Rows
    """Its first place in the order."""
    counts: Integers
    sources: Integers
    """Sources of the class; 0 for all but the first spelling of a class."""
    first_rows: Rows
    """Row of the first occurrence of the class."""
    last_sources: Rows
    """Last source of the class."""

    def first(self, rows: int) -> _Sums:
        """A copy of the first rows."""
        return _Sums(
            self.spellings[:rows].copy(),
            self.counts[:rows].copy(),
            self.sources[:rows].copy(),
            self.first_rows[:rows].copy(),
            self.last_sources[:rows].copy(),
        )


def _sums(rows: _Rows, urns: Column, texts: Column) -> _Sums:
    """Add up rows that the order brings together; the strings are in that order already."""
    total = len(rows.order)
    sums = _Sums(
        np.empty(total, np.int32),
        np.zeros(total, np.int64),
        np.zeros(total, np.int64),
        np.full(total, -1, np.int32),
        np.zeros(total, np.int32),
    )
    found = _add_rows(rows, urns, texts, sums, np.empty((2, total), np.int32))
    return sums if found == total else sums.first(found)


@compiled
def _add_rows(rows: _Rows, urns: Column, texts: Column, sums: _Sums, heads: Rows) -> int:
    """Add up rows and return the number of spellings. The columns of `sums` are 0, and `first_rows` are -1.

    `heads` has room for the first spelling of a class: for each spelling, and for each row.
    """
    order, row_counts, sources, first_source, last_source = rows
    spellings, counts, class_sources, first_rows, last_sources = sums
    head, class_of_row = heads[0], heads[1]
    found = 0
    for i in range(len(order)):
        row = order[i]
        new_class = i == 0 or not _same_as_before(i, urns)
        if new_class or not _same_as_before(i, texts):
            spellings[found] = i
            head[found] = found if new_class else head[found - 1]
            found += 1
        counts[found - 1] += row_counts[row]
        class_of_row[row] = head[found - 1]
    # Rows stand in the order of the inputs, and so do the sources of each: two rows share the one between them or none.
    for row in range(len(order)):
        if sources[row] > 0:
            of = class_of_row[row]
            class_sources[of] += sources[row]
            if first_rows[of] == -1:
                first_rows[of] = row
            elif last_sources[of] == first_source[row]:
                class_sources[of] -= 1
            last_sources[of] = last_source[row]
    for spelling in range(found):
        first_rows[spelling] = first_rows[head[spelling]]
        last_sources[spelling] = last_sources[head[spelling]]
    return found


@inlined
def _same_as_before(row: int, strings: Column) -> bool:
    """Whether a string is equal to the one before it."""
    octets, offsets = strings
    return same(octets, offsets[row], offsets[row + 1], octets, offsets[row - 1], offsets[row])


def _rank_spellings(bounds: Integers, counts: Integers, names: tuple[Column, Column]) -> tuple[Rows, Rows, Offsets]:
    """Rows of the spellings of each class, by frequency, then by text; the places in them of those that are listed; and the
    beginning of the list of each class.

    `names` are the columns of URNs and texts.
    """
    sorting = Sorting.of(bounds[-1])
    listed, offsets = np.empty(bounds[-1], np.int32), np.zeros(len(bounds), np.int32)
    _rank(bounds, counts, names, sorting, listed, offsets)
    return sorting.rows, listed[: offsets[-1]], offsets


@compiled
def _rank(
    bounds: Integers, counts: Integers, names: tuple[Column, Column], sorting: Sorting, listed: Rows, offsets: Offsets
) -> None:
    (urn, urn_offsets), (text, text_offsets) = names
    rows, words = sorting.rows, sorting.words
    used = 0
    for c in range(len(bounds) - 1):
        start, end = bounds[c], bounds[c + 1]
        if end - start > 1:
            # Rows are sorted by text, but a spelling equal to the URN is empty and comes first: move it to its place.
            if text_offsets[start] == text_offsets[start + 1]:
                first, last = urn_offsets[start], urn_offsets[start + 1]
                i = start + 1
                while i < end and compare(text, text_offsets[i], text_offsets[i + 1], urn, first, last) < 0:
                    rows[i - 1] = i
                    i += 1
                rows[i - 1] = start
            for i in range(start, end):
                words[i] = ~np.uint64(counts[rows[i]])  # the most frequent first
            sort_words(sorting, start, end)
        for i in range(start, min(end, start + MOST_SPELLINGS)):
            listed[used] = i
            used += 1
        offsets[c + 1] = used


def _spelled(urns: Column, texts: Column, rows: Rows) -> Column:
    """A new column of the spellings in these rows: the text of each, or its URN if the text is empty."""
    octets, offsets = np.empty(len(urns[0]) + len(texts[0]), np.uint8), np.zeros(len(rows) + 1, np.int32)
    size = _copy_spellings(urns, texts, read_only(rows), octets, offsets)
    if size >= _MOST_OCTETS:
        raise FatalError(_TOO_MUCH)
    return octets[:size], offsets


@compiled
def _copy_spellings(urns: Column, texts: Column, rows: Rows, octets: Octets, offsets: Offsets) -> int:
    """Write the spellings to `octets`, in which there must be room, and return where they end."""
    (urn, urn_offsets), (text, text_offsets) = urns, texts
    at = 0
    for i in range(len(rows)):
        row = rows[i]
        first, last = text_offsets[row], text_offsets[row + 1]
        if first < last:
            at = copy(text, first, last, octets, at)
        else:
            at = copy(urn, urn_offsets[row], urn_offsets[row + 1], octets, at)
        offsets[i + 1] = at
    return at
