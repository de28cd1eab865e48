"""Whether the descriptions of two records conflict, that is, describe different works: a table of rules, and how values
are compared.

An identifier may be wrong: a publisher uses an ISBN again for the next edition, a supplement has one DOI for all its
abstracts. So records are joined only if their descriptions do not conflict. A value that a record does not have, or
that cannot be compared, mostly does not conflict; but a record without an edition may conflict with a later edition or
printing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rapidfuzz import fuzz

from urnscan.dedup.compare.features import DIGITS, Features, Title, closest_titles, features
from urnscan.dedup.compare.first_authors import of_general_titles, of_short_titles, other_authors
from urnscan.dedup.compare.parts import differ, have_other_marks, is_sequence_among
from urnscan.dedup.compare.printings import numbered_printing
from urnscan.dedup.compare.title_words import alone_in_each, have_opposites
from urnscan.records.description import Description

# Distance from 0 to 1: two letters in a title of seventy.
_SLIP = 0.03
# A greater number of an edition is a year.
_LAST_EDITION = 999
# Pages by which two libraries count the same book differently.
_FEW_PAGES = 2


def _of_titles(one: Features, other: Features) -> float | None:
    titles = closest_titles(one, other)
    return None if titles is None else 1 - titles.similarity / 100


def _of_words(one: Features, other: Features) -> float | None:
    titles = closest_titles(one, other)
    return None if titles is None else alone_in_each(titles.one, titles.other)


def of_kinds(one: Features, other: Features) -> float | None:
    """1.0 if the two works are of different kinds, for example a reply and the article itself; 0.0 if the kinds are the
    same, or if neither is of a special kind (`Features.about`: reply, correction, workbook and the like). None if a
    title is missing.
    """
    return float(one.about != other.about) if one.title and other.title else None


def _of_years(one: Features, other: Features) -> float | None:
    return min((abs(a - b) for a in one.years for b in other.years), default=None)


def _of_editions(one: Features, other: Features) -> float | None:
    if one.edition is None or other.edition is None:
        return _of_unnumbered_edition(one, other)
    if (one.edition > _LAST_EDITION) != (other.edition > _LAST_EDITION):
        # "2004 ed." cannot be compared with "3rd ed."
        return None
    releases = [{number for number in record.in_edition if number.count(".") == 1} for record in (one, other)]
    return float(one.edition != other.edition or (all(releases) and releases[0].isdisjoint(releases[1])))


def _of_opposite_editions(one: Features, other: Features) -> float | None:
    if not (one.stated_edition and other.stated_edition):
        return None
    return float(have_opposites(one.stated_edition, other.stated_edition))


def _of_unnumbered_edition(one: Features, other: Features) -> float | None:
    """1 if only one edition has a number, from 2 to 999, and the years differ, or the statements are the same without
    it (`Rev. ed. 2`, `Rev. ed.`); else None.
    """
    numbered, unnumbered = (other, one) if one.edition is None else (one, other)
    if numbered.edition is None or not 1 < numbered.edition <= _LAST_EDITION:
        return None
    has_other_year = bool(one.years and other.years) and one.years.isdisjoint(other.years)
    stated = unnumbered.stated_edition
    is_continued = bool(stated) and numbered.stated_edition.startswith(f"{stated} ")
    return 1 if has_other_year or is_continued else None


def _of_parts(one: Features, other: Features) -> float | None:
    if one.part.is_extra != other.part.is_extra and _are_one_article(one, other):
        # `Suppl. 1` does not name the volume.
        return None
    return differ(one.part, other.part)


def _are_one_article(one: Features, other: Features) -> bool:
    has_page = bool(one.page) and one.page == other.page
    return has_page and not one.years.isdisjoint(other.years) and far_titles(one, other) <= _SLIP


def _of_extras(one: Features, other: Features) -> float | None:
    """1 if the volumes differ in being an index or a supplement, else 0. None if one has no number, or both have a
    first page.
    """
    if not (one.part.designations and other.part.designations) or (one.page and other.page):
        return None
    return float(one.part.extras != other.part.extras)


def _of_opposite_parts(one: Features, other: Features) -> float | None:
    """1 if the statements of the parts have opposite words (`Textband`, `Tafelband`), or one part has a number and the
    other is an index without one; else 0. None without both statements.
    """
    if not (one.stated_part and other.stated_part):
        return None
    is_index = any(
        "index" in mine.part.extras - others.part.extras and not mine.part.designations and others.part.designations
        for mine, others in ((one, other), (other, one))
    )
    return float(is_index or have_opposites(one.stated_part, other.stated_part))


def _of_opposites(one: Features, other: Features) -> float | None:
    titles = closest_titles(one, other)
    return None if titles is None else float(have_opposites(titles.one, titles.other))


def _of_numbers_in_titles(one: Features, other: Features) -> float | None:
    if not one.title or not other.title:
        return None
    if have_other_marks(one.title.full[0], other.title.full[0]):
        return 1
    both = bool(one.title.subtitle and other.title.subtitle)
    mine, others = one.in_title[both], other.in_title[both]
    if not (mine and others):
        return None
    numbers, other_numbers = (_arabic(record.title, both=both) for record in (one, other))
    # 10(6) cells, 106 cells
    if "".join(numbers) == "".join(other_numbers):
        mine, others = (
            tuple(value for value in mine if value not in numbers),
            tuple(value for value in others if value not in other_numbers),
        )
    return float(not is_sequence_among(mine, others)) if mine and others else None


def _arabic(title: Title | None, *, both: bool) -> list[str]:
    return DIGITS.findall((title.full if both else title.proper)[0]) if title else []


def _of_documents(one: Features, other: Features) -> float | None:
    return float(one.documents.isdisjoint(other.documents)) if one.documents and other.documents else None


def _of_series(one: Features, other: Features) -> float | None:
    """1 if each number of `one` in a series conflicts with each of `other`, else 0; None without both."""
    distances = [differ(mine, others) or 0 for mine in one.series for others in other.series]
    return min(distances, default=None)


def _of_serials(one: Features, other: Features) -> float | None:
    """1 if two serials differ in title (by more than 3%, or in two scripts) and have no year in common, else 0; None
    for others, or without title or year.
    """
    are_serials = all("periodical" in record.kinds.get("extent", ()) for record in (one, other))
    if not (are_serials and one.years and other.years and one.title and other.title):
        return None
    return float(one.years.isdisjoint(other.years) and far_titles(one, other) > _SLIP)


def _of_dates(one: Features, other: Features) -> float | None:
    return float(one.is_open != other.is_open) if one.years and other.years else None


def _of_printings(one: Features, other: Features) -> float | None:
    """1 if the printings differ, else 0; None if both records lack an edition. If one lacks it, only numbers of
    printings count, unless the years differ.
    """
    if one.printing is None and other.printing is None:
        return None
    mine, others = one.printing or frozenset(), other.printing or frozenset()
    has_both = one.printing is not None and other.printing is not None
    has_other_year = bool(one.years and other.years) and one.years.isdisjoint(other.years)
    if not has_both and not has_other_year:
        mine, others = numbered_printing(mine), numbered_printing(others)
    return float(mine != others)


def _of_volumes(one: Features, other: Features) -> float | None:
    counts = ((one.extent.volumes, other.extent.volumes), (one.extent.pieces, other.extent.pieces))
    return max((float(mine.isdisjoint(others)) for mine, others in counts if mine and others), default=None)


def _of_scales(one: Features, other: Features) -> float | None:
    """Difference of the nearest scales of two maps, as a share of the greater number; None without both."""
    if not (one.scales and other.scales):
        return None
    return min(abs(a - b) / max(a, b) for a in one.scales for b in other.scales)


def _of_publishers(one: Features, other: Features) -> float | None:
    """1 if each publisher has a word the other lacks, else 0; None without both, or unless pages differ by over 2."""
    if not (one.publisher and other.publisher) or not _of_extents(one, other):
        return None
    return float(bool(alone_in_each(one.publisher, other.publisher)))


def _of_extents(one: Features, other: Features) -> float | None:
    """Difference of the pages of two one-volume books, beyond _FEW_PAGES, as a share of the larger number; else None."""
    pages, others = one.extent.pages, other.extent.pages
    if not pages or not others or max(one.extent.volumes | other.extent.volumes, default=1) > 1:
        return None
    return max(0, abs(pages - others) - _FEW_PAGES) / max(pages, others)


def _of_pages(one: Features, other: Features) -> float | None:
    if one.page is None or other.page is None or one.page[0] != other.page[0]:
        # An article number cannot be compared with a page.
        return None
    return float(one.page != other.page)


def _of_formats(one: Features, other: Features) -> float | None:
    shared = one.kinds.keys() & other.kinds.keys()
    return float(any(not one.kinds[axis] & other.kinds[axis] for axis in shared)) if shared else None


def _of_languages(one: Features, other: Features) -> float | None:
    return float(not one.languages & other.languages) if one.languages and other.languages else None


def far_titles(one: Features, other: Features) -> float:
    """Distance of the titles, from 0 (equal, except that one may lack, for example, the subtitle) to 1; 1 also for
    titles that cannot be compared, because one is missing or they are in two scripts.
    """
    distance = _of_titles(one, other)
    return 1 if distance is None else distance


def _other_numbers(one: Features, other: Features) -> float:
    return float(_numbers(one) != _numbers(other) or any(of(one, other) for of in (_of_parts, _of_numbers_in_titles)))


def _numbers(record: Features) -> frozenset[str]:
    """All numbers and single letters of the part, and of the title."""
    return frozenset([*(value for _, value in record.part.designations), *record.in_title[1]])


def _other_issues(one: Features, other: Features) -> float:
    return float(one.issue != other.issue)


def other_years(one: Features, other: Features) -> float:
    """0.0 if both records share a year, or both have no year; otherwise 1.0."""
    return float(one.years.isdisjoint(other.years) and bool(one.years or other.years))


def _other_editions(one: Features, other: Features) -> float | None:
    return float(one.in_edition != other.in_edition) if one.in_edition and other.in_edition else None


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that compares two records: they conflict in `aspect` if `distance` is greater than `most`."""

    aspect: str
    """The aspect of a description that is compared, such as `title`: a member of ASPECTS; in SURE_RULES and
    CITATION_RULES also `author`.
    """
    condition: str
    """The case in which the distance is greater than `most`, in words: the pages for users have the same text."""
    most: float
    """The greatest distance that is no conflict."""
    distance: Callable[[Features, Features], float | None]
    """Function that returns the distance of two records: 0 means no difference. None, which is no conflict: they cannot
    be compared, mostly because one lacks the value. In SURE_RULES and CITATION_RULES a missing value may count as a
    difference.
    """


