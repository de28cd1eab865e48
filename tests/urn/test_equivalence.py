"""Canonical forms: the examples of the three standards, and what holds for every URN."""

from __future__ import annotations

from itertools import combinations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import FEW
from tests.support.oracle import COMPILED, SYNTAXES
from tests.support.oracle import canonical as oracle_canonical
from tests.support.strategies import urn_pairs
from urnscan.errors import InvalidURN
from urnscan.urn.equivalence import LEVELS, canonical, equivalent, get_level
from urnscan.urn.parser import parse

every_syntax = pytest.mark.parametrize("syntax", SYNTAXES)
MEANINGS = [(syntax, level.name) for level in LEVELS.values() for syntax in level.syntaxes]
every_meaning = pytest.mark.parametrize(("syntax", "equivalence"), MEANINGS)

_keywords = st.sampled_from(["s", "c", "S", "cc", "c-1", "c1", "a"])
_values = st.sampled_from(["", "1", "2", "I=I", "a?b", "?", "%2c", "/x", "=", "s"])
directives = st.lists(st.tuples(_keywords, _values), min_size=1, max_size=6)


def partition(urns, **meaning):
    """The classes into which URNs fall, as sets of their numbers from 1."""
    classes = {}
    for number, urn in enumerate(urns, 1):
        classes.setdefault(canonical(urn, **meaning), set()).add(number)
    for a, b in combinations(range(len(urns)), 2):
        same = any({a + 1, b + 1} <= numbers for numbers in classes.values())
        assert equivalent(urns[a], urns[b], **meaning) is same
    return sorted(classes.values(), key=min)


def counts(keyword, pairs):
    """Whether a resolver must not ignore the keyword: it is not a registered one that is repeated."""
    return keyword not in ("s", "c") or [other for other, _ in pairs].count(keyword) == 1


def query(pairs):
    return "&".join(f"{keyword}={value}" for keyword, value in pairs)


class TestRFC2141Examples:
    """RFC 2141 §6: "URNs 1, 2, and 3 are all lexically equivalent. URN 4 is not lexically equivalent any of the other
    URNs of the above set. URNs 5 and 6 are only lexically equivalent to each other."
    """

    URNS = (
        "URN:foo:a123,456",
        "urn:foo:a123,456",
        "urn:FOO:a123,456",
        "urn:foo:A123,456",
        "urn:foo:a123%2C456",
        "URN:FOO:a123%2c456",
    )

    @every_syntax
    def test_classes(self, syntax):
        assert partition(self.URNS, syntax=syntax) == [{1, 2, 3}, {4}, {5, 6}]

    def test_forms(self):
        assert [canonical(urn) for urn in self.URNS] == [
            *["urn:foo:a123,456"] * 3,
            "urn:foo:A123,456",
            *["urn:foo:a123%2C456"] * 2,
        ]

    def test_question_mark_and_hash_belong_to_the_nss(self):
        """RFC 2141 §2.3.2: "/", "?" and "#" are reserved characters of the NSS, not the marks of components."""
        urns = ["urn:foo:a", "urn:foo:a?x=y", "urn:foo:a#z", "urn:foo:a/b"]
        assert partition(urns) == [{1}, {2}, {3}, {4}]


class TestRFC8141Examples:
    """RFC 8141 §3.2, its six groups."""

    URNS = (
        "urn:example:a123,z456",
        "URN:example:a123,z456",
        "urn:EXAMPLE:a123,z456",
        "urn:example:a123,z456?+abc",
        "urn:example:a123,z456?=xyz",
        "urn:example:a123,z456#789",
        "urn:example:a123,z456/foo",
        "urn:example:a123,z456/bar",
        "urn:example:a123,z456/baz",
        "urn:example:a123%2Cz456",
        "URN:EXAMPLE:a123%2cz456",
        "urn:example:A123,z456",
        "urn:example:a123,Z456",
        "urn:example:%D0%B0123,z456",
    )

    def test_classes(self):
        alone = [{7}, {8}, {9}, {12}, {13}, {14}]
        together = [{1, 2, 3, 4, 5, 6}, {10, 11}]
        assert partition(self.URNS, syntax="rfc8141") == sorted(alone + together, key=min)

    def test_any_combination_of_components_is_ignored(self):
        """RFC 8141 §3.1: "If an r-component, q-component, or f-component (or any combination thereof) is included in a
        URN, it MUST be ignored".
        """
        for r in ("", "?+r%2c"):
            for q in ("", "?=q?+x"):
                for f in ("", "#", "#f"):
                    assert canonical(f"URN:Example:a%2c{r}{q}{f}", syntax="rfc8141") == "urn:example:a%2C"


