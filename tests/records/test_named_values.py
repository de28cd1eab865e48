"""Names of columns and members: what a title or an identifier may be called."""

# ruff: noqa: RUF001 - letters of other languages

from __future__ import annotations

import time

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


def aspects(name):
    return {row.aspect for row, _ in described(name)}


@pytest.mark.parametrize("name", TITLES)
def test_headings_of_titles(name):
    """Page of dedup: languages, suffixes of an index and envelopes around a name do not count."""
    assert [(row.aspect, text) for row, text in described(name)] == [("title", "1999")]


@pytest.mark.parametrize("name", NO_TITLES)
def test_other_headings(name):
    """The title of a journal, of a series or of a part is not that of the record; that of a journal is the host's."""
    assert aspects(name) <= {"host"}


@pytest.mark.parametrize(
    "name", ["dc.date.issued", "dc.date.issued[]", "publishDate", "publishDate_txt", "PY", "año", "metadata.year"]
)
def test_headings_of_years(name):
    assert len(described(name)) == 1


@pytest.mark.parametrize(
    "name",
    [
        "dc.identifier.isbn[en]",
        "metadata.isbn",
        "isbn_str",
        "ISBN-13 (print)",
        "item.isbn",
        "isbns",
        "N° ISBN",
        "Codice ISBN",
        "ISBN number",
        "020$a",
    ],
)
def test_headings_of_identifiers(name):
    """The same way leads to identifiers."""
    (own,) = own_identifiers([(name, "9780306406157")], own_fields("separated"))
    assert (own.text, own.scheme) == ("9780306406157", "isbn")


# In the languages of libraries, of databases of articles, and with the tags of exports.
HEADINGS = {
    "title": "Hauptsachtitel; Título del artículo; タイトル; 题名; Заглавие; Nimeke; T1; paper_title; schema:name; mods.title; "
    "제목; 書名; العنوان; Tytuł; Titre propre; Titel des Werkes; Título da obra; Title-题名; title_short; 245$a",
    "subtitle": "Untertitel; Sous-titre; Zusatz zum Titel; Podtytuł",
    "author": "Author Full Names; dc.contributor.author[en]; Autores; Verfasser/in; Författare; 著者; Автор; AU",
    "year": "Año de publicación; Rok vydání; Erscheinungsdatum; Год; 出版年; År; Year Published; prism:coverDate; Y1; 발행년; 出版年月; Yıl",
    "part": "Tome; Tomo; VL; prism:volume",
    "start": "Beginning Page; prism:startingPage; SP; BP",
    "pages": "Seiten; Páginas; prism:pageRange",
    "edition": "Edición; Edição; Wydanie",
}
HOSTS = "Publication Title; Journal Title; Source title; Series Title; Conference Title; 誌名"


@pytest.mark.parametrize(
    ("aspect", "name"), [(key, name) for key, all_ in HEADINGS.items() for name in all_.split("; ")]
)
@pytest.mark.parametrize("form", ["{}", "{}[]", "metadata.{}", "record/{}"])
def test_headings_in_many_languages(aspect, name, form):
    """One table has them; a language and an envelope around a heading do not count."""
    assert aspects(form.format(name)) == {aspect}


@pytest.mark.parametrize("name", HOSTS.split("; "))
def test_the_title_of_a_host_is_no_title(name):
    """All articles of a journal would be alike. The host's counts only together with pages or a number."""
    assert aspects(name) <= {"host"}


@pytest.mark.parametrize("name", ["issn", "isbn"])
def test_a_condition_is_decided_once_for_an_object(name):
    """Time is linear in the members. It took 2 s when all members were searched again for each of 4,000 ISSN."""
    pairs = [(name, "0378-5955")] * 20_000 + [("note", "x")]
    began = time.process_time()
    assert len([*own_identifiers(pairs, own_fields("json"))]) == 20_000
    assert time.process_time() - began < 10


@given(st.text(max_size=120))
def test_any_name(name):
    """Nothing raises, however long or odd a name is."""
    described(name)
    assert {own.text for own in own_identifiers([(name, "x")], own_fields("json"))} <= {"x"}
