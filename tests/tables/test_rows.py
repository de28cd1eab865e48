"""The two tables: their columns, and what a class says of itself."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import FEW
from tests.support.misleading import is_judged
from tests.support.oracle import CUT, SYNTAXES, oracle
from tests.support.registrations import verdict
from tests.support.rows import occurrence_row
from tests.support.spelled import spelled
from tests.support.strategies import any_bytes, urn_pairs
from urnscan.compiled.arrow import byte_strings, number_array, string_array, text_array
from urnscan.scanner.blocks import Scanner
from urnscan.scanner.grammar import Grammar
from urnscan.tables.rows import MatchColumns, Places, canonical_column, class_rows
from urnscan.tables.schemas import CLASSES, CODED_CLASSES, GROUPED, OCCURRENCES, REPEATING, SELECTIVE, SINGLE
from urnscan.urn.equivalence import LEVELS, canonical, get_level
from urnscan.urn.namespaces import nid_status
from urnscan.urn.parser import parse
from urnscan.urn.problem_columns import marks_of
from urnscan.urn.syntax import get_syntax

every_syntax = pytest.mark.parametrize("syntax", SYNTAXES)
DICTIONARY = pa.dictionary(pa.int32(), pa.string())
MEANINGS = [(syntax, level.name) for level in LEVELS.values() for syntax in level.syntaxes]
every_meaning = pytest.mark.parametrize(("syntax", "equivalence"), MEANINGS)


def found_in(text, syntax="rfc2141", equivalence="lexical", *, rows=1 << 16, **options):
    """What is found in a text that is one source, batch by batch."""
    level = get_level(equivalence, syntax)
    scanner = Scanner(Grammar(get_syntax(syntax), keep_query=level.keep_query, **options), rows=rows)
    for matches in scanner.scan_bytes(np.frombuffer(text, np.uint8)):
        places = Places(matches.start, matches.line, np.zeros(len(matches), np.int32), ["the source"])
        yield MatchColumns(matches, places, canonical_column(matches, level), level, scanner.grammar.syntax)


def grouped(urns, syntax="rfc2141"):
    """GROUPED rows of these canonical forms, each found once in the first source, and spelled like that."""
    marks = marks_of(*byte_strings(text_array(urns)), get_syntax(syntax))
    return pa.RecordBatch.from_pylist(
        [
            {
                "urn": urn,
                "occurrence_count": 1,
                "source_count": 1,
                "spelling_count": 1,
                "spellings": [{"text": urn, "count": 1}],
                "first_source": 0,
                "first_member": None,
                "first_start": 0,
                "marks": mark,
            }
            for urn, mark in zip(urns, marks.tolist(), strict=True)
        ],
        GROUPED,
    )


def classes_of(urns, syntax="rfc2141", equivalence="lexical"):
    rows = class_rows(grouped(urns, syntax), {0: "the source"}, get_level(equivalence, syntax))
    rows.validate(full=True)
    assert rows.schema.equals(CODED_CLASSES)
    return rows.to_pylist()


class TestSchemas:
    """Contract: the columns of the two files, their types and their order. To change one breaks somebody's script."""

    def test_classes(self):
        assert [(field.name, str(field.type)) for field in CLASSES] == [
            ("urn", "string"),
            ("nid", str(DICTIONARY)),
            ("nss", "string"),
            ("nid_status", str(DICTIONARY)),
            ("occurrence_count", "int64"),
            ("source_count", "int64"),
            ("spelling_count", "int64"),
            ("spellings", str(CLASSES.field("spellings").type)),
            ("first_source", "string"),
            ("first_member", "string"),
            ("first_start", "int64"),
            ("valid", "bool"),
            ("problem", "string"),
        ]

    def test_spellings(self):
        """list<struct<text: string, count: int64>>"""
        spellings = CLASSES.field("spellings").type
        assert pa.types.is_list(spellings)
        assert [(field.name, field.type) for field in spellings.value_type] == [
            ("text", pa.string()),
            ("count", pa.int64()),
        ]

    def test_occurrences(self):
        assert [(field.name, field.type) for field in OCCURRENCES] == [
            ("source", DICTIONARY),
            ("member", pa.string()),
            ("start", pa.int64()),
            ("line", pa.int64()),
            ("text", pa.string()),
            ("urn", pa.string()),
            ("nid", DICTIONARY),
            ("stop", pa.int16()),
            ("punctuation", pa.uint8()),
            ("length", pa.int32()),
            ("via", DICTIONARY),
            ("resolver", DICTIONARY),
            ("r_component", pa.string()),
            ("q_component", pa.string()),
            ("f_component", pa.string()),
            ("valid", pa.bool_()),
            ("problem", DICTIONARY),
            ("spelling_problem", pa.string()),
            ("captured", pa.timestamp("ms", "UTC")),
            ("status", pa.int16()),
            ("mime", DICTIONARY),
        ]

    def test_what_may_be_null(self):
        assert [field.name for field in CLASSES if field.nullable] == ["first_member", "valid", "problem"]
        nullable = ["member", "stop", "via", "resolver", "r_component", "q_component", "f_component"]
        nullable += ["valid", "problem", "spelling_problem", "captured", "status", "mime"]
        assert [field.name for field in OCCURRENCES if field.nullable] == nullable

    def test_leaf_columns_are_there(self, tmp_path):
        """A misspelled name would be passed over in silence."""
        pq.write_table(CLASSES.empty_table(), tmp_path / "classes.parquet")
        leaves = pq.read_metadata(tmp_path / "classes.parquet").schema
        paths = {leaves.column(number).path for number in range(len(leaves))}
        assert set(REPEATING) <= paths
        assert set(SELECTIVE) <= paths


