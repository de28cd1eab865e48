"""Records of MARC 21 in the exchange format: ISO 2709, as in MARC 21 Specifications for Record Structure. UNIMARC as well.

A record ends at its record terminator (1D); its leader and its directory must agree with that. Real dumps often do not
quite, so what can be read is read:

* The length in the leader counts for nothing where the record can be read without: it is 00000 or 99999 in longer
  records, and wrong after a conversion of the character set. It counts where a 1D stands in a field: if the directory
  ends at the 1D to which the length leads, that one ends the record.
* A field is where the directory says if it ends there with a field terminator (1E); if not, it is the one in its turn,
  provided there are as many fields as entries. Then what the directory says of their places counts for nothing.
* The base address counts for nothing: the directory ends with the first 1E.

Damaged is what has no leader, or a directory that is not made of entries of twelve octets; or what holds octets that
neither account for, as where some are lost from the middle of one record to the middle of another, and both seem one:

* With more or fewer fields than entries, the directory has to account for all octets.
* With as many, and a wrong length in the leader or a wrong place of the last field, the fields have to be as long as the
  directory says, but for what a conversion of the character set may have added or taken away.

So is a record without its record terminator; it ends where the next leader with a directory begins, or the dump. White
space, NUL and SUB (the end of DOS files) between records are no record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from urnscan.framing.buffer import BETWEEN, LONGEST, MARK, Buffer
from urnscan.framing.lines import too_long
from urnscan.records.fields import own_fields
from urnscan.records.marc_fields import own_identifiers
from urnscan.records.record import Damaged, Own, Record

__all__ = ["MarcRecords", "fields", "is_marc"]

_LEADER = re.compile(rb"[0-9]{5}[^\x1d\x1e]{7}[0-9]{5}[^\x1d\x1e]{7}")
_PRINTABLE_LEADER = re.compile(rb"[0-9]{5}[ -~]{7}[0-9]{5}[ -~]{7}")
_HEAD = re.compile(_LEADER.pattern + rb"(?:[0-9A-Za-z ]{3}[0-9]{9}){1,8331}\x1e")  # leader and directory
_INNER_HEAD = re.compile(rb"[0-9]{5}[ -~]{5}22([0-9]{5})[ -~]{3}450[ -~][0-9A-Za-z]{3}[0-9]{9}")
_REACH = 100_000  # octets; no record that its leader can tell the length of is as long
_LONGEST_FIELD = 9_999  # octets; what its entry says of a longer one is not its length
_NOTHING = b"\x1e \0\r\n"  # what may stand behind the last field and is none
_ASCII = bytes(range(128))
# By how much an octet that is not ASCII may have changed its field: one Greek letter was seven octets in MARC-8, with the
# escape sequences around it, and is two in UTF-8. By how much one that begins a character reference (&#x1234;) may have.
_CHANGE, _CHANGE_BY_REFERENCE = 3, 8


def is_marc(head: bytes, name: str) -> bool | None:  # noqa: ARG001 (the name is asked for by formats that need it)
    """Whether a dump begins with a leader and a directory."""
    if MARK.startswith(head):
        return None
    text = head.removeprefix(MARK).lstrip(b"\t\n\v\f\r \0\x1a")
    if len(text) < 24:
        return None if text[:5].isdigit() or not text else False
    if not _PRINTABLE_LEADER.match(text):
        return False
    if b"\x1e" in text:
        return _HEAD.match(text) is not None
    return None if re.fullmatch(rb"[0-9A-Za-z ]*", text[24:]) else False


class MarcRecords:
    """Reads a dump of MARC records."""

    def __init__(self, *, own: bool) -> None:
        """`own`: only the fields of the table `marc` in fields.toml are asked for."""
        self._own_tags = frozenset(tag.encode() for tag in own_fields("marc")) if own else None

    def read(self, buffer: Buffer) -> Iterator[Record | Damaged]:
        """The records, cut at their record terminators."""
        lost = False  # in the middle of what was said to be too long
        while buffer.pass_over(BETWEEN):
            offset = buffer.offset
            length = buffer.find(b"\x1d") + 1
            if not length and len(buffer.octets) - buffer.at <= LONGEST:
                octets = buffer.take(LONGEST)
                for start, _ in _cut(octets):
                    if start or not lost:
                        yield Damaged(offset + start, "the dump ends before its record terminator (1D)")
                continue
            if not 0 < length <= LONGEST:
                if not lost:
                    yield too_long(offset)
                lost = True
                buffer.take(LONGEST - _REACH)
                continue
            octets = buffer.octets[buffer.at : buffer.at + length]
            base = octets.find(b"\x1e") + 1
            if _is_plainly_whole(octets, base):
                buffer.take(length)
                yield self._record(offset, octets, base)
            else:
                octets = buffer.take(_true_length(buffer, octets))
                yield from self._doubtful(offset, octets, lost=lost)
            lost = False

    def _doubtful(self, offset: int, octets: bytes, *, lost: bool) -> Iterator[Record | Damaged]:
        """What ends with a record terminator, and has a length that is not that of its leader or fields that are not those
        of its directory: there may be records in it that have lost their terminators.
        """
        for start, end in _cut(octets):
            part = octets[start:end]
            fault = _fault(part)
            if fault is None:
                yield self._record(offset + start, part, part.find(b"\x1e") + 1)
            elif start or not lost:
                yield Damaged(offset + start, fault)

    def _record(self, offset: int, octets: bytes, base: int) -> Record:
        """The record that these octets are; `base`: where its fields begin."""
        entry = 24
        while entry < base - 1 and octets[entry : entry + 3] != b"001":
            entry += 12
        identifier = None
        held = _Fields(octets, base)
        if entry < base - 1:
            identifier = held.at(entry).decode("utf-8", "replace").strip() or None
        if self._own_tags is None:
            return Record(offset, octets, identifier, (octets,))
        own: list[Own] = []
        left = len(octets)  # a directory that leads to the same field again and again has more
        for entry in range(24, base - 1, 12):
            tag = octets[entry : entry + 3]
            if tag in self._own_tags:
                field = held.at(entry)
                left -= len(field)
                if left < 0:
                    break
                indicators, *subfields = field.decode("utf-8", "replace").split("\x1f")
                own += own_identifiers(
                    tag.decode("ascii"), indicators[:1], indicators[1:2], [(each[:1], each[1:]) for each in subfields]
                )
        return Record(offset, octets, identifier, own=own)


def _is_plainly_whole(octets: bytes, base: int) -> bool:
    """Whether these octets are a record without fault and without letters in its tags, as nearly all are."""
    return (
        octets[:5].isdigit()
        and int(octets[:5]) == len(octets)
        and octets[12:17].isdigit()
        and octets[24 : base - 1].isdigit()
        and base % 12 == 1
        and _fields_match(octets, base)
        and octets.startswith(b"\x1e", base + int(octets[base - 6 : base - 1]) - 1)
    )


def _fields_match(octets: bytes, base: int) -> bool:
    """Whether there are as many fields as entries of the directory."""
    return octets.count(b"\x1e") == (base - 25) // 12 + 1


def _places(octets: bytes, base: int) -> Iterator[tuple[int, int]]:
    """Where the fields are by the directory: beginning, end (the field terminator)."""
    for entry in range(24, base - 1, 12):
        start = base + int(octets[entry + 7 : entry + 12])
        yield start, start + int(octets[entry + 3 : entry + 7]) - 1


class _Fields:
    """What stands in the fields of a record."""

    __slots__ = ("_base", "_in_turn", "_octets")

    def __init__(self, octets: bytes, base: int) -> None:
        self._octets, self._base = octets, base
        self._in_turn: list[bytes] | None = None

    def at(self, entry: int) -> bytes:
        """The field of the entry of the directory that begins there."""
        octets = self._octets
        start = self._base + int(octets[entry + 7 : entry + 12])
        end = start + int(octets[entry + 3 : entry + 7]) - 1
        if end < len(octets) and octets[end] == octets[start - 1] == 0x1E:
            return octets[start:end]
        if self._in_turn is None:  # once for all
            self._in_turn = octets.split(b"\x1e")[1:] if _fields_match(octets, self._base) else []
        return self._in_turn[(entry - 24) // 12] if self._in_turn else octets[start:end]


def fields(octets: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The fields of a record in the order of its directory: tag, and what stands in it.

    Raises ValueError if it is no record that can be read.
    """
    fault = _fault(octets)
    if fault is not None:
        raise ValueError(fault)
    base = octets.find(b"\x1e") + 1
    held = _Fields(octets, base)
    for entry in range(24, base - 1, 12):
        yield octets[entry : entry + 3], held.at(entry)


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
    places = list(_places(octets, base))
    ends = [end for _, end in places]
    if max(ends) >= len(octets):
        return "its directory leads outside of it"
    behind = octets[max(ends) + 1 : -1]
    accounted = base + sum(end + 1 - start for start, end in places) + 1
    if accounted + len(behind) < len(octets) or behind.strip(_NOTHING):
        return f"its directory accounts for {accounted} of its {len(octets)} octets"
    # A terminator that is lost is missed at one place; where octets are lost, all behind are others.
    astray = sum(octets[end] != 0x1E for end in ends)
    if accounted + len(behind) > len(octets) or astray > max(len(ends) + 1 - octets.count(b"\x1e"), 0):
        return "its fields are not where its directory says"
    return None


def _unaccounted(octets: bytes, base: int) -> str | None:
    """The fault of a record with as many fields as entries, if the entries are of other fields."""
    places = list(_places(octets, base))
    in_turn = octets[base:-1].split(b"\x1e")
    # Places wrap around in records that are too long for them, and then say nothing of the order.
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


def _true_length(buffer: Buffer, octets: bytes) -> int:
    """The length of what begins with these octets: theirs, if the record terminator that ends them is not in a field."""
    head = _HEAD.match(octets)
    if head and not _fields_match(octets, head.end()):
        length = int(octets[:5])
        # The first condition is for speed; the last field ends right before the record terminator.
        if len(octets) < length == 1 + max(end + 1 for _, end in _places(octets, head.end())) and buffer.has(length):
            if buffer.octets[buffer.at + length - 1] == 0x1D:
                return length
    return len(octets)


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