RULES = (
    Rule("title", "the titles differ by more than 20%", 0.2, _of_titles),
    Rule("title", "each title has a word that the other lacks", 0, _of_words),
    Rule("title", "the titles have opposite words, or words that only look alike", 0, _of_opposites),
    Rule("title", "only one is a reply, a correction, a workbook or the like", 0, of_kinds),
    Rule("title", "the first authors of an editorial or the like differ", 0, of_general_titles),
    Rule("title", "a title of one or two words has other authors, and another year or publisher", 0, of_short_titles),
    Rule("year", "the nearest years differ by more than 1", 1, _of_years),
    Rule("year", "only one still appears", 0, _of_dates),
    Rule("year", "years and titles of two serials differ", 0, _of_serials),
    Rule("edition", "the numbers of the edition differ", 0, _of_editions),
    Rule("edition", "the editions have opposite words", 0, _of_opposite_editions),
    Rule("edition", "the printings or the months of the edition differ", 0, _of_printings),
    Rule("edition", "the pages of a volume differ by more than 10%", 0.1, _of_extents),
    Rule("edition", "the publishers and the pages differ", 0, _of_publishers),
    Rule("part", "the numbers of the part or volume differ", 0, _of_parts),
    Rule("part", "only one is an index or a supplement", 0, _of_extras),
    Rule("part", "the parts have opposite words", 0, _of_opposite_parts),
    Rule("part", "the numbers in the title differ", 0, _of_numbers_in_titles),
    Rule("part", "the first pages in a host differ", 0, _of_pages),
    Rule("part", "the numbers of a government document differ", 0, _of_documents),
    Rule("part", "all numbers in a series differ", 0, _of_series),
    Rule("part", "the numbers of volumes, discs or cassettes differ", 0, _of_volumes),
    Rule("part", "the scales of a map differ by more than 20%", 0.2, _of_scales),
    Rule("format", "the contents, carriers or extents differ", 0, _of_formats),
    Rule("language", "the languages differ", 0, _of_languages),
)
"""The rules for records that share an identifier, ordered by aspect. Two records conflict if one of the rules finds a
conflict.
"""
SURE_RULES = (
    Rule("title", "the titles differ by more than 3%, or one is missing", _SLIP, far_titles),
    Rule("title", "only one is a reply, a correction, a workbook or the like", 0, of_kinds),
    Rule("author", "the family names of the first authors differ", 0, other_authors),
    Rule("year", "the years differ, or only one has a year", 0, other_years),
    Rule("edition", "the numbers in the edition differ, such as `1.4` and `1.5`", 0, _other_editions),
    Rule("part", "the numbers of the part or in the title differ, or only one has one", 0, _other_numbers),
    Rule("part", "the numbers of the issue, report or version differ, or only one has one", 0, _other_issues),
)
"""Rules for records that share only a supporting key, such as an address: the two are the same only if no distance is
too great. All issues of a journal, and all versions of a manual, may have one address.
"""
ASPECTS = tuple(dict.fromkeys(rule.aspect for rule in RULES))
"""Aspects of a description that may conflict, for example `title`: the values of the option `agree`."""


