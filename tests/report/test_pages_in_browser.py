"""The pages in a browser: 100,000 classes to search, sort, page through and open, in the light and the dark.

It needs Chromium (Debian: `apt-get install chromium`) and Playwright, which only drives it.
"""

from __future__ import annotations

import csv
import json
import time
from collections import Counter
from dataclasses import replace

import pytest

from tests.report.conftest import in_browser
from tests.report.test_dedup_page import FULL as DUPLICATES
from tests.support.classes import HOSTILE, HOSTILE_SOURCE, classes, made, occurrences, write
from urnscan.report import dedup_page as dedup
from urnscan.report.dedup_page import Input
from urnscan.report.figures import EMBEDDED, summarise
from urnscan.report.scan_page import render
from urnscan.tables.schemas import CLASSES

pytestmark = [pytest.mark.full, in_browser]

SIZE = EMBEDDED + 5_000
BOUND = 2.0  # seconds; it takes a tenth of that where the machine is not busy


@pytest.fixture(scope="module")
def rows():
    """The classes, the hostile one among the most frequent."""
    rows = made(SIZE)
    return [*rows[:-1], (HOSTILE, 200_000, *rows[-1][2:])]


@pytest.fixture(scope="module")
def address(rows, tmp_path_factory):
    """The page of more classes than it holds."""
    folder = tmp_path_factory.mktemp("browser")
    page = folder / "report.html"
    page.write_text(render(summarise(str(write(classes(rows), folder / "c")), version="0.9")), encoding="utf-8")
    return page.as_uri()


@pytest.fixture(scope="module")
def embedded(rows):
    """The classes that the page holds: of those that are equally frequent, the first by name."""
    return sorted(sorted(rows, key=lambda row: -row[1])[:EMBEDDED], key=lambda row: row[0])


@pytest.fixture(scope="module")
def detailed(tmp_path_factory):
    """The page of a few classes, with what makes a page wide, and with their occurrences."""
    folder = tmp_path_factory.mktemp("detailed")
    nbn = "urn:nbn:de:hbz:6-85659524771"
    below, deep = "/data/2024", "/data/2024/" + "folder" * 50 + "/كتاب.xml"
    rows = [
        (HOSTILE, 50, [HOSTILE, HOSTILE.upper()], [49, 1], f"{below}/{HOSTILE_SOURCE}", "</script>; nss-grammar"),
        (f"urn:isbn:{'9' * 60_000}", 30, [f"urn:isbn:{'9' * 60_000}"], [30], deep, "check-digit"),
        (nbn, 40, [nbn, nbn.upper()], [39, 1], f"{below}/a.xml", None),
    ]
    page, of_classes = folder / "detailed.html", folder / "classes.html"
    table, places = write(classes(sorted(rows)), folder / "c"), write(occurrences(sorted(rows)), folder / "o")
    page.write_text(render(summarise(str(table), str(places), version="0.9")), encoding="utf-8")
    of_classes.write_text(render(summarise(str(table), version="0.9")), encoding="utf-8")
    return page.as_uri(), of_classes.as_uri()


BOOKS = [
    ("urn:foo:a-b", 2, ["urn:foo:a-b"], [2], "/d/a.xml", None),
    ("urn:foo:ab", 12, ["urn:foo:ab"], [12], "/d/b & c?.xml", None),
    ("urn:isbn:080442957X", 1, ["urn:isbn:080442957X"], [1], "/d/a.xml", "invisible-character"),
    ("urn:isbn:9780999941201", 5, ["urn:isbn:978-0-9999412-0-1", "urn:ISBN:9780999941201"], [4, 1], "/d/a.xml", None),
    ("urn:isbn:9783999990638", 3, ["urn:isbn:9783999990638"], [3], "/d/a.xml", "check-digit"),
    ("urn:urn-7:9", 20, ["urn:urn-7:9"], [20], "/d/b & c?.xml", None),
]


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    """The page of BOOKS."""
    folder = tmp_path_factory.mktemp("books")
    table = write(classes(BOOKS), folder / "c")
    (folder / "books.html").write_text(render(summarise(str(table), version="0.9")), encoding="utf-8")
    return (folder / "books.html").as_uri()


