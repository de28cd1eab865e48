"""`urnscan explain URN...`: what a URN is made of, or where and why a text is none."""

from __future__ import annotations

import json
import os
import pty
import subprocess

import pytest

from tests.support.oracle import SYNTAXES


def explained(urnscan, *arguments, **options):
    """The JSON objects that come out."""
    return [json.loads(line) for line in urnscan.printed("explain", "--json", *arguments, **options)]


def with_caret(text):
    """The line above the one with the caret, and where in it the caret points."""
    *_, above, caret = text.splitlines()
    assert caret.strip() == "^"
    return above, caret.index("^")


class TestExplain:
    def test_the_parts_of_a_urn(self, urnscan):
        (found,) = explained(urnscan, "URN:ISBN:0%2d395", status=1)
        assert {name: found[name] for name in ("text", "syntax", "is_urn", "canonical", "nid", "nid_status", "nss")} == {
            "text": "URN:ISBN:0%2d395",
            "syntax": "rfc2141",
            "is_urn": True,
            "canonical": "urn:isbn:0%2D395",
            "nid": "isbn",
            "nid_status": "formal",
            "nss": "0%2d395",
        }  # fmt: skip

    def test_for_people_every_part_stands_in_its_line(self, urnscan):
        result = urnscan("explain", "URN:X-lab:a?+r?=q#f", "--syntax", "rfc8141")
        assert result.err == ""
        text, *lines = result.out.decode().splitlines()
        assert text == "URN:X-lab:a?+r?=q#f"
        assert all(line.startswith("  ") for line in lines)
        parts = dict(line.split(maxsplit=1) for line in lines if not line.split(maxsplit=1)[1].startswith("component"))
        parts |= {line.split()[0]: line.split()[2] for line in lines if line.split()[1] == "component"}
        assert parts["canonical"] == "urn:x-lab:a"
        assert (parts["r"], parts["q"], parts["f"]) == ("r", "q", "f")
        assert "experimental" in result.out.decode()

    @pytest.mark.full
    @pytest.mark.parametrize(
        ("syntax", "components"),
        [("rfc2141", (None, None, None)), ("rfc8141", ("r", "q", "f")), ("rfc2141bis-03", None)],
    )
    def test_each_syntax_sees_it_in_its_way(self, urnscan, syntax, components):
        text = "urn:example:a?+r?=q#f"
        (found,) = explained(urnscan, text, "--syntax", syntax, status=0 if components else 1)
        assert found["is_urn"] == (components is not None)
        if components:
            assert (found["r_component"], found["q_component"], found["f_component"]) == components
        else:
            assert found["position"] == len("urn:example:a")

    def test_equivalence(self, urnscan):
        arguments = ["urn:example:t?s=I2L&c=ToC#p1", "--syntax", "rfc2141bis-03"]
        (found,) = explained(urnscan, *arguments, "--equivalence", "resolution")
        assert found["canonical"] == "urn:example:t?c=ToC&s=I2L"
        assert found["directives"] == {"s": "I2L", "c": "ToC"}

    def test_a_problem_is_no_reason_to_refuse_it(self, urnscan):
        (found,) = explained(urnscan, "urn:foo:%00")
        assert found["is_urn"]
        assert "nul-octet" in str(found["problems"])

    @pytest.mark.full
    @pytest.mark.parametrize(
        ("text", "position"),
        [
            ("urn:isbn:0 395", 10),
            ("", 0),
            ("doi: what?", 0),
            ("urn:urn:foo:bar", 4),
            ("urn:foo:", 8),
            ("urn:foo:%4g", 8),
            ("urn:foo:ü", 8),
        ],
        ids=repr,
    )
    def test_where_and_why_a_text_is_none(self, urnscan, text, position):
        """1: some are no URNs."""
        (found,) = explained(urnscan, text, status=1)
        assert (found["is_urn"], found["position"]) == (False, position)
        assert found["reason"]
        assert found["canonical"] is None

    def test_the_caret_points_at_the_position(self, urnscan):
        above, at = with_caret(urnscan("explain", "urn:isbn:0 395", status=1).out.decode())
        assert above[at:] == " 395"

    @pytest.mark.full
    def test_several_at_once(self, urnscan):
        """As many answers as questions, in their order; 1 where one of them is no URN, and 0 where all are."""
        found = explained(urnscan, "urn:foo:a", "nonsense", "URN:foo:b", status=1)
        assert [(one["text"], one["is_urn"]) for one in found] == [
            ("urn:foo:a", True),
            ("nonsense", False),
            ("URN:foo:b", True),
        ]
        assert [one["text"] for one in explained(urnscan, "urn:foo:a", "urn:foo:a")] == ["urn:foo:a"] * 2
        blocks = urnscan("explain", "urn:foo:a", "nonsense", status=1).out.decode().split("\n\n")
        assert [block.splitlines()[0] for block in blocks] == ["urn:foo:a", "nonsense"]

    def test_what_it_is_given_cannot_command_the_terminal(self, urnscan):
        """Control characters are shown as escapes, and the caret still points at the right place."""
        text = "urn:foo:\x1b[31m"
        shown = urnscan("explain", text, status=1).out.decode()
        assert not [character for character in shown if not (character.isprintable() or character == "\n")]
        above, at = with_caret(shown)
        assert above[at:] == "\\x1b[31m"
        (found,) = explained(urnscan, text, status=1)
        assert found["text"] == text

    @pytest.mark.full
    @pytest.mark.parametrize("options", [[], ["--json"]])
    def test_bytes_that_are_not_utf8_are_no_urn(self, urnscan, options):
        """An answer like any other, in text that every reader can read."""
        result = urnscan("explain", b"urn:foo:\xff", *options, status=1)
        assert result.out.decode()
        assert result.err == ""

    @pytest.mark.full
    def test_the_same_as_a_run_says(self, urnscan):
        """Whatever a run finds is a URN with the same canonical form here, in every syntax."""
        texts = b"URN:Foo:%c3a/b~c?+r?=q#f urn:example:t?s=I2L&c=ToC#p1 urn:f-:x urn:f:x"
        urnscan.write("a.txt", texts)
        for syntax in SYNTAXES:
            found = [json.loads(line) for line in urnscan.printed("a.txt", "--json", "--syntax", syntax)]
            again = explained(urnscan, *(one["text"] for one in found), "--syntax", syntax)
            assert [(one["canonical"], one["nid"]) for one in again] == [(one["urn"], one["nid"]) for one in found]

    def test_usage(self, urnscan):
        """2: wrong usage."""
        for arguments in (["urn:foo:a", "--trim"], ["urn:foo:a", "--equivalence", "resolution"]):
            result = urnscan("explain", *arguments, status=2)
            assert result.out == b""
            assert result.err.splitlines()[-1].startswith("urnscan")
        assert "usage: urnscan explain" in urnscan("explain", "--help").out.decode()


