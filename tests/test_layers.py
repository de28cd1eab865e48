"""The rooms of the house: what each may import, and what only some may do.

The table below is that of the architecture as the code stands. A room to the left knows nothing of those to its right.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import urnscan

FOLDER = Path(urnscan.__file__).parent


class Room(NamedTuple):
    """A module, or a package that stands for one."""

    name: str
    rooms: frozenset[str] = frozenset()
    """The rooms that it may import; all stand to its left."""
    libraries: frozenset[str] = frozenset()
    """What it may import that is not Python's own."""


def room(name, rooms="", libraries=""):
    return Room(name, frozenset(rooms.split()), frozenset(libraries.split()))


# From left to right.
ROOMS = [
    room("showing", "", "regex"),
    room("errors", "showing"),
    room("sizes", "", "regex"),
    room("shipped"),
    room("syntax", "showing errors", "regex"),
    room("namespaces", "errors syntax", "regex stdnum"),
    room("equivalence", "syntax namespaces"),
    room("lookalikes", "", "regex homoglyphs_fork"),
    room("explanation", "showing errors syntax namespaces equivalence lookalikes"),
    room("compiled", "", "numba numpy"),
    room("octets", "compiled", "numpy"),
    room("strings", "compiled octets", "numpy"),
    room("links", "compiled", "numpy"),
    room("kernel", "compiled links octets syntax", "numpy"),
    room("scanner", "compiled links octets syntax kernel", "numpy"),
    room("verdicts", "compiled octets strings namespaces", "numpy"),
    room("views", "compiled strings syntax links octets kernel scanner verdicts", "numpy regex"),
    room("finding", "showing scanner syntax equivalence", "numpy"),
    room("records", "errors namespaces", "lxml regex"),
    room("sources", "errors compiled", "numpy pyarrow isal zstandard lz4 brotli fsspec ijson"),
    room("arrow", "compiled strings", "numpy pyarrow"),
    room(
        "tables",
        "arrow compiled octets strings scanner syntax namespaces equivalence verdicts lookalikes views",
        "numpy pyarrow",
    ),
    room("columns", "arrow scanner views", "numpy pyarrow"),
    room("adding", "errors arrow compiled strings tables", "numpy pyarrow"),
    room("ranges", "compiled strings", "numpy"),
    room("grouping", "errors adding arrow ranges strings", "numpy pyarrow"),
    room("output", "errors arrow sources", "numpy pyarrow"),
    room("parallel"),
    room("spilling", "errors", "pyarrow"),
    room("running", "errors sources"),
    room("progress", "", "tqdm IPython"),
    room("options", "errors sizes syntax equivalence scanner sources views"),
    room("planning", "errors options sources views"),
    room("holding", "errors scanner sources", "numpy pyarrow"),
    room(
        "worker", "errors arrow scanner sources tables columns options planning running holding views", "numpy pyarrow"
    ),
    room("shards", "errors holding output planning sources", "numpy pyarrow"),
    room(
        "pipeline", "showing errors tables grouping holding parallel options planning running shards worker", "pyarrow"
    ),
    room("context", "showing errors syntax records sources options", "numpy pyarrow pandas"),
    room(
        "library",
        "showing errors syntax arrow scanner tables columns progress options planning running pipeline context views",
        "numpy pyarrow pandas",
    ),
    room(
        "spark",
        "errors arrow adding tables columns options pipeline planning running sources views worker",
        "numpy pyarrow pyspark py4j regex",
    ),
    room("report", "showing errors arrow tables", "jinja2 markupsafe numpy pyarrow"),
    room(
        "dedup",
        "showing errors arrow compiled strings columns records sources tables output progress options planning running spilling views report",
        "numpy pyarrow pandas",
    ),
    room(
        "cli",
        "showing errors sizes arrow syntax equivalence explanation records sources tables output progress options planning pipeline shards views report spark dedup",
        "regex pyarrow",
    ),
    room("__main__", "cli"),
]
BY_NAME = {room.name: room for room in ROOMS}
LIGHT = {"showing", "errors", "sizes", "progress", "syntax", "namespaces", "equivalence", "lookalikes", "explanation"}
"""What `import urnscan` may load at once."""
HEAVY = {"numba", "numpy", "pandas", "pyarrow", "scipy", "lxml", "jinja2", "duckdb", "matplotlib", "tqdm"}

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
MAY_OPEN = {
    "compiled",  # the sources, for the key of the cache
    "sources",
    "output",
    "namespaces",
    "grouping",
    "holding",
    "spilling",
    "shards",
    "dedup",
    "records",
    "report",
}


