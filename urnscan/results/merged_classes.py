"""Merge of the rows of a class from several tables to a single row, the same as in a run over all inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import byte_strings, number_array, numbers, string_array, text_array
from urnscan.compiled.bytes import Integers
from urnscan.compiled.strings import RowNumbers, take, take_numbers
from urnscan.grouping.classes import add_up, classes_of
from urnscan.results.key_windows import SCHEME, by_name
from urnscan.tables.rows import coded_rows
from urnscan.tables.schemas import CLASSES, PARTIAL
from urnscan.urn.problems import joined


class Merged(NamedTuple):
    """Classes (a row for all URNs with the same canonical form) that were merged from several tables, and how many of
    them may not be exact.
    """

    rows: pa.RecordBatch
    """Rows of classes, sorted by `urn`, in the schema CODED_CLASSES (some columns are dictionary-encoded)."""
    read_rows: int
    """Number of rows of the tables from which these were merged."""
    inexact: int = 0
    """Number of classes in several tables whose `spellings` and `spelling_count` are not exact, because a table does
    not list all spellings.
    """
    shared: int = 0
    """Number of classes with the same first source in several tables: an input may count several times in
    `source_count`.
    """


def merge_rows(batches: Sequence[pa.RecordBatch]) -> Merged:
    """Merge the rows of tables of classes (CLASSES rows, all of the first table first) to one row for each `urn`,
    sorted. In each table a `urn` has one row. `batches` must not be empty.

    Numbers of occurrences and sources are added; spellings (with their counts) and problems are combined, and
    `spelling_count` is the number of the combined ones (or the greatest one in a table, if a table does not list all).
    If several tables have a class, the `first_…` columns, and the columns that follow from the name (such as `nid`),
    are those of the first of these tables.
    """
    rows = pa.concat_batches(batches)
    order, _, is_first = by_name(rows.column("urn"))
    starts = np.flatnonzero(is_first)
    heads, sizes = order[starts], np.diff(starts, append=len(rows))
    several = np.flatnonzero(sizes > 1)
    if not len(several):
        columns = [_take(rows.column(field.name).cast(field.type), heads) for field in CLASSES]
        return Merged(coded_rows(pa.RecordBatch.from_arrays(columns, schema=CLASSES)), len(rows))
    parts = rows.take(number_array(order[np.repeat(sizes > 1, sizes)]))
    ends = np.cumsum(sizes[several])
    return _merge_several(rows, heads, several, parts, ends - sizes[several])


def _merge_several(
    rows: pa.RecordBatch, heads: RowNumbers, several: Integers, parts: pa.RecordBatch, starts: Integers
) -> Merged:
    """Merge the rows of each class to one: numbers of occurrences and sources are added, spellings and problems
    combined, other columns are those of the first row. `heads`: first row of each class; `several`: indices in `heads`
    of the classes with several rows; `parts`: these rows; `starts`: the index in `parts` of the first row of each.
    """
    spellings = _group_spellings(parts)
    listed, counted = numbers(spellings.column("spelling_count")), numbers(parts.column("spelling_count"))
    of_lists = pc.list_value_length(parts.column("spellings")).to_numpy()
    # Whether a table lists fewer spellings of a class than it counted.
    is_cut = np.maximum.reduceat((counted > of_lists).astype(np.int64), starts) > 0
    sums = {
        name: number_array(np.add.reduceat(numbers(parts.column(name)), starts))
        for name in ("occurrence_count", "source_count")
    }
    most = np.maximum(listed, np.maximum.reduceat(counted, starts))
    sums["spelling_count"] = number_array(np.where(is_cut, most, listed))
    sums["spellings"] = spellings.column("spellings")
    sums["problem"] = _problems(parts.column("problem"), starts)
    # The sums are appended to the rows below, so a class of several rows has its sum at a place after all rows.
    places = heads.copy()
    places[several] = len(rows) + np.arange(len(several), dtype=np.int32)
    columns = []
    for field in CLASSES:
        column = rows.column(field.name)
        if field.name in sums:
            both = pa.concat_arrays([column.cast(field.type), sums[field.name]])
            columns.append(_take(both, places))
        else:
            columns.append(_take(column, heads).cast(field.type))
    merged = coded_rows(pa.RecordBatch.from_arrays(columns, schema=CLASSES))
    return Merged(merged, len(rows), int(is_cut.sum()), _count_shared(parts.column("first_source"), starts))


def _group_spellings(parts: pa.RecordBatch) -> pa.RecordBatch:
    """Group the listed spellings of the rows `parts`, sorted by `urn`, into a GROUPED row for each `urn`; only
    `spellings` and `spelling_count` are meaningful.
    """
    lists = parts.column("spellings")
    listed = lists.flatten()
    urns = parts.column("urn").take(pc.list_parent_indices(lists))
    text = listed.field("text").cast(pa.string())
    no_text = text_array([""])[0]
    rows = len(listed)
    ones, sources = number_array(np.ones(rows, np.int64)), number_array(np.arange(rows, dtype=np.int32))
    columns = {
        "urn": urns,
        "text": pc.if_else(pc.equal(text, urns), no_text, text),
        "occurrence_count": listed.field("count"),
        "sources": ones,
        "first_source": sources,
        "last_source": sources,
        "first_member": pa.nulls(rows, pa.string()),
        "first_start": ones,
    }
    partial = pa.RecordBatch.from_arrays([columns[name] for name in PARTIAL.names], schema=PARTIAL)
    return classes_of(add_up([partial], SCHEME), None)


def _problems(column: pa.Array, starts: Integers) -> pa.StringArray:
    """The codes of problems in any row of each class, as in `nss-grammar; nul-octet`; null if there are none. `starts`:
    index of the first row of each class.
    """
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    known = coded.dictionary.to_pylist()
    codes = sorted({code for problems in known if problems for code in problems.split("; ")})
    bits = {code: 1 << number for number, code in enumerate(codes)}
    of_known = [sum(bits[code] for code in problems.split("; ")) if problems else 0 for problems in known]
    indices = pc.fill_null(coded.indices, len(known)).cast(pa.int32())
    masks = np.bitwise_or.reduceat(np.array([*of_known, 0], np.int64)[numbers(indices)], starts)
    distinct, index = np.unique(masks, return_inverse=True)
    texts = [joined(code for code in codes if bits[code] & mask) for mask in distinct.tolist()]
    return text_array(texts).take(number_array(index.astype(np.int32)))


def _count_shared(sources: pa.Array, starts: Integers) -> int:
    """Number of classes in which several rows have the same first source. `starts`: index of the first row of each
    class.
    """
    coded = sources if pa.types.is_dictionary(sources.type) else sources.dictionary_encode()
    class_of_row = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(sources)))
    pairs = class_of_row * (len(coded.dictionary) + 1) + np.asarray(coded.indices.to_numpy())
    distinct, counts = np.unique(pairs, return_counts=True)
    return len(np.unique(distinct[counts > 1] // (len(coded.dictionary) + 1)))


def _take(column: pa.Array, rows: RowNumbers) -> pa.Array:
    if not pa.types.is_list(column.type):
        return column.take(number_array(rows))
    # The column of spellings: `take` of pyarrow needs three times as long.
    column_offsets = numbers(column.offsets)
    lengths = np.diff(column_offsets)[rows]
    offsets = np.zeros(len(rows) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    places = np.repeat(column_offsets[:-1][rows] - offsets[:-1], lengths) + np.arange(offsets[-1], dtype=np.int32)
    text, count = column.values.field("text"), column.values.field("count")
    fields = [string_array(*take(*byte_strings(text), places)), number_array(take_numbers(numbers(count), places))]
    values = pa.StructArray.from_arrays(fields, fields=list(column.type.value_type))
    return pa.ListArray.from_arrays(number_array(offsets), values, type=column.type)
