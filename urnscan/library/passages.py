"""The text around occurrences, from inputs that are read a second time."""

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
from urnscan.errors import ArgumentError, SourceError, option
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
"""Reasons why an occurrence is not found again: for an input with another text, a missing input, and a stream."""

# Maximum number of characters on each side.
_MAX_WIDTH = 10_000
# Maximum bytes of a character in UTF-8.
_MAX_CHARACTER = 4
_ReadInto = Callable[[memoryview], int]
_OpenText = tuple[str | None, Callable[[], _ReadInto]]
"""The member of a text, and a function that returns the method that reads the text."""


class Wanted(NamedTuple):
    """An occurrence of a scan whose passage (the text around it) is to be found. The fields are columns of OCCURRENCES:
    `source` is the name of the input; `member` the path of the text in it, or None if the text is the input itself;
    `start` is a byte offset, from 0; `line` is from 1; `text` is the name as found; `length` is in bytes; `via` is the
    view (decoding) that found it, or None.
    """

    source: str
    member: str | None
    start: int
    line: int
    text: str
    length: int
    via: str | None


class Passage(NamedTuple):
    """An occurrence as in the text, and the characters before and after it. Bytes that are not UTF-8 become U+FFFD."""

    before: str
    text: str
    after: str
    place_in_line: int
    """Number of the first character of the occurrence in its line, from 1."""


def check_width(width: object) -> None:
    """Raise ArgumentError if `width` (characters on each side) is not an integer from 0 to 10,000."""
    if not isinstance(width, int | np.integer) or not 0 <= width <= _MAX_WIDTH:
        raise ArgumentError(
            f"{option('width', None)} is a number of characters from 0 to {_MAX_WIDTH:,}, not {width!r}"
        )


def name_of(source: Input | SourceError) -> str:
    """The name of an input, or the name in the error about an input that could not be opened."""
    return source.source if isinstance(source, SourceError) else source.name


def why_unreadable(source: Input | SourceError) -> str:
    """Return why an input cannot be read a second time: the reason of the error if it could not be opened, or "can be
    read only once" for a stream. Empty for an input that can be read again.
    """
    if isinstance(source, SourceError):
        return source.reason
    # A pipe: opening it a second time could wait for ever.
    return STREAM if source.size is None and source.remote is None else ""


class Text:
    """A text that is read a second time, once from beginning to end, to find the passages of its occurrences in their
    order. `read_into`: function that fills a memoryview with the next bytes and returns their number, 0 at the end;
    `width`: number of characters on each side.
    """

    def __init__(self, read_into: _ReadInto, width: int) -> None:
        self._buffer = Buffer(past_damage(read_into))
        self._width = width
        # Line of the next byte in the buffer, and the characters of that line before it. A byte order mark is no character.
        begins_with_mark = self._buffer.has(len(MARK)) and self._buffer.data.startswith(MARK)
        self._line, self._characters = 1, -1 if begins_with_mark else 0
        # Byte offset of the last occurrence that was found.
        self._last_start = -1

    def find(self, wanted: Wanted) -> Passage | None:
        """Read on to an occurrence, and return its passage. None if it is not at this offset and line, as the text has
        changed or ends earlier, or if it does not begin after the last occurrence that was found. The bytes of an
        occurrence of a view (`via`) are not compared.
        """
        if wanted.start <= self._last_start:
            return None
        buffer, around = self._buffer, _MAX_CHARACTER * self._width
        begin = max(wanted.start - around - _MAX_CHARACTER + 1, 0)
        for block in buffer.blocks(begin - buffer.offset):
            self._line, self._characters = self._after(block)
        before = wanted.start - begin
        end = before + wanted.length
        buffer.has(end + around)
        window = buffer.data[buffer.at : buffer.at + end + around]
        line, characters = self._after(window[:before])
        is_there = line == wanted.line and len(window) >= end
        if not is_there or (wanted.via is None and window[before:end] != wanted.text.encode()):
            return None
        self._last_start = wanted.start
        left = (window[:before] if begin else window[:before].removeprefix(MARK)).decode("utf-8", "replace")
        return Passage(
            left[max(len(left) - self._width, 0) :],
            window[before:end].decode("utf-8", "replace"),
            window[end:].decode("utf-8", "replace")[: self._width],
            characters + 1,
        )

    def _after(self, data: bytes) -> tuple[int, int]:
        """The number of the line in which the text continues after `data`, and the number of characters of that line up
        to there.
        """
        lines = data.count(b"\n")
        last = np.frombuffer(data, np.uint8)[data.rfind(b"\n") + 1 :]
        # Each character of UTF-8 has exactly one byte that is not a continuation byte.
        characters = int(np.count_nonzero(last & 0xC0 != 0x80))
        return self._line + lines, characters if lines else self._characters + characters


