"""The documentation can be made, says all that is public, loads nothing from elsewhere, and its figures are those that were measured."""

import ast
import dataclasses
import inspect
import re
import subprocess
import sys
import zlib
from pathlib import Path
from types import FunctionType, ModuleType

import pytest
from lxml import html

import urnscan
import urnscan.duckdb
import urnscan.pandas
import urnscan.polars
import urnscan.spark
import urnscan.urn.namespaces
from tests.support.scripts import script
from urnscan.urn.namespaces.native import Native

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
FUNCTIONS = {name: value for name, value in PUBLIC.items() if isinstance(value, FunctionType)}
NATIVE = {name: value for name, value in PUBLIC.items() if isinstance(value, Native)}
RECORDS = {name: value for name, value in PUBLIC.items() if dataclasses.is_dataclass(value)}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The documentation as HTML, made as CONTRIBUTING.md says."""
    folder = tmp_path_factory.mktemp("pages")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", folder / "kept", DOCS, folder / "html"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.mark.slow
def test_public_names_are_on_the_page(pages):
    """Whoever makes something public describes it in docs/reference/python.md."""
    inventory = zlib.decompress((pages / "objects.inv").read_bytes().split(b"\n", 4)[4]).decode()
    described = {line.split()[0] for line in inventory.splitlines() if " py:" in line}
    assert len(PUBLIC) > 50
    assert set(PUBLIC) <= described


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_say_what_they_do(name):
    """With an example, which the doctests run, and what they raise, but for those that nothing can be wrong with."""
    told = inspect.getdoc(FUNCTIONS[name]) or ""
    assert ">>> " in told
    if inspect.signature(FUNCTIONS[name]).parameters and name != "urnscan.nid_status":
        assert re.search(r"\b[Rr]aises\b", told)


@pytest.mark.parametrize("name", NATIVE)
def test_native_identifiers_say_where_they_are_defined(name):
    """Each with its standard, and examples of both ways, which the doctests run."""
    nid, told = name.rpartition(".")[2], type(NATIVE[name]).__doc__
    assert re.search(r"RFC \d|IANA template", told)
    assert f"{nid}.to_urn(" in told
    assert f"{nid}.from_urn(" in told


@pytest.mark.parametrize("name", RECORDS)
def test_fields_say_what_they_are(name):
    """Each field of a public record has a docstring below it."""
    (tree,) = ast.parse(inspect.getsource(RECORDS[name])).body
    assert ast.get_docstring(tree)
    following = zip(tree.body, [*tree.body[1:], None], strict=True)
    silent = [
        each.target.id
        for each, below in following
        if isinstance(each, ast.AnnAssign)
        and not (isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant))
    ]
    assert not silent


class TestPerformance:
    """docs/performance.md has the figures of the newest runs in benchmarks/, and no others."""

    @pytest.fixture
    def module(self):
        return script("docs/make_performance.py")

    def test_figures_are_those_of_the_last_run(self, module):
        """`.venv/bin/python docs/make_performance.py` writes them anew."""
        page = module.PAGE.read_text(encoding="utf-8")
        assert module.filled(page) == page
        names = [match[2] for match in module.BLOCK.finditer(page)]
        assert names == ["runs", "pictures", "targets", "cores", "memory", "forms", "dedup", "options"]
        assert all("|" in match[0] or "![" in match[0] for match in module.BLOCK.finditer(page))

    def test_nothing_is_measured_by_hand(self, module):
        """What stands between the tables has no seconds, octets or per cent of its own."""
        prose = module.BLOCK.sub("", module.PAGE.read_text(encoding="utf-8"))
        assert not re.findall(r"\d ?(?:s|ms|[kMGT]i?B|%|per cent|times)\b", re.sub(r"`[^`]*`", "", prose))

    def test_the_newest_run_counts(self, module, monkeypatch, tmp_path):
        """Of a text the newest run that has it, of its sizes the largest; a ratio is that of medians, in CPU time that of the least."""

        def run(name, octets, ours, theirs):
            results = [("urnscan, whole job", ours), ("rg -oai", theirs)]
            told = [
                {
                    "name": name,
                    "seconds": seconds,
                    "cpu_seconds": [2 * each for each in seconds],
                    "matches": 7,
                    "peak_octets": 10**8,
                }
                for name, seconds in results
            ]
            (tmp_path / name).mkdir()
            text = {"corpus": "dense", "octets": octets, "files": 1, "results": told}
            (tmp_path / name / "results.json").write_text(module.json.dumps({"measured": [text]}))

        monkeypatch.setattr(module, "RUNS", tmp_path)
        run("2026-01-01", 4 * 10**9, [1], [1])
        run("2026-01-02", 2 * 10**9, [9, 3, 1], [6])
        block = "<!-- runs, by docs/make_performance.py -->\n\n<!-- end -->"
        assert "| 2 GB dense | 3.00 s | 2.00 s | 0.50 (0.17) | - |" in module.filled(block)
        assert "2026-01-01" not in module.filled(block)

    def test_tables_of_the_other_programs(self, module, monkeypatch, tmp_path):
        """Forms, dumps and sizes are read as forms.py, dedup.py, memory.py and cores.py keep them; CPU time stands in brackets."""

        def text(corpus, octets, *results, **more):
            told = [
                {
                    "name": name,
                    "seconds": [taken],
                    "cpu_seconds": [taken / 2],
                    "peak_octets": peak,
                    "matches": 7,
                    "classes": 6,
                }
                for name, taken, peak in results
            ]
            return {"corpus": corpus, "octets": octets, "files": 1, "results": told, **more}

        job = ("urnscan, whole job", 3.0, 10**8)
        form = text("gz", 2 * 10**9, job, ("zcat | rg", 6.0, 10**7), about="gzip")
        dump = text("many marc", 6 * 10**9, ("urnscan dedup --fields", 60.0, 10**9), about="9 records")
        grown = [text("all different", octets * 10**9, job, source="stdin") for octets in (1, 2)]
        grown[0]["results"][0]["temporary_octets"] = 5 * 10**8
        grown[1]["results"][0]["temporary_octets"] = None
        spent = {"start": [1.0, None], "scan": [3.0, 2.0], "file": [0.5, 0.5], "rest": [0.5, None], "all": [5.0, 3.0]}
        run = {"seconds": 5.0, "stages": spent}
        kept = {"a": {"measured": [form]}, "b": {"measured": [dump]}, "c": {"measured": grown}}
        kept["d"] = {"measured": [], "cores": [{"corpus": "dense", "one": run, "two": run}]}
        for name, told in kept.items():
            (tmp_path / name).mkdir()
            (tmp_path / name / "results.json").write_text(module.json.dumps(told))
        monkeypatch.setattr(module, "RUNS", tmp_path)
        names = ("forms", "dedup", "memory", "cores", "targets")
        told = module.filled("".join(f"<!-- {name}, by docs/make_performance.py -->\n\n<!-- end -->" for name in names))
        assert "| gzip | 2 GB | 3.00 s | 1.50 s | 0.50 (0.50) of `zcat \\| rg` |" in told
        assert "| 9 records, MARC 21 | - | 60.0 s (30.0 s CPU) | - | - | - | - | 1,000 MB |" in told
        assert "| 1 GB | 7 | 6 | 100 MB | 1.5 s | 0.50 |" in told
        assert "| 2 GB | 7 | 6 | 100 MB | 0.8 s | - |" in told
        assert "](../benchmarks/runs/c/memory.svg)" in told
        assert "| dense | scan | 3.00 | 3.00 | 2.00 | 1.5 |" in told
        assert "| dense | at best | 5.00 s | 5.00 s | 2.75 s | 2.38 s | 2.19 s |" in told
        assert "| dedup, 10 million records | memory at most 1500 MB | 1,000 | - | reached |" in told
