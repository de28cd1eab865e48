"""Spark Connect: a client without Java, whose session has no `sparkContext`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import urnscan

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.spark

CLIENT = """
import json, sys
from pyspark.sql import SparkSession
from urnscan import spark as here
spark = SparkSession.builder.remote("local[2]").config("spark.sql.shuffle.partitions", 3).getOrCreate()
try:
    with here.scan(spark, "data/samples", rejects=True, filters=sys.argv[1]) as scan:
        occurrences = scan.occurrences.orderBy("place").drop("place").toArrow().to_pylist()
        tables = [scan.classes.toArrow().to_pylist(), here.classes(scan.occurrences).toArrow().to_pylist()]
        counts = [scan.report().inputs, scan.rejects.count(), scan.errors.count()]
    frame = spark.createDataFrame([(7, "see urn:isbn:0451450523")], "page int, text string")
    column = [list(row) for row in here.scan_column(frame, "text", keep=["page"]).select("page", "urn").collect()]
    told = {"is": type(spark).__module__, "occurrences": occurrences, "classes": tables, "counts": counts, "column": column}
    print(json.dumps(told, default=str))
finally:
    spark.stop()
"""


def test_connect(tmp_path):
    """The tables of one machine, `classes` and `scan_column`; inputs are read once, also by a session of Connect."""
    pytest.importorskip("pyspark", reason="needs pyspark: pip install 'urnscan[spark]'")
    for module in ("grpc", "grpc_status", "google.rpc", "zstandard"):
        pytest.importorskip(module, reason="needs a client of Spark Connect: pip install 'pyspark[connect]'")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("needs Java 17")
    log = tmp_path / "log"
    counted = f"txt:sh -c 'echo read >> {log}; cat'"
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_REMOTE"}
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, counted],
        cwd=ROOT,
        env=environment | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["is"].startswith("pyspark.sql.connect.")
    reads = log.read_text().splitlines()
    log.unlink()
    one = urnscan.scan(ROOT / "data" / "samples", rejects=True, filters=counted)
    assert reads == log.read_text().splitlines()
    named = [row | {"source": f"data/samples/{Path(row['source']).name}"} for row in one.occurrences.to_pylist()]
    assert found["occurrences"] == json.loads(json.dumps(named, default=str))
    classes = [(row["urn"], row["occurrence_count"]) for row in one.classes.to_pylist()]
    for table in found["classes"]:
        assert [(row["urn"], row["occurrence_count"]) for row in table] == classes
    assert found["counts"] == [one.report.inputs, len(one.rejects), len(one.report.failures)]
    assert found["column"] == [[7, "urn:isbn:0451450523"]]