class TestOccurrences:
    """Contract, `OCCURRENCES.parquet`."""

    def test_row(self):
        (found,) = found_in(b"\n\nsee <URN:ISBN:0-395-36341-1.>")
        rows = found.occurrences()
        rows.validate(full=True)
        assert rows.schema.equals(OCCURRENCES)
        assert rows.to_pylist() == [
            {
                "source": "the source",
                "member": None,
                "start": 7,
                "line": 3,
                "text": "URN:ISBN:0-395-36341-1.",
                "urn": "urn:isbn:0-395-36341-1.",
                "nid": "isbn",
                "stop": ord(">"),
                "punctuation": 1,
                "length": 23,
                "via": None,
                "resolver": None,
                "r_component": None,
                "q_component": None,
                "f_component": None,
                "valid": None,
                "problem": "untrimmed",
                "spelling_problem": None,
                "captured": None,
                "status": None,
                "mime": None,
            }
        ]

    def test_resolver(self):
        """The host of the URL; null where there is none."""
        (found,) = found_in(b"urn:a:b http://R.example/urn:a:b http://s/urn:a:b http://r.example/?urn:a:b")
        column = found.occurrences().column("resolver")
        column.validate(full=True)
        assert column.to_pylist() == [None, "r.example", "s", "r.example"]
        assert column.dictionary.to_pylist() == ["r.example", "s"]

    @pytest.mark.parametrize(
        ("text", "stop"),
        [(b"urn:a:b", None), (b"urn:a:b\0", 0), (b"urn:a:b\xff", 255), (b"urn:a:b%", 37), (b"urn:a:bbbbbb", -1)],
    )
    def test_stop(self, text, stop):
        """Null at the end of the input, -1 for a cut, else the byte."""
        (found,) = found_in(text, max_length=9)
        assert found.occurrences().column("stop").to_pylist() == [stop]

    @pytest.mark.parametrize(
        ("marks", "punctuation"), [(0, 0), (1, 1), (254, 254), (255, 255), (256, 255), (5_000, 255)]
    )
    def test_punctuation(self, marks, punctuation):
        """255 for more."""
        (found,) = found_in(b"urn:a:b" + b"." * marks)
        assert found.occurrences().column("punctuation").to_pylist() == [punctuation]

    @every_meaning
    @FEW
    @given(
        text=any_bytes,
        options=st.fixed_dictionaries(
            {
                "trim": st.booleans(),
                "resolver_tail": st.sampled_from(["keep", "cut"]),
                "max_length": st.integers(8, 99),
            }
        ),
    )
    def test_oracle(self, syntax, equivalence, text, options):
        batches = [found.occurrences() for found in found_in(text, syntax, equivalence, rows=3, **options)]
        keep_query = equivalence == "resolution"
        assert [row for batch in batches for row in batch.to_pylist()] == [
            occurrence_row(record, "the source", None, syntax, equivalence)
            for record in oracle(text, syntax, keep_query=keep_query, **options)
        ]
        assert CUT == -1

    def test_each_is_refined_in_its_place(self):
        """Only forms with more than one directive have to be sorted; the others stand between them."""
        text = b"urn:ab:c?b=1&a=2 urn:ab:d?b=1 urn:ab:e&b&a urn:ab:f urn:ab:g?z=&y=#f urn:ab:h?b&a urn:ab:i?s=1&s=2"
        (found,) = found_in(text, "rfc2141bis-03", "resolution")
        expected = ["c?a=2&b=1", "d?b=1", "e&b&a", "f", "g?y=&z=", "h", "i"]
        assert found.urn.to_pylist() == [f"urn:ab:{rest}" for rest in expected]

    @every_meaning
    def test_equal_names(self, syntax, equivalence):
        """Names that are checked once for many occurrences have the same columns as names that are checked one by one."""
        names = ["urn:isbn:0-395-36341-6", "urn:ab:c?a=1&b=2", "urn:isbn:n-nnn", "urn:issn:0317-8471"]
        text = " ".join([names[0], *names])
        some, many = (
            next(found_in(each.encode(), syntax, equivalence)).occurrences() for each in (text, " ".join([text] * 9))
        )
        for name in ("nid", "valid", "problem"):
            many.column(name).validate(full=True)
            assert many.column(name).to_pylist() == some.column(name).to_pylist() * 9
        assert some.column("valid").to_pylist()[:2] == [False, False]
        assert many.column("nid").dictionary.equals(some.column("nid").dictionary)
        assert many.column("problem").dictionary.equals(some.column("problem").dictionary)

    def test_members(self):
        (found,) = found_in(b"urn:a:b urn:c:d")
        places = dataclasses.replace(found.places, members=pa.array(["one", None], pa.string()))
        members = dataclasses.replace(found, places=places)
        assert members.occurrences().column("member").to_pylist() == ["one", None]
        assert members.partial(np.array([0], np.int32)).column("first_member").to_pylist() == ["one", None]


