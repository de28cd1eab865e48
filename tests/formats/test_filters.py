"""Filters: which command is for which file, what it prints, and how it ends."""

from __future__ import annotations

import gzip
import io
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import urnscan
from tests.support.packed import tar, zipped
from tests.support.processes import wait_for_no_readers, wait_for_readers, wait_until
from urnscan.cli import main
from urnscan.formats.captures import Capture
from urnscan.formats.filters import read_filters
from urnscan.formats.media_types import LONGEST, media_type

NAME = b"urn:ex:a "
UPPER = "txt:tr a-z A-Z"


@pytest.fixture(autouse=True)
def copies(tmp_path_factory, monkeypatch):
    """The folder of temporary files; each test leaves it empty, and no command behind."""
    folder = tmp_path_factory.mktemp("copies")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert not list(folder.iterdir())


@pytest.fixture
def found(tmp_path):
    """The members and texts of a scan of a file with these bytes, and the reasons of its failures."""

    def found(data: bytes, *filters: str, name: str = "a.txt", **options: object):
        (tmp_path / name).write_bytes(data)
        # A file that is read in any case, so that the run does not end as one that read nothing.
        (tmp_path / "also").write_bytes(b"")
        scan = urnscan.scan(tmp_path / name, tmp_path / "also", filters=filters, progress=False, **options)
        rows = [(row["member"], row["text"]) for row in scan.occurrences.to_pylist()]
        return rows, [failure.reason for failure in scan.report.failures]

    return found


@pytest.mark.parametrize(
    ("kinds", "name", "fits"),
    [
        ("pdf", "a.pdf", True),
        ("pdf", "a.PDF", True),
        (".PDF,eps", "x.eps", True),
        ("pdf", "pdf", False),
        ("pdf", "a.pdf.txt", False),
        ("*", "a", True),
        ("application/pdf", "a.pdf", False),
    ],
)
def test_suffixes(kinds, name, fits):
    """As in ugrep: by suffix, whatever its case, or all files."""
    (each,) = read_filters([f"{kinds}:cat"], 1)
    assert each.fits(name) == fits


@pytest.mark.parametrize(
    ("kinds", "name", "fits"),
    [
        ("pdf", "a.pdf <urn:uuid:1>", True),
        ("pdf", "a.pdf?x=1 <urn:uuid:1>", True),
        ("pdf", "a <urn:uuid:1.pdf>", False),
        ("application/pdf", "a <urn:uuid:1>", True),
        ("application/*", "a", True),
        ("text/*", "a", False),
    ],
)
def test_records_of_web_archives(kinds, name, fits):
    """The name of a record is its address and its number; the media type is what the server said."""
    (each,) = read_filters([f"{kinds}:cat"], 1)
    assert each.fits(name, b"", Capture(head=b"HTTP/1.1 200\r\nContent-Type: application/pdf\r\n")) == fits


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cat", "invalid filter .*; write SUFFIX"),
        (":cat", "invalid filter"),
        ("a,:cat", "invalid filter"),
        ("a:", "invalid filter"),
        ("a:'cat", "invalid command in"),
        ("a:no-such-command %", "command not found: no-such-command; install it"),
    ],
)
def test_wrong_filters(text, says):
    """Each is refused before the run begins, in one line."""
    with pytest.raises(urnscan.ArgumentError, match=says):
        urnscan.scan("a", filters=text)


@pytest.mark.full
@pytest.mark.parametrize(
    "command", ["tr a-z A-Z", "sed y/urnexa/URNEXA/ %", "sh -c 'tr a-z A-Z < \"$0\"' %", "dd conv=ucase if=%"]
)
@pytest.mark.parametrize(
    ("name", "data", "way"),
    [
        ("a.txt", NAME, ""),
        ("-a.txt", NAME, ""),
        ("a b.TXT", NAME, ""),
        ("a.tar", tar([("b/a.txt", NAME), ("c.md", b"")]), "b/a.txt!/"),
        ("a.zip", zipped([("a.txt", NAME)]), "a.txt!/"),
        ("a.txt.gz", gzip.compress(NAME, mtime=0), ""),
        ("a.zip", zipped([("b.tar", tar([("a.txt", NAME)]))]), "b.tar!/a.txt!/"),
    ],
    ids=["file", "dash", "space", "tar", "zip", "gzip", "tar in zip"],
)
def test_wherever_a_file_lies(found, name, data, way, command):
    """Named files, members and what is compressed; the member says that a command was there."""
    rows, failures = found(data, f"txt:{command}", name=name)
    assert (rows, failures) == ([(f"{way}{command.split()[0]}", "URN:EX:A")], [])


def test_records(found):
    """A record of a web archive is decoded before its command sees it."""
    body = gzip.compress(NAME)
    head = b"HTTP/1.1 200\r\nContent-Type: application/x-secret\r\nContent-Encoding: gzip\r\n\r\n"
    fields = b"WARC-Target-URI: http://ex.org/a\r\nContent-Type: application/http\r\n"
    record = b"WARC/1.0\r\n%bContent-Length: %d\r\n\r\n%b%b\r\n\r\n" % (fields, len(head + body), head, body)
    rows, failures = found(record, "application/x-secret:tr a-z A-Z", name="a.warc")
    assert (rows, failures) == ([("http://ex.org/a!/tr", "URN:EX:A")], [])


