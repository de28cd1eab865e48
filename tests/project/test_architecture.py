"""Pages about the code name packages and files that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_packages_are_in_the_table():
    """CONTRIBUTING.md says of each package what its one job is."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("\n| package |")[2].partition("\n\n")[0]
    first = "\n".join(row.split("|")[1] for row in table.splitlines()[2:])
    folder = ROOT / "urnscan"
    packages = {path.name for path in folder.glob("*.py") if not path.name.startswith("__")}
    packages |= {f"{path.parent.name}/" for path in folder.glob("*/__init__.py")}
    assert set(re.findall(r"`([\w/]+(?:\.py)?)`", first)) == packages


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md", "docs/extending.md", "docs/testing.md"])
def test_files_that_pages_name_exist(page):
    """Pages about the code are no use if they name files that were moved."""
    text = (ROOT / page).read_text(encoding="utf-8")
    names = set(re.findall(r"`((?:[\w-]+/)*[\w-]+(?:/|\.(?:py|toml|csv|md|txt)))`", text))
    # Examples of the glossary, and of a package of somebody else.
    names -= {"dumps/", "letters/1.txt", "urnscan_extras.py"}
    assert names
    files = [
        file.as_posix()
        for name in ("urnscan", "tests", "docs", "benchmarks", "share")
        for file in (ROOT / name).rglob("*")
    ]
    files += [file.as_posix() for file in ROOT.glob("*")]
    assert not [name for name in names if not any(f"{file}/".endswith(f"/{name.rstrip('/')}/") for file in files)]
