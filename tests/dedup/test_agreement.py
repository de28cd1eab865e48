"""Which descriptions contradict each other: each rule of the table, and that nothing else does."""

# ruff: noqa: RUF001 - letters of other scripts

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.dedup.compare.agreement import ASPECTS, RULES, compare, is_surely_same, rules_of
from urnscan.dedup.compare.features import _kinds_in
from urnscan.dedup.compare.features import words as text_words
from urnscan.dedup.compare.known_words import known_words
from urnscan.dedup.compare.parts import NO_PART, differ, is_sequence_among, numbers_in, part_of
from urnscan.dedup.compare.title_words import alone, have_opposites
from urnscan.records.description import Description, axes

ARTICLE = "\x98Die \x9cUhrmacher"
words = st.sampled_from(
    [
        "Diercke",
        "Level 3",
        "Level 1",
        "Faust II",
        "Faust",
        "Die",
        "(1986)",
        "/ by",
        ":",
        "Я",
        "A",
        "",
        "Reply",
        "Editorial",
        "two",
        "2nd ed.",
        "Band 2",
        "wine",
    ]
)
descriptions = st.builds(
    Description,
    title=st.none() | st.lists(words, max_size=4).map(" ".join) | st.text(max_size=6),
    year=st.none() | st.sampled_from(["1999", "2000", "2001", "1998 2003"]),
    language=st.none() | st.sampled_from(["eng", "English", "ger fre", "|||"]),
    author=st.none() | st.sampled_from(["Bell, A.", "Ann Bell", "Wimpelfeld", "A."]),
    edition=st.none() | st.sampled_from(["3rd ed.", "Dritte Aufl.", "Rev. ed.", "2004 ed.", "1. Aufl."]),
    part=st.none() | st.sampled_from(["Bd. 3", "Vol. III", "4", "Part B", "Part A", "Beiheft"]),
    format=st.none() | st.lists(st.sampled_from(sorted(axes())), unique=True, max_size=3).map(" ".join),
    pages=st.none() | st.sampled_from(["97-108", "97", "S259", "S548", "1-12", "209--224", "e97"]),
    document=st.none() | st.sampled_from(["FP 1.18:D 37/977", "FP 1.18:V 59/977 (MF)", "A 1.2:X | B 2.3:Y"]),
    series=st.none() | st.sampled_from(["12", "no. 12", "Bd. 3 | 7", "new ser., v. 4"]),
    extent=st.none()
    | st.sampled_from(["xii, 230 p.", "260 pages", "3 v. in 4", "v. <1-3>", "1 sheet", "2 sound discs"]),
    scale=st.sampled_from([None, "25000", "Scale 1:50,000", "Scale not given"]),
    dates=st.sampled_from([None, "open"]),
    publisher=st.sampled_from([None, "Blue Press", "Green Press", "[s.n.]"]),
    responsibility=st.sampled_from([None, "by Ann Bell", "ed. A."]),
)


def aspects_against(one, other, rules=RULES):
    """Aspects in which two descriptions contradict each other."""
    against = compare(Description(**one), Description(**other), rules).against
    return [aspect for at, aspect in enumerate(ASPECTS) if against >> at & 1]


