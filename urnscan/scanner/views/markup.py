"""Markup in the middle of a name, such as `urn:isbn:<b>978</b>-3-16-148410-0`: tags, references, invisible characters. Compiled.

Between two octets of a name may stand a gap: tags of inline elements, comments, processing instructions and invisible
characters, at most LONGEST_GAP octets. Elements that `elements` does not have part texts: a name ends there.

Whoever wrote `<code>urn:xmpp:ping</code>s` says by the tags where the name ends. Whoever makes half of a name bold does
not, and no office program does. So a gap parts what looks whole on both sides if one of its tags is that of a phrase or
link (`<code>`, `<a>`), or closes the element that begins right before the name. There a name goes on in these cases:
  * The part before the gap ends with `-`, `:`, `/` or `=`, or within `urn:nid:`, and a letter, a digit or the `:` that is
    missing follows.
  * `-`, `:` or `/` and a digit follow.
  * No tag of a phrase or link is in the gap, and the element begins again, with attributes that differ in digits at most:
    `<span class="s1">urn:isbn:97</span><span class="s2">83`. Or another style begins, as office programs write it where
    the style of letters changes: `<u>urn:isbn:97</u><font color="#f00">83`. A letter or digit follows then, or one of
    `- : / = . _ +` and a letter or digit. A `<span>` counts if it begins with `lang` or a `style` of letters: a class, or
    a style of a layout, may part what stands there.
  * No element begins, and no tag of a phrase or link is in the gap. A digit stands on both sides, or the text goes on with a
    `:` between letters and digits: `<u>urn:nbn:d</u>e:101`, but not `<u>urn:xmpp:ping</u>s`.
If it does not go on there, but a letter or digit stands behind the tags of a style, its end is in doubt, and no name is
found.
Behind no gap a name goes on with `urn:` or a URL: there the next one begins. Nor does it go on with punctuation alone.
"""

from __future__ import annotations

from typing import NamedTuple