class TestBis03Examples:
    """rfc2141bis-03 §5.1: "URNs 1, 2, 3 and 8 are all lexically equivalent, and URN 7 is also lexically equivalent to
    these if step 5a is applied, but this does not hold if step 5b above is applied instead."
    """

    URNS = (*TestRFC2141Examples.URNS, "urn:foo:a123,456?x=y", "urn:foo:a123,456#xyz")

    def test_step_5a(self):
        assert partition(self.URNS, syntax="rfc2141bis-03") == [{1, 2, 3, 7, 8}, {4}, {5, 6}]

    def test_step_5b(self):
        classes = partition(self.URNS, syntax="rfc2141bis-03", equivalence="resolution")
        assert classes == [{1, 2, 3, 8}, {4}, {5, 6}, {7}]


class TestResolution:
    """rfc2141bis-03 §5, step 5b: "Reorder the directives in the <query> part of the URI, if present, bringing them into
    a preferred <keywd> order." Ours is that of the bytes; repeated ones that are registered are ignored (§2.3), the fragment is dropped.
    """

    def form(self, urn):
        return canonical(urn, syntax="rfc2141bis-03", equivalence="resolution")

    def test_sorted_by_keyword(self):
        assert self.form("URN:AB:x?s=I2L&c=ToC") == "urn:ab:x?c=ToC&s=I2L"

    def test_by_keyword_and_not_by_the_text_of_the_directive(self):
        """ "c-1=" sorts before "c=" as text, and "c" before "c-1" as a keyword."""
        assert self.form("urn:ab:x?c-1=a&c=b") == "urn:ab:x?c=b&c-1=a"
        assert self.form("urn:ab:x?c1=a&c=b") == "urn:ab:x?c=b&c1=a"

    def test_case_of_keywords_counts(self):
        assert self.form("urn:ab:x?a=1&B=2") == "urn:ab:x?B=2&a=1"

    @pytest.mark.parametrize(
        ("query", "left"),
        [
            ("s=1&s=2", ""),
            ("s=2&s=1", ""),
            ("s=1&s=1", ""),
            ("s=1&c=ToC&s=2", "?c=ToC"),
            ("c=2&s=2&c=1&s=1", ""),
            ("s=1&S=1", "?S=1&s=1"),
            ("s=1&s=2&s=3&b=", "?b="),
        ],
    )
    def test_repeated_directives_are_ignored(self, query, left):
        """§2.3: a resolver "MUST ignore all query directives therein using the offending <keywd>(s)"."""
        assert self.form(f"urn:ab:x?{query}") == f"urn:ab:x{left}"

    @pytest.mark.parametrize(
        ("query", "form"),
        [
            ("x=8&x=9", "x=8&x=9"),
            ("x=2&x=1", "x=1&x=2"),
            ("x=1&x=1", "x=1&x=1"),
            ("b=2&a=2&s=1&b=1&s=1", "a=2&b=1&b=2"),
        ],
    )
    def test_a_keyword_that_is_not_registered_may_be_repeated(self, query, form):
        """§2.3: "Each registered <keywd> MUST NOT appear more than once"; §9.2.1 registers s and c."""
        assert self.form(f"urn:ab:x?{query}") == f"urn:ab:x?{form}"

    def test_fragment_dropped(self):
        assert self.form("urn:ab:x?b=1&a=?#?c=1") == "urn:ab:x?a=?&b=1"
        assert self.form("urn:ab:x#f?b&a") == "urn:ab:x"

    def test_percent_encodings_in_the_query(self):
        """Step 3 comes before: the case of any percent-encoding."""
        assert self.form("urn:ab:%2c?b=%2c&a=%fF") == "urn:ab:%2C?a=%FF&b=%2C"

    def test_ampersand_in_the_nss_is_no_directive(self):
        assert self.form("urn:ab:b&a") == "urn:ab:b&a"
        assert self.form("urn:ab:z&b=1&a=2?d=1&c=2") == "urn:ab:z&b=1&a=2?c=2&d=1"

    def test_question_mark_in_a_value_begins_no_query(self):
        assert self.form("urn:ab:x?b=1?z=1&a=2") == "urn:ab:x?a=2&b=1?z=1"

    @FEW
    @given(directives)
    def test_form(self, pairs):
        """Sorted, and without what is repeated: what is left may be nothing, and then no "?" is left."""
        kept = sorted(
            (word, regex.sub("%..", lambda found: found[0].upper(), value))
            for word, value in pairs
            if counts(word, pairs)
        )
        expected = parse("urn:ab:x" + f"?{query(kept)}" * bool(kept), "rfc2141bis-03")
        assert self.form(f"urn:ab:x?{query(pairs)}#f") == str(expected)

    @FEW
    @given(directives, st.randoms(use_true_random=False))
    def test_order_never_matters(self, pairs, random):
        """§2.3: "this is necessary to maintain independence of the semantics from directive ordering"."""
        shuffled = random.sample(pairs, len(pairs))
        assert self.form(f"urn:ab:x?{query(pairs)}") == self.form(f"urn:ab:x?{query(shuffled)}")

    @FEW
    @given(directives, directives)
    def test_same_form_if_and_only_if_a_resolver_sees_the_same(self, one, other):
        """§2.3: it ignores those whose registered keyword is repeated; hex digits have no case."""

        def seen(pairs):
            return sorted((keyword, value.upper()) for keyword, value in pairs if counts(keyword, pairs))

        meaning = {"syntax": "rfc2141bis-03", "equivalence": "resolution"}
        same = seen(one) == seen(other)
        assert equivalent(f"urn:ab:x?{query(one)}", f"urn:ab:x?{query(other)}", **meaning) is same
        assert equivalent(f"urn:ab:x?{query(one)}", "urn:ab:x", **meaning) is (not seen(one))

    @FEW
    @given(urn_pairs("rfc2141bis-03"), urn_pairs("rfc2141bis-03"), st.data())
    def test_what_resolution_joins_lexical_joins(self, one, other, data):
        other = data.draw(st.sampled_from([other[0], one[0].partition("#")[0], one[0].partition("?")[0]]))
        if self.form(one[0]) == self.form(other):
            assert equivalent(one[0], other, syntax="rfc2141bis-03")


