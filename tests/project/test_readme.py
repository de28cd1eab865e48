"""CI runs the README's second line, and what the README points to is there; its sessions are in test_sessions.py."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_two_lines():
    """Exactly two lines to copy, and the second is what CI runs."""
    (block,) = re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    lines = block.strip().splitlines()
    assert len(lines) == 2
    assert lines[0].endswith(".venv/bin/urnscan data/samples -o urns.parquet")
    assert "pytest" in lines[1]
    assert "grep -m 1 '^python3 -m venv .*pytest' README.md" in (ROOT / ".ci" / "run").read_text()


def test_links():
    """Every file that the README points to is there."""
    targets = re.findall(r"\]\(([^)#:]+)\)", README)
    assert len(targets) > 10
    for target in targets:
        assert (ROOT / target).exists(), target
