"""The contents of a record in XML: kind, ID, texts, record-level identifiers.

Kinds: MARCXML (MARC21slim 1.1, MarcXchange, oai_marc), PICA+ in XML, MODS 3, Dublin Core (oai_dc, srw_dc, containers of
DC elements), ONIX for Books 2.1 and 3 with reference names and short tags, PubMed, EndNote; records of OAI-PMH 2.0 and
of SRU responses, which contain a record of another kind, also DataCite, DIM and xoai of DSpace, JATS, ETD-MS, EDM,
xMetaDiss(Plus).

RDF/XML is not a kind: statements about a work may be in several places, and its node may contain nodes of other works.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from lxml import etree

from urnscan.records import description
from urnscan.records.decoded_text import first_name
from urnscan.records.fields import Own, Table, of_subfields, with_source
from urnscan.records.marc_bytes import pack_field
from urnscan.records.marc_fields import MarcFields, SplitField


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of records in XML (a format): the elements that are records, and where their IDs and fields are. Names of
    elements are `{namespace}local`, unless a field says otherwise.
    """

    name: str
    """Name of the kind, and of its table in fields.toml if `table` is empty."""
    elements: tuple[str, ...]
    """Names of the elements that are records, whatever is in them."""
    loose: tuple[str, ...] = ()
    """Local names of elements that are records if their first element is in `beginnings`."""
    beginnings: frozenset[str] = frozenset()
    """Names of elements that come first in a record: local names, or `{namespace}*` for any element of a namespace."""
    identifiers: tuple[str, ...] = ()
    """Paths from a record to the elements that contain its ID, the best first, in the syntax of `iterfind` of lxml:
    `{*}header/{*}identifier`, with `{*}` for any namespace. `@ID` is an attribute of the record itself.
    """
    holds: bool = False
    """Whether a record contains a record of another kind, whose element may have the same name (OAI-PMH, SRU)."""
    table: str = ""
    """Name of the table in fields.toml and descriptions.toml, if it is not `name`."""
    in_subfields: bool = False
    """Whether the fields of a record are elements with a tag and subfields (PICA+). If not, a field is named by the
    path of its element.
    """
    around: Mapping[str, bytes] = field(default_factory=dict)
    """Elements that show the kind even without a record -> bytes that their attributes must contain; b"" if there is no
    condition.
    """


class Level(NamedTuple):
    """A record in XML, and its kind."""

    kind: Kind
    """The kind of the record."""
    record: etree._Element
    """The element of the record."""


Levels = Sequence[Level]
"""A record of a dump; after a record of OAI-PMH or SRU also the record inside it, if its kind is known."""


def _in_namespaces(namespaces: tuple[str, ...], *names: str) -> tuple[str, ...]:
    return tuple(f"{{{namespace}}}{name}" if namespace else name for namespace in namespaces for name in names)


_DC = frozenset({f"{{http://purl.org/dc/{name}/}}*" for name in ("elements/1.0", "elements/1.1", "terms")})
_OAI_DC = (
    "http://www.openarchives.org/OAI/2.0/oai_dc/",
    "info:srw/schema/1/dc-schema",
    "info:srw/schema/1/dc-v1.1",
    "",
)
_OAI = (
    "http://www.openarchives.org/OAI/2.0/",
    "http://www.openarchives.org/OAI/1.1/OAI_ListRecords",
    "http://www.openarchives.org/OAI/1.1/OAI_GetRecord",
)
_SRU = ("http://www.loc.gov/zing/srw/", "http://docs.oasis-open.org/ns/search-ws/sruResponse")
# MarcXchange is ISO 25577.
_MARC = ("http://www.loc.gov/MARC21/slim", "info:lc/xmlns/marcxchange-v1", "info:lc/xmlns/marcxchange-v2")
_OAI_MARC = "http://www.openarchives.org/OAI/1.1/oai_marc"
_PICA = "info:srw/schema/5/picaXML-v1.0"
_MODS = ("http://www.loc.gov/mods/v3", "")
_ONIX = tuple(
    f"http://{where}/{tags}"
    for where in ("ns.editeur.org/onix/3.0", "ns.editeur.org/onix/3.1", "www.editeur.org/onix/2.1")
    for tags in ("reference", "short")
)

_ETDMS = tuple(f"http://www.ndltd.org/standards/metadata/etdms/{version}" for version in ("1.0/", "1.1/", "1.0", "1.1"))
_XMETADISS = tuple(f"http://www.d-nb.de/standards/{name}/" for name in ("xmetadissplus", "xMetaDiss"))

