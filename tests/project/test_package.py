"""What is published: the wheel and the source distribution, built from this tree."""

import email
import importlib.util
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from fnmatch import fnmatch
from pathlib import Path

import pytest

import urnscan

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
UNWANTED = ("*.nb[ic]", "*.py[co]", "*/__pycache__/*", "*/.*cache/*", "*/.hypothesis/*", "*/.venv/*", "*.parquet.tmp")


def wanted(folder):
    """The files below a folder of the tree, from its root, but for what runs leave there."""
    names = {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*") if path.is_file()}
    return {name for name in names if not any(fnmatch("/" + name, pattern) for pattern in UNWANTED)}


def build(root, folder, kind):
    """The one file that hatchling makes, as `python -m build --no-isolation` has it do."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", folder]
    subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("needs hatchling")
    return build(ROOT, tmp_path_factory.mktemp("sdist"), "sdist")


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory):  # noqa: ARG001 (which skips where nothing can be built)
    return build(ROOT, tmp_path_factory.mktemp("wheel"), "wheel")


@pytest.fixture(scope="module")
def unpacked(sdist, tmp_path_factory):
    """The folder of the unpacked source distribution."""
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    return root


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The wheel as an installer lays it down, and nothing of the tree: runs Python there."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    elsewhere = tmp_path_factory.mktemp("elsewhere")

    def run(*words):
        environment = os.environ | {"PYTHONPATH": str(folder), "NUMBA_DISABLE_JIT": "1"}  # quicker than compiling
        done = subprocess.run(
            [sys.executable, *words], cwd=elsewhere, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return folder, run


@pytest.mark.full
def test_what_is_in_the_wheel(wheel):
    """The package whole, with its tables, templates and type marker, the samples and the licence; no caches, no tests."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert len(set(names)) == len(names)
    of_package = {name for name in names if name.startswith("urnscan/")}
    assert of_package == wanted("urnscan") | {f"urnscan/{name}" for name in wanted("data/samples")}
    others = {name.partition("/")[0].rpartition(".")[2] for name in names if name not in of_package}
    assert others <= {"dist-info", "data"}
    assert {"urnscan/py.typed", f"urnscan-{urnscan.__version__}.dist-info/licenses/LICENSE"} <= set(names)


@pytest.mark.full
def test_what_is_in_the_source_distribution(unpacked):
    """All that the tests and .ci/run want, and nothing that a run left behind."""
    names = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    assert not [name for name in names if any(fnmatch("/" + name, pattern) for pattern in UNWANTED)]
    for folder in ("urnscan", "tests", "data", "docs", "notebooks", "share", "benchmarks", ".ci"):
        missing = wanted(folder) - names
        assert not {name for name in missing if not is_ignored(name)}, folder
    for name in ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY"):
        assert f"{name}.md" in names
    assert {"LICENSE", "CITATION.cff", "pyproject.toml"} <= names


def is_ignored(name):
    """Whether Git ignores the file; where there is no repository, nothing is."""
    return (
        subprocess.run(["git", "check-ignore", "-q", name], cwd=ROOT, check=False, capture_output=True).returncode == 0
    )


@pytest.mark.full
def test_the_source_distribution_builds_the_same(sdist, wheel, unpacked, tmp_path):
    """Byte for byte, later and elsewhere."""
    for path in unpacked.rglob("*"):
        os.utime(path)
    (tmp_path / "wheel").mkdir()
    (tmp_path / "sdist").mkdir()
    assert build(unpacked, tmp_path / "wheel", "wheel").read_bytes() == wheel.read_bytes()
    assert build(unpacked, tmp_path / "sdist", "sdist").read_bytes() == sdist.read_bytes()


@pytest.mark.full
def test_the_wheel_alone(installed, tmp_path):
    """What it needs is in it: the samples, the tables of namespaces and fields, the templates."""
    folder, run = installed
    samples = run("-c", "import urnscan; print(urnscan.samples())")
    assert samples == str(folder / "urnscan" / "data" / "samples")
    works = tmp_path / "works.bib"
    works.write_text("@book{lamp, urn = {urn:example:lamp}}\n")
    classes, page, clusters = (tmp_path / name for name in ("classes.parquet", "page.html", "clusters.parquet"))
    run("-m", "urnscan", works, "-o", classes, "--quiet")
    run("-m", "urnscan", "report", classes, "-o", page, "--quiet")
    run("-m", "urnscan", "dedup", works, "-o", clusters, "--report", f"{page}.gz", "--quiet")
    assert b"</html>" in page.read_bytes()
    assert clusters.exists()


def test_samples():
    """In a checkout, too; and left out, they are told of."""
    assert urnscan.samples() == ROOT / "data" / "samples"


def test_no_samples(monkeypatch, tmp_path):
    from urnscan.library import samples as module

    monkeypatch.setattr(module, "__file__", str(tmp_path / "urnscan" / "library" / "samples.py"))
    with pytest.raises(FileNotFoundError, match="came without them"):
        module.samples()


@pytest.mark.full
def test_what_it_says_of_itself(wheel):
    """One version and one licence, and each Python version named is one that it may be installed on."""
    with zipfile.ZipFile(wheel) as archive:
        said = email.message_from_bytes(archive.read(f"urnscan-{urnscan.__version__}.dist-info/METADATA"))
    citation = dict(re.findall(r"^([a-z-]+): (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE))
    assert said["Version"] == citation["version"] == urnscan.__version__
    assert said["License-Expression"] == citation["license"] == PROJECT["license"]
    assert "MIT License" in (ROOT / "LICENSE").read_text("utf-8")
    least = re.fullmatch(r">=3\.(\d+)", said["Requires-Python"])[1]
    named = re.findall(r"Python :: 3\.(\d+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE)
    assert named == sorted(named)
    assert named[0] == least
