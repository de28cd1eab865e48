"""The HTML report of `urnscan dedup`: it says what the summary says, and whatever that holds harms nobody."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import lxml.html
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import FEW
from urnscan.report.dedup_page import Example, ExampleRecord, Input, Large, Summary, render
from urnscan.report.excerpts import Kind, compare
from urnscan.report.page import visible

URN, ISBN = "urn:nbn:no-nb_digibok_42", "urn:isbn:9780999941201"
MARC = "00100nam a22000497i 4500001000600000\x1enb-17\x1e  \x1fa0-9999412-0-8\x1e10\x1faLamps & tides /\x1fcIda Lund.\x1e\x1d"
XML = "<record>\n  <id>nb-18</id>\n  <url>URN:NBN:no-nb_digibok_42</url>\n</record>"
FULL = Summary(
    version="0.9",
    inputs=[Input("katalog.mrc", "MARC 21", 2104332, 17, 3005, 120017), Input("oai.xml.gz", "OAI-PMH", 412009)],
    records=2516341,
    clusters=2203010,
    duplicates=313331,
    without=41220,
    sizes={1: 1960400, 2: 208312, 10: 12, 11: 8, 20: 2, 4820: 1},
    largest=[Large(30017, 4820, [URN, ISBN], ["nb-1", "nb-2"], more_urns=37)],
    common=[("urn:isbn:9788200000007", 51020)],
    more_common=1014,
    wrong=[("katalog.mrc: record 17 (nb-3)", "978-0-395-36341-5")],
    more_wrong=12,
    examples=[
        Example(
            4711,
            1203,
            [
                ExampleRecord(
                    "katalog.mrc", 1209, 88123, "nb-17", MARC, 0, [ISBN, "urn:x:1"], [ISBN], ["0-9999412-0-8"], True
                ),
                ExampleRecord("oai.xml.gz", 882, 1401, None, XML, 1204, [URN], [URN], ["URN:NBN:no-nb_digibok_42"]),
            ],
        ),
    ],
    settings=[("--keep", "first"), ("--max-class", "1,000")],
    failures=["katalog-2.mrc: No such file or directory"],
    more_failures=3201,
    title="Duplicates in katalog.mrc",
)
EMPTY = Summary("0.9", [], 0, 0, 0, 0, {})


def parsed(summary):
    return lxml.html.document_fromstring(render(summary))


def words(element):
    """What it says, with white space as it is seen."""
    return " ".join(element.text_content().split())


def section(summary, name):
    return parsed(summary).get_element_by_id(name)


def rows(element):
    return [[words(cell) for cell in row] for row in element.xpath(".//tbody/tr")]


class TestWhatItSays:
    def test_how_many(self):
        facts = parsed(FULL).xpath("//dl")[0]
        names = [words(name) for name in facts.xpath(".//dt")]
        values = [words(value) for value in facts.xpath(".//dd")]
        assert dict(zip(names, values, strict=True)) == {
            "Records": "2,516,341",
            "Clusters": "2,203,010",
            "Duplicates": "313,331 12.5 % of the records",
            "Without identifiers": "41,220 1.6 % of the records",
            "Damaged": "17",
        }

    def test_what_is_in_doubt(self):
        """A count of its own, where there is any: the page says why fewer are duplicates than share identifiers."""
        facts = parsed(replace(FULL, doubts=37)).xpath("//dl")[0]
        assert "Groups in doubt" in [words(name) for name in facts.xpath(".//dt")]
        values = [words(value) for value in facts.xpath(".//dd")]
        assert "37 their records share identifiers, but most of their descriptions differ" in values
        assert "Groups in doubt" not in words(parsed(FULL).xpath("//dl")[0])

    def test_inputs(self):
        assert rows(section(FULL, "inputs")) == [
            ["katalog.mrc MARC 21", "2,104,332", "3,005", "120,017", "17"],
            ["oai.xml.gz OAI-PMH", "412,009", "0", "0", "0"],
        ]

    def test_many_inputs_are_counted_and_their_damage_is(self):
        """A directory of ten thousand dumps does not make a page that nobody can open."""
        many = replace(FULL, inputs=[Input(f"part-{number}", "lines", 1, 1) for number in range(1250)])
        inputs = section(many, "inputs")
        assert len(rows(inputs)) == 50
        assert "And 1,200 more." in words(inputs)
        assert "Damaged1,250" in words(parsed(many).xpath("//dl")[0])

    def test_sizes(self):
        """Sizes above ten are shown together."""
        assert rows(section(FULL, "sizes")) == [
            ["1", "1,960,400", "1,960,400", "77.9 %"],
            ["2", "208,312", "416,624", "16.6 %"],
            ["10", "12", "120", "< 0.1 %"],
            ["11–20", "10", "128", "< 0.1 %"],  # noqa: RUF001
            ["2,001–5,000", "1", "4,820", "0.2 %"],  # noqa: RUF001
        ]

    def test_bars_are_in_proportion(self):
        """Two bars of which one is twice as long say twice as much; nothing has no bar."""
        page = section(replace(FULL, sizes={1: 1000, 2: 500, 3: 1, 4: 0}), "sizes")
        assert page.xpath(".//i/@style") == ["width:100.00%", "width:50.00%", "width:0.10%"]
        page = section(replace(FULL, common=[("urn:a:b", 30), ("urn:a:c", 3)]), "common")
        assert page.xpath(".//i/@style") == ["width:100.00%", "width:10.00%"]

    def test_the_folder_of_all_dumps_is_named_once(self):
        """The rest of a name stands there whole, and all of it where a mouse rests."""
        dumps = [Input("/data/dumps/a/" + "x" * 300, "lines", 1), Input("/data/dumps/b.mrc", "MARC 21", 1)]
        inputs = section(replace(FULL, inputs=dumps), "inputs")
        assert "All dumps are below /data/dumps/" in words(inputs)
        assert [row[0] for row in rows(inputs)] == ["a/" + "x" * 300 + " lines", "b.mrc MARC 21"]
        assert inputs.xpath(".//th/bdi/@title") == [dump.name for dump in dumps]

    @given(st.dictionaries(st.integers(1, 10**7), st.integers(1, 10**6), max_size=40))
    @FEW
    def test_every_size_is_in_one_row(self, sizes):
        """No cluster gets lost between ranges, or is in two."""
        records = sum(size * clusters for size, clusters in sizes.items())
        expected = Counter()
        last = -1
        for label, clusters, held, _ in rows(section(replace(FULL, sizes=sizes, records=records), "sizes")):
            first, _, end = label.replace(",", "").partition("–")  # noqa: RUF001
            within = {size: number for size, number in sizes.items() if int(first) <= size <= int(end or first)}
            assert int(first) > last
            last = int(end or first)
            assert last <= 10 or last < 3 * int(first)
            assert int(clusters.replace(",", "")) == sum(within.values())
            assert int(held.replace(",", "")) == sum(size * number for size, number in within.items())
            expected.update(within)
        assert expected == sizes

    def test_largest(self):
        """A cluster's name is a name: no commas in it."""
        assert rows(section(FULL, "largest")) == [
            ["30017", "4,820", f"{URN} {ISBN} and 37 more Among them: nb-1, nb-2"],
        ]

    def test_common(self):
        common = section(FULL, "common")
        assert rows(common) == [["urn:isbn:9788200000007", "51,020"]]
        assert "And 1,014 more." in words(common)

    def test_wrong_check_digits(self):
        """The records are named, so that someone can correct them."""
        wrong = section(FULL, "wrong")
        assert rows(wrong) == [["katalog.mrc: record 17 (nb-3)", "978-0-395-36341-5"]]
        assert "And 12 more." in words(wrong)

    def test_settings(self):
        assert rows(section(FULL, "settings")) == [["--keep", "first"], ["--max-class", "1,000"]]

    def test_failures(self):
        items = section(FULL, "failures").xpath(".//li")
        assert [words(item) for item in items] == ["katalog-2.mrc: No such file or directory", "and 3,201 more"]

    def test_examples(self):
        examples = section(FULL, "examples")
        assert words(examples.xpath(".//h3")[0]) == "Cluster 4711: 1,203 records, 2 of them here"
        one, other = examples.xpath(".//article")
        assert words(one).startswith(
            f"kept nb-17 katalog.mrc, record 1,209, at byte 88,123 {ISBN} 1 URN that joins nothing"
        )
        assert words(other).startswith(f"duplicate Record 882 oai.xml.gz, record 882, at byte 1,401 {URN} <record>")
        assert words(other).endswith("… and 1,204 bytes more")

    def test_names_that_join_are_marked_as_they_are_spelled(self):
        marks = section(FULL, "examples").xpath(".//pre//mark")
        assert [words(mark) for mark in marks] == ["0-9999412-0-8", "URN:NBN:no-nb_digibok_42"]

    def test_only_the_first_examples_are_open(self):
        examples = section(replace(FULL, examples=FULL.examples * 7), "examples")
        assert len(examples.xpath("./details")) == 7
        assert len(examples.xpath("./details[@open]")) == 3

    def test_fields_of_marc_are_lines_and_controls_are_seen(self):
        """A record of ISO 2709 is one line without an end."""
        lines = section(FULL, "examples").xpath(".//pre")[0].text_content().splitlines()
        assert lines[1:] == ["nb-17¬", "  ▾a0-9999412-0-8¬", "10▾aLamps & tides /▾cIda Lund.¬¶"]

    def test_version_and_title(self):
        page = parsed(FULL)
        assert page.findtext(".//title") == words(page.xpath("//h1")[0]) == "Duplicates in katalog.mrc"
        assert words(page.xpath("//footer")[0]) == "Made by urnscan 0.9."