_KINDS = (
    Kind(
        name="oai",
        elements=_in_namespaces(_OAI, "record"),
        loose=("record",),
        # Aleph's X-Server and some exports write records without a header.
        beginnings=frozenset({"header", "record_header", "metadata"}),
        identifiers=("{*}header/{*}identifier",),
        holds=True,
        # An error other than noRecordsMatch is a failure.
        around=dict.fromkeys(_in_namespaces((*_OAI, ""), "ListRecords"), b"")
        | dict.fromkeys(_in_namespaces((*_OAI, ""), "error"), b"noRecordsMatch"),
    ),
    Kind(
        name="sru",
        elements=_in_namespaces(_SRU, "record"),
        loose=("record",),
        beginnings=frozenset({"recordSchema", "recordPacking", "recordXMLEscaping", "recordData"}),
        identifiers=("{*}recordIdentifier",),
        holds=True,
        around=dict.fromkeys(_in_namespaces((*_SRU, ""), "searchRetrieveResponse"), b""),
    ),
    Kind(
        name="marcxml",
        elements=(*_in_namespaces(_MARC, "record"), *_in_namespaces((_OAI_MARC, ""), "oai_marc")),
        loose=("record",),
        beginnings=frozenset({"leader", "controlfield", "datafield"}),
        identifiers=("{*}controlfield[@tag='001']", "{*}fixfield[@id='001']", "{*}fixfield[@id='1']"),
        around=dict.fromkeys(_in_namespaces(_MARC, "collection"), b""),
    ),
    Kind(
        name="pica-xml",
        table="pica",
        in_subfields=True,
        elements=_in_namespaces((_PICA,), "record"),
        identifiers=("{*}datafield[@tag='003@']/{*}subfield[@code='0']",),
        around=dict.fromkeys(_in_namespaces((_PICA,), "collection"), b""),
    ),
    Kind(
        name="mods",
        elements=_in_namespaces(_MODS, "mods"),
        identifiers=("{*}recordInfo/{*}recordIdentifier", "@ID"),
        around=dict.fromkeys(_in_namespaces(_MODS, "modsCollection"), b""),
    ),
    Kind(
        name="dc",
        elements=_in_namespaces(_OAI_DC, "dc"),
        # DCMI's guidelines for Dublin Core in XML leave the name of the container to each application; these names are
        # in use.
        loose=("dc", "qualifieddc", "dcterms", "qdc", "dcx", "oai_dc", "record", "metadata"),
        beginnings=_DC,
        identifiers=("{*}identifier",),
    ),
    Kind(
        name="onix",
        elements=_in_namespaces(_ONIX, "Product", "product"),
        loose=("Product", "product"),
        beginnings=frozenset({"RecordReference", "a001"}),
        identifiers=("{*}RecordReference", "{*}a001"),
        around=dict.fromkeys(_in_namespaces((*_ONIX, ""), "ONIXMessage", "ONIXmessage"), b""),
    ),
    Kind(
        name="pubmed",
        elements=("PubmedArticle", "PubmedBookArticle"),
        identifiers=("MedlineCitation/PMID", "BookDocument/PMID"),
        around={"PubmedArticleSet": b""},
    ),
    Kind(
        name="endnote",
        elements=(),
        loose=("record",),
        beginnings=frozenset({"database", "source-app", "rec-number", "ref-type"}),
        identifiers=("{*}rec-number",),
    ),
)
# Kinds that are read only inside of records of OAI-PMH and SRU: elsewhere, their elements may have other meanings.
INNER_KINDS = (
    Kind(
        name="datacite",
        elements=(),
        loose=("resource",),
        beginnings=frozenset("identifier creators titles publisher publicationYear resourceType".split()),
    ),
    Kind(name="dim", elements=_in_namespaces(("http://www.dspace.org/xmlns/dspace/dim",), "dim")),
    Kind(name="xoai", elements=_in_namespaces(("http://www.lyncode.com/xoai",), "metadata")),
    Kind(name="jats", elements=(), loose=("article",), beginnings=frozenset({"front", "processing-meta"})),
    Kind(name="etdms", elements=_in_namespaces(_ETDMS, "thesis")),
    Kind(name="edm", elements=_in_namespaces(("http://www.w3.org/1999/02/22-rdf-syntax-ns#",), "RDF")),
    Kind(name="xmetadiss", elements=_in_namespaces(_XMETADISS, "xMetaDiss")),
)
# Name in descriptions.toml of the date in the header of a record that contains another.
_DATESTAMP = "OAI-datestamp"
KINDS: Mapping[str, Kind] = MappingProxyType({kind.name: kind for kind in _KINDS})
"""Kinds by their names."""
_BY_NAME = {name: kind for kind in _KINDS for name in kind.elements}
_INNER = {name: kind for kind in INNER_KINDS for name in kind.elements} | {
    (name, first): kind for kind in INNER_KINDS for name in kind.loose for first in kind.beginnings
}
_BY_AROUND = {name: (kind, attributes) for kind in _KINDS for name, attributes in kind.around.items()}
_BY_BEGINNING = {(name, first): kind for kind in _KINDS for name in kind.loose for first in kind.beginnings}
LOOSE_NAMES = frozenset(name for name, _ in _BY_BEGINNING)
"""Local names of elements whose first element decides whether they are records."""


