"""Markup in the middle of a name, as in `urn:isbn:<b>978</b>-3-16-148410-0`: tags, references, invisible characters.

A gap is the text between two bytes of a name: tags of inline elements, comments and invisible characters, at most
LONGEST_GAP bytes. Elements not in `elements` and processing instructions end a name. Compiled. A gap is strong if it
has a tag of a phrase or link, as in `<code>urn:xmpp:ping</code>s`, or closes the element that begins directly before
the name. After another gap, such as a tag for bold letters, a name goes on; after a strong gap, only in these cases:
  * The name so far ends with `-`, `:`, `/` or `=`, and a letter or digit follows. Or `urn:nid:` is incomplete, and a
    letter, a digit or the missing `:` follows. Or `-`, `:` or `/` and a digit follow.
  * The gap has no tag of a phrase or link, and the same element begins again, with attributes that differ only in
    digits: `<span class="s1">urn:isbn:97</span><span class="s2">83`. Or another style begins, as in office files:
    `<u>urn:isbn:97</u><font color="#f00">83`. A letter or digit follows, or one of `- : / = . _ +` and a letter or digit.
  * The gap has no tag of a phrase or link, and no element begins in it. There is a digit on both sides, or letters and
    digits and then a `:` follow: `<u>urn:nbn:d</u>e:101`, but not `<u>urn:xmpp:ping</u>s`.
If a name does not go on, but a letter or digit follows the tags of a style, its end is in doubt: there is no match. A
name never goes on with `urn:` or a URL, which begin another name, nor with punctuation alone.
"""

from __future__ import annotations

from typing import NamedTuple

from urnscan.compiled.ascii import (
    AMPERSAND,
    APOSTROPHE,
    CASE,
    COLON,
    EQUALS,
    GREATER,
    HYPHEN,
    LESS,
    SLASH,
    SPACE,
    is_alnum,
    is_digit,
    is_letter,
)
from urnscan.compiled.bytes import ByteArray, Integers, is_urn
from urnscan.compiled.jit import inner
from urnscan.compiled.strings import Vocabulary, word_number
from urnscan.scanner.kernel import Block
from urnscan.scanner.views.references import MORE, NOTHING, STOP, References, is_invisible, read_reference

LONGEST_GAP = 1 << 13
"""Maximum bytes of the markup between two bytes of a name."""
LONGEST_NAME = 1 << 17
"""Maximum bytes from the beginning of a name to its end, including markup."""
LOOK_BACK = 1024
"""Bytes before a name that are searched for the beginning of the tag directly before the name."""

_EXCLAMATION, _QUOTE, _U, _R, _S, _P = b'!"ursp'
_SOFT_HYPHEN_FIRST = 0xC2
_INVISIBLE_FIRST = (_SOFT_HYPHEN_FIRST, 0xE2, 0xEF)  # in UTF-8
_DELIMITERS = (HYPHEN, COLON, SLASH, EQUALS)
_INNER = (*_DELIMITERS, *b"._+")
_LANG, _STYLE = 0, 1  # attributes in `elements`
_LONGEST_APOSTROPHE = len("&#x27;")
_LONGEST_ELEMENT_NAME, _LONGEST_COMMENT, _LONGEST_INDENT, _LONGEST_SCHEME = 40, 256, 256, 8
_LONGEST_LABEL = 64  # before a `:`

SEPARATING, LOOSE, TIGHT, PLAIN, TEXT, EMPTY, HYPHENATED = range(7)
"""Kinds of elements. SEPARATING: separates texts. LOOSE: sets a style. TIGHT: a phrase or link. PLAIN: invisible.
TEXT: has the text of a run; white space outside does not count. EMPTY: always empty. HYPHENATED: a hyphen."""
# Bits of the number of a tag: its kind; whether it closes an element; whether it is an empty-element tag (`<br/>`).
_KIND, _CLOSING, _ENDED = 7, 8, 16
# Bits for all tags of a gap. _PHRASE: a tag of a phrase or link. _CLOSES: closes the element right before the name.
# _OPENS: opens an element. _REOPENS: opens an element like the closed one. _RESTYLES: the closed element and the new one
# set styles.
_PHRASE, _CLOSES, _OPENS, _REOPENS, _RESTYLES = 1, 2, 4, 8, 16

SLOTS = 3
WRAPPER, DEPTH, DOUBT = range(SLOTS)
"""Slots of `state`. WRAPPER: index of the tag directly before the name while its element is open, else -1. DEPTH: number
of open elements that began in the name; negative if earlier ones closed. DOUBT: whether its end is in doubt."""


