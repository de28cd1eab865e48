"""A full disk, and a driver that is killed: one clear line, nothing that is half, and a second run that works."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import urnscan
from tests.support.on_spark import FEW

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """Names that are all different, of which the results of a scan take 8 MB."""
    rng = random.Random(9)
    path = tmp_path_factory.mktemp("texts") / "a.txt"
    path.write_text("".join(f"see urn:example:{rng.randbytes(24).hex()}\n" for _ in range(150_000)))
    return path


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 3 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("may not mount a file system")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def command(text, out, *words):
    """The command on Spark, and its environment."""
    pytest.importorskip("pyspark", reason="needs pyspark: pip install 'urnscan[spark]'")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("needs Java 17")
    outputs = ["-o", out / "classes", "--occurrences", out / "occurrences"]
    urnscan_ = [Path(sys.executable).with_name("urnscan"), "--engine", "spark", "--no-progress"]
    return [str(word) for word in [*urnscan_, text, *outputs, *words]]


ENVIRONMENT = os.environ | {
    "PYSPARK_PYTHON": sys.executable,
    "SPARK_LOCAL_IP": "127.0.0.1",
    "PYSPARK_SUBMIT_ARGS": f"{FEW} pyspark-shell",
}


def check_tables(text, out):
    """The tables are those of one machine, and nothing is beside them."""
    one = urnscan.scan(text)
    for name in ("classes", "occurrences"):
        rows = pa.concat_tables(pq.read_table(path) for path in sorted((out / name).glob("part-*")))
        assert rows.to_pylist() == getattr(one, name).to_pylist()
    assert sorted(path.name for path in out.iterdir()) == ["classes", "occurrences"]


def test_full_disk(text, small_disk, tmp_path):
    """The disk of an executor is full: one line says so, by the name of the setting, and no output is there."""
    out = tmp_path / "out"
    out.mkdir()
    full = ENVIRONMENT | {"SPARK_LOCAL_DIRS": str(small_disk)}
    words = command(text, out, "--master", "local-cluster[1,1,1024]")
    done = subprocess.run(words, env=full, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith("WARNING: Using incubator modules")]
    assert len(lines) == 1
    assert lines[0].startswith("urnscan: Spark: No space left on device")
    assert "spark.local.dir" in lines[0]
    assert not list(out.iterdir())


def test_killed_driver(text, tmp_path):
    """The driver is killed while executors write: nothing appears; the next run needs no `--force`, and removes what is left."""
    out = tmp_path / "out"
    out.mkdir()
    words = command(text, out, "--master", "local[2]")
    with subprocess.Popen(words, env=ENVIRONMENT, stderr=subprocess.DEVNULL) as running:
        deadline = time.monotonic() + 250
        while not list(out.glob("classes.attempts*/*.parquet")):
            assert running.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.005)
        running.send_signal(signal.SIGKILL)
    assert not (out / "classes").exists()
    assert not (out / "occurrences").exists()
    assert list(out.iterdir())
    subprocess.run(words, env=ENVIRONMENT, capture_output=True, check=True)
    check_tables(text, out)