class TestPartial:
    """What grouping is told: an occurrence is a row that was found once in one source."""

    def test_row(self):
        (found,) = found_in(b"URN:a:b urn:a:b urn:a:%2c")
        rows = found.partial(np.array([41], np.int32))
        rows.validate(full=True)
        assert rows.schema.equals(SINGLE)
        assert rows.column("urn").to_pylist() == ["urn:a:b", "urn:a:b", "urn:a:%2C"]
        assert rows.column("text").to_pylist() == ["URN:a:b", "", "urn:a:%2c"]
        assert rows.column("first_source").to_pylist() == [41, 41, 41]
        assert rows.column("first_start").to_pylist() == [0, 8, 16]
        assert rows.column("first_member").to_pylist() == [None, None, None]

    @every_meaning
    @FEW
    @given(text=any_bytes)
    def test_text_is_empty_only_where_it_is_the_canonical_form(self, syntax, equivalence, text):
        for found in found_in(text, syntax, equivalence):
            rows = found.partial(np.array([0], np.int32))
            spelled = found.occurrences().column("text").to_pylist()
            for row, text_found in zip(rows.to_pylist(), spelled, strict=True):
                assert row["text"] == ("" if text_found == row["urn"] else text_found)


class TestClassRows:
    """Contract, `CLASSES.parquet`: nid, nss, nid_status, valid and problem follow from the canonical form."""

    def test_row(self):
        (row,) = classes_of(["urn:isbn:0-395-36341-1?a#b/c:d"])
        assert row == {
            "urn": "urn:isbn:0-395-36341-1?a#b/c:d",
            "nid": "isbn",
            "nss": "0-395-36341-1?a#b/c:d",
            "nid_status": "formal",
            "occurrence_count": 1,
            "source_count": 1,
            "spelling_count": 1,
            "spellings": [{"text": "urn:isbn:0-395-36341-1?a#b/c:d", "count": 1}],
            "first_source": "the source",
            "first_member": None,
            "first_start": 0,
            "valid": None,  # under RFC 2141 the components belong to the NSS
            "problem": None,
        }

    def test_no_rows(self):
        assert classes_of([]) == []

    @every_syntax
    def test_valid_and_problem(self, syntax):
        """Contract: null where nothing is certain; the namespace's problem first, then that of the syntax."""
        expected = {
            "urn:foo:a": (None, None),
            "urn:isbn:0395363411": (True, None),
            "urn:isbn:0395363416": (False, "check-digit"),
            "urn:isbn:abc%00": (False, "nss-grammar; nul-octet"),
            "urn:nbn:de:101:1-3": (True, "dnb-check-digit"),
            "urn:nbn:hr:204:468943": (None, None),
            "urn:lei:7LTWFZYICNSX8D621K86": (True, None),
            "urn:lei:7LTWFZYICNSX8D621K87": (False, "check-digit"),
        }
        rows = classes_of(list(expected), syntax)
        assert {row["urn"]: (row["valid"], row["problem"]) for row in rows} == expected

    def test_status(self):
        """Semantics §6."""
        nids = ["isbn", "nobody", "isbn", "urn-1", "urn-99", "x-a", "ab-c", "nobody"]
        rows = classes_of([f"urn:{nid}:{number}" for number, nid in enumerate(nids)])
        assert [row["nid"] for row in rows] == nids
        assert [row["nid_status"] for row in rows] == [nid_status(nid) for nid in nids]

    def test_first_sources(self):
        urns = ["urn:a:1", "urn:a:2", "urn:a:3"]
        rows = grouped(urns)
        places = pa.array([7, 2, 7], pa.int32())
        rows = rows.set_column(rows.schema.get_field_index("first_source"), GROUPED.field("first_source"), places)
        names = {2: "two", 7: "seven", 9: "nine"}
        finished = class_rows(rows, names, get_level("lexical", "rfc2141"))
        assert finished.column("first_source").to_pylist() == ["seven", "two", "seven"]

    @every_syntax
    def test_nul_byte(self, syntax):
        """RFC 2141 §2.4: %00 is well-formed and a problem."""
        rows = classes_of(["urn:ab:%00", "urn:ab:a%2500", "urn:ab:a%000%00", "urn:ab:b"], syntax)
        assert [row["problem"] for row in rows] == ["nul-octet", None, "nul-octet", None]

    @every_syntax
    def test_nul_byte_is_never_valid(self, syntax):
        """RFC 2141 §2.4: "byte 0 should NEVER be used", also where the grammar of the namespace takes any %HH."""
        rows = classes_of(["urn:isbn:%00", "urn:xmpp:a%00", "urn:xmpp:a%000", "urn:xmpp:a%01"], syntax)
        assert [row["valid"] for row in rows] == [False, None, None, True]
        assert [row["problem"] for row in rows] == ["nss-grammar; nul-octet", "nul-octet", "nul-octet", None]

    def test_nul_byte_in_the_query(self):
        """It is part of the canonical form at that level, and no part of the name that the namespace judges."""
        adopted = "component-not-adopted"
        urns = {"urn:ab:a?a=1&A=2": adopted, "urn:ab:a?a=?a=1&b=a=": adopted, "urn:ab:b?a=%00": f"nul-octet; {adopted}"}
        rows = classes_of(list(urns), "rfc2141bis-03", "resolution")
        assert {row["urn"]: row["problem"] for row in rows} == urns

    @every_meaning
    def test_lookalikes(self, syntax, equivalence):
        """RFC 8141 §3.2, at every level; behind the problems of the namespace and the syntax."""
        urns = {
            "urn:example:a": None,
            "urn:example:%D0%B0123,z456": "confusable",
            "urn:example:%E6%9B%B8:stra%C3%9Fe": None,
            "urn:example:p%D0%B0y%00": "nul-octet; mixed-scripts; confusable",
            "urn:example:soft%C2%ADhyphen": "invisible-character",
            "urn:isbn:0-395-36341-6%E2%80%8B": "nss-grammar; invisible-character",
        }
        rows = classes_of(list(urns), syntax, equivalence)
        assert {row["urn"]: row["problem"] for row in rows} == urns

    def test_lookalikes_in_the_query(self):
        """It is part of the canonical form at that level."""
        (row,) = classes_of(["urn:ab:c?d=p%D0%B0y"], "rfc2141bis-03", "resolution")
        assert row["problem"] == "mixed-scripts; confusable; component-not-adopted"

    def test_nss_without_the_query(self):
        """Contract: `nss` is that of the canonical form; rfc2141bis-03 §2: the query follows the NSS."""
        urns = ["urn:ab:c:d?a=1&b=2", "urn:ab:&?c=?d", "urn:ab:c"]
        rows = classes_of(urns, "rfc2141bis-03", "resolution")
        assert [row["nss"] for row in rows] == ["c:d", "&", "c"]

    def test_question_mark_of_rfc2141_stays_in_the_nss(self):
        rows = classes_of(["urn:ab:c?d=1&e", "urn:ab:?"])
        assert [row["nss"] for row in rows] == ["c?d=1&e", "?"]

    @every_meaning
    @FEW
    @given(data=st.data())
    def test_parts_are_those_of_parse(self, syntax, equivalence, data):
        pairs = data.draw(st.lists(urn_pairs(syntax).filter(lambda pair: is_judged(pair[0])), max_size=3))
        urns = [canonical(text, syntax=syntax, equivalence=equivalence) for text, _ in pairs]
        for urn, row in zip(urns, classes_of(urns, syntax, equivalence), strict=True):
            parsed = parse(urn, syntax)
            assert (row["urn"], row["nid"], row["nss"]) == (urn, parsed.nid, parsed.nss)
            assert row["nid_status"] == nid_status(parsed.nid)
            judged = verdict(parsed.canonical)
            odd = [*filter(None, [judged.problem]), *spelled(urn, syntax)[1]]
            assert (row["valid"], row["problem"]) == (judged.valid, "; ".join(odd) or None)


