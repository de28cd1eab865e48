"""Modules: what `import urnscan` loads, who may open files and print, and what each module says of itself."""

from __future__ import annotations

import ast
import functools
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import urnscan

FOLDER = Path(urnscan.__file__).parent


LIGHT = {"version", "display", "errors", "urn"}
"""What `import urnscan` may load at once."""
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

# Who may open files, and how it does. (cli: /dev/null in the place of a broken pipe; records: a table of its own.)
OPENING = {"open", "fdopen", "OSFile", "memory_map", "open_file", "open_stream", "new_file", "ParquetWriter"}
OPENING |= {
    "read_text",
    "read_bytes",
    "write_text",
    "write_bytes",
    "NamedTemporaryFile",
    "TemporaryFile",
    "mkstemp",
    "ParquetFile",
}
MAY_OPEN = {"arrays.object_code", "urn.namespaces.registry", "records.fields"}
"""Modules that read files of the package."""
MAY_OPEN |= {"library.compilation"}
"""A module that writes texts of its own, to scan them."""
MAY_OPEN |= {"urn.namespaces.own"}
"""A module that reads a file of the user's, of which it keeps the checksum."""
MAY_OPEN |= {"spark.folders"}
"""A module that writes what a folder of results says of itself."""
OF_ITS_OWN = {
    "urnscan.sources.archives.pdfium_script",
    "urnscan.sources.script_start",
}
"""Scripts that are processes of their own: they write to a pipe, and end without the commands."""
MAY_OPEN |= {"grouping", "tables.reading", "output", "run", "dedup", "sources"}
"""Packages, and a module of one, that read and write files of users."""


def allowed(module):
    """The entry of MAY_OPEN that a module falls under, or None."""
    name = module.name.removeprefix("urnscan.")
    return next((entry for entry in (name, module.package) if entry in MAY_OPEN), None)


class Module(NamedTuple):
    """A file of the package, parsed."""

    name: str
    package: str
    tree: ast.Module
    lines: int


@functools.cache
def modules():
    """All modules of the package, parsed once, by the first test that asks."""
    return list(_parsed())