def texts_of(
    source: Input, options: Options, on_read: Callable[[int], object] = lambda _: None
) -> Generator[_OpenText, None, None]:
    """Open an input, and yield (member, function) for each text in it. Raises SourceError if the input, or its rest,
    cannot be read; errors of single members are left out.

    `member` is the path of the text in the input, or None for the input itself. The function returns the method that
    reads the text, like `readinto` of files: it fills a memoryview with the next bytes, and returns their number, 0 at
    the end. Each text must be read before the next is requested. `on_read` is called with numbers of bytes that were
    read.
    """
    with closing(open_documents(source, options.reading, on_read)) as documents:
        for document in documents:
            if isinstance(document, Document):
                yield document.member, functools.partial(getattr, document.reader, "read_into")
            elif isinstance(document, Values):
                for number in range(len(document.values)):
                    yield document.place(number), functools.partial(_open_value, document.values, number)


def _open_value(values: pa.Array, number: int) -> _ReadInto:
    value = values.slice(number, 1)
    if pa.types.is_dictionary(value.type):
        value = value.dictionary.slice(value.indices[0].as_py(), 1)
    data: bytes | None = value.cast(pa.large_binary())[0].as_py()
    return io.BytesIO(data or b"").readinto


class Passages:
    """Finds the passages (an occurrence and the text around it) of the occurrences of a scan, in inputs that are read
    again. Occurrences must come in the order of the scan, so each input is read only once.
    """

    def __init__(self, inputs: Sequence[Argument], options: Options, width: int) -> None:
        """`inputs`, `options`: of the scan; `width`: number of characters on each side. Raises ArgumentError if `width`
        is not an integer from 0 to 10,000.
        """
        check_width(width)
        self._find = functools.partial(run_inputs, inputs, options, ())
        self._options = options
        self._width = width
        self._inputs = self._find()
        self._texts: Iterator[_OpenText] = iter(())
        # The source of `_texts`.
        self._source: str | None = None
        self._member: str | None = None
        self._text: Text | None = None
        self._reason = ""
        self._missing: Counter[tuple[str, str]] = Counter()

    def add(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows of the table of occurrences (OCCURRENCES) with two columns added: `before` and `after`, the text
        on both sides of each occurrence; null if the occurrence is not found again. The rows of all calls must be in
        the order of the scan.
        """
        passages = [self.find(Wanted(**row)) for row in rows.select(list(Wanted._fields)).to_pylist()]
        for name in ("before", "after"):
            rows = rows.append_column(name, text_array([getattr(passage, name, None) for passage in passages]))
        return rows

    def failures(self) -> list[SourceError]:
        """A failure for each input, and each reason, for which occurrences were not found so far, with their number.
        Empty if all were found.
        """
        return [
            SourceError(source, f"{reason}: {counted(missing, 'occurrence')} without the text around")
            for (source, reason), missing in self._missing.items()
        ]

    def find(self, wanted: Wanted) -> Passage | None:
        """Read on to an occurrence, which must come after the last one in the order of the scan, and return its
        passage. None if it is not found, which `failures` counts.
        """
        if wanted.source != self._source:
            self._open(wanted.source)
        # An archive may have several members with the same name: the occurrence may be in any of them.
        while (self._text is not None and self._member == wanted.member) or self._go_to(wanted.member):
            passage = self._text.find(wanted) if self._text is not None else None
            if passage is not None:
                return passage
            self._text = None
        self._missing[wanted.source, self._reason] += 1
        return None

    def _open(self, name: str) -> None:
        self._source, self._text, self._texts = name, None, iter(())
        source = self._find_input(name)
        self._reason = GONE if source is None else why_unreadable(source) or CHANGED
        if isinstance(source, Input) and not why_unreadable(source):
            self._texts = texts_of(source, self._options)

    def _find_input(self, name: str) -> Input | SourceError | None:
        """The next input with this name, or an error about it; None if there is none. If none follows, the search
        starts again at the first input, as their order may have changed.
        """
        for _ in range(2):
            for source in self._inputs:
                if name_of(source) == name:
                    return source
            self._inputs = self._find()
        return None

    def _go_to(self, member: str | None) -> bool:
        """Make the next text of this member the current text. False if there is none, or if the input cannot be read
        further.
        """
        try:
            for name, open_text in self._texts:
                if name == member:
                    self._member, self._text = name, Text(open_text(), self._width)
                    return True
        except SourceError as error:
            self._reason = error.reason
        return False
