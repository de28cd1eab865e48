"""The rules of namespaces on columns: what `judge` says of one name, compiled."""

from __future__ import annotations

import os
import string
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import ean, isbn
from stdnum.iso7064 import mod_37_36, mod_97_10

from tests.support.registrations import EXAMPLES, names, verdict
from tests.support.spelled import CODES
from tests.urn.namespaces.test_rules import lexical
from urnscan.compiled.arrow import byte_strings, text_array
from urnscan.urn.namespaces.judgement_columns import NAMES, is_invalid, is_valid, namespace_forms, verdicts
from urnscan.urn.problems import OF_SPELLINGS, PROBLEMS

NIDS = sorted(EXAMPLES)


def judged(urns):
    """Of each URN whether it is valid, its problem and its form."""
    data, offsets = byte_strings(text_array(urns))
    codes = verdicts(data, offsets, offsets[1:])
    forms, places = namespace_forms(data, offsets)
    assert len(codes) == len(places) - 1 == len(urns)
    return [
        (
            bool(valid) if valid or wrong else None,
            NAMES[code],
            forms[places[row] : places[row + 1]].tobytes().decode(),
        )
        for row, (code, valid, wrong) in enumerate(zip(codes, is_valid(codes), is_invalid(codes), strict=True))
    ]


def test_problems_are_those_of_the_table():
    """All codes there are those of verdicts or of spellings, and these come behind those."""
    assert [code for code in PROBLEMS if code in NAMES] == [code for code in PROBLEMS if code not in OF_SPELLINGS]
    assert {*NAMES, *OF_SPELLINGS} - {None} == set(PROBLEMS)
    assert list(PROBLEMS) == CODES


def test_no_rows():
    assert judged([]) == []


def test_every_example():
    """All namespaces in one column."""
    known = [
        lexical(name)
        for entry in EXAMPLES.values()
        for kind in ("valid", "unsure", "invalid")
        for name, _ in entry.get(kind, [])
    ]
    known += [f"{name}{end}" for name in known for end in (".", "),", ",urn:x:y", ".;URN:", ";a=b", "':", "(x).", "-.")]
    known += [f"urn:{nid}:{nss}%00{end}" for nid in NIDS for nss in ("a", "de:a-1", "a:b") for end in ("", "0", ".")]
    known += ["urn:nobody:A", "urn:a:b", "urn:isb:1", "urn:isbnn:1", "urn:" + "x" * 32 + ":1"]
    assert judged(known) == [verdict(urn) for urn in known]


@given(st.lists(st.sampled_from(NIDS).flatmap(names), min_size=1, max_size=12))
def test_agrees_with_the_oracle(found):
    """The kernel and `regex` with `python-stdnum` say the same, whatever stands beside a name in the column."""
    urns = [urn for name in found if (urn := lexical(name))]
    assert judged(urns) == [verdict(urn) for urn in urns]


_digits = st.text("0123456789", min_size=8, max_size=13)
_fifteen = st.text("0123456789", min_size=15, max_size=15)
_check = st.sampled_from("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcxyz")


