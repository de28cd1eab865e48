"""What docs/howto/tables.md shows of engines works, in those that are installed; the rest of it: test_sessions.py."""

import doctest
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "howto" / "tables.md").read_text(encoding="utf-8")
BEGINNING = re.search(r"^```python\n>>> import pyarrow as pa, urnscan\n.*?^```$", PAGE, re.MULTILINE | re.DOTALL)[0]
SECTIONS = re.split(r"^### ", PAGE.partition("\n## Other engines and formats\n")[2], flags=re.MULTILINE)[1:]
MODULES = {"Dask": "dask", "Ray Data": "ray", "Avro": "fastavro"}
MODULES |= {"ORC": "pyarrow.orc", "Delta Lake": "deltalake", "Iceberg": "pyiceberg"}


def sessions(text):
    return "".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


def test_every_engine_has_a_section():
    assert [section.partition("\n")[0] for section in SECTIONS] == [*MODULES]


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning", "ignore::DeprecationWarning")  # theirs
@pytest.mark.parametrize("section", SECTIONS, ids=MODULES)
def test_section(section, tmp_path, monkeypatch):
    """The session prints what it shows, in a folder of its own with the samples."""
    name = section.partition("\n")[0]
    pytest.importorskip(MODULES[name])
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(
        sessions(BEGINNING) + sessions(section), {}, name, "docs/howto/tables.md", 0
    )
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.tries > 6
    assert runner.failures == 0
