"""What a scan must find, said a second time: plain Python, one pattern a syntax, no thought for speed.

Written from the pages syntax.md, name-options.md, equivalence.md and rejects.md of docs/reference, and the standards
(RFC 2141 §2, RFC 8141 §2, draft-ietf-urnbis-rfc2141bis-urn-03 §2), not from the scanner, and sharing nothing with it. Where the two differ, one of them is wrong.

>>> [record.text for record in oracle(b"see urn:a:b, return:foo:bar and urn:urn:foo:bar", "rfc2141")]
[b'urn:a:b,', b'urn:foo:bar']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import regex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from urnscan.scanner.blocks import Matches

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
FRAGMENT = rb"(?:\#(?P<f>" + PC_SLASH_QUESTION + rb"*))?"

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

# RFC 3986 §3.2: user information, host, port; then what of path, query and fragment stands before the URN.
LINK = regex.compile(
    rb"(?:[^]\[/?#]*@)?(?P<host>\[[^]\[/?#@]+\]|[^]\[/?#@:]+)(?::[0-9]*)?(?P<rest>[/?#][^]\[]*)", regex.DOTALL
)
URL_BYTES = regex.compile(rb"[]A-Za-z0-9._~:/?#\[@!$&()*+,;=%-]*\Z")
# Where a URN ends in a URL, when its tail is cut: in RFC 8141 "?+" and "?=" begin components of the URN itself.
TAILS = {
    (part, syntax): regex.compile(rb"[&#]" if part != "path" else rb"#" if syntax == "rfc8141" else rb"[?#]")
    for part in ("path", "query or fragment")
    for syntax in SYNTAXES
}


REJECT_TEXT = regex.compile(rb"[\x21\x23-\x3b\x3d\x3f-\x7e]{0,256}")
"""What the text of a reject is made of: up to white space, a control, a non-ASCII byte or one of `"<>`."""
NAMES_SOMETHING = regex.compile(rb"[Uu][Rr][Nn]:.*[A-Za-z0-9]")
# Why no URN begins, the first that fits; `()` stands before what is wrong. For the syntaxes of the last column.
_ALL, _PCHAR = SYNTAXES, SYNTAXES[1:]
_NID = rb"[Uu][Rr][Nn]:[A-Za-z0-9-]++"
REASONS = [
    ("nid-first-character", rb"....()(?![A-Za-z0-9])", _ALL),
    ("nid-too-long", rb"....[A-Za-z0-9-]{32}()[A-Za-z0-9-]", _ALL),
    ("nid-colon-missing", _NID + rb"()$", _ALL),
    ("nid-character", _NID + rb"()[^:]", _ALL),
    ("nid-reserved", rb"....()[Uu][Rr][Nn]:", _ALL),
    ("nid-too-short", rb"....().:", _PCHAR),
    ("nid-hyphen", rb"....[A-Za-z0-9-]*()-:", _PCHAR),
    ("nss-missing", _NID + rb":()$", _ALL),
    ("nss-missing", _NID + rb":()[?#]", _PCHAR),
    ("percent-malformed", _NID + rb":()%", _ALL),
    ("slash", _NID + rb":()/", _PCHAR),
    ("excluded-character", _NID + rb":()", _ALL),
]


# Why a URN ends where it does, by what stands behind it, the first that fits; no reject if none does (RFC 8141 §2, and
# its ABNF: a component is not empty, and begins with a pchar; rfc2141bis-03 §2.3). A "?" before nothing of a URN, or
# before closing punctuation, is that of a sentence.
_NOT_CLOSING = rb"[A-Za-z0-9~$&(+=@/%\#-]"
# The standards end a name there, and people write on: letters beyond ASCII of Latin, Greek, Cyrillic and other scripts
# that part words; RFC 8141 §2 has "~" and "&" in a NSS, unless "&" begins a character reference or the next parameter.
_LETTER = rb"(?!\xC3[\x97\xB7])[\xC3-\xDF][\x80-\xBF]|\xE1[\xB8-\xBF][\x80-\xBF]"
# A dash typed instead of a hyphen (U+2010 to U+2015, U+2212, U+FE63, U+FF0D), or an invisible character (U+00AD, U+200B to
# U+200D, U+2060, U+FEFF), unless it joins two URNs.
_LETTER += (
    rb"|(?:\xE2\x80[\x8B-\x8D\x90-\x95]|\xE2\x88\x92|\xE2\x81\xA0|\xEF\xB9\xA3|\xEF\xBC\x8D|\xEF\xBB\xBF|\xC2\xAD)"
)
_LETTER += rb"(?=[A-Za-z0-9])(?![Uu][Rr][Nn]:)"
_REFERENCE = regex.compile(rb"&(?:quot|lt|gt|apos|nbsp|#[0-9]{1,7}|#[Xx][0-9A-Fa-f]{1,7});")


def _ends_name(reference):
    """Whether a character reference stands for an apostrophe, or for a character that no name contains."""
    name = reference[0][1:-1].decode()
    if not name.startswith("#"):
        return True
    number = int(f"0{name[1:]}", 0) if name[1] in "Xx" else int(name[1:])
    return number > 126 or number in b"\t\n\r \"'<>[]\\^`{|}"


_WHY_ENDS = [
    ("percent-malformed", rb"%", _ALL),
    ("component-missing", rb"\?[+=](?![\x21\x23-\x3b\x3d\x3f-\x7e])|\?[+=](?:\#|\?=)", ("rfc8141",)),
    ("component-first-character", rb"\?[+=]", ("rfc8141",)),
    ("question-mark", rb"\?" + _NOT_CLOSING, ("rfc8141",)),
    ("query-directive", rb"\?" + _NOT_CLOSING + rb"|&", ("rfc2141bis-03",)),
    ("excluded-character", rb"~", ("rfc2141",)),
    (
        "excluded-character",
        rb"&(?=[A-Za-z0-9(),.:=@;$_!*'/?+%~-])(?![A-Za-z0-9]{0,10};)(?![Uu][Rr][Nn]:)",
        ("rfc2141",),
    ),
    ("non-ascii-character", _LETTER, _ALL),
    ("second-fragment", rb"\#", _PCHAR),
]
CODES = {code for code, _, _ in (*REASONS, *_WHY_ENDS)}


class Reject(NamedTuple):
    """Something that begins like a URN and is none."""

    start: int
    line: int
    text: bytes
    code: str
    position: int
    name: bytes = b""
    """The URN that begins there, if it is one."""
    behind: bytes = b""
    """At most four bytes of the text behind that."""


class Record(NamedTuple):
    """One match."""

    start: int
    end: int
    text: bytes
    nid: bytes
    line: int
    stop: int
    punctuation: int
    canonical: bytes
    resolver: str | None


def oracle(
    data: bytes,
    syntax: str,
    *,
    trim: bool = False,
    resolver_tail: str = "keep",
    max_length: int = 65_536,
    keep_query: bool = False,
) -> list[Record]:
    """All matches of a text."""
    pattern = COMPILED[syntax]
    records = []
    at = 0
    while candidate := CANDIDATE.search(data, at):
        start = candidate.start()
        match = pattern.match(data, start, start + max_length) if may_begin(data, start) else None
        if match is None:
            at = start + 1
            continue
        end = at = match.end()
        if pattern.match(data, start, start + 2 * max_length).end() > end:
            stop = CUT
        else:
            stop = data[end] if end < len(data) else END
        link = link_before(data, start)
        tail = TAILS[part_of(link), syntax].search(data, match.start("nss"), end) if link else None
        if resolver_tail == "cut" and tail:
            at = tail.start()
            match = pattern.match(data, start, at)
            if match is None:
                continue
            end = match.end()
            stop = data[end]
        first_step, trimmed_end = trimmed(data, match)
        if trim:
            if first_step != end:
                at = first_step
            if trimmed_end == start:
                continue
            if trimmed_end != end:
                stop = data[trimmed_end]
                match = pattern.match(data, start, trimmed_end)
        records.append(
            Record(
                start=start,
                end=match.end(),
                text=match[0],
                nid=match["nid"],
                line=1 + data[:start].count(b"\n"),
                stop=stop,
                punctuation=0 if trim else min(255, end - trimmed_end),
                canonical=canonical(match, keep_query=keep_query),
                resolver=link["host"].decode().lower() if link else None,
            )
        )
    return records


def link_before(data: bytes, start: int) -> regex.Match[bytes] | None:
    """What of a URL stands before a URN in it: RFC 3986 §3, but for what is rather the text's than the URL's."""
    before = URL_BYTES.search(data[max(0, start - 1024) : start])[0]
    if before.endswith((b",", b";")):
        return None
    nearest = regex.match(rb".*[A-Za-z][A-Za-z0-9+.-]*://(.*)", before, regex.DOTALL)
    return LINK.fullmatch(nearest[1]) if nearest else None


def part_of(link: regex.Match[bytes]) -> str:
    """In which part of the URL the URN stands."""
    return "path" if set(link["rest"]).isdisjoint(b"?#") else "query or fragment"


def rejects(
    data: bytes, syntax: str, *, trim: bool = False, resolver_tail: str = "keep", max_length: int = 65_536
) -> list[Reject]:
    """All places of a text at which a URN nearly begins, and those at which one ends for what is nearly a part of it."""
    pattern = COMPILED[syntax]
    found = []

    def note(start: int, code: str, position: int, text: bytes, name: bytes = b"", behind: bytes = b"") -> None:
        found.append(Reject(start, 1 + data[:start].count(b"\n"), text, code, position, name, behind))

    at = 0
    while candidate := CANDIDATE.search(data, at):
        start = candidate.start()
        at = start + 1
        if not may_begin(data, start):
            continue
        text = REJECT_TEXT.match(data, start)[0]
        whole = pattern.match(data, start)
        if whole is None:
            if NAMES_SOMETHING.match(text):
                note(start, *why_not(text, syntax), text)
            continue
        match = pattern.match(data, start, start + max_length)
        if match is None:  # too long for `max_length`, and a URN all the same
            continue
        at = match.end()
        link = link_before(data, start)
        tail = TAILS[part_of(link), syntax].search(data, match.start("nss"), at) if link else None
        if resolver_tail == "cut" and tail:
            at = tail.start()
            match = pattern.match(data, start, at)
        if trim and match:
            first_step, _ = trimmed(data, match)
            at = at if first_step == match.end() else first_step
        # It is cut neither at `max_length` nor before the tail of a URL nor before the next of a list.
        if at == whole.end() and not (resolver_tail == "cut" and link and goes_on(data, at, part_of(link), syntax)):
            code = why_ends(data, at, syntax)
            if code == "excluded-character" and not regex.fullmatch(rb"[^?#]+", whole[0]):
                continue
            if code == "excluded-character" and not COMPILED["rfc8141"].fullmatch(whole[0]):
                continue
            if code == "excluded-character" and data[at : at + 1] == b"&" and link:
                continue
            if code:
                letter = regex.compile(_LETTER).match(data, at)
                behind = letter[0] if letter else REJECT_TEXT.match(data, at)[0][:4]
                note(start, code, at - start, text, data[start:at], behind)
    return found


def goes_on(data: bytes, at: int, part: str, syntax: str) -> bool:
    """Whether a URL around a URN that ends at `at` goes on there with its next part or parameter."""
    if syntax == "rfc8141" and part == "path" and regex.compile(rb"\?(?![+=])").match(data, at):
        return True
    return TAILS[part, syntax].match(data, at) is not None


def why_ends(data: bytes, at: int, syntax: str) -> str | None:
    """Why the URN before `at` ends there, if what stands there looks like a part of it."""
    for code, pattern, syntaxes in _WHY_ENDS:
        if syntax in syntaxes and regex.compile(pattern).match(data, at):
            return code
    return None


def why_not(text: bytes, syntax: str) -> tuple[str, int]:
    """Why and where the text of a reject stops being a URN."""
    for code, pattern, syntaxes in REASONS:
        match = regex.match(pattern, text) if syntax in syntaxes else None
        if match:
            return code, match.start(1)
    raise AssertionError(text)


def whole(data: bytes, syntax: str) -> bool:
    """Whether all of `data` is one URN."""
    return COMPILED[syntax].fullmatch(data) is not None


def trimmable(records: Iterable[Record]) -> int:
    """How many of these untrimmed matches trimming would change."""
    return sum(record.punctuation > 0 for record in records)


def with_components(texts: Iterable[bytes], syntax: str) -> int:
    """How many of these spellings, which RFC 2141 takes for whole names, have components by RFC 8141 §2.3."""
    if syntax != "rfc2141":
        return 0
    matches = filter(None, map(COMPILED["rfc8141"].match, texts))
    return sum(match.end() > match.end("nss") for match in matches)


def may_begin(data: bytes, start: int) -> bool:
    """Whether what stands before `start` lets a URN begin there (§2)."""
    if regex.search(rb"(?:\x1f|\x1b\(|\$\$|\xe2\x80\xa1|\xc7\x82)[A-Za-z0-9]\Z", data[max(0, start - 4) : start]):
        return True
    encoded = regex.fullmatch(rb"%([0-7][0-9A-Fa-f])", data[max(start - 3, 0) : start])
    if encoded and not chr(int(encoded[1], 16)).isalnum():
        return True
    return start == 0 or regex.fullmatch(ALNUM, data[start - 1 : start]) is None


def trimmed(data: bytes, match: regex.Match[bytes]) -> tuple[int, int]:
    """Where the first step of trimming ends a match, and where all three do: at its start when nothing is left (§5)."""
    start, end = match.span()
    if data[:start].endswith(b"'") and b"'" in data[match.end("nid") : end]:
        end = data.index(b"'", match.end("nid"), end)
    markup = next(filter(_ends_name, _REFERENCE.finditer(data, match.end("nid"), end)), None)
    end = markup.start() if markup else end
    closes_at = bracket_ends(data[match.end("nid") : end])
    for separator in regex.compile(rb"[,;&][Uu][Rr][Nn]:").finditer(data, match.end("nid"), end):
        place = separator.start() - match.end("nid")
        if not 0 <= closes_at[place] - place <= 512:
            end = separator.start()
            break
    first_step = end
    while True:
        kept = start + len(without_closing(data[start:end]).removesuffix(b"&amp"))
        again = match.re.match(data, start, kept)
        if again is None:
            return first_step, start
        if again.end() == end:
            return first_step, end
        end = again.end()


def bracket_ends(text: bytes) -> list[int]:
    """For each place where the innermost bracket around it is closed; -1 if no bracket is open there, or it stays open."""
    ends = [-1] * len(text)
    opened: list[list[int]] = []
    for place, byte in enumerate(text):
        if byte == ord("("):
            opened.append([])
        elif byte == ord(")"):
            for inner in opened.pop() if opened else ():
                ends[inner] = place
        elif opened:
            opened[-1].append(place)
    return ends


def without_closing(text: bytes) -> bytes:
    """The text without the closing punctuation and the unmatched brackets at its end (step 2)."""
    opened: list[int] = []
    unmatched = set()
    for index, byte in enumerate(text):
        if byte == ord("("):
            opened.append(index)
        elif byte == ord(")"):
            if opened:
                opened.pop()
            else:
                unmatched.add(index)
    while text and (text[-1] in b".,;:!?'*_" or len(text) - 1 in unmatched or text[-2:].lower() == b"'s"):
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
        assert len(batch) <= (most or len(batch))
        assert len(batch) or (batch.rejects is not None and len(batch.rejects))
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
                    punctuation=int(batch.punctuation[i]),
                    canonical=batch.canonical[batch.canonical_offsets[i] : batch.canonical_offsets[i + 1]].tobytes(),
                    resolver=batch.host[batch.host_offsets[i] : batch.host_offsets[i + 1]].tobytes().decode() or None,
                )
            )
    return records


def rejects_of(batches: Iterable[Matches]) -> list[tuple[int, int, bytes, int, bytes]]:
    """What the scanner hands out beside them: start, line, text, and the end of a match with four bytes behind it."""
    found = []
    for batch in batches:
        rejects = batch.rejects
        assert rejects is not None
        assert len(rejects.text_offsets) == len(rejects) + 1
        assert rejects.text_offsets[0] == 0
        assert rejects.text_offsets[-1] == len(rejects.text)
        for i in range(len(rejects)):
            text = rejects.text[rejects.text_offsets[i] : rejects.text_offsets[i + 1]].tobytes()
            rest = int(rejects.rest[i]).to_bytes(4, "little").rstrip(b"\0")
            found.append((int(rejects.start[i]), int(rejects.line[i]), text, int(rejects.position[i]), rest))
    return found


class Pieces:
    """A `read_into` that delivers a text in pieces of the given sizes, over and over, as far as the view has room."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self.rest = memoryview(data)
        self.sizes = sizes
        self.reads = 0

    def __call__(self, view: memoryview) -> int:
        size = min(self.sizes[self.reads % len(self.sizes)], len(view), len(self.rest))
        view[:size] = self.rest[:size]
        self.rest = self.rest[size:]
        self.reads += 1
        return size
