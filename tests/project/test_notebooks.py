"""The notebooks run, and what is printed in them was really printed.

After a change, `python notebooks/make.py` writes them anew.
"""

import re
import zipfile
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_output

import urnscan
from tests.support.scripts import script

ROOT = Path(__file__).parents[2]
NAMES = ["01-explore.ipynb", "02-equivalence.ipynb", "03-deduplicate.ipynb", "04-large.ipynb"]


make = script("notebooks/make.py")


def committed(name):
    return make.read(ROOT / "notebooks" / name)


def told(notebook, *, spark):
    """The cells' IDs, and what they show; where Spark is not there, not what those for it show."""
    code = (cell for cell in notebook.cells if cell.cell_type == "code")
    return {cell.id: make.shown(cell) for cell in code if spark or not make.is_spark(cell)}


def test_all_are_tested():
    assert [path.name for path in make.paths()] == NAMES


@pytest.mark.full
@pytest.mark.timeout(900)  # a cold cache compiles the scanner
def test_they_show_what_a_run_shows(tmp_path):
    """Every cell runs, and prints what is printed in the file. All in one test: each process of pytest would run them again."""
    spark = make.has_spark()
    for name, notebook in make.run(tmp_path).items():
        assert told(notebook, spark=spark) == told(committed(name), spark=spark), name


@pytest.mark.full
@pytest.mark.timeout(900)
def test_a_corpus_of_archives(tmp_path):
    """ "Put its path into CORPUS, and run all cells" holds for archives: `start` counts in each member.

    Without the member in the key of its join, the first notebook once printed "60150 of 1823 occurrences change".
    """
    crawl = tmp_path / "crawl.zip"
    with zipfile.ZipFile(crawl, "w") as members:
        for name in ("one.txt", "two.txt"):
            members.writestr(name, "see urn:isbn:0-395-36341-1.")
        members.writestr("three.txt", "<urn:nbn:de:gbv:7-isbn-2003-1>")
    [explore] = make.run(tmp_path, [ROOT / "notebooks" / NAMES[0]], {"CORPUS": str(crawl)}).values()
    shown = str(list(told(explore, spark=False).values()))
    assert "2 of 3 occurrences change; 2 classes become 2." in shown
    assert "Names with a problem or a hint: 1. Wrong: 0." in shown  # the hint `dnb-check-digit` makes no name wrong


@pytest.mark.full
@pytest.mark.timeout(900)
def test_dumps_of_another_format(tmp_path):
    """Where no title is found, nothing is judged.

    All records without a title once counted as one work, and the third notebook printed "precision 1.0, recall 0.02".
    """
    for name in ("one.ris", "two.ris"):
        record = f"TY  - JOUR\nTI  - Drying times of invented inks\nDO  - 10.5555/ink.1\nDB  - {name}\nER  - \n"
        (tmp_path / name).write_text(record, encoding="utf-8")
    parameters = {"CORPUS": str(tmp_path), "DUMPS": ["one.ris", "two.ris"]}
    [notebook] = make.run(tmp_path, [ROOT / "notebooks" / NAMES[2]], parameters).values()
    shown = told(notebook, spark=False)
    assert "2 of 2 records have no title" in str(shown["deduplicate-14"])
    assert "precision" not in str(shown["deduplicate-14"])
    assert "doi:10.5555/ink.1" in str(shown["deduplicate-10"])  # `fields` joins them, and anywhere joins nothing
    assert "Warning" not in str(shown)
    # Also where there is nothing to decide.
    assert "Groups in doubt: 0, of these decided: 0. Decisions that were not applied: 0." in str(
        shown["deduplicate-29"]
    )


@pytest.mark.parametrize("name", NAMES)
class TestEach:
    def test_is_normalised(self, name):
        """No times, no editor's metadata, cells numbered in their order: `git diff` shows what was changed and nothing else."""
        notebook = committed(name)
        assert (ROOT / "notebooks" / name).read_text(encoding="utf-8") == make.written(make.normalised(notebook))
        ids = [cell.id for cell in notebook.cells]
        assert len(set(ids)) == len(ids)

    def test_outputs_are_clean(self, name):
        """No warnings, no traces of a progress bar, nothing of the machine on which it ran."""
        for cell in committed(name).cells:
            for output in cell.get("outputs", ()):
                assert output.output_type != "error"
                assert output.get("name") != "stderr", output.text
                text = " ".join([output.get("text", ""), *map(str, output.get("data", {}).values())])
                assert not re.search(
                    r"Warning|/tmp/|/home/|/root/|/Users/|site-packages| at 0x|it/s\]|widget-view", text
                )

    def test_parameters(self, name):
        """`papermill -p CORPUS …` changes the corpus: it adds a cell after the tagged one, and no later cell sets it anew."""
        code = [cell for cell in committed(name).cells if cell.cell_type == "code"]
        assert [cell.metadata.get("tags", ()).count(make.PARAMETERS) for cell in code] == [1] + [0] * (len(code) - 1)
        assert [bool(re.search(r"^(CORPUS|DUMPS) = ", cell.source, re.MULTILINE)) for cell in code].count(True) == 1
        assert "CORPUS = " in code[0].source

    def test_links(self, name):
        """Every file that it points to is there."""
        for cell in committed(name).cells:
            for target in re.findall(r"\]\(([^)#:]+)\)", cell.source) if cell.cell_type == "markdown" else ():
                assert (ROOT / "notebooks" / target).exists(), target


