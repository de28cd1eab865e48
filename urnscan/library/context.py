"""Keyword in context: the text around the occurrences of a class, from inputs that are read a second time."""

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
from urnscan.formats.context import full_name
from urnscan.inputs.arguments import find_listed
from urnscan.library.passages import CHANGED, GONE, Text, Wanted, check_width, name_of, texts_of, why_unreadable
from urnscan.library.shared import watched
from urnscan.run.options import Options
from urnscan.run.tasks import Argument, bytes_of
from urnscan.stores.input import Input, Listed
from urnscan.urn.namespaces import namespace_form
from urnscan.urn.parser import URN, parse

if TYPE_CHECKING:
    import pandas as pd


_Members = dict[str | None, list[tuple[int, Wanted]]]
"""Member -> the occurrences to find, each with a number."""


class ContextLine(NamedTuple):
    """An occurrence and the text on both sides. Bytes that are not UTF-8 become U+FFFD."""

    before: str
    """Characters before the occurrence, with line ends: at most as many as the argument `width` of `Scan.context`."""
    text: str
    """The occurrence as in the document: encoded, if a view (a decoding such as `percent`) found it."""
    after: str
    """Characters after the occurrence: at most `width`."""
    source: str
    """The path or URL of the input."""
    member: str | None
    """The path of the document in the input, an archive or a table; None if the document is the input itself."""
    start: int
    """Byte offset of the occurrence, from 0, in the document (as UTF-8, if its encoding was converted) or in the value
    of a table.
    """
    line: int
    """Number of the line in which the occurrence begins, from 1."""

    @property
    def place(self) -> str:
        """The place of the occurrence in the form that the command prints: `source!/member:line`, or `source:line`
        without a member.
        """
        return f"{full_name(self.source, self.member)}:{self.line}"


_COLUMNS = pa.schema({name: pa.int64() if name in ("start", "line") else pa.string() for name in ContextLine._fields})


def _namespace_hint(name: str, options: Options) -> str:
    """End of an error message about a name that is not in a scan: its form at the level `namespace`. Empty if that is
    the same, or if the scan had this level.
    """
    form = namespace_form(name, options.level.rulebook)
    if options.level.by_namespace or form == name:
        return ""
    return f'; with equivalence="namespace" a scan treats it as {form}, like all its spellings'


@dataclass(frozen=True, repr=False)
class Context(Sequence[ContextLine]):
    """The occurrences of a class (of all URNs with the same canonical form) with the text around each; a sequence of
    `lines`.

    Terminals and notebooks show a concordance: a line for each occurrence, with all occurrences in the same column.
    """

    urn: str
    """The canonical form of the class."""
    lines: tuple[ContextLine, ...]
    """Occurrences in the order of the scan, without those that are no longer found: at most as many as the argument
    `limit` of `Scan.context`.
    """
    more: int = 0
    """Number of occurrences beyond `limit`, which were not searched."""
    failures: tuple[SourceError, ...] = ()
    """A failure for each input that could not be read again or has changed: why, and how many occurrences are missing
    in `lines`.
    """

    @overload
    def __getitem__(self, index: int) -> ContextLine: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[ContextLine, ...]: ...

    def __getitem__(self, index: int | slice) -> ContextLine | tuple[ContextLine, ...]:
        return self.lines[index]

    def __len__(self) -> int:
        return len(self.lines)

    def to_pandas(self) -> pd.DataFrame:
        """Convert `lines` to a pandas frame: a row for each, with the columns before, text, after, source, member,
        start, line.
        """
        frame: pd.DataFrame = pa.Table.from_pylist([line._asdict() for line in self.lines], _COLUMNS).to_pandas()
        return frame

    def __repr__(self) -> str:
        """A concordance for a terminal: the canonical form and the number of lines, a line for each occurrence with its
        place, and the failures.
        """
        rows = [(in_line(line.before), in_line(line.text), in_line(line.after), line.place) for line in self.lines]
        left, text, right = (max((width_of(row[column]) for row in rows), default=0) for column in range(3))
        lines = (
            f"{padded(row[0], left, right=True)}  {padded(row[1], text)}  {padded(row[2], right)}  {row[3]}"
            for row in rows
        )
        return "\n".join(map(printable, [self._title, *lines, *self._beyond, *map(str, self.failures)]))

    def _repr_html_(self) -> str:
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
    """The parts of a scan that are needed to read contexts: inputs, options, and the table of occurrences."""

    inputs: Sequence[Argument]
    options: Options
    occurrences: pa.Table


