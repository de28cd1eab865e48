"""Columns of Arrow -> the values of text in them, at any depth, and the place of each value.

Arrays may come from hostile files: offsets and indices are checked before use.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import number_array, number_scalar
from urnscan.errors import SourceError
from urnscan.formats.contents import Values
from urnscan.formats.context import Layer
from urnscan.formats.tables.values import MAX_BYTES, Failures, Place, below, in_lists, in_place, in_words, no_column

FAILED = (pa.ArrowException, ValueError, OSError, MemoryError, OverflowError, RecursionError)
"""Exceptions that pyarrow, or this module, raises for a damaged file."""

Tails = tuple[str, ...]
"""Dotted paths inside a nested column to the parts that are read, such as `b.c`; "" is the whole column."""

_TEXT = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view())
_VIEWS = (pa.string_view(), pa.binary_view())
_AS_BYTES = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
# Rare types. Text in them is not read, which is reported.
_UNREAD = (pa.types.is_union, pa.types.is_list_view, pa.types.is_large_list_view, pa.types.is_run_end_encoded)
_DEEPEST = 100
_LONGEST = (1 << 31) - 1  # maximum bytes of a value, by 32-bit offsets
# Rows per step: types without data, such as null, can have any number of rows without memory.
_MAX_ROWS = 1 << 20
_LARGEST_DICTIONARY = 1 << 30  # maximum bytes of a dictionary whose values may share bytes


def tails_of(name: str, columns: tuple[str, ...]) -> Tails:
    """Return the rest of each dotted path in `columns` that leads to the column `name` or into it; empty if there is
    none.

    The rest of a path that is the name itself is "": the whole column.

    >>> tails_of("a", ("a.b", "ab", "c")), tails_of("a", ("a", "a.b"))
    (('b',), ('', 'b'))
    """
    dotted = name + "."
    return tuple(column[len(dotted) :] for column in columns if column == name or column.startswith(dotted))


def choose(schema: pa.Schema, layer: Layer) -> tuple[dict[int, Tails], list[SourceError]]:
    """Choose the columns with strings or bytes, at any depth: all, or with `--column` only those that it names.

    Returns (chosen, errors). `chosen` maps the index of a column in `schema` to the dotted paths inside it that are
    read ("": all of it). There is an error if no named column exists, and one for each named column without text and
    for each column with text in a type that is not read (the first ten; one more error has the number of the others).
    """
    columns = layer.reading.columns
    errors, missing = [], []
    for column in columns:
        named = (_find(field.type, tail) for field in schema for tail in tails_of(field.name, (column,)))
        there = [kind for kind in named if kind is not None]
        if not there:
            missing.append(column)
        elif not any(map(_has_text, there)):
            errors.append(SourceError(layer.name, f"column {column!r} is {in_words(TypeError(there[0]))}, not text"))
    if columns and len(missing) == len(columns):
        errors.append(no_column(layer, missing, schema.names))
    chosen = {}
    failures = Failures(layer.name, "columns")
    for index, field in enumerate(schema):
        tails = tails_of(field.name, columns) if columns else ("",)
        there = [kind for kind in (_find(field.type, tail) for tail in tails) if kind is not None]
        if any(map(_has_text, there)):
            chosen[index] = tails
        elif columns:
            # The error about this column was already added.
            continue
        if any(False in _texts(kind) for kind in there):
            kind = in_words(TypeError(field.type))
            errors += failures.one(f"column {in_place(field.name)!r} has text in a type that is not read: {kind}")
    return chosen, [*errors, *failures.rest()]


def read_column(array: pa.Array, name: str, tails: Tails, row: int, layer: Layer) -> Iterator[Values]:
    """Yield the strings and bytes in a column, at any depth, as `Values` (values with their places) of at most about 8
    MiB (a longer value alone).

    `array`: a part of the column `name`, whose first row has the number `row` in the table; `tails`: dotted paths
    inside the column that are read ("": all of it). Counts the bytes in the budget of `layer`. Raises an exception in
    `FAILED` for a damaged array or a value of 2 GiB or more, and LimitError.
    """
    array.validate()
    shown = in_place(name)
    yield from _leaves(array, tails, lambda index: f"{row + index}/{shown}", layer, 0)


def _find(kind: pa.DataType, tail: str) -> pa.DataType | None:
    """The type at the dotted path `tail` in a column of the type `kind`, through lists; None if there is none. A map
    has the parts `key` and `value`.
    """
    if not tail:
        return kind
    kind = _storage(kind)
    if _is_list(kind):
        return _find(kind.value_type, tail)
    if pa.types.is_map(kind):
        kind = pa.struct([("key", kind.key_type), ("value", kind.item_type)])
    fields = kind if pa.types.is_struct(kind) else ()
    inner_fields = (_find(field.type, rest) for field in fields for rest in tails_of(field.name, (tail,)))
    return next((inner for inner in inner_fields if inner is not None), None)


def _texts(kind: pa.DataType, depth: int = 0, *, is_read: bool = True) -> Iterator[bool]:
    """Yield, for each type of text or bytes in `kind`, whether its values are read: not in unions and other rare types,
    and not more than 100 levels deep. `depth`, `is_read`: of the levels around `kind`.
    """
    kind = _storage(kind)
    is_dictionary = pa.types.is_dictionary(kind)
    is_read = is_read and depth <= _DEEPEST and not any(is_unread(kind) for is_unread in _UNREAD)
    if _is_text(kind):
        yield is_read
    elif is_dictionary or pa.types.is_run_end_encoded(kind):
        is_read = is_read and (not is_dictionary or _is_text(kind.value_type))
        yield from _texts(kind.value_type, depth + 1, is_read=is_read)
    else:
        for index in range(kind.num_fields):
            yield from _texts(kind.field(index).type, depth + 1, is_read=is_read)


def _has_text(kind: pa.DataType, depth: int = 0) -> bool:
    return True in _texts(kind, depth)


def _storage(kind: pa.DataType) -> pa.DataType:
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def _is_text(kind: pa.DataType) -> bool:
    # Values of 0 bytes are excluded: any number takes no space in a file, and much memory in a list.
    return kind in _TEXT or (pa.types.is_fixed_size_binary(kind) and kind.byte_width > 0)


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _leaves(array: pa.Array, tails: Tails, place: Place, layer: Layer, depth: int) -> Iterator[Values]:
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        array, kind = array.storage, kind.storage_type
    if not _has_text(kind, depth):
        return
    if len(array) > _MAX_ROWS and not pa.types.is_dictionary(kind):
        for start in range(0, len(array), _MAX_ROWS):
            yield from _leaves(array.slice(start, _MAX_ROWS), tails, _later(place, start), layer, depth)
        return
    # Empty rows take time, too, so they count.
    layer.budget.count_unfolded(len(array) // 8)
    if array.null_count == len(array):
        return
    if pa.types.is_struct(kind):
        for field, child in zip(kind, array.flatten(), strict=True):
            inner = ("",) if "" in tails else tails_of(field.name, tails)
            if inner:
                yield from _leaves(child, inner, _in_field(place, field.name), layer, depth + 1)
    elif pa.types.is_map(kind) or _is_list(kind):
        array = _as_list(array)
        offsets = np.cumsum(np.append(0, _integers(pc.list_value_length(array))))
        yield from _leaves(array.flatten(), tails, in_lists(place, offsets), layer, depth + 1)
    elif "" in tails:
        for start, values in _pieces(array):
            layer.budget.count_unfolded(values.nbytes)
            yield Values(values, _later(lambda row: layer.of_value(place(row)), start))


def _later(place: Place, start: int) -> Place:
    return lambda index: place(start + index)


def _in_field(place: Place, name: str) -> Place:
    part = f".{in_place(name)}"
    return lambda index: below(place(index), part)


def _as_list(array: pa.Array) -> pa.Array:
    """Convert an array of maps to lists of structs (`key`, `value`); lists stay lists. Raises an error of pyarrow for
    invalid offsets.
    """
    kind = array.type
    if pa.types.is_fixed_size_list(kind):
        return array
    if pa.types.is_map(kind):
        values = pa.StructArray.from_arrays([array.keys, array.items], ["key", "value"])
        kind = pa.list_(values.type)
    else:
        values = array.values
    buffers = array.buffers()[:2]
    # The offsets are checked with null values: pyarrow would also check the values, and refuse text that is not UTF-8.
    hollow = pa.large_list(pa.null()) if pa.types.is_large_list(kind) else pa.list_(pa.null())
    nothing = pa.nulls(len(values))
    pa.Array.from_buffers(hollow, len(array), buffers, offset=array.offset, children=[nothing]).validate(full=True)
    return pa.Array.from_buffers(kind, len(array), buffers, offset=array.offset, children=[values])


def _pieces(array: pa.Array) -> Iterator[tuple[int, pa.BinaryArray]]:
    """Split an array of texts, or of a dictionary of texts, into binary arrays of at most 8 MiB, or of a single longer
    value, each with the index of its first value. Those without bytes are left out.
    """
    dictionary, sizes = None, np.empty(0, np.int64)
    if pa.types.is_dictionary(array.type):
        dictionary, array = as_bytes(array.dictionary), array.indices
        sizes = _sizes(dictionary)
        if dictionary.type not in (pa.binary(), pa.large_binary()):
            if int(sizes.sum()) > _LARGEST_DICTIONARY:
                raise OverflowError(f"a dictionary has more than {_LARGEST_DICTIONARY:,} bytes")
            dictionary = dictionary.cast(pa.binary())
    else:
        array = as_bytes(array)
    for first in range(0, len(array), _MAX_ROWS):
        for start, values in _pieces_of_rows(array.slice(first, _MAX_ROWS), dictionary, sizes):
            yield first + start, values


def _pieces_of_rows(
    array: pa.Array, dictionary: pa.Array | None, sizes: npt.NDArray[np.int64]
) -> Iterator[tuple[int, pa.BinaryArray]]:
    """As `_pieces`, for 1 to 2**20 values as bytes (below 2 GiB each) or, with a `dictionary`, indices in it. `sizes`:
    bytes of each value of the dictionary.
    """
    if dictionary is None:
        lengths = _sizes(array)
    else:
        indices = _integers(array)
        if int(indices.min()) < 0 or int(indices.max()) >= len(dictionary):
            raise pa.ArrowInvalid("an index leads out of its dictionary")
        lengths = sizes[indices] * _present(array)
    ends = np.cumsum(lengths)
    start = 0
    while start < len(array):
        before = int(ends[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + MAX_BYTES, "right")))
        byte_count = int(ends[end - 1]) - before
        if byte_count > _LONGEST:
            raise OverflowError(f"a value has {byte_count:,} bytes, more than {_LONGEST:,}")
        piece = array.slice(start, end - start)
        if byte_count:
            yield start, _piece(piece if dictionary is None else dictionary.take(piece))
        start = end


def _piece(values: pa.Array) -> pa.BinaryArray:
    try:
        return values.cast(pa.binary())
    except pa.ArrowInvalid:
        # A slice far from the start of a large array: its offsets are too large, although its values are few.
        return values.take(number_array(np.arange(len(values)))).cast(pa.binary())


def as_bytes(array: pa.Array) -> pa.Array:
    """Return an array of strings as an array of bytes, without a copy or a check for UTF-8; an array of bytes is
    returned unchanged. Offsets are checked: raises an error of pyarrow for a damaged array.
    """
    kind = _AS_BYTES.get(array.type)
    if kind is not None:
        array = pa.Array.from_buffers(kind, len(array), array.buffers(), offset=array.offset)
    array.validate(full=True)
    return array


def _sizes(array: pa.Array) -> npt.NDArray[np.int64]:
    if array.type not in _VIEWS:
        return _integers(pc.binary_length(array))
    views = np.frombuffer(array.buffers()[1] or b"", np.int32)[::4][array.offset : array.offset + len(array)]
    return views * _present(array)


def _present(array: pa.Array) -> npt.NDArray[np.int64]:
    return _integers(array.is_valid())


def _integers(array: pa.Array) -> npt.NDArray[np.int64]:
    whole = pc.cast(array, pa.int64())
    if whole.null_count:
        whole = pc.fill_null(whole, number_scalar(0))
    return np.frombuffer(whole.buffers()[1] or b"", np.int64)[whole.offset : whole.offset + len(whole)]
