"""What the readers find out of the table `descriptions.toml`: a small dump of each format, and the description of its record."""

import pymarc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.reading import read_records
from urnscan.records.description import Description, axes, describe, described_fields, pack, unpack
from urnscan.records.fields import read_data
from urnscan.records.format_registry import FORMATS
from urnscan.records.record import description_of
from urnscan.records.xml_kinds import INNER_KINDS, KINDS

ARTICLE_BEGINS, ARTICLE_ENDS, SUBTITLE = "\x98", "\x9c", "\x1f"
TABLES = [name for name in read_data("descriptions.toml") if name not in ("axes", "shared", "types")]


def marc(*fields, kind="a", form=" ", level="m"):
    """A record of MARC 21: tag, indicators and subfields of each field, or tag and data."""
    record = pymarc.Record(force_utf8=True, leader=f"00000n{kind}{level} a2200000 c 4500")
    record.add_field(pymarc.Field("008", data=f"260101s1998    gw ||||{form:>2}    |||| 00||||ger  "))
    for tag, indicators, *subfields in fields:
        held = [pymarc.Subfield(each[0], each[1:]) for each in subfields]
        is_control = tag.startswith("00")
        field = (
            {"data": indicators} if is_control else {"indicators": pymarc.Indicators(*indicators), "subfields": held}
        )
        record.add_field(pymarc.Field(tag, **field))
    return record


def described(name, content):
    (record,) = read_records(FORMATS[name].reader(own=False, described=True), content)
    (again,) = read_records(FORMATS[name].reader(own=True, described=True), content)
    assert again.description == record.description
    (plain,) = read_records(FORMATS[name].reader(own=True), content)
    assert plain.description == b""
    return description_of(record.description)


BOOK = marc(
    ("245", "14", "aDie Uhrmacher :", "bRoman /", "nBd. 2"),
    ("250", "  ", "a3. Aufl."),
    ("264", " 4", "c© 2020"),
    ("264", " 1", "cKöln 2021"),
)
OF_BOOK = Description(
    title=f"{ARTICLE_BEGINS}Die {ARTICLE_ENDS}Uhrmacher :{SUBTITLE}Roman /",
    year="2020 2021",
    edition="3. Aufl.",
    part="Bd. 2",
    format="print text book",
    level="1",
    fields="5",
)