@pytest.fixture
def opened(visit, address):
    """Opens the page, or another one."""
    return lambda width=1200, scheme="light", address=address, **options: visit(address, width, scheme, **options)


@pytest.fixture(scope="module")
def shared(browser, address):
    """One page for tests that leave it as they find it."""
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    page.goto(address)
    page.wait_for_selector("#controls:not([hidden])")
    yield page
    page.close()


def names(page):
    return page.locator("#rows tr > th").all_inner_texts()


def numbers(page, column):
    return [int(text.replace(",", "")) for text in page.locator(f"#rows td[data-label={column}]").all_inner_texts()]


def told(page):
    return page.inner_text("#told")


def search(page, text, until):
    page.fill("#search", text)
    page.wait_for_function("text => document.getElementById('told').textContent.includes(text)", arg=until)


class TestTable:
    def test_the_most_frequent_come_first(self, shared, embedded):
        expected = sorted(embedded, key=lambda row: -row[1])[:25]
        assert names(shared) == [row[0] for row in expected]
        assert numbers(shared, "Occurrences") == [row[1] for row in expected]
        assert told(shared) == "1 to 25 of 100,000"
        assert f"holds the 100,000 most frequent of {SIZE:,} classes" in shared.inner_text("#classes")

    def test_only_one_page_of_rows_is_in_the_document(self, shared):
        """A hundred thousand rows of a table freeze a browser."""
        assert shared.locator("tr").count() < 400
        assert shared.evaluate("document.querySelectorAll('*').length") < 4000

    def test_search(self, shared, embedded):
        """All words have to stand there, in the name or the source, in any case."""
        expected = [row for row in embedded if "isbn:00" in row[0] and "part-017" in row[4]]
        assert expected
        search(shared, "ISBN:00 Part-017", f"{len(expected)} (of 100,000)")
        shown = sorted(expected, key=lambda row: -row[1])[:25]
        assert names(shared) == [row[0] for row in shown]
        assert f"Search in the first 100,000 of {SIZE:,} classes" in shared.inner_text("label[for=search]")
        search(shared, "nothing of that kind", "Nothing fits what you look for; 5,000 classes are not in this page")
        assert names(shared) == []
        assert shared.is_disabled("#next")
        search(shared, "", "1 to 25 of 100,000")

    def test_choosing(self, shared, embedded):
        expected = [row for row in embedded if row[0].startswith("urn:nbn:")]
        shared.select_option("#nid", "nbn")
        assert told(shared) == f"1 to 25 of {len(expected):,} (of 100,000)"
        shared.select_option("#verdict", "problem invisible-character")
        having = [row for row in expected if "invisible" in (row[5] or "")]
        assert told(shared) == f"1 to 25 of {len(having):,} (of 100,000)"
        shared.select_option("#nid", "")
        for verdict, number in Counter(
            "unknown" if row[5] is None else "invalid" if "check" in row[5] else "valid" for row in embedded
        ).items():
            shared.select_option("#verdict", verdict)
            assert told(shared) == f"1 to 25 of {number:,} (of 100,000)"
        shared.select_option("#verdict", "")

    def test_sorting(self, shared, embedded):
        """By its button, the other way by the next; a screen reader is told."""
        columns = {
            "URN": ("urn", lambda row: row[0], False),
            "Spellings": ("spelling_count", lambda row: len(row[2]), True),
            "First found in": ("source", lambda row: row[4], False),
            "Occurrences": ("occurrence_count", lambda row: row[1], True),
        }
        for label, (column, key, descending) in columns.items():
            for direction in (descending, not descending):
                shared.click(f"#classes th button:text-is('{label}')")
                sign = shared.get_attribute(f"th[data-column={column}]", "aria-sort")
                assert sign == ("descending" if direction else "ascending")
                assert shared.locator("#classes th[aria-sort]").count() == 1
                expected = sorted(embedded, key=key, reverse=direction)[:25]
                assert [key(row) for row in expected] == [
                    key(next(row for row in embedded if row[0] == name)) for name in names(shared)
                ]
                assert names(shared) == [row[0] for row in expected]
        shared.click("#classes th button:text-is('Occurrences')")

    def test_paging(self, shared, embedded):
        """Every class is on one page."""
        expected = [row[0] for row in sorted(embedded, key=lambda row: -row[1])]
        shared.select_option("#length", "250")
        assert names(shared) == expected[:250]
        assert shared.is_disabled("#previous")
        shared.click("#next")
        assert names(shared) == expected[250:500]
        for given, page in ("400", 400), ("77", 77), ("9999", 400), ("-3", 1), ("", 1):
            shared.fill("#page", given)
            shared.press("#page", "Enter")
            shared.press("#page", "Tab")
            assert names(shared) == expected[250 * (page - 1) : 250 * page]
            assert shared.input_value("#page") == str(page)
        shared.select_option("#length", "25")

    def test_it_answers_at_once(self, opened):
        """A page with 100,000 classes opens, is searched and sorted within a bound that a person does not mind."""
        start = time.perf_counter()
        page = opened()
        assert time.perf_counter() - start < 3 * BOUND
        page.evaluate(
            "() => { window.longest = 0; new PerformanceObserver(list => { for (const entry of list.getEntries())"
            " window.longest = Math.max(window.longest, entry.duration); }).observe({ entryTypes: ['longtask'] }); }"
        )
        for does in (
            lambda: search(page, "part-017", "(of 100,000)"),
            lambda: search(page, "uuid", "Nothing fits"),
            lambda: search(page, "", "1 to 25 of 100,000"),
            lambda: page.click("#classes th button:text-is('Result')"),
            lambda: page.click("#classes th button:text-is('First found in')"),
            lambda: page.click("#next"),
        ):
            start = time.perf_counter()
            does()
            assert time.perf_counter() - start < BOUND
        assert page.evaluate("window.longest") < 1000 * BOUND

    def test_text_is_no_markup(self, opened):
        """A name, a source and a problem that are markup stand there as they are; what commands is a sign."""
        page = opened()
        assert HOSTILE in names(page)
        row = page.locator("#rows tr", has_text=HOSTILE)
        assert HOSTILE_SOURCE.replace("\u202e", "[U+202E]") in row.inner_text()
        assert page.locator("img").count() == 0
        page.select_option("#verdict", "problem </script>")
        assert names(page) == [HOSTILE]


