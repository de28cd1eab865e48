"""Which descriptions contradict each other: each rule of the table, and that nothing else does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.dedup.agreement import ASPECTS, RULES, compare, rules_of
from urnscan.records.description import Description, axes

ARTICLE = "\x98Die \x9cUhrmacher"
words = st.sampled_from(
    ["Diercke", "Level 3", "Level 1", "Faust II", "Faust", "Die", "(1986)", "/ by", ":", "Я", "A", ""]
)
descriptions = st.builds(
    Description,
    title=st.none() | st.lists(words, max_size=4).map(" ".join) | st.text(max_size=6),
    year=st.none() | st.sampled_from(["1999", "2000", "2001", "1998 2003"]),
    edition=st.none() | st.sampled_from(["3rd ed.", "Dritte Aufl.", "Rev. ed.", "2004 ed.", "1. Aufl."]),
    part=st.none() | st.sampled_from(["Bd. 3", "Vol. III", "4", "Part B", "Part A", "Beiheft"]),
    format=st.none() | st.lists(st.sampled_from(sorted(axes())), unique=True, max_size=3).map(" ".join),
    pages=st.none() | st.sampled_from(["97-108", "97", "S259", "S548", "1-12", "209--224", "e97"]),
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
            ["title", "part"],
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
        (
            {"title": "Faust II. Der Tragödie Teil"},
            {"title": "Faust I. Der Tragödie Teil"},
            [],
        ),  # a letter I, not at the end
        ({"title": "Der Tragödie Teil I"}, {"title": "Der Tragödie Teil II"}, ["part"]),
        ({"title": "Mathematics. Part A"}, {"title": "Mathematics. Part B"}, ["part"]),
        ({"title": "Mathematics. Part A"}, {"title": "Mathematics"}, ["title"]),
        # years
        ({"year": "1999"}, {"year": "2000"}, []),
        ({"year": "1999"}, {"year": "2001"}, ["year"]),
        ({"year": "1998 2003"}, {"year": "2004"}, []),
        # editions
        ({"edition": "3rd ed."}, {"edition": "Dritte, überarb. Aufl."}, []),
        ({"edition": "3rd ed."}, {"edition": "2nd ed."}, ["edition"]),
        ({"edition": "3rd ed."}, {"edition": "Rev. ed."}, []),
        ({"edition": "3rd ed."}, {"edition": "2004 ed."}, []),
        # parts and pages
        ({"part": "Bd. 3"}, {"part": "Vol. III"}, []),
        ({"part": "Bd. 3"}, {"part": "4"}, ["part"]),
        ({"part": "Bd. 3, 2"}, {"part": "3"}, []),
        ({"pages": "S259"}, {"pages": "S548"}, ["part"]),
        ({"pages": "97-108"}, {"pages": "97--108"}, []),
        ({"pages": "97-108"}, {"pages": "209-224"}, ["part"]),
        ({"pages": "340"}, {"pages": "336"}, []),  # of all pages
        ({"pages": "e97"}, {"pages": "12-20"}, []),  # an article number
        ({"pages": "1-12"}, {"pages": "97-108"}, []),  # before it had its place in an issue
        # formats
        ({"format": "text print"}, {"format": "text online"}, ["format"]),
        ({"format": "text"}, {"format": "map"}, ["format"]),
        ({"format": "online disc"}, {"format": "online"}, []),
        ({"format": "book"}, {"format": "text print"}, []),  # they tell other things
        ({"format": "book"}, {"format": "contribution"}, ["format"]),
    ],
)
def test_pairs(one, other, aspects):
    """Each rule stops what it is made for, and a different way of writing the same is no contradiction."""
    assert aspects_against(one, other) == aspects
    assert aspects_against(other, one) == aspects


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
    """Whatever else a record says: an empty field of the other stops no join."""
    alone = Description(**{field: getattr(one, field)})
    others = one._replace(**{field: None})
    assert compare(alone, others, RULES).against == 0


def test_only_the_aspects_that_are_wanted():
    """`--agree`: the others are not compared."""
    one, other = {"year": "1990", "edition": "1"}, {"year": "2000", "edition": "2"}
    assert aspects_against(one, other, rules_of(["edition"])) == ["edition"]
    assert aspects_against(one, other, rules_of([])) == []
    assert len(rules_of(ASPECTS)) == len(RULES)