class Module(NamedTuple):
    """A file of the package, parsed."""

    name: str
    room: str
    tree: ast.Module


def modules():
    for path in sorted(FOLDER.rglob("*.py")):
        parts = list(path.relative_to(FOLDER).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        yield Module(".".join(["urnscan", *parts]), parts[0] if parts else "", ast.parse(path.read_text()))


MODULES = list(modules())
DOORS = {module.name for module in MODULES if len(module.tree.body) == 1}
"""Packages that only say what is in them."""
every_module = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)


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
            if node.module == "urnscan":  # a room, or a name of the package itself
                yield from (f"urnscan.{alias.name}" if alias.name in BY_NAME else "urnscan" for alias in node.names)
            else:
                yield node.module
        elif for_types or not is_type_checking(node):
            if nested or not isinstance(node, ast.FunctionDef | ast.ClassDef):
                waiting += ast.iter_child_nodes(node)


def rooms_of(names):
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


class TestTable:
    """The table is one of rooms in a row, and has them all."""

    def test_every_module_stands_in_a_room(self):
        assert {module.room for module in MODULES} == {"", *BY_NAME}

    def test_nobody_imports_a_room_to_its_right(self):
        """ "A run is one way through the house, left to right … Nobody calls back to the left." """
        for number, room in enumerate(ROOMS):
            assert room.rooms <= {left.name for left in ROOMS[:number]}, room.name


class TestImports:
    """The table's right column."""

    @every_module
    def test_rooms(self, module):
        if module.room:
            allowed = BY_NAME[module.room].rooms | {module.room}
            assert rooms_of(imports(module.tree)) <= allowed

    @every_module
    def test_libraries(self, module):
        if module.room:
            assert libraries_of(imports(module.tree)) <= BY_NAME[module.room].libraries

    def test_pandas_only_for_types(self):
        """pyarrow loads it when a frame is asked for."""
        for module in MODULES:
            assert "pandas" not in libraries_of(imports(module.tree, for_types=False))

    def test_of_the_package_itself(self):
        """At once only what is light."""
        (package,) = (module for module in MODULES if not module.room)
        at_once = list(imports(package.tree, for_types=False, nested=False))
        assert rooms_of(at_once) <= LIGHT
        assert libraries_of(at_once) == set()

    def test_of_the_command(self):
        """--help and explain do without what is heavy: it is imported where it is used."""
        for module in MODULES:
            if module.room == "cli":
                at_once = list(imports(module.tree, for_types=False, nested=False))
                assert rooms_of(at_once) <= LIGHT | {"cli", "views"}  # the names of the views, which are light
                assert not libraries_of(at_once) & HEAVY
        assert not loaded_after("import urnscan.cli")

    def test_only_compiled_knows_numba(self):
        users = {module.room for module in MODULES if "numba" in libraries_of(imports(module.tree))}
        assert users == {"compiled"}

    def test_progress_bars_only_in_one_place(self):
        """The command and the library have the same one."""
        users = {module.room for module in MODULES if "tqdm" in libraries_of(imports(module.tree))}
        assert users == {"progress"}

    def test_no_import_by_name(self):
        """Which no table would see: only the package does it, for its own."""
        users = {
            module.room
            for module in MODULES
            for name, _ in calls(module.tree)
            if name in ("import_module", "__import__", "exec", "eval")
        }
        assert users == {"", "namespaces"}


