"""CI runs the README's second line, and what the README points to is there; its sessions are in test_sessions.py."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_two_lines():
    """Two blocks of one line to copy, each with its duration and what it leaves; the second is what CI runs."""
    (scan, about_scan), (tests, about_tests) = re.findall(r"^```sh\n(.*)\n```\n\n(.+)$", README, re.MULTILINE)
    assert scan.endswith(".venv/bin/urnscan data/samples -o urns.parquet")
    assert "pytest" in tests
    for about in (about_scan, about_tests):
        assert "minutes" in about
        assert "leaves" in about
        assert "`.venv/`" in about
    assert "grep -m 1 '^python3 -m venv .*pytest' README.md" in (ROOT / ".ci" / "run").read_text()


def test_links():
    """Every file that the README points to is there."""
    targets = re.findall(r"\]\(([^)#:]+)\)", README)
    assert len(targets) > 10
    for target in targets:
        assert (ROOT / target).exists(), target
