"""ISSN and their URNs: IANA template of urn:issn, "Syntax" and "Rules for Lexical Equivalence"; ISO 3297."""

from __future__ import annotations

import regex

from urnscan.urn.namespaces.native import Native
from urnscan.urn.parser import URN

__all__ = ["from_urn", "to_urn"]

_ISSN = Native(
    nid="issn",
    kind="ISSN",
    label=regex.compile(r"(?i:[ep]-?)?(?i:issn(?:-l)?)\s*:?\s*"),
    form=regex.compile(r"[0-9]{4}[- ]?[0-9]{3}[0-9Xx]"),
    wanted="8 digits, the last perhaps X, with a hyphen in the middle, as in 0317-8471",
)


def to_urn(identifier: str) -> str:
    """The URN of an ISSN in the canonical form of its namespace, with the hyphen.

    White space and a label (`ISSN`, `eISSN:`, `ISSN-L`) around it are cut; the hyphen may be missing or a space. Raises
    ValueError for a text that is no ISSN or has a wrong check digit.

    >>> to_urn("issn 1050124x")
    'urn:issn:1050-124X'
    """
    return _ISSN.urn(_ISSN.compact(identifier), identifier)


def from_urn(urn: str | URN) -> str:
    """The ISSN of a URN, with the hyphen and without "ISSN" before it.

    Raises InvalidURN for a text that is no URN, ValueError for another namespace and for a name that is no ISSN or has
    a wrong check digit.

    >>> from_urn("urn:ISSN:03178471")
    '0317-8471'
    """
    return _ISSN.nss(urn)
