"""Rows of a window -> classes: the same rows as one run over all inputs would have written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import number_array, numbers, octet_strings, string_array, text_array
from urnscan.compiled.octets import Integers
from urnscan.compiled.strings import Column, RowNumbers, argsort_pairs, take, take_numbers
from urnscan.grouping.classes import add_up, classes_of
from urnscan.results.key_windows import one_batch
from urnscan.tables.rows import coded_rows
from urnscan.tables.schemas import CLASSES, PARTIAL
from urnscan.urn.problems import joined

_SCHEME = len("urn:")


class Merged(NamedTuple):
    """Classes, and what is not exact about them."""

    rows: pa.RecordBatch
    """CODED_CLASSES rows, sorted by `urn`."""
    inexact: int = 0
    """Classes of several tables, of which one lists not all spellings: their `spellings` and `spelling_count` are not
    exact.
    """
    shared: int = 0
    """Classes that have the same first source in several tables: it may count several times in `source_count`."""


def merge_rows(batches: Sequence[pa.RecordBatch]) -> Merged:
    """Classes of CLASSES rows, in the order of the tables. The rows of each table are sorted by `urn`, all different.

    The first row of a class in that order has its `first_…`, and what follows from its name.
    """
    rows = one_batch(batches)
    names = octet_strings(rows.column("urn"))
    order = argsort_pairs(_SCHEME, names, _nothing(len(rows)))
    urns = string_array(*take(*names, order))
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = pc.not_equal(urns[1:], urns[:-1]).to_numpy(zero_copy_only=False)
    starts = np.flatnonzero(is_first)
    heads, sizes = order[starts], np.diff(starts, append=len(rows))
    several = np.flatnonzero(sizes > 1)  # classes of more than one row
    if not len(several):
        columns = [_taken(rows.column(field.name).cast(field.type), heads) for field in CLASSES]
        return Merged(coded_rows(pa.RecordBatch.from_arrays(columns, schema=CLASSES)))
    parts = rows.take(number_array(order[np.repeat(sizes > 1, sizes)]))
    ends = np.cumsum(sizes[several])
    return _added(rows, heads, several, parts, ends - sizes[several])


def _added(
    rows: pa.RecordBatch, heads: RowNumbers, several: Integers, parts: pa.RecordBatch, starts: Integers
) -> Merged:
    """Classes whose first rows are `heads`. Those of several rows are sums of `parts`, which begin at `starts`."""
    grouped = _grouped(parts)
    listed, told = numbers(grouped.column("spelling_count")), numbers(parts.column("spelling_count"))
    of_lists = pc.list_value_length(parts.column("spellings")).to_numpy()
    is_cut = np.maximum.reduceat((told > of_lists).astype(np.int64), starts) > 0
    sums = {
        name: number_array(np.add.reduceat(numbers(parts.column(name)), starts))
        for name in ("occurrence_count", "source_count")
    }
    most = np.maximum(listed, np.maximum.reduceat(told, starts))
    sums["spelling_count"] = number_array(np.where(is_cut, most, listed))
    sums["spellings"] = grouped.column("spellings")
    sums["problem"] = _problems(parts.column("problem"), starts)
    whole = heads.copy()
    whole[several] = len(rows) + np.arange(len(several), dtype=np.int32)  # the sums stand behind the rows
    columns = []
    for field in CLASSES:
        column = rows.column(field.name)
        if field.name in sums:
            both = pa.concat_arrays([column.cast(field.type), sums[field.name]])
            columns.append(_taken(both, whole))
        else:
            columns.append(_taken(column, heads).cast(field.type))
    merged = coded_rows(pa.RecordBatch.from_arrays(columns, schema=CLASSES))
    return Merged(merged, int(is_cut.sum()), _shared(parts.column("first_source"), starts))


def _grouped(parts: pa.RecordBatch) -> pa.RecordBatch:
    """GROUPED rows of the listed spellings; only these, and their number, have a meaning."""
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
    return classes_of(add_up([partial], _SCHEME), None)


def _problems(column: pa.Array, starts: Integers) -> pa.StringArray:
    """The problems of each class: those of all its rows."""
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    known = coded.dictionary.to_pylist()
    codes = sorted({code for problems in known if problems for code in problems.split("; ")})
    bits = {code: 1 << number for number, code in enumerate(codes)}
    of_known = [sum(bits[code] for code in problems.split("; ")) if problems else 0 for problems in known]
    indices = pc.fill_null(coded.indices, len(known)).cast(pa.int32())
    masks = np.bitwise_or.reduceat(np.array([*of_known, 0], np.int64)[numbers(indices)], starts)
    different, which = np.unique(masks, return_inverse=True)
    texts = [joined(code for code in codes if bits[code] & mask) for mask in different.tolist()]
    return text_array(texts).take(number_array(which.astype(np.int32)))


def _shared(sources: pa.Array, starts: Integers) -> int:
    """Number of classes in whose rows a first source comes several times."""
    coded = sources if pa.types.is_dictionary(sources.type) else sources.dictionary_encode()
    class_of_row = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(sources)))
    pairs = class_of_row * (len(coded.dictionary) + 1) + np.asarray(coded.indices.to_numpy())
    different, times = np.unique(pairs, return_counts=True)
    return len(np.unique(different[times > 1] // (len(coded.dictionary) + 1)))


def _taken(column: pa.Array, rows: RowNumbers) -> pa.Array:
    """A column of these rows. For spellings, pyarrow takes three times as long."""
    if not pa.types.is_list(column.type):
        return column.take(number_array(rows))
    before = numbers(column.offsets)
    lengths = np.diff(before)[rows]
    offsets = np.zeros(len(rows) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    places = np.repeat(before[:-1][rows] - offsets[:-1], lengths) + np.arange(offsets[-1], dtype=np.int32)
    text, count = column.values.field("text"), column.values.field("count")
    taken = [string_array(*take(*octet_strings(text), places)), number_array(take_numbers(numbers(count), places))]
    values = pa.StructArray.from_arrays(taken, fields=list(column.type.value_type))
    return pa.ListArray.from_arrays(number_array(offsets), values, type=column.type)


def _nothing(rows: int) -> Column:
    """A column of empty strings."""
    return np.zeros(0, np.uint8), np.zeros(rows + 1, np.int32)
