"""The XML of a record: the parser, and the text with characters instead of references."""

from __future__ import annotations

import contextlib
import functools
import html.entities
import re

from lxml import etree

from urnscan.records.xml_scope import PREFIX

_WRAPPER = b"records"
DEFAULT_LIMITS = 9_000_000
"""Texts of at least this many bytes are parsed with the option of libxml2 for huge texts."""

# Results in a cache.
_KEPT = 1 << 12
# Beginning of the namespaces of prefixes that are not declared around a record.
_UNKNOWN = "unknown:"

# XML 1.0 §4.1 and §4.6. A number may have leading zeros.
_REFERENCE = re.compile(rb"&(?:#x0*+([0-9A-Fa-f]{1,6})|#0*+([0-9]{1,7})|([A-Za-z][A-Za-z0-9]*+));")
_PREDEFINED = {b"amp": b"&", b"lt": b"<", b"gt": b">", b"quot": b'"', b"apos": b"'"}
_DECLARED = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z_:\x80-\xff][A-Za-z0-9_.:\x80-\xff-]*+;")
# Without an end, a comment, CDATA section or instruction hides the whole rest.
_DECLARED_OR_HIDDEN = re.compile(
    rb"(?s:<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z))|" + _DECLARED.pattern
)
_SINGLE_QUOTED = re.compile(rb"=\s*+'")
_PLACE = re.compile(r",? line \d+(?:, column \d+)?")


def parsed_text(record: etree._Element) -> bytes:
    """Return the text of a record that was parsed by `parse`, in UTF-8: declared namespaces, character data, and values
    of attributes, with NUL between them.
    """
    parts = [uri for _, (_, uri) in etree.iterwalk(record, events=("start-ns",))]
    for element in record.iter():
        parts += (element.text or "", *element.values(), element.tail or "")
    return "\0".join(parts).encode()


def plain_text(data: bytes) -> bytes | None:
    """Return the bytes of a well-formed XML record with characters in UTF-8 instead of references, to scan them for
    URNs; tags remain, as they do no harm. None if the record must be parsed for that (`parsed_text`), for example
    because it has a comment.

    Only references to numbers and to the five names of XML are replaced. `data` may be in any encoding in which ASCII
    is one byte per character.
    """
    # Tags do no harm, as `<`, `>` and `"` end a URN. But a single quotation mark may be a part of a URN, and comments and
    # instructions are not text. To find one byte is ten times as fast as to find two.
    is_marked = (b"!" in data and b"<!" in data) or (b"?" in data and b"<?" in data)
    if is_marked or (b"'" in data and _SINGLE_QUOTED.search(data)):
        return None
    return _REFERENCE.sub(_character, data) if b"&" in data else data


def _character(reference: re.Match[bytes]) -> bytes:
    hexadecimal, decimal, name = reference.groups()
    if name:
        return _PREDEFINED.get(name, reference[0])
    code = int(hexadecimal, 16) if hexadecimal else int(decimal)
    return chr(code).encode("utf-8", "replace") if code < 0x110000 else reference[0]


def parse(data: bytes, declarations: bytes, encoding: str) -> tuple[etree._Element, bytes]:
    """Parse a record inside declarations of namespaces (` xmlns:a="…"`, in UTF-8). Returns the element, and the bytes
    in UTF-8 that were parsed. `encoding`: encoding of `data`.

    No DTD, no external entity and no other file is read. Entities of HTML, which include entities of ONIX 2.1 and other
    DTDs, become characters; other entities remain text. Bytes that are not characters become U+FFFD, and a prefix that
    is not declared does not count: `a:record` is `record`. Raises ValueError if the record is not well-formed, with the
    reason in one line; IndexError if there is no element.
    """
    if encoding != "utf-8":
        data = data.decode(encoding, "replace").encode()
    if b"&" in data and _DECLARED.search(data):
        data = _DECLARED_OR_HIDDEN.sub(_as_reference, data)
    try:
        return parse_element(data, declarations), data
    except etree.XMLSyntaxError:
        data = data.decode("utf-8", "replace").encode()
    try:
        inner = b"<%b%b>%b</%b>" % (_WRAPPER, declarations, data, _WRAPPER)
        return _without_unknown(parse_element(inner, _unknown(data))[0]), data
    except etree.XMLSyntaxError as error:
        reason = " ".join(_PLACE.sub("", error.msg or "").split())
        raise ValueError(f"it is not well-formed: {reason}") from None


def _unknown(data: bytes) -> bytes:
    """Declarations of all prefixes of a record in UTF-8, `data`, to put around those that are known."""
    prefixes = filter(_is_prefix, dict.fromkeys(prefix.decode() for prefix in PREFIX.findall(data)))
    # Not all letters of a prefix may be in the name of a namespace.
    return "".join(f' xmlns:{prefix}="{_UNKNOWN}{number}"' for number, prefix in enumerate(prefixes)).encode()


def _is_prefix(name: str) -> bool:
    """Whether a record can declare the prefix `name`; not a text such as `“Note`, nor `xml` and `xmlns`."""
    with contextlib.suppress(ValueError):
        return name not in ("xml", "xmlns") and bool(etree.QName(name))
    return False


def _without_unknown(record: etree._Element) -> etree._Element:
    """Take the namespaces of `_unknown` from all elements of a record."""
    for element in record.iter("*"):
        name = etree.QName(element)
        if name.namespace and name.namespace.startswith(_UNKNOWN):
            element.tag = name.localname
    return record


@functools.lru_cache(maxsize=_KEPT)
def is_empty_element(data: bytes, declarations: bytes = b"") -> bool:
    """Whether bytes in UTF-8 are a well-formed element, such as `<a:record/>`, inside declarations of namespaces, as of
    `parse_element`.
    """
    try:
        parse_element(data, declarations)
    except etree.XMLSyntaxError:
        return False
    return True


def parse_element(data: bytes, declarations: bytes) -> etree._Element:
    """Parse bytes in UTF-8 inside declarations of namespaces, which are attributes (` xmlns:a="…"`), and return the
    first element. Raises `lxml.etree.XMLSyntaxError` if it is not well-formed, IndexError if there is no element.
    """
    document = b"<%b%b>%b</%b>" % (_WRAPPER, declarations, data, _WRAPPER)
    return etree.fromstring(document, _parser(len(data) >= DEFAULT_LIMITS))[0]


@functools.cache
def _parser(huge: bool) -> etree.XMLParser:
    return etree.XMLParser(
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


def _as_reference(match: re.Match[bytes]) -> bytes:
    """Replace an entity of HTML by references to the numbers of its characters, another entity by text (`&amp;name;`);
    matched comments and other markup stay.
    """
    if not match[0].startswith(b"&"):
        return match[0]
    name = match[0][1:].decode("utf-8", "replace")
    characters = html.entities.html5.get(name)
    if characters is None:
        return b"&amp;" + match[0][1:]
    return b"".join(b"&#%d;" % ord(character) for character in characters)
