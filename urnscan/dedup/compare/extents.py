"""Pages, volumes and pieces in an extent: `xii, 230 p.`, `3 v. in 4`, `1 online resource (xi, 658 pages)`, `2 sound discs`."""

from __future__ import annotations

import re
from typing import NamedTuple

from urnscan.dedup.compare.known_words import known_words

_ROMAN = re.compile("[ivxlcdm]+")
# Volumes that have appeared so far: `v. <1-3>`.
_OPEN = re.compile(r"<[^<>]*>")
# For example `358p`.
_ATTACHED = re.compile("([0-9]+)([a-z]+)")
# After a page, this letter may belong to the page number: 12S.
_LABEL = "s"
# For example `viii + 38`.
_SUM = re.compile(r"\+\s*[0-9]")
_PIECE = re.compile(r"[,;:()\[\]]")


class Extent(NamedTuple):
    """The extent of a book, a recording or a film; None or empty: not stated."""

    pages: int | None = None
    """Number of pages in the longest sequence of page numbers: 230 of `xii, 230 p.`; libraries differ about the other
    sequences. None if not stated.
    """
    volumes: frozenset[int] = frozenset()
    """How many volumes there are, as they were published, and as they are bound: 3 and 4 of `3 v. in 4`. Empty if not
    stated, or if the work still appears (`v. <1-3>`).
    """
    pieces: frozenset[int] = frozenset()
    """How many discs, cassettes or reels there are; a number for each of these in the text. Empty if not stated."""


def extent_of(text: str, words: str) -> Extent:
    """Return the numbers of pages, volumes and pieces in `text`, a statement of the extent; `words`: the same text as
    `features.words` returns it (lower case, no punctuation). All are None or empty if the text states none of these.

    The number of pages is before the word for pages; other numbers, Roman numerals and words such as "unnumbered" may
    be between. The number of volumes is directly before the word for volumes, another after "in" (`3 v. in 4`). Up to
    two words may be between the number of pieces and the word for pieces (`2 sound discs`).
    """
    known = known_words()
    pages: list[int] = []
    before: list[int] = []
    for word in words.split(" "):
        attached = _ATTACHED.fullmatch(word)
        if word.isdecimal():
            before.append(int(word))
        elif attached and attached[2] in known.pages and attached[2] != _LABEL:
            pages.append(int(attached[1]))
            before = []
        elif word in known.pages:
            pages += before
            before = []
        elif word not in known.unnumbered and not _ROMAN.fullmatch(word):
            before = []
    volumes = None if _OPEN.search(text) else known.volumes.search(words)
    counts = volumes.groups() if volumes else ()
    pieces = known.count_of_pieces.findall(words) if not known.pieces.isdisjoint(words.split(" ")) else ()
    return Extent(
        max(pages, default=None), frozenset(int(count) for count in counts if count), frozenset(map(int, pieces))
    )


def counts_pages(text: str) -> bool:
    """Whether a statement of pages is the number of all pages, and not pages or an article number in a journal or book.
    Upper and lower case are the same. False for a number alone (it may be the first page), and for any other text;
    but True for a range before the word: `230-238 p.`.

    >>> [counts_pages(pages) for pages in ("230 p.", "viii + 38", "230", "pp. 230-238", "5, pp. 7-9", "12S-14S")]
    [True, True, False, False, False, False]
    """
    if not any(map(str.isalpha, text)) and "+" not in text:
        return False
    pieces = (piece.lower() for piece in _PIECE.split(text))
    return bool(_SUM.search(text)) or any(
        extent_of(piece, " ".join(re.findall(r"[^\W_]+", piece))).pages is not None for piece in pieces
    )
