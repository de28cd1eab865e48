"""Records next to each other: lines that differ, the parts that differ, and the names that join the records.

A record is split into lines at line ends and at ends of fields (U+001E in MARC and PICA). A line is split into pieces:
subfields, elements, parts between commas. A line or piece is common if every record contains it, at any place. This
test takes linear time, and a text that is only in another place does not count as a difference.
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
_IsCommon = Callable[[str], bool]
_SEPARATORS = " \t\r\n\x1d\x1e,;|"
"""Characters between pieces, which are not compared."""


class Kind(Enum):
    """Mark of a part of a line. `OWN`: not all records have the part. `JOINING`: the part is a name (URN or key) that
    joins the records. `PLAIN`: any other part.
    """

    PLAIN = "plain"
    OWN = "own"
    JOINING = "joining"


class LinePart(NamedTuple):
    """A part of a line, all of whose characters have the same mark."""

    text: str
    kind: Kind


class Line(NamedTuple):
    """A line of a record, without the line end, but with control characters that end a field."""

    parts: list[LinePart]
    common: bool
    """Whether all records contain the line; False if there is only one record."""


def compare(excerpts: Sequence[str], spellings: Sequence[Sequence[str]]) -> list[list[Line]]:
    r"""Split each text into lines, and return the lines of each text, with marks on the names that join the records,
    and on parts (subfields, elements, texts between commas) that not all texts contain. A part or line is common if all
    texts have it, at any place.

    `spellings`: for each text, how the names that join are written in it. A single text has no common lines, and only
    its spellings are marked.

    >>> first, second = compare(["a\nb,c,d", "b,x,d\na"], [["d"], []])
    >>> [line.common for line in first]
    [True, False]
    >>> [(part.text, part.kind.value) for part in first[1].parts]
    [('b,', 'plain'), ('c,', 'own'), ('d', 'joining')]
    """
    texts = [_split(text, names) for text, names in zip(excerpts, spellings, strict=True)]
    if len(texts) == 1:
        return [_lines(texts[0], lambda _: True, lambda _: False)]
    is_common_line = _in_every([[text[start:end] for start, end in lines] for text, lines, _, _ in texts])
    is_common_piece = _in_every([[text[start:end] for start, end in pieces] for text, _, pieces, _ in texts])
    return [_lines(text, is_common_piece, is_common_line) for text in texts]


class _SplitText(NamedTuple):
    """A text with the start and end of each line, piece and name, in order."""

    text: str
    lines: list[tuple[int, int]]
    """Lines without their line breaks."""
    pieces: list[tuple[int, int]]
    """Parts of a line or of a line break. A name begins and ends a piece, so that the text around it can be common."""
    names: list[tuple[int, int]]
    """Names that join the records, each of one or several pieces."""


def _split(text: str, spellings: Sequence[str]) -> _SplitText:
    lines = [(match.start(), match.start() + len(match[0].rstrip("\r\n"))) for match in _LINE.finditer(text)]
    names = _places(text, spellings)
    edges = {0, len(text), *chain(*lines), *chain(*names), *(match.start() for match in _PIECE.finditer(text))}
    return _SplitText(text, lines, list(pairwise(sorted(edges))), names)


def _in_every(records: Sequence[Sequence[str]]) -> _IsCommon:
    """A function that tests whether a text is in every record, apart from separators (white space, `,`, `;`, `|`) at
    the ends.
    """
    stripped = [{text.strip(_SEPARATORS) for text in record} for record in records]
    everywhere = set.intersection(*stripped) if stripped else set()
    return lambda text: (key := text.strip(_SEPARATORS)) in everywhere or not key


def _places(text: str, spellings: Sequence[str]) -> list[tuple[int, int]]:
    """Start and end of each place of a spelling in the text, unless the name or number continues there. Of overlapping
    places, the first counts; of those with the same start, the longest.
    """
    matches = []
    for spelling in set(filter(None, spellings)):
        start = text.find(spelling)
        while start >= 0:
            end = start + len(spelling)
            if _BEGINS.match(text, start) and _ENDS.match(text, end):
                matches.append((start, -end))
            start = text.find(spelling, start + 1)
    places: list[tuple[int, int]] = []
    # Ends are negative, so the longest of several matches at the same place comes first.
    for start, negative_end in sorted(matches):
        if not places or start >= places[-1][1]:
            places.append((start, -negative_end))
    return places


def _lines(split: _SplitText, is_common_piece: _IsCommon, is_common_line: _IsCommon) -> list[Line]:
    pieces = deque(_pieces_with_marks(split, is_common_piece))
    lines = []
    for line_start, line_end in split.lines:
        parts: list[LinePart] = []
        while pieces and pieces[0][0] < line_end:
            start, end, kind = pieces.popleft()
            # A piece before the line is a line break.
            if start < line_start:
                continue
            text = split.text[start:end]
            if parts and parts[-1].kind is kind:
                parts[-1] = LinePart(parts[-1].text + text, kind)
            else:
                parts.append(LinePart(text, kind))
        lines.append(Line(parts, is_common_line(split.text[line_start:line_end])))
    return lines


def _pieces_with_marks(split: _SplitText, is_common_piece: _IsCommon) -> Iterator[tuple[int, int, Kind]]:
    """Start, end and mark of the pieces, in order. White space at the beginning of an `OWN` piece is a `PLAIN` piece."""
    names = deque(split.names)
    for start, end in split.pieces:
        while names and names[0][1] <= start:
            names.popleft()
        if names and names[0][0] <= start:
            yield start, end, Kind.JOINING
            continue
        piece = split.text[start:end]
        if is_common_piece(piece):
            yield start, end, Kind.PLAIN
            continue
        begin = end - len(piece.lstrip(" \t"))
        if start < begin:
            yield start, begin, Kind.PLAIN
        if begin < end:
            yield begin, end, Kind.OWN
