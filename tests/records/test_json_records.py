"""JSON Lines, arrays of JSON, and values one after the other: cut to the byte, read as `json` reads the whole."""

import io
import itertools
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import FEW
from tests.support.reading import owns, read_from, read_records, set_longest
from urnscan.errors import DamageError
from urnscan.framing.buffer import Buffer
from urnscan.framing.lines import Damaged
from urnscan.records.fields import Own
from urnscan.records.json_records import JsonArrayRecords, JsonLineRecords, is_json_array, is_json_lines
from urnscan.records.record import Record, description_of

READERS = (JsonLineRecords, JsonArrayRecords)


def read(reader, dump, *, own=False, block=None):
    return read_records(reader(own=own), dump, (block,))


def good(found):
    return [one for one in found if isinstance(one, Record)]


def offsets_hold(dump, found):
    """Bytes are those at the offset, in order, and do not overlap."""
    behind = 0
    for one in found:
        assert one.offset >= behind
        if isinstance(one, Record):
            assert dump[one.offset : one.offset + len(one.data)] == one.data
            behind = one.offset + len(one.data)


def recognised(head, name=""):
    return is_json_lines(head, name), is_json_array(head, name)


LINES, ARRAY, NEITHER, UNKNOWN = (True, False), (False, True), (False, False), (None, None)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
LAYOUTS = [{}, {"indent": 1}, {"indent": 2, "ensure_ascii": False}, {"separators": (",", ":")}]
layouts = st.sampled_from(LAYOUTS)
wrapped = st.sampled_from(
    ["", '{"records": %s}', '{"a": {"b": [1]}, "@graph": %s, "next": "]}"}', ' {"response": {"docs":\n%s}}\n']
)


@FEW
@given(
    st.lists(st.dictionaries(st.text(max_size=3), values, max_size=3), min_size=1, max_size=6),
    layouts,
    wrapped,
    st.data(),
)
def test_elements_are_those_that_json_reads(elements, layout, around, data):
    """Also: the cut does not depend on blocks, and between elements there are only commas and white space."""
    array = json.dumps(elements, **layout)
    dump = (around % array if around else array).encode("utf-8", "surrogatepass")
    found = read(JsonArrayRecords, dump, block=data.draw(st.sampled_from([1, 7, 1 << 20])))
    assert [json.loads(record.data) for record in found] == elements
    offsets_hold(dump, found)
    for one, following in itertools.pairwise(found):
        assert not dump[one.offset + len(one.data) : following.offset].strip(b" \n,")


@FEW
@given(st.lists(values, max_size=6), layouts)
def test_elements_of_any_kind(elements, layout):
    """Strings, numbers and arrays in an array are records as well."""
    found = read(JsonArrayRecords, json.dumps(elements, **layout).encode())
    assert [json.loads(record.data) for record in found] == elements


@FEW
@given(st.lists(values, max_size=6), st.sampled_from(["\n", "\r\n", "\n\n \n"]), st.booleans())
def test_lines_are_those_that_json_reads(elements, end, mark):
    """Each with its LF; a byte order mark is in none."""
    dump = b"\xef\xbb\xbf" * mark + "".join(json.dumps(element) + end for element in elements).encode()
    found = read(JsonLineRecords, dump, block=3)
    assert [json.loads(record.data) for record in found] == elements
    assert all(record.data.endswith(b"\n") for record in found)
    offsets_hold(dump, found)


@FEW
@given(
    st.lists(st.dictionaries(st.text(max_size=3), values, max_size=3), min_size=2, max_size=5),
    layouts,
    st.sampled_from(["\n", "", " \n\n"]),
)
def test_values_one_after_the_other(elements, layout, between):
    dump = between.join(json.dumps(element, **layout) for element in elements).encode("utf-8", "surrogatepass")
    assert [json.loads(record.data) for record in read(JsonArrayRecords, dump)] == elements


