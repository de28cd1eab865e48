"""urnscan in Jupyter: what shows itself, errors that are sentences, and the bar."""

from __future__ import annotations

import contextlib
import gzip
import inspect
import pickle
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import urnscan
from tests.library.test_scans import Text
from urnscan.display import progress
from urnscan.display import text as showing
from urnscan.errors import ArgumentError, FatalError, InvalidURN, SourceError, SourceNote
from urnscan.library import shared
from urnscan.pandas import SeriesURN

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
        report.notes = [SourceNote(HOSTILE, "note")]
        deduped = urnscan.DedupReport(records=1234567, failures=report.failures, notes=report.notes)
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
        assert '<td style="text-align:right">1,234,567</td>' in urnscan.Report(byte_count=1234567)._repr_html_()
        assert '<td style="text-align:right">0.3</td>' in urnscan.Report(seconds=0.3123)._repr_html_()

    def test_what_is_not_there_is_left_out(self):
        assert "rejects" not in cells(urnscan.Report()._repr_html_())
        assert "q-component" not in cells(urnscan.parse("urn:x:y")._repr_html_())
        assert "display" not in cells(urnscan.parse("urn:x:y")._repr_html_())
        assert "straße" in cells(urnscan.parse("urn:example:stra%C3%9Fe")._repr_html_())

    def test_failures_are_capped(self):
        *_, report, deduped = self.hostile()
        for shown in (report._repr_html_(), deduped._repr_html_()):
            assert shown.count("<li>") == 20 + 1
            assert "1 note:" in shown
            assert "25 failures" in shown
            assert "and 5 more" in shown

    def test_explanation_points(self):
        shown = urnscan.explain("urn:x:a b")._repr_html_()
        assert "<pre>urn:x:a b<br>       ^</pre>" in shown

    def test_dedup(self, tmp_path):
        """The largest clusters first, each by the record of it that is kept."""
        lines = ["urn:ab:1", "urn:ab:2", "urn:ab:3", "urn:ab:2", "urn:ab:2 <b>", "urn:ab:3"]
        (tmp_path / "a").write_text("\n".join(lines) + "\n")
        found = urnscan.deduplicate(tmp_path / "a", record="line")
        text = cells(found._repr_html_())
        assert "1 dump, 6 records, 3 clusters, 3 duplicates" in text
        assert text.index("urn:ab:2") < text.index("urn:ab:3")
        assert "urn:ab:1" not in text
        assert "<table>" not in urnscan.Dedup(found.clusters.slice(0, 1), found.report)._repr_html_()

    def test_printed_dedup(self, tmp_path):
        """Counts, the largest clusters, failures and notes in few lines; guards against a dump of thirty fields."""
        lines = [f"urn:ab:{number}\n" for number in (*range(12), *range(12), 3)]
        (tmp_path / "a").write_text("".join(lines))
        (tmp_path / "b.marcxml\x1b").write_text("<collection>")
        text = str(urnscan.deduplicate(tmp_path / "a", record="line"))
        assert text.split("\n")[:3] == [
            "1 dump, 25 records, 12 clusters, 13 duplicates, 12 groups in doubt",
            f"        3  {tmp_path / 'a'}: record 4",
            f"        2  {tmp_path / 'a'}: record 1",
        ]
        assert "\nand 2 other clusters with duplicates\n" in text
        (tmp_path / "a").write_text("@book{b1, isbn={0395363411}}\n@book{b2, isbn={0395363411}}")
        text = str(urnscan.deduplicate(tmp_path))
        assert f"        2  {tmp_path / 'a'}: record 1 (b1)\n1 note:\n  {tmp_path}/b.marcxml\\x1b: " in text

    def test_decisions_that_are_not_applied(self, tmp_path):
        """They show themselves, as the command prints them; guards against decisions that are lost in silence."""
        (tmp_path / "a.csv").write_text("id,isbn\nb1,0395363411\nb2,0395363411\n")
        rows = "".join(f"keep,a.csv,,{at},d{at:x},x{at},<b>\n" for at in range(1, 23))
        (tmp_path / "old.csv").write_text(f"decision,source,member,record,digest,record_id,title\n{rows}")
        found = urnscan.deduplicate(tmp_path / "a.csv", decisions=tmp_path / "old.csv")
        first = 'old.csv: line 2: x1 "<b>": a.csv: record 1 was not found: its dump is not an input'
        for shown in (found, found.report):
            text = cells(shown._repr_html_())
            assert "22 decisions not applied:" in text
            assert first in text
            assert text.count("<b>") == 20
            assert "and 2 more" in text
        text = str(found)
        assert f"22 decisions not applied:\n  {tmp_path}/{first}" in text
        assert text.count("<b>") == 10
        assert "and 12 more" in text
        found.report.refused, found.report.remarks = (), [("old.csv", 3, "both stay")]
        for text in (str(found), cells(found._repr_html_())):
            assert "not applied" not in text
            assert "1 decision applied with a remark:" in text
            assert "old.csv: line 3: both stay" in text

    def test_dedup_tells_what_the_command_tells(self, tmp_path):
        """Records in doubt, records without identifiers, and dumps without known fields."""
        entries = [
            f"@book{{{key}, title={{{title}}}, isbn={{0395363411}}}}" for key, title in (("a", "Salt"), ("b", "Sea"))
        ]
        (tmp_path / "a.bib").write_text("\n".join(entries))
        text = cells(urnscan.deduplicate(tmp_path / "a.bib", any_urn=True)._repr_html_())
        assert "2 records, 2 clusters, 0 duplicates, 2 without identifiers" in text
        assert "a.bib: none of its 2 records contains a URN" in text
        assert "1 group in doubt" in cells(urnscan.deduplicate(tmp_path / "a.bib")._repr_html_())
        (tmp_path / "a.csv").write_text("nr,about\n1,urn:ab:1\n2,urn:ab:2\n")
        text = cells(urnscan.deduplicate(tmp_path / "a.csv")._repr_html_())
        assert "a.csv: no field is known to contain identifiers, so every URN in a record counts" in text

    def test_what_trimming_would_change(self, tmp_path):
        """As the command says it, but with Python's name for it; and nothing where it was asked for."""
        (tmp_path / "a").write_text("urn:ab:1. urn:ab:2, urn:ab:3\n")
        said = "2 occurrences end in punctuation or contain the next URN; trim=True cuts that off"
        assert said in cells(urnscan.scan(tmp_path)._repr_html_())
        assert said in cells(urnscan.deduplicate(tmp_path, record="line")._repr_html_())
        (tmp_path / "a").write_text("urn:isbn:0-395-36341-1. urn:ab:2,\n")
        assert f"{said} (1 name fits its namespace only then)" in cells(urnscan.scan(tmp_path)._repr_html_())
        for found in (urnscan.scan(tmp_path, trim=True), urnscan.deduplicate(tmp_path, record="line", trim=True)):
            assert "punctuation" not in cells(found._repr_html_())

    def test_components_that_rfc_2141_takes_for_the_name(self, tmp_path):
        """As the command says it, but with Python's name for it; and nothing where they are set apart."""
        (tmp_path / "a").write_text("urn:ab:1 urn:ab:1#p2\n")
        said = '1 occurrence has components of RFC 8141 (?+ ?= #); syntax="rfc8141" separates them from the name'
        for function, options in ((urnscan.scan, {}), (urnscan.deduplicate, {"record": "line"})):
            found = function(tmp_path, syntax="rfc2141", **options)
            assert found.report.components_in_names == 1
            assert said in cells(found._repr_html_())
            assert "components of" not in cells(function(tmp_path, syntax="rfc8141", **options)._repr_html_())

    def test_classes_that_the_rules_of_namespaces_would_join(self, tmp_path):
        """As the command says it, but with Python's name for it; shares count the same."""
        (tmp_path / "a").write_text("urn:isbn:0395363411 urn:isbn:9780395363416\n")
        said = '1 class is equivalent to another by the rules of their namespaces; equivalence="namespace" joins them'
        for scan in (urnscan.scan(tmp_path), urnscan.merge_partial([urnscan.scan_partial(tmp_path)])):
            assert said in cells(scan._repr_html_())
        assert "is equivalent to" not in cells(urnscan.scan(tmp_path, equivalence="namespace")._repr_html_())

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
        assert lines[0].startswith("InvalidURN: ' ' is not allowed in a URN")

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
        """A program that catches ValueError or TypeError catches them."""
        assert issubclass(ArgumentError, ValueError)
        assert issubclass(ArgumentError, TypeError)

    @pytest.mark.parametrize(
        ("deed", "said"),
        [
            (lambda: urnscan.parse(5), "a URN must be a str or bytes, not int"),
            (lambda: urnscan.parse("urn:a:b", syntax="rfc8142"), "syntax: unknown value 'rfc8142'"),
            (lambda: urnscan.canonical("urn:a:b", equivalence="same"), "equivalence: unknown value 'same'"),
            (lambda: urnscan.canonical("urn:a:b", equivalence="resolution"), "equivalence: resolution requires"),
            (lambda: urnscan.explain(None), "a URN must be a str or bytes, not NoneType"),
            (lambda: urnscan.encode_nss(""), "an NSS has at least one character"),
            (lambda: urnscan.parse("urn:a:b").locator("here"), "base must be a URL"),
            (lambda: urnscan.find(["x"]), "a text must be a str or bytes, not list"),
            (lambda: urnscan.find("x", max_length=0), "max_length must be at least 1"),
            (lambda: urnscan.find("x", nid=":"), "nid names no namespace"),
            (lambda: urnscan.scan(SAMPLES, rules=5), "rules must be a path"),
            (lambda: urnscan.Options(jobs=0), "jobs must be at least 1"),
            (lambda: urnscan.Policy(keep="best"), "keep cannot be 'best'"),
            (lambda: urnscan.Policy(keep=()), "keep cannot be empty"),
            (lambda: urnscan.Policy(decisions=5), "decisions must be a path"),
            (lambda: urnscan.scan_batches(5), "batches must be record batches"),
            (lambda: list(urnscan.scan_batches(["x"])), "batches must be record batches"),
            (lambda: urnscan.scan_batches(pd.DataFrame({"a": ["x"]}), "b"), "no column 'b' among a"),
            (lambda: urnscan.scan_batches(pd.DataFrame({"a": [1]}), "a"), "column 'a' is int64, not text"),
            (lambda: urnscan.namespaces.isbn.to_urn("0-395-36341-6"), "'0-395-36341-6' is no ISBN"),
            (lambda: urnscan.namespaces.isbn.from_urn("urn:ab:c"), "'urn:ab:c' is a name in urn:ab"),
            (lambda: urnscan.namespaces.judge("isbn"), "'isbn' is no URN in canonical form"),
            (pd.Series([1]).urn.find, "the series is int64, not text: .astype('string') makes it text"),
            (pd.Series([1, None]).urn.find, "the series is float64, not text: .astype('Int64').astype('string') makes"),
            (
                pd.Series(["urn:a:b", None, 42], index=list("xyz")).urn.canonical,
                "the series is not text: at 'z' it holds 42; .astype('string') makes text of all values",
            ),
            (lambda: urnscan.find("x", "rfc8141"), "find: too many positional arguments; options are given by name"),
            (urnscan.find, "find: missing a required argument: 'text'"),
            (
                lambda: urnscan.scan(SAMPLES / "prose.txt").context("urn:isbn:978-0-9999412-01"),
                'urn:isbn:978-0-9999412-01 was not found in this scan; with equivalence="namespace" a scan treats it as urn:isbn:',
            ),
        ],
    )
    def test_a_wrong_argument_is_a_sentence(self, deed, said):
        """As the pages say of all errors: a notebook shows no traceback for a mistake of its user."""
        lines = self.rendered(deed)
        assert len(lines) <= 1 + 1, "the message, and the line of the notebook"
        assert lines[0].startswith(f"ArgumentError: {said}")

    @pytest.mark.parametrize(
        ("function", "option", "more"),
        [
            (urnscan.scan, "syntx", "is it syntax?"),
            (urnscan.deduplicate, "remove", "is it removed?"),
            (urnscan.merge, "forced", "is it force?"),
            (urnscan.find, "trimm", "is it trim?"),
            (urnscan.parse, "standard", "it has text, syntax"),
            (urnscan.scan_batches, "columns", "is it column?"),
            (pd.Series(["x"]).urn.is_valid, "rule", "is it rules?"),
            (pd.Series(["x"]).urn.explain, "level", "it has syntax, equivalence, rules, progress"),
        ],
    )
    def test_a_mistyped_option(self, function, option, more):
        """The nearest one is named, as at the shell; where none is near, all are."""
        lines = self.rendered(lambda: function(**{option: True}))
        assert lines[0] == f"ArgumentError: {function.__name__} has no option {option}; {more}"

    def test_every_function_with_options_looks_at_them(self):
        """Also one that comes later: of a function without that, a mistyped option would show its inside."""
        functions = [getattr(urnscan, name) for name in urnscan.__all__]
        functions += [*vars(urnscan.Scan).values(), *vars(urnscan.Dedup).values(), *vars(SeriesURN).values()]
        public = [each for each in functions if inspect.isfunction(each) and not each.__name__.startswith("_")]
        with_options = [each for each in public if len({*inspect.signature(each).parameters} - {"self"}) > 1]
        assert len(with_options) > 15
        for function in with_options:
            with pytest.raises(ArgumentError, match="has no option no_such_thing"):
                function(no_such_thing=1)

    def test_options_are_still_seen(self):
        """By help(), by the Tab key, and by pickle."""
        assert list(inspect.signature(urnscan.parse).parameters) == ["text", "syntax"]
        assert pickle.loads(pickle.dumps(urnscan.find)) is urnscan.find


