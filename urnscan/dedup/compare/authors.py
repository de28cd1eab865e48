"""Names of authors: the part that is the family name."""

from __future__ import annotations

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
