"""DOI as programs and catalogues write them -> plain DOI.

>>> plain_doi("https://doi-org.proxy.example/10.5555/a?nosfx=y")
'https://doi.org/10.5555/a'
>>> plain_doi("10.1002/(SICI)1097(1998)49:8&lt;693::AID-ASI4$>$3.0.CO;2-O")
'10.1002/(SICI)1097(1998)49:8<693::AID-ASI4>3.0.CO;2-O'
"""

from __future__ import annotations

import html
import re

AT_PROXY = r"https?://[^\s?]*\?(?:[a-z]+=[^\s&]*&)*q?url=https?(?:://|%3a%2f%2f)(?:(?:dx|www)\.)?doi\.org"
"""Pattern of an address in the query of a library's proxy, up to the host of DOI. RE2 runs it, too."""
# A text without a match is plain.
_ODD = re.compile(
    r"&(?:[a-z]+|#[0-9a-fx]+);|%3[ce]|[$\\{]|10\.[0-9.]{4,20}//|\Ahttps?://\S*?(?:\?|-org|\.org[.:])"
    r"|\A\s*[\[(<{\"']",
    re.IGNORECASE,
)
_SIGNS = dict.fromkeys(("lt", "less", "textless", "langle", "3c"), "<") | dict.fromkeys(
    ("gt", "greater", "textgreater", "rangle", "3e"), ">"
)
_NAMES = "|".join(_SIGNS)
# `$<$`, `$\less$`, `{\textless}`, `\textless{}`.
_TEX = re.compile(
    rf"\$\s*+(?:\\(?:ensuremath|mathrm|text)\s*+)?\{{?\s*+(?:([<>])|\\({_NAMES}))(?:\{{\}})?\s*+\}}?\s*+\$"
    rf"|\{{?\\({_NAMES})(?![a-z])(?:\{{\}})?\s*+\}}?|\{{([<>])\}}|\\([_&%#$<>])"
)  # fmt: skip
# Without its address, a DOI has no encodings; `<` and `>` are those of SICI.
_ENCODED = re.compile("%(3C|3E)", re.IGNORECASE)
# The American Psychological Association registers its DOI with two slashes, and resolves them with one, too.
_TWO_SLASHES = re.compile(r"(10\.[0-9]{4,9}(?:\.[0-9]+)*)//++")
_HOST = re.compile(
    rf"\A(?:{AT_PROXY}(?:/|%2f)|https?://(?:(?:dx|www)[.-])?doi[.-]org(?:\.[a-z0-9.-]+)?(?::[0-9]+)?/)", re.IGNORECASE
)
# A query with names is not a part of the DOI, which would have its question mark encoded.
_QUERY = re.compile(r"(\Ahttps?://[^\s?#]+)\?[a-z_][\w.-]*=\S*", re.IGNORECASE)
# In brackets or quotation marks.
_CLOSES = {"[": "]", "(": ")", "<": ">", "{": "}", '"': '"', "'": "'"}
_BEGINS = re.compile(r"https?://|doi|10\.", re.IGNORECASE)


def plain_doi(text: str) -> str:
    """Return a DOI, or the URL of one, in a plain spelling: references of HTML and commands of TeX become characters,
    a double slash after the prefix becomes one, brackets around the DOI are removed, and the host of a proxy becomes
    `doi.org`; a query of names and values is removed from the URL. Of %HH only `%3C` and `%3E` are decoded. A text
    without `10.` is returned unchanged.

    >>> plain_doi("10.1037//0022-3514.83.3.606"), plain_doi("https://doi.org/10.5555/a?nosfx=y")
    ('10.1037/0022-3514.83.3.606', 'https://doi.org/10.5555/a')
    """
    if "10." not in text or not _ODD.search(text):
        return text
    text = _unwrapped(html.unescape(html.unescape(text)) if "&" in text else text)
    text = _ENCODED.sub(_sign, _TEX.sub(_sign, text))
    text = _TWO_SLASHES.sub(r"\1/", _HOST.sub("https://doi.org/", text))
    return _QUERY.sub(r"\1", text) if text.startswith("https://doi.org/") else text


def _unwrapped(text: str) -> str:
    """A DOI without the brackets or quotation marks around it."""
    inner = text.strip()
    is_wrapped = len(inner) > 1 and _CLOSES.get(inner[0]) == inner[-1]
    inner = inner[1:-1].strip()
    return inner if is_wrapped and _BEGINS.match(inner) else text


def _sign(match: re.Match[str]) -> str:
    *signs, escaped = match.groups()
    sign = next(filter(None, signs), escaped)
    return _SIGNS.get(sign.lower(), sign)
