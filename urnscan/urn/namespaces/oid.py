"""Object identifiers and their URNs: RFC 3061 §2."""

from __future__ import annotations

import regex

from urnscan.urn.namespaces.native import Native
from urnscan.urn.parser import URN

__all__ = ["from_urn", "to_urn"]

_OID = Native(
    nid="oid",
    kind="object identifier",
    label=regex.compile(r"(?i:oid)\s*:?\s*"),
    form=regex.compile(r"(?:0|[1-9][0-9]*+)(?:\.(?:0|[1-9][0-9]*+))*+"),
    wanted="numbers without leading zeros, joined by full stops, as in 1.3.6.1",
)


def to_urn(identifier: str) -> str:
    """The URN of an object identifier in dotted notation.

    White space and a label (`oid:`, `OID`) around it are cut. Raises ValueError for anything else.

    >>> to_urn("oid:1.3.6.1.4.1")
    'urn:oid:1.3.6.1.4.1'
    """
    return _OID.urn(_OID.written(identifier), identifier)


def from_urn(urn: str | URN) -> str:
    """The object identifier of a URN in dotted notation.

    Raises InvalidURN for a text that is no URN, ValueError for another namespace and for a name that is no object
    identifier.

    >>> from_urn("URN:OID:0.9.2342.19200300.100.4")
    '0.9.2342.19200300.100.4'
    """
    return _OID.nss(urn)
