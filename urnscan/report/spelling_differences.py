"""Differences between a spelling of a name and the canonical form, and the kinds of these differences.

The two texts are aligned without regard to case, as a person would align `URN:ISBN:0-9999` and `urn:isbn:09999`. Then
their characters are compared, with case.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import groupby
from typing import NamedTuple

_LOWER = {code: code + 32 for code in range(65, 91)}
_HEX = re.compile("%[0-9A-Fa-f]{2}")


class SpellingPart(NamedTuple):
    """A part of a spelling, next to the same part of the canonical form."""

    text: str
    """Part of the spelling; empty if the spelling lacks the part."""
    kind: str
    """`same`: equal to the canonical form. `left-out`: the spelling lacks the part. `other`: any other difference, also
    a part that the canonical form lacks.
    """
    canonical: str
    """Part of the canonical form; empty if the canonical form lacks the part."""


def differences(canonical: str, spelling: str) -> list[SpellingPart]:
    """Split a spelling into parts (`SpellingPart`) that are equal to the canonical form or differ, in order. Both texts
    are compared without regard to the case of ASCII letters, then each part with case.

    >>> [(part.text, part.kind) for part in differences("urn:isbn:0395", "URN:isbn:0-395")]
    [('URN', 'other'), (':isbn:0', 'same'), ('-', 'other'), ('395', 'same')]
    >>> differences("urn:a:b-c", "urn:a:bc")[1]
    SpellingPart(text='', kind='left-out', canonical='-')
    """
    parts: list[SpellingPart] = []
    matcher = SequenceMatcher(None, canonical.translate(_LOWER), spelling.translate(_LOWER), autojunk=False)
    for _, first, last, start, end in matcher.get_opcodes():
        expected, text = canonical[first:last], spelling[start:end]
        pairs = zip(expected, text, strict=True) if len(expected) == len(text) else [(expected, text)]
        for one, other in pairs:
            parts.append(SpellingPart(other, "same" if one == other else "other" if other else "left-out", one))
    joined_parts = []
    for (kind, _), neighbours in groupby(parts, lambda part: (part.kind, bool(part.canonical))):
        texts, canonicals = zip(*((part.text, part.canonical) for part in neighbours), strict=True)
        joined_parts.append(SpellingPart("".join(texts), kind, "".join(canonicals)))
    return joined_parts


def ways(canonical: str, spelling: str) -> list[str]:
    """Return the kinds of differences between a canonical form and a spelling in words, each once, in the order of the
    spelling; empty if the texts are equal.

    >>> ways("urn:isbn:0-395%2C", "URN:ISBN:0395%2c")
    ['case of "urn"', 'case of the NID', 'characters left out', 'case of hex digits']
    """
    kinds: dict[str, None] = {}
    nss = canonical.find(":", 4) + 1
    hexes = {place for match in _HEX.finditer(canonical) for place in range(*match.span())}
    at = 0
    for part in differences(canonical, spelling):
        if part.kind == "left-out":
            kinds["characters left out"] = None
        elif part.kind == "other" and not part.canonical:
            kinds["characters added"] = None
        elif part.kind == "other" and part.canonical.translate(_LOWER) != part.text.translate(_LOWER):
            kinds["other characters"] = None
        elif part.kind == "other":
            for place in range(at, at + len(part.canonical)):
                where = 'of "urn"' if place < 4 else "of the NID" if place < nss else "in the name"
                kinds[f"case {'of hex digits' if place in hexes else where}"] = None
        at += len(part.canonical)
    return list(kinds)
