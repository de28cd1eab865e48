"""Why a text is not a URN: the reason, and the position of the error."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from urnscan.errors import InvalidURN
from urnscan.urn.syntax import NID_CHARS, TAIL_COMPONENTS, TAIL_NONE, TAIL_QUERY, Syntax, percent_encoded

REASONS: Mapping[str, str] = MappingProxyType(
    {
        "scheme-missing": 'a URN begins with "urn:"',
        "nid-first-character": "a NID begins with a letter or digit",
        "nid-too-long": "a NID has at most 32 characters",
        "nid-colon-missing": 'no ":" after the NID',
        "nid-character": "{character!r} is not allowed in a NID",
        "nid-reserved": 'the NID "urn" is reserved',
        "nid-too-short": 'the NID "{nid}" is too short: {reference} wants {least} characters',
        "nid-hyphen": "a NID may not end in a hyphen",
        "nss-missing": "the NSS is empty",
        "percent-malformed": '"%" is not followed by two hex digits; a "%" itself is written %25',
        "nul-octet": "NUL is not allowed in a URN, encoded or not",
        "excluded-character": "{character!r} is not allowed in a URN; its encoded form is {encoded}",
        "non-ascii-character": "{character!r} is not allowed in a URN{advice}",
        "slash": '"/" is not allowed here in the NSS',
        "question-mark": '"?" is followed by neither "+" nor "="',
        "query-directive": 'a query is made of directives keyword=value, joined by "&"',
        "second-fragment": 'a second "#"',
        "component-missing": "the {component} is empty",
        "component-first-character": "the {component} cannot begin with {character!r}",
    }
)
"""Code of a reason why a text is not a URN (`InvalidURN.code`) -> a sentence for people, with placeholders as in
`{character!r}`. Programs may rely on the codes.
"""

DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d"
"""Characters that are typed instead of a hyphen, and look like one."""
INVISIBLES = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
"""The soft hyphen, and spaces and joiners of zero width."""
_COMPONENTS = {"?+": "r-component", "?=": "q-component"}


def why_not(text: str, syntax: Syntax) -> InvalidURN:
    """Return (not raise) the error for a text that is not a URN in `syntax`: code (a key of REASONS), reason, and
    position, an index from 0 to the length of the text: `urn:a` -> `nid-colon-missing`, 5. The field `text` of the
    error is not set. `text` must not be a URN: this is not checked.
    """
    for position, expected in enumerate("urn:"):
        if text[position : position + 1].lower() != expected:
            return invalid("scheme-missing", position)
    start, after = 4, text[4:]
    nid = after[: len(after) - len(after.lstrip(NID_CHARS))]
    end = start + len(nid)
    if not nid or nid.startswith("-"):
        return invalid("nid-first-character", start)
    if len(nid) > 32:
        return invalid("nid-too-long", start + 32)
    if end == len(text):
        return invalid("nid-colon-missing", end)
    if text[end] != ":":
        return invalid("nid-character", end, character=text[end])
    if nid.lower() == "urn":
        return invalid("nid-reserved", start)
    if len(nid) < syntax.nid_min:
        return invalid("nid-too-short", start, nid=nid, reference=syntax.reference, least=syntax.nid_min)
    if nid.endswith("-") and not syntax.nid_may_end_in_hyphen:
        return invalid("nid-hyphen", end - 1)
    end += 1
    if end == len(text) or (text[end] in "?#" and syntax.tail != TAIL_NONE):
        return invalid("nss-missing", end)
    longest = syntax.pattern.match(text)
    position = longest.end() if longest else end
    return _why_ends(text[position:], position, syntax, in_fragment="#" in text[:position])


def why_ends_badly(rest: str, syntax: Syntax) -> InvalidURN:
    """Return (not raise) the error that explains why a URN ends before `rest`, the text directly after it. The position
    of the error is 0, the beginning of `rest`.

    In `urn:example:a%4`, `rest` is `%4`, and the error has the code `percent-malformed`. `rest` must not be empty. A "#"
    at its beginning is treated as a second one.
    """
    return _why_ends(rest, 0, syntax, in_fragment=rest.startswith("#"))


def _why_ends(rest: str, position: int, syntax: Syntax, *, in_fragment: bool) -> InvalidURN:
    """The error at `rest`, the text from index `position` on, where the longest URN ends. `rest` is not empty;
    `in_fragment` says whether a "#" in it would be a second one.
    """
    in_fragment &= syntax.tail != TAIL_NONE
    component = _COMPONENTS.get(rest[:2])
    if component and syntax.tail == TAIL_COMPONENTS and not in_fragment:
        # With a valid first character, the component would belong to the URN. So this character is missing or wrong.
        if not rest[2:] or rest.startswith(("#", "?="), 2):
            return invalid("component-missing", position, component=component)
        return invalid("component-first-character", position, component=component, character=rest[2])
    character = rest[0]
    if character == "%":
        return invalid("percent-malformed", position)
    if character == "?" and syntax.tail == TAIL_COMPONENTS and not in_fragment:
        return invalid("question-mark", position)
    if character in "?&" and syntax.tail == TAIL_QUERY and not in_fragment:
        return invalid("query-directive", position)
    if character == "#" and in_fragment:
        return invalid("second-fragment", position)
    if character == "/" and syntax.tail != TAIL_NONE:
        return invalid("slash", position)
    if character == "\0":
        return invalid("nul-octet", position)
    if character.isascii():
        return invalid("excluded-character", position, character=character, encoded=percent_encoded(character.encode()))
    advice = "; type a hyphen (-) instead of this dash" if character in DASHES else ""
    if character in INVISIBLES:
        advice = "; delete this invisible character"
    return invalid("non-ascii-character", position, character=character, advice=advice)


def invalid(code: str, position: int, **words: object) -> InvalidURN:
    """Return (not raise) the InvalidURN error with this code, a key of REASONS, at this position (from 0). `words` fill
    the placeholders of the sentence `REASONS[code]`.
    """
    return InvalidURN(REASONS[code].format_map(words), position, code)
