"""What `import urnscan` and the command load, and the public names of the package."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

import urnscan

HEAVY = {
    "llvmlite",
    "numba",
    "numpy",
    "pandas",
    "pyarrow",
    "scipy",
    "lxml",
    "jinja2",
    "duckdb",
    "polars",
    "matplotlib",
    "tqdm",
}


def loaded_after(code):
    """Which heavy libraries are loaded when a fresh interpreter has run this."""
    report = f"\nimport sys\nprint(*sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code + report], check=True, capture_output=True, text=True)
    return set(done.stdout.splitlines()[-1].split())


def blamed(*runs, unwanted):
    """How many runs of the command, one after the other in a fresh interpreter, ended well; and those that load what no run should.

    Each of them that comes after the first that does is told, too.
    """
    script = f"""
import sys
from urnscan.cli import main
statuses, found = [], []
for words in {runs!r}:
    statuses.append(main(words))
    found += [words] * bool({unwanted!r} & set(sys.modules))
print()
print((statuses.count(0), found))
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return ast.literal_eval(done.stdout.splitlines()[-1])


class TestLight:
    """Contract: "`import urnscan` alone loads neither pandas nor pyarrow nor Numba." """

    @pytest.mark.parametrize(
        "code",
        [
            "import urnscan",
            "import urnscan; urnscan.parse('urn:a:b'); urnscan.equivalent('urn:a:b', 'URN:a:b')",
            "import urnscan; urnscan.explain('urn:isbn:1').as_dict(); urnscan.nid_status('isbn')",
            "import urnscan; dir(urnscan); urnscan.__all__; hasattr(urnscan, 'nothing')",
            "import urnscan.cli",
        ],
    )
    def test_loads_nothing_heavy(self, code):
        assert loaded_after(code) == set()

    @pytest.mark.full
    def test_no_run_of_the_command_loads_pandas(self, tmp_path, monkeypatch):
        """Nor SciPy: what a run does not need costs each start a fifth of a second. pyarrow's conversions load it."""
        monkeypatch.chdir(tmp_path)
        (tmp_path / "a.txt").write_text("urn:isbn:9780395363416\n")
        for name in ("one.parquet", "other.parquet"):
            urnscan.scan("a.txt").to_parquet(name)
        assert blamed(
            ["a.txt"],
            ["a.txt", "--json"],
            ["a.txt", "--unique"],
            ["a.txt", "-c"],
            ["a.txt", "-o", "-", "--json"],
            ["a.txt", "-o", "c.parquet"],
            ["dedup", "--record", "line", "a.txt", "-o", "d.parquet"],
            ["merge", "one.parquet", "other.parquet", "-o", "m.parquet"],
            ["diff", "one.parquet", "other.parquet"],
            unwanted={"pandas", "scipy", "jinja2"},
        ) == (9, [])

    @pytest.mark.full
    def test_no_run_on_the_samples_loads_pandas(self, tmp_path, monkeypatch):
        """Tables with null, rejects and pages: functions of pyarrow load it when they are given a number."""
        monkeypatch.chdir(tmp_path)
        assert blamed(
            [str(urnscan.samples() / "holdings.parquet"), "-o", "c.parquet"],
            [str(urnscan.samples() / "prose.txt"), "--rejects", "r.parquet"],
            ["dedup", str(urnscan.samples() / "catalogue.marcxml.xml"), "--fields", "--report", "page"],
            unwanted={"pandas", "scipy"},
        ) == (3, [])

    @pytest.mark.full
    def test_parts_of_a_large_file_do_not_load_pandas(self):
        """Their lines are counted anew for each part, and added up."""
        code = (
            "import pyarrow as pa; from urnscan.compiled.arrow import *; from urnscan.run.task_results import add_lines"
        )
        rows = "pa.RecordBatch.from_arrays([number_array(np.zeros(2, np.int64))], names=['line'])"
        assert not loaded_after(f"{code}; add_lines({rows}, 7)") & {"pandas", "scipy"}

    @pytest.mark.full
    def test_what_is_loaded_when_it_is_used(self):
        """Else the test above would see nothing."""
        assert loaded_after("import urnscan; urnscan.find('')") == {"llvmlite", "numpy"}
        assert "pyarrow" in loaded_after("import urnscan; urnscan.scan")


class TestNames:
    """`urnscan.__all__` lists the public names, each of which is loaded when it is used."""

    def test_names_of_the_contract(self):
        names = {"parse", "URN", "canonical", "equivalent", "find", "Occurrence", "scan", "Scan", "scan_batches"}
        names |= {"InvalidURN", "SourceError", "FatalError", "UrnscanError"}
        assert names <= set(urnscan.__all__)

    def test_all_of_the_package(self):
        for name in urnscan.__all__:
            assert getattr(urnscan, name) is not None
        assert {name for names in urnscan._LATER.values() for name in names} <= set(urnscan.__all__)
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            urnscan.nothing  # noqa: B018

    @pytest.mark.full
    def test_dir(self):
        """Completion shows the public names and the modules for other libraries alone, in a new session and when more is loaded."""
        show = "print(*[name for name in dir(urnscan) if not name.startswith('__')])"
        more = "urnscan.scan, urnscan.spark, urnscan.cli"
        code = f"import urnscan; {show}; import urnscan.spark, urnscan.cli; {more}; {show}"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        assert [line.split() for line in done.stdout.splitlines()] == [
            sorted([*urnscan.__all__, *urnscan._OF_OTHERS])
        ] * 2
