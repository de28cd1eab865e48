"""Columns of byte strings: what compiled code does is what plain Python does with bytes."""

from __future__ import annotations

import random
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from urnscan.compiled.jit import compiled, read_only
from urnscan.compiled.strings import argsort_pairs, compare, cut, index_words, same, word_number

# No string holds the byte 0. Few bytes, and the highest among them, so that many begin alike.
strings = st.one_of(
    st.lists(st.sampled_from([b"a", b"b", b"\x01", b"\xff", b"aaaaaaaa", b"aaaaaaa", b"\xff" * 8]), max_size=5).map(
        b"".join
    ),
    st.binary(max_size=20).map(lambda content: content.replace(b"\0", b"")),
)
prefixes = st.one_of(st.just(b""), st.just(b"urn:"), strings)


@compiled
def are_same(content, start, end, other, other_start, other_end):
    """Python cannot call `same` itself."""
    return same(content, start, end, other, other_start, other_end)


@compiled
def compared(content, start, end, other, other_start, other_end):
    """Python cannot call `compare` itself."""
    return compare(content, start, end, other, other_start, other_end)


@compiled
def number_of(content, start, end, words):
    """Python cannot call `word_number` itself."""
    return word_number(content, start, end, words)


def column(values):
    """Strings end to end, as compiled code takes them."""
    content = read_only(np.frombuffer(b"".join(values), np.uint8))
    return content, read_only(np.cumsum([0, *map(len, values)], dtype=np.int32))


def check(pairs, shared=0):
    """argsort_pairs orders these as Python does: equal pairs stay in their order."""
    rows = argsort_pairs(shared, column([first for first, _ in pairs]), column([second for _, second in pairs]))
    assert rows.tolist() == sorted(range(len(pairs)), key=pairs.__getitem__)


class TestArgsortPairs:
    """Contract, classes: sorted in byte order; a string that begins another comes before it."""

    @given(prefixes, st.lists(st.tuples(strings, strings), max_size=40), st.integers(1, 4))
    @example(b"", [], 1)
    @example(b"urn:", [(b"", b""), (b"", b"")], 1)
    @example(b"", [(b"a" * 8, b"b"), (b"a" * 8, b"a"), (b"a" * 16, b""), (b"a" * 7, b"z"), (b"a" * 9, b"")], 20)
    def test_plain_python(self, prefix, pairs, times):
        """Few rows are sorted in another way than many."""
        pairs = [(prefix + first, second) for first, second in pairs] * times
        check(pairs, len(prefix))

    @given(st.lists(st.tuples(strings, strings), min_size=1, max_size=6), st.lists(st.integers(0, 5), max_size=120))
    def test_duplicates(self, few, picks):
        pairs = [few[pick % len(few)] for pick in picks]
        check(pairs)

    @pytest.mark.parametrize("length", [*range(20), 63, 64, 65])
    def test_where_a_first_string_ends(self, length):
        """The end of the first string is no byte of the second, at any place in a word of eight."""
        pairs = [
            (first, second)
            for first in (b"a" * length, b"a" * length + b"a", b"a" * length + b"\x01", b"a" * length + b"\xff")
            for second in (b"", b"\x01", b"\xff", b"a", b"a" * 7, b"a" * 8, b"a" * 9, b"\xff" * 8, b"\xff" * 9)
        ]
        random.Random(length).shuffle(pairs)
        check(pairs)

    def test_more_rows_than_are_sorted_by_insertion(self):
        chance = random.Random(1)
        pairs = [
            (b"urn:a:" + chance.randbytes(chance.randrange(3)).hex().encode(), chance.choice([b"", b"x", b"y"]))
            for _ in range(20_000)
        ]
        check(pairs, 4)
        check(sorted(pairs), 4)
        check(sorted(pairs, reverse=True), 6)

    def test_very_long_strings(self):
        """They differ only at their ends, or one ends where the other goes on."""
        long = b"x" * 200_000
        pairs = [(long + end, start + long) for end in (b"b", b"", b"a", b"aa") for start in (b"", b"z", b"x", b"\xff")]
        pairs += pairs[:3]
        check(pairs)
        check(pairs, len(long))

    @pytest.mark.full
    @pytest.mark.parametrize(
        "shape",
        ["sorted", "reversed", "equal", "two values", "organ pipe", "saw", "sorted seconds", "long beginning", "deep"],
    )
    def test_time_is_not_quadratic(self, shape):
        """200,000 rows: what would be quadratic takes minutes."""
        total = 200_000
        numbers = {
            "equal": [7] * total,
            "two values": [number % 2 for number in range(total)],
            "organ pipe": [min(number, total - number) for number in range(total)],
            "saw": [number % 1000 for number in range(total)],
        }.get(shape, range(total))
        firsts = [b"urn:a:%08d" % number for number in numbers]
        seconds = [b""] * total
        if shape == "reversed":
            firsts.reverse()
        elif shape == "sorted seconds":
            firsts, seconds = [b"urn:a:b"] * total, firsts
        elif shape == "deep":  # groups that stay together for many words, and are split a little by each
            firsts = [
                b"urn:" + b"".join(b"%08d" % (number % 2**bit) for bit in range(17)) for number in range(20_000)
            ] * 10
        elif shape == "long beginning":
            firsts = [b"urn:a:" + b"same" * 10 + first for first in firsts]
        columns = column(firsts), column(seconds)
        argsort_pairs(4, column(firsts[:2]), column(seconds[:2]))  # compiled
        began = time.thread_time()
        rows = argsort_pairs(4, *columns)
        assert time.thread_time() - began < 10
        pairs = list(zip(firsts, seconds, strict=True))
        assert rows.tolist() == sorted(range(total), key=pairs.__getitem__)