def local(name: str) -> str:
    """Return the local part of a name `{namespace}local`; a name without a namespace unchanged."""
    return name.rpartition("}")[2]


def kind_of(name: str, first: str) -> Kind | None:
    """Return the kind of the record that begins with the element `name` and its first inner element `first` (empty if
    there is none), both as `{namespace}local`: `record` and `leader` -> MARCXML. None if no kind in `KINDS` has records
    that begin so.
    """
    namespace = first.removesuffix(local(first))
    return (
        _BY_NAME.get(name)
        or _BY_BEGINNING.get((local(name), local(first)))
        or _BY_BEGINNING.get((local(name), f"{namespace}*"))
    )


def empty_kind(name: str, attributes: bytes) -> Kind | None:
    """Return the kind of a dump without records, if the element `name` shows it, such as `collection` of MARCXML; None
    if it shows none. `attributes`: the bytes of its attributes, which some kinds check.
    """
    kind, attribute = _BY_AROUND.get(name, (None, b""))
    return kind if attribute in attributes else None


def is_deleted(kind: Kind, record: etree._Element) -> bool:
    """Whether a record of OAI-PMH is marked as deleted in its header (OAI-PMH §2.5.1); False for other kinds."""
    return kind.name == "oai" and record.find("{*}header[@status='deleted']") is not None


def identifier(levels: Levels) -> str | None:
    """Return the ID of a record in the dump; without one, the ID of the record inside it (OAI-PMH, SRU); None if
    neither has an ID. `levels`: the record, and then the one inside it (`levels_of`).
    """
    return first_name(
        text
        for kind, record in levels
        for path in kind.identifiers
        for text in ([record.get(path[1:])] if path.startswith("@") else map(_data, record.iterfind(path)))
    )


def own(levels: Levels, fields: Callable[[str], Table]) -> tuple[Own, ...]:
    """Return the record-level identifiers of a record and of the record inside it (OAI-PMH, SRU), each once; none of
    them from fields of MARC. `levels`: the record, and then the one inside it. `fields`: function from the name of a
    format to its table (field -> rows).
    """
    identifiers: dict[Own, None] = {}
    for kind, record in levels:
        of_fields = _of_subfields if kind.in_subfields else _of_elements
        identifiers |= dict.fromkeys(of_fields(fields(kind.table or kind.name), record))
    return tuple(identifiers)


def marc_fields_in(levels: Levels) -> MarcFields | None:
    """Return the fields of a record of MARCXML or oai_marc, or of such a record inside a record of OAI-PMH or SRU; None
    for any other record. `levels`: the record, and then the one inside it.
    """
    kind, record = levels[-1]
    if kind.name != "marcxml":
        return None
    fields = [(element.get("tag", ""), element) for element in record.iterchildren("{*}controlfield", "{*}datafield")]
    if fields or local(str(record.tag)) != "oai_marc":
        return MarcFields(record.findtext("{*}leader") or "", fields, _split)
    tags_and_fields = [
        ((element.get("id") or element.get("tag") or "").zfill(3), element)
        for element in record.iterchildren("{*}fixfield", "{*}varfield")
    ]
    leader = next((_split(element)[0] for tag, element in tags_and_fields if tag == "LDR"), None)
    if leader is None:
        codes = (f"{record.get(name) or ' ':1.1}" for name in ("status", "type", "level", "encLvl"))
        leader = "     {}{}{}         {}".format(*codes)
    return MarcFields(leader, tags_and_fields, _split)


def _data(element: etree._Element) -> str:
    """Text of an element; in a `fixfield` of oai_marc, without quotes around it, and with spaces instead of `^`."""
    text = element.text or ""
    return text.strip('"').replace("^", " ") if local(str(element.tag)) == "fixfield" else text


def _split(element: etree._Element) -> SplitField:
    """Split a field of MARCXML or oai_marc into indicators and subfields (code, value); a control field into its data
    and no subfields.
    """
    name = local(str(element.tag))
    if name in ("controlfield", "fixfield"):
        return _data(element), ()
    code, first, second = ("label", "i1", "i2") if name == "varfield" else ("code", "ind1", "ind2")
    subfields = [(part.get(code, "").lstrip("$"), part.text or "") for part in element.iterchildren("{*}subfield")]
    return (element.get(first) or " ") + (element.get(second) or " "), subfields


