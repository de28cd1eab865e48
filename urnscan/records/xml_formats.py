"""The formats of records in XML: how a dump is recognised, and how a record is shown."""

from __future__ import annotations

import functools
import io
import re
from dataclasses import replace

from urnscan.framing.buffer import MARK, Buffer
from urnscan.framing.lines import Damaged
from urnscan.records.decoded_text import decoded
from urnscan.records.format import Format
from urnscan.records.xml_kinds import KINDS, is_deleted, kind_of, levels_of, local, marc_fields_in
from urnscan.records.xml_records import XmlRecords
from urnscan.records.xml_text import parse

_MARKUP = re.compile(rb"(?:" + MARK + rb")?\s*+<[!?A-Za-z_\x80-\xff]")


@functools.lru_cache(maxsize=1)
def _first_kind(head: bytes) -> str | None:
    """Name of the kind (format) of the first record in the first bytes of a dump or, without one, of the kind that the
    elements show. "": no XML. None: undecided.
    """
    if not _MARKUP.match(head):
        return "" if head.lstrip(MARK + b" \t\r\n<") else None
    buffer = Buffer(io.BytesIO(head).readinto)
    reader = XmlRecords(own=False)
    kind = reader.seek(buffer) or reader.kind_if_empty
    return kind.name if kind else None


def is_kind(kind: str, head: bytes, _name: str) -> bool | None:
    """Whether the records of a dump whose first bytes are `head` are of the kind `kind`, a format in XML such as
    `mods`. The first record decides; in a dump without records, the elements around (`modsCollection`). False for other
    kinds, and if the dump is not XML. None: undecided, because there are too few bytes, or nothing shows a known kind.
    """
    first = _first_kind(head)
    return None if first is None else first == kind


def show_xml(data: bytes) -> str:
    """Return a record as text for people: MARC, also inside OAI-PMH and SRU, in the form of MARC editors (a line for
    each field); other records, and records that are not well-formed, as their bytes decoded as UTF-8. Prefixes that the
    record does not declare are ignored.
    """
    try:
        record, _ = parse(data, b"", "utf-8")
    except (ValueError, IndexError):
        # It is not well-formed, or there is no element.
        return decoded(data)
    first = next(record.iterchildren("*"), None)
    kind = kind_of(str(record.tag), "" if first is None else str(first.tag))
    fields = kind and marc_fields_in(levels_of(kind, record))
    return fields.lines() if fields else decoded(data)


def unread_inner(head: bytes) -> str:
    """Return the local name, such as `ead`, of the element inside the first readable record of a dump of OAI-PMH or SRU
    that is not deleted. Empty if records of this kind can be read, or if `head`, the first bytes of the dump, has no
    such record.
    """
    for cut in XmlRecords(own=False).cuts(Buffer(io.BytesIO(head).readinto)):
        if isinstance(cut, Damaged):
            continue
        name, declarations, encoding = cut.around
        kind = KINDS[name]
        try:
            element, _ = parse(cut.data, declarations, encoding)
        except ValueError:
            continue
        inner = element.find("{*}metadata/{*}*")
        inner = element.find("{*}recordData/{*}*") if inner is None else inner
        if inner is not None and not is_deleted(kind, element):
            return "" if len(levels_of(kind, element)) > 1 else local(str(inner.tag))
    return ""


_xml = functools.partial(Format, reader=XmlRecords, suffixes=(".xml",), framed=True)


FORMATS = tuple(
    replace(format_, recognise=functools.partial(is_kind, format_.name))
    for format_ in (
        _xml(name="marcxml", title="MARCXML", in_columns=True, show=show_xml),
        _xml(name="pica-xml", title="PICA+ (XML)"),
        _xml(name="mods", title="MODS"),
        _xml(name="dc", title="Dublin Core", numbered=False),
        _xml(name="oai", title="OAI-PMH", show=show_xml, unread=unread_inner),
        _xml(name="sru", title="SRU", show=show_xml, unread=unread_inner),
        _xml(name="onix", title="ONIX"),
        _xml(name="pubmed", title="PubMed (XML)"),
        _xml(name="endnote", title="EndNote (XML)"),
    )
)
