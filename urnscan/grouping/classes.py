"""Occurrences added up to equivalence classes, in memory. Only this module defines a class.

A partial row (`schemas.PARTIAL`) is the sum of some occurrences of a spelling of a class. A single occurrence
(`schemas.SINGLE`) is a partial row with count 1. Partial rows of a spelling can be added up in any order, with the same
result. So threads can add up rows, spill the sums, and add them up again. Only the first row of a class has the
`sources`, `first_…` and `last_source` of the class; its other rows have 0 sources.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from urnscan.compiled.arrow import byte_strings, number_array, numbers, string_array
from urnscan.compiled.bytes import ByteArray, Integers, copy
from urnscan.compiled.jit import compiled, inlined, read_only
from urnscan.compiled.strings import (
    Column,
    Offsets,
    RowNumbers,
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

MAX_SPELLINGS = 100
"""Maximum number of spellings that are listed for a class; further spellings are only counted."""

_SCHEME = len("urn:")
_FIRST = ["first_source", "first_member", "first_start"]
_NUMBERS = ["occurrence_count", "sources", "first_source", "last_source"]
# Offsets have 32 bits.
_MAX_BYTES = 1 << 31
_TOO_MUCH = "the spellings of one name have more than 2 GiB in all; a lower --max-length cuts them"


def add_up(batches: Sequence[pa.RecordBatch], shared: int = 0) -> pa.RecordBatch:
    """Add up the rows of each spelling of a class. Returns PARTIAL rows, one for each spelling, sorted by canonical
    form (`urn`), then by text. `batches` have SINGLE rows (one for each occurrence) or PARTIAL rows (earlier sums), in
    the order of the inputs.

    All canonical forms must begin with the same `shared` bytes, which are not compared. Raises FatalError if the
    strings have 2 GiB or more in all.
    """
    rows = _partial(one_batch(batches))
    names = rows.select(["urn", "text"])
    order = argsort_pairs(max(shared, _SCHEME), *map(byte_strings, names.columns))
    # Neighbours are compared faster if they are adjacent in memory.
    names = take_rows(names, order)
    urns, texts = map(byte_strings, names.columns)
    counts = _RowCounts(read_only(order), *(numbers(rows.column(name)) for name in _NUMBERS))
    sums = _sums(counts, urns, texts)
    if len(sums.spellings) < len(order):
        names = take_rows(names, sums.spellings)
    first_source, *first = take_rows(rows.select(_FIRST), sums.first_rows).columns
    added = number_array(sums.counts), number_array(sums.sources), first_source, number_array(sums.last_sources)
    return pa.RecordBatch.from_arrays([*names.columns, *added, *first], schema=PARTIAL)


def classes_of(rows: pa.RecordBatch, syntax: Syntax | None) -> pa.RecordBatch:
    """Return a batch with a row for each class (columns of GROUPED), sorted by `urn`, from the rows for spellings that
    `add_up` returned. It lists up to 100 spellings of a class, the most frequent first.

    `marks` has the problems of all spellings, one bit for each kind; if `syntax` is None, spellings are not checked,
    and all `marks` are 0. Raises FatalError if the spellings have 2 GiB or more in all.
    """
    starts = np.flatnonzero(numbers(rows.column("sources")))
    counts = numbers(rows.column("occurrence_count"))
    urn, text = byte_strings(rows.column("urn")), byte_strings(rows.column("text"))
    heads = rows if len(starts) == rows.num_rows else rows.take(number_array(starts))
    bounds = np.append(starts, rows.num_rows)
    ranked, listed, list_offsets = _rank_spellings(bounds, counts, (urn, text))
    texts, text_counts = _spelling_texts(urn, text, ranked) if len(text[0]) else urn, take_numbers(counts, ranked)
    marks = np.zeros(rows.num_rows, np.uint16) if syntax is None else marks_of(*texts, syntax)
    if len(listed) < rows.num_rows:
        texts, text_counts = take(*texts, listed), take_numbers(text_counts, listed)
    lists = GROUPED.field("spellings").type
    spellings = pa.StructArray.from_arrays(
        [string_array(*texts), number_array(text_counts)], fields=list(lists.value_type)
    )
    return pa.RecordBatch.from_arrays(
        [
            heads.column("urn"),
            number_array(np.add.reduceat(counts, starts)),
            heads.column("sources"),
            number_array(np.diff(bounds)),
            pa.ListArray.from_arrays(number_array(list_offsets), spellings, type=lists),
            *(heads.column(name) for name in _FIRST),
            # Marks of all spellings count, also of spellings that are not listed.
            number_array(np.bitwise_or.reduceat(marks, starts)),
        ],
        schema=GROUPED,
    )


def one_schema(schemas: Iterable[pa.Schema]) -> pa.Schema:
    """Return SINGLE (a row for each occurrence) if all schemas are SINGLE, otherwise PARTIAL (a row for a sum of
    occurrences): the schema in which `one_batch` joins batches.
    """
    return SINGLE if all(schema.equals(SINGLE) for schema in schemas) else PARTIAL


def one_batch(batches: Sequence[pa.RecordBatch], schema: pa.Schema | None = None) -> pa.RecordBatch:
    """Return the rows of all batches as a single batch, in order; an empty batch if there are no rows.

    Its schema is `schema`, or, if that is None, SINGLE if all batches have it, else PARTIAL. In PARTIAL, a SINGLE row
    (an occurrence) has the count 1. Raises FatalError if the strings have 2 GiB or more in all.
    """
    schema = schema or one_schema(batch.schema for batch in batches)
    if schema is PARTIAL:
        batches = [_partial(batch) for batch in batches]
    rows: list[pa.RecordBatch] = pa.Table.from_batches(batches, schema).combine_chunks().to_batches()
    if not rows:
        return pa.RecordBatch.from_pylist([], schema)
    buffers = [rows[0].column(name).buffers()[2] for name in ("urn", "text")]
    if len(rows) > 1 or sum(buffer.size for buffer in buffers if buffer) >= _MAX_BYTES:
        raise FatalError(_TOO_MUCH)
    return rows[0]


def take_rows(rows: pa.RecordBatch, order: RowNumbers) -> pa.RecordBatch:
    """Return a batch of the rows with the numbers `order` (from 0), in this order.

    The columns must be texts, which may be null, or numbers, which may not.
    """
    columns = []
    for column in rows.columns:
        if not pa.types.is_string(column.type):
            columns.append(number_array(take_numbers(numbers(column), order)))
        elif not column.null_count:
            columns.append(string_array(*take(*byte_strings(column), order)))
        elif column.null_count == len(column):
            columns.append(pa.nulls(len(order), column.type))
        else:
            columns.append(column.take(number_array(order)))
    return pa.RecordBatch.from_arrays(columns, schema=rows.schema)


def _partial(rows: pa.RecordBatch) -> pa.RecordBatch:
    if rows.schema.equals(PARTIAL):
        return rows
    ones = number_array(np.ones(rows.num_rows, np.int64))
    columns = dict(zip(rows.schema.names, rows.columns, strict=True))
    columns |= {"occurrence_count": ones, "sources": ones, "last_source": columns["first_source"]}
    return pa.RecordBatch.from_arrays([columns[name] for name in PARTIAL.names], schema=PARTIAL)


class _RowCounts(NamedTuple):
    """The columns of numbers of PARTIAL rows, in the order of the inputs. A source is the number of an input."""

    order: RowNumbers
    """The row numbers, sorted by URN and text."""
    counts: Integers
    """Number of occurrences."""
    sources: Integers
    """Number of inputs with occurrences; 0 if an earlier sum has counted them in another row of the class."""
    first_source: RowNumbers
    last_source: RowNumbers


class _SpellingSums(NamedTuple):
    """Columns with an element for each spelling, sorted by URN and text: sums of its rows, and values of its class."""

    spellings: RowNumbers
    """Index in `_RowCounts.order` of the first row of the spelling."""
    counts: Integers
    sources: Integers
    """For the first spelling of a class, the number of inputs with the class; 0 for other spellings."""
    first_rows: RowNumbers
    """Number of the row with the first occurrence of the class."""
    last_sources: RowNumbers
    """Number of the last input with the class."""


def _sums(rows: _RowCounts, urns: Column, texts: Column) -> _SpellingSums:
    """Add up the rows of each spelling. `urns` and `texts` are in the order `rows.order`, the columns of `rows` in that
    of the inputs.
    """
    total = len(rows.order)
    sums = _SpellingSums(
        np.empty(total, np.int32),
        np.zeros(total, np.int64),
        np.zeros(total, np.int64),
        np.full(total, -1, np.int32),
        np.zeros(total, np.int32),
    )
    spelling_count = _add_rows(rows, urns, texts, sums, np.empty((2, total), np.int32))
    # Copies, so that the longer arrays can be freed.
    return sums if spelling_count == total else _SpellingSums._make(column[:spelling_count].copy() for column in sums)


@compiled
def _add_rows(rows: _RowCounts, urns: Column, texts: Column, sums: _SpellingSums, heads: RowNumbers) -> int:
    """Add up rows in `sums`, and return the number of spellings. `urns` and `texts` are in the order `rows.order`;
    `sums` has an element for each row, -1 in `first_rows`, and 0 in counts and sources; `heads` is working memory, with
    two elements for each row.
    """
    order, row_counts, sources, first_source, last_source = rows
    spellings, counts, class_sources, first_rows, last_sources = sums
    head, class_of_row = heads[0], heads[1]
    total = 0
    for i in range(len(order)):
        row = order[i]
        new_class = i == 0 or not _same_as_previous(i, urns)
        if new_class or not _same_as_previous(i, texts):
            spellings[total] = i
            head[total] = total if new_class else head[total - 1]
            total += 1
        counts[total - 1] += row_counts[row]
        class_of_row[row] = head[total - 1]
    # Rows are in the order of the inputs, and each row has a range of sources. So two consecutive rows of a class share
    # at most one source: the last source of the first row, which is the first source of the second.
    for row in range(len(order)):
        if sources[row] > 0:
            class_number = class_of_row[row]
            class_sources[class_number] += sources[row]
            if first_rows[class_number] == -1:
                first_rows[class_number] = row
            elif last_sources[class_number] == first_source[row]:
                class_sources[class_number] -= 1
            last_sources[class_number] = last_source[row]
    for spelling in range(total):
        first_rows[spelling] = first_rows[head[spelling]]
        last_sources[spelling] = last_sources[head[spelling]]
    return total


@inlined
def _same_as_previous(row: int, strings: Column) -> bool:
    # Precondition: `row` is at least 1.
    data, offsets = strings
    return same(data, offsets[row], offsets[row + 1], data, offsets[row - 1], offsets[row])


def _rank_spellings(
    bounds: Integers, counts: Integers, names: tuple[Column, Column]
) -> tuple[RowNumbers, RowNumbers, Offsets]:
    """Sort the spellings of each class by count, the highest first, then by text. Returns their row numbers in this
    order; the indices, in these numbers, of up to 100 spellings of each class; and the offsets of the classes in the
    indices. `bounds`: the first row of each class, and the number of rows; `names`: URNs and texts.
    """
    sorting = Sorting.of(bounds[-1])
    listed, offsets = np.empty(bounds[-1], np.int32), np.zeros(len(bounds), np.int32)
    _rank(bounds, counts, names, sorting, listed, offsets)
    return sorting.rows, listed[: offsets[-1]], offsets


@compiled
def _rank(
    bounds: Integers,
    counts: Integers,
    names: tuple[Column, Column],
    sorting: Sorting,
    listed: RowNumbers,
    offsets: Offsets,
) -> None:
    (urn, urn_offsets), (text, text_offsets) = names
    rows, words = sorting.rows, sorting.words
    used = 0
    for c in range(len(bounds) - 1):
        start, end = bounds[c], bounds[c + 1]
        if end - start > 1:
            # Rows are sorted by text, but a spelling equal to the URN has an empty text and comes first. Move it to the
            # place where the URN belongs among the texts.
            if text_offsets[start] == text_offsets[start + 1]:
                first, last = urn_offsets[start], urn_offsets[start + 1]
                i = start + 1
                while i < end and compare(text, text_offsets[i], text_offsets[i + 1], urn, first, last) < 0:
                    rows[i - 1] = i
                    i += 1
                rows[i - 1] = start
            # The complement of the count sorts the most frequent spelling first.
            for i in range(start, end):
                words[i] = ~np.uint64(counts[rows[i]])
            sort_words(sorting, start, end)
        for i in range(start, min(end, start + MAX_SPELLINGS)):
            listed[used] = i
            used += 1
        offsets[c + 1] = used


def _spelling_texts(urns: Column, texts: Column, rows: RowNumbers) -> Column:
    """Spellings as a new column: the text of each row in `rows`, or the URN if the text is empty."""
    data, offsets = np.empty(len(urns[0]) + len(texts[0]), np.uint8), np.zeros(len(rows) + 1, np.int32)
    size = _copy_spellings(urns, texts, read_only(rows), data, offsets)
    if size >= _MAX_BYTES:
        raise FatalError(_TOO_MUCH)
    return data[:size], offsets


@compiled
def _copy_spellings(urns: Column, texts: Column, rows: RowNumbers, data: ByteArray, offsets: Offsets) -> int:
    """Write the spellings of `rows`, as in `_spelling_texts`, to `data`, which must have room, and their ends to
    `offsets`, whose first element must be 0. Returns the number of bytes.
    """
    (urn, urn_offsets), (text, text_offsets) = urns, texts
    at = 0
    for i in range(len(rows)):
        row = rows[i]
        first, last = text_offsets[row], text_offsets[row + 1]
        if first < last:
            at = copy(text, first, last, data, at)
        else:
            at = copy(urn, urn_offsets[row], urn_offsets[row + 1], data, at)
        offsets[i + 1] = at
    return at
