"""Parts of components are cut as `split` cuts each component, whoever does it."""

import dataclasses
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dedup.test_contradictions import as_sets, descriptions
from urnscan.dedup.compare.agreement import ASPECTS, rules_of
from urnscan.dedup.join.component_batches import DESCRIBED, SINGLE, ComponentBatch, split_components
from urnscan.dedup.join.components import COPIED, OTHER, SURE, UNSURE
from urnscan.dedup.join.split_component import split
from urnscan.records.description import NOTHING, Description, as_text


@st.composite
def components(draw):
    """Descriptions, classes with their level, pairs that are never joined: of a component, by number in it."""
    count = draw(st.integers(2, 5))
    described = draw(
        st.lists(
            descriptions.map(lambda each: Description(*each[:3])),
            min_size=count,
            max_size=count,
        )
    )
    if draw(st.booleans()):
        described = described[:1] * count
    numbers = st.integers(0, count - 1)
    shared = draw(st.lists(st.lists(numbers, min_size=2, max_size=3, unique=True), max_size=4))
    classes = [(draw(st.sampled_from([SURE, OTHER, UNSURE])), each) for each in shared]
    classes += [(draw(st.sampled_from([SURE, UNSURE])), [at, at + 1]) for at in range(count - 1)]
    pairs = st.tuples(numbers, numbers).filter(lambda pair: pair[0] < pair[1])
    return described, classes, sorted(draw(st.sets(pairs, max_size=2) if draw(st.booleans()) else st.just(set())))


def part_of(found, work_of, agree):
    """The components as one part; `work_of` has the numbers of their units."""
    edges, never = [], []
    for number, (_, classes, pairs) in enumerate(found):
        for level, held in classes:
            identifier = edges[-1][1] + 1 if edges else 0
            edges += [(3 * number + 1, identifier, level, work_of[number, at]) for at in held]
        never += [tuple(sorted((work_of[number, one], work_of[number, other]))) for one, other in pairs]
    component, identifier, level, work = (np.array(column, np.int32) for column in zip(*edges, strict=True))
    texts = [as_text(found[number][0][at]) for number, at in work_of]
    described = pa.table([pa.array(work_of.values(), pa.int32()), pa.array(texts, pa.string())], schema=DESCRIBED)
    return ComponentBatch(component, identifier, level, work, described, agree, never)


def test_identifiers_of_which_a_thing_has_one():
    """They belong to their works, and matter where only an unsure key, or a number of a catalogue, is shared."""
    described = pa.table(
        [pa.array([7, 5], pa.int32()), pa.array([as_text(Description("Inks", "2000"))] * 2)], DESCRIBED
    )
    component, identifier, work = (np.array(column, np.int32) for column in ([1, 1], [0, 0], [5, 7]))
    for level, names, count in ((UNSURE, "ab", 2), (UNSURE, "aa", 1), (COPIED, "ab", 2), (COPIED, "aa", 1)):
        single = pa.table([pa.array([7, 5], pa.int32()), pa.array([1, 1], pa.int8()), pa.array(names)], SINGLE)
        batch = ComponentBatch(component, identifier, np.array([level] * 2), work, described, ASPECTS, (), single)
        assert len(clusters_of(split_components(batch), [5, 7])) == count


def clusters_of(result, units):
    """Clusters that the pairs of a result connect."""
    label = {work: work for work in units}
    for one, other in result.joined.T.tolist():
        label = {work: label[one] if name == label[other] else name for work, name in label.items()}
    return as_sets(label.values(), list(label))


@pytest.mark.full
@given(
    found=st.lists(components(), min_size=1, max_size=4),
    data=st.data(),
    agree=st.sampled_from([ASPECTS, ("year",), ()]),
)
def test_each_component_as_split_cuts_it(found, data, agree):
    """Components do not see each other, and those of equal descriptions, which nobody compares, have the same result."""
    places = [(number, at) for number, (described, _, _) in enumerate(found) for at in range(len(described))]
    units = data.draw(st.lists(st.integers(0, 99), min_size=len(places), max_size=len(places), unique=True))
    work_of = dict(zip(places, units, strict=True))
    result = split_components(pickle.loads(pickle.dumps(part_of(found, work_of, agree))))
    expected, reasons = set(), {}
    for number, (described, classes, never) in enumerate(found):
        certain = [held for level, held in classes if level < UNSURE]
        unsure = [held for level, held in classes if level == UNSURE]
        group, why = split(described, certain, rules_of(agree), unsure, never)
        names = [work_of[number, at] for at in range(len(described))]
        expected |= as_sets(group, names)
        reasons |= {name: bits for name, bits in zip(names, why, strict=True) if bits}
    assert result.works == len(places)
    assert clusters_of(result, units) == expected
    assert dict(zip(result.apart.tolist(), result.reasons.tolist(), strict=True)) == reasons


def test_several_rows_of_one_unit():
    """Pieces of N-Triples: the first one that has a value counts, and a work without a row says nothing."""
    said = [
        (5, Description(year="1999")),
        (5, Description("Inks", "2000")),
        (7, Description("Inks", "2000")),
        (7, NOTHING),
    ]
    columns = [pa.array([work for work, _ in said], pa.int32()), pa.array([as_text(each) for _, each in said])]
    edges = ([1, 1, 1, 2, 2], [0, 0, 1, 2, 2], [SURE] * 5, [5, 7, 5, 1, 8])
    columns_of = (np.array(column, np.int32) for column in edges)
    part = ComponentBatch(*columns_of, pa.table(columns, schema=DESCRIBED), ["year"])
    assert clusters_of(split_components(part), [1, 5, 7, 8]) == {frozenset([1, 8]), frozenset([5, 7])}
    years = [as_text(Description(year=year)) for year in ("1999", "2010")]
    other = pa.table([pa.array([5, 7], pa.int32()), pa.array(years)], schema=DESCRIBED)
    found = split_components(dataclasses.replace(part, described=other))
    assert clusters_of(found, [1, 5, 7, 8]) == {frozenset([1, 8]), frozenset([5]), frozenset([7])}
    assert sorted(found.apart.tolist()) == [5, 7]
