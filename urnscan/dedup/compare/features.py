"""Features of descriptions: titles, numbers, kinds and pages of a record, prepared for comparison.

`words.toml` has the words that show the kind in a title or an edition.
"""

from __future__ import annotations

import functools
import itertools
import re
import string
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import regex
from rapidfuzz import fuzz

from urnscan.dedup.compare.authors import family_part
from urnscan.dedup.compare.extents import Extent, extent_of
from urnscan.dedup.compare.known_words import ORDINAL, known_words
from urnscan.dedup.compare.parts import NO_PART, Part, edition_in_han, number_of, numbers_in, part_of
from urnscan.dedup.compare.printings import printing_of
from urnscan.records.description import ARTICLE_BEGINS, ARTICLE_ENDS, SUBTITLE, Description, axes

_TAG = regex.compile(r"</?\w{1,10}+(?:\s[^<>]{0,80}+)?>")  # <i>, <sub>
_ARTICLE = re.compile(rf"{ARTICLE_BEGINS}[^{ARTICLE_ENDS}]*+{ARTICLE_ENDS}")
_LEADING = re.compile(r"\A(?:the|an?|les?|las?|los|el|il|der|die|das) ")
_RESPONSIBILITY = re.compile(r"\s/(?:\s.*+)?\Z")  # ISBD: Title / by its author
_SUBTITLE = re.compile(rf"{SUBTITLE}|\s?[:=]\s|\s[-\u2013\u2014]\s")
_PARALLEL = re.compile(rf"\s?=[\s{SUBTITLE}]+|[^\S{SUBTITLE}]\[(?=[^\[\]]*\]\W*\Z)")  # not a subtitle in brackets
_LONE_GREEK = regex.compile(r"(?<!\p{Greek})[α-ζθ-ξπ-ω](?!\p{Greek})")  # noqa: RUF001 (not eta and omicron, which are articles)
_SIGN = re.compile(r"(?<![^\W_])([^\W\d_])(\+\+(?![^\W\d])|[#\u266d\u266f](?!\w))")  # C++, C++11, C#; sharp and flat
_SIGNS = {"++": " plus plus ", "#": " sharp", "\u266f": " sharp", "\u266d": " flat"}
_GREEK = re.compile("[\u03b1-\u03c9]")
_NO_WORD = regex.compile(r"[^\p{L}\p{N}]++")
_ASCII_WORDS = {ord(char): " " for char in map(chr, range(128)) if char not in string.ascii_lowercase + string.digits}
DIGITS = re.compile("[0-9]+")
_RELEASE = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_EDITION_NUMBER = re.compile(rf"(?:\A|第)([0-9]{{1,9}})(?:{ORDINAL}|ed|aufl)?(?:\Z|版)")
_IN_BRACKETS = re.compile(r"(?<!\s)\s*+\([^()]{0,40}\)\s*+\Z")  # (MF), (online): how the document is published
_BETWEEN_THREE_DIGITS = re.compile(r"(?<=[0-9])[., ](?=[0-9]{3}(?![0-9]))")  # 25,000
_SCALE = re.compile(r"(?:\A|\| |1 ?: ?)([1-9][0-9]{2,8})(?![0-9])")
_PAGE = re.compile(r"\s*+(?:(?:pp?|s|seiten?)[.\s]++)?([a-z]{0,3})([0-9]{1,9})(\s*+[-\u2013\u2014])?", re.IGNORECASE)
# Half of `12(1)`; and what a program writes before the article is in an issue.
_NO_PART = re.compile(
    r"\W*(?:[0-9]{1,2}\)|n/?a|none|null|online[ -]first|early view|(?:epub )?ahead of print|in press|forthcoming)\W*",
    re.IGNORECASE,
)
_LAST_PAGE = 99_999  # a greater number is the number of an article
_ONE_SCRIPT = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")  # scripts of East Asia, which a title may mix
_SLIP = 97  # similarity, to 100, of titles that differ by a typo
_NESTED = 90  # similarity if all words of a title are in the other title
_MIN_WORDS = 3  # least words in the title of a part that may replace the title


class _WithoutAccents(dict[int, int | str | None]):
    """A table for `str.translate` that leaves out combining characters."""

    def __missing__(self, character: int) -> int | str | None:
        kept = self[character] = None if unicodedata.combining(chr(character)) else character
        return kept


# Letters with a stroke do not decompose.
_WITHOUT_ACCENTS = _WithoutAccents(zip(map(ord, "øØłŁđĐıæÆœŒ"), "o O l L d D i ae AE oe OE".split(), strict=True))


