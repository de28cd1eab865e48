"""Trimming: the text that `--trim` cuts off the end of a match: closing punctuation, brackets without a partner, the
rest of a list.

The whole rule is in this module. The scanner cuts by this rule, and matches the shorter text again
(`scanner/grammar.py`). The problem `untrimmed` uses the same rule. The view `wraps` and the rule for a "?" at the end
of a URN use the same characters.

The functions are called in plain Python, and compiled by the scanner and for columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from urnscan.compiled.bytes import ByteArray

CLOSING = b".,;:!?'*_"
"""Punctuation that may end a sentence after a name, though a name may contain it, too."""
QUOTATION_MARK = b"'"[0]
"""The byte `'`. It ends a name that has another `'` directly before it. A `'` before an `s` is a genitive."""
LIST_SEPARATORS = tuple(b",;&")
"""The separators of a list, and of parameters. A separator ends a name if `urn:` follows directly."""
BRACKETS = tuple(b"()")
"""The opening and the closing bracket. A closing bracket is cut only if its name has no matching opening bracket."""
GROUP = 512
"""Maximum distance in bytes from a separator to the closing bracket after it. A separator in a longer bracket ends the
name.
"""

CLOSES = bytes(byte in (*CLOSING, BRACKETS[1]) for byte in range(256))
"""For each byte: 1 if trimming may cut it off the end, else 0. The functions get this table as an argument."""

_OPENING_BRACKET, _CLOSING_BRACKET = BRACKETS
_COMMA, _SEMICOLON, _AMPERSAND = LIST_SEPARATORS
_COLON, _U, _R, _N, _S = b":urns"
_A, _M, _P, _X, _ZERO, _NINE, _HASH, _TILDE = b"ampx09#~"
# Names of character references, as numbers: their bytes, the first one the highest.
_NAMES = tuple(int.from_bytes(name, "big") for name in (b"lt", b"gt", b"quot", b"apos", b"nbsp"))
# Characters of ASCII that a name does not contain, and the apostrophe.
_ENDS = tuple(b"\t\n\r \"'<>[]\\^`{|}")
# Maximum bytes of a reference after its sign: `x10FFFF;`.
_LONGEST_REFERENCE = 8
# The bit in which upper and lower case of a letter differ.
_CASE = 32


def separator(data: ByteArray | bytes, start: int, colon: int, end: int, whole: bool = True) -> int:
    """Return the index in `data` of the first byte of a match at which the name ends and other text begins; -1 if there
    is none. `data[start:end]` is the match, `colon` the index of the colon after its NID.

    Other text begins at a `'` if another one is directly before the match; at a reference like `&quot;` to a character
    that ends a name; or at a list separator (`,`, `;` or `&` with `urn:` after it). A separator inside brackets counts
    only if the brackets do not close in the 512 bytes after it. If the match is not `whole`, more of it may follow
    `end`: then a separator in brackets that are open at `end` counts only if at least 512 bytes follow it.

    >>> text = b"'urn:a:b,urn:a:c'"
    >>> separator(text, 1, 6, len(text)), separator(text, 9, 14, len(text))
    (8, -1)
    >>> [separator(text, 0, 5, len(text)) for text in (b"urn:a:(b,urn:c:d)", b"urn:a:(b,urn:c:d", b"urn:a:b&quot;")]
    [-1, 8, 7]
    """
    quotation_end = -1
    if start > 0 and data[start - 1] == QUOTATION_MARK:
        for i in range(colon + 1, end):
            if data[i] == QUOTATION_MARK:
                quotation_end = end = i
                break
    # The first separator in a bracket that is still open, and the number of brackets around it.
    pending, around = -1, 0
    depth = 0
    for i in range(colon + 1, end):
        byte = data[i]
        if byte == _OPENING_BRACKET:
            depth += 1
        elif byte == _CLOSING_BRACKET:
            depth = max(depth - 1, 0)
            if depth < around:
                pending, around = -1, 0
        elif _begins_item(data, i, end):
            if depth == 0:
                return i
            if pending == -1:
                pending, around = i, depth
        elif byte == _AMPERSAND and is_markup(data, i, end):
            return i if pending == -1 else pending
        if pending != -1 and i - pending >= GROUP:
            return pending
    return pending if pending != -1 and (whole or quotation_end != -1) else quotation_end


def _begins_item(data: ByteArray | bytes, i: int, end: int) -> bool:
    """Whether `data[i]` is a list separator with `urn:`, in any case, directly after it and before index `end`."""
    byte = data[i]
    if byte not in (_COMMA, _SEMICOLON, _AMPERSAND) or i + 4 >= end or data[i + 4] != _COLON:
        return False
    return bool(data[i + 1] | _CASE == _U and data[i + 2] | _CASE == _R and data[i + 3] | _CASE == _N)


def is_markup(data: ByteArray | bytes, i: int, end: int) -> bool:
    """Whether `data[i]`, an ampersand, begins a character reference at which a name ends: to a space, a bracket such as
    `<`, a quotation mark, an apostrophe, a character beyond ASCII and the like. The reference is a number, or one of lt,
    gt, quot, apos and nbsp in small letters; its semicolon must be before index `end`.

    >>> [is_markup(text, 0, len(text)) for text in (b"&quot;", b"&#34;", b"&#x201D;", b"&#45;", b"&b;", b"&lt")]
    [True, True, True, False, False, False]
    """
    at = i + 1
    is_number = at < end and data[at] == _HASH
    is_hex = is_number and at + 1 < end and data[at + 1] | _CASE == _X
    first = at + is_number + is_hex
    base = (16 if is_hex else 10) if is_number else 256
    value = 0
    for k in range(first, min(end, first + _LONGEST_REFERENCE)):
        byte = int(data[k])
        if byte == _SEMICOLON:
            return k > first and (value in _ENDS or value > _TILDE if is_number else value in _NAMES)
        if is_number:
            byte = byte - _ZERO if byte <= _NINE else (byte | _CASE) - _A + 10
            if byte < 0 or byte >= base:
                return False
        value = value * base + byte
    return False


def _is_amp(data: ByteArray | bytes, i: int, end: int) -> bool:
    is_inside = i >= 0 and i + 3 < end
    return bool(is_inside and data[i] == _AMPERSAND and data[i + 1] == _A and data[i + 2] == _M and data[i + 3] == _P)


def may_be_cut(data: ByteArray | bytes, end: int, closes: ByteArray | bytes) -> bool:
    """Quick test of the last bytes of a URN, which ends before `data[end]`: False if there is certainly no closing
    punctuation, bracket, `'s` or `&amp` to trim at its end; True if there may be. `closes` is CLOSES.
    """
    last = data[end - 1]
    is_genitive = last | _CASE == _S and data[end - 2] == QUOTATION_MARK
    return bool(closes[last] or is_genitive or (last == _P and _is_amp(data, end - 4, end)))


def end_without_closing(data: ByteArray | bytes, start: int, end: int, closes: ByteArray | bytes) -> int:
    """Return the end (an index in `data`) of the URN `data[start:end]` after one pass of trimming, which cuts off
    closing punctuation, `'s` and closing brackets without a partner, and then one `&amp`. What is before that `&amp`
    may be cut by a further call. `closes` is CLOSES.

    >>> [end_without_closing(text, 0, len(text), CLOSES) for text in (b"urn:a:b).", b"urn:a:b(c).", b"urn:a:b.c")]
    [7, 10, 9]
    >>> [end_without_closing(text, 0, len(text), CLOSES) for text in (b"urn:a:b's.", b"urn:a:b'so", b"urn:a:b.&amp;")]
    [7, 10, 8]
    """
    depth = 0
    kept = start
    for i in range(start, end):
        byte = data[i]
        if byte == _OPENING_BRACKET:
            depth += 1
            kept = i + 1
        elif byte == _CLOSING_BRACKET:
            if depth > 0:
                depth -= 1
                kept = i + 1
        elif not closes[byte] and not (byte | _CASE == _S and data[i - 1] == QUOTATION_MARK):
            kept = i + 1
    return kept - 4 if _is_amp(data, kept - 4, kept) else kept


def is_trimmable(data: ByteArray | bytes, at: int, end: int, closes: ByteArray | bytes) -> bool:
    """Whether trimming would cut off the whole text `data[at:end]` after a name: closing punctuation (with `'s` and
    `&amp`) up to `end`, or followed by the next item of a list (`,urn:…`) or markup (`&lt;`). True for an empty text.
    `closes` is CLOSES.

    >>> is_trimmable(b").", 0, 2, CLOSES), is_trimmable(b").,urn:a:b", 0, 10, CLOSES), is_trimmable(b"/2", 0, 2, CLOSES)
    (True, True, False)
    >>> is_trimmable(b"'s", 0, 2, CLOSES), is_trimmable(b"&amp;urn:a:b", 0, 12, CLOSES), is_trimmable(b"s", 0, 1, CLOSES)
    (True, True, False)
    """
    i = at
    while i < end:
        byte = data[i]
        if closes[byte] or (i > at and byte | _CASE == _S and data[i - 1] == QUOTATION_MARK):
            i += 1
        elif _is_amp(data, i, end):
            i += 4
        else:
            break
    if i == end or _begins_item(data, i, end) or (i > at and _begins_item(data, i - 1, end)):
        return True
    return data[i] == _AMPERSAND and is_markup(data, i, end)
