"""Keyword in context: what stands before and behind the occurrences of a class, read from the inputs once more."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.display.text import counted, html_counts, html_failures, html_text, in_line, padded, printable, width_of
from urnscan.errors import ArgumentError, SourceError
from urnscan.records.buffer import MARK, Buffer
from urnscan.run.options import Options
from urnscan.sources import INSIDE, Document, Input, Listed, Values, find_listed, open_documents, past_damage
from urnscan.urn.syntax import URN, parse

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Context", "ContextLine", "read_context"]

_WIDEST = 10_000  # characters on each side
_LONGEST_CHARACTER = 4  # octets of UTF-8
_BLOCK = 1 << 20  # octets passed over at a time
_CHANGED = "has changed since it was scanned"
_GONE = "is not there any more"
_STREAM = "can be read only once"

_Ways = dict[str | None, list["_Wanted"]]


class ContextLine(NamedTuple):
    """An occurrence and what stands around it. What is no UTF-8 is U+FFFD."""

    left: str
    """The characters before it."""
    text: str
    """It as it stands in the document, where a view may have read it as something else."""
    right: str
    """The characters behind it."""
    source: str
    """The input."""
    member: str | None
    """The way to the document inside of it; None where it is the input itself."""
    offset: int
    """Where it begins: octets from the beginning of the document, or of the value of a table."""
    line: int
    """The line in which it begins, from 1."""

    @property
    def place(self) -> str:
        """Where it stands, as the command prints it: `source!/member:line`."""
        inside = "" if self.member is None else INSIDE + self.member
        return f"{self.source}{inside}:{self.line}"


_COLUMNS = pa.schema(
    [
        *((name, pa.string()) for name in ("left", "text", "right", "source", "member")),
        *((name, pa.int64()) for name in ("offset", "line")),
    ]
)


@dataclass(frozen=True, repr=False)
class Context(Sequence[ContextLine]):
    """The occurrences of a class with what stands around them, a line each. It prints, and shows itself in a notebook, as
    concordances do, with the occurrences one below the other.
    """

    urn: str
    """The class."""
    lines: tuple[ContextLine, ...]
    """In the order of the scan."""
    more: int = 0
    """How many occurrences there are beyond the limit."""
    failures: tuple[SourceError, ...] = ()
    """The inputs that could not be read again, or are not as they were: one for each, which says what is missing."""

    @overload
    def __getitem__(self, index: int) -> ContextLine: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[ContextLine, ...]: ...

    def __getitem__(self, index: int | slice) -> ContextLine | tuple[ContextLine, ...]:
        return self.lines[index]

    def __len__(self) -> int:
        return len(self.lines)

    def to_pandas(self) -> pd.DataFrame:
        """The lines as a pandas frame with the columns left, text, right, source, member, offset, line."""
        frame: pd.DataFrame = pa.Table.from_pylist([line._asdict() for line in self.lines], _COLUMNS).to_pandas()
        return frame

    def __repr__(self) -> str:
        """Lines for a terminal."""
        rows = [(in_line(line.left), in_line(line.text), in_line(line.right), line.place) for line in self.lines]
        left, text, right = (max((width_of(row[column]) for row in rows), default=0) for column in range(3))
        lines = (
            f"{padded(row[0], left, right=True)}  {padded(row[1], text)}  {padded(row[2], right)}  {row[3]}"
            for row in rows
        )
        return "\n".join(map(printable, [self._title, *lines, *self._beyond, *map(str, self.failures)]))

    def _repr_html_(self) -> str:
        """A table; what is written from right to left stays in its cell."""

        def cell(text: str, side: str, tag: str = "bdi") -> str:
            shown = html_text(in_line(text))
            return f'<td style="text-align:{side};white-space:pre"><{tag}>{shown}</{tag}></td>'

        rows = "".join(
            f"<tr>{cell(line.left, 'right')}{cell(line.text, 'left', 'b')}{cell(line.right, 'left')}"
            f"{cell(line.place, 'left')}</tr>"
            for line in self.lines
        )
        table = f"<table><tbody>{rows}</tbody></table>" if rows else ""
        beyond = "".join(f"<p>{line}</p>" for line in self._beyond)
        return html_counts(self._title) + table + beyond + html_failures(self.failures)

    @property
    def _title(self) -> str:
        return f"{self.urn}: {counted(len(self.lines), 'occurrence')}"

    @property
    def _beyond(self) -> list[str]:
        return [f"and {self.more:,} more"] if self.more else []


def read_context(
    inputs: Sequence[str], options: Options, occurrences: pa.Table, urn: str | URN, width: int, limit: int | None
) -> Context:
    """The context of the first `limit` occurrences (None: of all) of the class of `urn`, out of those that a scan found.

    `inputs` and `options` are those of the scan, `width` is how many characters are wanted on each side.
    Raises InvalidURN where `urn` is none, ArgumentError where the scan has not found it, and for a width or limit that is
    none.
    """
    if not isinstance(width, int | np.integer) or not 0 <= width <= _WIDEST:
        raise ArgumentError(f"width is a number of characters from 0 to {_WIDEST:,}, not {width!r}")
    if limit is not None and (not isinstance(limit, int | np.integer) or limit < 0):
        raise ArgumentError(f"limit is a number of lines, or None for all of them, not {limit!r}")
    name = urn.text if isinstance(urn, URN) else urn
    if not isinstance(name, str):
        raise ArgumentError(f"a class is named by a URN, not by {urn!r:.60}")
    name = options.level.form(parse(name, options.syntax))
    rows = occurrences.filter(pc.equal(occurrences.column("urn"), pa.scalar(name)))
    if not rows.num_rows:
        raise ArgumentError(f"{name} was not found in this scan")
    first = rows if limit is None else rows.slice(0, limit)
    wanted = [
        _Wanted(number, text=row.pop("text").encode(), **row)
        for number, row in enumerate(first.select(_Wanted.columns()).to_pylist())
    ]
    again = _Again(options, width, wanted)
    again.read(inputs)
    return Context(name, again.lines(), rows.num_rows - len(wanted), again.failures())


@dataclass(frozen=True, slots=True)
class _Wanted:
    """An occurrence that is to be found again."""

    number: int
    """Its place among those that are wanted."""
    source: str
    member: str | None
    offset: int
    line: int
    text: bytes
    length: int
    via: str | None

    @classmethod
    def columns(cls) -> list[str]:
        """Those of the table of occurrences that it is made of."""
        return ["source", "member", "offset", "line", "text", "length", "via"]


class _Again:
    """The second reading of what holds occurrences that are wanted."""

    def __init__(self, options: Options, width: int, wanted: Sequence[_Wanted]) -> None:
        self._options = options
        self._width = width
        self._lines: dict[int, ContextLine] = {}
        self._waiting: dict[str, _Ways] = defaultdict(lambda: defaultdict(list))
        for each in wanted:
            self._waiting[each.source][each.member].append(each)
        self._reasons: dict[str, str] = {}

    def read(self, arguments: Sequence[str]) -> None:
        """Read the inputs that the arguments name, no more of them than is needed."""
        for found in self._found(arguments):
            name = found.source if isinstance(found, SourceError) else found.name
            self._reasons[name] = _CHANGED
            if isinstance(found, SourceError):
                self._reasons[name] = found.reason
            elif found.size is None and found.remote is None:  # a pipe: to open it once more would wait without end
                self._reasons[name] = _STREAM
            else:
                try:
                    self._input(found, self._waiting[name])
                except SourceError as error:
                    self._reasons[name] = error.reason
            if not any(self._waiting[name].values()):
                del self._waiting[name]

    def lines(self) -> tuple[ContextLine, ...]:
        """What was found again, in the order in which it was wanted."""
        return tuple(self._lines[number] for number in sorted(self._lines))

    def failures(self) -> tuple[SourceError, ...]:
        """The inputs in which something was not."""
        return tuple(
            SourceError(name, f"{self._reasons.get(name, _GONE)}: {counted(missing, 'occurrence')} left out")
            for name, ways in self._waiting.items()
            if (missing := sum(map(len, ways.values())))
        )

    def _found(self, arguments: Sequence[str]) -> Iterator[Input | SourceError]:
        """The inputs that have what is wanted, or why there are none: looked for, since a name alone leads not to all."""
        for found in find_listed(arguments, self._options.selection) if self._waiting else ():
            if isinstance(found, Listed):
                for number, name in enumerate(found.names):
                    if name in self._waiting:
                        yield found.input(number)
            elif (found.source if isinstance(found, SourceError) else found.name) in self._waiting:
                yield found
            if not self._waiting:
                return

    def _input(self, source: Input, ways: _Ways) -> None:
        """Find in an input what is wanted of it. Raises SourceError."""
        with closing(open_documents(source, self._options.reading)) as documents:
            for document in documents:
                if isinstance(document, Document):
                    if ways.get(document.member):
                        ways[document.member] = self._text(document.reader.read_into, ways[document.member])
                elif isinstance(document, Values):
                    for number in range(len(document.values)):
                        if ways.get(place := document.place(number)):
                            octets = _octets(document.values, number)
                            ways[place] = self._text(io.BytesIO(octets).readinto, ways[place])
                if not any(ways.values()):
                    return

    def _text(self, read_into: Callable[[memoryview], int], wanted: Sequence[_Wanted]) -> list[_Wanted]:
        """Find in a text what is wanted, and give what is not in it.

        An archive may have several members of one name: of what begins at the same octet the first is meant, and what is
        not in this one may be in the next.
        """
        around = _LONGEST_CHARACTER * self._width
        buffer = Buffer(past_damage(read_into))
        line, rest, last = 1, [], -1
        for each in sorted(wanted, key=attrgetter("offset", "number")):
            begin = max(each.offset - around - _LONGEST_CHARACTER + 1, 0)
            while (away := begin - buffer.offset) > 0 and (passed := buffer.take(min(away, _BLOCK))):
                line += passed.count(b"\n")
            before = each.offset - begin
            end = before + each.length
            buffer.has(end + around)
            window = buffer.octets[buffer.at : buffer.at + end + around]
            is_there = line + window.count(b"\n", 0, before) == each.line and len(window) >= end
            if each.offset == last or not is_there or (each.via is None and window[before:end] != each.text):
                rest.append(each)
                continue
            last = each.offset
            left = _decoded(window[:before] if begin else window[:before].removeprefix(MARK))
            self._lines[each.number] = ContextLine(
                left=left[max(len(left) - self._width, 0) :],
                text=_decoded(window[before:end]),
                right=_decoded(window[end:])[: self._width],
                source=each.source,
                member=each.member,
                offset=each.offset,
                line=each.line,
            )
        return rest


def _decoded(octets: bytes) -> str:
    return octets.decode("utf-8", "replace")


def _octets(values: pa.Array, number: int) -> bytes:
    """The octets of a value of a table."""
    value = values.slice(number, 1)
    if pa.types.is_dictionary(value.type):
        value = value.dictionary.slice(value.indices[0].as_py(), 1)
    octets: bytes | None = value.cast(pa.large_binary())[0].as_py()
    return octets or b""