class TestFilters:
    """What is chosen is in the address, and links of the page choose."""

    def test_numbers_of_books(self, opened, books):
        """With hyphens of any kind, blanks or none, in 10 or 13 digits: the class, if a name or a spelling has the number."""
        page = opened(address=books)
        for text, found in (
            ("978-0-9999412-0-1", ["urn:isbn:9780999941201"]),
            ("9780999941201", ["urn:isbn:9780999941201"]),
            ("URN:ISBN:978\u20110\u20109999412\u20130-1", ["urn:isbn:9780999941201"]),
            ("978 0 9999412 0 1", ["urn:isbn:9780999941201"]),
            ("0-9999412-0-8", ["urn:isbn:9780999941201"]),
            ("isbn 0999941208", ["urn:isbn:9780999941201"]),
            ("978-0-8044-2957-3", ["urn:isbn:080442957X"]),
            ("0999941206", []),  # a wrong check digit stands for no number
            ("a-b", ["urn:foo:a-b", "urn:foo:ab"]),
            ("urn-7:9", ["urn:urn-7:9"]),
        ):
            page.fill("#search", text)
            page.wait_for_function(
                "text => new URLSearchParams(location.hash.split('?')[1]).get('search') === text", arg=text
            )
            assert sorted(names(page)) == sorted(found), text

    def test_links(self, opened, books):
        """Names beside bars, and bars, show their classes; the button Back shows what was there before."""
        page = opened(address=books)
        for section, name, found in (
            ("namespaces", "isbn", ["urn:isbn:080442957X", "urn:isbn:9780999941201", "urn:isbn:9783999990638"]),
            ("statuses", "informal", ["urn:urn-7:9"]),
            ("sizes", "11\u201320", ["urn:foo:ab", "urn:urn-7:9"]),
            ("sources", "b & c?.xml", ["urn:foo:ab", "urn:urn-7:9"]),
            ("problems", "invalid", ["urn:isbn:9783999990638"]),
            ("problems", "check-digit", ["urn:isbn:9783999990638"]),
        ):
            link = page.locator(f"#{section}").get_by_role("link", name=name, exact=True)
            link.focus()
            page.keyboard.press("Enter")
            page.wait_for_function("() => document.activeElement.id === 'classes'")
            assert sorted(names(page)) == sorted(found), name
            page.go_back()
            page.wait_for_function("() => document.getElementById('told').textContent === '1 to 6 of 6'")
            bar = link.locator("xpath=ancestor::tr").locator("a:has(i)")
            bar.click()
            page.wait_for_function("() => document.activeElement.id === 'classes'")
            assert sorted(names(page)) == sorted(found), name
            page.click("text=Show all classes")
            assert told(page) == "1 to 6 of 6"

    def test_the_address(self, opened, books):
        """Opened again, or sent to others, it shows the same; a link to a section keeps what is chosen."""
        page = opened(address=books)
        page.select_option("#nid", "isbn")
        page.select_option("#verdict", "problem check-digit")
        page.click("#classes th button:text-is('URN')")
        page.click("nav a:text-is('Sources')")
        page.wait_for_function("() => location.hash.startsWith('#sources?')")
        assert names(page) == ["urn:isbn:9783999990638"]
        shown = page.evaluate("location.href")
        page.reload()
        page.wait_for_selector("#controls:not([hidden])")
        for each in page, opened(address=shown):
            assert names(each) == ["urn:isbn:9783999990638"]
            assert (each.input_value("#nid"), each.input_value("#verdict")) == ("isbn", "problem check-digit")
            assert each.get_attribute("th[data-column=urn]", "aria-sort") == "ascending"
        page.go_back()
        page.go_back()
        assert page.get_attribute("th[data-column=occurrence_count]", "aria-sort") == "descending"
        page.go_back()
        assert len(names(page)) == 3
        page.go_back()
        assert told(page) == "1 to 6 of 6"
        assert page.evaluate("location.href") == books

    def test_typing_is_one_step_back(self, opened, books):
        page = opened(address=books)
        for text in "0", "09", "099994":
            search(page, text, "(of 6)")
        page.go_back()
        page.wait_for_function("() => document.getElementById('told').textContent === '1 to 6 of 6'")
        assert page.input_value("#search") == ""

    def test_any_address(self, opened, books):
        """What no page writes changes nothing, and is text."""
        for query in "sort=constructor&length=7&page=x", "page=99&page=-1", "&&==%", "nid=&verdict=":
            assert told(opened(address=f"{books}#classes?{query}")) == "1 to 6 of 6", query
        page = opened(address=f"{books}#classes?nid=%3Cb%3E&status=%3Cimg%20src=x%3E")
        assert told(page) == "Nothing fits what you look for"
        assert page.inner_text("#only") == "Registration: <img src=x>"

    def test_saving(self, opened, books, tmp_path):
        """The list, in its order, as a table that `urnscan report` reads, with the values of the first table."""
        for query in "sort=urn", "sort=urn&nid=isbn":
            page = opened(address=f"{books}#classes?{query}")
            with page.expect_download() as download:
                page.click("#save")
            download.value.save_as(tmp_path / "saved.csv")
            with (tmp_path / "saved.csv").open(encoding="utf-8-sig", newline="") as file:
                rows = list(csv.DictReader(file))
            expected = [row for row in classes(BOOKS).to_pylist() if "nid" not in query or row["nid"] == "isbn"]
            assert list(rows[0]) == CLASSES.names
            assert [row["urn"] for row in rows] == [row["urn"] for row in expected]
            assert [json.loads(row["spellings"]) for row in rows] == [row["spellings"] for row in expected]
            assert [row["first_source"] for row in rows] == [row["first_source"] for row in expected]
            assert [row["valid"] for row in rows] == [
                "" if row["valid"] is None else str(row["valid"]).lower() for row in expected
            ]

    def test_the_bar_stays(self, opened, books):
        """At the top, wherever the page is; what is scrolled to is below it."""
        for width in 400, 800, 1600:
            page = opened(width, address=books)
            for section in "problems", "settings":
                page.click(f"nav a[href='#{section}']")
                bottom = page.evaluate("document.querySelector('nav').getBoundingClientRect().bottom")
                top = page.evaluate("id => document.getElementById(id).getBoundingClientRect().top", section)
                assert 0 < bottom <= top

    def test_the_digit_that_would_fit(self, opened, books):
        page = opened(address=books)
        page.get_by_role("button", name="urn:isbn:9783999990638").click()
        assert "check-digit: the check digit is wrong; if only this digit is wrong, 7 is right" in page.inner_text(
            ".about"
        )