@pytest.mark.parametrize("way", ["file", "tar", "gzip"])
@pytest.mark.parametrize("kinds", ["application/postscript", "application/*", "image/png,application/POSTSCRIPT"])
def test_media_types(found, kinds, way):
    """pdf-and-filters.md, Media types: the first bytes tell the type, whatever the name, and wherever the file lies."""
    data = b"%!PS-Adobe-3.0\n" + NAME
    packed = {"file": data, "tar": tar([("a", data), ("b", NAME)]), "gzip": gzip.compress(data)}[way]
    rows, failures = found(packed, f"{kinds}:tr a-z A-Z", name="a")
    inner = "a!/tr" if way == "tar" else "tr"
    assert (rows, failures) == ([(inner, "URN:EX:A"), *([("b", "urn:ex:a")] if way == "tar" else [])], [])


@pytest.mark.parametrize("size", [1, 20 << 20])
def test_media_types_in_folders(tmp_path, size):
    """Small files that are read many at a time, and a large one that is cut into parts, are told by their bytes, too."""
    (tmp_path / "a.txt").write_bytes(b"%!PS\n" + NAME + b"\n" * size + NAME)
    (tmp_path / "b.txt").write_bytes(b"!PS\n" + NAME)
    scan = urnscan.scan(tmp_path, filters="application/postscript:tr a-z A-Z", progress=False)
    assert [row["text"] for row in scan.occurrences.to_pylist()] == ["URN:EX:A", "URN:EX:A", "urn:ex:a"]


@pytest.mark.parametrize("form", ["png", "jpeg", "gif", "tiff", "webp", "bmp"])
def test_media_types_of_pictures(form):
    """Pictures as another library writes them."""
    data = io.BytesIO()
    Image.new("RGB", (3, 2)).save(data, form)
    assert media_type(data.getvalue()[:LONGEST]) == f"image/{form}"


@given(head=st.binary(max_size=LONGEST))
def test_media_types_of_anything(head):
    """Fewer of the first bytes of a file give the same type or none."""
    assert media_type(head[:-1]) in {None, media_type(head)}


@pytest.mark.parametrize("name", ["$(touch x).txt", "a;touch x;.txt", "`touch x`.txt", "%.txt"])
def test_names_that_would_run_programs(found, tmp_path, monkeypatch, name):
    """Names are data: no shell sees them, and none becomes a part of a script."""
    monkeypatch.chdir(tmp_path)
    for command, count in (("cat %", 1), ("sh -c 'cat %; true'", 0), ("sh -c 'cat \"$0\"' %", 1)):
        rows, _ = found(NAME, f"txt:{command}", name=name)
        assert len(rows) == count
    assert not (tmp_path / "x").exists()


def test_only_what_fits(found):
    """Of several filters the first that fits; other files are read as before, also small ones in folders."""
    data = zipped([("a.txt", NAME), ("b.md", NAME), ("c.log", NAME)])
    rows, _ = found(data, UPPER, "txt,md:sed s/a/b/", name="a.zip")
    assert rows == [("a.txt!/tr", "URN:EX:A"), ("b.md!/sed", "urn:ex:b"), ("c.log", "urn:ex:a")]