@pytest.mark.parametrize(
    ("one", "other", "aspects"),
    [
        # titles
        (
            {"title": "Diercke-Handbuch. 1. Aufl. 1976"},
            {"title": "Diercke-Handbuch fuer die SI. 3. Aufl."},
            ["title", "edition"],
        ),
        ({"title": "Physics\x1fan introduction"}, {"title": "Physics"}, []),
        ({"title": "Physics: an introduction"}, {"title": "PHYSICS\x1fan Introduction /"}, []),
        ({"title": "Physics\x1fan introduction"}, {"title": "Physics\x1ffor teachers of small children"}, ["title"]),
        ({"title": ARTICLE}, {"title": "Uhrmacher"}, []),
        ({"title": ARTICLE}, {"title": "Die Uhrmacher"}, []),
        ({"title": "Война и мир"}, {"title": "Voina i mir"}, []),  # scripts are not compared
        ({"title": "Война и мир"}, {"title": "Отцы и дети"}, ["title"]),
        ({"title": "E = <i>mc</i><sup>2</sup>"}, {"title": "E = mc 2"}, []),
        ({"title": "Übersetzen"}, {"title": "Ubersetzen"}, []),
        # numbers in titles
        ({"title": "Spelling and vocabulary. Level 3"}, {"title": "Spelling and vocabulary. Level 1"}, ["part"]),
        ({"title": "Faust II. Der Tragödie Teil"}, {"title": "Faust I. Der Tragödie Teil"}, ["part"]),
        ({"title": "Der Tragödie Teil I"}, {"title": "Der Tragödie Teil II"}, ["part"]),
        ({"title": "Mathematics. Part A"}, {"title": "Mathematics. Part B"}, ["part"]),
        ({"title": "Mathematics. Part A"}, {"title": "Mathematics"}, ["title"]),
        ({"title": "Proceedings of the fifth conference"}, {"title": "Proceedings of the 6th conference"}, ["part"]),
        ({"title": "Grade one readers"}, {"title": "Grade two readers"}, ["part"]),
        ({"title": "Two trials in 4 schools"}, {"title": "2 trials in four schools"}, []),
        ({"title": "Structure of inkase A in birds"}, {"title": "Structure of inkase B in birds"}, ["part"]),
        ({"title": "10<sup>6</sup> cells in 3 days"}, {"title": "106 cells in 3 days"}, []),
        ({"title": "History of inks. Volume 2"}, {"title": "History of inks", "part": "Bd. II"}, []),
        ({"title": "History of inks. Volume 2"}, {"title": "History of inks", "part": "Bd. I"}, ["part"]),
        # marks of letters and digits in titles
        ({"title": "Menschen A1"}, {"title": "Menschen A2"}, ["part"]),
        ({"title": "Menschen A1"}, {"title": "Menschen B1"}, ["part"]),
        ({"title": "Menschen\x1fA1"}, {"title": "Menschen A2"}, ["part"]),
        ({"title": "Inks in CD4 cells"}, {"title": "Inks in CD8 cells"}, ["part"]),
        ({"title": "Inks of Fe2+"}, {"title": "Inks of Fe3+"}, ["part"]),
        ({"title": "Networks of 3G"}, {"title": "Networks of 4G"}, ["part"]),
        ({"title": "Язык А1"}, {"title": "Язык А2"}, ["part"]),
        # the same mark in another spelling, and a mark that only one title has
        ({"title": "Menschen A1"}, {"title": "Menschen"}, []),
        ({"title": "Menschen A1"}, {"title": "Menschen A 1"}, []),
        ({"title": "Menschen A1"}, {"title": "Menschen A1-B1"}, []),
        ({"title": "Inks of CO2 and H2O"}, {"title": "Inks of C02 and H20"}, []),
        ({"title": "IL2 and IL-4 in inks"}, {"title": "IL-2 and IL4 in inks"}, []),
        ({"title": "History of inks Bd1"}, {"title": "History of inks Band1"}, []),
        ({"title": "History of inks Vol1"}, {"title": "History of inks V1"}, []),
        ({"title": "Inks, 2a parte"}, {"title": "Inks, 2e parte"}, []),
        ({"title": "Язык A1"}, {"title": "Язык А1"}, []),
        ({"title": "Inks in EU25 = Tinten in UE25"}, {"title": "Tinten in UE25"}, []),
        # a letter with its sign, and the key of music
        ({"title": "Lessons in C"}, {"title": "Lessons in C++"}, ["title", "part"]),
        ({"title": "Lessons in invented C for clerks"}, {"title": "Lessons in invented C# for clerks"}, ["part"]),
        ({"title": "Lessons in C#"}, {"title": "Lessons in C++"}, ["title", "part"]),
        ({"title": "Symphony in C minor"}, {"title": "Symphony in D minor"}, ["part"]),
        ({"title": "Sonata in F minor for flute"}, {"title": "Sonata in F sharp minor for flute"}, ["part"]),
        ({"title": "Vitamin C in inks"}, {"title": "Vitamin D in inks"}, ["part"]),
        ({"title": "Lessons in C++"}, {"title": "Lessons in C plus plus"}, []),
        ({"title": "Lessons in C++11"}, {"title": "Lessons in C++ 11"}, []),
        ({"title": "Sonata in F# minor, B\u266d major"}, {"title": "Sonata in F sharp minor, B flat major"}, []),
        ({"title": "Symphony no. 9 in D minor"}, {"title": "Symphony no. 9 in D"}, []),
        ({"title": "L'encre d'or"}, {"title": "L'encre dor"}, []),
        # words
        ({"title": "Efficacy of ink in adults, 52 weeks"}, {"title": "Safety of ink in adults, 52 weeks"}, ["title"]),
        ({"title": "The inks of the north\x1fRed inks"}, {"title": "The inks of the north\x1fBlue inks"}, ["title"]),
        ({"title": "Tumour colour in paediatric oedema"}, {"title": "Tumor color in pediatric edema"}, []),
        ({"title": "Meta-analysis of handwriting"}, {"title": "Metaanalysis of hand-writing"}, []),
        ({"title": "Die Färbung der Tinte für Schüler"}, {"title": "Die Faerbung der Tinte fuer Schueler"}, []),
        ({"title": "Ink in the US: an overview of use"}, {"title": "Ink in the United States: an overview of use"}, []),
        (
            {"title": "Role of \N{GREEK SMALL LETTER ALPHA}-inkase in writing"},
            {"title": "Role of alpha-inkase in writing"},
            [],
        ),
        (
            {"title": "Search for \N{GREEK SMALL LETTER ALPHA} decays in ink"},
            {"title": r"Search for $\beta$ decays in ink"},
            ["title"],
        ),
        # one subtitle with more words than the other; the title of a part as the title
        ({"title": "Inks\x1fa handbook"}, {"title": "Inks\x1fa handbook for scribes and clerks"}, []),
        ({"title": "History of inks\x1fThe red inks of Persia"}, {"title": "The red inks of Persia"}, []),
        # what databases add
        ({"title": "RETRACTED ARTICLE: Ink and pens"}, {"title": "Ink and pens"}, []),
        ({"title": "Ink and pens (Retracted article. See vol. 12, pg. 100, 2012)"}, {"title": "Ink and pens"}, []),
        ({"title": "[Ink and pens]"}, {"title": "Ink and pens [Article in German]"}, []),
        # what is about a work, or made for it
        ({"title": "Erratum to: Ink in practice and theory"}, {"title": "Ink in practice and theory"}, ["title"]),
        ({"title": "Ink in practice and theory - Reply"}, {"title": "Ink in practice and theory"}, ["title"]),
        ({"title": "Comment on Ink in practice and theory"}, {"title": "Ink in practice and theory"}, ["title"]),
        (
            {"title": "Ink in practice and theory (vol 12, pg 123, 2010)"},
            {"title": "Ink in practice and theory"},
            ["title"],
        ),
        (
            {"title": "Inks", "edition": "Teacher's ed."},
            {"title": "Inks", "edition": "Student ed."},
            ["title", "edition"],
        ),
        ({"title": "Deutsch heute\x1fArbeitsbuch"}, {"title": "Deutsch heute"}, ["title"]),
        ({"title": "Correction of ink"}, {"title": "Correction of ink\x1fa study"}, []),
        # authors
        ({"title": "Editorial", "author": "Bell, A."}, {"title": "Editorial.", "author": "Wimpelfeld, B."}, ["title"]),
        ({"title": "Editorial", "author": "Bell, A."}, {"title": "Editorial.", "author": "Ann Bell"}, []),
        ({"title": "Inks", "author": "Bell, A."}, {"title": "Inks", "author": "Wimpelfeld, B."}, []),  # an editor
        # languages
        ({"title": "Hamlet", "language": "eng"}, {"title": "Hamlet", "language": "fre"}, ["language"]),
        ({"title": "Hamlet", "language": "fra"}, {"title": "Hamlet", "language": "fre"}, []),
        ({"title": "Hamlet", "language": "eng"}, {"title": "Hamlet", "language": "English"}, []),
        ({"title": "Hamlet", "language": "eng"}, {"title": "Hamlet", "language": "|||"}, []),
        ({"title": "Hamlet", "language": "eng fre"}, {"title": "Hamlet", "language": "fre"}, []),
        # years
        ({"year": "1999"}, {"year": "2000"}, []),
        ({"year": "1999"}, {"year": "2001"}, ["year"]),
        ({"year": "1998 2003"}, {"year": "2004"}, []),
        # editions
        ({"edition": "3rd ed."}, {"edition": "Dritte, überarb. Aufl."}, []),
        ({"edition": "3rd ed."}, {"edition": "2nd ed."}, ["edition"]),
        ({"edition": "3rd ed."}, {"edition": "Rev. ed."}, []),
        ({"edition": "3rd ed."}, {"edition": "2004 ed."}, []),
        ({"edition": "Eleventh edition"}, {"edition": "Twelfth edition"}, ["edition"]),
        ({"edition": "2ème éd."}, {"edition": "3e éd."}, ["edition"]),
        ({"edition": "2ème éd."}, {"edition": "2nd ed."}, []),
        ({"edition": "2da ed."}, {"edition": "3ra ed."}, ["edition"]),
        ({"edition": "al-Ṭab\u02bbah al-ūlá"}, {"edition": "al-Ṭab\u02bbah 2"}, ["edition"]),
        ({"edition": "al-Ṭab\u02bbah al-rābi\u02bbah"}, {"edition": "4th ed."}, []),
        ({"edition": "第2版"}, {"edition": "第3版, 改訂"}, ["edition"]),
        ({"title": "Inks (Second Edition)"}, {"title": "Inks", "edition": "2. Aufl."}, []),
        ({"title": "Inks, third edition"}, {"title": "Inks", "edition": "2. Aufl."}, ["edition"]),
        ({"title": "Inks, third edition"}, {"title": "Inks, second edition"}, ["edition"]),
        # printings, months and extents
        ({"edition": "1. Aufl."}, {"edition": "1. Aufl., 2. korr. Nachdr."}, ["edition"]),
        ({"edition": "1st ed., 2nd printing"}, {"edition": "1st ed., 3rd printing"}, ["edition"]),
        ({"edition": "1st ed."}, {"edition": "First edition, reprinted"}, ["edition"]),
        ({"edition": "1. Aufl."}, {"edition": "1. Auflage, 1. Druck"}, []),
        ({"edition": "1. Aufl."}, {"edition": "1. Aufl., 1. korr. Nachdr."}, ["edition"]),
        ({"edition": "1. Aufl., 1. korr. Nachdr."}, {"edition": "Erste Auflage, erster korrigierter Nachdruck"}, []),
        ({"edition": "1. Aufl., 3. Dr"}, {"edition": "1. Aufl., 4. Dr."}, ["edition"]),
        ({"edition": "1. ed., minor corr."}, {"edition": "1st ed."}, ["edition"]),
        ({"edition": "2., korr. Aufl."}, {"edition": "2nd ed."}, []),
        # a later edition, and a record that is not just silent about it
        ({"edition": "2. Aufl.", "year": "1986"}, {"year": "1985"}, ["edition"]),
        ({"edition": "2nd ed.", "year": "1986"}, {"year": "1986"}, []),
        ({"edition": "2nd ed."}, {}, []),
        ({"edition": "1st ed.", "year": "1986"}, {"year": "1985"}, []),
        ({"edition": "2004 ed.", "year": "2005"}, {"year": "2004"}, []),
        ({"edition": "Ungekürzte Ausg., 2. Aufl."}, {"edition": "Ungekürzte Ausg."}, ["edition"]),
        ({"edition": "3rd ed., rev.", "year": "1986"}, {"edition": "Rev. ed.", "year": "1986"}, []),
        # a record without an edition is of the first printing
        ({"edition": "1. korr. Nachdr.", "year": "1998"}, {"year": "1998"}, ["edition"]),
        ({"edition": "2nd printing", "year": "1998"}, {"year": "1997"}, ["edition"]),
        ({"edition": "1st printing", "year": "1998"}, {"year": "1998"}, []),
        ({"edition": "Repr.", "year": "1998"}, {"year": "1997"}, ["edition"]),
        ({"edition": "Reprint ed.", "year": "1998"}, {"year": "1998"}, []),
        ({"edition": "April 1996", "year": "1996"}, {"year": "1995"}, ["edition"]),
        ({"edition": "April 1996", "year": "1996"}, {"year": "1996"}, []),
        ({"edition": "April 1996"}, {}, []),
        ({"edition": "April 1996"}, {"edition": "October 1996"}, ["edition"]),
        ({"edition": "April 1996"}, {"edition": "Rev. ed."}, ["edition"]),
        ({"edition": "April 1996"}, {"edition": "[Stand: Apr. 1996]"}, []),
        ({"extent": "xii, 230 p."}, {"extent": "xii, 260 p."}, ["edition"]),
        ({"extent": "xii, 230 p."}, {"extent": "[1], 236, [3] pages"}, []),
        ({"extent": "1 online resource (xi, 658 pages)"}, {"extent": "658 S."}, []),
        ({"extent": "2 videodiscs (326 min.) + 1 booklet (6 pages)"}, {"extent": "1 booklet (6 p.)"}, []),
        ({"extent": "xvi,358p"}, {"extent": "XVI, 420 S."}, ["edition"]),
        ({"extent": "8 p."}, {"extent": "10 p."}, []),
        ({"extent": "[6], 9-65 leaves"}, {"extent": "75 p."}, ["edition"]),
        ({"extent": "vi, 120 leaves"}, {"extent": "120 p., 8 leaves of plates"}, []),
        (
            {"extent": "388 pages", "publisher": "Blue Press"},
            {"extent": "4, 384 p.", "publisher": "Green Press"},
            ["edition"],
        ),
        ({"extent": "388 pages", "publisher": "Blue Press"}, {"extent": "387 p.", "publisher": "Green Press"}, []),
        ({"extent": "388 pages", "publisher": "Blue Press"}, {"extent": "384 p.", "publisher": "[s.n.]"}, []),
        (
            {"extent": "388 pages", "publisher": "Blue Press"},
            {"extent": "384 p.", "publisher": "Sold by Blue Press"},
            [],
        ),
        ({"extent": "3 v. in 4"}, {"extent": "4 volumes"}, []),
        ({"extent": "3 v."}, {"extent": "4 volumes"}, ["part"]),
        ({"extent": "v. <1-3>"}, {"extent": "4 volumes"}, []),
        ({"extent": "5 videodiscs (277 min.)"}, {"extent": "1 videodisc (67 min.)"}, ["part"]),
        ({"extent": "1 sound cassette"}, {"extent": "2 Kassetten"}, ["part"]),
        ({"extent": "2 sound discs (90 min.)"}, {"extent": "2 audio-CDs"}, []),
        ({"extent": "1 score (28 p.) | 2 CDs"}, {"extent": "1 score + 2 compact discs"}, []),
        (
            {"extent": "1 online resource (55 min.)"},
            {"extent": "2 DVDs"},
            [],
        ),  # the carrier contradicts, not the number
        ({"extent": "2 v. (450, 450 p.)"}, {"extent": "2 v. (900 p.)"}, []),
        # opposite editions, scales of maps
        ({"edition": "Windows version"}, {"edition": "Macintosh version"}, ["edition"]),
        ({"edition": "Abridged ed."}, {"edition": "Unabridged ed."}, ["edition"]),
        ({"edition": "Windows version"}, {"edition": "For Windows and Macintosh"}, []),
        ({"edition": "Windows version"}, {"edition": "Rev. ed."}, []),
        ({"edition": "Windows version"}, {}, []),
        ({"scale": "Scale 1:25,000"}, {"scale": "50000"}, ["part"]),
        ({"scale": "Scale [ca. 1:26 000]. 2 1/2 in. to 1 mile"}, {"scale": "1:25.000"}, []),
        ({"scale": "25000 | 100000"}, {"scale": "Scales 1:100,000 and 1:500,000"}, []),
        ({"scale": "Scale not given"}, {"scale": "50000"}, []),
        # numbers of documents and in series
        ({"document": "FP 1.18:D 37/977"}, {"document": "FP 1.18:V 59/977"}, ["part"]),
        ({"document": "C 13.10:970"}, {"document": "c 13.10: 970 (online) | C 13.10/2"}, []),
        ({"series": "no. 12"}, {"series": "13"}, ["part"]),
        ({"series": "no. 12 | Bd. 5"}, {"series": "5"}, []),
        # what still appears
        ({"year": "1985", "dates": "open"}, {"year": "1985"}, ["year"]),
        ({"year": "1985", "dates": "open"}, {"year": "1986", "dates": "open"}, []),
        ({"year": "1985", "dates": "open"}, {}, []),
        # a serial whose title has changed
        (
            {"title": "Report on the trade in inks of all kinds and pens", "year": "1833", "format": "periodical"},
            {"title": "Report on the trade in inks of all kinds", "year": "1832", "format": "periodical"},
            ["year"],
        ),
        (
            {"title": "Report on inks", "year": "1833", "format": "periodical"},
            {"title": "Report on inks.", "year": "1832", "format": "periodical"},
            [],
        ),
        (
            {"title": "Report on the trade in inks of all kinds and pens", "year": "1833"},
            {"title": "Report on the trade in inks of all kinds", "year": "1832"},
            [],
        ),
        # titles in two languages
        (
            {"title": "Accounts of inks\x1fMain tables = Comptes d'encres"},
            {"title": "Accounts of inks\x1fDetailed tables = Comptes d'encres"},
            ["title"],
        ),
        ({"title": "Inks = Tinten"}, {"title": "Inks = Encres"}, []),
        ({"title": "Drying times of inks [Trockenzeiten der Tinten]"}, {"title": "Trockenzeiten der Tinten"}, []),
        ({"title": "Drying times of inks [Trockenzeiten der Tinten]"}, {"title": "Drying Times of Inks"}, []),
        ({"title": "Ink =\x1fTinte : eine Studie"}, {"title": "Tinte"}, []),
        ({"title": "Inks [microform]"}, {"title": "Pens [microform]"}, ["title"]),
        ({"title": "Annual report [Bureau of inks]"}, {"title": "Annual report [Office of pens]"}, ["title"]),
        # parts and pages
        ({"part": "Bd. 3"}, {"part": "Vol. III"}, []),
        ({"part": "Bd. 3"}, {"part": "4"}, ["part"]),
        ({"part": "Bd. 3, 2"}, {"part": "3"}, []),
        ({"part": "2015"}, {"part": "8"}, []),  # some journals count volumes by years
        ({"part": "2015"}, {"part": "2014"}, ["part"]),
        ({"part": "Volume two"}, {"part": "2"}, []),
        ({"pages": "S259"}, {"pages": "S548"}, ["part"]),
        ({"pages": "97-108"}, {"pages": "97--108"}, []),
        ({"pages": "97-108"}, {"pages": "209-224"}, ["part"]),
        ({"pages": "340"}, {"pages": "336"}, []),  # of all pages
        ({"pages": "101234-"}, {"pages": "12-20"}, []),  # an article number
        ({"pages": "e97"}, {"pages": "12-20"}, []),  # an article number
        ({"pages": "1-12"}, {"pages": "97-108"}, []),  # before it had its place in an issue
        # formats
        ({"format": "text print"}, {"format": "text online"}, ["format"]),
        ({"format": "text"}, {"format": "map"}, ["format"]),
        ({"format": "online disc"}, {"format": "online"}, []),
        ({"format": "audio tape"}, {"format": "audio platter"}, ["format"]),
        ({"format": "video tape"}, {"format": "video online stream"}, ["format"]),
        ({"format": "text platter"}, {"format": "text pages volume"}, ["format"]),
        ({"format": "text pages platter"}, {"format": "text pages volume"}, []),  # a book with a disc
        ({"format": "holdings"}, {"format": "text"}, ["format"]),
        ({"format": "authority"}, {"format": "audio"}, ["format"]),
        ({"format": "book"}, {"format": "text print"}, []),  # they tell other things
        ({"format": "book"}, {"format": "contribution"}, ["format"]),
        ({"format": "book"}, {"format": "recording video"}, ["format"]),
        ({"format": "book pages"}, {"format": "audio book platter tape stream"}, ["format"]),
        ({"format": "book"}, {"format": "map"}, []),  # an atlas
    ],
)
def test_pairs(one, other, aspects):
    """Each rule stops what it is made for, and a different way of writing the same is no contradiction."""
    assert aspects_against(one, other) == aspects
    assert aspects_against(other, one) == aspects


