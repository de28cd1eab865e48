"""What the README and the pages of docs/ show was really printed: each page is run from its top to its end."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.forks import forked_command

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
# What these pages need from this line on may not be here, and has tests of its own: test_spark.py, test_engines.py.
OWN_TESTS = {"spark.md": "# ", "tables.md": "### Dask\n"}
STARTED = (
    "README.md",
    "tutorial.md",
    "jobs.md",
    "large-runs.md",
)  # whose commands are started, as by a user; those of the others are forked
BLOCK = re.compile(r"^```(console|python|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ ", re.MULTILINE)
SECONDS = re.compile(r"\b\d+\.\d s(?=$|, \d+ (?:failure|note)| -> )", re.MULTILINE)


def blocks(page):
    """The sessions of a page in their order, and its files: their language, and what stands there.

    A file is in TOML, and its first line is a comment with its name.
    """
    shown = page.read_text(encoding="utf-8")
    if page.name in OWN_TESTS:
        shown = shown.partition(OWN_TESTS[page.name])[0]
    return [
        (language, text) for language, text in BLOCK.findall(shown) if language in ("console", "toml") or ">>> " in text
    ]


def commands(text):
    """The (command, output) pairs of a shell's session; a command goes on behind a backslash at the line end."""
    for session in COMMAND.split(text)[1:]:
        command = re.match(r"(?:.*\\\n)*.*\n", session)[0]
        yield command.rstrip("\n"), session[len(command) :]


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if blocks(page)]


@pytest.mark.core
def test_pages_have_sessions():
    """The pages are found: the README, the tutorial and how-tos are among those that show something."""
    names = {str(page.relative_to(ROOT)) for page in PAGES}
    assert {"README.md", "docs/tutorial.md", "docs/reference/syntax.md", "docs/howto/deduplicate.md"} <= names


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A fresh folder with `data`, in which the samples are, from which the session starts."""
    shutil.copytree(ROOT / "data", tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A command that has loaded all that it needs when it is called."""
    command = Path(sys.executable).with_name("urnscan")
    with forked_command(command, tmp_path_factory.mktemp("client")) as client:
        yield client


@pytest.fixture
def _forked(request, folder, monkeypatch):  # noqa: ARG001 (which sets the path first)
    """The command of most pages is forked, where a process with loaded libraries may fork: they start it 120 times."""
    if sys.platform == "linux" and request.getfixturevalue("page").name not in STARTED:
        monkeypatch.setenv("PATH", f"{request.getfixturevalue('client').parent}:{os.environ['PATH']}")


@pytest.fixture
def bucket(request, folder, monkeypatch):
    """A bucket with some of the samples, in an S3 server on this machine, where the page is about one."""
    if request.getfixturevalue("page").name != "large-runs.md":
        return
    boto3 = pytest.importorskip("boto3")
    address = request.getfixturevalue("s3_server")
    access = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
    for name, value in (access | {"AWS_ENDPOINT_URL": address}).items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3", endpoint_url=address)
    client.create_bucket(Bucket="library")
    for name in ("catalogue.marcxml.xml", "oai-dc.xml", "resolver.log.gz"):
        client.upload_file(str(folder / "data" / "samples" / name), "library", f"dumps/{name}")


@pytest.mark.usefixtures("folder")
def test_r():
    """What a page shows in R holds, where R and its package jsonlite are installed."""
    if not shutil.which("Rscript") or subprocess.run(["Rscript", "-e", "library(jsonlite)"], check=False).returncode:
        pytest.skip("needs R and jsonlite")
    page = ROOT / "docs" / "howto" / "tables.md"
    for language, text in blocks(page):
        for command, _ in commands(text) if language == "console" else ():
            subprocess.run(command, shell=True, check=False)
    scripts = re.findall(r"^```r\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert "".join(scripts).count("stopifnot") > 3
    done = subprocess.run(["Rscript", "-e", "".join(scripts)], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("folder", "_forked", "bucket")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:moto", "ignore::DeprecationWarning:boto")
@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_page(page):
    """Every command prints what is shown, but for the seconds, and every line of Python gives what is shown."""
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    names = {}
    for number, (language, text) in enumerate(blocks(page)):
        if language == "python":
            test = doctest.DocTestParser().get_doctest(text, names, f"{page.name} block {number}", str(page), 0)
            runner.run(test, clear_globs=False)
            assert runner.failures == 0, text
            names = test.globs
            continue
        if language == "toml":
            Path(text.partition("\n")[0].removeprefix("# ")).write_text(text, encoding="utf-8")
            continue
        for command, output in commands(text):
            done = subprocess.run(
                command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
            )
            assert SECONDS.sub("N s", done.stdout) == SECONDS.sub("N s", output), command
            # A page once showed the error of cmp as if it were its result. Commands of urnscan may show errors.
            assert done.returncode == 0 or "urnscan" in command, f"{command}: exit status {done.returncode}"
