"""The problems of each spelling of a column, compiled. `problems.py` finds the problems of a single spelling.

The problems of a spelling are a *mark*, a set of bits: bit i represents `OF_SPELLINGS[i]`. The marks of several
spellings are united by `|`.
"""

from __future__ import annotations

import unicodedata

import numpy as np
import numpy.typing as npt

from urnscan.compiled.ascii import AMPERSAND, COLON, EQUALS, HASH, PERCENT, QUESTION_MARK, hex_digit, is_alnum, is_digit
from urnscan.compiled.bytes import ByteArray, Integers, find_byte, holds, occurrences
from urnscan.compiled.jit import compiled, inlined, inner, read_only
from urnscan.compiled.strings import Offsets
from urnscan.urn.lookalikes import (
    COMPATIBILITY,
    COMPOSED,
    CONFUSABLE,
    FIRST_SUSPECT,
    IGNORABLE,
    INVISIBLE,
    NOT_NFC,
    REPLACED,
    SUSPECT,
    has_invisible,
    problems_of_words,
    traits_of,
)
from urnscan.urn.problems import OF_SPELLINGS, has_repeated_keyword
from urnscan.urn.syntax import TAIL_NONE, TAIL_QUERY, Syntax

Marks = npt.NDArray[np.uint16]

MARKS_IN_ALL = 1 << len(OF_SPELLINGS)
"""Number of possible marks (sets of problems of a spelling), including 0."""
# These bits are literals and not computed from OF_SPELLINGS, because cached compiled code contains them.
_NUL, _REPEATED, _NOT_UTF_8, _NEEDLESS, _NOT_ADOPTED = 1, 2, 32, 64, 512
_SUSPECT = 1 << 15
"""Bit of a spelling with a character that may mislead. It is removed before a mark is returned."""

# Number of spellings that are searched at once.
_TOGETHER = 8
# Maximum bytes of spellings whose decoded characters are in memory at once.
_SLICE = 1 << 22
# Compiled code compares each keyword of a URN with each other one. With this number of separators, Python does it.
_MAX_DIRECTIVES = 64

# The characters of several spellings are one array. Two lone surrogates, which cannot occur in UTF-8, are separators in
# it: after a name before its components, and after a spelling. Neither combines with a mark that follows.
_NAME_END, _END = 0xD800, 0xD801
_REPLACEMENT = 0xFFFD
_IS_SUSPECT = np.frombuffer(SUSPECT, np.uint8)

_Codes = npt.NDArray[np.uint32]

_TRAITS = np.zeros((2, 0x110000), np.int64)
"""The traits of all code points, without and with `exact`; 0 for a character that no spelling has had so far."""


def marks_of(data: ByteArray, offsets: Offsets, syntax: Syntax) -> Marks:
    """For each spelling of a column, its problems as a mark: bit i is set for the problem `OF_SPELLINGS[i]`; 0 without
    problems. Spelling i is `data[offsets[i]:offsets[i + 1]]`, a whole URN in `syntax`.
    """
    marks = np.zeros(len(offsets) - 1, np.uint16)
    has_directives = syntax.tail == TAIL_QUERY
    text = data[offsets[0] : offsets[-1]]
    if not (text == PERCENT).any() and not (has_directives and ((text == QUESTION_MARK) | (text == HASH)).any()):
        return marks
    first = 0
    while first < len(marks):
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + _SLICE)) - 1)
        _add_marks(data, offsets[first : last + 1], syntax, marks[first:last])
        first = last
    return marks


def _add_marks(data: ByteArray, offsets: Offsets, syntax: Syntax, marks: Marks) -> None:
    """Set `marks`, which are all 0, to the problems of the spellings in a slice of a column."""
    codes = np.empty(offsets[-1] - offsets[0] + 2 * len(marks), np.uint32)
    has_components, has_directives = syntax.tail != TAIL_NONE, syntax.tail == TAIL_QUERY
    filled, has_long = _mark(read_only(data), read_only(offsets), has_components, has_directives, codes, marks)
    if filled:
        _add_misleading(codes[:filled], marks)
    if has_long:
        for row in np.flatnonzero(marks & _REPEATED).tolist():
            if not has_repeated_keyword(data[offsets[row] : offsets[row + 1]].tobytes().decode(), syntax):
                marks[row] ^= _REPEATED


