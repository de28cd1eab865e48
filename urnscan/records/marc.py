"""Records of MARC 21 and UNIMARC in the exchange format (ISO 2709; MARC 21 Specifications for Record Structure).

A record ends at its record terminator (1D). In real dumps, leader and directory often do not quite agree with that, so
a record is read if its fields are certain:

* The length in the leader is ignored if the record can be read without it: it is 00000 or 99999 in longer records, and
  wrong after a conversion of the character set. The length decides if there is a 1D inside a field: if the last field
  of the directory ends at the 1D to which the length leads, this 1D ends the record.
* A field is where the directory says if a field terminator (1E) is at its end. If not, and there are as many fields as
  entries, the field of an entry is the field with the same number.
* The base address is ignored: the directory ends with the first 1E.

A record is damaged if it has no leader, if its directory is not made of entries of twelve bytes, or if the directory
does not account for all bytes. Bytes may be lost from the middle of a record to the middle of another; both records
then look like one record.

* If there are more or fewer fields than entries, the directory must account for all bytes.
* If there are as many, the fields must be as long as the directory says. They may be longer or shorter by bytes that a
  conversion of the character set may have added or removed.

A record without its record terminator is damaged, too. It ends where the next leader with a directory begins, or at the
end of the dump. White space, NUL and SUB (the end of DOS files) between records belong to no record.
"""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from urnscan.compiled.arrow import string_array
from urnscan.compiled.bytes import Integers
from urnscan.compiled.strings import cut as cut_out
from urnscan.framing.buffer import BETWEEN, MARK, Buffer
from urnscan.framing.lines import Damaged, parts
from urnscan.records.decoded_text import decoded, first_name
from urnscan.records.format import Format
from urnscan.records.marc_bytes import decoder, split_field
from urnscan.records.marc_fields import MarcBytes, MarcFields, leader_with_status
from urnscan.records.marc_runs import LEADER, NO_NUMBER, Fields, fields_of, find_whole
from urnscan.records.marc_values import FAMILIES, is_unimarc
from urnscan.records.record import Cut, Record, Run, RunReader

_LEADER = re.compile(rb"[0-9]{5}[^\x1d\x1e]{7}[0-9]{5}[^\x1d\x1e]{7}")
_PRINTABLE_LEADER = re.compile(rb"[0-9]{5}[ -~]{7}[0-9]{5}[ -~]{7}")
# Leader and directory.
_HEAD = re.compile(_LEADER.pattern + rb"(?:[0-9A-Za-z ]{3}[0-9]{9}){1,8331}\x1e")
_NEXT_HEAD = re.compile(rb"\x1d[\r\n]*+" + _HEAD.pattern)
_INNER_HEAD = re.compile(rb"[0-9]{5}[ -~]{5}22([0-9]{5})[ -~]{3}450[ -~][0-9A-Za-z]{3}[0-9]{9}")
# An entry of the directory: tag, length and place of a field.
_ENTRY = struct.Struct("3s4s5s")
# Maximum number of records that a call finds.
_RUN = 1 << 13
# The largest length in bytes that a leader can contain.
_LONGEST = 99_999
# The largest length of a field in bytes that an entry can contain.
_LONGEST_FIELD = 9_999
# Bytes that may follow the last field.
_FILLER = b"\x1e \0\r\n"
_ASCII = bytes(range(128))
# Bytes by which a conversion may have changed the length of a field, for each of its bytes that is not ASCII, and for each
# character reference (&#x1234;). A Greek letter is seven bytes in MARC-8, with escape sequences, and two in UTF-8.
_CHANGE, _CHANGE_BY_REFERENCE = 3, 8


def is_marc(head: bytes, _name: str) -> bool | None:
    """Whether a dump whose first bytes are `head` is MARC in ISO 2709: it begins with a leader and a directory, or
    these follow after a damaged record. None: undecided, because the leader or directory is not whole in `head`. False
    also if the first record is damaged, and `head` ends before the next directory does.
    """
    if MARK.startswith(head):
        return None
    text = head.removeprefix(MARK).lstrip(b"\t\n\v\f\r \0\x1a")
    if len(text) < 24:
        return None if text[:5].isdigit() or not text else False
    if b"\x1d" in text:
        return _HEAD.match(text) is not None or _NEXT_HEAD.search(text) is not None
    if b"\x1e" in text:
        return _HEAD.match(text) is not None
    if not _PRINTABLE_LEADER.match(text):
        return False
    return None if re.fullmatch(rb"[0-9A-Za-z ]*", text[24:]) else False


