"""Passages around occurrences: the inputs are read again, and the occurrences found again in them."""

from __future__ import annotations

import functools
import io
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from urnscan.compiled.arrow import text_array
from urnscan.display.text import counted
from urnscan.errors import ArgumentError, SourceError
from urnscan.formats.contents import Document, Values
from urnscan.formats.unfold import open_documents
from urnscan.framing.buffer import MARK, Buffer
from urnscan.run.options import Options
from urnscan.run.tasks import Argument, run_inputs
from urnscan.stores.input import Input
from urnscan.stores.reader import past_damage

CHANGED = "has changed since it was scanned"
GONE = "is not there any more"
STREAM = "can be read only once"

_WIDEST = 10_000  # characters on each side
_LONGEST_CHARACTER = 4  # octets of UTF-8
_ReadInto = Callable[[memoryview], int]
_Text = tuple[str | None, Callable[[], _ReadInto]]


class Wanted(NamedTuple):
    """An occurrence to be found again; fields are columns of OCCURRENCES."""

    source: str
    member: str | None
    start: int
    line: int
    text: str
    length: int
    via: str | None


class Passage(NamedTuple):
    """An occurrence as it stands in its text, and the characters on both sides; U+FFFD for what is not UTF-8."""

    before: str
    text: str
    after: str


def check_width(width: object) -> None:
    """Raise ArgumentError if it is no number of characters on each side."""
    if not isinstance(width, int | np.integer) or not 0 <= width <= _WIDEST:
        raise ArgumentError(f"width is a number of characters from 0 to {_WIDEST:,}, not {width!r}")


class Text:
    """A text that is read again, front to back."""

    def __init__(self, read_into: _ReadInto, width: int) -> None:
        self._buffer = Buffer(past_damage(read_into))
        self._width = width
        self._line = 1  # of the next octet in the buffer
        self._last = -1  # start of the last occurrence

    def find(self, wanted: Wanted) -> Passage | None:
        """The passage of an occurrence; None if it is not there, or not behind the one that was found before."""
        if wanted.start <= self._last:
            return None
        buffer, around = self._buffer, _LONGEST_CHARACTER * self._width
        begin = max(wanted.start - around - _LONGEST_CHARACTER + 1, 0)
        for passed in buffer.blocks(begin - buffer.offset):
            self._line += passed.count(b"\n")
        before = wanted.start - begin
        end = before + wanted.length
        buffer.has(end + around)
        window = buffer.octets[buffer.at : buffer.at + end + around]
        is_there = self._line + window.count(b"\n", 0, before) == wanted.line and len(window) >= end
        if not is_there or (wanted.via is None and window[before:end] != wanted.text.encode()):
            return None
        self._last = wanted.start
        left = (window[:before] if begin else window[:before].removeprefix(MARK)).decode("utf-8", "replace")
        return Passage(
            left[max(len(left) - self._width, 0) :],
            window[before:end].decode("utf-8", "replace"),
            window[end:].decode("utf-8", "replace")[: self._width],
        )


def texts_of(
    source: Input, options: Options, on_read: Callable[[int], object] = lambda _: None
) -> Generator[_Text, None, None]:
    """The texts of an input: member, and a function that returns the method that reads the text. Raises SourceError.

    A text is to be read before the next one is asked for. `on_read` is told how many octets of the input are read.
    """
    with closing(open_documents(source, options.reading, on_read)) as documents:
        for document in documents:
            if isinstance(document, Document):
                yield document.member, functools.partial(getattr, document.reader, "read_into")
            elif isinstance(document, Values):
                for number in range(len(document.values)):
                    yield document.place(number), functools.partial(_open_value, document.values, number)


def _open_value(values: pa.Array, number: int) -> _ReadInto:
    """Method that reads a value of a table."""
    value = values.slice(number, 1)
    if pa.types.is_dictionary(value.type):
        value = value.dictionary.slice(value.indices[0].as_py(), 1)
    octets: bytes | None = value.cast(pa.large_binary())[0].as_py()
    return io.BytesIO(octets or b"").readinto


class Passages:
    """Adds the passages to occurrences in the order of a scan: the inputs are read again in that order, each once.

    It holds one block of one text, so it may follow a scan of any size.
    """

    def __init__(self, inputs: Sequence[Argument], options: Options, width: int) -> None:
        """`inputs` and `options` are those of the scan. Raises ArgumentError."""
        check_width(width)
        self._find = functools.partial(run_inputs, inputs, options, ())
        self._options = options
        self._width = width
        self._inputs = self._find()
        self._texts: Iterator[_Text] = iter(())
        self._source: str | None = None  # of these texts
        self._member: str | None = None
        self._text: Text | None = None
        self._reason = ""
        self._missed: Counter[tuple[str, str]] = Counter()

    def add(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """OCCURRENCES rows with the columns `before` and `after`, null for an occurrence that is not found again."""
        found = [self._passage(Wanted(**row)) for row in rows.select(list(Wanted._fields)).to_pylist()]
        for name in ("before", "after"):
            rows = rows.append_column(name, text_array([getattr(passage, name, None) for passage in found]))
        return rows

    def failures(self) -> list[SourceError]:
        """Inputs in which an occurrence was not found again."""
        return [
            SourceError(source, f"{reason}: {counted(missed, 'occurrence')} without the text around")
            for (source, reason), missed in self._missed.items()
        ]

    def _passage(self, wanted: Wanted) -> Passage | None:
        if wanted.source != self._source:
            self._open(wanted.source)
        # An archive may have several members of one name: an occurrence that is not in one of them may be in the next.
        while (self._text is not None and self._member == wanted.member) or self._go_to(wanted.member):
            found = self._text.find(wanted) if self._text is not None else None
            if found is not None:
                return found
            self._text = None
        self._missed[wanted.source, self._reason] += 1
        return None

    def _open(self, source: str) -> None:
        """Go to an input."""
        self._source, self._text, self._texts, self._reason = source, None, iter(()), CHANGED
        found = self._input(source)
        if found is None:
            self._reason = GONE
        elif isinstance(found, SourceError):
            self._reason = found.reason
        elif found.size is None and found.remote is None:  # a pipe: opening it again could wait for ever
            self._reason = STREAM
        else:
            self._texts = texts_of(found, self._options)

    def _input(self, source: str) -> Input | SourceError | None:
        """The next input of this name; from the first one on again, if some have changed their places."""
        for _ in range(2):
            for found in self._inputs:
                if (found.source if isinstance(found, SourceError) else found.name) == source:
                    return found
            self._inputs = self._find()
        return None

    def _go_to(self, member: str | None) -> bool:
        """Go to the next text of this name in the input; whether there is one."""
        try:
            for name, open_text in self._texts:
                if name == member:
                    self._member, self._text = name, Text(open_text(), self._width)
                    return True
        except SourceError as error:
            self._reason = error.reason
        return False
