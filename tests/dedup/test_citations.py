"""Articles that share no identifier: which descriptions are of one article, and that all others are not."""

import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import urnscan
from urnscan.dedup.compare.citations import CITATION_RULES, PLACES, blocks, citation, is_article, shared_place, start_of
from urnscan.dedup.compare.journals import are_one_journal
from urnscan.dedup.join import citation_pairs as module
from urnscan.dedup.join.citation_pairs import citation_pairs
from urnscan.records.description import Description

ARTICLE = Description(
    title="Drying times of invented inks in cold reading rooms",
    year="2010",
    part="12",
    issue="3",
    format="contribution",
    pages="101-10",
    author="Wimpelfeld, Ansgar",
    host="Journal of Invented Inks",
)
PAGE, VOLUME, JOURNAL = (place.name for place in PLACES)


def place_of(one, other):
    """The name of the place by which two descriptions are of one article, the same in both directions."""
    places = {shared_place(citation(a), citation(b)) for a, b in ((one, other), (other, one))}
    (place,) = places
    return None if place is None else PLACES[place].name


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        # the same, as another database writes it
        ({}, PAGE),
        ({"title": "DRYING TIMES OF INVENTED INKS IN COLD READING ROOMS."}, PAGE),
        ({"title": "<i>Drying times</i> of invented inks in cold reading-rooms [abstract]"}, PAGE),
        # classes of a subject heading that a database has put after titles
        (
            {
                "title": "Drying times of invented inks in cold reading rooms 11 Medical and Health Sciences 1117 Public Health"
            },
            PAGE,
        ),
        ({"title": "Drying times of invented inks in cold reading rooms: a randomised trial"}, PAGE),
        ({"author": "A. Wimpelfeld"}, PAGE),
        ({"author": "Wimpelfeld AK"}, PAGE),
        ({"author": "WIMPELFELD, A. and Merilintu, Aino"}, PAGE),
        ({"pages": "101-110"}, PAGE),
        ({"pages": "pp. 101--110"}, PAGE),
        ({"pages": "S101-S110"}, PAGE),
        ({"host": "J Invent Inks", "year": "2011"}, PAGE),
        ({"host": "Zeitschrift für Tinten", "issue": None}, PAGE),
        ({"host": None, "part": None}, PAGE),
        # without pages, or with pages that an article has before it is in an issue
        ({"pages": None}, VOLUME),
        ({"pages": "1-10", "host": "J. Invent. Inks"}, VOLUME),
        ({"pages": None, "host": None}, VOLUME),
        ({"pages": None, "part": None}, JOURNAL),
        # another article
        ({"pages": "102-10"}, None),
        ({"part": "13"}, None),
        ({"year": "2012"}, None),
        ({"year": None}, None),
        ({"year": "2011", "part": None}, None),
        ({"author": "Merilintu, Aino"}, None),
        ({"author": None, "part": None}, None),
        ({"title": "Drying times of 2 invented inks in cold reading rooms"}, None),
        ({"title": "Drying times of invented inks in cold reading rooms, part II"}, None),
        ({"title": "Drying times of invented inks in cold reading rooms: part two"}, None),
        ({"title": "Drying times of invented inks in cold reading rooms - Teil 2"}, None),
        ({"title": "Drying times of invented inks in cold reading rooms: a trial of 2 years"}, PAGE),
        ({"title": "Reply: Drying times of invented inks in cold reading rooms"}, None),
        ({"title": "Erratum to: Drying times of invented inks in cold reading rooms"}, None),
        ({"title": "Drying times of invented inks in hot reading rooms"}, None),
        ({"host": "Zeitschrift für Tinten", "part": None}, None),
        ({"pages": None, "host": "Zeitschrift für Tinten"}, None),
        ({"pages": None, "host": None, "issue": None}, None),
        ({"pages": None, "issue": "4"}, None),
        ({"pages": None, "title": "Drying times of invented inks in cold reading rooms [abstract]"}, None),
        ({"edition": "2nd ed.", "title": "Drying times of invented inks in cold reading rooms. 3rd ed."}, None),
    ],
)
def test_one_article(changes, place):
    """The keys of articles: title, author, year and place agree in any form, and nothing contradicts."""
    assert (
        place_of(ARTICLE._replace(edition=changes.get("edition") and "1st ed."), ARTICLE._replace(**changes)) == place
    )