class Elements(NamedTuple):
    """Inline elements of HTML, WordprocessingML, DrawingML and OpenDocument: their names, and the kind of each."""

    names: Vocabulary
    kinds: ByteArray
    """The kind of each element, from SEPARATING to HYPHENATED, by the number of its name in `names`."""
    attributes: Vocabulary
    """Words after `<span ` of a tag that sets a style: `lang`, or `style` and a property of letters (`font`…)."""


class PartialName(NamedTuple):
    """The part of a name that has been read: its first index, its last byte (0 if empty), and number of colons."""

    start: int
    last: int
    colons: int


@inner
def begins_gap(byte: int) -> bool:
    """Whether a gap (markup in a name) may begin with this byte: `<`, `&`, the first byte of an invisible character."""
    return byte == LESS or byte == AMPERSAND or byte in _INVISIBLE_FIRST


@inner
def is_split(data: ByteArray, at: int) -> bool:
    """Whether `urn`, in any case, with markup after `u` or `r`, may begin at `data[at]`; `data[at + 2]` must exist."""
    if data[at] | CASE != _U:
        return False
    return begins_gap(data[at + 1]) or (data[at + 1] | CASE == _R and begins_gap(data[at + 2]))


@inner
def wrapper(data: ByteArray, start: int, elements: Elements) -> int:
    """Index of the `<` of the tag directly before index `start`, if it opens a style, phrase or link; else -1."""
    if start == 0 or data[start - 1] != GREATER:
        return -1
    at, floor = start - 2, max(0, start - LOOK_BACK)
    while at > floor and data[at] != LESS and data[at] != GREATER and data[at] != STOP:
        at -= 1
    if at < floor or data[at] != LESS:
        return -1
    tag, after = _tag(data, at, start, elements)
    return at if after == start and (tag == LOOSE or tag == TIGHT) else -1


@inner
def step_over_markup(
    block: Block, at: int, name: PartialName, state: Integers, tables: tuple[Elements, References]
) -> tuple[int, int]:
    """Read the byte of a name at index `at`, or skip the gap (markup) there. `name` is the part of the name before it.
    Returns the byte, NOTHING (gap skipped) or STOP (the name ends at `at`); and the index after the text, or MORE
    (bytes after the block are needed). Changes `state`: WRAPPER (at first by `wrapper`), DEPTH, DOUBT (at first 0).
    """
    data, filled, _ = block
    byte, after, _ = _piece(data, at, filled, tables)
    if byte == APOSTROPHE and _is_quoted(data, name.start, tables[1]):
        return STOP, at + 1
    if byte != NOTHING or after == MORE:
        return byte, after
    gap = _gap(block, at, name.start, state, tables)
    if gap.after == MORE or gap.byte == STOP:
        return gap.byte, gap.after
    goes_on = _goes_on(block, gap, name)
    if goes_on == MORE:
        return gap.byte, MORE
    if not goes_on:
        state[DOUBT] = not gap.tags & _PHRASE and is_alnum(gap.byte) and not gap.begins_another
        return STOP, gap.end
    state[DEPTH] = gap.depth
    if gap.tags & _CLOSES:
        state[WRAPPER] = -1
    return NOTHING, gap.end


class _Gap(NamedTuple):
    """A gap, the markup between two bytes of a name. `tags` has bits for its tags (_PHRASE to _RESTYLES). `byte` is the
    byte after it, or STOP; `after` is the end of the text of this byte, or MORE. `depth` is the slot DEPTH after the
    gap. `begins_another`: whether `urn:` or a URL follows.
    """

    tags: int
    end: int
    byte: int
    after: int
    depth: int
    begins_another: bool


