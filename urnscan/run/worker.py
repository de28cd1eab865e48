"""The work of one thread: from a few inputs, or a part of a huge one, to pieces of the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.arrays.arrow import number_array, text_array
from urnscan.errors import DamageError, LimitError, SourceError
from urnscan.run.failures import NO_PLACE
from urnscan.run.options import Options
from urnscan.run.pieces import Dates, Held, Piece
from urnscan.run.tasks import Files, Part, Sizes, Task
from urnscan.scanner.blocks import END, Matches, Rejects
from urnscan.scanner.views import make_scanner, separators
from urnscan.sources import (
    HEAD,
    Checks,
    Document,
    Doubts,
    Input,
    Listed,
    Read,
    Values,
    doubts,
    is_plain,
    open_documents,
    open_range,
    read_together,
)
from urnscan.tables.rows import Found, canonical_column, reject_rows
from urnscan.tables.values import count_octets, scan_values

__all__ = ["Work", "Worker"]

_TEXTS = 1 << 14  # texts that are scanned as one, at most
_LF = 10
_ReadInto = Callable[[memoryview], int]


@dataclass(frozen=True, slots=True)
class Work:
    """What the workers of a run share."""

    options: Options
    sizes: Sizes
    want_occurrences: bool
    want_partial: bool
    want_rejects: bool
    on_read: Callable[[int], object]
    """Is told, in any thread, how many octets of the inputs were read."""
    spill_folder: Callable[[], Path]


@dataclass(frozen=True, slots=True)
class _Where:
    """Where a text stands."""

    place: int
    name: str
    member: str | None = None


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
        self._checks = Checks()
        self._held = Held(self._checks, work.spill_folder)
        self._together = _Together(work.sizes, self._separators[0], self._checks)
        self._doubts = doubts(work.options.reading)
        self._inputs = self._octets = 0  # that were read, and not yet told

    def work(self, task: Task) -> Iterator[Piece]:
        """The pieces that come out of a task."""
        match task:
            case Files():
                yield from self._files(task)
                yield from self._scan_together()
                yield from self._settle()
                yield Piece(inputs=self._inputs, octets=self._octets)
                self._inputs = self._octets = 0
            case Part():
                yield from self._part(task)
            case SourceError():
                yield _failure(NO_PLACE, task.source, task)

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
                yield from self._settle()
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
        """How many of the files that were read are plain text, up to the first one that is not."""
        if not len(read.doubtful):
            return len(read.lengths)
        starts = np.cumsum(read.lengths + 1) - (read.lengths + 1)
        for number in read.doubtful.tolist():
            length = int(read.lengths[number])
            head = self._together.following(int(starts[number]), min(length, HEAD))
            source, is_whole = files.input(first + number), len(head) == length
            if not is_plain(source, head, is_whole=is_whole, reading=self._work.options.reading, checks=self._checks):
                return int(number)
        return len(read.lengths)

    def _input(self, place: int, source: Input) -> Iterator[Piece]:
        """Scan all that is in an input."""
        octets, has_failed = self._octets, False
        checks = self._checks
        try:
            with closing(open_documents(source, self._work.options.reading, checks, self._work.on_read)) as documents:
                checks.since = checks.now
                for document in documents:
                    for piece in self._document(document, place, source):
                        has_failed |= piece.failure is not None
                        yield piece
                    checks.since = checks.now
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
                yield from self._values(document, _Where(place, source.name))
            case Document(None, reader) if source.size is None:  # a pipe: nothing waits for its end
                yield from self._stream(_Begun(reader.read_into, Dates(self._checks)), _Where(place, source.name))
            case Document(member, reader):
                yield from self._text(reader.read_into, _Where(place, source.name, member))

    def _text(self, read_into: _ReadInto, where: _Where) -> Iterator[Piece]:
        """Scan a text; together with others if it is small. Raises LimitError."""
        together = self._together
        if together.is_full:
            yield from self._scan_together()
            yield from self._held.release()  # to forget what was refused is too early: some of this text may be read
        try:
            if together.add(read_into, where):
                self._octets += together.ends[-1] - together.starts[-1]
                return
            error = None
        except SourceError as raised:
            error = raised
        # It is large, or not whole: what came before is scanned, then this on its own.
        head, dates = together.take_open()
        yield from self._scan_together()
        yield from self._stream(_Begun(read_into, dates, head, error), where)
        yield from self._settle()

    def _stream(self, text: _Begun, where: _Where) -> Iterator[Piece]:
        """Scan a text on its own, block by block. Raises LimitError."""
        scanner = self._scanner
        base = lines = 0
        is_whole = False
        while not is_whole:
            try:
                for matches in scanner.scan(text.read):
                    for found in _found_in(matches):
                        piece = self._piece_of(found, where, base, lines)
                        yield from self._held.add(piece, found, text.dates.of(found))
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
            text = text.rest(self._checks)
            yield from self._settle()

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
                    piece = self._piece(
                        found,
                        offset=found.start - starts[which],
                        line=found.line - lines_before[which],
                        source=np.array(together.inputs, np.int32)[which],
                        names=together.names,
                        places=np.array(together.places, np.int32),
                        member=_members(together.members, which) if together.has_members else None,
                    )
                    yield from self._held.add(piece, found, together.dates.of(found))
        together.clear()

    def _settle(self) -> Iterator[Piece]:
        """Give what waits no longer; no text may be begun. What was refused may be forgotten when nothing waits at all."""
        yield from self._held.release()
        if self._held.is_empty:
            self._checks.forget()

    def _values(self, document: Values, where: _Where) -> Iterator[Piece]:
        """Scan a column of values."""
        checks = self._checks
        given_last = ((0, checks.since, checks.now),)
        begins, first, last = np.array(document.dates or given_last).T
        yield from self._scan_together()
        try:
            for hits in scan_values(self._scanner, document.values):
                for found, places in ((hits.matches, hits), (hits.matches.rejects, hits.rejects)):
                    if not found or places is None:
                        continue
                    piece = self._piece(
                        found,
                        offset=places.offset,
                        line=places.line,
                        source=np.zeros(len(found), np.int32),
                        names=[where.name],
                        places=np.array([where.place], np.int32),
                        member=text_array([document.place(value) for value in places.value.tolist()]),
                    )
                    run = np.searchsorted(begins, places.value, side="right") - 1
                    yield from self._held.add(piece, found, (first[run], last[run]))
        except ValueError as error:
            yield _failure(where.place, where.name, SourceError(where.name, str(error)))
        self._octets += count_octets(document.values)

    def _part(self, task: Part) -> Iterator[Piece]:
        place, name = task.place, task.input.name
        try:
            reader = open_range(task.input, task.start, task.end, self._separators)
        except SourceError as error:
            yield _failure(place, name, error, part_of=place)
            return

        def read(view: memoryview) -> int:
            octets = reader.read_into(view)
            self._work.on_read(octets)
            return octets

        inputs = 1
        try:
            with reader:
                for matches in self._scanner.scan(read):
                    if reader.following is not None:  # the end of the part is not that of the file
                        matches.stop[matches.stop == END] = reader.following
                    for found in _found_in(matches):
                        yield self._piece_of(found, _Where(place, name), reader.offset, part_of=place)
        except SourceError as error:
            yield _failure(place, name, error, part_of=place)
            inputs = int(self._scanner.octets > 0)
        scanner = self._scanner
        yield Piece(inputs=inputs, octets=scanner.octets, part_of=place, part_lines=scanner.lines)

    def _piece_of(
        self, found: Matches | Rejects, where: _Where, base: int = 0, lines: int = 0, part_of: int | None = None
    ) -> Piece:
        """The piece of what was found in one text, whose part that was scanned begins at `base`, behind `lines` LF."""
        return self._piece(
            found,
            offset=found.start + base,
            line=found.line + lines,
            source=np.zeros(len(found), np.int32),
            names=[where.name],
            places=np.array([where.place], np.int32),
            member=None if where.member is None else _members([where.member], np.zeros(len(found), np.int32)),
            part_of=part_of,
        )

    def _piece(
        self,
        found: Matches | Rejects,
        *,
        offset: npt.NDArray[np.int64],
        line: npt.NDArray[np.int64],
        source: npt.NDArray[np.int32],
        names: Sequence[str],
        places: npt.NDArray[np.int32],
        member: pa.StringArray | None,
        part_of: int | None = None,
    ) -> Piece:
        work = self._work
        if isinstance(found, Rejects):
            rows = reject_rows(
                found,
                offset=offset,
                line=line,
                source=source,
                names=names,
                member=member,
                syntax=self._scanner.grammar.syntax,
            )
            return Piece(rejects=rows, part_of=part_of)
        trimmable = int(np.count_nonzero(found.trailing))
        if not work.want_occurrences and not work.want_partial:
            return Piece(found=len(found), trimmable=trimmable, part_of=part_of)
        table = Found(
            matches=found,
            offset=offset,
            line=line,
            source=source,
            names=names,
            member=member,
            urn=canonical_column(found, work.options.level),
        )
        return Piece(
            found=len(found),
            occurrences=table.occurrences() if work.want_occurrences else None,
            partial=table.partial(places) if work.want_partial else None,
            names={int(places[i]): names[i] for i in np.unique(source)} if work.want_partial else {},
            trimmable=trimmable,
            part_of=part_of,
        )


class _Begun:
    """A text of which something may have been read already: that comes first, then the error behind it, if any."""

    def __init__(self, read_into: _ReadInto, dates: Dates, head: bytes = b"", error: SourceError | None = None) -> None:
        """`read_into` gives what is behind the head; `dates` are those of the head, and go on with what is read."""
        self.dates = dates
        self._read_into = read_into
        self._head = memoryview(head)
        self._error = error
        self._at = len(head)

    def read(self, view: memoryview) -> int:
        """What comes next. Raises the error, and what `read_into` raises."""
        if self._head:
            octets = min(len(self._head), len(view))
            view[:octets] = self._head[:octets]
            self._head = self._head[octets:]
            return octets
        if self._error is not None:
            raise self._error
        octets = 0
        while True:
            try:
                more = self.dates.read(self._read_into, view[octets:], self._at)
            except SourceError as error:
                if not octets:
                    raise
                self._error = error  # when what came before it was scanned
                return octets
            octets += more
            self._at += more
            # Members of a compressed text may be many and small: they are gathered, or each of them would be a piece.
            if not more or octets == len(view) or not self.dates.are_open:
                return octets

    def rest(self, checks: Checks) -> _Begun:
        """What is behind an error, as a text of its own."""
        return _Begun(self._read_into, Dates(checks))


class _Together:
    """Small texts end to end, with an octet between them that no URN and no URL holds: scanned as one text."""

    def __init__(self, sizes: Sizes, separator: int, checks: Checks) -> None:
        self.text = np.empty(sizes.together + sizes.part, np.uint8)
        self._full = sizes.together
        self._view = self.text.data
        self._separator = separator
        self.dates = Dates(checks)
        self.clear()

    def clear(self) -> None:
        """Begin anew."""
        self.filled = 0
        self.dates.clear()
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.inputs: list[int] = []
        """The input of each text, as an index in `places` and `names`."""
        self.members: list[str | None] = []
        self.has_members = False
        self.places: list[int] = []
        self.names: list[str] = []

    @property
    def is_full(self) -> bool:
        """Whether it is time to scan them."""
        return self.filled > self._full or len(self.starts) == _TEXTS

    def add(self, read_into: _ReadInto, where: _Where) -> bool:
        """Read a text to its end; False where there is no room for it. Then, and after an error, `take_open` has it.

        Raises SourceError like `read_into`.
        """
        self._open = self.filled
        while self.filled < len(self.text) - 1:
            octets = self.dates.read(read_into, self._view[self.filled : -1], self.filled)
            self.filled += octets
            if not octets:
                self._close(where)
                return True
        return False

    def read(self, files: Listed, first: int, last: int, doubts: Doubts) -> Read:
        """Read files from the first one up to the last, as far as there is room; they are behind the texts, and none yet."""
        last = min(last, first + _TEXTS - len(self.starts))
        full = self._full + 1 - self.filled
        room = self.text[self.filled : -1]
        return read_together(files, first, last, room, separator=self._separator, full=full, doubts=doubts)

    def following(self, start: int, count: int) -> bytes:
        """So many of the octets that are behind the texts."""
        return self.text[self.filled + start : self.filled + start + count].tobytes()

    def add_read(self, lengths: npt.NDArray[np.int64], place: int, names: Sequence[str]) -> None:
        """Append the files that were read, at least one, of which `place` is the first one's."""
        ends = self.filled + np.cumsum(lengths + 1)
        self.dates.read(len, self._view[self.filled : ends[-1]], self.filled)
        self.filled = int(ends[-1])
        self.inputs.extend(range(len(self.places), len(self.places) + len(names)))
        self.places.extend(range(place, place + len(names)))
        self.names.extend(names)
        self.ends.extend((ends - 1).tolist())
        self.starts.extend((ends - 1 - lengths).tolist())
        self.members.extend([None] * len(names))

    def take_open(self) -> tuple[bytes, Dates]:
        """What was read of a text that was not added, and when."""
        head = self.text[self._open : self.filled].tobytes()
        self.filled = self._open
        return head, self.dates.since(self._open)

    def _close(self, where: _Where) -> None:
        if not self.places or self.places[-1] != where.place:
            self.places.append(where.place)
            self.names.append(where.name)
        self.starts.append(self._open)
        self.ends.append(self.filled)
        self.inputs.append(len(self.places) - 1)
        self.members.append(where.member)
        self.has_members |= where.member is not None
        self.text[self.filled] = self._separator
        self.filled += 1


def _failure(place: int, name: str, error: SourceError, part_of: int | None = None) -> Piece:
    # It is kept to the end of the run; what it was raised from and through would keep the buffers of all readers.
    error.__cause__ = error.__context__ = None
    return Piece(failure=(place, name, error.with_traceback(None)), part_of=part_of)


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
