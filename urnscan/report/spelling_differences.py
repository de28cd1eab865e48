"""Differences between a spelling of a name and its canonical form: other characters, characters left out, and the kind.

The two are aligned without regard to case, as a person would align `URN:ISBN:0-9999` and `urn:isbn:09999`; then
characters are compared as they are.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import groupby
from typing import NamedTuple

_LOWER = {code: code + 32 for code in range(65, 91)}
_HEX = re.compile("%[0-9A-Fa-f]{2}")


class Run(NamedTuple):
    """A part of a spelling."""

    text: str
    """Part of the spelling; empty if the spelling leaves something out."""
    kind: str
    """`same`, `other`, `left-out`."""
    canonical: str
    """Corresponding part of the canonical form."""


def differences(canonical: str, spelling: str) -> list[Run]:
    """The spelling, cut into parts that are equal to the canonical form or differ from it.

    >>> [(run.text, run.kind) for run in differences("urn:isbn:0395", "URN:isbn:0-395")]
    [('URN', 'other'), (':isbn:0', 'same'), ('-', 'other'), ('395', 'same')]
    >>> differences("urn:a:b-c", "urn:a:bc")[1]
    Run(text='', kind='left-out', canonical='-')
    """
    runs: list[Run] = []
    matcher = SequenceMatcher(None, canonical.translate(_LOWER), spelling.translate(_LOWER), autojunk=False)
    for _, first, last, start, end in matcher.get_opcodes():
        expected, found = canonical[first:last], spelling[start:end]
        pairs = zip(expected, found, strict=True) if len(expected) == len(found) else [(expected, found)]
        for one, other in pairs:
            runs.append(Run(other, "same" if one == other else "other" if other else "left-out", one))
    joined = []
    for (kind, _), group in groupby(runs, lambda run: (run.kind, bool(run.canonical))):
        some = list(group)
        joined.append(Run("".join(run.text for run in some), kind, "".join(run.canonical for run in some)))
    return joined


def ways(canonical: str, spelling: str) -> list[str]:
    """The kinds of differences, in words.

    >>> ways("urn:isbn:0-395%2C", "URN:ISBN:0395%2c")
    ['case of "urn"', 'case of the NID', 'characters left out', 'case of hex digits']
    """
    found: dict[str, None] = {}
    nss = canonical.find(":", 4) + 1
    hexes = {place for match in _HEX.finditer(canonical) for place in range(*match.span())}
    at = 0
    for run in differences(canonical, spelling):
        if run.kind == "left-out":
            found["characters left out"] = None
        elif run.kind == "other" and not run.canonical:
            found["characters added"] = None
        elif run.kind == "other" and run.canonical.translate(_LOWER) != run.text.translate(_LOWER):
            found["other characters"] = None
        elif run.kind == "other":
            for place in range(at, at + len(run.canonical)):
                part = 'of "urn"' if place < 4 else "of the NID" if place < nss else "in the name"
                found[f"case {'of hex digits' if place in hexes else part}"] = None
        at += len(run.canonical)
    return list(found)