class TestMarc:
    def test_documents_series_and_extents(self):
        """Each number of a repeated field counts by itself; an open date says that a thing still appears, a decade does not."""
        record = marc(
            ("086", "0 ", "aFP 1.18:D 37/977"),
            ("086", "0 ", "aFP 1.18/2:D 37"),
            ("260", "  ", "aInkport :", "c1985-"),
            ("300", "  ", "axii, 230 p. :", "bill."),
            ("490", "1 ", "aLamps ;", "v12"),
            ("490", "1 ", "aLamps and inks ;", "v3"),
        )
        found = described("marc", record.as_marc())
        assert found.document == "FP 1.18:D 37/977 | FP 1.18/2:D 37"
        assert (found.series, found.extent, found.dates) == ("12 | 3", "xii, 230 p. :", "open")
        assert described("marcxml", pymarc.record_to_xml(record, namespace=True)) == found

    @pytest.mark.parametrize(
        ("date", "is_open"),
        [
            ("1985-", True),
            ("[1985]-", True),
            ("1985-<1990>", True),
            ("1338- [1985 or 86-", True),
            ("1985-1990.", False),
            ("[198-]", False),
            ("c1985.", False),
        ],
    )
    def test_open_dates(self, date, is_open):
        """`1985-` is a serial that still appears; `[198-]` is a decade."""
        assert described("marc", marc(("260", "  ", f"c{date}")).as_marc()).dates == ("open" if is_open else None)

    def test_the_type_of_date_says_that_a_serial_still_appears(self):
        """MARC 008/06."""
        record = marc(level="s")
        record["008"].data = record["008"].data[:6] + "c" + record["008"].data[7:]
        assert described("marc", record.as_marc()).dates == "open"

    def test_a_book(self):
        """In ISO 2709 and in XML; the second indicator of 245 marks the article."""
        assert described("marc", BOOK.as_marc()) == OF_BOOK
        assert described("marcxml", pymarc.record_to_xml(BOOK, namespace=True)) == OF_BOOK

    @pytest.mark.parametrize(
        ("record", "format_"),
        [
            (marc(form="o"), "online text book"),
            (marc(("338", "  ", "bcr"), form=" "), "online text book"),  # what RDA says comes before 008
            (marc(("338", "  ", "aonline resource")), "online text book"),
            (marc(("300", "  ", "a1 Online-Ressource")), "online text book"),
            (marc(("245", "00", "aX", "h[electronic resource]"), form="|"), "online disc text book"),
            (marc(("245", "00", "aX", "h[ressource électronique]")), "online disc text book"),
            (
                marc(("533", "  ", "aElectronic reproduction."), ("300", "  ", "a230 p.")),
                "online disc text book pages volume",
            ),
            (marc(("300", "  ", "a3 v. ;")), "print text book pages set"),
            (marc(("300", "  ", "a2 v. (930 p.)")), "print text book pages set volume"),
            (marc(("300", "  ", "a2 v. in 1 ;")), "print text book pages"),
            (marc(level="a"), "print text contribution"),
            (marc(level="s"), "print text periodical"),
            (marc(kind="e"), "map"),
            (marc(kind="c"), "print score"),
            (marc(kind="j"), "audio"),
            (marc(("300", "  ", "a1 sound disc"), kind="j"), "audio platter"),
            (marc(("007", "ss lsnjlc"), kind="j"), "audio tape"),
            (marc(("300", "  ", "a1 videocassette"), ("338", "  ", "bvd"), kind="g"), "video platter"),
            (
                marc(("300", "  ", "a230 p."), ("007", "sd fsngnn")),
                "print text book pages volume",
            ),  # a book with a disc
            (marc(("300", "  ", "a1 online resource (1046 min.)"), kind="g"), "online video stream"),
            (marc(("300", "  ", "a1 online resource (230 p.)"), form="o"), "online text book pages volume"),
            # A disc in the record of a text, and a book with a disc.
            (marc(("300", "  ", "a5 audio discs"), form="|"), "text book platter"),
            (marc(("300", "  ", "a2 DVD's"), form="|"), "text book platter"),
            (marc(("300", "  ", "a1 Blu-ray"), form="|"), "text book platter"),
            (marc(("300", "  ", "a1 CD-ROM"), form="|"), "disc text book platter"),
            (marc(("300", "  ", "a200 p. + 1 DVD"), form="|"), "text book pages platter volume"),
            (marc(("300", "  ", "a200 S.", "e1 DVD"), form="|"), "text book pages volume"),
            (marc(("300", "  ", "a200 p."), ("300", "  ", "a1 DVD"), form="|"), "text book pages platter volume"),
            (marc(("300", "  ", "a3 microfilm reels"), form="|"), "microform text book"),
            (marc(("338", "  ", "bnc"), ("338", "  ", "bsd")), "print text book"),
            # the designation of the material
            (marc(("245", "00", "aX", "h[braille]")), "braille text book"),
            (marc(("245", "00", "aX", "h[sound recording]"), form="|"), "audio book"),
            (marc(("245", "00", "aX", "h[Tonträger]"), form="|"), "audio book"),
            (marc(("245", "00", "aX", "h[Bildtonträger]"), form="|"), "video book"),
            (marc(kind="y"), "holdings"),
            (marc(kind="z"), "authority"),
            (marc(kind="w"), "classification"),
            (marc(kind="q"), "community"),
        ],
    )
    def test_formats(self, record, format_):
        assert described("marc", record.as_marc()).format == format_

    @pytest.mark.parametrize(
        ("code", "fields", "language"),
        [
            ("fre", [("041", "0 ", "aeng")], "fre"),  # 008 counts first
            ("   ", [("041", "0 ", "aeng", "afre")], "eng fre"),
            ("|||", [("041", "0 ", "aeng"), ("041", "0 ", "afre")], "eng fre"),
            ("und", [("041", "1 ", "aeng", "hger")], "eng"),  # $h: what it is translated from
            ("|||", [("240", "10", "aInks", "lFrench.")], "French."),
            ("ger", [("240", "10", "aInks", "lFrench.")], "ger"),
            ("zxx", [], None),
            ("mul", [("041", "0 ", "amul")], None),
        ],
    )
    def test_languages(self, code, fields, language):
        """041 where 008/35-37 names no language, and the uniform title where neither does."""
        record = marc(*fields)
        record["008"].data = record["008"].data[:35] + code + record["008"].data[38:]
        assert described("marc", record.as_marc()).language == language

    @pytest.mark.parametrize(
        ("fields", "scale"),
        [
            ([("034", "1 ", "aa", "b25000"), ("255", "  ", "aScale ca. 1:26,000")], "25000"),
            ([("034", "1 ", "aa", "b25000"), ("034", "1 ", "aa", "b50000")], "25000 | 50000"),
            ([("034", "0 ", "aa"), ("255", "  ", "aScale 1:25,000 ;", "bUTM")], "Scale 1:25,000 ;"),
        ],
    )
    def test_scales(self, fields, scale):
        """Page of dedup, `part`: the scales of a map, as a code, or else in words."""
        assert described("marc", marc(*fields, kind="e").as_marc()).scale == scale

    def test_the_year_of_008_where_there_is_no_other(self):
        assert described("marc", marc(("264", " 1", "c[o. J.]")).as_marc()).year == "1998"

    @pytest.mark.parametrize("controls", ["\x88{}\x89", "\x98{}\x9c"])
    def test_unimarc(self, controls):
        """In ISO 2709 and in XML; 100 is no author, 300 no extent; an article stands between controls."""
        record = pymarc.Record(force_utf8=True, leader="00000nam0a2200000   4500")
        for tag, *subfields in (
            ("100", "a20260101d1946    m  y0frey50      ba"),
            ("106", "ar"),
            ("200", f"a{controls.format('La ')}condition humaine", "eroman", "hT. 2"),
            ("205", "a2e éd."),
            ("214", "d1972"),
            ("250", "anot an edition"),
            ("300", "aaussi online"),
        ):
            held = [pymarc.Subfield(each[0], each[1:]) for each in subfields]
            record.add_field(pymarc.Field(tag, pymarc.Indicators(" ", " "), held))
        title = f"{ARTICLE_BEGINS}La {ARTICLE_ENDS}condition humaine{SUBTITLE}roman"
        expected = Description(title, "1972", "2e éd.", "T. 2", "print text book", level="1", fields="7")
        assert described("marc", record.as_marc()) == expected
        assert described("marcxml", pymarc.record_to_xml(record, namespace=True)) == expected
        record.remove_fields("214")
        assert described("marc", record.as_marc()).year == "1946"

    @pytest.mark.parametrize(
        ("kind", "field", "format_"),
        [
            ("a", None, "print microform braille text book"),
            ("l", None, "online disc"),
            ("a", ("182", "cc"), "online disc text book"),
            ("a", ("200", "b[Ressource électronique]"), "online disc text book"),
            ("j", ("215", "a1 cassette"), "audio tape"),
            ("a", ("215", "a5 disques compacts"), "print microform braille text book platter"),
            ("a", ("215", "a1 vol. (200 p.) + 1 DVD"), "print microform braille text book pages platter volume"),
            ("a", ("200", "b[Texte en braille]"), "braille text book"),
        ],
    )
    def test_carriers_of_unimarc(self, kind, field, format_):
        """What is electronic has a type of its own, so a text without another sign is not electronic."""
        record = pymarc.Record(force_utf8=True, leader=f"00000n{kind}m0a2200000   4500")
        for tag, subfield in filter(None, [("100", "a20260101d1946    m  y0frey50      ba"), ("200", "aInks"), field]):
            held = [pymarc.Subfield(subfield[0], subfield[1:])]
            record.add_field(pymarc.Field(tag, pymarc.Indicators(" ", " "), held))
        assert described("marc", record.as_marc()).format == format_


