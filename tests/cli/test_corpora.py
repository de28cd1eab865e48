"""Real texts: a run finds in them what the oracle finds, to the byte.

The texts lie in archives beside the project, or where URNSCAN_CORPORA says; without them there is nothing to test.
"""

from __future__ import annotations

import os
import re
import tarfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support.oracle import SYNTAXES

from .conftest import EXPECTED, Command, expected

pytestmark = pytest.mark.full

CORPORA = Path(os.environ.get("URNSCAN_CORPORA") or Path(__file__).parents[3] / "shared" / "corpora")
MAY_HOLD_URNS = re.compile(rb"urn:", re.IGNORECASE)


@pytest.fixture(scope="module")
def corpora(tmp_path_factory, home):
    """The command in a folder with the texts, and the bytes of those that can have URNs, by their names."""
    archives = sorted(CORPORA.glob("*.tar.xz"))
    if not archives:
        pytest.skip(f"no archives of texts (*.tar.xz) in {CORPORA}")
    folder = tmp_path_factory.mktemp("corpora")
    for archive in archives:
        with tarfile.open(archive) as texts:
            texts.extractall(folder, filter="data")
    command = Command(folder, home)
    command.roots = command.names()
    command.texts = {}
    files = 0
    for path in sorted(folder.rglob("*"), key=os.fsencode):
        if path.is_file():
            files += 1
            data = path.read_bytes()
            if MAY_HOLD_URNS.search(data):
                command.texts[path.relative_to(folder).as_posix()] = data
    command.files = files
    yield command
    for path in folder.rglob("*"):  # pytest keeps the folders of the last runs
        if path.is_file():
            path.unlink()


@pytest.fixture(scope="module", params=SYNTAXES)
def scanned(request, corpora):
    """A run over all texts in one syntax: the command, the syntax, the rows of its occurrences by source."""
    syntax = request.param
    outputs = ["-o", f"{syntax}.classes.parquet", "--occurrences", f"{syntax}.occurrences.parquet"]
    result = corpora(*corpora.roots, *outputs, "--syntax", syntax)
    assert result.summary.startswith(f"urnscan: {corpora.files:,} inputs, ")
    found = {}
    for row in corpora.rows(f"{syntax}.occurrences.parquet", *EXPECTED):
        found.setdefault(row[0], []).append(row)
    assert found
    return corpora, syntax, found


def test_occurrences_are_those_of_the_oracle(scanned):
    """Source, start, line, text, canonical form, NID, stop and what would be trimmed, in every file that has some."""
    corpora, syntax, found = scanned
    for name, data in corpora.texts.items():
        assert found.get(name, []) == expected(name, data, syntax), name


def test_a_file_without_the_scheme_has_none(scanned):
    corpora, _, found = scanned
    assert found.keys() <= corpora.texts.keys()


def test_every_offset_points_at_its_text(scanned):
    corpora, _, found = scanned
    for name, rows in found.items():
        data = corpora.texts[name]
        for row in rows:
            assert data.startswith(row[3].encode(), row[1]), row


def test_the_classes_add_up_to_the_occurrences(scanned):
    corpora, syntax, found = scanned
    classes = {}
    for rows in found.values():
        for source, _, _, text, urn, *_ in rows:
            classes.setdefault(urn, []).append((source, text))
    names = ["urn", "occurrence_count", "source_count", "spelling_count", "first_source"]
    table = pq.read_table(corpora.folder / f"{syntax}.classes.parquet", columns=names)
    rows = [tuple(row.values()) for row in table.to_pylist()]
    assert rows == [
        (urn, len(places), len({source for source, _ in places}), len({text for _, text in places}), places[0][0])
        for urn, places in sorted(classes.items(), key=lambda item: item[0].encode())
    ]


def test_trimmed_occurrences_are_those_of_the_oracle(corpora):
    corpora(*corpora.roots, "--occurrences", "trimmed.occurrences.parquet", "--trim", "--quiet")
    found = {}
    for row in corpora.rows("trimmed.occurrences.parquet", *EXPECTED):
        found.setdefault(row[0], []).append(row)
    for name, data in corpora.texts.items():
        assert found.get(name, []) == expected(name, data, trim=True), name
    assert found.keys() <= corpora.texts.keys()


def test_as_they_are_kept(corpora):
    """The archives themselves hold what the files from them hold, each occurrence with the way to it as its member."""
    archives = sorted(map(str, CORPORA.glob("*.tar.xz")))
    for inputs, name in ((archives, "archives"), (corpora.roots, "files")):
        corpora(*inputs, "--occurrences", f"{name}.occurrences.parquet", "--quiet")
    columns = ("start", "line", "text", "urn", "stop", "punctuation", "resolver")
    packed = corpora.rows("archives.occurrences.parquet", "member", *columns)
    unpacked = corpora.rows("files.occurrences.parquet", "source", *columns)
    assert len(packed) > 10_000
    assert sorted(packed, key=repr) == sorted(unpacked, key=repr)
