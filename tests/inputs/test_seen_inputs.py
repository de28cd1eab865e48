"""The compact set of what was met before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.inputs.seen_inputs import SeenInputs


@given(st.lists(st.lists(st.binary(max_size=3), max_size=60), max_size=8))
def test_as_a_set(batches):
    """Each key is new once, within a batch and among batches."""
    seen, known = SeenInputs(), set()
    for batch in batches:
        expected = []
        for key in batch:
            expected.append(key not in known)
            known.add(key)
        assert seen.add(batch).tolist() == expected


@pytest.mark.full
def test_many():
    """It grows, and takes no more than 48 bytes for each key, as it says."""
    seen = SeenInputs()
    keys = [b"%d" % number for number in range(200_000)]
    for at in range(0, len(keys), 5000):
        assert seen.add(keys[at : at + 5000]).all()
    assert seen._table.nbytes <= 48 * len(keys)
    assert not seen.add(keys).any()
