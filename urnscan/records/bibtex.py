r"""Records of BibTeX and biblatex: entries, `@article{key, field = {…}, field = "…" # macro}` ("BibTeXing", O.
Patashnik 1988, and the input of bibtex.web 0.99d).

An entry begins with any `@`; text between entries is a comment. Braces count, also in quotes and behind a backslash;
quotes count outside of braces. `@string`, `@preamble` and `@comment` are no records.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from urnscan.framing.buffer import LONGEST, MARK, Buffer
from urnscan.framing.lines import Damaged, too_long
from urnscan.records import description
from urnscan.records.description import Statement
from urnscan.records.fields import Own, of_value
from urnscan.records.format import Format
from urnscan.records.record import Cut, Record, RecordReader

_SPACE = rb"[ \t\r\n]{0,99}+"
_ENTRY = re.compile(rb"@" + _SPACE + rb"([A-Za-z][\w.+\-]{0,99}+)" + _SPACE + rb"[{(]")
_LONGEST_BEGINNING = 512
# A line that begins like an entry. One may be quoted in a value; a second one means that the entry is never closed.
_BEGINS = rb"[ \t]{0,99}+@[A-Za-z]{1,99}+[ \t]{0,99}+[{(]"
_LINE = re.compile(rb"\n" + _BEGINS)
_NO_RECORDS = frozenset({b"comment", b"string", b"preamble"})

_DEPTH = 5  # braces in each other that patterns match; deeper ones are counted


def _text(end: bytes, entry: bool) -> bytes:
    """Pattern of a text without braces and `end`; in a whole entry, also without the beginning of another."""
    if not entry:
        return rb"[^{}" + end + rb"]*+"
    return rb"[^{}\n" + end + rb"]*+(?:\n(?!" + _BEGINS + rb")[^{}\n" + end + rb"]*+)*+"


def _between(first: bytes, last: bytes, end: bytes, entry: bool, depth: int) -> bytes:
    """Pattern of two delimiters and the text between them, with the braces in it."""
    inner = _between(rb"\{", rb"\}", b"", entry, depth - 1) if depth else rb"(?!)"
    return first + _text(end, entry) + rb"(?:" + inner + _text(end, entry) + rb")*+" + last


_BRACED, _QUOTED = _between(rb"\{", rb"\}", b"", True, _DEPTH), _between(b'"', b'"', b'"', True, _DEPTH)
_WHOLE = {
    b"{": re.compile(_BRACED),
    b"(": re.compile(
        rb"\(" + _text(rb'")', True) + rb"(?:(?:" + _BRACED + rb"|" + _QUOTED + rb")" + _text(rb'")', True) + rb")*+\)"
    ),
}
_MARK = {
    b"{": re.compile(rb"\{++|\}++|" + _LINE.pattern),
    b"(": re.compile(rb"\{++|\}++|[\")]|" + _LINE.pattern),
}
_KEY = re.compile(rb"\s*+([^\s,{}]++(?=\s*+[,})]))?+")

_BRACED, _QUOTED = _between(rb"\{", rb"\}", b"", False, _DEPTH), _between(b'"', b'"', b'"', False, _DEPTH)
_STRING, _BARE = rb"(?:" + _BRACED + rb"|" + _QUOTED + rb")", rb"[^\s,{}\"#]++"
_VALUE = rb"(?:" + _STRING + rb"|" + _BARE + rb")"
_FIELD = re.compile(
    rb"(?<![^\s,{}()=\"#%'])([^\s,{}()=\"#%']++)\s*+=\s*+(" + _VALUE + rb"(?:\s*+#\s*+" + _VALUE + rb")*+)|" + _STRING
)  # a string that is no value is passed over whole
_PART = re.compile(rb"(" + _STRING + rb")|(" + _BARE + rb")")

# LaTeX for characters of URNs and URLs; commands that only break lines have none.
_WORDS = {
    b"allowbreak": b"",
    b"relax": b"",
    b"string": b"",
    b"slash": b"/",
    b"textasciicircum": b"^",
    b"textasciitilde": b"~",
    b"textbackslash": b"\\",
    b"textdollar": b"$",
    b"textgreater": b">",
    b"textless": b"<",
    b"textquotesingle": b"'",
    b"textunderscore": b"_",
}
_SYMBOL = rb"\\(?:([_%#&${}/\-])|(" + rb"|".join(_WORDS) + rb")(?![A-Za-z])(?:\{\}|[ \t]++)?+|([~^])\{\})"
_GROUPED, _ESCAPE = re.compile(rb"\{" + _SYMBOL + rb"\}"), re.compile(_SYMBOL + rb"|\\\\")
_COMMAND = re.compile(rb"\\(?:url|path|nolinkurl|href)\s*+(?=\{)")
_BRACE = re.compile(rb"[{}]")

_COMMENTS = rb"(?:[ \t]*+(?:%[^\n]*+)?+\n)*+"
# Some programs write a few lines of their own before the first entry.
_HEAD = re.compile(rb"(?:" + MARK + rb")?" + _COMMENTS + rb"(?:(?![<{\[\"])[^@\n]++\n" + _COMMENTS + rb"){0,8}+[ \t]*+")
# An entry has a key, or a comma and a field in its place.
_FIRST = re.compile(
    rb"@[ \t]*+(?i:(string|preamble|comment)|[a-z][\w.+\-]*+)\s*+[{(]"
    rb"(?(1)|\s*+(?:[^\s,{}\"#=]++\s*+[,}]|,\s*+[A-Za-z][\w\-]*+\s*+=))"
)


def is_bibtex(head: bytes, name: str) -> bool | None:
    """Whether an entry comes behind a few lines at most; or behind any, if the file name is of BibTeX."""
    match = _HEAD.match(head)
    rest = head[match.end() if match else 0 :]
    if _FIRST.match(rest):
        return True
    if name.endswith((".bib", ".bibtex")):
        return True if _FIRST.search(rest) else None
    begun = rest[:1] == b"@" or (rest[:1] not in b'<{["' and b"\n" not in rest and b"@" not in rest)
    return None if not rest or (begun and len(rest) < _LONGEST_BEGINNING) else False


class BibtexRecords(RecordReader):
    """Reads entries, named by their citation keys."""

    table = described_by = "bibtex"

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Find the entries. Behind one that is never closed, the next line that begins like an entry is an entry.

        `Cut.around` has the type (`book`), the length of what stands before the citation key, and whether patterns can
        read the entry: its braces are not too deep.
        """
        while begins := _sought(buffer, _ENTRY):
            offset = buffer.offset
            delimiter, opened = begins[0][-1:], len(begins[0])
            simple = _WHOLE[delimiter].match(buffer.octets, begins.end() - 1)
            end = simple.end() - buffer.at if simple else _closed(buffer, opened - 1, delimiter)
            if begins[1].lower() in _NO_RECORDS:  # never closed, BibTeX reads on behind the word, too
                buffer.take(end if 0 < end <= LONGEST else opened)
            elif 0 < end <= LONGEST:
                yield Cut(offset, buffer.take(end), (begins[1], opened, simple is not None))
            else:
                yield too_long(offset) if end else Damaged(offset, "it is never closed")
                if not _sought(buffer, _LINE):
                    return

    def record(self, cut: Cut) -> Record:
        """Read an entry."""
        offset, octets, (kind, start, simple) = cut
        match = _KEY.match(octets, start)
        key = match[1] if match else None
        start = match.end() if match else start
        name = None if key is None else key.decode("utf-8", "replace")
        texts: tuple[bytes, ...] = ()
        if self.has_texts:
            beginning, fields = octets[:start], octets[start:]  # the comma would not end a URN that is the key
            if b"#" in fields:
                fields = _FIELD.sub(_joined, fields if simple else _flat(fields))
            texts = beginning, fields if b"\\" not in fields else _plain(fields)
            if self.fields is None and not self.described:
                return Record(offset, octets, name, texts)
        values = [
            (field.decode().lower(), _value(value))
            for field, value in _FIELD.findall(octets if simple else _flat(octets), start)
            if field.lower() in self.wanted or field.lower() in self.described_octets
        ]
        values.append(("@", kind.decode().lower()))
        kinds = {field: text.lower() for field, text in reversed(values)}
        own: list[Own] = []
        statements: list[Statement] = []
        for field, text in values:
            own += of_value(text, (self.fields or {}).get(field, ()), kinds)
            statements += description.of_text(text, self.described.get(field, ()))
        return Record(offset, octets, name, texts, own, description.pack(self.described_by, statements))


