"""First authors of two records: whether they differ, and whether titles that many works have are of one work."""

from __future__ import annotations

from urnscan.dedup.compare.authors import is_named
from urnscan.dedup.compare.features import Features, closest_titles, words
from urnscan.dedup.compare.known_words import known_words
from urnscan.dedup.compare.title_words import alone_in_each

# Words of a title that several authors choose independently of each other, without small words: `Collected poems`.
_FEW_WORDS = 2


def of_general_titles(one: Features, other: Features) -> float | None:
    """1 if two works with a general title (`Editorial`) have authors without a common word, 0 if a word is the same or
    the start of the other; None for other titles, or without both authors.
    """
    titles = closest_titles(one, other) if one.author and other.author else None
    if titles is None or not known_words().general.fullmatch(titles.one):
        return None
    return float(
        not any(mine.startswith(others) or others.startswith(mine) for mine in one.author for others in other.author)
    )


def of_short_titles(one: Features, other: Features) -> float | None:
    """1 if no first author of one of two works with a title of one or two words is named in the other record, 0 if one
    is; None for other titles, for works with the same year and publisher, and for names that are missing or not in
    Latin letters.
    """
    has_other_year = bool(one.years and other.years) and one.years.isdisjoint(other.years)
    if not (has_other_year or alone_in_each(one.publisher, other.publisher)):
        return None
    known = known_words()
    # Initials alone are no name: `K., J.`
    families = [{name for name in record.family - known.nobody if len(name) > 1} for record in (one, other)]
    titles = closest_titles(one, other) if all(families) else None
    # A name in another script is another word.
    if titles is None or not all(text.isascii() for text in (titles.one, *families[0], *families[1])):
        return None
    if sum(len(word) > 2 and word not in known.small for word in titles.one.split()) > _FEW_WORDS:
        return None
    named = ({*words(record.named).split()} for record in (other, one))
    return float(not any(is_named(*pair, in_any_language=True) for pair in zip(families, named, strict=True)))


def other_authors(one: Features, other: Features) -> float | None:
    """1.0 if the first authors differ, otherwise 0.0; None if a record names no author, not even `anonymous`. They
    differ if no word of either family name is in the whole name of the other author: `Paul, Jean` and `Jean Paul` are
    the same. Small differences of spelling, and words cut after three letters or more, do not count.
    """
    if not one.family or not other.family:
        return None
    return float(
        not (is_named(one.family, other.author | other.family) or is_named(other.family, one.author | one.family))
    )