class TestWhatIsNotThere:
    @pytest.mark.parametrize(
        ("name", "says"),
        [
            ("inputs", "There are none."),
            ("sizes", "There are no clusters."),
            ("largest", "No cluster has more than one record."),
            (
                "common",
                "No identifier is too common: each one that several records contain joins them, except ignored ones.",
            ),
            ("examples", "There are none."),
            ("settings", "None was given."),
            ("failures", "There are none: everything was read."),
        ],
    )
    def test_an_empty_section_says_so(self, name, says):
        shown = section(EMPTY, name)
        assert words(shown).endswith(says)
        assert not shown.xpath(".//table")

    def test_an_example_without_records(self):
        assert "Cluster 7: 2 records, 0 of them here" in words(
            section(replace(FULL, examples=[Example(7, 2, [])]), "examples")
        )


class TestPage:
    @pytest.mark.parametrize("summary", [FULL, EMPTY], ids=["full", "empty"])
    def test_it_stands_alone(self, summary):
        """No network, no script: nothing to fetch, and the browser is told not to."""
        page = render(summary)
        assert "default-src 'none'; style-src 'unsafe-inline'\"" in page
        assert not re.search(r"(?i)https?:|//|@import|url\(|<script|<link|<img|<iframe|\ssrc=|\son\w+=", page)
        assert set(re.findall(r'href="(.)', page)) == {"#"}

    @pytest.mark.parametrize("summary", [FULL, EMPTY], ids=["full", "empty"])
    def test_it_is_accessible(self, summary):
        """Language, headings in their order, tables with captions and heads, links that lead somewhere."""
        page = parsed(summary)
        assert page.get("lang") == "en"
        levels = [int(heading.tag[1]) for heading in page.xpath("//h1|//h2|//h3|//h4")]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        for table in page.xpath("//table"):
            assert words(table.find("caption"))
            assert {cell.get("scope") for cell in table.xpath(".//th")} == {"row", "col"}
            assert len({len(row) for row in table.xpath(".//tr")}) == 1
        names = page.xpath("//@id")
        assert len(set(names)) == len(names)
        assert {f"#{section.get('id')}" for section in page.xpath("//section")} == set(page.xpath("//a/@href"))
        assert set(page.xpath("//@aria-labelledby")) <= set(names)

    @pytest.mark.full
    def test_it_is_the_same_each_time(self):
        """Same summary, same bytes, in another process with other hashes, too."""
        code = "import sys, tests.report.test_dedup_page as t; sys.stdout.buffer.write(t.render(t.FULL).encode())"
        for seed in "1", "2":
            environment = os.environ | {
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": str(Path(__file__).parents[2]),
            }
            done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)
            assert done.stdout == render(FULL).encode()

    @pytest.mark.full
    def test_nothing_heavy_is_loaded_for_it(self):
        code = "import sys, urnscan.report.dedup_page; print([m for m in ('numpy', 'pyarrow', 'numba') if m in sys.modules])"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        assert done.stdout.strip() == "[]"


