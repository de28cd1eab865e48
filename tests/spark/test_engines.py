"""What docs/howto/engines.md shows works, in those of the engines that are installed."""

import doctest
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "engines.md").read_text(encoding="utf-8")
BEGINNING, *SECTIONS = re.split(r"^## ", PAGE, flags=re.MULTILINE)
MODULES = {"pandas": "pandas", "Polars": "polars", "DuckDB": "duckdb", "Dask": "dask", "Ray Data": "ray"}


def sessions(text):
    return "".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


def test_every_engine_has_a_section():
    assert [section.partition("\n")[0] for section in SECTIONS] == [*MODULES]


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning", "ignore::DeprecationWarning")  # theirs
@pytest.mark.parametrize("section", SECTIONS, ids=MODULES)
def test_section(section):
    """The session prints what it shows."""
    name = section.partition("\n")[0]
    pytest.importorskip(MODULES[name])
    test = doctest.DocTestParser().get_doctest(
        sessions(BEGINNING) + sessions(section), {}, name, "docs/howto/engines.md", 0
    )
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.tries > 6
    assert runner.failures == 0