@given(
    st.lists(
        st.one_of(
            st.builds("urn:isbn:{}{}".format, _digits, st.sampled_from(["", "X", "x", "-X"])),
            st.builds("urn:isbn:97{}-{}".format, st.sampled_from("89"), _digits),
            st.builds("urn:issn:{}-{}{}".format, *[st.text("0123456789", min_size=n, max_size=n) for n in (4, 3, 1)]),
            st.builds(
                "urn:issn:{}{}".format, st.text("0123456789", min_size=7, max_size=7), st.sampled_from("0123456789xX")
            ),
            st.builds("urn:isni:{}{}".format, _fifteen, st.sampled_from("0123456789xX")),
            st.builds("urn:lei:{}{:02}".format, st.text("059AFZ", min_size=18, max_size=18), st.integers(0, 99)),
            st.builds(
                "urn:eidr:10.5240:{0}-{0}-{1}-{1}-{0}-{2}".format,
                *[st.text("09AFaf", min_size=4, max_size=4)] * 2,
                _check,
            ),
            st.builds("urn:nbn:de:{}-{}".format, st.sampled_from(["101:1", "gbv:7", "a", "A"]), _digits),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_check_digits(urns):
    """ISO 2108, ISO 3297, ISO 7064 and the digit of the DNB: right and wrong ones as `python-stdnum` (the last: strings) has it."""
    assert judged(urns) == [verdict(urn) for urn in urns]


@pytest.mark.parametrize("character", string.digits + string.ascii_uppercase)
def test_right_check_digits(character):
    """Right ones are rare among those drawn: here each character stands in names whose check digit is right."""
    eighteen, four = character * 18, (character if character <= "F" else "0") * 4
    eidr = "-".join([four] * 5)
    urns = [
        f"urn:lei:{eighteen}{mod_97_10.calc_check_digits(eighteen)}",
        f"urn:eidr:10.5240:{eidr}-{mod_37_36.calc_check_digit(eidr.replace('-', ''))}",
    ]
    assert [valid for valid, _, _ in judged(urns)] == [True, True]
    assert judged(urns) == [verdict(urn) for urn in urns]


def test_every_isbn_10_becomes_an_isbn_13():
    """Whatever the check digits of both are."""
    new = [f"978{number:09}{ean.calc_check_digit(f'978{number:09}')}" for number in range(0, 4_000, 37)]
    old = [isbn.to_isbn10(digits) for digits in new]
    assert ({digits[-1] for digits in new}, {digits[-1] for digits in old}) == ({*"0123456789"}, {*"0123456789X"})
    assert judged([f"urn:isbn:{digits}" for digits in old]) == [(True, None, f"urn:isbn:{digits}") for digits in new]


def test_digit_of_the_dnb_behind_a_hyphen():
    """RFC 8458: a "-" stands behind the country where no ":" and no code of a library does."""
    urns = [f"urn:nbn:de-{number}" for number in range(10, 20)]
    assert judged(urns) == [verdict(urn) for urn in urns]
    assert {problem for _, problem, _ in judged(urns)} == {None, "dnb-check-digit"}


def test_forms_of_isbns_that_are_not_converted():
    """A wrong one loses its hyphens and its small x; one with a prefix yet to come stays as it is."""
    assert judged(["urn:isbn:0-395-36341-x", "urn:isbn:123-456-789-012-3"]) == [
        (False, "check-digit", "urn:isbn:039536341X"),
        (None, None, "urn:isbn:123-456-789-012-3"),
    ]


def test_what_may_be_a_component_is_no_problem():
    """RFC 2141 reserves "?" and "#" (§2.3.2): nothing is said of a name that does not fit and holds one of them."""
    assert [problem for _, problem, _ in judged([f"urn:isbn:1{end}" for end in ("?a", "#a", "a")])] == [
        *(None, None, "nss-grammar"),
    ]


def test_part_of_a_column():
    """Arrow slices share their buffers: offsets do not begin at 0."""
    urns = ["urn:isbn:0-395-36341-1", "urn:issn:0317-8471", "urn:uuid:F81D4FAE-7dec-11d0-a765-00a0c91e6bf6"]
    data, offsets = byte_strings(text_array(["urn:x:y", *urns, "urn:x:z"]).slice(1, 3))
    forms, places = namespace_forms(data, offsets)
    assert [forms[a:b].tobytes().decode() for a, b in pairwise(places)] == [verdict(urn).form for urn in urns]


def test_the_nss_may_end_before_the_urn_does():
    """rfc2141bis-03 keeps the query at the level `resolution`: it is no part of the NSS."""
    data, offsets = byte_strings(text_array(["urn:oid:1.2?a=b"]))
    assert NAMES[verdicts(data, offsets, offsets[1:] - 4)[0]] is None
    assert is_valid(verdicts(data, offsets, offsets[1:] - 4))[0]


@pytest.mark.parametrize("threads", [4])
def test_threads_share_the_automata(threads):
    """Each thread brings namespaces of its own at the same time; nobody gets a table that lacks them."""
    columns = [[lexical(name) for name, _ in EXAMPLES[nid].get("valid", [])] or [f"urn:{nid}:a"] for nid in NIDS]
    with ThreadPoolExecutor(threads) as executor:
        for urns, found in zip(columns, executor.map(judged, columns), strict=True):
            assert found == [verdict(urn) for urn in urns]


def test_writable_and_read_only_columns():
    """What the scanner gives is writable, what Arrow gives is not."""
    data, offsets = byte_strings(text_array(["urn:isbn:0395363411"]))
    assert (verdicts(data, offsets, offsets[1:]) == verdicts(data.copy(), offsets.copy(), offsets[1:].copy())).all()
    assert np.array_equal(namespace_forms(data, offsets)[0], namespace_forms(data.copy(), offsets.copy())[0])


@pytest.mark.full
def test_without_compiling():
    """The way into a debugger (docs/testing.md): a byte that stayed one there overflowed, and gave wrong check digits."""
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-n0",
            "-m",
            "full",
            f"{__file__}::test_every_example",
        ],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-4000:]
    assert "1 passed" in run.stdout
