"""Pieces of a result, which workers yield: the beginning of a task, rows, failures, and the end of the task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import number_scalar
from urnscan.errors import SourceError

# Approximate bytes of a piece without tables: names, message and the like.
_PIECE = 1 << 12


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of a run, or of a part of a run; `+` adds each count."""

    inputs: int = 0
    """Number of inputs that were read, wholly or in part."""
    byte_count: int = 0
    """Number of bytes of text that were scanned."""
    occurrences: int = 0
    rejects: int = 0
    trimmable: int = 0
    """Number of occurrences that `trim` would change."""
    left_out: int = 0
    """Number of occurrences that `nid` and `not_nid` left out."""
    components_in_names: int = 0
    """Number of occurrences whose names contain components of RFC 8141; always 0 except in rfc2141."""
    longer_in_rfc8141: int = 0
    """Number of occurrences whose names go on in RFC 8141, with `~` or `&`; always 0 except in rfc2141."""
    cut_short: int = 0
    """Number of occurrences that are followed by text that looks like a part of the URN (`ü`), without those of
    `longer_in_rfc8141`.
    """

    def __add__(self, other: Counts) -> Counts:
        return Counts(*map(int.__add__, _numbers(self), _numbers(other)))


_numbers = attrgetter(*(field.name for field in fields(Counts)))
"""All counts, in order. This function is called for each piece, and `dataclasses.astuple` is several times slower."""


@dataclass(frozen=True, slots=True)
class Begun:
    """The first piece of the results of a task (inputs, or a part of an input, for a thread)."""

    part_of: int | None = None
    """If the task is a part of a huge file: the number of this file among the inputs, from 0; else None. Each part
    counts its lines from 1.
    """
    stamp: str = ""
    """Digest that identifies the task (`resume.Stamp.text`); empty if the task has none."""
    is_kept: bool = False
    """Whether the pieces of the task come from an earlier run."""


@dataclass(frozen=True, slots=True)
class ResultRows:
    """Rows of a task, and their counts: OCCURRENCES rows in `occurrences`, REJECTS rows in `rejects`, and in `partial`
    the rows for grouping: SINGLE (one for each occurrence) or PARTIAL (one for each spelling). None: no rows for that
    table.
    """

    counts: Counts = Counts()
    occurrences: pa.RecordBatch | None = None
    partial: pa.RecordBatch | None = None
    rejects: pa.RecordBatch | None = None
    names: Mapping[int, str] = field(default_factory=dict)
    """Number in the run, from 0, of each input of `partial` -> its name."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A failure or a note: an input, or a part of an input, could not be read, has a wrong checksum, or is worth a
    note.
    """

    place: int
    """Number of the input in the run, from 0; `failures.NO_PLACE` (-1) for an argument that leads to no input."""
    name: str
    """Name of the input or argument."""
    error: SourceError
    """The failure, or a SourceNote."""


@dataclass(frozen=True, slots=True)
class Done:
    """The last piece of the results of a task."""

    counts: Counts = Counts()
    """Counts of inputs, bytes, and names left out; the others are 0."""
    lines: int = 0
    """Number of LF bytes in the task, if the task is a part of a huge file; else 0."""
    names: Sequence[str] = ()
    """Names of the inputs in `counts`; empty if the pieces come from an earlier run."""


TaskResult: TypeAlias = Begun | ResultRows | Failed | Done
"""A piece of the result of a task: Begun, then ResultRows and Failed in any order, then Done."""


def bytes_of(piece: TaskResult) -> int:
    """The approximate number of bytes that a piece of results takes in memory."""
    tables = (piece.occurrences, piece.partial, piece.rejects) if isinstance(piece, ResultRows) else ()
    return _PIECE + sum(int(table.nbytes) for table in tables if table is not None)


def add_lines(rows: pa.RecordBatch, lines: int) -> pa.RecordBatch:
    """Return rows of occurrences or rejects with `lines` added to each value of their column `line`."""
    if not lines:
        return rows
    number = rows.schema.get_field_index("line")
    return rows.set_column(number, rows.schema.field(number), pc.add(rows.column(number), number_scalar(lines)))
