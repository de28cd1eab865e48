"""Fields of MARC as octets, in the form of ISO 2709: own identifiers are read from them, and the description is packed.

A field has two indicators, and before each subfield a delimiter (1F) and its code: `10␟aInks␟bA handbook`. Records of
MARCXML are brought into this form, too (`marcxml`).
"""

from __future__ import annotations

import functools
import itertools
import re
from codecs import utf_8_decode
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.records import description
from urnscan.records.description import Description
from urnscan.records.fields import Own, OwnField, admitting, of_subfields, of_value, with_source
from urnscan.records.marc_fields import FAMILIES
from urnscan.records.marc_runs import LONGEST_PACKED, NONE, Tables
from urnscan.records.record import RecordReader, decoded

_PACKED = b"ISO 2709"  # begins what is packed; no table of descriptions.toml is called so
_TAGS = 1000
_ADMITTING = 1 << 12  # tags with indicators whose rows are kept in mind


class MarcOctets(NamedTuple):
    """The fields of a record that tables ask for."""

    family: str
    """One of FAMILIES."""
    leader: bytes
    total: int
    """Number of all fields of the record."""
    fields: Sequence[tuple[bytes, bytes]]
    """Tags and fields, without field terminators."""


class OctetTables:
    """The tables of both families, by tags in octets."""

    def __init__(self, reader: RecordReader) -> None:
        """`reader` knows which tables are wanted."""
        self._owned = {name: {tag.encode(): rows for tag, rows in reader.own_fields(name).items()} for name in FAMILIES}
        self._describing = {name: {tag.encode() for tag in reader.described_fields(name)} for name in FAMILIES}
        self.wanted = {name: self._owned[name].keys() | self._describing[name] for name in FAMILIES}
        """Tags of the fields that are read, by family."""
        self.is_described = any(self._describing.values())
        """Whether descriptions are wanted."""
        self._admitting = functools.lru_cache(_ADMITTING)(self._rows)

    def compiled(self) -> tuple[Tables, Sequence[OwnField]]:
        """The tables of both families for compiled code, and the rows by their numbers in it."""
        shape = (len(FAMILIES), _TAGS)
        given, packed = (np.zeros(shape, np.bool_) for _ in range(2))
        first_row, counts = (np.zeros(shape, np.int16) for _ in range(2))
        rows: list[OwnField] = []
        for number, name in enumerate(FAMILIES):
            packed[number, [int(tag) for tag in self._describing[name] if tag.isdigit()]] = True
            for tag, of_tag in self._owned[name].items():
                place = number, int(tag)
                given[place], first_row[place], counts[place] = True, len(rows), len(of_tag)
                rows += of_tag
        first, second = (np.frombuffer(b"%b\x1e%b" % (_PACKED, name.encode()), np.uint8) for name in FAMILIES)
        tables = Tables(
            given,
            packed,
            (first, second),
            first_row,
            counts,
            is_alone=np.array(
                [bool(row.schemes or row.unless or row.unless_all or row.once) for row in rows], np.bool_
            ),
            first=_octets_in([row.first or None for row in rows]),
            second=_octets_in([row.second or None for row in rows]),
            parts=_octets_in([row.parts for row in rows]),
            qualifier=_codes([row.qualifier for row in rows]),
            scheme_in=_codes([row.scheme_in for row in rows]),
            source_in=_codes([row.source_in for row in rows]),
        )
        return tables, rows

    def own(self, family: str, fields: Iterable[tuple[bytes, bytes]]) -> tuple[Own, ...]:
        """Own identifiers in tags and fields."""
        owned, admitting_rows = self._owned[family], self._admitting
        found: list[Own] = []
        for tag, field in fields:
            if tag not in owned:
                continue
            if tag.startswith(b"00"):  # a control field
                found += of_value(parted(field)[0].strip(), owned[tag])
                continue
            indicators = field[:2]
            if not indicators.isascii():  # two characters have eight octets at most
                indicators = field.partition(b"\x1f")[0][:8]
            for row in admitting_rows(family, tag, indicators):
                found += row.own(field)
        return tuple(found)

    def read(self, record: MarcOctets, most: int) -> tuple[tuple[Own, ...], bytes]:
        """Own identifiers of a record, and its packed description.

        `most`: octets of the record; a directory that leads to the same field again and again gives more.
        """
        name, fields = record.family, record.fields
        if sum([len(field) for _, field in fields]) > most:
            ends = itertools.accumulate(len(field) for _, field in fields)
            fields = [each for each, end in zip(fields, ends, strict=True) if end <= most]
        own, describing = self.own(name, fields), self._describing[name]
        if not describing:
            return own, b""
        described = [_PACKED, name.encode(), record.leader, b"%d" % record.total]
        for tag, field in fields:
            if tag in describing:
                described += tag, field[:LONGEST_PACKED].replace(b"\x1e", b" ")  # a wrong entry leads over several
        return own, b"\x1e".join(described)

    def _rows(self, family: str, tag: bytes, indicators: bytes) -> tuple[_Row, ...]:
        """The rows of a tag that admit a field with these indicators."""
        said, _ = parted(indicators)
        return tuple(map(_Row, admitting(self._owned[family][tag], said[0], said[1])))