@pytest.mark.full
@pytest.mark.parametrize(("level", "is_same"), [("A1", True), ("A 1", True), ("A2", False)])
def test_a_supporting_key_does_not_join_titles_with_other_marks(level, is_same):
    title = "Imaginary lighthouses and invented inks for young readers, level {} with exercises"
    assert is_surely_same(Description(title.format("A1")), Description(title.format(level))) == is_same


@given(one=descriptions, other=descriptions)
def test_the_order_of_two_records_does_not_matter(one, other):
    """Else clusters depended on the order of the dumps."""
    assert compare(one, other, RULES) == compare(other, one, RULES)


@given(one=descriptions)
def test_no_description_contradicts_itself(one):
    """The second copy of a record always goes."""
    assert compare(one, one, RULES).against == 0


@given(one=descriptions, field=st.sampled_from(Description._fields))
def test_what_is_missing_contradicts_nothing(one, field):
    """Whatever else a record says: an empty field of the other stops no join.

    A title may name the part and the edition: `Atlas, Band 2`.
    """
    in_title = "title", "part", "edition"
    alone = Description(**{field: getattr(one, field)})
    others = one._replace(**dict.fromkeys(in_title if field in in_title else (field,)))
    assert compare(alone, others, RULES).against == 0


def test_only_the_aspects_that_are_wanted():
    """`--agree`: the others are not compared."""
    one, other = {"year": "1990", "edition": "1"}, {"year": "2000", "edition": "2"}
    assert aspects_against(one, other, rules_of(["edition"])) == ["edition"]
    assert aspects_against(one, other, rules_of([])) == []
    assert len(rules_of(ASPECTS)) == len(RULES)