@inner
def _gap(block: Block, at: int, start: int, state: Integers, tables: tuple[Elements, References]) -> _Gap:
    """The gap (markup) at index `at`, in a name that begins at `start`. `byte` is STOP also if the gap or the name is
    too long; `after` is MORE if bytes after the block decide.
    """
    data, filled, _ = block
    elements = tables[0]
    begin, depth, tags = at, int(state[DEPTH]), 0
    byte, after, tag = _piece(data, at, filled, tables)
    while byte == NOTHING and after != MORE:
        if after - begin > LONGEST_GAP or after - start > LONGEST_NAME:
            return _Gap(tags, after, STOP, after, depth, False)
        kind = tag & _KIND
        if (kind == LOOSE or kind == TIGHT) and not tag & _ENDED:
            tags |= _PHRASE if kind == TIGHT else 0
            if tag & _CLOSING:
                depth -= 1
                tags |= _CLOSES if depth < 0 and state[WRAPPER] != -1 else 0
            else:
                depth += 1
                tags |= _OPENS
                if tags & _CLOSES and _are_alike(data, state[WRAPPER], at):
                    tags |= _REOPENS
                elif tags & _CLOSES and _is_style(data, state[WRAPPER], elements) and _is_style(data, at, elements):
                    tags |= _RESTYLES
        at = after
        byte, after, tag = _piece(data, at, filled, tables)
    if after == MORE or byte == STOP:
        return _Gap(tags, at, byte, after, depth, False)
    another = _begins_another(block, at)
    return _Gap(tags, at, byte, MORE if another == MORE else after, depth, another == 1)


@inner
def _goes_on(block: Block, gap: _Gap, name: PartialName) -> int:
    """1 if a name (a URN) goes on after a gap (markup in it), else 0; MORE if bytes after the block decide."""
    data, filled, final = block
    byte, closes = gap.byte, gap.tags & _CLOSES and not gap.tags & _REOPENS
    if gap.begins_another:
        return 0
    if not gap.tags & _PHRASE and not closes:
        return 1
    if name.colons < 2 or name.last in _DELIMITERS:
        return int(is_alnum(byte) or (byte == COLON and name.colons < 2))
    restyles = gap.tags & _RESTYLES and not gap.tags & _PHRASE
    is_sign = byte in _INNER if restyles else byte == HYPHEN or byte == COLON or byte == SLASH
    if is_sign:
        if gap.after >= filled:
            return 0 if final else MORE
        if is_digit(data[gap.after]) or (restyles and is_letter(data[gap.after])):
            return 1
    elif restyles or not is_alnum(byte):
        return int(is_alnum(byte))
    if gap.tags & (_PHRASE | _OPENS):
        return 0
    return 1 if is_digit(name.last) and is_digit(byte) else _has_colon(block, gap.after)


@inner
def _has_colon(block: Block, at: int) -> int:
    """1 if a `:` and a letter or digit follow at `at`, perhaps after letters, digits and `-`; else 0; MORE if unknown."""
    data, filled, final = block
    end = min(filled, at + _LONGEST_LABEL)
    while at < end and (is_alnum(data[at]) or data[at] == HYPHEN):
        at += 1
    if at + 1 >= filled:
        return 0 if final else MORE
    return int(data[at] == COLON and is_alnum(data[at + 1]))


@inner
def _are_alike(data: ByteArray, one: int, other: int) -> bool:
    """Whether the tags that begin at two indices are equal except for digits."""
    while True:
        while is_digit(data[one]):
            one += 1
        while is_digit(data[other]):
            other += 1
        if data[one] != data[other]:
            return False
        if data[one] == GREATER:
            return True
        one, other = one + 1, other + 1


@inner
def _is_style(data: ByteArray, at: int, elements: Elements) -> bool:
    """Whether the tag of kind LOOSE at `at` sets a style; a `<span>` does if `lang` or `style="font…` is first."""
    if data[at + 1] | CASE != _S or data[at + 2] | CASE != _P:
        return True
    begin = at + len("<span ")
    end = _end_of_word(data, begin)
    number = word_number(data, begin, end, elements.attributes)
    if number != _STYLE or data[end] != EQUALS or data[end + 1] not in (_QUOTE, APOSTROPHE):
        return number == _LANG
    return word_number(data, end + 2, _end_of_word(data, end + 2), elements.attributes) > _STYLE


@inner
def _end_of_word(data: ByteArray, at: int) -> int:
    while is_letter(data[at]):
        at += 1
    return at


@inner
def _piece(data: ByteArray, at: int, filled: int, tables: tuple[Elements, References]) -> tuple[int, int, int]:
    """The piece of text at `at`: its byte, NOTHING (a tag, comment or invisible character) or STOP; the index after it,
    or MORE (bytes after `filled` are needed); and the kind and bits of a tag, else 0.
    """
    elements, references = tables
    if at >= filled:
        return STOP, MORE, 0
    byte = int(data[at])
    if byte == AMPERSAND:
        byte, after = read_reference(data, at, filled, references)
        return byte, after, 0
    if byte in _INVISIBLE_FIRST:
        after = at + (2 if byte == _SOFT_HYPHEN_FIRST else 3)
        if at + 2 >= filled:
            return STOP, MORE, 0
        return (NOTHING if is_invisible(data, at) else STOP), after, 0
    if byte != LESS:
        return byte, at + 1, 0
    tag, after = _tag(data, at, filled, elements)
    if tag == SEPARATING:
        return STOP, after, 0
    return (HYPHEN if tag == HYPHENATED | _ENDED else NOTHING), after, tag


