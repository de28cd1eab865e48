"""The vectorised loops give what Python's own `re` and `bytes` do, wherever blocks begin and end."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.compiled.ascii import lower
from urnscan.compiled.bytes import copy, count_lf, hunt, may_hold
from urnscan.compiled.jit import compiled

# Long enough for several blocks, of bytes that are near to those that are sought.
TEXTS = st.lists(
    st.sampled_from([b"urn:", b"URN:", b"ur", b"n:", b"N:", b".", b"Nz", b"\n", b"." * 61, b"x" * 230])
).map(b"".join)


def bytes_of(text: bytes):
    data = np.frombuffer(text, np.uint8)
    data.flags.writeable = False
    return data


@compiled
def copied(data, into, at):
    return copy(data, 1, len(data), into, at)


@compiled
def hunted(data, at, filled, dense):
    """Python cannot call `hunt` itself."""
    return hunt(data, at, filled, dense)


@compiled
def lowered(byte):
    """Python cannot call `lower` itself."""
    return lower(byte)


@compiled
def told(data, at, end, one, other):
    """Python cannot call `may_hold` itself."""
    return may_hold(data, at, end, one, other)


@pytest.mark.full
@given(TEXTS, st.integers(0, 300), st.integers(0, 80), st.booleans())
def test_hunt(text, at, behind, is_dense):
    """In any case, at any place of a block, and nothing behind what is filled."""
    filled = max(0, len(text) - behind)
    at = min(at, filled)
    found = re.compile(b"urn:", re.IGNORECASE).search(text, at, filled)
    expected = found.start() if found else max(at, filled - 3)
    assert hunted(bytes_of(text), at, filled, filled if is_dense else 0) == expected


def test_only_letters_have_cases():
    """What the bit of case alone tells apart from `urn:` is not taken for it; "lower case" is ASCII's."""
    for byte, (place, letter) in itertools.product(range(256), enumerate(b"urn:")):
        text = bytearray(b"." * 80 + b"urn:" + b"." * 80)
        text[80 + place] = byte
        is_found = hunted(bytes_of(bytes(text)), 0, len(text), 0) == 80
        assert is_found == (bytes([byte]).lower() == bytes([letter])), byte
        assert bytes([lowered(np.uint8(byte))]) == bytes([byte]).lower()


@pytest.mark.full
@given(
    st.binary(max_size=100),
    st.integers(0, 100),
    st.integers(0, 100),
    st.sampled_from(b",%\0"),
    st.sampled_from(b";%\xff"),
)
def test_may_hold(text, at, end, one, other):
    """It never denies what is there, and looks at no more than 15 bytes behind, nor behind the last."""
    at, end = min(at, len(text)), min(end, len(text))
    sought = {one, other}
    is_possible = told(bytes_of(text), at, end, np.uint8(one), np.uint8(other))
    if sought & set(text[at:end]):
        assert is_possible
    if at < end and not sought & set(text[at : end + 15]):
        assert not is_possible


@given(TEXTS, st.integers(0, 500), st.integers(0, 500))
def test_count_lf(text, start, end):
    """More than a byte can count, too."""
    text = text * 3 + b"\n" * 300
    assert count_lf(bytes_of(text), start, end) == text.count(b"\n", start, end)


@given(st.binary(min_size=1, max_size=300), st.integers(0, 20))
def test_copy(text, at):
    """Nothing before and behind the copy is touched."""
    into = np.full(400, 7, np.uint8)
    end = at + len(text) - 1
    assert copied(bytes_of(text), into, at) == end
    assert into.tobytes() == bytes([7]) * at + text[1:] + bytes([7]) * (400 - end)
