"""Records that are JSON values: JSON Lines; an array, an array within an object, or values one after the other."""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Iterator
from typing import ClassVar

from urnscan.framing.buffer import HEAD, Buffer
from urnscan.framing.json_layout import are_lines
from urnscan.framing.json_values import DECODER, JsonValues, ValueLines
from urnscan.framing.lines import Damaged
from urnscan.records.decoded_text import decoded, whole
from urnscan.records.description import pack
from urnscan.records.fields import Own
from urnscan.records.format import Format
from urnscan.records.marc_fields import MarcFields, Parted
from urnscan.records.named_values import RANKS, Pairs, identifier, own_identifiers, statements
from urnscan.records.record import Cut, Record, RecordReader

# Names of arrays of records: JSON-LD, Crossref, DataCite, OpenAlex, Solr, Elasticsearch, OData, GeoJSON.
_RECORDS = frozenset(
    "@graph records record items data results result docs documents works entries hits value features rows "
    "resources publications".split()
)
_MARC_FIELDS = re.compile(r'\[\s*\{\s*"[0-9A-Z]{3}"\s*:')  # which is no array of records
# Names of objects around such an array.
_AROUND = frozenset("response message _embedded hits data result results".split())
# Members of a record that a page of records has not, besides its names (RANKS); without prefixes and punctuation.
_OF_RECORDS = frozenset(
    "identifiers urn isbn isbn10 isbn13 issn issnl eissn doi uuid handle pid lccn oclc title titles author authors "
    "creator creators leader".split()
)
_PUNCTUATION = re.compile("[ ._-]")
_DEEPEST = 4  # objects within each other around an array
_SPACE = re.compile(r"[ \t\r\n]*")


def _has_layout(head: bytes, name: str, *, lines: bool) -> bool | None:
    """Tell JSON by its layout: a value on each `lines`, or values over several. None if more octets are needed."""
    try:
        in_lines = are_lines(head, name, find_array)
    except ValueError:
        return False
    return None if in_lines is None else in_lines == lines


is_json_lines = functools.partial(_has_layout, lines=True)
is_json_array = functools.partial(_has_layout, lines=False)


