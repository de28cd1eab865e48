"""UUIDs and their URNs: RFC 4122 §3, RFC 9562 §4."""

from __future__ import annotations

from uuid import UUID

import regex

from urnscan.urn.namespaces.native import Native
from urnscan.urn.parser import URN

__all__ = ["from_urn", "to_urn"]

_PLAIN = "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
_UUID = Native(
    nid="uuid",
    kind="UUID",
    label=regex.compile(r"(?i:[ug]uid)\s*:?\s*"),
    form=regex.compile(rf"{_PLAIN}|\{{{_PLAIN}\}}|[0-9A-Fa-f]{{32}}"),
    wanted="32 hexadecimal digits, grouped by hyphens as in f81d4fae-7dec-11d0-a765-00a0c91e6bf6, or without any",
)


def to_urn(identifier: str) -> str:
    """The URN of a UUID of any version, in small letters.

    White space and a label (`uuid:`, `GUID`) around it, and braces are cut, its hyphens may be missing. Raises
    ValueError for anything else.

    >>> to_urn("{F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6}")
    'urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6'
    """
    return _UUID.urn(str(UUID(_UUID.written(identifier))), identifier)


def from_urn(urn: str | URN) -> str:
    """The UUID of a URN in small letters, with its hyphens.

    Raises InvalidURN for a text that is no URN, ValueError for another namespace and for a name that is no UUID.

    >>> from_urn("urn:uuid:F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6")
    'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'
    """
    return _UUID.nss(urn)