def read_context(scanned: Scanned, urn: str | URN, width: int, limit: int | None, progress: bool | None) -> Context:
    """Read the inputs of a scan again, and return the occurrences of a class with the text around each.

    `urn` is a URN of the class, in any spelling; `width` the number of characters on each side; `limit` the maximum
    number of occurrences, None for all; `progress` whether to show a bar, None in interactive sessions. `failures` of
    the result counts the occurrences that are not found again. Raises InvalidURN if `urn` is not a URN; ArgumentError
    if the class is not in the scan, or for a wrong `width` or `limit`.
    """
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
        raise ArgumentError(f"{name} was not found in this scan{_namespace_hint(name, options)}")
    first = rows if limit is None else rows.slice(0, limit)
    reading = _SecondReading(options, width)
    for number, row in enumerate(first.select(list(Wanted._fields)).to_pylist()):
        reading.pending[row["source"]][row["member"]].append((number, Wanted(**row)))
    with watched(progress, "reading", lambda: reading.byte_count(inputs)) as shown:
        try:
            reading.read(inputs, shown.on_progress)
        finally:
            options.reading.processes.end()
    lines = tuple(line for _, line in sorted(reading.lines.items()))
    return Context(name, lines, rows.num_rows - first.num_rows, reading.failures())


class _SecondReading:
    """Finds the text around wanted occurrences in a second reading: `read` moves them from `pending` to `lines`."""

    def __init__(self, options: Options, width: int) -> None:
        self.pending: dict[str, _Members] = defaultdict(lambda: defaultdict(list))
        """Source -> member -> occurrences that still must be found."""
        self.lines: dict[int, ContextLine] = {}
        """Number of an occurrence that was found -> the line."""
        self._options = options
        self._width = width
        self._reasons: dict[str, str] = {}

    def byte_count(self, arguments: Sequence[Argument]) -> int | None:
        # Finding the sizes of the files that an index names would take a request for each file.
        if not all(isinstance(argument, str) for argument in arguments):
            return None
        sizes = [bytes_of(source) for source in self._wanted_inputs(arguments) if isinstance(source, Input)]
        return None if None in sizes else sum(size or 0 for size in sizes)

    def read(self, arguments: Sequence[Argument], on_bytes: Callable[[int], object]) -> None:
        """Read the inputs with wanted occurrences. `on_bytes` is called with numbers of bytes that were read, or need
        not be read.
        """
        for source in self._wanted_inputs(arguments):
            name = name_of(source)
            self._reasons[name] = why_unreadable(source) or CHANGED
            if isinstance(source, Input) and not why_unreadable(source):
                try:
                    self._read_input(source, self.pending[name], on_bytes)
                except SourceError as error:
                    self._reasons[name] = error.reason
            if not any(self.pending[name].values()):
                del self.pending[name]

    def failures(self) -> tuple[SourceError, ...]:
        return tuple(
            SourceError(name, f"{self._reasons.get(name, GONE)}: {counted(missing, 'occurrence')} left out")
            for name, members in self.pending.items()
            if (missing := sum(map(len, members.values())))
        )

    def _wanted_inputs(self, arguments: Sequence[Argument]) -> Iterator[Input | SourceError]:
        """Yield the inputs with occurrences in `pending`; an error for one that cannot be read."""
        # The arguments are searched for inputs again, because some inputs cannot be opened by their name alone.
        for source in find_listed(arguments, self._options.selection) if self.pending else ():
            if isinstance(source, Listed):
                yield from (source.input(number) for number, name in enumerate(source.names) if name in self.pending)
            elif name_of(source) in self.pending:
                yield source
            if not self.pending:
                return

    def _read_input(self, source: Input, members: _Members, on_bytes: Callable[[int], object]) -> None:
        """Move the wanted occurrences that are found in an input from `members` to `lines`. `on_bytes` is called with
        numbers of bytes that were read, and at the end with that of the unread rest.
        """
        remaining = source.size or 0

        def count(byte_count: int) -> None:
            nonlocal remaining
            remaining -= byte_count
            on_bytes(byte_count)

        try:
            with closing(texts_of(source, self._options, count)) as texts:
                for member, open_text in texts:
                    if members.get(member):
                        members[member] = self._read_text(Text(open_text(), self._width), members[member])
                    if not any(members.values()):
                        return
        finally:
            # The bytes after the last wanted occurrence are not read, but they are a part of the total.
            on_bytes(max(remaining, 0))

    def _read_text(self, text: Text, wanted: Sequence[tuple[int, Wanted]]) -> list[tuple[int, Wanted]]:
        """Add the wanted occurrences (with their numbers in the scan) that are found in a text to `lines`, and return
        the others. Of several occurrences with the same start, the first is found in this text, and the rest in later
        members with the same name.
        """
        missing = []
        for number, match in sorted(wanted, key=lambda item: (item[1].start, item[0])):
            passage = text.find(match)
            if passage is None:
                missing.append((number, match))
            else:
                self.lines[number] = ContextLine(*passage[:3], match.source, match.member, match.start, match.line)
        return missing
