"""Record-level identifiers -> texts in which the scanner finds URNs: native identifiers become URNs.

The registrations (`urnscan.urn.namespaces`) say which URN an identifier has. This module reads the additions of
catalogues to identifiers: labels, addresses, bindings and prices (ISBD area 8), and several identifiers in a value.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping

import regex

from urnscan.records.doi_spellings import AT_PROXY, plain_doi
from urnscan.records.fields import Own
from urnscan.urn import namespaces
from urnscan.urn.numbers import issn
from urnscan.urn.numbers.field_values import ISSN_ADDRESS, LABEL, LISTS, QUALIFIER, SEPARATED, TYPESET
from urnscan.urn.numbers.isbn import RIGHT, is_right, write_isbn

# Namespaces whose identifiers need only the function `to_urn` of their module.
_ALSO = ("uuid", "isni", "isan", "lei", "oid", "eidr")
# Kinds of identifiers, and their names in records, reduced to lower-case letters and digits. If an identifier has
# another name, or a general name (`uri`, `local`), only its text can show its kind.
_KINDS = dict(zip(_ALSO, _ALSO, strict=True)) | {
    "isbn": "isbn isbn10 isbn13 eisbn pisbn isbnprint isbnelectronic",
    "issn": "issn issnl lissn eissn pissn essn pssn issnprint issnelectronic issnonline",
    # RIS has one field for ISBN and ISSN.
    "serial": "serial isbnissn issnisbn serialnumber sn",
    "ean": "ean ean13 gtin gtin13 jan bookland internationalarticlenumber",
    "doi": "doi doiname",
    "uuid": "uuid guid",
    "isan": "isan visan",
}
_NAMES = {name: kind for kind, names in _KINDS.items() for name in names.split()}
# Names of other identifiers, whose digits may look like those of a kind above. An ISBN that a record calls wrong is the
# ISBN of another book, or of no book.
_OTHERS = frozenset(
    "hdl handle ark purlid oclc ocolc oclcnumber lccn lc ismn isrc istc iswc isil iswn upc upca gtin8 gtin12 gtin14 "
    "sici bici arxiv arxivid pmid pubmed pmcid pmc mid bibcode ads mag s2 s2id orcid viaf gnd wikidata zdb zdbid zdbnr "
    "ppn idn asin strn coden ddc udc lcc nlm rvk stocknumber issuenumber matrixnumber musicplate musicpublisher "
    "videorecording publishernumber callnumber shelfmark shelflocator barcode igtin wrongisbn invalidisbn "
    "isbninvalid incorrectisbn isbnincorrect cancelledisbn canceledisbn invalidissn issninvalid incorrectissn "
    "issnincorrect cancelledissn canceledissn formalfalscheisbn".split()
)
UNNAMED = "unnamed"
"""Kind of an identifier whose scheme names no kind: the text may show the kind."""
OTHER = "other"
"""Kind of an identifier that has no URN."""

# RE2 runs these three patterns, too, so they have no lookarounds.
HAS_URN = "(?i)(?:^|[^0-9a-z])urn:|urn%(?:25)*3a"
"""Pattern of the beginning of a URN, also in an address."""
ADDRESS = "(?i)^https?://[a-z0-9]"
"""Pattern of the beginning of an address."""
ADDRESS_WITH_IDENTIFIER = rf"(?i)^(?:https?://(?:[a-z]+[.-])?(?:doi|issn|isni|gleif)[.-]org|{AT_PROXY})"
"""Pattern of addresses at hosts whose addresses contain identifiers. Most addresses are at other hosts."""
_URN = regex.compile(HAS_URN)
_ADDRESS, _ADDRESS_WITH_IDENTIFIER = re.compile(ADDRESS), re.compile(ADDRESS_WITH_IDENTIFIER)

# In tables, marks around a number: `["9783161484100"]`, `="9783161484100"`.
_MARKED = regex.compile(r"\A[=\[\"']++(?=[0-9])")
_MARKS = str.maketrans("=[]\"'", "     ")
# The ISBN of a work of several volumes is in the record of each volume. Catalogues mark it by words, beginnings of words,
# and numbers of volumes.
_SET_WORDS = "sets? boxsets? ges kpl kplt cpl cplt ensemble coffret cofanetto estuche".split()
_SET_BEGINNINGS = (
    r"gesamt(?!sch) ganzes\swerk vollst mehrb(?:d|änd|aend) kompl compl(?![eéi]m) int(?:é|e\u0301?)gral volledig "
    r"kokonais koko\s(?:teo|sarja) (?:whole|entire)\swork all\svol multi-?vol opera\sintera intera\sopera "
    r"obra\sentera".split()
)
_PLURALS = (
    r"bde b(?:ä|a\u0308|ae)nden? vols? volumes v tomes tomos volumi vol(?:ú|u\u0301?)menes osaa nidett(?:ä|a\u0308) "
    r"delen dln".split()
)
_OF_SET = regex.compile(rf"(?i)(?<!\p{{L}})(?:(?:{'|'.join(_SET_WORDS)})(?!\p{{L}})|{'|'.join(_SET_BEGINNINGS)})")
_VOLUMES = regex.compile(rf"(?i)[(\[;:,]\s*+(?:[2-9]|[1-9][0-9]++)\s*+(?:{'|'.join(_PLURALS)})(?!\p{{L}})")
# Catalogues record a wrong ISBN as the book prints it, with one of these words.
_OF_NOTHING = regex.compile(
    r"(?i)(?<!\p{L})(?:falsch|f(?:ä|a\u0308|ae)lschl|fals[aeo]|ung(?:ü|u\u0308|ue)ltig|fehlerh|unrichtig|"
    r"nicht korrekt|wrong|err(?:or(?!s? corr)|on|ó|o\u0301|at|\.)|inv[aá]lid|incorr|not valid|cancel|annul|"
    r"fau(?:x|sse)(?!\p{L})|felaktig|fout|virhe|neplatn|chybn|błędn)"
)
# If a qualifier contains a number, its words are about this number.
_NUMBER_IN_IT = regex.compile("[0-9](?:[- ]?[0-9]){8}")
_LONGEST_QUALIFIER = 200
# Words after a number, without brackets.
_TAIL = regex.compile(r"[^;,|/\n:=0-9]{0,80}+")

_DOI_LABEL = r"(?:(?:https?://)?(?:(?:dx|www)\.)?doi\.org/|info:doi/|doi\s*+:?\s*+){0,2}"
_DOI_PREFIX = r"10\.[0-9]{4,9}(?:\.[0-9]++)*+(?:/|%2f)"
# White space ends a DOI only before punctuation, another DOI, an address, a label, or words in brackets. Other white space
# may be in the middle of a DOI, where a line of a page or of a record ended.
_DOI_END = (
    rf"(?:\s*+\Z|(?<=[;,|])|\s++(?=[;,|]|[/:=.](?:\s|\Z)|{_DOI_LABEL}{_DOI_PREFIX}|https?://|"
    r"(?:[ep]-?)?(?:isbn|issn)|(?:pmid|pmcid|pii|hdl|handle|urn|ur[il]|epub)\b|\p{L}++:\s|"
    r"[(\[]\p{L}[^()\[\]]*+[)\]](?!\w)))"
)
_DOI = regex.compile(rf"(?i)\G\s*+({_DOI_LABEL}{_DOI_PREFIX}\S++){_DOI_END}{QUALIFIER}*+\s*+[;,|]?+")
_DOI_JOINT = regex.compile(rf"(?i)[;,|](?={_DOI_LABEL}{_DOI_PREFIX})")

_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

# The nil and the max UUID (RFC 9562, sections 5.9 and 5.10).
_NOBODYS = frozenset(f"urn:uuid:{digit * 8}-{f'{digit * 4}-' * 3}{digit * 12}" for digit in "0f")

_PLAIN_DOI = re.compile(
    r"(?i:(?:https?://)?(?:(?:dx|www)\.)?doi\.org/|info:doi/|doi ?:? ?)?"
    r"(10\.[0-9]{4,9}/[A-Za-z0-9](?:[A-Za-z0-9._():/-]{0,199}[A-Za-z0-9])?)"
)
BRACKETS = regex.compile(r"\([^()]*+\)|\[[^\[\]]*+\]")
_PART = regex.compile(r"[^;,|\n]++")
_PUNCTUATION = " \t\r\n.:;,/|="

# Beginnings of identifiers that show their kind.
_SHOWS_KIND = regex.compile(
    "(?i)"
    + "|".join(
        f"(?P<{kind}>{pattern})"
        for kind, pattern in {
            "doi": _DOI_LABEL + _DOI_PREFIX,
            "isbn": LABEL.format("isbn") + "[0-9]",
            "issn": rf"(?:{LABEL.format('issn')}|{ISSN_ADDRESS})[0-9]",
            "ean": rf"97[89](?:{SEPARATED}[0-9]){{10}}(?=[.:;,/|]*+(?:\s|\Z)|[;,|(\[])",
            "uuid": rf"(?:[ug]uid\s*+:?\s*+)?(?:{_UUID}|\{{{_UUID}\}})(?=[.:;,/|]*+(?:\s|\Z)|[;,|])",
            "oid": r"oid(?:\s*+:\s*+|\s++)[0-2]\.[0-9]",
            "isni": r"https?://(?:www\.)?isni\.org/",
            "lei": r"https?://(?:api\.gleif\.org/api/v1/lei-records|search\.gleif\.org/#/record)/",
        }.items()
    )
)


def as_text(own: Own) -> str | None:
    """Return a record-level identifier as a text in which the scanner finds URNs; None if the identifier has no URN.

    A text that contains a URN is returned unchanged. In other texts, native identifiers become URNs, a line for each:
    the first identifier, and those that follow in a list. Some are left out: identifiers that are malformed, have a
    wrong check digit, are marked as wrong or only fill the field (0000000000); a DOI that white space may have
    shortened; and the ISBN of a set, which names all its volumes. Identifiers of keys (`Own.is_key`) give None.

    >>> as_text(Own("3-16-148410-X (geb.) : EUR 12.00", "isbn")), as_text(Own("https://doi.org/10.1000/182"))
    ('urn:isbn:9783161484100', 'urn:doi:10.1000/182')
    """
    if own.is_key:
        return None
    text = own.text
    if "urn" in text.lower() and _URN.search(text):
        return text
    kind, plain = _kind_and_text(own)
    if kind == "doi":
        # A DOI keeps its hyphens. Most need only this pattern.
        plain = text.strip()
        if match := _PLAIN_DOI.fullmatch(plain):
            return f"urn:doi:{match[1].lower()}"
        plain = plain_doi(plain)
    return "\n".join(dict.fromkeys(_READ[kind](plain))) or None


def wrong_numbers(own: Own) -> Iterator[str]:
    """Yield the ISBN or ISSN at the start of an identifier, or in a list there, with plain hyphens; none if neither the
    scheme nor the text shows its kind. Numbers that the record calls wrong (`(falsch)`), ISBNs of sets, and numbers
    that only fill the field (0000000000) are skipped.

    Call it only for an identifier that is no key (`Own.is_key`) and for which `as_text` returns None: otherwise a
    number may be right.

    >>> [*wrong_numbers(Own("ISSN 1234-5678 (online), 1234-5677", "issn"))]
    ['1234-5678', '1234-5677']
    """
    kind, plain = _kind_and_text(own)
    for match in LISTS[kind].finditer(plain) if kind in LISTS else ():
        group = str(match.lastgroup)
        is_filler = len(set(_digits(match[group]).removeprefix("978")[:-1])) == 1
        nid = "issn" if group == "issn" else "isbn"
        if not is_filler and not any(counts_out(qualifier, nid) for qualifier in _qualifiers(match, group)):
            yield match[group].strip()


def _kind_and_text(own: Own) -> tuple[str, str]:
    """The kind of an identifier, by its scheme or else by its text (`OTHER`: it has no URN), and the text with plain
    instead of typographic characters.
    """
    kind = kind_of(own.scheme)
    plain = (own.text if own.text.isascii() else own.text.translate(TYPESET)).strip()
    if kind in LISTS and _MARKED.match(plain):
        plain = plain.translate(_MARKS).strip()
    if kind == UNNAMED:
        is_other = _ADDRESS.match(plain) and not _ADDRESS_WITH_IDENTIFIER.match(plain)
        match = None if is_other else _SHOWS_KIND.match(plain_doi(plain))
        kind = OTHER if match is None else str(match.lastgroup)
    return kind, plain


def names_other(scheme: str) -> bool:
    """Whether a scheme (the kind of an identifier, as a record names it, in any case) is a known kind other than DOI.
    False for `doi`, and for a scheme that names no known kind (`local`): then the identifier may be a URL.

    >>> names_other("ISBN-13"), names_other("doi"), names_other("local")
    (True, False, False)
    """
    return kind_of(scheme) not in (UNNAMED, "doi")


@functools.lru_cache(maxsize=1 << 10)
def kind_of(scheme: str) -> str:
    """Return the kind of identifier that a scheme (a name in a record, in any case) means, for example `doi` for
    `info:eu-repo/semantics/altIdentifier/doi`, `isbn` for `ISBN-13`.

    UNNAMED for a scheme that names no known kind. OTHER for a kind that has no URN, an ISBN of a set, and a number that
    the scheme calls wrong.
    """
    lower = scheme.lower()
    if ("isbn" in lower and _OF_SET.search(scheme)) or (
        ("isbn" in lower or "issn" in lower) and _OF_NOTHING.search(scheme)
    ):
        return OTHER
    for name in (scheme, regex.split("[:/#]", scheme)[-1]):
        folded = "".join(filter(str.isalnum, name.lower()))
        if folded in _NAMES:
            return _NAMES[folded]
        if folded in _OTHERS:
            return OTHER
    return UNNAMED


def _numbers(pattern: regex.Pattern[str], text: str) -> Iterator[str]:
    """The URNs of the ISBN, ISSN and EAN in a text with plain hyphens, without those of numbers with a wrong check
    digit or that a qualifier (words next to the number) excludes.
    """
    for match in pattern.finditer(text):
        group = str(match.lastgroup)
        number = _digits(match[group])
        urn = _urn_of_issn(number) if group == "issn" else _urn_of_isbn(number)
        if urn and not any(counts_out(qualifier, urn[4:8]) for qualifier in _qualifiers(match, group)):
            yield urn


def _digits(number: str) -> str:
    return number.replace("-", "").replace(" ", "").upper()


def _qualifiers(match: regex.Match[str], group: str) -> list[str]:
    """The qualifiers of the number in the group `group`: words in brackets before and after it, and the words after
    these.
    """
    text, (start, end) = match.string, match.span(group)
    if match.end("lead") == start and end == len(text):
        return []
    qualifiers = BRACKETS.findall(text, match.end("lead"), start) + BRACKETS.findall(text, end, match.end())
    if match.end() < len(text) and (tail := _TAIL.match(text, match.end())):
        qualifiers.append(tail[0])
    return [qualifier[:_LONGEST_QUALIFIER] for qualifier in qualifiers]


@functools.lru_cache(maxsize=1 << 12)
def counts_out(qualifier: str, nid: str) -> bool:
    """Whether a qualifier (words next to a number, in any case, such as `(falsch)`) calls the number wrong, or, for
    `nid` "isbn", is about the ISBN of several volumes. False for a qualifier with a standard number (nine digits or
    more) in it.
    """
    match = _OF_NOTHING.search(qualifier)
    if nid == "isbn":
        match = match or _OF_SET.search(qualifier) or _VOLUMES.search(qualifier)
    return match is not None and not _NUMBER_IN_IT.search(qualifier)


def _urn_of_isbn(number: str) -> str | None:
    """The URN of an ISBN without hyphens, or of the ISSN in a bar code; None for other and wrong numbers, and one that
    only fills a field (9999999999). Faster than `namespaces.isbn.to_urn`.
    """
    if len(number) == 13 and (serial := issn.of_bar_code(number)):
        return _urn_of_issn(serial) if number[12:] != "X" and is_right(number.encode(), 0, 13) else None
    digits = bytearray(13)
    return f"urn:isbn:{digits.decode()}" if write_isbn(number.encode(), 0, len(number), digits, 0) == RIGHT else None


def _urn_of_issn(number: str) -> str | None:
    """The URN of an ISSN; None for a wrong check digit, and for a filler (`0000-0000`)."""
    if set(number) <= {number[0], "-"} or not issn.is_right(number.encode(), 0, len(number)):
        return None
    return f"urn:issn:{issn.canonical(number)}"


def _dois(text: str) -> Iterator[str]:
    for match in _DOI.finditer(text):
        for doi in _DOI_JOINT.split(match[1]):
            yield from _urn_by(namespaces.doi.to_urn, doi.rstrip(".:;,/"))


def _others(nid: str, text: str) -> Iterator[str]:
    """The URNs of the identifiers of the namespace `nid` in a text, which may be a list. If an item is not an
    identifier, such as an address, the part after its last slash is read.
    """
    to_urn = getattr(namespaces, nid).to_urn
    for part in _PART.findall(BRACKETS.sub("", text)):
        identifier = part.strip(_PUNCTUATION)
        yield from _urn_by(to_urn, identifier) or _urn_by(to_urn, identifier.rpartition("/")[2])


def _urn_by(to_urn: Callable[[str], str], identifier: str) -> tuple[str, ...]:
    """The URN in a tuple, which is empty for an invalid identifier, or a UUID of only 0 or only F."""
    try:
        urn = to_urn(identifier)
    except ValueError:
        return ()
    return () if urn in _NOBODYS else (urn,)


_READ: Mapping[str, Callable[[str], Iterator[str]]] = {
    **{kind: functools.partial(_numbers, pattern) for kind, pattern in LISTS.items()},
    "doi": _dois,
    OTHER: lambda _: iter(()),
    **{nid: functools.partial(_others, nid) for nid in _ALSO},
}
