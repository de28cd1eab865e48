"""Tasks of a run, each for a single thread."""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from urnscan.errors import FatalError, SourceError
from urnscan.formats.unfold import is_splittable
from urnscan.inputs.arguments import find_listed
from urnscan.inputs.cdx import RecordIndex
from urnscan.inputs.lists import PathList
from urnscan.inputs.seen_inputs import SeenInputs
from urnscan.run.options import Options
from urnscan.scanner.views.kinds import separators
from urnscan.stores.input import Input, Listed, one_by_one
from urnscan.stores.urls import real_place
from urnscan.tables.writers import is_result

Argument = str | PathList | RecordIndex
"""Argument that names inputs: a path, a pattern, a URL, "-", a list of paths and URLs, or an index of records."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes by which inputs are split into tasks."""

    part: int = 8 << 20
    """Minimum bytes of a part of a huge file."""
    together: int = 4 << 20
    """Number of bytes of small texts that are scanned as a single text."""
    files: int = 1024
    """Maximum number of files of a task."""

    def part_of(self, byte_count: int) -> int:
        """Number of bytes of each part of a file of `byte_count` bytes: a 32nd of the file, but at least `part` and at
        most eight times `part`.
        """
        # Fewer, larger parts save a millisecond each; smaller parts use all cores.
        return max(self.part, min(8 * self.part, byte_count // 32))


@dataclass(frozen=True, slots=True)
class FileGroup:
    """A task: neighbouring inputs; small files are together in a `Listed`. `place`: number of the first among the
    inputs of the run, from 0.
    """

    place: int
    inputs: tuple[Listed | Input, ...]


@dataclass(frozen=True, slots=True)
class FilePart:
    """A task: a part of a huge file, from the first separator (a byte that no URN contains) at or after offset `start`
    (from byte 0 if `start` is 0) to before the first at or after `end`. `place` is the number of the input, from 0.
    """

    place: int
    input: Input
    start: int
    end: int


Task = FileGroup | FilePart | SourceError


def bytes_of(entry: Listed | Input) -> int | None:
    """Number of bytes of several files (`Listed`) or of an input; None if unknown."""
    return int(entry.sizes.sum()) if isinstance(entry, Listed) else entry.size


def plan_size(inputs: Sequence[Argument], options: Options, outputs: Collection[str] = ()) -> int | None:
    """Number of bytes that a run will read, for the progress bar; None if the size of an input is unknown, or a list of
    inputs is a pipe. Searches the folders and globs for it. Inputs that fail count as empty. Raises FatalError if an
    output is also an input, or if a list of inputs cannot be read.
    """
    # A list that is not a file, such as a pipe, cannot be read twice.
    if not all(argument.is_file for argument in inputs if not isinstance(argument, str)):
        return None
    total = 0
    for argument in inputs:
        # An index of records is always the only argument. Finding its files would take a request for each file.
        if isinstance(argument, RecordIndex):
            return argument.byte_count
    for entry in _find_inputs(inputs, options, outputs):
        if not isinstance(entry, SourceError):
            byte_count = bytes_of(entry)
            if byte_count is None:
                return None
            total += byte_count
    return total


def tasks(inputs: Sequence[Argument], options: Options, outputs: Collection[str], sizes: Sizes) -> Iterator[Task]:
    """Yield the tasks of a run, each for a thread, in the order of the inputs: small files together, large in parts.
    Inputs are searched while the caller iterates.

    An error about an argument or input, or a note, is yielded as a task. `outputs` are the paths and URLs that the run
    writes; those in a folder or list are left out. Raises FatalError if an argument names an output, if an output is a
    file that urnscan did not write, and if a list of inputs cannot be read.
    """
    group: list[Listed | Input] = []
    files = byte_count = place = 0
    entries = _find_inputs(inputs, options, outputs)
    # Lists of many files are split so that each fits a task.
    parts = (
        entry.runs(sizes.files, sizes.together, sizes.part) if isinstance(entry, Listed) else (entry,)
        for entry in entries
    )
    for entry in itertools.chain.from_iterable(parts):
        entry_files = len(entry) if isinstance(entry, Listed) else 1
        size = None if isinstance(entry, SourceError) else bytes_of(entry)
        is_alone = not isinstance(entry, Listed) and (size is None or size > sizes.part)
        if group and (is_alone or byte_count > sizes.together or files + entry_files > sizes.files):
            yield FileGroup(place, tuple(_join_files(group)))
            place += files
            group, files, byte_count = [], 0, 0
        if isinstance(entry, SourceError):
            yield entry
        elif isinstance(entry, Input) and is_alone:
            yield from _tasks_of_one(place, entry, options, sizes)
            place += 1
        else:
            group.append(entry)
            files += entry_files
            byte_count += size or 0
    if group:
        yield FileGroup(place, tuple(_join_files(group)))


def _join_files(inputs: Sequence[Listed | Input]) -> Iterator[Listed | Input]:
    for are_files, group in itertools.groupby(inputs, lambda entry: isinstance(entry, Listed) or entry.is_whole_file):
        entries = list(group)
        if are_files and len(entries) > 1:
            yield Listed.joined([entry if isinstance(entry, Listed) else Listed.of([entry]) for entry in entries])
        else:
            yield from entries


def _tasks_of_one(place: int, entry: Input, options: Options, sizes: Sizes) -> Iterator[Task]:
    """Yield the tasks of an input that is large, or of unknown size: its parts if it can be split, otherwise a single
    task; or its error.
    """
    part = sizes.part_of(entry.size or 0)
    can_be_split = separators(options.recover) is not None
    try:
        parts = entry.size // part if entry.size and can_be_split and is_splittable(entry, options.reading) else 1
    except SourceError as error:
        yield error
        return
    if parts < 2:
        yield FileGroup(place, (entry,))
        return
    for number in range(parts):
        # The last part ends with the file, whose size may have changed.
        end = (number + 1) * part if number + 1 < parts else sys.maxsize
        yield FilePart(place, entry, number * part, end)


def run_inputs(inputs: Sequence[Argument], options: Options, outputs: Collection[str]) -> Iterator[Input | SourceError]:
    """Yield the inputs of a run, and SourceErrors: errors about arguments and folders, and notes. An input that several
    arguments name is yielded once.

    `outputs` are the paths and URLs that the run writes. An output that is found in a folder, by a pattern or in a list
    is left out, with a note (SourceNote) at the end. Raises FatalError if an argument names an output, if a file that
    is found is an output and urnscan did not write it, and if a list of inputs cannot be read.
    """
    return one_by_one(_find_inputs(inputs, options, outputs))


def _find_inputs(
    inputs: Sequence[Argument], options: Options, outputs: Collection[str]
) -> Iterator[Listed | Input | SourceError]:
    """Yield the inputs, errors and notes of `run_inputs`; but many neighbouring files of a folder are a single
    `Listed`.
    """
    output_places = frozenset(map(real_place, outputs))
    foreign = [place for place in output_places if Path(place).is_file() and not is_result(place)]
    for argument in inputs if output_places else ():
        # An error is reported later, by `find_listed`.
        with contextlib.suppress(SourceError):
            place = argument if isinstance(argument, str) else argument.source
            if real_place(place) in output_places:
                raise FatalError(f"{place}: is an input and an output; name another output")
    seen = SeenInputs() if len(inputs) > 1 or not all(isinstance(argument, str) for argument in inputs) else None
    for entry in find_listed(inputs, options.selection, output_places, foreign):
        if seen is None or isinstance(entry, SourceError):
            yield entry
        elif isinstance(entry, Listed):
            yield entry.chosen(seen.add(entry.keys))
        elif seen.add([entry.key])[0]:
            yield entry
