"""What is wrong with spellings: one by one, in columns, and joined."""

# ruff: noqa: RUF001 - look-alikes are what this is about

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.oracle import SYNTAXES
from tests.support.spelled import spelled
from tests.support.strategies import urn_pairs
from urnscan.compiled.arrow import byte_strings, text_array
from urnscan.urn.parser import parse
from urnscan.urn.problem_columns import marks_of
from urnscan.urn.problems import OF_SPELLINGS, PROBLEMS, joined, spelling_problems
from urnscan.urn.syntax import get_syntax

every_syntax = pytest.mark.parametrize("syntax", SYNTAXES)
problems = st.none() | st.lists(st.sampled_from([*PROBLEMS]), min_size=1, unique=True).map("; ".join)
encoded = st.lists(
    st.sampled_from([0, 0x30, 0x39, 0x3A, 0x41, 0x7A, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xC3])
    | st.sampled_from([0xC9, 0xCA, 0xD0, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF]),
    max_size=6,
).map(lambda content: "".join(f"%{byte:02x}" for byte in content))
"""Bytes at the edges of the ranges of well-formed UTF-8, percent-encoded."""
letters = st.one_of(
    *(
        st.text(alphabet, min_size=1, max_size=3)
        for alphabet in ("мирсаЖё", "αβΩό", "éÿßɑ", "שלו", "سلام", "日本ひカー", "한국", "աոհ", "აბ")
    ),
    st.sampled_from(
        ["«", "×", "\u2013", "\u200d", "\u0301", "ー", "Ꮳ", "１", "२", "ৰ", "х", "o", "ab", "7", "-", "#", "?=", ":"]
    ),
).map(lambda text: quote(text, safe="-#?=:"))
"""Words of one script, what may stand between them, and what makes them another."""
spellings = st.lists(encoded | st.sampled_from(["p%D0%B0y", "%d0%B0123", "a", "Z"]), min_size=1).map(
    lambda parts: "".join(["urn:ab:a", *parts])
)
TAILS = {
    "rfc2141": st.just(""),
    "rfc8141": st.sampled_from(["", "?+a", "?=a=1&a=1", "?+a%00?=%41#", "#%D0%B0123", "?=%D0%BC%D0%B8%D1%80#a"]),
    "rfc2141bis-03": st.sampled_from(["", "?a=1&a=2", "?a=1&A=%4A", "?a=1#&a=1", "?a=?a&b=?a", "#%D0%B0bc%00"]),
}


def codes_of(texts, syntax):
    """The codes of each spelling, as the column has them."""
    marks = marks_of(*byte_strings(text_array(texts)), get_syntax(syntax)).tolist()
    return [tuple(code for bit, code in enumerate(OF_SPELLINGS) if mark >> bit & 1) for mark in marks]


@pytest.mark.full
@every_syntax
@given(data=st.data())
def test_one_spelling_and_columns(syntax, data):
    """Compiled code, `URN.problems` and the second implementation agree, at every edge of UTF-8, with any components."""
    words = st.lists(letters, max_size=5).map(lambda parts: "".join(["urn:ab:a", *parts]))
    words = words.filter(get_syntax(syntax).pattern.fullmatch)
    both = st.one_of(
        st.builds(str.__add__, spellings, TAILS[syntax]), words, urn_pairs(syntax).map(lambda pair: pair[0])
    )
    texts = data.draw(st.lists(both, max_size=5))
    expected = [spelling_problems(text, get_syntax(syntax)) for text in texts]
    assert codes_of(texts, syntax) == expected
    assert [parse(text, syntax).problems for text in texts] == expected


@every_syntax
@given(data=st.data())
def test_second_implementation(syntax, data):
    """docs/reference/problems.md, said a second time."""
    text = data.draw(
        st.builds(str.__add__, st.sampled_from(["urn:ab:a", "urn:ab:%41", "urn:ab:p%D0%B0y"]), TAILS[syntax])
    )
    components, problems = spelled(text, syntax)
    assert list(spelling_problems(text, get_syntax(syntax))) == problems
    assert {name: getattr(parse(text, syntax), name) for name in components} == components


def test_a_slice_of_a_column():
    """What stands in the same bytes before and behind it does not count."""
    texts = text_array(["urn:ab:%00", "urn:ab:a", "urn:ab:%41", "urn:ab:%00"]).slice(1, 2)
    assert marks_of(*byte_strings(texts), get_syntax("rfc8141")).tolist() == [
        0,
        1 << OF_SPELLINGS.index("needless-encoding"),
    ]