class TestLevels:
    """Semantics §4: which levels a syntax defines; everything else is an error."""

    def test_default_is_lexical_rfc2141(self):
        assert canonical("URN:A:b?%2c#") == canonical("URN:A:b?%2c#", syntax="rfc2141", equivalence="lexical")
        assert canonical("URN:A:b?%2c#") == "urn:a:b?%2C#"

    @every_syntax
    def test_lexical_in_every_syntax(self, syntax):
        assert get_level("lexical", syntax).name == "lexical"

    @pytest.mark.parametrize("syntax", ["rfc2141", "rfc8141"])
    def test_resolution_only_in_bis_03(self, syntax):
        for call in (
            lambda: get_level("resolution", syntax),
            lambda: canonical("urn:ab:c", syntax=syntax, equivalence="resolution"),
            lambda: equivalent("urn:ab:c", "urn:ab:c", syntax=syntax, equivalence="resolution"),
        ):
            with pytest.raises(ValueError, match=r"resolution.*rfc2141bis-03") as caught:
                call()
            assert not isinstance(caught.value, InvalidURN)

    def test_resolution_in_bis_03(self):
        assert get_level("resolution", "rfc2141bis-03").keep_query

    @pytest.mark.parametrize("name", ["", "Lexical", "lexical ", "rfc2141", "none"])
    def test_unknown_level_names_the_known(self, name):
        with pytest.raises(ValueError, match=r"^equivalence: unknown value") as caught:
            canonical("urn:ab:c", equivalence=name)
        assert repr(name) in str(caught.value)
        assert all(known in str(caught.value) for known in LEVELS)

    @pytest.mark.parametrize("name", ["", "RFC2141", "rfc 2141", "rfc9999", "lexical"])
    def test_unknown_syntax_names_the_known(self, name):
        for call in (lambda: canonical("urn:ab:c", syntax=name), lambda: get_level("lexical", name)):
            with pytest.raises(ValueError, match=r"^syntax: unknown value") as caught:
                call()
            assert repr(name) in str(caught.value)
            assert all(known in str(caught.value) for known in SYNTAXES)

    def test_errors_come_before_the_text_is_looked_at(self):
        with pytest.raises(ValueError, match=r"^equivalence: unknown value"):
            canonical("no urn", equivalence="none")

    def test_no_urn(self):
        with pytest.raises(InvalidURN) as caught:
            canonical("urn:ab:c d")
        assert caught.value.position == 8
        with pytest.raises(InvalidURN):
            equivalent("urn:ab:c", "urn:ab:")
        with pytest.raises(InvalidURN):
            equivalent("urn:ab:", "urn:ab:c")

    def test_table_cannot_be_changed(self):
        with pytest.raises(TypeError):
            LEVELS["mine"] = LEVELS["lexical"]

    @every_meaning
    def test_refine_leaves_what_its_level_has_no_rule_for(self, syntax, equivalence):
        """One directive is sorted, and an unregistered namespace has no rule."""
        for urn in ("urn:ab:c", "urn:ab:c?b=1", "urn:ab:c?b=", "urn:ab:%2C"):
            assert get_level(equivalence, syntax).refine(urn) == urn


