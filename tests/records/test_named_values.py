"""Names of columns and members: what a title or an identifier may be called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.records.description import described_fields
from urnscan.records.fields import own_fields
from urnscan.records.named_values import own_identifiers, statements

TITLES = [
    *[
        "title",
        "Title",
        "TITLE",
        "Document Title",
        "Article Title",
        "Book Title",
        "title_full",
        "title_en",
        "title_txt_de",
    ],
    *[
        "dc.title",
        "dc.title[en_US]",
        "dc.title[]",
        "dc.title[*]",
        "metadata.title",
        "Título",
        "titre",
        "TI",
        "title@en",
    ],
    *["record.title_display", "metadata/dc:title", "title-eng"],
]
NO_TITLES = [
    "title_id",
    "journal title",
    "Source Title",
    "title_sort",
    "series.title",
    "host.title",
    "titles_of_parts",
    "subtitle_x",
]


def described(name):
    return [*statements([(name, "1999")], described_fields("named"))]


@pytest.mark.parametrize("name", TITLES)
def test_headings_of_titles(name):
    """Page of dedup: languages, suffixes of an index and envelopes around a name do not count."""
    assert [text for _, text in described(name)] == ["1999"]


@pytest.mark.parametrize("name", NO_TITLES)
def test_other_headings(name):
    """The title of a journal, of a series or of a part is not that of the record."""
    assert described(name) == []


@pytest.mark.parametrize(
    "name", ["dc.date.issued", "dc.date.issued[]", "publishDate", "publishDate_txt", "PY", "año", "metadata.year"]
)
def test_headings_of_years(name):
    assert len(described(name)) == 1


@pytest.mark.parametrize(
    "name", ["dc.identifier.isbn[en]", "metadata.isbn", "isbn_str", "ISBN-13 (print)", "item.isbn", "isbns"]
)
def test_headings_of_identifiers(name):
    """The same way leads to identifiers."""
    (own,) = own_identifiers([(name, "9780306406157")], own_fields("separated"))
    assert (own.text, own.scheme) == ("9780306406157", "isbn")


@given(st.text(max_size=120))
def test_any_name(name):
    """Nothing raises, however long or odd a name is."""
    described(name)
    assert {own.text for own in own_identifiers([(name, "x")], own_fields("json"))} <= {"x"}