@pytest.mark.full
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "dump", [b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000, b'[{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}]"]
)
def test_deep_nesting_is_damage(reader, dump):
    """RecursionError is not let through."""
    assert [type(one) for one in read(reader, dump)] == [Damaged]


def test_a_damaged_line_costs_itself():
    dump = b'{"id": 1}\n{"id": 2\n{"id": 3} x\n\n{"id": 4}'
    first, second, third, last = read(JsonLineRecords, dump)
    assert (first.identifier, last.identifier, last.data) == ("1", "4", b'{"id": 4}')
    assert second == Damaged(10, "it is not JSON: Expecting ',' delimiter, column 9")
    assert third == Damaged(19, "it is not JSON: its value ends before column 10")


@pytest.mark.parametrize(
    "bad",
    [
        b'{"id": 2, "a": [1}',
        b'{"id": 2, "a": {"b": 1}',
        b'{"id": 2, "a": "b}',
        b'{"id": 2, "a": "b\\"}',
        b'"id": 2}',
        b'{"id" 2}',
        b"{",
        b"}",
        b"nonsense",
        b'{"id": 2, "a": [[[[',
    ],
)
@pytest.mark.parametrize("end", [",\n  ", "\n"])
def test_a_damaged_element_costs_itself(bad, end):
    """Where records begin on lines of their own, the next is found by that, whatever the brackets of this say."""
    parts = [
        b'{"id": 0}',
        b'{"id": 1}',
        bad,
        b'{"id": 3}',
        b'{\n    "id": 4,\n    "a": [\n      {\n      }\n    ]\n  }',
        b'{"id": 5}',
    ]
    dump = end.encode().join(parts)
    dump = b"[\n  " + dump + b"\n]" if "," in end else dump
    found = read(JsonArrayRecords, dump)
    offsets_hold(dump, found)
    assert [record.identifier for record in good(found)] == ["0", "1", "3", "4", "5"]
    assert 1 <= len(found) - 5 <= 2


def test_a_damaged_element_in_one_line():
    """Brackets tell where it ends; with one missing, that of the array is taken for it, and is missed."""
    found = read(JsonArrayRecords, b'[{"id":1},{"id" 2},{"id":3,"a":"]"}]')
    assert [type(one) for one in found] == [Record, Damaged, Record]
    found = read(JsonArrayRecords, b'[{"id":1},{"id":{2},{"id":3}]')
    assert [type(one) for one in found] == [Record, Damaged, Damaged]


def test_a_dump_that_is_cut_off_says_so():
    """In a record and between two."""
    dump = b'[{"id": 1}, {"id": 2, "a": "b'
    assert read(JsonArrayRecords, dump)[1] == Damaged(12, "it is truncated")
    assert read(JsonArrayRecords, b'[{"id": 1},\n')[1] == Damaged(12, "its array is truncated")
    assert read(JsonArrayRecords, b'{"records": [{"id": 1}]')[1] == Damaged(23, "its array is truncated")


def test_long_elements(monkeypatch):
    """Longer than the decoder is given at a time, and longer than a record may be: that one is damaged, not the next."""
    dump = (
        b'[{"id":1,"a":"'
        + b"x\\n" * 70_000
        + b'"},{"id":2},{"id":3}, "'
        + b"y" * 70_000
        + b'", '
        + b"1" * 70_000
        + b"]"
    )
    found = read(JsonArrayRecords, dump)
    assert [len(record.data) for record in found] == [210_015, 8, 8, 70_002, 70_000]
    set_longest(monkeypatch, 100_000)
    for block in (1000, 1 << 20):
        found = read(JsonArrayRecords, dump, block=block)
        assert [type(one) for one in found] == [Damaged, Record, Record, Record, Record]