class MarcRecords(RunReader):
    """Reader of MARC dumps in ISO 2709. The ID of a record is its control number (001)."""

    table = described_by = "marc"
    """Name of the tables with the fields of the format."""

    def find(self, buffer: Buffer) -> Iterator[Cut | Damaged | Run]:
        """Yield the records in order, with their places in the dump and bytes: neighbouring records without faults, or a
        single one, as a `Run`, another record as a `Cut`, one that cannot be read as a `Damaged` (with the reason).
        """
        one_by_one = parts(buffer, lambda: buffer.find(b"\x1d") + 1, partial(buffer.pass_over, BETWEEN))
        while True:
            yield from self._runs(buffer)
            if (part := next(one_by_one, None)) is None:
                return
            if isinstance(part, Damaged):
                yield part
                continue
            offset, data = part
            data += buffer.take(_missing(buffer, data))
            # There may be several records, which have lost their terminators.
            for start, end in _split_at_heads(data):
                record = data[start:end]
                if data[-1] != 0x1D:
                    yield Damaged(offset + start, "the dump ends before its record terminator (1D)")
                elif fault := _fault(record):
                    yield Damaged(offset + start, fault)
                else:
                    yield Cut(offset + start, record)

    def _runs(self, buffer: Buffer) -> Iterator[Run]:
        """Take the records before the next record with a fault from the buffer, and yield them in runs of at most
        8,192.
        """
        starts, ends = np.empty((2, _RUN), np.int64)
        while buffer.has(1):
            buffer.has(_LONGEST)
            data, at = buffer.data, buffer.at
            count = find_whole(np.frombuffer(data, np.uint8), at, starts, ends)
            if not count:
                return
            first, end = int(starts[0]), int(ends[count - 1])
            run = Run(buffer.offset + first - at, data[first:end], starts[:count] - first, ends[:count] - first)
            buffer.at = end
            yield run

    def fields_of(self, run: Run) -> Fields:
        """Return the fields of the records in a run, in columns. A record that compiled code cannot read has -1
        (REFUSED) as its number of fields, and no fields: then the method `record` must read it.
        """
        return fields_of(run.data, run.starts, run.ends)

    def texts_of(self, run: Run, numbers: Integers) -> pa.BinaryArray:
        """Return the bytes of the records at the indices `numbers` (from 0) of a run, in that order: they are the texts
        to scan for URNs.
        """
        places = (column[numbers].astype(np.int32) for column in (run.starts, run.ends))
        return string_array(*cut_out(np.frombuffer(run.data, np.uint8), *places)).view(pa.binary())

    def record(self, cut: Cut) -> Record:
        """Read the leader, directory and fields of a record. Returns a `Record` with the ID, the fields of MARC
        (`Record.marc`) and, without `own`, its bytes as a text to scan for URNs. The record must not be damaged: `find`
        yields no `Cut` for damaged records.
        """
        data = cut.data
        tags, fields = _fields(data, data.find(b"\x1e") + 1)
        number = first_name(decoded(field) for tag, field in zip(tags, fields, strict=True) if tag == b"001")
        # The fields together have at most as many bytes as the record, also if many entries lead to the same field.
        chosen, most = [], len(data)
        for tag, field in zip(tags, fields, strict=True):
            if decoded(tag) in self.marc.tags and (most := most - len(field)) >= 0:
                # A wrong entry may lead to several fields with their terminators.
                chosen.append((int(tag), field.replace(b"\x1e", b"\t")))
        marc = MarcBytes(leader_with_status(data[:LEADER], [*map(decoded, tags)]), len(tags), chosen)
        return Record(cut.offset, data, number, (data,) if self.has_texts else (), marc=marc)


def _fields_match(data: bytes, base: int) -> bool:
    """Whether there are as many fields as entries of the directory, which ends before index `base`."""
    return data.count(b"\x1e") == (base - 25) // 12 + 1


def _places(data: bytes, base: int) -> list[tuple[int, int]]:
    """Start and end of each field, as the directory says, without the field terminator. `base`: index after the
    directory.
    """
    entries = _ENTRY.iter_unpack(data[24 : base - 1])
    return [(base + int(start), base + int(start) + int(length) - 1) for _, length, start in entries]


def _fields(data: bytes, base: int) -> tuple[Sequence[bytes], Sequence[bytes]]:
    """The tags and the fields of a record without a fault. `base`: index after the directory."""
    tags, _, places = zip(*_ENTRY.iter_unpack(data[24 : base - 1]), strict=True)
    in_order = data[base:-1].split(b"\x1e")[:-1] if _fields_match(data, base) else []
    if in_order and list(places) == sorted(places):
        return tags, in_order
    fields = []
    for number, (start, end) in enumerate(_places(data, base)):
        is_there = end < len(data) and data[end] == data[start - 1] == 0x1E
        fields.append(in_order[number] if in_order and not is_there else data[start:end])
    return tags, fields