@pytest.mark.parametrize(
    "title",
    [
        *[
            "Re: Inks",
            "In reply to: Inks",
            "Discussion of “Inks”",
            "Berichtigung zu: Inks",
            "Réponse à : Inks",
            "Respuesta a: Inks",
        ],
        *[
            "Inks: manual do professor",
            "Inks: рабочая тетрадь",
            "Inks: ワークブック",
            "Inks: guide pédagogique",
            "Fe de erratas: Inks",
            "Commentaire sur : Inks",
            "Ответ на: Inks",
            "Risposta a: Inks",
            "Rezension: Inks",
            "A reply to Inks",
        ],
        *["Inks: a reader's companion", "Inks: colouring book", "Inks: the graphic novel", "Inks: the screenplay"],
    ],
)
def test_what_is_about_a_work(title):
    """Page of dedup, `title`: a reply, an erratum, a comment or a review is another work, in any language of the words."""
    assert aspects_against({"title": "Inks"}, {"title": title})[:1] == ["title"]
    assert aspects_against({"title": title}, {"title": title}) == []


@pytest.mark.full
@given(st.data())
def test_each_kind_of_work_is_found_by_the_words_that_hint_at_it(data):
    """A pattern of `kinds` is searched only where a word begins with one of its literals: no title that fits is missed."""
    name, pattern = data.draw(st.sampled_from(sorted(known_words().kinds.items())))
    title = data.draw(st.from_regex(pattern, fullmatch=True))
    assert name in _kinds_in([title])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *[("vol 2 pt 1", "vol 2 pt 2"), ("volume 2 part 1", "volume 2 part 2"), ("bd 2 teil 3", "bd 2 teil 2")],
        *[
            ("jg 5 h 6", "jg 5 h 5"),
            ("bd 2 1", "bd 2 2"),
            ("2 band 2 teil", "2 band 1 teil"),
            ("12a", "12b"),
            ("12a", "12"),
        ],
        *[
            ("38075 f1 tm", "38075 f2 tm"),
            ("第一冊", "第二冊"),
            ("第十二巻", "第十三巻"),
            ("上巻", "下巻"),
            ("\u0661", "\u0662"),
        ],
        *[("vol 2", "vol 1 pt 2"), ("tome xl", "tome xli"), ("том первый 3", "том 4"), ("teil eins", "teil zwei")],
        *[("1998 2", "1998 3"), ("1998", "1999"), ("vol 2 1998", "vol 3 1999"), ("1 2", "2 1")],
        *[
            ("第三巻 第一分冊", "第三巻 第二分冊"),
            ("巻一", "巻二"),
            ("卷上", "卷下"),
            ("その1", "その2"),
            ("상권", "하권"),
            ("제1권", "제2권"),
        ],
        *[
            ("часть первая", "часть вторая"),
            ("eerste deel", "tweede deel"),
            ("pars prima", "pars altera"),
            ("díl první", "díl druhý"),
        ],
        *[
            ("tomo primero", "tomo segundo"),
            ("الجزء الأول", "الجزء الثاني"),
            ("pt iia", "pt iib"),
            ("forsta bandet", "tredje bandet"),
        ],
    ],
)
def test_other_parts(one, other):
    """Page of dedup, `part`: numbers in their order, of one level, with letters, in other scripts and in words."""
    one, other = text_words(one), text_words(other)
    assert differ(part_of(one), part_of(other)) == differ(part_of(other), part_of(one)) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("第1巻", "第2巻"),
        ("上巻", "下巻"),
        ("제1권", "제2권"),
        ("Bd. 2a", "Bd. 2b"),
        ("Vol. LXII", "Vol. LXIII"),
        ("الجزء ١", "الجزء ٢"),
    ],
)
def test_other_parts_in_titles(one, other):
    """Page of dedup, `part`: a table may have the number of the part only in the title."""
    assert aspects_against({"title": f"Invented inks. {one}"}, {"title": f"Invented inks. {other}"})[-1:] == ["part"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("第二版", "第三版"),
        ("제2판", "제3판"),
        ("初版", "第2版"),
        ("2de druk", "3de druk"),
        ("2d ed.", "3d ed."),
        ("XII. Auflage", "XIII. Auflage"),
        ("Version 1.4", "Version 1.5"),
        ("2-е изд.", "3-е изд."),
    ],
)
def test_other_editions(one, other):
    """Page of dedup, `edition`: numbers of other scripts, Roman numbers and numbers of versions."""
    assert aspects_against({"edition": one}, {"edition": other}) == ["edition"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("第2版", "第二版"), ("2d ed.", "2nd ed."), ("XII. Auflage", "12. Aufl."), ("2de druk", "Tweede druk")],
)
def test_same_editions(one, other):
    """The same number of an edition, written in another way."""
    assert aspects_against({"edition": one}, {"edition": other}) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *[
            ("vol 2 pt 1", "2 band 1 teil"),
            ("bd 2", "bd 2 teil 1"),
            ("vol iii", "3"),
            ("third volume", "bd 3"),
            ("vol 2", "2nd vol"),
        ],
        *[
            ("teil 1 bd 2", "bd 2 teil 1"),
            ("第一冊", "1"),
            ("第12巻", "第十二巻"),
            ("2a parte", "parte 2"),
            ("1998 2", "2"),
        ],
        *[("vol 2 1998", "no 2"), ("no 2 1998", "1998 no 2"), ("part b", "b"), ("xlii", "42"), ("12", "12 3")],
    ],
)
def test_same_parts(one, other):
    """The same numbers in other words, or one record says less; a year counts only where both have one."""
    assert differ(part_of(one), part_of(other)) == differ(part_of(other), part_of(one)) == 0


