"""The words of `words.toml`, which show kind, edition and part in titles and statements."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from urnscan.records.fields import read_data

ORDINAL = "(?:st|n?d|r?d|th|de|te[rn]?|er|re|i?e(?:me)?|[oaº]|ra|n?da|ta|ma|na|va)"
"""Pattern of the letters after an ordinal number: `3rd`, `2ème`."""
# A literal in a pattern, without letters after a backslash: \b.
_LITERAL = re.compile(r"(?<!\\)[^\W\d_]{3,}|(?<=\\[a-z])[^\W\d_]{3,}")
# A pattern of a whole title that begins with two letters: ^re(?:garding)?$.
_TWO_LETTERS = re.compile(r"\^([a-z]{2})(?=\()")
# Letters of a prefix that may be a word of its own: `non`, but not `in`.
_MIN_OF_PREFIX = 3


class Words(NamedTuple):
    """The content of `words.toml`: words by which titles and statements are read, all in the form of `features.words`
    (lower case, no accents). Patterns are slow, so most have hints: a text without any of these words cannot match.
    """

    parts: frozenset[str]
    """Words before or after the number of a part (`volume`, `Band`)."""
    numbers: Mapping[str, int]
    """Number word -> number: `third` -> 3, `zwei` -> 2; without the cardinal words for 1."""
    ones: frozenset[str]
    """Cardinal words for 1, such as `one`, which may mean no number."""
    small: frozenset[str]
    """Small words, such as articles."""
    linking: frozenset[str]
    """Small words that are left out of abbreviated titles of journals."""
    signs: frozenset[str]
    """Words that belong to the letter before them (`C sharp`)."""
    keys: frozenset[str]
    """Words that show that the letter before them is one of music (`D minor`)."""
    nobody: frozenset[str]
    """Words that a record has instead of the name of an unknown author (`anonymous`)."""
    editions: frozenset[str]
    """Words for an edition (`Auflage`)."""
    edition: re.Pattern[str]
    """Pattern of an edition with its number in a title (`3rd revised edition`); `editions` are its hints."""
    printings: frozenset[str]
    """Words of any printing (`Druck`)."""
    reprints: frozenset[str]
    """Words of a later printing: `Nachdruck`."""
    corrections: frozenset[str]
    """Words of a printing with corrected mistakes: `korrigiert`."""
    months: Mapping[str, int]
    """Name or abbreviation of a month -> number, from 1."""
    pages: frozenset[str]
    """Words for pages."""
    volumes: re.Pattern[str]
    """Pattern of the number of volumes, as published and as bound: `3 v in 4`."""
    pieces: frozenset[str]
    """Words for discs, cassettes and reels: the hints of `count_of_pieces`."""
    count_of_pieces: re.Pattern[str]
    """Pattern of the number of discs, cassettes or reels, with up to two words between: `2 sound discs`."""
    unnumbered: frozenset[str]
    """Words that may be between a number and the word for pages (`230 unnumbered pages`)."""
    unknown: re.Pattern[str]
    """Pattern of a statement that the publisher is unknown (`s n`)."""
    additions: frozenset[str]
    """Hints of `addition`: words, one of which is in each text that it matches."""
    addition: re.Pattern[str]
    """Pattern of what databases add to a title (`electronic resource`)."""
    general: re.Pattern[str]
    """Pattern of a whole title that many texts have (`editorial`)."""
    kinds: Mapping[str, re.Pattern[str]]
    """Name of a kind of work that is about another work, or made for another work (`reply`, `workbook`) -> pattern of
    titles and editions of that kind.
    """
    hints: Mapping[str, tuple[str, ...]]
    """Name of each of `kinds` -> prefixes of words, one of which is in each text that its pattern matches."""
    languages: Mapping[str, str]
    """Name or code of a language -> code of three letters: `german`, `de`, `ger` -> `deu`."""
    levels: Mapping[str, str]
    """Word before or after the number of a part -> the level: `volume`, `part`, `issue`."""
    extras: Mapping[str, str]
    """Word for an addition to a volume -> its kind: `supplement`, `index`."""
    opposites: frozenset[frozenset[str]]
    """Pairs of words that exclude each other (`east`, `west`)."""
    prefixes: frozenset[frozenset[str]]
    """Pairs of prefixes that make words which exclude each other (`pre`, `post`); a prefix may be empty: `organic`,
    `inorganic`.
    """
    endings: frozenset[frozenset[str]]
    """Pairs of ends, with their letters in reverse order, that make words which exclude each other: `eti`, `eta` of
    `nitrite`, `nitrate`.
    """
    added_prefixes: frozenset[str]
    """Prefixes that make the opposite of the word after them, also as a word of their own: `nonlinear`, `non-linear`
    and `non linear` exclude `linear`.
    """


@functools.cache
def known_words() -> Words:
    """Return the content of `words.toml`, read only once: all calls return the same object."""
    data: Mapping[str, Any] = read_data("words.toml")
    ones = frozenset(data["cardinals"][0].split())
    numbers = {
        word: at
        for name in ("cardinals", "ordinals")
        for at, spellings in enumerate(data[name], 1)
        for word in spellings.split()
        if word not in ones
    }
    # Lists of words that are used as they are.
    names = "small linking signs keys nobody editions printings reprints corrections pages pieces unnumbered".split()
    lists: Mapping[str, Any] = {name: frozenset(data[name].split()) for name in names}
    prefixes = frozenset(frozenset(pair.split(" - ")) for pair in data["prefixes"])
    additions, kinds = "|".join(data["added"]), data["kinds"]
    return Words(
        **lists,
        parts=frozenset([*data["parts"].split(), *_by_word(data["levels"])]),
        numbers=numbers,
        ones=ones,
        edition=re.compile(
            rf"\b([0-9]{{1,3}}{ORDINAL}?|{'|'.join(numbers)})(?: [^\W\d]+){{0,2}}? (?:{'|'.join(data['editions'].split())})\b"
        ),
        months={word: at for at, spellings in enumerate(data["months"], 1) for word in spellings.split()},
        volumes=re.compile(
            rf"\b([0-9]{{1,4}}) (?:{'|'.join(data['volumes'].split())})\b(?: (?:in|en) ([0-9]{{1,4}})\b)?"
        ),
        count_of_pieces=re.compile(rf"\b([0-9]{{1,4}}) (?:[^\W\d]+ ){{0,2}}?(?:{'|'.join(data['pieces'].split())})\b"),
        unknown=re.compile(data["unknown"]),
        additions=frozenset(_LITERAL.findall(additions)),
        addition=re.compile(additions),
        general=re.compile("".join(data["general"].split("\n"))),
        kinds={name: re.compile(pattern) for name, pattern in kinds.items()},
        hints={
            name: tuple({*_LITERAL.findall(pattern), *_TWO_LETTERS.findall(pattern)}) for name, pattern in kinds.items()
        },
        languages=_by_word(data["languages"]),
        levels=_by_word(data["levels"]),
        extras=_by_word(data["extras"]),
        opposites=frozenset(
            frozenset((word, other))
            for groups in data["opposites"]
            for words, others in itertools.combinations(groups.split(" - "), 2)
            for word in words.split()
            for other in others.split()
        ),
        prefixes=prefixes,
        endings=frozenset(
            frozenset(ending[::-1] for ending in pair)
            for endings in data["endings"]
            for pair in itertools.combinations(endings.split(" - "), 2)
        ),
        added_prefixes=frozenset(
            prefix for pair in prefixes if "" in pair for prefix in pair if len(prefix) >= _MIN_OF_PREFIX
        ),
    )


def _by_word(spellings: Mapping[str, str]) -> Mapping[str, str]:
    return {word: name for name, words in spellings.items() for word in words.split()}
