"""What the README prints was really printed, and its commands are those that work."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SECONDS = re.compile(r"\b\d+\.\d s$", re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the samples, and the classes that the first command of the README writes."""
    folder = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "data", folder / "data")
    return folder


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def sessions():
    """The (command, output) pairs of all console blocks, in their order."""
    for block in blocks("console"):
        for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = session.partition("\n")
            yield command, output


def test_console_blocks(folder):
    """Every command shown prints what is shown, but for the seconds."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    found = list(sessions())
    assert len(found) >= 4
    for command, output in found:
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert SECONDS.sub("N s", done.stdout + done.stderr) == SECONDS.sub("N s", output), command


def test_python_blocks(folder, monkeypatch):
    """Every Python session shown gives what is shown; run after the command that writes `urns.parquet`."""
    if not (folder / "urns.parquet").exists():
        test_console_blocks(folder)
    monkeypatch.chdir(folder)
    names = {}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    for number, block in enumerate(blocks("python")):
        test = doctest.DocTestParser().get_doctest(block, names, f"README block {number}", "README.md", 0)
        runner.run(test, clear_globs=False)
        names = test.globs
    assert runner.tries > 8
    assert runner.failures == 0


def test_two_lines():
    """Exactly two lines to copy, and the second is what CI runs."""
    (block,) = blocks("sh")
    lines = block.strip().splitlines()
    assert len(lines) == 2
    assert lines[0].endswith(".venv/bin/urnscan data/samples -o urns.parquet")
    assert "pytest" in lines[1]
    assert "grep -m 1 '^python3 -m venv .*pytest' README.md" in (ROOT / ".ci" / "run").read_text()


def test_links():
    """Every file that the README points to is there."""
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target
