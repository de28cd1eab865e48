"""The package that docs/extending.md shows is installed and read: other packages can add forms and formats of records."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

fastavro = pytest.importorskip("fastavro")

pytestmark = pytest.mark.full

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")
FILE = re.compile(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """Runs `urnscan` with the package of the page installed; returns what it printed."""
    source, target, folder = (tmp_path_factory.mktemp(name) for name in ("source", "target", "folder"))
    for name, text in FILE.findall(PAGE):
        (source / name).write_text(text, encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-build-isolation", "--no-deps"]
    subprocess.run([*pip, "--target", target, source], check=True)

    def run(*words, status=0):
        environment = os.environ | {"PYTHONPATH": str(target)}
        done = subprocess.run(
            [sys.executable, "-m", "urnscan", *words],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr

    with (folder / "a.avro").open("wb") as file:
        schema = {"type": "record", "name": "r", "fields": [{"name": "note", "type": "string"}]}
        fastavro.writer(file, schema, [{"note": "see urn:ex:a"}, {"note": "and urn:ex:b"}])
    whole = (folder / "a.avro").read_bytes()
    (folder / "cut.avro").write_bytes(whole[:-9])
    books = ("9780395363416", "316148410X", "0-395-36341-1")
    (folder / "d.txt").write_text("".join(f"title: a\nisbn: {isbn}\n---\n" for isbn in books))
    return run


def test_a_form(command):
    """A form of another package is asked first: Avro is only recognised by urnscan itself."""
    assert "a.avro!/1/note:1:urn:ex:a" in command("a.avro")
    assert "a.avro!/2/note:1:urn:ex:b" in command("a.avro")
    assert "cut.avro: is damaged: " in command("cut.avro", status=1)


def test_a_format_of_records(command):
    """A format of another package is recognised, named by `--record`, and its records are joined by its identifiers."""
    assert "1 dump, 3 records, 2 clusters, 1 duplicate" in command("dedup", "d.txt", "--fields", "-o", "c.parquet")
    assert "3 records" in command("dedup", "d.txt", "--record", "dashes", "-o", "c.parquet", "--force")
    assert "dashes" in command("dedup", "--help")
