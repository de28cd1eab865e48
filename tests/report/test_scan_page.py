"""The page of `urnscan report`: its figures are those of pandas, it tells what it leaves out, and no text is markup."""

from __future__ import annotations

import base64
import collections
import hashlib
import json
import re
import zlib
from dataclasses import replace
from itertools import pairwise

import lxml.html
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.classes import HOSTILE, HOSTILE_SOURCE, classes, made, occurrences, write
from tests.support.examples import FEW
from urnscan.errors import FatalError
from urnscan.report import figures as reading
from urnscan.report.figures import summarise
from urnscan.report.page import common_folder
from urnscan.report.scan_page import render
from urnscan.report.spelling_differences import differences, ways
from urnscan.report.tallies import Tally, Top
from urnscan.tables.editions import ADDED, RENAMED
from urnscan.tables.schemas import OCCURRENCES
from urnscan.urn.namespaces import judge, read_rules, rules

ROWS = made(3000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table of classes, in several row groups, and their occurrences."""
    folder = tmp_path_factory.mktemp("report")
    write(classes(ROWS), folder / "classes.parquet", row_group_size=700)
    write(occurrences(ROWS), folder / "occurrences.parquet", row_group_size=1000)
    return folder


@pytest.fixture(scope="module")
def summary(folder):
    return summarise(str(folder / "classes.parquet"), str(folder / "occurrences.parquet"), version="0.9")


@pytest.fixture(scope="module")
def frame(folder):
    return pd.read_parquet(folder / "classes.parquet")


@pytest.fixture(scope="module")
def found(folder):
    return pd.read_parquet(folder / "occurrences.parquet")


def embedded(page):
    """What the page holds for its script."""
    return json.loads(zlib.decompress(base64.b64decode(re.search(r'id="data">([^<]*)<', page)[1])))


def repeated(data, name):
    return [data[name]["values"][at] for at in data[name]["at"]]


def words(element):
    return " ".join(element.text_content().split())


class TestFigures:
    """Each is what pandas says of the same files."""

    def test_totals(self, summary, frame):
        assert summary.classes == len(frame)
        assert summary.occurrences == frame["occurrence_count"].sum()
        assert summary.spellings == frame["spelling_count"].sum()
        assert summary.varied == (frame["spelling_count"] > 1).sum()

    def test_namespaces(self, summary, frame):
        expected = frame.groupby(frame["nid"].astype(str))["occurrence_count"].agg(["sum", "count"])
        assert {each.name: (each.occurrences, each.classes) for each in summary.namespaces} == {
            nid: tuple(row) for nid, row in expected.iterrows()
        }
        numbers = [each.occurrences for each in summary.namespaces]
        assert numbers == sorted(numbers, reverse=True)

    def test_registration(self, summary, frame):
        expected = frame.groupby(frame["nid_status"].astype(str))["occurrence_count"].agg(["sum", "count"])
        assert {each.name: (each.occurrences, each.classes) for each in summary.statuses} == {
            status: tuple(row) for status, row in expected.iterrows()
        }

    def test_sizes(self, summary, frame):
        assert summary.sizes == frame["occurrence_count"].value_counts().to_dict()

    def test_verdicts(self, summary, frame):
        names = frame["valid"].map({True: "valid", False: "invalid"}).fillna("unknown")
        expected = frame.groupby(names)["occurrence_count"].agg(["sum", "count"])
        assert {each.name: (each.occurrences, each.classes) for each in summary.verdicts} == {
            name: tuple(row) for name, row in expected.iterrows()
        }

    def test_problems_and_their_examples(self, summary, frame):
        """A class with two problems counts for both; the examples are the most frequent."""
        apart = frame.assign(code=frame["problem"].str.split("; ")).explode("code").dropna(subset="code")
        assert {each.name for each in summary.problems} == set(apart["code"])
        for each in summary.problems:
            of_it = apart[apart["code"] == each.name]
            assert (each.occurrences, each.classes) == (of_it["occurrence_count"].sum(), len(of_it))
            most = of_it.sort_values("occurrence_count", ascending=False, kind="stable")["urn"].head(3)
            assert [urn for urn, _ in each.examples] == most.tolist()

    @pytest.mark.full
    def test_what_punctuation_spoils(self, tmp_path, folder):
        """Names that fit only after trimming are counted in a sentence, and each code is explained."""
        rows = classes(ROWS[:3])
        codes = pa.array(["untrimmed", "untrimmed; nul-octet", "run-on"])
        write(rows.set_column(rows.schema.get_field_index("problem"), "problem", codes), tmp_path / "c.parquet")
        page = words(lxml.html.fromstring(render(summarise(str(tmp_path / "c.parquet"), version="0.9"))))
        assert "2 classes would fit without the punctuation at the end, which --trim cuts off." in page
        assert "punctuation and what follows it may belong to the text" in page
        untouched = summarise(str(folder / "classes.parquet"), version="0.9")
        assert "would fit without" not in words(lxml.html.fromstring(render(untouched)))

    def test_most_varied(self, summary, frame):
        most = frame.sort_values(["spelling_count", "occurrence_count"], ascending=False, kind="stable").head(12)
        assert [each.urn for each in summary.most_varied] == most["urn"].tolist()
        for each, spellings in zip(summary.most_varied, most["spellings"], strict=True):
            assert list(each.spellings) == [(one["text"], one["count"]) for one in spellings]

    @pytest.mark.full
    def test_sources(self, summary, frame, found):
        """Of equal ones the first by name."""
        counts = found["source"].astype(str).value_counts().rename_axis("name").reset_index(name="number")
        expected = counts.sort_values(["number", "name"], ascending=[False, True]).head(50)
        assert [each.name for each in summary.sources] == expected["name"].tolist()
        assert [each.occurrences for each in summary.sources] == expected["number"].tolist()
        first = frame["first_source"].value_counts()
        assert [each.classes for each in summary.sources] == first[expected["name"]].tolist()
        assert summary.more_sources == len(counts) - 50 > 0

    @pytest.mark.full
    def test_sources_of_classes_alone(self, folder, frame):
        alone = summarise(str(folder / "classes.parquet"), version="0.9")
        first = frame["first_source"].value_counts()
        assert {each.name: each.classes for each in alone.sources}.items() <= first.to_dict().items()
        assert {each.occurrences for each in alone.sources} == {None}
        assert alone.ends is None
        assert "--occurrences" in render(alone)

    def test_ends(self, summary, found):
        stops = found["stop"].astype("Int64").value_counts(dropna=False)
        assert {stop: number for stop, number in summary.ends.stops.items() if stop is not None} == {
            int(stop): number for stop, number in stops.items() if not pd.isna(stop)
        }
        assert summary.ends.stops[None] == found["stop"].isna().sum()
        assert summary.ends.punctuation == found["punctuation"].value_counts().to_dict()

    def test_settings(self, summary):
        assert dict(summary.settings) == {
            "version": "0", "syntax": "rfc2141", "trim": "no", "recover": "wraps", "inputs": "1,234", "notes": "2"
        }  # fmt: skip

    def test_the_most_frequent_are_embedded(self, folder, frame, monkeypatch):
        """Of more than fit, the most frequent, in the order of their names; and the page says so."""
        monkeypatch.setattr(reading, "EMBEDDED", 700)
        few = summarise(str(folder / "classes.parquet"), version="0.9")
        expected = frame.sort_values("occurrence_count", ascending=False, kind="stable").head(700).sort_index()
        page = render(few)
        data = embedded(page)
        assert data["urn"] == expected["urn"].tolist()
        assert data["occurrence_count"] == expected["occurrence_count"].tolist()
        assert data["valid"] == [None if pd.isna(value) else value for value in expected["valid"]]
        assert [data["folder"] + name for name in repeated(data, "source")] == expected["first_source"].tolist()
        for name in "nid", "problem":
            shown = repeated(data, name)
            assert shown == [None if pd.isna(value) else value for value in expected[name]]
        shown = words(lxml.html.fromstring(page))
        assert "holds the 700 most frequent of 3,000 classes" in shown
        assert "Search in the first 700 of 3,000 classes" in shown

    def test_all_are_embedded_where_they_fit(self, summary, frame):
        page = render(summary)
        assert embedded(page)["urn"] == frame["urn"].tolist()
        assert "most frequent of" not in page
        assert "Search in all 3,000 classes" in page

    @pytest.mark.full
    def test_as_other_programs_write_the_same_table(self, folder, tmp_path, summary):
        """Without dictionaries, with wide strings and narrow numbers, in other row groups: the same page."""
        table = classes(ROWS)
        kinds = {
            "urn": pa.large_string(),
            "nid": pa.large_string(),
            "problem": pa.large_string(),
            "occurrence_count": pa.int32(),
        }
        kinds["spellings"] = pa.large_list(table.schema.field("spellings").type.value_type)
        for number, field in enumerate(table.schema):
            kind = kinds.get(field.name, pa.string() if pa.types.is_dictionary(field.type) else field.type)
            table = table.set_column(number, field.name, table.column(field.name).cast(kind))
        write(table, tmp_path / "other.parquet", row_group_size=2048)
        other = summarise(str(tmp_path / "other.parquet"), str(folder / "occurrences.parquet"), version="0.9")
        assert render(other).replace("other.parquet", "classes.parquet").replace(str(tmp_path), str(folder)) == render(
            summary
        )


class TestDetails:
    """What the page holds of each class besides its row."""

    @staticmethod
    def spellings(data):
        pairs = ([iter(parts)] * 2 for parts in data["spellings"])
        return [
            [(urn if text is None else text, number) for text, number in zip(*pair, strict=True)]
            for urn, pair in zip(data["urn"], pairs, strict=True)
        ]

    def places(self, data):
        texts = self.spellings(data)
        sources, members = data["source"]["values"], data["member"]["values"]
        return [
            [
                (data["folder"] + sources[one], members[other], line, start, text if isinstance(text, str) else own[text][0])
                for one, other, line, start, text in zip(*[iter(parts)] * 5, strict=True)
            ]
            for parts, own in zip(data["places"], texts, strict=True)
        ]  # fmt: skip

    def test_spellings(self, summary, frame):
        expected = [[(one["text"], one["count"]) for one in spellings] for spellings in frame["spellings"]]
        assert self.spellings(embedded(render(summary))) == expected

    @pytest.mark.full
    def test_places(self, summary, frame, found):
        """The first of each class, at most as many as there is room for."""
        columns = ["source", "member", "line", "start", "text"]
        rows = collections.defaultdict(list)
        for urn, *place in found[["urn", *columns]].itertuples(index=False):
            rows[urn].append(place)
        expected = [rows[urn][:20] for urn in frame["urn"]]
        shown = self.places(embedded(render(summary)))
        assert shown == [
            [tuple(None if pd.isna(each) else each for each in place) for place in of_it] for of_it in expected
        ]
        assert max(map(len, shown)) == 20 < frame["occurrence_count"].max()

    @pytest.mark.full
    def test_places_are_bounded(self, folder, frame, monkeypatch):
        """So that a page of many classes stays a page: fewer of each, but one of all."""
        monkeypatch.setattr(reading, "_IN_ALL", 5000)
        few = summarise(str(folder / "classes.parquet"), str(folder / "occurrences.parquet"), version="0.9")
        most = max(number for number in range(1, 21) if frame["occurrence_count"].clip(upper=number).sum() <= 5000)
        assert [len(places) for places in few.places] == frame["occurrence_count"].clip(upper=most).tolist()
        assert most < 20

    @pytest.mark.full
    def test_the_first_place_is_known_without_occurrences(self, folder, frame):
        data = embedded(render(summarise(str(folder / "classes.parquet"), version="0.9")))
        assert data["places"] is None
        assert data["start"] == frame["first_start"].tolist()
        assert set(repeated(data, "member")) == {None}

    @pytest.mark.parametrize(
        ("urn", "link"),
        [
            ("urn:nbn:de:hbz:6-85659524771", "https://nbn-resolving.org/urn:nbn:de:hbz:6-85659524771"),
            ("urn:doi:10.1002/3.0.CO;2-#", "https://doi.org/10.1002/3.0.CO;2-%23"),
            ("urn:isbn:9780395363416", None),
            ("urn:nbn:<script>", None),
            (f"urn:nbn:de:{'a' * 389}", f"https://nbn-resolving.org/urn:nbn:de:{'a' * 389}"),
            (f"urn:nbn:de:{'a' * 390}", None),
        ],
        ids=["NBN", "DOI", "ISBN", "no URN", "400 characters", "cut"],
    )
    def test_resolver(self, tmp_path, urn, link):
        """The address that `urnscan explain` gives; none for a text that is not a URN, or whose name the page cuts.

        Once an address of more than 400 characters was cut, and led to a wrong place.
        """
        write(classes([(urn, 1, [urn], [1], "a", None)]), tmp_path / "c")
        assert embedded(render(summarise(str(tmp_path / "c"), version="0")))["link"] == [link]
        assert all(one.url.startswith(("https://", "http://")) for rule in rules().values() for one in rule.resolvers)

    def test_own_rules(self, tmp_path):
        """Their titles and the addresses of their resolvers, which can only be of the web; both as text."""
        title = "</script><b>Lamps & co"
        entry = {"title": title, "rule": "base", "equality": "guide"}
        resolver = {"names": "(?P<kind>[a-z]+):.+", "url": 'https://lamps.example/{kind}?of={urn}&"<b>'}
        toml = "".join(f"{key} = {json.dumps(value)}\n" for key, value in entry.items())
        said = ", ".join(f"{key} = {json.dumps(value)}" for key, value in resolver.items())
        (tmp_path / "own.toml").write_text(f"[constructor]\n{toml}resolvers = [{{{said}}}]\n")
        urns = ["urn:constructor:oil:a+b", "urn:constructor:9", "urn:isbn:0451450523"]
        write(classes([(urn, 1, [urn], [1], "a", None) for urn in urns]), tmp_path / "c")
        page = render(summarise(str(tmp_path / "c"), version="0", rulebook=read_rules(tmp_path / "own.toml")))
        data = embedded(page)
        links = dict(zip(data["urn"], data["link"], strict=True))
        assert links["urn:constructor:oil:a+b"] == 'https://lamps.example/oil?of=urn:constructor:oil:a%2Bb&"<b>'
        assert links["urn:constructor:9"] is None
        assert data["titles"] == {"constructor": title, "isbn": "Books (ISBN)"}
        assert "<b>Lamps" not in page
        for url in ("javascript:alert(1)//{urn}", "HTTPS://x.example/{urn}", "{urn}", "data:text/html,{nss}"):
            (tmp_path / "own.toml").write_text(
                f"[constructor]\n{toml}resolvers = [{{names = '.+', url = {json.dumps(url)}}}]\n"
            )
            with pytest.raises(FatalError, match="url must begin with https:// or http://"):
                read_rules(tmp_path / "own.toml")

    def test_problems_and_verdicts_in_words(self, summary):
        data = embedded(render(summary))
        assert data["problems"]["check-digit"] == "the check digit is wrong"
        assert set(data["verdicts"]) == {"valid", "invalid", "unknown"}
        assert data["titles"]["isbn"] == "Books (ISBN)"


class TestTallies:
    @given(
        st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=6), max_size=6), st.integers(1, 5)
    )
    @FEW
    def test_top_is_the_beginning_of_a_stable_sort(self, batches, size):
        """However the rows are cut into batches."""
        top, place = Top(size, 2), 0
        for batch in batches:
            numbers = np.array(batch, np.int64).reshape(-1, 2)
            top.add(np.arange(place, place + len(batch)), numbers[:, 0], numbers[:, 1])
            place += len(batch)
        rows = [row for batch in batches for row in batch]
        expected = sorted(range(len(rows)), key=lambda at: (-rows[at][0], -rows[at][1]))[:size]
        assert top.places().tolist() == expected

    def test_tally_adds_up_what_waits(self, monkeypatch):
        """What it holds grows with the keys, not with the rows."""
        monkeypatch.setattr("urnscan.report.tallies._FEW", 10)
        tally = Tally(["key"], ["number"])
        for start in range(100):
            tally.add(key=pa.array([start % 3, start % 2]), number=pa.array([1, 2]))
            assert len(tally._pending) <= 11
        assert sum(row["number"] for row in tally.result().to_pylist()) == 300
        assert tally.result().num_rows == 3


TEXT = st.text(st.sampled_from("urn:aAbB-%2cC/é"), max_size=12)


class TestSpellings:
    @given(TEXT, TEXT)
    @FEW
    def test_a_spelling_is_shown_whole(self, canonical, spelling):
        """And so is its canonical form beside it; what is called the same is."""
        parts = differences(canonical, spelling)
        assert "".join(part.text for part in parts) == spelling
        assert "".join(part.canonical for part in parts) == canonical
        for part in parts:
            assert (part.kind == "same") == (part.text == part.canonical)
            assert (part.kind == "left-out") == (not part.text)

    @given(TEXT, TEXT)
    @FEW
    def test_what_differs_differs_in_some_way(self, canonical, spelling):
        assert bool(ways(canonical, spelling)) == (canonical != spelling)

    @pytest.mark.parametrize(
        ("canonical", "spelling", "marked"),
        [
            ("urn:isbn:9780999941201", "URN:isbn:0-9999412-0-8", ["URN", "-", "-", "-8"]),
            ("urn:a:b%2Cc", "urn:A:b%2cc", ["A", "c"]),
            ("urn:a:b", "urn:a:b?=q#f", ["?=q#f"]),
        ],
    )
    def test_what_is_marked(self, canonical, spelling, marked):
        assert [part.text for part in differences(canonical, spelling) if part.kind == "other"] == marked


NAMES = st.lists(st.text(st.sampled_from("ab/:"), min_size=1, max_size=8), max_size=4)


class TestFolder:
    @given(NAMES)
    @FEW
    def test_it_is_a_folder_of_every_source(self, names):
        """Something is left of each name, and what is left out is the same of all."""
        folder = common_folder(names)
        assert all(name.startswith(folder) and name != folder for name in names)
        assert not folder or re.fullmatch("(?s).*[^/]/", folder)

    @pytest.mark.parametrize(
        ("names", "folder"),
        [
            (["/data/2024/a/1", "/data/2024/b"], "/data/2024/"),
            (["/data/1", "/date/1"], ""),
            (["https://a.org/x/1", "https://a.org/x/2/3"], "https://a.org/x/"),
            (["https://a.org/1", "https://b.org/1"], ""),
            (["s/", "s/a"], ""),
            (["dumps/a.xml"], "dumps/"),
            (["-"], ""),
            ([], ""),
        ],
    )
    def test_which_it_is(self, names, folder):
        assert common_folder(names) == folder


class TestPage:
    def test_it_stands_alone(self, summary):
        """Nothing to fetch, and one script, which the policy names by its checksum."""
        page = render(summary)
        policy = re.search(r'content="(default-src[^"]*)"', page)[1]
        (program,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
        checksum = base64.b64encode(hashlib.sha256(program.encode()).digest()).decode()
        assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{checksum}'"
        parsed = lxml.html.document_fromstring(page)
        assert not parsed.xpath("//link | //img | //iframe | //object | //@src | //@srcset")
        assert {link[0] for link in parsed.xpath("//@href")} == {"#"}
        assert not re.search(r"(?i)https?:|@import|\burl\(", page)

    def test_it_is_accessible(self, summary):
        """Headings in their order, tables with captions and heads, labels of controls."""
        page = lxml.html.document_fromstring(render(summary))
        levels = [int(heading.tag[1]) for heading in page.xpath("//h1|//h2|//h3|//h4")]
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        for table in page.xpath("//table"):
            assert words(table.find("caption"))
            assert len({len(row) for row in table.xpath(".//tr")}) == 1
        names = page.xpath("//@id")
        assert len(set(names)) == len(names)
        assert {f"#{section.get('id')}" for section in page.xpath("//section")} == set(page.xpath("//nav//a/@href"))
        for control in page.xpath("//input | //select"):
            assert page.xpath(f"//label[@for='{control.get('id')}']")

    def test_the_digit_that_would_fit(self, tmp_path):
        """The one that `urnscan check` names, for a wrong check digit; nothing where none is wrong, or it is not certain."""
        rows = [
            ("urn:isbn:9783999990638", "check-digit; untrimmed"),
            ("urn:isbn:9783999990639", None),
            ("urn:issn:9299-417<", "check-digit"),
        ]
        write(classes([(urn, 1, [urn], [1], "a", problem) for urn, problem in rows]), tmp_path / "c")
        page = render(summarise(str(tmp_path / "c"), version="0"))
        hint = judge("urn:isbn:9783999990638").hint
        assert hint == "if only this digit is wrong, 7 is right"
        assert repeated(embedded(page), "hint") == [hint, "", ""]
        shown = words(lxml.html.document_fromstring(page).get_element_by_id("problems"))
        assert shown.count(f"urn:isbn:9783999990638 {hint}") == 1

    def test_nothing_is_said_of_no_trimmed_names(self, tmp_path):
        """ "Of 0 occurrences (0 %) --trim would cut something off" says nothing."""
        of_class = [("urn:foo:a", 4, ["urn:foo:a"], [4], "a", None)]
        some = occurrences(of_class)
        none = some.set_column(OCCURRENCES.get_field_index("punctuation"), "punctuation", pa.array([0] * 4, pa.uint8()))
        write(classes(of_class), tmp_path / "c")
        for rows, said in (some, "From 3 occurrences (75.0 %) --trim would cut something off"), (none, None):
            write(rows, tmp_path / "o")
            page = render(summarise(str(tmp_path / "c"), str(tmp_path / "o"), version="0"))
            section = words(lxml.html.document_fromstring(page).get_element_by_id("ends"))
            assert said in section if said else "would cut" not in section

    def test_bars_are_in_proportion(self, summary):
        """To the number beside them: a bar of twice the length is twice as much, in the table that opens below, too."""
        page = lxml.html.document_fromstring(render(summary))
        for name in "namespaces", "statuses", "sizes", "sources", "ends", "problems":
            section = page.get_element_by_id(name)
            tables = [table.xpath(".//td[@class='bar']") for table in section.xpath(".//table")]
            assert tables
            for cells in [[*tables[0], *tables[1]]] if name == "sources" else tables:
                numbers = [int(cell.xpath("string(span[1]/text())").replace(",", "")) for cell in cells]
                widths = [float(cell.xpath("string(.//i/@style)")[len("width:") : -1]) for cell in cells]
                assert widths == [pytest.approx(100 * number / max(numbers), abs=0.01) for number in numbers]

    def test_the_folder_of_all_sources_is_named_once(self, tmp_path):
        """The rest of a name stands there whole, and all of it where a mouse rests."""
        rows = [(*row[:4], f"/data/{row[4]}/{'x' * 300}", row[5]) for row in made(99)[:-1]]
        write(classes(rows), tmp_path / "c")
        page = lxml.html.document_fromstring(render(summarise(str(tmp_path / "c"), version="0")))
        for name, cells in (
            ("sources", ".//th[@scope='row']/bdi"),
            ("classes", ".//td[@data-label='First found in']/bdi"),
        ):
            section = page.get_element_by_id(name)
            assert "All sources are below /data/dumps/" in words(section)
            for cell in section.xpath(cells):
                assert re.fullmatch(r"part-\d+\.xml/x{300}", words(cell))
                assert cell.get("title") == f"/data/dumps/{words(cell)}"

    @pytest.mark.full
    def test_it_is_the_same_each_time(self, folder, summary):
        again = summarise(str(folder / "classes.parquet"), str(folder / "occurrences.parquet"), version="0.9")
        assert render(again) == render(summary)

    def test_text_is_no_markup(self, tmp_path):
        """Of names, spellings, sources, problems, namespaces and the file's own name; nor does it command."""
        plain = ("urn:y:a", 1, ["urn:y:a"], [1], "plain", None)
        rows = [(HOSTILE, 5, [HOSTILE, HOSTILE.upper()], [4, 1], HOSTILE_SOURCE, "</script>; <b>"), plain]
        harmless = [("urn:x:a", 5, ["urn:x:a", "URN:X:B"], [4, 1], "b", "c; d"), plain]
        pages = []
        for name, each in ("<b>&.parquet", rows), ("c.parquet", harmless):
            table = write(classes(each), tmp_path / name)
            places = write(occurrences(each), tmp_path / "occurrences")
            pages.append(render(summarise(str(table), str(places), version="0")))
        assert "\u202e" not in pages[0]
        assert "<script>alert" not in pages[0]
        trees = [lxml.html.document_fromstring(page) for page in pages]
        skeletons = [
            [element.tag for element in tree.iter(lxml.etree.Element) if element.tag not in {"mark", "span"}]
            for tree in trees
        ]
        assert skeletons[0] == skeletons[1]
        assert HOSTILE in trees[0].text_content()

    def test_of_no_classes(self, tmp_path):
        """A run may find nothing: the page says so in each section, and has no script."""
        for name, table in ("classes", classes([])), ("occurrences", occurrences([])):
            write(table, tmp_path / name)
        page = render(summarise(str(tmp_path / "classes"), str(tmp_path / "occurrences"), version="0"))
        assert page.count("There are none.") >= 4
        assert "<script" not in page

    def test_long_names_are_cut(self, tmp_path):
        """A name may have 65,536 bytes; a page of them would be no page."""
        long = f"urn:x:{'a' * 60000}"
        rows = [(long, 3, [long, f"{long}B", long.upper()], [1, 1, 1], "s" * 4000, "p" * 9)]
        write(classes(rows), tmp_path / "classes")
        page = render(summarise(str(tmp_path / "classes"), version="0"))
        assert len(page) < 80_000
        assert "1 name of more than 400 characters is cut here" in page
        assert embedded(page)["urn"] == [f"{long[:400]}…"]


@pytest.mark.full
def test_the_first_edition(folder, summary, tmp_path):
    """Files with the columns, and the names of them, that there were before give the same page; what is wrong there is told by these names."""
    earlier = {now: before for before, now in RENAMED.items()}

    def written(name, change=lambda table: table):
        table = pq.read_table(folder / f"{name}.parquet")
        table = table.drop_columns(ADDED) if name == "occurrences" else table
        table = change(table.rename_columns([earlier.get(column, column) for column in table.column_names]))
        return str(write(table, tmp_path / name, row_group_size=700))

    of_it = summarise(written("classes"), written("occurrences"), version="0.9")
    assert render(replace(of_it, file=summary.file)) == render(summary)
    path = written("classes", lambda table: table.set_column(4, "count", pa.nulls(len(table), pa.int64())))
    with pytest.raises(FatalError, match="the column count has nulls"):
        summarise(path, version="0.9")


class TestBadInput:
    """One clear line that names the file."""

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            (lambda table: table.drop_columns("problem"), "has no column problem; urnscan -o writes classes"),
            (
                lambda table: table.set_column(4, "occurrence_count", table.column("urn")),
                "the column occurrence_count is string, not int64",
            ),
            (
                lambda table: table.set_column(7, "spellings", table.column("occurrence_count")),
                "the column spellings is int64, not",
            ),
            (
                lambda table: table.set_column(4, "occurrence_count", pa.array([0] * 9)),
                "the column occurrence_count has values that are not counts",
            ),
            (
                lambda table: table.set_column(4, "occurrence_count", pa.array([None] * 9, pa.int64())),
                "the column occurrence_count has nulls",
            ),
            (
                lambda table: table.append_column("occurrence_count", table.column("occurrence_count")),
                "has several columns occurrence_count",
            ),
            (lambda _: occurrences(made(9)), "contains occurrences (urnscan --occurrences), not classes"),
        ],
    )
    def test_other_tables(self, tmp_path, change, reason):
        path = str(write(change(classes(made(9))), tmp_path / "t.parquet"))
        with pytest.raises(FatalError, match=re.escape(f"{path}: {reason}")):
            summarise(path, version="0")

    @pytest.mark.full
    @given(st.data())
    def test_damage_anywhere(self, folder, data):
        """Every file that is cut or has other bytes somewhere is read or is a FatalError."""
        content = bytearray(TestBadInput.small(folder))
        if data.draw(st.booleans()):
            del content[data.draw(st.integers(0, len(content) - 1)) :]
        else:
            for _ in range(data.draw(st.integers(1, 3))):
                content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
        path = folder / "damaged.parquet"
        path.write_bytes(content)
        said = f"{path}: "
        try:
            render(summarise(str(path), version="0")).encode()
        except FatalError as error:
            said = str(error)
        assert said.startswith(f"{path}: ")
        assert "\n" not in said

    @staticmethod
    def small(folder):
        path = folder / "small.parquet"
        return path.read_bytes() if path.exists() else write(classes(made(9)), path).read_bytes()

    @pytest.mark.full
    def test_another_run(self, folder, tmp_path):
        """Figures of two runs on one page would be wrong, and nobody would see it."""
        other = str(write(occurrences(made(3000, seed=1)[::-1]), tmp_path / "same.parquet"))
        summarise(str(folder / "classes.parquet"), other, version="0")
        renamed = [(urn.replace("isbn", "issn"), *row) for urn, *row in made(3000)]
        other = str(write(occurrences(renamed), tmp_path / "renamed.parquet"))
        with pytest.raises(
            FatalError, match="contains other names than the classes; give the two files that one run wrote"
        ):
            summarise(str(folder / "classes.parquet"), other, version="0")
        path = str(write(occurrences(made(9)), tmp_path / "o.parquet"))
        with pytest.raises(FatalError, match="give the two files that one run wrote"):
            summarise(str(folder / "classes.parquet"), path, version="0")