@pytest.mark.parametrize(
    ("one", "other", "is_joined"),
    [
        # Chinese family names of two letters; a given name that begins like one is another name.
        ({"author": "Li, Xiaoming"}, {"author": "Li X"}, True),
        ({"author": "Li, Xiaoming"}, {"author": "Chen, Lina"}, False),
        ({"author": "Sørensen, Åse"}, {"author": "Sorensen A"}, True),
        ({"author": "Bjørk, Å."}, {"author": "Bjork A"}, True),
        ({"author": "García-Pérez, J."}, {"author": "Garcia Perez J"}, True),
        ({"author": "van der Berg, J."}, {"author": "Berg JV"}, True),
        ({"author": "Anonymous"}, {"author": None}, True),
        ({"author": "Anonymous", "part": None}, {"author": None}, False),
        # page 1, a short title, and one that many have, need more
        ({"pages": "1-8"}, {"pages": "1-8"}, True),
        ({"title": "Inks in cold rooms", "pages": "1-8"}, {"title": "Inks in cold rooms", "pages": "1-8"}, True),
        (
            {"title": "Inks in cold rooms", "pages": "1-8", "part": None},
            {"title": "Inks in cold rooms", "pages": "1-8"},
            False,
        ),
        ({"title": "Editorial"}, {"title": "Editorial"}, True),
        ({"title": "Editorial", "part": None}, {"title": "Editorial"}, False),
        # a number of Cochrane stays from version to version
        ({"pages": "CD001234", "year": "2010", "part": "3"}, {"pages": "CD001234", "year": "2011", "part": "3"}, False),
        ({"pages": "CD001234"}, {"pages": "CD001234.pub2"}, True),
        ({"pages": "S12"}, {"pages": "A12"}, False),
        ({"pages": "e123"}, {"pages": "E123-E130"}, True),
        # the year of an article before it is in an issue, if the title is long enough to tell
        ({"pages": None, "part": None, "year": "2009"}, {}, True),
        (
            {"title": "Drying times of invented inks", "pages": None, "part": None, "year": "2009"},
            {"title": "Drying times of invented inks"},
            False,
        ),
        ({"title": "Inks in the U.S.: 2008-2012"}, {"title": "Inks in the US: 2008–2012"}, True),  # noqa: RUF001
        ({"title": f"{ARTICLE.title} of two libraries"}, {"title": f"{ARTICLE.title} of 2 libraries"}, True),
        ({"title": f"{ARTICLE.title} with CO2"}, {"title": f"{ARTICLE.title} with CO3"}, False),
    ],
)
def test_two_forms(one, other, is_joined):
    """Forms of names, pages and numbers that databases have."""
    assert (place_of(ARTICLE._replace(**one), ARTICLE._replace(**other)) is not None) == is_joined


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("J Clin Oncol", "Journal of Clinical Oncology", True),
        (
            "Proc. Natl. Acad. Sci. U. S. A.",
            "Proceedings of the National Academy of Sciences of the United States of America",
            True,
        ),
        ("JAMA", "Journal of the American Medical Association", True),
        ("The Lancet (London, England)", "Lancet", True),
        ("BMJ (Online)", "BMJ", True),
        ("Soil Biology & Biochemistry", "Soil biology and biochemistry", True),
        ("Am J Surg", "Br J Surg", False),
        ("Journal of Physiology", "Journal of Physiology and Biochemistry", False),
        ("Circulation", "Circulation: Heart Failure", False),
    ],
)
def test_journals(one, other, is_one):
    """Each abbreviated word is the beginning of the full one, or letters of it."""
    assert are_one_journal(one, other) is is_one is are_one_journal(other, one)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"format": None}, True),
        ({"format": None, "pages": None}, False),
        ({"format": "book"}, False),
        ({"format": "map contribution"}, False),
        ({"format": "periodical"}, False),
        ({"format": "set"}, False),
        ({"format": "text online contribution"}, True),
        ({"title": None}, False),
    ],
)
def test_articles_alone(changes, expected):
    """Never for books, maps and serials."""
    assert is_article(ARTICLE._replace(**changes)) is expected


@pytest.mark.parametrize("pages", ["", "xii-xx", "N.PAG-N.PAG", "viii + 38", "24 pp.", "72p.-72p.-", "xii, 230 S."])
def test_no_page(pages):
    """Roman pages, placeholders and numbers of all pages are no first page."""
    assert start_of(pages) is None


letters = st.sampled_from("bcdfghjklmnpqrstvwxz")
title_words = st.lists(st.text(string.ascii_lowercase, min_size=4, max_size=9), min_size=5, max_size=9)
accents = st.sampled_from(["", "\u0301", "\u0308"])


@st.composite
def articles(draw):
    """Articles with long titles, of any author and place."""
    return ARTICLE._replace(
        title=" ".join(draw(title_words)),
        author=f"{draw(letters).upper()}{draw(st.text(string.ascii_lowercase, min_size=3, max_size=8))}, {draw(letters).upper()}",
        year=str(draw(st.integers(1950, 2030))),
        part=str(draw(st.integers(1, 130))),
        pages=f"{draw(st.integers(2, 9999))}-",
    )


@given(articles(), accents, st.sampled_from(["{}", "pp. {}", "S{}", "e{}-e9", "{}--99"]), st.booleans())
def test_forms_join(article, accent, pages, is_shouted):
    """The same record in other case, markup, accents and form of pages is of the same article, and in one block with it."""
    title = f"<i>{article.title[0]}{accent}{article.title[1:]}</i>."
    other = article._replace(
        title=title.upper() if is_shouted else title,
        pages=pages.format(article.pages[:-1]),
        author=article.author.upper(),
    )
    assert place_of(article, other) == PAGE
    assert any(mine and mine == others for mine, others in zip(blocks(article), blocks(other), strict=True))


