"""Dumps as readers of records get them, and what is told of the records."""

from __future__ import annotations

import io
import itertools
import sys
from collections.abc import Iterable, Sequence
from unittest.mock import patch

import pytest

from urnscan.framing.buffer import Buffer
from urnscan.framing.lines import Damaged
from urnscan.records.fields import Own
from urnscan.records.record import Record, RecordReader, Run, RunReader

__all__ = ["buffer_of", "of_run", "outline", "owns", "read_records", "set_longest"]


def buffer_of(dump: bytes, sizes: Iterable[int | None] = (None,)) -> Buffer:
    """A dump that comes in blocks of these sizes, again and again; None: as many octets as are asked for.

    >>> buffer_of(b"abc", [1]).take(2)
    b'ab'
    """
    stream, sizes = io.BytesIO(dump), itertools.cycle(sizes)
    return Buffer(lambda view: stream.readinto(view[: next(sizes)]))


def read_records(
    reader: RecordReader, dump: bytes, sizes: Iterable[int | None] = (None,), few: int = 1
) -> list[Record | Damaged]:
    """All that a reader gives of a dump; its byte order mark is taken off before, as whoever tells the format does.

    `few`: records that are read together at least; they must come out as they do one by one.
    """
    buffer = buffer_of(dump, sizes)
    buffer.take_mark()
    with patch.object(RunReader, "few", few):
        found = list(reader.found(buffer))
    read = []
    for each in found:
        if isinstance(each, Run):
            singly = [reader.record(cut) for cut in each.cuts()]
            assert of_run(reader, each) == [*map(_each_once, singly)]
            read += singly
        else:
            read.append(each if isinstance(each, Damaged) else reader.record(each))
    return read


def _each_once(record: Record | Damaged) -> Record | Damaged:
    """A record that names each of its own identifiers once."""
    return record if isinstance(record, Damaged) else record._replace(own=tuple(dict.fromkeys(record.own)))


def of_run(reader: RecordReader, run: Run) -> list[Record | Damaged]:
    """The records of a run that are read together, each own identifier once."""
    columns = reader.columns(run)
    held = [
        (record, order, Own(text, values.scheme, values.is_key))
        for values in columns.values
        for text, record, order in zip(values.texts.to_pylist(), values.record, values.order, strict=True)
    ]
    by_record: dict[int, list[Own]] = {}
    for record, _, own in sorted([*held, *columns.others], key=lambda each: each[1]):
        by_record.setdefault(record, []).append(own)
    names, described = columns.identifiers.to_pylist(), columns.descriptions.to_pylist()
    return [
        _each_once(reader.record(cut))
        if columns.alone[at]
        else Record(
            cut.offset,
            cut.octets,
            names[at],
            (cut.octets,) if reader.has_texts else (),
            tuple(dict.fromkeys(by_record.get(at, ()))),
            described[at],
        )
        for at, cut in enumerate(run.cuts())
    ]


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
