"""Whether the descriptions of two records contradict each other: a table of rules, and how values are compared.

An identifier may lie: a publisher uses an ISBN again for the next edition, a supplement has one DOI for all its abstracts.
So records are joined only if nothing in their descriptions contradicts that. A value that a record does not have, or that
cannot be compared, contradicts nothing.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import regex
from rapidfuzz import fuzz

from urnscan.records.description import ARTICLE_BEGINS, ARTICLE_ENDS, SUBTITLE, Description, axes

_TAG = regex.compile(r"</?\w{1,10}+(?:\s[^<>]{0,80}+)?>")  # <i>, <sub>
_ARTICLE = regex.compile(rf"{ARTICLE_BEGINS}[^{ARTICLE_ENDS}]*+{ARTICLE_ENDS}")
_RESPONSIBILITY = regex.compile(r"\s/(?:\s.*+)?\Z")  # ISBD: Title / by its author
_SUBTITLE = regex.compile(rf"{SUBTITLE}|\s?[:=]\s|\s[-\u2013\u2014]\s")
_NO_WORD = regex.compile(r"[^\p{L}\p{N}]++")
_NUMBER = regex.compile(r"([0-9]{1,9})(?:st|nd|rd|th|te|er|re|e|o|a|ª|º)?\Z")
_ROMAN = regex.compile(r"x{0,3}(?:ix|iv|v?i{0,3})\Z")
_VALUES = {"i": 1, "v": 5, "x": 10}
_PARTS = frozenset(
    "band bd bind book buch część deel del fasc heft issue level livre no nr number osa part partie stufe svazek teil "
    "tom tome tomo unit vol volume volumen част том часть книга".split()
)
"""Words before the number of a part."""
_ORDINALS = {
    word: number
    for number, words in enumerate(
        (
            "first erste ersten premiere primera prima",
            "second zweite zweiten deuxieme seconde segunda seconda",
            "third dritte dritten troisieme tercera terza",
            "fourth vierte vierten quatrieme cuarta quarta",
            "fifth funfte funften cinquieme quinta",
            "sixth sechste sechsten sixieme sexta sesta",
            "seventh siebte siebten septieme septima settima",
            "eighth achte achten huitieme octava ottava",
            "ninth neunte neunten neuvieme novena nona",
            "tenth zehnte zehnten dixieme decima",
        ),
        1,
    )
    for word in words.split()
}
_PAGE = regex.compile(
    r"\s*+(?:(?:pp?|s|seiten?)[.\s]++)?([a-z]{0,3})([0-9]{1,9})(\s*+[-\u2013\u2014])?", regex.IGNORECASE
)
_SLIP = 0.03  # of 1: two letters in a title of seventy
_ONE_SCRIPT = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")  # of East Asia; one title may mix them


class _Title(NamedTuple):
    """A title to compare, in small letters without accents and punctuation."""

    proper: tuple[str, ...]
    """Without the subtitle: with its leading article, and without it where the record marks one."""
    full: tuple[str, ...]
    """With the subtitle, if there is one; likewise."""
    has_subtitle: bool
    script: str


class Features(NamedTuple):
    """A description made ready to be compared; empty or None where it says nothing."""

    title: _Title | None
    years: frozenset[int]
    edition: int | None
    numbers: frozenset[str]
    """Of the part: numbers, and letters as in `Part B`."""
    in_title: tuple[frozenset[str], frozenset[str]]
    """Numbers and letters in the title proper, and in the whole title."""
    kinds: Mapping[str, frozenset[str]]
    """Words of the format by their axis."""
    page: tuple[str, int] | None
    """First page in a host."""


@functools.lru_cache(maxsize=1 << 12)
def features(description: Description) -> Features:
    """Make a description ready to be compared."""
    title = _title(description.title) if description.title else None
    kinds: dict[str, set[str]] = {}
    for word in (description.format or "").split():
        kinds.setdefault(axes()[word], set()).add(word)
    return Features(
        title=title,
        years=frozenset(map(int, (description.year or "").split())),
        edition=_edition(description.edition) if description.edition else None,
        numbers=_designations(words(description.part), ends=True) if description.part else frozenset(),
        in_title=(_designations(title.proper[0]), _designations(title.full[0])) if title else (frozenset(),) * 2,
        kinds={axis: frozenset(words) for axis, words in kinds.items()},
        page=_first_page(description.pages) if description.pages else None,
    )


def words(text: str) -> str:
    """Words in small letters, without accents, punctuation and tags of HTML."""
    text = _TAG.sub(" ", text)
    if not text.isascii():
        text = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return _NO_WORD.sub(" ", text.casefold()).strip()


def _title(text: str) -> _Title | None:
    text = _RESPONSIBILITY.sub("", text)
    cut = _SUBTITLE.split(text, maxsplit=1)
    forms = []
    for each in (cut[0], text):
        whole = words(each.replace(ARTICLE_BEGINS, "").replace(ARTICLE_ENDS, ""))
        without = words(_ARTICLE.sub("", each)) if ARTICLE_BEGINS in each else ""
        forms.append((whole, without) if without else (whole,))
    proper, full = forms
    if not full[0]:
        return None
    if not proper[0]:
        proper = full
    letter = next(filter(str.isalpha, full[0]), "")
    script = unicodedata.name(letter, "").split(" ")[0] if letter else ""
    script = _ONE_SCRIPT[0] if script in _ONE_SCRIPT else script
    return _Title(proper, full, len(full[0]) > len(proper[0]), script)


def _designations(words: str, *, ends: bool = False) -> frozenset[str]:
    """Numbers among words, also Roman ones, and a letter that is the last word: `Level 3`, `Faust II`, `Part B`.

    `ends`: a Roman number of one letter counts at any place.
    """
    found = set()
    held = words.split(" ")
    for at, word in enumerate(held):
        is_marked = ends or at == len(held) - 1 or (at > 0 and held[at - 1] in _PARTS)
        if number := _NUMBER.match(word):
            found.add(str(int(number[1])))
        elif word and _ROMAN.match(word) and (len(word) > 1 or is_marked):
            found.add(str(_roman(word)))
        elif len(word) == 1 and word.isalpha() and is_marked and len(held) > 1:
            found.add(word)
    return frozenset(found)


def _roman(word: str) -> int:
    values = [_VALUES[letter] for letter in word]
    return sum(-value if value < max(values[at:]) else value for at, value in enumerate(values))


def _edition(text: str) -> int | None:
    """The first number of an edition: `3rd ed.`, `Dritte, überarb. Aufl.`; None for `Rev. ed.`."""
    for word in words(text).split(" "):
        if word in _ORDINALS:
            return _ORDINALS[word]
        if number := _NUMBER.match(word):
            return int(number[1])
    return None


def _first_page(text: str) -> tuple[str, int] | None:
    """The first page of a range, or one with letters before it (`S259`). A number alone may be that of all pages, and an
    article begins on page 1 before it has its place in an issue.
    """
    page = _PAGE.match(text)
    if page is None or not (page[1] or page[3]) or int(page[2]) == 1:
        return None
    return page[1].lower(), int(page[2])


# --- rules -----------------------------------------------------------------------------------------------------------


def _of_titles(one: Features, other: Features) -> float | None:
    """1 without anything in common, 0 for the same. Where one title has no subtitle, titles proper are compared."""
    if not one.title or not other.title or one.title.script != other.title.script:
        return None
    both = one.title.has_subtitle and other.title.has_subtitle
    mine, others = (each.full if both else each.proper for each in (one.title, other.title))
    most = max(fuzz.ratio(a, b) for a in mine for b in others)
    if not both and most < 100:  # one may have the subtitle as a part of its title
        most = max(most, *(fuzz.ratio(a, b) for a in one.title.full for b in other.title.full))
    return 1 - most / 100


def _of_years(one: Features, other: Features) -> float | None:
    return min((abs(a - b) for a in one.years for b in other.years), default=None)


def _of_editions(one: Features, other: Features) -> float | None:
    if one.edition is None or other.edition is None or (one.edition > 999) != (other.edition > 999):
        return None  # "2004 ed." is not to be compared with "3rd ed."
    return float(one.edition != other.edition)


def _of_parts(one: Features, other: Features) -> float | None:
    return _unlike(one.numbers, other.numbers)


def _of_numbers_in_titles(one: Features, other: Features) -> float | None:
    if not one.title or not other.title:
        return None
    both = one.title.has_subtitle and other.title.has_subtitle
    return _unlike(one.in_title[both], other.in_title[both])


def _of_pages(one: Features, other: Features) -> float | None:
    if one.page is None or other.page is None or one.page[0] != other.page[0]:
        return None  # an article number is not to be compared with a page
    return float(one.page != other.page)


def _of_formats(one: Features, other: Features) -> float | None:
    shared = one.kinds.keys() & other.kinds.keys()
    return float(any(not one.kinds[axis] & other.kinds[axis] for axis in shared)) if shared else None


def _unlike(one: frozenset[str], other: frozenset[str]) -> float | None:
    """1 if each has something that the other has not, 0 if one contains the other, None if one is empty."""
    return float(not (one <= other or other <= one)) if one and other else None


@dataclass(frozen=True, slots=True)
class Rule:
    """A line of the table: records contradict each other if the distance is more than `most`."""

    aspect: str
    """One of ASPECTS."""
    compared: str
    """Name of the distance, for people."""
    most: float
    distance: Callable[[Features, Features], float | None]
    """Distance of two records; None if one of them says nothing."""


RULES = (
    Rule("title", "1 minus the similarity of the titles, 0 to 1", 0.2, _of_titles),
    Rule("year", "years between the nearest two", 1, _of_years),
    Rule("edition", "other numbers of the edition", 0, _of_editions),
    Rule("part", "other numbers of the part or volume", 0, _of_parts),
    Rule("part", "other numbers in the title", 0, _of_numbers_in_titles),
    Rule("part", "other first pages in a host", 0, _of_pages),
    Rule("format", "other contents, carriers or extents", 0, _of_formats),
)
"""The rules, in the order of their aspects."""
ASPECTS = tuple(dict.fromkeys(rule.aspect for rule in RULES))
"""Aspects of a description, such as its title: the values of `agree`."""


class Comparison(NamedTuple):
    """Result of the comparison of two descriptions."""

    against: int
    """Aspects that contradict each other: a bit for each, in the order of ASPECTS."""
    same: int
    """Rules by which they are the same."""


def similarity(one: Description, other: Description) -> float:
    """Similarity of two titles, 1 for the same; 0 where one has none, or they are in two scripts."""
    distance = _of_titles(features(one), features(other))
    return 0 if distance is None else 1 - distance


def rules_of(aspects: Sequence[str]) -> tuple[Rule, ...]:
    """The rules of some aspects."""
    return tuple(rule for rule in RULES if rule.aspect in aspects)


def is_surely_same(one: Description, other: Description) -> bool:
    """Whether two descriptions have the same title but for a slip of the pen, and the same numbers of a part, or none: more
    than that they do not contradict each other. `Comment on Inks` is not `Inks`, and volume 2 is not the whole.
    """
    mine, others = features(one), features(other)
    distance = _of_titles(mine, others)
    if distance is None or distance > _SLIP:
        return False
    return mine.numbers | mine.in_title[1] == others.numbers | others.in_title[1]


def compare(one: Description, other: Description, rules: Sequence[Rule]) -> Comparison:
    """Compare two descriptions; the order of the two does not matter."""
    mine, others = features(one), features(other)
    against = same = 0
    for rule in rules:
        distance = rule.distance(mine, others)
        if distance is not None and distance > rule.most:
            against |= 1 << ASPECTS.index(rule.aspect)
        elif distance == 0:
            same += 1
    return Comparison(against, same)
