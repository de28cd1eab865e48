"""Keyword in context: the text around the occurrences of a class, read from the inputs again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.display.text import counted, html_counts, html_failures, html_text, in_line, padded, printable, width_of
from urnscan.errors import ArgumentError, SourceError
from urnscan.formats.context import INSIDE
from urnscan.inputs.arguments import find_listed
from urnscan.library.passages import CHANGED, GONE, STREAM, Text, Wanted, check_width, texts_of
from urnscan.library.shared import watched
from urnscan.run.options import Options
from urnscan.run.tasks import Argument, octets_of
from urnscan.stores.input import Input, Listed
from urnscan.urn.namespaces import namespace_form
from urnscan.urn.parser import URN, parse

if TYPE_CHECKING:
    import pandas as pd


_Members = dict[str | None, list[tuple[int, Wanted]]]
"""Occurrences to be found, with their numbers, by member."""


class ContextLine(NamedTuple):
    """An occurrence and the text around it. Octets that are not UTF-8 become U+FFFD."""

    before: str
    """Characters before the occurrence."""
    text: str
    """The occurrence as it stands in the document; a view may have decoded it."""
    after: str
    """Characters behind the occurrence."""
    source: str
    """The input."""
    member: str | None
    """The path of the document in the input; None if the document is the input itself."""
    start: int
    """Octets before the occurrence in the document, or in the value of a table."""
    line: int
    """The line in which the occurrence begins, from 1."""

    @property
    def place(self) -> str:
        """The place as the command prints it: `source!/member:line`."""
        inside = "" if self.member is None else INSIDE + self.member
        return f"{self.source}{inside}:{self.line}"


_COLUMNS = pa.schema({name: pa.int64() if name in ("start", "line") else pa.string() for name in ContextLine._fields})


def _at_namespace(name: str, options: Options) -> str:
    """A hint where the name has another form at level `namespace`, under which it may have been found."""
    form = namespace_form(name, options.level.rulebook)
    if options.level.by_namespace or form == name:
        return ""
    return f'; with equivalence="namespace" a scan takes it for {form}, as all its spellings'


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
        """Convert to a pandas frame with the columns before, text, after, source, member, start, line."""
        frame: pd.DataFrame = pa.Table.from_pylist([line._asdict() for line in self.lines], _COLUMNS).to_pandas()
        return frame

    def __repr__(self) -> str:
        """Show a concordance in a terminal."""
        rows = [(in_line(line.before), in_line(line.text), in_line(line.after), line.place) for line in self.lines]
        left, text, right = (max((width_of(row[column]) for row in rows), default=0) for column in range(3))
        lines = (
            f"{padded(row[0], left, right=True)}  {padded(row[1], text)}  {padded(row[2], right)}  {row[3]}"
            for row in rows
        )
        return "\n".join(map(printable, [self._title, *lines, *self._beyond, *map(str, self.failures)]))

    def _repr_html_(self) -> str:
        """Show a table in a notebook; text that runs from right to left stays in its cell."""

        def cell(text: str, side: str = "left", tag: str = "bdi") -> str:
            shown = html_text(in_line(text))
            return f'<td style="text-align:{side};white-space:pre"><{tag}>{shown}</{tag}></td>'

        rows = "".join(
            f"<tr>{cell(line.before, 'right')}{cell(line.text, tag='b')}{cell(line.after)}{cell(line.place)}</tr>"
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


class Scanned(NamedTuple):
    """The parts of a scan from which its contexts are read."""

    inputs: Sequence[Argument]
    options: Options
    occurrences: pa.Table


def read_context(scanned: Scanned, urn: str | URN, width: int, limit: int | None, progress: bool | None) -> Context:
    """Read the context of a class. Parameters and errors: see `Scan.context`."""
    check_width(width)
    if limit is not None and (not isinstance(limit, int | np.integer) or limit < 0):
        raise ArgumentError(f"limit is a number of lines, or None for all of them, not {limit!r}")
    name = urn.text if isinstance(urn, URN) else urn
    if not isinstance(name, str):
        raise ArgumentError(f"a class is named by a URN, not by {urn!r:.60}")
    inputs, options, occurrences = scanned
    name = options.level.form(parse(name, options.syntax))
    rows = occurrences.filter(pc.equal(occurrences.column("urn"), pa.scalar(name)))
    if not rows.num_rows:
        raise ArgumentError(f"{name} was not found in this scan{_at_namespace(name, options)}")
    first = rows if limit is None else rows.slice(0, limit)
    again = _SecondReading(options, width)
    for number, row in enumerate(first.select(list(Wanted._fields)).to_pylist()):
        again.waiting[row["source"]][row["member"]].append((number, Wanted(**row)))
    with watched(progress, "reading", lambda: again.octets(inputs)) as shown:
        try:
            again.read(inputs, shown.on_progress)
        finally:
            options.reading.processes.end()
    lines = tuple(line for _, line in sorted(again.lines.items()))
    return Context(name, lines, rows.num_rows - first.num_rows, again.failures())


class _SecondReading:
    """The second reading of the documents with wanted occurrences."""

    def __init__(self, options: Options, width: int) -> None:
        self.waiting: dict[str, _Members] = defaultdict(lambda: defaultdict(list))
        """Occurrences to be found, by source, then member."""
        self.lines: dict[int, ContextLine] = {}
        """Occurrences that were found again, by number."""
        self._options = options
        self._width = width
        self._reasons: dict[str, str] = {}

    def octets(self, arguments: Sequence[Argument]) -> int | None:
        """The octets of the inputs with wanted occurrences, for the progress; None if unknown."""
        if not all(isinstance(argument, str) for argument in arguments):
            return None  # an index, whose files take a request each
        sizes = [octets_of(found) for found in self._found(arguments) if isinstance(found, Input)]
        return None if None in sizes else sum(size or 0 for size in sizes)

    def read(self, arguments: Sequence[Argument], on_octets: Callable[[int], object]) -> None:
        """Read the inputs that the arguments name, as far as needed. `on_octets` is told of those that are done."""
        for found in self._found(arguments):
            name = found.source if isinstance(found, SourceError) else found.name
            self._reasons[name] = CHANGED
            if isinstance(found, SourceError):
                self._reasons[name] = found.reason
            elif found.size is None and found.remote is None:  # a pipe: opening it again could wait for ever
                self._reasons[name] = STREAM
            else:
                try:
                    self._input(found, self.waiting[name], on_octets)
                except SourceError as error:
                    self._reasons[name] = error.reason
            if not any(self.waiting[name].values()):
                del self.waiting[name]

    def failures(self) -> tuple[SourceError, ...]:
        """Failures of the inputs in which an occurrence was not found again."""
        return tuple(
            SourceError(name, f"{self._reasons.get(name, GONE)}: {counted(missing, 'occurrence')} left out")
            for name, members in self.waiting.items()
            if (missing := sum(map(len, members.values())))
        )

    def _found(self, arguments: Sequence[Argument]) -> Iterator[Input | SourceError]:
        """Find the inputs with wanted occurrences, in the way of the scan: a name alone is not enough to open all."""
        for found in find_listed(arguments, self._options.selection) if self.waiting else ():
            if isinstance(found, Listed):
                yield from (found.input(number) for number, name in enumerate(found.names) if name in self.waiting)
            elif (found.source if isinstance(found, SourceError) else found.name) in self.waiting:
                yield found
            if not self.waiting:
                return

    def _input(self, source: Input, members: _Members, on_octets: Callable[[int], object]) -> None:
        """Find the wanted occurrences of an input. Raises SourceError."""
        left = source.size or 0

        def count(octets: int) -> None:
            nonlocal left
            left -= octets
            on_octets(octets)

        try:
            with closing(texts_of(source, self._options, count)) as texts:
                for member, open_text in texts:
                    if members.get(member):
                        members[member] = self._text(Text(open_text(), self._width), members[member])
                    if not any(members.values()):
                        return
        finally:
            on_octets(max(left, 0))  # the octets behind the last wanted occurrence

    def _text(self, text: Text, wanted: Sequence[tuple[int, Wanted]]) -> list[tuple[int, Wanted]]:
        """Find the wanted occurrences of a text; returns those that are not in it.

        An archive may have several members of one name. So of several occurrences at one place the first is taken
        here, and the others are looked for in the next member.
        """
        rest = []
        for number, each in sorted(wanted, key=lambda item: (item[1].start, item[0])):
            found = text.find(each)
            if found is None:
                rest.append((number, each))
            else:
                self.lines[number] = ContextLine(*found, each.source, each.member, each.start, each.line)
        return rest
