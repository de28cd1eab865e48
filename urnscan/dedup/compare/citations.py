"""Citations of articles: whether two descriptions are of the same article, though the records share no identifier.

Title, first author and year are not enough: both articles must also share a place in the literature, such as the first
page or the volume of a journal (`PLACES`). Articles whose descriptions conflict by the rules of `agreement` are
different, too.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from rapidfuzz import fuzz

from urnscan.dedup.compare.agreement import (
    RULES,
    Rule,
    compare_features,
    far_titles,
    of_kinds,
    other_years,
)
from urnscan.dedup.compare.authors import family_part
from urnscan.dedup.compare.extents import counts_pages
from urnscan.dedup.compare.features import DIGITS, Features, features, words
from urnscan.dedup.compare.first_authors import other_authors
from urnscan.dedup.compare.journals import are_one_journal
from urnscan.dedup.compare.known_words import known_words
from urnscan.dedup.compare.parts import differ, names_part, numbers_in
from urnscan.records.description import Description, axes

_START = re.compile(r"([a-z]{0,4})[.\s]?([0-9]{1,9})")
_PAGE_WORDS = re.compile(r"\b(?:pp?|pages?|seiten?|art(?:icles?|ikel)?|no|nr|id|numbers?)\b[.:\s]*")
# Similarity, to 100, of whole titles of articles whose pages are not known.
_SAME_WHOLE = 97
# Minimum number of words in a title that hardly two articles of an author have.
_TELLING = 3
# Letters of a title that may replace a page.
_LONG = 25
# Letters of a title that may replace the year, too.
_VERY_LONG = 50
_LAST_YEAR = 9999
# Letters of the title and of the family name in the name of a block.
_OF_TITLE, _OF_PAGE, _OF_FAMILY = 24, 8, 3


class Start(NamedTuple):
    """The first page of an article, or its number in the journal: `101`, `S12`, `e123`."""

    letters: str
    """Letters before the number, in lower case; empty without letters."""
    number: int
    """The page, or the number of the article."""


class Citation(NamedTuple):
    """The description of an article, prepared for comparison."""

    features: Features
    """The description, prepared for the rules that compare any two records (`compare_features`)."""
    title: str
    """The whole title in lower case, without accents and punctuation (the form of `features.words`); with what
    databases add to titles.
    """
    host: str
    """Title of the journal or book that contains the article, as the record writes it; empty if unknown."""
    start: Start | None
    """First page, or number of the article; None if unknown."""
    has_author: bool
    """Whether a first author is named; False also for words such as `anonymous`."""


@functools.cache
def _no_articles() -> frozenset[str]:
    """Words of formats (`audio`, `book`) that show that a work is not an article."""
    is_other = {"content": frozenset(["text"]), "extent": frozenset(["contribution"]), "whole": frozenset[str]()}
    return frozenset(word for word, axis in axes().items() if axis in is_other and word not in is_other[axis])


def is_article(description: Description) -> bool:
    """Whether a description is of an article, a paper or a chapter: its format says so (`contribution`), or it has
    pages and a host (the journal or book that contains it). False without a title, or if the format is that of another
    kind of work, such as `audio` or `book`.
    """
    formats = (description.format or "").split()
    if not description.title or not _no_articles().isdisjoint(formats):
        return False
    return "contribution" in formats or bool(description.host and description.pages)


@functools.lru_cache(maxsize=1 << 12)
def citation(description: Description) -> Citation:
    """Return the description of an article, prepared for comparison with other articles (`shared_place`). It is not
    checked that the description is of an article (`is_article`).
    """
    of_description = features(description)
    return Citation(
        features=of_description,
        title=words(description.title or ""),
        host=description.host or "",
        start=start_of(description.pages or ""),
        has_author=bool(of_description.family - known_words().nobody),
    )


def start_of(pages: str) -> Start | None:
    """Return the first page in a statement of pages, or the number of the article; None without digits, or if the
    statement counts all pages (`230 p.`).

    >>> [tuple(start_of(pages)) for pages in ("101-10", "pp. 101--110", "e123", "12S-14S", "Art. No. A161")]
    [('', 101), ('', 101), ('e', 123), ('', 12), ('a', 161)]
    """
    text = pages.lower()
    match = None if counts_pages(text) else _START.search(_PAGE_WORDS.sub("", text))
    return Start(match[1], int(match[2])) if match else None


def blocks(description: Description) -> tuple[str, str, str]:
    """Return the names of the three blocks of an article. A block is a group of articles that may be the same: two
    articles are compared only if the same one of their three names is equal, and not empty.

    The names are: first page, and the first 8 letters of the title; first page, volume, and the first 3 letters of the
    family name; the first 24 letters of the title. Letters are counted from the first word that is not small (`the`),
    without spaces. The first two names are empty without their page or volume, the last if the title is shorter.
    """
    title = words(description.title or "").split()
    small = known_words().small
    letters = "".join(title[next((at for at, word in enumerate(title) if word not in small and len(word) > 1), 0) :])
    start, volume = start_of(description.pages or ""), DIGITS.search(description.part or "")
    family = max(words(family_part(description.author or "")).split(), key=len, default="")
    return (
        f"{start.number} {letters[:_OF_PAGE]}" if start else "",
        f"{start.number} {volume[0]} {family[:_OF_FAMILY]}" if start and volume else "",
        letters[:_OF_TITLE] if len(letters) >= _OF_TITLE else "",
    )


# --- what must be the same ---------------------------------------------------------------------------------------------


def _other_numbers(one: Features, other: Features) -> float:
    """0 if both titles have the same numbers, else 1, also without a title. If only one has a subtitle, its numbers may
    be missing in the other title, unless it names a part (`Part II`).
    """
    if not one.title or not other.title:
        return 1
    forms = [(one.title.full[0], other.title.full[0])]
    subtitle = one.title.subtitle or other.title.subtitle
    if bool(one.title.subtitle) != bool(other.title.subtitle) and not names_part(subtitle):
        forms.append((one.title.proper[0], other.title.proper[0]))
    return float(not any(_have_same_numbers(mine, others) for mine, others in forms))


def _have_same_numbers(one: str, other: str) -> bool:
    """Whether two titles, normalized by `words`, have the same numbers in the same order, or none: digits, Roman
    numbers, number words, and letters as in `part b`. `level two` is `level 2`, and `10 6` is `106`.
    """
    # U.S., US
    if one.replace(" ", "") == other.replace(" ", ""):
        return True
    digits = ["".join(DIGITS.findall(title)) for title in (one, other)]
    in_words = [numbers_in(" ".join(word for word in title.split() if not word.isdigit())) for title in (one, other)]
    if digits[0] == digits[1] and in_words[0] == in_words[1]:
        return True
    # The same number may be written as a word: `two`, `2`. Then no number is within a word.
    return numbers_in(one) == numbers_in(other) and all(
        word.isdigit() for title in (one, other) for word in title.split() if DIGITS.search(word)
    )


def _years_between(one: Features, other: Features) -> float:
    if not one.years and not other.years:
        return 0
    return min((abs(a - b) for a in one.years for b in other.years), default=_LAST_YEAR)


CITATION_RULES = (
    Rule("title", "the titles differ by more than 10%, or one is missing", 0.1, far_titles),
    Rule("title", "only one is a reply, a correction, a workbook or the like", 0, of_kinds),
    Rule("title", "the numbers in the titles differ, or only one has one", 0, _other_numbers),
    Rule("author", "the family names of the first authors differ", 0, other_authors),
    Rule("year", "the nearest years differ by more than 1, or only one has a year", 1, _years_between),
)
"""Rules for articles that share no identifier: the two are the same only if no distance is too great, and if they share
a place (`PLACES`).
"""


# --- the place ---------------------------------------------------------------------------------------------------------


def _have_one_start(one: Start | None, other: Start | None) -> bool | None:
    # Not all databases have letters before the number. Page 1 may mean that an article has no place in an issue yet.
    if one is None or other is None:
        return None
    if one.number != other.number:
        return None if 1 in (one.number, other.number) else False
    return not (one.letters and other.letters) or one.letters == other.letters


class _Pair(NamedTuple):
    """Two articles, and which parts of their places are the same; None is unknown."""

    one: Citation
    other: Citation
    start: bool | None
    volume: bool | None
    journal: bool | None
    issue: bool | None

    @property
    def has_authors(self) -> bool:
        return self.one.has_author and self.other.has_author

    @property
    def has_same_year(self) -> bool:
        return not other_years(self.one.features, self.other.features)

    @property
    def may_begin_anywhere(self) -> bool:
        """Whether the page is unknown, or 1, which an article without an issue has."""
        return self.start is None or (self.one.start is not None and self.one.start.number == 1)

    @property
    def may_be_one_journal(self) -> bool:
        """Whether the journal is the same, or, if unknown, the number of the issue."""
        return self.issue is True if self.journal is None else self.journal

    @property
    def has_telling_title(self) -> bool:
        titles = (self.one.title, self.other.title)
        return all(len(title.split()) >= _TELLING and not known_words().general.fullmatch(title) for title in titles)

    def has_whole_title(self, letters: int) -> bool:
        """Whether the whole titles are the same (small typos allowed), of at least `letters` characters, and
        `has_telling_title`.
        """
        is_long = min(len(self.one.title), len(self.other.title)) >= letters
        return is_long and self.has_telling_title and fuzz.ratio(self.one.title, self.other.title) >= _SAME_WHOLE


def _on_first_page(pair: _Pair) -> bool:
    one, other = pair.one.start, pair.other.start
    if not pair.start or one is None or other is None:
        return False
    if not pair.has_authors:
        return bool(pair.volume and pair.journal) and pair.has_whole_title(_LONG)
    if one.number == 1 or not pair.has_telling_title:
        return bool(pair.volume) and pair.may_be_one_journal
    if not pair.has_same_year:
        # An article number stays from version to version: CD001234 of Cochrane.
        is_number = max(len(one.letters), len(other.letters)) > 1
        return bool(pair.volume) and pair.journal is not False and not is_number
    return bool(pair.volume) or pair.journal is not False


def _in_volume(pair: _Pair) -> bool:
    if not (pair.may_begin_anywhere and pair.volume and pair.may_be_one_journal and pair.has_authors):
        return False
    return pair.issue is not False and pair.has_whole_title(0 if pair.issue else _LONG)


def _in_journal(pair: _Pair) -> bool:
    if not (pair.may_begin_anywhere and pair.volume is None and pair.journal and pair.has_authors):
        return False
    return pair.issue is not False and pair.has_whole_title(_LONG if pair.has_same_year else _VERY_LONG)


@dataclass(frozen=True, slots=True)
class Place:
    """A row of the table of places. A place is where an article is in the literature: the parts of a citation (page,
    volume, journal) that two citations of an article must share, in addition to title, author and year.
    """

    name: str
    """Name of the place, such as `first-page`; the key of records that share it is reported as
    `description:first-page`.
    """
    compared: str
    """A phrase for people: the parts of the two citations that must be the same."""
    is_shared: Callable[[_Pair], bool]
    """Whether a pair of citations shares the place."""


PLACES = (
    Place("first-page", "first page; with a short title, or on page 1, also volume and journal", _on_first_page),
    Place("volume", "journal, volume and whole title, where a page is missing", _in_volume),
    Place("journal", "journal, year and whole title, where page and volume are missing", _in_journal),
)
"""The rows of the table of places, the most reliable first."""


def shared_place(one: Citation, other: Citation) -> int | None:
    """Return the place that two citations of the same article share (page, volume or journal): an index in PLACES, the
    least if there are several. None for different articles, or if they share no place.

    The order of the two does not matter.
    """
    mine, others = one.features, other.features
    start = _have_one_start(one.start, other.start)
    if start is False or any((rule.distance(mine, others) or 0) > rule.most for rule in CITATION_RULES):
        return None
    if compare_features(mine, others, RULES).against:
        return None
    distance = differ(mine.part, others.part)
    pair = _Pair(
        one,
        other,
        start,
        volume=None if distance is None else not distance,
        journal=are_one_journal(one.host, other.host) if one.host and other.host else None,
        issue=not mine.issue.isdisjoint(others.issue) if mine.issue and others.issue else None,
    )
    return next((number for number, place in enumerate(PLACES) if place.is_shared(pair)), None)