@given(st.text("0123456789abivxlc 第一十百上巻١", max_size=12), st.text("12ab v", max_size=6))
def test_parts_are_compared_in_any_order(one, other):
    """A part is never another one than itself, and nothing raises."""
    mine, others = part_of(" ".join(one.split())), part_of(" ".join(other.split()))
    assert differ(mine, others) == differ(others, mine)
    assert differ(mine, mine) in (0, None)
    assert differ(mine, NO_PART) is None


def test_an_index_is_not_its_volume():
    """A supplement or an index of volume 2 has its number."""
    for one, other, aspects in (
        ("Bd. 2", "Register zu Bd. 2", ["part"]),
        ("Vol. 2", "Suppl. 2", ["part"]),
        ("Index 2", "Index 2", []),
        ("2", "Suppl.", []),
        ("2", "Index", ["part"]),
        ("Textband", "Tafelband", ["part"]),
        ("Sheet 12-NE", "Sheet 12-SW", ["part"]),
    ):
        assert aspects_against({"title": "Inks", "part": one}, {"title": "Inks", "part": other}) == aspects
    article = {"title": "Inks", "pages": "S259-S260"}
    assert aspects_against(article | {"part": "12"}, article | {"part": "12 Suppl 1"}) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *[("Eastern Europe", "Western Europe"), ("Male readers", "Female readers"), ("Hypertension", "Hypotension")],
        *[
            ("Inorganic chemistry", "Organic chemistry"),
            ("Internal medicine", "External medicine"),
            ("Micrometer", "Macrometer"),
        ],
        *[
            ("Upper Rhine", "Lower Rhine"),
            ("Northumbria and the North", "Northumbria and the South"),
            ("Oberfranken", "Unterfranken"),
        ],
        *[("Ancient history", "Modern history"), ("Ostpreußen", "Westpreußen"), ("National law", "International law")],
        *[("Maps of inks", "Text of inks"), ("Reading", "Heading"), ("Sorting inks", "Porting inks")],
        *[
            ("Geschichte", "Kunstgeschichte"),
            ("Regulation", "Deregulation"),
            ("Aerobic", "Anaerobic"),
            ("Typical", "Atypical"),
        ],
        *[
            ("Linear systems", "Non-linear systems"),
            ("Employers", "Employees"),
            ("Absorption", "Adsorption"),
            ("Austria", "Australia"),
        ],
        *[
            ("Органическая химия", "Неорганическая химия"),
            ("上級", "初級"),
            ("男性", "女性"),
            ("Textband", "Tafelband"),
        ],
        *[("Windows XP", "Windows NT"), ("Sonata for violin", "Sonata for viola"), ("Violon", "Violoncelle")],
        *[("Nitrites", "Nitrates"), ("Sulphide", "Sulphate"), ("Alkanes", "Alkenes"), ("Ethanol", "Ethanal")],
        *[("Ethanol", "Methanol"), ("Ureteral", "Urethral"), ("Quinine", "Quinidine"), ("Casual", "Causal")],
    ],
)
def test_other_words(one, other):
    """Page of dedup, `title`: opposites are no spellings, nor are words with another beginning, or one both titles have."""
    book = "Handbook of inks. "
    assert aspects_against({"title": book + one}, {"title": book + other}) == ["title"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *[("Tumour", "Tumor"), ("Katalog", "Catalog"), ("Esophagus", "Oesophagus"), ("Photographie", "Fotografie")],
        *[
            ("Aesthetics", "Esthetics"),
            ("Data base", "Database"),
            ("Proc. of inks", "Proceedings of inks"),
            ("Colours", "Colors"),
        ],
        *[("North and South", "South and North"), ("Organisation", "Organization")],
        *[
            ("Kunst Geschichte", "Kunstgeschichte"),
            ("Hellenic inks", "Ellenic inks"),
            ("The self and inks", "The self & inks"),
        ],
        *[("Non-linear systems", "Nonlinear systems"), ("Straßenbau", "Strassenbau")],
        *[("Sulphates", "Sulfates"), ("Violin and viola", "Violins and violas"), ("Nitrate", "Nitrates")],
    ],
)
def test_spellings(one, other):
    """Words that may be two spellings of one, or an abbreviation, are alike."""
    book = "Handbook of invented inks: "
    assert aspects_against({"title": book + one}, {"title": book + other}) == []


