"""Keyword in context: `Scan.context` shows what stands in the documents, whatever they are kept in."""

from __future__ import annotations

import gzip
import io
import os
import re
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import urnscan
from tests.support.examples import FEW
from urnscan.display.text import width_of
from urnscan.errors import ArgumentError, InvalidURN
from urnscan.library.context import Context
from urnscan.library.scans import scan
from urnscan.run.options import Options

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
PROSE = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=60)
"""NUL left out: by them UTF-16 is known."""


def of(tmp_path, data, **options):
    """The context of a class in a file of these bytes."""
    (tmp_path / "a.txt").write_bytes(data)
    return scan(tmp_path / "a.txt", **options).context("urn:x:1", 10)


class TestAgainstTheText:
    """What is left and right of an occurrence is a slice of the document, in characters."""

    @FEW
    @given(st.lists(PROSE, min_size=2, max_size=5), st.integers(0, 70))
    def test_slices(self, parts, width):
        """Computed from the text alone, with no part of the code that reads it again."""
        text = " urn:x:1 ".join(parts)
        starts = [match.start() for match in re.finditer(r"(?<![0-9A-Za-z])urn:x:1(?= )", text)]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "a.txt")
            path.write_bytes(text.encode())
            context = scan(path).context("URN:X:1", width, limit=None)
        assert [line.start for line in context] == [len(text[:start].encode()) for start in starts]
        for line, start in zip(context, starts, strict=True):
            assert line.before == text[max(start - width, text.startswith("\ufeff")) : start]
            assert line.text == "urn:x:1"
            assert line.after == text[start + 7 : start + 7 + width]
            assert line.line == text[:start].count("\n") + 1
            assert (line.source, line.member) == (str(path), None)

    @pytest.mark.parametrize("recover", [(), "all"], ids=["literal", "views"])
    def test_every_occurrence_of_the_samples(self, recover):
        """Compressed, in archives, WARC, tables, UTF-16: all are found again, and where they say."""
        found = scan(SAMPLES, recover=recover)
        rows = {(row["source"], row["member"], row["start"]): row for row in found.occurrences.to_pylist()}
        seen = 0
        for urn in found.classes.column("urn").to_pylist():
            context = found.context(urn, 20, limit=None)
            assert context.failures == ()
            for line in context:
                row = rows[line.source, line.member, line.start]
                assert row["urn"] == urn
                assert len(line.text.encode()) == row["length"]
                assert row["via"] is not None or line.text == row["text"]
                assert len(line.before) <= 20 >= len(line.after)
            seen += len(context)
        assert seen == len(rows) == found.report.occurrences

    def test_a_view_shows_what_stands_there(self, tmp_path):
        (line,) = of(tmp_path, b"q=urn%3Ax%3A1&b", recover="percent")
        assert (line.before, line.text, line.after) == ("q=", "urn%3Ax%3A1", "&b")

    def test_far_behind_a_block(self, tmp_path):
        """Bytes that are passed over count, and so do their lines."""
        (line,) = of(tmp_path, "ä\n".encode() * 1_500_000 + b"urn:x:1")
        assert (line.before, line.start, line.line) == ("ä\n" * 5, 4_500_000, 1_500_001)

    def test_a_byte_order_mark_is_no_text(self, tmp_path):
        """Nor does it count among the characters that are shown; elsewhere the character is one."""
        mark = "\ufeff".encode()
        (line,) = of(tmp_path, mark + b"a \xef\xbb\xbfb urn:x:1")
        assert (line.before, line.start) == ("a \ufeffb ", 10)
        (line,) = of(tmp_path, mark + b"see urn:x:1", encoding="latin-1")
        assert line.before == "see "

    def test_what_is_no_utf8(self, tmp_path):
        (line,) = of(tmp_path, b"\xe4\xff urn:x:1 \xe4")
        assert (line.before, line.after) == ("\ufffd\ufffd ", " \ufffd")


