"""How the records of a connected component are cut into clusters, against the rules themselves."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.dedup.compare.agreement import RULES, compare
from urnscan.dedup.join.split_component import NO_TITLE, REASONS, split
from urnscan.records.description import Description
from urnscan.records.keys import single

descriptions = st.builds(
    Description,
    title=st.sampled_from([None, "Physics", "Physics 1", "Physics 2", "Grammar"]),
    year=st.sampled_from([None, "1999", "2000", "2001"]),
    edition=st.sampled_from([None, "1", "2"]),
    part=st.none(),
    format=st.none(),
    pages=st.none(),
)


@st.composite
def components(draw):
    """Descriptions of records, and for each identifier those that share it."""
    described = draw(st.lists(descriptions, min_size=2, max_size=9))
    numbers = st.integers(0, len(described) - 1)
    shared = draw(st.lists(st.lists(numbers, min_size=2, max_size=4, unique=True), max_size=9))
    chain = [[at, at + 1] for at in range(len(described) - 1)]
    return described, shared + chain


def as_sets(group, names=None):
    """Clusters as sets of the names of their records."""
    held = {}
    for at, number in enumerate(group):
        held.setdefault(number, set()).add(at if names is None else names[at])
    return {frozenset(each) for each in held.values()}


def texts(reasons):
    return [[name for at, name in enumerate(REASONS) if bits >> at & 1] for bits in reasons]


class TestAnyComponent:
    @given(components())
    def test_no_two_records_of_a_cluster_contradict_each_other(self, component):
        """The promise: a record is removed only for one that it could be."""
        described, shared = component
        group, _ = split(described, shared, RULES)
        for one, other in combinations(range(len(described)), 2):
            if group[one] == group[other]:
                assert not compare(described[one], described[other], RULES).against

    @given(components())
    def test_each_cluster_hangs_together(self, component):
        """Its records are connected by identifiers that records of this cluster share."""
        described, shared = component
        group, _ = split(described, shared, RULES)
        label = list(range(len(described)))
        for records in shared:
            for one, other in combinations(records, 2):
                if group[one] == group[other]:
                    label = [label[one] if old == label[other] else old for old in label]
        assert as_sets(label) == as_sets(group)

    @given(component=components(), data=st.data())
    def test_the_order_of_the_records_changes_no_cluster(self, component, data):
        """Nor the reasons: two runs over dumps in another order give the same clusters."""
        described, shared = component
        group, reasons = split(described, shared, RULES)
        order = data.draw(st.permutations(range(len(described))))
        place = {at: number for number, at in enumerate(order)}
        moved, why = split(
            [described[at] for at in order], [[place[at] for at in each] for each in shared[::-1]], RULES
        )
        assert as_sets(moved, order) == as_sets(group)
        assert [why[place[at]] for at in range(len(described))] == reasons

    @given(components())
    def test_without_rules_all_is_one(self, component):
        """`--agree none`: a component is a cluster."""
        described, shared = component
        assert split(described, shared, ()) == ([0] * len(described), [0] * len(described))

    @given(components())
    def test_reasons_are_those_of_neighbours(self, component):
        """A record has a reason if, and only if, it shares an identifier with a record of another cluster, or if no record
        of its cluster has a title.
        """
        described, shared = component
        group, reasons = split(described, shared, RULES)
        apart = {at for each in shared for at in each if any(group[at] != group[other] for other in each)}
        clusters = as_sets(group)
        untitled = {
            at for each in clusters for at in each if len(each) > 1 and not any(described[i].title for i in each)
        }
        assert {at for at, bits in enumerate(reasons) if bits & ~NO_TITLE} == apart
        assert {at for at, bits in enumerate(reasons) if bits & NO_TITLE} == untitled


@pytest.mark.parametrize(
    ("described", "shared", "clusters", "reasons"),
    [
        (
            [{"edition": "1"}, {"edition": "2"}, {"edition": "2"}],
            [[0, 1, 2]],
            {frozenset([0]), frozenset([1, 2])},  # not only the first record of an identifier is compared
            [["edition"], ["edition", "no-title"], ["edition", "no-title"]],
        ),
        (
            [{"title": "A b c"}, {"title": "A b c", "edition": "1"}, {"title": "A b c", "edition": "2"}],
            [[0, 1, 2]],
            {frozenset([0]), frozenset([1]), frozenset([2])},  # the first could be either: a doubt
            [["chain"], ["edition", "chain"], ["edition", "chain"]],
        ),
        (
            [{"year": "1999"}, {"year": "2000"}, {"year": "2001"}, {"year": "1999"}],
            [[0, 1, 2, 3]],
            {frozenset([0, 3]), frozenset([1]), frozenset([2])},  # what is the same is joined first
            [["year", "chain", "no-title"], ["chain"], ["year", "chain"], ["year", "chain", "no-title"]],
        ),
        (
            [{"title": "Physics"}, {}, {"title": "Grammar of film"}],
            [[0, 1], [1, 2], [0, 1]],
            {frozenset([0, 1]), frozenset([2])},  # two shared identifiers are stronger than one
            [[], ["chain"], ["chain"]],
        ),
    ],
    ids=["several of one edition", "a doubt", "a chain of years", "more identifiers"],
)
def test_cuts(described, shared, clusters, reasons):
    """What is joined, and why the rest is not."""
    group, why = split([Description(**each) for each in described], shared, RULES)
    assert as_sets(group) == clusters
    assert texts(why) == reasons


@pytest.mark.parametrize(
    ("one", "other", "is_joined"),
    [
        ({0: {"urn:doi:10.5555/1"}}, {0: {"urn:doi:10.5555/2"}}, False),
        ({0: {"urn:doi:10.5555/1"}}, {1: {"urn:isbn:9780306406157"}}, True),  # of other kinds
        ({0: {"urn:doi:10.5555/1", "urn:doi:10.5555/2"}}, {0: {"urn:doi:10.5555/2"}}, True),
        ({}, {0: {"urn:doi:10.5555/2"}}, True),
    ],
)
def test_unsure_keys_and_other_identifiers(one, other, is_joined):
    """The page of proceedings is the address of all their papers: two DOIs are two papers."""
    described = [Description("Imaginary inks", "2012")] * 2
    group, why = split(described, [], RULES, unsure=[[0, 1]], single=[one, other])
    assert (group[0] == group[1]) == is_joined
    assert texts(why) == ([[], []] if is_joined else [["unsure"], ["unsure"]])
    group, _ = split(described, [[0, 1]], RULES, unsure=[[0, 1]], single=[one, other])
    assert group[0] == group[1]  # a sure key joins them


_ISBN, _OCLC = (single().index(beginning) for beginning in ("urn:isbn:", "oclc:"))


@pytest.mark.parametrize(
    ("one", "other", "is_joined"),
    [
        ({_ISBN: {"urn:isbn:1"}}, {_ISBN: {"urn:isbn:2"}}, False),
        ({_ISBN: {"urn:isbn:1", "urn:isbn:2"}}, {_ISBN: {"urn:isbn:2", "urn:isbn:3"}}, True),
        ({_ISBN: {"urn:isbn:1"}}, {}, True),
        ({_OCLC: {"oclc:1"}}, {_OCLC: {"oclc:2"}}, True),  # a merged record has two numbers
    ],
)
def test_numbers_of_catalogues_and_other_isbns(one, other, is_joined):
    """A record that is made from a copy of another edition keeps its OCLC number: in real dumps of PICA+, five removals."""
    described = [Description("Imaginary inks", "2012")] * 2
    group, why = split(described, [], RULES, single=[one, other], copied=[[0, 1]])
    assert (group[0] == group[1]) == is_joined
    assert texts(why) == ([[], []] if is_joined else [["unsure"], ["unsure"]])
    group, _ = split(described, [[0, 1]], RULES, single=[one, other], copied=[[0, 1]])
    assert group[0] == group[1]  # a URN joins them


def test_other_isbns_that_a_third_record_has_together():
    """The hardback, the paperback, and a record with both ISBNs are one work; a record without an ISBN may be either."""
    described = [Description("Imaginary inks", "2012")] * 3
    isbns = [{_ISBN: {"urn:isbn:1"}}, {_ISBN: {"urn:isbn:2"}}]
    both = {_ISBN: {"urn:isbn:1", "urn:isbn:2"}}
    group, _ = split(described, [[0, 2], [1, 2]], RULES, single=[*isbns, both], copied=[[0, 1, 2]])
    assert len(set(group)) == 1
    group, why = split(described, [], RULES, single=[*isbns, {}], copied=[[0, 1, 2]])
    assert len(set(group)) == 3
    assert texts(why) == [["chain", "unsure"], ["chain", "unsure"], ["chain"]]


@pytest.mark.parametrize(
    ("one", "other", "is_joined"),
    [
        ("Wimpelfeld, Ansgar", "Ansgar Wimpelfeld", True),
        ("Wimpelfeld A", "Wimpelfeld, Ansgar", True),
        ("Müller, J.", "Mueller, Jo", True),
        ("Li, Y.", "Li, Yan", True),
        ("Li, Y.", "Wu, Y.", False),
        ("Wimpelfeld, John", "Tintenfass, John", False),
        ("John Wimpelfeld", "John Tintenfass", False),
        ("Wimpelfeld, John", None, True),
    ],
)
def test_unsure_keys_and_other_authors(one, other, is_joined):
    """Two papers of one page with the same title, such as `Preface`."""
    described = [Description("Imaginary inks", "2012", author=author) for author in (one, other)]
    group, _ = split(described, [], RULES, unsure=[[0, 1]])
    assert (group[0] == group[1]) == is_joined


def test_unsure_keys_bring_no_other_identifiers_together():
    """A record without a DOI has the address of two that have other ones: it could be either."""
    described = [Description("Imaginary inks", "2012")] * 3
    dois = [{0: {"urn:doi:10.5555/1"}}, {0: {"urn:doi:10.5555/2"}}, {}]
    for unsure in ([[0, 1, 2]], [[0, 2], [1, 2]]):
        group, _ = split(described, [], RULES, unsure=unsure, single=dois)
        assert len(set(group)) == 3
