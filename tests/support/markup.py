"""How names with markup in them are read, said a second time: plain Python, from docs/reference/views.md.

It knows the few elements that its tests write.
"""

from __future__ import annotations

from typing import NamedTuple

import regex

from tests.support.oracle import COMPILED, may_begin, oracle

STYLES, PHRASES = ("b", "span"), ("a", "code")
UNSEEN = ("w:r", "w:rPr", "w:t", "text:span", "wbr", "a:t")
NAMES = "|".join([*STYLES, *PHRASES, *UNSEEN]).encode()
TAG = rb"""<(?P<close>/?)(?P<name>%b)(?:[\x01-\x20/](?:[^<>"'\0]|"[^"\0]*"|'[^'\0]*')*)?>""" % NAMES
STYLE = regex.compile(
    rb"""<(?:b\b|span[\x01-\x20/](?:lang\b|style=['"](?:background|color|font|letter|mso|text)(?![A-Za-z])))"""
)
PIECE = regex.compile(
    TAG
    + rb"|(?P<comment><!--(?s:.*?)-->)|(?P<unseen>&(?:shy|zwnj|\#173|\#xAD|\#8203);|\xC2\xAD|\xE2\x80[\x8B-\x8D]|\xEF\xBB\xBF)"
)
REFERENCES = {b"&#58;": b":", b"&#x2D;": b"-", b"&apos;": b"'", b"&#39;": b"'"}
HYPHEN = b"<w:noBreakHyphen/>"
URN_BYTE = regex.compile(rb"[A-Za-z0-9._~!$&'()*+,;=:@/?#%-]")
ANOTHER = regex.compile(rb"[A-Za-z]{1,8}://|urn:", regex.IGNORECASE)


class Byte(NamedTuple):
    byte: bytes
    start: int
    end: int


class Gap(NamedTuple):
    end: int
    tags: list[tuple[str, bool, bytes]]
    """Name, whether it closes, and text of each tag of a style, phrase or link."""


def byte_at(text: bytes, at: int) -> Byte | None:
    """The byte of a name that stands here, also as a reference."""
    if text.startswith(HYPHEN, at):
        return Byte(b"-", at, at + len(HYPHEN))
    for reference, byte in REFERENCES.items():
        if text.startswith(reference, at):
            return Byte(byte, at, at + len(reference))
    if regex.compile(rb"&(?:[A-Za-z0-9]+|#[0-9]+|#[Xx][0-9A-Fa-f]+);").match(text, at):
        return Byte(b"&", at, at + 5) if text.startswith(b"&amp;", at) else None
    return Byte(text[at : at + 1], at, at + 1) if URN_BYTE.match(text, at) else None


def gap_at(text: bytes, at: int) -> Gap:
    """All that no reader sees from here on."""
    tags = []
    while piece := PIECE.match(text, at):
        at = piece.end()
        if not (name := piece["name"]):
            continue
        is_empty = piece[0].endswith(b"/>") and not piece["close"]
        if name.decode() in STYLES + PHRASES and not is_empty:
            tags.append((name.decode(), bool(piece["close"]), piece[0]))
        if name[1:2] == b":" and (name[2:] != b"t" or piece["close"] or is_empty):
            blanks = regex.compile(rb"[\x01-\x20]*(?=<)").match(text, at)
            at = blanks.end() if blanks else at
    return Gap(at, tags)


def read(text: bytes, start: int, syntax: str) -> tuple[int, bytes, bool] | None:
    """The name that begins here: its end, what it reads, and whether that is no plain text."""
    wrapper = opening_before(text, start)
    quoted = any(text.endswith(mark, 0, start) for mark in (b"'", b"&#39;", b"&apos;"))
    data: list[Byte] = []
    depth, at = 0, start
    while True:
        gap = gap_at(text, at)
        byte = byte_at(text, gap.end)
        if byte is None or (byte.byte == b"'" and quoted):
            break
        if gap.end > at:
            if ANOTHER.match(text, gap.end):
                break
            going_on, depth, closed = goes_on(text, b"".join(each.byte for each in data), gap, byte, depth, wrapper)
            if going_on is None:
                return None
            if not going_on:
                break
            wrapper = None if closed else wrapper
        data.append(byte)
        at = byte.end
    return result(text, data, syntax)