class TestBar:
    @pytest.mark.full
    @pytest.mark.parametrize("wanted", [True, False, None])
    def test_asked_for(self, tmp_path, capfd, monkeypatch, wanted):
        """It tells bytes, rate and time. A script has none by itself, though it be slow."""
        (tmp_path / "a.jsonl").write_bytes(b'{"id": "urn:x:y"}\n' * 1000)
        monkeypatch.setattr(progress, "_DELAY", 0)
        urnscan.scan(tmp_path, progress=wanted)
        urnscan.deduplicate(tmp_path / "a.jsonl", progress=wanted)
        err = capfd.readouterr().err
        for word in ("scanning", "grouping", "reading", "joining", "B/s", "/18.0k", "[00:00"):
            assert (word in err) == (wanted is True), word

    @pytest.mark.parametrize("wanted", [True, False, None])
    def test_of_columns_and_contexts(self, tmp_path, capfd, monkeypatch, wanted):
        """They take minutes where there is much to read; a bar of texts has their number."""
        (tmp_path / "a.txt").write_bytes(b"urn:x:y " * 1000)
        (tmp_path / "b.txt").write_bytes(b"nothing " * 1000)
        found = urnscan.scan(tmp_path, progress=False)
        monkeypatch.setattr(progress, "_DELAY", 0)
        series = pd.Series(["urn:x:y", "a text", "a text"])
        for call, words in (
            (lambda: found.context("urn:x:y", limit=1, progress=wanted), ("reading:", "0.00/8.00k", "B/s")),
            (lambda: series.urn.find(progress=wanted), ("scanning:", "0.00/13.0", "B/s")),
            (lambda: series.urn.count(progress=wanted), ("scanning:", "0.00/13.0", "B/s")),
            (lambda: urnscan.scan_frame(series.to_frame("a"), progress=wanted), ("scanning:", "0.00/19.0", "B/s")),
            (lambda: series.urn.explain(progress=wanted), ("explaining:", "0.00/2.00", "texts/s")),
        ):
            capfd.readouterr()
            call()
            err = capfd.readouterr().err
            for word in words:
                assert (word in err) == (wanted is True), word

    def test_columns_and_contexts_come_to_their_end(self, tmp_path, monkeypatch):
        """Also where the last wanted occurrence stands far before the end of an input, or a value stands twice."""
        stages = []

        def tell(more):
            stages[-1].append(more)

        def show(*asked):
            stages.append([asked[2](), 0])
            return progress.Progress(
                on_progress=tell,
                on_stage=lambda stage: stages.append([stage.total, 0]),
            )

        monkeypatch.setattr(shared, "show_if_wanted", show)
        for name in ("a.txt", "b.txt"):
            (tmp_path / name).write_bytes(b"urn:x:y " + b" " * 3_000_000)
        (tmp_path / "c.txt.gz").write_bytes(gzip.compress(b"urn:x:y"))
        (tmp_path / "d.txt").write_bytes(b"nothing")
        found = urnscan.scan(tmp_path)
        stages.clear()
        found.context("urn:x:y")
        series = pd.Series(["urn:x:y", "a text", None, "a text"])
        series.urn.find()
        series.urn.explain()
        sizes = sum((tmp_path / name).stat().st_size for name in ("a.txt", "b.txt", "c.txt.gz"))
        assert [total for total, *_ in stages if total is not None] == [sizes, 13, 2]
        assert all(sum(told) == total for total, *told in stages if total is not None)

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

    @pytest.mark.full
    def test_outputs(self):
        pytest.importorskip("ipywidgets")
        setup, shown, error, wrong, compiled, more, bar, without = run(
            "import urnscan, urnscan.display.progress, sys, IPython.display as shown\n"
            "urnscan.display.progress._DELAY = 60  # a run that compiles takes longer than half a second\n"
            f"samples = {str(SAMPLES)!r}\n"
            "found = urnscan.scan(samples)",
            "found.context('urn:nbn:de:bvb:99-lantern-26')",
            "# a comment\nurnscan.parse('urn:a:b c')",
            "urnscan.scan('x', syntax='rfc8142')",
            "import time\nfrom urnscan.compiled import jit, object_code\n"
            "object_code.save = lambda *_: None\n"
            "one = jit.compiled(lambda number: number + 1)\n"
            "x = one(1), time.sleep(0.6), one(1.5)",
            "x = one(1j)",
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
        assert (
            wrong[0].traceback[0]
            == "ArgumentError: syntax: unknown value 'rfc8142'; choose from rfc2141, rfc8141, rfc2141bis-03; is it rfc8141?"
        )
        assert len(wrong[0].traceback) == 2
        for said in (compiled, more):
            assert said[0].name == "stderr"
            assert said[0].text.startswith("urnscan: compiling for this machine, once, what this call needs")
            assert said[0].text.count("\n") == len(said) == 1, "each cell that has to wait says so once"
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
