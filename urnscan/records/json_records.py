"""Records that are JSON values: JSON Lines; an array, an array inside an object, or a sequence of values."""

from __future__ import annotations

import functools
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
from urnscan.records.marc_fields import MarcFields, SplitField
from urnscan.records.named_values import RANKS, Pairs, are_known, identifier, own_identifiers, statements
from urnscan.records.record import Cut, Record, RecordReader

# Names of arrays of records: JSON-LD, Crossref, DataCite, OpenAlex, Solr, Elasticsearch, OData, GeoJSON, Europe PMC, Scopus,
# Web of Science, DBLP, OpenAIRE, IEEE Xplore.
_RECORDS = frozenset(
    "@graph records record items item data results result docs documents works entries entry hits hit value features rows "
    "resources publications rec articles member instances".split()
)
# The fields of a record of MARC-in-JSON: this array is not an array of records.
_MARC_FIELDS = re.compile(r'\[\s*\{\s*"[0-9A-Z]{3}"\s*:')
# Names of objects that may contain an array of records, or an object with a name of this list.
_AROUND = frozenset(
    "response message _embedded hits data result results resultlist search-results searchretrieveresponse records "
    "documents docs payload body".split()
)
# Members of a record, in addition to its ID (RANKS). A page of records has none of these members. They are compared
# without prefixes and punctuation.
_OF_RECORDS = frozenset(
    "identifiers urn isbn isbn10 isbn13 issn issnl eissn doi uuid handle pid lccn oclc title titles author authors "
    "creator creators leader".split()
)
# The name of a member.
_MEMBER = re.compile(r'"((?:[^"\\]|\\.){1,100})"\s*:')
_PUNCTUATION = re.compile("[ ._-]")
# The start of an object up to its first value that is neither a number nor a string, and of an array of objects.
_SCALARS = re.compile(
    r'\{\s*+(?>(?:"(?>(?:[^"\\]|\\.)*)"\s*+:\s*+(?:"(?>(?:[^"\\]|\\.)*)"|[^\s"{}\[\],]++)\s*+,\s*+)*)"(?>(?:[^"\\]|\\.)*)"\s*+:\s*+(?=[{\[])'
)
_OBJECT = re.compile(r"\[\s*+\{")
# Characters in which the first object of an array shows whether it is a record, if the object is longer than the known
# bytes.
_NEAR = 4_000
# Maximum number of objects around an array.
_DEEPEST = 4
_SPACE = re.compile(r"[ \t\r\n]*")


def _has_layout(head: bytes, name: str, *, lines: bool) -> bool | None:
    """Whether a dump is JSON Lines (`lines` is True), or JSON in another layout (False), by its first bytes and its
    file name (in lower case). None: undecided.
    """
    try:
        in_lines = are_lines(head, name, find_array)
    except ValueError:
        return False
    return None if in_lines is None else in_lines == lines


is_json_lines = functools.partial(_has_layout, lines=True)
is_json_array = functools.partial(_has_layout, lines=False)