def everywhere(text):
    """A summary that says a text wherever it can say one."""
    record = ExampleRecord(text, 1, 0, text, text, 0, [text, text + "2"], [text], [text], True)
    return Summary(
        version=text,
        inputs=[Input(text, text, 1), Input("b", "lines", 1)],
        records=1,
        clusters=1,
        duplicates=0,
        without=0,
        sizes={1: 1},
        largest=[Large(1, 2, [text], [text])],
        common=[(text, 1)],
        examples=[Example(1, 2, [record, record])],
        settings=[(text, text)],
        failures=[text],
        title=text,
    )


# Each with surrogates alone, which a file name that is not UTF-8 becomes.
HOSTILE = st.one_of(
    st.text(st.characters(exclude_categories=[]), max_size=40),
    st.lists(
        st.sampled_from(
            [
                *[
                    "<script>alert(1)</script>",
                    "</title>",
                    "</style>",
                    "-->",
                    "]]>",
                    "</bdi></pre>",
                    "<img src=x onerror=y>",
                ],
                *[
                    '"',
                    "'",
                    '" onclick="x',
                    "&",
                    "&amp;",
                    "&#0;",
                    "{{ 7 * 7 }}",
                    "{% raw %}",
                    "\0",
                    "\n",
                    "\r",
                    "\x1b[2J",
                    "\x1f",
                ],
                *[
                    "\x85",
                    "\u2028",
                    "\u202e",
                    "\u2066",
                    "\u200b",
                    "\ufeff",
                    "\ufffe",
                    "\U0010ffff",
                    "\udcff",
                    "\U000e0041",
                ],
                *["urn:a:b", "x" * 500, "عربي", "a\u0301\u0301"],
            ]
        ),
        max_size=8,
    ).map("".join),
)


