"""Public identifiers of SGML and XML and their URNs: RFC 3151 §1.1, §2."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import unquote

import regex

from urnscan.urn.namespaces.native import Native
from urnscan.urn.parser import URN

__all__ = ["from_urn", "to_urn"]

_PUBLIC = Native(
    nid="publicid",
    kind="public identifier",
    label=regex.compile(""),  # whatever stands before it belongs to it
    form=regex.compile(r"[A-Za-z0-9 '()+,./:=?;!*#@$_%-]+"),  # production 13 of XML 1.0, normalised
    wanted="ASCII letters, digits, spaces and -'()+,./:=?;!*#@$_%, as in -//OASIS//DTD DocBook XML V4.1.2//EN",
)
_WHITE = regex.compile("[\x20\x09\x0d\x0a]+")
_TRANSCRIBED: Mapping[str, str] = MappingProxyType(
    {" ": "+", "//": ":", "::": ";"} | {character: f"%{ord(character):02X}" for character in "+:/;'?#%"}
)
_LITERAL = regex.compile("//|::|[ +:/;'?#%]")
_SPECIAL = str.maketrans({"+": " ", ":": "//", ";": "::"})


def to_urn(identifier: str) -> str:
    """The URN of a public identifier, transcribed by the rules of §2 after its white space has been normalised (§1.1).

    Raises ValueError for an empty text and for one with characters that no public identifier holds.

    >>> to_urn("-//OASIS//DTD DocBook XML V4.1.2//EN")
    'urn:publicid:-:OASIS:DTD+DocBook+XML+V4.1.2:EN'
    """
    text = _normalised(_PUBLIC.bare(identifier))
    if _PUBLIC.form.fullmatch(text) is None:
        raise _PUBLIC.error(identifier, _PUBLIC.why_not(text))
    return _PUBLIC.urn(_LITERAL.sub(lambda match: _TRANSCRIBED[match[0]], text), identifier)


def from_urn(urn: str | URN) -> str:
    """The public identifier of a URN.

    Of several transcriptions that lead to one identifier (`%2F%2F` and `:`) only that of `to_urn` is the right one; the
    others are read all the same. Raises InvalidURN for what is no URN, ValueError for another namespace and where what
    comes out is no normalised public identifier.

    >>> from_urn("urn:publicid:ISO%2FIEC+10179%3A1996:DTD+DSSSL+Architecture:EN")
    'ISO/IEC 10179:1996//DTD DSSSL Architecture//EN'
    """
    nss = _PUBLIC.nss(urn)
    text = unquote(nss.translate(_SPECIAL))
    if _PUBLIC.form.fullmatch(text) is None:
        raise _PUBLIC.error(nss, _PUBLIC.why_not(text))
    if text != _normalised(text):
        raise _PUBLIC.error(nss, "its white space is not normalised (RFC 3151 §1.1)")
    return text


def _normalised(text: str) -> str:
    return _WHITE.sub(" ", text).strip(" ")