class TestStrings:
    """Columns of strings as arrays and back."""

    @FEW
    @given(st.lists(st.text(max_size=9), max_size=9), st.data())
    def test_there_and_back(self, values, data):
        """Also a slice of a column, whose offsets do not begin at 0."""
        start = data.draw(st.integers(0, len(values)))
        length = data.draw(st.integers(0, len(values) - start))
        array = pa.array(values, pa.string()).slice(start, length)
        any_bytes, offsets = byte_strings(array)
        found = [any_bytes[a:b].tobytes().decode() for a, b in pairwise(offsets)]
        assert found == values[start : start + length]
        assert string_array(any_bytes, offsets).to_pylist() == found

    @FEW
    @given(st.lists(st.text(max_size=9), max_size=9))
    def test_texts(self, values):
        array = text_array(values)
        array.validate(full=True)
        assert array.type == pa.string()
        assert array.to_pylist() == values

    @pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.int64])
    def test_numbers(self, dtype):
        """Also of arrays that lie in memory with gaps, or backwards."""
        numbers = np.arange(10, dtype=dtype)
        for part in (numbers, numbers[:0], numbers[3:], numbers[::3], numbers[::-1]):
            array = number_array(part)
            array.validate(full=True)
            assert array.type == pa.from_numpy_dtype(dtype)
            assert array.to_pylist() == part.tolist()

    def test_arrays_are_read_only(self):
        any_bytes, offsets = byte_strings(pa.array(["ab"]))
        assert not any_bytes.flags.writeable
        assert not offsets.flags.writeable
