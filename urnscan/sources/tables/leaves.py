"""From Arrow columns to the values of text in them, however deep they are nested, and where each one stands.

Arrays may come from hostile files: what is followed as an offset or an index is checked first.
"""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.errors import SourceError
from urnscan.sources.documents import Values
from urnscan.sources.layers import Layer
from urnscan.sources.tables.values import MOST_OCTETS, Failures, below, in_place, in_words, no_column

__all__ = ["FAILED", "Tails", "choose", "read_column", "tails_of"]

FAILED = (pa.ArrowException, ValueError, OSError, MemoryError, OverflowError, RecursionError)
"""Errors that pyarrow raises where a file is not what it should be."""

Tails = tuple[str, ...]
"""Dotted ways into a nested column, of which what is there is read; "" is all of it."""
Place = Callable[[int], str]

_TEXT = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view())
_VIEWS = (pa.string_view(), pa.binary_view())
_AS_OCTETS = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
_UNREAD = (pa.types.is_union, pa.types.is_list_view, pa.types.is_large_list_view, pa.types.is_run_end_encoded)
_DEEPEST = 100
_LONGEST = (1 << 31) - 1  # octets of a value that 32-bit offsets can count
_MOST_ROWS = 1 << 20  # that are looked at at a time: some types take no room for theirs, however many they are
_LARGEST_DICTIONARY = 1 << 30  # octets, where its values may share them


def tails_of(name: str, columns: tuple[str, ...]) -> Tails:
    """What of a column or field is named: nothing where the tuple is empty.

    >>> tails_of("a", ("a.b", "ab", "c")), tails_of("a", ("a", "a.b"))
    (('b',), ('', 'b'))
    """
    return tuple(
        column[len(name) + 1 :]
        for column in columns
        if column == name or (column.startswith(name) and column[len(name)] == ".")
    )


def _find(kind: pa.DataType, tail: str) -> pa.DataType | None:
    """The type of what a dotted way leads to; None where it leads nowhere. Lists are descended into."""
    if not tail:
        return kind
    kind = _storage(kind)
    if _is_list(kind):
        return _find(kind.value_type, tail)
    if pa.types.is_map(kind):
        kind = pa.struct([("key", kind.key_type), ("value", kind.item_type)])
    if pa.types.is_struct(kind):
        for field in kind:
            for rest in tails_of(field.name, (tail,)):
                found = _find(field.type, rest)
                if found is not None:
                    return found
    return None


def _has_text(kind: pa.DataType, depth: int = 0) -> bool:
    """Whether there is text or octets in a type, at any depth that is read."""
    kind = _storage(kind)
    return _is_read(kind, depth) and (_is_text(kind) or any(_has_text(part, depth + 1) for part in _parts(kind)))


def _loses_text(kind: pa.DataType, depth: int = 0) -> bool:
    """Whether there is text or octets in a type where it is not read."""
    kind = _storage(kind)
    if _is_read(kind, depth):
        return any(_loses_text(part, depth + 1) for part in _parts(kind))
    return _is_text(kind) or any(_has_text(part) or _loses_text(part) for part in _parts(kind))


def choose(schema: pa.Schema, layer: Layer) -> tuple[dict[int, Tails], list[SourceError]]:
    """Choose the columns to be read, by index, with the ways into each; the errors say what is wrong with named ones."""
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
        elif columns:  # its error is there already
            continue
        if any(map(_loses_text, there)):
            kind = in_words(TypeError(field.type))
            errors += failures.one(f"column {in_place(field.name)!r} has text in a type that is not read: {kind}")
    return chosen, [*errors, *failures.rest()]


def read_column(array: pa.Array, name: str, tails: Tails, first_row: int, layer: Layer) -> Iterator[Values]:
    """Values of text in a column, whose first element is that of the row `first_row`.

    Raises pyarrow's own errors where the array is damaged, OverflowError for a value that is too long, LimitError.
    """
    array.validate()
    shown = in_place(name)
    yield from _leaves(array, tails, lambda row: f"{first_row + row}/{shown}", layer, 0)


