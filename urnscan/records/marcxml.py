"""Records of MARCXML that are written as nearly all are, read by a pattern: no tree of elements is made.

Such a record is elements in the order of the schema, with one prefix or none, and their texts. Between them is only white
space. Its octets are characters of XML in UTF-8, and its references are the five that XML itself defines. Start tags are
parsed by lxml, each different one once. A record with anything else, as a comment or an error, is left to `xml_kinds`.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from lxml import etree

from urnscan.records.marc_fields import LEADERS, family
from urnscan.records.marc_octets import MarcOctets, OctetTables, is_utf8
from urnscan.records.marc_runs import LONGEST_PACKED
from urnscan.records.record import decoded
from urnscan.records.xml_kinds import DEFAULT_LIMITS, parse_element

_BLANK = r"[ \t\n]*+"
_TEXT = r"(?:[^<&\0-\x08\x0b-\x1f]++|&(?:amp|lt|gt|quot|apos);)*+"
_ATTRIBUTES = r"[ \t\n][^<>]{0,500}+"
_RARE = (b"]]>", b"\xef\xbf")  # not in texts; begins U+FFFE and U+FFFF, which are no characters (XML 1.0 §2.2 and §2.4)
_REFERENCES = ((b"&lt;", b"<"), (b"&gt;", b">"), (b"&quot;", b'"'), (b"&apos;", b"'"), (b"&amp;", b"&"))
_START = re.compile(f"<((?:[A-Za-z_][A-Za-z0-9_.-]*+:)?+)record(?:{_ATTRIBUTES})?+>".encode())
_LEADERS = frozenset(tag.encode() for tag in LEADERS)
_KEPT = 1 << 12  # start tags that are kept in mind


class _Patterns(NamedTuple):
    """Patterns for a prefix of elements."""

    leader: re.Pattern[bytes]
    """Group: its text."""
    field: re.Pattern[bytes]
    """Groups: all of it, the start tag and text of a control field, the start tag and subfields of a data field."""
    end: bytes


class _Start(NamedTuple):
    """Start tag of a field."""

    tag: bytes
    indicators: bytes
    """Empty in a control field."""


class PlainRecord(NamedTuple):
    """A record that the pattern reads."""

    number: str | None
    """Control number (001)."""
    octets: MarcOctets


@functools.lru_cache(maxsize=1 << 4)
def _patterns(prefix: bytes) -> _Patterns:
    """Compile the patterns for elements with a prefix, such as `marc:`; it is empty in most dumps."""
    p = re.escape(prefix.decode())
    inner = f'<{p}subfield code="[0-9A-Za-z]">{_TEXT}</{p}subfield>'
    control = f"(<{p}controlfield{_ATTRIBUTES})>({_TEXT})</{p}controlfield>"
    data = f"(<{p}datafield{_ATTRIBUTES})>({_BLANK}(?:{inner}{_BLANK})++)</{p}datafield>"
    return _Patterns(
        re.compile(f"{_BLANK}(?:<{p}leader>({_TEXT})</{p}leader>{_BLANK})?+".encode()),
        re.compile(f"((?:{control}|{data}){_BLANK})".encode()),
        b"</%brecord>" % prefix,
    )


def plain_record(octets: bytes, declarations: bytes, tables: OctetTables) -> PlainRecord | None:
    """Read a record, in UTF-8, with the declarations of namespaces around it; None if it is not a plain one."""
    text = octets.replace(b"\r\n", b"\n") if b"\r" in octets else octets  # XML 1.0 §2.11
    if len(octets) >= DEFAULT_LIMITS or any(each in text for each in _RARE) or not is_utf8(text):
        return None
    start = usual_start(text, declarations)
    if not start:
        return None
    tag, prefix = start
    patterns = _patterns(prefix)
    if not text.endswith(patterns.end):
        return None
    at, end = len(tag), len(text) - len(patterns.end)
    if found := patterns.leader.match(text, at, end):
        at = found.end()
    leader = _plain(found[1] or b"") if found else b""
    fields = patterns.field.findall(text, at, end)
    is_whole = sum([len(each[0]) for each in fields]) == end - at  # nothing stands between them
    if not is_whole or not leader.isascii():
        return None
    heads = [head for each in fields if (head := _start_of(each[1] or each[3], len(prefix)))]
    tags = {head.tag for head in heads}
    if len(heads) < len(fields) or not tags.isdisjoint(_LEADERS) or (b"200" in tags) == (b"245" in tags):
        return None
    name = family(b"200" in tags, b"245" in tags, str)
    wanted = tables.wanted[name]
    code_at = len(prefix) + len('subfield code="')
    held = []
    number = None
    for (tag, indicators), (_, _, value, _, subfields) in zip(heads, fields, strict=True):
        if tag == b"001" and number is None:
            number = decoded(_plain(value)).strip() or None
        if tag in wanted:
            held.append((tag, _plain(indicators + _in_iso_2709(subfields, code_at) if subfields else value)))
    if any(len(field) > LONGEST_PACKED for _, field in held):
        return None
    return PlainRecord(number, MarcOctets(name, leader, len(fields), held))


def usual_start(octets: bytes, declarations: bytes) -> tuple[bytes, bytes] | None:
    """The start tag of a record, with the declarations of namespaces around it, and its prefix; None if it is not a usual one."""
    start = _START.match(octets)
    if not start or any(each in start[0] for each in _RARE) or not _is_start(start[0], declarations):
        return None
    return start[0], start[1]


def _in_iso_2709(subfields: bytes, code_at: int) -> bytes:
    """Subfields with delimiters before their codes; the code stands so many octets behind each `<`."""
    parts = [each[code_at : code_at + 1] + each[code_at + 3 :] for each in subfields.split(b"<")[1::2]]
    return b"\x1f" + b"\x1f".join(parts)


def _plain(text: bytes) -> bytes:
    """A text without references."""
    if b"&" in text:
        for reference, character in _REFERENCES:  # & itself comes last
            text = text.replace(reference, character)
    return text


@functools.lru_cache(maxsize=_KEPT)
def _is_start(tag: bytes, declarations: bytes) -> bool:
    """Whether a start tag is well-formed, with the declarations of namespaces around it."""
    return _element(tag[:-1], declarations) is not None


@functools.lru_cache(maxsize=_KEPT)
def _start_of(tag: bytes, prefix: int) -> _Start | None:
    """Read a start tag without `>` and with a prefix of so many octets; None if it is not written as usual."""
    element = _element(b"<" + tag[1 + prefix :])
    if element is None:
        return None
    is_control = element.tag == "controlfield"
    name, first, second = element.get("tag", ""), element.get("ind1") or " ", element.get("ind2") or " "
    is_usual = len(name) == 3 and len(first + second) == 2 and (name + first + second).isascii()
    if not is_usual or name.startswith("00") != is_control:
        return None
    return _Start(name.encode(), b"" if is_control else (first + second).encode())


def _element(start: bytes, declarations: bytes = b"") -> etree._Element | None:
    """The empty element of a start tag without `>`; None if it is not well-formed."""
    try:
        return parse_element(start + b"/>", declarations)
    except etree.XMLSyntaxError:
        return None