from urnscan.arrays.ascii import (
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
from urnscan.arrays.jit import inner
from urnscan.arrays.octets import Integers, Octets, is_urn
from urnscan.arrays.strings import Vocabulary, word_number
from urnscan.scanner.kernel import Block
from urnscan.scanner.views.references import MORE, NOTHING, STOP, References, is_invisible, read_reference

LONGEST_GAP = 1 << 13
"""Octets of the markup between two octets of a name."""
LONGEST_NAME = 1 << 17
"""Octets of a text that a name with markup in it may take."""
LOOK_BACK = 1024
"""Octets before a name in which the tag right before it begins."""

_EXCLAMATION, _QUOTE, _U, _R, _S, _P = b'!"ursp'
_SOFT_HYPHEN_FIRST = 0xC2
_INVISIBLE_FIRST = (_SOFT_HYPHEN_FIRST, 0xE2, 0xEF)  # octets with which invisible characters begin in UTF-8
_DELIMITERS = (HYPHEN, COLON, SLASH, EQUALS)
_INNER = (*_DELIMITERS, *b"._+")
_LANG, _STYLE = 0, 1  # numbers of attributes in `elements`
_LONGEST_APOSTROPHE = len("&#x27;")
_LONGEST_WORD = 40  # octets of the name of an element
_LONGEST_COMMENT, _LONGEST_INDENT = 256, 256
_LONGEST_SCHEME = 8
_LONGEST_PART = 64  # octets before a `:`

PART, LOOSE, TIGHT, PLAIN, TEXT, EMPTY, HYPHENATED = range(7)
"""Kinds of elements: one that parts texts; of a style; of a phrase or link; of nothing that a reader sees; with the text
of a run, outside of which white space is none; one that is always empty; a hyphen.
"""
_KIND, _CLOSING, _ENDED = 7, 8, 16  # parts of the number of a tag; it closes the element, or is all of it
_PHRASE, _CLOSES, _OPENS, _REOPENS, _RESTYLES = 1, 2, 4, 8, 16
# Bits of the tags of a gap: one is of a phrase or link; one closes the element that begins right before the name; one
# opens an element; it is one like that which was closed; both are of a style.

SLOTS = 3
WRAPPER, DEPTH, DOUBT = range(SLOTS)
"""Slots of the state of a reading: the place of the tag right before the name, as long as its element is open, or -1; the
number of elements of the name that are open, negative if others were closed; and whether its end is in doubt.
"""


class Elements(NamedTuple):
    """The inline elements of HTML, WordprocessingML, DrawingML and OpenDocument, by name, and the kind of each."""

    names: Vocabulary
    kinds: Octets
    attributes: Vocabulary
    """Beginnings of the attributes of a `<span>` of a style."""


class Part(NamedTuple):
    """A name, as far as it is read."""

    start: int
    """The place in the text."""
    last: int
    """The last octet, 0 if there is none."""
    colons: int


@inner
def begins_gap(octet: int) -> bool:
    """Whether a gap may begin with this octet."""
    return octet == LESS or octet == AMPERSAND or octet in _INVISIBLE_FIRST


@inner
def is_parted(octets: Octets, at: int) -> bool:
    """Whether the letters `urn` may begin at `at` with a gap between them."""
    if octets[at] | CASE != _U:
        return False
    return begins_gap(octets[at + 1]) or (octets[at + 1] | CASE == _R and begins_gap(octets[at + 2]))


@inner
def wrapper(octets: Octets, start: int, elements: Elements) -> int:
    """The place of the tag right before `start` with which an element of a style, phrase or link begins, or -1."""
    if start == 0 or octets[start - 1] != GREATER:
        return -1
    at, floor = start - 2, max(0, start - LOOK_BACK)
    while at > floor and octets[at] != LESS and octets[at] != GREATER and octets[at] != STOP:
        at -= 1
    if at < floor or octets[at] != LESS:
        return -1
    tag, after = _tag(octets, at, start, elements)
    return at if after == start and (tag == LOOSE or tag == TIGHT) else -1


@inner
def step_over_markup(
    block: Block, at: int, part: Part, state: Integers, data: tuple[Elements, References]
) -> tuple[int, int]:
    """One step of a reading: an octet, or NOTHING for a gap."""
    octets, filled, _ = block
    octet, after, _ = _piece(octets, at, filled, data)
    if octet == APOSTROPHE and _is_quoted(octets, part.start, data[1]):
        return STOP, at + 1
    if octet != NOTHING or after == MORE:
        return octet, after
    gap = _gap(block, at, part.start, state, data)
    if gap.after == MORE or gap.octet == STOP:
        return gap.octet, gap.after
    goes_on = _goes_on(block, gap, part)
    if goes_on == MORE:
        return gap.octet, MORE
    if not goes_on:
        state[DOUBT] = not gap.tags & _PHRASE and is_alnum(gap.octet) and not gap.begins_another
        return STOP, gap.end
    state[DEPTH] = gap.depth
    if gap.tags & _CLOSES:
        state[WRAPPER] = -1
    return NOTHING, gap.end


class _Gap(NamedTuple):
    """A gap: all that stands between two octets of a name."""

    tags: int
    end: int
    octet: int
    """The octet behind it, or STOP …"""
    after: int
    """… and the end of what stands for that, or MORE."""
    depth: int
    begins_another: bool
    """Whether another name, or a URL, begins behind it."""


@inner
def _gap(block: Block, at: int, start: int, state: Integers, data: tuple[Elements, References]) -> _Gap:
    """The gap at `at` in a name that begins at `start`."""
    octets, filled, _ = block
    elements = data[0]
    begin, depth, tags = at, int(state[DEPTH]), 0
    octet, after, tag = _piece(octets, at, filled, data)
    while octet == NOTHING and after != MORE:
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
                if tags & _CLOSES and _are_alike(octets, state[WRAPPER], at):
                    tags |= _REOPENS
                elif tags & _CLOSES and _is_style(octets, state[WRAPPER], elements) and _is_style(octets, at, elements):
                    tags |= _RESTYLES
        at = after
        octet, after, tag = _piece(octets, at, filled, data)
    if after == MORE or octet == STOP:
        return _Gap(tags, at, octet, after, depth, False)
    another = _begins_another(block, at)
    return _Gap(tags, at, octet, MORE if another == MORE else after, depth, another == 1)


@inner
def _goes_on(block: Block, gap: _Gap, part: Part) -> int:
    """1 if a name goes on behind a gap, 0 if not, or MORE."""
    octets, filled, final = block
    octet, closes = gap.octet, gap.tags & _CLOSES and not gap.tags & _REOPENS
    if gap.begins_another:
        return 0
    if not gap.tags & _PHRASE and not closes:
        return 1
    if part.colons < 2 or part.last in _DELIMITERS:
        return int(is_alnum(octet) or (octet == COLON and part.colons < 2))
    restyles = gap.tags & _RESTYLES and not gap.tags & _PHRASE
    is_sign = octet in _INNER if restyles else octet == HYPHEN or octet == COLON or octet == SLASH
    if is_sign:
        if gap.after >= filled:
            return 0 if final else MORE
        if is_digit(octets[gap.after]) or (restyles and is_letter(octets[gap.after])):
            return 1
    elif restyles or not is_alnum(octet):
        return int(is_alnum(octet))
    if gap.tags & (_PHRASE | _OPENS):
        return 0
    return 1 if is_digit(part.last) and is_digit(octet) else _holds_colon(block, gap.after)


@inner
def _holds_colon(block: Block, at: int) -> int:
    """1 if letters, digits and `-` stand at `at`, a `:`, and a letter or digit; 0 if not, or MORE."""
    octets, filled, final = block
    end = min(filled, at + _LONGEST_PART)
    while at < end and (is_alnum(octets[at]) or octets[at] == HYPHEN):
        at += 1
    if at + 1 >= filled:
        return 0 if final else MORE
    return int(octets[at] == COLON and is_alnum(octets[at + 1]))


@inner
def _are_alike(octets: Octets, one: int, other: int) -> bool:
    """Whether the tags at these places differ in digits at most."""
    while True:
        while is_digit(octets[one]):
            one += 1
        while is_digit(octets[other]):
            other += 1
        if octets[one] != octets[other]:
            return False
        if octets[one] == GREATER:
            return True
        one, other = one + 1, other + 1


@inner
def _is_style(octets: Octets, at: int, elements: Elements) -> bool:
    """Whether the tag at `at` is of a style: of any element but `<span>`, or of a `<span>` that begins like one."""
    if octets[at + 1] | CASE != _S or octets[at + 2] | CASE != _P:
        return True
    begin = at + len("<span ")
    end = _end_of_word(octets, begin)
    number = word_number(octets, begin, end, elements.attributes)
    if number != _STYLE or octets[end] != EQUALS or octets[end + 1] not in (_QUOTE, APOSTROPHE):
        return number == _LANG
    return word_number(octets, end + 2, _end_of_word(octets, end + 2), elements.attributes) > _STYLE


@inner
def _end_of_word(octets: Octets, at: int) -> int:
    """The end of the letters from `at` on, which a tag surrounds."""
    while is_letter(octets[at]):
        at += 1
    return at


@inner
def _piece(octets: Octets, at: int, filled: int, data: tuple[Elements, References]) -> tuple[int, int, int]:
    """The octet that stands at `at`, NOTHING for a part of a gap, or STOP; its end or MORE; and its tag, 0 if it is none."""
    elements, references = data
    if at >= filled:
        return STOP, MORE, 0
    octet = int(octets[at])
    if octet == AMPERSAND:
        octet, after = read_reference(octets, at, filled, references)
        return octet, after, 0
    if octet in _INVISIBLE_FIRST:
        after = at + (2 if octet == _SOFT_HYPHEN_FIRST else 3)
        if at + 2 >= filled:
            return STOP, MORE, 0
        return (NOTHING if is_invisible(octets, at) else STOP), after, 0
    if octet != LESS:
        return octet, at + 1, 0
    tag, after = _tag(octets, at, filled, elements)
    if tag == PART:
        return STOP, after, 0
    return (HYPHEN if tag == HYPHENATED | _ENDED else NOTHING), after, tag


@inner
def _tag(octets: Octets, at: int, filled: int, elements: Elements) -> tuple[int, int]:
    """The tag or comment that begins at `at`: its kind with its flags, PART for all others; and its end or MORE."""
    begin = at + 1
    if begin < filled and octets[begin] == _EXCLAMATION:
        return _comment(octets, at, filled)
    is_closing = begin < filled and octets[begin] == SLASH
    begin += is_closing
    end, last = begin, min(filled, begin + _LONGEST_WORD)
    while end < last and (is_alnum(octets[end]) or octets[end] == COLON or octets[end] == HYPHEN):
        end += 1
    if end == filled:
        return PART, MORE
    number = -1
    if octets[end] <= SPACE or octets[end] == SLASH or octets[end] == GREATER:
        number = word_number(octets, begin, end, elements.names)
    if number == -1:
        return PART, end
    after = _end_of_tag(octets, at, end, filled)
    if after == MORE or after == STOP:
        return PART, after
    kind = int(elements.kinds[number])
    is_ended = octets[after - 2] == SLASH and not is_closing
    if octets[begin + 1] == COLON and kind != HYPHENATED and (kind != TEXT or is_closing or is_ended):
        after = _past_blanks(octets, after, filled)  # between the runs of WordprocessingML and DrawingML
    return kind | _CLOSING * is_closing | _ENDED * is_ended, after


@inner
def _comment(octets: Octets, at: int, filled: int) -> tuple[int, int]:
    """The comment that begins with the `<!` at `at`, and its end or MORE."""
    for i in range(at + 2, at + _LONGEST_COMMENT):
        if i >= filled:
            return PART, MORE
        if i < at + 4 and octets[i] != HYPHEN:
            break
        if octets[i] == GREATER and i > at + 5 and octets[i - 1] == HYPHEN and octets[i - 2] == HYPHEN:
            return PLAIN, i + 1
    return PART, at + 1


@inner
def _end_of_tag(octets: Octets, at: int, end: int, filled: int) -> int:
    """The end of the tag that begins at `at`, from the end of its name on; STOP if it is none or too long, or MORE."""
    quote = 0
    for i in range(end, at + LONGEST_GAP):
        if i >= filled:
            return MORE
        octet = int(octets[i])
        if octet == STOP:
            break
        if quote:
            if octet == quote:
                quote = 0
        elif octet == GREATER:
            return i + 1
        elif octet == LESS:
            break
        elif octet == _QUOTE or octet == APOSTROPHE:
            quote = octet
    return STOP


@inner
def _past_blanks(octets: Octets, at: int, filled: int) -> int:
    """The place of the tag behind white space at `at`; `at` if other text follows, or MORE."""
    for i in range(at, at + _LONGEST_INDENT):
        if i >= filled:
            return MORE
        if octets[i] == LESS:
            return i
        if octets[i] > SPACE or octets[i] == STOP:
            break
    return at


@inner
def _is_quoted(octets: Octets, start: int, references: References) -> bool:
    """Whether an apostrophe stands right before `start`, perhaps as a reference."""
    if start > 0 and octets[start - 1] == APOSTROPHE:
        return True
    for begin in range(max(0, start - _LONGEST_APOSTROPHE), start):
        if octets[begin] == AMPERSAND:
            octet, after = read_reference(octets, begin, start, references)
            return octet == APOSTROPHE and after == start
    return False


@inner
def _begins_another(block: Block, at: int) -> int:
    """1 if `urn:` or a scheme and `://` stand at `at`, 0 if not, or MORE."""
    octets, filled, final = block
    end = at
    while end < min(filled, at + _LONGEST_SCHEME) and is_letter(octets[end]):
        end += 1
    if end == at:
        return 0
    if end + 2 >= filled:
        return 0 if final else MORE
    if octets[end] != COLON:
        return 0
    is_url = octets[end + 1] == SLASH and octets[end + 2] == SLASH
    return int(is_url or (end == at + 3 and is_urn(octets, at)))
