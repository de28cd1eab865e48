"""Footers of Parquet files whose row groups were written apart."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import FEW
from tests.support.outputs import rows_of
from urnscan.tables.parquet_footer import MAGIC, RowGroup, end_of_file

TABLES = {
    "rows of a table": pa.Table.from_batches([rows_of(range(40))]),
    "all types": pa.table(
        {
            "flag": [True, None, False],
            "double": [1.5, None, -2.5],
            "moment": pa.array([1, None, 3], pa.timestamp("ms", "UTC")),
            "content": [b"", None, bytes(300)],
            "lists": [[["a"], []], None, [None, ["b", "ä"]]],
        }
    ),
    "a hundred columns": pa.table({f"column {number}": [number, 1, -number] for number in range(100)}),
}


def file_of(schema, groups, **options):
    """The bytes of a file that one writer of pyarrow writes, with these row groups."""
    stream = pa.BufferOutputStream()
    with pq.ParquetWriter(stream, schema, **options) as writer:
        for group in groups:
            writer.write_table(group)
    return stream.getvalue().to_pybytes()


def joined(schema, groups, **options):
    """The bytes of the same file, with each row group written apart."""
    content, structures, rows = bytearray(MAGIC), [], 0
    for number, group in enumerate(groups):
        apart = RowGroup(memoryview(file_of(schema, [group], **options)))
        structures.append(apart.moved_to(len(content), number))
        content += apart.data
        rows += apart.rows
    return bytes(content + end_of_file(memoryview(file_of(schema, [], **options)), structures, rows))


@pytest.mark.full
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@FEW
@given(st.data())
def test_the_bytes_are_those_of_one_writer(table, data):
    """Contract: "The same inputs and options give the same bytes, whatever `-j`", also those that older versions gave."""
    lengths = data.draw(st.lists(st.integers(1, table.num_rows), max_size=20))
    groups = [table.slice(0, length) for length in lengths]
    options = data.draw(
        st.fixed_dictionaries(
            {
                "compression": st.sampled_from(["snappy", "none"]),
                "use_dictionary": st.booleans(),
                "write_statistics": st.booleans(),
            }
        )
    )
    whole = file_of(table.schema, groups, **options)
    assert joined(table.schema, groups, **options) == whole
    assert pq.read_table(pa.BufferReader(whole)).num_rows == sum(lengths)


def test_places_far_behind():
    """A table of classes may have more bytes than 32 bits count: readers find each column where it is."""
    table = TABLES["rows of a table"]
    place = 3 << 40
    file = memoryview(file_of(table.schema, [table]))
    end = end_of_file(memoryview(file_of(table.schema, [])), [RowGroup(file).moved_to(place, 0)], table.num_rows)
    near, far = (pq.read_metadata(pa.BufferReader(content)).row_group(0) for content in (file, MAGIC + end))
    for number in range(near.num_columns):
        before, behind = near.column(number), far.column(number)
        assert behind.data_page_offset - before.data_page_offset == place - len(MAGIC)
        assert behind.has_dictionary_page == before.has_dictionary_page
        if behind.has_dictionary_page:
            assert behind.dictionary_page_offset - before.dictionary_page_offset == place - len(MAGIC)
        assert behind.statistics.to_dict() == before.statistics.to_dict()


def test_more_row_groups_than_a_number_of_theirs_can_count():
    """The number of a row group, which some writers give, has 16 bits: those beyond have none, which readers allow."""
    table = TABLES["all types"]
    group = RowGroup(memoryview(file_of(table.schema, [table])))
    group._fields[7] = (4, 0)  # `ordinal`, an i16
    numbered = group.moved_to(4, 32_767)
    group._fields[7] = (4, 0)
    unnumbered = group.moved_to(4, 32_768)
    assert len(numbered) - len(unnumbered) == 1 + 3
    empty = memoryview(file_of(table.schema, []))
    for structure in (numbered, unnumbered):
        end = end_of_file(empty, [structure], table.num_rows)
        assert pq.read_metadata(pa.BufferReader(MAGIC + end)).num_rows == table.num_rows