def _parsed():
    for path in sorted(FOLDER.rglob("*.py")):
        parts = list(path.relative_to(FOLDER).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        text = path.read_text()
        yield Module(".".join(["urnscan", *parts]), parts[0] if parts else "", ast.parse(text), text.count("\n"))


def is_type_checking(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def imports(tree, *, for_types=True, nested=True):
    """The dotted names of the modules that a module imports: everywhere, or but for type checkers, or at its top."""
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import"
            if node.module == "urnscan":  # a package, or a name of urnscan itself
                yield from (f"urnscan.{alias.name}" for alias in node.names if (FOLDER / alias.name).is_dir())
            else:
                yield node.module
        elif for_types or not is_type_checking(node):
            if nested or not isinstance(node, ast.FunctionDef | ast.ClassDef):
                waiting += ast.iter_child_nodes(node)


def packages_of(names):
    return {name.split(".")[1] for name in names if name.startswith("urnscan.")}


def libraries_of(names):
    return {name.split(".")[0] for name in names} - set(sys.stdlib_module_names) - {"urnscan"}


def calls(tree):
    """The last names of all that is called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                yield node.func.attr, node
            elif isinstance(node.func, ast.Name):
                yield node.func.id, node


class TestImports:
    """Libraries are imported where they are used."""

    def test_pandas_only_for_types(self):
        """pyarrow loads it when a frame is asked for, and users with `import urnscan.pandas`."""
        users = {module.name for module in modules() if "pandas" in libraries_of(imports(module.tree, for_types=False))}
        assert users == {"urnscan.pandas"}

    def test_of_the_package_itself(self):
        """At once only what is light."""
        (package,) = (module for module in modules() if not module.package)
        at_once = list(imports(package.tree, for_types=False, nested=False))
        assert packages_of(at_once) <= LIGHT
        assert libraries_of(at_once) == set()

    def test_of_the_command(self):
        """--help and explain do without what is heavy: it is imported where it is used."""
        for module in modules():
            if module.package == "cli":
                at_once = list(imports(module.tree, for_types=False, nested=False))
                assert packages_of(at_once) <= LIGHT | {"cli", "scanner"}  # the names of the views, which are light
                assert not libraries_of(at_once) & HEAVY
        assert not loaded_after("import urnscan.cli")

    def test_only_compiled_knows_numba(self):
        users = {module.package for module in modules() if "numba" in libraries_of(imports(module.tree))}
        assert users == {"arrays"}

    def test_progress_bars_only_in_one_place(self):
        """The command and the library have the same one."""
        users = {module.package for module in modules() if "tqdm" in libraries_of(imports(module.tree))}
        assert users == {"display"}

    def test_no_import_by_name(self):
        """Which no table would see: only the package does it, for its own."""
        users = {
            module.package
            for module in modules()
            for name, _ in calls(module.tree)
            if name in ("import_module", "__import__", "exec", "eval")
        }
        assert users == {""}


class TestDeeds:
    """ "only `cli` prints; only `sources` and `output` open files", but for the registry's table and spilled rows."""

    def test_only_cli_prints(self):
        printing, on_streams = set(), set()
        for module in modules():
            for node in ast.walk(module.tree):
                if isinstance(node, ast.Name) and node.id == "print":
                    printing.add(module.package)
                if isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr", "__stdout__"):
                    on_streams.add(module.package)
        assert printing == {"cli"}
        streams = {"cli", "display", "dedup", "library", "sources"}
        assert on_streams == streams, "but for a bar, and for pipes between our own processes"

    def test_who_opens_files(self):
        for module in modules():
            found = [ast.unparse(node) for name, node in calls(module.tree) if name in OPENING]
            if module.name == "urnscan.cli":
                assert found == ["os.open(os.devnull, os.O_WRONLY)"]
            else:
                assert not found or allowed(module), module.name

    def test_who_may_does(self):
        """Else the test above looks for the wrong names."""
        opening = {allowed(module) for module in modules() for name, _ in calls(module.tree) if name in OPENING}
        assert opening - {None} == MAY_OPEN

    def test_only_cli_ends_the_process(self):
        ending = set()
        for module in modules():
            for node in ast.walk(module.tree):
                if (isinstance(node, ast.Name) and node.id == "SystemExit") or (
                    isinstance(node, ast.Attribute) and ast.unparse(node) in ("sys.exit", "os._exit")
                ):
                    ending.add(module.name if module.name in OF_ITS_OWN else module.package)
        assert ending <= {"cli", "__main__", *OF_ITS_OWN}

    def test_no_assertions_about_what_users_give(self):
        """`python -O` takes assertions out: what is left are notes to the type checker, marked as such."""
        for path in FOLDER.rglob("*.py"):
            for line in path.read_text().splitlines():
                assert not line.lstrip().startswith("assert ") or "type checker" in line, path


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

    def test_no_run_on_the_samples_loads_pandas(self, tmp_path, monkeypatch):
        """Tables with null, rejects and pages: functions of pyarrow load it when they are given a number."""
        monkeypatch.chdir(tmp_path)
        assert blamed(
            [str(urnscan.samples() / "holdings.parquet"), "-o", "c.parquet"],
            [str(urnscan.samples() / "prose.txt"), "--rejects", "r.parquet"],
            ["dedup", str(urnscan.samples() / "catalogue.marcxml.xml"), "--fields", "--report", "page"],
            unwanted={"pandas", "scipy"},
        ) == (3, [])

    def test_parts_of_a_large_file_do_not_load_pandas(self):
        """Their lines are counted anew for each part, and added up."""
        code = "import pyarrow as pa; from urnscan.arrays.arrow import *; from urnscan.run.pieces import add_lines"
        rows = "pa.RecordBatch.from_arrays([number_array(np.zeros(2, np.int64))], names=['line'])"
        assert not loaded_after(f"{code}; add_lines({rows}, 7)") & {"pandas", "scipy"}

    def test_what_is_loaded_when_it_is_used(self):
        """Else the test above would see nothing."""
        assert loaded_after("import urnscan; urnscan.find('')") == {"llvmlite", "numpy"}
        assert "pyarrow" in loaded_after("import urnscan; urnscan.scan")


class TestNames:
    """`__all__` lists the public names; other modules mark their private names with an underscore."""

    def test_all_of_a_module(self):
        for module in modules():
            if not module.name.endswith("__main__"):  # importing it is running it
                loaded = importlib.import_module(module.name)
                said = getattr(loaded, "__all__", [])
                assert len(set(said)) == len(said), module.name
                assert not [name for name in said if name.startswith("_") or not hasattr(loaded, name)], module.name

    def test_modules_are_found(self):
        found = {name for _, name, _ in pkgutil.walk_packages([str(FOLDER)], "urnscan.")}
        assert {module.name for module in modules()} == found | {"urnscan"}

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

    def test_dir(self):
        """Completion shows the public names and the modules for other libraries alone, in a new session and when more is loaded."""
        show = "print(*[name for name in dir(urnscan) if not name.startswith('__')])"
        more = "urnscan.scan, urnscan.spark, urnscan.cli"
        code = f"import urnscan; {show}; import urnscan.spark, urnscan.cli; {more}; {show}"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        assert [line.split() for line in done.stdout.splitlines()] == [
            sorted([*urnscan.__all__, *urnscan._OF_OTHERS])
        ] * 2

    def test_star(self):
        names = {}
        exec("from urnscan import *", names)
        assert set(urnscan.__all__) <= set(names)

    def test_version(self):
        assert urnscan.__version__.count(".") == 2

    def test_docstrings_begin_with_their_subject(self):
        """CONTRIBUTING, "Ways": `help()` of a name is understood alone. "What follows …" or "It …" is not."""
        pronouns = {
            "What",
            "That",
            "Those",
            "This",
            "These",
            "It",
            "Its",
            "They",
            "There",
            "He",
            "Who",
            "Where",
            "How",
            "As",
        }
        found = []
        for module in modules():
            for node in ast.walk(module.tree):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                    words = (ast.get_docstring(node) or "-").split()
                    if words[0] in pronouns or words[:2] == ["The", "same"]:
                        found.append((module.name, getattr(node, "name", ""), " ".join(words[:8])))
        assert found == []

    def test_lengths(self):
        """CONTRIBUTING, "Ways": a module has at most 400 lines, a function 60 below its signature and docstring."""
        found = [(module.name, lines) for module in modules() if (lines := module.lines) > 400]
        for module in modules():
            for node in ast.walk(module.tree):
                if isinstance(node, ast.FunctionDef):
                    body = node.body[1:] if ast.get_docstring(node) else node.body
                    if body and node.end_lineno - body[0].lineno >= 60:
                        found.append((module.name, node.name))
        assert found == []
