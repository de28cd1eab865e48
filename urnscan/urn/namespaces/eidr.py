"""EIDR identifiers and their URNs: RFC 7972 §1, §2; SMPTE RP 2079."""

from __future__ import annotations

import regex

from urnscan.urn.namespaces.native import Native
from urnscan.urn.parser import URN

__all__ = ["from_urn", "to_urn"]

_EIDR = Native(
    nid="eidr",
    kind="EIDR identifier",
    label=regex.compile(r"(?i:(?:(?:doi(?!\.org/)|eidr)\s*:?\s*)?(?:(?:https?://)?(?:(?:dx|www)\.)?doi\.org/)?)"),
    form=regex.compile(r"10\.5240/(?:[0-9A-Fa-f]{4}-){5}[0-9A-Za-z]"),
    wanted="10.5240/, five groups of four hexadecimal digits and a check character, as in 10.5240/7791-8534-2C23-9030-8610-5",
)


def to_urn(identifier: str) -> str:
    """The URN of an EIDR identifier in the canonical form of its namespace, with a colon in the place of the slash.

    White space, a label (`doi:`, `EIDR`) or an address (`https://doi.org/`) around it are cut. Raises ValueError for
    what is none, has a wrong check character, or is a DOI with another prefix than 10.5240, the only one in use.

    >>> to_urn("10.5240/7791-8534-2C23-9030-8610-5")
    'urn:eidr:10.5240:7791-8534-2C23-9030-8610-5'
    """
    return _EIDR.urn(_EIDR.written(identifier).replace("/", ":"), identifier)


def from_urn(urn: str | URN) -> str:
    """The EIDR identifier of a URN, a DOI in capital letters.

    Raises InvalidURN for a text that is no URN, ValueError for another namespace and for a name that is no EIDR
    identifier or has a wrong check character. Names with prefixes yet to come are led back, too; `to_urn` does not know
    them.

    >>> from_urn("urn:eidr:10.5240:7791-8534-2c23-9030-8610-5")
    '10.5240/7791-8534-2C23-9030-8610-5'
    """
    return _EIDR.nss(urn).replace(":", "/", 1)