def show_marc(data: bytes) -> str:
    """Return a record as text in the form of MARC editors: a line for each field, `$` before the code of a subfield.
    The bytes of a damaged record are only decoded.

    A record of MARC 21 that is not in UTF-8 is decoded as MARC-8.
    """
    if _fault(data):
        return decoded(data)
    base = data.find(b"\x1e") + 1
    tags, values = _fields(data, base)
    numbers = [int(tag) if tag.isdigit() else NO_NUMBER for tag in tags]
    ends = [*itertools.accumulate(map(len, values), initial=0)]
    name = FAMILIES[is_unimarc(b"".join(values), numbers, ends, ends[1:], 0, len(numbers))]
    fields = [(decoded(tag), value) for tag, value in zip(tags, values, strict=True)]
    split = partial(split_field, read=decoder(name, data[:24], values))
    return MarcFields(decoded(data[:24]), fields, split).lines()


def _fault(data: bytes) -> str | None:
    if not _LEADER.match(data):
        return "it has no leader"
    if data[-1] != 0x1D:
        return "it ends without a record terminator (1D)"
    head = _HEAD.match(data)
    if not head:
        return "its directory is not made of entries of 12 bytes"
    base = head.end()
    if _fields_match(data, base):
        return _unaccounted(data, base)
    places = _places(data, base)
    ends = [end for _, end in places]
    if max(ends) >= len(data):
        return "its directory points past its end"
    rest = data[max(ends) + 1 : -1]
    accounted = base + sum(end + 1 - start for start, end in places) + 1
    if accounted + len(rest) < len(data) or rest.strip(_FILLER):
        return f"its directory describes {accounted} of its {len(data)} bytes"
    # A lost terminator makes one wrong place; lost bytes make all later places wrong.
    wrong_places = sum(data[end] != 0x1E for end in ends)
    if accounted + len(rest) > len(data) or wrong_places > max(len(ends) + 1 - data.count(b"\x1e"), 0):
        return "its fields are not where its directory says"
    return None


def _unaccounted(data: bytes, base: int) -> str | None:
    """The fault of a record with an entry for each field, if their lengths differ by more than a conversion of
    characters explains. `base`: index after the directory.
    """
    places = _places(data, base)
    fields = data[base:-1].split(b"\x1e")
    # In records that are too long, places begin again from 0, so they do not show the order of the fields.
    differing = 0
    for ordered in (places, sorted(places)):
        differing = sum(
            len(field) + 1
            for field, (start, end) in zip(fields, ordered, strict=False)
            if len(field) < _LONGEST_FIELD and len(field) != end - start and not _may_have_been(field, end - start)
        )
        if not differing:
            return None
    return f"its directory describes {len(data) - differing} of its {len(data)} bytes"


def _may_have_been(field: bytes, length: int) -> bool:
    """Whether a field may have had `length` bytes before a conversion of characters."""
    change = _CHANGE * len(field.translate(None, _ASCII)) + _CHANGE_BY_REFERENCE * field.count(b"&")
    return abs(len(field) - length) <= change


def _missing(buffer: Buffer, data: bytes) -> int:
    """Number of bytes of the record that follow in the buffer, if the 1D at the end of `data` is inside a field;
    otherwise 0. Takes no bytes.
    """
    head = _HEAD.match(data)
    if not head or _fields_match(data, head.end()) or len(data) >= int(data[:5]):
        return 0
    # The record terminator follows the last field.
    missing = 1 + max(end + 1 for _, end in _places(data, head.end())) - len(data)
    is_length = len(data) + missing == int(data[:5]) and buffer.has(missing)
    return missing if is_length and buffer.data[buffer.at + missing - 1] == 0x1D else 0


def _split_at_heads(data: bytes) -> Iterator[tuple[int, int]]:
    """Start and end of each part of `data`, which is split before each leader inside it that has a directory."""
    start = 0
    at = data.find(b"450", 21)
    while at >= 0:
        head = _INNER_HEAD.match(data, at - 20)
        if head:
            base = head.start() + int(head[1])
            if base <= len(data) and data[base - 1] == 0x1E:
                yield start, head.start()
                start = head.start()
        at = data.find(b"450", at + 1)
    yield start, len(data)


FORMATS = (
    Format(
        name="marc",
        title="MARC (ISO 2709)",
        reader=MarcRecords,
        recognise=is_marc,
        suffixes=(".mrc", ".marc"),
        trace=rb"\x1e\x1d",
        line_ends=0,
        in_columns=True,
        show=show_marc,
    ),
)
