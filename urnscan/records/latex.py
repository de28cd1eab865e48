"""Letters and signs that BibTeX has as commands of LaTeX, in the titles and names of a description."""

from __future__ import annotations

import re
import unicodedata

# Commands for accents -> combining characters.
_ACCENTS = {
    b'"': "\u0308",
    b"'": "\u0301",
    b"`": "\u0300",
    b"^": "\u0302",
    b"~": "\u0303",
    b"=": "\u0304",
    b".": "\u0307",
    b"c": "\u0327",
    b"v": "\u030c",
    b"H": "\u030b",
    b"u": "\u0306",
    b"k": "\u0328",
    b"r": "\u030a",
    b"d": "\u0323",
    b"b": "\u0331",
}
_LETTERS = {
    b"ss": "ß",
    b"ae": "æ",
    b"AE": "Æ",
    b"oe": "œ",
    b"OE": "Œ",
    b"o": "ø",
    b"O": "Ø",
    b"l": "ł",
    b"L": "Ł",
    b"aa": "å",
    b"AA": "Å",
    b"i": "i",
    b"j": "j",
    b"textendash": "-",
    b"textemdash": "-",
}
_ACCENTED = re.compile(rb"\\(?:([\"'`^~=.])|([cvHukrdb])(?=[\s{]))\s*+(?:\{\s*+\\?([A-Za-z])\s*+\}|\\?([A-Za-z]))")
_LETTER = re.compile(rb"\\(" + b"|".join(_LETTERS) + rb")(?![A-Za-z])(?>(?:\{\}|[ \t]++)?)")
_STYLE = re.compile(
    rb"\\(?:emph|text(?:it|bf|sc|rm|sf|tt|sl|up|normal|superscript|subscript)|math(?:rm|it|bf|cal|bb|sf)|ensuremath|mbox|"
    rb"it|bf|em|sc|rm|tt|sl|sf)(?![A-Za-z])\s*+"
)


def without_commands(data: bytes) -> bytes:
    r"""Return bytes of BibTeX with letters in UTF-8 instead of the usual commands of LaTeX for letters and accents,
    with `-` instead of commands for dashes, and without commands for the style of the text (`\emph{x}` -> `{x}`). Other
    commands remain, and braces that are not a part of a replaced command.

    >>> without_commands(rb"Ne{\v c}as, {\it in vitro}, Ro\c{s}u, \'Elan, Stra{\ss}e").decode()
    'Ne{č}as, {in vitro}, Roşu, Élan, Stra{ß}e'
    """
    data = _ACCENTED.sub(_accented, data)
    return _STYLE.sub(b"", _LETTER.sub(lambda letter: _LETTERS[letter[1]].encode(), data))


def _accented(command: re.Match[bytes]) -> bytes:
    sign, word, in_braces, bare = command.groups()
    letter = (in_braces or bare).decode()
    return unicodedata.normalize("NFC", letter + _ACCENTS[sign or word]).encode()
