r"""Records of BibTeX and biblatex: entries, `@article{key, field = {…}, field = "…" # macro}` ("BibTeXing", O.
Patashnik 1988, and the input of bibtex.web 0.99d).

An entry begins with any `@`; text between entries is a comment. Braces count, also in quotes and after a backslash;
quotes count outside of braces. `@string`, `@preamble` and `@comment` are not records.
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
from urnscan.records.latex import without_commands
from urnscan.records.record import Cut, Record, RecordReader

_SPACE = rb"[ \t\r\n]{0,99}+"
_ENTRY = re.compile(rb"@" + _SPACE + rb"([A-Za-z][\w.+\-]{0,99}+)" + _SPACE + rb"[{(]")
_LONGEST_BEGINNING = 512
# A line that begins like an entry. A value may quote one line of this kind; two lines mean that the entry is never
# closed.
_BEGINS = rb"[ \t]{0,99}+@[A-Za-z]{1,99}+[ \t]{0,99}+[{(]"
_LINE = re.compile(rb"\n" + _BEGINS)
_NO_RECORDS = frozenset({b"comment", b"string", b"preamble"})

# Depth of braces in braces that patterns match; deeper braces are counted.
_DEPTH = 5


def _text(end: bytes, entry: bool) -> bytes:
    """Pattern of a text without braces and without the bytes in `end`, written as in a character class. With `entry`,
    the text ends before a line that begins like an entry.
    """
    if not entry:
        return rb"[^{}" + end + rb"]*+"
    return rb"[^{}\n" + end + rb"]*+(?>(?:\n(?!" + _BEGINS + rb")[^{}\n" + end + rb"]*+)*)"


def _between(first: bytes, last: bytes, end: bytes, entry: bool, depth: int) -> bytes:
    """Pattern of the delimiters (patterns `first` and `last`) and the text between them, with braces inside braces,
    `depth` levels. `end` (outside of these braces) and `entry`: as for `_text`.
    """
    inner = _between(rb"\{", rb"\}", b"", entry, depth - 1) if depth else rb"(?!)"
    return first + _text(end, entry) + rb"(?>(?:" + inner + _text(end, entry) + rb")*)" + last


_BRACED, _QUOTED = _between(rb"\{", rb"\}", b"", True, _DEPTH), _between(b'"', b'"', b'"', True, _DEPTH)
_WHOLE = {
    b"{": re.compile(_BRACED),
    b"(": re.compile(
        rb"\("
        + _text(rb'")', True)
        + rb"(?>(?:(?:"
        + _BRACED
        + rb"|"
        + _QUOTED
        + rb")"
        + _text(rb'")', True)
        + rb")*)\)"
    ),
}
_MARK = {
    b"{": re.compile(rb"\{++|\}++|" + _LINE.pattern),
    b"(": re.compile(rb"\{++|\}++|[\")]|" + _LINE.pattern),
}
_KEY = re.compile(rb"\s*+(?>([^\s,{}]++(?=\s*+[,})]))?)")

_BRACED, _QUOTED = _between(rb"\{", rb"\}", b"", False, _DEPTH), _between(b'"', b'"', b'"', False, _DEPTH)
_STRING, _BARE = rb"(?:" + _BRACED + rb"|" + _QUOTED + rb")", rb"[^\s,{}\"#]++"
_VALUE = rb"(?:" + _STRING + rb"|" + _BARE + rb")"
# A string that is not a value is matched alone, so that no field is found in it.
_FIELD = re.compile(
    rb"(?<![^\s,{}()=\"#%'])([^\s,{}()=\"#%']++)\s*+=\s*+("
    + _VALUE
    + rb"(?>(?:\s*+#\s*+"
    + _VALUE
    + rb")*))|"
    + _STRING
)
_PART = re.compile(rb"(" + _STRING + rb")|(" + _BARE + rb")")

# Commands of LaTeX for characters of URNs and URLs; a command that only breaks lines means no character.
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
_SYMBOL = rb"\\(?:([_%#&${}/\-])|(" + rb"|".join(_WORDS) + rb")(?![A-Za-z])(?>(?:\{\}|[ \t]++)?)|([~^])\{\})"
_GROUPED, _ESCAPE = re.compile(rb"\{" + _SYMBOL + rb"\}"), re.compile(_SYMBOL + rb"|\\\\")
_COMMAND = re.compile(rb"\\(?:url|path|nolinkurl|href)\s*+(?=\{)")
_BRACE = re.compile(rb"[{}]")

_COMMENTS = rb"(?>(?:[ \t]*+(?>(?:%[^\n]*+)?)\n)*)"
# Some programs write a few lines before the first entry.
_HEAD = re.compile(
    rb"(?:" + MARK + rb")?" + _COMMENTS + rb"(?>(?:(?![<{\[\"])[^@\n]++\n" + _COMMENTS + rb"){0,8})[ \t]*+"
)
# An entry has a key, or a comma and a field instead.
_FIRST = re.compile(
    rb"@[ \t]*+(?i:(string|preamble|comment)|[a-z][\w.+\-]*+)\s*+[{(]"
    rb"(?(1)|\s*+(?:[^\s,{}\"#=]++\s*+[,}]|,\s*+[A-Za-z][\w\-]*+\s*+=))"
)


def is_bibtex(head: bytes, name: str) -> bool | None:
    """Whether a dump is BibTeX, by its first bytes `head` and its file name `name` (in lower case): True if an entry
    (or `@string`, `@preamble`, `@comment`) follows after at most a few lines, or, if the name ends in .bib or .bibtex,
    anywhere in `head`. None: more bytes are needed.
    """
    match = _HEAD.match(head)
    rest = head[match.end() if match else 0 :]
    if _FIRST.match(rest):
        return True
    if name.endswith((".bib", ".bibtex")):
        return True if _FIRST.search(rest) else None
    may_go_on = rest[:1] == b"@" or (rest[:1] not in b'<{["' and b"\n" not in rest and b"@" not in rest)
    return None if not rest or (may_go_on and len(rest) < _LONGEST_BEGINNING) else False


class BibtexRecords(RecordReader):
    """Reader of the records of BibTeX dumps, which are entries such as `@book{…}`. The ID of a record is the citation
    key.
    """

    table = described_by = "bibtex"
    """Name of the tables with the fields of the format."""

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Yield each entry as a `Cut` (its place and bytes), in order; `@string`, `@preamble` and `@comment` are
        skipped. An entry that is never closed, or is longer than 64 MiB, is yielded as a `Damaged`; after it, reading
        goes on at the next line that begins like an entry.
        """
        # `Cut.around` has the type (`book`), the length of the beginning (`@book{`) in bytes, and whether regular
        # expressions can read the whole entry (False, for example, if its braces are nested too deep).
        while begins := _take_to(buffer, _ENTRY):
            offset = buffer.offset
            delimiter, length_of_beginning = begins[0][-1:], len(begins[0])
            simple = _WHOLE[delimiter].match(buffer.data, begins.end() - 1)
            end = simple.end() - buffer.at if simple else _length(buffer, length_of_beginning - 1, delimiter)
            if begins[1].lower() in _NO_RECORDS:
                # If it is never closed, BibTeX also reads on after the word.
                buffer.take(end if 0 < end <= LONGEST else length_of_beginning)
            elif 0 < end <= LONGEST:
                yield Cut(offset, buffer.take(end), (begins[1], length_of_beginning, simple is not None))
            else:
                yield too_long(offset) if end else Damaged(offset, "it is never closed")
                if not _take_to(buffer, _LINE):
                    return

    def record(self, cut: Cut) -> Record:
        """Read the fields of an entry that `cuts` yielded. Returns a `Record` with its ID (None if the entry has no
        citation key) and, by the options of the reader, texts to scan for URNs (with `own`, record-level identifiers
        instead), identifiers that give keys (`keys`) and a description (`described`). Fields that cannot be read are
        left out.
        """
        offset, data, (kind, start, simple) = cut
        match = _KEY.match(data, start)
        key = match[1] if match else None
        start = match.end() if match else start
        identifier = None if key is None else key.decode("utf-8", "replace")
        texts: tuple[bytes, ...] = ()
        if self.has_texts:
            # Two texts: a key may be a URN, and the comma after it would not end this URN.
            beginning, fields = data[:start], data[start:]
            if b"#" in fields:
                fields = _FIELD.sub(_join_pieces, fields if simple else _without_deep_braces(fields))
            texts = beginning, fields if b"\\" not in fields else _without_escapes(fields)
            if not (self.fields or self.described):
                return Record(offset, data, identifier, texts)
        values = [
            (name, value)
            for field, value in _FIELD.findall(data if simple else _without_deep_braces(data), start)
            if (name := field.decode("latin-1").lower()) in self.field_names or name in self.described
        ]
        texts_of = [*((field, _value(value)) for field, value in values), ("@", kind.decode().lower())]
        kinds = {field: text.lower() for field, text in reversed(texts_of)}
        own: list[Own] = []
        statements: list[Statement] = []
        for (field, text), (_, value) in zip(texts_of, [*values, ("", b"")], strict=True):
            own += of_value(text, self.fields.get(field, ()), kinds)
            if rows := self.described.get(field, ()):
                # In an identifier, a tilde is no accent.
                shown = _value(without_commands(value)) if b"\\" in value else text
                statements += description.of_text(shown, rows)
        return Record(offset, data, identifier, texts, own, description.pack(self.described_by, statements))


