"""urnscan in Jupyter: what shows itself, errors that are sentences, and the bar."""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import urnscan
from tests.library.test_scans import Text
from urnscan.display import progress
from urnscan.display import text as showing
from urnscan.errors import ArgumentError, FatalError, InvalidURN, SourceError

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
HOSTILE = "urn:x:<script>\0\u202e\x1b[31m&amp;"


def cells(shown):
    """The text of HTML, which holds no control and no colour."""
    assert not [character for character in shown if not character.isprintable()]
    assert "color" not in shown
    return Text(shown).text


class TestWhatShowsItself:
    """Text of corpora is data: visible, harmless, no markup."""

    def hostile(self):
        report = urnscan.Report(inputs=1234567, failures=[SourceError(HOSTILE, "why")] * 25)
        deduped = urnscan.DedupReport(records=1234567, failures=report.failures)
        yield urnscan.Occurrence(HOSTILE, 1234567, 2, HOSTILE, "x")
        yield urnscan.URN(HOSTILE, "x", "y", HOSTILE, None, None, "rfc8141", HOSTILE)
        yield urnscan.explain(HOSTILE)
        yield report
        yield deduped

    def test_text_is_no_markup(self):
        for thing in self.hostile():
            text = cells(thing._repr_html_())
            assert "<script>\\x00\\u202e\\x1b[31m&amp;" in text, thing
            assert "<script>" not in thing._repr_html_()

    def test_numbers(self):
        """To the right, with separators of thousands."""
        assert '<td style="text-align:right">1,234,567</td>' in urnscan.Report(octets=1234567)._repr_html_()
        assert '<td style="text-align:right">0.3</td>' in urnscan.Report(seconds=0.3123)._repr_html_()

    def test_what_is_not_there_is_left_out(self):
        assert "rejects" not in cells(urnscan.Report()._repr_html_())
        assert "q-component" not in cells(urnscan.parse("urn:x:y")._repr_html_())
        assert "display" not in cells(urnscan.parse("urn:x:y")._repr_html_())
        assert "straße" in cells(urnscan.parse("urn:example:stra%C3%9Fe")._repr_html_())

    def test_failures_are_capped(self):
        *_, report, deduped = self.hostile()
        for shown in (report._repr_html_(), deduped._repr_html_()):
            assert shown.count("<li>") == 20
            assert "25 failures" in shown
            assert "and 5 more" in shown

    def test_explanation_points(self):
        shown = urnscan.explain("urn:x:a b")._repr_html_()
        assert "<pre>urn:x:a b<br>       ^</pre>" in shown

    def test_dedup(self, tmp_path):
        """The largest clusters first, each by the record of it that is kept."""
        lines = ["urn:a:1", "urn:a:2", "urn:a:3", "urn:a:2", "urn:a:2 <b>", "urn:a:3"]
        (tmp_path / "a").write_text("\n".join(lines) + "\n")
        found = urnscan.deduplicate(tmp_path / "a", record="line")
        text = cells(found._repr_html_())
        assert "1 dump, 6 records, 3 clusters, 3 duplicates" in text
        assert text.index("urn:a:2") < text.index("urn:a:3")
        assert "urn:a:1" not in text
        assert "<table>" not in urnscan.Dedup(found.clusters.slice(0, 1), found.report)._repr_html_()

    def test_what_trimming_would_change(self, tmp_path):
        """As the command says it, but with Python's name for it; and nothing where it was asked for."""
        (tmp_path / "a").write_text("urn:a:1. urn:a:2, urn:a:3\n")
        said = "2 occurrences end in punctuation or run into the next; trim=True cuts that off"
        assert said in cells(urnscan.scan(tmp_path)._repr_html_())
        assert said in cells(urnscan.deduplicate(tmp_path, record="line")._repr_html_())
        for found in (urnscan.scan(tmp_path, trim=True), urnscan.deduplicate(tmp_path, record="line", trim=True)):
            assert "punctuation" not in cells(found._repr_html_())

    def test_width(self):
        assert [showing.width_of(text) for text in ("abc", "日本", "e\u0301", "\uff46")] == [3, 4, 1, 2]


