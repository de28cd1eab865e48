"""The check digit that would fit: `explain` and `urnscan check` tell it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.urn.namespaces import judge

RIGHT = ["isbn:9783999990637", "isbn:9783161484100", "isbn:080442957X", "issn:0317-8471", "issn:2434-561X",
         "isni:0000000121032683", "lei:5493001KJTIIGC8Y1R12", "eidr:10.5240:7791-8534-2C23-9030-8610-5"]  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
@given(st.data())
def test_the_right_digit_is_named(name, data):
    """Whatever the wrong digit is, the hint names the right one; a name that is right has no hint."""
    width = 2 if name.startswith("lei") else 1
    front, right = name[:-width], name[-width:]
    wrong = data.draw(st.sampled_from("0123456789").map(lambda digit: digit.rjust(width, "9")).filter(right.__ne__))
    assert judge(f"urn:{name}").problem is None
    judgement = judge(f"urn:{front}{wrong}")
    assert judgement.valid is False
    assert judgement.reason.endswith(f"; if only this digit is wrong, {right} is right")
    assert "if only" not in judge(f"urn:{name}").reason
