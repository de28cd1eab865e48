"""How many classes the rules of the namespaces would join: the difference that a scan with `namespace` shows."""

from __future__ import annotations

import itertools

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import urnscan
from urnscan.tables import joinable_classes
from urnscan.tables.joinable_classes import JoinableClasses
from urnscan.urn.equivalence import get_level

SPELLINGS = st.sampled_from(
    [
        *("urn:isbn:0-395-36341-1", "urn:isbn:0395363411", "urn:isbn:9780395363416", "urn:isbn:978-0-395-36341-6"),
        *(
            "urn:isbn:0-395-36341-6",
            "urn:issn:0317-8471",
            "urn:issn:03178471",
            "urn:issn:1050-124x",
            "urn:issn:1050-124X",
        ),
        *(
            "urn:nbn:de:101:1-2",
            "urn:nbn:DE:101:1-2",
            "urn:nbn:fi-fe1",
            "urn:nbn:FI-fe1",
            "urn:example:a",
            "urn:example:A",
        ),
        *("urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "urn:uuid:F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"),
    ]
)


def joinable(names, cuts, level="lexical"):
    counted = JoinableClasses(get_level(level, "rfc2141"))
    column = pa.array(sorted(names), pa.string())
    for start, end in itertools.pairwise(sorted({0, len(column), *(min(cut, len(column)) for cut in cuts)})):
        counted.add(column[start:end])
    return counted.count()


@pytest.mark.core
@given(st.sets(SPELLINGS), st.lists(st.integers(0, 17)))
def test_the_number_is_the_difference_of_the_classes(names, cuts):
    """`Report.joinable` is exact, however the classes are cut into batches."""
    forms = {urnscan.canonical(name, equivalence="namespace") for name in names}
    assert joinable(names, cuts) == len(names) - len(forms)


def test_not_counted_at_other_levels_and_for_many_classes(monkeypatch):
    """It is not known then, which is something else than 0: no hint is printed, and no name is kept."""
    names = ["urn:isbn:0395363411", "urn:isbn:9780395363416"]
    assert joinable(names, [1]) == 1
    assert joinable(names, [1], "namespace") is None
    monkeypatch.setattr(joinable_classes, "_MAX_BYTES", sum(map(len, names)) - 1)
    assert joinable(names, [1]) is None
    monkeypatch.undo()
    monkeypatch.setattr(joinable_classes, "_MAX_CLASSES", 1)
    assert joinable(names, [1]) is None
