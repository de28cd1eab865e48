"""The page of records in doubt in a browser: decide by key and by mouse, save, and apply what was saved."""

import csv
import time

import pytest

import urnscan
from tests.report.conftest import in_browser
from tests.support.reviews import HOSTILE, shelf
from urnscan.dedup.review.review_table import MAX_PAIRS, PAGE
from urnscan.report.excerpts import Kind, Line, LinePart
from urnscan.report.review_page import Block, Counts, ShownRecord, render

pytestmark = [pytest.mark.full, in_browser]

MANY = 20_000
BOUND = 20.0  # seconds; it takes a tenth of that where the machine is not busy


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A dump, and what is in doubt in it as a page and as a table."""
    folder = tmp_path_factory.mktemp("review")
    (folder / "shelf.csv").write_text(shelf())
    for name in ("page.html", "table.csv"):
        urnscan.deduplicate(folder / "shelf.csv", review=folder / name)
    return folder


@pytest.fixture
def page(visit, folder):
    page = visit((folder / "page.html").as_uri())
    page.wait_for_selector("#records > .record")
    return page


def saved(page, path, press=None):
    """The file that the page saves, by its button or by a key."""
    with page.expect_download() as download:
        page.click("#save") if press is None else page.keyboard.press(press)
    download.value.save_as(path)
    return path


def rows_of(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def opened(page, title):
    """Open a group by its title."""
    page.locator("#rows button", has_text=title).click()
    page.wait_for_function("title => document.getElementById('group-title').textContent === title", arg=title)
    page.wait_for_selector("#records > .record:focus")


class TestDecisions:
    def test_a_group_that_is_decided_in_part(self, page):
        """docs/howto/deduplicate.md, The next month: a group with a new or a changed record is found among the decided ones."""
        opened(page, HOSTILE[2])
        page.keyboard.press("a")
        page.select_option("#which", "part")
        assert page.locator("#rows bdi").all_inner_texts() == [HOSTILE[2]]
        assert page.locator("#rows .good").all_inner_texts() == ["decided in part"]
        opened(page, HOSTILE[2])
        page.keyboard.press("y")
        assert page.locator("#rows .good").all_inner_texts() == ["decided"]
        page.select_option("#which", "open")
        page.select_option("#which", "part")
        assert page.inner_text("#told") == "Nothing fits what you look for"

    def test_by_key_saved_and_applied(self, page, folder, tmp_path):
        """What somebody decides with the keyboard alone reaches the next run: apart, and the other two the same."""
        opened(page, HOSTILE[2])
        page.keyboard.press("a")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("t")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("t")
        decisions = saved(page, tmp_path / "decisions.csv", press="s")
        assert [row["decision"] for row in rows_of(decisions)] == ["apart", "together", "together"]
        found = urnscan.deduplicate(folder / "shelf.csv", decisions=decisions)
        assert not found.report.refused
        rows = [row for row in found.clusters.to_pylist() if row["title"] == HOSTILE[2]]
        assert [(row["record_id"][-1], row["decision"]) for row in rows] == [
            ("1", "apart"),
            ("2", "kept"),
            ("3", "removed"),
        ]

    def test_by_mouse(self, page, tmp_path):
        opened(page, HOSTILE[2])
        page.locator(".record").nth(2).get_by_label("remove").check()
        page.click("#after")
        page.get_by_role("button", name="All stay apart").click()
        words = [row["decision"] for row in rows_of(saved(page, tmp_path / "decisions.csv"))]
        assert sorted(words) == sorted(["remove", *["apart"] * 3])

    def test_keep_is_instead_of_the_others(self, page, folder, tmp_path):
        """docs/howto/deduplicate.md, In a table: whoever chooses `keep` for a record sees at once which one is removed for it. The
        file says so, too, and the next run does what the page shows. Guards against a fuller record that is removed silently.
        """
        opened(page, HOSTILE[2])
        marks = lambda: page.locator(".record input:checked").evaluate_all("each => each.map(one => one.value)")  # noqa: E731
        assert marks() == ["keep", "remove", "apart"]
        page.keyboard.press("ArrowRight")
        page.keyboard.press("k")
        assert marks() == ["remove", "keep", "apart"]
        effect = "9780198526636-2 is kept instead of 9780198526636-1, which is removed."
        assert effect in page.inner_text("#state")
        assert effect in page.inner_text("#said")
        decisions = rows_of(saved(page, tmp_path / "decisions.csv"))
        assert [row["decision"] for row in decisions] == ["remove", "keep"]
        found = urnscan.deduplicate(folder / "shelf.csv", decisions=tmp_path / "decisions.csv")
        rows = {row["record_id"][-1]: row for row in found.clusters.to_pylist() if row["title"] == HOSTILE[2]}
        assert [rows[at]["decision"] for at in "123"] == ["removed", "kept", "apart"]
        assert (found.report.refused, found.report.remarks) == ([], [])
        # It follows from that choice alone, and goes with it.
        page.keyboard.press("a")
        assert marks() == ["keep", "apart", "apart"]
        assert [row["decision"] for row in rows_of(saved(page, tmp_path / "apart.csv"))] == ["apart"]
        page.keyboard.press("k")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("k")
        assert marks() == ["keep", "keep", "apart"]
        assert "are both \u201ckeep\u201d: both stay" in page.inner_text("#state")

    def test_remove_without_a_record_that_stays(self, page, folder, tmp_path):
        """The run does not apply it, so the page warns, says what to do, and does not call the group decided."""
        opened(page, HOSTILE[2])
        page.keyboard.press("y")
        assert page.inner_text("#done") == "1 of 5 groups decided"
        page.locator(".record").nth(2).get_by_label("remove").check()
        assert page.inner_text("#trouble").startswith("9780198526636-3 is alone in its cluster")
        assert page.inner_text("#state") == "Decided, but not all of it is applied."
        assert page.locator("#rows .bad").all_inner_texts() == ["a decision is not applied"]
        assert page.inner_text("#done") == "0 of 5 groups decided, 1 in part"
        decisions = saved(page, tmp_path / "decisions.csv")
        report = urnscan.deduplicate(folder / "shelf.csv", decisions=decisions).report
        assert "it is alone in its cluster" in report.refused[0][2]
        page.locator(".record").nth(2).get_by_label("apart").check()
        page.locator(".record").nth(0).get_by_label("remove").check()
        assert page.inner_text("#trouble").startswith("All records of cluster")
        assert page.locator("#rows .bad").count() == 1

    @pytest.mark.parametrize("keys", ["a", "kaa", "ttt", "tta", "Aak", "rra", "yrl", "llk"])
    def test_the_counts_are_those_of_the_run(self, page, folder, tmp_path, keys):
        """docs/howto/deduplicate.md, Apply the decisions: what the page counts as decided, the summary does, too; a key for each
        of three records, of which `A` and `y` are about the whole group.
        """
        opened(page, HOSTILE[2])
        for key in keys:
            page.keyboard.press(key if key.islower() else f"Shift+{key}")
            if key in "kratl":
                page.keyboard.press("ArrowRight")
        decisions = saved(page, tmp_path / "decisions.csv")
        report = urnscan.deduplicate(folder / "shelf.csv", decisions=decisions).report
        assert page.inner_text("#done").startswith(f"{report.decided} of {report.doubts} groups decided")

    def test_what_nobody_confirmed_is_not_saved(self, page, tmp_path):
        """Guards against proposals as decisions: of a group in which somebody decided about one record, one row is saved. The
        proposed word is confirmed by its key or by a click.
        """
        opened(page, HOSTILE[2])
        page.keyboard.press("ArrowRight")
        page.keyboard.press("a")
        assert page.inner_text("#state").startswith("1 of 3 records decided.")
        (row,) = rows_of(saved(page, tmp_path / "one.csv"))
        assert (row["record_id"][-1], row["decision"]) == ("2", "apart")
        page.locator(".record").nth(2).locator("input:checked").click()
        words = [row["decision"] for row in rows_of(saved(page, tmp_path / "two.csv"))]
        assert words == ["apart", "apart"]
        page.keyboard.press("u")
        assert page.is_disabled("#save")

    def test_saved_decisions_of_another_month(self, page, visit, tmp_path):
        """The dump has another name, and its records other numbers: the page finds each by its digest, as --decisions does. What
        the file has is not kept in the browser.
        """
        opened(page, HOSTILE[2])
        page.keyboard.press("Shift+T")
        decisions = saved(page, tmp_path / "decisions.csv")
        head, *lines = shelf().splitlines(keepends=True)
        (tmp_path / "december.csv").write_text("".join([head, "n,New,9780306406157,1990,,\n", *reversed(lines)]))
        urnscan.deduplicate(tmp_path / "december.csv", review=tmp_path / "december.html")
        later = visit((tmp_path / "december.html").as_uri())
        later.wait_for_selector("#records > .record")
        later.set_input_files("#file", decisions)
        later.wait_for_function("() => document.getElementById('said').textContent !== ''")
        assert later.inner_text("#said") == "3 of 3 saved decisions are about records of this page"
        again = rows_of(saved(later, tmp_path / "again.csv"))
        assert {(row["digest"], row["decision"]) for row in again} == {
            (row["digest"], "together") for row in rows_of(decisions)
        }
        later.set_input_files("#file", decisions)
        later.wait_for_function("() => document.getElementById('said').textContent.startsWith('3 of 3')")
        later.reload()
        later.wait_for_selector("#records > .record")
        assert later.inner_text("#said") == ""

    def test_equal_records_have_their_own_rows(self, visit, tmp_path):
        """Two records with the same bytes are found in their order."""
        head, one, *_ = shelf().splitlines(keepends=True)
        (tmp_path / "twice.csv").write_text(head + one + one)
        urnscan.deduplicate(tmp_path / "twice.csv", review=tmp_path / "twice.html", review_all=True)
        page = visit((tmp_path / "twice.html").as_uri())
        page.wait_for_selector("#records > .record")
        assert page.locator("#reason option").all_inner_texts() == ["all", "shown because records are removed"]
        page.keyboard.press("r")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("k")
        decisions = saved(page, tmp_path / "decisions.csv")
        rows = rows_of(decisions)
        (tmp_path / "moved.csv").write_text(head + "n,New,,1990,,\n" * 3 + one + one)
        urnscan.deduplicate(tmp_path / "moved.csv", review=tmp_path / "moved.html", review_all=True)
        later = visit((tmp_path / "moved.html").as_uri())
        later.wait_for_selector("#records > .record")
        later.set_input_files("#file", decisions)
        later.wait_for_function("() => document.getElementById('said').textContent.startsWith('2 of 2')")
        again = rows_of(saved(later, tmp_path / "again.csv"))
        assert [(int(row["record"]) - 3, row["decision"]) for row in again] == [
            (int(row["record"]), row["decision"]) for row in rows
        ]

    def test_as_proposed_is_the_table(self, page, folder, tmp_path):
        """Columns, digests, order and cells that no spreadsheet calculates: byte for byte."""
        for _ in HOSTILE:
            page.locator("#records > .record").first.focus()
            page.keyboard.press("y")
            page.keyboard.press("n")
            page.wait_for_selector("#records > .record:focus")
        assert page.inner_text("#done") == "5 of 5 groups decided"
        assert saved(page, tmp_path / "decisions.csv").read_bytes() == (folder / "table.csv").read_bytes()

    def test_goes_on_another_day(self, page, visit, folder, tmp_path):
        """Saved decisions are opened again, also as a spreadsheet writes them: with semicolons."""
        opened(page, HOSTILE[1])
        page.keyboard.press("Shift+T")
        decisions = rows_of(saved(page, tmp_path / "decisions.csv"))
        with (tmp_path / "again.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, [*decisions[0]], delimiter=";")
            writer.writeheader()
            writer.writerows([*decisions, {**decisions[0], "digest": "d0"}])
        later = visit((folder / "page.html").as_uri())
        later.set_input_files("#file", tmp_path / "again.csv")
        later.wait_for_function("() => document.getElementById('said').textContent !== ''")
        assert later.inner_text("#said") == "3 of 4 saved decisions are about records of this page"
        assert later.inner_text("#done") == "1 of 5 groups decided"
        assert [row["decision"] for row in rows_of(saved(later, tmp_path / "later.csv"))] == ["together"] * 3

    def test_forgotten(self, page):
        """A group whose decisions are taken back is not saved, and has what is proposed."""
        page.locator("#records > .record").first.focus()
        before = page.locator("input:checked").evaluate_all("each => each.map(one => one.value)")
        page.keyboard.press("Shift+A")
        page.keyboard.press("u")
        assert page.locator("input:checked").evaluate_all("each => each.map(one => one.value)") == before
        assert page.is_disabled("#save")

    def test_one_alone_is_together_with_nothing(self, page):
        page.locator("#records > .record").first.focus()
        page.keyboard.press("t")
        assert "mark the other" in page.inner_text("#trouble")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("t")
        assert page.inner_text("#trouble") == ""

    def test_no_keys_in_a_field(self, page):
        """Who types into the search decides nothing."""
        page.fill("#search", "")
        page.locator("#search").press_sequentially("karts")
        page.keyboard.press("Shift+T")
        page.locator("#order").focus()
        page.keyboard.press("k")
        assert page.inner_text("#done").startswith("0 of")

    def test_keys_at_once(self, page):
        """Nothing has the focus when the page is opened, and keys are about the record in the frame."""
        assert page.evaluate("document.activeElement === document.body")
        page.keyboard.press("a")
        assert page.locator(".record.current input:checked").input_value() == "apart"
        page.keyboard.press("ArrowRight")
        page.locator("#group-title").focus()
        page.keyboard.press("t")
        words = page.locator(".record input:checked").evaluate_all("each => each.map(one => one.value)")
        assert words[:2] == ["apart", "together"]
        page.locator("#rows button").first.focus()
        page.keyboard.press("n")
        page.wait_for_selector("#records > .record.current:focus")
        assert page.inner_text("#done") == "0 of 5 groups decided, 1 in part"

    def test_kept_until_saved(self, visit, folder, tmp_path):
        """The page may be closed, or the browser: what is decided is there again, until it is saved."""
        (tmp_path / "page.html").write_bytes((folder / "page.html").read_bytes())
        page = visit((tmp_path / "page.html").as_uri())
        page.wait_for_selector("#records > .record")
        opened(page, HOSTILE[2])
        page.keyboard.press("Shift+T")
        page.keyboard.press("n")
        page.keyboard.press("a")
        page.keyboard.press("u")
        page.reload()
        page.wait_for_selector("#records > .record")
        assert page.inner_text("#done") == "1 of 5 groups decided"
        assert page.inner_text("#said") == "1 decided before; the last decisions are not saved"
        rows = rows_of(saved(page, tmp_path / "decisions.csv"))
        assert [(row["title"], row["decision"]) for row in rows] == [(HOSTILE[2], "together")] * 3
        page.reload()
        page.wait_for_selector("#records > .record")
        assert page.inner_text("#done") == "0 of 5 groups decided"

    def test_words_are_explained(self, page):
        """Each word has what it means as a tooltip."""
        titles = page.locator(".record").first.locator("label").evaluate_all("each => each.map(one => one.title)")
        assert len(set(titles)) == 5
        assert all(titles)
        assert titles[4].startswith("You decide nothing")

    def test_nothing_lies_below_the_bar(self, page):
        """The heading of the group that is opened stands under the bar, on a small window, too."""
        page.set_viewport_size({"width": 700, "height": 500})
        opened(page, HOSTILE[2])
        top, bottom = page.evaluate("""() => [document.getElementById('group-title').getBoundingClientRect().top,
            document.getElementById('bar').getBoundingClientRect().bottom]""")
        assert top >= bottom


CARDS = """id,title,author,year,isbn,edition
c1,Invented inks,"Wimpelfeld, Ansgar",1998,9780306406157,1st ed.
c2,Invented Inks.,Ansgar Wimpelfeld,1998,,
c3,Invented inks,"Wimpelfeld, A.",1998,0-306-40615-2,2nd ed.
"""


class TestCandidates:
    """Pairs are decided as groups are: on the same page, by the same keys, into the same file."""

    @pytest.fixture
    def cards(self, tmp_path):
        """A dump with a group in doubt (c1, c3), and two pairs: c1 and c2, c2 and c3."""
        (tmp_path / "cards.csv").write_text(CARDS)
        options = {"review": tmp_path / "page.html", "candidates": tmp_path / "pairs.csv"}
        urnscan.deduplicate(tmp_path / "cards.csv", **options)
        return tmp_path

    @pytest.fixture
    def page(self, visit, cards):
        page = visit((cards / "page.html").as_uri())
        page.wait_for_selector("#records > .record")
        return page

    def turned(self, page, press, place):
        page.keyboard.press(press)
        page.wait_for_function("text => document.getElementById('about').textContent.includes(text)", arg=place)
        page.wait_for_selector("#records > .record:focus")

    def test_by_key_saved_and_applied(self, page, cards, tmp_path):
        """One key decides about both records, whichever has the frame; a key of single records decides nothing."""
        page.select_option("#order", "number")
        page.locator("#records").click()
        self.turned(page, "n", "Group 2 of 3")
        assert page.locator(".record dd u").all_inner_texts().count("1st ed.") == 1
        page.keyboard.press("k")
        assert page.inner_text("#said") == "A pair is together or apart"
        assert page.inner_text("#done") == "0 of 3 groups decided"
        page.keyboard.press("ArrowRight")
        page.keyboard.press("t")
        words = page.locator(".record input:checked").evaluate_all("each => each.map(one => one.value)")
        assert words == ["together", "together"]
        self.turned(page, "n", "Group 3 of 3")
        page.keyboard.press("Shift+A")
        decisions = saved(page, tmp_path / "decisions.csv", press="s")
        assert [row["decision"] for row in rows_of(decisions)] == ["together", "apart"]
        found = urnscan.deduplicate(cards / "cards.csv", decisions=decisions, candidates=cards / "more.csv")
        assert [(row["record_id"], row["cluster"]) for row in found.clusters.to_pylist()] == [
            ("c1", 1),
            ("c2", 1),
            ("c3", 2),
        ]
        assert (found.report.refused, found.report.candidates) == ([], 0)

    def test_a_group_and_a_pair_in_one_file(self, page, cards, tmp_path):
        """Rows of both kinds have the same columns; a page opens them again, and a decision that is taken back is not saved."""
        page.select_option("#order", "number")
        page.locator("#rows button").first.click()
        page.wait_for_selector("#records > .record:focus")
        page.keyboard.press("y")
        self.turned(page, "n", "Group 2 of 3")
        page.keyboard.press("y")
        assert page.inner_text("#said") == "Nothing is proposed for a pair"
        page.locator(".record").nth(1).get_by_label("apart").check()
        self.turned(page, "n", "Group 3 of 3")
        page.keyboard.press("t")
        page.keyboard.press("l")
        decisions = saved(page, tmp_path / "decisions.csv")
        assert [row["decision"] for row in rows_of(decisions)] == ["apart", "apart", "apart"]
        page.reload()
        page.wait_for_selector("#records > .record")
        page.set_input_files("#file", decisions)
        page.wait_for_function("() => document.getElementById('said').textContent !== ''")
        assert page.inner_text("#said") == "3 of 3 saved decisions are about records of this page"
        assert saved(page, tmp_path / "again.csv").read_bytes() == decisions.read_bytes()
        assert urnscan.deduplicate(cards / "cards.csv", decisions=decisions).report.refused == []

    def test_kept_until_saved(self, page):
        page.select_option("#order", "number")
        page.locator("#records").click()
        self.turned(page, "n", "Group 2 of 3")
        page.keyboard.press("t")
        page.reload()
        page.wait_for_selector("#records > .record")
        assert page.inner_text("#done") == "1 of 3 groups decided"
        page.select_option("#which", "decided")
        page.locator("#rows button").click()
        page.wait_for_selector("#records > .record:focus")
        words = page.locator(".record input:checked").evaluate_all("each => each.map(one => one.value)")
        assert words == ["together", "together"]

    def test_a_record_that_is_apart_in_its_group(self, page):
        """It joins no other, so the page says at once that the pair would not be joined."""
        page.select_option("#order", "number")
        page.locator("#records").click()
        page.keyboard.press("y")
        self.turned(page, "n", "Group 2 of 3")
        assert page.inner_text("#trouble") == ""
        page.keyboard.press("t")
        assert page.inner_text("#trouble").startswith("c1 is \u201capart\u201d in its group")

    def test_they_are_a_kind_of_the_list(self, page):
        """The list has both kinds, and shows one of them on demand; words are explained as those of groups."""
        assert page.locator("#reason option").all_inner_texts() == ["all", "may be the same", "other edition"]
        page.select_option("#reason", "candidate")
        assert page.inner_text("#told") == "1 to 2 of 2 (of 3)"
        page.locator("#rows button").first.click()
        page.wait_for_selector("#records > .record:focus")
        labels = page.locator(".record").first.locator("label")
        assert [text.split()[0] for text in labels.all_inner_texts()] == ["apart", "together", "undecided"]
        assert all(labels.evaluate_all("each => each.map(one => one.title)"))
        assert page.locator("#proposed").is_hidden()

    @pytest.mark.parametrize("width", [390, 1600])
    def test_fits_the_window(self, visit, cards, width):
        page = visit((cards / "page.html").as_uri(), width=width)
        page.wait_for_selector("#records > .record")
        page.locator("#rows button").last.click()
        page.wait_for_selector("#records > .record:focus")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


class TestText:
    def test_hostile_titles_are_text(self, page):
        """Nothing of a dump runs, none changes the direction of the page."""
        page.select_option("#order", "number")
        signs = [title.replace("\u202e", "[U+202E]").replace("\u2028", " ") for title in HOSTILE]
        assert page.locator("#rows bdi").all_inner_texts() == signs
        for title in signs:
            opened(page, title)
            assert title in page.locator(".record dd").first.inner_text()
        assert page.locator("img").count() == 0

    def test_why_a_record_is_removed(self, page, visit, tmp_path):
        """docs/howto/deduplicate.md, Was a record removed wrongly?: the page shows `joined_by` in words. Guards against a removal
        without any reason on the page: a control number is in no list of identifiers.
        """
        opened(page, HOSTILE[2])
        assert page.locator(".record dt", has_text="Joined by").count() == 2
        assert page.locator(".record").nth(1).get_by_text("same ISBN urn:isbn:9780198526636").count() == 1
        (tmp_path / "one.csv").write_text("id,title,year\na1,Invented inks,1998\na1,Invented inks,1998\na2,Inks,1990\n")
        urnscan.deduplicate(tmp_path / "one.csv", review=tmp_path / "one.html", review_all=True, keys="id")
        page = visit((tmp_path / "one.html").as_uri())
        page.wait_for_selector("#records > .record")
        assert page.inner_text("#about") == "2 records: shown because records are removed. Group 1 of 1."
        assert "most groups" not in page.inner_text("header")
        assert "1 group is shown because records are removed. Decide which" in page.inner_text("header")
        joins = page.locator(".record dd li").all_inner_texts()
        assert joins == ["same control number (001) in one dump (supporting key) local:1:a1"] * 2
        assert page.locator(".record pre mark").all_inner_texts() == ["a1"] * 2

    def test_what_differs_is_marked(self, page):
        opened(page, HOSTILE[2])
        own = page.locator(".record").nth(2).locator("dd u").all_inner_texts()
        assert own == ["2001", "2. ed."]
        assert page.locator(".record dd mark").all_inner_texts() == ["urn:isbn:9780198526636"] * 3


def test_search_and_order(page):
    """Words are looked for in all records of a group, and all of them must be there."""
    page.fill("#search", "9780395363416-2 WIMPELFELD 2001")
    page.wait_for_function("() => document.getElementById('told').textContent === '1 to 1 of 1 (of 5)'")
    assert page.locator("#rows bdi").all_inner_texts() == [HOSTILE[1]]
    assert page.inner_text("#group-title") == HOSTILE[1]
    page.fill("#search", "9780395363416-2 9780306406157-2")
    page.wait_for_function("() => document.getElementById('told').textContent === 'Nothing fits what you look for'")
    assert page.locator("#group").is_hidden()
    page.fill("#search", "")
    page.wait_for_function("() => document.getElementById('told').textContent === '1 to 5 of 5'")
    assert page.locator("#reason option").all_inner_texts() == ["all", "other edition"]
    page.select_option("#which", "decided")
    assert page.inner_text("#told") == "Nothing fits what you look for"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1600])
def test_fits_the_window(visit, folder, width, scheme):
    page = visit((folder / "page.html").as_uri(), width=width, scheme=scheme)
    page.wait_for_selector("#records > .record")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    light = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert light == (scheme == "light")


def test_for_screen_readers(page):
    """Records, decisions and what happens have names and roles."""
    first = page.locator(".record").first
    assert first.get_attribute("role") == "group"
    opened(page, HOSTILE[2])
    record = page.get_by_role("group", name="Record 1 of 3: 9780198526636-1")
    assert record.get_by_role("radio").count() == 5
    assert record.get_by_role("group", name="Decision about 9780198526636-1").count() == 1
    record.get_by_role("radio", name="apart").check()
    assert page.get_by_role("status").filter(has_text="9780198526636-1: apart").count() == 1


def test_thousands_of_groups_do_not_freeze_it(visit, tmp_path):
    """Twenty thousand groups, and as many pairs as a page has: open, search, sort, turn to the last page, decide, open what was
    saved.
    """
    lines = [Line([LinePart(f"field {at} of the record", Kind.PLAIN)], common=True) for at in range(20)]
    more = PAGE.names[PAGE.names.index("similarity") :]

    def row(values):
        return ",".join(f'"{values[name]}"' if name in values else "" for name in PAGE.names) + "\n"

    def record(name, number):
        return {
            "source": "a.mrc",
            "record": number,
            "record_id": f"r{name}",
            "digest": f"d{number}",
            "title": f"Book {name}",
        }

    def group(number):
        return "".join(
            row({**record(number, 2 * number + at), "component": number, "decision": "apart", "reason": "year"})
            for at in (0, 1)
        )

    def pair(number):
        other = {f"other_{name}": value for name, value in record(number, 1).items()} | {
            "other_publisher": "Tintenfass"
        }
        return row({**record(number, MANY * 3 + number), **other, "similarity": 0.95})

    def made():
        head = "\ufeff" + ",".join(PAGE.names) + "\n"
        for count, kind in ((MANY, group), (MAX_PAIRS, pair)):
            for first in range(1, count, 100):
                rows = head + "".join(map(kind, range(first, first + 100)))
                head = ""
                yield Block(rows.encode(), [ShownRecord(0, lines)] * 200)

    assert more[-1] == "other_digest"
    file = tmp_path / "many.html"
    counts = Counts(MANY, 2 * MANY, MAX_PAIRS, 90_000)
    file.write_text("".join(render(counts, "0.9", made())))
    began = time.monotonic()
    page = visit(file.as_uri())
    page.wait_for_selector("#records > .record")
    assert page.inner_text("#told") == "1 to 25 of 30,000"
    page.fill("#search", "book 19999")
    page.wait_for_function("() => document.getElementById('told').textContent.startsWith('1 to 1 of 1')")
    page.fill("#search", "")
    page.wait_for_function("() => document.getElementById('told').textContent === '1 to 25 of 30,000'")
    page.select_option("#reason", "year")
    page.select_option("#order", "size")
    page.fill("#page", "800")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.getElementById('told').textContent.startsWith('19,976 to 20,000')")
    opened(page, "Book 20000")
    page.keyboard.press("Shift+A")
    assert page.inner_text("#done") == "1 of 30,000 groups decided"
    assert page.locator("#rows li").count() == 25
    decided = tmp_path / "decided.csv"
    decided.write_text(
        ",".join(PAGE.names)
        + "\n"
        + "".join(pair(number).replace(",,,", ',,"apart",', 1) for number in range(1, MAX_PAIRS + 1))
    )
    page.set_input_files("#file", decided)
    page.wait_for_function("() => document.getElementById('done').textContent.startsWith('10,001 of')")
    page.select_option("#reason", "candidate")
    page.locator("#rows button").first.click()
    page.wait_for_selector("#records > .record:focus")
    assert "Tintenfass" in page.locator(".record").nth(1).locator("dd u").all_inner_texts()
    assert time.monotonic() - began < BOUND