@pytest.mark.parametrize(
    ("code", "extent", "format_"),
    [
        ("Aa", "230 S.", "print volume"),
        ("AF", "230 S.", "print volume"),
        ("Ac", "", "print set"),
        ("Ab", "", "print periodical"),
        ("Ga", "1 Kompaktkassette", "audio tape volume"),
        ("Ga", "1 CD", "audio platter volume"),
    ],
)
def test_formats_of_pica(code, extent, format_):
    """A set of several volumes is not a work of one volume; one of its volumes may be."""
    record = f"003@ $01\n002@ $0{code}\n021A $aLamps\n034D $a{extent}\n"
    assert sorted(described("pica-plain", record.encode()).format.split()) == sorted(format_.split())


@pytest.mark.full
@pytest.mark.parametrize(
    ("format_", "content", "responsibility", "publisher"),
    [
        ("mrk", b"=LDR  00000nam a2200000 a 4500\n=245  10$aPoems$cby A\n=260  \\\\$bWick\n", "by A", "Wick"),
        ("pica", b"003@ \x1f01\x1e021A \x1faPoems\x1fhby A\x1e033A \x1fnWick\x1e\n", "by A", "Wick"),
        ("csv", b"Title,Publisher\nPoems,Wick\n", None, "Wick"),
        ("csv", b"Titel,Verlag\nPoems,Wick\n", None, "Wick"),
        ("ris", b"TY  - BOOK\nTI  - Poems\nPB  - Wick\nER  - \n", None, "Wick"),
        ("enw", b"%0 Book\n%T Poems\n%I Wick\n", None, "Wick"),
        ("bibtex", b"@book{k, title = {Poems}, publisher = {Wick}}", None, "Wick"),
    ],
)
def test_who_has_made_a_work(format_, content, responsibility, publisher):
    """Page of dedup: another author is one that the statement of responsibility does not name, with another publisher."""
    found = described(format_, content)
    assert (found.responsibility, found.publisher) == (responsibility, publisher)


