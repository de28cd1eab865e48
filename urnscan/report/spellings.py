"""Differences between a spelling of a name and its canonical form: other characters, characters left out, and the kind.

The two are aligned without regard to case, so that `URN:ISBN:0-9999` lies beside `urn:isbn:09999` as a person would lay
it; then characters are compared as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

__all__ = ["Run", "differences", "ways"]

_LOWER = {code: code + 32 for code in range(65, 91)}
_HEX = re.compile("%[0-9A-Fa-f]{2}")


class Run(NamedTuple):
    """A part of a spelling."""

    text: str
    """Part of the spelling; empty if the spelling leaves something out."""
    kind: str
    """`same`, `other`, `left-out`."""
    canonical: str
    """The same part of the canonical form."""


def differences(canonical: str, spelling: str) -> list[Run]:
    """The spelling, cut into parts that are equal to the canonical form or differ from it.

    >>> [(run.text, run.kind) for run in differences("urn:isbn:0395", "URN:isbn:0-395")]
    [('URN', 'other'), (':isbn:0', 'same'), ('-', 'other'), ('395', 'same')]
    >>> differences("urn:a:b-c", "urn:a:bc")[1]
    Run(text='', kind='left-out', canonical='-')
    """
    runs: list[Run] = []
    for first, last, start, end in _alignment(canonical, spelling):
        if last - first == end - start:
            for expected, found in zip(canonical[first:last], spelling[start:end], strict=True):
                _append(runs, Run(found, "same" if expected == found else "other", expected))
        else:
            _append(runs, Run(spelling[start:end], "other" if end > start else "left-out", canonical[first:last]))
    return runs


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


def _alignment(canonical: str, spelling: str) -> Iterator[tuple[int, int, int, int]]:
    """Aligned parts: beginning and end in the canonical form, beginning and end in the spelling."""
    one, other = canonical.translate(_LOWER), spelling.translate(_LOWER)
    if one == other:
        yield 0, len(one), 0, len(other)
        return
    for _, *places in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        first, last, start, end = places
        yield first, last, start, end


def _append(runs: list[Run], run: Run) -> None:
    """Add a part, joined to the last one if that is of the same kind."""
    if runs and runs[-1].kind == run.kind and bool(runs[-1].canonical) == bool(run.canonical):
        before = runs.pop()
        run = Run(before.text + run.text, run.kind, before.canonical + run.canonical)
    runs.append(run)
