"""Dumps as readers of records get them, and what is told of the records."""

from __future__ import annotations

import io
import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pytest

from urnscan.compiled.arrow import bytes_array, text_array
from urnscan.framing.buffer import Buffer
from urnscan.framing.lines import Damaged
from urnscan.records.columns import Columns, Texts
from urnscan.records.key_columns import KeyColumns
from urnscan.records.keys import KeyReader
from urnscan.records.marc_runs import Fields
from urnscan.records.record import Cut, Record, RecordReader, Run, RunReader
from urnscan.records.record_columns import read_columns

__all__ = ["buffer_of", "keys_of", "outline", "owns", "read_from", "read_records", "refuse", "set_longest"]

_TOGETHER = 1 << 10


def buffer_of(dump: bytes, sizes: Iterable[int | None] = (None,)) -> Buffer:
    """A dump that comes in blocks of these sizes, again and again; None: as many bytes as are asked for.

    >>> buffer_of(b"abc", [1]).take(2)
    b'ab'
    """
    stream, sizes = io.BytesIO(dump), itertools.cycle(sizes)
    return Buffer(lambda view: stream.readinto(view[: next(sizes)]))


def read_records(
    reader: RecordReader, dump: bytes, sizes: Iterable[int | None] = (None,), together: int = _TOGETHER
) -> list[Record | Damaged]:
    """All that a reader gives of a dump; its byte order mark is taken off before, as whoever tells the format does.

    `together`: what is read together: records, and runs of them.
    """
    buffer = buffer_of(dump, sizes)
    buffer.take_mark()
    return list(read_from(reader, buffer, together))


def read_from(reader: RecordReader, buffer: Buffer, together: int = _TOGETHER) -> Iterator[Record | Damaged]:
    """Find the records of a dump and read them."""
    held: list[Cut | Run] = []
    for each in reader.find(buffer):
        if isinstance(each, Damaged):
            if held:
                yield from _read(reader, held)
                held = []
            yield each
        else:
            held.append(each)
            if len(held) == together:
                yield from _read(reader, held)
                held = []
    yield from _read(reader, held)


def _read(reader: RecordReader, found: Sequence[Cut | Run]) -> Iterator[Record | Damaged]:
    """Records from columns."""
    columns = read_columns(reader, found)
    texts: list[list[bytes]] = [[] for _ in columns.identifiers]
    for each in columns.texts:
        for record, text in zip(each.record.tolist(), each.texts.to_pylist(), strict=True):
            texts[record].append(text)
    described = zip(
        columns.identifiers.to_pylist(), columns.own_of_each(), columns.descriptions.to_pylist(), strict=True
    )
    cuts = itertools.chain.from_iterable(each.cuts() if isinstance(each, Run) else (each,) for each in found)
    for at, (cut, (name, own, description)) in enumerate(zip(cuts, described, strict=True)):
        yield columns.damaged.get(at) or Record(cut.offset, cut.data, name, tuple(texts[at]), tuple(own), description)


def refuse(_: RunReader, run: Run) -> Fields:
    """Have compiled code take no record apart."""
    return Fields.room(np.empty(0, np.uint8), len(run.ends), 0)


def keys_of(wanted: Sequence[str], *records: Record, dump: int = 1, named: bool = True) -> list[str]:
    """The keys of records, each once."""
    own = [(at, order, name) for at, record in enumerate(records) for order, name in enumerate(record.own)]
    names = text_array([record.identifier for record in records])
    reader = KeyColumns(KeyReader(wanted, dump, named=named))
    found = [*reader.read(Columns(names, (), Texts.of_own(own), bytes_array([]), {}, np.empty(0, np.int64)))]
    if reader.has_bytes:
        found.append(reader.of_bytes([record.data for record in records]))
    return list(dict.fromkeys(Texts.joined(found).texts.to_pylist()))


def outline(found: Sequence[Record | Damaged]) -> list[str | None]:
    """The identifier of each record, and why each damaged one is."""
    return [each.identifier if isinstance(each, Record) else each.reason for each in found]


def owns(record: Record) -> list[tuple[str, str]]:
    """The identifiers of its own, each with its scheme."""
    return [(own.text, own.scheme) for own in record.own]


def set_longest(monkeypatch: pytest.MonkeyPatch, byte_count: int) -> None:
    """Have no record be longer, in every module that knows the bound."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("urnscan.framing", "urnscan.records")) and hasattr(module, "LONGEST"):
            monkeypatch.setattr(module, "LONGEST", byte_count)
