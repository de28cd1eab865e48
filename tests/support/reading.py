"""Dumps as readers of records get them, and what is told of the records."""

from __future__ import annotations

import io
import itertools
import sys
from collections.abc import Iterable, Sequence

import pytest

from urnscan.framing.buffer import Buffer
from urnscan.framing.lines import Damaged
from urnscan.records.record import Cut, Record, RecordReader

__all__ = ["buffer_of", "outline", "owns", "read_records", "set_longest"]


def buffer_of(dump: bytes, sizes: Iterable[int | None] = (None,)) -> Buffer:
    """A dump that comes in blocks of these sizes, again and again; None: as many octets as are asked for.

    >>> buffer_of(b"abc", [1]).take(2)
    b'ab'
    """
    stream, sizes = io.BytesIO(dump), itertools.cycle(sizes)
    return Buffer(lambda view: stream.readinto(view[: next(sizes)]))


def read_records(reader: RecordReader, dump: bytes, sizes: Iterable[int | None] = (None,)) -> list[Record | Damaged]:
    """All that a reader gives of a dump; its byte order mark is taken off before, as whoever tells the format does."""
    buffer = buffer_of(dump, sizes)
    buffer.take_mark()
    found = list(reader.cuts(buffer))
    records = iter(reader.records([each for each in found if isinstance(each, Cut)]))
    read = [each if isinstance(each, Damaged) else next(records) for each in found]
    assert read == [each if isinstance(each, Damaged) else reader.record(each) for each in found]
    return read


def outline(found: Sequence[Record | Damaged]) -> list[str | None]:
    """The identifier of each record, and why each damaged one is."""
    return [each.identifier if isinstance(each, Record) else each.reason for each in found]


def owns(record: Record) -> list[tuple[str, str]]:
    """The identifiers of its own, each with its scheme."""
    return [(own.text, own.scheme) for own in record.own]


def set_longest(monkeypatch: pytest.MonkeyPatch, octets: int) -> None:
    """Have no record be longer, in every module that knows the bound."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("urnscan.framing", "urnscan.records")) and hasattr(module, "LONGEST"):
            monkeypatch.setattr(module, "LONGEST", octets)