def _octets_in(allowed: Sequence[str | None]) -> npt.NDArray[np.bool_]:
    """For each row a flag for each octet: whether it is allowed. None allows all."""
    flags = np.zeros((len(allowed), 256), np.bool_)
    for row, characters in enumerate(allowed):
        flags[row, slice(None) if characters is None else [*characters.encode()]] = True
    return flags


def _codes(codes: Sequence[str]) -> npt.NDArray[np.int16]:
    """The octet of each code of a subfield; NONE for none."""
    return np.array([ord(code) if code else NONE for code in codes], np.int16)


class _Row:
    """A row of fields.toml or keys.toml, for data fields in octets: like `of_subfields`, in half the time.

    Patterns find the values of subfields; nothing else of a field is decoded.
    """

    def __init__(self, row: OwnField) -> None:
        self._row = row
        self._qualifier = b"\x1f" + row.qualifier.encode() if row.qualifier else b""
        self._values = _values_of(row.parts).findall
        self._scheme_in = _values_of(row.scheme_in).search if row.scheme_in else None
        self._source_in = _values_of(row.source_in).search if row.source_in else None

    def own(self, field: bytes) -> list[Own]:
        """Own identifiers in a field whose indicators the row admits."""
        row = self._row
        if row.schemes or (self._qualifier and self._qualifier in field):
            return of_subfields(parted(field)[1], (row,))
        values = self._values(field)
        if not values:
            return values
        scheme, source = row.scheme, row.source
        if self._scheme_in and (said := self._scheme_in(field)):
            scheme = decoded(said[1]).strip().lower()
        if self._source_in and (said := self._source_in(field)):
            source = decoded(said[1])
        texts = [decoded(value).strip() for value in values]
        if source:
            texts = [with_source(text, source) for text in texts]
        return [Own(text, scheme, row.is_key) for text in texts]


@functools.cache
def _values_of(codes: str, least: int = 1) -> re.Pattern[bytes]:
    """Pattern of the subfields with these codes and values of at least so many octets; its group is the value."""
    if not codes:  # of a row for fields without subfields
        return re.compile(b"(?!)")
    return re.compile(b"\x1f[%b]([^\x1f]{%d,})" % (re.escape(codes).encode(), least))


def parted(field: bytes, read: Callable[[bytes], str] = decoded) -> tuple[str, list[tuple[str, str]]]:
    """Indicators, and codes with values, of a field."""
    if read is not decoded:  # MARC-8 begins anew in each subfield
        indicators, *subfields = map(read, field.split(b"\x1f"))
    else:
        indicators, *subfields = field.decode("utf-8", "replace").split("\x1f")
    return indicators.ljust(2), [(each[:1], each[1:]) for each in subfields]


def unpack_marc(packed: bytes) -> Description | None:
    """Description of a record from its packed fields; None if it is not of this format."""
    if not packed.startswith(_PACKED):
        return None
    _, name, leader, count, *fields = packed.split(b"\x1e")
    table = description.described_fields(name.decode())
    kind = decoded(leader)[6:7]
    statements = [*description.of_text(decoded(leader), table["leader"], kind)]
    statements += description.of_text(decoded(count), table["count"])
    is_plain = packed.isascii() and b"\x1b" not in packed
    read = decoded if is_plain else decoder(name.decode(), leader, fields[1::2])
    for tag, field in zip(fields[::2], fields[1::2], strict=True):
        rows = table[tag.decode()]
        if b"\x1f" not in field:
            statements += description.of_text(decoded(field), rows, kind)
        elif read is decoded:
            statements += _statements(field, rows)
        else:
            indicators, subfields = parted(field, read)
            statements += description.of_subfields(subfields, rows, indicators[1])
    return description.describe(statements)


def _statements(field: bytes, rows: Iterable[description.Row]) -> Iterator[description.Statement]:
    """The statements of a data field in UTF-8: like `description.of_subfields`, in half the time."""
    for row in rows:
        text = decoded(b" ".join(_values_of(row.parts, 0).findall(field)))
        if text:
            yield description.statement(row, text, parted(field)[0][1] if row.article == "second" else " ")


def decoder(family: str, leader: bytes, fields: Sequence[bytes]) -> Callable[[bytes], str]:
    """Decoder of the fields of a record: UTF-8, or MARC-8 where a record of MARC 21 is not in UTF-8. MARC-8 in ASCII alone
    changes its character set with ESC.
    """
    if family != FAMILIES[0]:
        return decoded
    has_escapes = leader[9:10] != b"a" and any(b"\x1b" in field for field in fields)
    return decoded if not has_escapes and all(is_utf8(field, may_be_cut=True) for field in fields) else of_marc8


def is_utf8(octets: bytes, *, may_be_cut: bool = False) -> bool:
    """True if octets are in UTF-8. `may_be_cut`: the last character need not be whole."""
    try:
        utf_8_decode(octets, "strict", not may_be_cut)
    except UnicodeDecodeError:
        return False
    return True


def of_marc8(octets: bytes) -> str:
    """Decode MARC-8 (MARC 21 Specifications, Character Sets); UTF-8 if it is none."""
    if octets.isascii() and b"\x1b" not in octets:
        return octets.decode()
    from pymarc.marc8 import marc8_to_unicode  # noqa: PLC0415 (large tables, which few runs need)

    try:
        return marc8_to_unicode(octets, hide_utf8_warnings=True)
    except UnicodeDecodeError:
        return decoded(octets)
