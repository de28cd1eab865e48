"""Names of authors: the part that is the family name, and two spellings of a name."""

from __future__ import annotations

import itertools
from collections.abc import Set as AbstractSet

from rapidfuzz import fuzz

# Letters of a name that is the start of another name: Li is not Lina.
_MIN_OF_NAME = 3
# Similarity, to 100, of two spellings of a family name.
_ONE_NAME = 85
# The same for names in several languages: Chekhov, Tschechow; Horace, Horatius.
_IN_ANY_LANGUAGE = 55
# Maximum number of letters in the initials of an author.
_INITIALS = 3


def family_part(author: str) -> str:
    """Return the family name of the first author, as it is written; empty if there is no name. ` and ` separates
    several authors.

    >>> [family_part(author) for author in ("Paul, Jean", "Jean Paul", "Paul JF", "Jean Paul and Sophie Mereau")]
    ['Paul', 'Paul', 'Paul', 'Paul']
    """
    first = author.partition(" and ")[0]
    family, comma, _ = first.partition(",")
    if comma:
        return family
    names = family.split()
    while len(names) > 1 and len(names[-1].strip(".")) <= _INITIALS and names[-1].isupper():
        names.pop()
    return names[-1] if names else ""


def is_named(family: AbstractSet[str], names: AbstractSet[str], *, in_any_language: bool = False) -> bool:
    """Return whether one of the words of a family name may be one of `names`: small differences of spelling do not
    count, and one word may be the first letters, at least three, of the other. All are in the form of `features.words`.

    `in_any_language`: greater differences do not count either, such as Chekhov and Tschechow.
    """
    least = _IN_ANY_LANGUAGE if in_any_language else _ONE_NAME
    return not family.isdisjoint(names) or any(
        _may_be_one_name(one, other, least) for one, other in itertools.product(family, names)
    )


def _may_be_one_name(one: str, other: str, least: float) -> bool:
    shorter, longer = sorted((one, other), key=len)
    is_beginning = len(shorter) >= _MIN_OF_NAME and longer.startswith(shorter)
    return is_beginning or fuzz.ratio(one, other) >= least
