"""Octets of MARC as text: UTF-8 or MARC-8, and the descriptions that `marc_values` has packed."""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Callable, Sequence

from urnscan.records import description
from urnscan.records.decoded_text import decoded
from urnscan.records.description import Description
from urnscan.records.marc_fields import MARKS
from urnscan.records.marc_values import FAMILIES, PACKED


def parted(field: bytes, read: Callable[[bytes], str] = decoded) -> tuple[str, list[tuple[str, str]]]:
    """Indicators, and codes with values, of a field."""
    if read is not decoded:  # MARC-8 begins anew in each subfield
        indicators, *subfields = map(read, field.split(b"\x1f"))
    else:
        indicators, *subfields = field.decode("utf-8", "replace").split("\x1f")
    return indicators.ljust(2), [(each[:1], each[1:]) for each in subfields]


def pack_field(name: str, text: str) -> bytes:
    """A further field, to be put behind a packed description."""
    return f"\x1e{name}\x1e{text.translate(MARKS)}".encode("utf-8", "replace")


def unpack_marc(packed: bytes) -> Description | None:
    """Description of a record from its packed fields; None if it is not of this format."""
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
            indicators, subfields = parted(field, read)
            statements += description.of_subfields(subfields, rows, indicators[1])
    return description.describe(statements)


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
