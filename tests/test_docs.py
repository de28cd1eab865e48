"""The pages of docs/ that are written by programs are what these write now."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_page_of_the_namespaces():
    """docs/namespaces.md follows the table of rules; `python docs/make_namespaces.py` writes it anew."""
    spec = importlib.util.spec_from_file_location("make_namespaces", ROOT / "docs" / "make_namespaces.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.page() == module.PAGE.read_text(encoding="utf-8")
    assert module.page().count("\n## ") == 105
