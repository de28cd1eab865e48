"""Worker of one thread: from a few inputs, or a part of a huge one, to pieces of the result."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.arrays.arrow import number_array, text_array
from urnscan.errors import DamageError, LimitError, SourceError
from urnscan.run.failures import NO_PLACE
from urnscan.run.options import Options
from urnscan.run.pieces import Counts, Done, Failed, Piece, Rows
from urnscan.run.tasks import Files, Part, Sizes, Task
from urnscan.run.together import Together, Where
from urnscan.scanner.blocks import END, Matches, Rejects
from urnscan.scanner.views import make_scanner, separators
from urnscan.sources import HEAD, Document, Input, Listed, Read, Values, doubts, is_plain, open_documents, open_range
from urnscan.tables.rows import Found, canonical_column, reject_rows
from urnscan.tables.values import count_octets, scan_values

__all__ = ["Work", "Worker"]

_LF = 10
_ReadInto = Callable[[memoryview], int]


@dataclass(frozen=True, slots=True)
class Work:
    """Options and callbacks that the workers of a run share."""

    options: Options
    sizes: Sizes
    want_occurrences: bool
    want_partial: bool
    want_rejects: bool
    on_read: Callable[[int], object]
    """Called from any thread with the number of octets of the inputs that were read."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """Matches or rejects, with the place of each: arrays of equal length."""

    found: Matches | Rejects
    offset: npt.NDArray[np.int64]
    """Octets from the beginning of the text."""
    line: npt.NDArray[np.int64]
    source: npt.NDArray[np.int32]
    """The input, as an index in `names` and `places`."""
    names: Sequence[str]
    places: npt.NDArray[np.int32]
    member: pa.StringArray | None


class Worker:
    """Does tasks in one thread, with its own buffers."""

    def __init__(self, work: Work) -> None:
        self._work = work
        grammar = work.options.grammar(
            count_lines=work.want_occurrences or work.want_rejects, rejects=work.want_rejects
        )
        recover = work.options.recover
        shared = separators(recover) if recover else None
        self._separators = bytes(octet for octet in grammar.separators if shared is None or octet in shared)
        self._scanner = make_scanner(grammar, recover)
        self._together = Together(work.sizes, self._separators[0])
        self._doubts = doubts(work.options.reading)
        self._inputs = self._octets = 0  # of the task at hand

    def work(self, task: Task) -> Iterator[Piece]:
        """Do a task; yields its pieces, the last of which is Done."""
        self._inputs = self._octets = 0
        lines = 0
        match task:
            case Files():
                yield from self._files(task)
                yield from self._scan_together()
            case Part():
                lines = yield from self._part(task)
            case SourceError():
                yield _failure(NO_PLACE, task.source, task)
        yield Done(Counts(inputs=self._inputs, octets=self._octets), lines)

    def _files(self, task: Files) -> Iterator[Piece]:
        """Scan inputs next to each other."""
        place = task.place
        for run in task.inputs:
            if isinstance(run, Listed):
                yield from self._listed(place, run)
                place += len(run)
            else:
                yield from self._input(place, run)
                place += 1

    def _listed(self, place: int, files: Listed) -> Iterator[Piece]:
        """Scan small files, of which `place` is the first one's: those that are plain text are read at one go."""
        together, names = self._together, files.names
        at, most = 0, len(files)
        while at < len(files):
            if together.is_full:
                yield from self._scan_together()
            read = together.read(files, at, min(at + most, len(files)), self._doubts)
            count = self._count_plain(files, at, read)
            octets = int(read.lengths[:count].sum())
            if count:
                together.add_read(read.lengths[:count], place + at, names[at : at + count])
                self._work.on_read(octets)
                self._inputs += count
                self._octets += octets
            at += count
            most *= 2
            if count < len(read.lengths) or read.is_stuck:
                yield from self._input(place + at, files.input(at))
                at += 1
                most = 1  # what is behind it was read in vain, and the next one may be of its kind

    def _count_plain(self, files: Listed, first: int, read: Read) -> int:
        """The number of files that are plain text, up to the first one that is not."""
        if not len(read.doubtful):
            return len(read.lengths)
        starts = np.cumsum(read.lengths + 1) - (read.lengths + 1)
        for number in read.doubtful.tolist():
            length = int(read.lengths[number])
            head = self._together.following(int(starts[number]), min(length, HEAD))
            source, is_whole = files.input(first + number), len(head) == length
            if not is_plain(source, head, is_whole=is_whole, reading=self._work.options.reading):
                return int(number)
        return len(read.lengths)

    def _input(self, place: int, source: Input) -> Iterator[Piece]:
        """Scan all that is in an input."""
        octets, has_failed = self._octets, False
        try:
            with closing(open_documents(source, self._work.options.reading, self._work.on_read)) as documents:
                for document in documents:
                    for piece in self._document(document, place, source):
                        has_failed |= isinstance(piece, Failed)
                        yield piece
        except SourceError as error:
            has_failed = True
            yield _failure(place, source.name, error)
        self._inputs += self._octets > octets or not has_failed

    def _document(self, document: Document | Values | SourceError, place: int, source: Input) -> Iterator[Piece]:
        """Scan one of the things that are in an input. Raises LimitError."""
        match document:
            case SourceError():
                yield _failure(place, source.name, document)
            case Values():
                yield from self._values(document, Where(place, source.name))
            case Document(None, reader) if source.size is None:  # a pipe: nothing waits for its end
                yield from self._stream(_Begun(reader.read_into, is_pipe=True), Where(place, source.name))
            case Document(member, reader):
                yield from self._text(reader.read_into, Where(place, source.name, member))

    def _text(self, read_into: _ReadInto, where: Where) -> Iterator[Piece]:
        """Scan a text; together with others if it is small. Raises LimitError."""
        together = self._together
        if together.is_full:
            yield from self._scan_together()
        try:
            if together.add(read_into, where):
                self._octets += together.ends[-1] - together.starts[-1]
                return
            error = None
        except SourceError as raised:
            error = raised
        # It is large, or not whole: what came before is scanned, then this on its own.
        text = _Begun(read_into, together.take_open(), error)
        yield from self._scan_together()
        yield from self._stream(text, where)

    def _stream(self, text: _Begun, where: Where) -> Iterator[Piece]:
        """Scan a text on its own, block by block. Raises LimitError."""
        scanner = self._scanner
        base = lines = 0
        is_whole = False
        while not is_whole:
            try:
                for matches in scanner.scan(text.read):
                    for found in _found_in(matches):
                        yield self._rows(_in_text(found, where, base, lines))
                is_whole = True
            except LimitError:
                self._octets += scanner.octets
                raise
            except SourceError as error:
                yield _failure(where.place, where.name, error)
                is_whole = not isinstance(error, DamageError)
            self._octets += scanner.octets
            base += scanner.octets
            lines += scanner.lines

    def _scan_together(self) -> Iterator[Piece]:
        """Scan the texts that lie together as one, and sort what is found by text."""
        together = self._together
        if together.starts:
            starts, ends = np.array(together.starts), np.array(together.ends)
            text = together.text[: together.filled]
            line_ends = np.flatnonzero(text == _LF) if self._scanner.grammar.count_lines else starts[:0]
            lines_before = np.searchsorted(line_ends, starts)
            for matches in self._scanner.scan_octets(text):
                for found in _found_in(matches):
                    which = found.locate(starts, ends)
                    placed = _Placed(
                        found,
                        offset=found.start - starts[which],
                        line=found.line - lines_before[which],
                        source=np.array(together.inputs, np.int32)[which],
                        names=together.names,
                        places=np.array(together.places, np.int32),
                        member=_members(together.members, which) if together.has_members else None,
                    )
                    yield self._rows(placed)
        together.clear()

    def _values(self, document: Values, where: Where) -> Iterator[Piece]:
        """Scan a column of values."""
        yield from self._scan_together()
        try:
            for hits in scan_values(self._scanner, document.values):
                for found, places in ((hits.matches, hits), (hits.matches.rejects, hits.rejects)):
                    if not found or places is None:
                        continue
                    placed = _Placed(
                        found,
                        offset=places.offset,
                        line=places.line,
                        source=np.zeros(len(found), np.int32),
                        names=[where.name],
                        places=np.array([where.place], np.int32),
                        member=text_array([document.place(value) for value in places.value.tolist()]),
                    )
                    yield self._rows(placed)
        except ValueError as error:
            yield _failure(where.place, where.name, SourceError(where.name, str(error)))
        self._octets += count_octets(document.values)

    def _part(self, task: Part) -> Generator[Piece, None, int]:
        """Scan a part of a huge file; returns the LF octets in it."""
        where = Where(task.place, task.input.name)
        try:
            reader = open_range(task.input, task.start, task.end, self._separators)
        except SourceError as error:
            yield _failure(where.place, where.name, error)
            return 0

        def read(view: memoryview) -> int:
            octets = reader.read_into(view)
            self._work.on_read(octets)
            return octets

        self._inputs = 1
        try:
            with reader:
                for matches in self._scanner.scan(read):
                    if reader.following is not None:  # the end of the part is not that of the file
                        matches.stop[matches.stop == END] = reader.following
                    for found in _found_in(matches):
                        yield self._rows(_in_text(found, where, reader.offset))
        except SourceError as error:
            yield _failure(where.place, where.name, error)
            self._inputs = int(self._scanner.octets > 0)
        self._octets = self._scanner.octets
        return self._scanner.lines

    def _rows(self, placed: _Placed) -> Rows:
        """The rows of matches or rejects, with the columns that the run wants."""
        work, found = self._work, placed.found
        if isinstance(found, Rejects):
            rejects = reject_rows(
                found,
                offset=placed.offset,
                line=placed.line,
                source=placed.source,
                names=placed.names,
                member=placed.member,
                syntax=self._scanner.grammar.syntax,
            )
            return Rows(Counts(rejects=len(found)), rejects=rejects)
        counts = Counts(occurrences=len(found), trimmable=int(np.count_nonzero(found.trailing)))
        if not work.want_occurrences and not work.want_partial:
            return Rows(counts)
        table = Found(
            matches=found,
            offset=placed.offset,
            line=placed.line,
            source=placed.source,
            names=placed.names,
            member=placed.member,
            urn=canonical_column(found, work.options.level),
        )
        places, names = placed.places, placed.names
        return Rows(
            counts,
            occurrences=table.occurrences() if work.want_occurrences else None,
            partial=table.partial(places) if work.want_partial else None,
            names={int(places[i]): names[i] for i in np.unique(placed.source)} if work.want_partial else {},
        )