def _storage(kind: pa.DataType) -> pa.DataType:
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def _is_text(kind: pa.DataType) -> bool:
    return kind in _TEXT or pa.types.is_fixed_size_binary(kind)


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _parts(kind: pa.DataType) -> list[pa.DataType]:
    """Types inside a type."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return [kind.value_type]
    return [kind.field(index).type for index in range(kind.num_fields)]


def _is_read(kind: pa.DataType, depth: int) -> bool:
    """Whether values of a type are looked into, `depth` deep in their column.

    Unions, list views and run-end encoded columns are not: hardly any file has them, and their text is told to be unread.
    """
    if depth > _DEEPEST or any(is_unread(kind) for is_unread in _UNREAD):
        return False
    return not pa.types.is_dictionary(kind) or _is_text(kind.value_type)


def _leaves(array: pa.Array, tails: Tails, place: Place, layer: Layer, depth: int) -> Iterator[Values]:
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        array, kind = array.storage, kind.storage_type
    if not _has_text(kind, depth):
        return
    if len(array) > _MOST_ROWS and not pa.types.is_dictionary(kind):
        for start in range(0, len(array), _MOST_ROWS):
            yield from _leaves(array.slice(start, _MOST_ROWS), tails, _later_place(place, start), layer, depth)
        return
    layer.budget.gave(len(array) // 8)  # rows take time even where there is nothing in them
    if array.null_count == len(array):
        return
    if pa.types.is_struct(kind):
        for field, child in zip(kind, array.flatten(), strict=True):
            below = ("",) if "" in tails else tuple(t for tail in tails for t in tails_of(field.name, (tail,)))
            if below:
                yield from _leaves(child, below, _field_place(place, field.name), layer, depth + 1)
    elif pa.types.is_map(kind) or _is_list(kind):
        array = _as_list(array)
        ends = np.cumsum(_integers(pc.list_value_length(array)))
        yield from _leaves(array.flatten(), tails, _element_place(place, ends), layer, depth + 1)
    elif "" in tails:
        for start, values in _pieces(array):
            layer.budget.gave(values.nbytes)
            yield Values(values, _value_place(_later_place(place, start), layer))


def _value_place(place: Place, layer: Layer) -> Place:
    return lambda index: layer.of_value(place(index))


def _later_place(place: Place, start: int) -> Place:
    return lambda index: place(start + index)


def _field_place(place: Place, name: str) -> Place:
    part = f".{in_place(name)}"
    return lambda index: below(place(index), part)


def _element_place(place: Place, ends: npt.NDArray[np.int64]) -> Place:
    """The places of the elements of lists, whose elements end at `ends`, counted through all lists."""

    def of_element(index: int) -> str:
        which = int(np.searchsorted(ends, index, "right"))
        start = int(ends[which - 1]) if which else 0
        return below(place(which), f"[{index - start}]")

    return of_element


def _as_list(array: pa.Array) -> pa.Array:
    """An array of lists or maps as one of lists, its offsets checked."""
    kind = array.type
    if pa.types.is_map(kind):
        values = pa.StructArray.from_arrays([array.keys, array.items], ["key", "value"])
        kind = pa.list_(values.type)
    else:
        values = array.values
    if pa.types.is_fixed_size_list(kind):
        return array
    buffers = array.buffers()[:2]
    # Without its values, or they would be looked into, and text that is not UTF-8 is none to pyarrow.
    hollow = pa.large_list(pa.null()) if pa.types.is_large_list(kind) else pa.list_(pa.null())
    nothing = pa.nulls(len(values))
    pa.Array.from_buffers(hollow, len(array), buffers, offset=array.offset, children=[nothing]).validate(full=True)
    return pa.Array.from_buffers(kind, len(array), buffers, offset=array.offset, children=[values])


def _pieces(array: pa.Array) -> Iterator[tuple[int, pa.BinaryArray]]:
    """Values of text as octets, some at a time, each part with the index of its first one."""
    dictionary = None
    if pa.types.is_dictionary(array.type):
        dictionary, array = _as_octets(array.dictionary), array.indices
        sizes = _sizes(dictionary)
        if dictionary.type not in (pa.binary(), pa.large_binary()):
            if int(sizes.sum()) > _LARGEST_DICTIONARY:
                raise OverflowError(f"a dictionary has more than {_LARGEST_DICTIONARY:,} octets")
            dictionary = dictionary.cast(pa.binary())
        present = _present(array)
        indices = _integers(array)
        if int(indices.min()) < 0 or int((indices * present).max()) >= len(dictionary):
            raise pa.ArrowInvalid("an index leads out of its dictionary")
        lengths = np.append(sizes, 0)[np.where(present, indices, len(dictionary))]
    else:
        array = _as_octets(array)
        lengths = _sizes(array)
    ends = np.cumsum(lengths)
    start = 0
    while start < len(array):
        before = int(ends[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + MOST_OCTETS, "right")))
        octets = int(ends[end - 1]) - before
        if octets > _LONGEST:
            raise OverflowError(f"a value has {octets:,} octets, more than {_LONGEST:,}")
        piece = array.slice(start, end - start)
        if octets:
            yield start, _piece(piece if dictionary is None else dictionary.take(piece))
        start = end


def _piece(values: pa.Array) -> pa.BinaryArray:
    """The octets of few values, with 32-bit offsets."""
    try:
        return values.cast(pa.binary())
    except pa.ArrowInvalid:  # far behind in a large array: its offsets are too large even if its values are not
        every = pa.py_buffer(np.arange(len(values), dtype=np.int64))
        return values.take(pa.Array.from_buffers(pa.int64(), len(values), [None, every])).cast(pa.binary())


def _as_octets(array: pa.Array) -> pa.Array:
    """Text as octets, valid or not, its offsets checked."""
    kind = _AS_OCTETS.get(array.type)
    if kind is not None:
        array = pa.Array.from_buffers(kind, len(array), array.buffers(), offset=array.offset)
    array.validate(full=True)
    return array


def _sizes(array: pa.Array) -> npt.NDArray[np.int64]:
    """The octets of each value, 0 for null."""
    if array.type not in _VIEWS:
        return _integers(pc.binary_length(array))
    views = np.frombuffer(array.buffers()[1] or b"", np.int32)[::4][array.offset : array.offset + len(array)]
    return views * _present(array)


def _integers(array: pa.Array) -> npt.NDArray[np.int64]:
    """Numbers, 0 for null."""
    whole = pc.cast(array, pa.int64())
    numbers = np.frombuffer(whole.buffers()[1] or b"", np.int64)[whole.offset : whole.offset + len(whole)]
    return numbers if whole.null_count == 0 else numbers * _present(whole)


def _present(array: pa.Array) -> npt.NDArray[np.int64]:
    """1 for each value, 0 for null."""
    bitmap = array.buffers()[0]
    if bitmap is None:
        return np.ones(len(array), np.int64)
    bits = np.unpackbits(np.frombuffer(bitmap, np.uint8), bitorder="little")
    return bits[array.offset : array.offset + len(array)].astype(np.int64)
