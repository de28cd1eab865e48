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
URN_OCTET = regex.compile(rb"[A-Za-z0-9._~!$&'()*+,;=:@/?#%-]")
ANOTHER = regex.compile(rb"[A-Za-z]{1,8}://|urn:", regex.IGNORECASE)


class Octet(NamedTuple):
    octet: bytes
    start: int
    end: int


class Gap(NamedTuple):
    end: int
    tags: list[tuple[str, bool, bytes]]
    """Name, whether it closes, and text of each tag of a style, phrase or link."""


def octet_at(text: bytes, at: int) -> Octet | None:
    """The octet of a name that stands here, also as a reference."""
    if text.startswith(HYPHEN, at):
        return Octet(b"-", at, at + len(HYPHEN))
    for reference, octet in REFERENCES.items():
        if text.startswith(reference, at):
            return Octet(octet, at, at + len(reference))
    if regex.compile(rb"&(?:[A-Za-z0-9]+|#[0-9]+|#[Xx][0-9A-Fa-f]+);").match(text, at):
        return Octet(b"&", at, at + 5) if text.startswith(b"&amp;", at) else None
    return Octet(text[at : at + 1], at, at + 1) if URN_OCTET.match(text, at) else None


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
    octets: list[Octet] = []
    depth, at = 0, start
    while True:
        gap = gap_at(text, at)
        octet = octet_at(text, gap.end)
        if octet is None or (octet.octet == b"'" and quoted):
            break
        if gap.end > at:
            if ANOTHER.match(text, gap.end):
                break
            going_on, depth, closed = goes_on(text, b"".join(each.octet for each in octets), gap, octet, depth, wrapper)
            if going_on is None:
                return None
            if not going_on:
                break
            wrapper = None if closed else wrapper
        octets.append(octet)
        at = octet.end
    return result(text, octets, syntax)


def opening_before(text: bytes, start: int) -> bytes | None:
    """The tag right before a name that opens an element of a style, phrase or link."""
    at = text.rfind(b"<", 0, start)
    tag = regex.compile(TAG).fullmatch(text, at, start) if at >= 0 and b">" not in text[at : start - 1] else None
    if tag is None or tag["close"] or tag[0].endswith(b"/>") or tag["name"].decode() not in STYLES + PHRASES:
        return None
    return tag[0]


def goes_on(text, part, gap, octet, depth, wrapper):
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
    behind = text[octet.end : octet.end + 1]
    if part.count(b":") < 2 or part[-1:] in b"-:/=":
        going_on = octet.octet.isalnum() or (octet.octet == b":" and part.count(b":") < 2)
    elif restyled and not is_phrase:
        going_on = octet.octet.isalnum() or (octet.octet in b"-:/=._+" and behind.isalnum())
    else:
        going_on = octet.octet in b"-:/" and behind.isdigit()
        if not is_phrase and not opens and (octet.octet.isalnum() or octet.octet in b"-:/"):
            going_on = going_on or (part[-1:].isdigit() and octet.octet.isdigit()) or holds_colon(text, octet)
    if not going_on and not is_phrase and octet.octet.isalnum():
        going_on = None
    return going_on, depth, closed


def holds_colon(text: bytes, octet: Octet) -> bool:
    return regex.compile(rb"[A-Za-z0-9-]{0,64}:[A-Za-z0-9]").match(text, octet.end) is not None


def without_digits(tag: bytes) -> bytes:
    return regex.sub(rb"[0-9]", b"", tag)


def result(text: bytes, octets: list[Octet], syntax: str) -> tuple[int, bytes, bool] | None:
    """The name that these octets are, without punctuation alone behind the last gap."""
    match = COMPILED[syntax].match(b"".join(each.octet for each in octets))
    if match is None:
        return None
    end = match.end()
    for place in range(end - 1, 0, -1):
        if octets[place].octet.isalnum():
            break
        if octets[place].start > octets[place - 1].end:
            end = place
    match = COMPILED[syntax].match(match[0], 0, end)
    if match is None:
        return None
    kept = octets[: match.end()]
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