class TestForms:
    def test_members_of_one_name(self, tmp_path):
        """Of a tar archive several may have the same: the occurrences of each are its own."""
        with tarfile.open(tmp_path / "a.tar", "w") as archive:
            for data in (b"one urn:x:1 urn:x:1", b"two", b"two urn:x:1", b"ten urn:x:1"):
                member = tarfile.TarInfo("same")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
        context = scan(tmp_path / "a.tar").context("urn:x:1", 8)
        assert [line.before for line in context] == ["one ", "urn:x:1 ", "two ", "ten "]
        assert not context.failures

    def test_nested(self, tmp_path):
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            archive.writestr("b.gz", gzip.compress("ä urn:x:1 ö".encode("utf-16")))
        (line,) = scan(tmp_path).context("urn:x:1")
        assert (line.before, line.after, line.member) == ("ä ", " ö", "b.gz")

    @pytest.mark.parametrize("kind", [pa.string(), pa.binary(), pa.dictionary(pa.int32(), pa.string())], ids=str)
    def test_values_of_a_table(self, tmp_path, kind):
        """Each is a text of its own: what stands in the next does not belong to it."""
        values = pa.array(["before", None, "see urn:x:1", "behind"])
        column = values.dictionary_encode() if pa.types.is_dictionary(kind) else values.cast(kind)
        pq.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
        (line,) = scan(tmp_path).context("urn:x:1")
        assert (line.before, line.after, line.member) == ("see ", "", "2/text")

    def test_views_in_a_dictionary(self, tmp_path):
        """As Polars writes a Categorical: Arrow casts none of these."""
        words = pa.array(["behind", "see urn:x:1"]).cast(pa.string_view())
        table = pa.table({"text": pa.DictionaryArray.from_arrays(pa.array([0, None, 1], pa.int8()), words)})
        with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as file:
            file.write_table(table)
        (line,) = scan(tmp_path).context("urn:x:1")
        assert (line.before, line.after, line.member) == ("see ", "", "2/text")

    def test_behind_damage(self, tmp_path):
        """Damage that the scan has told of shifts nothing."""
        data = gzip.compress(b"one urn:x:1\n") + b"garbage!" * 4 + gzip.compress(b"two urn:x:1\n")
        (tmp_path / "a.gz").write_bytes(data)
        found = scan(tmp_path)
        assert found.report.failures
        context = found.context("urn:x:1")
        assert len(context) == found.occurrences.num_rows
        assert not context.failures

    def test_a_name_that_is_no_utf8(self, tmp_path):
        """From the name alone nobody knows the path."""
        path = os.fsencode(tmp_path) + b"/\xff"
        try:
            Path(os.fsdecode(path)).write_bytes(b"a urn:x:1")
        except OSError:
            pytest.skip("the file system has only names in UTF-8")
        assert [line.before for line in scan(tmp_path).context("urn:x:1")] == ["a "]


class TestWhatIsAskedFor:
    def test_any_spelling(self, tmp_path):
        """By the syntax and the equivalence of the scan."""
        (tmp_path / "a").write_bytes(b"urn:isbn:0-395-36341-1 urn:isbn:9780395363416")
        found = scan(tmp_path, equivalence="namespace")
        assert len(found.context("URN:ISBN:0395363411")) == 2
        assert len(found.context(urnscan.parse("urn:isbn:978-0-395-36341-6"))) == 2
        assert len(scan(tmp_path).context("URN:ISBN:9780395363416")) == 1

    def test_limit(self, tmp_path):
        (tmp_path / "a").write_bytes(b"urn:x:1 " * 7)
        found = scan(tmp_path)
        assert (len(found.context("urn:x:1", limit=3)), found.context("urn:x:1", limit=3).more) == (3, 4)
        assert str(found.context("urn:x:1", limit=3)).splitlines()[-1] == "and 4 more"
        assert "and 4 more" in found.context("urn:x:1", limit=3)._repr_html_()
        assert len(found.context("urn:x:1", limit=None)) == 7
        assert len(found.context("urn:x:1", limit=0)) == 0

    def test_only_what_holds_them_is_read(self, tmp_path, monkeypatch):
        opened = []
        for name in "abcd":
            (tmp_path / name).write_bytes(b"urn:x:1" if name in "bd" else b"urn:y:1")
        found = scan(tmp_path)
        from urnscan.library import passages

        real = passages.open_documents
        monkeypatch.setattr(
            passages, "open_documents", lambda source, *rest: opened.append(source.file_name) or real(source, *rest)
        )
        assert len(found.context("urn:x:1", limit=1)) == 1
        assert opened == ["b"]

    @pytest.mark.parametrize(
        ("arguments", "error", "says"),
        [
            (("urn:x:2",), ArgumentError, "urn:x:2 was not found in this scan"),
            (("urn:x",), InvalidURN, "NID"),
            ((7,), ArgumentError, "not by 7"),
            (("urn:x:1", -1), ArgumentError, "from 0 to 10,000, not -1"),
            (("urn:x:1", "60"), ArgumentError, "not '60'"),
        ],
    )
    def test_what_is_none(self, tmp_path, arguments, error, says):
        (tmp_path / "a").write_bytes(b"urn:x:1")
        with pytest.raises(error, match=says) as caught:
            scan(tmp_path).context(*arguments)
        assert isinstance(caught.value, ValueError)

    def test_limit_that_is_none(self, tmp_path):
        (tmp_path / "a").write_bytes(b"urn:x:1")
        with pytest.raises(ArgumentError, match="limit"):
            scan(tmp_path).context("urn:x:1", limit=-1)


