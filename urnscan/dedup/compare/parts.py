"""Numbers of parts and volumes, and numbers in titles, in their order: `Vol. 2, pt. 1` is not `Vol. 2, pt. 2`."""

# ruff: noqa: RUF001 - characters of East Asia that look like Latin ones

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from urnscan.dedup.compare.known_words import ORDINAL, known_words

_NUMBER = re.compile(rf"([0-9]{{1,9}})({ORDINAL})?\Z")
_ROMAN = re.compile(r"(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})\Z")
_ROMAN_AND_LETTER = re.compile(r"(?:x{0,3})(?:ix|iv|vi{1,3}|i{2,3})[a-d]\Z")
_PIECES = re.compile(r"[0-9]+|[^\W\d_]+")
_MARK = re.compile("[a-zα-ωа-я]{1,4}[0-9]{1,3}(?:[a-z]{1,2}[0-9]{0,2})?|[0-9]{1,3}[a-zα-ωа-я]")
# Letters that look like a digit (`C02`), or, as capitals, like a Latin letter: Cyrillic and Greek.
_LOOKALIKE = str.maketrans("oоοliіιавекмнрстухαβεηκμνρτυχ", "0001111abekmhpctyxabehkmnptyx")
_SUPPLEMENT = re.compile("s[0-9]{1,2}")  # 60 S1
_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
# Above this value, Roman numbers are read only in the number of a part: `l` and `xl` may be words of a title.
_LAST_ROMAN_IN_TITLE = 39
# Letters that an apostrophe leaves: ink's, l'encre, d'ink.
_ELIDED = frozenset("sld")
_COUNTED = "冊册巻卷集期号號部編编輯辑篇回권집호부편책"
_HAN_NUMBER = "[〇零一二三四五六七八九十百0-9]"
_HAN = re.compile(
    rf"(?<!{_HAN_NUMBER})({_HAN_NUMBER}++)分?[{_COUNTED}]|([上中下상중하])[{_COUNTED}]"
    rf"|(?:(?<!{_HAN_NUMBER})[{_COUNTED}]|その|之)(?:({_HAN_NUMBER}++)|([上中下]))\Z"
)
"""In East Asia: a number before or after the word for a volume, or `first`, `middle` or `last` there."""
_HAN_EDITION = re.compile(rf"第?(?<!{_HAN_NUMBER})({_HAN_NUMBER}++)(?:版|판)|([初초])[版판]|제([0-9]++)판")
_HAN_DIGITS = {digit: value for value, digit in enumerate("〇一二三四五六七八九")} | {"零": 0}
_TEN, _HUNDRED = "十", "百"
# A volume may be numbered by its year, or by a number.
_YEARS = range(1400, 2101)


class Part(NamedTuple):
    """The number of a part or volume in a record, mostly of several levels: volume 2, part 1 in `Vol. 2, pt. 1`."""

    designations: tuple[tuple[str, str], ...] = ()
    """Pairs of level (`volume`, `part`, `issue`; empty if not named) and number (in digits, also for `ii` and `second`)
    or letter, in the order of the text: volume 2, part 1 is `("volume", "2"), ("part", "1")`.
    """
    extras: frozenset[str] = frozenset()
    """Kinds of additions to a volume: `supplement`, `index`."""

    @property
    def is_extra(self) -> bool:
        """Whether the part is a supplement or an index with at most one number: `Suppl. 1`, `Index`."""
        return bool(self.extras) and len(self.designations) <= 1

    def values(self, *, are_years: bool) -> tuple[str, ...]:
        """Return the numbers that may be years (1400 to 2100), or, without `are_years`, the other numbers and letters;
        in the order of the text.
        """
        return tuple(value for _, value in self.designations if _is_year(value) == are_years)


NO_PART = Part()
"""The part of a record that names no part."""


@functools.lru_cache(maxsize=1 << 12)
def part_of(words: str) -> Part:
    """Return the part in the statement of a part, where every number, letter and word for a supplement counts: `vol 2
    pt 1`, `2 band 1 teil`, `12a`, `index`. NO_PART if there is none. `words`: the statement, normalized by
    `features.words` (lower case, no accents or punctuation).
    """
    known = known_words()
    tokens = words.split(" ")
    designations = []
    used = -1
    for at, word in enumerate(tokens):
        after = tokens[at + 1] if at + 1 < len(tokens) else ""
        for value in _values(word, after):
            level = ""
            if at and at - 1 != used and tokens[at - 1] in known.parts:
                level = known.levels.get(tokens[at - 1], "")
            elif after in known.parts and _follows(tokens, at + 1):
                level, used = known.levels.get(after, ""), at + 1
            designations.append((level, value))
    extras = {known.extras[word] for word in tokens if word in known.extras}
    if any(map(_SUPPLEMENT.fullmatch, tokens)):
        extras.add("supplement")
    return Part((*designations,), frozenset(extras))


