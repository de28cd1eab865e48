"""Wrong ISBN and ISSN of records: no right number is called wrong, and no wrong one is passed over in columns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import isbn, issn

from tests.records.test_identifier_columns import TEXTS
from tests.records.test_identifiers import SCHEMES
from tests.support.examples import MANY
from urnscan.compiled.arrow import text_array
from urnscan.records.fields import Own
from urnscan.records.identifier_columns import as_texts
from urnscan.records.identifiers import as_text
from urnscan.records.wrong_numbers import find_wrong

KINDS = SCHEMES | st.sampled_from(["isbn", "issn", "serial", "ean", "", "isbn set"])


@pytest.mark.core
@pytest.mark.full
@MANY
@given(st.lists(TEXTS, max_size=6), KINDS)
def test_a_column_has_every_wrong_number(values, scheme):
    """A field with a wrong number is among those that a column calls doubtful: only these are looked at."""
    column = text_array(values)
    wrong = {at for at, text in enumerate(column.to_pylist()) if find_wrong(Own(text, scheme))}
    assert wrong <= set(as_texts(column, scheme).doubtful.tolist())


@MANY
@given(TEXTS, KINDS)
def test_no_right_number_is_wrong(text, scheme):
    """A field that gives a URN has no wrong number; a number that python-stdnum takes for right is not called wrong, but
    where it is of another kind than its field.
    """
    own = Own(text, scheme)
    for found in find_wrong(own):
        assert as_text(own) is None
        assert found.message not in {"", "None"}
        assert not found.message.startswith("valid")
        assert found.number in text.strip() or not text.isascii()
        if isbn.is_valid(found.number) or issn.is_valid(found.number):
            assert "but urn:" in found.message or len(set(filter(str.isdigit, found.number))) < 3


@pytest.mark.parametrize(
    ("text", "scheme", "number", "message"),
    [
        ("978-0-395-36341-5 (pbk.) : EUR 12", "isbn", "978-0-395-36341-5", "if only this digit is wrong, 6 is right"),
        ("0317-8472", "issn", "0317-8472", "if only this digit is wrong, 1 is right"),
        ("ISSN 0317-8472", "", "0317-8472", "the check digit is wrong"),
        ("97803953634", "isbn", "97803953634", "it has 11 digits, but an ISBN has 10 or 13, and an ISSN has 8"),
        ("978039536341X", "isbn", "978039536341X", "an ISBN with 13 digits begins with 978 or 979, and has no X"),
        ("n766732", "isbn", "n766732", "it is not an ISBN"),
        ("0317-8471", "isbn", "0317-8471", "it is not an ISBN, but urn:issn:0317-8471"),
        ("0317-8472", "isbn", "0317-8472", "it is not an ISBN, but urn:issn:0317-8472, whose check digit is wrong"),
        ("9780395363416", "issn", "9780395363416", "it is not an ISSN, but urn:isbn:9780395363416"),
        ("123456", "serial", None, None),  # the number of a patent
        ("0012345678905", "ean", None, None),  # of a disc
        ("978-0-395-36341-5 (falsch)", "isbn", None, None),
        ("0-395-36341-6 (set)", "isbn", None, None),
        ("978 0 395 36341 (invalid)", "isbn", None, None),
        ("0000000000", "isbn", None, None),
        ("none", "isbn", None, None),
        ("978-0-395-36341-6; 978-0-395-36341-5", "isbn", None, None),
        ("978-0-395-36341-5", "oclc", None, None),
    ],
)
def test_fields(text, scheme, number, message):
    """The list of the page (clean-catalogue.md): what is listed, and what is not."""
    found = find_wrong(Own(text, scheme))
    assert [wrong.number for wrong in found] == ([] if number is None else [number])
    assert not found or message in found[0].message


@pytest.mark.parametrize("separator", ["; ", ", ", " ", " | ", " (pbk.), "])
def test_each_wrong_number_of_a_field(separator):
    """Guards against a second wrong number that is never listed: not beside the first, nor after that is corrected."""
    numbers = ["978-0-395-36341-5", "0-395-36341-2"]
    text = separator.join([*numbers, numbers[0]])
    assert [wrong.number for wrong in find_wrong(Own(text, "isbn"))] == numbers


def test_identifiers_of_keys():
    """A number in a field of `keys.toml` is never an ISBN: it is not called a wrong one."""
    assert find_wrong(Own("978-0-395-36341-5", "isbn", is_key=True)) == []
