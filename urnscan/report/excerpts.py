"""Records side by side: lines that differ, the parts that differ, and the names that join the records.

A record is cut into lines at line ends and ends of fields (U+001E in MARC and PICA), and a line into pieces: subfields,
elements, parts between commas. A line or piece is common if it stands anywhere in every record. That takes linear time,
and text that only moved does not count as a difference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from itertools import chain, groupby, pairwise
from typing import NamedTuple

_LINE = re.compile(r"[^\n\r\x1d\x1e]*+(?:[\x1d\x1e]+(?:\r?\n)?|\r\n?|\n)|[^\n\r\x1d\x1e]+")
_PIECE = re.compile(r"(?<=[,;|\t])(?=[^\t\n])|(?=\x1f)|(?<=>)(?=<)|(?= \$[0-9a-z] )")
_Asked = Callable[[str], bool]
_PARTING = " \t\r\n\x1d\x1e,;|"
"""Characters between pieces, which are not compared."""


class Kind(Enum):
    """Mark of a part of a line: a part that is not in every record is `OWN`, a name that joins them `JOINING`."""

    PLAIN = "plain"
    OWN = "own"
    JOINING = "joining"


class Run(NamedTuple):
    """A part of a line with one mark."""

    text: str
    kind: Kind


class Line(NamedTuple):
    """A line of a record, without its line end, but with controls that end a field; `common` to all records or not."""

    runs: list[Run]
    common: bool


def compare(excerpts: Sequence[str], spellings: Sequence[Sequence[str]]) -> list[list[Line]]:
    r"""The lines of each text, with marks on its spellings and on parts that not all texts have.

    A single text has no common lines, and no marks but those of its spellings.

    >>> one, other = compare(["a\nb,c,d", "b,x,d\na"], [["d"], []])
    >>> [line.common for line in one]
    [True, False]
    >>> [(run.text, run.kind.value) for run in one[1].runs]
    [('b,', 'plain'), ('c,', 'own'), ('d', 'joining')]
    """
    places = [_places(text, names) for text, names in zip(excerpts, spellings, strict=True)]
    if len(excerpts) == 1:
        return [_lines(excerpts[0], places[0], lambda _: True, lambda _: False)]
    both = list(zip(excerpts, places, strict=True))
    common_line = _common([[text[start:end] for start, end in _spans(text)] for text in excerpts])
    common_piece = _common([[text[start:end] for start, end in _pieces(text, own)] for text, own in both])
    return [_lines(text, own, common_piece, common_line) for text, own in both]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Beginning and end of each line, without the line break."""
    for match in _LINE.finditer(text):
        yield match.start(), match.start() + len(match[0].rstrip("\r\n"))


def _pieces(text: str, places: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Beginning and end of each piece. Names that join are pieces, too, so that the text around them can be common."""
    edges = {0, len(text), *chain(*_spans(text)), *chain(*places), *(match.start() for match in _PIECE.finditer(text))}
    return pairwise(sorted(edges))


def _common(records: Sequence[Sequence[str]]) -> _Asked:
    """Test whether a text, without separators around it, stands in every record; separators alone do."""
    stripped = [{text.strip(_PARTING) for text in record} for record in records]
    everywhere = set.intersection(*stripped) if stripped else set()
    return lambda text: (key := text.strip(_PARTING)) in everywhere or not key


def _places(text: str, spellings: Sequence[str]) -> list[tuple[int, int]]:
    """Places of the spellings, in order, except where one is the beginning of a longer name or number."""
    alternatives = "|".join(map(re.escape, sorted(filter(None, set(spellings)), key=lambda text: (-len(text), text))))
    if not alternatives:
        return []
    pattern = rf"(?<![0-9](?=[0-9]))(?:{alternatives})(?:(?<![0-9A-Za-z])|(?![-.:/_%~]?(?!(?i:urn):)[0-9A-Za-z]))"
    return [match.span() for match in re.finditer(pattern, text)]


def _lines(text: str, places: Sequence[tuple[int, int]], common_piece: _Asked, common_line: _Asked) -> list[Line]:
    """The lines of a text with their marks."""
    kinds = [Kind.PLAIN] * len(text)
    for start, end in _pieces(text, places):
        piece = text[start:end]
        if not common_piece(piece):
            length = len(piece.lstrip(" \t"))
            kinds[end - length : end] = [Kind.OWN] * length
    for start, end in places:
        kinds[start:end] = [Kind.JOINING] * (end - start)
    lines = []
    for start, end in _spans(text):
        marked = groupby(range(start, end), kinds.__getitem__)
        runs = [Run("".join(text[i] for i in group), kind) for kind, group in marked]
        lines.append(Line(runs, common_line(text[start:end])))
    return lines