class TestStandardInput:
    """`-`, or no text and a pipe: a text on each line."""

    LINES = b"\xef\xbb\xbfurn:foo:a\r\n\n  nonsense \xff\n\t\n978-0-395-36341-6\nurn:isbn:0-395-36341-6"

    @pytest.mark.core
    @pytest.mark.parametrize("arguments", [[], ["-"]])
    def test_a_text_on_each_line(self, urnscan, arguments):
        """Blank lines are none, white space around a text is not its own, and a line that is no text ends nothing."""
        found = explained(urnscan, *arguments, stdin=self.LINES, status=1)
        assert [(one["text"], one["is_urn"], one["read_as"], one["valid"]) for one in found] == [
            ("urn:foo:a", True, None, None),
            ("nonsense \udcff", False, None, None),
            ("978-0-395-36341-6", False, "urn:isbn:9780395363416", True),
            ("urn:isbn:0-395-36341-6", True, None, False),
        ]

    def test_a_byte_that_is_not_utf_8(self, urnscan):
        """It is shown as in the names of files, not as the half of a pair that Python reads it as."""
        assert urnscan("explain", "-", stdin=b"a\xffb\n", status=1).out.startswith(b"a\\xffb\n")

    @pytest.mark.full
    def test_among_other_texts(self, urnscan):
        found = explained(urnscan, "urn:a:1", "-", "urn:a:3", stdin=b"urn:a:2\n")
        assert [one["text"] for one in found] == ["urn:a:1", "urn:a:2", "urn:a:3"]
        assert urnscan("explain", stdin=b"").out == b""

    @pytest.mark.full
    @pytest.mark.parametrize("options", [[], ["--unique"], ["--recover", "all"]])
    def test_what_a_scan_prints(self, urnscan, options):
        """`urnscan texts/ | urnscan explain`: the source and line, or the count, before a URN are no part of it."""
        urnscan.write("a:1 b.txt", b"urn:foo:1:urn-x urn%3Abar%3A2\n\nURN:foo:3: urn:foo:3:")
        printed = urnscan("a:1 b.txt", *options).out
        found = explained(urnscan, stdin=printed)
        assert len(found) == len(printed.splitlines()) >= 2
        assert all(one["is_urn"] for one in found)

    def test_each_answer_comes_before_the_next_question(self, urnscan):
        """As a pipe needs it that another program waits at."""
        with urnscan.start("explain", "--json", stdin=subprocess.PIPE) as process:
            for text in (b"urn:a:1", b"nonsense", b"urn:a:2"):
                process.stdin.write(text + b"\n")
                process.stdin.flush()
                assert json.loads(process.stdout.readline())["text"] == text.decode()

    @pytest.mark.full
    def test_a_line_without_end(self, urnscan):
        """It is told and passed over; the lines behind it are read."""
        result = urnscan("explain", "--json", stdin=b"urn:a:1\nurn:a:" + b"x" * (5 << 20) + b"\nurn:a:2\n", status=1)
        assert [json.loads(line)["text"] for line in result.out.splitlines()] == ["urn:a:1", "urn:a:2"]
        assert result.err == "urnscan: standard input, line 2: it has more than 1,048,576 bytes and is passed over\n"

    @pytest.mark.full
    def test_a_line_of_the_largest_length(self, urnscan):
        """1,048,576 bytes are not more than 1,048,576, also without a line end."""
        result = urnscan("explain", "--json", stdin=b"urn:a:1".ljust(1 << 20))
        assert json.loads(result.out)["text"] == "urn:a:1"

    def test_a_terminal_is_not_waited_for(self, urnscan):
        """2: there is nothing to explain."""
        main, terminal = pty.openpty()
        try:
            result = urnscan("explain", stdin=terminal, status=2)
        finally:
            os.close(main)
            os.close(terminal)
        assert result.err.startswith("urnscan: nothing to explain; give URNs, or - for standard input")


