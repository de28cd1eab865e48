"""Data fields of MARC that are copied from a record into another record.

MARC 21 and UNIMARC, in ISO 2709 and in MARCXML (also inside of OAI-PMH and SRU). A record stays unchanged if it is not
certain how to change the record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from lxml import etree

from urnscan.records.xml_text import parse_element

# Bytes, with terminators: ISO 2709 has five and four digits for these lengths.
_LONGEST_RECORD, _LONGEST_FIELD = 99_999, 9_999
_UTF8, _OTHER, _ASCII = "utf-8", "other", "ascii"
_STARTS = re.compile(rb"<!--|<!\[CDATA\[|<((?:[\w.-]{1,64}:)?)datafield\b[^<>]*+(?<!/)>")
# Markup in which a text may look like a field, and its ends.
_ENDS = {b"<!--": b"-->", b"<![CDATA[": b"]]>"}
_BLANK = b" \t\r\n"
_NOT_IN_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1e\x7f]")


class Field(NamedTuple):
    """A data field of a MARC record, to be copied into another record."""

    tag: str
    """Tag of the field, such as `020`."""
    data: bytes
    """Indicators and subfields, as in ISO 2709, without the terminator."""
    encoding: str
    """Encoding of the bytes: `ascii`, `utf-8`, or `other`, such as MARC-8."""
    scheme: bytes
    """Byte 9 of the leader, the encoding that the record states: `a` is UTF-8."""


class NotChangedError(ValueError):
    """Raised if a record cannot be changed with certainty, or its fields cannot be read with certainty. Then the record
    must stay unchanged; the message says why.
    """


def fields_of(format_: str, data: bytes, tags: Collection[str]) -> list[Field]:
    """Return the data fields of a record that have one of `tags`, in order; empty if there are none. Raises
    NotChangedError if the record cannot be read with certainty.

    `format_`: `marc`, `marcxml`, `oai` or `sru`. `data`: bytes of the record.
    """
    return [field for field in _FUNCTIONS[format_].fields(data) if field.tag in tags]


def with_fields(format_: str, data: bytes, fields: Sequence[Field]) -> tuple[bytes, int]:
    """Return the bytes of a record with fields added, and the number of added fields. Fields that the record already
    has are not added; if it has all, its bytes are returned unchanged, and 0.

    `format_`: `marc`, `marcxml`, `oai` or `sru`. A field is put after the last field with the same tag, or else before
    the first field with a greater tag, or at the end. Raises NotChangedError, for example if the record and a field
    have different encodings.
    """
    functions = _FUNCTIONS[format_]
    present = {(field.tag, field.data) for field in functions.fields(data)}
    new = {(field.tag, field.data): field for field in reversed(fields) if (field.tag, field.data) not in present}
    return (functions.put(data, [*reversed(new.values())]), len(new)) if new else (data, 0)


def _encoding(data: bytes) -> str:
    if data.isascii():
        return _ASCII
    try:
        data.decode()
    except UnicodeDecodeError:
        return _OTHER
    return _UTF8


def _place(tags: Sequence[str], tag: str) -> int:
    """Index for a new field: after the last with the same tag, or else before the first with a greater tag, or at the
    end.
    """
    same = [at for at, other in enumerate(tags) if other == tag]
    return same[-1] + 1 if same else next((at for at, other in enumerate(tags) if other > tag), len(tags))


# --- ISO 2709 --------------------------------------------------------------------------------------------------------


def _iso_entries(data: bytes) -> list[tuple[str, bytes]]:
    """Pairs of tag and field of a record, in the order of the directory. Raises NotChangedError for an unusual leader
    or directory.
    """
    base = data.find(b"\x1e") + 1
    head = data[:24]
    if data[-1:] != b"\x1d" or base % 12 != 1 or head[10:12] + head[20:22] != b"2245":
        raise NotChangedError("its leader has another form than that of MARC")
    places, entries = [], []
    for at in range(24, base - 1, 12):
        entry = data[at : at + 12]
        if not entry[3:].isdigit():
            raise NotChangedError("its directory is not made of numbers")
        start = base + int(entry[7:])
        end = start + int(entry[3:7])
        places.append((start, end))
        entries.append((entry[:3].decode("latin-1"), data[start : end - 1]))
        if data[end - 1 : end] != b"\x1e":
            raise NotChangedError("its directory does not lead to its fields")
    places.sort()
    if [start for start, _ in places] != [base, *(end for _, end in places[:-1])] or places[-1][1] != len(data) - 1:
        raise NotChangedError("its directory does not account for all of its bytes")
    return entries


def _iso_fields(data: bytes) -> Iterator[Field]:
    encoding, scheme = _encoding(data), data[9:10]
    for tag, field in _iso_entries(data):
        yield Field(tag, field, _ASCII if field.isascii() else encoding, scheme)


def _iso_put(data: bytes, fields: Sequence[Field]) -> bytes:
    encoding, scheme = _UTF8 if data[9:10] == b"a" else _encoding(data), data[9:10]
    entries = _iso_entries(data)
    for field in fields:
        fits = field.encoding == _ASCII or field.encoding == encoding or (encoding == _ASCII and field.scheme == scheme)
        if not fits:
            raise NotChangedError(f"field {field.tag} has another encoding")
        entries.insert(_place([tag for tag, _ in entries], field.tag), (field.tag, field.data))
    body = b"".join(bytes_of_field + b"\x1e" for _, bytes_of_field in entries)
    base = 24 + 12 * len(entries) + 1
    length = base + len(body) + 1
    longest = max(len(bytes_of_field) + 1 for _, bytes_of_field in entries)
    if length > _LONGEST_RECORD or longest > _LONGEST_FIELD:
        raise NotChangedError(f"with them, it exceeds ISO 2709 ({_LONGEST_RECORD:,} bytes, {_LONGEST_FIELD:,} a field)")
    directory, at = b"", 0
    for tag, bytes_of_field in entries:
        directory += b"%b%04d%05d" % (tag.encode("latin-1"), len(bytes_of_field) + 1, at)
        at += len(bytes_of_field) + 1
    return b"%05d%b%05d%b%b\x1e%b\x1d" % (length, data[5:12], base, data[17:24], directory, body)


# --- MARCXML ---------------------------------------------------------------------------------------------------------


class _DataField(NamedTuple):
    """A data field in the bytes of a record of MARCXML, `data[start:end]`. `prefix` is that of its name (`marc:`, or
    empty).
    """

    start: int
    end: int
    prefix: bytes
    inside: bytes
    """Bytes between its start tag and its end tag."""
    element: etree._Element

    @property
    def tag(self) -> str:
        return self.element.get("tag", "")


def _datafields(data: bytes) -> list[_DataField]:
    """The data fields of a record of MARCXML. Raises NotChangedError if there are none, or if one cannot be read."""
    fields, at = [], 0
    while start := _STARTS.search(data, at):
        end = _ENDS.get(start[0], b"</%bdatafield" % (start[1] or b""))
        stop = data.find(end, start.end())
        at = data.find(b">", stop) + 1
        if stop == -1 or not at:
            raise NotChangedError(f"{start[0].decode('utf-8', 'replace')} is not closed")
        if start[1] is not None:
            element = _parse(data[start.start() : at], start[1])
            fields.append(_DataField(start.start(), at, start[1], data[start.end() : stop], element))
    if not fields:
        raise NotChangedError("it has no datafield")
    return fields


def _parse(field: bytes, prefix: bytes) -> etree._Element:
    names = b' xmlns:%b="x"' % prefix[:-1] if prefix else b""
    try:
        return parse_element(field, names)
    except etree.XMLSyntaxError as error:
        raise NotChangedError(f"a datafield of it cannot be read as XML: {error.msg}") from None


def _xml_fields(data: bytes) -> Iterator[Field]:
    for datafield in _datafields(data):
        parts = [f"{datafield.element.get('ind1') or ' '}{datafield.element.get('ind2') or ' '}"]
        for child in datafield.element:
            if etree.QName(child).localname != "subfield" or len(child):
                raise NotChangedError("a datafield of it holds more than subfields")
            parts.append(f"\x1f{child.get('code', '')}{child.text or ''}")
        field = "".join(parts).encode()
        yield Field(datafield.tag, field, _ASCII if field.isascii() else _UTF8, b"a")


def _xml_put(data: bytes, fields: Sequence[Field]) -> bytes:
    """The record with fields inserted, each with the prefix and the white space of a neighbour. Raises NotChangedError
    if that is not possible.
    """
    for field in fields:
        if field.encoding == _OTHER or _NOT_IN_XML.search(field.data):
            raise NotChangedError(f"field {field.tag} has characters that XML cannot hold, or is not in UTF-8")
        # A record of ASCII does not show the encoding of the dump. Character references are right in any encoding.
        encoding = "ascii" if data.isascii() else "utf-8"
        datafields = _datafields(data)
        at = _place([datafield.tag for datafield in datafields], field.tag)
        neighbour = datafields[max(0, at - 1)]
        before = data[: neighbour.start]
        space = before[len(before.rstrip(_BLANK)) :]
        text = _xml_of(field, neighbour, space.decode()).encode(encoding, "xmlcharrefreplace")
        place = neighbour.end if at else neighbour.start - len(space)
        data = data[:place] + text + data[place:]
    return data


def _xml_of(field: Field, neighbour: _DataField, space: str) -> str:
    """A field in UTF-8 as an element `datafield`, with `space` before it, and the prefix and inner white space of
    `neighbour`.
    """
    indicators, *subfields = field.data.decode().split("\x1f")
    prefix, inside = neighbour.prefix.decode(), neighbour.inside.decode()
    before = inside[: len(inside) - len(inside.lstrip())]
    after = inside[len(inside.rstrip()) :]
    lines = [
        f"{before}<{prefix}subfield code={quoteattr(subfield[:1])}>{escape(subfield[1:])}</{prefix}subfield>"
        for subfield in subfields
    ]
    values = {"tag": field.tag, "ind1": indicators[:1], "ind2": indicators[1:2]}
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in values.items())
    return f"{space}<{prefix}datafield{attributes}>{''.join(lines)}{after}</{prefix}datafield>"


class _Functions(NamedTuple):
    """Functions of a format: `fields` yields the data fields of a record, `put` inserts fields. Both may raise
    NotChangedError.
    """

    fields: Callable[[bytes], Iterator[Field]]
    put: Callable[[bytes, Sequence[Field]], bytes]


_ISO, _XML = _Functions(_iso_fields, _iso_put), _Functions(_xml_fields, _xml_put)
_FUNCTIONS: Mapping[str, _Functions] = {"marc": _ISO, "marcxml": _XML, "oai": _XML, "sru": _XML}
FORMATS = tuple(_FUNCTIONS)
"""Names of the formats of dumps whose fields can be copied."""
