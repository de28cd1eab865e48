"""Pairs of records that share no key and may be the same."""

import csv
from collections import defaultdict

import pytest

import urnscan
from urnscan.dedup.review import candidates as module
from urnscan.errors import FatalError

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


def test_publishers_and_extents_are_shown(tmp_path):
    """Two printings of a book often differ in nothing else that a person can see in the table."""
    field = '<datafield tag="{}" ind1=" " ind2=" "><subfield code="{}">{}</subfield></datafield>'.format
    records = "".join(
        f'<record><leader>     nam a22     uc 4500</leader><controlfield tag="001">{name}</controlfield>'
        f"{field('100', 'a', 'Wimpelfeld, Ansgar')}{field('245', 'a', 'Invented inks')}{field('264', 'c', '1998')}{more}</record>"
        for name, more in (("c1", field("264", "b", "Tintenfass") + field("300", "a", "99 p.")), ("c2", ""))
    )
    (tmp_path / "cards.xml").write_text(f'<collection xmlns="http://www.loc.gov/MARC21/slim">{records}</collection>')
    urnscan.deduplicate(tmp_path / "cards.xml", candidates=tmp_path / "pairs.csv")
    with (tmp_path / "pairs.csv").open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["publisher"], row["extent"]) == ("Tintenfass", "99 p.")
    assert (row["other_publisher"], row["other_extent"]) == ("", "")


@pytest.mark.parametrize(
    ("one", "other", "is_pair"),
    [
        ("Ansgar Wimpelfeld, Aino-Kaisa Merilintu", "A.-K. Merilintu, A. Wimpelfeld", True),
        ("Wimpelfeld, Ansgar", "Merilintu, Aino-Kaisa and Wimpelfeld, Ansgar", True),
        ("Wimpelfeld A; Merilintu AK", "Aino-Kaisa Merilintu", True),
        ("Paul, Jean", "PAUL J.", True),
        ("Wimpelfeld, A.", "Merilintu, A.", False),
        ("Wimpelfeld, Ansgar", "", False),
    ],
)
def test_any_family_name(tmp_path, one, other, is_pair):
    """One name in common is enough, in any order and form; initials are no names. On two lists of articles whose authors
    stand in one field, the first author alone found two in five of the pairs.
    """
    text = f'id,title,author,year\nc1,Invented inks,"{one}",1998\nc2,Invented Inks,"{other}",1998\n'
    assert pairs_of(tmp_path, text)[1] == [("c1", "c2")] * is_pair


PARTS = """=LDR  00000nam a2200000 i 4500
=001  {number}
=100  1\\$aWimpelfeld, Ansgar
=245  10$a[A house with many rooms on the shore of an imaginary lake, Niederquell].{part}
=260  \\\\$c1999

"""


@pytest.mark.parametrize(
    ("one", "other", "is_pair"),
    [
        ("$p[Floor plan]", "$p[Elevation; rendering]", False),
        ("$p[Floor plan]", "$p[Second floor.]$p[Plan]", False),
        ("$p[Floor plan]", "$p[Floor plan study]", False),
        ("$n1$p[Floor plan]", "$n2$p[Floor plan]", False),
        ("$p[Floor plan]", "$p[Floor plan.]", True),
    ],
)
def test_parts_of_a_work_are_no_candidates(tmp_path, one, other, is_pair):
    """Hundreds of drawings of a house had one title and other titles of the part (245 $p): `1`, equal, was the similarity of
    389 of 412 candidates, because a $p in brackets was compared as a title in another language, `Title [Titel]`.
    """
    (tmp_path / "x.mrk").write_text(PARTS.format(number=1, part=one) + PARTS.format(number=2, part=other))
    assert urnscan.deduplicate(tmp_path / "x.mrk", candidates=tmp_path / "p.csv").report.candidates == is_pair


