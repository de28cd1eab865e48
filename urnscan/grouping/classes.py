"""Occurrences added up to equivalence classes, in memory. Only this module defines a class.

A partial row (`schemas.PARTIAL`) is the sum of some occurrences of one spelling of one class; a single occurrence
(`schemas.SINGLE`) is one, too. Partial rows of a spelling add up to one row, in whatever order they are added. So
threads can sort and add up rows, spill them, and add them up again. The first row of a class has its `sources`,
`first_…` and `last_source`; the other rows have 0 sources.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from urnscan.arrays.arrow import number_array, numbers, octet_strings, string_array
from urnscan.arrays.jit import compiled, read_only
from urnscan.arrays.strings import (
    Column,
    Integers,
    Offsets,
    Rows,
    argsort_pairs,
    compare,
    cut,
    same,
    take,
    take_numbers,
)
from urnscan.errors import FatalError
from urnscan.tables.schemas import GROUPED, PARTIAL, SINGLE

__all__ = ["MOST_VARIANTS", "add_up", "classes_of", "group", "one_batch", "one_schema", "taken"]

MOST_VARIANTS = 100
"""Listed spellings of a class, at most."""

_SCHEME = len("urn:")
_MOST_OCTETS = 1 << 31  # offsets are 32 bits wide


def group(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """GROUPED rows of SINGLE or PARTIAL rows that fit in memory: for an engine that brings rows of one key together."""
    return classes_of(add_up(batches))


def add_up(batches: Sequence[pa.RecordBatch], shared: int = 0) -> pa.RecordBatch:
    """Add up SINGLE or PARTIAL rows, in the order of the inputs: one PARTIAL row for each spelling, sorted by class,
    then text. All keys begin with the same `shared` octets.
    """
    rows = _partial(one_batch(batches))
    urn, text = octet_strings(rows.column("urn")), octet_strings(rows.column("text"))
    first_source, last_source = numbers(rows.column("first_source")), numbers(rows.column("last_source"))
    order = argsort_pairs(max(shared, _SCHEME), urn, text)
    urn, text = _take(urn, order), _take(text, order)  # neighbours are compared faster if they lie side by side
    spellings, counts, sources, first_rows, last_sources = _sums(
        order, urn, text, (numbers(rows.column("count")), numbers(rows.column("sources"))), (first_source, last_source)
    )
    every = len(spellings) == len(order)
    return pa.RecordBatch.from_arrays(
        [
            string_array(*(urn if every else _take(urn, spellings))),
            string_array(*(text if every else _take(text, spellings))),
            number_array(counts),
            number_array(sources),
            number_array(take_numbers(first_source, first_rows)),
            number_array(last_sources),
            _take_some(rows.column("first_member"), first_rows),
            number_array(take_numbers(numbers(rows.column("first_offset")), first_rows)),
        ],
        schema=PARTIAL,
    )


def classes_of(rows: pa.RecordBatch) -> pa.RecordBatch:
    """GROUPED rows of PARTIAL rows that are added up."""
    starts = np.flatnonzero(numbers(rows.column("sources")))
    counts = numbers(rows.column("count"))
    urn, text = octet_strings(rows.column("urn")), octet_strings(rows.column("text"))
    heads = rows if len(starts) == rows.num_rows else rows.take(number_array(starts))
    bounds = np.append(starts, rows.num_rows)
    listed, list_offsets = _list_variants(bounds, counts, urn, text)
    variants = pa.StructArray.from_arrays(
        [_take_texts(urn, text, listed), number_array(take_numbers(counts, listed))],
        fields=list(GROUPED.field("variants").type.value_type),
    )
    return pa.RecordBatch.from_arrays(
        [
            heads.column("urn"),
            number_array(np.add.reduceat(counts, starts)),
            heads.column("sources"),
            number_array(np.diff(bounds)),
            pa.ListArray.from_arrays(number_array(list_offsets), variants, type=GROUPED.field("variants").type),
            heads.column("first_source"),
            heads.column("first_member"),
            heads.column("first_offset"),
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
    octets = sum(
        rows[0].column(name).buffers()[2].size for name in ("urn", "text") if rows[0].column(name).buffers()[2]
    )
    if len(rows) > 1 or octets >= _MOST_OCTETS:
        raise FatalError("the spellings of one name have more than 2 GiB in all; a lower --max-length cuts them")
    return rows[0]


def taken(rows: pa.RecordBatch, order: Rows) -> pa.RecordBatch:
    """SINGLE or PARTIAL rows in another order."""
    columns = []
    for column in rows.columns:
        if not pa.types.is_string(column.type):
            columns.append(number_array(take_numbers(numbers(column), order)))
        elif column.null_count:
            columns.append(_take_some(column, order))
        else:
            columns.append(string_array(*_take(octet_strings(column), order)))
    return pa.RecordBatch.from_arrays(columns, schema=rows.schema)


def _partial(rows: pa.RecordBatch) -> pa.RecordBatch:
    """SINGLE rows as PARTIAL rows."""
    if rows.schema.equals(PARTIAL):
        return rows
    ones = number_array(np.ones(rows.num_rows, np.int64))
    own = dict(zip(rows.schema.names, rows.columns, strict=True))
    own |= {"count": ones, "sources": ones, "last_source": own["first_source"]}
    return pa.RecordBatch.from_arrays([own[name] for name in PARTIAL.names], schema=PARTIAL)


@compiled
def _sums(
    order: Rows, urns: Column, texts: Column, counted: tuple[Integers, Integers], between: tuple[Rows, Rows]
) -> tuple[Rows, Integers, Integers, Rows, Rows]:
    """Add up rows that `order` brings together; the strings are in that order already, the numbers are not.

    `counted` has the count and sources of each row, `between` its first and last source. Returns for each spelling its first place in the order, its count, its sources (0 for all but the first spelling of
    a class), and, of its class, the row of the first occurrence and the last source.
    """
    (urn, urn_offsets), (text, text_offsets) = urns, texts
    count, sources = counted
    first_source, last_source = between
    total = len(order)
    spellings = np.empty(total, np.int32)
    counts = np.zeros(total, np.int64)
    class_of_row = np.empty(total, np.int32)
    head = np.empty(total, np.int32)  # of each spelling, the first spelling of its class
    found = 0
    for i in range(total):
        row = order[i]
        new_class = i == 0 or not same(urn, urn_offsets[i], urn_offsets[i + 1], urn, urn_offsets[i - 1], urn_offsets[i])
        if new_class or not same(
            text, text_offsets[i], text_offsets[i + 1], text, text_offsets[i - 1], text_offsets[i]
        ):
            spellings[found] = i
            head[found] = found if new_class else head[found - 1]
            found += 1
        counts[found - 1] += count[row]
        class_of_row[row] = head[found - 1]
    class_sources = np.zeros(found, np.int64)
    first_rows = np.full(found, -1, np.int32)
    last_sources = np.zeros(found, np.int32)
    # Rows stand in the order of the inputs, and so do the sources of each: two rows share the one between them or none.
    for row in range(total):
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
    return spellings[:found].copy(), counts[:found].copy(), class_sources, first_rows, last_sources


@compiled
def _list_variants(bounds: Integers, counts: Integers, urns: Column, texts: Column) -> tuple[Integers, Offsets]:
    """Rows of the listed spellings of each class, by frequency, then by text, and the beginning of each list."""
    (urn, urn_offsets), (text, text_offsets) = urns, texts
    classes = len(bounds) - 1
    listed = np.empty(bounds[classes] - bounds[0], np.int64)
    offsets = np.zeros(classes + 1, np.int32)
    used = 0
    for c in range(classes):
        start, end = bounds[c], bounds[c + 1]
        if end - start == 1:
            listed[used] = start
            used += 1
        else:
            rows = np.arange(start, end)
            # Rows are sorted by text, but a spelling equal to the URN is empty and comes first: move it to its place.
            if text_offsets[start] == text_offsets[start + 1]:
                i = start + 1
                while (
                    i < end
                    and compare(
                        text, text_offsets[i], text_offsets[i + 1], urn, urn_offsets[start], urn_offsets[start + 1]
                    )
                    < 0
                ):
                    rows[i - start - 1] = i
                    i += 1
                rows[i - start - 1] = start
            ranked = rows[np.argsort(-counts[rows], kind="mergesort")]  # stable: by text among equals
            for i in range(min(len(ranked), MOST_VARIANTS)):
                listed[used] = ranked[i]
                used += 1
        offsets[c + 1] = used
    return listed[:used].copy(), offsets


def _take(strings: Column, rows: Rows | Integers) -> Column:
    octets, offsets = take(*strings, rows)
    return read_only(octets), read_only(offsets)


def _take_texts(urn: Column, text: Column, rows: Integers) -> pa.StringArray:
    """The spellings in these rows: the text, or the URN if the text is empty."""
    if not len(text[0]):  # then each class has one spelling
        return string_array(*urn)
    lengths = np.diff(text[1])[rows]
    # Both in one column, the texts behind the URNs.
    octets = np.concatenate([urn[0], text[0]])
    behind = np.int32(len(urn[0]))
    starts = np.where(lengths, text[1][rows] + behind, urn[1][rows])
    ends = np.where(lengths, text[1][rows + 1] + behind, urn[1][rows + 1])
    return string_array(*cut(octets, starts, ends))


def _take_some(column: pa.StringArray, rows: Rows) -> pa.StringArray:
    """These rows of a column that may be null throughout."""
    return pa.nulls(len(rows), column.type) if column.null_count == len(column) else column.take(number_array(rows))
