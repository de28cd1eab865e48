"""ISBN and their URNs: IANA template of urn:isbn, "Syntax" and "Rules for Lexical Equivalence"; ISO 2108."""

from __future__ import annotations

import regex

from urnscan.urn.namespaces.native import Native
from urnscan.urn.parser import URN

__all__ = ["from_urn", "to_urn"]

_ISBN = Native(
    nid="isbn",
    kind="ISBN",
    # Of "ISBN-13" the number belongs to the label only where something parts it from the ISBN.
    label=regex.compile(r"(?i:e-?)?(?i:isbn)(?:-?1[03](?=[\s:])|\s1[03](?=\s*:))?\s*:?\s*"),
    form=regex.compile(r"(?:[0-9][- ]?){9}[0-9Xx]|97[89][- ]?(?:[0-9][- ]?){9}[0-9]"),
    wanted="10 or 13 digits, the last perhaps X, with hyphens or spaces in them at most, as in 978-0-395-36341-6",
)


def to_urn(identifier: str) -> str:
    """The URN of an ISBN in the canonical form of its namespace, an ISBN-10 as the ISBN-13 that it is.

    White space and a label (`ISBN`, `ISBN-13:`) around it, hyphens and spaces in it are cut. Raises ValueError for a
    text that is no ISBN or has a wrong check digit.

    >>> to_urn("ISBN 0-395-36341-1")
    'urn:isbn:9780395363416'
    """
    return _ISBN.urn(_ISBN.compact(identifier), identifier)


def from_urn(urn: str | URN) -> str:
    """The ISBN-13 of a URN, hyphenated.

    Where the ranges of its group or registrant are not known it has fewer hyphens. Raises InvalidURN for what is no
    URN, ValueError for another namespace and for what is no ISBN or has a wrong check digit.

    >>> from_urn("URN:ISBN:0395363411")
    '978-0-395-36341-6'
    """
    from stdnum import isbn  # noqa: PLC0415 (loaded only if used: it reads the table of all ranges)

    # `compact` stops at prefixes besides 978 and 979, which the grammar does not rule out for the future.
    return str(isbn.format(_ISBN.compact(_ISBN.nss(urn))))