class TestStatus:
    @pytest.mark.core
    @pytest.mark.parametrize(
        ("text", "status"),
        [
            ("urn:isbn:0-395-36341-1", 0),
            ("urn:foo:a", 0),
            ("urn:nbn:de:101:1-2020112012434733354624", 0),
            ("0-395-36341-1", 0),
            ("urn:isbn:0-395-36341-6", 1),
            ("0-395-36341-6", 1),
        ],
    )
    def test_1_if_it_is_no_urn_or_invalid(self, urnscan, text, status):
        assert urnscan("explain", text, "urn:foo:b", status=status).err == ""

    def test_a_word_that_stands_for_no_urn(self, urnscan):
        """One line tells what can be explained, and what else may have been meant."""
        (line,) = urnscan("explain", "nonsense", status=1).err.splitlines()
        assert line.startswith(
            "urnscan: nonsense: not a URN, nor an ISBN, ISSN, DOI, UUID or resolver link that has one; "
        )
        assert line.endswith("; urnscan INPUT finds names in files")

    def test_a_key_of_deduplication(self, urnscan):
        """docs/reference/dedup/keys.md: whoever copies an entry of `joined_by` is told what it is."""
        result = urnscan("explain", "local:3:832623122", "oclc:1", status=1)
        assert result.err.splitlines() == [
            (
                "urnscan: local:3:832623122: is not a URN, but a key of urnscan dedup (same control number (001) in one "
                "dump); see --keys in man urnscan-dedup"
            ),
            (
                "urnscan: oclc:1: is not a URN, but a key of urnscan dedup (same OCLC number); "
                "see --keys in man urnscan-dedup"
            ),
        ]

    def test_a_bare_identifier_says_how_it_was_read(self, urnscan):
        lines = urnscan.printed("explain", "ISBN 0-395-36341-1")
        assert lines[0] == "ISBN 0-395-36341-1"
        assert "  read as      urn:isbn:9780395363416" in lines

    def test_a_field_of_a_catalogue(self, urnscan):
        """A remark does not hide the number, and a number that is cut off is not called a URN without `urn:`."""
        assert "  read as      urn:isbn:9780395363416" in urnscan.printed("explain", "978-0-395-36341-6 (pbk.)")
        lines = urnscan("explain", "97803953634", status=1).out.decode().splitlines()
        assert "  reason       it has 11 digits, but an ISBN has 10 or 13, and an ISSN has 8" in lines


class TestAnInputOfThatName:
    """An INPUT named `explain` is written `./explain`."""

    def test_file(self, urnscan):
        urnscan.write("explain", b"urn:foo:a")
        assert urnscan.printed("./explain") == ["./explain:1:urn:foo:a"]

    def test_only_the_first_word_is_a_command(self, urnscan):
        urnscan.write("explain", b"urn:foo:a")
        assert urnscan.printed("--trim", "explain") == ["explain:1:urn:foo:a"]
