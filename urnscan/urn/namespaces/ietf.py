"""Numbers of RFC, BCP, STD and FYI documents and their URNs: RFC 2648 §2."""

from __future__ import annotations

import regex

from urnscan.urn.namespaces.native import Native
from urnscan.urn.parser import URN

__all__ = ["from_urn", "to_urn"]

_IETF = Native(
    nid="ietf",
    kind="number of an RFC, BCP, STD or FYI",
    label=regex.compile(""),
    form=regex.compile(r"(?i:rfc|bcp|std|fyi)[- :]?0*+[1-9][0-9]*+"),
    wanted="the series and a number, as in RFC 2648",
)


def to_urn(identifier: str) -> str:
    """The URN of a document of the RFC series by its number, without leading zeros.

    White space around it is cut; between series and number may stand a space, a hyphen or nothing. Raises ValueError
    for anything else.

    >>> to_urn("BCP0014")
    'urn:ietf:bcp:14'
    """
    return _IETF.urn(":".join(_parts(_IETF.written(identifier))), identifier)


def from_urn(urn: str | URN) -> str:
    """The number of a document, as in "RFC 2648", without leading zeros (with which its URN is another name).

    Raises InvalidURN for what is no URN, ValueError for another namespace and for names of other things: drafts,
    meetings, parameters of protocols.

    >>> from_urn("URN:IETF:RFC:2648")
    'RFC 2648'
    """
    series, number = _parts(_IETF.written(_IETF.nss(urn)))
    return f"{series.upper()} {number}"


def _parts(written: str) -> tuple[str, str]:
    """Series and number of what has the form."""
    return written[:3], written[3:].lstrip("- :0")
