"""How the work of a run is cut into tasks, each for one thread."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass

from urnscan.errors import FatalError, SourceError
from urnscan.options import Options
from urnscan.sources import Input, find_inputs, is_splittable, real_place
from urnscan.views import separators

__all__ = ["Files", "Part", "Sizes", "Task", "found_inputs", "plan_size", "tasks"]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large tasks are."""

    part: int = 8 << 20
    """Octets of a huge file that one task scans."""
    together: int = 4 << 20
    """Octets of small texts that are scanned as one."""
    files: int = 512
    """Files of one task."""


@dataclass(frozen=True, slots=True)
class Files:
    """A task: inputs that stand next to each other, from `place` on."""

    place: int
    inputs: tuple[Input, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A task: the octets from `start` to `end` of a huge file, about."""

    place: int
    input: Input
    start: int
    end: int


Task = Files | Part | SourceError


def plan_size(inputs: Sequence[str], options: Options, outputs: Collection[str] = ()) -> int | None:
    """How many octets a run will read, or None where an input does not tell; for progress, so failures are passed over."""
    total = 0
    for found in found_inputs(inputs, options, outputs):
        if isinstance(found, Input):
            if found.size is None:
                return None
            total += found.size
    return total


def tasks(inputs: Sequence[str], options: Options, outputs: Collection[str], sizes: Sizes) -> Iterator[Task]:
    """How the work of a run is cut: small files together, huge ones in parts, all in the order of the inputs."""
    together: list[Input] = []
    octets = 0
    place = 0
    for found in found_inputs(inputs, options, outputs):
        alone = isinstance(found, SourceError) or found.size is None or found.size > sizes.part
        if together and (alone or octets > sizes.together or len(together) == sizes.files):
            yield Files(place - len(together), tuple(together))
            together, octets = [], 0
        if isinstance(found, SourceError):
            yield found
            continue
        if alone:
            yield from _alone(place, found, options, sizes.part)
        else:
            together.append(found)
            octets += found.size or 0
        place += 1
    if together:
        yield Files(place - len(together), tuple(together))


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


def found_inputs(inputs: Sequence[str], options: Options, outputs: Collection[str]) -> Iterator[Input | SourceError]:
    """The inputs of a run but for its outputs, each once, also where several arguments name it: a pattern and a folder, say.

    Raises FatalError where an output is named as an input.
    """
    seen: set[Hashable] = set()
    own = frozenset(map(real_place, outputs))
    for argument in inputs if own else ():
        with contextlib.suppress(SourceError):  # it is told when it is looked for
            if real_place(argument) in own:
                raise FatalError(f"{argument}: is an input and an output: name another file to write")
    for found in find_inputs(inputs, options.selection, own):
        if len(inputs) > 1 and isinstance(found, Input):
            if found.key in seen:
                continue
            seen.add(found.key)
        yield found
