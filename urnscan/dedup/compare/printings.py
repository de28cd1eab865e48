"""Printings of an edition: `1. Aufl., 2. korr. Nachdr.`, `1st ed., 3rd printing`, `April 1996`."""

from __future__ import annotations

from urnscan.dedup.compare.known_words import known_words
from urnscan.dedup.compare.parts import number_of

_REPRINT, _CORRECTED, _MONTH = "reprint", "corrected", "month "


def printing_of(edition: str) -> frozenset[str]:
    """Return the marks of a printing, which distinguish it from other printings of the edition: its numbers,
    `corrected` or `reprint`, and months, as in `month 4`. Empty for the first printing, and without a word about a
    printing, if no month is named. `edition`: the statement of the edition, normalized by `features.words` (lower case,
    no accents or punctuation).

    A later printing without a number, or with the number 1, is `corrected` (also a corrected reprint) or `reprint`.

    >>> [sorted(printing_of(text)) for text in ("1 aufl 2 korr nachdr", "1 ed minor corr", "1 aufl 1 druck")]
    [['2'], ['corrected'], []]
    """
    known = known_words()
    tokens = edition.split(" ")
    months = {f"{_MONTH}{known.months[word]}" for word in tokens if word in known.months}
    ended = max((at for at, word in enumerate(tokens) if word in known.editions), default=-1)
    rest = tokens[ended + 1 :]
    is_after = not (known.printings | known.reprints | known.corrections).isdisjoint(rest)
    if not is_after and (known.printings | known.reprints).isdisjoint(tokens):
        return frozenset(months)
    of_printing = rest if is_after else tokens
    numbers = {number for word in of_printing if (number := number_of(word))}
    if later := numbers - {"1"}:
        return frozenset(months | later)
    if not known.corrections.isdisjoint(of_printing):
        return frozenset(months | {_CORRECTED})
    is_later = not known.reprints.isdisjoint(of_printing) or not numbers
    return frozenset(months | {_REPRINT} if is_later else months)


def numbered_printing(printing: frozenset[str]) -> frozenset[str]:
    """Return the marks of a printing, as `printing_of` returns them, without months and the mark `reprint`: only its
    numbers and `corrected`.
    """
    return frozenset(value for value in printing if value != _REPRINT and not value.startswith(_MONTH))