class JsonArrayRecords(RecordReader):
    """Reader of JSON dumps whose records are the elements of an array, of an array of records inside an object, or a
    sequence of values. A record may be MARC-in-JSON.
    """

    table = "json"
    """Name of the table with the fields of identifiers."""
    described_by = "named"
    """Name of the table with the fields that describe a work; JSON and tables in text share it."""
    in_lines: ClassVar[bool] = False
    """Whether each line of the dump is a value (JSON Lines)."""

    def __init__(self, *, own: bool, described: bool = False, keys: bool = False) -> None:
        super().__init__(own=own, described=described, keys=keys)
        self._values = ValueLines() if self.in_lines else JsonValues(wraps=find_array)

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Yield each value as a `Cut`, in order, and a `Damaged` where no value can be decoded. `Cut.around` is the
        decoded value: a tuple of pairs (name, value) for an object, a list for an array, a str for a number.

        `Cut.data` has no commas, brackets or white space around the value; in JSON Lines it is the whole line, with its
        line end.
        """
        for value in self._values.read(buffer):
            yield value if isinstance(value, Damaged) else Cut(*value[:3])

    def record(self, cut: Cut) -> Record:
        """Read the members of a value. Returns a `Record` with its ID and, by the options of the reader, texts to scan
        for URNs (with `own`, record-level identifiers instead), identifiers that give keys (`keys`) and a description
        (`described`). For MARC-in-JSON, `Record.marc` has the fields from which `record_columns` reads identifiers and
        description.
        """
        offset, data, value = cut
        pairs = value if isinstance(value, tuple) else ()
        own: tuple[Own, ...] = ()
        description, marc = b"", None
        if fields := _marc(pairs):
            marc = fields.data(self.marc.tags)
        else:
            description = pack(self.described_by, statements(pairs, self.described))
            own = tuple(own_identifiers(pairs, self.fields)) if self.fields else ()
        name = (fields and fields.number) or identifier(pairs)
        if not self.has_texts:
            return Record(offset, data, name, (), own, description, marc)
        text = data
        # Halves of surrogate pairs, which JSON can escape, remain escapes.
        if b"\\" in text:
            text = "\0".join(_strings(value)).encode("utf-8", "backslashreplace")
        return Record(offset, data, name, (text,), own, description, marc)


class JsonLineRecords(JsonArrayRecords):
    """Reader of JSON Lines. A record is a line with a value, with its line end."""

    in_lines = True


def _marc(pairs: Pairs) -> MarcFields | None:
    members = dict(pairs)
    fields, leader = members.get("fields"), members.get("leader", "")
    if not (isinstance(fields, list) and isinstance(leader, str)):
        return None
    pairs = [(tag, value) for field in fields if isinstance(field, tuple) for tag, value in field]
    is_marc = bool(pairs) and all(len(tag) == 3 and isinstance(value, (str, tuple)) for tag, value in pairs)
    return MarcFields(whole(leader), pairs, _split) if is_marc else None


def _knows_fields(head: bytes) -> bool:
    text = head.decode("utf-8", "replace")
    return bool(_MARC_FIELDS.search(text)) or are_known(_MEMBER.findall(text), JsonArrayRecords.table)


def show_json(data: bytes) -> str:
    """Return a record as text for people: MARC-in-JSON in the form of MARC editors (a line for each field), other
    records unchanged, decoded as UTF-8.
    """
    try:
        value, _ = DECODER.raw_decode(data.decode("utf-8", "surrogateescape").lstrip("\x1e \t\r\n"))
    except (ValueError, RecursionError):
        return decoded(data)
    marc = _marc(value if isinstance(value, tuple) else ())
    return marc.lines() if marc else decoded(data)


def _split(value: object) -> SplitField:
    """Split a field of MARC-in-JSON: (text, no subfields) for a string, (indicators, pairs of code and value) for an
    object.
    """
    if not isinstance(value, tuple):
        return whole(str(value)), ()
    members = dict(value)
    subfields = members.get("subfields")
    parts = (
        [part for subfield in subfields if isinstance(subfield, tuple) for part in subfield]
        if isinstance(subfields, list)
        else ()
    )
    indicators = "".join(f"{members.get(name) or ' '!s:1.1}" for name in ("ind1", "ind2"))
    return whole(indicators), [(whole(code), whole(text)) for code, text in parts if isinstance(text, str)]


def _strings(value: object) -> Iterator[str]:
    """The strings in a value, and the names of the members of its objects, in no order."""
    values = [value]
    while values:
        value = values.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, (tuple, list)):
            values.extend(value)


def find_array(head: bytes, goes_on: bool) -> tuple[int, int] | None:
    """Find the array of records in the first bytes of a dump, which begin with an object; at most 64 KiB are read.

    Returns the number of bytes up to its opening bracket (with it), and the number of objects around the array. None if
    there is no such array, for example because the object is a record itself. `goes_on`: the dump may be longer.

    b'{"total": 2, "records": [{"id": 1}' -> (25, 1)
    b'{"title": "Inks", "items": [{"id": 1}]}' -> None
    """
    # An array with a usual name, such as `records` or `items`, counts if it is empty or has objects, and no member next
    # to it is a member of a record. An array with another name counts in an object if all members before it are numbers
    # and strings, and its first object is a record. Otherwise, an array of objects counts that is the only member, or
    # that does not end in the first bytes. An array of fields of MARC-in-JSON belongs to a record, and does not count.
    text = head[:HEAD].decode("latin-1")
    at, depth, count = 1, 1, 0
    is_record = False
    named_array: tuple[int, int] | None = None
    is_filled = False
    # An array of objects that is the last member so far.
    unnamed_array: tuple[int, int] | None = None
    # Place of an array of records that is the only array in the objects around it.
    sole_array = 0
    while True:
        at = _skip(text, at)
        while text[at : at + 1] == "}":
            at, depth = _skip(text, at + 1), depth - 1
            if not depth:
                if unnamed_array and count == 1 and at == len(text):
                    return unnamed_array
                return None if is_record else named_array
        if count and text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        if is_record:
            return None
        try:
            name, at = DECODER.raw_decode(text, at)
            at = _skip(text, at)
            if not isinstance(name, str) or text[at : at + 1] != ":":
                return named_array
        except (ValueError, RecursionError):
            return named_array
        name = name.lower()
        is_record = _is_of_record(name)
        begin = at = _skip(text, at + 1)
        if name == "fields" and _MARC_FIELDS.match(text, at):
            return None
        first = text[_skip(text, at + 1) :][:1] if text[at : at + 1] == "[" else ""
        is_known = name in _RECORDS or begin == sole_array
        if is_known and not is_filled and (first == "{" or (first == "]" and not named_array)):
            named_array, is_filled = (begin + 1, depth), first == "{"
        elif text[at : at + 1] == "{" and not is_filled and depth < _DEEPEST:
            sole_array = sole_array or _sole_array(text, at)
            if name in _AROUND or sole_array:
                at, depth, count = at + 1, depth + 1, 2
                continue
        try:
            _, at = DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            if is_record:
                return None
            return named_array or ((begin + 1, depth) if first == "{" and goes_on else None)
        count += 1
        unnamed_array = (begin + 1, depth) if first == "{" else None


def _is_of_record(name: str) -> bool:
    """Whether a member with this name, in lower case, shows that an object is a record: `title`, `dc:title`."""
    local_name = name.rpartition(":")[2]
    return local_name in RANKS or _PUNCTUATION.sub("", local_name) in _OF_RECORDS


def _sole_array(text: str, at: int) -> int:
    """Index in `text` of the opening bracket of the array of records in the object at index `at`, or in an object
    inside it; 0 if there is none near the start.
    """
    names: list[str] = []
    while text[at : at + 1] == "{":
        scalars = _SCALARS.match(text, at)
        if not scalars:
            return 0
        names += _MEMBER.findall(scalars[0])
        at = scalars.end()
    if not _OBJECT.match(text, at):
        return 0
    begin = text.index("{", at)
    try:
        _, end = DECODER.raw_decode(text, begin)
    except (ValueError, RecursionError):
        end = begin + _NEAR
    first_object = _MEMBER.findall(text, begin, end)
    is_page = not any(_is_of_record(name.lower()) for name in names)
    return at if is_page and any(_is_of_record(name.lower()) for name in first_object) else 0


def _skip(text: str, at: int) -> int:
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
        knows_fields=_knows_fields,
        show=show_json,
    ),
    Format(
        name="jsonl",
        title="JSON Lines",
        reader=JsonLineRecords,
        recognise=is_json_lines,
        suffixes=(".jsonl", ".ndjson", ".json"),
        knows_fields=_knows_fields,
        show=show_json,
    ),
)