@pytest.fixture(scope="module")
def browser():
    pytest.importorskip("ipywidgets")
    helpers = script("notebooks/helpers.py")
    classes = urnscan.scan(ROOT / "notebooks" / "corpus", trim=True, equivalence="namespace").to_pandas()
    return helpers.Browser(classes)


class TestBrowser:
    """The widgets of the first notebook filter the classes by namespace, by problem, and by a part of a name or spelling."""

    @pytest.fixture(autouse=True)
    def _cleared(self, browser):
        browser.nid.value = browser.problem.value = browser.name.value = ""

    def test_all(self, browser):
        assert len(browser.selected) == len(browser.classes)
        assert "urn:ietf:params:xml:ns:epp-1.0" in browser.table.value

    def test_each(self, browser):
        browser.nid.value = "isbn"
        assert set(browser.selected["nid"]) == {"isbn"}
        assert "urn:ietf:" not in browser.table.value
        browser.problem.value = "template"
        assert browser.selected["urn"].tolist() == ["urn:isbn:n-nn-nnnnnn-n"]
        browser.name.value = "no such name"
        assert len(browser.selected) == 0
        assert "0 of " in browser.table.value

    def test_spellings(self, browser):
        """A name is found by a spelling that is not its canonical form, in any case."""
        browser.name.value = "isbn:0-395-36341-1"
        assert browser.selected["urn"].tolist() == ["urn:isbn:9780395363416"]

    def test_saved(self, browser):
        """A notebook that no kernel runs shows the table."""
        shown = browser._repr_mimebundle_()
        assert shown["text/html"] == browser.table.value
        assert make._WIDGET in shown


def test_corpus():
    """Small, and nothing but names: each line is one, with the characters next to it."""
    files = sorted((ROOT / "notebooks" / "corpus").iterdir())
    assert sum(file.stat().st_size for file in files) < 300_000
    for file in files:
        assert re.fullmatch(r"(rfc\d+|registration-[a-z0-9-]+)\.txt", file.name)
        for line in file.read_text(encoding="ascii").splitlines():
            assert re.fullmatch(r".?urn:\S+", line, re.IGNORECASE), (file, line)


def test_spark_cells_hold_a_run_on_spark():
    """What is committed is from a machine where Spark is."""
    cells = [cell for cell in committed(NAMES[-1]).cells if make.is_spark(cell)]
    assert len(cells) >= 4
    assert all(cell.outputs for cell in cells)
    assert "Skipped" not in str([make.shown(cell) for cell in cells])


@pytest.mark.full
class TestWhatCounts:
    """The comparison itself can fail."""

    def shown(self, text, kind="stream", **data):
        output = new_output(kind, data=data) if data else new_output(kind, text=text)
        return make.shown(new_code_cell(outputs=[output]))

    def test_numbers(self):
        assert self.shown("3 names, 0.4 s") == self.shown("3  names, 11.5 s")
        assert self.shown("3 names, 0.4 s") != self.shown("4 names, 0.4 s")
        assert self.shown("2.0 sources") != self.shown("3.0 sources")

    def test_errors_of_the_command(self):
        assert self.shown("3 names") != make.shown(
            new_code_cell(outputs=[new_output("stream", name="stderr", text="3 names")])
        )

    def test_tables(self):
        """What stands in a table counts, and not how that is marked up."""

        def table(cell, style=""):
            return self.shown(
                "", "display_data", **{"text/html": f"<style>{style}</style><td>{cell}</td>", "text/plain": "x"}
            )

        assert table(1) == table(1, "td { color: black }")
        assert table(1) != table(2)

    def test_pictures(self):
        """There must be one; what it looks like may differ with the fonts."""
        picture = self.shown("", "display_data", **{"image/png": "AAAA", "text/plain": "<Figure>"})
        assert picture == self.shown("", "display_data", **{"image/png": "BBBB", "text/plain": "<Figure>"})
        assert picture != self.shown("", "display_data", **{"text/plain": "<Figure>"})