def _take_to(buffer: Buffer, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
    """Take the bytes before the next match of `pattern` (at most 512 bytes long), and return the match; its positions
    are indices in `buffer.data`. Without a match, take all bytes.
    """
    while (match := buffer.search(pattern, longest=_LONGEST_BEGINNING)) is None:
        if len(buffer.data) - buffer.at <= LONGEST:
            buffer.take_rest()
            return None
        buffer.take(LONGEST - _LONGEST_BEGINNING)
    buffer.at = match.start()
    return match


def _length(buffer: Buffer, start: int, delimiter: bytes) -> int:
    """Length in bytes of the entry at the start of the buffer, whose opening `delimiter` is `start` bytes after that: 0
    if it is never closed, or two lines in it begin like entries; more than `LONGEST` if it is too long.
    """
    depth = lines_like_entries = 0
    is_quoted = False
    if delimiter == b"(":
        start += 1
    while True:
        for mark in _MARK[delimiter].finditer(buffer.data, buffer.at + start):
            text, at, start = mark[0], mark.start() - buffer.at, mark.end() - buffer.at
            if text.startswith(b"{"):
                depth += len(text)
            elif text.startswith(b"}"):
                if delimiter == b"{" and depth <= len(text):
                    return at + depth
                depth = max(depth - len(text), 0)
            elif text.startswith(b"\n"):
                lines_like_entries += 1
                if lines_like_entries == 2:
                    return 0 if at <= LONGEST else at
                depth += text.endswith(b"{")
            elif depth == 0 and text == b'"':
                is_quoted = not is_quoted
            elif depth == 0 and not is_quoted:
                return start
        available = len(buffer.data) - buffer.at
        if available > LONGEST:
            return available
        # The last bytes may be the beginning of a line that begins like an entry.
        start = max(start, available - _LONGEST_BEGINNING)
        if not buffer.more():
            return 0


def _without_deep_braces(entry: bytes) -> bytes:
    """Replace the braces of an entry that are too deep for the patterns by a space each."""
    depth = 0

    def brace(match: re.Match[bytes]) -> bytes:
        nonlocal depth
        depth = depth + 1 if match[0] == b"{" else max(depth - 1, 0)
        return match[0] if depth + (match[0] == b"}") <= _DEPTH + 1 else b" "

    return _BRACE.sub(brace, entry)


def _value(data: bytes) -> str:
    r"""The text of a value (`{…}`, `"…"`, a word, or several of these with `#` between them), without delimiters,
    braces and the escapes of URLs (`\_`). Empty if one of several pieces is a macro.
    """
    parts: list[tuple[bytes, bytes]] = _PART.findall(data)
    if len(parts) > 1 and any(bare and not bare.isdigit() for _, bare in parts):
        return ""
    joined = b"".join(bare or string[1:-1] for string, bare in parts)
    if b"\\" in joined:
        joined = _without_escapes(_COMMAND.sub(b"", joined))
    plain = joined.replace(b"}{", b" ").translate(None, b"{}")
    return " ".join(plain.decode("utf-8", "replace").split())


def _join_pieces(field: re.Match[bytes]) -> bytes:
    """The field with the pieces of its value joined, except at macros, which may mean any text: `t = "a" # "b" # jan`
    -> `t = "ab" jan ""`.
    """
    parts: list[tuple[bytes, bytes]] = _PART.findall(field[2] or b"")
    if len(parts) < 2:
        return field[0]
    pieces = (b'" %b "' % bare if bare and not bare.isdigit() else bare or string[1:-1] for string, bare in parts)
    return b'%b = "%b"' % (field[1], b"".join(pieces))


def _without_escapes(data: bytes) -> bytes:
    return _ESCAPE.sub(_symbol, _GROUPED.sub(_symbol, data))


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
        # A style sheet in a page of HTML has `@media (width: 9em) {`.
        trace=rb"(?m:^)[ \t]*+@[A-Za-z]++[ \t]*+[{(][ \t]*+[^\s,{}()=]*+,",
    ),
)