def test_a_volume_that_says_nothing():
    """Page of dedup, `part`: `Suppl. 1` is no other volume than 60, and `1)` is half of `12(1)`, if all else is the same."""
    article = {"title": "Drying times of invented inks", "year": "2015", "pages": "A161-A162"}
    for part in ("Suppl. 1", "1)", "suppl", "S1", "n/a", "Online first", "Epub ahead of print"):
        assert aspects_against(article | {"part": part}, article | {"part": "60"}) == []
    assert aspects_against(article | {"part": "Suppl. 1"}, article | {"part": "60", "pages": "A161-A162, A9"}) == []
    assert aspects_against(article | {"part": "Suppl. 1", "year": "2014"}, article | {"part": "60"}) == ["part"]
    assert aspects_against(article | {"part": "59"}, article | {"part": "60"}) == ["part"]


def test_values_of_titles_are_in_their_order():
    assert numbers_in("level 3 part b") == ("3", "b")
    assert is_sequence_among(("1", "2"), ("1", "3", "2"))
    assert not is_sequence_among(("2", "1"), ("1", "2"))
    assert alone("maps of lamps", "text of lamps") == 1
    assert have_opposites("eastern inks", "western inks")
    assert not have_opposites("eastern and western inks", "western and eastern inks")
    assert not have_opposites("post war inks", "postwar inks")
    assert have_opposites("inorganic and inorganic inks", "organic and organic inks")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A Preface to Paradise Lost", "Preface to Paradise Lost"),
        ("The Letter to Plato", "Letter to Plato"),
        ("Les commentaires sur la guerre", "Commentaires sur la guerre"),
        ("?gypten im Altertum", "Ägypten im Altertum"),  # a damaged letter
        ("Unit 2A: Inks", "Unit 2 A: Inks"),
        ("Employers and employees in law", "Employer and employee in law"),
    ],
)
def test_spellings_of_one_title(one, other):
    """What libraries write in two ways is no conflict: an article, a lost letter, a blank, a plural on both sides."""
    assert aspects_against({"title": one}, {"title": other}) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Historia de la ciudad de Osma", "Historia de la ciudad de Roma"),
        ("The letters of Andra", "The letters of Clara"),
        ("Typical antipsychotics", "Atypical antipsychotics"),
    ],
)
def test_names_that_are_numbers_elsewhere(one, other):
    """A word that is a number in another language, and an opposite with a single letter before it, still count."""
    assert aspects_against({"title": one}, {"title": other}) == ["title"]


def test_words_of_the_table_can_be_found():
    """Each word is in the form of `words`: a final sigma, or a letter with its mark, would never be found."""
    known = known_words()
    single = known.parts | known.numbers.keys() | known.levels.keys() | frozenset().union(*known.opposites)
    single |= known.signs | known.keys
    assert [word for word in single if text_words(word) != word and " " not in word] == []