def _follows(tokens: Sequence[str], at: int) -> bool:
    """Whether the word for a part at index `at` belongs to the number before it, as in `2 Band 1 Teil`, and not to the
    number after it.
    """
    rest = tokens[at + 1 : at + 3]
    return not rest or not any(_values(rest[0], "")) or rest[-1] in known_words().parts


def _values(word: str, after: str) -> Iterator[str]:
    """The numbers, in digits, and letters of a part in a word. `after`: the next word, or empty. Both are in lower case
    without accents.
    """
    known = known_words()
    number = _NUMBER.match(word)
    if number and (len(number[2] or "") != 1 or after in known.parts):
        yield str(int(number[1]))
    elif found := _HAN.findall(word):
        yield from _han_values(found)
    elif word.isdecimal():
        yield str(int(word))
    elif len(word) == 1 and word.isalpha():
        yield number_of(word) or word
    elif any(map(str.isdigit, word)) or _ROMAN_AND_LETTER.match(word):
        # `12a`, `f1`, `iia`: a designation with letters.
        yield word
    elif value := number_of(word) or _roman_number(word):
        yield value
    elif word in known.ones:
        yield "1"


def differ(one: Part, other: Part) -> float | None:
    """Compare the numbers of two parts: 1.0 if they conflict, 0.0 if they agree, None if no numbers can be compared.

    Numbers of a level (`volume`, `part`) that both parts name must be the same as far as both go: volume 2 agrees with
    volume 2, part 1, and not with volume 3. If the parts name different levels, or a number has none, all numbers of
    one must be among those of the other, in the same order. So must years (1400 to 2100), which are compared
    separately, in any order, and only if both parts have one.
    """
    if not (one.designations and other.designations):
        return None
    levels = _by_level(one), _by_level(other)
    shared = levels[0].keys() & levels[1].keys() - {""}
    if any(a != b for level in shared for a, b in zip(levels[0][level], levels[1][level], strict=False)):
        return 1
    mine, others = one.values(are_years=False), other.values(are_years=False)
    years, other_years = set(one.values(are_years=True)), set(other.values(are_years=True))
    is_other = bool(years and other_years) and not (years <= other_years or other_years <= years)
    if levels[0].keys() != levels[1].keys() or "" in levels[0]:
        is_other |= bool(mine and others) and not is_sequence_among(mine, others)
    has_any = bool(mine and others) or bool(years and other_years)
    return float(is_other) if has_any else None


def _by_level(part: Part) -> dict[str, list[str]]:
    levels: dict[str, list[str]] = {}
    for level, value in part.designations:
        levels.setdefault(level, []).append(value)
    return levels


