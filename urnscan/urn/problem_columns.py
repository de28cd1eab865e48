"""Columns of spellings: the problems of each, compiled. `problems.py` does the same for one spelling.

The problems of a spelling are a *mark*, a set of bits: bit i stands for `OF_SPELLINGS[i]`. Marks of several spellings
are joined by `|`.
"""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

from urnscan.compiled.ascii import AMPERSAND, HASH, PERCENT, QUESTION_MARK, hex_digit, is_alnum, is_digit
from urnscan.compiled.jit import compiled, inlined, inner, read_only
from urnscan.compiled.octets import Octets
from urnscan.compiled.strings import Offsets
from urnscan.urn.problems import OF_SPELLINGS, has_repeated_keyword, misleading
from urnscan.urn.syntax import TAIL_QUERY, Syntax

Marks = npt.NDArray[np.uint8]

MARKS_IN_ALL = 1 << len(OF_SPELLINGS)
"""Number of different marks, 0 among them."""
_BIT = {code: 1 << place for place, code in enumerate(OF_SPELLINGS)}
_NUL, _REPEATED, _NOT_UTF_8, _NEEDLESS = 1, 2, 32, 64  # written out, as they become part of compiled code that is kept
_BEYOND = 128
"""Bit for a spelling with a character that can mislead; whether it does is decided one by one."""

_TOGETHER = 8  # spellings that are searched at once

_UNKNOWN, _DIGIT, SEPARATOR, LATIN, CYRILLIC, GREEK, ARMENIAN, GEORGIAN, HEBREW, ARABIC, JAPANESE, HANGUL = range(12)
SCRIPTS = (
    (0xC0, 0xD6, LATIN),
    (0xD8, 0xF6, LATIN),
    (0xF8, 0x27F, LATIN),
    (0x410, 0x44F, CYRILLIC),
    (0x401, 0x40C, CYRILLIC),
    (0x451, 0x45C, CYRILLIC),
    (0x4E00, 0x9FFF, JAPANESE),  # with Chinese: characters, hiragana and katakana go together in a word
    (0x3041, 0x3096, JAPANESE),
    (0x30A1, 0x30FA, JAPANESE),
    (0x30FC, 0x30FC, JAPANESE),
    (0xAC00, 0xD7A3, HANGUL),
    (0x621, 0x63A, ARABIC),
    (0x641, 0x64A, ARABIC),
    (0x5D0, 0x5EA, HEBREW),
    (0x391, 0x3A1, GREEK),
    (0x3A3, 0x3CE, GREEK),
    (0x388, 0x38A, GREEK),
    (0x531, 0x556, ARMENIAN),
    (0x561, 0x586, ARMENIAN),
    (0x10D0, 0x10F0, GEORGIAN),
    (0xAB, 0xAB, SEPARATOR),
    (0xBB, 0xBB, SEPARATOR),
    (0xD7, 0xD7, SEPARATOR),
    (0xF7, 0xF7, SEPARATOR),
    (0x2010, 0x2027, SEPARATOR),
)
"""First and last of letters of one script, and of characters between words; the most frequent first."""


def marks_of(octets: Octets, offsets: Offsets, syntax: Syntax) -> Marks:
    """The mark of each spelling of a column; 0 for one without problems."""
    marks = np.zeros(len(offsets) - 1, np.uint8)
    has_directives = syntax.tail == TAIL_QUERY
    text = octets[offsets[0] : offsets[-1]]
    if (text == PERCENT).any() or (has_directives and (text == AMPERSAND).any()):
        _mark(read_only(octets), read_only(offsets), has_directives, marks)
        decided = functools.cache(functools.partial(_decided, syntax=syntax))  # each different spelling once
        for row in np.flatnonzero(marks & (_BEYOND | _REPEATED)).tolist():
            marks[row] = decided(octets[offsets[row] : offsets[row + 1]].tobytes(), int(marks[row]))
    return marks


def _decided(spelling: bytes, mark: int, syntax: Syntax) -> int:
    """The mark of a spelling that compiled code left open."""
    text = spelling.decode()
    if mark & _REPEATED and not has_repeated_keyword(text, syntax):
        mark ^= _REPEATED
    if mark & _BEYOND:
        mark = sum((_BIT[code] for code in misleading(text, syntax)), mark ^ _BEYOND)
    return mark