MARC = """=LDR  00000nam a2200000 i 4500
=001  {number}
=245  00$aImaginary lighthouses
=260  \\\\$c1999
{names}

"""


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("x.mrk", "=100  1\\$aMerilintu, A.\n=700  1\\$aWimpelfeld, Ansgar", "=720  1\\$aA. Wimpelfeld"),
        ("x.mrk", "=700  1\\$aMerilintu, A.\n=700  1\\$aWimpelfeld, A.", "=100  1\\$aWimpelfeld, Ansgar"),
        ("x.ris", "AU  - Merilintu, A\nAU  - Wimpelfeld, A", "A1  - Wimpelfeld, Ansgar\nA1  - Ohm, B"),
        ("x.nbib", "FAU - Merilintu, Aino\nAU  - Merilintu A\nAU  - Wimpelfeld A", "AU  - Wimpelfeld A"),
        ("x.ciw", "AU Merilintu, A\n   Wimpelfeld, A", "AU Wimpelfeld, A"),
        ("x.enw", "%A Merilintu, A.\n%A Wimpelfeld, A.", "%A Wimpelfeld, Ansgar"),
    ],
)
def test_authors_in_fields_of_their_own(tmp_path, name, one, other):
    """All authors count, not only the first: 700 and 720 of MARC, and each line of RIS and of its relatives."""
    shapes = {
        "x.mrk": MARC,
        "x.ris": "TY  - BOOK\nID  - {number}\n{names}\nTI  - Imaginary lighthouses\nPY  - 1999\nER  - \n\n",
        "x.nbib": "PMID- {number}\n{names}\nTI  - Imaginary lighthouses\nDP  - 1999\n\n",
        "x.ciw": "PT J\nUT {number}\n{names}\nTI Imaginary lighthouses\nPY 1999\nER\n\n",
        "x.enw": "%0 Book\n%M {number}\n{names}\n%T Imaginary lighthouses\n%D 1999\n\n",
    }
    records = (shapes[name].format(number=number, names=names) for number, names in enumerate((one, other), 1))
    (tmp_path / name).write_text("".join(records))
    found = urnscan.deduplicate(tmp_path / name, candidates=tmp_path / "pairs.csv", keys="urn")
    assert found.report.candidates == 1