def test_many_and_long_spellings():
    """More text than is read at once, a spelling that is longer, and a query with more directives than are compared."""
    long = "urn:ab:" + "a" * (1 << 22) + "p%D0%B0y"
    different, repeated = ("&".join(f"a{number % most}=1" for number in range(200)) for most in (200, 199))
    texts = [*["urn:ab:" + "b" * 1000, "urn:ab:%00", "urn:ab:%D0%B01?a=1&a=2"] * 3000, long, long]
    texts += [f"urn:ab:a?{different}", f"urn:ab:a?{repeated}", "urn:ab:a?a=1&b=2", "urn:ab:a?a=1&a=2"]
    adopted = "component-not-adopted"
    misleading, again = ("mixed-scripts", "confusable"), ("repeated-keyword", adopted)
    expected = [*[(), ("nul-octet",), ("repeated-keyword", "confusable", adopted)] * 3000, misleading, misleading]
    assert codes_of(texts, "rfc2141bis-03") == [*expected, (adopted,), again, (adopted,), again]


@pytest.mark.parametrize(
    ("text", "syntax", "expected"),
    [
        ("urn:ab:%C3%BC", "rfc2141", ()),
        ("urn:ab:%c3%28", "rfc2141", ("not-utf-8",)),
        ("urn:ab:%ed%a0%80", "rfc2141", ("not-utf-8",)),  # a surrogate
        ("urn:ab:%c3(%bc", "rfc2141", ("not-utf-8",)),
        ("urn:ab:%F0%9F%98%80", "rfc2141", ()),
        ("urn:ab:%2541", "rfc2141", ()),
        ("urn:ab:%41", "rfc2141", ("needless-encoding",)),
        ("urn:ab:%2D%5F%7E%2E", "rfc2141", ()),  # a namespace may give them a meaning, and they are encoded without it
        ("urn:ab:a?=%00", "rfc8141", ("nul-octet",)),
        ("urn:ab:a?=b=1&b=2", "rfc8141", ()),
        ("urn:ab:a?b=1;b=2", "rfc2141", ()),
        ("urn:ab:a?b=1&b=2", "rfc2141bis-03", ("repeated-keyword", "component-not-adopted")),
        ("urn:ab:a&b=1?b=2#b=3&b=4", "rfc2141bis-03", ("component-not-adopted",)),
        ("urn:ab:a#", "rfc2141bis-03", ("component-not-adopted",)),
        ("urn:ab:e%CC%81", "rfc2141", ("not-nfc",)),
        ("urn:ab:%C3%A9", "rfc2141", ()),
        ("urn:ab:%E2%84%AB", "rfc2141", ("not-nfc",)),  # the sign of the angstrom is the letter
        ("urn:ab:%EF%BD%81", "rfc2141", ("compatibility-character",)),
        ("urn:ab:m%C2%B2", "rfc8141", ("compatibility-character",)),
        ("urn:ab:a#%EF%AC%81", "rfc8141", ("compatibility-character",)),
        ("urn:ab:12ab%CC%A3:%CE%B1", "rfc2141", ("confusable", "not-nfc")),  # a decomposed letter after an ASCII one
        ("urn:ab:b%CC%A3:%CE%B1", "rfc2141", ("not-nfc",)),
    ],
)
def test_examples(text, syntax, expected):
    """Semantics, `valid` and `problem`: the codes of spellings."""
    assert parse(text, syntax).problems == expected
    assert codes_of([text], syntax) == [expected]


@given(st.lists(problems, max_size=5), st.randoms(), st.integers(0, 5))
def test_joined(values, chance, cut):
    """A union: in the order of the table, whatever the order of the values, and however they were joined before."""
    found = joined(values)
    codes = {code for value in values if value for code in value.split("; ")}
    assert found == ("; ".join(code for code in PROBLEMS if code in codes) or None)
    shuffled = chance.sample(values, len(values))
    assert joined(shuffled) == joined([joined(values[:cut]), joined(values[cut:])]) == found


def test_codes_of_later_versions_are_kept():
    """A table of a later version may have codes that this one does not know."""
    assert joined(["z-new; nul-octet", "a-new", "check-digit"]) == "check-digit; nul-octet; a-new; z-new"