class JsonArrayRecords(RecordReader):
    """Reads the elements of an array, of the array in an object that holds the records, or values that are in none."""

    table = "json"
    described_by = "named"
    in_lines: ClassVar[bool] = False

    def __init__(self, *, own: bool, described: bool = False, keys: bool = False) -> None:
        super().__init__(own=own, described=described, keys=keys)
        self._values = ValueLines() if self.in_lines else JsonValues(wraps=find_array)

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Find the values, each without what is around it."""
        for found in self._values.read(buffer):
            yield found if isinstance(found, Damaged) else Cut(*found[:3])

    def record(self, cut: Cut) -> Record:
        """Read a value."""
        offset, octets, value = cut
        pairs = value if isinstance(value, tuple) else ()
        own: tuple[Own, ...] = ()
        description, marc = b"", None
        if fields := _marc(pairs):
            marc = fields.octets(self.marc.tags)
        else:
            description = pack(self.described_by, statements(pairs, self.described))
            own = () if self.fields is None else tuple(own_identifiers(pairs, self.fields))
        name = (fields and fields.number) or identifier(pairs)
        if not self.has_texts:
            return Record(offset, octets, name, (), own, description, marc)
        text = octets
        if b"\\" in text:  # halves of surrogate pairs, which JSON can escape, stay escapes
            text = "\0".join(_strings(value)).encode("utf-8", "backslashreplace")
        return Record(offset, octets, name, (text,), own, description, marc)


class JsonLineRecords(JsonArrayRecords):
    """Reads JSON Lines, each value with the LF behind it."""

    in_lines = True


def _marc(pairs: Pairs) -> MarcFields | None:
    """The fields of a record of MARC-in-JSON; None if it is another."""
    members = dict(pairs)
    fields, leader = members.get("fields"), members.get("leader", "")
    if not (isinstance(fields, list) and isinstance(leader, str)):
        return None
    held = [(tag, value) for field in fields if isinstance(field, tuple) for tag, value in field]
    is_marc = bool(held) and all(len(tag) == 3 and isinstance(value, (str, tuple)) for tag, value in held)
    return MarcFields(whole(leader), held, _parted) if is_marc else None


def show_json(octets: bytes) -> str:
    """Show a record to a person: one of MARC-in-JSON as other forms of MARC, any other as it stands."""
    for found in ValueLines().read(Buffer(io.BytesIO(octets).readinto)):
        value = None if isinstance(found, Damaged) else found[2]
        if marc := _marc(value if isinstance(value, tuple) else ()):
            return marc.lines()
    return decoded(octets)


def _parted(value: object) -> Parted:
    """Take apart a field of MARC-in-JSON: a string, or an object with `ind1`, `ind2` and `subfields`."""
    if not isinstance(value, tuple):
        return whole(str(value)), ()
    members = dict(value)
    subfields = members.get("subfields")
    parts = (
        [part for each in subfields if isinstance(each, tuple) for part in each] if isinstance(subfields, list) else ()
    )
    indicators = "".join(f"{members.get(name) or ' '!s:1.1}" for name in ("ind1", "ind2"))
    return whole(indicators), [(whole(code), whole(said)) for code, said in parts if isinstance(said, str)]


def _strings(value: object) -> Iterator[str]:
    """Strings in a value, names of members too."""
    values = [value]
    while values:
        value = values.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, (tuple, list)):
            values.extend(value)


def find_array(head: bytes, goes_on: bool) -> tuple[int, int] | None:
    """Find the array of the records in a head that begins with an object: octets up to and with its opening bracket,
    and the number of objects around it; None if the object is a record itself. `goes_on`: the dump may be longer.

    Fields of MARC-in-JSON are those of one record. Otherwise it is the array with a name of `_RECORDS` that is empty or of
    objects, if no member beside it is one of a record; otherwise an array of objects that is the only member, or that
    does not end in the head.
    """
    text = head[:HEAD].decode("latin-1")
    at, depth, count = 1, 1, 0
    is_record = False
    found: tuple[int, int] | None = None
    is_filled = False
    alone: tuple[int, int] | None = None  # the array, as long as it is the only member
    while True:
        at = _skip(text, at)
        while text[at : at + 1] == "}":
            at, depth = _skip(text, at + 1), depth - 1
            if not depth:
                return alone if alone and count == 1 and at == len(text) else None if is_record else found
        if count and text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        if is_record:
            return None
        try:
            name, at = DECODER.raw_decode(text, at)
            at = _skip(text, at)
            if not isinstance(name, str) or text[at : at + 1] != ":":
                return found
        except (ValueError, RecursionError):
            return found
        name = name.lower()
        unprefixed = name.rpartition(":")[2]
        is_record = unprefixed in RANKS or _PUNCTUATION.sub("", unprefixed) in _OF_RECORDS
        begin = at = _skip(text, at + 1)
        if name == "fields" and _MARC_FIELDS.match(text, at):
            return None
        first = text[_skip(text, at + 1) :][:1] if text[at : at + 1] == "[" else ""
        if name in _RECORDS and not is_filled and (first == "{" or (first == "]" and not found)):
            found, is_filled = (begin + 1, depth), first == "{"
        elif text[at : at + 1] == "{" and name in _AROUND and not is_filled and depth < _DEEPEST:
            at, depth, count = at + 1, depth + 1, 2
            continue
        try:
            _, at = DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            if is_record:
                return None
            return found or ((begin + 1, depth) if first == "{" and goes_on else None)
        count += 1
        alone = (begin + 1, depth) if first == "{" else None


def _skip(text: str, at: int) -> int:
    """Place behind white space."""
    space = _SPACE.match(text, at)
    return space.end() if space else at


FORMATS = (
    Format(
        name="json",
        title="JSON array",
        reader=JsonArrayRecords,
        recognise=is_json_array,
        suffixes=(".json",),
        separator=b",",
        framed=True,
        show=show_json,
    ),
    Format(
        name="jsonl",
        title="JSON Lines",
        reader=JsonLineRecords,
        recognise=is_json_lines,
        suffixes=(".jsonl", ".ndjson", ".json"),
        show=show_json,
    ),
)
