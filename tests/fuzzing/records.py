"""The target of what cuts dumps into records: where they are, what they say, and the dump without some of them."""

from __future__ import annotations

import itertools

import numpy as np

from tests.fuzzing.drawn import split
from tests.support.reading import buffer_of, read_records
from urnscan.dedup.compare.features import features
from urnscan.dedup.write.copies import Places, copy_without
from urnscan.framing.lines import Damaged
from urnscan.records.format_registry import FORMATS, recognise
from urnscan.records.identifiers import as_text
from urnscan.records.record import Record, description_of

__all__ = ["HEAD", "records"]

HEAD = 4
"""Bytes that choose in which pieces a dump comes, and which of its records are kept."""
_BLANK = b" \t\r\n"


def records(name: str, data: bytes) -> None:
    """No bytes make a reader of records fail, and how they come changes nothing; a dump without some of its records is
    the dump, but for these and what parts them.
    """
    head, dump = split(data, HEAD)
    sizes = [1 + head[0] % 64, 1 + head[1] % 64]
    format_ = FORMATS[name]
    found, owned = _read(name, dump, sizes, own=False), _read(name, dump, sizes, own=True)
    at = 0
    for one, other in zip(found, owned, strict=True):
        assert one[:3] == other[:3]
        assert at <= one.offset <= len(dump)
        at = one.offset
        if isinstance(one, Damaged):
            assert "\n" not in one.reason
            continue
        assert isinstance(other, Record)
        at += len(one.data)
        assert dump[one.offset : at] == one.data != b""
        assert one.description == other.description
        features(description_of(one.description))
        assert not one.own
        assert not other.texts
        for text in (
            other.identifier or "",
            format_.show(one.data),
            *(text for own in other.own for text in own[:2]),
        ):
            text.encode()
        for own in other.own:
            (as_text(own) or "").encode()
    wishes = itertools.cycle([head[2] >> bit & 1 for bit in range(8)] + [head[3] >> bit & 1 for bit in range(8)])
    whole = [one for one in found if isinstance(one, Record)]
    for keeps in ([bool(wish) for _, wish in zip(whole, wishes, strict=False)], [True] * len(whole)):
        _check_copy(dump, [*zip(whole, keeps, strict=True)], format_.separator, sizes)
    known = recognise(buffer_of(dump), f"x.{name}")
    assert known is recognise(buffer_of(dump, sizes), f"x.{name}")


def _read(name, dump, sizes, *, own):
    found = read_records(FORMATS[name].reader(own=own, described=True), dump)
    assert read_records(FORMATS[name].reader(own=own, described=True), dump, sizes) == found
    return found


def _check_copy(dump, records, separator, sizes):
    """Only removals, of nothing but records and what parts them; what is kept stands there as it did."""
    written = []
    places = Places(
        np.array([record.offset for record, _ in records], np.int64),
        np.array([len(record.data) for record, _ in records], np.int64),
        np.array([kept for _, kept in records], np.bool_),
    )
    copy_without(buffer_of(dump, sizes), [places], separator, written.append)
    written = b"".join(written)
    rest, end, place = [], 0, 0
    for record, kept in records:
        rest.append(dump[end : record.offset])
        end = record.offset + len(record.data)
        if kept:
            rest.append(record.data)
            place = written.find(record.data, place) + len(record.data)
            assert place >= len(record.data)
    expected = b"".join((*rest, dump[end:]))
    parting = _BLANK + separator
    assert written.translate(None, parting) == expected.translate(None, parting)
    data = iter(dump)
    assert all(byte in data for byte in written)
    if all(kept for _, kept in records):
        assert written == dump
