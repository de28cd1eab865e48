"""Records of MARC 21 and UNIMARC in the exchange format (ISO 2709; MARC 21 Specifications for Record Structure).

A record ends at its record terminator (1D). Leader and directory should agree with that; in real dumps they often do
not quite, so a record is read as far as it is certain:

* The length in the leader is ignored where the record can be read without it: it is 00000 or 99999 in longer records,
  and wrong after a conversion of the character set. It decides where a 1D stands in a field: if the directory ends at
  the 1D to which the length leads, that one ends the record.
* A field is where the directory says if it ends there with a field terminator (1E). If not, and there are as many
  fields as entries, it is the field with the number of its entry.
* The base address is ignored: the directory ends with the first 1E.

Damaged is a record without a leader, with a directory that is not made of entries of twelve octets, or with octets that
the directory does not account for: octets may be lost from the middle of one record to the middle of another, which
then look like one record.

* With more or fewer fields than entries, the directory has to account for all octets.
* With as many, the fields have to be as long as the directory says, but for what a conversion of the character set may
  have added or taken away.

Damaged is also a record without its record terminator; it ends where the next leader with a directory begins, or at the
end of the dump. White space, NUL and SUB (the end of DOS files) between records belong to none.
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
from urnscan.compiled.octets import Integers
from urnscan.compiled.strings import cut as cut_out
from urnscan.framing.buffer import BETWEEN, MARK, Buffer
from urnscan.framing.lines import Damaged, parts
from urnscan.records.decoded_text import decoded, first_name
from urnscan.records.format import Format
from urnscan.records.marc_fields import MarcFields, MarcOctets, Parted
from urnscan.records.marc_octets import decoder
from urnscan.records.marc_runs import LEADER, NO_NUMBER, Fields, fields_of, find_whole
from urnscan.records.marc_values import FAMILIES, is_unimarc
from urnscan.records.record import Cut, Record, Run, RunReader

_LEADER = re.compile(rb"[0-9]{5}[^\x1d\x1e]{7}[0-9]{5}[^\x1d\x1e]{7}")
_PRINTABLE_LEADER = re.compile(rb"[0-9]{5}[ -~]{7}[0-9]{5}[ -~]{7}")
_HEAD = re.compile(_LEADER.pattern + rb"(?:[0-9A-Za-z ]{3}[0-9]{9}){1,8331}\x1e")  # leader and directory
_NEXT_HEAD = re.compile(rb"\x1d[\r\n]*+" + _HEAD.pattern)
_INNER_HEAD = re.compile(rb"[0-9]{5}[ -~]{5}22([0-9]{5})[ -~]{3}450[ -~][0-9A-Za-z]{3}[0-9]{9}")
_ENTRY = struct.Struct("3s4s5s")  # of the directory: tag, length and place of a field
_RUN = 1 << 13  # records that are found by one call
_LONGEST = 99_999  # octets that a leader can give
_LONGEST_FIELD = 9_999  # octets; the entry of a longer field cannot give its length
_FILLER = b"\x1e \0\r\n"  # may stand behind the last field
_ASCII = bytes(range(128))
# Octets by which one octet that is not ASCII may have changed its field (a Greek letter was seven octets in MARC-8,
# with escape sequences, and is two in UTF-8), and octets by which a character reference (&#x1234;) may have.
_CHANGE, _CHANGE_BY_REFERENCE = 3, 8


def is_marc(head: bytes, _name: str) -> bool | None:
    """Whether a dump begins with a leader and a directory; or one stands behind the end of a first record with faults."""
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
    """Reads records, cut at their record terminators."""

    table = described_by = "marc"

    def __init__(self, *, own: bool, described: bool = False, keys: bool = False) -> None:
        super().__init__(own=own, described=described, keys=keys)
        self._places = tuple(np.empty(_RUN, np.int64) for _ in range(2))

    def found(self, buffer: Buffer) -> Iterator[Cut | Damaged | Run]:
        """Find the records, those without faults in runs."""
        slowly = parts(buffer, lambda: buffer.find(b"\x1d") + 1, partial(buffer.pass_over, BETWEEN))
        while True:
            yield from self._whole(buffer)
            if (part := next(slowly, None)) is None:
                return
            if isinstance(part, Damaged):
                yield part
                continue
            offset, octets = part
            octets += buffer.take(_missing(buffer, octets))
            for start, end in _cut(octets):  # records in it may have lost their terminators
                record = octets[start:end]
                if octets[-1] != 0x1D:
                    yield Damaged(offset + start, "the dump ends before its record terminator (1D)")
                elif fault := _fault(record):
                    yield Damaged(offset + start, fault)
                else:
                    yield Cut(offset + start, record)

    def _whole(self, buffer: Buffer) -> Iterator[Run]:
        """Find the records without faults up to the next one that has a fault."""
        starts, ends = self._places
        while buffer.has(1):
            buffer.has(_LONGEST)
            octets, at = buffer.octets, buffer.at
            count = find_whole(np.frombuffer(octets, np.uint8), at, starts, ends)
            if not count:
                return
            first, end = int(starts[0]), int(ends[count - 1])
            run = Run(buffer.offset + first - at, octets[first:end], starts[:count] - first, ends[:count] - first)
            buffer.at = end
            yield run

    def fields_of(self, run: Run) -> Fields:
        """The fields of the records of a run in columns, but those of records with faults."""
        return fields_of(run.octets, run.starts, run.ends)

    def texts_of(self, run: Run, which: Integers) -> pa.BinaryArray:
        """Octets of some records of a run."""
        places = (each[which].astype(np.int32) for each in (run.starts, run.ends))
        return string_array(*cut_out(np.frombuffer(run.octets, np.uint8), *places)).view(pa.binary())

    def record(self, cut: Cut) -> Record:
        """Read a record."""
        octets = cut.octets
        tags, fields = _fields(octets, octets.find(b"\x1e") + 1)
        number = first_name(decoded(field) for tag, field in zip(tags, fields, strict=True) if tag == b"001")
        held, most = [], len(octets)  # a directory that leads to the same field again and again gives more
        for tag, field in zip(tags, fields, strict=True):
            if decoded(tag) in self.marc.tags and (most := most - len(field)) >= 0:
                held.append((int(tag), field.replace(b"\x1e", b"\t")))  # a wrong entry leads over several
        marc = MarcOctets(octets[:LEADER], len(tags), held)
        return Record(cut.offset, octets, number, (octets,) if self.has_texts else (), marc=marc)


def _fields_match(octets: bytes, base: int) -> bool:
    """Whether there are as many fields as entries of the directory."""
    return octets.count(b"\x1e") == (base - 25) // 12 + 1


def _places(octets: bytes, base: int) -> list[tuple[int, int]]:
    """Places of the fields by the directory: beginning, and end (the field terminator)."""
    places = []
    for entry in range(24, base - 1, 12):
        start = base + int(octets[entry + 7 : entry + 12])
        places.append((start, start + int(octets[entry + 3 : entry + 7]) - 1))
    return places


def _fields(octets: bytes, base: int) -> tuple[Sequence[bytes], Sequence[bytes]]:
    """The tags in the directory, and their fields."""
    tags, _, places = zip(*_ENTRY.iter_unpack(octets[24 : base - 1]), strict=True)
    in_turn = octets[base:-1].split(b"\x1e")[:-1] if _fields_match(octets, base) else []
    if in_turn and list(places) == sorted(places):
        return tags, in_turn
    fields = []
    for number, (start, end) in enumerate(_places(octets, base)):
        is_there = end < len(octets) and octets[end] == octets[start - 1] == 0x1E
        fields.append(in_turn[number] if in_turn and not is_there else octets[start:end])
    return tags, fields


def show_marc(octets: bytes) -> str:
    """Show a record as editors of MARC do: a line for each field, `$` before codes; a damaged record as it is.

    A record of MARC 21 that is not in UTF-8 is in MARC-8.
    """
    if _fault(octets):
        return decoded(octets)
    base = octets.find(b"\x1e") + 1
    tags, values = _fields(octets, base)
    numbers = [int(tag) if tag.isdigit() else NO_NUMBER for tag in tags]
    ends = [*itertools.accumulate(map(len, values), initial=0)]
    name = FAMILIES[is_unimarc(b"".join(values), numbers, ends, ends[1:], 0, len(numbers))]
    read = decoder(name, octets[:24], values)

    def said(field: bytes) -> Parted:
        first, *subfields = field.split(b"\x1f")
        return read(first), [(decoded(each[:1]), read(each[1:])) for each in subfields]

    fields = [(decoded(tag), value) for tag, value in zip(tags, values, strict=True)]
    return MarcFields(decoded(octets[:24]), fields, said).lines()


def _fault(octets: bytes) -> str | None:
    """Why this is no record that can be read; None if it is one."""
    if not _LEADER.match(octets):
        return "it has no leader"
    if octets[-1] != 0x1D:
        return "it ends without a record terminator (1D)"
    head = _HEAD.match(octets)
    if not head:
        return "its directory is not made of entries of 12 octets"
    base = head.end()
    if _fields_match(octets, base):
        return _unaccounted(octets, base)
    places = _places(octets, base)
    ends = [end for _, end in places]
    if max(ends) >= len(octets):
        return "its directory leads outside of it"
    behind = octets[max(ends) + 1 : -1]
    accounted = base + sum(end + 1 - start for start, end in places) + 1
    if accounted + len(behind) < len(octets) or behind.strip(_FILLER):
        return f"its directory accounts for {accounted} of its {len(octets)} octets"
    # A lost terminator is missed at one place; lost octets move all places behind them.
    astray = sum(octets[end] != 0x1E for end in ends)
    if accounted + len(behind) > len(octets) or astray > max(len(ends) + 1 - octets.count(b"\x1e"), 0):
        return "its fields are not where its directory says"
    return None


def _unaccounted(octets: bytes, base: int) -> str | None:
    """Fault of a record with as many fields as entries: fields whose lengths are not those of their entries."""
    places = _places(octets, base)
    in_turn = octets[base:-1].split(b"\x1e")
    # In records that are too long, places begin again from 0, and do not tell the order of the fields.
    unlike = 0
    for ordered in (places, sorted(places)):
        unlike = sum(
            len(field) + 1
            for field, (start, end) in zip(in_turn, ordered, strict=False)
            if len(field) < _LONGEST_FIELD and len(field) != end - start and not _may_have_been(field, end - start)
        )
        if not unlike:
            return None
    return f"its directory accounts for {len(octets) - unlike} of its {len(octets)} octets"


def _may_have_been(field: bytes, length: int) -> bool:
    """Whether a field had this length before its characters were converted, or has it in characters."""
    change = _CHANGE * len(field.translate(None, _ASCII)) + _CHANGE_BY_REFERENCE * field.count(b"&")
    return abs(len(field) - length) <= change


def _missing(buffer: Buffer, octets: bytes) -> int:
    """Number of octets behind these that belong to the same record, if the 1D that ends these stands in a field."""
    head = _HEAD.match(octets)
    if not head or _fields_match(octets, head.end()) or len(octets) >= int(octets[:5]):
        return 0
    missing = 1 + max(end + 1 for _, end in _places(octets, head.end())) - len(octets)  # the last field ends before 1D
    is_so = len(octets) + missing == int(octets[:5]) and buffer.has(missing)
    return missing if is_so and buffer.octets[buffer.at + missing - 1] == 0x1D else 0


def _cut(octets: bytes) -> Iterator[tuple[int, int]]:
    """Cut before each leader with a directory: beginnings and ends."""
    start = 0
    found = octets.find(b"450", 21)
    while found >= 0:
        head = _INNER_HEAD.match(octets, found - 20)
        if head:
            base = head.start() + int(head[1])
            if base <= len(octets) and octets[base - 1] == 0x1E:
                yield start, head.start()
                start = head.start()
        found = octets.find(b"450", found + 1)
    yield start, len(octets)


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
