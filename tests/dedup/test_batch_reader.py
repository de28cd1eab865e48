"""The reader of batches: a record gives the same rows, whether compiled code or Python takes it apart."""

from __future__ import annotations

import gc
import io
import tracemalloc

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.dumps import make_dump
from tests.support.examples import FEW
from tests.support.iso_2709 import book, marc
from tests.support.reading import refuse
from urnscan.dedup.read.batch_reader import BatchReader
from urnscan.dedup.read.batches import Batch, ReadBatch, ReadSettings
from urnscan.framing.buffer import Buffer
from urnscan.records.keys import kinds
from urnscan.records.record import count_of
from urnscan.run.options import Options

TITLE = (b"245", b"10\x1faThe lamp")
RECORDS = [  # each with one record that is read by itself, or not at all, in it or around it
    book(1, (b"020", b"  \x1fa9783161484100")),
    book(2, (b"020", b"  \x1fa978-3-16-148410-1 (geb.)")),  # a wrong check digit
    book(3, (b"020", b"  \x1fa9783161484101"), (b"020", b"  \x1fa3-16-148410-X")),
    book(4, (b"020", b"  \x1fa9783161484101\x1fqpbk."), (b"020", "  \x1fa9783161484101 (für)".encode())),
    book(5, (b"003", b"DE-101"), (b"035", b"  \x1fa(OCoLC)123"), (b"035", "  \x1fa(Ä)5".encode())),
    book(6, (b"040", b"  \x1faABC"), (b"024", b"7 \x1faurn:nbn:de:101:1-2016\x1f2urn\x1fa10.1000/182")),
    book(7, (b"016", b"7 \x1fa12345\x1f2 DE-101 "), (b"016", b"  \x1fa99999"), (b"856", b"40\x1fuhttps://a.example/b")),
    book(8, (b"024", b"7 \x1faab\x1f2accession")),
    marc((b"001", b"  9 "), TITLE, (b"200", b"  \x1fa1")),  # of both families: alone
    marc((b"001", "ä".encode()), TITLE, (b"010", b"  \x1fa   85-2")),
    marc((b"001", b" "), TITLE, (b"015", b"  \x1fa12345-6\x1f2dnb")),
    marc(TITLE, (b"001", b"second"), (b"020", b"\x1fa9783161484100")),
    book(1)[:-9] + b"\x1d",  # damaged
    b"\n",
]


def read(data: bytes, settings: ReadSettings, *, is_compiled: bool) -> ReadBatch:
    """The batch of a dump."""
    reader, batch = settings.reader(), batch_of(data, settings)
    with pytest.MonkeyPatch.context() as patch:
        if not is_compiled:
            patch.setattr(type(reader), "fields_of", refuse)
        return BatchReader(Options()).read(batch)


def batch_of(data: bytes, settings: ReadSettings) -> Batch:
    """All records of a dump, not read yet."""
    batch, count = Batch(settings), 0
    for found in settings.reader().find(Buffer(io.BytesIO(data).readinto)):
        batch.add(count + 1, found)
        count += count_of(found)
    assert batch.records == count
    return batch


def wanted_of(dump: str, *, fields: bool, keys: bool, described: bool = True) -> ReadSettings:
    return ReadSettings(dump, 1, fields, kinds() if keys else (), described, digests=described)


@FEW
@given(st.lists(st.sampled_from(RECORDS), max_size=12), st.booleans(), st.booleans(), st.booleans())
def test_records_of_all_kinds(records, fields, keys, described):
    """Rows, damaged records, counts and wrong identifiers are the same, in the same order."""
    settings = wanted_of("marc", fields=fields, keys=keys, described=described)
    by_code, by_python = (read(b"".join(records), settings, is_compiled=each) for each in (True, False))
    assert by_code.rows.to_pylist() == by_python.rows.to_pylist()
    assert by_code[1:] == by_python[1:]


@pytest.mark.full
@pytest.mark.parametrize("kind", ["marc", "unimarc", "marcxml"])
@pytest.mark.parametrize("fields", [False, True])
def test_dumps(kind, fields):
    """The same for dumps as they are written."""
    for seed in range(3):
        data = make_dump(kind, seed, 60, fields=fields).data
        settings = wanted_of(kind.removeprefix("uni"), fields=fields, keys=True)
        by_code, by_python = (read(data, settings, is_compiled=each) for each in (True, False))
        assert by_code.rows.equals(by_python.rows)
        assert by_code[1:] == by_python[1:]


@pytest.mark.full
@pytest.mark.parametrize("dump", ["marc", "marcxml", "ris", "mods"])
@pytest.mark.parametrize("described", [False, True])
def test_memory_of_rows(dump, described):
    """Rows keep the memory that `nbytes` tells, by which `RecordCollection` spills them, and nothing else of a batch.

    Once the description was a slice of an array with room for the whole batch: dumps took twice as much memory.
    """
    settings = wanted_of(dump, fields=True, keys=True, described=described)
    reader, batch = BatchReader(Options()), batch_of(make_dump(dump, 1, 400).data, settings)
    reader.read(batch)  # fills caches
    gc.collect()
    in_arrow = pa.total_allocated_bytes()
    tracemalloc.start()
    try:
        rows = reader.read(batch).rows
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0] + pa.total_allocated_bytes() - in_arrow
    finally:
        tracemalloc.stop()
    assert kept < 1.1 * rows.nbytes + (1 << 14)
