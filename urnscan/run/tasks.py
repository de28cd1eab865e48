"""Tasks of a run, each for one thread."""

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
    """Sizes of tasks."""

    part: int = 8 << 20
    """Octets of a huge file that one task scans, at least."""
    together: int = 4 << 20
    """Octets of small texts that are scanned as one."""
    files: int = 1024
    """Files of one task."""

    def part_of(self, octets: int) -> int:
        """Octets of a part of a file of this size. Each part costs a millisecond; all cores should have some."""
        return max(self.part, min(8 * self.part, octets // 32))


@dataclass(frozen=True, slots=True)
class Files:
    """A task: neighbouring inputs, the first with the number `place`; small files are together in a `Listed`."""

    place: int
    inputs: tuple[Listed | Input, ...]


@dataclass(frozen=True, slots=True)
class FilePart:
    """A task: the octets from `start` to `end` of a huge file, about."""

    place: int
    input: Input
    start: int
    end: int


Task = Files | FilePart | SourceError


def octets_of(entry: Listed | Input) -> int | None:
    """Octets of files or of an input; None if unknown."""
    return int(entry.sizes.sum()) if isinstance(entry, Listed) else entry.size


def plan_size(inputs: Sequence[Argument], options: Options, outputs: Collection[str] = ()) -> int | None:
    """Octets that a run will read, for its progress; None if unknown. Failures are ignored."""
    if not all(argument.is_file for argument in inputs if not isinstance(argument, str)):
        return None  # such a list cannot be read twice
    total = 0
    for argument in inputs:
        if isinstance(argument, RecordIndex):  # it is the only one, and finding its files takes a request for each
            return argument.octets
    for entry in _listed(inputs, options, outputs):
        if not isinstance(entry, SourceError):
            octets = octets_of(entry)
            if octets is None:
                return None
            total += octets
    return total


def tasks(inputs: Sequence[Argument], options: Options, outputs: Collection[str], sizes: Sizes) -> Iterator[Task]:
    """Cut the work of a run into tasks: small files together, huge ones in parts, in the order of the inputs."""
    together: list[Listed | Input] = []
    files = octets = place = 0
    for entry in _runs(inputs, options, outputs, sizes):
        more = len(entry) if isinstance(entry, Listed) else 1
        size = None if isinstance(entry, SourceError) else octets_of(entry)
        is_alone = not isinstance(entry, Listed) and (size is None or size > sizes.part)
        if together and (is_alone or octets > sizes.together or files + more > sizes.files):
            yield Files(place, tuple(_joined(together)))
            place += files
            together, files, octets = [], 0, 0
        if isinstance(entry, SourceError):
            yield entry
        elif isinstance(entry, Input) and is_alone:
            yield from _alone(place, entry, options, sizes)
            place += 1
        else:
            together.append(entry)
            files += more
            octets += size or 0
    if together:
        yield Files(place, tuple(_joined(together)))


def _runs(
    inputs: Sequence[Argument], options: Options, outputs: Collection[str], sizes: Sizes
) -> Iterator[Listed | Input | SourceError]:
    """Inputs as `_listed` gives them, with files in runs that fit a task."""
    for entry in _listed(inputs, options, outputs):
        if isinstance(entry, Listed):
            yield from entry.runs(sizes.files, sizes.together, sizes.part)
        else:
            yield entry


def _joined(inputs: Sequence[Listed | Input]) -> Iterator[Listed | Input]:
    """Inputs, with neighbouring files together."""
    for are_files, group in itertools.groupby(inputs, lambda entry: isinstance(entry, Listed) or entry.is_whole_file):
        run = list(group)
        if are_files and len(run) > 1:
            yield Listed.joined([entry if isinstance(entry, Listed) else Listed.of([entry]) for entry in run])
        else:
            yield from run


def _alone(place: int, entry: Input, options: Options, sizes: Sizes) -> Iterator[Task]:
    """The tasks of an input that is large, or of unknown size."""
    part = sizes.part_of(entry.size or 0)
    can_be_cut = separators(options.recover) is not None
    try:
        parts = entry.size // part if entry.size and can_be_cut and is_splittable(entry, options.reading) else 1
    except SourceError as error:
        yield error
        return
    if parts < 2:
        yield Files(place, (entry,))
        return
    for number in range(parts):
        end = (number + 1) * part if number + 1 < parts else sys.maxsize  # the last reads to the real end
        yield FilePart(place, entry, number * part, end)


def run_inputs(inputs: Sequence[Argument], options: Options, outputs: Collection[str]) -> Iterator[Input | SourceError]:
    """The inputs of a run except its outputs; each once, also if several arguments name it.

    Raises FatalError if an output is an input, unless it is a result of an earlier run in a folder that is walked, and
    if a list of inputs cannot be read.
    """
    return one_by_one(_listed(inputs, options, outputs))


def _listed(
    inputs: Sequence[Argument], options: Options, outputs: Collection[str]
) -> Iterator[Listed | Input | SourceError]:
    """Inputs as `run_inputs` gives them, with files together where they are many."""
    own = frozenset(map(real_place, outputs))
    foreign = [place for place in own if Path(place).is_file() and not is_result(place)]
    for argument in inputs if own else ():
        with contextlib.suppress(SourceError):  # reported when the input is looked for
            place = argument if isinstance(argument, str) else argument.source
            if real_place(place) in own:
                raise FatalError(f"{place}: is an input and an output: name another file to write")
    seen = SeenInputs() if len(inputs) > 1 or not all(isinstance(argument, str) for argument in inputs) else None
    for entry in find_listed(inputs, options.selection, own, foreign):
        if seen is None or isinstance(entry, SourceError):
            yield entry
        elif isinstance(entry, Listed):
            yield entry.chosen(seen.add(entry.keys))
        elif seen.add([entry.key])[0]:
            yield entry
