"""Words that only one of two titles has, and opposite words: whether `Katalog` and `catalogue` are spellings of a word."""

from __future__ import annotations

import functools
import re
from collections.abc import Container, Iterable, Sequence

from rapidfuzz import fuzz, process

from urnscan.dedup.compare.known_words import known_words

_SHORT = 2  # letters of a word that is too short to compare
_STEM = 4  # least letters after a prefix
_STEM_OF_ENDING = 3  # least letters before an ending
_SPELLINGS = frozenset(["ck", "ij", "iy", "sz", "vw", "fv", "gj", "ae e", "oe e", "ph f", "ps s", "es s"])
"""Letters that begin two spellings of a word: a pair of letters (`ck`: k, c), or two letters for another (`ph f`)."""
_ALIKE = 65  # similarity, to 100, of two spellings of a word
_LAST_OF_START = 1  # letters that one spelling may have before the other: hellenic, ellenic
_HAN = re.compile("[\u4e00-\u9fff]")  # a character that is a word or a part of one


def alone(one: str, other: str) -> int:
    """Return the number of words in the title `one` that the title `other` lacks. Words of at most two letters, small
    words (`the`) and numbers do not count; number words (`third`) count if `other` has no number. Both titles must be
    normalized by `features.words` (lower case, no accents or punctuation).

    A title does not lack a word if it has another spelling of the word (`Katalog`, `catalogue`), its start, or a word
    that starts with it. A word that both titles have is not compared again: in `Maps of lamps` and `Text of lamps`,
    `Maps` is not `lamps`.
    """
    if one == other:
        return 0
    known = known_words()
    mine = set(one.split())
    others = [word for word in other.split() if word not in mine]
    beginnings = tuple(word for word in others if len(word) > _SHORT)
    # `erster` and `2` are compared as numbers; but `Osma`, which is a number in some languages, is not `Roma`.
    has_number = any(word[0].isdecimal() or word in known.numbers for word in other.split())
    return sum(
        len(word) > _SHORT
        and not word.isdigit()
        and word not in known.small
        and word not in known.ones
        and not (has_number and word in known.numbers)
        and not _is_within(word, others, one.replace(" ", ""))
        and not word.startswith(beginnings)
        and not any(
            _begin_alike(word, spelling)
            for spelling, *_ in process.extract(word, others, scorer=fuzz.ratio, score_cutoff=_ALIKE)
        )
        for word in mine.difference(other.split())
    )


def alone_in_each(one: str, other: str) -> int:
    """Return the smaller number of words that one of two titles has alone (`alone`): 0 if one has all of the other."""
    return min(alone(one, other), alone(other, one))


def _is_within(word: str, others: Sequence[str], letters: str) -> bool:
    """Whether a word is at the start of one of `others` (a letter may be before it) or, if none contains it, in their
    joined letters. `Geschichte` is within `Kunstgeschichte` only if its own title, the text `letters`, has `Kunst
    Geschichte`.
    """
    around = [other for other in others if word in other and other not in letters]
    return any(other.find(word) <= _LAST_OF_START for other in around) if around else word in "".join(others)


def _begin_alike(one: str, other: str) -> bool:
    """Whether two words, not empty, begin with the same letter, or with letters that alternate (`Katalog`,
    `catalogue`); not if one is the other with a prefix (`aerobic`, `anaerobic`).
    """
    shorter, longer = sorted((one, other), key=len)
    if longer.endswith(shorter) and len(longer) - len(shorter) > _LAST_OF_START:
        return False
    return one[0] == other[0] or _has_other_start(one, other)


def _has_other_start(one: str, other: str) -> bool:
    """Whether two words begin with different letters that alternate in spellings: `aesthetic`, `esthetic`."""
    starts = {f"{one[:2]} {other[0]}", f"{other[:2]} {one[0]}", f"{min(one[0], other[0])}{max(one[0], other[0])}"}
    return not _SPELLINGS.isdisjoint(starts)


def have_opposites(one: str, other: str) -> bool:
    """Whether one title has a word whose opposite the other has (`Eastern`, `Western`). A word in both titles does not
    count, nor a pair of opposites of which each title has both. Both titles must be normalized by `features.words`
    (lower case, no accents or punctuation).
    """
    if one == other:
        return False
    tokens, other_tokens = one.split(), other.split()
    mine, others = _units(tokens, other_tokens), _units(other_tokens, tokens)
    return any(
        # One title may have a hyphen: post-war, postwar.
        _are_opposite(a, b)
        and (a not in other.replace(" ", "") if len(a) > len(b) else b not in one.replace(" ", ""))
        # Both may have both: employers and employees, employer and employee.
        and not (_has_opposite(a, mine) and _has_opposite(b, others))
        for a in mine - others
        for b in others - mine
    )


def _has_opposite(word: str, title: Iterable[str]) -> bool:
    return any(_are_opposite(word, other) for other in title)


def _units(title: Sequence[str], other: Sequence[str]) -> set[str]:
    """The words of a title; of words with Chinese characters, only these characters. A prefix joins the word after it
    (`non linear` -> `nonlinear`), unless `other` has it as a word.
    """
    added = known_words().added_prefixes.difference(other)
    units: set[str] = set()
    prefix = ""
    for word in title:
        if word in added:
            prefix += word
        else:
            units.update(_HAN.findall(word) or [prefix + word])
            prefix = ""
    return units | {prefix} if prefix else units


@functools.lru_cache(maxsize=1 << 14)
def _are_opposite(one: str, other: str) -> bool:
    known = known_words()
    if frozenset((one, other)) in known.opposites:
        return True
    if _begin_with(one, other, known.prefixes, _STEM):
        return not _has_other_start(one, other)
    # Letters in reverse order: the prefixes are the endings.
    return _begin_with(one[::-1], other[::-1], known.endings, _STEM_OF_ENDING)


def _begin_with(one: str, other: str, pairs: Container[frozenset[str]], least: int) -> bool:
    """Whether two words begin with one of the pairs of prefixes, and have the same rest, of at least `least` letters."""
    if one[-least:] != other[-least:]:
        return False
    same = least
    while same < min(len(one), len(other)) and one[-1 - same] == other[-1 - same]:
        same += 1
    return any(frozenset((one[: len(one) - at], other[: len(other) - at])) in pairs for at in range(least, same + 1))