class Title(NamedTuple):
    """A title to compare, in the form of `words`."""

    proper: tuple[str, ...]
    """Without the subtitle; in two forms if the record marks the leading article: with the article, and without it."""
    full: tuple[str, ...]
    """With the subtitle, if the title has one; in one or two forms, as `proper`."""
    subtitle: str
    """Empty if the title has none."""
    parallel: tuple[tuple[str, str], ...]
    """Titles in several languages (`Title = Título`, `Title [Título]`): each without its subtitle, and with it."""
    without_part: str
    """The title proper without a part at its end: `inks` for `inks vol 2`; empty if no part is there."""
    script: str
    """First word of the Unicode name of the script of the first letter, such as `LATIN`; the scripts of East Asia are
    all `CJK`. Empty without a letter.
    """


class Features(NamedTuple):
    """A description prepared for comparison; a value that is missing is empty or None. "Words" are in the form of
    `words`, in a str with spaces between them.
    """

    title: Title | None
    years: frozenset[int]
    """Years of publication."""
    edition: int | None
    """Number of the edition, from its statement or from the title."""
    part: Part
    stated_part: str
    """Words of the statement of the part."""
    in_title: tuple[tuple[str, ...], tuple[str, ...]]
    """Numbers and single letters (by `numbers_in`), in order, in the title without its subtitle, and in the title with
    it.
    """
    about: frozenset[str]
    """Kinds of works that are about another work, or made for another work: `reply`, `workbook`; mostly empty."""
    kinds: Mapping[str, frozenset[str]]
    """Words of the format by their axis, such as `audio` by `content`: two records without a common word on an axis
    that both have are different.
    """
    page: tuple[str, int] | None
    """First page in a journal or book, as letters before the number, in lower case, and the number; None also where it
    is in doubt.
    """
    languages: frozenset[str]
    """Languages of the text, as codes of ISO 639-2/T (`deu`, also for `ger`, `de` and `German`), of 26 common
    languages; others are left out.
    """
    author: frozenset[str]
    """Words of the name of the first author; those of one or two letters only if there are no longer ones."""
    family: frozenset[str]
    """Words of the family name of the first author; those of one or two letters only if there are no longer ones."""
    issue: frozenset[str]
    """All words of the numbers of issues, reports and versions: `nr` and `7` of `Nr. 7`."""
    documents: frozenset[str]
    """Numbers of a government document, in lower case, without white space, a full stop and brackets at the end."""
    series: tuple[Part, ...]
    """The number in each series, in the order of the record."""
    scales: frozenset[int]
    """Scales of a map, as the number after `1:`."""
    extent: Extent
    named: str
    """The text, unchanged, in which persons are named: title, authors, editors, and the statement of responsibility."""
    publisher: str
    """Words of the publisher; empty also if the record says that it is unknown."""
    printing: frozenset[str] | None
    """Marks of the printing in the statement of the edition (`printing_of`); None without such a statement."""
    is_open: bool
    """Whether the record is of a serial or a set that still appears: `1985-`."""
    stated_edition: str
    """Words of the statement of the edition."""
    in_edition: frozenset[str]
    """All numbers in the statement of the edition, as written: `1.4` of `Version 1.4`."""


@functools.lru_cache(maxsize=1 << 12)
def features(description: Description) -> Features:
    """Return a description prepared for comparison. A value that the description lacks is None or empty."""
    title, edition = _title(description.title or "")
    if description.edition:
        edition = _edition(description.edition) or edition
    kinds: dict[str, set[str]] = {}
    for word in (description.format or "").split():
        kinds.setdefault(axes()[word], set()).add(word)
    stated_part, stated_edition = words(description.part or ""), words(description.edition or "")
    part = NO_PART if _NO_PART.fullmatch(description.part or "") else part_of(stated_part)
    if title and title.without_part and not part.designations:
        part = part_of(title.proper[0].removeprefix(title.without_part).strip())
    return Features(
        title=title,
        years=frozenset(map(int, (description.year or "").split())),
        edition=edition,
        part=part,
        stated_part=stated_part,
        in_title=(numbers_in(title.proper[0]), numbers_in(title.full[0])) if title else ((), ()),
        about=_kinds_in([stated_edition, *((title.proper[0], title.full[0]) if title else ())]),
        kinds={axis: frozenset(words) for axis, words in kinds.items()},
        page=_first_page(description.pages or ""),
        languages=_languages(description.language or ""),
        author=_words_of_name(description.author or ""),
        family=_words_of_name(family_part(description.author or "")),
        issue=frozenset(words(description.issue or "").split()),
        documents=_documents(description.document or ""),
        series=tuple(part_of(words(number)) for number in (description.series or "").split(" | ") if number),
        scales=_scales(description.scale) if description.scale else frozenset(),
        extent=extent_of(description.extent or "", words(description.extent or "")),
        named=" ".join(
            filter(None, (description.title, description.author, description.coauthors, description.responsibility))
        ),
        publisher=_publisher(words(description.publisher or "")),
        printing=printing_of(stated_edition) if description.edition else None,
        is_open=description.dates == "open",
        stated_edition=stated_edition,
        in_edition=frozenset(_RELEASE.findall(description.edition or "")),
    )