class Comparison(NamedTuple):
    """Result of the comparison of two descriptions by rules."""

    against: int
    """Aspects that conflict: bit i (1 << i) is set if ASPECTS[i] conflicts; 0 without a conflict."""
    same: int
    """Number of rules that find no difference (distance 0): the more, the better the records agree."""


def similarity(one: Description, other: Description) -> float:
    """Return the similarity of two titles, from 0 to 1 (equal, but one may lack the subtitle, the edition or a title in
    another language); if both have a subtitle, the smaller of this and the similarity of the subtitles alone. Case and
    punctuation do not count. 0 if a title is missing, or if the titles are in two scripts.
    """
    # After a long title, two subtitles (`Floor plan`, `Second floor plan`) hardly change the similarity of the whole.
    mine, others = features(one).title, features(other).title
    alike = 1 - far_titles(features(one), features(other))
    if mine and others and mine.subtitle and others.subtitle:
        return min(alike, fuzz.ratio(mine.subtitle, others.subtitle) / 100)
    return alike


def rules_of(aspects: Sequence[str]) -> tuple[Rule, ...]:
    """Return the rules of RULES for some aspects, in the order of RULES; an aspect that is not in ASPECTS has no rules."""
    return tuple(rule for rule in RULES if rule.aspect in aspects)