class TestCanonicalForm:
    """Semantics §4: "the same name" is equality of canonical forms, never a pairwise test."""

    @every_syntax
    @FEW
    @given(data=st.data())
    def test_lexical_form(self, syntax, data):
        """Scheme and NID in lower case, hex digits in upper case, components dropped, all else as it stands."""
        spelled, folded = data.draw(urn_pairs(syntax))
        assert canonical(spelled, syntax=syntax) == folded

    @every_meaning
    @FEW
    @given(data=st.data())
    def test_form_is_the_oracles(self, syntax, equivalence, data):
        spelled, _ = data.draw(urn_pairs(syntax))
        keep_query = equivalence == "resolution"
        kept = oracle_canonical(COMPILED[syntax].fullmatch(spelled.encode()), keep_query=keep_query).decode()
        if keep_query:
            name, mark, rest = kept.partition("?")
            pairs = [directive.split("=", 1) for directive in rest.split("&")] if mark else []
            rest = query(sorted(pair for pair in pairs if counts(pair[0], pairs)))
            kept = name + "?" * bool(rest) + rest
        assert canonical(spelled, syntax=syntax, equivalence=equivalence) == kept

    @every_meaning
    @FEW
    @given(data=st.data())
    def test_idempotent(self, syntax, equivalence, data):
        spelled, _ = data.draw(urn_pairs(syntax))
        once = canonical(spelled, syntax=syntax, equivalence=equivalence)
        assert canonical(once, syntax=syntax, equivalence=equivalence) == once
        assert equivalent(spelled, once, syntax=syntax, equivalence=equivalence)

    @every_meaning
    @FEW
    @given(data=st.data())
    def test_equivalence_is_equality_of_forms(self, syntax, equivalence, data):
        meaning = {"syntax": syntax, "equivalence": equivalence}
        one, _ = data.draw(urn_pairs(syntax))
        other, _ = data.draw(
            st.one_of(urn_pairs(syntax), st.sampled_from([(one.upper(), ""), (one.swapcase(), ""), (one.lower(), "")]))
        )
        same = canonical(one, **meaning) == canonical(other, **meaning)
        assert equivalent(one, other, **meaning) is same
        assert equivalent(other, one, **meaning) is same

    @every_syntax
    @FEW
    @given(data=st.data())
    def test_value_of_a_urn_goes_by_lexical_equivalence(self, syntax, data):
        """`==` and `hash()` of URN (contract, Python)."""
        one, _ = data.draw(urn_pairs(syntax))
        other, _ = data.draw(st.one_of(urn_pairs(syntax), st.just((one[:4].swapcase() + one[4:], ""))))
        same = equivalent(one, other, syntax=syntax)
        assert (parse(one, syntax) == parse(other, syntax)) is same
        assert len({parse(one, syntax), parse(other, syntax)}) == (1 if same else 2)

    def test_percent_encodings_are_never_decoded(self):
        """RFC 2141 §5: "Note that %-escaping MUST NOT be removed." """
        for byte in range(0x21, 0x7F):
            encoded = f"urn:ab:%{byte:02x}"
            assert canonical(encoded) == f"urn:ab:%{byte:02X}"
            try:
                assert not equivalent(encoded, f"urn:ab:{chr(byte)}")
            except InvalidURN:
                continue

    def test_only_hex_digits_change_in_the_nss(self):
        assert canonical("urn:ab:aF%afaF%AFaf") == "urn:ab:aF%AFaF%AFaf"
        assert canonical("urn:ab:%25af") == "urn:ab:%25af"

    def test_bytes(self):
        assert canonical(b"URN:AB:c%2c") == "urn:ab:c%2C"
        assert equivalent(b"URN:AB:c", "urn:ab:c")