@pytest.mark.full
@pytest.mark.parametrize(
    "dump",
    [
        b"[\n" + b'{"a":{"b":1},\n' * 5_000,
        b"[\n" + b'{"a":{"b":[,\n' * 20_000 + b"}" * 15_000,
        b"[" + b'{"a" 1},' * 10_000,
        b"[" + b'"\n' * 20_000,
        b"[\n{},\n{},\n" + b"{]," * 10_000,
        b"[" + b'{"a":"' + b"\\\\" * 200_000,
        b'{"a":{}}\n' + b'{"b":"\n' * 10_000,
        b"[\n" + b'{"a":\n' * 15_000,
        b"[\n" + (b'{"a":\n' * 20 + b'{"a":1},\n') * 1_000,
        b'{"records":[{"a":1}]}\n' + b'{"records":[{"a":\n' * 8_000,
        b'{"records":[{"a":1}]}\n' + b'{"records":[{"a":1}],"b":{\n' * 4_000,
        b'{"records":[{"a":1}]}\n' + b'{"b":{},"records":[]}\n' * 8_000,
        b'{"records":[{"a":1}],"b":' + b'{"records":[{"a":1}],"b":"' * 4_000,
    ],
)
def test_damage_is_passed_in_linear_time(dump):
    """It took minutes when each record was looked for up to the end of the dump."""
    began = time.process_time()
    read(JsonArrayRecords, dump)
    assert time.process_time() - began < 10


def test_what_is_searched():
    """Without escapes the bytes; else all names and strings, decoded, each apart."""
    plain, escaped = read(
        JsonLineRecords,
        b'{"a": "urn:x", "b": 1}\n{"a\\u0041": ["urn:y\\/z", {"c": "\\ud83d\\ude00"}], "a\\u0041": "\\ud800"}\n',
    )
    assert plain.texts == (b'{"a": "urn:x", "b": 1}\n',)
    (text,) = escaped.texts
    assert sorted(text.split(b"\0")) == sorted([b"aA", b"urn:y/z", b"c", "\U0001f600".encode(), b"aA", rb"\ud800"])


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("dump", "identifier"),
    [
        (b'{"id": "b", "@id": "a"}', "a"),
        (b'{"ID": 12345678901234567890.0}', "12345678901234567890.0"),
        (b'{"identifier": ["x"], "key": "k"}', "k"),
        (b'{"id": {"id": "x"}}', None),
        ('{"id": "Zoë"}'.encode(), "Zoë"),
        (b'{"id": "Zo\xff"}', "Zo\ufffd"),
        (b'{"id": "Zo\\u00eb\\ud800", "a": "\xc3\xab"}', "Zoë\ufffd"),
        (b'{"id": ""}', None),
        (b'["id", "x"]', None),
    ],
)
def test_what_a_record_is_called(reader, dump, identifier, own):
    (record,) = read(reader, dump if reader is JsonLineRecords else b"[" + dump + b"]", own=own)
    assert record.identifier == identifier


