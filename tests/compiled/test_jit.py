"""Compiled functions: code that is kept is called without Numba, and what is not kept is compiled all the same."""

import ast
import functools
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import urnscan
from urnscan.compiled import jit, numba_internals, object_code
from urnscan.compiled.jit import compiled, inlined, inner, read_only, with_last
from urnscan.compiled.object_code import SOURCES, ObjectCode, source_key

PACKAGE = Path(urnscan.__file__).parent
PLANTED = """

from urnscan.compiled.jit import compiled as _planter

@_planter
def planted():
    return {value}
"""
CALLER = """
from urnscan.compiled import jit, object_code
from urnscan.compiled.jit import compiled
from urnscan.{module} import planted

@compiled
def caller():
    return planted()

print(caller(), "compiled" if jit.count() else "loaded")
"""

SCRIPT = """
import sys
import numpy as np
from urnscan.compiled.bytes import count_lf

print(count_lf(np.frombuffer(b"a\\nb\\n", np.uint8), 0, 4))
print("Numba", "numba" in sys.modules)
if len(sys.argv) > 1:
    print(count_lf(np.array([10, 9, 10]), 0, 3))
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)

    def run(*arguments, **environment):
        return subprocess.run(
            [sys.executable, tmp_path / "script.py", *arguments],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")} | environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.splitlines()

    return run


@pytest.mark.full
def test_what_is_kept_is_called_without_numba(run):
    """Start-up: Numba is half of it, and only the first run compiles."""
    first, second = run(), run()
    assert first[0] == second[0] == "2"
    assert (first[1], second[1]) == ("Numba True", "Numba False")


@pytest.mark.full
def test_what_is_not_kept_is_compiled_behind_what_is(run):
    """Other types of arguments: Numba is loaded in a process that began without it."""
    run()
    assert run("more")[2] == "2"


@pytest.mark.full
def test_without_compilation(run):
    """In a debugger functions are plain Python."""
    assert run(NUMBA_DISABLE_JIT="1")[1] == "Numba False"


@pytest.mark.full
def test_without_a_place_for_the_cache(run):
    """A machine on which nothing can be written compiles each time."""
    assert run(NUMBA_CACHE_DIR="/proc/nowhere")[0] == "2"


@pytest.mark.full
@pytest.mark.parametrize("decorator", [inner, inlined])
def test_python_cannot_call_an_inner_function(decorator):
    """It has no entry for Python: such a call would end the process."""

    @decorator
    def added(number):
        return number + 1

    @compiled
    def called(number):
        return added(number)

    for _ in range(2):  # before and after its first compilation
        with pytest.raises(TypeError, match="only compiled functions"):
            added(1)
        assert called(1) == 2


@compiled
def bytes_of(array):
    return array.itemsize * array.size


class TestKinds:
    """Code for one kind of arguments is never called with another: it would read other memory than it was given."""

    @pytest.mark.full
    def test_each_kind_has_code_of_its_own(self):
        arrays = [
            np.zeros(3, np.int8),
            np.zeros(3, np.int64),
            np.zeros((3, 2), np.int8),
            read_only(np.zeros(3, np.int8)),
        ]
        assert [bytes_of(array) for array in arrays] == [3, 24, 6, 3]
        assert [bytes_of(array) for array in arrays] == [3, 24, 6, 3]
        assert len(bytes_of.kinds) == 4

    @pytest.mark.parametrize("array", [np.zeros(6, np.int8)[::2], np.zeros((2, 3), np.int8).T])
    def test_an_array_with_gaps_is_refused(self, array):
        with pytest.raises(TypeError, match="without gaps"):
            bytes_of(array)


@compiled
def added_to(array, others, sums):
    sums[0] += array.itemsize * array.size + others[0].size


@pytest.mark.full
@pytest.mark.parametrize("function", [added_to, functools.partial(added_to)])
def test_last_arguments_given(function):
    """Each call looks at the kinds of its own arguments, and works on the arrays that were given before, as they are then."""
    sums = np.zeros(1, np.int64)
    call = with_last(function, (np.zeros(5, np.uint8),), sums)
    for array in (np.zeros(3, np.int8), np.zeros(3, np.int64), np.zeros(2, np.int8)):
        sums += 100
        call(array)
    assert sums.tolist() == [300 + (3 + 24 + 2) + 3 * 5]
    with pytest.raises(TypeError, match="without gaps"):
        call(np.zeros((3, 2), np.int8)[:, 0])


def test_threads_compile_a_function_once():
    """Two workers that need the same function: one waits for the other."""

    @compiled
    def doubled(number):
        return 2 * number

    before = jit.count()
    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(doubled, range(8))] == [*range(0, 16, 2)]
    assert jit.count() == before + 1


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


def is_compiled(function, names):
    """Whether a function has a decorator that compiles it."""
    return any(
        isinstance(decorator, ast.Name)
        and decorator.id in {"compiled", "inner", "inlined"}
        and names.get(decorator.id) == "urnscan.compiled.jit"
        for decorator in function.decorator_list
    )


class TestSources:
    """A cached function is stale as soon as anything changes that became part of it, in whichever file it stands."""

    @pytest.mark.full
    def test_the_list_is_complete(self):
        """Each file with a compiled function, and each file whose names such a function uses, also by plain functions and
        by constants: the dashes of a list in another file were part of compiled code that a longer list left as it was.
        """
        trees = {path: ast.parse(path.read_text()) for path in PACKAGE.rglob("*.py")}
        imports = {path: names_from_package(tree) for path, tree in trees.items()}
        functions = {
            (path, node.name): node
            for path, tree in trees.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef)
        }
        constants = {
            (path, target.id): node.value
            for path, tree in trees.items()
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in ast.walk(ast.Tuple(node.targets))
            if isinstance(target, ast.Name)
        }
        definitions = constants | functions
        pending = [key for key, function in functions.items() if is_compiled(function, imports[key[0]])]
        found = {PACKAGE / f"compiled/{name}.py" for name in ("compiler", "jit", "numba_internals")}
        seen = {*pending}
        for path, name in pending:  # the list grows during the loop
            found.add(path)
            for node in ast.walk(definitions[path, name]):
                if not isinstance(node, ast.Name):
                    continue
                module = imports[path].get(node.id)
                of = path if module is None else PACKAGE.parent / f"{module.replace('.', '/')}.py"
                found.add(of)
                if (key := (of, node.id)) in definitions and key not in seen:
                    seen.add(key)
                    pending.append(key)
        assert {path.relative_to(PACKAGE).as_posix() for path in found} == set(SOURCES)

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

    @pytest.mark.full
    def test_a_change_takes_effect(self, tmp_path):
        """A compiled function of another file calls the one that changes, and is in the cache."""
        source = "scanner/views/windows.py"
        shutil.copytree(PACKAGE, tmp_path / "urnscan", ignore=shutil.ignore_patterns("__pycache__"))
        module = source.removesuffix(".py").replace("/", ".")
        (tmp_path / "urnscan" / "caller.py").write_text(CALLER.format(module=module))
        changed = tmp_path / "urnscan" / source
        text = changed.read_text()
        results = []
        for value in (1, 1, 2):
            changed.write_text(text + PLANTED.format(value=value))
            done = subprocess.run(
                [sys.executable, "-c", "import urnscan.caller"],
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
        assert len(list(tmp_path.glob("cache/*/urnscan.caller.caller.*"))) == 1, "files of the old key are removed"

    def test_versions_are_part_of_the_key(self, monkeypatch, tmp_path):
        """NumPy's functions become part of compiled code as well."""
        keys = {source_key(PACKAGE)}
        monkeypatch.setattr("numpy.__version__", "0.0")
        keys.add(source_key(PACKAGE))
        (tmp_path / "_version.py").write_text("another")
        monkeypatch.setattr("importlib.util.find_spec", lambda _: SimpleNamespace(origin=str(tmp_path / "__init__.py")))
        keys.add(source_key(PACKAGE))
        assert len(keys) == 3


