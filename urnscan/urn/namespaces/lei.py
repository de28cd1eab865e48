"""LEI and their URNs: IANA template of urn:lei, "Syntax"; ISO 17442."""

from __future__ import annotations

import regex

from urnscan.urn.namespaces.native import Native
from urnscan.urn.parser import URN

__all__ = ["from_urn", "to_urn"]

_LEI = Native(
    nid="lei",
    kind="LEI",
    label=regex.compile(r"(?i:lei)(?:\s*:\s*|\s+)"),
    form=regex.compile(r"[0-9A-Za-z]{18}[0-9]{2}"),
    wanted="18 letters and digits and two check digits, as in 7LTWFZYICNSX8D621K86",
)


def to_urn(identifier: str) -> str:
    """The URN of an LEI, in capital letters, of which its character set consists.

    White space and a label (`LEI`, `LEI:`) around it are cut. Raises ValueError for a text that is no LEI or has wrong
    check digits.

    >>> to_urn("LEI: 7ltwfzyicnsx8d621k86")
    'urn:lei:7LTWFZYICNSX8D621K86'
    """
    return _LEI.urn(_LEI.written(identifier).upper(), identifier)


def from_urn(urn: str | URN) -> str:
    """The LEI of a URN in capital letters.

    Raises InvalidURN for a text that is no URN, ValueError for another namespace and for a name that is no LEI or has
    wrong check digits.

    >>> from_urn("urn:LEI:7LTWFZYICNSX8D621K86")
    '7LTWFZYICNSX8D621K86'
    """
    nss = _LEI.nss(urn)
    return _LEI.judged(nss.upper(), nss)
