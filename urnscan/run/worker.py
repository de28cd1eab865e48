"""Worker: scans the inputs of a task, or a part of a huge input, and yields the results."""

from __future__ import annotations

import datetime as dt
import functools
import re
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.compiled.arrow import number_array, text_array
from urnscan.compiled.ascii import LF
from urnscan.errors import ArgumentError, DamageError, LimitError, SourceError, SourceNote
from urnscan.formats.buffer import Buffer
from urnscan.formats.byte_ranges import Extent, open_extents
from urnscan.formats.captures import Capture
from urnscan.formats.contents import Document, Label, Texts, Values
from urnscan.formats.declared_encodings import Declaring
from urnscan.formats.documents.marc_text import Subfields
from urnscan.formats.small_files import HEAD, SmallFiles
from urnscan.formats.unfold import doubts, is_plain, open_together
from urnscan.run.failures import NO_PLACE
from urnscan.run.options import Options
from urnscan.run.small_texts import Origin, SmallTexts
from urnscan.run.task_results import Counts, Done, Failed, ResultRows, TaskResult
from urnscan.run.tasks import FileGroup, FilePart, Sizes, Task
from urnscan.scanner.blocks import Matches, OtherReadings, Rejects, Scanner
from urnscan.scanner.kernel import END
from urnscan.scanner.scanners import make_scanner
from urnscan.scanner.views.kinds import separators
from urnscan.stores.files import open_range
from urnscan.stores.input import Input, Listed
from urnscan.stores.reader import Reader
from urnscan.tables.rows import OF_CAPTURES, MatchColumns, Places, canonical_column, reject_rows
from urnscan.tables.scanned_columns import count_bytes, scan_values

if TYPE_CHECKING:
    from urnscan.scanner.views.recovery import RecoveringScanner

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_ReadInto = Callable[[memoryview], int]
_Scanner: TypeAlias = "Scanner | RecoveringScanner"