@pytest.mark.full
class TestAnotherNumba:
    """A Numba with other private parts: each process compiles, and all works."""

    @pytest.mark.parametrize(
        "change",
        [
            "import numba.core.options as o; del o.DefaultOptions._nrt",
            "from numba.core.codegen import CodeLibrary as C; del C._get_compiled_object",
            "from numba.core.compiler import CompileResult as C; del C._find_referenced_environments",
        ],
    )
    def test_without_a_private_part(self, run, tmp_path, change):
        (tmp_path / "sitecustomize.py").write_text(change)
        for _ in range(2):
            assert run(PYTHONPATH=f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")[0] == "2"


def test_without_the_modules_in_c(monkeypatch):
    """Another Numba may have them elsewhere: nothing is kept, and what others kept is not called."""
    monkeypatch.setattr("importlib.machinery.PathFinder.find_spec", lambda *_: None)
    monkeypatch.setattr(object_code, "c_modules", numba_internals.c_modules.__wrapped__)
    for name in ("_can_load", "cache_folder", "wheel_machine"):
        monkeypatch.setattr(object_code, name, getattr(object_code, name).__wrapped__)
    assert object_code.cache_folder() is None
    assert object_code.load("a.b", ()) is None
    object_code.save("a.b", (), ObjectCode("entry", "environment", b"bytes"))


def test_code_that_cannot_be_linked_is_not_kept():
    """LLVM ends the process where a symbol is missing, such as one of Numba's that counts references."""
    assert numba_internals.can_link(["memcpy", "PyTuple_New", "PyExc_TypeError", "numba_adapt_ndarray"])
    assert not numba_internals.can_link(["memcpy", "NRT_MemInfo_call_dtor"])


@pytest.mark.parametrize("damage", [b"", b"a\nb", b"a"])
def test_a_file_that_is_no_code_is_compiled_again(monkeypatch, tmp_path, damage):
    """For example of another program, or left by a disk that was full."""
    monkeypatch.setattr(object_code, "cache_folder", lambda: tmp_path)
    object_code.save("a.b", (int,), ObjectCode("entry", "environment", b"bytes"))
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage)
    assert object_code.load("a.b", (int,)) is None