@pytest.mark.parametrize(
    ("format_", "content", "expected"),
    [
        (
            "mods",
            (
                b'<mods xmlns="http://www.loc.gov/mods/v3"><titleInfo type="alternative"><title>X</title></titleInfo>'
                b"<titleInfo><nonSort>The</nonSort><title>Inks\n    and tides</title><partNumber>2</partNumber></titleInfo>"
                b"<originInfo><dateIssued>2026-03</dateIssued><edition>2nd ed.</edition></originInfo>"
                b"<typeOfResource>text</typeOfResource><physicalDescription><form>electronic</form></physicalDescription></mods>"
            ),
            Description(
                f"{ARTICLE_BEGINS}The {ARTICLE_ENDS}Inks and tides", "2026", "2nd ed.", "2", "online disc text"
            ),
        ),
        (
            "dc",
            (
                b'<dc xmlns="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:d="http://purl.org/dc/elements/1.1/">'
                b"<d:title>Inks</d:title><d:date>2026-03-01</d:date><d:type>info:eu-repo/semantics/article</d:type></dc>"
            ),
            Description("Inks", "2026", format="contribution"),
        ),
        (
            "onix",
            (
                b'<Product xmlns="http://ns.editeur.org/onix/3.0/reference"><RecordReference>1</RecordReference>'
                b"<DescriptiveDetail><ProductForm>BC</ProductForm><TitleDetail><TitleElement><TitleText>Inks</TitleText>"
                b"<Subtitle>a tale</Subtitle></TitleElement></TitleDetail><EditionNumber>2</EditionNumber></DescriptiveDetail>"
                b"<PublishingDetail><PublishingDate><Date>20260301</Date></PublishingDate></PublishingDetail></Product>"
            ),
            Description(f"Inks{SUBTITLE}a tale", "2026", "2", format="print text"),
        ),
        (
            "jsonl",
            b'{"title": ["Inks"], "issued": {"date-parts": [[2026, 3]]}, "type": "journal-article", "volume": 4, "page": "1-9"}\n',
            Description("Inks", "2026", part="4", format="contribution", pages="1-9"),
        ),
        (
            "jsonl",
            (
                b'{"id": "x", "attributes": {"titles": [{"lang": "en", "title": "Inks"}], "publicationYear": 2026, '
                b'"types": {"ris": "RPRT", "resourceTypeGeneral": "Dataset"}}}\n'
            ),
            Description("Inks", "2026", format="data"),
        ),
        (
            "csv",
            b"Titel,Sprache,Type,Format\nInks,de,Book,Hardcover\n",
            Description("Inks", format="print book pages", language="de"),
        ),
        ("csv", b"Titel,Type\nInks,Buch\n", Description("Inks", format="book")),
        ("csv", b"Title,Type\nInks,DVD\n", Description("Inks", format="video recording platter")),
        (
            "csv",
            b"Title,Publication Year,Edition,Vol,Pages,Item Type\nInks,2026,2nd,4,S259,journalArticle\n",
            Description("Inks", "2026", "2nd", "4", "contribution", "S259"),
        ),
        (
            "ris",
            b"TY  - CHAP\nTI  - Inks\nT2  - Tides\nPY  - 2026/03//\nET  - 2\nVL  - 4\nSP  - 97\nEP  - 108\nER  - \n",
            Description("Inks", "2026", "2", "4", "contribution", "97-", host="Tides"),
        ),
        (
            "pubmed",
            (
                b"<PubmedArticleSet><PubmedArticle><MedlineCitation><Article><Journal><JournalIssue><Volume>4</Volume>"
                b"<PubDate><Year>2026</Year><Month>Mar</Month></PubDate></JournalIssue></Journal>"
                b"<ArticleTitle>Inks <i>and</i> tides.</ArticleTitle><Pagination><MedlinePgn>97-108</MedlinePgn></Pagination>"
                b"<PublicationTypeList><PublicationType>Journal Article</PublicationType></PublicationTypeList></Article>"
                b"</MedlineCitation></PubmedArticle></PubmedArticleSet>"
            ),
            Description("Inks and tides.", "2026", part="4", format="contribution", pages="97-108"),
        ),
        (
            "endnote",
            (
                b"<xml><records><record><rec-number>1</rec-number><ref-type name='Book Section'>5</ref-type><titles><title>"
                b"<style>Inks </style><style face='italic'>and tides</style></title></titles><pages>97-108</pages>"
                b"<volume>4</volume><edition>2nd</edition><dates><year>2026</year></dates></record></records></xml>"
            ),
            Description("Inks and tides", "2026", "2nd", "4", "contribution", "97-108"),
        ),
        (
            "nbib",
            b"PMID- 1\nDP  - 2026 Mar 4\nTI  - Inks and\n      tides\nPG  - 97-108\nVI  - 4\nPT  - Journal Article\nPT  - Review\n",
            Description("Inks and tides", "2026", part="4", format="contribution", pages="97-108"),
        ),
        (
            "enw",
            b"%0 Electronic Book\n%T Inks\n%B Series\n%D 2026\n%7 2nd\n%V 4\n",
            Description("Inks", "2026", "2nd", "4", "online book", host="Series"),
        ),
        (
            "ciw",
            b"FN X\nVR 1.0\nPT J\nTI Inks and\n   tides\nSO Lamps\nPY 2026\nVL 4\nBP 97\nER\n",
            Description("Inks and tides", "2026", part="4", format="contribution", pages="97-", host="Lamps"),
        ),
        (
            "bibtex",
            b"@inproceedings{k, title = {{Inks}: A Tale}, year = 2026, edition = {Second}, volume = 4, pages = {97--108}}",
            Description("Inks: A Tale", "2026", "Second", "4", "contribution", "97--108"),
        ),
        (
            "pica",
            b"003@ \x1f01\x1e002@ \x1f0Oau\x1e011@ \x1fa2026\x1e021A \x1faDie @Inseln\x1fdeine Reise\x1e032@ \x1fa2. Aufl.\x1e\n",
            Description(
                f"{ARTICLE_BEGINS}Die {ARTICLE_ENDS}Inseln{SUBTITLE}eine Reise",
                "2026",
                "2. Aufl.",
                format="online volume",
            ),
        ),
        (
            "ntriples",
            (
                b'<urn:example:a> <http://purl.org/dc/terms/title> "Inks" .\n'
                b'<urn:example:a> <http://purl.org/dc/terms/issued> "2026-03-01" .\n'
            ),
            Description("Inks", "2026"),
        ),
        ("line", b"Inks, 2026\n", Description()),
    ],
)
def test_formats(format_, content, expected):
    """Each reads its rows, with and without the record's own identifiers, and only if descriptions are wanted."""
    assert described(format_, content) == expected


