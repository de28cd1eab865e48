"""ISBN and ISSN as catalogues write them: with labels, bindings and prices (ISBD area 8), several in a value.

>>> LISTS["isbn"].match("0-395-36341-1 (pbk.) : $9.00")["isbn"]
'0-395-36341-1'
>>> first_number("978-0-395-36341-6 (pbk.)"), first_number("a book")
('9780395363416', None)
>>> NEARLY.match("ISBN 97803953634 (pbk.)")["number"]
'97803953634'
"""

from __future__ import annotations

import regex

from urnscan.urn.reject_reasons import DASHES, INVISIBLES

TYPESET = str.maketrans(
    dict.fromkeys(DASHES + "\ufe58", "-")
    | dict.fromkeys("\u00a0\u2007\u2009\u202f\u3000", " ")
    | dict.fromkeys(INVISIBLES + "\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069\u0098\u009c")
    | {0xFF10 + digit: str(digit) for digit in range(10)}
    | {0xFF38: "X", 0xFF58: "x"}
)
"""Table for `str.translate`: hyphens of typesetters and digits of East Asian typewriters become plain, and invisible
characters are removed.
"""

QUALIFIER = r"(?:\s*+(?:\([^()]*+\)|\[[^\[\]]*+\]))"
"""Pattern of words in brackets, for example ` (pbk.)`."""
LABEL = (
    r"(?:(?:print|online|electronic|[ep])[- ]?)?{}(?:-?l\b)?(?:[-_ ]?1[03](?=[\s:]))?"
    r"\s*+[:=]?\s*+(?:\([^()]*+\)\s*+)?[:=]?\s*+"
)
"""Pattern of a label, such as `ISSN-L`, `Print ISBN`, `ISBN-13 (ebook):`; `{}` is the name of the number."""
SEPARATED = "[- ]{0,3}"
"""Pattern of what may be between two digits."""
ISSN_ADDRESS = r"https?://portal\.issn\.org/resource/issn/"
"""Pattern of the address before an ISSN."""

# The binding or the medium before an ISBN: `pbk. 9783161484100`, `Print: 9783161484100`.
_BINDING = (
    r"(?:print|online|electronic|e-?book|epub|pdf|hbk|pbk|hardback|hardcover|paperback|softcover|cloth|geb|br|brosch|kart)"
    r"\b\.?(?:\s*+:)?\s++"
)
# Words in brackets belong to the text before them. White space after a separator is passed once, not from each line end.
_TO_NEXT = r"(?:(?:\([^()]*+\)|[^;,|/\n(]|\()*+[;,|/\n]\s*+)"
_END = "(?!-?[0-9Xx])"
_NUMBERS = {
    "isbn": rf"(?:{_BINDING})?(?:{LABEL.format('isbn')})?"
    rf"(?P<isbn>(?:97[89]{SEPARATED})?(?:[0-9]{SEPARATED}){{9}}[0-9x]){_END}",
    "issn": rf"(?:{LABEL.format('issn')}|{ISSN_ADDRESS})?(?P<issn>[0-9]{{4}}{SEPARATED}[0-9]{{3}}[0-9x]){_END}",
    # 979-0 begins an ISMN.
    "ean": rf"(?:{LABEL.format('(?:isbn|ean|gtin)')})?"
    rf"(?P<ean>97(?:[78]|9(?!{SEPARATED}0))(?:{SEPARATED}[0-9]){{10}}){_END}",
}


def _in_list(*kinds: str) -> regex.Pattern[str]:
    """The pattern of the next number in a list. It must be matched at the beginning of the list or the end of the last
    match. Other text before a separator (one of `;,|/` or a line end) is skipped.
    """
    numbers = "|".join(_NUMBERS[kind] for kind in kinds)
    return regex.compile(rf"(?i)\G{_TO_NEXT}*?(?P<lead>){QUALIFIER}?\s*+(?:{numbers}){QUALIFIER}*+")


LISTS = {kind: _in_list(kind) for kind in _NUMBERS} | {"serial": _in_list("isbn", "issn")}
"""Kind of a value -> pattern of the next number in the value. `serial` is an ISBN or an ISSN. In a match, the group
`lastgroup` has the number, and the empty group `lead` is where its label begins.
"""

# In a text of unknown kind, digits may also begin a time (20:15) or the name of a file (12345678.pdf).
_REMARK = r"(?=\s|[(\[;,|]|[.:/=]++(?:\s|\Z)|\Z)"
_BEFORE_REMARK = regex.compile(_REMARK)
NEARLY = regex.compile(
    rf"(?i)(?:(?P<isbn>{LABEL.format('isbn')})|(?P<issn>{LABEL.format('issn')}))?"
    rf"(?P<number>[0-9](?:{SEPARATED}[0-9]|-?[ilox])*+){_REMARK}"
)
"""Pattern of a text of unknown kind that begins with digits, and letters that look like digits, however many; the label
is in the group `isbn` or `issn`.
"""


def first_number(text: str) -> str | None:
    """The ISBN or ISSN, without hyphens and spaces, and with a capital X, with which a text of unknown kind begins;
    None without one. The check digit may be wrong.

    A label, or words in brackets, may be before the number. After it comes white space, an opening bracket, one of
    `;,|`, or the end of the text, perhaps with some of `.:/=` before a space or the end.
    """
    plain = text.translate(TYPESET).strip()
    match = LISTS["serial"].match(plain)
    if match is None or match.end("lead") or not _BEFORE_REMARK.match(plain, match.end(str(match.lastgroup))):
        return None
    number: str = match[str(match.lastgroup)]
    return number.replace("-", "").replace(" ", "").upper()
