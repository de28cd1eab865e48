"""Which records are one cluster: connected components, against a plain union-find."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.dedup.join import components as joining
from urnscan.dedup.join.components import Edges, components, is_weak
from urnscan.errors import FatalError

URNS = [f"urn:example:{letter}" for letter in "abcdefgh"] + ["urn:issn:0000-0000", "urn:schemas-x:y", "urn:schema:y"]
records = st.lists(st.lists(st.sampled_from(URNS), unique=True, max_size=4), max_size=30)


def clusters_of(named, tmp_path, weak=("issn", "schemas-*"), max_class=100, cuts=1):
    edges = Edges(weak, lambda: tmp_path)
    pairs = [(record, urn) for record, urns in enumerate(named) for urn in urns]
    size = len(pairs) // cuts + 1
    for start in range(0, len(pairs), size):
        some = pairs[start : start + size]
        edges.add(np.array([pair[0] for pair in some], np.int32), pa.array([pair[1] for pair in some], pa.string()))
    joined = edges.join(max_class)
    cluster = components(len(named), joined.pairs())
    return cluster, joined.joins(cluster, edges.count), joined.common, pairs


def plain_clusters(named, max_class):
    """The same, slowly: every record points to one before it."""
    holders = {}
    for record, urns in enumerate(named):
        for urn in urns:
            holders.setdefault(urn, []).append(record)
    joins = {
        urn
        for urn, held in holders.items()
        if 1 < len(held) <= max_class and not urn.startswith(("urn:issn:", "urn:schemas-"))
    }
    common = {
        urn: len(held)
        for urn, held in holders.items()
        if len(held) > max_class and not urn.startswith(("urn:issn:", "urn:schemas-"))
    }
    label = list(range(len(named)))
    for urn in joins:
        merged = {label[record] for record in holders[urn]}
        label = [min(merged) if old in merged else old for old in label]
    numbers = {old: number for number, old in enumerate(dict.fromkeys(label), 1)}
    return [numbers[old] for old in label], joins, common


class TestClusters:
    """Connected components of records and classes; weak classes and those that are too common join nothing."""

    @given(named=records, max_class=st.integers(2, 6), cuts=st.integers(1, 4))
    def test_as_a_plain_union_find_has_them(self, named, max_class, cuts, tmp_path_factory):
        found, joining_edges, told, pairs = clusters_of(
            named, tmp_path_factory.getbasetemp(), max_class=max_class, cuts=cuts
        )
        cluster, joins, common = plain_clusters(named, max_class)
        assert found.tolist() == cluster
        assert joining_edges.tolist() == [urn in joins for _, urn in pairs]
        assert dict(told) == common
        assert list(told) == sorted(told, key=lambda each: (-each[1], each[0]))

    def test_a_chain_is_one(self, tmp_path):
        """A shares one with B, B another with C: the three are one, however long the chain is."""
        named = [[f"urn:example:{number}", f"urn:example:{number + 1}"] for number in range(10_000)]
        found, *_ = clusters_of(named, tmp_path)
        assert set(found.tolist()) == {1}

    def test_what_is_spilled_counts(self, tmp_path, monkeypatch):
        """Memory is bounded: edges wait in files, and nothing is different."""
        named = [[f"urn:example:{number % 50}", f"urn:x-a:{number}"] for number in range(500)]
        held, held_joins, *_ = clusters_of(named, tmp_path, cuts=20)
        monkeypatch.setattr(joining, "_IN_MEMORY", 1)
        spilled, spilled_joins, *_ = clusters_of(named, tmp_path, cuts=20)
        assert spilled.tolist() == held.tolist()
        assert spilled_joins.tolist() == held_joins.tolist()
        assert held.max() == 50

    def test_too_many_are_told(self, tmp_path, monkeypatch):
        """Edges are counted in 32 bits: more end in one line, not in wrong clusters."""
        monkeypatch.setattr(joining, "MAX_COUNT", 3)
        with pytest.raises(FatalError, match="several runs"):
            clusters_of([["urn:a:1"], ["urn:a:2"], ["urn:a:3"], ["urn:a:4"]], tmp_path)


@pytest.mark.parametrize(
    ("urn", "weak", "expected"),
    [
        ("urn:issn:0000-0000", ("issn",), True),
        ("urn:issn-x:0000-0000", ("issn",), False),
        ("urn:schemas-microsoft-com:x", ("schemas-*",), True),
        ("urn:schemas:x", ("schemas-*",), False),
        ("urn:ietf:params:xml:ns:x", ("ietf:params:xml",), True),
        ("urn:ietf:params:xmpp:x", ("ietf:params:xml",), False),
        ("urn:ietf:rfc:2141", ("ietf:params:xml",), False),
        ("urn:nbn:DE-1", ("nbn:de",), True),
        ("urn:isbn:9780395363416", (), False),
        ("urn:isbn:9780395363416", ("*",), True),
        ("urn:isbn:9780395363416", ("isbn:9780395363416",), True),
        ("urn:isbn:9780395363416", ("isbn:978039536341",), False),
    ],
)
def test_weak(urn, weak, expected):
    """`--weak`: a namespace, or a beginning of names in it, as `--nid` has them; a `*` for anything."""
    assert is_weak(pa.array([urn]), weak).tolist() == [expected]