@compiled
def _mark(octets: Octets, offsets: Offsets, has_directives: bool, marks: Marks) -> None:
    """Set the marks of spellings; _REPEATED where a "&" may stand between directives."""
    for first in range(0, len(marks), _TOGETHER):
        last = min(first + _TOGETHER, len(marks))
        some = octets[offsets[first] : offsets[last]]
        if not (_holds(some, PERCENT) or (has_directives and _holds(some, AMPERSAND))):
            continue
        for i in range(first, last):
            string = octets[offsets[i] : offsets[i + 1]]
            if _holds(string, PERCENT):
                marks[i] = _mark_of_encodings(string)
            if has_directives and _holds(string, AMPERSAND):
                marks[i] |= _REPEATED


@inlined
def _holds(string: Octets, wanted: int) -> bool:
    """Whether octets hold another. It has no early exit, so it is vectorised: most strings do not."""
    different = np.uint8(255)
    for j in range(len(string)):
        different = min(different, string[j] ^ np.uint8(wanted))
    return bool(different == 0)


@inner
def _mark_of_encodings(string: Octets) -> int:
    """The mark of the percent-encodings of a spelling, by the table of well-formed UTF-8 (Unicode 17, table 3-7).

    U+00C0 to U+027F, letters of Latin, cannot mislead, and are frequent: in UTF-8 they begin with C3 to C9. Nor can
    other characters if each word is of one script that SCRIPTS has, and a word of such letters has two of them or
    more. All others are left to `misleading`, which has the rules.
    """
    mark = code = wanted = 0  # of a character: its number so far, and continuations that are to come
    low, high = 0x80, 0xBF  # of the next of them
    script, foreign = SEPARATOR, 0  # of a word: its script, and its letters beyond Latin
    has_others = has_lone = has_longer = is_open = False
    at, end = 0, len(string)
    while at <= end:
        octet, is_encoded = 0, False  # behind the last octet, as if one more word ended
        if at < end:
            octet = int(np.int64(string[at]))
            is_encoded = octet == PERCENT
        if is_encoded:
            octet = hex_digit(string[at + 1]) * 16 + hex_digit(string[at + 2])
            at += 2
        at += 1
        if wanted and low <= octet <= high:
            code = code << 6 | octet & 0x3F
            low, high = 0x80, 0xBF
            wanted -= 1
            if wanted:
                continue
        else:
            if wanted:  # what was begun is not ended
                mark |= _NOT_UTF_8
                wanted, low, high = 0, 0x80, 0xBF
            if is_encoded and octet == 0:
                mark |= _NUL
            elif is_encoded and is_alnum(octet):
                mark |= _NEEDLESS
            elif octet >= 0x80:
                has_others |= octet < 0xC3 or octet > 0xC9
                if 0xC2 <= octet <= 0xF4:
                    wanted = 1 + int(octet >= 0xE0) + int(octet >= 0xF0)
                    code = octet & (0x3F >> wanted)
                    low = 0xA0 if octet == 0xE0 else 0x90 if octet == 0xF0 else 0x80
                    high = 0x9F if octet == 0xED else 0x8F if octet == 0xF4 else 0xBF
                else:
                    mark |= _NOT_UTF_8
                continue
            code = octet
        found = _script_of(code)
        if found == SEPARATOR:
            has_lone |= foreign == 1
            has_longer |= foreign > 1
            script, foreign = SEPARATOR, 0
            # Where the name ends, and where all ends: only another word tells that a lone letter does not mislead.
            is_open |= (code in (0, QUESTION_MARK, HASH)) and has_lone and not has_longer
        elif found != _DIGIT:
            is_open |= found == _UNKNOWN or script not in (SEPARATOR, found)
            script = found
            foreign += int(found != LATIN)
    if has_others and (is_open or mark & _NOT_UTF_8):
        mark |= _BEYOND
    return mark


@inlined
def _script_of(code: int) -> int:
    """The script of a letter, as SCRIPTS numbers them; or what else the character is."""
    if code < 0x80:
        return (_DIGIT if is_digit(code) else LATIN) if is_alnum(code) else SEPARATOR
    for first, last, script in SCRIPTS:
        if first <= code <= last:
            return script
    return _UNKNOWN
