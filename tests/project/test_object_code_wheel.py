"""A wheel with object code, built by hatchling and installed by pip into an environment of its own: no first run compiles."""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

import urnscan
from urnscan.compiled.object_code import variants

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.full, pytest.mark.timeout(1800)]  # it compiles twice; others may use the processors, too

OTHER = """
import json, sys
from urnscan.compiled import jit, object_code
object_code.variants = lambda: [sys.argv[1]]
import urnscan
done = urnscan.warm_up()
print(json.dumps([done.compiled, str(done.folder), jit.count(), "numba" in sys.modules]))
urnscan.scan(sys.argv[2]).to_parquet(sys.argv[3])
"""


def test_a_wheel_with_object_code(tmp_path):
    """One test: each worker that has a part of it would build the wheel, which takes two minutes."""
    pytest.importorskip("hatchling")
    wheel = build(tmp_path / "wheel")
    check_content(wheel)
    run = install(wheel, tmp_path)
    check_first_run(run, tmp_path)
    check_where_nothing_can_be_written(run)
    for variant in variants():
        check_variant(run, tmp_path, variant)


def build(folder):
    """The wheel that `hatch build` makes."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    subprocess.run(command, cwd=ROOT, check=True, env=os.environ | {"HATCH_BUILD_HOOK_ENABLE_CUSTOM": "true"})
    (path,) = folder.iterdir()
    return path


def install(wheel, folder):
    """Install the wheel into an environment whose other packages are those of this one. Runs a program there, for a user with an empty home."""
    environment, home = folder / "environment", folder / "home"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    words = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel]
    subprocess.run([environment / "bin" / "python", *words], check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    # Files *.pth in that folder, such as that of an editable installation, are not read there.
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    home.mkdir()

    def run(program, *words, **settings):
        user = {"HOME": str(home), "PATH": os.defpath, "LANG": "C.UTF-8"} | settings
        words = [environment / "bin" / program, *words]
        return subprocess.run(words, cwd=folder, env=user, check=True, capture_output=True, text=True)

    return run


def check_content(wheel):
    """The same functions for each variant, and what an installer has to know."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith("urnscan/object_code/")]
        metadata = archive.read(f"urnscan-{urnscan.__version__}.dist-info/METADATA").decode()
    functions = [name.partition(".cpython-")[0] for name in names if name.endswith(".o")]
    assert {functions.count(name) % len(variants()) for name in functions} == {0}
    assert sum(name.endswith(".complete") for name in names) == len(variants())
    for name in ("numba", "llvmlite", "numpy"):
        assert f"Requires-Dist: {name}=={version(name)}; extra == 'compiled'" in metadata
    assert wheel.name.split("-")[2] == f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert not wheel.name.endswith("any.whl")


def check_first_run(run, tmp_path):
    """Nothing is compiled, so nothing is said of it and nothing is kept."""
    (tmp_path / "t.txt").write_text("see urn:isbn:0451450523\n")
    done = run("urnscan", "t.txt")
    assert done.stdout == "t.txt:1:urn:isbn:0451450523\n"
    assert "compiling" not in done.stderr
    assert not [*(tmp_path / "home").iterdir()]


def check_where_nothing_can_be_written(run):
    """A read-only installation, and a user without a home."""
    done = run("urnscan", "--warm-up", NUMBA_CACHE_DIR="/proc/nowhere", HOME="/nonexistent")
    assert done.stderr.startswith("urnscan: everything is already compiled; compiled code is kept in ")
    assert done.stderr.endswith(f"{os.sep}site-packages{os.sep}urnscan\n")


def check_variant(run, tmp_path, variant):
    """It has all functions, and finds the same bytes as code compiled here. A better processor would never take the lesser one."""
    samples = str(urnscan.samples())
    compiled, folder, count, has_numba = json.loads(
        run("python", "-c", OTHER, variant, samples, f"{variant}.parquet").stdout
    )
    assert (compiled, count, has_numba) == (0, 0, False)
    assert Path(folder).name == "urnscan"
    urnscan.scan(samples).to_parquet(tmp_path / f"here-{variant}.parquet")
    assert (tmp_path / f"{variant}.parquet").read_bytes() == (tmp_path / f"here-{variant}.parquet").read_bytes()
