"""The words of `words.toml`, which show kind, edition and part in titles and statements."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from urnscan.records.fields import read_data

# Letters after an ordinal number: `3rd`, `2ème`.
ORDINAL = "(?:st|nd|rd|th|te[rn]?|er|re|i?e(?:me)?|[oaº]|ra|n?da|ta|ma|na|va)"
# A literal in a pattern, without letters after a backslash: \b.
_LITERAL = re.compile(r"(?<!\\)[a-z]{3,}|(?<=\\[a-z])[a-z]{3,}")


class Words(NamedTuple):
    """The content of `words.toml`. Patterns are slow, so most have hints: a text without any of these words cannot
    match.
    """

    parts: frozenset[str]
    """Words before or after the number of a part (`volume`, `Band`)."""
    numbers: Mapping[str, int]
    """Numbers by their words, except the cardinal words for 1."""
    ones: frozenset[str]
    """Cardinal words for 1, such as `one`, which may mean no number."""
    small: frozenset[str]
    """Small words, such as articles."""
    uncounted: frozenset[str]
    """Small words, and numbers."""
    linking: frozenset[str]
    """Small words that are left out of abbreviated titles of journals."""
    nobody: frozenset[str]
    """Words instead of the name of an unknown author."""
    editions: frozenset[str]
    """Words for an edition (`Auflage`)."""
    edition: re.Pattern[str]
    """An edition with its number in a title; `editions` are its words."""
    printings: frozenset[str]
    """Words of any printing (`Druck`)."""
    reprints: frozenset[str]
    """Words of a later printing: `Nachdruck`."""
    corrections: frozenset[str]
    """Words of a printing without mistakes: `korrigiert`."""
    months: Mapping[str, int]
    """Months by their words, from 1."""
    pages: frozenset[str]
    """Words for pages."""
    volumes: frozenset[str]
    """Words for volumes."""
    unnumbered: frozenset[str]
    """Words between a number and the word for pages."""
    unknown: re.Pattern[str]
    """Pattern of an unknown publisher."""
    additions: frozenset[str]
    """Words of `addition`."""
    addition: re.Pattern[str]
    """Pattern of what databases add to a title."""
    general: re.Pattern[str]
    """Pattern of a whole title that many texts have (`Editorial`)."""
    kinds: Mapping[str, re.Pattern[str]]
    """Pattern of each kind of work that is about another work, or made for another work: `reply`, `workbook`."""
    hints: Mapping[str, tuple[str, ...]]
    """Prefixes of words of each of `kinds`."""
    languages: Mapping[str, str]
    """Codes of languages, by the words for each language."""
    levels: Mapping[str, str]
    """Words before the number of a part -> the level: `volume`, `part`, `issue`."""
    extras: Mapping[str, str]
    """Words of additions to a part -> the kind: `supplement`, `index`."""
    opposites: frozenset[frozenset[str]]
    """Pairs of words that exclude each other."""
    prefixes: frozenset[frozenset[str]]
    """Pairs of prefixes that make words which exclude each other; a prefix may be empty."""


@functools.cache
def known_words() -> Words:
    """Return the content of `words.toml`; the file is read once."""
    data: Mapping[str, Any] = read_data("words.toml")
    ones = frozenset(data["cardinals"][0].split())
    numbers = {
        word: at
        for name in ("cardinals", "ordinals")
        for at, spellings in enumerate(data[name], 1)
        for word in spellings.split()
        if word not in ones
    }
    editions = data["editions"].split()
    additions, kinds = "|".join(data["added"]), data["kinds"]
    return Words(
        parts=frozenset([*data["parts"].split(), *_by_word(data["levels"])]),
        numbers=numbers,
        ones=ones,
        small=frozenset(data["small"].split()),
        linking=frozenset(data["linking"].split()),
        nobody=frozenset(data["nobody"].split()),
        uncounted=frozenset([*data["small"].split(), *numbers, *ones]),
        editions=frozenset(editions),
        edition=re.compile(
            rf"\b([0-9]{{1,3}}{ORDINAL}?|{'|'.join(numbers)})(?: [^\W\d]+){{0,2}}? (?:{'|'.join(editions)})\b"
        ),
        printings=frozenset(data["printings"].split()),
        reprints=frozenset(data["reprints"].split()),
        corrections=frozenset(data["corrections"].split()),
        months={word: at for at, spellings in enumerate(data["months"], 1) for word in spellings.split()},
        pages=frozenset(data["pages"].split()),
        volumes=frozenset(data["volumes"].split()),
        unnumbered=frozenset(data["unnumbered"].split()),
        unknown=re.compile(data["unknown"]),
        additions=frozenset(_LITERAL.findall(additions)),
        addition=re.compile(additions),
        general=re.compile("".join(data["general"].split("\n"))),
        kinds={name: re.compile(pattern) for name, pattern in kinds.items()},
        hints={name: tuple({*_LITERAL.findall(pattern)}) for name, pattern in kinds.items()},
        languages=_by_word(data["languages"]),
        levels=_by_word(data["levels"]),
        extras=_by_word(data["extras"]),
        opposites=frozenset(
            frozenset((word, other))
            for pair in data["opposites"]
            for words, others in [pair.split(" - ")]
            for word in words.split()
            for other in others.split()
        ),
        prefixes=frozenset(frozenset(pair.split(" - ")) for pair in data["prefixes"]),
    )


def _by_word(spellings: Mapping[str, str]) -> Mapping[str, str]:
    """Word -> the name of the list that contains the word."""
    return {word: name for name, words in spellings.items() for word in words.split()}
