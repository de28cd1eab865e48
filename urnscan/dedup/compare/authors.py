"""Names of authors: the part that is the family name, and two spellings of a name."""

from __future__ import annotations

from rapidfuzz import fuzz

# Letters of a name that is the start of another name: Li is not Lina.
_LEAST_OF_NAME = 3
# Similarity, to 100, of two spellings of a family name.
_ONE_NAME = 85
# Maximum number of letters in the initials of an author.
_INITIALS = 3


def family_part(author: str) -> str:
    """Return the family name of the first author; empty if there is no name. ` and ` separates several authors.

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


def may_be_one_name(one: str, other: str) -> bool:
    """Return whether two words, in lower case without accents, may be the same family name: small differences of
    spelling do not count, and one word may be the first letters, at least three, of the other.
    """
    shorter, longer = sorted((one, other), key=len)
    is_beginning = len(shorter) >= _LEAST_OF_NAME and longer.startswith(shorter)
    return one == other or is_beginning or fuzz.ratio(one, other) >= _ONE_NAME
