"""`urnscan check`: every wrong name in a line, and the exit status (docs/howto/clean-catalogue.md)."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.library.passages import Text, Wanted

WRONG, RIGHT = "urn:isbn:0-395-36341-6", "urn:isbn:0-395-36341-1"
REASON = (
    "the check digit is wrong: ISBN-10 modulo 11, ISBN-13 modulo 10 (ISO 2108); if only this digit is wrong, 1 is right"
)
FAULT = f"{WRONG}: {REASON}"


def lines(result) -> list[str]:
    return result.out.decode().splitlines()


class TestPlaces:
    @pytest.mark.core
    def test_source_line_and_column(self, urnscan):
        """The column counts characters, not bytes, and no byte order mark. A full stop is the sentence's."""
        urnscan.write("a.txt", f"\ufeff{WRONG}\n{RIGHT}\n\u00e4\U0001f600 {WRONG}. {WRONG},\n".encode())
        result = urnscan("check", "a.txt", status=1)
        assert lines(result) == [f"a.txt:{place}: {FAULT}" for place in ("1:1", "3:4", "3:28")]
        assert result.summary.startswith("urnscan: 1 input, 4 occurrences, 3 wrong, ")

    def test_in_a_member_and_in_a_large_file(self, urnscan):
        """A member has its own lines. Of a file that is read in parts each line is right."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("m/b.txt", f"\n {WRONG}")
        urnscan.write("a.zip", packed.getvalue())
        urnscan.write("b.txt", b"x\n" * 20_000_000 + f"y {WRONG}\n".encode())
        result = urnscan("check", "a.zip", "b.txt", "--quiet", status=1)
        assert lines(result) == [f"a.zip!/m/b.txt:2:2: {FAULT}", f"b.txt:20000001:3: {FAULT}"]

    def test_standard_input_has_no_column(self, urnscan):
        """It can be read only once."""
        assert lines(urnscan("check", stdin=f"\n {WRONG}".encode(), status=1)) == [f"-:2: {FAULT}"]

    @given(
        st.lists(st.text(st.sampled_from("ab\u00e4\u20ac\U0001f600\r\u0301"), max_size=9), min_size=1),
        st.integers(1, 9),
    )
    def test_columns_are_those_of_python(self, texts, step):
        """For any lines, and however the bytes come."""
        text = "\n".join(f"{line}urn:a:b" for line in texts).encode()
        data = io.BytesIO(text)
        passages = Text(lambda view: data.readinto(view[:step]), 0)
        start = 0
        for number, line in enumerate(texts, 1):
            start = text.index(b"urn:a:b", start)
            passage = passages.find(Wanted("s", None, start, number, "urn:a:b", 7, None))
            assert passage is not None
            assert passage.place_in_line == len(line) + 1
            start += 1


class TestKinds:
    TEXT = f"{WRONG} urn:isnb:1 urn:cen.eu:x urn:x-test:1 urn:example:1".encode()

    @pytest.mark.core
    @pytest.mark.parametrize(
        ("kinds", "faults"),
        [
            ("invalid", [f"a:1:1: {FAULT}"]),
            ("unregistered", ["a:1:24: urn:isnb:1: no such namespace is registered; is it issn or isni or isbn?"]),
            ("reject", ["a:1:35: urn:cen.eu:x: '.' is not allowed in a NID"]),
        ],
    )
    def test_each(self, urnscan, kinds, faults):
        urnscan.write("a", self.TEXT)
        assert lines(urnscan("check", "a", "--fail-on", kinds, status=1)) == faults

    def test_together(self, urnscan):
        """Each place once, by default the invalid names alone."""
        urnscan.write("a", self.TEXT)
        assert len(lines(urnscan("check", "a", "--fail-on", "reject,invalid,unregistered", status=1))) == 3
        assert urnscan("check", "a", status=1).out == urnscan("check", "a", "--fail-on", "invalid", status=1).out

    def test_own_rules_register_a_namespace(self, urnscan):
        urnscan.write(
            "own.toml",
            b'[isnb]\ntitle = "Ours"\ngrammar = "[0-9]"\nsyntax = "ours"\nrule = "base"\nequality = "ours"\n',
        )
        urnscan.write("a", b"urn:isnb:1 urn:isnb:12")
        result = urnscan("check", "a", "--rules", "own.toml", "--fail-on", "invalid,unregistered", status=1)
        assert lines(result) == [
            "a:1:12: urn:isnb:12: the part after the namespace does not have the required form (ours)"
        ]

    def test_no_such_kind(self, urnscan):
        said = "urnscan: --fail-on: unknown value 'invald'; choose from invalid, reject, unregistered; is it invalid?\n"
        assert urnscan("check", "a", "--fail-on", "invald", status=2).err == said


class TestNotCounted:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            (f"{WRONG} urn:isnb:1 urn:cen.eu:x urn:cen.eu:y", "1 wrong; 1 unregistered and 2 rejects are not counted (--fail-on)"),
            (f"{RIGHT} urn:cen.eu:x", "0 wrong; 1 reject is not counted (--fail-on)"),
            (f"{WRONG} urn:x-test:1", "1 wrong"),
        ],
    )  # fmt: skip
    def test_in_the_summary(self, urnscan, text, words):
        """What is wrong only by kinds that --fail-on leaves out is not passed over in silence."""
        urnscan.write("a", text.encode())
        assert f", {words}, " in urnscan("check", "a", status=int("1 wrong" in words)).summary

    def test_kinds_that_are_named(self, urnscan):
        """They are in the list, and so are not named a second time."""
        urnscan.write("a", TestKinds.TEXT)
        summary = urnscan("check", "a", "--fail-on", "reject,unregistered,invalid", status=1).summary
        assert ", 3 wrong, " in summary

    def test_bare_numbers(self, urnscan):
        """A list of numbers without `urn:` has no names, which does not mean that they are right; neither does a
        namespace of which the file has no name.
        """
        urnscan.write("a", b"9783161484101\n")
        advice = (
            "so nothing was checked; urnscan dedup INPUT --wrong FILE lists the wrong ISBN and ISSN of a catalogue\n"
        )
        assert f"urnscan: no URN found, {advice}" in urnscan("check", "a").err
        assert f"urnscan: no URN found, {advice}" in urnscan("check", "a", "--nid", "isbn").err
        urnscan.write("a", RIGHT.encode())
        assert advice not in urnscan("check", "a").err
        assert advice not in urnscan("check", "a", "--nid", "isbn").err
        result = urnscan("check", "a", "--nid", "issn")
        assert ", 0 occurrences, 1 occurrence left out, 0 wrong, " in result.summary
        assert f"urnscan: no URN of the chosen namespaces found, {advice}" in result.err


class TestReasons:
    @pytest.mark.parametrize(
        ("nss", "reason"),
        [
            ("978-3-16-14841-0", "it has 12 digits, but an ISBN has 10 or 13"),
            ("ISBN9783161484100", 'the label "ISBN" is in the number'),
            ("978_3161484100", "an ISBN has only digits, hyphens and perhaps an X at its end"),
            ("9783161--484100", "the part after the namespace does not have the required form"),
        ],
    )
    def test_of_numbers(self, urnscan, nss, reason):
        """The message begins with what a reader can see in the number; the rule comes last."""
        urnscan.write("a", f"urn:isbn:{nss}".encode())
        assert lines(urnscan("check", "a", status=1)) == [f'a:1:1: urn:isbn:{nss}: {reason} (IANA template, "Syntax")']

    @pytest.mark.parametrize("dash", "\u2010\u2011\u2013\u2015\u2212")
    def test_a_dash_instead_of_a_hyphen(self, urnscan, dash):
        """The message names the character that cut the name, which may look like a hyphen."""
        urnscan.write("a", f"urn:issn:0317{dash}8471".encode())
        (line,) = lines(urnscan("check", "a", status=1))
        assert line.startswith("a:1:1: urn:issn:0317: it has 4 digits, but an ISSN has 8 ")
        assert line.endswith(f"; it was cut: {dash!r} is not allowed in a URN; type a hyphen (-) instead of this dash")

    def test_a_dash_of_the_text(self, urnscan):
        """A dash with a space after it is not a part of the name."""
        urnscan.write("a", "urn:issn:0317 \u2013 x, urn:issn:0318\u2013 x".encode())
        assert all("cut" not in line for line in lines(urnscan("check", "a", status=1)))


class TestStatus:
    def test_nothing_wrong(self, urnscan):
        urnscan.write("a", RIGHT.encode())
        result = urnscan("check", "a")
        assert result.out == b""
        assert result.summary.startswith("urnscan: 1 input, 1 occurrence, 0 wrong, ")

    def test_an_input_that_cannot_be_read(self, urnscan):
        """It may hold wrong names: the check has not passed."""
        urnscan.write("a", RIGHT.encode())
        assert "nope: no such file or folder" in urnscan("check", "a", "nope", status=1).err


class TestFormats:
    NAME = "a%,:\u00e4.txt"

    @pytest.fixture
    def inputs(self, urnscan):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("b", WRONG)
        urnscan.write("b.zip", packed.getvalue())
        urnscan.write(self.NAME, f"\n {WRONG}".encode())
        return urnscan

    def test_json(self, inputs):
        """An object on each line."""
        rows = [json.loads(line) for line in lines(inputs("check", self.NAME, "b.zip", "--format", "json", status=1))]
        assert rows[0] == {
            "source": self.NAME, "member": None, "line": 2, "column": 2, "text": WRONG, "code": "check-digit",
            "message": REASON,
        }  # fmt: skip
        assert (rows[1]["source"], rows[1]["member"], rows[1]["line"]) == ("b.zip", "b", 1)

    def test_csv(self, inputs):
        """A table for Excel: a byte order mark, a header, and the place and the message of each name."""
        out = inputs("check", self.NAME, "b.zip", "--format", "csv", "--delimiter", ";", status=1).out.decode()
        assert out.startswith("\ufeffpath;line;column;name;message\n")
        assert list(csv.reader(io.StringIO(out), delimiter=";"))[1:] == [
            [self.NAME, "2", "2", WRONG, REASON],
            ["b.zip!/b", "1", "1", WRONG, REASON],
        ]
        assert inputs("check", self.NAME, "b.zip", "--format", "csv", status=1).out.decode().count('",2,2,"') == 1

    def test_csv_has_no_formulas(self, urnscan):
        """A name of a file that a spreadsheet would calculate gets an apostrophe, as in the tables of a scan."""
        urnscan.write("=a", WRONG.encode())
        assert b'\n"\'=a",1,1,' in urnscan("check", "=a", "--format", "csv", status=1).out

    def test_csv_without_a_fault(self, urnscan):
        """It is a table, too."""
        urnscan.write("a", RIGHT.encode())
        assert urnscan("check", "a", "--format", "csv").out.decode() == "\ufeffpath,line,column,name,message\n"

    def test_a_delimiter_without_csv(self, urnscan):
        """It would have no effect."""
        said = "urnscan: --delimiter is for CSV; add --format csv, or leave it out\n"
        assert urnscan("check", "a", "--delimiter", ";", status=2).err == said

    def test_an_output_as_in_a_scan(self, urnscan):
        """`-o wrong.xlsx` is what a user of the scan tries first; the message names the table."""
        said = "urnscan: unknown option -o; --format csv > wrong.csv writes a table, which Excel opens"
        assert urnscan("check", "a", "-o", "wrong.xlsx", status=2).err.startswith(said)

    def test_github(self, inputs):
        """Commands of GitHub Actions: what ends a property or a line is escaped."""
        first, second = lines(inputs("check", self.NAME, "b.zip", "--format", "github", status=1))
        assert first == f"::error file=a%25%2C%3A\u00e4.txt,line=2,col=2,title=check-digit::{FAULT}"
        assert second == f"::error file=b.zip,line=1,col=1,title=check-digit::b.zip!/b: {FAULT}"

    def test_sarif(self, inputs):
        """SARIF 2.1.0 §3.27 to §3.30; a place in a member is no region of the file."""
        log = json.loads(inputs("check", self.NAME, "b.zip", "--format", "sarif", status=1).out)
        (run,) = log["runs"]
        assert (log["version"], run["tool"]["driver"]["name"], run["columnKind"]) == (
            "2.1.0",
            "urnscan",
            "unicodeCodePoints",
        )
        first, second = run["results"]
        assert first["ruleId"] == "check-digit"
        assert first["message"]["text"] == FAULT
        place = first["locations"][0]["physicalLocation"]
        assert place == {
            "artifactLocation": {"uri": "a%25%2C%3A%C3%A4.txt"},
            "region": {"startLine": 2, "startColumn": 2},
        }
        assert "region" not in second["locations"][0]["physicalLocation"]
        assert second["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": "b.zip!/b:1"}]

    def test_sarif_without_a_fault(self, urnscan):
        """It is a whole document, too."""
        urnscan.write("a", RIGHT.encode())
        assert json.loads(urnscan("check", "a", "--format", "sarif").out)["runs"][0]["results"] == []
