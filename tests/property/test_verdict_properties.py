"""What the two tables of a scan say about one name is the same, however its occurrences are spelled."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import urnscan
from tests.support.examples import FEW
from tests.support.strategies import any_bytes
from tests.support.verdicts import RULES, differing
from urnscan.urn.equivalence import LEVELS

_names = st.sampled_from(
    "isbn:0-395-36341-1 isbn:0-395-36341-6 isbn:978-0-395-36341-6 isbn:n-nnn isbn:0-395-36341-1. isbn:abc%00 "
    "isbn:0395363411;a nbn:de:101:1-3 nbn:DE:101:1-201609052530 issn:0317-8471 issn:0317-8472 "
    "lei:7LTWFZYICNSX8D621K87 example:caf%E9 example:%41 foo:a foo:c foo:zzz foo:a. x-none:1".split()
)
_ends = st.sampled_from(["", "", "#%D0%B0123", "?+%00", "?=%41", "?s=I2L&c=a&a=%C3", "?b&a#x"])
_spelled = st.sampled_from([str, str.upper, lambda urn: f"URN:{urn[4:]}"])
_urns = st.builds(lambda name, end, change: change(f"urn:{name}{end}"), _names, _ends, _spelled)


@pytest.mark.parametrize(
    ("syntax", "equivalence"), [(each, level.name) for level in LEVELS.values() for each in level.syntaxes]
)
@pytest.mark.parametrize("rules", [None, RULES])
@FEW
@given(
    texts=st.lists(st.one_of(st.lists(_urns, max_size=8).map(" ".join).map(str.encode), any_bytes), max_size=3),
    trim=st.booleans(),
)
def test_occurrences_have_the_verdict_of_their_class(syntax, equivalence, rules, texts, trim):
    """Reference, problems: `valid` and the code of the name are those of the class; with the codes of all spellings, its `problem`."""
    with tempfile.TemporaryDirectory() as folder:
        if rules:
            rules = Path(folder, "rules.toml")
            rules.write_text(RULES)
        for number, text in enumerate(texts):
            Path(folder, f"{number}.txt").write_bytes(text)
        found = urnscan.scan(folder, include="*.txt", syntax=syntax, equivalence=equivalence, rules=rules, trim=trim)
    assert not differing(found.occurrences.to_pylist(), found.classes.to_pylist())
