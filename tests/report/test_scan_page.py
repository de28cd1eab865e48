"""The page of `urnscan report`: its figures are those of pandas, it tells what it leaves out, and no text is markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from itertools import pairwise

import lxml.html
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.classes import HOSTILE, HOSTILE_SOURCE, classes, made, occurrences, write
from tests.support.examples import FEW
from urnscan.errors import FatalError
from urnscan.report import figures as reading
from urnscan.report.charts import bar_chart, shortened, size_chart
from urnscan.report.figures import summarise
from urnscan.report.scan import render
from urnscan.report.spellings import differences, ways
from urnscan.report.tallies import Tally, Top

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


def words(element):
    return " ".join(element.text_content().split())


class TestFigures:
    """Each is what pandas says of the same files."""

    def test_totals(self, summary, frame):
        assert summary.classes == len(frame)
        assert summary.occurrences == frame["count"].sum()
        assert summary.spellings == frame["variant_count"].sum()
        assert summary.varied == (frame["variant_count"] > 1).sum()

    def test_namespaces(self, summary, frame):
        expected = frame.groupby(frame["nid"].astype(str))["count"].agg(["sum", "count"])
        assert {each.nid: (each.occurrences, each.classes) for each in summary.namespaces} == {
            nid: tuple(row) for nid, row in expected.iterrows()
        }
        numbers = [each.occurrences for each in summary.namespaces]
        assert numbers == sorted(numbers, reverse=True)

    def test_registration(self, summary, frame):
        expected = frame.groupby(frame["nid_status"].astype(str))["count"].agg(["sum", "count"])
        assert {each.name: (each.occurrences, each.classes) for each in summary.statuses} == {
            status: tuple(row) for status, row in expected.iterrows()
        }

    def test_sizes(self, summary, frame):
        assert summary.sizes == frame["count"].value_counts().to_dict()

    def test_verdicts(self, summary, frame):
        names = frame["valid"].map({True: "valid", False: "invalid"}).fillna("unknown")
        expected = frame.groupby(names)["count"].agg(["sum", "count"])
        assert {each.name: (each.occurrences, each.classes) for each in summary.verdicts} == {
            name: tuple(row) for name, row in expected.iterrows()
        }

    def test_problems_and_their_examples(self, summary, frame):
        """A class with two problems counts for both; the examples are the most frequent."""
        apart = frame.assign(code=frame["problem"].str.split("; ")).explode("code").dropna(subset="code")
        assert {each.code for each in summary.problems} == set(apart["code"])
        for each in summary.problems:
            of_it = apart[apart["code"] == each.code]
            assert (each.occurrences, each.classes) == (of_it["count"].sum(), len(of_it))
            most = of_it.sort_values("count", ascending=False, kind="stable")["urn"].head(3)
            assert list(each.examples) == most.tolist()

    def test_most_varied(self, summary, frame):
        most = frame.sort_values(["variant_count", "count"], ascending=False, kind="stable").head(12)
        assert [each.urn for each in summary.most_varied] == most["urn"].tolist()
        for each, variants in zip(summary.most_varied, most["variants"], strict=True):
            assert [(one.text, one.count) for one in each.spellings] == [
                (one["text"], one["count"]) for one in variants
            ]

    def test_sources(self, summary, frame, found):
        """Of equal ones the first by name."""
        counts = found["source"].astype(str).value_counts().rename_axis("name").reset_index(name="number")
        expected = counts.sort_values(["number", "name"], ascending=[False, True]).head(50)
        assert [each.name for each in summary.sources] == expected["name"].tolist()
        assert [each.occurrences for each in summary.sources] == expected["number"].tolist()
        first = frame["first_source"].value_counts()
        assert [each.classes for each in summary.sources] == first[expected["name"]].tolist()
        assert summary.more_sources == len(counts) - 50 > 0

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
        assert summary.ends.trailing == found["trailing"].value_counts().to_dict()

    def test_settings(self, summary):
        assert dict(summary.settings) == {
            "version": "0", "syntax": "rfc2141", "trim": "no", "recover": "wraps", "inputs": "1,234"
        }  # fmt: skip

    def test_the_most_frequent_are_embedded(self, folder, frame, monkeypatch):
        """Of more than fit, the most frequent, in the order of their names; and the page says so."""
        monkeypatch.setattr(reading, "EMBEDDED", 700)
        few = summarise(str(folder / "classes.parquet"), version="0.9")
        expected = frame.sort_values("count", ascending=False, kind="stable").head(700).sort_index()
        page = render(few)
        data = embedded(page)
        assert data["urn"] == expected["urn"].tolist()
        assert data["count"] == expected["count"].tolist()
        assert data["valid"] == [None if pd.isna(value) else value for value in expected["valid"]]
        for name, column in ("nid", "nid"), ("problem", "problem"), ("first_source", "first_source"):
            shown = [data[name]["values"][at] for at in data[name]["at"]]
            assert shown == [None if pd.isna(value) else value for value in expected[column]]
        assert "holds the 700 most frequent of 3,000 classes" in words(lxml.html.fromstring(page))

    def test_all_are_embedded_where_they_fit(self, summary, frame):
        page = render(summary)
        assert embedded(page)["urn"] == frame["urn"].tolist()
        assert "most frequent of" not in page

    def test_as_other_programs_write_the_same_table(self, folder, tmp_path, summary):
        """Without dictionaries, with wide strings and narrow numbers, in other row groups: the same page."""
        table = classes(ROWS)
        kinds = {"urn": pa.large_string(), "nid": pa.large_string(), "problem": pa.large_string(), "count": pa.int32()}
        for number, field in enumerate(table.schema):
            kind = kinds.get(field.name, pa.string() if pa.types.is_dictionary(field.type) else field.type)
            table = table.set_column(number, field.name, table.column(field.name).cast(kind))
        write(table, tmp_path / "other.parquet", row_group_size=2048)
        other = summarise(str(tmp_path / "other.parquet"), str(folder / "occurrences.parquet"), version="0.9")
        assert render(other).replace("other.parquet", "classes.parquet").replace(str(tmp_path), str(folder)) == render(
            summary
        )


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
            assert len(tally._waiting) <= 11
        assert sum(row["number"] for row in tally.result().to_pylist()) == 300
        assert tally.result().num_rows == 3


TEXT = st.text(st.sampled_from("urn:aAbB-%2cC/é"), max_size=12)


class TestSpellings:
    @given(TEXT, TEXT)
    @FEW
    def test_a_spelling_is_shown_whole(self, canonical, spelling):
        """And so is its canonical form beside it; what is called the same is."""
        runs = differences(canonical, spelling)
        assert "".join(run.text for run in runs) == spelling
        assert "".join(run.canonical for run in runs) == canonical
        for run in runs:
            assert (run.kind == "same") == (run.text == run.canonical)
            assert (run.kind == "left-out") == (not run.text)

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
        assert [run.text for run in differences(canonical, spelling) if run.kind == "other"] == marked


class TestCharts:
    @given(st.dictionaries(st.integers(1, 10**9), st.integers(1, 10**7), max_size=30))
    @FEW
    def test_a_curve_stays_in_its_frame_and_never_rises(self, sizes):
        chart = size_chart(sizes)
        left, right, top, bottom = (float(edge) for edge in (chart.left, chart.right, chart.top, chart.bottom))
        downwards = [float(y) for y in re.findall(r"V([\d.]+)", chart.line)]
        assert downwards == sorted(downwards)
        for x, y in chart.dots:
            assert left <= float(x) <= right
            assert top <= float(y) <= bottom
        assert all(top <= y <= bottom for y in downwards)

    @given(st.lists(st.tuples(TEXT, st.integers(0, 10**12), st.integers(0, 10**12)), max_size=8))
    @FEW
    def test_bars_stay_in_their_frame(self, rows):
        chart = bar_chart(rows)
        assert [row.numbers for row in chart.rows] == [f"{one:,} · {other:,}" for _, one, other in rows]
        for row in chart.rows:
            assert all(0 <= float(width) <= 100 for _, width in row.bars)
        assert all(0 <= float(tick.at) <= 100 for tick in chart.ticks)
        assert len(chart.ticks) <= 5

    def test_wide_letters_count_twice(self):
        assert len(shortened("目" * 100)) < len(shortened("a" * 100))


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
        assert not re.search(r"(?i)https?:|@import|url\(", page)

    def test_it_is_accessible(self, summary):
        """Headings in their order, tables with captions and heads, charts with titles, descriptions and units."""
        page = lxml.html.document_fromstring(render(summary))
        levels = [int(heading.tag[1]) for heading in page.xpath("//h1|//h2|//h3|//h4")]
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        for table in page.xpath("//table"):
            assert words(table.find("caption"))
            assert len({len(row) for row in table.xpath(".//tr")}) == 1
        charts = page.xpath("//svg")
        assert len(charts) == 6
        names = page.xpath("//@id")
        assert len(set(names)) == len(names)
        for chart in charts:
            assert chart.get("role") == "img"
            assert set(chart.get("aria-labelledby").split()) <= set(names)
            assert words(chart.find("title"))
            assert words(chart.find("desc"))
            assert "occurrences" in words(chart.getparent().find("figcaption"))
        assert {f"#{section.get('id')}" for section in page.xpath("//section")} == set(page.xpath("//nav//a/@href"))
        for control in page.xpath("//input | //select"):
            assert page.xpath(f"//label[@for='{control.get('id')}']")

    def test_it_is_the_same_each_time(self, folder, summary):
        again = summarise(str(folder / "classes.parquet"), str(folder / "occurrences.parquet"), version="0.9")
        assert render(again) == render(summary)

    def test_text_is_no_markup(self, tmp_path):
        """Of names, spellings, sources, problems, namespaces and the file's own name; nor does it command."""
        rows = [(HOSTILE, 5, [HOSTILE, HOSTILE.upper()], [4, 1], HOSTILE_SOURCE, "</script>; <b>")]
        harmless = [("urn:x:a", 5, ["urn:x:a", "URN:X:B"], [4, 1], "b", "c; d")]
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
        """A name may have 65,536 octets; a page of them would be no page."""
        long = f"urn:x:{'a' * 60000}"
        rows = [(long, 3, [long, f"{long}B", long.upper()], [1, 1, 1], "s" * 4000, "p" * 9)]
        write(classes(rows), tmp_path / "classes")
        page = render(summarise(str(tmp_path / "classes"), version="0"))
        assert len(page) < 80_000
        assert "1 name of more than 400 characters is cut here" in page
        assert embedded(page)["urn"] == [f"{long[:400]}…"]