def opening_before(text: bytes, start: int) -> bytes | None:
    """The tag right before a name that opens an element of a style, phrase or link."""
    at = text.rfind(b"<", 0, start)
    tag = regex.compile(TAG).fullmatch(text, at, start) if at >= 0 and b">" not in text[at : start - 1] else None
    if tag is None or tag["close"] or tag[0].endswith(b"/>") or tag["name"].decode() not in STYLES + PHRASES:
        return None
    return tag[0]


def goes_on(text, part, gap, byte, depth, wrapper):
    """Whether a name goes on behind a gap, None if its end is in doubt; the depth behind it; whether its element closed."""
    is_phrase = any(name in PHRASES for name, _, _ in gap.tags)
    opens = any(not closes for _, closes, _ in gap.tags)
    closed = reopened = restyled = False
    for _, closes, tag in gap.tags:
        depth += -1 if closes else 1
        closed = closed or (closes and depth < 0 and wrapper is not None)
        if not closes and closed and without_digits(tag) == without_digits(wrapper):
            reopened = True
        elif not closes and closed and STYLE.match(tag) and STYLE.match(wrapper):
            restyled = True
    if not is_phrase and (not closed or reopened):
        return True, depth, closed
    behind = text[byte.end : byte.end + 1]
    if part.count(b":") < 2 or part[-1:] in b"-:/=":
        going_on = byte.byte.isalnum() or (byte.byte == b":" and part.count(b":") < 2)
    elif restyled and not is_phrase:
        going_on = byte.byte.isalnum() or (byte.byte in b"-:/=._+" and behind.isalnum())
    else:
        going_on = byte.byte in b"-:/" and behind.isdigit()
        if not is_phrase and not opens and (byte.byte.isalnum() or byte.byte in b"-:/"):
            going_on = going_on or (part[-1:].isdigit() and byte.byte.isdigit()) or holds_colon(text, byte)
    if not going_on and not is_phrase and byte.byte.isalnum():
        going_on = None
    return going_on, depth, closed


def holds_colon(text: bytes, byte: Byte) -> bool:
    return regex.compile(rb"[A-Za-z0-9-]{0,64}:[A-Za-z0-9]").match(text, byte.end) is not None


def without_digits(tag: bytes) -> bytes:
    return regex.sub(rb"[0-9]", b"", tag)


def result(text: bytes, data: list[Byte], syntax: str) -> tuple[int, bytes, bool] | None:
    """The name that these bytes are, without punctuation alone behind the last gap."""
    match = COMPILED[syntax].match(b"".join(each.byte for each in data))
    if match is None:
        return None
    end = match.end()
    for place in range(end - 1, 0, -1):
        if data[place].byte.isalnum():
            break
        if data[place].start > data[place - 1].end:
            end = place
    match = COMPILED[syntax].match(match[0], 0, end)
    if match is None:
        return None
    kept = data[: match.end()]
    return kept[-1].end, match[0], text[kept[0].start : kept[-1].end] != match[0]


def names_in(text: bytes, syntax: str) -> list[tuple[int, int, bytes, str | None]]:
    """What a scan with this view finds: start, end, text and view of each."""
    literal = {record.start: record.start + len(record.text) for record in oracle(text, syntax)}
    found = []
    at = 0
    while at < len(text):
        inside = [end for start, end in literal.items() if start < at < end]
        if inside:
            at = max(inside)
            continue
        read_here = read(text, at, syntax) if text[at : at + 1] in b"uU" and may_begin(text, at) else None
        if read_here and at in literal and not read_here[2]:
            if not (read_here[0] < literal[at] and text[read_here[0] : read_here[0] + 1] == b"&"):
                read_here = None
        elif read_here and not read_here[2]:
            read_here = None
        if read_here:
            found.append((at, read_here[0], read_here[1], "markup"))
            at = read_here[0]
        elif at in literal:
            found.append((at, literal[at], text[at : literal[at]], None))
            at = literal[at]
        else:
            at += 1
    return found