def _words_of_name(name: str) -> frozenset[str]:
    all_words = words(name).split()
    return frozenset(word for word in all_words if len(word) > 2) or frozenset(all_words)


def _documents(text: str) -> frozenset[str]:
    numbers = ("".join(_IN_BRACKETS.sub("", number).split()).lower().rstrip(".") for number in text.split("|"))
    return frozenset(filter(None, numbers))


def words(text: str) -> str:
    """Return the words of a text in lower case, as a text with spaces between them; without accents, punctuation and
    tags of HTML. A small Greek letter alone becomes its name, a sign after a letter a word (`C++`, `c plus plus`):
    `<i>Übung</i>: the β-version` -> `ubung the beta version`.
    """
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "+" in text or "#" in text or "\u266d" in text or "\u266f" in text:
        text = _SIGN.sub(lambda sign: sign[1] + _SIGNS[sign[2]], text)
    if text.isascii():
        return " ".join(text.lower().translate(_ASCII_WORDS).split())
    if _GREEK.search(text):
        text = _LONE_GREEK.sub(lambda letter: f" {unicodedata.name(letter[0]).split(' ')[-1]} ", text)
    text = unicodedata.normalize("NFKD", text).translate(_WITHOUT_ACCENTS)
    # Syllables of Korean consist of letters again.
    return unicodedata.normalize("NFC", _NO_WORD.sub(" ", text.casefold()).strip())


@functools.lru_cache(maxsize=1 << 12)  # most records of a cluster have the same title
def _title(text: str) -> tuple[Title | None, int | None]:
    """A title for comparison (None without a word), and the number of an edition in it (None without one). `text`: the
    title in a description, where special characters mark article and subtitle.
    """
    text = _RESPONSIBILITY.sub("", text)
    cut = _SUBTITLE.split(text, maxsplit=1)
    edition = None
    forms: list[tuple[str, ...]] = []
    for form in dict.fromkeys((cut[0], text)):
        whole = words(form.replace(ARTICLE_BEGINS, "").replace(ARTICLE_ENDS, ""))
        edition = edition or _edition_in(whole)
        without = words(_ARTICLE.sub("", form)) if ARTICLE_BEGINS in form else ""
        forms.append(tuple(_without_additions(title) for title in (whole, without) if title) or ("",))
    proper, full = forms[0], forms[-1]
    if not full[0]:
        return None, None
    subtitle = words(cut[1]) if len(cut) > 1 and proper[0] else ""
    if not proper[0]:
        proper = full
    letter = next(filter(str.isalpha, full[0]), "")
    script = unicodedata.name(letter, "").split(" ")[0] if letter else ""
    script = _ONE_SCRIPT[0] if script in _ONE_SCRIPT else script
    proper_words = proper[0].split(" ")
    has_part = (
        len(proper_words) > 2
        and proper_words[-2] in known_words().parts
        and bool(numbers_in(" ".join(proper_words[-2:])))
    )
    without_part = " ".join(proper_words[:-2]) if has_part else ""
    return Title(proper, full, subtitle, _parallel(text), without_part, script), edition


def _parallel(text: str) -> tuple[tuple[str, str], ...]:
    """The titles in several languages in a text (`Title = Título`), each without and with its subtitle; empty for a
    single title.
    """
    titles = _PARALLEL.split(text)
    forms = ((words(_SUBTITLE.split(title, maxsplit=1)[0]), words(title)) for title in titles)
    return tuple(form for form in forms if form[0]) if len(titles) > 1 else ()


def _edition_in(title: str) -> int | None:
    """The first number of an edition in a title normalized by `words` (`inks 3rd ed`); None without one."""
    known = known_words()
    if known.editions.isdisjoint(title.split(" ")):
        return None
    match = known.edition.search(title)
    return _edition(match[1]) if match else None


def _without_additions(title: str) -> str:
    """A title, normalized by `words`, without edition (`3rd ed`) and additions of databases (`electronic resource`),
    unless nothing else is there.
    """
    known = known_words()
    for hints, pattern in ((known.additions, known.addition), (known.editions, known.edition)):
        if not hints.isdisjoint(title.split(" ")):
            title = " ".join(pattern.sub(" ", title).split()) or title
    return title


def _kinds_in(texts: Sequence[str]) -> frozenset[str]:
    """Kinds of works (`reply`, `workbook`) that the texts, normalized by `words`, name."""
    kinds = set()
    for text in dict.fromkeys(texts):
        hinted = {name for word in text.split(" ") for name in _hinted(word)}
        if hinted:
            # `The Letter to Plato` is `Letter to Plato`.
            bare = _LEADING.sub("", text)
            kinds |= {name for name in hinted if known_words().kinds[name].search(bare)}
    return frozenset(kinds)


