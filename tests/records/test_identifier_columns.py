"""Own identifiers in columns: they give the texts that each of them gives by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.records.test_identifiers import PIECES, SCHEMES, isbns10, isbns13
from tests.support.examples import MANY
from urnscan.compiled.arrow import text_array
from urnscan.records.fields import Own
from urnscan.records.identifier_columns import as_texts
from urnscan.records.identifiers import as_text, wrong_numbers

NUMBERS = isbns10 | isbns13 | st.from_regex(r"(?:97[789]-?)?(?:[0-9]-{0,2}){8,10}[0-9Xx]-?", fullmatch=True)
QUALIFIERS = st.sampled_from(
    [
        "",
        " (geb.)",
        " (set)",
        " (falsch)",
        " ()",
        " (a) (b)",
        "(a)",
        " (a",
        " [a]",
        " (urn:x-y:1)",
        f" ({'a' * 99})",
        f" ({'a' * 100})",
    ]
)
ADDRESSES = st.tuples(
    st.sampled_from(["http://", "HTTPS://", "ftp://", ""]),
    st.sampled_from(["doi.org", "dx.doi.org", "a.example", "isni.org", "a.b.issn.org", "xdoi.org", "DOI.ORG", "-"]),
    st.sampled_from(
        ["", "/", "/10.1000/182", "/urn:nbn:de:101:1-2016", "/aurn:nbn:de", "?u=urn%3Anbn%3Ade", "/urn%25253A"]
    ),
).map("".join)
TEXTS = st.one_of(st.tuples(NUMBERS, QUALIFIERS).map("".join), ADDRESSES, st.lists(PIECES, max_size=8).map("".join))


@pytest.mark.full
@MANY
@given(st.lists(TEXTS, max_size=6), SCHEMES | st.sampled_from(["isbn", "", "isbn set"]))
def test_a_column_gives_what_each_value_gives(values, scheme):
    """Also of half a surrogate, in whose place a column has its escape."""
    column = text_array(values)
    values = column.to_pylist()
    expected = [as_text(Own(text, scheme)) for text in values]
    found = as_texts(column, scheme)
    assert dict(zip(found.rows.tolist(), found.texts.to_pylist(), strict=True)) == {
        at: text for at, text in enumerate(expected) if text is not None
    }
    assert found.rows.tolist() == sorted(found.rows)
    wrong = {at for at, text in enumerate(values) if expected[at] is None and [*wrong_numbers(Own(text, scheme))]}
    assert wrong <= set(found.doubtful.tolist())
    assert set(found.doubtful.tolist()).isdisjoint(found.rows.tolist())


@pytest.mark.parametrize("scheme", ["isbn", "", "doi", "hdl"])
def test_an_empty_column(scheme):
    found = as_texts(text_array([]), scheme)
    assert (len(found.rows), len(found.texts), len(found.doubtful)) == (0, 0, 0)
