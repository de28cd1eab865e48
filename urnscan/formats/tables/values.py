"""Shared code of the readers of tables: values collected to columns, their places, errors and names, limits of memory."""

import bisect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from urnscan.compiled.arrow import bytes_array
from urnscan.errors import SourceError
from urnscan.formats.contents import Values
from urnscan.formats.context import Layer
from urnscan.stores.reader import Reader, read_up_to

Place = Callable[[int], str]
"""Function from the index of a value, from 0, to its place in the table, a text such as `7/url` (`row/column`)."""
PlacedValues = tuple[list[bytes], Place]
"""Values as bytes, none of them empty, and the function from an index in them to the place of the value."""
MAX_BYTES = 1 << 23
"""Approximate maximum number of bytes (8 MiB) in one `Values`; a single value may be longer, and is not split."""
_MAX_VALUES = 1 << 14
_IN_MEMORY = 1 << 28  # maximum bytes of a table from a stream that needs seeks
_FAILURES = 10  # errors that are reported singly
_NAMES = 20  # maximum columns that an error lists
_WORDS = 200  # maximum characters of a message of a library
_LONGEST_NAME = 200  # maximum characters of a name in a place
_LONGEST_PLACE = 2000  # maximum characters of a place
_SURROGATES = re.compile("[\ud800-\udfff]")


def gather(parts: Iterable[PlacedValues | SourceError], layer: Layer) -> Iterator[Values | SourceError]:
    """Join lists of values to `Values` of at least 8 MiB or 16,384 values (the last one may have less), and yield them.

    `parts`: values of the table with a function from an index to the place, and errors. Errors are yielded unchanged,
    at once: they may come before values that precede them in `parts`. The bytes are counted in the budget of `layer`,
    and places become paths in the input. Raises LimitError.
    """
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
        if byte_count >= MAX_BYTES or len(values) >= _MAX_VALUES:
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
    """Return the function from the index of an element, counted through all lists of a column, to the place of the
    element.

    `place`: the function from the index of a list to its place; `offsets`: index of the first element of each list. If
    a list at the place `3/a` has the offset 5, the element with index 7 is at `3/a[2]`.
    """

    def of_element(index: int) -> str:
        which = int(np.searchsorted(offsets, index, "right")) - 1
        return below(place(which), f"[{index - offsets[which]}]")

    return of_element


@dataclass(slots=True)
class Failures:
    """Counter of damaged parts of a table: the first ten have an error each; one more error has the number of the
    others.
    """

    name: str
    """Name of the table, for messages."""
    parts: str
    """Word for the parts in messages, in the plural, such as "batches"."""
    count: int = 0
    """Number of damaged parts so far."""

    def one(self, reason: str) -> Iterator[SourceError]:
        """Count a damaged part, and yield a SourceError with the reason; nothing after the first ten.

        Nothing happens before the result is iterated over.
        """
        self.count += 1
        if self.count <= _FAILURES:
            yield SourceError(self.name, reason)

    def rest(self) -> Iterator[SourceError]:
        """Yield a SourceError with the number of damaged parts after the first ten; nothing if there were at most ten.

        Called once, after the last part.
        """
        if self.count > _FAILURES:
            yield SourceError(self.name, f"{self.count - _FAILURES:,} more {self.parts} could not be read")


def in_words(error: BaseException) -> str:
    r"""Return the reason that an exception gives, for messages: the first 200 characters of the first line of its
    message, with unprintable characters escaped, without full stops and spaces at the end.

    The name of its type if it has no message; fixed words if memory is lacking or the nesting is too deep.

    >>> in_words(ValueError("Not a table.\nSee the manual"))
    'Not a table'
    """
    if isinstance(error, MemoryError) and not str(error):
        return "it takes more memory than there is"
    if isinstance(error, RecursionError):
        return "nested too deep"
    # The message of SQLite quotes damaged bytes, which Python could not decode.
    message = error.object.decode("utf-8", "replace") if isinstance(error, UnicodeDecodeError) else str(error)
    line = next(iter(message.strip().splitlines()), type(error).__name__)
    return _printable(line[:_WORDS].encode("utf-8", "replace").decode().rstrip(". "))


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def in_place(name: str) -> str:
    r"""Return the name of a column or table for a place or a message: cut to 200 characters and "…" if it is longer.

    Surrogates are escaped, so that the name can be encoded as UTF-8.

    >>> in_place("a" * 300) == "a" * 200 + "…", in_place("\udcff|\ud800")
    (True, '\\xff|\\ud800')
    """
    if len(name) > _LONGEST_NAME:
        name = name[:_LONGEST_NAME] + "…"
    return name if name.isascii() else _SURROGATES.sub(_escaped, name)


def _escaped(surrogate: re.Match[str]) -> str:
    # A surrogate escape represents a byte.
    code = ord(surrogate[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


def below(place: str, part: str) -> str:
    """Return the place of a value with a part added, cut to 2,000 characters and "…" if it becomes longer.

    A place that is already longer is returned unchanged.

    >>> below("a", "[3]"), below("a" * 2001, "[3]") == "a" * 2001
    ('a[3]', True)
    """
    if len(place) > _LONGEST_PLACE:
        return place
    longer = place + part
    return longer if len(longer) <= _LONGEST_PLACE else longer[:_LONGEST_PLACE] + "…"


def no_column(layer: Layer, names: Iterable[str], there: Iterable[str]) -> SourceError:
    """Return (not raise) the error that a table lacks the columns `names`.

    `there`: the columns of the table, of which the message lists the first 20.
    """
    listed = list(there)
    has = _printable(", ".join(map(in_place, listed[:_NAMES])))
    more = f" and {len(listed) - _NAMES:,} more" if len(listed) > _NAMES else ""
    missing = ", ".join(repr(in_place(name)) for name in names)
    return SourceError(layer.name, f"no column {missing}; it has {has or 'none'}{more}")


def bytes_of(reader: Reader, layer: Layer) -> bytearray:
    """Read all bytes of a reader into memory, for a file format that is read back and forth.

    Raises SourceError for more than 256 MiB, or if the bytes cannot be read. `layer`: name of the bytes, for the error.
    """
    data = read_up_to(reader, _IN_MEMORY + 1)
    if len(data) > _IN_MEMORY:
        reason = f"has more than {_IN_MEMORY:,} bytes, and is read back and forth; unpack it first"
        raise SourceError(layer.name, reason)
    return data
