"""Values gathered to columns, errors and names in one line, limits of memory: shared by the readers of tables."""

import bisect
import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from urnscan.compiled.arrow import bytes_array
from urnscan.errors import SourceError
from urnscan.formats.contents import Values
from urnscan.formats.context import Layer
from urnscan.stores.reader import Reader

Place = Callable[[int], str]
"""From the index of a value to its place: `row/column`."""
PlacedValues = tuple[list[bytes], Place]
"""Values, none of them empty, and their places."""
MOST_BYTES = 1 << 23
"""Bytes of the values in one column; a longer value has a column of its own."""
_MOST_VALUES = 1 << 14
_IN_MEMORY = 1 << 28  # bytes of a table that is read back and forth, from a stream
_FAILURES = 10  # that are reported one by one
_NAMES = 20  # columns that an error lists
_WORDS = 200  # characters of a library's message
_LONGEST_NAME = 200  # characters of a name in a place
_LONGEST_PLACE = 2000  # characters of the way into a value
_SURROGATES = re.compile("[\ud800-\udfff]")


def gather(parts: Iterable[PlacedValues | SourceError], layer: Layer) -> Iterator[Values | SourceError]:
    """Gather values to columns; errors pass through. Raises LimitError."""
    values: list[bytes] = []
    starts: list[int] = []
    places: list[Place] = []
    byte_count = 0
    for part in parts:
        if isinstance(part, SourceError):
            yield part
            continue
        if part[0]:
            starts.append(len(values))
            places.append(part[1])
            values += part[0]
            byte_count += sum(map(len, part[0]))
        if byte_count >= MOST_BYTES or len(values) >= _MOST_VALUES:
            yield _column(values, starts, places, layer)
            values, starts, places, byte_count = [], [], [], 0
    if values:
        yield _column(values, starts, places, layer)


def _column(values: list[bytes], starts: list[int], places: list[Place], layer: Layer) -> Values:
    def place(index: int) -> str:
        part = bisect.bisect_right(starts, index) - 1
        return layer.of_value(places[part](index - starts[part]))

    layer.budget.count_unfolded(sum(map(len, values)))
    return Values(bytes_array(values), place)


def in_lists(place: Place, offsets: npt.NDArray[np.int64]) -> Place:
    """Places of the elements of lists, which begin at `offsets`, counted through all lists; `place` is that of a list."""

    def of_element(index: int) -> str:
        which = int(np.searchsorted(offsets, index, "right")) - 1
        return below(place(which), f"[{index - offsets[which]}]")

    return of_element


@dataclass(slots=True)
class Failures:
    """Errors of the parts of a table: the first ten are reported one by one, then their number."""

    name: str
    """Name of the table in errors."""
    parts: str
    """Name of several parts in errors, as "batches"."""
    count: int = 0

    def one(self, reason: str) -> Iterator[SourceError]:
        """Count one more; its error, if it is reported by itself."""
        self.count += 1
        if self.count <= _FAILURES:
            yield SourceError(self.name, reason)

    def rest(self) -> Iterator[SourceError]:
        """At the end: the error of all that were not reported, if there are any."""
        if self.count > _FAILURES:
            yield SourceError(self.name, f"{self.count - _FAILURES:,} more {self.parts} could not be read")


def in_words(error: BaseException) -> str:
    r"""Message of a library's error, in one line.

    >>> in_words(ValueError("Not a table.\nSee the manual"))
    'Not a table'
    """
    if isinstance(error, MemoryError) and not str(error):
        return "it takes more memory than there is"
    if isinstance(error, RecursionError):
        return "nested too deep"
    # Python could not decode the message of SQLite, as it quotes bytes that are damaged.
    message = error.object.decode("utf-8", "replace") if isinstance(error, UnicodeDecodeError) else str(error)
    line = next(iter(message.strip().splitlines()), type(error).__name__)
    return _printable(line[:_WORDS].encode("utf-8", "replace").decode().rstrip(". "))


def _printable(text: str) -> str:
    return (
        text
        if text.isprintable()
        else "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
    )


def in_place(name: str) -> str:
    r"""Name as a part of a place or an error: not too long, and encodable as UTF-8.

    >>> in_place("a" * 300) == "a" * 200 + "…", in_place("\udcff|\ud800")
    (True, '\\xff|\\ud800')
    """
    if len(name) > _LONGEST_NAME:
        name = name[:_LONGEST_NAME] + "…"
    return name if name.isascii() else _SURROGATES.sub(_escaped, name)


def _escaped(surrogate: re.Match[str]) -> str:
    """Escape a byte that is not UTF-8 (see `surrogateescape`), or else a surrogate."""
    code = ord(surrogate[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


def below(place: str, part: str) -> str:
    """Place one step further in; one that is too long ends in "…" and stays as it is.

    >>> below("a", "[3]"), below("a" * 2001, "[3]") == "a" * 2001
    ('a[3]', True)
    """
    if len(place) > _LONGEST_PLACE:
        return place
    longer = place + part
    return longer if len(longer) <= _LONGEST_PLACE else longer[:_LONGEST_PLACE] + "…"


def no_column(layer: Layer, names: Iterable[str], there: Iterable[str]) -> SourceError:
    """Error for named columns that a table does not have; `there` are the columns that it has."""
    listed = list(there)
    has = _printable(", ".join(map(in_place, listed[:_NAMES])))
    more = f" and {len(listed) - _NAMES:,} more" if len(listed) > _NAMES else ""
    missing = ", ".join(repr(in_place(name)) for name in names)
    return SourceError(layer.name, f"no column {missing}; it has {has or 'none'}{more}")


def path_of(file: io.BufferedIOBase) -> str | None:
    """Path of a file of the system; None for any other file."""
    if isinstance(file, io.BufferedReader) and isinstance(file.raw, io.FileIO) and isinstance(file.name, str):
        return file.name
    return None


def read_growing(reader: Reader, count: int) -> bytearray:
    """Read the next `count` bytes, fewer only at the end; memory is allocated only for bytes that arrive."""
    data = bytearray()
    block = memoryview(bytearray(min(count, 1 << 20)))
    while len(data) < count and (got := reader.read_into(block[: count - len(data)])):
        data += block[:got]
    return data


def bytes_of(reader: Reader, layer: Layer) -> bytearray:
    """Read all bytes, for a form that is read back and forth. Raises SourceError if they are too many."""
    data = read_growing(reader, _IN_MEMORY + 1)
    if len(data) > _IN_MEMORY:
        reason = f"has more than {_IN_MEMORY:,} bytes, and is read back and forth: unpack it first"
        raise SourceError(layer.name, reason)
    return data
