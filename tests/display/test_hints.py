"""Sentences about options that would change the result of a run."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from urnscan.display.text import hints
from urnscan.errors import at_shell, option

COUNTS = ("trimmable", "components_in_names", "longer_in_rfc8141", "cut_short")
ONE = [
    "1 occurrence ends in punctuation or contains the next URN; --trim cuts that off (1 name fits its namespace only then)",
    "1 occurrence has components of RFC 8141 (?+ ?= #); --syntax rfc8141 separates them from the name",
    "1 occurrence is cut before ~ or &, which RFC 8141 allows; --syntax rfc8141 keeps 1 whole",
    "1 class is equivalent to another by the rules of their namespaces; --equivalence namespace joins them",
    "1 occurrence is cut before a character that no URN may contain there, such as ü or a dash; LIST lists the places",
]
SEVERAL = [
    "1,200 occurrences end in punctuation or contain the next URN; trim=True cuts that off (1,200 names fit their namespaces only then)",
    '1,200 occurrences have components of RFC 8141 (?+ ?= #); syntax="rfc8141" separates them from the name',
    '1,200 occurrences are cut before ~ or &, which RFC 8141 allows; syntax="rfc8141" keeps 1,200 whole',
    '1,200 classes are equivalent to others by the rules of their namespaces; equivalence="namespace" joins them',
    "1,200 occurrences are cut before characters that no URN may contain there, such as ü or a dash; LIST lists the places",
]


def found(count, **more):
    counts = SimpleNamespace(**dict.fromkeys(COUNTS, count))
    return hints(counts, option, "LIST", **{"untrimmed": count, "joinable": count, **more})


def test_numbers_and_options():
    """Number and verb agree, and an option is named as its reader types it: in a shell, or in Python."""
    with at_shell():
        assert found(1) == ONE
    assert found(1200) == SEVERAL


@pytest.mark.parametrize("unknown", [0, None])
def test_what_is_0_or_unknown_has_no_sentence(unknown):
    """A report of a deduplication knows no classes; a run that lists rejects needs no advice to list them."""
    assert found(0, untrimmed=5, joinable=unknown) == []
    assert found(1200, untrimmed=unknown, joinable=unknown, has_rejects=True) == [
        SEVERAL[0].partition(" (1,200 names")[0],
        *SEVERAL[1:3],
    ]