def _add_misleading(codes: _Codes, marks: Marks) -> None:
    """Add the problems of characters to the marks with the bit _SUSPECT, and remove this bit. `codes` has the
    characters of these spellings only.
    """
    rows = np.flatnonzero(marks & _SUSPECT)
    marks[rows] ^= _SUSPECT
    found = np.zeros(len(rows), np.uint16)
    traits = _traits(codes)
    union = np.bitwise_or.reduce(traits)
    if union & COMPATIBILITY:
        found[np.searchsorted(np.flatnonzero(codes == _END), np.flatnonzero(traits & COMPATIBILITY))] |= REPLACED
    composed = codes
    if union & COMPOSED:
        composed = _composed(codes)
        found[_differing_rows(codes, composed)] |= NOT_NFC
    if union & IGNORABLE:
        _find_invisible(read_only(codes), read_only(traits), found)
        composed = _composed(codes[traits & IGNORABLE == 0])
    if union & (IGNORABLE | COMPOSED):
        codes = composed
        traits = _traits(codes)
    _judge_words(read_only(codes), read_only(traits), found)
    if (found & CONFUSABLE).any():
        found &= 0xFFFF ^ CONFUSABLE
        _judge_words(read_only(codes), read_only(_traits(codes, exact=True)), found)
    marks[rows] |= found


def _differing_rows(codes: _Codes, others: _Codes) -> npt.NDArray[np.bool_]:
    """For each spelling, whether `codes` and `others` differ. Both have an _END after each spelling."""
    lengths, other_lengths = (np.diff(np.flatnonzero(rows == _END), prepend=-1) for rows in (codes, others))
    differs = np.asarray(lengths != other_lengths)
    row = np.repeat(np.arange(len(lengths)), lengths)
    # Spellings of the same length are compared character by character.
    is_other = codes[~differs[row]] != others[np.repeat(~differs, other_lengths)]
    differs[row[~differs[row]][is_other]] = True
    return differs


def _composed(codes: _Codes) -> _Codes:
    text = unicodedata.normalize("NFC", codes.tobytes().decode("utf-32-le", "surrogatepass"))
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _traits(codes: _Codes, *, exact: bool = False) -> Integers:
    table = _TRAITS[int(exact)]
    traits: Integers = table[codes]
    if not traits.all():
        for code in np.unique(codes[traits == 0]).tolist():
            table[code] = traits_of(chr(code), exact=exact)
        traits = table[codes]
    return traits


@compiled
def _mark(
    data: ByteArray, offsets: Offsets, has_components: bool, has_directives: bool, codes: _Codes, marks: Marks
) -> tuple[int, bool]:
    """Set the marks of spellings. Those that may have misleading characters get _SUSPECT, and their characters are
    written to `codes`, which has room for all bytes and two elements more for each spelling.

    Returns the number of characters written, and whether a spelling has a long query. Such a spelling gets _REPEATED,
    and the caller must check it.
    """
    filled, has_long = 0, False
    for first in range(0, len(marks), _TOGETHER):
        last = min(first + _TOGETHER, len(marks))
        some = data[offsets[first] : offsets[last]]
        has_tail = has_directives and (holds(some, QUESTION_MARK) or holds(some, HASH))
        if not (holds(some, PERCENT) or has_tail):
            continue
        for i in range(first, last):
            string = data[offsets[i] : offsets[i + 1]]
            if holds(string, PERCENT):
                end, marks[i] = _decode(string, has_components, codes, filled)
                if marks[i] & _SUSPECT:
                    filled = end
            if has_tail and (holds(string, QUESTION_MARK) or holds(string, HASH)):
                marks[i] |= _NOT_ADOPTED
            if has_tail and holds(string, AMPERSAND):
                directives = _query(string)
                is_long = occurrences(directives, 0, len(directives), AMPERSAND) >= _MAX_DIRECTIVES
                has_long |= is_long
                if is_long or _has_repeated_keyword(directives):
                    marks[i] |= _REPEATED
    return filled, has_long


