r"""URNs that are broken over lines, or by invisible characters.

A match of the grammar ends at a break, but the URN may go on after the break. `read_on` joins both sides of a break if
that is plausible, at most `MAX_BREAKS` times in a URN, and applies the grammar to the joined bytes. A break may also
come right at the beginning of a URN: after `urn:`, `urn:nid` or `urn:nid:`. `tests/scanner/views/test_wraps.py`
compares the rules with places that people have checked.

    see <urn:ietf:params:rtp-
       hdrext:sdes:mid>, and

These words have one meaning below and in the code:
  * part: the bytes of the URN before the break, `urn:ietf:params:rtp-`;
  * run: all bytes after the break that a URN may contain, `hdrext:sdes:mid`, at most `MAX_AHEAD`. It never begins
    with `urn:` or with a scheme and `://`. The joined bytes must be a URN that reaches beyond the break;
  * mark: one of < " ' ` ( [ { before the URN, with at most 64 bytes between them, none of which is a space or a mark;
  * partner: the byte that closes the mark;
  * core: the run up to the partner of the mark; without a partner, the run without `_CLOSING` at its end;
  * distinctive: a core that is hardly prose. It has at least 8 bytes; and four digits, or a single `:` with other bytes
    on both sides (not `std::`). So it is not a word, an item of a list or the name of a variable.

A silent break is always joined, if the run has other bytes than those of `_CLOSING`:
  * A soft hyphen, U+200B, U+200C, U+200D, U+2060 or U+FEFF, up to three of them, perhaps with a line end and
    indentation after them. No reader sees these characters, and nobody typed them.
  * `=` and a line end, in a line of 60 to 76 bytes with the `=`, and no indentation after it. Quoted-printable fills
    its lines, ends no line later than at 76, and writes a literal `=` as `=3D`. Elsewhere a `=` belongs to the URN.
  * `\`, a line end and indentation, perhaps with one more `\`: the folded lines of RFC 8792, and continued strings in
    C, Python or the shell. A run that begins with `--`, the option of a command, is never joined.

A plain break is one LF or CRLF, with at most 4 spaces before it and 60 after it; never an empty line. If the line of
the part begins with a comment leader or a quote mark (`_LEADER`), the next line begins with the same bytes, and spaces.
A plain break is joined in one of three cases:
  1. Bracketed. The mark is `<`, and `>` follows the run; or one more plain break follows, and the rest is bracketed.
     The run is not `/`.
  2. Closed. The partner follows the core, perhaps with a `\` before it; or the run ends with `-`, `:` or `/`, one more
     plain break and a letter or digit follow, and so on up to the partner. In addition one of these conditions holds:
     * The part ends with `-`, `:` or `/`, and the core begins with a letter or digit. In round brackets after `:` or
       `/`, the core must be distinctive: "(urn:uuid: form)" is prose.
     * The part ends with a letter or digit, and the core begins with `-`, `:` or `/` and a letter or digit.
  3. Open. The core begins with a letter or digit, the run does not end with `:` before a space or line end (a field, a
     label), and one of these conditions holds:
     * The part ends with `-`, and the core is neither a capitalised word nor "and" nor "or".
     * The part ends with `:` or `/`, and the core is distinctive.
A plain break is also joined where the two sides of it fit together as in `_FITTING`: around `&`, `=`, `?` and `/` of a
component or path, if a digit follows the `/`, and in the middle of `%HH` or of a character of several `%HH`. Prose does
not begin a line in this way.
A part that is only `URN:`, in capitals, is the label of a field. It is joined only in the case Closed. If the part is
only `urn:`, in small letters, the case Open needs a distinctive core that begins with a NID, a `:` and a letter or
digit.

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

MAX_BREAKS = 4
MAX_AHEAD = 256
_LONGEST_LINE = 256
LOOK_BACK = 320
"""Bytes before a URN, or before the end of its first part, that a decision may need: 65 for the mark, 256 for the line
before the break. A longer line has no leader.
"""
AHEAD = MAX_BREAKS * (150 + MAX_AHEAD)
"""Bytes after the end of the first part of a URN that a decision may need: for each break 141 bytes, and a run (the
bytes of the URN after the break).
"""
# Lengths of lines that quoted-printable breaks.
_QUOTED_PRINTABLE = range(60, 77)
_DISTINCTIVE_LENGTH = 8
_CLOSING = bytes(byte for byte in range(256) if CLOSES[byte])
_DELIMITERS = b"-:/"
_BLANK = (b" ", b"\t", b"\r", b"\n", b"")
_PARTNER = dict(zip(b"<\"'`([{", b">\"'`)]}", strict=True))

_URN_BYTE = rb"[A-Za-z0-9._~!$&'()*+,;=:@/?#%-]"
_FIRST_RUN = regex.compile(_URN_BYTE + rb"+")
_RUN = regex.compile(_URN_BYTE + rb"{0,%d}" % MAX_AHEAD)
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
_DISTINCTIVE = regex.compile(rb"(?:.*?[0-9]){4}.*|[^:]+:[^:].*")
_NAMESTRING = regex.compile(rb"[A-Za-z0-9][A-Za-z0-9-]{0,31}:[A-Za-z0-9].*")


_UNFINISHED = regex.compile(rb"(?:%[0-9A-Fa-f]?|\?[+=]?|&)\Z")
"""The end of a part that the grammar does not match yet."""
_FITTING = [
    (regex.compile(part, regex.DOTALL), regex.compile(core, regex.DOTALL))
    for part, core in (
        (rb".*%", rb"[0-9A-Fa-f]{2}.*"),
        (rb"\A.*%[C-Fc-f][0-9A-Fa-f](?:%[89ABab][0-9A-Fa-f]){0,2}", rb"%[89ABab][0-9A-Fa-f].*"),
        (rb".*%[0-9A-Fa-f]", rb"[0-9].*|[A-Fa-f](?![A-Za-z]+\Z).*"),
        (rb".*\?", rb"[+=][A-Za-z0-9].*"),
        (rb"\A[^?]*+\?(?:.*[=&]|.*\?[+]|[+])", rb"[A-Za-z0-9%-].*"),
        (rb".*[A-Za-z0-9]", rb"\?[+=][A-Za-z0-9].*"),
        (rb"\A[^?]*+\?.*[A-Za-z0-9]", rb"&[A-Za-z][A-Za-z0-9._-]*=.*|=[A-Za-z0-9-].*"),
        (rb".*[A-Za-z0-9]", rb"/(?=[^/]*[0-9])[A-Za-z0-9][^/]*"),
    )
]
"""Ends of parts, each with the beginnings of cores that continue them."""


@dataclass(frozen=True, slots=True)
class BrokenURN:
    """A URN that is broken in one or more places, without the breaks."""

    text: bytes
    """The URN without the breaks."""
    places: npt.NDArray[np.int64]
    """For each byte of `text`, its index in the data that `read_on` got."""
    is_cut: bool
    """Whether the URN was cut at `max_length`."""


def is_enough(data: bytes) -> bool:
    """Whether `data`, the bytes after the first part of a URN (from the first break on), is enough for `read_on` to
    decide where the URN ends: it has an empty line, more than four line ends, or AHEAD (1,624) bytes.
    """
    return len(data) >= AHEAD or data.count(b"\n") > MAX_BREAKS or _EMPTY_LINE.search(data) is not None


def read_on(data: bytes, start: int, syntax: Syntax, max_length: int = sys.maxsize) -> BrokenURN | None:
    """The URN that begins at index `start` and is broken (over lines, or by invisible characters), without its breaks;
    None if no URN begins there, or none that goes on after a break.

    `data` must contain LOOK_BACK (320) bytes before `start` and AHEAD (1,624) bytes after the first break, if the text
    has that many. A URN of more than `max_length` bytes is cut: `is_cut` is true.
    """
    text = b""
    places: list[int] = []
    best = 0
    begin, last_break = start, 0
    for left in range(MAX_BREAKS, -1, -1):
        run = _unquoted(data, begin, _matched(_FIRST_RUN if begin == start else _RUN, data, begin))
        text += run
        places += range(begin, begin + len(run))
        match = syntax.pattern.match(text.decode())
        if match and match.end() > last_break > 0:
            best = match.end()
        stub = _STUB.match(text)
        matched_end = max(match.end() if match else 0, stub.end() if stub else 0)
        if not run or not left or (matched_end < len(text) and not _is_unfinished(text, matched_end)):
            break
        continuation = _continuation(data, start, begin + len(run), text, left)
        if continuation is None:
            break
        begin, last_break = continuation, len(text)
    is_cut = best > max_length
    if is_cut:
        match = syntax.pattern.match(text.decode(), 0, max_length)
        best = match.end() if match else 0
    return BrokenURN(text[:best], np.array(places[:best]), is_cut) if best else None


def _matched(pattern: regex.Pattern[bytes], data: bytes, at: int) -> bytes:
    match = pattern.match(data, at)
    return match[0] if match else b""


def _is_unfinished(text: bytes, matched_end: int) -> bool:
    """Whether `text[matched_end:]`, the bytes after a match, may become a part of the URN with further bytes (`%`,
    `?`). False if `matched_end` is 0.
    """
    unfinished = _UNFINISHED.search(text)
    return unfinished is not None and unfinished.start() <= matched_end > 0


def _unquoted(data: bytes, begin: int, run: bytes) -> bytes:
    """The run, at index `begin`, without the `=` with which quoted-printable ends a line."""
    end = begin + len(run)
    if not (run.endswith(b"=") and _SOFT.match(data, end)):
        return run
    return run[:-1] if end - _line_start(data, end) in _QUOTED_PRINTABLE else run


def _continuation(data: bytes, start: int, end: int, part: bytes, left: int) -> int | None:
    """Index at which the URN that begins at `start` goes on after a break at `end`; None if it does not. `part`: its
    bytes before the break. It may still have `left` breaks, with this one.
    """
    silent = _INVISIBLE.match(data, end) or _FOLDED.match(data, end)
    if silent is None and data[end : end + 1] == b"=":
        silent = _SOFT.match(data, end + 1)
    begin = silent.end() if silent else _next_line(data, end)
    if begin is None or _FOREIGN.match(data, begin):
        return None
    run = _matched(_RUN, data, begin)
    if not run or len(run) == MAX_AHEAD:
        return None
    goes_on = bool(run.strip(_CLOSING)) if silent else _plausible(data, start, begin, part, run, left)
    return begin if goes_on else None


def _next_line(data: bytes, end: int) -> int | None:
    """Index at which the text goes on after a line end at `end`, a comment leader or quote mark, and indentation. None
    without a line end, or if the next line lacks the leader of this line (except `*`).
    """
    line_end = _LINE_END.match(data, end)
    if line_end is None:
        return None
    leader = _LEADER.match(data, _line_start(data, end), end)
    begin = line_end.end()
    if leader and data.startswith(leader[0], begin):
        begin += len(leader[0])
    elif leader and not leader[0].endswith(b"*"):
        return None
    return begin + len(_matched(_INDENT, data, begin))


def _line_start(data: bytes, end: int) -> int:
    """Start of the line that ends at `end`; `end` if the line is too long."""
    floor = max(0, end - _LONGEST_LINE)
    start = max(data.rfind(b"\n", floor, end), data.rfind(b"\0", floor, end)) + 1
    return start if start or end <= _LONGEST_LINE else end


def _plausible(data: bytes, start: int, begin: int, part: bytes, run: bytes, left: int) -> bool:
    """Whether the URN that begins at `start`, so far `part`, goes on with `run`, at index `begin`, after a plain break
    (rules at the top of this module). It may still have `left` breaks, with this one.
    """
    opened = _OPENED.search(data, max(0, start - 65), start)
    partner = bytes([_PARTNER[opened[1][0]]]) if opened else b""
    if partner == b">" and _bracketed(data, begin, left):
        return True
    closed = bool(partner) and _closes(data, begin, partner, left)
    core = run.partition(partner)[0] if closed else run.rstrip(_CLOSING)
    distinctive = len(core) >= _DISTINCTIVE_LENGTH and _DISTINCTIVE.fullmatch(core) is not None
    if any(end.fullmatch(part) and beginning.fullmatch(core) for end, beginning in _FITTING):
        return True
    if closed and part[-1:].isalnum():
        return core[:1] in (b"-", b":", b"/") and core[1:2].isalnum()
    if not core[:1].isalnum() or part[-1] not in _DELIMITERS:
        return False
    if closed:
        return partner != b")" or part[-1] == ord("-") or distinctive
    if run.endswith(b":") and data[begin + len(run) : begin + len(run) + 1] in _BLANK:
        return False
    if len(part) == len(b"urn:"):
        return part == b"urn:" and distinctive and _NAMESTRING.fullmatch(core) is not None
    return _WORD.fullmatch(core) is None if part[-1] == ord("-") else distinctive


def _bracketed(data: bytes, begin: int, left: int) -> bool:
    """Whether the rest of a URN from index `begin` on, with fewer than `left` further breaks in it, ends at the closing
    bracket `>`. Each line must have 1 to 256 URN bytes (not only `/`), and not begin with `urn:` or a scheme and `://`.
    """
    run = _matched(_RUN, data, begin)
    end = begin + len(run)
    if not run or run == b"/" or _FOREIGN.match(data, begin):
        return False
    if data[end : end + 1] == b">":
        return True
    further = _next_line(data, end)
    return left > 1 and further is not None and _bracketed(data, further, left - 1)


def _closes(data: bytes, begin: int, partner: bytes, left: int) -> bool:
    """Whether the partner of the opening mark (`)` of `(`) is in or directly after the run at `begin`, or after further
    breaks, fewer than `left`.
    """
    run = _matched(_RUN, data, begin)
    end = begin + len(run)
    if partner in run or data[end : end + 2].removeprefix(b"\\").startswith(partner):
        return True
    if left == 1 or not run or run[-1] not in _DELIMITERS:
        return False
    further = _next_line(data, end)
    return (
        further is not None
        and data[further : further + 1].isalnum()
        and _FOREIGN.match(data, further) is None
        and _closes(data, further, partner, left - 1)
    )