def test_filters_of_a_file_and_of_the_environment(found, tmp_path, monkeypatch):
    """ "From the command line, an environment variable or a file that the user names": the first that fits is taken."""
    (tmp_path / "own").write_text(f"# for texts\n\n  {UPPER}\n")
    by_file, failures = found(NAME, f"@{tmp_path / 'own'}")
    assert by_file == found(NAME, UPPER)[0]
    assert not failures
    for path, says in ((tmp_path / "none", "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(urnscan.FatalError, match=f"{path}: the filters cannot be read: {says}"):
            found(NAME, f"@{path}")
    monkeypatch.setenv("URNSCAN_FILTERS", f"@{tmp_path / 'own'}\ntxt:false")
    monkeypatch.chdir(tmp_path)
    assert main(["a.txt", "--quiet", "-o", "a.jsonl"]) == 0
    assert main(["a.txt", "--filter", "txt:false", "--quiet", "-o", "b.jsonl"]) == 2
    assert "URN:EX:A" in (tmp_path / "a.jsonl").read_text()


@pytest.mark.full
def test_small_and_large_files_of_a_folder(tmp_path):
    """Small plain files are read many at a time, huge ones in parts; those with a filter are not."""
    for number in range(20):
        (tmp_path / f"{number:02}.{'txt' if number % 2 else 'md'}").write_bytes(NAME)
    (tmp_path / "z.txt").write_bytes(NAME + b" " * (40 << 20))
    rows = urnscan.scan(tmp_path, filters=UPPER, progress=False).occurrences.to_pylist()
    assert [row["text"] for row in rows] == ["urn:ex:a", "URN:EX:A"] * 10 + ["URN:EX:A"]


@pytest.mark.full
@pytest.mark.parametrize(
    ("command", "rows", "says"),
    [
        ("sh -c 'cat; exit 3'", 1, ["sh ended with status 3"]),
        ("sh -c 'cat; echo Oh >&2; echo no >&2; exit 1'", 1, ["sh ended with status 1: Oh"]),
        ("sh -c 'cat; kill -9 $$'", 1, ["sh was ended by signal 9"]),
        ("sh -c 'cat; echo all is well >&2'", 1, []),
        ("sh -c 'exec <&-; echo urn:ex:a'", 1, []),
        ("sh -c 'cat; head -c 9000000 /dev/zero >&2'", 1, []),
        ("sh -c 'cat; exec >&-; head -c 9000000 /dev/zero >&2; exit 2'", 1, ["sh ended with status 2"]),
        ("sh -c 'exec >&- 2>&-; sleep 0.3'", 0, []),
        ("true", 0, []),
    ],
)
def test_ends(found, command, rows, says):
    """What a command printed counts, however it ends; only its exit status makes a failure."""
    got, failures = found(NAME, f"txt:{command}")
    assert len(got) == rows
    assert [reason.partition(": \\x00")[0].partition(": \0")[0] for reason in failures] == says


@pytest.mark.full
@pytest.mark.parametrize("command", ["sh -c 'cat; sleep 60'", "sh -c 'cat; exec >&- 2>&-; sleep 60'"])
def test_a_command_that_does_not_end(found, command):
    """--filter-timeout ends it, and what it started; what it printed until then counts."""
    began = time.monotonic()
    rows, (reason,) = found(NAME, f"txt:{command}", filter_timeout=1)
    assert time.monotonic() - began < 20
    assert len(rows) == 1
    assert "took more than 1 s" in reason or "did not end" in reason


@pytest.mark.full
def test_endless_output(found):
    """The limits of all forms hold for commands."""
    rows, (reason,) = found(NAME, "txt:yes urn:ex:a", max_size=1_000_000)
    assert reason == "unpacks to more than 1,000,000 bytes; the rest is not read; max_size allows more"
    assert 0 < len(rows) < 200_000


def test_a_member_that_cannot_be_read(found):
    """It costs itself; its command does not run."""
    data = bytearray(zipped([("a.txt", NAME * 100), ("b.txt", NAME)]))
    data[40] ^= 0xFF
    rows, failures = found(bytes(data), UPPER, name="a.zip")
    assert ("b.txt!/tr", "URN:EX:A") in rows
    assert len(failures) == 1


def test_what_a_command_prints_is_not_filtered_again(found):
    """`*` fits everything, also that."""
    rows, failures = found(NAME, "*:gzip -c")
    assert (rows, failures) == ([("gzip", "urn:ex:a")], [])


@pytest.mark.full
def test_the_end_of_a_run_ends_its_commands(tmp_path):
    """A caller who closes a run, for example by an error in a notebook, does not wait for a command."""
    from urnscan.run.options import Options
    from urnscan.run.pipeline import Outputs, run

    # The first file is a task of its own, so its rows come while the commands run.
    names = ("0.md", "a.txt", "b.txt")
    for name, text in zip(names, (NAME * 1_000_000, NAME, NAME), strict=True):
        (tmp_path / name).write_bytes(text)
    pids = tmp_path / "pids"
    ends = []

    def stop(_: object) -> None:
        wait_until(lambda: pids.exists() and pids.read_text().strip(), "the start of a command")
        ends.append(time.monotonic())
        raise KeyboardInterrupt

    options = Options(filters=(f"txt:sh -c 'echo $$ >> {pids}; exec sleep 60'",), jobs=2)
    with pytest.raises(KeyboardInterrupt):
        run([str(tmp_path / name) for name in names], options, Outputs(occurrences=stop))
    assert time.monotonic() - ends[0] < 30
    for pid in pids.read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


@pytest.mark.full
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals(tmp_path, number):
    """Ctrl-C and `kill` end the command of the filter at once, and leave no copy behind."""
    script = tmp_path / "wait"
    script.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "a.zip").write_bytes(zipped([("a.txt", NAME)]))
    command = [sys.executable, "-m", "urnscan", str(tmp_path / "a.zip"), "--filter", f"txt:{script} %"]
    with subprocess.Popen(command, env={**os.environ, "TMPDIR": str(tmp_path)}) as running:
        pid = tmp_path / "pid"
        wait_until(lambda: pid.exists() and pid.read_text().strip(), "the start of the command")
        running.send_signal(number)
        assert running.wait(20) in (130, 143)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    assert not list(tmp_path.glob("urnscan-*"))


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_run_that_is_killed(tmp_path):
    """A killed process cannot end its command, nor what that has started: they end all the same (docs/reference/pdf-and-filters.md)."""
    text = tmp_path / "a.txt"
    text.write_bytes(NAME)
    command = [sys.executable, "-m", "urnscan", str(text), "--filter", "txt:sh -c 'sleep 600 && exit 1'"]
    with subprocess.Popen(command) as running:
        wait_for_readers(text, 2)  # the shell and `sleep`
        running.kill()
    wait_for_no_readers(text)