@given(articles(), st.integers(0, 9), st.sampled_from(["title", "part", "pages"]))
def test_another_digit_does_not(article, digit, aspect):
    """A digit that is added to title, volume or page makes another article."""
    value = getattr(article, aspect)
    changed = f"{value} {digit}" if aspect == "title" else f"{value.rstrip('-')}{digit}-"
    assert place_of(article, article._replace(**{aspect: changed})) is None


@given(articles(), articles())
def test_order_means_nothing(one, other):
    """Also for articles of which one is made of the other."""
    place_of(one, other._replace(title=one.title, author=one.author))


def test_rules_need_what_they_compare():
    """Where the descriptions say nothing, nothing is the same."""
    assert place_of(Description(title="Inks"), Description(title="Inks")) is None
    assert {rule.aspect for rule in CITATION_RULES} == {"title", "author", "year"}


# --- whole runs --------------------------------------------------------------------------------------------------------

RIS = """TY  - JOUR
TI  - {title}
AU  - Wimpelfeld, Ansgar
PY  - 2010
JF  - Journal of Invented Inks
VL  - {volume}
SP  - {page}
{more}ER  -
"""


def ris(title=ARTICLE.title, volume=12, page=101, more=""):
    return RIS.format(title=title, volume=volume, page=page, more=more)


def run(folder, *records, **options):
    (folder / "refs.ris").write_text("".join(records))
    found = urnscan.deduplicate(folder / "refs.ris", **options)
    return found.report, found.clusters.to_pydict()


def test_run(tmp_path):
    """The rows say by which place a record was joined, and the summary how many went by their description alone."""
    doi = "DO  - 10.5555/ink.1\n"
    report, rows = run(
        tmp_path, ris(more=doi), ris(ARTICLE.title + ".", more=doi), ris(ARTICLE.title.upper()), ris(page=102)
    )
    assert rows["cluster"] == [1, 1, 1, 2]
    assert rows["joined_by"] == [
        ["urn:doi:10.5555/ink.1", "description:first-page"],
        ["urn:doi:10.5555/ink.1", "description:first-page"],
        ["description:first-page"],
        [],
    ]
    assert (report.duplicates, report.described) == (2, 1)
    assert "2 duplicates (1 by description alone)" in report.parts(has_keys=True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("DO  - 10.5555/ink.1\n", "DO  - 10.5555/ink.2\n"),
        ("UR  - https://pubmed.ncbi.nlm.nih.gov/123/\n", "UR  - https://pubmed.ncbi.nlm.nih.gov/124/\n"),
    ],
)
def test_other_identifiers(tmp_path, one, other):
    """Two DOIs, or two other sure keys of a kind, are two articles, whatever the descriptions say."""
    report, _ = run(tmp_path, ris(more=one), ris(more=other))
    assert (report.duplicates, report.doubts) == (0, 0)


def test_two_that_contradict(tmp_path):
    """A record without pages could be either of two articles, so it is neither, and people see all three."""
    nowhere = ris().replace("SP  - 101\n", "")
    report, rows = run(tmp_path, ris(), ris(page=201), nowhere)
    assert report.duplicates == 0
    assert rows["reason"] == ["chain"] * 3


@pytest.mark.parametrize("options", [{"keys": ["urn", "url"]}, {"agree": "none"}])
def test_turned_off(tmp_path, options):
    """Without this key, and where nothing is compared, nothing is joined by it."""
    assert run(tmp_path, ris(), ris(ARTICLE.title.upper()), **options)[0].duplicates == 0


def test_other_formats(tmp_path):
    """In MARC, articles are not joined by their descriptions."""
    record = "=LDR  00000nab a2200000 a 4500\n=100  1\\$aWimpelfeld, Ansgar\n=245  00$aDrying times of inks\n=260  \\\\$c2010\n"
    (tmp_path / "a.mrk").write_text(f"{record}=001  1\n\n{record}=001  2\n")
    assert urnscan.deduplicate(tmp_path / "a.mrk").report.duplicates == 0


@pytest.mark.parametrize("count", [3, 70])
def test_large_blocks(tmp_path, monkeypatch, count):
    """A thousand articles in one block give no half a million comparisons."""
    monkeypatch.setattr(module, "_NEAR", 2)
    compared = []
    monkeypatch.setattr(module, "shared_place", lambda *pair: compared.append(pair))
    titles = [f"Drying times of invented inks {chr(97 + at // 26)}{chr(97 + at % 26)}" for at in range(count)]
    report, _ = run(tmp_path, *(ris(title) for title in titles))
    assert report.duplicates == 0
    assert len(compared) <= 3 * 2 * count


def test_no_records(tmp_path):
    """Nothing in, nothing out."""
    assert not any(map(len, citation_pairs(list, np.empty(0, np.int32), lambda: tmp_path)))
