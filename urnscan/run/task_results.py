"""Pieces of a result, as workers yield them: the beginning of a task, its rows, its failures, and its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import number_scalar
from urnscan.errors import SourceError

# Bytes of a piece without its tables: its names, its message and the like.
_PIECE = 1 << 12


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of a run, or of a part of it; they can be added."""

    inputs: int = 0
    """Inputs that were read, wholly or in part."""
    byte_count: int = 0
    """Bytes of text that were scanned."""
    occurrences: int = 0
    rejects: int = 0
    trimmable: int = 0
    """Occurrences that `trim` would change."""
    left_out: int = 0
    """Occurrences of names that do not count because of `nid` and `not_nid`."""
    components_in_names: int = 0
    """Occurrences whose names contain components of RFC 8141; always 0 except in rfc2141."""
    longer_in_rfc8141: int = 0
    """Occurrences whose names go on in RFC 8141, behind `~` or `&`; always 0 except in rfc2141."""
    cut_short: int = 0
    """Other occurrences behind which something stands that looks like a part of them."""

    def __add__(self, other: Counts) -> Counts:
        return Counts(*map(int.__add__, _numbers(self), _numbers(other)))


_numbers = attrgetter(*(field.name for field in fields(Counts)))
"""All counts, in their order. This is called for each piece, and `dataclasses.astuple` takes several times as long."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A task begins."""

    part_of: int | None = None
    """Place of the huge file of which the task is a part; its lines are counted from 1 in each part."""
    stamp: str = ""
    """Stamp of the task (`resume.py`); empty if it has none."""
    is_kept: bool = False
    """Whether an earlier run has kept the pieces of the task."""


@dataclass(frozen=True, slots=True)
class ResultRows:
    """Rows of occurrences and partial classes, or of rejects."""

    counts: Counts = Counts()
    occurrences: pa.RecordBatch | None = None
    partial: pa.RecordBatch | None = None
    rejects: pa.RecordBatch | None = None
    names: Mapping[int, str] = field(default_factory=dict)
    """Names of the inputs of `partial`, by their places."""


@dataclass(frozen=True, slots=True)
class Failed:
    """An input, or a part of it, could not be read or has a wrong checksum; or there is a note about it."""

    place: int
    """Number of the input in the run."""
    name: str
    error: SourceError


@dataclass(frozen=True, slots=True)
class Done:
    """A task ends."""

    counts: Counts = Counts()
    """Inputs and bytes."""
    lines: int = 0
    """LF bytes in the task, if it is a part of a huge file."""
    names: Sequence[str] = ()
    """Names of the inputs in `counts`; empty if an earlier run has kept the task."""


TaskResult: TypeAlias = Begun | ResultRows | Failed | Done
"""A task yields Begun, then ResultRows and Failed in any order, then Done."""


def bytes_of(piece: TaskResult) -> int:
    """The approximate bytes of memory that a piece takes."""
    tables = (piece.occurrences, piece.partial, piece.rejects) if isinstance(piece, ResultRows) else ()
    return _PIECE + sum(int(table.nbytes) for table in tables if table is not None)


def add_lines(rows: pa.RecordBatch, lines: int) -> pa.RecordBatch:
    """Rows of occurrences or rejects, with `lines` added to their numbers of lines."""
    if not lines:
        return rows
    number = rows.schema.get_field_index("line")
    return rows.set_column(number, rows.schema.field(number), pc.add(rows.column(number), number_scalar(lines)))