def is_surely_same(one: Description, other: Description) -> bool:
    """Whether two descriptions agree so well that a supporting key, such as an address, may join the records. By
    SURE_RULES, titles (small typos allowed), authors, years and numbers of editions match, and numbers of parts and
    issues match or are absent in both. False if a title is missing, or if only one record has a year; a missing author
    or edition matches any. `Comment on Inks` is not `Inks`, and volume 2 is not the whole.
    """
    mine, others = features(one), features(other)
    return all((rule.distance(mine, others) or 0) <= rule.most for rule in SURE_RULES)


def have_other_authors(one: Description, other: Description) -> bool:
    """Whether the first authors in two descriptions differ, by `other_authors`; False if an author is missing."""
    return bool(other_authors(features(one), features(other)))


def compare(one: Description, other: Description, rules: Sequence[Rule]) -> Comparison:
    """Compare two descriptions by `rules`, which are rules of RULES; return which aspects conflict, and how many rules
    find no difference. The order of the two does not matter. A missing value is mostly no conflict.
    """
    return compare_features(features(one), features(other), rules)


def compare_features(mine: Features, others: Features, rules: Sequence[Rule]) -> Comparison:
    """Return the same as `compare` for two descriptions that `features` has prepared."""
    against = same = 0
    for rule in rules:
        distance = rule.distance(mine, others)
        if distance is not None and distance > rule.most:
            against |= 1 << ASPECTS.index(rule.aspect)
        elif distance == 0:
            same += 1
    return Comparison(against, same)
