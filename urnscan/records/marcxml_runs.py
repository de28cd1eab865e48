"""Records of MARCXML in their most usual form: a call of compiled code splits many records into fields.

The elements of a record have the same prefix, or no prefix, and only white space between them. The bytes are characters
of XML in UTF-8, the references are the five that XML itself defines, or numbers of characters, and start tags are
written exactly like `<datafield tag="020" ind1=" " ind2=" ">` or `<datafield ind1=" " ind2=" " tag="020">`, as pymarc
does. All records of a call have the same start tag. lxml reads the other records.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from urnscan.compiled.ascii import HASH, SEMICOLON, is_alnum
from urnscan.compiled.bytes import ByteArray, Integers, read_number
from urnscan.compiled.jit import compiled, inlined, inner
from urnscan.records.marc_bytes import is_utf8
from urnscan.records.marc_runs import NO_NUMBER, TAG, Fields, number_at
from urnscan.records.record import Run
from urnscan.records.xml_text import DEFAULT_LIMITS, is_empty_element

_LESS, _GREATER, _AMPERSAND, _BRACKET, _ZERO, _L, _D = b"<>&]0LD"
# U+FFFE and U+FFFF, which are not characters, begin with these bytes.
_RARE, _RARE_NEXT = b"\xef\xbf"
_BLANK = tuple(b" \n\t")
# Control characters of XML, with which line ends and tabs are written as references.
_BREAKS = tuple(b"\t\n\r")
_LETTER_X = ord("x")
# Digits of a reference to a character.
_MAX_DIGITS = 8
_DELIMITER = 0x1F
# The tag of the leader (000), and the first tag of data fields.
_LEADER_TAG, _DATA_TAGS = 0, 10
_WRONG = -2
# Bytes of the shortest field.
_MIN_FIELD = len('<controlfield tag="001"></controlfield>')
_START_TAG = re.compile(rb"<((?>(?:[A-Za-z_][A-Za-z0-9_.-]*+:)?))record(?>(?:[ \t\n][^<>]{0,500}+)?)>")
# An apostrophe may belong to a URN in the bytes of a record. U+FFFE and U+FFFF, which are not characters, begin with EF BF.
_UNUSUAL = (b"'", b"\xef\xbf")
# No record has this start tag.
_NO_START = b">", b""
# Returned instead of a place, if a word is missing.
_NOT_THERE = -1

# Kinds of bytes. A byte of a kind may be in all places of the kinds before it. Bytes of _ODD are checked one by one.
_ODD, _OF_TEXT, _OF_INDICATOR, _OF_CODE = range(4)
_KINDS = np.full(256, _OF_TEXT, np.uint8)
_KINDS[0x20:0x7F] = _OF_INDICATOR
_KINDS[np.frombuffer(b'"', np.uint8)] = _OF_TEXT
_KINDS[[*range(9), 11, 12, *range(13, 32), *b"<>&", _RARE]] = _ODD
_KINDS[np.frombuffer(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", np.uint8)] = _OF_CODE

# Words: tags that other tags may follow, the ends of texts after start tags, references, the start tag of a record.
_SUBFIELD, _DATA_END, _DATA, _DATA_OF_PYMARC, _CONTROL, _END, _LEADER, _TAGS_END = range(8)
_REFERENCES, _START = 2 * _TAGS_END, 2 * _TAGS_END + 5
_CHARACTERS = tuple(b"<>\"'&")
# Bytes up to the end of a start tag, from the code of a subfield; and from the tag, the first and the second indicator of
# other fields, by the word.
_CODE_BACK = 3
_TAG_BACK, _FIRST_BACK, _SECOND_BACK = (0, 0, 23, 5, 5), (0, 0, 12, 22), (0, 0, 3, 13)


class Words(NamedTuple):
    """The tags and references that the MARCXML records of a dump are made of, as bytes with which compiled code
    compares the records.
    """

    data: ByteArray
    """Words, one after the other. A byte 2 in a word represents any printable ASCII character except `"`, `<`, `>` and
    `&` (an indicator), a byte 3 any ASCII letter or digit (a code).
    """
    limits: Integers
    """The start of each word, and the end of the last one."""

    @classmethod
    def of(cls, start: bytes, prefix: bytes) -> Words:
        """Return the words for a dump whose records begin with the start tag `start`, such as `<marc:record>`, and
        whose elements have the prefix `prefix`: `marc:`, or empty.
        """
        begin, end, code, indicator = b"<" + prefix, b"</" + prefix, bytes([_OF_CODE]), bytes([_OF_INDICATOR])
        tag, indicators = b' tag="%b"' % (TAG * code), b' ind1="%b" ind2="%b"' % (indicator, indicator)
        words = {
            _SUBFIELD: begin + b'subfield code="%b">' % code,
            _DATA_END: end + b"datafield>",
            _DATA: begin + b"datafield%b%b>" % (tag, indicators),
            _DATA_OF_PYMARC: begin + b"datafield%b%b>" % (indicators, tag),
            _CONTROL: begin + b"controlfield%b>" % tag,
            _END: end + b"record>",
            _LEADER: begin + b"leader>",
            _TAGS_END + _SUBFIELD: end + b"subfield>",
            _TAGS_END + _CONTROL: end + b"controlfield>",
            _TAGS_END + _LEADER: end + b"leader>",
            **dict(enumerate((b"&lt;", b"&gt;", b"&quot;", b"&apos;", b"&amp;"), _REFERENCES)),
            _START: start,
        }
        in_order = [words.get(word, b"") for word in range(_START + 1)]
        return cls(np.frombuffer(b"".join(in_order), np.uint8), np.cumsum([0, *map(len, in_order)]))


@inner
def _after(data: ByteArray, at: int, words: Words, word: int) -> int:
    """Index after the word with the number `word` at index `at`; _NOT_THERE if it is not there."""
    # Words have a `<` only at their start, so the loop ends at the next `<` at the latest.
    for place in range(words.limits[word], words.limits[word + 1]):
        byte, wanted = data[at], words.data[place]
        if (byte != wanted) if wanted > _OF_CODE else (_KINDS[byte] < wanted):
            return _NOT_THERE
        at += 1
    return at


@inner
def _word(data: ByteArray, at: int, words: Words, first: int, last: int) -> tuple[int, int]:
    """The number of the first word from `first` to `last - 1` that is at index `at`, and the index after it; `last` and
    _NOT_THERE without one.
    """
    for word in range(first, last):
        after = _after(data, at, words, word)
        if after != _NOT_THERE:
            return word, after
    return last, _NOT_THERE


@inner
def _number_reference(data: ByteArray, at: int, out: ByteArray, to: int) -> tuple[int, int]:
    """Write the character of the reference at index `at` (`&#233;`) in UTF-8 to `out`, from index `to` on. Returns the
    indices after the reference (_NOT_THERE if it does not refer to a character of XML) and after the character.
    """
    is_hex = data[at + 2] == _LETTER_X
    start = end = at + 2 + is_hex
    while end < start + _MAX_DIGITS and is_alnum(data[end]):
        end += 1
    code = read_number(data, start, end, 16 if is_hex else 10)
    is_character = 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF
    if data[end] != SEMICOLON or not (is_character or code in _BREAKS):
        return _NOT_THERE, to
    if code < 0x80:
        out[to] = code
        return end + 1, to + 1
    more = 1 + int(code >= 0x800) + int(code >= 0x10000)
    out[to] = (0xFF00 >> more + 1) & 0xFF | code >> 6 * more
    for place in range(1, more + 1):
        out[to + place] = 0x80 | code >> 6 * (more - place) & 0x3F
    return end + 1, to + 1 + more


@inlined
def _text(data: ByteArray, at: int, words: Words, out: ByteArray, to: int) -> tuple[int, int]:
    """Write the text from index `at` up to the next `<` to `out`, from index `to` on, with characters instead of
    references. Returns the indices after it in `data` (_NOT_THERE for an unusual text) and in `out`.
    """
    while data[at] != _LESS:
        byte = data[at]
        if byte == _AMPERSAND and data[at + 1] == HASH:
            at, to = _number_reference(data, at, out, to)
            if at == _NOT_THERE:
                break
            continue
        if byte == _AMPERSAND:
            reference, at = _word(data, at, words, _REFERENCES, _START)
            if at == _NOT_THERE:
                break
            byte = _CHARACTERS[reference - _REFERENCES]
            at -= 1
        elif _KINDS[byte] == _ODD:
            is_character = byte == _GREATER and data[at - 1] != _BRACKET
            if not is_character and (byte != _RARE or data[at + 1] == _RARE_NEXT):
                at = _NOT_THERE
                break
        out[to] = byte
        at += 1
        to += 1
    return at, to


@inlined
def _tag(data: ByteArray, place: int, word: int) -> int:
    """The tag at the index `place`, as a number; NO_NUMBER for a tag with letters, _WRONG for one that the element
    (`word`: its start tag) cannot have.
    """
    tag = number_at(data, place, TAG)
    # "LDR" is a leader, and "DEL" says that the record was deleted.
    if tag == NO_NUMBER and (word == _CONTROL or data[place] in (_ZERO, _L, _D)):
        return _WRONG
    if tag != NO_NUMBER and (tag == _LEADER_TAG or (tag < _DATA_TAGS) != (word == _CONTROL)):
        return _WRONG
    return tag


@inlined
def _fields(
    data: ByteArray, at: int, words: Words, fields: Fields, record: int, row: int, to: int
) -> tuple[int, int, int, int]:
    """Write the leader and the fields of the record after whose start tag `at` is to `fields`, from row `row` and byte
    `to` on. Returns the index after it (_NOT_THERE: unusual), the number of its fields, and the next free `row` and
    `to`.
    """
    out = fields.data
    tag, first, total = _WRONG, to, 0
    is_inside = has_leader = False  # inside of a data field
    while True:
        while data[at] in _BLANK:
            at += 1
        word, at = _word(data, at, words, 0, _TAGS_END)
        if word == _TAGS_END or word == _END or (word <= _DATA_END) != is_inside:
            return (at if word == _END and not is_inside else _NOT_THERE), total, row, to
        if word >= _DATA:
            first = to
            tag = _LEADER_TAG if word == _LEADER else _tag(data, at - _TAG_BACK[word], word)
            if tag == _WRONG:
                return _NOT_THERE, total, row, to
        if word == _DATA or word == _DATA_OF_PYMARC:
            out[to], out[to + 1] = data[at - _FIRST_BACK[word]], data[at - _SECOND_BACK[word]]
            to += 2
            is_inside = True
            continue
        if word == _SUBFIELD:
            out[to], out[to + 1] = _DELIMITER, data[at - _CODE_BACK]
            to += 2
        if word != _DATA_END:
            at, to = _text(data, at, words, out, to)
            if at != _NOT_THERE:
                at = _after(data, at, words, _TAGS_END + word)
            if at == _NOT_THERE:
                return _NOT_THERE, total, row, to
        elif to == first + 2:  # no subfield
            return _NOT_THERE, total, row, to
        if word == _LEADER and not has_leader:
            fields.leaders[record, 0], fields.leaders[record, 1], has_leader = first, to, True
        if word == _CONTROL or word == _DATA_END:
            is_inside = False
            total += 1
            if tag != NO_NUMBER:
                fields.tags[row], fields.starts[row], fields.stops[row] = tag, first, to
                row += 1


@compiled
def take_apart(data: ByteArray, starts: Integers, ends: Integers, words: Words, out: Fields) -> None:
    """Split MARCXML records into fields: write the fields, in the form of ISO 2709, to the bytes and columns of `out`.
    A record in an unusual form gets -1 (REFUSED) as its number of fields, and no fields.

    `starts` and `ends` are the places of the records in `data`. Bytes are in UTF-8, and records have fewer than
    DEFAULT_LIMITS bytes. Bounds are not checked: `out`, new columns of `Fields.room`, must have room for `len(data)`
    bytes, `len(ends)` records, and a field for each 39 bytes of `data`, the length of the shortest `<controlfield>`.
    """
    row = to = 0
    for record in range(len(ends)):
        start, end = starts[record], ends[record]
        size = words.limits[_END + 1] - words.limits[_END]
        after, total, last, written = _NOT_THERE, 0, row, to
        if end - start > size and _after(data, end - size, words, _END) == end:
            after = _after(data, start, words, _START)
        if after != _NOT_THERE:
            after, total, last, written = _fields(data, after, words, out, record, row, to)
        if after == end:
            out.totals[record], row, to = total, last, written
        out.ends[record] = row


def fields_of(run: Run, declarations: bytes) -> Fields:
    """Split the MARCXML records of a run into fields, and return these in columns, in the form of ISO 2709. A record in
    an unusual form has -1 (REFUSED) as its number of fields, and no fields: lxml must read it. `declarations` are the
    namespaces that are declared around the records, as attributes: ` xmlns:a="…"`.
    """
    starts_of = (_usual_start(record.data, declarations) for record in run.cuts())
    start, prefix = next(filter(None, starts_of), _NO_START)
    data, starts, ends = run.data, run.starts, run.ends
    if b"\r" in data or not is_utf8(data) or (ends - starts).max() >= DEFAULT_LIMITS:
        records = [_normalised(record) for record in run.bytes_of_each()]
        data = b"".join(records)
        lengths = np.array([len(record) for record in records])
        ends = np.cumsum(lengths)
        starts = ends - lengths
    fields = Fields.room(np.empty(len(data), np.uint8), len(ends), len(data) // _MIN_FIELD)
    take_apart(np.frombuffer(data, np.uint8), starts, ends, Words.of(start, prefix), fields)
    return fields


def _usual_start(data: bytes, declarations: bytes) -> tuple[bytes, bytes] | None:
    """The start tag of a record, and its prefix (`marc:`, or empty); None for an unusual tag. `declarations`: the
    namespaces around it, as attributes.
    """
    start = _START_TAG.match(data)
    if not start or any(mark in start[0] for mark in _UNUSUAL):
        return None
    if not is_empty_element(start[0][:-1] + b"/>", declarations):
        return None
    return start[0], start[1]


def _normalised(record: bytes) -> bytes:
    """The record with LF instead of CR LF (XML 1.0 §2.11); empty if compiled code must not read it."""
    if len(record) >= DEFAULT_LIMITS or not is_utf8(record):
        return b""
    return record.replace(b"\r\n", b"\n")