class TestTogether:
    """The table of candidates, with `together` in a row, is read back as a decision about the pair."""

    @pytest.fixture
    def decided(self, tmp_path):
        """A function that writes the pairs with a word for some of them, and applies them."""

        def decide(words, *, text=CARDS, **options):
            pairs_of(tmp_path, CARDS)
            with (tmp_path / "pairs.csv").open(encoding="utf-8-sig", newline="") as file:
                rows = [
                    row | {"decision": words.get((row["record_id"], row["other_record_id"]), "")}
                    for row in csv.DictReader(file)
                ]
            with (tmp_path / "decided.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, rows[0])
                writer.writeheader()
                writer.writerows(rows)
            (tmp_path / "cards.csv").write_text(text)
            return urnscan.deduplicate(tmp_path / "cards.csv", decisions=tmp_path / "decided.csv", **options)

        return decide

    def clusters(self, found):
        by_cluster = defaultdict(set)
        for row in found.clusters.to_pylist():
            by_cluster[row["cluster"]].add(row["record_id"])
        return {frozenset(names) for names in by_cluster.values() if len(names) > 1}

    def test_nothing_is_decided(self, decided):
        assert self.clusters(decided({})) == {frozenset(["c1", "c3"])}

    @pytest.mark.parametrize("agree", ["none", None])
    def test_whole_clusters_are_joined(self, decided, agree):
        """Also the records that are no end of the pair: one record of each cluster is compared. One is left in the end."""
        found = decided({("c1", "c2"): "together"}, **({} if agree is None else {"agree": agree}))
        assert self.clusters(found) == {frozenset(["c1", "c2", "c3"])}
        rows = [row for row in found.clusters.to_pylist() if row["record_id"] in {"c1", "c2", "c3"}]
        assert (sum(row["kept"] for row in rows), len({row["component"] for row in rows})) == (1, 1)
        assert all(row["title"] for row in rows) or agree
        assert found.report.refused == []

    def test_what_joined_them_is_seen(self, decided, tmp_path):
        """They share no key: `joined_by` says that people joined them, also for a removal in the mapping."""
        found = decided({("c1", "c2"): "together"}, mapping=tmp_path / "mapping.csv")
        joined_by = {row["record_id"]: row["joined_by"] for row in found.clusters.to_pylist()}
        isbn = "urn:isbn:9780306406157"
        assert (joined_by["c1"], joined_by["c2"], joined_by["c3"]) == ([isbn, "decision"], ["decision"], [isbn])
        assert joined_by["c7"] == []
        with (tmp_path / "mapping.csv").open(encoding="utf-8-sig", newline="") as file:
            assert all(row["joined_by"] != "[]" for row in csv.DictReader(file))

    def test_pairs_make_chains(self, decided):
        found = decided({("c1", "c2"): "together", ("c2", "c7"): "Together "})
        assert self.clusters(found) == {frozenset(["c1", "c2", "c3", "c7"])}

    @pytest.mark.parametrize(
        ("was", "now", "why"),
        [
            ("c2,Invented Inks.", "c2,Invented inks", "record 2 has changed; the pair is not joined"),
            ("c2,", "", None),
        ],
    )
    def test_a_record_that_has_changed(self, decided, was, now, why):
        """The pair is told, and not joined; the rules decide about both records."""
        text = CARDS.replace(was, now) if why else "".join(CARDS.splitlines(keepends=True)[:2])
        found = decided({("c1", "c2"): "together"}, text=text)
        assert self.clusters(found) <= {frozenset(["c1", "c3"])}
        ((_, line, reason),) = found.report.refused
        assert line == 2
        assert reason.endswith(why or "record 2 no longer exists; the pair is not joined")

    def test_another_word(self, decided):
        with pytest.raises(
            FatalError,
            match="line 2: decision cannot be 'keep' for a pair; choose from together, apart, or leave it empty",
        ):
            decided({("c1", "c2"): "keep"})

    def test_one_of_them_is_apart(self, decided, tmp_path):
        """A decision about a record alone has priority; that the pair is not joined is reported, with both rows."""
        found = decided({("c1", "c2"): "together"})
        rows = found.clusters.to_pylist()
        (row,) = [row for row in rows if row["record_id"] == "c2"]
        alone = tmp_path / "alone.csv"
        cells = [row[name] or "" for name in ("source", "member", "record", "digest")]
        alone.write_text("decision,source,member,record,digest\n" + ",".join(map(str, ["apart", *cells])) + "\n")
        found = urnscan.deduplicate(tmp_path / "cards.csv", decisions=[alone, tmp_path / "decided.csv"])
        assert self.clusters(found) == {frozenset(["c1", "c3"])}
        ((path, line, reason),) = found.report.refused
        assert (path, line) == (str(tmp_path / "decided.csv"), 2)
        assert reason.endswith(f"record 2 joins no other record ({alone}: line 2); leave that row empty")

    def test_they_are_counted(self, tmp_path):
        found, pairs = pairs_of(tmp_path, CARDS)
        assert found.report.candidates == len(pairs) == 3
        assert "3 candidates" in found.report.parts(has_keys=True)


class TestApart:
    """A pair that people keep separate is never joined, and nobody is asked about it again."""

    def separated(self, *dumps, folder):
        """The table of the candidates of dumps, of which the first is marked as apart."""
        urnscan.deduplicate(*dumps, candidates=folder / "pairs.csv")
        head, first, *others = (folder / "pairs.csv").read_text().splitlines(keepends=True)
        path = folder / "decided.csv"
        path.write_text(head + first.replace(',"",', ',"apart",', 1) + "".join(others))
        return path

    def test_they_are_no_candidates_any_more(self, tmp_path):
        """Nor are other records of their clusters: c3 is kept in place of c1."""
        (tmp_path / "cards.csv").write_text(CARDS)
        decided = self.separated(tmp_path / "cards.csv", folder=tmp_path)
        assert pairs_of(tmp_path, CARDS, decisions=decided)[1] == [("c1", "c7"), ("c2", "c7")]
        assert pairs_of(tmp_path, CARDS, decisions=decided, keep="last")[1] == [("c2", "c7"), ("c3", "c7")]

    @pytest.mark.parametrize("agree", ["none", ("title", "year", "edition")])
    def test_no_third_record_joins_them(self, tmp_path, agree):
        """A record that comes later and shares a key with both would join them: it joins neither, and is in the review."""
        head = "id,title,author,year,isbn,doi\n"
        cards = ["a,9780306406157,", "b,,10.5555/ink.1", "c,9780306406157,10.5555/ink.1"]
        dumps = [tmp_path / f"{card[0]}.csv" for card in cards]
        for dump, card in zip(dumps, cards, strict=True):
            dump.write_text(head + card.replace(",", ',Invented inks,"Wimpelfeld, Ansgar",1998,', 1) + "\n")
        decided = self.separated(*dumps[:2], folder=tmp_path)
        assert urnscan.deduplicate(*dumps, agree=agree).report.clusters == 1
        found = urnscan.deduplicate(*dumps, agree=agree, decisions=decided, review=tmp_path / "review.csv")
        assert found.report.refused == []
        assert (found.report.clusters, found.report.duplicates) == (3, 0)
        with (tmp_path / "review.csv").open(encoding="utf-8-sig", newline="") as file:
            assert [row["record_id"] for row in csv.DictReader(file)] == ["a", "b", "c"]

    @pytest.mark.parametrize(
        ("was", "now", "why"),
        [("c2,Invented Inks.", "c2,Invented inks", "record 2 has changed"), ("c2,", None, "record 2 no longer exists")],
    )
    def test_a_record_that_has_changed(self, tmp_path, was, now, why):
        """The pair is another one now: the row is reported, and the pair is a candidate again."""
        (tmp_path / "cards.csv").write_text(CARDS)
        decided = self.separated(tmp_path / "cards.csv", folder=tmp_path)
        text = CARDS.replace(was, now) if now else "".join(CARDS.splitlines(keepends=True)[:2])
        found, pairs = pairs_of(tmp_path, text, decisions=decided)
        ((path, line, reason),) = found.report.refused
        assert (path, line) == (str(decided), 2)
        assert reason.endswith(f"{why}; the rules decide about the pair")
        assert (("c1", "c2") in pairs) == bool(now)


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