class TestBadInput:
    """One clear line that names the file."""

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            (lambda table: table.drop_columns("problem"), "has no column problem; urnscan -o writes classes"),
            (
                lambda table: table.set_column(4, "count", table.column("urn")),
                "the column count holds string, not int64",
            ),
            (
                lambda table: table.set_column(7, "variants", table.column("count")),
                "the column variants holds int64, not",
            ),
            (lambda table: table.set_column(4, "count", pa.array([0] * 9)), "the column count holds what is no count"),
            (lambda table: table.set_column(4, "count", pa.array([None] * 9, pa.int64())), "the column count is null"),
            (lambda table: table.append_column("count", table.column("count")), "has several columns count"),
            (lambda _: occurrences(made(9)), "holds occurrences (urnscan --occurrences), not classes"),
        ],
    )
    def test_other_tables(self, tmp_path, change, reason):
        path = str(write(change(classes(made(9))), tmp_path / "t.parquet"))
        with pytest.raises(FatalError, match=re.escape(f"{path}: {reason}")):
            summarise(path, version="0")

    @given(st.data())
    def test_damage_anywhere(self, folder, data):
        """Every file that is cut or has other octets somewhere is read or is a FatalError."""
        octets = bytearray(TestBadInput.small(folder))
        if data.draw(st.booleans()):
            del octets[data.draw(st.integers(0, len(octets) - 1)) :]
        else:
            for _ in range(data.draw(st.integers(1, 3))):
                octets[data.draw(st.integers(0, len(octets) - 1))] ^= data.draw(st.integers(1, 255))
        path = folder / "damaged.parquet"
        path.write_bytes(octets)
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

    def test_another_run(self, folder, tmp_path):
        """Figures of two runs on one page would be wrong, and nobody would see it."""
        path = str(write(occurrences(made(9)), tmp_path / "o.parquet"))
        with pytest.raises(FatalError, match="give the two files that one run wrote"):
            summarise(str(folder / "classes.parquet"), path, version="0")
