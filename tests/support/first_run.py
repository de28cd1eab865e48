"""The first run of the command in a checkout, which compiles: a minute of CPU, so its result is kept for the tests of first runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import urnscan
from urnscan.compiled import object_code

if TYPE_CHECKING:
    import pytest

PROSE = urnscan.samples() / "prose.txt"
NAME = "first-run"
"""The folder in that of pytest's cache."""


def run_first(config: pytest.Config) -> None:
    """Run the command once. Where nothing was compiled before, keep a copy of all that it compiled, and what it said."""
    is_first = not object_code.count()
    words = [sys.executable, "-m", "urnscan", PROSE, "--quiet"]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    cache = getattr(config, "cache", None)  # pytest's; `-p no:cacheprovider` takes it away
    code = object_code.cache_folder()
    if is_first and cache and code:
        shutil.rmtree(cache.mkdir(NAME))
        shutil.copytree(code, cache.mkdir(NAME) / "code", ignore=shutil.ignore_patterns("*.pyc"))
        (cache.mkdir(NAME) / "out").write_bytes(done.stdout)
        (cache.mkdir(NAME) / "err").write_bytes(done.stderr)


def lay_first_run(config: pytest.Config, folder: Path) -> tuple[bytes, bytes]:
    """Make the folder one that a first run had as NUMBA_CACHE_DIR; what that run said on both streams.

    It is a copy of what `run_first` kept, or, where this is no more of the present code, of a first run now.
    """
    cache = getattr(config, "cache", None)
    kept = cache.mkdir(NAME) if cache else folder
    if object_code._mark(kept / "code", object_code._machine()).exists():
        with patch.dict(os.environ, {"NUMBA_CACHE_DIR": str(folder)}):
            there = object_code.cache_folder.__wrapped__()
        shutil.copytree(kept / "code", there, dirs_exist_ok=True)
        return (kept / "out").read_bytes(), (kept / "err").read_bytes()
    environment = {"NUMBA_CACHE_DIR": str(folder), "LANG": "C.UTF-8"}
    words = [Path(sys.executable).with_name("urnscan"), PROSE, "--quiet"]
    done = subprocess.run(words, env=environment, capture_output=True, check=True, timeout=1000)
    return done.stdout, done.stderr