@inner
def _decode(string: ByteArray, has_components: bool, codes: _Codes, filled: int) -> tuple[int, int]:
    """Write the decoded characters after the NID of a spelling to `codes` from index `filled` on, with _NAME_END
    instead of the "?" or "#" before its components, and _END. Return the new end in `codes`, and the mark, without
    problems of directives.
    """
    # UTF-8 is decoded by the table of its well-formed sequences (Unicode 17, table 3-7). U+FFFD separates words. A run
    # of ASCII separators is shortened to two characters, because more have no further effect. A run of ASCII letters
    # and digits also becomes two: a letter, if there is one before the last character, and the last character, because
    # a mark may combine with it.
    # `code` is the code point so far, `wanted` the number of bytes that must still follow, `low` to `high` the range
    # of the next one.
    mark = code = wanted = 0
    low, high = 0x80, 0xBF
    at = colons = 0
    earlier = last = _END
    while colons < 2 and at < len(string):
        colons += int(string[at] == COLON)
        at += 1
    while at <= len(string):
        byte, is_encoded = 0, False
        if at < len(string):
            byte = int(np.int64(string[at]))
            is_encoded = byte == PERCENT
        if is_encoded:
            byte = hex_digit(string[at + 1]) * 16 + hex_digit(string[at + 2])
            at += 2
        at += 1
        if wanted and low <= byte <= high:
            code = code << 6 | byte & 0x3F
            low, high = 0x80, 0xBF
            wanted -= 1
            if wanted:
                continue
            if code >= FIRST_SUSPECT or _IS_SUSPECT[code]:
                mark |= _SUSPECT
        else:
            if wanted:
                mark |= _NOT_UTF_8
                earlier, last = last, _REPLACEMENT
                codes[filled] = _REPLACEMENT
                filled += 1
                wanted, low, high = 0, 0x80, 0xBF
            if 0xC2 <= byte <= 0xF4:
                wanted = 1 + int(byte >= 0xE0) + int(byte >= 0xF0)
                code = byte & (0x3F >> wanted)
                low = 0xA0 if byte == 0xE0 else 0x90 if byte == 0xF0 else 0x80
                high = 0x9F if byte == 0xED else 0x8F if byte == 0xF4 else 0xBF
                continue
            code = byte
            if byte >= 0x80:
                mark |= _NOT_UTF_8
                code = _REPLACEMENT
            elif is_encoded and byte == 0:
                mark |= _NUL
            elif is_encoded and is_alnum(byte):
                mark |= _NEEDLESS
            elif has_components and not is_encoded and (byte in (QUESTION_MARK, HASH)):
                has_components = False
                code = _NAME_END
        if max(code, last, earlier) < 0x80 and is_alnum(code) == is_alnum(last) == is_alnum(earlier):
            earlier = last if is_digit(earlier) else earlier
            codes[filled - 2] = earlier
            filled -= 1
        else:
            earlier = last
        codes[filled] = last = code
        filled += 1
    codes[filled] = _END
    return filled + 1, mark


@inlined
def _query(string: ByteArray) -> ByteArray:
    end = find_byte(string, 0, len(string), HASH)
    return string[min(find_byte(string, 0, end, QUESTION_MARK) + 1, end) : end]


@inner
def _has_repeated_keyword(query: ByteArray) -> bool:
    """Whether two directives of a query have the same keyword. Each directive must have a `=`."""
    first = 0
    while first < len(query):
        length = find_byte(query, first, len(query), EQUALS) + 1 - first
        following = other = find_byte(query, first, len(query), AMPERSAND) + 1
        while other + length <= len(query):
            same = 0
            while same < length and query[first + same] == query[other + same]:
                same += 1
            if same == length:
                return True
            other = find_byte(query, other, len(query), AMPERSAND) + 1
        first = following
    return False


@compiled
def _find_invisible(codes: _Codes, traits: Integers, marks: Marks) -> None:
    """Add INVISIBLE to the marks of spellings with an invisible character that has no use at its place. `codes` has an
    _END after each spelling.
    """
    row = first = 0
    for at in range(len(codes)):
        if codes[at] == _END:
            if has_invisible(traits[first:at]):
                marks[row] |= INVISIBLE
            row, first = row + 1, at + 1


@compiled
def _judge_words(codes: _Codes, traits: Integers, marks: Marks) -> None:
    """Add MIXED and CONFUSABLE to the marks of spellings with a misleading word, in the name alone or with the
    components. `codes` are composed and without ignorable characters, with _NAME_END before components and _END after
    each spelling.
    """
    row = first = 0
    for at in range(len(codes)):
        if codes[at] == _NAME_END or codes[at] == _END:
            marks[row] |= problems_of_words(traits[first:at])
        if codes[at] == _END:
            row, first = row + 1, at + 1
