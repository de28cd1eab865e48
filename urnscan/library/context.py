"""Keyword in context: the text around the occurrences of a class, read from the inputs again."""

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
from urnscan.framing.buffer import MARK, Buffer
from urnscan.run.options import Options
from urnscan.sources import INSIDE, Document, Input, Listed, Values, find_listed, open_documents, past_damage
from urnscan.urn.parser import URN, parse

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Context", "ContextLine", "read_context"]

_WIDEST = 10_000  # characters on each side
_LONGEST_CHARACTER = 4  # octets of UTF-8
_BLOCK = 1 << 20  # octets skipped at a time
_CHANGED = "has changed since it was scanned"
_GONE = "is not there any more"
_STREAM = "can be read only once"

_Members = dict[str | None, list["_Wanted"]]


class ContextLine(NamedTuple):
    """An occurrence and the text around it. Octets that are not UTF-8 become U+FFFD."""

    left: str
    """Characters before the occurrence."""
    text: str
    """The occurrence as it stands in the document; a view may have decoded it."""
    right: str
    """Characters behind the occurrence."""
    source: str
    """The input."""
    member: str | None
    """The path of the document in the input; None if the document is the input itself."""
    offset: int
    """Octets before the occurrence in the document, or in the value of a table."""
    line: int
    """The line in which the occurrence begins, from 1."""

    @property
    def place(self) -> str:
        """The place as the command prints it: `source!/member:line`."""
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
    """The occurrences of a class with the text around them.

    Terminals and notebooks show a concordance: a line each, with the occurrences one below the other.
    """

    urn: str
    """The canonical form of the class."""
    lines: tuple[ContextLine, ...]
    """Occurrences in the order of the scan."""
    more: int = 0
    """Number of occurrences beyond the limit."""
    failures: tuple[SourceError, ...] = ()
    """One failure for each input that could not be read again or has changed; it says how much is missing."""

    @overload
    def __getitem__(self, index: int) -> ContextLine: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[ContextLine, ...]: ...

    def __getitem__(self, index: int | slice) -> ContextLine | tuple[ContextLine, ...]:
        return self.lines[index]

    def __len__(self) -> int:
        return len(self.lines)

    def to_pandas(self) -> pd.DataFrame:
        """Convert to a pandas frame with the columns left, text, right, source, member, offset, line."""
        frame: pd.DataFrame = pa.Table.from_pylist([line._asdict() for line in self.lines], _COLUMNS).to_pandas()
        return frame

    def __repr__(self) -> str:
        """Show a concordance in a terminal."""
        rows = [(in_line(line.left), in_line(line.text), in_line(line.right), line.place) for line in self.lines]
        left, text, right = (max((width_of(row[column]) for row in rows), default=0) for column in range(3))
        lines = (
            f"{padded(row[0], left, right=True)}  {padded(row[1], text)}  {padded(row[2], right)}  {row[3]}"
            for row in rows
        )
        return "\n".join(map(printable, [self._title, *lines, *self._beyond, *map(str, self.failures)]))

    def _repr_html_(self) -> str:
        """Show a table in a notebook; text that runs from right to left stays in its cell."""

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
    """Read the context of a class; `inputs`, `options` and `occurrences` are those of a scan.

    Other parameters and errors: see `Scan.context`.
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
    again = _SecondReading(options, width, wanted)
    again.read(inputs)
    return Context(name, again.lines(), rows.num_rows - len(wanted), again.failures())


@dataclass(frozen=True, slots=True)
class _Wanted:
    """An occurrence to be found again."""

    number: int
    """Index among the wanted occurrences."""
    source: str
    member: str | None
    offset: int
    line: int
    text: bytes
    length: int
    via: str | None

    @classmethod
    def columns(cls) -> list[str]:
        """Names of the columns of OCCURRENCES that become fields."""
        return ["source", "member", "offset", "line", "text", "length", "via"]


class _SecondReading:
    """The second reading of the documents with wanted occurrences."""

    def __init__(self, options: Options, width: int, wanted: Sequence[_Wanted]) -> None:
        self._options = options
        self._width = width
        self._lines: dict[int, ContextLine] = {}
        self._waiting: dict[str, _Members] = defaultdict(lambda: defaultdict(list))  # by source, then member
        for each in wanted:
            self._waiting[each.source][each.member].append(each)
        self._reasons: dict[str, str] = {}

    def read(self, arguments: Sequence[str]) -> None:
        """Read the inputs that the arguments name, as far as needed."""
        for found in self._found(arguments):
            name = found.source if isinstance(found, SourceError) else found.name
            self._reasons[name] = _CHANGED
            if isinstance(found, SourceError):
                self._reasons[name] = found.reason
            elif found.size is None and found.remote is None:  # a pipe: opening it again could wait for ever
                self._reasons[name] = _STREAM
            else:
                try:
                    self._input(found, self._waiting[name])
                except SourceError as error:
                    self._reasons[name] = error.reason
            if not any(self._waiting[name].values()):
                del self._waiting[name]

    def lines(self) -> tuple[ContextLine, ...]:
        """Occurrences that were found again, in the order of the scan."""
        return tuple(self._lines[number] for number in sorted(self._lines))

    def failures(self) -> tuple[SourceError, ...]:
        """Failures of the inputs in which an occurrence was not found again."""
        return tuple(
            SourceError(name, f"{self._reasons.get(name, _GONE)}: {counted(missing, 'occurrence')} left out")
            for name, members in self._waiting.items()
            if (missing := sum(map(len, members.values())))
        )

    def _found(self, arguments: Sequence[str]) -> Iterator[Input | SourceError]:
        """Find the inputs with wanted occurrences. They are looked for as in the scan: a name alone is not enough to open all."""
        for found in find_listed(arguments, self._options.selection) if self._waiting else ():
            if isinstance(found, Listed):
                for number, name in enumerate(found.names):
                    if name in self._waiting:
                        yield found.input(number)
            elif (found.source if isinstance(found, SourceError) else found.name) in self._waiting:
                yield found
            if not self._waiting:
                return

    def _input(self, source: Input, members: _Members) -> None:
        """Find the wanted occurrences of an input. Raises SourceError."""
        with closing(open_documents(source, self._options.reading)) as documents:
            for document in documents:
                if isinstance(document, Document):
                    if members.get(document.member):
                        members[document.member] = self._text(document.reader.read_into, members[document.member])
                elif isinstance(document, Values):
                    for number in range(len(document.values)):
                        if members.get(place := document.place(number)):
                            octets = _octets(document.values, number)
                            members[place] = self._text(io.BytesIO(octets).readinto, members[place])
                if not any(members.values()):
                    return

    def _text(self, read_into: Callable[[memoryview], int], wanted: Sequence[_Wanted]) -> list[_Wanted]:
        """Find the wanted occurrences of a text; returns those that are not in it.

        An archive may have several members of one name. So of several occurrences at one offset the first is taken here,
        and the others are looked for in the next member.
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
    """Octets of a value of a table."""
    value = values.slice(number, 1)
    if pa.types.is_dictionary(value.type):
        value = value.dictionary.slice(value.indices[0].as_py(), 1)
    octets: bytes | None = value.cast(pa.large_binary())[0].as_py()
    return octets or b""
