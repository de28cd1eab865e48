"""Which record of a cluster is kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.dedup.policy import KEEP, PLACEHOLDERS, WEAK, Policy, ranks
from urnscan.urn.equivalence import canonical
from urnscan.urn.namespaces import judge

records = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 5), st.integers(0, 3)), max_size=20)
BEST = {
    "first": lambda place, _length, _urns: place,
    "last": lambda place, _length, _urns: -place,
    "longest": lambda place, length, _urns: (-length, place),
    "most-identifiers": lambda place, _length, urns: (-urns, place),
}


@given(records=records, keep=st.sampled_from(list(KEEP)), data=st.data())
def test_ranks(records, keep, data):
    """`--keep`: in each cluster 1 is what is kept, and all others follow in that order; of equals the first is first.

    Pieces of one record have one rank: that of all of them together.
    """
    pieces = data.draw(st.lists(st.integers(0, max(len(records) - 1, 0)), max_size=10)) if records else []
    units = list(range(len(records))) + pieces
    columns = np.array([records[unit] for unit in units], np.int64).reshape(-1, 3).T
    found = ranks(keep, columns[0].astype(np.int32), np.array(units, np.int32), columns[1], columns[2].astype(np.int32))
    expected = {}
    for number in {each[0] for each in records}:
        mine = [unit for unit, each in enumerate(records) if each[0] == number]
        many = [1 + pieces.count(unit) for unit in range(len(records))]
        mine.sort(key=lambda unit: BEST[keep](unit, *(many[unit] * value for value in records[unit][1:])))
        expected |= {unit: rank for rank, unit in enumerate(mine, 1)}
    assert found.tolist() == [expected[unit] for unit in units]


def test_every_keep_is_tested():
    assert set(BEST) == set(KEEP)


class TestPolicy:
    """Values that are none end in one line."""

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"keep": "best"}, "keep cannot be 'best': choose from first, last, longest, most-identifiers"),
            ({"record": "word"}, "no format of records is called 'word'"),
            ({"max_class": 1}, "max_class must be at least 2"),
        ],
    )
    def test_values(self, values, message):
        with pytest.raises(ValueError, match=message):
            Policy(**values)

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"max_class": "many"}, "max_class must be a whole number, not 'many'"),
            ({"fields": "no"}, "fields must be True or False, not 'no'"),
            ({"weak": 5}, "weak must be strings, not 5"),
            ({"weak": [5]}, r"weak must be strings, not \[5\]"),
        ],
    )
    def test_types(self, values, message):
        with pytest.raises(TypeError, match=message):
            Policy(**values)

    def test_numbers_of_numpy(self):
        assert Policy(max_class=np.int16(7)).max_class == 7

    def test_weak_names_are_folded(self):
        assert Policy(weak=(" ISSN ", "", "Oasis")).weak == ("issn", "oasis")
        assert Policy(weak=()).weak == ()
        assert Policy(weak="issn").weak == ("issn",)
        assert Policy(weak=["urn:isbn:"]).weak == ("isbn",)
        assert Policy().weak == WEAK


def test_placeholders_are_names_that_would_join():
    """Each is what a URN becomes in canonical form: else it would be found nowhere."""
    for name in PLACEHOLDERS:
        assert canonical(f"urn:{name}", equivalence="namespace") == f"urn:{name}"
    assert all(judge(f"urn:{name}").valid for name in PLACEHOLDERS if name.startswith("isbn"))
