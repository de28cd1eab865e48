"""Records of PICA+ in its two serialisations for dumps (https://format.gbv.de/pica).

* Normalised: a record is a line; each field ends with 1E, each subfield begins with 1F. Some systems put a number and a
  1E before the first. What is called binary is read as well: there records end with 1D, and line ends between them are
  no record.
* Plain: a field is a line, `045F/01 $a...`, each subfield begins with `$`, a dollar in a value is doubled; a blank line
  parts records. WinIBW shows `ƒ` for that `$`; where a field begins so, it is the sign, and dollars are dollars.

Damaged is what does not begin with a field, and a normalised record that does not end with one (it is cut off). What
follows the first field of a plain record is not judged: a line that is no field goes on with a value. Fields of levels
1 and 2 (holdings, copies) belong to the record in which they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial

from urnscan.framing.buffer import BETWEEN, HEAD, MARK, Buffer
from urnscan.framing.lines import parts
from urnscan.records.fields import OwnField, of_subfields, own_fields
from urnscan.records.record import Damaged, Own, Record

__all__ = ["PicaRecords", "is_pica_normalised", "is_pica_plain"]

_TAG = rb"[012][0-9]{2}[A-Z@](?:/[0-9]{2,3})? "
_SIGN = "ƒ".encode()
_NORMALISED = re.compile(rb"(?:[0-9Xx ]{0,40}\x1e)?" + _TAG + rb"\x1f")
_PLAIN = re.compile(_TAG + rb"(?:(\$)|" + _SIGN + rb")")
_PPN = re.compile(rb"(?:\A|[\x1e\n])003@ [^\n\x1e]*?\x1f0([^\n\x1d-\x1f]*)")
_BINARY = re.compile(rb"\x1e\x1d|\n")
_BLANK_LINE = re.compile(rb"\n[ \t\r]{0,64}\n")
_CUT_OFF = "it is cut off"


def is_pica_normalised(head: bytes, name: str) -> bool | None:  # noqa: ARG001 (asked for by formats that need it)
    """Whether a dump begins with a field whose subfields begin with 1F."""
    return _begins(head, _NORMALISED)


def is_pica_plain(head: bytes, name: str) -> bool | None:  # noqa: ARG001
    """Whether a dump begins with a field whose subfields begin with `$`."""
    return _begins(head, _PLAIN)


def _begins(head: bytes, field: re.Pattern[bytes]) -> bool | None:
    if MARK.startswith(head):
        return None
    text = head.removeprefix(MARK).lstrip()
    if field.match(text):
        return True
    return None if len(text) < 64 and (not text or text[:1].isdigit()) else False


class PicaRecords:
    """Reads a dump of PICA+ records in either serialisation."""

    def __init__(self, *, own: bool) -> None:
        """`own`: only the fields of the table `pica` in fields.toml are asked for."""
        self._own_fields = {tag.encode(): rows for tag, rows in own_fields("pica").items()} if own else None
        self._plain: bool | None = None  # not known before the first octets are

    def read(self, buffer: Buffer) -> Iterator[Record | Damaged]:
        """The records; which serialisation it is is told by the first of its octets."""
        resumed = self._plain is not None
        if self._plain is None:
            buffer.has(HEAD)
            head = buffer.octets[buffer.at : buffer.at + HEAD]
            # Each line of the one holds at least one of each, each line of the other none.
            self._plain = head.count(b"\x1e") + head.count(b"\x1f") <= head.count(b"\n")
        for part in self._parts(buffer):
            found = part if isinstance(part, Damaged) else self._record(*part)
            if resumed and isinstance(found, Record) and found.identifier is None:
                found = Damaged(found.offset, "it begins in the middle: what came before could not be read")
            resumed = False
            yield found

    def _parts(self, buffer: Buffer) -> Iterator[tuple[int, bytes] | Damaged]:
        """What stands between blank lines; or what ends with a LF, with a 1D if the first record does."""
        end = None if self._plain else buffer.search(_BINARY)
        terminator = b"\x1d" if end and end[0] == b"\x1e\x1d" else b"\n"

        def length() -> int:
            if not self._plain:
                return buffer.find(terminator) + 1
            blank = buffer.search(_BLANK_LINE)
            return blank.start() + 1 - buffer.at if blank else 0

        for part in parts(buffer, length, partial(buffer.pass_over, BETWEEN)):
            # Behind the end of a plain one a blank line is still to be taken.
            if (
                buffer.error
                and not isinstance(part, Damaged)
                and buffer.at == len(buffer.octets)
                and (self._plain or not part[1].endswith(terminator))
            ):
                yield Damaged(part[0], _CUT_OFF)
            else:
                yield part

    def _record(self, offset: int, octets: bytes) -> Record | Damaged:
        if self._plain:
            first = _PLAIN.match(octets)
            if not first:
                return Damaged(offset, "it does not begin with a field of PICA+")
            text = _normalised(octets) if first[1] else octets.replace(_SIGN, b"\x1f")
        else:
            if not _NORMALISED.match(octets):
                return Damaged(offset, "it does not begin with a field of PICA+")
            text = octets
            if not octets.rstrip(b"\r\n\x1d").endswith(b"\x1e"):
                return Damaged(offset, _CUT_OFF)
        ppn = _PPN.search(text)
        identifier = (ppn[1].decode("utf-8", "replace").strip() or None) if ppn else None
        if self._own_fields is None:
            return Record(offset, octets, identifier, (text,))
        return Record(
            offset, octets, identifier, own=tuple(_own(text.split(b"\n" if self._plain else b"\x1e"), self._own_fields))
        )


def _normalised(octets: bytes) -> bytes:
    """A plain record with 1F where a subfield begins, and with single dollars."""
    if b"$$" not in octets:
        return octets.replace(b"$", b"\x1f")
    return b"$".join(part.replace(b"$", b"\x1f") for part in octets.split(b"$$"))


def _own(fields: list[bytes], own: Mapping[bytes, tuple[OwnField, ...]]) -> Iterator[Own]:
    """The record's own identifiers, by the rows of the table, from its fields, in which each subfield begins with 1F."""
    for field in fields:
        if rows := own.get(field[:4]):
            subfields = field.split(b"\x1f")[1:]
            yield from of_subfields(
                [(each[:1].decode("latin-1"), each[1:].decode("utf-8", "replace")) for each in subfields], rows
            )
