"""From inputs to tables: plan the work, do it in parallel, keep the order."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan import __version__
from urnscan.equivalence import Level, get_level
from urnscan.errors import FatalError, SourceError
from urnscan.grouping import Grouping
from urnscan.parallel import in_order
from urnscan.scanner import END, MAX_LENGTH, Grammar, Matches, Scanner
from urnscan.sources import (
    TEMPORARY_SUFFIX,
    Input,
    Selection,
    check_encoding,
    find_inputs,
    is_splittable,
    open_input,
    open_range,
)
from urnscan.syntax import get_syntax
from urnscan.tables import Found, canonical_column, class_rows

__all__ = ["Options", "Report", "Sink", "plan_size", "run"]

Sink = Callable[[pa.RecordBatch], None]
"""Takes batches of rows, in order."""

_PART = 8 << 20  # octets of a huge file that one task scans
_TOGETHER = 4 << 20  # octets of small files that one task scans as one text
_FILES = 512  # files of one task
_LONGEST = 1 << 28  # octets of a match: buffers hold two of them
_MOST_JOBS = 1024
_LF = 10
_ReadInto = Callable[[memoryview], int]


@dataclass(frozen=True)
class Options:
    """What a run goes by; the names and meanings are those of the command's options.

    Raises ValueError for a value that is none, FatalError for an unknown encoding.
    """

    syntax: str = "rfc2141"
    equivalence: str = "lexical"
    trim: bool = False
    max_length: int = MAX_LENGTH
    """Octets after which a match is cut."""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    follow: bool = False
    encoding: str | None = None
    jobs: int = field(
        default_factory=lambda: len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    )
    """Threads."""
    memory: int = 10**9
    """Octets that grouping may take before it spills to disk."""
    strict: bool = False

    def __post_init__(self) -> None:
        get_level(self.equivalence, self.syntax)
        for name in ("include", "exclude"):
            patterns = getattr(self, name)
            object.__setattr__(self, name, (patterns,) if isinstance(patterns, str) else tuple(patterns))
        self.grammar(count_lines=False)
        for name in ("jobs", "memory"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        for name, most in (("max_length", _LONGEST), ("jobs", _MOST_JOBS)):
            if getattr(self, name) > most:
                raise ValueError(f"{name} must be at most {most:,}")
        if self.encoding is not None:
            check_encoding(self.encoding)

    @cached_property
    def level(self) -> Level:
        """The level of equivalence."""
        return get_level(self.equivalence, self.syntax)

    @property
    def selection(self) -> Selection:
        """Which files of a folder are inputs."""
        return Selection(self.include, self.exclude, self.follow)

    def grammar(self, *, count_lines: bool) -> Grammar:
        """What the scanner goes by."""
        return Grammar(
            syntax=get_syntax(self.syntax),
            max_length=self.max_length,
            trim=self.trim,
            keep_query=self.level.keep_query,
            count_lines=count_lines,
        )


@dataclass
class Report:
    """What a run did."""

    inputs: int = 0
    """Inputs that were read, or of which a part was."""
    octets: int = 0
    """Octets of text that were scanned."""
    occurrences: int = 0
    classes: int | None = None
    """None where they were not asked for."""
    trimmable: int = 0
    """Occurrences that `trim` would have changed."""
    failures: list[SourceError] = field(default_factory=list)
    seconds: float = 0.0

    def metadata(self, options: Options) -> dict[str, Any]:
        """What the files say of themselves: nothing that differs between two runs with the same inputs and options."""
        return {
            "version": __version__,
            "syntax": options.syntax,
            "equivalence": options.equivalence,
            "trim": options.trim,
            "max_length": options.max_length,
            "counts": {
                "inputs": self.inputs,
                "failures": len(self.failures),
                "octets": self.octets,
                "occurrences": self.occurrences,
                "classes": self.classes,
            },
        }


@dataclass(frozen=True, slots=True)
class _Files:
    """A task: inputs that stand next to each other, from `place` on."""

    place: int
    inputs: tuple[Input, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """A task: the octets from `start` to `end` of a huge file, about."""

    place: int
    input: Input
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Piece:
    """What comes out of a task, bit by bit."""

    found: int = 0
    occurrences: pa.RecordBatch | None = None
    partial: pa.RecordBatch | None = None
    names: Mapping[int, str] = field(default_factory=dict)
    """The names of the inputs of `partial`, by their places."""
    inputs: int = 0
    octets: int = 0
    trimmable: int = 0
    failure: tuple[int, SourceError] | None = None
    """A place among the inputs, and what went wrong there."""
    part_of: int | None = None
    """The place of the huge file of which the task is a part; its lines are counted from 1 in each part."""
    part_lines: int = 0
    """The LF octets in the part, at its end."""


_Task = _Files | _Part | SourceError


def run(
    inputs: Sequence[str],
    options: Options,
    *,
    occurrences: Sink | None = None,
    classes: Sink | None = None,
    outputs: Collection[str] = (),
    spill_folder: Path | None = None,
    on_failure: Callable[[SourceError], None] = lambda _: None,
    on_progress: Callable[[int], object] = lambda _: None,
    on_grouping: Callable[[], object] = lambda: None,
) -> Report:
    """Scan the inputs; give OCCURRENCES rows to `occurrences` and CLASSES rows to `classes`, those that are given.

    `outputs` are files that the run writes itself and must not read. `spill_folder` is where grouping may put files, by
    default a temporary folder. `on_failure` is told of each input that fails, when its turn comes; `on_progress` how
    many octets were read since the last call, from the threads that read, one at a time; `on_grouping` that all are
    read and classes come next.
    Returns the report. Raises FatalError where no input could be read, and with `strict` where one could not;
    what a sink raises.
    """
    began = time.monotonic()
    report = Report()
    plan = _Plan(inputs, options, outputs, occurrences is not None, classes is not None, on_progress)
    names: dict[int, str] = {}
    failed: set[int] = set()
    part_of, lines, part_counted = None, 0, False
    with ExitStack() as stack:
        if classes is not None:
            executor = ThreadPoolExecutor(options.jobs, thread_name_prefix="urnscan-grouping")
            stack.callback(executor.shutdown, cancel_futures=True)
            folder = _SpillFolder(spill_folder)
            stack.callback(folder.remove)
            grouping = Grouping(options.memory, options.jobs, executor, folder.get)
        pieces = in_order(plan.tasks(), plan.new_worker, options.jobs)
        stack.callback(pieces.close)  # type: ignore[attr-defined]
        for piece in pieces:
            if piece.part_of != part_of:
                part_of, lines, part_counted = piece.part_of, 0, False
            if piece.inputs and not part_counted:
                report.inputs += piece.inputs
                part_counted = part_of is not None  # its other parts are the same input
            report.octets += piece.octets
            report.occurrences += piece.found
            report.trimmable += piece.trimmable
            if piece.failure and (piece.failure[0] == _NO_PLACE or piece.failure[0] not in failed):
                failed.add(piece.failure[0])
                report.failures.append(piece.failure[1])
                on_failure(piece.failure[1])
                if options.strict:
                    raise FatalError("stopped at the first input that failed (--strict)")
            if piece.occurrences is not None and occurrences is not None:
                occurrences(_add_lines(piece.occurrences, lines) if lines else piece.occurrences)
            if piece.partial is not None:
                grouping.add(piece.partial)
                names.update(piece.names)
            lines += piece.part_lines
        if report.failures and not report.inputs:
            raise FatalError("no input could be read")
        if classes is not None:
            on_grouping()
            report.classes = 0
            for rows in grouping.classes(lambda grouped: class_rows(grouped, names, options.syntax, options.level)):
                report.classes += rows.num_rows
                classes(rows)
    report.seconds = time.monotonic() - began
    return report


def plan_size(inputs: Sequence[str], options: Options, outputs: Collection[str] = ()) -> int | None:
    """How many octets a run will read, or None where an input does not tell; for progress, so failures are passed over."""
    total = 0
    for found in find_inputs(inputs, options.selection, _real(outputs)):
        if isinstance(found, Input):
            if found.size is None:
                return None
            total += found.size
    return total


_NO_PLACE = -1  # of an argument that is no input


class _Plan:
    """How the work of a run is cut, and who does it."""

    def __init__(
        self,
        inputs: Sequence[str],
        options: Options,
        outputs: Collection[str],
        want_occurrences: bool,
        want_partial: bool,
        on_progress: Callable[[int], object],
    ) -> None:
        self.options = options
        self.want_occurrences = want_occurrences
        self.want_partial = want_partial
        self._inputs = _once(find_inputs(inputs, options.selection, _real(outputs)), several=len(inputs) > 1)
        self._on_progress = on_progress
        self._progress_lock = threading.Lock()

    def new_worker(self) -> Callable[[_Task], Iterator[_Piece]]:
        """What one thread works with."""
        return _Worker(self).work

    def progress(self, octets: int) -> None:
        """Octets were read."""
        with self._progress_lock:
            self._on_progress(octets)

    def tasks(self) -> Iterator[_Task]:
        """Small files together, huge ones in parts, all in the order of the inputs."""
        together: list[Input] = []
        octets = 0
        place = 0
        for found in self._inputs:
            alone = isinstance(found, SourceError) or found.size is None or found.size > _PART
            if together and (alone or octets > _TOGETHER or len(together) == _FILES):
                yield _Files(place - len(together), tuple(together))
                together, octets = [], 0
            if isinstance(found, SourceError):
                yield found
                continue
            if alone:
                yield from self._alone(place, found)
            else:
                together.append(found)
                octets += found.size or 0
            place += 1
        if together:
            yield _Files(place - len(together), tuple(together))

    def _alone(self, place: int, found: Input) -> Iterator[_Task]:
        try:
            parts = found.size // _PART if found.size and is_splittable(found, self.options.encoding) else 1
        except SourceError as error:
            yield error
            return
        if parts < 2:
            yield _Files(place, (found,))
            return
        for number in range(parts):
            end = (number + 1) * _PART if number + 1 < parts else sys.maxsize  # the last reads to the real end
            yield _Part(place, found, number * _PART, end)


class _Worker:
    """Does tasks in one thread, with its own buffers."""

    def __init__(self, plan: _Plan) -> None:
        self._plan = plan
        grammar = plan.options.grammar(count_lines=plan.want_occurrences)
        self._separators = grammar.syntax.separators
        self._scanner = Scanner(grammar)
        self._together = _Together(_TOGETHER + _PART, self._separators[0])

    def work(self, task: _Task) -> Iterator[_Piece]:
        """The pieces that come out of a task."""
        match task:
            case _Files():
                yield from self._files(task)
            case _Part():
                yield from self._part(task)
            case SourceError():
                yield _Piece(failure=(_NO_PLACE, task))

    def _files(self, task: _Files) -> Iterator[_Piece]:
        together = self._together
        for place, source in enumerate(task.inputs, task.place):
            try:
                with open_input(source, self._plan.options.encoding) as reader:
                    read_into = self._counted(reader.read_into)
                    if source.size is None:
                        yield from self._stream(read_into, place, source.name)
                    elif not together.add(read_into, place, source.name):
                        # It grew, or is larger than it said: what came before is scanned, then this on its own.
                        head = together.take_open()
                        yield from self._scan_together()
                        yield from self._stream(_after(head, read_into), place, source.name)
            except SourceError as error:
                yield _Piece(failure=(place, error))
        yield from self._scan_together()

    def _scan_together(self) -> Iterator[_Piece]:
        """Scan the files that lie together as one text, and sort what is found by file."""
        together = self._together
        if together.names:
            starts, ends = np.array(together.starts), np.array(together.ends)
            text = together.text[: together.filled]
            lines_before = np.zeros(len(starts), np.int64)
            if self._plan.want_occurrences:
                counts = [np.count_nonzero(text[start:end] == _LF) for start, end in zip(starts, ends, strict=True)]
                np.cumsum(counts[:-1], out=lines_before[1:])
            places = np.array(together.places, np.int32)
            for matches in self._scanner.scan_octets(text):
                source = matches.locate(starts, ends)
                yield self._piece(
                    matches,
                    offset=matches.start - starts[source],
                    line=matches.line - lines_before[source],
                    source=source,
                    names=together.names,
                    places=places,
                )
            octets = int((ends - starts).sum())
            yield _Piece(inputs=len(starts), octets=octets, trimmable=self._scanner.trimmable)
        together.clear()

    def _stream(self, read_into: _ReadInto, place: int, name: str) -> Iterator[_Piece]:
        """Scan an input on its own, block by block."""
        try:
            for matches in self._scanner.scan(read_into):
                yield self._piece_of(matches, place, name)
        except SourceError:
            yield self._sums(inputs=int(self._scanner.octets > 0))
            raise
        yield self._sums(inputs=1)

    def _part(self, task: _Part) -> Iterator[_Piece]:
        place, name = task.place, task.input.name
        try:
            reader = open_range(task.input, task.start, task.end, self._separators)
        except SourceError as error:
            yield _Piece(failure=(place, error), part_of=place)
            return
        try:
            with reader:
                for matches in self._scanner.scan(self._counted(reader.read_into)):
                    if reader.following is not None:  # the end of the part is not that of the file
                        matches.stop[matches.stop == END] = reader.following
                    yield self._piece_of(matches, place, name, reader.offset, part_of=place)
        except SourceError as error:
            yield _Piece(failure=(place, error), part_of=place)
            inputs = int(self._scanner.octets > 0)
        else:
            inputs = 1
        yield self._sums(inputs=inputs, part_of=place, part_lines=self._scanner.lines)

    def _counted(self, read_into: _ReadInto) -> _ReadInto:
        def read(view: memoryview) -> int:
            octets = read_into(view)
            self._plan.progress(octets)
            return octets

        return read

    def _sums(self, *, inputs: int = 0, part_of: int | None = None, part_lines: int = 0) -> _Piece:
        """What the scanner counted in what it scanned last."""
        return _Piece(
            inputs=inputs,
            octets=self._scanner.octets,
            trimmable=self._scanner.trimmable,
            part_of=part_of,
            part_lines=part_lines,
        )

    def _piece_of(self, matches: Matches, place: int, name: str, begin: int = 0, part_of: int | None = None) -> _Piece:
        """The piece of matches in one input, of which what was scanned begins at the octet `begin`."""
        return self._piece(
            matches,
            offset=matches.start + begin,
            line=matches.line,
            source=np.zeros(len(matches), np.int32),
            names=[name],
            places=np.array([place], np.int32),
            part_of=part_of,
        )

    def _piece(
        self,
        matches: Matches,
        *,
        offset: npt.NDArray[np.int64],
        line: npt.NDArray[np.int64],
        source: npt.NDArray[np.int32],
        names: Sequence[str],
        places: npt.NDArray[np.int32],
        part_of: int | None = None,
    ) -> _Piece:
        found = Found(
            matches=matches,
            offset=offset,
            line=line,
            source=source,
            names=names,
            member=None,
            urn=canonical_column(matches, self._plan.options.level),
        )
        return _Piece(
            found=len(matches),
            occurrences=found.occurrences() if self._plan.want_occurrences else None,
            partial=found.partial(places) if self._plan.want_partial else None,
            names={int(places[i]): names[i] for i in np.unique(source)} if self._plan.want_partial else {},
            part_of=part_of,
        )


class _Together:
    """Small files end to end, with an octet between them that no URN holds: scanned as one text."""

    def __init__(self, size: int, separator: int) -> None:
        self.text = np.empty(size, np.uint8)
        self._view = self.text.data
        self._separator = separator
        self.clear()

    def clear(self) -> None:
        """Begin anew."""
        self.filled = 0
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.places: list[int] = []
        self.names: list[str] = []

    def add(self, read_into: _ReadInto, place: int, name: str) -> bool:
        """Read a file to its end; False where there is no room for it, then `take_open` has what was read.

        Raises SourceError like `read_into`; what was read before stays.
        """
        self._open = self.filled
        try:
            while self.filled < len(self.text) - 1:
                octets = read_into(self._view[self.filled : -1])
                self.filled += octets
                if not octets:
                    self._close(place, name)
                    return True
        except SourceError:
            if self.filled > self._open:
                self._close(place, name)
            raise
        return False

    def take_open(self) -> bytes:
        """What was read of a file for which there was no room."""
        head = self.text[self._open : self.filled].tobytes()
        self.filled = self._open
        return head

    def _close(self, place: int, name: str) -> None:
        self.starts.append(self._open)
        self.ends.append(self.filled)
        self.places.append(place)
        self.names.append(name)
        self.text[self.filled] = self._separator
        self.filled += 1


class _SpillFolder:
    """A folder for spilled rows, made when it is needed."""

    def __init__(self, parent: Path | None) -> None:
        self._parent = parent
        self._made: tempfile.TemporaryDirectory[str] | None = None

    def get(self) -> Path:
        """The folder."""
        if self._made is None:
            self._made = tempfile.TemporaryDirectory(prefix="urnscan-", suffix=TEMPORARY_SUFFIX, dir=self._parent)
        return Path(self._made.name)

    def remove(self) -> None:
        """Remove it with all that is in it."""
        if self._made is not None:
            self._made.cleanup()


def _once(found: Iterator[Input | SourceError], *, several: bool) -> Iterator[Input | SourceError]:
    """Each input once, also where `several` arguments name it: a pattern and a folder, say."""
    seen: set[str] = set()
    for each in found:
        if several and isinstance(each, Input):
            if each.name in seen:
                continue
            seen.add(each.name)
        yield each


def _real(outputs: Collection[str]) -> frozenset[str]:
    """The outputs as `find_inputs` knows files: by their real paths."""
    return frozenset(os.path.realpath(path) for path in outputs)


def _after(head: bytes, read_into: _ReadInto) -> _ReadInto:
    """Reads `head`, then goes on with `read_into`."""
    rest = memoryview(head)

    def read(view: memoryview) -> int:
        nonlocal rest
        if not rest:
            return read_into(view)
        octets = min(len(rest), len(view))
        view[:octets] = rest[:octets]
        rest = rest[octets:]
        return octets

    return read


def _add_lines(occurrences: pa.RecordBatch, lines: int) -> pa.RecordBatch:
    number = occurrences.schema.get_field_index("line")
    return occurrences.set_column(number, occurrences.schema.field(number), pc.add(occurrences.column(number), lines))
