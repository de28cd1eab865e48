"""The page of `urnscan report` in a browser: 100,000 classes to search, sort and page through, in the light and the dark.

It needs Chromium (Debian: `apt-get install chromium`) and Playwright, which only drives it.
"""

from __future__ import annotations

import base64
import os
import shutil
import time
from collections import Counter

import pytest

from tests.support.classes import HOSTILE, HOSTILE_SOURCE, classes, made, write
from urnscan.report.figures import EMBEDDED, summarise
from urnscan.report.scan import render

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: apt-get install chromium"),
]
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install '.[test]'")

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
def browser():
    with playwright.sync_playwright() as driver:
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, address):
    """Opens the page; whatever it complains of, or asks the network for, fails the test."""
    contexts, said = [], []

    def open_it(width=1200, scheme="light", **options):
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.on("request", lambda request: said.append(request.url) if request.url != address else None)
        page.goto(address)
        if options.get("java_script_enabled", True):
            page.wait_for_selector("#controls:not([hidden])")
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert said == []


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
        search(shared, "nothing of that kind", "Nothing fits")
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
            "Spellings": ("variants", lambda row: len(row[2]), True),
            "First found in": ("from", lambda row: row[4], False),
            "Occurrences": ("count", lambda row: row[1], True),
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
            lambda: page.click("#classes th button:text-is('Verdict')"),
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


class TestLook:
    @pytest.mark.parametrize("width", [1200, 375], ids=["desktop", "phone"])
    def test_nothing_is_wider_than_the_page(self, opened, width):
        page = opened(width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for chart in page.locator("svg").all():
            box = chart.bounding_box()
            assert box["width"] > 250
            assert box["height"] > 40

    def test_dark_and_light(self, opened):
        """The page follows the system, with enough contrast in each; charts do, too."""
        grounds = []
        for scheme in ("light", "dark"):
            page = opened(scheme=scheme)
            ground, text = (
                brightness(page.evaluate(f"getComputedStyle(document.body).{name}"))
                for name in ("backgroundColor", "color")
            )
            letters = brightness(page.evaluate("getComputedStyle(document.querySelector('svg .label')).fill"))
            assert letters == text
            assert abs(ground - text) > 150
            grounds.append(ground)
        assert grounds[0] > 200
        assert grounds[1] < 50

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("width", [1200, 375], ids=["desktop", "phone"])
    def test_a_picture_of_each_part_is_not_empty(self, opened, width, scheme):
        """Every chart and every section has something in it: many colours, and not nearly all of it the ground."""
        page = opened(width, scheme)
        parts = [*page.locator("svg").all(), page.locator("#rows"), page.locator("header")]
        assert len(parts) == 7
        for part in parts:
            colours, ground = colours_of(page, part.screenshot())
            assert colours > 20
            assert ground < 0.97

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
        assert page.is_visible("#namespaces table")
        assert brightness(page.evaluate("getComputedStyle(document.body).color")) < 60


def brightness(colour):
    """Of a colour as CSS computes it, 0 to 255."""
    red, green, blue = (int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3])
    return 0.3 * red + 0.6 * green + 0.1 * blue


def colours_of(page, picture):
    """How many colours a picture has, and which part of it has the most frequent. The browser decodes it."""
    return page.evaluate(
        """async (text) => {
            const octets = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
            const image = await createImageBitmap(new Blob([octets]));
            const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
            canvas.drawImage(image, 0, 0);
            const pixels = new Uint32Array(canvas.getImageData(0, 0, image.width, image.height).data.buffer);
            const counts = new Map();
            for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
            return [counts.size, Math.max(...counts.values()) / pixels.length];
        }""",
        base64.b64encode(picture).decode(),
    )