class TestCompare:
    """Less, equal, greater in the order of bytes."""

    @pytest.mark.full
    @given(prefixes, strings, strings, strings, strings)
    def test_plain_python(self, before, one, other, shared, behind):
        one, other = shared + one, shared + other
        content, _ = column([before + one + behind + other])
        start, other_start = len(before), len(before + one + behind)
        result = compared(content, start, start + len(one), content, other_start, other_start + len(other))
        assert np.sign(result) == (one > other) - (one < other)

    @given(strings, strings, st.booleans())
    def test_same(self, one, other, equal):
        if equal:
            other = one
        content, offsets = column([b"x", one, other, b"y"])
        assert are_same(content, offsets[1], offsets[2], content, offsets[2], offsets[3]) == (one == other)

    def test_same_length(self):
        content, _ = column([b"abcabdab"])
        assert not are_same(content, 0, 3, content, 3, 6)
        assert not are_same(content, 0, 2, content, 0, 3)
        assert are_same(content, 0, 2, content, 6, 8)
        assert are_same(content, 0, 0, content, 8, 8)


class TestCut:
    """Parts of strings, in any order, as a column of their own."""

    @given(st.data(), st.lists(strings, min_size=1, max_size=20))
    def test_plain_python(self, data, values):
        content, offsets = column(values)
        rows = np.array(data.draw(st.lists(st.integers(0, len(values) - 1), max_size=30)), np.int64)
        out, out_offsets = cut(content, offsets[rows], offsets[rows + 1])
        assert out_offsets.dtype == np.int32
        assert out_offsets[-1] == len(out)
        found = [out[a:b].tobytes() for a, b in pairwise(out_offsets)]
        assert found == [values[row] for row in rows]

    def test_middles(self):
        content, offsets = column([b"urn:a:b", b"urn:cc:d"])
        out, out_offsets = cut(content, offsets[:-1] + np.int32(4), offsets[1:] - np.int32(2))
        assert (out.tobytes(), out_offsets.tolist()) == (b"acc", [0, 1, 3])

    def test_is_a_copy(self):
        content = np.frombuffer(b"abc", np.uint8).copy()
        out, _ = cut(content, np.array([0], np.int32), np.array([3], np.int32))
        content[:] = 0
        assert out.tobytes() == b"abc"


class TestVocabulary:
    """Which of some words a string is."""

    @pytest.mark.full
    @given(st.lists(strings, unique=True, max_size=20), st.lists(strings, max_size=5))
    @example([b"O", b"_"], [b"o"])  # the slots of all three are the last: the next one is the first
    def test_plain_python(self, words, others):
        words = [word for word in words if word]
        vocabulary = index_words(words)
        for word in [*words, *others]:
            content, _ = column([b"x", word, b"y"])
            number = number_of(content, 1, 1 + len(word), vocabulary)
            assert number == (words.index(word) if word in words else -1)