@functools.lru_cache(maxsize=1 << 14)
def _hinted(word: str) -> tuple[str, ...]:
    return tuple(name for name, hints in known_words().hints.items() if word.startswith(hints))


def _edition(text: str) -> int | None:
    """The first number in a statement of an edition, whatever it counts: 3 in `3rd ed.`, `Dritte, überarb. Aufl.` and
    `第3版`, 2005 in `2005 ed.`; None without one (`Rev. ed.`).
    """
    known = known_words()
    tokens = words(text).split(" ")
    for word, after in itertools.pairwise([*tokens, ""]):
        if word in known.numbers:
            return known.numbers[word]
        if number := _EDITION_NUMBER.search(word):
            return int(number[1])
        if found := (number_of(word) if after in known.editions else edition_in_han(word)):
            return int(found)
    return None


def _publisher(words_of_name: str) -> str:
    return "" if known_words().unknown.search(words_of_name) else words_of_name


def _first_page(text: str) -> tuple[str, int] | None:
    """The first page of a range, or a page with letters (`S259`), as letters and number; None for other texts, and for
    page 1.
    """
    # A number alone may be the number of all pages, and an article begins on page 1 before it appears in an issue.
    page = _PAGE.match(text)
    if page is None or not (page[1] or page[3]) or not 1 < int(page[2]) <= _LAST_PAGE:
        return None
    return page[1].lower(), int(page[2])


def _scales(text: str) -> frozenset[int]:
    """The numbers in statements of scales: 25000 in `Scale 1:25,000` and in `25000`."""
    return frozenset(map(int, _SCALE.findall(_BETWEEN_THREE_DIGITS.sub("", text))))


def _languages(text: str) -> frozenset[str]:
    known = known_words().languages
    return frozenset(known[word] for word in words(text).split(" ") if word in known)


class Closest(NamedTuple):
    """The most similar forms of two titles: a title may have forms with and without subtitle, leading article or part,
    in one of its languages, or only the subtitle.
    """

    similarity: float
    """Similarity from 0 to 100; 100 is equal. It may be raised to 90 if a title has all words of the other."""
    one: str
    other: str
    """The two forms; not in the order of the titles, but of the alphabet."""


@functools.lru_cache(maxsize=1 << 12)
def closest(one: Title, other: Title, *, are_parts: bool) -> Closest:
    """Return the most similar forms of two titles: with the subtitle if both titles have one, otherwise with or without
    it. A title in one language may replace a title in several languages, and a subtitle of at least three words the
    title.

    `are_parts`: both records have the number of a part, so a form may lack the part at the end of the title.
    """
    if one.subtitle and other.subtitle:
        closest_forms = _most_alike(one.full, other.full)
        is_same = _most_alike(one.proper, other.proper).similarity >= _SLIP
        if is_same and closest_forms.similarity < _NESTED and _are_nested(closest_forms.one, closest_forms.other):
            closest_forms = closest_forms._replace(similarity=_NESTED)
    else:
        closest_forms = _most_alike(one.proper, other.proper)
        # A record may have the subtitle as a part of its title.
        if closest_forms.similarity < 100:
            closest_forms = max(closest_forms, _most_alike(one.full, other.full))
    if are_parts and (one.without_part or other.without_part):
        without = ([title.without_part or title.proper[0]] for title in (one, other))
        closest_forms = max(closest_forms, _most_alike(*without))
    for whole, part in ((one, other), (other, one)):
        # The title of a part, or a title in one language, may replace the title.
        has_long = whole.subtitle.count(" ") >= _MIN_WORDS - 1
        # Of two titles with subtitles, these count, too: `Inks: red = Tinten: rot` is not `Inks: blue = Tinten: blau`.
        parallel = [proper for proper, full in whole.parallel if proper == full or not part.subtitle]
        if forms := (*parallel, *([whole.subtitle] if has_long else [])):
            alike = _most_alike(forms, part.proper)
            closest_forms = max(closest_forms, alike) if alike.similarity >= _SLIP else closest_forms
    return closest_forms


def closest_titles(one: Features, other: Features) -> Closest | None:
    """Return the most similar forms of the titles of two records, as `closest`; None if a title is missing, or if the titles are in two scripts."""
    if not one.title or not other.title or one.title.script != other.title.script:
        return None
    return closest(one.title, other.title, are_parts=bool(one.part.designations and other.part.designations))


def _most_alike(mine: Sequence[str], others: Sequence[str]) -> Closest:
    return max(Closest(fuzz.ratio(a, b), *sorted((a, b))) for a in mine for b in others)


def _are_nested(one: str, other: str) -> bool:
    mine, others = set(one.split()), set(other.split())
    return mine <= others or others <= mine