class TestErrors:
    """`_render_traceback_` is what IPython asks for; all others show tracebacks as ever (at the end of this file)."""

    def rendered(self, deed):
        with pytest.raises((urnscan.UrnscanError, InvalidURN)) as caught:
            deed()
        return caught.value._render_traceback_()

    def test_caret(self):
        lines = self.rendered(lambda: urnscan.parse("urn:example:a b"))
        assert lines[1:] == ["  urn:example:a b", "               ^"]
        assert lines[0].startswith("InvalidURN: ' ' may not stand in a URN")

    def test_caret_in_what_is_long_or_wide(self):
        """The place is shown and what is around it; what is wide takes two columns."""
        error = InvalidURN("no", 100_000, "slash", "日" * 100_000 + " " * 100_000)
        _, text, caret = error._render_traceback_()
        assert text == "  …" + "日" * 60 + " " * 20 + "…"
        assert caret == "  " + " " * (1 + 120) + "^"

    def test_controls(self):
        assert "\x1b" not in "".join(self.rendered(lambda: urnscan.parse("urn:x:\x1b[31m")))
        assert SourceError("a\x1b", "why")._render_traceback_() == ["SourceError: a\\x1b: why"]

    def test_notes(self):
        error = FatalError("no")
        error.add_note("but \x1b")
        assert error._render_traceback_() == ["FatalError: no", "but \\x1b"]

    def test_pickled(self):
        with pytest.raises(InvalidURN) as caught:
            urnscan.parse("urn:x:a b")
        again = pickle.loads(pickle.dumps(caught.value))
        assert (again.text, again._render_traceback_()[1]) == ("urn:x:a b", "  urn:x:a b")

    def test_kinds(self):
        """As they were before they had a name."""
        assert issubclass(ArgumentError, ValueError)
        assert issubclass(ArgumentError, TypeError)


class TestBar:
    @pytest.mark.parametrize("wanted", [True, False, None])
    def test_asked_for(self, tmp_path, capfd, monkeypatch, wanted):
        """It tells octets, rate and time. A script has none by itself, though it be slow."""
        (tmp_path / "a.jsonl").write_bytes(b'{"id": "urn:x:y"}\n' * 1000)
        monkeypatch.setattr(progress, "_DELAY", 0)
        urnscan.scan(tmp_path, progress=wanted)
        urnscan.deduplicate(tmp_path / "a.jsonl", progress=wanted)
        err = capfd.readouterr().err
        for word in ("scanning", "grouping", "reading", "joining", "B/s", "/18.0k", "00:00<"):
            assert (word in err) == (wanted is True), word

    def test_quick_runs_show_none(self, tmp_path, capfd):
        (tmp_path / "a").write_bytes(b"urn:x:y")
        with contextlib.ExitStack() as stack:
            progress.show_if_wanted(True, "scanning", lambda: 7, stack).on_progress(7)
        assert "7.00" not in capfd.readouterr().err


def run(*sources):
    """The cells of a notebook, run in a kernel of their own: their outputs."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    book.metadata.kernelspec = {"name": "python3", "display_name": "Python", "language": "python"}
    client = nbclient.NotebookClient(book, timeout=120, allow_errors=True)
    client.execute()
    return [cell.outputs for cell in book.cells]


@pytest.mark.filterwarnings("ignore")  # of the client
class TestKernel:
    """In a real one."""

    def test_outputs(self):
        pytest.importorskip("ipywidgets")
        setup, shown, error, wrong, bar, without = run(
            "import urnscan, urnscan.display.progress, sys, IPython.display as shown\n"
            f"samples = {str(SAMPLES)!r}\n"
            "found = urnscan.scan(samples)",
            "found.context('urn:nbn:de:bvb:99-lantern-26')",
            "# a comment\nurnscan.parse('urn:a:b c')",
            "urnscan.scan('x', syntx='a')",
            "urnscan.display.progress._DELAY = 0\nmade = []\n"
            "real = shown.display\n"
            "shown.display = lambda bar, **more: made.append(repr(bar)) or real(bar, **more)\n"
            "found = urnscan.scan(samples)\nmade",
            "urnscan.display.progress.importlib.util.find_spec = lambda name: None\nfound = urnscan.scan(samples)",
        )
        assert setup == []
        assert set(shown[0].data) == {"text/html", "text/plain"}
        assert error[0].ename == "InvalidURN"
        assert error[0].traceback[1:] == ["  urn:a:b c", "         ^", "  in line 2: urnscan.parse('urn:a:b c')"]
        assert wrong[0].traceback[0] == "ArgumentError: scan has no option 'syntx': did you mean 'syntax'?"
        assert len(wrong[0].traceback) == 2
        blank, made = bar
        assert blank.data == {"text/plain": ""}, "taken away at the end"
        assert "scanning" in made.data["text/plain"]
        assert "B/s" in made.data["text/plain"]
        assert {output.name for output in without} == {"stdout"}, "no warning, and nothing in red"
        assert "scanning" in without[0].text


def test_plain_python_shows_a_traceback():
    done = subprocess.run(
        [sys.executable, "-c", "import urnscan; urnscan.parse('urn:x')"], capture_output=True, text=True, check=False
    )
    assert done.stderr.startswith("Traceback (most recent call last):")
    assert done.stderr.endswith('urnscan.errors.InvalidURN: no ":" after the NID (at position 5)\n')
