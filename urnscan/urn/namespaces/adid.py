"""Ad-ID and their URNs: RFC 8107 §2; SMPTE RP 2092-1."""

from __future__ import annotations

import regex

from urnscan.urn.namespaces.native import Native
from urnscan.urn.parser import URN

__all__ = ["from_urn", "to_urn"]

_ADID = Native(
    nid="adid",
    kind="Ad-ID",
    # An Ad-ID may itself begin with ADID: as a label that is parted from it.
    label=regex.compile(r"(?i:ad-?id)(?:\s*:\s*|\s+)"),
    form=regex.compile(r"[A-Za-z1-9][A-Za-z0-9]{10}[HhDd]?"),
    wanted="11 letters and digits, the first not 0, and perhaps H or D, as in ABCD0001000H",
)


def to_urn(identifier: str) -> str:
    """The URN of an Ad-ID, in capital letters.

    White space and a label (`Ad-ID:`) around it are cut. Raises ValueError for a text that is no Ad-ID.

    >>> to_urn("Ad-ID: abcd0001000h")
    'urn:adid:ABCD0001000H'
    """
    return _ADID.urn(_ADID.written(identifier), identifier)


def from_urn(urn: str | URN) -> str:
    """The Ad-ID of a URN in capital letters.

    Raises InvalidURN for a text that is no URN, ValueError for another namespace and for a name that is no Ad-ID.

    >>> from_urn("urn:adid:abcd0001000")
    'ABCD0001000'
    """
    return _ADID.nss(urn)
