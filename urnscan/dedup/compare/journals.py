"""Titles of journals and proceedings, in full and abbreviated: `J Clin Oncol` is `Journal of Clinical Oncology`."""

from __future__ import annotations

import functools
import itertools
import re

from urnscan.dedup.compare.features import words
from urnscan.dedup.compare.known_words import known_words

# BMJ (Online), Lancet = The Lancet
_ADDITION = re.compile(r"(?<!\s)\s*+[(\[=/].*|\s[:;-]\s.*", re.DOTALL)
# Letters of an acronym.
_ACRONYM = range(3, 7)


@functools.lru_cache(maxsize=1 << 14)
def are_one_journal(one: str, other: str) -> bool:
    """Whether two titles may be of the same journal: word by word, both words are equal, or a word abbreviates the
    other; or a title is an acronym of the other (`BMJ`), or both have the same letters. Small words such as `of`, and
    what follows a bracket or ` : `, may be missing. Case, accents and punctuation do not count. False for a title
    without other words.

    >>> are_one_journal("J Clin Oncol", "Journal of Clinical Oncology"), are_one_journal("Br J Surg", "Am J Surg")
    (True, False)
    """
    return any(_are_alike(mine, others) for mine, others in itertools.product(_forms(one), _forms(other)))


def _forms(title: str) -> dict[tuple[str, ...], None]:
    """The forms of a title, with and without additions (such as one after `=`), as words without small words; keys of a
    dict, to keep their order.
    """
    forms = (tuple(_counted(words(text))) for text in (title, _ADDITION.sub("", title)))
    return dict.fromkeys(form for form in forms if form)


def _counted(text: str) -> list[str]:
    known = known_words()
    return [word for word in text.split() if word not in known.small and word not in known.linking]


def _are_alike(mine: tuple[str, ...], others: tuple[str, ...]) -> bool:
    if "".join(mine) == "".join(others):
        return True
    if len(mine) == len(others):
        return all(map(_is_abbreviation, *sorted((mine, others), key=lambda form: sum(map(len, form)))))
    shorter, longer = sorted((mine, others), key=len)
    initials = "".join(word[0] for word in longer)
    return len(shorter) == 1 and len(shorter[0]) in _ACRONYM and initials.startswith(shorter[0])


def _is_abbreviation(one: str, other: str) -> bool:
    """Whether the shorter word is the start of the other, or has its first letter and some others in order (`natl`,
    `national`).
    """
    shorter, longer = sorted((one, other), key=len)
    if longer.startswith(shorter):
        return True
    letters = iter(longer)
    return len(shorter) > 1 and shorter[0] == longer[0] and all(letter in letters for letter in shorter)
