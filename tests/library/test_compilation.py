"""Compiling ahead: what is said, and where the result is kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import urnscan
from urnscan.compiled import jit, object_code
from urnscan.library import compilation
from urnscan.library.compilation import WarmUp
from urnscan.run.options import Options

USED = """
import sys
import urnscan
from urnscan.compiled.jit import Entry

assert urnscan.warm_up().is_kept
modules = [module for name, module in sys.modules.items() if name.startswith("urnscan.")]
entries = {value for module in modules for value in vars(module).values() if isinstance(value, Entry)}
print(*sorted(entry.__qualname__ for entry in entries if not entry.kinds))
print(*sorted({entry.__module__ for entry in entries}))
"""


@pytest.mark.full
def test_all_functions_are_used():
    """A new compiled function has to be part of what is compiled ahead."""
    done = subprocess.run([sys.executable, "-c", USED], capture_output=True, check=True, text=True)
    unused, modules = done.stdout.splitlines()
    assert unused == ""
    package = Path(urnscan.__file__).parent
    found = {source for source in object_code.SOURCES if "@compiled\n" in (package / source).read_text()}
    assert set(modules.split()) == {f"urnscan.{source.removesuffix('.py').replace('/', '.')}" for source in found}


HALF = """
import gc
from urnscan.compiled.jit import Entry
from urnscan.library.compilation import use_half

use_half()
print(*sorted(entry.__name__ for entry in gc.get_objects() if isinstance(entry, Entry) and entry.kinds))
"""


@pytest.mark.full
def test_half_of_the_functions_needs_none_of_the_others():
    """A second process compiles them beside the first one, so nothing may be compiled in both."""
    done = subprocess.run([sys.executable, "-c", HALF], capture_output=True, check=True, text=True)
    assert done.stdout == "_judge _look_up _write_forms hunt\n"


@pytest.mark.full
@pytest.mark.parametrize(("script", "functions"), [("print(); print()", 2), ("raise SystemExit(9)", 0)])
def test_a_second_process_compiles_where_nothing_is_kept(monkeypatch, script, functions):
    """If it fails, nothing is lost: here all is kept anyway."""
    monkeypatch.setattr(compilation, "Options", lambda: Options(jobs=2))
    monkeypatch.setattr(object_code, "count", lambda: 0)
    monkeypatch.setattr(compilation, "_USE_HALF", script)
    urnscan.warm_up()
    assert urnscan.warm_up().compiled == functions


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (WarmUp(0, 0.1, Path("/a")), "everything is already compiled; compiled code is kept in /a"),
        (WarmUp(21, 17.25, Path("/a")), "compiled 21 functions in 17.2 s; compiled code is kept in /a"),
        (WarmUp(1, 1, None), f"compiled 1 function in 1.0 s; {jit.NOT_KEPT}"),
    ],
)
def test_a_result_in_one_line(result, text):
    assert str(result) == text
    assert result.is_kept == (result.folder is not None)


def test_without_compilation(monkeypatch):
    """Nothing is to be kept, so nothing is missing."""
    monkeypatch.setattr(jit, "IS_COMPILED", False)
    assert str(urnscan.warm_up()) == "nothing is compiled: NUMBA_DISABLE_JIT is set"
    assert urnscan.warm_up().is_kept


class TestNotice:
    """The line that is shown while functions are compiled."""

    @pytest.fixture(autouse=True)
    def no_command(self, monkeypatch):
        """A test before this may have run the command in this process, which tells all in one line."""
        monkeypatch.setattr(jit._WATCH, "is_all", False)
        monkeypatch.setattr(object_code, "wheel_machine", lambda: None)

    def test_beside_the_package(self, monkeypatch):
        monkeypatch.setattr(object_code, "cache_folder", lambda: Path(jit.__file__).parent / "__pycache__")
        with jit.all_in_one():
            assert jit.notice() == "compiling for this machine, once, takes about a minute"
        assert jit.notice() == (
            "compiling for this machine, once, what this call needs: up to a minute; "
            "urnscan.warm_up() does it for all calls"
        )

    def test_elsewhere(self, monkeypatch):
        """For example in the user's home, where the package's folder is read-only."""
        monkeypatch.setattr(object_code, "cache_folder", lambda: Path("/home/a/.cache/urnscan/urnscan_0"))
        assert jit.notice().endswith("; the result is kept in /home/a/.cache/urnscan")
        with jit.all_in_one():
            assert jit.notice().endswith("once, takes about a minute; the result is kept in /home/a/.cache/urnscan")

    def test_nowhere(self, monkeypatch):
        monkeypatch.setattr(object_code, "cache_folder", lambda: None)
        assert jit.notice() == f"compiling takes about a minute in each run, as {jit.NOT_KEPT}"
        assert not object_code.is_complete()
        object_code.mark_complete()


@pytest.mark.full
@pytest.mark.parametrize(
    ("session", "shown"), [("import sys; sys.ps1 = ''; sys.stderr.isatty = lambda: True", 3), ("", 0)]
)
def test_only_an_interactive_session_is_told(tmp_path, session, shown):
    """A program that uses the library has its standard error for itself.

    Each call that has to wait says so, also a later one: here the first, the third, and the two that are told as one.
    """
    script = (
        f"{session}\nimport time\nimport numpy\nfrom urnscan.compiled.jit import all_in_one, compiled\n"
        "@compiled\ndef one(number):\n    return number + 1\n"
        "one(1), one(1.5)\n"
        "time.sleep(0.6)\none(1j)\n"
        "with all_in_one():\n    one(numpy.int8(1))\n    time.sleep(0.6)\n    one(numpy.float32(1))\n"
    )
    path = tmp_path / "script.py"
    path.write_text(script)
    done = subprocess.run([sys.executable, path], capture_output=True, check=True, text=True)
    assert done.stderr.count("urnscan: compiling") == shown == len(done.stderr.splitlines())
