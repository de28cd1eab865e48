"""Options that say what joins records, and which are kept."""

import numpy as np
import pytest

from urnscan.dedup.policy import PLACEHOLDERS, WEAK, Policy
from urnscan.errors import at_shell
from urnscan.urn.equivalence import canonical
from urnscan.urn.namespaces import judge


class TestPolicy:
    """Values that are none end in one line."""

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"keep": "best"}, "keep cannot be 'best'; choose from first, last, longest, most-identifiers, newest"),
            ({"keep": ["newest", "source:"]}, "keep cannot be 'source:'"),
            ({"keep": []}, "keep cannot be empty"),
            ({"record": "word"}, "record cannot be 'word'"),
            ({"max_class": 1}, "max_class must be at least 2"),
            ({"max_class": "0%"}, "max_class cannot be '0%': a percentage is more than 0% and at most 100%"),
            ({"max_class": "101%"}, "max_class cannot be '101%'"),
            ({"max_class": "x%"}, "max_class cannot be 'x%'"),
            ({"max_cluster": 1}, "max_cluster must be at least 2"),
            (
                {"agree": ["title", "none"]},
                "agree cannot be 'none'; choose from title, year, edition, part, format, language, or none alone",
            ),
            ({"weak": "a b"}, "weak: no URN begins with 'a b': ' ' is not allowed in a NID"),
        ],
    )
    def test_values(self, values, message):
        with pytest.raises(ValueError, match=message):
            Policy(**values)

    @pytest.mark.parametrize(
        ("values", "named"),
        [
            ({"keep": "best"}, "--keep cannot be 'best'"),
            ({"keep": []}, "--keep cannot be empty"),
            ({"max_class": "0%"}, "--max-class cannot be '0%'"),
            ({"keys": "isbn"}, "--keys cannot be 'isbn'"),
            ({"agree": "titel"}, "--agree cannot be 'titel'"),
            ({"carry": "35"}, "--carry cannot be '35'"),
            ({"carry": "001"}, "--carry cannot be 001"),
            ({"weak": "a b"}, "--weak: no URN begins with"),
        ],
    )
    def test_options_as_typed(self, values, named):
        """A message names an option as its reader types it: `--max-class` at the shell, `max_class` in Python."""
        with at_shell(), pytest.raises(ValueError, match=f"^{named}"):
            Policy(**values)

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"max_class": "many"}, "max_class must be an integer, not 'many'"),
            ({"any_urn": "no"}, "any_urn must be True or False, not 'no'"),
            ({"weak": 5}, "weak must be strings, not 5"),
            ({"keep": 5}, "keep must be strings, not 5"),
            ({"agree": 5}, "agree must be strings, not 5"),
            ({"weak": [5]}, r"weak must be strings, not \[5\]"),
        ],
    )
    def test_types(self, values, message):
        with pytest.raises(TypeError, match=message):
            Policy(**values)

    def test_numbers_of_numpy(self):
        assert Policy(max_class=np.int16(7)).max_class == 7

    @pytest.mark.parametrize(("max_class", "most"), [(7, 7), ("1%", 10), ("0.35%", 3), ("0.1%", 2), ("100%", 1000)])
    def test_most_in_class(self, max_class, most):
        """A percentage is one of all records; a class of two always joins."""
        assert Policy(max_class=max_class).most_in_class(1000) == most

    def test_aspects_are_in_their_order(self):
        """The metadata of two runs with the same aspects are the same; `none` and nothing are one."""
        assert Policy(agree=["year", "title"]).agree == ("title", "year")
        assert Policy(agree="edition").agree == ("edition",)
        assert Policy(agree="none").agree == Policy(agree=()).agree == ()

    def test_weak_names_are_folded(self):
        assert Policy(weak=(" ISSN ", "", "Oasis")).weak == ("issn", "oasis")
        assert Policy(weak=()).weak == ()
        assert Policy(weak="issn").weak == ("issn",)
        assert Policy(weak=["urn:isbn:", "nbn:DE"]).weak == ("isbn", "nbn:de")
        assert Policy().weak == WEAK


def test_placeholders_are_names_that_would_join():
    """Each is what a URN becomes in canonical form: else it would be found nowhere."""
    for name in PLACEHOLDERS:
        assert canonical(f"urn:{name}", equivalence="namespace") == f"urn:{name}"
    assert all(judge(f"urn:{name}").valid for name in PLACEHOLDERS if name.startswith("isbn"))
