"""Own identifiers of records as texts in which the scanner finds URNs: native identifiers become URNs.

The registrations (`urnscan.urn.namespaces`) say which identifier has which URN. Here is only what catalogues write
around identifiers: labels, addresses, bindings and prices (ISBD area 8), several in one value.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping

import regex

from urnscan.records.fields import Own
from urnscan.urn import namespaces
from urnscan.urn.numbers import issn
from urnscan.urn.numbers.isbn import RIGHT, is_right, write_isbn

_ALSO = ("uuid", "isni", "isan", "lei", "oid", "eidr")  # namespaces whose identifiers need no more than their `to_urn`
# Kinds of identifiers, and the names of each in records, in small letters and digits alone. An identifier with another
# name, or one that says nothing (`uri`, `local`), has to tell its kind by itself.
_KINDS = dict(zip(_ALSO, _ALSO, strict=True)) | {
    "isbn": "isbn isbn10 isbn13 eisbn pisbn isbnprint isbnelectronic",
    "issn": "issn issnl lissn eissn pissn essn pssn issnprint issnelectronic issnonline",
    "serial": "serial isbnissn issnisbn serialnumber sn",  # RIS has one field for both
    "ean": "ean ean13 gtin gtin13 jan bookland internationalarticlenumber",
    "doi": "doi doiname",
    "uuid": "uuid guid",
    "isan": "isan visan",
}
_NAMES = {name: kind for kind, names in _KINDS.items() for name in names.split()}
# Names of other identifiers, whose digits may look like one above. An ISBN that a record calls wrong is that of another
# book, or of none.
_OTHERS = frozenset(
    "hdl handle ark purlid oclc ocolc oclcnumber lccn lc ismn isrc istc iswc isil iswn upc upca gtin8 gtin12 gtin14 "
    "sici bici arxiv arxivid pmid pubmed pmcid pmc mid bibcode ads mag s2 s2id orcid viaf gnd wikidata zdb zdbid zdbnr "
    "ppn idn asin strn coden ddc udc lcc nlm rvk stocknumber issuenumber matrixnumber musicplate musicpublisher "
    "videorecording publishernumber callnumber shelfmark shelflocator barcode igtin wrongisbn invalidisbn "
    "isbninvalid incorrectisbn isbnincorrect cancelledisbn canceledisbn invalidissn issninvalid incorrectissn "
    "issnincorrect cancelledissn canceledissn formalfalscheisbn".split()
)
TELLS = "tells"  # it has to tell by itself
OTHER = "other"

# Hyphens of typesetters and digits of East Asian typewriters are plain ones; what is invisible is nothing.
_TYPESET = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-")
    | dict.fromkeys("\u00a0\u2007\u2009\u202f\u3000", " ")
    | dict.fromkeys(
        "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u2060\u2066\u2067\u2068\u2069\ufeff\u0098\u009c"
    )
    | {0xFF10 + digit: str(digit) for digit in range(10)}
    | {0xFF38: "X", 0xFF58: "x"}
)

# RE2 runs these three patterns, too, so they do not look around.
HAS_URN = "(?i)(?:^|[^0-9a-z])urn:|urn%(?:25)*3a"
"""Pattern of the beginning of a URN, also in an address."""
ADDRESS = "(?i)^https?://[a-z0-9]"
"""Pattern of the beginning of an address."""
TELLING_ADDRESS = r"(?i)^https?://(?:[a-z]+\.)?(?:doi|issn|isni|gleif)\.org"
"""Pattern of addresses that tell the kind of an identifier: most do not."""
_URN = regex.compile(HAS_URN)
_ADDRESS, _TELLING_ADDRESS = re.compile(ADDRESS), re.compile(TELLING_ADDRESS)

_QUALIFIER = r"(?:\s*+(?:\([^()]*+\)|\[[^\[\]]*+\]))"  # (pbk.)
# Words in brackets belong to the text before them. White space behind is passed once, not from each line end.
_TO_NEXT = r"(?:(?:\([^()]*+\)|[^;,|/\n(]|\()*+[;,|/\n]\s*+)"
# ISSN-L, Print ISBN, ISBN-13 (ebook):
_LABEL = (
    r"(?:(?:print|online|electronic|[ep])[- ]?)?{}(?:-?l\b)?(?:[-_ ]?1[03](?=[\s:]))?"
    r"\s*+[:=]?\s*+(?:\([^()]*+\)\s*+)?[:=]?\s*+"
)
# An ISBN of a work of several volumes stands in the record of each of them. Catalogues mark it by words, beginnings of
# words, and numbers of volumes.
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
# An ISBN that is wrong is recorded as it is printed in the book, with one of these words.
_OF_NOTHING = regex.compile(
    r"(?i)(?<!\p{L})(?:falsch|f(?:ä|a\u0308|ae)lschl|fals[aeo]|ung(?:ü|u\u0308|ue)ltig|fehlerh|unrichtig|"
    r"nicht korrekt|wrong|err(?:or(?!s? corr)|on|ó|o\u0301|at|\.)|inv[aá]lid|incorr|not valid|cancel|annul|"
    r"fau(?:x|sse)(?!\p{L})|felaktig|fout|virhe|neplatn|chybn|błędn)"
)
_NUMBER_IN_IT = regex.compile("[0-9](?:[- ]?[0-9]){8}")  # the words are about that number
_LONGEST_QUALIFIER = 200
_TAIL = regex.compile(r"[^;,|/\n:=0-9]{0,80}+")  # words without brackets

_SEPARATED = "[- ]{0,3}"
_END = "(?!-?[0-9Xx])"
_ISSN_ADDRESS = r"https?://portal\.issn\.org/resource/issn/"
_NUMBERS = {
    "isbn": rf"(?:{_LABEL.format('isbn')})?(?P<isbn>(?:97[89]{_SEPARATED})?(?:[0-9]{_SEPARATED}){{9}}[0-9x]){_END}",
    "issn": rf"(?:{_LABEL.format('issn')}|{_ISSN_ADDRESS})?(?P<issn>[0-9]{{4}}{_SEPARATED}[0-9]{{3}}[0-9x]){_END}",
    # 979-0 begins an ISMN.
    "ean": rf"(?:{_LABEL.format('(?:isbn|ean|gtin)')})?"
    rf"(?P<ean>97(?:[78]|9(?!{_SEPARATED}0))(?:{_SEPARATED}[0-9]){{10}}){_END}",
}


def _in_list(*kinds: str) -> regex.Pattern[str]:
    """Make a pattern for the next number of a list: each begins a part of the text, or follows the one before."""
    numbers = "|".join(_NUMBERS[kind] for kind in kinds)
    return regex.compile(rf"(?i)\G{_TO_NEXT}*?(?P<lead>){_QUALIFIER}?\s*+(?:{numbers}){_QUALIFIER}*+")


_ISBN, _ISSN, _EAN, _SERIAL = _in_list("isbn"), _in_list("issn"), _in_list("ean"), _in_list("isbn", "issn")

_DOI_LABEL = r"(?:(?:https?://)?(?:(?:dx|www)\.)?doi\.org/|info:doi/|doi\s*+:?\s*+){0,2}"
_DOI_PREFIX = r"10\.[0-9]{4,9}(?:\.[0-9]++)*+(?:/|%2f)"
# White space ends a DOI only before something else: punctuation, another DOI, an address, a label, words in brackets.
# Otherwise it may stand in the middle of one, where a line of a page or of a record ended.
_DOI_END = (
    rf"(?:\s*+\Z|(?<=[;,|])|\s++(?=[;,|]|[/:=.](?:\s|\Z)|{_DOI_LABEL}{_DOI_PREFIX}|https?://|"
    r"(?:[ep]-?)?(?:isbn|issn)|(?:pmid|pmcid|pii|hdl|handle|urn|ur[il]|epub)\b|\p{L}++:\s|"
    r"[(\[]\p{L}[^()\[\]]*+[)\]](?!\w)))"
)
_DOI = regex.compile(rf"(?i)\G\s*+({_DOI_LABEL}{_DOI_PREFIX}\S++){_DOI_END}{_QUALIFIER}*+\s*+[;,|]?+")
_DOI_JOINT = regex.compile(rf"(?i)[;,|](?={_DOI_LABEL}{_DOI_PREFIX})")

_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

# The nil and the max UUID (RFC 9562, sections 5.9 and 5.10).
_NOBODYS = frozenset(f"urn:uuid:{digit * 8}-{f'{digit * 4}-' * 3}{digit * 12}" for digit in "0f")

_PLAIN_DOI = re.compile(
    r"(?:https?://(?:dx\.)?doi\.org/)?(10\.[0-9]{4,9}/[A-Za-z0-9](?:[A-Za-z0-9._()-]{0,199}[A-Za-z0-9])?)"
)
_BRACKETS = regex.compile(r"\([^()]*+\)|\[[^\[\]]*+\]")
_PART = regex.compile(r"[^;,|\n]++")
_PUNCTUATION = " \t\r\n.:;,/|="

# Beginnings of identifiers that tell their kind by themselves.
_TELLING = regex.compile(
    "(?i)"
    + "|".join(
        f"(?P<{kind}>{pattern})"
        for kind, pattern in {
            "doi": _DOI_LABEL + _DOI_PREFIX,
            "isbn": _LABEL.format("isbn") + "[0-9]",
            "issn": rf"(?:{_LABEL.format('issn')}|{_ISSN_ADDRESS})[0-9]",
            "ean": rf"97[89](?:{_SEPARATED}[0-9]){{10}}(?=[.:;,/|]*+(?:\s|\Z)|[;,|(\[])",
            "uuid": rf"(?:[ug]uid\s*+:?\s*+)?(?:{_UUID}|\{{{_UUID}\}})(?=[.:;,/|]*+(?:\s|\Z)|[;,|])",
            "oid": r"oid(?:\s*+:\s*+|\s++)[0-2]\.[0-9]",
            "isni": r"https?://(?:www\.)?isni\.org/",
            "lei": r"https?://(?:api\.gleif\.org/api/v1/lei-records|search\.gleif\.org/#/record)/",
        }.items()
    )
)


def as_text(own: Own) -> str | None:
    """Write an own identifier as a text in which its URNs are found; None if it has none.

    A text that holds a URN stays as it is. In any other, native identifiers become URNs, one on a line: the first, and
    those in a list with it. Left out is what is malformed, has a wrong check digit, only fills the field (0000000000)
    or is marked as wrong; a DOI that white space may have cut; and an ISBN of a set, which names all its volumes.

    >>> as_text(Own("3-16-148410-X (geb.) : EUR 12.00", "isbn")), as_text(Own("https://doi.org/10.1000/182"))
    ('urn:isbn:9783161484100', 'urn:doi:10.1000/182')
    """
    if own.is_key:
        return None
    text = own.text
    if "urn" in text.lower() and _URN.search(text):
        return text
    kind, plain = _taken(own)
    if kind == "doi":
        plain = text.strip()  # a DOI keeps its hyphens
        if match := _PLAIN_DOI.fullmatch(plain):  # as mostly
            return f"urn:doi:{match[1].lower()}"
    return "\n".join(dict.fromkeys(_READ[kind](plain))) or None


def with_wrong_digit(own: Own) -> str | None:
    """The first ISBN or ISSN of an own identifier that gives no URN, because the check digit is wrong; None if there is none.

    A number that the record itself calls wrong is none.

    >>> with_wrong_digit(Own("978-0-395-36341-5 (pbk.)", "isbn")), with_wrong_digit(Own("978-0-395-36341-6", "isbn"))
    ('978-0-395-36341-5', None)
    """
    if own.is_key:
        return None
    kind, plain = _taken(own)
    if kind not in _LISTS or as_text(own) is not None:
        return None
    for match in _LISTS[kind].finditer(plain):
        group = str(match.lastgroup)
        is_filler = len(set(_digits(match[group]).removeprefix("978")[:-1])) == 1
        nid = "issn" if group == "issn" else "isbn"
        if not is_filler and not any(counts_out(each, nid) for each in _qualifiers(match, group)):
            return match[group].strip()
    return None


def _taken(own: Own) -> tuple[str, str]:
    """The kind of an own identifier without a URN, and its text as that is read; `OTHER` for one that cannot be read."""
    kind = kind_of(own.scheme)
    plain = (own.text if own.text.isascii() else own.text.translate(_TYPESET)).strip()
    if kind == TELLS:
        is_other = _ADDRESS.match(plain) and not _TELLING_ADDRESS.match(plain)
        telling = None if is_other else _TELLING.match(plain)
        kind = OTHER if telling is None else str(telling.lastgroup)
    return kind, plain


def names_other(scheme: str) -> bool:
    """Whether a scheme names a kind of identifier that is no address and no DOI: the identifier tells nothing by itself."""
    return kind_of(scheme) not in (TELLS, "doi")


@functools.lru_cache(maxsize=1 << 10)
def kind_of(scheme: str) -> str:
    """Kind of identifier that a scheme means: `dcterms:isbn`, `ISBN-13`, `info:eu-repo/semantics/altIdentifier/doi`."""
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
    return TELLS


def _numbers(pattern: regex.Pattern[str], text: str) -> Iterator[str]:
    """The URNs of a list of ISBN, ISSN or EAN whose check digits are right."""
    for match in pattern.finditer(text):
        group = str(match.lastgroup)
        number = _digits(match[group])
        urn = _urn_of_issn(number) if group == "issn" else _urn_of_isbn(number)
        if urn and not any(counts_out(each, urn[4:8]) for each in _qualifiers(match, group)):
            yield urn


def _digits(number: str) -> str:
    return number.replace("-", "").replace(" ", "").upper()


def _qualifiers(match: regex.Match[str], group: str) -> list[str]:
    """Words around a number that say something of it."""
    text, (start, end) = match.string, match.span(group)
    if match.end("lead") == start and end == len(text):
        return []
    qualifiers = _BRACKETS.findall(text, match.end("lead"), start) + _BRACKETS.findall(text, end, match.end())
    if match.end() < len(text) and (tail := _TAIL.match(text, match.end())):
        qualifiers.append(tail[0])
    return [each[:_LONGEST_QUALIFIER] for each in qualifiers]


@functools.lru_cache(maxsize=1 << 12)
def counts_out(qualifier: str, nid: str) -> bool:
    """Whether a qualifier says that the number is wrong, or that of several volumes."""
    said = _OF_NOTHING.search(qualifier)
    if nid == "isbn":
        said = said or _OF_SET.search(qualifier) or _VOLUMES.search(qualifier)
    return said is not None and not _NUMBER_IN_IT.search(qualifier)


def _urn_of_isbn(number: str) -> str | None:
    """The URN of an ISBN without hyphens, faster than by `namespaces.isbn.to_urn`; also that of the ISSN in a bar code."""
    if len(number) == 13 and (serial := issn.of_bar_code(number)):
        return _urn_of_issn(serial) if number[12:] != "X" and is_right(number.encode(), 0, 13) else None
    digits = bytearray(13)
    return f"urn:isbn:{digits.decode()}" if write_isbn(number.encode(), 0, len(number), digits, 0) == RIGHT else None


def _urn_of_issn(number: str) -> str | None:
    """The URN of an ISSN, as `namespaces.issn.to_urn` gives it."""
    if set(number) <= {number[0], "-"} or not issn.is_right(number.encode(), 0, len(number)):
        return None
    return f"urn:issn:{issn.canonical(number)}"


def _dois(text: str) -> Iterator[str]:
    """The URNs of a list of DOIs; white space is no part of one."""
    for match in _DOI.finditer(text):
        for doi in _DOI_JOINT.split(match[1]):
            yield from _by(namespaces.doi.to_urn, doi.rstrip(".:;,"))


def _others(nid: str, text: str) -> Iterator[str]:
    """The URNs of a list of identifiers of another namespace, in addresses as well."""
    to_urn = getattr(namespaces, nid).to_urn
    for part in _PART.findall(_BRACKETS.sub("", text)):
        identifier = part.strip(_PUNCTUATION)
        yield from _by(to_urn, identifier) or _by(to_urn, identifier.rpartition("/")[2])


def _by(to_urn: Callable[[str], str], identifier: str) -> tuple[str, ...]:
    """The URN of an identifier, if it is one."""
    try:
        urn = to_urn(identifier)
    except ValueError:
        return ()
    return () if urn in _NOBODYS else (urn,)


_LISTS = {"isbn": _ISBN, "issn": _ISSN, "serial": _SERIAL, "ean": _EAN}
_READ: Mapping[str, Callable[[str], Iterator[str]]] = {
    **{kind: functools.partial(_numbers, pattern) for kind, pattern in _LISTS.items()},
    "doi": _dois,
    OTHER: lambda _: iter(()),
    **{nid: functools.partial(_others, nid) for nid in _ALSO},
}
