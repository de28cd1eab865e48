"""Compiled functions: what is in the cache is loaded without the compiler, and what is not is compiled all the same."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import urnscan
from urnscan.arrays.jit import SOURCES, compiled, inner, read_only, source_key

RENAMED = "; C.load_overload = lambda self, *key: self.get(*key)"
PACKAGE = Path(urnscan.__file__).parent
PLANTED = """

from urnscan.arrays.jit import compiled as _planter

@_planter
def planted():
    return {value}
"""
CALLER = """
from urnscan.arrays.jit import compiled
from urnscan.{module} import planted

@compiled
def caller():
    return planted()

print(caller(), "loaded" if caller.stats.cache_hits else "compiled")
"""

MODULE = """
import sys
import numpy as np
from urnscan.arrays.jit import compiled

@compiled
def inner(values, factor):
    total = 0
    for i in range(len(values)):
        total += values[i] * factor
    return total

@compiled
def outer(values):
    return inner(values, 2), len(values)

print(outer(np.array([3, 1, 2])))
print("compiler", "numba.np.arraymath" in sys.modules)
if len(sys.argv) > 1:
    print(inner(np.array([1.5]), 2), outer(np.array([1.5])))
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "module.py").write_text(MODULE)

    def run(*arguments, **environment):
        return subprocess.run(
            [sys.executable, tmp_path / "module.py", *arguments],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")} | environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.splitlines()

    return run


@pytest.mark.slow
def test_what_is_cached_is_loaded_without_the_compiler(run):
    """Start-up: getting ready to compile is a quarter of it, and only the first run compiles."""
    first, second = run(), run()
    assert first[0] == second[0] == "(12, 3)"
    assert (first[1], second[1]) == ("compiler True", "compiler False")


@pytest.mark.slow
def test_what_is_not_cached_is_compiled_behind_what_is(run):
    """Other types of arguments: the compiler gets ready in a process that began without it."""
    run()
    assert run("more")[2] == "3.0 (3.0, 1)"


def test_without_compilation(run):
    """In a debugger functions are plain Python."""
    assert run(NUMBA_DISABLE_JIT="1")[1] == "compiler False"


@pytest.mark.slow
def test_without_a_place_for_the_cache(run):
    """A machine on which nothing can be written compiles each time."""
    assert run(NUMBA_CACHE_DIR="/proc/nowhere")[0].startswith("(12, ")


def test_python_cannot_call_an_inner_function():
    """It has no entry for Python: such a call would end the process."""

    @inner
    def added(number):
        return number + 1

    @compiled
    def called(number):
        return added(number)

    for _ in range(2):  # before and after its first compilation
        with pytest.raises(TypeError, match="only compiled functions"):
            added(1)
        assert called(1) == 2


def test_read_only():
    array = np.zeros(2)
    view = read_only(array)
    assert not view.flags.writeable
    assert array.flags.writeable
    assert view.base is array


def names_from_package(tree):
    """Names that a module imports from the package, with their modules."""
    return {
        alias.asname or alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("urnscan.")
        for alias in node.names
    }


def compiled_functions(tree):
    """Functions with a decorator, and names of functions that are compiled by a call."""
    ours = {name for name, module in names_from_package(tree).items() if module == "urnscan.arrays.jit"}
    compiling = ours & {"compiled", "inner", "inlined"}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            if any(ast.unparse(decorator) in compiling for decorator in node.decorator_list):
                yield node
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in compiling:
            yield node.args[0]


class TestSources:
    """A cached function is stale as soon as anything changes that became part of it, in whichever file it stands."""

    def test_the_list_is_complete(self):
        """Each file with a compiled function, and each file whose names such a function uses."""
        found = {"arrays/jit.py"}
        for path in PACKAGE.rglob("*.py"):
            tree = ast.parse(path.read_text())
            modules = names_from_package(tree)
            for function in compiled_functions(tree):
                found.add(path.relative_to(PACKAGE).as_posix())
                used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
                found |= {
                    f"{modules[name].removeprefix('urnscan.').replace('.', '/')}.py" for name in used & {*modules}
                }
        assert found == set(SOURCES)

    def test_a_change_makes_another_key(self, tmp_path):
        """In each of the files."""
        for source in SOURCES:
            (tmp_path / source).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PACKAGE / source, tmp_path / source)
        keys = {source_key(tmp_path)}
        for source in SOURCES:
            with (tmp_path / source).open("a") as file:
                file.write("#")
            keys.add(source_key(tmp_path))
        assert len(keys) == len(SOURCES) + 1

    @pytest.mark.slow
    @pytest.mark.parametrize("source", ["arrays/octets.py", "scanner/views/windows.py", "urn/syntax.py"])
    def test_a_change_takes_effect(self, tmp_path, source):
        """A compiled function of another file calls the one that changes, and is in the cache."""
        shutil.copytree(PACKAGE, tmp_path / "urnscan", ignore=shutil.ignore_patterns("*.nb[ic]", "__pycache__"))
        module = source.removesuffix(".py").replace("/", ".")
        (tmp_path / "caller.py").write_text(CALLER.format(module=module))
        changed = tmp_path / "urnscan" / source
        text = changed.read_text()
        results = []
        for value in (1, 1, 2):
            changed.write_text(text + PLANTED.format(value=value))
            done = subprocess.run(
                [sys.executable, "caller.py"],
                cwd=tmp_path,
                # Python tells a changed file by its size and the second in which it was written.
                env=os.environ
                | {
                    "PYTHONPATH": str(tmp_path),
                    "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
                    "PYTHONDONTWRITEBYTECODE": "1",
                },
                check=True,
                capture_output=True,
                text=True,
            )
            results.append(done.stdout.split())
        assert results == [["1", "compiled"], ["1", "loaded"], ["2", "compiled"]]
        assert len(list(tmp_path.glob("cache/*/caller.caller*.nbi"))) == 1, "files of the old key are removed"

    def test_versions_are_part_of_the_key(self, monkeypatch):
        """NumPy's functions become part of compiled code as well."""
        keys = {source_key(PACKAGE)}
        monkeypatch.setattr("numpy.__version__", "0.0")
        keys.add(source_key(PACKAGE))
        monkeypatch.setattr("numba.__version__", "0.0")
        keys.add(source_key(PACKAGE))
        assert len(keys) == 3


@pytest.mark.slow
class TestAnotherNumba:
    """A Numba without the private parts that make starts fast: starts are slow, and all works."""

    @pytest.mark.parametrize(
        "change",
        [
            "import numba.core.caching as c; del c.IndexDataCacheFile",
            "import numba.core.caching as c; c.FunctionCache.__init__ = lambda self: None",
            "from numba.core.caching import Cache as C; C.get = C._load_overload; del C._load_overload",
            "import numba.core.options as o; del o.DefaultOptions._nrt",
        ],
    )
    def test_without_a_private_part(self, run, tmp_path, change):
        (tmp_path / "sitecustomize.py").write_text(change + RENAMED * ("C.get" in change))
        for _ in range(2):
            assert run(PYTHONPATH=f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")[0].startswith("(12, ")
