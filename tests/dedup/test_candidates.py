"""Pairs of records that share no key and may be the same."""

import csv

import urnscan
from urnscan.dedup.review import candidates as module

CARDS = """id,title,author,year,isbn,edition
c1,Invented inks,"Wimpelfeld, Ansgar",1998,9780306406157,
c2,Invented Inks.,Ansgar Wimpelfeld,1998,,
c3,Invented inks,"Wimpelfeld, A.",1998,0-306-40615-2,
c4,Invented inks,"Wimpelfeld, Ansgar",1999,,
c5,Invented inks,"Merilintu, Aino-Kaisa",1998,,
c6,Invented inks and how to dry them,"Wimpelfeld, Ansgar",1998,,
c7,Invented inks,"Wimpelfeld, Ansgar",1998,,2nd ed.
c8,Invented inks,,1998,,
c9,Inventd inks,"Wimpelfeld, Ansgar",1998,,1st ed.
"""


def pairs_of(folder, text, **options):
    (folder / "cards.csv").write_text(text)
    found = urnscan.deduplicate(folder / "cards.csv", candidates=folder / "pairs.csv", force=True, **options)
    with (folder / "pairs.csv").open(encoding="utf-8-sig", newline="") as file:
        return found, [(row["record_id"], row["other_record_id"]) for row in csv.DictReader(file)]


def test_author_year_and_nearly_the_title(tmp_path):
    """The name of an author may be written in two ways. Another year, author, title or edition is no candidate; neither are
    records of one component, and of a cluster only the one that is kept is looked at.
    """
    found, pairs = pairs_of(tmp_path, CARDS)
    assert pairs == [("c1", "c2"), ("c1", "c7"), ("c2", "c7")]
    assert found.report.duplicates == 1  # c3 is that of c1: no pair removes or joins anything
    assert found.clusters.equals(urnscan.deduplicate(tmp_path / "cards.csv").clusters)


def test_they_do_not_need_the_brake(tmp_path):
    """With `agree` none, descriptions are read for them alone."""
    assert pairs_of(tmp_path, CARDS, agree="none")[1] == [("c1", "c2"), ("c1", "c7"), ("c2", "c7")]


def test_neighbours_alone_are_compared(tmp_path, monkeypatch):
    """A thousand records with one title give no half a million pairs."""
    monkeypatch.setattr(module, "_NEAR", 2)
    lines = [f'c{number},Annual report,"Wimpelfeld, Ansgar",1998,,' for number in range(100)]
    _, pairs = pairs_of(tmp_path, "\n".join([CARDS.splitlines()[0], *lines]))
    assert len(pairs) == 99 + 98


def test_no_records(tmp_path):
    """A table without rows, as of every output."""
    assert pairs_of(tmp_path, CARDS.splitlines()[0] + "\n")[1] == []
