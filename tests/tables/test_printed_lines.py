"""Rows as lines: what stands in them, whatever the names and texts hold."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from urnscan.tables.printed_lines import COLOURED, PLAIN, frequency_lines, json_lines, occurrence_lines, source_line
from urnscan.tables.schemas import CLASSES, FREQUENCIES, OCCURRENCES, REJECTS

OCCURRENCE = {
    "source": "a.txt", "member": None, "start": 0, "line": 7, "text": "URN:a:b", "urn": "urn:a:b", "nid": "a",
    "stop": 32, "punctuation": 0, "length": 7, "via": None, "resolver": None,
    "r_component": None, "q_component": None, "f_component": None,
    "valid": None, "problem": None, "spelling_problem": None,
    "captured": None, "status": None, "mime": None,
}  # fmt: skip
HOSTILE = 'x\x1b[31m\n\u202e"\\'


def rows(schema, *values):
    return pa.RecordBatch.from_pylist(list(values), schema)


def text(lines):
    return bytes(lines).decode()


NOTHING = {name: None for name in OCCURRENCES.names if OCCURRENCES.field(name).nullable}


def occurrences(*changes):
    return rows(OCCURRENCES, *(OCCURRENCE | change for change in changes))


class TestLines:
    def test_plain(self):
        found = occurrences({}, {"member": "b/c", "line": 12}, {"source": HOSTILE})
        assert text(occurrence_lines(found, PLAIN)).splitlines() == [
            "a.txt:7:URN:a:b",
            "a.txt!/b/c:12:URN:a:b",
            r"x\x1b[31m\n\u202e" + '"\\:7:URN:a:b',
        ]

    def test_colours_are_those_of_grep(self):
        """Source magenta, separators cyan, line green, match bold red; each colour ends before the next."""
        colon = "\x1b[36m:\x1b[m"
        assert text(occurrence_lines(occurrences({"member": "b"}), COLOURED)) == (
            f"\x1b[35ma.txt!/b\x1b[m{colon}\x1b[32m7\x1b[m{colon}\x1b[1;31mURN:a:b\x1b[m\n"
        )

    def test_canonical_forms(self):
        """In the place of the text, coloured like it, with the text around left as it is."""
        found = occurrences({"urn": "urn:a:b"})
        assert text(occurrence_lines(found, PLAIN, "urn")) == "a.txt:7:urn:a:b\n"
        assert text(occurrence_lines(found, COLOURED, "urn")).endswith("\x1b[1;31murn:a:b\x1b[m\n")
        for side in ("before", "after"):
            found = found.append_column(side, pa.array(["URN:A:"]))
        assert text(occurrence_lines(found, PLAIN, "urn")) == "a.txt:7:URN:A:urn:a:bURN:A:\n"

    def test_the_text_around(self):
        """It stays one line, and cannot change a terminal."""
        found = occurrences({}, {})
        for name, values in (("before", ["a\tb\n", "\x1b[31m"]), ("after", [", c", "\r\n"])):
            found = found.append_column(name, pa.array(values))
        assert text(occurrence_lines(found, PLAIN)).splitlines() == [
            "a.txt:7:a b URN:a:b, c",
            "a.txt:7: [31mURN:a:b  ",
        ]

    def test_frequencies_are_aligned_as_those_of_uniq(self):
        found = rows(
            FREQUENCIES, {"urn": "urn:a:b", "occurrence_count": 12345678}, {"urn": "urn:a:c", "occurrence_count": 2}
        )
        assert text(frequency_lines(found, PLAIN)) == "12345678 urn:a:b\n      2 urn:a:c\n"
        assert text(frequency_lines(found, COLOURED)).endswith("\x1b[32m      2\x1b[m \x1b[1;31murn:a:c\x1b[m\n")

    def test_sources(self):
        assert source_line(HOSTILE, None, PLAIN) == r"x\x1b[31m\n\u202e" + '"\\\n'
        assert source_line("a", 1234, PLAIN) == "   1234 a\n"
        assert source_line("a", 1, COLOURED) == "\x1b[32m      1\x1b[m \x1b[35ma\x1b[m\n"
        assert source_line("a", None, COLOURED) == "\x1b[35ma\x1b[m\n"


class TestJson:
    """Each line is what `json` reads as the row."""

    @pytest.mark.parametrize(
        ("stop", "character"),
        [
            (None, None),
            (-1, None),
            (0, "\0"),
            (10, "\n"),
            (13, "\r"),
            (32, " "),
            (34, '"'),
            (92, "\\"),
            (127, "\x7f"),
            (128, "\\x80"),
            (0xC3, "\\xc3"),
            (255, "\\xff"),
        ],
    )
    def test_what_ended_a_urn(self, stop, character):
        """The character; a byte beyond ASCII is a part of one, so it stands as in names; null: no byte did."""
        line = text(json_lines(occurrences({"stop": stop})))
        assert line.isprintable() or line[:-1].isprintable()
        read = json.loads(line)
        assert list(read) == [
            *OCCURRENCES.names[: OCCURRENCES.names.index("stop") + 1],
            "stop_octet",
            *OCCURRENCES.names[OCCURRENCES.names.index("stop") + 1 :],
        ]
        assert (read["stop"], read["stop_octet"]) == (character, stop)

    def test_occurrences(self):
        changes = {"source": HOSTILE, "member": HOSTILE, "resolver": "$(x)", "via": "percent"}
        for row in (OCCURRENCE, OCCURRENCE | changes):
            read = json.loads(text(json_lines(rows(OCCURRENCES, row))))
            assert {key: value for key, value in read.items() if key != "stop_octet"} == row | {"stop": " "}

    def test_nulls_in_all_rows_in_some_and_in_none(self):
        """A column that is null in all rows is written as it is in each; a table without rows has no line."""
        some = {"r_component": "a%2C", "q_component": "b", "f_component": ""}
        some |= {"valid": False, "problem": "check-digit", "spelling_problem": "nul-octet; confusable"}
        for changes in ([NOTHING], [NOTHING, NOTHING], [NOTHING, some], [some, NOTHING, NOTHING], [some]):
            read = [json.loads(line) for line in text(json_lines(occurrences(*changes))).splitlines()]
            expected = [OCCURRENCE | {"stop_octet": (OCCURRENCE | change)["stop"]} | change for change in changes]
            assert [each | {"stop": " " if each["stop"] else None} for each in read] == [
                each | {"stop": " " if each["stop"] else None} for each in expected
            ]
        assert text(json_lines(rows(OCCURRENCES))) == ""

    def test_rejects(self):
        """Their texts are no URNs, and may hold what JSON escapes."""
        row = {
            "source": "a", "member": None, "start": 1, "line": 1, "text": "urn:\\x\x7f", "reason": "nid-character",
            "message": '"%"', "position": 4,
        }  # fmt: skip
        assert [json.loads(line) for line in text(json_lines(rows(REJECTS, row, row))).splitlines()] == [row, row]

    def test_classes(self):
        """Lists, flags and nulls; also of a slice."""
        spellings = [{"text": "urn:a:b", "count": 2}, {"text": "URN:a:b", "count": 1}]
        row = {
            "urn": "urn:a:b", "nid": "a", "nss": "b", "nid_status": "formal", "occurrence_count": 3, "source_count": 1,
            "spelling_count": 2, "spellings": spellings, "first_source": HOSTILE, "first_member": None,
            "first_start": 0, "valid": None, "problem": None,
        }  # fmt: skip
        others = [row | {"spellings": spellings[:1], "valid": True, "problem": 'x; "y"'}, row | {"valid": False}]
        batch = rows(CLASSES, row, *others)
        assert [json.loads(line) for line in text(json_lines(batch)).splitlines()] == [row, *others]
        assert [json.loads(line) for line in text(json_lines(batch.slice(1, 2))).splitlines()] == others
