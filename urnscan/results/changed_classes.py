"""Two tables of classes -> the classes that came, went or changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import byte_strings, decoded, flag_array, flags_of, number_array, numbers
from urnscan.results.key_windows import by_name, sorted_windows
from urnscan.run.options import Options
from urnscan.tables.readers import TableFile
from urnscan.tables.schemas import CLASSES
from urnscan.urn.prefix_filter import with_beginnings

CAME, WENT, CHANGED = "came", "went", "changed"
"""Values of the column `change`: only the new table, only the old table, or both tables have the class."""

_VALUES = ("occurrence_count", "source_count", "spelling_count", "valid", "problem", "first_source")
_COLUMNS = ("urn", "spellings", *_VALUES)


def changed_classes(tables: Sequence[TableFile], options: Options) -> Iterator[list[dict[str, Any]]]:
    """Compare two tables of classes, the old one first, and yield lists of CHANGES rows, as dicts, sorted by `urn`: a
    row for each class that only one table has, or whose counts, spellings, validity, problems or first source differ.

    Lists may be empty. Only classes that the options `nid` and `not_nid` select are compared; `memory` limits the bytes
    in memory. Raises FatalError for a table that is damaged or not sorted.
    """
    for window in sorted_windows(tables, _COLUMNS, options.memory):
        old, new = (_filter(pa.concat_batches(batches), options) if batches else _NO_ROWS for batches in window)
        yield _changes(old, new)


def _changes(old: pa.RecordBatch, new: pa.RecordBatch) -> list[dict[str, Any]]:
    """CHANGES rows, sorted by `urn`, for the classes that differ in a window (rows of the two tables with URNs in the
    same range).
    """
    order, names, is_first = by_name(pa.concat_arrays([old.column("urn"), new.column("urn")]))
    # The name of the last row differs from that of the first row, as that of each last row from that of the next row.
    is_last = np.roll(is_first, -1)
    # Rows of equal names keep their order, so the first of a pair is the old row.
    pairs = np.flatnonzero(~is_last)
    rows = order[pairs], order[pairs + 1] - len(old)
    olds, news = old.take(number_array(rows[0])), new.take(number_array(rows[1]))
    changes = {
        int(place): {"change": CHANGED, "changes": values} for place, values in _changes_of_pairs(pairs, olds, news)
    }
    for place in np.flatnonzero(is_first & is_last).tolist():
        changes[place] = {"change": WENT if order[place] < len(old) else CAME, "changes": []}
    return [{"urn": names[place].as_py(), **changes[place]} for place in sorted(changes)]


def _changes_of_pairs(
    places: npt.NDArray[np.int64], old: pa.RecordBatch, new: pa.RecordBatch
) -> Iterator[tuple[int, list[dict[str, str]]]]:
    """For each pair of rows (row i of `old`, row i of `new`) that differs: `places[i]`, and the values that differ."""
    differ = _lists_differ(old.column("spellings"), new.column("spellings"))
    for name in _VALUES:
        differ |= _are_unequal(*(decoded(rows.column(name)) for rows in (old, new)))
    numbers_of_pairs = number_array(np.flatnonzero(differ))
    pairs = zip(old.take(numbers_of_pairs).to_pylist(), new.take(numbers_of_pairs).to_pylist(), strict=True)
    for place, (old_row, new_row) in zip(places[differ].tolist(), pairs, strict=True):
        yield place, list(_changed_values(old_row, new_row))


def _changed_values(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """The values that differ in two rows of a class, as text. A spelling is listed if only one row has it, or if its
    counts differ and those of the class are equal.
    """
    for name in _VALUES:
        if old[name] != new[name]:
            yield {"what": name, "old": _text(old[name]), "new": _text(new[name])}
    old_counts, new_counts = (
        {spelling["text"]: spelling["count"] for spelling in row["spellings"]} for row in (old, new)
    )
    is_same_sum = old["occurrence_count"] == new["occurrence_count"]
    for text in sorted(old_counts.keys() | new_counts.keys()):
        old_count, new_count = old_counts.get(text, 0), new_counts.get(text, 0)
        if old_count != new_count and (is_same_sum or not old_count or not new_count):
            yield {"what": f"spelling {text}", "old": str(old_count), "new": str(new_count)}


def _are_unequal(old: pa.Array, new: pa.Array) -> npt.NDArray[np.bool_]:
    """Whether the values differ, for each row; null is equal only to null."""
    unequal = pc.fill_null(pc.not_equal(old, new), False)
    return flags_of(pc.or_(unequal, pc.xor(old.is_null(), new.is_null())))


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else str(value)


def _lists_differ(old: pa.ListArray, new: pa.ListArray) -> npt.NDArray[np.bool_]:
    """Whether the spellings of each pair of rows differ, in text, count or order. No list may be empty."""
    lengths = [np.diff(numbers(lists.offsets)) for lists in (old, new)]
    differ: npt.NDArray[np.bool_] = lengths[0] != lengths[1]
    same = number_array(np.flatnonzero(~differ))
    if not len(same):
        return differ
    old_spellings, new_spellings = (lists.take(same).flatten() for lists in (old, new))
    unequal = [pc.not_equal(old_spellings.field(name), new_spellings.field(name)) for name in ("text", "count")]
    of_spelling = pc.or_(*unequal).to_numpy(zero_copy_only=False)
    ends = np.cumsum(lengths[0][~differ])
    differ[~differ] = np.logical_or.reduceat(of_spelling, ends - lengths[0][~differ])
    return differ


def _filter(rows: pa.RecordBatch, options: Options) -> pa.RecordBatch:
    if not options.leaves_out:
        return rows
    names = byte_strings(rows.column("urn"))
    left_out = with_beginnings(*names, options.not_nid)
    if options.nid:
        left_out |= ~with_beginnings(*names, options.nid)
    return rows.filter(flag_array(~left_out))


_NO_ROWS = pa.RecordBatch.from_arrays(
    [pa.array([], CLASSES.field(name).type) for name in _COLUMNS], names=list(_COLUMNS)
)