class Worker:
    """Reads and scans the inputs of tasks in a single thread, with buffers that only this worker uses."""

    def __init__(
        self, options: Options, sizes: Sizes, tables: Collection[str], on_read: Callable[[int], object]
    ) -> None:
        """`tables` are names among `occurrences`, `classes` and `rejects`: only rows of these tables are made.

        `on_read` is called with the number of bytes of each read, in the thread of the worker.
        """
        count_lines = "occurrences" in tables or "rejects" in tables
        grammar = options.grammar(count_lines=count_lines, rejects="rejects" in tables)
        # None: there are no views, or a view (such as `wraps`) for which no byte separates texts. Then all separators of the
        # grammar are used.
        of_views = separators(options.recover) if options.recover else None
        self.on_read = on_read
        self._options = options
        self._tables = tables
        self._separators = bytes(byte for byte in grammar.separators if of_views is None or byte in of_views)
        self._scanner = make_scanner(grammar, options.recover)
        self._small = SmallTexts(sizes, self._separators[0])
        # The scanner of the small texts that are collected now.
        self._of_small = self._scanner
        self._doubts = doubts(options.reading)
        # State of the current task: number of bytes that were scanned, and the names of the inputs that count.
        self._bytes = 0
        self._names: list[str] = []

    def work(self, task: Task) -> Iterator[TaskResult]:
        """Read and scan the inputs of a task. Yields ResultRows and Failed (failures and notes), and at the end Done.

        Failures of inputs are yielded, not raised. The results of a task must be read to the end before the next call.
        """
        self._bytes = 0
        self._names = []
        lines, left_out = 0, self._left_out()
        match task:
            case FileGroup():
                yield from self._group(task)
                yield from self._scan_small()
            case FilePart():
                lines = yield from self._part(task)
            case SourceError():
                yield _failure(Origin(NO_PLACE, task.source), task)
        counts = Counts(inputs=len(self._names), byte_count=self._bytes, left_out=self._left_out() - left_out)
        yield Done(counts, lines, self._names)

    def _group(self, task: FileGroup) -> Iterator[TaskResult]:
        place = task.place
        with closing(open_extents(source for source in task.inputs if isinstance(source, Input))) as extents:
            for entry in task.inputs:
                if isinstance(entry, Listed):
                    yield from self._small_files(place, entry)
                    place += len(entry)
                else:
                    yield from self._input(place, entry, extents)
                    place += 1

    def _small_files(self, place: int, files: Listed) -> Iterator[TaskResult]:
        """Scan small files, many of plain text at once; the last texts wait for `_scan_small`. `place`: number of the
        first file.
        """
        small, names = self._small, files.names
        at, most = 0, len(files)
        while at < len(files):
            yield from self._make_room(self._scanner)
            read = small.read(files, at, min(at + most, len(files)), self._doubts)
            count = self._count_plain(files, at, read)
            byte_count = int(read.lengths[:count].sum())
            if count:
                small.add_read(read.lengths[:count], place + at, names[at : at + count])
                self.on_read(byte_count)
                self._names += names[at : at + count]
                self._bytes += byte_count
            at += count
            most *= 2
            if count < len(read.lengths) or read.is_stuck:
                yield from self._input(place + at, files.input(at))
                at += 1
                # The files after this file must be read again. The next file may be of the same kind, so only one is read.
                most = 1

    def _count_plain(self, files: Listed, first: int, read: SmallFiles) -> int:
        """The number of files of `read` (from index `first` of `files` on) before the first that is not plain text."""
        if not len(read.doubtful):
            return len(read.lengths)
        starts = np.cumsum(read.lengths + 1) - (read.lengths + 1)
        for number in read.doubtful.tolist():
            length = int(read.lengths[number])
            head = self._small.following(int(starts[number]), min(length, HEAD))
            source, is_whole = files.input(first + number), len(head) == length
            if not is_plain(source, head, is_whole=is_whole, reading=self._options.reading):
                return int(number)
        return len(read.lengths)

    def _input(self, place: int, source: Input, extents: Iterator[Extent] | None = None) -> Iterator[TaskResult]:
        """Scan all texts of an input; small ones wait for `_scan_small`. `extents`: byte ranges of this input and the
        next ones; only those of this input are taken.
        """
        before, has_failed = self._bytes, False
        try:
            with closing(open_together(source, self._options.reading, self.on_read, extents)) as documents:
                for document in documents:
                    for piece in self._document(document, place, source):
                        has_failed |= isinstance(piece, Failed) and not isinstance(piece.error, SourceNote)
                        yield piece
        except SourceError as error:
            has_failed = True
            yield _failure(Origin(place, source.name), error)
        if self._bytes > before or not has_failed:
            self._names.append(source.name)

    def _document(
        self, document: Document | Texts | Values | SourceError, place: int, source: Input
    ) -> Iterator[TaskResult]:
        """Scan a text of an input, several texts of members, or a column of values. Small texts wait for `_scan_small`."""
        origin = Origin(place, source.name)
        match document:
            case SourceError():
                yield _failure(origin, document)
            case Values():
                yield from self._values(document, Origin(place, source.name, capture=document.capture))
            case Texts():
                yield from self._texts(document, origin)
            case Document(reader=reader, delimiter=re.Pattern() as delimiter):
                plain = replace(document, reader=Subfields(reader, delimiter), delimiter=None)
                yield from self._document(plain, place, source)
            # Matches in a pipe must not wait until other texts are read.
            case Document(None, reader) if source.size is None:
                yield from self._stream(reader.read_into, origin, self._scanner)
            case Document(member, reader, _, capture):
                scanner = self._of_lines if document.is_set_in_lines else self._scanner
                yield from self._text(reader, Origin(place, source.name, member, capture), scanner)

    def _texts(self, texts: Texts, origin: Origin) -> Iterator[TaskResult]:
        """Scan small texts of an archive, at once or with the next `_scan_small`."""
        if not self._small.has_room(texts):
            yield from self._scan_small()
        yield from self._make_room(self._scanner)
        if self._small.has_room(texts):
            self._bytes += self._small.add_texts(texts, origin)
        else:
            for member in texts.documents():
                member_origin = Origin(origin.place, origin.name, member.member, member.capture)
                yield from self._text(member.reader, member_origin, self._scanner)

    def _text(self, reader: Reader, origin: Origin, scanner: _Scanner) -> Iterator[TaskResult]:
        """Scan a text. A small one is only added to the small texts: its results come with a later text, or with
        `_scan_small`, which must follow the last.
        """
        small = self._small
        yield from self._make_room(scanner)
        try:
            if small.add(reader.read_into, origin):
                self._bytes += small.ends[-1] - small.starts[-1]
                return
            error = None
        except SourceError as raised:
            error = raised
        # The text is large, or damaged: scan the earlier texts, then this text separately.
        text = Buffer(reader, front=small.take_open(), error=error)
        yield from self._scan_small()
        yield from self._stream(text.fill, origin, scanner)

    @functools.cached_property
    def _of_lines(self) -> _Scanner:
        """The scanner of texts that a program has broken into lines, as in mail."""
        recover = {*self._options.recover, "wraps"}
        return self._scanner if recover == {*self._options.recover} else make_scanner(self._scanner.grammar, recover)

    def _left_out(self) -> int:
        return sum(scanner.left_out for scanner in {self._scanner, vars(self).get("_of_lines", self._scanner)})

    def _stream(self, read: _ReadInto, origin: Origin, scanner: _Scanner) -> Iterator[TaskResult]:
        """Scan a text separately, block by block; after damage, the rest, too."""
        base = lines = 0
        is_whole = False
        text = Declaring(read, origin.capture)
        scanner.multi_byte.characters_at = text.characters_at
        while not is_whole:
            try:
                for matches in scanner.scan(text.read_into):
                    for batch in _matches_and_rejects(matches):
                        yield self._rows_in(origin, batch, batch.start + base, batch.line + lines)
                is_whole = True
            except LimitError:
                self._bytes += scanner.byte_count
                raise
            except SourceError as error:
                yield _failure(origin, error)
                is_whole = not isinstance(error, DamageError)
            self._bytes += scanner.byte_count
            base += scanner.byte_count
            lines += scanner.lines

    def _make_room(self, scanner: _Scanner) -> Iterator[TaskResult]:
        if self._small.is_full or self._of_small is not scanner:
            yield from self._scan_small()
            self._of_small = scanner

    def _scan_small(self) -> Iterator[TaskResult]:
        """Scan the small texts as a single text, and empty the buffer."""
        small = self._small
        if small.starts:
            starts, ends = np.array(small.starts), np.array(small.ends)
            text = small.text[: small.filled]
            line_ends = np.flatnonzero(text == LF) if self._scanner.grammar.count_lines else starts[:0]
            lines_before = np.searchsorted(line_ends, starts)
            self._of_small.multi_byte.characters_at = small.characters_at
            for matches in self._of_small.scan_bytes(text):
                for batch in _matches_and_rejects(matches):
                    texts = batch.locate(starts, ends)
                    places = Places(
                        batch.start - starts[texts],
                        batch.line - lines_before[texts],
                        np.array(small.inputs, np.int32)[texts],
                        small.names,
                        *(self._label_columns(small.label, texts, small.has_captures) if small.has_members else ()),
                    )
                    yield self._rows(batch, places, small.places)
        small.clear()

    def _values(self, document: Values, origin: Origin) -> Iterator[TaskResult]:
        yield from self._scan_small()
        self._scanner.multi_byte.characters_at = None
        try:
            for hits in scan_values(self._scanner, document.values):
                for batch, places in ((hits.matches, hits), (hits.matches.rejects, hits.rejects)):
                    if batch and places is not None:
                        member = text_array([document.place(value) for value in places.value.tolist()])
                        yield self._rows_in(origin, batch, places.start, places.line, member)
        except ArgumentError as error:
            # A value is too long.
            yield _failure(origin, SourceError(origin.name, str(error)))
        self._bytes += count_bytes(document.values)

    def _part(self, task: FilePart) -> Generator[TaskResult, None, int]:
        """Scan a part of a huge file; returns the number of LF bytes in it (0 if lines are not counted)."""
        origin = Origin(task.place, task.input.name)
        try:
            reader = open_range(task.input, task.start, task.end, self._separators)
        except SourceError as error:
            yield _failure(origin, error)
            return 0

        def read(view: memoryview) -> int:
            count = reader.read_into(view)
            self.on_read(count)
            return count

        # A file that declares an encoding of several bytes is not split.
        self._scanner.multi_byte.characters_at = None
        try:
            with reader:
                for matches in self._scanner.scan(read):
                    # The part ends, but the file does not: the next byte of the file ends a match at the end of the part.
                    if reader.following is not None:
                        matches.stop[matches.stop == END] = reader.following
                    for batch in _matches_and_rejects(matches):
                        yield self._rows_in(origin, batch, batch.start + reader.offset, batch.line)
            has_failed = False
        except SourceError as error:
            yield _failure(origin, error)
            has_failed = True
        self._bytes = self._scanner.byte_count
        if self._bytes or not has_failed:
            self._names.append(origin.name)
        return self._scanner.lines

    def _rows_in(
        self,
        origin: Origin,
        batch: Matches | Rejects,
        start: npt.NDArray[np.int64],
        line: npt.NDArray[np.int64],
        members: pa.StringArray | None = None,
    ) -> ResultRows:
        """The rows of matches or rejects in a single input; `start` and `line` are their places in the text, `members`
        their members, if `origin` has none.
        """
        first = np.zeros(len(batch), np.int32)
        captures: Sequence[pa.Array] | None = None
        if origin.member is not None or origin.capture is not None:
            label = Label(origin.member, origin.capture)
            columns = self._label_columns(lambda _: label, first, has_captures=label.capture is not None)
            members, captures = members or columns[0], columns[1]
        return self._rows(batch, Places(start, line, first, [origin.name], members, captures), [origin.place])

    def _label_columns(
        self, label_of: Callable[[int], Label], numbers_of_labels: npt.NDArray[np.int32], has_captures: bool
    ) -> tuple[pa.StringArray, list[pa.Array] | None]:
        """The columns of members and of captures; the latter are None if they are not needed. `numbers_of_labels`: of
        each match, for `label_of`.
        """
        distinct, index = np.unique(numbers_of_labels, return_inverse=True)
        rows = number_array(index.astype(np.int32))
        labels = [label_of(number) for number in distinct.tolist()]
        members = text_array([label.member for label in labels]).take(rows)
        if not has_captures or "occurrences" not in self._tables:
            return members, None
        captures = [label.capture or Capture() for label in labels]
        columns = zip(
            *((_milliseconds(capture.captured), capture.status, capture.mime) for capture in captures), strict=True
        )
        return members, [pa.array(values, kind).take(rows) for kind, values in zip(OF_CAPTURES, columns, strict=True)]

    def _rows(self, batch: Matches | Rejects, places: Places, inputs: Sequence[int]) -> ResultRows:
        """The rows of matches or rejects for the tables that are made; `inputs` has the number in the run of each input
        in `places.names`.
        """
        if isinstance(batch, Rejects):
            rejects = reject_rows(batch, places, self._scanner.grammar.syntax)
            return ResultRows(Counts(rejects=len(batch)), rejects=rejects)
        readings = OtherReadings.of(batch, self._scanner.grammar)
        counts = Counts(occurrences=len(batch), **readings._asdict())
        if not {"occurrences", "classes"} & set(self._tables):
            return ResultRows(counts)
        level = self._options.level
        table = MatchColumns(batch, places, canonical_column(batch, level), level, self._scanner.grammar.syntax)
        occurrences = table.occurrences() if "occurrences" in self._tables else None
        if "classes" not in self._tables:
            return ResultRows(counts, occurrences)
        numbers = np.array(inputs, np.int32)
        names = {int(numbers[i]): places.names[i] for i in np.flatnonzero(np.bincount(places.source)).tolist()}
        return ResultRows(counts, occurrences, partial=table.partial(numbers), names=names)


def _failure(origin: Origin, error: SourceError) -> Failed:
    # The error is kept until the end of the run. Its causes would keep the buffers of all readers alive.
    error.__cause__ = error.__context__ = None
    return Failed(origin.place, origin.name, error.with_traceback(None))


def _matches_and_rejects(matches: Matches) -> Iterator[Matches | Rejects]:
    if len(matches):
        yield matches
    if matches.rejects is not None and len(matches.rejects):
        yield matches.rejects


def _milliseconds(moment: dt.datetime | None) -> int | None:
    # pyarrow would import pandas to make a column of datetimes.
    return None if moment is None else (moment - _EPOCH) // dt.timedelta(milliseconds=1)