@inner
def _tag(data: ByteArray, at: int, filled: int, elements: Elements) -> tuple[int, int]:
    """The tag or comment at `at`: its kind and bits, and the index after it, or MORE if bytes are missing. The kind is
    SEPARATING if it is malformed or unknown; then no other index than MORE has a meaning.
    """
    begin = at + 1
    if begin < filled and data[begin] == _EXCLAMATION:
        return _comment(data, at, filled)
    is_closing = begin < filled and data[begin] == SLASH
    begin += is_closing
    end, last = begin, min(filled, begin + _LONGEST_ELEMENT_NAME)
    while end < last and (is_alnum(data[end]) or data[end] == COLON or data[end] == HYPHEN):
        end += 1
    if end == filled:
        return SEPARATING, MORE
    number = -1
    if data[end] <= SPACE or data[end] == SLASH or data[end] == GREATER:
        number = word_number(data, begin, end, elements.names)
    if number == -1:
        return SEPARATING, end
    after = _end_of_tag(data, at, end, filled)
    if after == MORE or after == STOP:
        return SEPARATING, after
    kind = int(elements.kinds[number])
    is_ended = data[after - 2] == SLASH and not is_closing
    if data[begin + 1] == COLON and kind != HYPHENATED and (kind != TEXT or is_closing or is_ended):
        # White space between the runs of WordprocessingML and DrawingML does not count.
        after = _past_white_space(data, after, filled)
    return kind | _CLOSING * is_closing | _ENDED * is_ended, after


@inner
def _comment(data: ByteArray, at: int, filled: int) -> tuple[int, int]:
    """PLAIN and the index after the comment at `at`; else SEPARATING, with MORE if bytes are missing."""
    for i in range(at + 2, at + _LONGEST_COMMENT):
        if i >= filled:
            return SEPARATING, MORE
        if i < at + 4 and data[i] != HYPHEN:
            break
        if data[i] == GREATER and i > at + 5 and data[i - 1] == HYPHEN and data[i - 2] == HYPHEN:
            return PLAIN, i + 1
    return SEPARATING, at + 1


@inner
def _end_of_tag(data: ByteArray, at: int, end: int, filled: int) -> int:
    """Index after the tag at `at`, whose name ends at `end`; STOP if malformed or long; MORE if bytes are missing."""
    quote = 0
    for i in range(end, at + LONGEST_GAP):
        if i >= filled:
            return MORE
        byte = int(data[i])
        if byte == STOP:
            break
        if quote:
            if byte == quote:
                quote = 0
        elif byte == GREATER:
            return i + 1
        elif byte == LESS:
            break
        elif byte == _QUOTE or byte == APOSTROPHE:
            quote = byte
    return STOP


@inner
def _past_white_space(data: ByteArray, at: int, filled: int) -> int:
    """Index of the `<` after the white space at index `at`; `at` if none follows soon; MORE if bytes are missing."""
    for i in range(at, at + _LONGEST_INDENT):
        if i >= filled:
            return MORE
        if data[i] == LESS:
            return i
        if data[i] > SPACE or data[i] == STOP:
            break
    return at


@inner
def _is_quoted(data: ByteArray, start: int, references: References) -> bool:
    if start > 0 and data[start - 1] == APOSTROPHE:
        return True
    for begin in range(max(0, start - _LONGEST_APOSTROPHE), start):
        if data[begin] == AMPERSAND and read_reference(data, begin, start, references) == (APOSTROPHE, start):
            return True
    return False


@inner
def _begins_another(block: Block, at: int) -> int:
    """1 if `urn:` or a URL begins at index `at`, else 0; MORE if bytes after the block decide."""
    data, filled, final = block
    end = at
    while end < min(filled, at + _LONGEST_SCHEME) and is_letter(data[end]):
        end += 1
    if end == at:
        return 0
    if end + 2 >= filled:
        return 0 if final else MORE
    if data[end] != COLON:
        return 0
    is_url = data[end + 1] == SLASH and data[end + 2] == SLASH
    return int(is_url or (end == at + 3 and is_urn(data, at)))
