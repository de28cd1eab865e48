"""Compiled functions: what is in the cache is loaded without the compiler, and what is not is compiled all the same."""

import os
import subprocess
import sys

import numpy as np
import pytest

from urnscan.compiled import read_only

MODULE = """
import sys
import numpy as np
from urnscan.compiled import compiled

@compiled
def inner(values, factor):
    total = 0
    for i in range(len(values)):
        total += values[i] * factor
    return total

@compiled
def outer(values):
    return inner(values, 2), np.sort(values)[0], len(np.concatenate((values, values)))

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


def test_what_is_cached_is_loaded_without_the_compiler(run):
    """Start-up: getting ready to compile is a quarter of it, and only the first run compiles."""
    first, second = run(), run()
    assert first[0] == second[0] == "(12, np.int64(1), 6)".replace("np.int64(1)", "1")
    assert (first[1], second[1]) == ("compiler True", "compiler False")


def test_what_is_not_cached_is_compiled_behind_what_is(run):
    """Other types of arguments: the compiler gets ready in a process that began without it."""
    run()
    assert run("more")[2] == "3.0 (3.0, 1.5, 2)"


def test_without_compilation(run):
    """In a debugger functions are plain Python."""
    assert run(NUMBA_DISABLE_JIT="1")[1] == "compiler False"


def test_without_a_place_for_the_cache(run):
    """A machine on which nothing can be written compiles each time."""
    assert run(NUMBA_CACHE_DIR="/proc/nowhere")[0].startswith("(12, ")


def test_read_only():
    array = np.zeros(2)
    view = read_only(array)
    assert not view.flags.writeable
    assert array.flags.writeable
    assert view.base is array
