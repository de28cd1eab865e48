r"""URNs that are broken over lines, or by characters that nobody sees.

A match of the grammar ends where a break stands, but the URN may go on behind it. `read_on` joins both sides of a break
where that is plausible, at most `MOST_BREAKS` times a URN, and applies the grammar to the joined octets. A URN may also
break where it has only begun: behind `urn:`, `urn:nid` or `urn:nid:`. `tests/scanner/views/test_wraps.py` compares the
rules with places that people have judged.

    see <urn:ietf:params:rtp-
       hdrext:sdes:mid>, and

These words have one meaning below and in the code:
  * part: the octets of the URN before the break, `urn:ietf:params:rtp-`;
  * run: all octets behind the break that may stand in a URN, `hdrext:sdes:mid`, at most `MOST_AHEAD`. It never begins
    with `urn:` or with a scheme and `://`. The joined octets must be a URN that reaches beyond the break;
  * mark: one of < " ' ` ( [ { before the URN, with at most 64 octets between them, none of which is a blank or a mark;
  * partner: the octet that closes the mark;
  * kept: the run up to the partner of the mark, or else the run without `_CLOSING` at its end;
  * telling: said of a kept that is hardly prose. It has at least 8 octets, and four digits or a `:` between others that
    is not doubled (`std::`). So it is no word, no item of a list and no name of a variable.

A silent break is joined whatever stands around it, if the run has more than octets of `_CLOSING`:
  * A soft hyphen, U+200B, U+200C, U+200D, U+2060 or U+FEFF, up to three of them, perhaps with a line end and indentation
    behind them. No reader sees them, and nobody typed them.
  * `=` and a line end, in a line of 60 to 76 octets with the `=`, and no indentation behind it. Quoted-printable fills
    its lines, ends none later than at 76, and writes a literal `=` as `=3D`. Elsewhere a `=` is the URN's own.
  * `\`, a line end and indentation, perhaps with one more `\`: the folded lines of RFC 8792, and a string that goes on
    in C, Python or the shell. No run that begins with `--`, the option of a command, is joined.

A plain break is one LF or CRLF, with at most 4 blanks before it and 60 behind it; never an empty line. If the line of the
part begins with a comment leader or a quote mark (`_LEADER`), the next line begins with the same octets, and blanks.
It is joined in one of three cases:
  1. Bracketed. The mark is `<`, and `>` stands behind the run; or one more plain break stands there, and the rest is
     bracketed. The run is not `/`.
  2. Closed. The partner stands behind kept, perhaps with a `\` before it; or the run ends with `-`, `:` or `/`, one more
     plain break and a letter or digit follow, and so on to the partner. In addition one of these holds:
     * The part ends with `-`, `:` or `/`, and kept begins with a letter or digit. In round brackets after `:` or `/`,
       kept must be telling: "(urn:uuid: form)" is prose.
     * The part ends with a letter or digit, and kept begins with `-` or `:` and a letter or digit.
  3. Open. Kept begins with a letter or digit, the run does not end with `:` before a blank or line end (a field, a
     label), and one of these holds:
     * The part ends with `-`, and kept is neither a capitalised word nor "and" nor "or".
     * The part ends with `:` or `/`, and kept is telling.
A part that is only `URN:`, in capitals, is the label of a field, and is joined only if it is closed. If it is `urn:`, in
small letters, and open, kept must be telling and begin with a NID, a `:` and a letter or digit.

>>> from urnscan.urn.syntax import get_syntax
>>> read_on(b"the URI 'urn:ietf:params:rtp-\n   hdrext:sdes:mid' value", 9, get_syntax("rfc8141")).text
b"urn:ietf:params:rtp-hdrext:sdes:mid'"
>>> read_on(b"the prefix urn:ietf:params:\n   The rest is prose", 11, get_syntax("rfc8141"))
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import regex

from urnscan.urn.syntax import Syntax
from urnscan.urn.trim import CLOSES

MOST_BREAKS = 4
MOST_AHEAD = 256
_LINE_BEHIND = 256
BEHIND = 320
"""Octets before a URN, or before the end of its first part, that a decision may need: 65 for the mark, 256 for the line
before the break. A longer line has no leader.
"""
AHEAD = MOST_BREAKS * (150 + MOST_AHEAD)
"""Octets behind the end of its first part that a decision may need: for each break 141 and a run."""
_QUOTED_PRINTABLE = range(60, 77)
_TELLING_LENGTH = 8
_CLOSING = bytes(octet for octet in range(256) if CLOSES[octet])
_DELIMITERS = b"-:/"
_BLANK = (b" ", b"\t", b"\r", b"\n", b"")
_PARTNER = dict(zip(b"<\"'`([{", b">\"'`)]}", strict=True))

_URN_OCTET = rb"[A-Za-z0-9._~!$&'()*+,;=:@/?#%-]"
_FIRST_RUN = regex.compile(_URN_OCTET + rb"+")
_RUN = regex.compile(_URN_OCTET + rb"{0,%d}" % MOST_AHEAD)
_STUB = regex.compile(rb"[Uu][Rr][Nn]:(?![Uu][Rr][Nn]:)(?:[A-Za-z0-9][A-Za-z0-9-]{0,31}:?)?")
_INVISIBLE = regex.compile(
    rb"(?:\xC2\xAD|\xE2\x80[\x8B-\x8D]|\xE2\x81\xA0|\xEF\xBB\xBF){1,3}(?:[ \t]{0,4}\r?\n[ \t]{0,60})?"
)
_FOLDED = regex.compile(rb"\\\r?\n[ \t]{0,60}\\?(?!--)")
_SOFT = regex.compile(rb"\r?\n")
_EMPTY_LINE = regex.compile(rb"\n[ \t]*\r?\n")
_LINE_END = regex.compile(rb"[ \t]{0,4}\r?\n")
_INDENT = regex.compile(rb"[ \t]{0,60}")
_LEADER = regex.compile(rb"[ \t]{0,60}(?:///?|--|#{1,6}|\*|>(?: ?>){0,7})(?=[ \t])")
_OPENED = regex.compile(rb"([<\"'`(\[{])[^\0\s<>\"'`()\[\]{}]{0,64}\Z")
_FOREIGN = regex.compile(rb"[Uu][Rr][Nn]:|[A-Za-z][A-Za-z0-9+.-]*://")
_WORD = regex.compile(rb"[A-Z][a-z]*|and|or")
_TELLING = regex.compile(rb"(?:.*?[0-9]){4}.*|[^:]+:[^:].*")
_NAMESTRING = regex.compile(rb"[A-Za-z0-9][A-Za-z0-9-]{0,31}:[A-Za-z0-9].*")


@dataclass(frozen=True, slots=True)
class Broken:
    """A URN that is broken at least once."""

    text: bytes
    """The URN without the breaks."""
    places: npt.NDArray[np.int64]
    """Place of each octet of `text`."""
    is_cut: bool
    """Whether it goes on, but is cut for its length."""


def is_enough(octets: bytes) -> bool:
    """Whether the octets behind the first part of a URN decide whether it goes on, whatever comes next.

    They do if they hold an empty line, more line ends than a URN can have, or AHEAD octets.
    """
    return len(octets) >= AHEAD or octets.count(b"\n") > MOST_BREAKS or _EMPTY_LINE.search(octets) is not None


def read_on(octets: bytes, start: int, syntax: Syntax, max_length: int = sys.maxsize) -> Broken | None:
    """The broken URN that begins at `start`, or None.

    `octets` begin BEHIND octets before it, or with the text, and end AHEAD octets behind its first break, or with the
    text.
    """
    text = b""
    places: list[int] = []
    best = 0
    begin, last_break = start, 0
    for left in range(MOST_BREAKS, -1, -1):
        run = _unquoted(octets, begin, _taken(_FIRST_RUN if begin == start else _RUN, octets, begin))
        text += run
        places += range(begin, begin + len(run))
        match = syntax.pattern.match(text.decode())
        if match and match.end() > last_break > 0:
            best = match.end()
        stub = _STUB.match(text)
        reached = max(match.end() if match else 0, stub.end() if stub else 0)
        if not run or not left or reached < len(text):
            break
        going_on = _behind(octets, start, begin + len(run), text, left)
        if going_on is None:
            break
        begin, last_break = going_on, len(text)
    is_cut = best > max_length
    if is_cut:
        match = syntax.pattern.match(text.decode(), 0, max_length)
        best = match.end() if match else 0
    return Broken(text[:best], np.array(places[:best]), is_cut) if best else None


def _taken(pattern: regex.Pattern[bytes], octets: bytes, at: int) -> bytes:
    """The octets at `at` that match the pattern."""
    match = pattern.match(octets, at)
    return match[0] if match else b""


def _unquoted(octets: bytes, begin: int, run: bytes) -> bytes:
    """The run without a `=` of quoted-printable at its end."""
    end = begin + len(run)
    if not (run.endswith(b"=") and _SOFT.match(octets, end)):
        return run
    return run[:-1] if end - _line_start(octets, end) in _QUOTED_PRINTABLE else run


def _behind(octets: bytes, start: int, end: int, part: bytes, left: int) -> int | None:
    """Place where a URN goes on behind a break at `end`, or None; it may have `left` breaks."""
    silent = _INVISIBLE.match(octets, end) or _FOLDED.match(octets, end)
    if silent is None and octets[end : end + 1] == b"=":
        silent = _SOFT.match(octets, end + 1)
    begin = silent.end() if silent else _behind_line(octets, end)
    if begin is None or _FOREIGN.match(octets, begin):
        return None
    run = _taken(_RUN, octets, begin)
    if not run or len(run) == MOST_AHEAD:
        return None
    goes_on = bool(run.strip(_CLOSING)) if silent else _plausible(octets, start, begin, part, run, left)
    return begin if goes_on else None


def _behind_line(octets: bytes, end: int) -> int | None:
    """Place where the text goes on behind a line end at `end`: behind indentation and the leader."""
    line_end = _LINE_END.match(octets, end)
    if line_end is None:
        return None
    leader = _LEADER.match(octets, _line_start(octets, end), end)
    begin = line_end.end()
    if leader and octets.startswith(leader[0], begin):
        begin += len(leader[0])
    elif leader and not leader[0].endswith(b"*"):
        return None
    return begin + len(_taken(_INDENT, octets, begin))


def _line_start(octets: bytes, end: int) -> int:
    """Beginning of the line that ends at `end`, or `end` if that is too far away. A NUL separates texts."""
    floor = max(0, end - _LINE_BEHIND)
    start = max(octets.rfind(b"\n", floor, end), octets.rfind(b"\0", floor, end)) + 1
    return start if start or end <= _LINE_BEHIND else end


def _plausible(octets: bytes, start: int, begin: int, part: bytes, run: bytes, left: int) -> bool:
    """Whether a URN goes on behind a plain line end: bracketed, closed or open."""
    opened = _OPENED.search(octets, max(0, start - 65), start)
    partner = bytes([_PARTNER[opened[1][0]]]) if opened else b""
    if partner == b">" and _bracketed(octets, begin, left):
        return True
    closed = bool(partner) and _closes(octets, begin, partner, left)
    kept = run.partition(partner)[0] if closed else run.rstrip(_CLOSING)
    telling = len(kept) >= _TELLING_LENGTH and _TELLING.fullmatch(kept) is not None
    if closed and part[-1:].isalnum():
        return kept[:1] in (b"-", b":") and kept[1:2].isalnum()
    if not kept[:1].isalnum() or part[-1] not in _DELIMITERS:
        return False
    if closed:
        return partner != b")" or part[-1] == ord("-") or telling
    if run.endswith(b":") and octets[begin + len(run) : begin + len(run) + 1] in _BLANK:
        return False
    if len(part) == len(b"urn:"):
        return part == b"urn:" and telling and _NAMESTRING.fullmatch(kept) is not None
    return _WORD.fullmatch(kept) is None if part[-1] == ord("-") else telling


def _bracketed(octets: bytes, begin: int, left: int) -> bool:
    """Whether only URN octets and breaks stand before the closing bracket."""
    run = _taken(_RUN, octets, begin)
    end = begin + len(run)
    if not run or run == b"/" or _FOREIGN.match(octets, begin):
        return False
    if octets[end : end + 1] == b">":
        return True
    further = _behind_line(octets, end)
    return left > 1 and further is not None and _bracketed(octets, further, left - 1)


def _closes(octets: bytes, begin: int, partner: bytes, left: int) -> bool:
    """Whether the partner of the opening mark stands in or behind these URN octets, or behind further breaks."""
    run = _taken(_RUN, octets, begin)
    end = begin + len(run)
    if partner in run or octets[end : end + 2].removeprefix(b"\\").startswith(partner):
        return True
    if left == 1 or not run or run[-1] not in _DELIMITERS:
        return False
    further = _behind_line(octets, end)
    return (
        further is not None
        and octets[further : further + 1].isalnum()
        and _FOREIGN.match(octets, further) is None
        and _closes(octets, further, partner, left - 1)
    )