def skeleton(page):
    """The elements of a page with their attributes, but for those that the text of records is cut into."""
    return [
        (element.tag, sorted(element.items()))
        for element in lxml.html.document_fromstring(page).iter(lxml.etree.Element)
        if element.get("class") not in {"unseen", "row", "row common"} and element.tag not in {"mark", "u"}
    ]


class TestHostileText:
    @given(HOSTILE)
    @FEW
    def test_no_text_changes_what_the_page_is_made_of(self, text):
        """Whatever a dump holds is text: no element, no attribute comes of it."""
        assert skeleton(render(everywhere(text))) == skeleton(render(everywhere("harmless")))

    @given(HOSTILE)
    @FEW
    def test_no_character_commands_or_is_lost(self, text):
        """What is not seen, turns the line around or cannot be written is a sign that is seen."""
        page = render(everywhere(text))
        page.encode()
        for character in set(page) - {"\n"}:
            assert unicodedata.category(character) not in {"Cc", "Cs", "Zl", "Zp"}
            assert unicodedata.bidirectional(character) not in {
                "LRE",
                "RLE",
                "LRO",
                "RLO",
                "PDF",
                "LRI",
                "RLI",
                "FSI",
                "PDI",
            }
            assert character not in "\u200b\u200c\u200d\u200e\u200f\u061c\ufeff\u00ad"
            assert ord(character) & 0xFFFE != 0xFFFE

    @given(HOSTILE)
    @FEW
    def test_a_name_is_shown_whole(self, text):
        """Escaping takes nothing away: the signs put back, a name is what it was."""
        shown = lxml.html.fragment_fromstring(f"<p>{visible(text)}</p>")  # it would drop a text of white space alone
        for sign in shown.xpath(".//span"):
            assert sign.text in {"→", "¶", "¬", "▾", f"[{sign.get('title')}]"}
            code = int(sign.get("title").replace("U+", "0x"), 0)
            sign.text = f"\ue000{code:x}\ue001"  # lxml takes no surrogates
        back = re.sub("\ue000([0-9a-f]+)\ue001", lambda match: chr(int(match[1], 16)), shown.text_content())
        assert "\ue000" in text or back == text

    def test_the_title_of_a_window_is_text(self):
        """An element in `<title>` would be read out as it is written."""
        assert parsed(everywhere("a\x1f&\x00")).findtext(".//title") == "a▾&[U+0000]"

    def test_where_it_is_shown_it_cannot_turn_the_rest_around(self):
        """Text of either direction is isolated (`<bdi>`), also if it commands nothing."""
        page = parsed(everywhere("أبجد"))
        for element in page.xpath("//body//*[contains(text(), 'أبجد')]"):
            assert element.xpath("ancestor-or-self::bdi | ancestor-or-self::pre | self::p[starts-with(., 'Made')]"), (
                element.tag
            )


