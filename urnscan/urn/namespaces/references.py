"""The URN that a text stands for which is none: a native identifier, a link to a resolver, or a URN in delimiters."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from urnscan.urn.namespaces import identifiers as native
from urnscan.urn.namespaces.native import as_urn, has_label
from urnscan.urn.namespaces.registry import OURS, Rulebook
from urnscan.urn.syntax import pattern_of

_TOLD_BY_FORM = (native.uuid, native.isbn, native.issn, native.isni, native.doi, native.ietf)
"""Identifiers that are known without a label (`ISBN:`). The form of others, such as 1.2.3 of an OID, says too little."""
_TOLD_BY_LABEL = (*_TOLD_BY_FORM, native.eidr, native.isan, native.lei, native.oid)
_LONGEST = 4096  # characters of a text that is looked at

# A URN in the path or query of a link. A "?" that begins a component of RFC 8141 stays.
_IN_PATH = r"(?i:https?)://[^\s?#]*?/((?i:urn):(?:[^?#]|\?[+=])++)"
_IN_QUERY = r"(?i:https?)://[^\s?#]*+\?(?:[^#&]*+&)*?[^#&=]*+=((?i:urn)(?::|(?i:%3A))[^&#]++)"
# A URN in the delimiters that RFC 3986, Appendix C, has for text, and in apostrophes; without white space around it.
_IN_DELIMITERS = r"""(?:<(?:(?i:URL):)?\s*([^<>\s]++)\s*+>|"([^"\s]++)"|'([^'\s]++)')|((?i:urn):\S++)"""


def urn_of(text: str, rulebook: Rulebook = OURS) -> str | None:
    """The URN that a text stands for, None if it stands for none. A check digit may be wrong.

    Native identifiers and addresses are those that `to_urn` reads; ISBN, ISSN, ISNI, DOI, UUID and the numbers of RFCs
    need no label. A link holds a URN in its path or query, or leads to the public resolver of a namespace. White space,
    `<...>` and quotation marks around a URN are no part of it.

    >>> [urn_of(text) for text in ("0-395-36341-1", "doi:10.1000/182", "https://nbn-resolving.org/urn:nbn:de:101:1-a")]
    ['urn:isbn:9780395363416', 'urn:doi:10.1000/182', 'urn:nbn:de:101:1-a']
    """
    if len(text) > _LONGEST:
        return None
    return next(_candidates(text.strip(), rulebook), None)


def _candidates(text: str, rulebook: Rulebook) -> Iterator[str]:
    delimited = pattern_of(_IN_DELIMITERS).fullmatch(text)
    if delimited:
        inside = next(filter(None, delimited.groups()))
        if inside[:4].lower() == "urn:":
            yield inside
    link = pattern_of(_IN_PATH).match(text) or pattern_of(_IN_QUERY).match(text)
    if link:
        yield link[1] if link[1][3] == ":" else unquote(link[1])
    for known in _TOLD_BY_LABEL:
        if known in _TOLD_BY_FORM or has_label(known, text):
            urn = as_urn(known, text)
            if urn is not None:
                yield urn
    scheme, separator, address = text.partition("://")
    if separator and scheme.lower() in ("http", "https"):
        for rule in rulebook.rules.values():
            for resolver in rule.resolvers:
                place, _, behind = resolver.url.partition("://")[2].partition("{nss}")
                if not behind and resolver.url.endswith("{nss}") and address.lower().startswith(place.lower()):
                    yield f"urn:{rule.nid}:{address[len(place) :].partition('?')[0].partition('#')[0]}"