@pytest.mark.parametrize(
    ("record", "own"),
    [
        (
            {"ISBN": ["9780000000002", 9780000000019], "DOI": "10.5555/x"},
            [("9780000000002", "isbn"), ("9780000000019", "isbn"), ("10.5555/x", "doi")],
        ),
        (
            {
                "identifier": {
                    "@type": "PropertyValue",
                    "propertyID": "https://registry.example/DOI",
                    "value": "10.5555/x",
                }
            },
            [("10.5555/x", "doi")],
        ),
        (
            {"identifiers": [{"identifier": "10.5555/x", "identifierType": "DOI"}, "urn:x:y"]},
            [("10.5555/x", "doi"), ("urn:x:y", "")],
        ),
        (
            {"identifiers": {"isbn_13": ["9780000000002"], "doi": "10.5555/x"}},
            [("9780000000002", "isbn_13"), ("10.5555/x", "doi")],
        ),
        ({"externalIds": {"DOI": "10.5555/x"}}, [("10.5555/x", "doi")]),
        ({"pids": {"doi": {"identifier": "10.5555/x", "provider": "datacite"}}}, [("10.5555/x", "doi")]),
        *[
            ({"id": "1", name: {"doi": "10.5555/x"}}, [("1", ""), ("10.5555/x", "doi")])
            for name in ("metadata", "data", "record")
        ],
        # The object around is the record: its metadata are those of the file or of the set.
        *[({"Title": "Tides", name: {"doi": "10.5555/x"}}, []) for name in ("metadata", "data", "record")],
        ({"metadata": {"dc.identifier.doi": [{"value": "10.5555/x"}]}}, [("10.5555/x", "doi")]),
        ({"relatedIdentifiers": [{"relatedIdentifier": "10.5555/y"}], "note": "urn:x:y"}, []),
        (
            {"id": "10.5555/x", "attributes": {"doi": "10.5555/x", "attributes": {"doi": "no"}}},
            [("10.5555/x", ""), ("10.5555/x", "doi")],
        ),
        *[
            ({"type": kind, "ISBN": "9780000000002"}, [])
            for kind in ("book-chapter", "reference-entry", "book-part", "book-track")
        ],
        *[({"itemType": kind, "ISBN": "9780000000002"}, []) for kind in ("encyclopediaArticle", "dictionaryEntry")],
        *[
            ({"type": kind, "isbn": "9780000000002"}, [])
            for kind in (["Chapter"], ["Text", "http://schema.org/Chapter"])
        ],
        ({"@type": "Chapter", "isbn": "9780000000002"}, []),
        ({"@type": ["Book"], "isbn": "9780000000002"}, [("9780000000002", "isbn")]),
        ({"ISSN": "0000-0000"}, [("0000-0000", "issn")]),
        ({"ISSN": "0000-0000", "container-title": "Tides"}, []),
        ({"url": {"@id": "urn:x:é"}, "uri": " "}, [("urn:x:é", "")]),
        (
            {"ISBN-13": "1", "ISBNs": ["2", "3"], "eISBN": "4", "isbn (print)": "5", "EAN": "6", "gtin13": "7"},
            [*((each, "isbn") for each in "12345"), ("6", "ean"), ("7", "ean")],
        ),
        ({"ISBN-10": "1", "Item type": "bookSection"}, []),
        (
            {"pid": [{"scheme": "doi", "value": "10.5555/x"}], "Persistent identifier": "y"},
            [("10.5555/x", "doi"), ("y", "")],
        ),
        ({"isbn (set)": "1", "related": {"id": "2"}, "source": {"isbn": "3"}, "links": {"self": "10.5555/y"}}, []),
    ],
)
def test_own_identifiers(record, own):
    """Only those of the record itself, with what it says that they are."""
    (found,) = read(JsonLineRecords, json.dumps(record, ensure_ascii=False).encode(), own=True)
    assert found.own == tuple(Own(*one) for one in own)
    assert found.texts == ()


@pytest.mark.parametrize(("numbers", "name"), [([" ", " a1 "], "a1"), ([" "], "b"), (["a1", "a2"], "a1")])
def test_the_control_number_is_the_first_that_is_not_blank(numbers, name):
    """As in all other forms of MARC; a record without one is named by the object around it."""
    record = {"_id": "b", "leader": "00000nam a2200000 i 4500", "fields": [{"001": number} for number in numbers]}
    (found,) = read(JsonLineRecords, json.dumps(record).encode())
    assert found.identifier == name


def test_names_stand_twice():
    """Both values count."""
    (record,) = read(JsonLineRecords, b'{"doi": "10.5555/x", "doi": "10.5555/y"}', own=True)
    assert [own.text for own in record.own] == ["10.5555/x", "10.5555/y"]