def _sought(buffer: Buffer, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
    """Take all octets before the next match; all to the end, and None, if there is none."""
    while (match := buffer.search(pattern, longest=_LONGEST_BEGINNING)) is None:
        if len(buffer.octets) - buffer.at <= LONGEST:
            buffer.take_rest()
            return None
        buffer.take(LONGEST - _LONGEST_BEGINNING)
    buffer.at = match.start()
    return match


def _closed(buffer: Buffer, start: int, delimiter: bytes) -> int:
    """Length of an entry whose delimiter is at `start`: 0 if it is never closed, above `LONGEST` if not up to there."""
    depth = begun = 0
    quoted = False
    if delimiter == b"(":
        start += 1
    while True:
        for mark in _MARK[delimiter].finditer(buffer.octets, buffer.at + start):
            what, at, start = mark[0], mark.start() - buffer.at, mark.end() - buffer.at
            if what[0] == 0x7B:  # {
                depth += len(what)
            elif what[0] == 0x7D:  # }
                if delimiter == b"{" and depth <= len(what):
                    return at + depth
                depth = max(depth - len(what), 0)
            elif what[0] == 0x0A:
                begun += 1
                if begun == 2:
                    return 0 if at <= LONGEST else at
                depth += what.endswith(b"{")
            elif depth == 0 and what == b'"':
                quoted = not quoted
            elif depth == 0 and not quoted:
                return start
        held = len(buffer.octets) - buffer.at
        if held > LONGEST:
            return held
        start = max(start, held - _LONGEST_BEGINNING)  # a line can have begun in what is held
        if not buffer.more():
            return 0


def _flat(entry: bytes) -> bytes:
    """Remove the braces of an entry that are too deep for patterns."""
    depth = 0

    def brace(match: re.Match[bytes]) -> bytes:
        nonlocal depth
        depth = depth + 1 if match[0] == b"{" else max(depth - 1, 0)
        return match[0] if depth + (match[0] == b"}") <= _DEPTH + 1 else b" "

    return _BRACE.sub(brace, entry)


def _value(octets: bytes) -> str:
    """Decode a value; empty if a macro is a part of it."""
    parts: list[tuple[bytes, bytes]] = _PART.findall(octets)
    if len(parts) > 1 and any(bare and not bare.isdigit() for _, bare in parts):
        return ""
    joined = b"".join(bare or string[1:-1] for string, bare in parts)
    if b"\\" in joined:
        joined = _plain(_COMMAND.sub(b"", joined))
    plain = joined.replace(b"}{", b" ").translate(None, b"{}")
    return " ".join(plain.decode("utf-8", "replace").split())


def _joined(field: re.Match[bytes]) -> bytes:
    """Join the pieces of a value, except at macros."""
    parts: list[tuple[bytes, bytes]] = _PART.findall(field[2] or b"")
    if len(parts) < 2:
        return field[0]
    said = (
        b'" %b "' % bare if bare and not bare.isdigit() else bare or string[1:-1]  # a macro stands for any text
        for string, bare in parts
    )
    return b'%b = "%b"' % (field[1], b"".join(said))


def _plain(octets: bytes) -> bytes:
    """Replace the escapes of LaTeX."""
    return _ESCAPE.sub(_symbol, _GROUPED.sub(_symbol, octets))


def _symbol(escape: re.Match[bytes]) -> bytes:
    sign, word, accent = escape.groups()
    if sign:
        return b"" if sign in b"/-" else bytes(sign)
    return _WORDS[word] if word else bytes(accent or escape[0])


FORMATS = (
    Format(
        name="bibtex",
        title="BibTeX",
        reader=BibtexRecords,
        recognise=is_bibtex,
        suffixes=(".bib",),
        trace=rb"(?m:^)[ \t]*+@[A-Za-z]++[ \t]*+[{(]",
    ),
)
