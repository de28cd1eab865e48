"""Titles that many works have: the first authors of two records decide, if these can be compared."""

import pytest

from urnscan.dedup.compare.agreement import ASPECTS, RULES, compare
from urnscan.records.description import Description

KEATS = Description("Collected poems", "2001", author="Keats, John", publisher="Wick")
BROWN = Description("Collected poems", "2001", author="Brown, Mary", publisher="Lantern")


def is_apart(one, other):
    found = {compare(*pair, RULES).against for pair in ((one, other), (other, one))}
    assert found <= {0, 1 << ASPECTS.index("title")}
    return found != {0}


@pytest.mark.full
@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, True),
        ({"publisher": "Wick", "year": "2002"}, True),
        # nothing else differs, or it is unknown
        ({"publisher": "Wick Press"}, False),
        ({"publisher": None, "year": None}, False),
        # the author of the other record is named
        ({"coauthors": "Keats, J. | Bell, Ann"}, False),
        ({"responsibility": "by John Keats ; edited by Mary Brown"}, False),
        ({"author": "Tschechow, Anton"}, True),
        ({"author": "J. Keats"}, False),
        # nobody, or a name that cannot be compared
        ({"author": None}, False),
        ({"author": "Anonymous"}, False),
        ({"author": "Unknown"}, False),
        ({"author": "Various"}, False),
        ({"author": "K., J."}, False),
        ({"author": "Китс, Джон"}, False),
    ],
)
def test_short_titles_with_other_authors(changed, expected):
    """Page of dedup: a title of one or two words has other authors, and another year or publisher."""
    assert is_apart(KEATS, BROWN._replace(**changed)) == expected


@pytest.mark.full
@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Gedichte", True),
        ("The poems", True),
        ("Poems by John Keats", False),
        ("A history of invented inks", False),
        ("Poems\x1fthe inks of the lighthouse", False),
        ("詩集", False),
    ],
)
def test_other_authors_of_a_longer_title_do_not_matter(title, expected):
    """Libraries enter the author, the editor or the translator of one book first; a long title is of one book."""
    assert is_apart(KEATS._replace(title=title), BROWN._replace(title=title)) == expected


@pytest.mark.full
@pytest.mark.parametrize(
    ("one", "other"), [("Chekhov, A. P.", "Tschechow, Anton"), ("Horace", "Horatius Flaccus"), ("Li, Wei", "Wei Li")]
)
def test_an_author_in_two_languages_is_one_author(one, other):
    """A family name in the spelling of another language, or without a comma, is no other author."""
    assert not is_apart(KEATS._replace(author=one), BROWN._replace(author=other))
