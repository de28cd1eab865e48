"""Records of MARCXML in their most usual form: compiled code finds the fields of many of them by one call.

The form is that of `marcxml`, but start tags are written exactly so: `<datafield tag="020" ind1=" " ind2=" ">`. All records
of a call have the same start tag, each has a leader, and not two of them have control numbers. `marcxml` reads any other.
Fields are written as in ISO 2709: `10␟aInks␟bA handbook`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from urnscan.arrays.jit import compiled, inlined, inner
from urnscan.arrays.octets import Integers, Octets
from urnscan.records.marc_octets import is_utf8
from urnscan.records.marc_runs import (
    ALONE,
    ASCII,
    DELIMITER,
    LONGEST_PACKED,
    NO_NUMBER,
    TAG,
    Fields,
    Tables,
    number_at,
    write,
    write_number,
)
from urnscan.records.record import Run
from urnscan.records.xml_kinds import DEFAULT_LIMITS

_LESS, _GREATER, _AMPERSAND, _BRACKET, _ZERO, _L = b"<>&]0L"
_RARE, _RARE_NEXT = b"\xef\xbf"  # begin U+FFFE and U+FFFF, which are no characters
_BLANK = tuple(b" \n\t")
_LEADER_TAG, _NUMBER_TAG, _DATA_TAGS = 0, 1, 10  # of the leader (as 000), control numbers, data fields from there on
_WRONG = -2

# Kinds of octets. Each one may also stand where those before it may, but for _ODD, which are looked at.
_ODD, _OF_TEXT, _OF_INDICATOR, _OF_CODE = range(4)
_KINDS = np.full(256, _OF_TEXT, np.uint8)
_KINDS[0x20:0x7F] = _OF_INDICATOR
_KINDS[np.frombuffer(b'"', np.uint8)] = _OF_TEXT
_KINDS[[*range(9), 11, 12, *range(13, 32), *b"<>&", _RARE]] = _ODD
_KINDS[np.frombuffer(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", np.uint8)] = _OF_CODE

# Words: tags behind which other tags may stand, the ends of texts behind start tags, references, the start of a record.
_SUBFIELD, _DATA_END, _DATA, _CONTROL, _END, _LEADER, _TAGS_END = range(7)
_REFERENCES, _START = 2 * _TAGS_END, 2 * _TAGS_END + 5
_CHARACTERS = tuple(b"<>\"'&")
_CODE_BACK, _FIRST_BACK = 3, 12  # octets from code or second indicator, and first indicator, to the end of a start tag
_CONTROL_BACK, _DATA_BACK = 5, 23  # octets from tags


class Words(NamedTuple):
    """The words of a dump: tags and references."""

    octets: Octets
    """Words, end to end. An octet of a word that is _OF_INDICATOR or _OF_CODE stands for each octet of that kind."""
    limits: Integers
    """The beginning of each, and the end of the last."""

    @classmethod
    def of(cls, start: bytes, prefix: bytes) -> Words:
        """The words of records with a start tag whose elements have a prefix, which may be empty."""
        begin, end, code, indicator = b"<" + prefix, b"</" + prefix, bytes([_OF_CODE]), bytes([_OF_INDICATOR])
        tag = b' tag="%b"' % (TAG * code)
        words = {
            _SUBFIELD: begin + b'subfield code="%b">' % code,
            _DATA_END: end + b"datafield>",
            _DATA: begin + b'datafield%b ind1="%b" ind2="%b">' % (tag, indicator, indicator),
            _CONTROL: begin + b"controlfield%b>" % tag,
            _END: end + b"record>",
            _LEADER: begin + b"leader>",
            _TAGS_END + _SUBFIELD: end + b"subfield>",
            _TAGS_END + _CONTROL: end + b"controlfield>",
            _TAGS_END + _LEADER: end + b"leader>",
            **dict(enumerate((b"&lt;", b"&gt;", b"&quot;", b"&apos;", b"&amp;"), _REFERENCES)),
            _START: start,
        }
        held = [words.get(word, b"") for word in range(_START + 1)]
        return cls(np.frombuffer(b"".join(held), np.uint8), np.cumsum([0, *map(len, held)]))


@inner
def _behind(octets: Octets, at: int, words: Words, word: int) -> int:
    """Place behind a word that stands at a place; ALONE if it does not. No word has a `<` inside: it ends any search."""
    for place in range(words.limits[word], words.limits[word + 1]):
        octet, wanted = octets[at], words.octets[place]
        if octet != wanted and (wanted > _OF_CODE or _KINDS[octet] < wanted):
            return ALONE
        at += 1
    return at


@inner
def _word(octets: Octets, at: int, words: Words, first: int, last: int) -> tuple[int, int]:
    """The first of some words that stands at a place, and the place behind it; `last` and ALONE if none does."""
    for word in range(first, last):
        behind = _behind(octets, at, words, word)
        if behind != ALONE:
            return word, behind
    return last, ALONE


@inlined
def _text(octets: Octets, at: int, words: Words, out: Octets, to: int) -> tuple[int, int]:
    """Write the text up to the next `<`, without references; the places behind both. The first is ALONE if it is not plain."""
    while octets[at] != _LESS:
        octet = octets[at]
        if octet == _AMPERSAND:
            reference, at = _word(octets, at, words, _REFERENCES, _START)
            if at == ALONE:
                break
            octet = _CHARACTERS[reference - _REFERENCES]
            at -= 1
        elif _KINDS[octet] == _ODD:
            is_character = octet == _GREATER and octets[at - 1] != _BRACKET
            if not is_character and (octet != _RARE or octets[at + 1] == _RARE_NEXT):
                at = ALONE
                break
        out[to] = octet
        at += 1
        to += 1
    return at, to


@inlined
def _tag(octets: Octets, place: int, word: int) -> int:
    """The tag at a place, as a number; NO_NUMBER if it has letters, _WRONG if a field with this start tag has no such tag."""
    if word == _LEADER:
        return _LEADER_TAG
    tag = number_at(octets, place, TAG)
    if tag == NO_NUMBER and (word == _CONTROL or octets[place] == _ZERO or octets[place] == _L):  # "LDR" is a leader
        return _WRONG
    if tag != NO_NUMBER and (tag == _LEADER_TAG or (tag < _DATA_TAGS) != (word == _CONTROL)):
        return _WRONG
    return tag


@inlined
def _fields(
    octets: Octets, at: int, words: Words, fields: Fields, out: Octets, row: int, to: int
) -> tuple[int, int, int]:
    """Write the leader and the fields from a place on: the place behind the record, the rows and the octets written.

    The place is ALONE if the record is not plain. Before each field stands its tag.
    """
    tag, first = _WRONG, to
    is_inside = False  # of a data field
    while True:
        while octets[at] in _BLANK:
            at += 1
        word, at = _word(octets, at, words, 0, _TAGS_END)
        if word == _TAGS_END or word == _END or (word <= _DATA_END) != is_inside:
            return (at if word == _END and not is_inside else ALONE), row, to
        if word >= _DATA:
            place = at - (_DATA_BACK if word == _DATA else _CONTROL_BACK)
            tag = _tag(octets, place, word)
            if tag == _WRONG:
                return ALONE, row, to
            first = to = write(octets, place, place + TAG, out, to)
        if word == _DATA:
            out[to], out[to + 1] = octets[at - _FIRST_BACK], octets[at - _CODE_BACK]
            to += 2
            is_inside = True
            continue
        if word == _SUBFIELD:
            out[to], out[to + 1] = DELIMITER, octets[at - _CODE_BACK]
            to += 2
        if word != _DATA_END:
            at, to = _text(octets, at, words, out, to)
            if at != ALONE:
                at = _behind(octets, at, words, _TAGS_END + word)
            if at == ALONE:
                return ALONE, row, to
        elif to == first + 2:  # no subfield
            return ALONE, row, to
        if word != _SUBFIELD:
            fields.tags[row], fields.places[row, 0], fields.places[row, 1] = tag, first, to
            row += 1
            is_inside = False


@inlined
def _family(fields: Fields, row: int, last: int, tables: Tables, out: Octets) -> int:
    """1 for a record with a field 200, 0 with a field 245; ALONE if it has both or none, or is not plain otherwise."""
    leaders = numbers = 0
    has_200 = has_245 = is_long = False
    for field in range(row, last):
        tag = fields.tags[field]
        leaders += tag == _LEADER_TAG
        numbers += tag == _NUMBER_TAG
        has_200 |= tag == 200
        has_245 |= tag == 245
    if has_200 == has_245 or leaders != 1 or fields.tags[row] != _LEADER_TAG or numbers > 1:
        return ALONE
    every = np.uint8(0)
    for place in range(fields.places[row, 0], fields.places[row, 1]):
        every |= out[place]
    family = int(has_200)
    for field in range(row + 1, last):
        tag = max(fields.tags[field], _LEADER_TAG)
        is_wanted = tables.is_given[family, tag] or tables.is_packed[family, tag]
        is_long |= is_wanted and fields.places[field, 1] - fields.places[field, 0] > LONGEST_PACKED
    return family if every <= ASCII and not is_long else ALONE


@compiled
def find_fields(
    octets: Octets, starts: Integers, ends: Integers, words: Words, tables: Tables, fields: Fields, out: Octets
) -> int:
    """Find the fields of records, write them into `out`, and pack their descriptions; the number of the fields that are given.

    Octets are in UTF-8, and no record has DEFAULT_LIMITS octets.
    """
    row = at = to = 0
    for record in range(len(ends)):
        start, end, last, written = starts[record], ends[record], row, to
        behind = family = ALONE
        size = words.limits[_END + 1] - words.limits[_END]
        if end - start > size and _behind(octets, end - size, words, _END) == end:
            behind = _behind(octets, start, words, _START)
        if behind != ALONE:
            behind, last, written = _fields(octets, behind, words, fields, out, row, to)
        if behind == end:
            family = _family(fields, row, last, tables, out)
        if family != ALONE:
            name = tables.names[family]
            at = write(name, 0, len(name), fields.packed, at)
            total, to = last - row - 1, written
            for field in range(row, last):
                tag, first, behind = fields.tags[field], fields.places[field, 0], fields.places[field, 1]
                if tag == _LEADER_TAG:
                    at = write_number(total, fields.packed, write(out, first, behind, fields.packed, at))
                elif tag != NO_NUMBER:
                    if tag == _NUMBER_TAG:
                        fields.numbers[record, 0], fields.numbers[record, 1] = first, behind
                    if tables.is_packed[family, tag]:
                        at = write(out, first - TAG - 1, behind, fields.packed, at)
                    if tables.is_given[family, tag]:
                        fields.tags[row], fields.places[row, 0], fields.places[row, 1] = tag, first, behind
                        row += 1
            at -= 1  # no terminator at the end
        fields.families[record], fields.ends[record], fields.packed_ends[record + 1] = family, row, at
    return row


def fields_of(run: Run, start: bytes, prefix: bytes, tables: Tables) -> tuple[Octets, Fields, int]:
    """The fields of records, the octets in which they stand, and their number.

    `start`: the start tag of the records, which is well-formed, with the prefix of its name.
    """
    octets, starts, ends = run.octets, run.starts, run.ends
    if b"\r" in octets or not is_utf8(octets) or (ends - starts).max() >= DEFAULT_LIMITS:
        records = [_in_use(cut.octets) for cut in run.cuts()]
        octets = b"".join(records)
        lengths = np.array([len(record) for record in records])
        ends = np.cumsum(lengths)
        starts = ends - lengths
    fields, out = Fields.of(len(ends), len(octets), tables), np.empty(len(octets), np.uint8)
    words = Words.of(start, prefix)
    return out, fields, find_fields(np.frombuffer(octets, np.uint8), starts, ends, words, tables, fields, out)


def _in_use(record: bytes) -> bytes:
    """A record with the ends of lines of XML (1.0 §2.11); empty if it is not for compiled code."""
    if len(record) >= DEFAULT_LIMITS or not is_utf8(record):
        return b""
    return record.replace(b"\r\n", b"\n")
