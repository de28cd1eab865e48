"""The columns of all tables can be asked for as they are called, and files with earlier names are read."""

import duckdb
import pandas as pd
import pytest

import urnscan.pandas  # noqa: F401 (gives series their functions)
from urnscan.library.context import ContextLine
from urnscan.library.passages import Passage
from urnscan.spark.frames import SPARK_OCCURRENCES
from urnscan.tables import schemas
from urnscan.tables.editions import RENAMED, VERDICT, names_now

TABLES = {
    **{name: getattr(schemas, name).names for name in ("CLASSES", "OCCURRENCES", "REJECTS", "CLUSTERS", "IN_COLUMN")},
    "on Spark": SPARK_OCCURRENCES.names,
    "context": ContextLine._fields,
    "passages": Passage._fields,
    "spellings": [field.name for field in schemas.CLASSES.field("spellings").type.value_type if field.name != "count"],
    "explanations": list(pd.Series(["urn:a:b"]).urn.explain()),
}
"""Names of columns. `count` in a spelling is asked for as `spelling.count` in DuckDB, and no column of a frame."""


@pytest.mark.parametrize("table", TABLES)
def test_no_column_hides_behind_a_word_of_pandas(table):
    """`frame.NAME` is the column, and not a method or property of every frame."""
    assert not set(TABLES[table]) & set(dir(pd.DataFrame))


@pytest.mark.full
@pytest.mark.parametrize("table", TABLES)
def test_no_column_wants_quotes_in_duckdb(table):
    """Alone, after the name of its table, in every clause, and as a name after `AS`."""
    with duckdb.connect() as database:
        for name in TABLES[table]:
            query = f'SELECT {name}, t.{name} AS {name}, 1 FROM (SELECT 1 AS "{name}") AS t '
            query += f"WHERE {name} > 0 GROUP BY {name} HAVING min({name}) > 0 ORDER BY {name}"
            assert database.sql(query).fetchall() == [(1, 1, 1)]


def test_earlier_names_are_none_of_now():
    """So a file of either edition is understood by its names alone."""
    now = {name for names in TABLES.values() for name in names}
    assert not RENAMED.keys() & now
    assert set(RENAMED.values()) <= now


def test_names_now():
    """A column that somebody added under an earlier name stays what it is."""
    for table in TABLES.values():
        earlier = {new: old for old, new in RENAMED.items()}
        assert names_now(earlier.get(name, name) for name in table) == list(table)
        assert names_now([*table, *RENAMED])[: len(table)] == list(table)
    assert names_now(["occurrence_count", "count"]) == ["occurrence_count", "count"]


def test_names_of_the_second_edition():
    """Files, earlier editions: `problem` of occurrences was about the spelling; that of classes is what it was."""
    now = [name for name in schemas.OCCURRENCES.names if name not in VERDICT]
    assert names_now("problem" if name == "spelling_problem" else name for name in now) == now
    assert names_now(schemas.CLASSES.names) == schemas.CLASSES.names
