"""What a scan must find, said a second time: plain Python, one pattern a syntax, no thought for speed.

Written from the page on semantics and the standards (RFC 2141 §2, RFC 8141 §2, draft-ietf-urnbis-rfc2141bis-urn-03 §2),
not from the scanner, and sharing nothing with it. Where the two differ, one of them is wrong.

>>> [record.text for record in oracle(b"see urn:a:b, return:foo:bar and urn:urn:foo:bar", "rfc2141")]
[b'urn:a:b,', b'urn:foo:bar']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import regex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from urnscan.scanner import Matches

CUT, END = -1, -2
SYNTAXES = ("rfc2141", "rfc8141", "rfc2141bis-03")

ALNUM = rb"[A-Za-z0-9]"
HH = rb"%[0-9A-Fa-f][0-9A-Fa-f]"
PC = rb"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%HH)".replace(b"%HH", HH)
PC_SLASH = rb"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%HH)".replace(b"%HH", HH)
PC_SLASH_QUESTION = rb"(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%HH)".replace(b"%HH", HH)
VALUE = rb"(?:[A-Za-z0-9._~!$'()*+,;=:@/?-]|%HH)*".replace(b"%HH", HH)
RFC2141_CHAR = rb"(?:[A-Za-z0-9(),.:=@;$_!*'/?#+-]|%HH)".replace(b"%HH", HH)
DIRECTIVE = rb"[A-Za-z](?:-?[A-Za-z0-9])*=" + VALUE
BEGIN = rb"[Uu][Rr][Nn]:(?![Uu][Rr][Nn]:)"
FRAGMENT = rb"(?:\#" + PC_SLASH_QUESTION + rb"*)?"

PATTERNS = {
    "rfc2141": BEGIN + rb"(?P<nid>[A-Za-z0-9][A-Za-z0-9-]{0,31}):(?P<nss>" + RFC2141_CHAR + rb"+)",
    "rfc8141": BEGIN
    + rb"(?P<nid>[A-Za-z0-9][A-Za-z0-9-]{0,30}[A-Za-z0-9]):(?P<nss>"
    + PC
    + PC_SLASH
    + rb"*)(?:\?\+(?P<r>"
    + PC
    + rb"(?:"
    + PC_SLASH
    + rb"|\?(?!=))*))?(?:\?=(?P<q>"
    + PC
    + PC_SLASH_QUESTION
    + rb"*))?"
    + FRAGMENT,
    "rfc2141bis-03": BEGIN
    + rb"(?P<nid>[A-Za-z0-9][A-Za-z0-9-]{0,30}[A-Za-z0-9]):(?P<nss>"
    + PC
    + rb"+)(?:\?(?P<q>"
    + DIRECTIVE
    + rb"(?:&"
    + DIRECTIVE
    + rb")*))?"
    + FRAGMENT,
}
COMPILED = {syntax: regex.compile(pattern) for syntax, pattern in PATTERNS.items()}
CANDIDATE = regex.compile(rb"[Uu][Rr][Nn]:")


class Record(NamedTuple):
    """One match."""

    start: int
    end: int
    text: bytes
    nid: bytes
    line: int
    stop: int
    trailing: int
    canonical: bytes


def oracle(
    octets: bytes, syntax: str, *, trim: bool = False, max_length: int = 65_536, keep_query: bool = False
) -> list[Record]:
    """All matches of a text."""
    pattern = COMPILED[syntax]
    records = []
    at = 0
    while candidate := CANDIDATE.search(octets, at):
        start = candidate.start()
        match = pattern.match(octets, start, start + max_length) if may_begin(octets, start) else None
        if match is None:
            at = start + 1
            continue
        end = match.end()
        first_step, trimmed_end = trimmed(octets, match)
        if trim:
            at = first_step
            if trimmed_end == start:
                continue
        else:
            at = end
        if trim and trimmed_end != end:
            stop = octets[trimmed_end]
            match = pattern.match(octets, start, trimmed_end)
        elif pattern.match(octets, start, start + 2 * max_length).end() > end:
            stop = CUT
        else:
            stop = octets[end] if end < len(octets) else END
        records.append(
            Record(
                start=start,
                end=match.end(),
                text=match[0],
                nid=match["nid"],
                line=1 + octets[:start].count(b"\n"),
                stop=stop,
                trailing=0 if trim else min(255, end - trimmed_end),
                canonical=canonical(match, keep_query=keep_query),
            )
        )
    return records


def whole(octets: bytes, syntax: str) -> bool:
    """Whether all of `octets` is one URN."""
    return COMPILED[syntax].fullmatch(octets) is not None


def trimmable(records: Iterable[Record]) -> int:
    """How many of these untrimmed matches trimming would change."""
    return sum(record.trailing > 0 for record in records)


def may_begin(octets: bytes, start: int) -> bool:
    """Whether what stands before `start` lets a URN begin there (§2)."""
    if start >= 2 and octets[start - 2] == 0x1F:
        return True
    return start == 0 or regex.fullmatch(ALNUM, octets[start - 1 : start]) is None


def trimmed(octets: bytes, match: regex.Match[bytes]) -> tuple[int, int]:
    """Where the first step of trimming ends a match, and where all three do: at its start when nothing is left (§5)."""
    start, end = match.span()
    separator = regex.compile(rb"[,;][Uu][Rr][Nn]:").search(octets, match.end("nid"), end)
    if separator:
        end = separator.start()
    first_step = end
    while True:
        kept = start + len(without_closing(octets[start:end]))
        again = match.re.match(octets, start, kept)
        if again is None:
            return first_step, start
        if again.end() == end:
            return first_step, end
        end = again.end()


def without_closing(text: bytes) -> bytes:
    """The text without the closing punctuation and the unmatched brackets at its end (step 2)."""
    opened: list[int] = []
    unmatched = set()
    for index, octet in enumerate(text):
        if octet == ord("("):
            opened.append(index)
        elif octet == ord(")"):
            if opened:
                opened.pop()
            else:
                unmatched.add(index)
    while text and (text[-1] in b".,;:!?'*_" or len(text) - 1 in unmatched):
        text = text[:-1]
    return text


def canonical(match: regex.Match[bytes], *, keep_query: bool = False) -> bytes:
    """The lexical canonical form; with the query, as found but for its hex digits, where that is wanted (§4)."""
    rest = match["nss"]
    if keep_query and match["q"] is not None:
        rest += b"?" + match["q"]
    return b"urn:" + match["nid"].lower() + b":" + fold_hex(rest)


def fold_hex(text: bytes) -> bytes:
    """The text with the hex digits of every %HH in upper case."""
    return regex.sub(HH, lambda hex_digits: hex_digits[0].upper(), text)


def records_of(batches: Iterable[Matches], most: int | None = None) -> list[Record]:
    """What the scanner hands out, as records; no batch is empty or larger than `most`."""
    records = []
    for batch in batches:
        assert 1 <= len(batch) <= (most or len(batch))
        assert len(batch.text_offsets) == len(batch.canonical_offsets) == len(batch) + 1
        assert batch.text_offsets[0] == batch.canonical_offsets[0] == 0
        assert batch.text_offsets[-1] == len(batch.text)
        assert batch.canonical_offsets[-1] == len(batch.canonical)
        for i in range(len(batch)):
            text = batch.text[batch.text_offsets[i] : batch.text_offsets[i + 1]].tobytes()
            start = int(batch.start[i])
            records.append(
                Record(
                    start=start,
                    end=start + int(batch.length[i]),
                    text=text,
                    nid=text[4 : 4 + int(batch.nid_length[i])],
                    line=int(batch.line[i]),
                    stop=int(batch.stop[i]),
                    trailing=int(batch.trailing[i]),
                    canonical=batch.canonical[batch.canonical_offsets[i] : batch.canonical_offsets[i + 1]].tobytes(),
                )
            )
    return records


class Pieces:
    """A `read_into` that delivers a text in pieces of the given sizes, over and over, as far as the view has room."""

    def __init__(self, octets: bytes, sizes: list[int]) -> None:
        self.rest = memoryview(octets)
        self.sizes = sizes
        self.reads = 0

    def __call__(self, view: memoryview) -> int:
        size = min(self.sizes[self.reads % len(self.sizes)], len(view), len(self.rest))
        view[:size] = self.rest[:size]
        self.rest = self.rest[size:]
        self.reads += 1
        return size
