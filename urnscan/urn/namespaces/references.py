"""The URN that a native identifier, a link to a resolver, or a URN in delimiters represents."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from urnscan.urn.namespaces import identifiers as native
from urnscan.urn.namespaces.native import as_urn, has_label
from urnscan.urn.namespaces.registry import OURS, Rulebook
from urnscan.urn.syntax import pattern_of

_LABEL_OPTIONAL = (native.uuid, native.isbn, native.issn, native.isni, native.doi, native.ietf)
"""Identifiers that are recognised by their form, also without a label (`ISBN:`)."""
_LABEL_REQUIRED = (native.eidr, native.isan, native.lei, native.oid)
"""Identifiers that need a label, because other texts have the same form: 1.2.3 may be an OID or a version."""
# Maximum characters of a text.
_LONGEST = 4096

# A URN in the path or query of a link. A "?" that begins a component of RFC 8141 belongs to the URN.
_IN_PATH = r"(?i:https?)://[^\s?#]*?/((?i:urn):(?:[^?#]|\?[+=])++)"
_IN_QUERY = r"(?i:https?)://[^\s?#]*+\?(?:[^#&]*+&)*?[^#&=]*+=((?i:urn)(?::|(?i:%3A))[^&#]++)"
# A URN in the delimiters of RFC 3986, Appendix C, or in apostrophes; without white space around it.
_IN_DELIMITERS = r"""(?:<(?:(?i:URL):)?\s*([^<>\s]++)\s*+>|"([^"\s]++)"|'([^'\s]++)')|((?i:urn):\S++)"""


def urn_of(text: str, rulebook: Rulebook = OURS) -> str | None:
    """The URN that a text represents; None if the text represents no URN, or has more than 4,096 characters. A wrong
    check digit stays in the URN, and a URN in the text is copied without a check: it may be malformed.

    The whole text, without white space around it, is one of these: a URN, perhaps in `<...>` or quotation marks; a link
    with a URN in its path or query, or to a public resolver in the rules; a native identifier or its address. ISBN,
    ISSN, ISNI, DOI, UUID and the numbers of RFCs need no label; EIDR, ISAN, LEI and OID do (`OID:1.2.3`).

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
    for identifier in (*_LABEL_OPTIONAL, *_LABEL_REQUIRED):
        if identifier in _LABEL_OPTIONAL or has_label(identifier, text):
            urn = as_urn(identifier, text)
            if urn is not None:
                yield urn
    scheme, separator, address = text.partition("://")
    if separator and scheme.lower() in ("http", "https"):
        for rule in rulebook.rules.values():
            for resolver in rule.resolvers:
                prefix, _, suffix = resolver.url.partition("://")[2].partition("{nss}")
                if not suffix and resolver.url.endswith("{nss}") and address.lower().startswith(prefix.lower()):
                    yield f"urn:{rule.nid}:{address[len(prefix) :].partition('?')[0].partition('#')[0]}"