def is_sequence_among(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether all values of the shorter sequence are in the longer, in the same order; others may be between. True if a
    sequence is empty.
    """
    shorter, longer = sorted((one, other), key=len)
    rest = iter(longer)
    return all(value in rest for value in shorter)


def _is_year(value: str) -> bool:
    return value.isdigit() and int(value) in _YEARS


@functools.lru_cache(maxsize=1 << 14)
def number_of(word: str) -> str | None:
    """Return the number that a word means, in digits without leading zeros: `3` for `3rd`, `third`, `three`, `iii`.

    Known words, in several languages: cardinals from 2 to 12, and ordinals up to 20. None for another word, for the
    cardinal words for 1, such as `one`, for Roman numbers above 39, and for more than nine digits. `word` must be in
    lower case (`III` -> None), without accents, as `features.words` makes it.
    """
    if number := _NUMBER.match(word):
        return str(int(number[1]))
    if word in known_words().numbers:
        return str(known_words().numbers[word])
    value = _roman_number(word)
    return value if value and int(value) <= _LAST_ROMAN_IN_TITLE else None


def numbers_in(title: str) -> tuple[str, ...]:
    """Return the numbers among the words of a title, in order and in digits, also Roman numbers and number words; and
    single letters, except at the start. `s`, `l`, `d` and `one` count only at the end, after a word such as `part`, or
    before one such as `minor`. A sign belongs to its letter: `c sharp` is not `c`.

    `level 3` -> `("3",)`, `faust ii` -> `("2",)`, `part b` -> `("b",)`, `a history` -> `()`. `title` must be normalized
    by `features.words` (lower case, no accents or punctuation).
    """
    designations: list[str] = []
    known = known_words()
    tokens = title.split(" ")
    for at, word in enumerate(tokens):
        is_short = len(word) == 1 and word.isalpha()
        after_part = at > 0 and tokens[at - 1] in known.parts
        if after_part and not is_short and word not in known.ones:
            # `2A` is `2 A`.
            designations += (piece for value in _values(word, "") for piece in _PIECES.findall(value))
        elif not is_short and (number := number_of(word)):
            designations.append(number)
        elif found := _HAN.findall(word):
            designations += _han_values(found)
        elif word.isdecimal():
            designations.append(str(int(word)))
        elif (is_short or word in known.ones) and len(tokens) > 1:
            after = tokens[at + 1] if at + 1 < len(tokens) else ""
            # `A sharp rise` begins with an article.
            sign = after if is_short and after in known.signs and (at or word != "a") else ""
            is_marked = not after or after_part or bool(sign) or after in known.keys
            if is_marked or (is_short and at > 0 and word.isascii() and word not in _ELIDED):
                designations.append((number_of(word) or ("1" if word in known.ones else word)) + sign)
    return (*designations,)


def have_other_marks(one: str, other: str) -> bool:
    """Whether each of two titles has a mark that the other lacks. A mark is a word of a few letters and a few digits:
    `menschen a1`, `menschen a2`. These are the same mark: with spaces (`b 12`), with letters that look like digits
    (`c02`, `co2`), with other letters after the first (`b2`, `beta2`), or another word for the level of a part (`bd1`,
    `vol1`). The titles are in the form of `features.words`.
    """
    mine, others = _marks(one), _marks(other)
    return not (mine[0] <= others[1] or others[0] <= mine[1])


@functools.lru_cache(maxsize=1 << 12)
def _marks(title: str) -> tuple[frozenset[tuple[str, str]], frozenset[tuple[str, str]]]:
    """The marks (`co2`) in a title, and all that may be the same in another spelling, as first letter and digits."""
    tokens = title.split(" ")
    marks = {_mark(word) for word in tokens if _MARK.fullmatch(word) and not number_of(word)}
    runs = ("".join(tokens[at : at + count]) for at in range(len(tokens)) for count in (1, 2, 3))
    return frozenset(marks), frozenset(map(_mark, runs)) if marks else frozenset()


def _mark(word: str) -> tuple[str, str]:
    """First letter and digits of a mark; for a word for a part, as in `vol1`, its level instead of the letter."""
    before = word.rstrip("0123456789")
    if level := known_words().levels.get(before):
        return level, word.removeprefix(before)
    letters = word.translate(_LOOKALIKE)
    return next(filter(str.isalpha, letters), ""), "".join(filter(str.isdigit, letters))


def names_part(title: str) -> bool:
    """Whether a title has the number of a part (`part ii`, `2 teil`), or begins with a Roman number (`ii`). `title`
    must be normalized by `features.words` (lower case, no accents or punctuation).
    """
    known = known_words()
    tokens = title.split(" ")
    pairs = itertools.pairwise([*tokens, ""])
    has_part = any(
        (one in known.parts and bool([*_values(other, "")])) or (other in known.parts and bool([*_values(one, other)]))
        for one, other in pairs
    )
    return has_part or bool(_roman_number(tokens[0]))


def _roman_number(word: str) -> str | None:
    """The value, in digits, of a Roman number up to 99 in lower case; None for another word."""
    if not (word and _ROMAN.match(word)):
        return None
    values = [_VALUES[letter] for letter in word]
    return str(sum(-value if value < max(values[at:]) else value for at, value in enumerate(values)))


def _han_values(found: Iterable[Sequence[str]]) -> Iterator[str]:
    """The numbers in a result of `_HAN.findall`, in digits; words for first, middle and last, such as `上`, unchanged."""
    for before, place, after, last_place in found:
        digits = before or after
        yield str(_han(digits)) if digits else place or last_place


def edition_in_han(word: str) -> str | None:
    """Return the number, in digits, of the edition that a word of East Asia names, alone or with other characters:
    `第二版`, `제2판`, `修訂第二版`, `初版` (1); None for another word.
    """
    match = _HAN_EDITION.search(word)
    return str(_han(match[1] or match[3] or "1")) if match else None


def _han(digits: str) -> int:
    """The value of a number in Chinese characters or in digits."""
    total = unit = 0
    for digit in digits:
        if digit in (_TEN, _HUNDRED):
            total += (unit or 1) * (10 if digit == _TEN else 100)
            unit = 0
        else:
            unit = unit * 10 + (int(digit) if digit.isdigit() and digit.isascii() else _HAN_DIGITS[digit])
    return total + unit