class TestCompare:
    @given(st.lists(HOSTILE, max_size=4))
    @FEW
    def test_an_excerpt_is_shown_whole(self, texts):
        """Lines, pieces and marks cut a text; they take nothing away but line breaks."""
        shown = compare(texts, [[text[:2], "urn:a:b"] for text in texts])
        for text, lines in zip(texts, shown, strict=True):
            assert "".join(part.text for line in lines for part in line.parts) == re.sub(r"[\r\n]", "", text)

    @given(st.lists(st.lists(st.sampled_from(["a", "b b", "c", "  a"]), max_size=5), min_size=2, max_size=4))
    @FEW
    def test_a_line_is_common_if_every_record_has_it(self, records):
        """Wherever it stands, and however far it is set in."""
        shown = compare(["".join(line + "\n" for line in record) for record in records], [[]] * len(records))
        for record, lines in zip(records, shown, strict=True):
            for text, line in zip(record, lines, strict=True):
                common = all(text.strip() in map(str.strip, other) for other in records)
                assert line.common == common
                assert all(
                    part.kind is (Kind.PLAIN if common else Kind.OWN) for part in line.parts if part.text.strip()
                )

    def test_an_empty_line_differs_from_nothing(self):
        """Else the page would be full of bars before nothing."""
        assert [line.common for line in compare(["a\n\nb", "a\nb"], [[], []])[0]] == [True, True, True]

    def test_a_record_alone_differs_from_nothing(self):
        """Nor has it anything in common: it is neither pale nor marked."""
        [[line]] = compare(["a,b"], [[]])
        assert not line.common
        assert {part.kind for part in line.parts} == {Kind.PLAIN}

    @pytest.mark.parametrize(
        ("one", "other", "own"),
        [
            ('{"id":1,"title":"A","year":2019}', '{"id":2,"title":"A","year":2019}', ['{"id":1,']),
            ("10\x1faLamps\x1fcLund\x1e", "10\x1faTides\x1fcLund\x1e", ["\x1faLamps"]),
            ("<a>1</a><b>2</b>", "<a>1</a><b>3</b>", ["<b>2</b>"]),
            ("k1\tx\ty", "k2\tx\ty", ["k1\t"]),
            ("  <id>1</id>", "<id>2</id>", ["<id>1</id>"]),
            ("x,y\r\n", "y, x", []),
        ],
        ids=["json", "marc", "xml", "tsv", "indented", "moved"],
    )
    def test_within_a_line_only_what_differs_is_marked(self, one, other, own):
        """A record of JSON Lines is one line: were it marked as a whole, nothing would be seen."""
        lines = compare([one, other], [[], []])[0]
        assert [part.text for line in lines for part in line.parts if part.kind is Kind.OWN] == own

    def test_what_stands_around_a_name_is_common(self):
        """Two spellings of an ISBN do not make their fields differ in anything else."""
        lines = compare(["\x1fa0-9999412-0-8\x1fq", "\x1fa9780999941201\x1fq"], [["0-9999412-0-8"], ["9780999941201"]])
        assert [part.kind for part in lines[0][0].parts] == [Kind.PLAIN, Kind.JOINING, Kind.PLAIN]

    @pytest.mark.parametrize(
        ("text", "spellings", "marked"),
        [
            ("see urn:a:1.", ["urn:a:1"], ["urn:a:1"]),
            ("urn:a:12 urn:a:1", ["urn:a:1"], [9]),
            ("urn:a:1-2 urn:a:1", ["urn:a:1"], [10]),
            ("urn:a:1-2 urn:a:1", ["urn:a:1", "urn:a:1-2"], ["urn:a:1-2", "urn:a:1"]),
            ("urn:a:1/urn:a:2", ["urn:a:1", "urn:a:2"], ["urn:a:1", "urn:a:2"]),
            ("urn:a:1urn:a:2", ["urn:a:1"], ["urn:a:1"]),
            ("\x1fuurn:a:1\x1e", ["urn:a:1"], ["urn:a:1"]),
            ("\x1fa9780999941201 (pbk.)", ["9780999941201"], ["9780999941201"]),
            ("19780999941201", ["9780999941201"], []),
            ("urn:a:b\r\nurn:a:c", ["urn:a:b\r\nurn:a:c"], ["urn:a:b", "urn:a:c"]),
            ("urn:a:1(2)", ["urn:a:1", "urn:a:1(2)"], ["urn:a:1(2)"]),
            ("a+b aab", ["a+b"], ["a+b"]),
            ("abc", [""], []),
        ],
    )
    def test_where_a_name_is_marked(self, text, spellings, marked):
        """As it is spelled; not where it is the beginning of a longer one (a number says where instead)."""
        parts = [part for line in compare([text], [spellings])[0] for part in line.parts]
        found, at = [], 0
        for part in parts:
            if part.kind is Kind.JOINING:
                found.append(at if marked and isinstance(marked[0], int) else part.text)
            at += len(part.text)
        assert found == marked