class TestDeeds:
    """ "only `cli` prints; only `sources` and `output` open files", but for the registry's table and spilled rows."""

    def test_only_cli_prints(self):
        printing, on_streams = set(), set()
        for module in MODULES:
            for node in ast.walk(module.tree):
                if isinstance(node, ast.Name) and node.id == "print":
                    printing.add(module.room)
                if isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr", "__stdout__"):
                    on_streams.add(module.room)
        assert printing == {"cli"}
        assert on_streams == {"cli", "progress"}, "but for a bar"

    def test_who_opens_files(self):
        for module in MODULES:
            found = [ast.unparse(node) for name, node in calls(module.tree) if name in OPENING]
            if module.name == "urnscan.cli":
                assert found == ["os.open(os.devnull, os.O_WRONLY)"]
            else:
                assert not found or module.room in MAY_OPEN, module.name

    def test_who_may_does(self):
        """Else the test above looks for the wrong names."""
        opening = {module.room for module in MODULES for name, _ in calls(module.tree) if name in OPENING}
        assert opening == {*MAY_OPEN, "cli"}

    def test_only_cli_ends_the_process(self):
        ending = set()
        for module in MODULES:
            for node in ast.walk(module.tree):
                if (isinstance(node, ast.Name) and node.id == "SystemExit") or (
                    isinstance(node, ast.Attribute) and ast.unparse(node) in ("sys.exit", "os._exit")
                ):
                    ending.add(module.room)
        assert ending <= {"cli", "__main__"}

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

    @pytest.mark.parametrize(
        "words",
        [["a.txt"], ["a.txt", "--json"], ["a.txt", "-o", "c"], ["dedup", "--record", "line", "a.txt", "-o", "c"]],
    )
    def test_no_run_of_the_command_loads_pandas(self, tmp_path, monkeypatch, words):
        """Nor SciPy: what a run does not need costs each start a fifth of a second. pyarrow's conversions load it."""
        monkeypatch.chdir(tmp_path)
        (tmp_path / "a.txt").write_text("urn:isbn:9780395363416\n")
        assert not loaded_after(f"from urnscan.cli import main; main({words!r})") & {"pandas", "scipy", "jinja2"}

    def test_what_is_loaded_when_it_is_used(self):
        """Else the test above would see nothing."""
        assert loaded_after("import urnscan; urnscan.find('')") == {"numba", "numpy"}
        assert "pyarrow" in loaded_after("import urnscan; urnscan.scan")


class TestNames:
    """Every module says in `__all__` what it is for, and what it says is there."""

    @every_module
    def test_all_of_a_module(self, module):
        if module.name.endswith("__main__") or module.name in DOORS:
            return  # importing it is running it, or gives nothing
        loaded = importlib.import_module(module.name)
        assert len(set(loaded.__all__)) == len(loaded.__all__) > 0
        for name in loaded.__all__:
            assert not name.startswith("_")
            assert hasattr(loaded, name), name

    def test_modules_are_found(self):
        found = {name for _, name, _ in pkgutil.walk_packages([str(FOLDER)], "urnscan.")}
        assert {module.name for module in MODULES} == found | {"urnscan"}

    def test_names_of_the_contract(self):
        names = {"parse", "URN", "canonical", "equivalent", "find", "Occurrence", "scan", "Scan", "scan_batches"}
        names |= {"InvalidURN", "SourceError", "FatalError", "UrnscanError"}
        assert names <= set(urnscan.__all__)

    def test_all_of_the_package(self):
        for name in urnscan.__all__:
            assert getattr(urnscan, name) is not None
            assert name in dir(urnscan)
        assert set(urnscan._LATER) <= set(urnscan.__all__)
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            urnscan.nothing  # noqa: B018

    def test_star(self):
        names = {}
        exec("from urnscan import *", names)
        assert set(urnscan.__all__) <= set(names)

    def test_version(self):
        assert urnscan.__version__.count(".") == 2

    @every_module
    def test_first_lines_say_which(self, module):
        """ "one file does one thing and its first lines say which" """
        assert ast.get_docstring(module.tree)

    @every_module
    def test_public_things_are_documented_and_typed(self, module):
        """Contract: "Everything public has type hints and a docstring"."""
        if module.name.endswith("__main__") or module.name in DOORS:
            return
        loaded = importlib.import_module(module.name)
        for name in loaded.__all__:
            thing = inspect.unwrap(getattr(getattr(loaded, name), "py_func", getattr(loaded, name)))
            things = {name: thing} if inspect.isfunction(thing) else {}
            if inspect.isclass(thing):
                assert thing.__doc__, name
                things = {
                    f"{name}.{key}": value
                    for key, value in vars(thing).items()
                    if inspect.isfunction(value) and not key.startswith("_")
                }
            for path, function in things.items():
                assert function.__doc__, path
                signature = inspect.signature(function)
                hints = [
                    parameter.annotation for parameter in signature.parameters.values() if parameter.name != "self"
                ]
                assert inspect.Signature.empty not in [*hints, signature.return_annotation], path
