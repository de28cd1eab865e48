"""Which record of a cluster is kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.dedup.policy import KEEP, WEAK, Policy, ranks

records = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 5), st.integers(0, 3)), max_size=20)
BEST = {
    "first": lambda place, _length, _urns: place,
    "last": lambda place, _length, _urns: -place,
    "longest": lambda place, length, _urns: (-length, place),
    "most-identifiers": lambda place, _length, urns: (-urns, place),
}


@given(records=records, keep=st.sampled_from(list(KEEP)))
def test_ranks(records, keep):
    """`--keep`: in each cluster 1 is what is kept, and all others follow in that order; of equals the first is first."""
    cluster, length, urns = (
        (np.array(column, np.int64) for column in zip(*records, strict=True)) if records else ([],) * 3
    )
    found = ranks(keep, np.array(cluster, np.int32), np.array(length, np.int64), np.array(urns, np.int32))
    expected = {}
    for number in {each[0] for each in records}:
        places = [place for place, each in enumerate(records) if each[0] == number]
        places.sort(key=lambda place: BEST[keep](place, *records[place][1:]))
        expected |= {place: rank for rank, place in enumerate(places, 1)}
    assert found.tolist() == [expected[place] for place in range(len(records))]


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

    def test_types(self):
        with pytest.raises(TypeError, match="max_class must be a whole number"):
            Policy(max_class="many")

    def test_weak_names_are_folded(self):
        assert Policy(weak=(" ISSN ", "", "Oasis")).weak == ("issn", "oasis")
        assert Policy(weak=()).weak == ()
        assert Policy(weak="issn").weak == ("issn",)
        assert Policy().weak == WEAK
