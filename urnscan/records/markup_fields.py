"""What a record in XML says, once it is cut out: of which kind it is, what it is called, its texts, its own identifiers.

MARCXML (MARC21slim 1.1, MarcXchange), MODS 3, Dublin Core (oai_dc, srw_dc, containers of DC elements), ONIX for Books 2.1
and 3 with reference names and short tags; records of OAI-PMH 2.0 and SRU responses, in which one of these stands.
"""

from __future__ import annotations

import html.entities
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lxml import etree

from urnscan.records import marc_fields
from urnscan.records.fields import own_fields
from urnscan.records.record import Own

__all__ = ["TOLD_BY_BEGINNING", "Kind", "Parser", "held", "identifier", "kind_of", "local", "own", "texts"]

_WRAPPER = b"records"
_DEFAULT_LIMITS = 9_000_000  # octets; libxml2 gives up at texts of 10,000,000, unless it is told that trees may be huge

# XML 1.0 §4.1. A number has leading zeros at will.
_REFERENCE = re.compile(rb"&(?:#x0*+([0-9A-Fa-f]{1,6})|#0*+([0-9]{1,7})|([A-Za-z][A-Za-z0-9]*+));")
_PREDEFINED = {b"amp": b"&", b"lt": b"<", b"gt": b">", b"quot": b'"', b"apos": b"'"}  # XML 1.0 §4.6
_DECLARED = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z_:\x80-\xff][A-Za-z0-9_.:\x80-\xff-]*+;")
_DECLARED_OR_HIDDEN = re.compile(  # what does not end hides all the rest
    rb"(?s:<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z))|" + _DECLARED.pattern
)
_SINGLE_QUOTED = re.compile(rb"=\s*+'")
_PLACE = re.compile(r",? line \d+(?:, column \d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Element:
    """How the element of a record is called."""

    names: frozenset[str]
    namespaces: tuple[str, ...] = ()
    """Those that it may be in, "" for none; without any, what it begins with decides."""
    begins: frozenset[str] = frozenset()
    """The first element in it: a local name, or `{namespace}*`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Around:
    """An element that tells the kind of the records of a document, also where it has none."""

    name: str
    namespaces: tuple[str, ...]
    attributes: bytes = b""
    """What stands in these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of records."""

    name: str
    elements: tuple[_Element, ...]
    identifiers: tuple[str, ...]
    """Where it is said what the dump calls it, the best first."""
    own: Callable[[etree._Element], Iterator[Own]]
    holds: str = ""
    """The child in which a record of another kind stands, that may have the same name."""
    begins: frozenset[str] = frozenset()
    """The local names of what it begins with, if it holds another."""
    deleted: str = ""
    """What it has if it only says that what it names is deleted."""
    around: tuple[_Around, ...] = ()
    """What its records stand in."""

    def is_deleted(self, record: etree._Element) -> bool:
        """Whether a record only says that there was one: it names nothing."""
        return bool(self.deleted) and record.find(self.deleted) is not None


def _own_of_marc(record: etree._Element) -> Iterator[Own]:
    rows = own_fields("marc")
    for field in record.iterchildren("{*}datafield"):
        tag = field.get("tag", "")
        if tag in rows:
            subfields = [(part.get("code", ""), part.text or "") for part in field.iterchildren("{*}subfield")]
            yield from marc_fields.own_identifiers(tag, field.get("ind1", ""), field.get("ind2", ""), subfields)


def _own_by_table(table: str) -> Callable[[etree._Element], Iterator[Own]]:
    """Own identifiers by a table whose fields are paths from the record; what says what it is stands in an attribute, or
    in an element beside.
    """

    def own_of(record: etree._Element) -> Iterator[Own]:
        for path, rows in own_fields(table).items():
            beside = "/" in path
            for element in record.iterfind("/".join(f"{{*}}{name}" for name in path.split("/"))):
                text = (element.text or "").strip()
                for row in rows:
                    if text and not (row.unless and element.get(row.unless[0]) == row.unless[1]):
                        said = (_beside if beside else _attribute)(element, row.scheme_in).strip()
                        yield Own(text, row.schemes.get(said, said.lower()) or row.scheme)

    return own_of


def _attribute(element: etree._Element, name: str) -> str:
    return element.get(name, "") if name else ""


def _beside(element: etree._Element, name: str) -> str:
    parent = element.getparent()
    return "" if parent is None or not name else parent.findtext(f"{{*}}{name}", "")


def _own_and_inner(*paths: str) -> Callable[[etree._Element], Iterator[Own]]:
    def own_of(record: etree._Element) -> Iterator[Own]:
        for path in paths:
            text = record.findtext(path, "").strip()
            if text:
                yield Own(text)
        inner = _inner(record)
        if inner:
            yield from inner[0].own(inner[1])

    return own_of


def _expanded(namespace: str, name: str) -> str:
    return f"{{{namespace}}}{name}" if namespace else name


_DC = frozenset({f"{{http://purl.org/dc/{name}/}}*" for name in ("elements/1.0", "elements/1.1", "terms")})
_OAI = (
    "http://www.openarchives.org/OAI/2.0/",
    "http://www.openarchives.org/OAI/1.1/OAI_ListRecords",
    "http://www.openarchives.org/OAI/1.1/OAI_GetRecord",
)
_SRU = ("http://www.loc.gov/zing/srw/", "http://docs.oasis-open.org/ns/search-ws/sruResponse")
# MarcXchange is ISO 25577.
_MARC = ("http://www.loc.gov/MARC21/slim", "info:lc/xmlns/marcxchange-v1", "info:lc/xmlns/marcxchange-v2")
_MODS = ("http://www.loc.gov/mods/v3", "")
_ONIX = tuple(
    f"http://{where}/{tags}"
    for where in ("ns.editeur.org/onix/3.0", "ns.editeur.org/onix/3.1", "www.editeur.org/onix/2.1")
    for tags in ("reference", "short")
)
_OAI_BEGINS = frozenset({"header"})
_SRU_BEGINS = frozenset({"recordSchema", "recordPacking", "recordXMLEscaping", "recordData"})

_KINDS = (
    Kind(
        name="oai-pmh",
        elements=(
            _Element(names=frozenset({"record"}), namespaces=_OAI),
            _Element(names=frozenset({"record"}), begins=_OAI_BEGINS),
        ),
        identifiers=("{*}header/{*}identifier",),
        own=_own_and_inner("{*}header/{*}identifier"),
        holds="metadata",
        begins=_OAI_BEGINS,
        deleted="{*}header[@status='deleted']",  # OAI-PMH §2.5.1
        around=(
            _Around(name="ListRecords", namespaces=(*_OAI, "")),
            _Around(name="error", namespaces=(*_OAI, ""), attributes=b"noRecordsMatch"),  # any other is a failure
        ),
    ),
    Kind(
        name="sru",
        elements=(
            _Element(names=frozenset({"record"}), namespaces=_SRU),
            _Element(names=frozenset({"record"}), begins=_SRU_BEGINS),
        ),
        identifiers=("{*}recordIdentifier",),
        own=_own_and_inner(),
        holds="recordData",
        begins=_SRU_BEGINS,
        around=(_Around(name="searchRetrieveResponse", namespaces=(*_SRU, "")),),
    ),
    Kind(
        name="marcxml",
        elements=(
            _Element(names=frozenset({"record"}), namespaces=_MARC),
            _Element(names=frozenset({"record"}), begins=frozenset({"leader", "controlfield", "datafield"})),
        ),
        identifiers=("{*}controlfield[@tag='001']",),
        own=_own_of_marc,
        around=(_Around(name="collection", namespaces=_MARC),),
    ),
    Kind(
        name="mods",
        elements=(_Element(names=frozenset({"mods"}), namespaces=_MODS),),
        identifiers=("{*}recordInfo/{*}recordIdentifier", "@ID"),
        own=_own_by_table("mods"),
        around=(_Around(name="modsCollection", namespaces=_MODS),),
    ),
    Kind(
        name="dc",
        elements=(
            _Element(
                names=frozenset({"dc"}),
                namespaces=(
                    "http://www.openarchives.org/OAI/2.0/oai_dc/",
                    "info:srw/schema/1/dc-schema",
                    "info:srw/schema/1/dc-v1.1",
                    "",
                ),
            ),
            # DCMI's "Guidelines for implementing Dublin Core in XML" leave it to each application how its container is
            # called; these are in use. RDF/XML is none of them.
            _Element(names=frozenset({"dc", "qualifieddc", "record", "metadata"}), begins=_DC),
        ),
        identifiers=("{*}identifier",),
        own=_own_by_table("dc"),
    ),
    Kind(
        name="onix",
        elements=(
            _Element(names=frozenset({"Product", "product"}), namespaces=_ONIX),
            _Element(names=frozenset({"Product"}), begins=frozenset({"RecordReference"})),
            _Element(names=frozenset({"product"}), begins=frozenset({"a001"})),
        ),
        identifiers=("{*}RecordReference", "{*}a001"),
        own=_own_by_table("onix"),
        around=tuple(_Around(name=name, namespaces=(*_ONIX, "")) for name in ("ONIXMessage", "ONIXmessage")),
    ),
)
_BY_NAME: Mapping[str, Kind] = MappingProxyType(
    {
        _expanded(namespace, name): kind
        for kind in _KINDS
        for element in kind.elements
        for namespace in element.namespaces
        for name in element.names
    }
)
_BY_AROUND: Mapping[str, tuple[Kind, bytes]] = MappingProxyType(
    {
        _expanded(namespace, around.name): (kind, around.attributes)
        for kind in _KINDS
        for around in kind.around
        for namespace in around.namespaces
    }
)
_BY_BEGINNING: Mapping[tuple[str, str], Kind] = MappingProxyType(
    {
        (name, beginning): kind
        for kind in _KINDS
        for element in kind.elements
        for name in element.names
        for beginning in element.begins
    }
)
TOLD_BY_BEGINNING = frozenset(name for name, _ in _BY_BEGINNING)
"""The local names of elements that may be records by what they begin with."""


def local(name: str) -> str:
    """A name without its namespace."""
    return name.rpartition("}")[2]


def kind_of(name: str, first: str) -> Kind | None:
    """The kind of record that an element is: by its name (`{namespace}local`), or by that of the first element in it."""
    name_there = local(name)
    first_there = local(first)
    return (
        _BY_NAME.get(name)
        or _BY_BEGINNING.get((name_there, first_there))
        or _BY_BEGINNING.get((name_there, f"{first.removesuffix(first_there)}*"))
    )


def held(name: str, attributes: bytes) -> Kind | None:
    """The kind of the records that an element of this name is there for, whether it holds any or not."""
    kind, attribute = _BY_AROUND.get(name, (None, b""))
    return kind if attribute in attributes else None


def _inner(record: etree._Element) -> tuple[Kind, etree._Element] | None:
    """The record that a record holds; None where there is none, or more than one: METS has many MODS, and says elsewhere
    which is that of the whole.
    """
    children = [*record.iterchildren("{*}metadata", "{*}recordData")]
    while len(children) == 1:
        (element,) = children
        children = [*element.iterchildren("*")]
        kind = kind_of(str(element.tag), str(children[0].tag) if children else "")
        if kind and not kind.holds:
            return kind, element
    return None


def identifier(kind: Kind, record: etree._Element) -> str | None:
    """What the dump calls a record; None where it has no name."""
    for path in kind.identifiers:
        found = [record.get(path[1:])] if path.startswith("@") else (element.text for element in record.iterfind(path))
        said = next((text.strip() for text in found if text and not text.isspace()), None)
        if said:
            return said
    inner = _inner(record) if kind.holds else None
    return identifier(*inner) if inner else None


def own(kind: Kind, record: etree._Element) -> tuple[Own, ...]:
    """The own identifiers of a record, each once."""
    return tuple(dict.fromkeys(kind.own(record)))


def texts(record: etree._Element, octets: bytes) -> tuple[bytes, ...]:
    """All that a record says: character data, values of attributes, namespaces declared in it. Comments and processing
    instructions say nothing. `octets` is what it was parsed from.

    Mostly that is its octets but for references, as tags end a URN: a name has no two colons, and `>` and `"` stand around
    values.
    """
    if not _marked(octets) and not (b"'" in octets and _SINGLE_QUOTED.search(octets)):
        return (_REFERENCE.sub(_character, octets) if b"&" in octets else octets,)
    said = [uri for _, (_, uri) in etree.iterwalk(record, events=("start-ns",))]
    for element in record.iter():
        said += (element.text or "", *element.values(), element.tail or "")
    return ("\0".join(said).encode(),)


def _marked(octets: bytes) -> bool:
    """Whether there are comments, CDATA sections or processing instructions. One octet is found ten times as fast."""
    return (b"!" in octets and b"<!" in octets) or (b"?" in octets and b"<?" in octets)


def _character(reference: re.Match[bytes]) -> bytes:
    hexadecimal, decimal, name = reference.groups()
    if name:
        return _PREDEFINED.get(name, reference[0])
    code = int(hexadecimal, 16) if hexadecimal else int(decimal)
    return chr(code).encode("utf-8", "replace") if code < 0x110000 else reference[0]


class Parser:
    """Parses records one by one, without reading anything else: no DTD, no entity, no other file."""

    def __init__(self) -> None:
        self._small, self._huge = (
            etree.XMLParser(
                encoding="utf-8",
                resolve_entities=False,
                load_dtd=False,
                no_network=True,
                huge_tree=huge,
                remove_comments=True,
                remove_pis=True,
                remove_blank_text=True,
                collect_ids=False,
            )
            for huge in (False, True)
        )

    def parse(self, octets: bytes, declarations: bytes, encoding: str) -> tuple[etree._Element, bytes]:
        """A record where these namespaces are declared, and the octets of which it was made, UTF-8.

        Entities are those of HTML, a superset of those of ONIX 2.1 and other DTDs that nobody here reads; any other is
        the text that it looks like.

        Raises ValueError if it is not well-formed, with the reason in one line. Octets that are no characters do not
        count.
        """
        if encoding != "utf-8":
            octets = octets.decode(encoding, "replace").encode()
        if b"&" in octets and _DECLARED.search(octets):
            octets = _DECLARED_OR_HIDDEN.sub(_referred, octets)
        try:
            return self._parse(octets, declarations), octets
        except etree.XMLSyntaxError as error:
            mended = octets.decode("utf-8", "replace").encode()
            if mended == octets:
                raise ValueError(_reason(error)) from None
        try:
            return self._parse(mended, declarations), mended
        except etree.XMLSyntaxError as error:
            raise ValueError(_reason(error)) from None

    def _parse(self, octets: bytes, declarations: bytes) -> etree._Element:
        parser = self._small if len(octets) < _DEFAULT_LIMITS else self._huge
        document = b"<%b%b>%b</%b>" % (_WRAPPER, declarations, octets, _WRAPPER)
        return etree.fromstring(document, parser)[0]


def _referred(match: re.Match[bytes]) -> bytes:
    """An entity of HTML by the numbers of its characters, any other as text; what is hidden as it is."""
    if not match[0].startswith(b"&"):
        return match[0]
    name = match[0][1:].decode("utf-8", "replace")
    characters = html.entities.html5.get(name)
    return b"&amp;" + match[0][1:] if characters is None else b"".join(b"&#%d;" % ord(each) for each in characters)


def _reason(error: etree.XMLSyntaxError) -> str:
    return f"it is not well-formed: {' '.join(_PLACE.sub('', error.msg or '').split())}"
