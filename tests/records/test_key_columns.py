"""Keys of many values in columns are those of each value by itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.records.test_keys import ALL, SAME
from urnscan.compiled.arrow import text_array
from urnscan.records import key_columns
from urnscan.records.fields import read_data
from urnscan.records.key_columns import SpellingColumns, re2_of
from urnscan.records.keys import FILLERS, LONGEST

ROWS = read_data("keys.toml")["spelling"]
SCHEMES = sorted({scheme for row in ROWS for scheme in row["of"].replace("*", "any").split()})
SPELLED = [text for texts in SAME.values() for text in texts]
ODD = [
    "on1234567890",
    "on123",
    "(ocolc)x",
    "(OCLC) 7",
    "oai:arXiv.org:1",
    "oai:a.example:1",
    "https://a/b?c=d#e",
    "-0-",
]
ODD += ["(DE-1)none", "(DE-1)0-0", "123, 456; 0789", "(OCoLC)1;2"]
ODD += [
    "http://a.example//",
    "HTTPS://WWW.A.example/B//",
    "http://a.example/b?sid=1&x",
    "http://a:80/b",
    "http://www.b/",
]
ODD += [
    "(iii)\x1f10",
    "http://a/urn:x",
    "https://www.A.example/b/",
    "(x)\x1c9",
    "  12 3 ",
    "(ä)5",
    "x" * 2_001,
    *sorted(FILLERS),
]


def of_pattern(row):
    return st.from_regex(f"(?i){row['pattern']}", fullmatch=True, alphabet=st.characters(max_codepoint=127))


@st.composite
def values(draw):
    """A value that fits a row, or nearly: a part of one, two together, with something before or behind."""
    one = draw(st.sampled_from(SPELLED + ODD) | st.sampled_from(ROWS).flatmap(of_pattern))
    start, end = draw(st.just((0, len(one))) | st.tuples(st.integers(0, 3), st.integers(1, max(len(one), 1))))
    around = st.sampled_from(["", "", "", "0", "-", "(a)", " ", "\v", "\x1f", "urn:", "v2", "ä", ",", "/", "\n"])
    return draw(around) + one[start:end] + draw(around)


@pytest.fixture(autouse=True, scope="module")
def columns_of_few():
    """Few values are read in columns, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(key_columns, "_FEW", 0)
        yield


def assert_columns(texts, scheme):
    """Each key, and the value that has it, in the order of the values."""
    spellings = ALL.of_scheme(scheme)
    index, keys = SpellingColumns(spellings).read(text_array(texts))
    single = [(at, key) for at, text in enumerate(texts) if len(text) <= 2_000 for key in spellings.read(text)]
    assert list(zip(index.tolist(), keys.to_pylist(), strict=True)) == single


@pytest.mark.full
@given(texts=st.lists(values(), max_size=6), scheme=st.sampled_from(SCHEMES))
def test_any_columns(texts, scheme):
    assert_columns(texts, scheme)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_known_values(scheme):
    assert_columns(SPELLED + ODD, scheme)


def test_common_values_need_no_python(monkeypatch):
    """Numbers of OCLC, control numbers and addresses, which nearly every record has."""
    for scheme, texts in {
        "control": ["(OCoLC)ocm00012345", "(DE-599)ZDB842411-1", "rec0001", "on0123456789"],
        "any": ["https://a.example/b", "http://a/urn:x", "a.example"],
    }.items():
        spellings = ALL.of_scheme(scheme)
        columns = SpellingColumns(spellings)
        expected = [key for text in texts for key in spellings.read(text)]
        monkeypatch.setattr(type(spellings), "read", None)
        assert columns.read(text_array(texts))[1].to_pylist() == expected
        monkeypatch.undo()


@pytest.mark.parametrize(
    ("pattern", "named", "plain", "groups", "longest"),
    [
        (r"(a)\s*+[^()\s]{2,13}", r"(?P<g0>a)W*[^()w]{2,13}", r"(?:a)W*[^()w]{2,13}", 1, LONGEST),
        (r"(?:a(?=b(c){2,99})\()?(d)", r"(?:a\()?(?P<g0>d)", r"(?:a\()?(?:d)", 1, 0),
        (r"((?!a|b(?:c))d)++", r"(?P<g0>d)+", r"(?:d)+", 1, 0),
        (r"(.{1,70})-(x{3,40})", r"(?P<g0>.{1,})-(?P<g1>x{3,})", r"(?:.{1,})-(?:x{3,})", 2, 40),
    ],
)
def test_patterns_of_re2(pattern, named, plain, groups, longest):
    """A pattern that looks ahead fits more than before, and one that counts fits longer texts."""
    white = r"\x09\x0a\x0b\x0c\x0d\x1c\x1d\x1e\x1f\x20"
    named, plain = (text.replace("W", f"[{white}]").replace("w", white) for text in (named, plain))
    assert re2_of(pattern) == (named, plain, groups, longest)