@pytest.mark.parametrize(
    ("head", "name", "expected"),
    [
        (b'{"a": 1}\n{"b": 2}\n', "", LINES),
        (b'{"a": 1}\n', "", LINES),
        (b'{"a": 1}', "", LINES),
        (b'\xef\xbb\xbf\n{"a": 1}\n{"b"', "", LINES),
        (b'\x1e{"a": 1}\n', "", LINES),
        (b"[1, 2]\n[3, 4]\n", "x.jsonl", LINES),
        (b'[{"a": 1}]\n[{"a": 2}]\n', "x.jsonl", LINES),
        (b'[{"a": 1},\n{"a": 2}]\n', "x.jsonl", ARRAY),
        (b'[\n{"a": 1}\n]\n', "x.ndjson", ARRAY),
        (b'["a"]\n["b"]\n', "", LINES),
        (b'{"a": {"b": 1}\n', "x.ndjson", LINES),
        (b'{"a": 1,, "b": {}}\n{"b": 2}\n', "", LINES),
        (b'{"items": 1}\n{"records": [{}]}\n', "", LINES),
        (b'{"a": "' + b"x" * (1 << 16), "", LINES),
        (b'[{"a": 1},', "", ARRAY),
        (b"[\n", "", ARRAY),
        (b'["a", "b"]\n', "", ARRAY),
        (b"[]", "", ARRAY),
        (b'{"records": [{}]}\n', "", ARRAY),
        (b'{"records": [{}]}', "", ARRAY),
        (b'{"records": []}', "", ARRAY),
        (b'{"total":0,"items":[],"next":null}\n', "", ARRAY),
        (b'{"data":{},"items":[{}]}\n', "", ARRAY),
        (b'{"records":[{"u":1}]}\n{"records":[{"u":2}]}\n', "", ARRAY),
        (b'{"records":[{"u":1}]}\n{"records":[{"u":2}]}\n', "pages.jsonl", ARRAY),
        (b'{"records":[{"u":"' + b"x" * 5000, "pages.jsonl", UNKNOWN),
        (b'{"records":[{"u":"' + b"x" * (1 << 16), "pages.jsonl", ARRAY),
        (b'{"message":{"total":1,"items":[{}]}}\n{"message":{"items":[{}]}}\n', "", ARRAY),
        (b'{"@graph":[{}],"@context":"x"}\n{"@graph":[{}]}\n', "", ARRAY),
        (b'{"@graph":[{}],"@id":"x"}\n{"@graph":[{}],"@id":"y"}\n', "", LINES),
        (b'{"id":1,"items":[{}]}\n{"id":2,"items":[{}]}\n', "", LINES),
        (b'{"items":[{}],"dc:title":"x"}\n{"items":[{}]}\n', "", LINES),
        (b'{"items":[{}],"ISBN-13":"x"}\n', "", LINES),
        (b'{"data":{"urn":1,"items":[{}]}}\n', "", LINES),
        (b'{"data":{"items":[{}]},"urn":1}\n', "", LINES),
        (b'{"title":"x","parts":[{"c":"' + b"x" * (1 << 16), "", LINES),
        (b'{"authors":[{}]}\n', "", ARRAY),
        (b'{"anything": [{}, {}]}\n', "", ARRAY),
        (b'{"a": 1, "b": [{}, {}]}\n', "", LINES),
        (b'{\n "a": 1', "", ARRAY),
        (b'{"a": 1}{"b": 2}\n', "", ARRAY),
        (b'{"a": 1, "b": [{"c": "' + b"x" * (1 << 16), "", ARRAY),
        (b'{"id": 1, "b": [{"c": "' + b"x" * (1 << 16), "", LINES),
        (b'{"a": "', "", UNKNOWN),
        (b'{"records":[{"u":"', "", UNKNOWN),
        (b"", "", UNKNOWN),
        (b"\xef", "", UNKNOWN),
        (b" \n", "", UNKNOWN),
        (b"[1] Melville, Herman\n", "", NEITHER),
        (b"{\\rtf1", "", NEITHER),
        (b"<a> <b> <c> .\n", "", NEITHER),
        (b"@book{a,\n", "", NEITHER),
        (b"00100nam a22", "", NEITHER),
    ],
)
def test_recognition(head, name, expected):
    """At most one of the two says yes."""
    assert recognised(head, name) == expected


def test_wrappers_one_after_the_other():
    """As when files of an interface are put together."""
    page = json.dumps({"status": "ok", "message": {"total": 2, "items": [{"id": 1}, {"id": "]}"}]}}, indent=1).encode()
    assert [record.identifier for record in read(JsonArrayRecords, page + b"\n" + page)] == ["1", "]}"] * 2
    assert [record.identifier for record in read(JsonArrayRecords, b'[{"id":1}]\n[{"id":2}]')] == ["1", "2"]


