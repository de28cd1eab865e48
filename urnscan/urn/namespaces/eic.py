"""Energy Identification Codes (EIC) and their URNs: IANA template of urn:eic, "Syntax"; EIC Reference Manual 5.5 §5."""

from __future__ import annotations

import regex

from urnscan.urn.namespaces.native import Native
from urnscan.urn.parser import URN

__all__ = ["from_urn", "to_urn"]

_EIC = Native(
    nid="eic",
    kind="EIC",
    label=regex.compile(r"(?i:eic)(?:\s*:\s*|\s+)"),
    form=regex.compile(r"[0-9]{2}(?i:[ATVWXYZ])[0-9A-Za-z-]{12}[0-9A-Za-z]"),
    wanted="two digits, one of ATVWXYZ, 12 letters, digits or hyphens and a check character, as in 22XWATTPLUS----G",
)


def to_urn(identifier: str) -> str:
    """The URN of an EIC, in capital letters; its hyphens belong to it.

    White space and a label (`EIC`, `EIC:`) around it are cut. Raises ValueError for a text that is no EIC or has a
    wrong check character.

    >>> to_urn("EIC 22XWATTPLUS----G")
    'urn:eic:22XWATTPLUS----G'
    """
    return _EIC.urn(_EIC.written(identifier).upper(), identifier)


def from_urn(urn: str | URN) -> str:
    """The EIC of a URN in capital letters.

    Raises InvalidURN for a text that is no URN, ValueError for another namespace and for a name that is no EIC or has a
    wrong check character. Names of types that the manual may yet add are led back, too; `to_urn` does not know them.

    >>> from_urn("urn:eic:22XWATTPLUS----G")
    '22XWATTPLUS----G'
    """
    nss = _EIC.nss(urn)
    return _EIC.judged(nss.upper(), nss)
