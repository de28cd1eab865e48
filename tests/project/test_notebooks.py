"""The notebooks run, and what is printed in them was really printed.

After a change, `python notebooks/make.py` writes them anew.
"""

import re
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_output

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

    def test_links(self, name):
        """Every file that it points to is there."""
        for cell in committed(name).cells:
            for target in re.findall(r"\]\(([^)#:]+)\)", cell.source) if cell.cell_type == "markdown" else ():
                assert (ROOT / "notebooks" / target).exists(), target


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