PAGES = [
    '{"records":[{"u":"urn:x1:a"},{"u":"urn:x1:b"}]}\n',
    '{"total":3,"page":2,"items":[{"u":"urn:x1:c"}],"next":[1]}\n',
    '{"status":"none","records":[]}\n',
    '{"response":{"version":1,"docs":[{"u":"urn:x1:d"}],"facets":{}},"status":"]}"}\n',
    '[{"u":"urn:x1:e"}]\n',
    '{"records":[{"u":"urn:x1:f"}]}',
]


@pytest.mark.parametrize("block", [1, 1 << 20])
def test_pages_that_are_lines(block):
    """Each was one record with all that is in it: one URN twice, and the page went with its other records."""
    dump = "".join(PAGES).encode()
    assert recognised(dump) == ARRAY
    found = read(JsonArrayRecords, dump, block=block)
    assert [json.loads(record.data)["u"][-1] for record in found] == [*"abcdef"]
    offsets_hold(dump, found)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("pages", [0, 1, 2])
def test_pages_in_any_layout(layout, pages):
    """Also one alone, and one without records."""
    page = {"version": "1", "results": [{"urn": f"urn:x1:{number}"} for number in range(pages)], "next": None}
    dump = "\n".join([json.dumps(page, **layout)] * (pages or 1)).encode()
    assert recognised(dump) == ARRAY
    found = read(JsonArrayRecords, dump)
    assert [json.loads(record.data) for record in found] == page["results"] * pages


def test_what_is_no_page_among_pages_is_a_record():
    """And those behind it are pages."""
    dump = b'{"records":[{"u":1}]}\n{"error":"late"}\nnull\n{"id":1,"records":[{}]}\n{"records":[{"u":2}]}'
    found = [record.data for record in read(JsonArrayRecords, dump)]
    assert found == [b'{"u":1}', b'{"error":"late"}', b"null", b'{"id":1,"records":[{}]}', b'{"u":2}']


@pytest.mark.parametrize("block", [1, 1 << 20])
def test_a_page_that_is_cut_off_takes_no_other_with_it(block):
    """Where a harvest broke off, wherever that was: the rest of the dump was not read."""
    pages = [b'{"records":[{"u":"%d"},{"u":"]"}],"n":{"a":[0]}}' % number for number in range(4)]
    whole = [b'{"u":"%d"}' % number for number in (2, 3)]
    for cut in range(1, 44):
        page = pages[1][: len(pages[1]) - cut]
        dump = b"\n".join([pages[0], page, *pages[2:]])
        found = read(JsonArrayRecords, dump, block=block)
        offsets_hold(dump, found)
        assert any(isinstance(one, Damaged) for one in found), page
        kept = [record.data for record in good(found)]
        if not page.endswith(b","):  # there the next page is what follows
            assert [content for content in kept if content in whole] == whole, page


@pytest.mark.parametrize("name", ["id", "@id", "urn", "isbn", "ISBN-13", "doi", "title", "dc:identifier"])
def test_records_that_hold_others_are_records(name):
    """Holdings were taken for the records, and the records for what is around them."""
    for held, is_first, layout in itertools.product(("items", "works", "data", "results"), (True, False), LAYOUTS):
        members = {name: "urn:x1:a", held: [{"barcode": "7"}, {"barcode": "8"}]}
        record = json.dumps(members if is_first else dict(reversed(members.items())), **layout).encode()
        dump = record + b"\n" + record.replace(b":a", b":b")
        lines, array = recognised(dump)
        assert lines != array, record
        found = read(JsonLineRecords if lines else JsonArrayRecords, dump)
        assert [one.data.rstrip() for one in found] == [record, record.replace(b":a", b":b")]


