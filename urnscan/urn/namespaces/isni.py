"""ISNI and their URNs: IANA template of urn:isni, "Syntax" and "Rules for lexical equivalence"; ISO 27729."""

from __future__ import annotations

import regex

from urnscan.urn.namespaces.native import Native
from urnscan.urn.parser import URN

__all__ = ["from_urn", "to_urn"]

_ISNI = Native(
    nid="isni",
    kind="ISNI",
    label=regex.compile(r"(?i:(?:isni(?!\.org/)\s*:?\s*)?(?:(?:https?://)?(?:www\.)?isni\.org/(?:isni/)?)?)"),
    form=regex.compile(r"(?:[0-9]{4}[- ]?){3}[0-9]{3}[0-9Xx]"),
    wanted="16 digits, the last perhaps X, with spaces between blocks of four, as in 0000 0001 2124 1960",
)


def to_urn(identifier: str) -> str:
    """The URN of an ISNI in the canonical form of its namespace, without spaces.

    White space, a label (`ISNI`) or an address (`https://isni.org/isni/`) around it, and spaces or hyphens between its
    blocks are cut. Raises ValueError for a text that is no ISNI or has a wrong check digit.

    >>> to_urn("ISNI 0000 0001 2124 1960")
    'urn:isni:0000000121241960'
    """
    return _ISNI.urn(_ISNI.compact(identifier), identifier)


def from_urn(urn: str | URN) -> str:
    """The ISNI of a URN in blocks of four, without "ISNI" before it.

    Raises InvalidURN for a text that is no URN, ValueError for another namespace and for a name that is no ISNI or has
    a wrong check digit.

    >>> from_urn("urn:isni:000000012150090x")
    '0000 0001 2150 090X'
    """
    from stdnum import isni  # noqa: PLC0415 (loaded only if used)

    return str(isni.format(_ISNI.nss(urn)))
