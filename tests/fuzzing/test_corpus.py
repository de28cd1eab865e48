"""The corpora of fuzzing, with what it found: each input of them keeps the promises of its target."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from tests.fuzzing.__main__ import replay
from tests.fuzzing.corpora import CORPORA, add, inputs
from tests.fuzzing.targets import TARGETS

ROOT = Path(__file__).parents[2]
COMPILED = ["kernel", "parse", "rules"]
"""The targets of what is compiled; the others hardly run any of it."""
_MAX_BYTES = 300_000  # of all corpora: they are read with every run of the tests


def run(*words, **environment):
    """What the command prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.fuzzing", *words],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout.splitlines()


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name, target in TARGETS.items() if not target.python])
def test_each_input(name):
    """As the targets are: nothing is raised that is not told to be, nothing found that the oracles do not find."""
    replay(name)


def test_every_corpus_has_a_target_and_inputs():
    assert set(CORPORA.iterdir()) == {target.corpus for target in TARGETS.values()}
    assert all(map(inputs, CORPORA.iterdir()))


def test_a_find_is_added_once(tmp_path):
    """An archive made again of the same inputs, in any order, has the same bytes: what changes in Git is what was found."""
    for name, data in (("one", [b"a", b"b", b"a"]), ("other", [b"b", b"a"])):
        add(tmp_path / name, data)
        add(tmp_path / name, data)
    assert sorted(inputs(tmp_path / "one").values()) == [b"a", b"b"]
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_corpora_are_small():
    assert sum(len(data) for path in CORPORA.iterdir() for data in inputs(path).values()) < _MAX_BYTES


@pytest.mark.full
def test_without_compiling():
    """In plain Python NumPy warns of what overflows; nothing does."""
    lines = run(*COMPILED, "--replay", NUMBA_DISABLE_JIT="1")
    assert [line.partition(":")[0] for line in lines] == COMPILED


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_no_index_is_out_of_bounds(tmp_path):
    """Compiled code looks at no byte that is not its own. (Compiling it anew takes a while, without LLVM's passes less.)"""
    lines = run(*COMPILED, "--replay", NUMBA_BOUNDSCHECK="1", NUMBA_OPT="0", NUMBA_CACHE_DIR=str(tmp_path))
    assert [line.partition(":")[0] for line in lines] == COMPILED


@pytest.mark.full
@pytest.mark.parametrize("name", ["urls", "parse", "kernel-python"])
def test_the_fuzzer_runs(tmp_path, name):
    """It is given the corpus, and goes on from there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("atheris")
    (line,) = run(name, "--seconds", "5", "--folder", str(tmp_path))
    assert int(line.split()[1].replace(",", "")) > len(inputs(TARGETS[name].corpus))
    assert line.endswith(" 0 finds")
    assert any((tmp_path / "corpus" / TARGETS[name].corpus_name).iterdir())
