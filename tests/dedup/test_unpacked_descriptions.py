"""Descriptions in columns are those that the records have."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from urnscan.dedup.compare.unpacked_descriptions import SHOWN, unpacked
from urnscan.records.description import NOTHING, Description, as_text, described_fields, from_text, pack, shown_title
from urnscan.records.record import description_of

ROWS = described_fields("named")


@st.composite
def packed(draw):
    """A description as a reader packs it: any text, also with what separates values."""
    said = draw(st.dictionaries(st.sampled_from(sorted(ROWS)), st.text(), max_size=4))
    return pack("named", [(ROWS[name][0], text) for name, text in said.items()])


@given(packed())
def test_text_and_back(content):
    """Nothing of a description is lost or added, so records are compared as before."""
    description = description_of(content)
    assert from_text(as_text(description)) == description
    assert from_text(as_text(NOTHING)) == NOTHING


@given(st.lists(packed(), max_size=6), st.data())
def test_columns_have_each_row(held, data):
    """Also where several records have the same bytes, and where there is no record."""
    held += data.draw(st.lists(st.sampled_from([b"", *held]), max_size=4))
    columns = unpacked(pa.array(held, pa.binary()))
    descriptions = [description_of(content) for content in held]
    assert columns.select(SHOWN.names).schema == SHOWN
    assert [from_text(text) for text in columns.column("description").to_pylist()] == descriptions
    assert columns.select(SHOWN.names).to_pylist() == [shown(each) for each in descriptions]


def shown(description: Description):
    """The values of SHOWN."""
    return {
        "title": description.title and shown_title(description.title),
        "publication_year": int(description.year[:4]) if description.year else None,
        "format": description.format,
        "author": description.author,
        "edition": description.edition,
        "part": description.part,
    }
