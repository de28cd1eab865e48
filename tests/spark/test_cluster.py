"""A cluster of several processes, whose machines share nothing but an object store."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import urnscan
from tests.support.on_spark import FEW
from tests.support.processes import wait_for_no_readers
from urnscan.spark.job import LEAN

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "data" / "samples"
pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings(
        "ignore::DeprecationWarning:moto", "ignore::DeprecationWarning:boto", "ignore::ResourceWarning"
    ),
]


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture(scope="module")
def environment(s3_server):
    return os.environ | {
        "AWS_ENDPOINT_URL": s3_server,
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "b",
        "AWS_REGION": "us-east-1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_JAVA_OPTS": LEAN,
        "PYSPARK_SUBMIT_ARGS": f"{FEW} pyspark-shell",
    }


@pytest.fixture(scope="module")
def store(environment):
    from pyarrow.fs import S3FileSystem

    scheme, address = environment["AWS_ENDPOINT_URL"].split("://")
    found = S3FileSystem(
        access_key="a",
        secret_key="b",
        endpoint_override=address,
        scheme=scheme,
        region="us-east-1",
        allow_bucket_creation=True,
        connect_timeout=60,
        request_timeout=60,
    )
    found.create_dir("library")
    for path in sorted(SAMPLES.glob("*.txt")):
        with found.open_output_stream(f"library/texts/{path.name}") as stream:
            stream.write(path.read_bytes())
    return found


@pytest.fixture(scope="module")
def master(environment, tmp_path_factory):
    """The URL of a standalone cluster: a master and two workers, each with a working folder of its own."""
    pyspark = pytest.importorskip("pyspark", reason="needs pyspark: pip install 'urnscan[spark]'")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("needs Java 17")
    start = [Path(pyspark.__file__).parent / "bin" / "spark-class"]
    deploy, url = "org.apache.spark.deploy", f"spark://127.0.0.1:{free_port()}"
    folder = tmp_path_factory.mktemp("cluster")
    commands = {
        "master": [
            f"{deploy}.master.Master",
            "--host",
            "127.0.0.1",
            "--webui-port",
            "0",
            "--port",
            url.rpartition(":")[2],
        ]
    }
    for name, host in (("one", "127.0.0.1"), ("two", "127.0.0.2")):
        more = [
            "--host",
            host,
            "--webui-port",
            "0",
            "--cores",
            "1",
            "--memory",
            "1g",
            "--work-dir",
            folder / name / "work",
            url,
        ]
        commands[name] = [f"{deploy}.worker.Worker", *more]
    with ExitStack() as stack:
        for name, command in commands.items():
            (folder / name).mkdir()
            log = stack.enter_context((folder / name / "log").open("wb"))
            own = environment | ({"SPARK_LOCAL_IP": "127.0.0.2"} if name == "two" else {})
            process = subprocess.Popen([*start, *command], cwd=folder / name, env=own, stdout=log, stderr=log)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        yield url


def on_cluster(master, environment, folder, *words):
    command = [Path(sys.executable).with_name("urnscan"), "--engine", "spark", "--master", master, "--no-progress"]
    return subprocess.run(
        [*command, *map(str, words)], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def rows(store, folder):
    """The rows of a folder in a bucket, which has nothing but parts and what the run says of itself."""
    from pyarrow.fs import FileSelector

    names = sorted(info.base_name for info in store.get_file_info(FileSelector(folder)))
    assert names[0] == "_urnscan.json"
    assert all(name.startswith("part-") for name in names[1:])
    return pa.concat_tables(pq.read_table(f"{folder}/{name}", filesystem=store) for name in names[1:]).to_pylist()


def test_nothing_is_shared_but_a_store(master, environment, store, tmp_path, monkeypatch):
    """Inputs and outputs are in S3: the same rows as on one machine; a result is replaced only with --force; no stack trace."""
    outputs = ["-o", "s3://library/run/classes", "--occurrences", "s3://library/run/occurrences/"]
    done = on_cluster(master, environment, tmp_path, "s3://library/texts/", *outputs)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith("WARNING: Using incubator modules")]
    assert lines[0].startswith("urnscan: ")
    assert all(not line.startswith("\t") and "xception" not in line and "log4j" not in line for line in lines)

    for name in ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"):
        monkeypatch.setenv(name, environment[name])
    one = urnscan.scan("s3://library/texts/")
    assert len(one.occurrences) > 50
    assert rows(store, "library/run/classes") == one.classes.to_pylist()
    assert rows(store, "library/run/occurrences") == one.occurrences.to_pylist()
    with store.open_input_stream("library/run/classes/_urnscan.json") as told:
        assert json.loads(told.read())["counts"]["occurrences"] == len(one.occurrences)
    assert {info.base_name for info in store.get_file_info(pa.fs.FileSelector("library/run"))} == {
        "classes",
        "occurrences",
    }
    assert not list(tmp_path.iterdir())

    again = on_cluster("local[1]", environment, tmp_path, "s3://library/texts/prose.txt", *outputs)  # no executors
    assert again.returncode == 2
    assert again.stderr.splitlines()[-1] == "urnscan: s3://library/run/classes: exists already; --force replaces it"


SPECULATION = (
    f"{FEW} --conf spark.speculation=true --conf spark.speculation.quantile=0.5 --conf spark.speculation.multiplier=1.1 "
    "--conf spark.speculation.interval=100ms --conf spark.speculation.minTaskRuntime=100ms pyspark-shell"
)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_speculation(master, environment, tmp_path):
    """A straggler is overtaken by another attempt: the rows of one machine, no file or process of the first attempt."""
    corpus, out, script = tmp_path / "corpus", tmp_path / "out", tmp_path / "slow.sh"
    corpus.mkdir()
    out.mkdir()
    for number in range(8):  # each more than is scanned together
        lines = "".join(f"{number} urn:example:{number * row % 997}\n" + "x" * 4_000 + "\n" for row in range(1_200))
        (corpus / f"{number}.{'slow' if number == 3 else 'txt'}").write_text(lines)
    script.write_text(f"#!/bin/sh\nmkdir {tmp_path}/marker 2>/dev/null && sleep 900\nexec cat\n")
    script.chmod(0o755)
    outputs = ["-o", out / "classes", "--occurrences", out / "occurrences"]
    speculative = environment | {"PYSPARK_SUBMIT_ARGS": SPECULATION}
    began = time.monotonic()
    done = on_cluster(master, speculative, tmp_path, corpus, "--filter", f"slow:{script}", *outputs)
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - began < 450
    assert (tmp_path / "marker").exists()
    one = urnscan.scan(corpus, filters=f"slow:{script}")
    for table in ("classes", "occurrences"):
        parts = sorted((out / table).glob("part-*"))
        assert pa.concat_tables(map(pq.read_table, parts)).to_pylist() == getattr(one, table).to_pylist()
        assert {path.name for path in (out / table).iterdir()} == {"_urnscan.json", *(path.name for path in parts)}
    assert sorted(path.name for path in out.iterdir()) == ["classes", "occurrences"]
    wait_for_no_readers(corpus / "3.slow")
