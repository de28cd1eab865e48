"""Tasks of a run, each for one thread."""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from urnscan.errors import FatalError, SourceError
from urnscan.run.options import Options
from urnscan.scanner.views import separators
from urnscan.sources import Input, Listed, PathList, Seen, find_listed, is_splittable, one_by_one, real_place

__all__ = ["Argument", "Files", "Part", "Sizes", "Task", "found_inputs", "plan_size", "tasks"]

Argument = str | PathList
"""Argument that names inputs: a path, a pattern, a URL, "-", or a list of paths and URLs."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of tasks."""

    part: int = 8 << 20
    """Octets of a huge file that one task scans."""
    together: int = 4 << 20
    """Octets of small texts that are scanned as one."""
    files: int = 1024
    """Files of one task."""


@dataclass(frozen=True, slots=True)
class Files:
    """A task: inputs that stand next to each other, from `place` on; files that are small stand together."""

    place: int
    inputs: tuple[Listed | Input, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A task: the octets from `start` to `end` of a huge file, about."""

    place: int
    input: Input
    start: int
    end: int


Task = Files | Part | SourceError


def plan_size(
    inputs: Sequence[Argument], options: Options, outputs: Collection[str] = (), readings: int = 1
) -> int | None:
    """Octets that a run will read with so many readings; None where an input does not tell, or a list
    cannot be read twice; for progress, so failures are passed over.
    """
    if not all(argument.is_file for argument in inputs if isinstance(argument, PathList)):
        return None
    total = 0
    for found in _found(inputs, options, outputs):
        if isinstance(found, Listed):
            total += int(found.sizes.sum())
        elif isinstance(found, Input):
            if found.size is None:
                return None
            total += found.size
    return total * readings


def tasks(inputs: Sequence[Argument], options: Options, outputs: Collection[str], sizes: Sizes) -> Iterator[Task]:
    """Cut the work of a run into tasks: small files together, huge ones in parts, in the order of the inputs."""
    together: list[Listed | Input] = []
    files = octets = place = 0
    for found in _found(inputs, options, outputs):
        for run in found.runs(sizes.files, sizes.together, sizes.part) if isinstance(found, Listed) else (found,):
            alone = not isinstance(run, Listed) and (
                isinstance(run, SourceError) or run.size is None or run.size > sizes.part
            )
            more = len(run) if isinstance(run, Listed) else 1
            if together and (alone or octets > sizes.together or files + more > sizes.files):
                yield Files(place, tuple(_joined(together)))
                place += files
                together, files, octets = [], 0, 0
            if isinstance(run, SourceError):
                yield run
            elif isinstance(run, Input) and alone:
                yield from _alone(place, run, options, sizes.part)
                place += 1
            else:
                together.append(run)
                files += more
                octets += int(run.sizes.sum()) if isinstance(run, Listed) else run.size or 0
    if together:
        yield Files(place, tuple(_joined(together)))


def _joined(inputs: Sequence[Listed | Input]) -> Iterator[Listed | Input]:
    """Inputs next to each other, with the files among them together where there are several."""
    for are_files, some in itertools.groupby(inputs, lambda each: isinstance(each, Listed) or each.path is not None):
        run = list(some)
        if are_files and len(run) > 1:
            yield Listed.joined([each if isinstance(each, Listed) else Listed.of([each]) for each in run])
        else:
            yield from run


def _alone(place: int, found: Input, options: Options, part: int) -> Iterator[Task]:
    """The tasks of an input that is large, or of which nobody knows how large it is."""
    can_be_cut = separators(options.recover) is not None
    try:
        parts = found.size // part if found.size and can_be_cut and is_splittable(found, options.reading) else 1
    except SourceError as error:
        yield error
        return
    if parts < 2:
        yield Files(place, (found,))
        return
    for number in range(parts):
        end = (number + 1) * part if number + 1 < parts else sys.maxsize  # the last reads to the real end
        yield Part(place, found, number * part, end)


def found_inputs(
    inputs: Sequence[Argument], options: Options, outputs: Collection[str]
) -> Iterator[Input | SourceError]:
    """The inputs of a run but for its outputs, each once, also where several arguments name it: a pattern and a folder, say.

    Raises FatalError where an output is named as an input, or a list of inputs cannot be read.
    """
    return one_by_one(_found(inputs, options, outputs))


def _found(
    inputs: Sequence[Argument], options: Options, outputs: Collection[str]
) -> Iterator[Listed | Input | SourceError]:
    """Inputs as `found_inputs` gives them, with files together where they are many."""
    own = frozenset(map(real_place, outputs))
    for argument in inputs if own else ():
        with contextlib.suppress(SourceError):  # it is told when it is looked for
            place = argument.source if isinstance(argument, PathList) else argument
            if real_place(place) in own:
                raise FatalError(f"{place}: is an input and an output: name another file to write")
    seen = Seen() if len(inputs) > 1 or any(isinstance(argument, PathList) for argument in inputs) else None
    for found in find_listed(inputs, options.selection, own):
        if seen is None or isinstance(found, SourceError):
            yield found
        elif isinstance(found, Listed):
            yield found.chosen(seen.add(found.keys))
        elif seen.add([found.key])[0]:
            yield found
