"""The URN that a native identifier, a link to a resolver, or a URN in delimiters represents; what is wrong with a text
that is nearly an ISBN or ISSN.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from urnscan.urn.namespaces import identifiers as native
from urnscan.urn.namespaces.judgement import NUMBERS, why_no_number
from urnscan.urn.namespaces.native import as_urn, has_label
from urnscan.urn.namespaces.registry import OURS, Rulebook
from urnscan.urn.numbers.field_values import NEARLY, TYPESET, first_number
from urnscan.urn.reject_reasons import REASONS
from urnscan.urn.syntax import pattern_of

_LABEL_OPTIONAL = (native.uuid, native.isbn, native.issn, native.isni, native.doi, native.ietf)
"""Identifiers that are recognised by their form, also without a label (`ISBN:`)."""
_LABEL_REQUIRED = (native.eidr, native.isan, native.lei, native.oid)
"""Identifiers that need a label, because other texts have the same form: 1.2.3 may be an OID or a version."""
# Least and maximum digits of a text that is nearly an ISBN or ISSN; fewer or more digits may be anything.
_FEWEST, _MAX = 7, 20
# A text that may be in a field for numbers: words, without the punctuation of addresses and names of files.
_WORDS = r"\w[\w -]{0,39}+"
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
    with a URN in its path or query, or to a resolver in the rules whose address ends in the NSS; a native identifier or
    its address. EIDR, ISAN, LEI and OID need a label (`OID:1.2.3`).

    >>> [urn_of(text) for text in ("0-395-36341-1", "doi:10.1000/182", "https://nbn-resolving.org/urn:nbn:de:101:1-a")]
    ['urn:isbn:9780395363416', 'urn:doi:10.1000/182', 'urn:nbn:de:101:1-a']
    """
    if len(text) > _LONGEST:
        return None
    return next(_candidates(text.strip(), rulebook), None)


def number_before_remark(text: str) -> str | None:
    """The ISBN or ISSN, without hyphens, with which a text begins, as in fields of catalogues: a label or a remark may
    be before it, a remark after it. None for any other text, and for more than 4,096 characters. The check digit may be
    wrong.

    >>> number_before_remark("978-0-395-36341-6 (pbk.)"), number_before_remark("0-395-36341-1 :")
    ('9780395363416', '0395363411')
    """
    return first_number(text) if len(text) <= _LONGEST else None


def why_no_isbn_or_issn(text: str) -> str | None:
    """A sentence: what is wrong with a text that is nearly an ISBN or ISSN (a label and a digit, or 7 to 20 digits,
    perhaps with a remark after them), or that consists of words of at most 40 characters together. None for any other
    text, and for eight digits without a label, which may be a date. `text` must be one for which `urn_of` and
    `number_before_remark` return None.

    >>> why_no_isbn_or_issn("97803953634"), why_no_isbn_or_issn("ISSN 0317-847 (online)")
    ('it has 11 digits, but an ISBN has 10 or 13, and an ISSN has 8', 'it has 7 digits, but an ISSN has 8')
    >>> why_no_isbn_or_issn("n766732")
    'a URN begins with "urn:"; it is no ISBN or ISSN either: it has letters'
    """
    match = NEARLY.match(text.translate(TYPESET).strip()) if len(text) <= _LONGEST else None
    if match is None:
        has_letters = pattern_of(_WORDS).fullmatch(text.strip()) and any(map(str.isalpha, text))
        return f"{REASONS['scheme-missing']}; it is no ISBN or ISSN either: it has letters" if has_letters else None
    labelled = [check for check in NUMBERS if match[check]]
    bare = match["number"].replace("-", "").replace(" ", "")
    if not labelled and not _FEWEST <= sum(map(str.isdigit, bare)) <= len(bare) <= _MAX:
        return None
    because = why_no_number(bare, dict(NUMBERS[check] for check in labelled or NUMBERS))
    if because is None and len(bare) == 13:
        return "an ISBN with 13 digits begins with 978 or 979, and has no X"
    # Without a label, eight digits with other hyphens are rather a date.
    return because or ("in an ISSN, the hyphen is after the fourth digit" if "issn" in labelled else None)


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