def described(levels: Levels, fields: Callable[[str], description.Table]) -> bytes:
    """Return the fields that describe the work of a record, or of the record inside it (OAI-PMH, SRU), as packed bytes
    for `Record.description`; empty if there are none, or the record inside is of no known kind. Of a record with MARC
    inside, only the date in the header of OAI-PMH; fields of MARC are read elsewhere. `levels`: the record, and then
    the one inside it. `fields`: function from the name of a format to its table (field -> rows).
    """
    (outer_kind, outer), (kind, record) = levels[0], levels[-1]
    if kind.holds:
        return b""
    stamp = outer.findtext("{*}header/{*}datestamp") if outer_kind.holds else None
    if kind.name == "marcxml":
        return pack_field(_DATESTAMP, stamp.strip()) if stamp and fields("marc") else b""
    name = kind.table or kind.name
    of_fields = _statements_of_subfields if kind.in_subfields else _statements_of_elements
    statements = [*of_fields(fields(name), record)]
    if stamp:
        statements += description.of_text(stamp.strip(), fields(name).get(_DATESTAMP, ()))
    return description.pack(name, statements)


def _fields_with_subfields(record: etree._Element) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    for element in record.iterchildren("{*}datafield"):
        subfields = [(part.get("code", ""), part.text or "") for part in element.iterchildren("{*}subfield")]
        yield element.get("tag", ""), subfields


def _of_subfields(table: Table, record: etree._Element) -> Iterator[Own]:
    for tag, subfields in _fields_with_subfields(record):
        yield from of_subfields(subfields, table.get(tag, ()))


def _statements_of_subfields(table: description.Table, record: etree._Element) -> Iterator[description.Statement]:
    for tag, subfields in _fields_with_subfields(record):
        yield from description.of_subfields(subfields, table.get(tag, ()))


@functools.cache
def _in_any_namespace(path: str) -> str:
    return "/".join(f"{{*}}{name}" for name in path.split("/"))


def _statements_of_elements(table: description.Table, record: etree._Element) -> Iterator[description.Statement]:
    for path, rows in table.items():
        for element in record.iterfind(_in_any_namespace(path)):
            text, parent = _text(element), element.getparent()
            for row in rows:
                is_other = row.unless and (
                    element.get(row.unless) or (parent is not None and parent is not record and parent.get(row.unless))
                )
                if text and not is_other:
                    yield from description.of_text(text, (row,))


def _of_elements(table: Table, record: etree._Element) -> Iterator[Own]:
    # `scheme_in` and `source_in` of a row name an attribute of the element (`@name`), or an element next to it.
    for path, rows in table.items():
        for element in record.iterfind(_in_any_namespace(path)):
            text = _text(element)
            for row in rows:
                if text and not (row.unless and element.get(row.unless[0]) == row.unless[1]):
                    scheme = _value_next_to(element, row.scheme_in)
                    if row.schemes and scheme not in row.schemes:
                        continue
                    scheme = row.schemes.get(scheme, scheme.lower()) or row.scheme
                    yield Own(with_source(text, _value_next_to(element, row.source_in)), scheme, row.is_key)


def _text(element: etree._Element) -> str:
    return ("".join(map(str, element.itertext())) if len(element) else element.text or "").strip()


def _value_next_to(element: etree._Element, name: str) -> str:
    """Value of an attribute of an element (`@name`), or text of a sibling (`name`), or empty."""
    if not name:
        return ""
    return ((element.get(name[1:]) if name.startswith("@") else element.findtext(f"../{{*}}{name}")) or "").strip()


def levels_of(kind: Kind, record: etree._Element) -> Levels:
    """Return a record of the given kind and, for a record of OAI-PMH or SRU, the record inside it. Only the former if
    the latter is of no known kind, or is next to other elements, as in METS.
    """
    outer = Level(kind, record)
    children = [*record.iterchildren("{*}metadata", "{*}recordData")] if kind.holds else []
    while len(children) == 1:
        (element,) = children
        children = [*element.iterchildren("*")]
        name, first = str(element.tag), str(children[0].tag) if children else ""
        inner = kind_of(name, first) or _INNER.get(name) or _INNER.get((local(name), local(first)))
        if inner and not inner.holds:
            return outer, Level(inner, element)
        # DataCite's own server writes its version before the record.
        children = [*element.iterchildren("{*}payload")] or children
    return (outer,)