class _Begun:
    """A text of which the front was read already: that comes first, then the error behind it, if any, then the rest."""

    def __init__(
        self, read_into: _ReadInto, head: bytes = b"", error: SourceError | None = None, *, is_pipe: bool = False
    ) -> None:
        """`read_into` gives what is behind the head; `is_pipe`: what it gives does not wait for more."""
        self._read_into = read_into
        self._is_pipe = is_pipe
        self._head = memoryview(head)
        self._error = error

    def read(self, view: memoryview) -> int:
        """Fill the front of the view; 0 at the end. Raises the error, and what `read_into` raises."""
        if self._head:
            octets = min(len(self._head), len(view))
            view[:octets] = self._head[:octets]
            self._head = self._head[octets:]
            return octets
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        octets = 0
        while octets < len(view):
            try:
                more = self._read_into(view[octets:])
            except SourceError as error:
                if not octets:
                    raise
                self._error = error  # once what came before it was scanned
                break
            octets += more
            if not more or self._is_pipe:
                break
        return octets


def _in_text(found: Matches | Rejects, where: Where, base: int = 0, lines: int = 0) -> _Placed:
    """Places in one text, whose scanned part begins at octet `base`, behind `lines` LF."""
    return _Placed(
        found,
        offset=found.start + base,
        line=found.line + lines,
        source=np.zeros(len(found), np.int32),
        names=[where.name],
        places=np.array([where.place], np.int32),
        member=None if where.member is None else _members([where.member], np.zeros(len(found), np.int32)),
    )


def _failure(place: int, name: str, error: SourceError) -> Failed:
    # It is kept to the end of the run; what it was raised from and through would keep the buffers of all readers.
    error.__cause__ = error.__context__ = None
    return Failed(place, name, error.with_traceback(None))


def _found_in(matches: Matches) -> Iterator[Matches | Rejects]:
    """The matches and the rejects that came with them, those of which there are any."""
    if len(matches):
        yield matches
    if matches.rejects is not None and len(matches.rejects):
        yield matches.rejects


def _members(members: Sequence[str | None], which: npt.NDArray[np.int32]) -> pa.StringArray:
    """The members of matches, of which `which` are the indices."""
    some, index = np.unique(which, return_inverse=True)
    return text_array([members[i] for i in some.tolist()]).take(number_array(index.astype(np.int32)))