def test_every_table_belongs_to_a_reader():
    """A table with another name would be read by nobody."""
    of_xml = {kind.table or kind.name for kind in (*KINDS.values(), *INNER_KINDS) if not kind.holds} - {"marcxml"}
    read = {format_.reader.described_by for format_ in FORMATS.values()} | of_xml | {"unimarc"}
    assert set(TABLES) == read - {""}


def test_every_meaning_is_a_word_of_the_axes():
    """A misspelt word in the data would end the run in the middle of a dump."""
    rows = [row for name in TABLES for held in described_fields(name).values() for row in held]
    levels = [digit for row in rows if row.aspect == "level" for digit in row.codes.values()]
    assert sorted(set(levels)) == list("12345678")
    rows = [row for row in rows if row.aspect not in ("level", "dates")]
    said = [*read_data("descriptions.toml")["types"].values()]
    said += [meaning for row in rows for meaning in (*row.codes.values(), *row.words.values())]
    assert {word for meaning in said for word in meaning.split()} <= set(axes())


def test_codes_and_words_of_several_fields_are_written_once():
    """A rule is written once: two copies of a long pattern would differ after the first change. [shared] has them."""
    data = read_data("descriptions.toml")
    tables = [row[name] for format_ in TABLES for row in data[format_] for name in ("codes", "words") if name in row]
    several = [str(table) for table in tables if isinstance(table, dict) and len(table) > 1]
    assert len(several) == len(set(several))
    assert {table for table in tables if isinstance(table, str)} == set(data["shared"])


@given(
    st.lists(st.tuples(st.sampled_from([row for held in described_fields("marc").values() for row in held]), st.text()))
)
def test_any_values(told):
    """Whatever stands in the fields: values are short, nothing is empty, and what is packed says the same."""
    found = describe(told)
    assert unpack(pack("marc", told)) == found
    assert all(value is None or 0 < len(value) < 1100 for value in found)