class TestDetails:
    """A name opens what is known of it, in a row of its own."""

    @staticmethod
    def details(page):
        return page.locator("#rows tr:has(.about)")

    def said(self, page):
        return " ".join(self.details(page).inner_text().replace("×", "x").split())  # noqa: RUF001 (as it stands there)

    def test_mouse_and_keyboard(self, opened, detailed):
        """A click and the keys Enter and Space open and close; a screen reader is told what they do."""
        page = opened(address=detailed[0])
        name = page.get_by_role("button", name="urn:nbn:de:hbz")
        for act in name.click, lambda: name.press("Enter"), lambda: name.press(" "):
            for number, state in (1, "true"), (0, "false"):
                act()
                assert name.get_attribute("aria-expanded") == state
                assert self.details(page).count() == number
        page.locator("#rows td.source").first.click()
        assert self.details(page).count() == 1
        page.click("#classes th button:text-is('URN')")
        assert self.details(page).count() == 0

    def test_what_is_known(self, opened, detailed):
        page = opened(address=detailed[0])
        page.get_by_role("button", name="urn:nbn:de:hbz").click()
        said = self.said(page)
        assert "Result unknown: nothing certain is known of such names" in said
        assert "nbn National bibliography numbers" in said
        nbn = "urn:nbn:de:hbz:6-85659524771"
        assert f"Spellings {nbn} x 39 {nbn.upper()} x 1" in said
        assert "Places a.xml: line 1, byte 30; line 1, byte 31;" in said
        assert said.endswith("line 1, byte 49 and 20 more")
        link = self.details(page).locator("a")
        assert link.get_attribute("href") == link.inner_text() == f"https://nbn-resolving.org/{nbn}"
        assert link.get_attribute("rel") == "noopener noreferrer"
        assert self.details(page).locator("[title='/data/2024/a.xml']").count() == 1

    def test_of_classes_alone(self, opened, detailed):
        """The first place, and how to see the others."""
        page = opened(address=detailed[1])
        page.get_by_role("button", name="urn:nbn:de:hbz").click()
        said = self.said(page)
        assert said.endswith("Places a.xml: byte 1 and 39 more; a page made with --occurrences shows them")

    def test_text_is_no_markup(self, opened, detailed):
        """Of spellings, sources and problems; a name that is cut cannot be copied."""
        page = opened(address=detailed[0])
        page.get_by_role("button", name="urn:x:").click()
        said = self.said(page)
        assert f"{HOSTILE} x 49 {HOSTILE.upper()} x 1" in said
        assert f"{HOSTILE_SOURCE.replace(chr(0x202E), '[U+202E]')}: line 1" in said
        assert "</script>; nss-grammar: the part after the namespace does not have the required form" in said
        assert page.locator("img").count() == 0
        assert self.details(page).get_by_role("button", name="Copy the name").count() == 1
        page.get_by_role("button", name="urn:isbn:").click()
        assert page.get_by_role("button", name="Copy the name").count() == 1

    def test_copying(self, opened, detailed):
        page = opened(address=detailed[0], permissions=["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="urn:nbn:de:hbz").click()
        page.click("text=Copy the name")
        page.wait_for_selector("text=Copied")
        assert page.evaluate("navigator.clipboard.readText()") == "urn:nbn:de:hbz:6-85659524771"


class TestLook:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("width", [1600, 390], ids=["desktop", "phone"])
    def test_it_fits_and_can_be_read(self, opened, detailed, width, scheme):
        """With long names and all that opens open: nothing is wider than the page, all text has contrast (WCAG AA)."""
        page = opened(width, scheme, detailed[0])
        for name in page.locator("#rows button").all():
            name.click()
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(FAINT) == []
        page = opened(width, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for bar in page.locator("#namespaces .bar i").all():
            assert bar.bounding_box()["width"] >= 1
        ground = brightness(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert ground > 200 if scheme == "light" else ground < 50

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("width", [1600, 390], ids=["desktop", "phone"])
    def test_the_page_of_duplicates_does_too(self, opened, tmp_path, width, scheme):
        dumps = [Input("/data/dumps/" + "x" * 300, "lines", 10**9, 10**9, 10**9, 10**9), *DUPLICATES.inputs]
        path = tmp_path / "dedup.html"
        path.write_text(dedup.render(replace(DUPLICATES, inputs=dumps)), encoding="utf-8")
        page = opened(width, scheme, path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(FAINT) == []
        assert page.locator("#inputs tbody th").first.bounding_box()["width"] > 100

    def test_a_bar_is_as_long_as_it_says(self, opened):
        """In proportion to its number, in pixels, too."""
        cells = opened().locator("#sizes td.bar").all()
        numbers = [int(cell.locator("span").first.inner_text().split()[0].replace(",", "")) for cell in cells]
        widths = [cell.locator("i").bounding_box()["width"] for cell in cells]
        assert widths[0] > 200
        for number, width in zip(numbers, widths, strict=True):
            assert abs(width - widths[0] * number / numbers[0]) <= 1

    def test_without_a_script(self, opened):
        """The most frequent classes stand there all the same."""
        page = opened(java_script_enabled=False)
        assert len(names(page)) == 25
        assert "with JavaScript this table can be searched" in page.inner_text("#classes")
        assert not page.is_visible("#controls")

    def test_printed(self, opened):
        """Controls are not; tables that are closed on the screen are."""
        page = opened(scheme="dark")
        page.emulate_media(media="print")
        assert not page.is_visible("#controls")
        assert not page.is_visible("#pager")
        assert page.locator("#sources table").count() == 2
        assert all(table.is_visible() for table in page.locator("#sources table").all())
        assert brightness(page.evaluate("getComputedStyle(document.body).color")) < 60


def brightness(colour):
    """Of a colour as CSS computes it, 0 to 255."""
    red, green, blue = (int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3])
    return 0.3 * red + 0.6 * green + 0.1 * blue


FAINT = """() => {
    // Texts whose contrast with what is behind them is less than 4.5 (WCAG 2.2, 1.4.3); what is disabled does not count.
    const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = (colour) => parts(colour).slice(0, 3).reduce((sum, part, at) => {
        const one = part / 255;
        return sum + [0.2126, 0.7152, 0.0722][at] * (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
    }, 0);
    const behind = (element) => {
        const { backgroundColor } = getComputedStyle(element);
        return parts(backgroundColor)[3] === 0 && element.parentElement ? behind(element.parentElement) : backgroundColor;
    };
    const texts = [...document.querySelectorAll("body *:not(script, option, :disabled)")].filter((element) =>
        element.checkVisibility() && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
    return texts.filter((element) => {
        const [dark, bright] = [light(getComputedStyle(element).color), light(behind(element))].sort((a, b) => a - b);
        return (bright + 0.05) / (dark + 0.05) < 4.5;
    }).map((element) => `${element.tagName}.${element.className}: ${element.textContent.slice(0, 40)}`);
}"""