@pytest.mark.parametrize(
    "around",
    [
        '{"version": "6.9", "hitCount": 2, "request": {"queryString": "x"}, "resultList": {"result": %s}}',
        '{"search-results": {"opensearch:totalResults": "2", "link": [{"@href": "x"}], "entry": %s}}',
        '{"result": {"query": "x", "hits": {"@total": "2", "hit": %s}}}',
        '{"response": {"header": {"total": 2}, "results": {"result": %s}}}',
        '{"Data": {"Records": {"records": {"REC": %s}}}}',
        '{"pages": {"page": 1, "size": 2, "lamps": {"of": "x", "list": %s}}}',
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("block", [1, 1 << 20])
def test_records_in_objects_in_objects(around, indent, block):
    """Europe PMC, Scopus, DBLP, OpenAIRE and Web of Science wrap their records twice or more."""
    records = [{"title": "Lamps", "doi": "10.5555/1"}, {"title": "Inks", "doi": "10.5555/2"}]
    dump = around.replace("%s", json.dumps(records, indent=indent)).encode()
    assert is_json_array(dump, "a.json") is True
    found = read(JsonArrayRecords, dump, block=block)
    assert [json.loads(record.data) for record in found] == records
    offsets_hold(dump, found)


@pytest.mark.parametrize(
    "record",
    [
        '{"journal": {"name": "Lamps", "authors": [{"name": "Roe"}]}, "title": "Inks"}',
        '{"biblio": {"issue": 1, "title": "Inks", "citations": {"list": [{"doi": "10.5555/2"}]}}}',
        '{"biblio": {"issue": 1, "tags": ["x"], "citations": [{"doi": "10.5555/2"}]}}',
    ],
)
def test_arrays_of_a_record_are_no_records(record):
    """A part of a record would be removed out of it."""
    (found,) = read(JsonArrayRecords, record.encode())
    assert found.data == record.encode()


def test_a_record_is_no_wrapper():
    """An object over several lines with arrays of objects in it is one record."""
    record = json.dumps({"id": 1, "authors": [{"id": 2}, {"id": 3}]}, indent=1).encode()
    assert [found.data for found in read(JsonArrayRecords, record + b"\n" + record)] == [record] * 2


@pytest.mark.parametrize("reader", READERS)
def test_reading_goes_on_behind_a_loss(reader):
    """With the next record that is whole."""
    dump = b"".join(b'{"id": %d, "a": {}}\n' % number for number in range(20))
    dump = dump if reader is JsonLineRecords else b"[" + b",\n".join(dump.splitlines()) + b"]"
    parts = [io.BytesIO(dump[:105]), io.BytesIO(dump[125:])]

    def read_into(view):
        if not (got := parts[0].readinto(view[:50])) and len(parts) > 1:
            del parts[0]
            raise DamageError("dump", "damaged")
        return got

    buffer, opened = Buffer(read_into), reader(own=False)
    found = list(read_from(opened, buffer))
    assert buffer.resume()
    found += read_from(opened, buffer)
    numbers = [int(record.identifier) for record in good(found)]
    assert numbers == [*range(5), *range(7, 20)] or numbers == [*range(5), *range(6, 20)]


def test_csl_json():
    """The JSON of citation processors: dates are arrays, and the ISBN of a chapter is that of its book."""
    members = {
        "id": "k",
        "title": "Inks",
        "issued": {"date-parts": [[2026, 3]]},
        "DOI": "10.5555/a",
        "ISBN": "9783999990521",
    }
    chapter, book = ({**members, "type": kind, "page": "97-108"} for kind in ("chapter", "book"))
    records = read_records(JsonArrayRecords(own=True, described=True), json.dumps([chapter, book]).encode())
    doi, isbn = ("10.5555/a", "doi"), ("9783999990521", "isbn")
    assert [[own for own in owns(record) if own[1]] for record in records] == [[doi], [doi, isbn]]
    assert [description_of(record.description).format for record in records] == ["contribution", "book"]
    assert {description_of(record.description)[:2] for record in records} == {("Inks", "2026")}
