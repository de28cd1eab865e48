"""Pieces of a result, as workers yield them: what begins a task, its rows, its failures, and its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from typing import TypeAlias

import pyarrow as pa

from urnscan.errors import SourceError

__all__ = ["Begun", "Counts", "Done", "Failed", "Piece", "Rows"]


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of a run, or of a part of it; they can be added."""

    inputs: int = 0
    """Inputs that were read, or of which a part was."""
    octets: int = 0
    """Octets of text that were scanned."""
    occurrences: int = 0
    rejects: int = 0
    trimmable: int = 0
    """Occurrences that `trim` would change."""

    def __add__(self, other: Counts) -> Counts:
        return Counts(*map(int.__add__, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True)
class Begun:
    """A task begins."""

    part_of: int | None = None
    """The place of the huge file of which the task is a part; its lines are counted from 1 in each part."""
    stamp: str = ""
    """The stamp of the task (`resume.py`); empty if it has none."""
    is_kept: bool = False
    """Whether its pieces are not made now, but were kept by an earlier run."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of what was found: occurrences and partial classes, or rejects."""

    counts: Counts = Counts()
    occurrences: pa.RecordBatch | None = None
    partial: pa.RecordBatch | None = None
    rejects: pa.RecordBatch | None = None
    names: Mapping[int, str] = field(default_factory=dict)
    """Names of the inputs of `partial`, by their places."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Something could not be read, or its checksum is wrong."""

    place: int
    """The place of the input among the inputs."""
    name: str
    """The name of the input."""
    error: SourceError


@dataclass(frozen=True, slots=True)
class Done:
    """A task ends."""

    counts: Counts = Counts()
    """Inputs and octets."""
    lines: int = 0
    """LF octets in the task, if it is a part of a huge file."""


Piece: TypeAlias = Begun | Rows | Failed | Done
"""One of these; a task yields them in this order, rows and failures mixed."""
