"""The documentation can be made, says all that is public, loads nothing from elsewhere, and its figures are those that were measured."""

import re
import subprocess
import sys
import zlib
from pathlib import Path
from types import ModuleType

import pytest
from lxml import html

import urnscan
import urnscan.duckdb
import urnscan.pandas
import urnscan.polars
import urnscan.spark
import urnscan.urn.namespaces
from tests.support.scripts import script

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def public():
    """(name, value) of all that people may use."""
    for module in (urnscan, urnscan.urn.namespaces, urnscan.spark, urnscan.pandas, urnscan.polars, urnscan.duckdb):
        for name in module.__all__:
            value = getattr(module, name)
            is_twice = module is urnscan.urn.namespaces and name in urnscan.__all__
            if not (
                isinstance(value, ModuleType) or is_twice or name == "NidStatus"
            ):  # a type, written out where it is used
                yield f"{module.__name__}.{name}", value


PUBLIC = dict(public())


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The documentation as HTML, made as CONTRIBUTING.md says."""
    folder = tmp_path_factory.mktemp("pages")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", folder / "kept", DOCS, folder / "html"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.mark.full
def test_public_names_are_on_the_page(pages):
    """Whoever makes something public describes it in docs/reference/python.md."""
    inventory = zlib.decompress((pages / "objects.inv").read_bytes().split(b"\n", 4)[4]).decode()
    described = {line.split()[0] for line in inventory.splitlines() if " py:" in line}
    assert len(PUBLIC) > 50
    assert set(PUBLIC) <= described


@pytest.mark.full
def test_pages_load_nothing_from_elsewhere(pages):
    """They can be read without network: scripts, styles, fonts and pictures lie beside them."""
    loading = re.compile(r"""@import|url\(\s*["']?(?:https?:)?//""")
    found = list(pages.rglob("*.html"))
    assert len(found) > 20
    for page in found:
        tree = html.parse(page)
        loaded = tree.xpath(
            "//script/@src | //img/@src | //iframe/@src | //source/@src | //link[@rel!='canonical']/@href"
        )
        assert loaded
        assert not [address for address in loaded if re.match(r"(?:\w+:)?//", address)], page
        assert not [style for style in tree.xpath("//style/text() | //@style") if loading.search(style)], page
    for style in pages.rglob("*.css"):
        assert not loading.search(style.read_text(encoding="utf-8")), style


@pytest.mark.full
def test_links_of_pages_lead_somewhere(pages):
    """Between the pages, and to what they hold: also what stands in docstrings and in CONTRIBUTING.md."""
    anchors = {}
    for page in pages.rglob("*.html"):
        anchors[page.resolve()] = set(html.parse(page).xpath("//@id"))
    for page in anchors:
        for link in html.parse(page).xpath("//article//a/@href"):
            if re.match(r"(?:https?|mailto):", link):
                continue
            address, _, anchor = link.partition("#")
            target = (page.parent / address).resolve() if address else page
            assert target.exists(), (page.name, link)
            assert not anchor or target.suffix != ".html" or anchor in anchors[target], (page.name, link)


MOVED = {
    "semantics": "three-syntaxes where-a-urn-begins where-it-ends what-is-cut-off-is-told trim in-a-url "
    "which-are-the-same-lexical resolution namespace valid-and-problem nid-status how-a-resolver-is-asked "
    "nid-and-not-nid views near-misses",
    "howto/shell": "which-names-how-often how-many-in-each-namespace only-some-namespaces in-what-text "
    "which-sources-and-how-many-in-each in-canonical-form with-jq-duckdb-or-pandas colours",
    "howto/hidden": "which-views see-what-it-brings names-without-urn names-in-formatted-text names-in-links what-it-costs",
    "howto/filters": "where-the-file-may-lie media-types programs when-a-program-fails",
    "howto/long-runs": "name-many-inputs memory go-on-where-a-run-was-cut-off know-what-failed outputs",
    "howto/several-runs": "an-array-of-jobs-slurm-kubernetes-batch many-tasks-on-one-machine-gnu-parallel-xargs "
    "a-nightly-crawl a-change-of-a-catalogue-pull-request two-runs-of-a-deduplication",
    "howto/s3": "read write credentials regions-and-other-servers what-goes-wrong",
    "howto/jupyter": "names-in-their-context the-first-calls files progress options-and-errors",
    "howto/engines": "pandas polars duckdb dask ray-data avro orc delta-lake iceberg",
    "promises": "what-is-found-is-exact what-is-read what-is-written hostile-input the-house",
    "howto/syntax": "which-standard the-same-text-three-times which-equivalence and-trim",
}


@pytest.mark.full
@pytest.mark.parametrize("page", MOVED)
def test_old_addresses_lead_to_the_new(pages, page):
    """A bookmark or a link in an older message: its chapter is still found, and names the page that has it now."""
    tree = html.parse(pages / f"{page}.html")
    for anchor in MOVED[page].split():
        (section,) = tree.xpath(f"//section[@id='{anchor}']")
        (link,) = section.xpath("./p/a/@href")
        assert ".html" in link


KEPT = {
    "howto/clean-catalogue": "texts-that-begin-like-a-urn-but-are-none identifiers-that-two-things-share",
    "howto/deduplicate": "decide in-a-table in-the-page apply-the-decisions was-a-record-removed-wrongly the-next-month",
    "howto/common-crawl": "one-warc-file when-and-what-the-server-answered",
    "howto/own-namespace": "scan-with-them what-else-to-know",
    "howto/first-run": "compile-ahead",
    "howto/python": "files",
    "howto/tables": "parquet csv-and-tsv json-lines",
    "howto/report": "what-to-know",
    "reference/python": "what-there-is-to-choose-from",
    "tutorial": "look-at-it-in-pandas how-many-in-each-namespace where-does-a-name-stand make-an-html-page "
    "a-column-of-your-own-table what-next",
    "performance": "what-is-compared whole-runs what-was-aimed-at more-cores memory compressed-packed-in-tables duplicates "
    "what-to-expect-on-your-machine odd-values measuring-it-yourself",
    "reference/dedup/outputs": "review decisions-of-people candidates",
    "reference/dedup/keys": "defaults-other-than-those-of-a-scan",
    "reference/dedup/conflicts": "what-is-not-recognised",
    "reference/forms": "ignored-files remote packed-forms-that-are-not-read damage failures-and-notes limits",
    "reference/files": "what-a-file-says-of-itself when-a-file-appears-and-what-stands-in-it reasons tables-of-several-runs "
    "partial-results",
    "reference/command": "urnscan urnscan-check urnscan-dedup urnscan-explain urnscan-report urnscan-merge urnscan-diff "
    "cmdoption-urnscan-o cmdoption-urnscan-C cmdoption-urnscan-dedup-keep cmdoption-urnscan-dedup-nid",
}


@pytest.mark.full
@pytest.mark.parametrize("page", KEPT)
def test_old_chapters_of_a_page_are_found(pages, page):
    """A bookmark of a chapter that has another heading now: its address still leads to the place on the page."""
    places = html.parse(pages / f"{page}.html").xpath("//article//@id")
    assert set(KEPT[page].split()) <= set(places)


@pytest.mark.full
class TestPerformance:
    """docs/performance.md and the targets in benchmarks/README.md have the figures of the newest runs, and no others."""

    @pytest.fixture
    def module(self):
        return script("docs/make_performance.py")

    def test_figures_are_those_of_the_last_run(self, module):
        """`.venv/bin/python docs/make_performance.py` writes them anew."""
        names = []
        for path in module.PAGES:
            page = path.read_text(encoding="utf-8")
            assert module.filled(page) == page
            names += [match[2] for match in module.BLOCK.finditer(page)]
            assert all("\n| " in match[0] for match in module.BLOCK.finditer(page))
        assert names == ["runs", "options", "memory", "forms", "dedup", "cores", "targets"]
