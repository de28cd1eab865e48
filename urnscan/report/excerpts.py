"""Records side by side: lines that differ, the parts that differ, and the names that join the records.

A record is cut into lines at line ends and ends of fields (U+001E in MARC and PICA), and a line into pieces: subfields,
elements, parts between commas. A line or piece is common if it stands anywhere in every record. That takes linear time,
and text that only moved does not count as a difference.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from itertools import chain, pairwise
from typing import NamedTuple

_LINE = re.compile(r"[^\n\r\x1d\x1e]*+(?:[\x1d\x1e]+(?:\r?\n)?|\r\n?|\n)|[^\n\r\x1d\x1e]+")
_PIECE = re.compile(r"(?<=[,;|\t])(?=[^\t\n])|(?=\x1f)|(?<=>)(?=<)|(?= \$[0-9a-z] )")
_BEGINS = re.compile(r"(?<![0-9](?=[0-9]))")
_ENDS = re.compile(r"(?<![0-9A-Za-z])|(?![-.:/_%~]?(?!(?i:urn):)[0-9A-Za-z])")
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
    cuts = [_cut(text, names) for text, names in zip(excerpts, spellings, strict=True)]
    if len(cuts) == 1:
        return [_lines(cuts[0], lambda _: True, lambda _: False)]
    common_line = _common([[text[start:end] for start, end in lines] for text, lines, _, _ in cuts])
    common_piece = _common([[text[start:end] for start, end in pieces] for text, _, pieces, _ in cuts])
    return [_lines(cut, common_piece, common_line) for cut in cuts]


class _Cut(NamedTuple):
    """A text, cut into lines and pieces: beginnings and ends, in their order."""

    text: str
    lines: list[tuple[int, int]]
    """Without their line breaks."""
    pieces: list[tuple[int, int]]
    """Each is in one line or a line break. Names that join are pieces, too, so that the text around them can be common."""
    places: list[tuple[int, int]]
    """Places of the names that join, each one piece or several."""


def _cut(text: str, spellings: Sequence[str]) -> _Cut:
    lines = [(match.start(), match.start() + len(match[0].rstrip("\r\n"))) for match in _LINE.finditer(text)]
    places = _places(text, spellings)
    edges = {0, len(text), *chain(*lines), *chain(*places), *(match.start() for match in _PIECE.finditer(text))}
    return _Cut(text, lines, list(pairwise(sorted(edges))), places)


def _common(records: Sequence[Sequence[str]]) -> _Asked:
    """Test whether a text, without separators around it, stands in every record; separators alone do."""
    stripped = [{text.strip(_PARTING) for text in record} for record in records]
    everywhere = set.intersection(*stripped) if stripped else set()
    return lambda text: (key := text.strip(_PARTING)) in everywhere or not key


def _places(text: str, spellings: Sequence[str]) -> list[tuple[int, int]]:
    """Places of the spellings, in order, except where one is the beginning of a longer name or number."""
    found = []
    for spelling in set(filter(None, spellings)):
        start = text.find(spelling)
        while start >= 0:
            end = start + len(spelling)
            if _BEGINS.match(text, start) and _ENDS.match(text, end):
                found.append((start, -end))
            start = text.find(spelling, start + 1)
    places: list[tuple[int, int]] = []
    for start, end in sorted(found):  # of several at one place, the longest comes first
        if not places or start >= places[-1][1]:
            places.append((start, -end))
    return places


def _lines(cut: _Cut, common_piece: _Asked, common_line: _Asked) -> list[Line]:
    """The lines of a text with their marks."""
    marked = deque(_marked(cut, common_piece))
    lines = []
    for start, end in cut.lines:
        runs: list[Run] = []
        while marked and marked[0][0] < end:
            begin, stop, kind = marked.popleft()
            if begin < start:  # a line break
                continue
            text = cut.text[begin:stop]
            if runs and runs[-1].kind is kind:
                runs[-1] = Run(runs[-1].text + text, kind)
            else:
                runs.append(Run(text, kind))
        lines.append(Line(runs, common_line(cut.text[start:end])))
    return lines


def _marked(cut: _Cut, common_piece: _Asked) -> Iterator[tuple[int, int, Kind]]:
    """The pieces with their marks; white space before an own one is plain."""
    places = deque(cut.places)
    for start, end in cut.pieces:
        while places and places[0][1] <= start:
            places.popleft()
        if places and places[0][0] <= start:
            yield start, end, Kind.JOINING
            continue
        piece = cut.text[start:end]
        if common_piece(piece):
            yield start, end, Kind.PLAIN
            continue
        begin = end - len(piece.lstrip(" \t"))
        if start < begin:
            yield start, begin, Kind.PLAIN
        if begin < end:
            yield begin, end, Kind.OWN
