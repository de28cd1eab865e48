"""What the readers of tables share: values gathered to columns, and what may be held in memory."""

import io
import re
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from urnscan.errors import SourceError
from urnscan.sources.documents import Values
from urnscan.sources.layers import Layer
from urnscan.sources.reader import Reader

__all__ = [
    "LONGEST",
    "MOST_OCTETS",
    "Failures",
    "Gathered",
    "below",
    "in_place",
    "in_words",
    "no_column",
    "octets_of",
    "path_of",
]

LONGEST = 1 << 26
"""Octets of one record or value that is read."""
MOST_OCTETS = 1 << 23
"""Octets of the values that are given at a time, but for one that is longer alone."""
_MOST_VALUES = 1 << 14
_IN_MEMORY = 1 << 28  # octets of a table that must be read at random and cannot be
_FAILURES = 10  # that are told one by one
_NAMES = 20  # columns that an error lists
_WORDS = 200  # characters of what a library says
_LONGEST_NAME = 200  # characters of a name in a place
_LONGEST_PLACE = 2000  # characters of the way into a value
_SURROGATES = re.compile("[\ud800-\udfff]")


class Gathered:
    """Values found one by one, gathered to columns."""

    def __init__(self, layer: Layer) -> None:
        self._layer = layer
        self._values: list[bytes] = []
        self._places: list[tuple[object, ...]] = []
        self._octets = 0

    def add(self, value: bytes, *place: object) -> bool:
        """Add a value and the parts of its place, an empty value not; whether there are enough to be taken."""
        return bool(value) and self.add_all([value], [place])

    def add_all(self, values: list[bytes], places: list[tuple[object, ...]]) -> bool:
        """Add values, none of them empty, and the parts of their places; whether there are enough to be taken."""
        self._values += values
        self._places += places
        self._octets += sum(map(len, values))
        return self._octets >= MOST_OCTETS or len(self._values) >= _MOST_VALUES

    def take(self) -> Iterator[Values]:
        """Take the values added since the last call: one column, or none. Raises LimitError."""
        if not self._values:
            return
        self._layer.budget.gave(self._octets)
        # pa.array would load pandas, to see whether it was given pandas' own.
        offsets = np.zeros(len(self._values) + 1, np.int32)
        np.cumsum([len(value) for value in self._values], out=offsets[1:])
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(self._values))]
        values, places, layer = pa.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers), self._places, self._layer
        self._values, self._places, self._octets = [], [], 0
        yield Values(values, lambda index: layer.of_value("/".join(map(str, places[index]))))


class Failures:
    """Errors of the parts of a table: the first ones each by itself, of the others how many there are."""

    def __init__(self, name: str, parts: str) -> None:
        """`name` is what errors call the table, `parts` what they call several parts of it."""
        self._name = name
        self._parts = parts
        self.count = 0
        """How many there were."""

    def one(self, reason: str) -> Iterator[SourceError]:
        """One more; its error, if it is told by itself."""
        self.count += 1
        if self.count <= _FAILURES:
            yield SourceError(self._name, reason)

    def rest(self) -> Iterator[SourceError]:
        """At the end: the error of those that were not told, if there are any."""
        if self.count > _FAILURES:
            yield SourceError(self._name, f"{self.count - _FAILURES:,} more {self._parts} could not be read")


def in_words(error: BaseException) -> str:
    r"""What a library says of an error, in one line.

    >>> in_words(ValueError("Not a table.\nSee the manual"))
    'Not a table'
    """
    if isinstance(error, MemoryError) and not str(error):
        return "it takes more memory than there is"
    if isinstance(error, RecursionError):
        return "nested too deep"
    # Python could not decode what SQLite says, as it quotes what is damaged.
    said = error.object.decode("utf-8", "replace") if isinstance(error, UnicodeDecodeError) else str(error)
    text = said.strip()
    line = text.splitlines()[0] if text else type(error).__name__
    return _printable(line[:_WORDS].encode("utf-8", "replace").decode().rstrip(". "))


def _printable(text: str) -> str:
    """The text in one line: what is quoted of a file may be anything."""
    return text if text.isprintable() else "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def in_place(name: str) -> str:
    r"""A name as a part of a place or an error: not too long, and such that it can be written.

    >>> in_place("a" * 300) == "a" * 200 + "…", in_place("\udcff|\ud800")
    (True, '\\xff|\\ud800')
    """
    if len(name) > _LONGEST_NAME:
        name = name[:_LONGEST_NAME] + "…"
    return name if name.isascii() else _SURROGATES.sub(_escaped, name)


def _escaped(surrogate: re.Match[str]) -> str:
    """An octet that is not UTF-8 (see `surrogateescape`), or else a surrogate."""
    code = ord(surrogate[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


def below(place: str, part: str) -> str:
    """The place of what is one step further in; one that is too long ends in "…" and stays as it is.

    >>> below("a", "[3]"), below("a" * 2001, "[3]") == "a" * 2001
    ('a[3]', True)
    """
    if len(place) > _LONGEST_PLACE:
        return place
    longer = place + part
    return longer if len(longer) <= _LONGEST_PLACE else longer[:_LONGEST_PLACE] + "…"


def no_column(layer: Layer, names: Iterable[str], there: Iterable[str]) -> SourceError:
    """The error for named columns that a table does not have; `there` are those that it has."""
    listed = list(there)
    has = _printable(", ".join(map(in_place, listed[:_NAMES])))
    more = f" and {len(listed) - _NAMES:,} more" if len(listed) > _NAMES else ""
    missing = ", ".join(repr(in_place(name)) for name in names)
    return SourceError(layer.name, f"no column {missing}: it has {has or 'none'}{more}")


def path_of(file: io.BufferedIOBase) -> str | None:
    """The path that leads to a file of the system; None for any other file."""
    if isinstance(file, io.BufferedReader) and isinstance(file.raw, io.FileIO) and isinstance(file.name, str):
        return file.name
    return None


def octets_of(reader: Reader, layer: Layer) -> bytearray:
    """All octets of a reader, for forms that cannot be read front to back. Raises SourceError if they are too many."""
    octets = bytearray()
    block = memoryview(bytearray(1 << 20))
    while got := reader.read_into(block):
        octets += block[:got]
        if len(octets) > _IN_MEMORY:
            reason = f"has more than {_IN_MEMORY:,} octets, and is read back and forth: unpack it first"
            raise SourceError(layer.name, reason)
    return octets
