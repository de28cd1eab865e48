"""Bytes of MARC, in UTF-8 or MARC-8 -> text; packed descriptions of `marc_values` -> descriptions."""

from __future__ import annotations

import re
from codecs import utf_8_decode
from collections.abc import Callable, Sequence

from urnscan.records import description
from urnscan.records.decoded_text import decoded
from urnscan.records.description import Description
from urnscan.records.marc_fields import MARKS
from urnscan.records.marc_values import FAMILIES, PACKED

# An escape to the character set of East Asia (EACC), and what follows.
_OF_THREE_BYTES = re.compile(rb"\x1b(?:\$,?|[(,])?1([^\x1b]*+)")


def split_field(field: bytes, read: Callable[[bytes], str] = decoded) -> tuple[str, list[tuple[str, str]]]:
    """Split a data field (indicators, then subfields with 1F and a code before each) at 1F. Returns the indicators, and
    pairs of code and value. Without subfields, the whole field is returned as the indicators, and no pairs. `read`
    decodes bytes; by default from UTF-8.
    """
    # Each is decoded alone: in MARC-8, every subfield begins with the default character set.
    indicators, *subfields = map(read, field.split(b"\x1f"))
    return indicators, [(subfield[:1], subfield[1:]) for subfield in subfields]


def pack_field(name: str, text: str) -> bytes:
    """Return a field as bytes, in UTF-8, that can be appended to a packed description of MARC (which `unpack_marc`
    reads). `name`: a value of `field` in `descriptions.toml`, such as `OAI-datestamp`; `unpack_marc` ignores others.
    The bytes 1B, 1E and 1F in `text`, controls of MARC, become tabs.
    """
    return f"\x1e{name}\x1e{text.translate(MARKS)}".encode("utf-8", "replace")


def unpack_marc(packed: bytes) -> Description | None:
    """Return the `Description` that packed fields of MARC make (bytes that `marc_values` wrote); None if `packed` was
    not written by it.
    """
    if not packed.startswith(PACKED):
        return None
    _, name, leader, count, *fields = packed.split(b"\x1e")
    table = description.described_fields(name.decode())
    kind = decoded(leader)[6:7]
    statements = [*description.of_text(decoded(leader), table["leader"], kind)]
    statements += description.of_text(decoded(count), table["count"])
    is_plain = packed.isascii() and b"\x1b" not in packed
    read = decoded if is_plain else decoder(name.decode(), leader, fields[1::2])
    for tag, field in zip(fields[::2], fields[1::2], strict=True):
        rows = table.get(tag.decode(), ())
        if b"\x1f" not in field:
            statements += description.of_text(decoded(field), rows, kind)
        else:
            indicators, subfields = split_field(field, read)
            statements += description.of_subfields(subfields, rows, indicators.ljust(2)[1], kind)
    return description.describe(statements)


def decoder(family: str, leader: bytes, fields: Sequence[bytes]) -> Callable[[bytes], str]:
    """Return the function that decodes the fields of a record: from MARC-8 for a record of MARC 21 that is not in
    UTF-8, otherwise from UTF-8.

    `family`: `marc` or `unimarc`. A record is in MARC-8 if a field is not valid UTF-8, or has an escape (1B) while byte 9
    of the leader is not `a` (UTF-8).
    """
    if family != FAMILIES[0]:
        return decoded
    has_escapes = leader[9:10] != b"a" and any(b"\x1b" in field for field in fields)
    return decoded if not has_escapes and all(is_utf8(field, may_be_cut=True) for field in fields) else of_marc8


def is_utf8(data: bytes, *, may_be_cut: bool = False) -> bool:
    """Whether bytes are valid UTF-8. With `may_be_cut`, the last character may be incomplete."""
    try:
        utf_8_decode(data, "strict", not may_be_cut)
    except UnicodeDecodeError:
        return False
    return True


def of_marc8(data: bytes) -> str:
    """Decode bytes of MARC-8 (MARC 21 Specifications, Character Sets) to text. Bytes without a meaning in MARC-8,
    and an incomplete East Asian character, become spaces. If `data` ends with an incomplete escape sequence, all bytes
    may be decoded as UTF-8 instead.
    """
    if data.isascii() and b"\x1b" not in data:
        return data.decode()
    from pymarc.marc8 import marc8_to_unicode  # noqa: PLC0415 (large tables, which few runs need)

    # Else pymarc reads over the end or the next escape, and prints to standard error.
    data = _OF_THREE_BYTES.sub(lambda run: run[0] + b" " * (-len(run[1]) % 3), data)
    try:
        return marc8_to_unicode(data, hide_utf8_warnings=True)
    except UnicodeDecodeError:
        return decoded(data)
