"""The patterns of the rules: what the language has, and that its tables of states mean what `regex` means."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from urnscan.urn.namespaces.patterns import automaton

_sets = st.sampled_from(["a", "b", "[ab]", "[^ab]", ".", r"\d", "[a-c%-]", r"[\d:]", r"\.", "%", "(?i:a)", "(?i:[^b])"])
patterns = st.recursive(
    _sets,
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("({}|{})".format, inner, inner),
        st.builds("(?:{}){}".format, inner, st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,}"])),
        st.builds("(?i:{})".format, inner),
    ),
    max_leaves=8,
)
texts = st.text("abcAB%0123:.-", max_size=8)


class TestMeaning:
    @given(patterns, texts)
    def test_is_that_of_regex(self, pattern, text):
        """Two readings of one pattern: the table is no pattern of its own."""
        assert (automaton(pattern).fold(text) is not None) == bool(regex.fullmatch(pattern, text))

    @pytest.mark.parametrize(
        ("pattern", "text", "folded"),
        [
            ("(?<lower>[A-Z]+)-[A-Z]+", "AB-CD", "ab-CD"),
            ("(?<upper>[a-z]+)-.+", "ab-%ce", "AB-%ce"),
            ("(?<lower>.+)", "A%2CB%C3%9FC", "a%2Cb%C3%9Fc"),
            ("(?<lower>.+)", "%CAB", "%CAb"),
            ("(?<upper>.+)", "%cab", "%caB"),
            ("(?<lower>A)(?:B)(?<upper>c)|x", "ABc", "aBC"),
            ("(?<lower>(?i:std)):.+", "STD:A", "std:A"),
            ("(?<lower>a)?b*", "", ""),
        ],
    )
    def test_case(self, pattern, text, folded):
        """What stands in a group is written in its case; %HH never (RFC 8141 §3.1)."""
        assert automaton(pattern).fold(text) == folded

    def test_characters_that_no_name_under_a_rule_holds(self):
        """A name in another script, with a control character, or with "?" or "#", fits nothing, "." included."""
        for text in ("é", "文", "\0", " ", "\x7f", "\uff11", "?", "#"):
            assert automaton(".").fold(text) is None
            assert automaton("[^a]").fold(text) is None

    def test_linear_time(self):
        """What sends a backtracking engine round in circles."""
        assert automaton("((a+)+b|(a|a)*c)+").fold("a" * 20_000) is None


class TestRefused:
    @pytest.mark.parametrize(
        "pattern",
        [
            "(a",
            "a)",
            "[a",
            "*a",
            "a**",
            "a{2}{3}",
            "(?=a)",
            "(?<other>a)",
            r"\w",
            r"\1",
            "a$",
            "^a",
            "a\\",
            "[a\\",
            "{2}",
        ],
    )
    def test_is_not_of_the_language(self, pattern):
        with pytest.raises(ValueError, match="pattern"):
            automaton(pattern)

    @pytest.mark.parametrize("pattern", ["(?<lower>.+):.+", "(?<lower>a)b|ac", "(?<lower>a)|(?<upper>a)"])
    def test_where_only_what_follows_tells(self, pattern):
        """A case that is known only later could not be written while reading."""
        with pytest.raises(ValueError, match="depends on later characters"):
            automaton(pattern)

    @pytest.mark.parametrize("pattern", [r"a\?", "[#?]+", "a#b"])
    def test_what_no_name_under_a_rule_holds(self, pattern):
        """Such a pattern would never fit, and its author would not learn why."""
        with pytest.raises(ValueError, match=r"a name with \? or # is not checked"):
            automaton(pattern)

    def test_too_large(self):
        with pytest.raises(ValueError, match="too many states"):
            automaton("(((a{64}){64}){64})")