class TestFailures:
    """An input that cannot be read again costs its own lines, and says so in a sentence."""

    @pytest.fixture
    def found(self, tmp_path):
        for name in "abc":
            (tmp_path / name).write_bytes(b"x urn:x:1 y")
        return scan(tmp_path)

    def test_changed(self, found, tmp_path):
        (tmp_path / "b").write_bytes(b"xx urn:x:1 y")
        context = found.context("urn:x:1")
        assert [Path(line.source).name for line in context] == ["a", "c"]
        assert [str(failure) for failure in context.failures] == [
            f"{tmp_path}/b: has changed since it was scanned: 1 occurrence left out"
        ]
        assert "has changed" in str(context)
        assert "has changed" in context._repr_html_()

    def test_gone(self, found, tmp_path):
        (tmp_path / "b").unlink()
        (failure,) = found.context("urn:x:1").failures
        assert str(failure) == f"{tmp_path}/b: is not there any more: 1 occurrence left out"

    def test_all_gone(self, tmp_path):
        (tmp_path / "a").write_bytes(b"urn:x:1")
        found = scan(tmp_path / "a")
        (tmp_path / "a").unlink()
        (failure,) = found.context("urn:x:1").failures
        assert str(failure).startswith(f"{tmp_path}/a: no such file or folder")

    def test_lines_that_moved_in_a_view(self, tmp_path):
        """What a view has read is not compared by its bytes, but the line must be the same."""
        (tmp_path / "a").write_bytes(b"\n\nurn%3Ax%3A1")
        found = scan(tmp_path, recover="percent")
        (tmp_path / "a").write_bytes(b"\n urn%3Ax%3A1")
        assert len(found.context("urn:x:1").failures) == 1

    def test_a_pipe_is_not_waited_for(self, tmp_path):
        """To open it once more would wait until somebody writes."""
        (tmp_path / "a").write_bytes(b"urn:x:1")
        found = scan(tmp_path / "a")
        (tmp_path / "a").unlink()
        os.mkfifo(tmp_path / "a")
        (failure,) = found.context("urn:x:1").failures
        assert str(failure) == f"{tmp_path}/a: can be read only once: 1 occurrence left out"

    def test_standard_input(self, tmp_path):
        (tmp_path / "a").write_bytes(b"urn:x:1")
        rows = scan(tmp_path).occurrences.set_column(0, "source", pa.array(["-"]).dictionary_encode())
        found = urnscan.Scan(rows, rows, urnscan.Report(), inputs=("-",), options=Options())
        (failure,) = found.context("urn:x:1").failures
        assert str(failure) == "-: can be read only once: 1 occurrence left out"


class TestShown:
    def test_columns(self, tmp_path):
        """Wide characters take two columns, combining marks none: the occurrences stand below each other."""
        text = "日本語 urn:x:1 日本\ne\u0301e\u0301 URN:x:1 e\u0301\nlong before urn:x:1\tb"
        context = of(tmp_path, text.encode())
        title, *lines = str(context).splitlines()
        assert title == "urn:x:1: 3 occurrences"
        assert len({width_of(line[: line.lower().index("urn:x:1")]) for line in lines}) == 1
        assert len({width_of(line[: line.index(str(tmp_path))]) for line in lines}) == 1

    def test_one_line_each(self, tmp_path):
        """White space and controls are a space each; what turns the direction is spelled out."""
        context = of(tmp_path, "a\x1b[3\n\u202e urn:x:1 \r\n\u2028b\x1f".encode())
        assert len(str(context).splitlines()) == 2
        assert "a [3 \\u202e   urn:x:1      b   " in str(context)
        assert "\\u202e" in context._repr_html_()
        assert not set(context._repr_html_()) & set("\x1b\u202e\x1f\r\n")

    def test_html_is_no_markup(self, tmp_path):
        shown = of(tmp_path, b"<b>&amp; urn:x:1 <script>")._repr_html_()
        assert "<bdi>&lt;b&gt;&amp;amp; </bdi>" in shown
        assert "<script>" not in shown

    def test_right_to_left_stays_in_its_cell(self, tmp_path):
        shown = of(tmp_path, "שלום urn:x:1 עולם".encode())._repr_html_()
        assert "<bdi>שלום </bdi>" in shown
        assert "<bdi> עולם</bdi>" in shown

    def test_records(self, tmp_path):
        context = of(tmp_path, b"a urn:x:1 b")
        assert isinstance(context, Context)
        assert context[0] == context.lines[0] == next(iter(context))
        assert context[:1] == context.lines
        frame = context.to_pandas()
        assert list(frame.columns) == ["before", "text", "after", "source", "member", "start", "line"]
        assert frame[["before", "text", "after", "start", "line"]].to_numpy().tolist() == [
            ["a ", "urn:x:1", " b", 2, 1]
        ]
        with pytest.raises(AttributeError):
            context.urn = "another"

    def test_nothing(self):
        assert str(Context("urn:x:1", ())) == "urn:x:1: 0 occurrences"
        assert "table" not in Context("urn:x:1", ())._repr_html_()
        assert len(Context("urn:x:1", ()).to_pandas()) == 0
