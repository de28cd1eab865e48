"""PDFs: what is in them, names that are broken over lines, and PDFs and processes of pdfium that fail."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from email.message import EmailMessage
from pathlib import Path
from types import SimpleNamespace

import pytest

import urnscan
from tests.support.packed import tar, zipped
from tests.support.pdfs import COLUMN, Pdf
from urnscan.formats import scripts
from urnscan.formats.documents import pdf as pdf_form
from urnscan.formats.documents import pdfium, pdfium_script
from urnscan.run.options import Options

pytest.importorskip("pypdfium2")

WHOLE = Pdf(
    pages=[["see urn:ex:one and"], ["urn:ex:two"]],
    links={1: ["https://nbn-resolving.org/urn:nbn:de:1-2", "urn:ex:link-", "mailto:urn:ex:mail"]},
    outline=[("On urn:ex:title", "https://r.example/urn:ex:chapter"), ("Übersicht Ω urn:ex:greek", "")],
    info={"Title": "urn:ex:info", "Keywords": "a urn:ex:key"},
    xmp=b"<x:xmpmeta><dc:identifier>urn:ex:xmp</dc:identifier></x:xmpmeta>",
    attached=[("für/../a.zip", zipped([("b.txt", b"urn:ex:zip")])), ("c.txt", b"urn:ex:plain"), ("d", b"")],
    pinned=[("p.txt", b"urn:ex:pinned")],
)
FOUND = [
    ("page 1", "urn:ex:one"),
    ("page 2", "urn:ex:two"),
    ("page 2/links", "urn:nbn:de:1-2"),
    ("page 2/links", "urn:ex:link-"),
    ("page 2/links", "urn:ex:mail"),
    ("outline", "urn:ex:title"),
    ("outline", "urn:ex:chapter"),
    ("outline", "urn:ex:greek"),
    ("metadata", "urn:ex:info"),
    ("metadata", "urn:ex:key"),
    ("xmp", "urn:ex:xmp"),
    ("p.txt", "urn:ex:pinned"),
    ("für_.._a.zip!/b.txt", "urn:ex:zip"),
    ("c.txt", "urn:ex:plain"),
]
SIMPLE = Pdf([["urn:ex:a"]]).build()
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="tests look into /proc")


@pytest.fixture(autouse=True)
def copies(tmp_path_factory, monkeypatch):
    """The folder of temporary files; each test leaves it empty, and no process behind."""
    folder = tmp_path_factory.mktemp("copies")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert not list(folder.iterdir())
    assert not processes()


@pytest.fixture
def found(tmp_path):
    """The members and texts of a scan of a file with these bytes, and the reasons of its failures."""

    def found(data: bytes, name: str = "a.pdf", **options: object):
        (tmp_path / name).write_bytes(data)
        # A file that is read in any case, so that the run does not end as one that read nothing.
        (tmp_path / "also").write_bytes(b"")
        scan = urnscan.scan(tmp_path / name, tmp_path / "also", progress=False, **options)
        rows = [(row["member"], row["text"]) for row in scan.occurrences.to_pylist()]
        return rows, [failure.reason for failure in scan.report.failures]

    return found


def processes(parent: int | None = None) -> list[int]:
    """The processes of pdfium that this process, or another one, has started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has just ended
            ours = int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == (parent or os.getpid())
            if ours and b"pdfium_script" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def test_all_that_is_in_it(found):
    """Pages, links, outline, Info, XMP and attached files are members; addresses of two links never join."""
    rows, failures = found(WHOLE.build())
    assert sorted(rows) == sorted(FOUND)
    assert failures == []


@pytest.mark.full
@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["see urn:ietf:params:rtp-", "hdrext:sdes:mid, and"], ["urn:ietf:params:rtp-hdrext:sdes:mid,"]),
        (["urn:isbn:0-387-", "94553-2"], ["urn:isbn:0-387-94553-2"]),
        (["urn:uuid:6ba7b810-9dad-", "11d1-80b4-00c04fd430c8"], ["urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8"]),
        (["<urn:nbn:de:101:1-2019", "072802401757702913>"], ["urn:nbn:de:101:1-2019072802401757702913"]),
        (["the namespace urn:ex:foo-", "And then"], ["urn:ex:foo-"]),
        (["about urn:ex:foo", "bar"], ["urn:ex:foo"]),
        (["urn:ex:a-", "urn:ex:b"], ["urn:ex:a-", "urn:ex:b"]),
    ],
)
def test_names_broken_over_lines(found, lines, names):
    """The rule of the view `wraps`, also where pdfium leaves out the line end behind a hyphen (U+0002, U+FFFE)."""
    rows, _ = found(Pdf([lines]).build())
    assert [text for _, text in rows] == names


@pytest.mark.full
@pytest.mark.parametrize(
    ("lines", "address", "names"),
    [
        (["see urn:example:a:", "b and"], "urn:example:a:b", ["urn:example:a:b"]),
        (["see URN:NBN:de:101:1-", "2 and"], "https://r.example/urn:nbn:de:101:1-2?x", ["URN:NBN:de:101:1-2"]),
        (["see urn:example:inter", "national and"], "urn:example:international", ["urn:example:international"]),
        (["urn:example:a.", "b.", "c."], "urn:example:a.b.c", ["urn:example:a.b.c"]),
        (["the word urn:example:charac-", "teristics"], "urn:example:characteristics", ["urn:example:characteristics"]),
        (["the word urn:example:rtp-", "hdrext"], "urn:example:rtp-", ["urn:example:rtp-"]),
        (["the word urn:example:rtp-", "hdrext"], "https://a.example/", ["urn:example:rtp-hdrext"]),
        (["see urn:example:a:", "b and"], "https://a.example/", ["urn:example:a"]),
        (["see urn:example:a:", "b and"], "urn:example:a:c", ["urn:example:a"]),
    ],
)
def test_a_link_tells_whether_a_name_goes_on(found, lines, address, names):
    """pdf-and-filters.md: an address tells how its name goes on, that it ends, and which hyphen is none of it."""
    rows, _ = found(Pdf([lines], linked={(0, 0): address}).build(), trim=True)
    assert [text for member, text in rows if member == "page 1"] == names


FILLED = "a line that is as long as the column is wide, x"
BEFORE = "the name that this text is about is "


@pytest.mark.full
@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        (("", BEFORE, "urn:example:a:"), ("b", " and"), "urn:example:a:b"),
        (("", BEFORE, "urn:example:1."), ("2", " and"), "urn:example:1.2"),
        (("", BEFORE, "urn:example:a:"), (f"{COLUMN}b", " and"), "urn:example:a:b"),
        (
            ("urn:example:a-name-that-fills-a-line-alone/",),
            ("b", " and"),
            "urn:example:a-name-that-fills-a-line-alone/b",
        ),
        (("", BEFORE, "urn:example:a"), ("b", " and"), "urn:example:a"),
        (("", BEFORE, "urn:example:a-"), ("", "bc and"), "urn:example:a-"),
        ((f"{BEFORE}urn:example:a:",), ("bc and so on",), "urn:example:a"),
        (("", "a ", "urn:example:a:"), ("b", " and"), "urn:example:a"),
        (("", BEFORE, "urn:example:a:"), ("       ", "         ", "b"), "urn:example:a"),
    ],
    ids=[
        "apart before",
        "dot",
        "in the next column",
        "apart behind",
        "in a word",
        "another font",
        "one font",
        "not filled",
        "not below",
    ],
)
def test_fonts_tell_whether_a_name_goes_on(found, first, second, name):
    r"""pdf-and-filters.md: a name in a font of its own, as `\url` sets it, goes on in a line that begins in this font."""
    rows, _ = found(Pdf([[*3 * [FILLED], first, second, *3 * [FILLED]]]).build(), trim=True)
    assert [text for _, text in rows] == [name]


@pytest.mark.full
def test_how_a_broken_name_is_told(found, tmp_path):
    """A name that was joined has `via` and the length in the text of the page; others have not."""
    found(Pdf([["urn:ex:one, urn:ietf:params:rtp-", "hdrext:sdes:mid"]]).build())
    rows = urnscan.scan(tmp_path / "a.pdf", progress=False).occurrences.to_pylist()
    assert [(row["via"], row["start"], row["length"]) for row in rows] == [(None, 0, 11), ("wraps", 12, 36)]


@pytest.mark.full
@pytest.mark.parametrize(
    ("code", "shown", "lines", "names"),
    [
        (0x7E, "2010", ["urn:example:charac~", "teristics"], ["urn:example:characteristics"]),
        (0x7E, "2010", ["urn:example:a~b"], ["urn:example:a"]),
        (0x7E, "0000", ["urn:example:charac~", "teristics"], ["urn:example:charac"]),
        (0x7E, "0000", ["urn:example:ab~cd"], ["urn:example:ab"]),
    ],
    ids=["drawn hyphen", "the same in a line", "no character at the end", "no character"],
)
def test_signs_that_are_no_hyphen_of_the_name(found, code, shown, lines, names):
    """A hyphen U+2010 at a line end was drawn there; U+FFFE may also stand for a glyph that is no character."""
    rows, _ = found(Pdf([lines], characters={code: shown}).build())
    assert [text for _, text in rows] == names


@pytest.mark.full
@pytest.mark.parametrize(("code", "letters"), [("1B", "ff"), ("1C", "fi"), ("1D", "fl"), ("1E", "ffi"), ("1F", "ffl")])
@pytest.mark.parametrize("encoding", ["T1", "OT1"])
def test_ligatures_of_tex(found, code, letters, encoding):
    """pdf-and-filters.md: the fonts of TeX that are bitmaps do not tell letters; a ligature is then its number in the encoding."""
    if encoding == "OT1":
        code = f"{int(code, 16) - 16:02X}"
    rows, _ = found(Pdf([["see urn:example:pro~le:1 there"]], characters={0x7E: f"00{code}"}).build())
    ends = letters == "fl" and encoding == "OT1"  # its number is that of a line end
    assert [text for _, text in rows] == ["urn:example:pro" if ends else f"urn:example:pro{letters}le:1"]


def test_pages_never_join(found):
    """The end of a page is no line end, also where pages are scanned together."""
    rows, _ = found(Pdf([["urn:ietf:params:rtp-"], ["hdrext:sdes:mid"], ["urn:ex:b"]]).build())
    assert [text for _, text in rows] == ["urn:ietf:params:rtp-", "urn:ex:b"]


def test_other_files_are_read_as_before(tmp_path):
    """What stands beside a PDF is scanned without the view `wraps`; the order is that of the files."""
    text = b"urn:ietf:params:rtp-\nhdrext:sdes:mid "
    (tmp_path / "a.txt").write_bytes(text)
    (tmp_path / "b.pdf").write_bytes(Pdf([["urn:ex:rtp-", "mid:b"]], attached=[("c.txt", text)]).build())
    (tmp_path / "d.txt").write_bytes(text)
    rows = urnscan.scan(tmp_path, progress=False).occurrences.to_pylist()
    cut = "urn:ietf:params:rtp-"
    assert [row["text"] for row in rows] == [cut, "urn:ex:rtp-mid:b", cut, cut]


@pytest.mark.full
def test_left_out_names_are_counted_once(tmp_path):
    """`--nid` counts what it leaves out in both scanners."""
    (tmp_path / "a.pdf").write_bytes(Pdf([["urn:ex:a urn:isbn:1"]], attached=[("c.txt", b"urn:ex:c")]).build())
    report = urnscan.scan(tmp_path, nid="isbn", progress=False).report
    assert (report.occurrences, report.left_out) == (1, 2)


def mail(data: bytes) -> bytes:
    made = EmailMessage()
    made["From"] = "a@ex.org"
    made.set_content("x")
    made.add_attachment(data, maintype="application", subtype="pdf", filename="a.pdf")
    return made.as_bytes()


def warc(data: bytes) -> bytes:
    head = b"HTTP/1.1 200\r\nContent-Type: application/pdf\r\n\r\n"
    fields = b"WARC-Type: response\r\nWARC-Target-URI: http://ex.org/a\r\nContent-Type: application/http\r\n"
    return b"WARC/1.0\r\n%bContent-Length: %d\r\n\r\n%b%b\r\n\r\n" % (fields, len(head + data), head, data)


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "data", "way"),
    [
        ("a", SIMPLE, ""),
        ("a.pdf", b"\n junk \n" + SIMPLE, ""),
        ("a.pdf.gz", gzip.compress(SIMPLE, mtime=0), ""),
        ("a.tar", tar([("b/a.pdf", SIMPLE)]), "b/a.pdf!/"),
        ("a.zip", zipped([("a.pdf", SIMPLE)]), "a.pdf!/"),
        ("a.eml", mail(SIMPLE), "a.pdf!/"),
        ("a.warc", warc(SIMPLE), "http://ex.org/a!/"),
        ("a.pdf", Pdf([[]], attached=[("b.pdf", SIMPLE)]).build(), "b.pdf!/"),
    ],
    ids=["name", "junk", "gzip", "tar", "zip", "mail", "warc", "pdf"],
)
def test_wherever_it_lies(found, name, data, way):
    """Whatever its name, and in every other form."""
    assert found(data, name) == ([(f"{way}page 1", "urn:ex:a")], [])


@pytest.mark.full
def test_records_that_are_not_wanted(found):
    """Conditions on records of web archives hold for PDFs in them; the columns of captures are filled."""
    assert found(warc(SIMPLE), "a.warc", where="status=404") == ([], [])
    assert found(warc(SIMPLE), "a.warc", where="status=200 mime=application/pdf")[0] == [
        ("http://ex.org/a!/page 1", "urn:ex:a")
    ]


def test_a_filter_goes_first(found):
    """Who names a command for PDFs gets what it prints."""
    assert found(SIMPLE, filters="pdf:echo urn:ex:b")[0] == [("echo", "urn:ex:b")]


@pytest.mark.full
def test_passages(tmp_path):
    """The text of a page is there to be read again."""
    (tmp_path / "a.pdf").write_bytes(Pdf([["before urn:ietf:params:rtp-", "hdrext:sdes:mid behind"]]).build())
    scan = urnscan.scan(tmp_path / "a.pdf", progress=False)
    (line,) = scan.context("urn:ietf:params:rtp-hdrext:sdes:mid", width=8).lines
    assert not processes()
    assert (line.before, line.text, line.after) == (" before "[1:], "urn:ietf:params:rtp-\nhdrext:sdes:mid", " behind")


def without_pypdfium2(monkeypatch):
    monkeypatch.setattr(pdf_form, "is_installed", lambda: False)


def test_without_the_extra(tmp_path, monkeypatch):
    """One note a run with the command that installs it; bytes are scanned as before, and nothing has failed."""
    without_pypdfium2(monkeypatch)
    for name in "abc":
        (tmp_path / f"{name}.pdf").write_bytes(Pdf([[]], info={"Title": "urn:ex:a"}).build())
    (tmp_path / "d.zip").write_bytes(zipped([(f"{number}.pdf", SIMPLE) for number in range(30)]))
    scan = urnscan.scan(tmp_path, progress=False)
    assert [(row["member"], row["text"]) for row in scan.occurrences.to_pylist()][:3] == [(None, "urn:ex:a)")] * 3
    (note,) = scan.report.notes
    assert (note.count, scan.report.failures) == (33, [])
    assert note.reason.endswith("pip install 'urnscan[pdf]'")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"%PDF-1.7\nurn:ex:c is no PDF", "it is damaged"),
        (Pdf([[]], xmp=b"urn:ex:c ", is_encrypted=True).build(), "it is encrypted, and needs a password"),
    ],
    ids=["damaged", "encrypted"],
)
def test_what_cannot_be_opened(found, data, says):
    """It is told in a line, and scanned as it is: a text that only begins like a PDF loses nothing."""
    packed = tar([("a.pdf", data), ("b.pdf", SIMPLE)])
    rows, (reason,) = found(packed, "a.tar")
    assert rows == [("a.pdf", "urn:ex:c"), ("b.pdf!/page 1", "urn:ex:a")]
    assert reason == f"{says}: it is scanned unchanged, and its text is not read"


def test_damaged_pages_are_told_in_one_line(found):
    """A PDF may say that it has a million pages."""
    data = WHOLE.build().replace(b"/Count 2/Kids", b"/Count 5000000/Kids", 1)
    rows, failures = found(data)
    assert ("page 1", "urn:ex:one") in rows
    assert len(failures) <= 1


@pytest.mark.full
@pytest.mark.parametrize("step", [97])
def test_cut_off_and_damaged_anywhere(tmp_path, step):
    """It costs at most itself, in a line or two; the next PDF is read."""
    data = WHOLE.build()
    for number, end in enumerate(range(5, len(data), step)):
        (tmp_path / f"{number:04}a.pdf").write_bytes(data[:end])
        damaged = bytearray(data)
        damaged[end : end + 3] = b"\xff 9"
        (tmp_path / f"{number:04}b.pdf").write_bytes(damaged)
    (tmp_path / "z.pdf").write_bytes(SIMPLE)
    scan = urnscan.scan(tmp_path, progress=False)
    assert scan.occurrences.to_pylist()[-1]["text"] == "urn:ex:a"
    assert scan.report.inputs > number


@pytest.fixture
def odd_pdfium(tmp_path, monkeypatch):
    """A pdfium that crashes or hangs where the name of the PDF says so, behind the first page."""
    script = tmp_path / "odd_pdfium_script.py"
    script.write_text(
        f"import importlib.util, os, signal, sys, time\n"
        f"spec = importlib.util.spec_from_file_location('pdfium_script', {pdfium_script.__file__!r})\n"
        "script = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(script)\n"
        "contents = script.contents\n"
        "def odd(path):\n"
        "    name = os.path.basename(path)\n"
        "    for frame in contents(path):\n"
        "        if 'early' not in name:\n"
        "            yield frame\n"
        "        if 'crash' in name:\n"
        "            os.kill(os.getpid(), signal.SIGSEGV)\n"
        "        if 'hang' in name:\n"
        "            time.sleep(60)\n"
        "script.contents = odd\n"
        "script.main()\n"
    )
    contents = pdfium.Pdfium.contents

    def impatient(self, path):
        """Loses patience behind the first page: a busy machine may take long to start a process."""
        pdfium._PATIENCE = 60
        for frame in contents(self, path):
            yield frame
            pdfium._PATIENCE = 1 if "hang" in Path(path).name else 60

    monkeypatch.setattr(pdfium, "_PATIENCE", 60)
    monkeypatch.setattr(pdfium.Pdfium, "contents", impatient)
    monkeypatch.setattr(pdfium.pdfium_script, "__file__", str(script))


@pytest.mark.full
@pytest.mark.usefixtures("odd_pdfium")
@pytest.mark.parametrize(
    ("name", "says"),
    [("crash.pdf", "pdfium was ended by signal 11"), ("hang.pdf", "pdfium took more than 1 s for a page")],
)
def test_a_process_that_fails(tmp_path, name, says):
    """It is replaced, and the PDF told; what it gave until then is read, and the next PDF, too."""
    (tmp_path / name).write_bytes(WHOLE.build())
    (tmp_path / "z.pdf").write_bytes(SIMPLE)
    scan = urnscan.scan(tmp_path, include="*.pdf", jobs=1, progress=False)
    rows = [(row["member"], row["text"]) for row in scan.occurrences.to_pylist()]
    assert rows == [("page 1", "urn:ex:one"), ("page 1", "urn:ex:a")]
    assert [failure.reason for failure in scan.report.failures] == [f"{says}: what it gave until then is read"]


@pytest.mark.usefixtures("odd_pdfium")
def test_a_process_that_fails_at_once(found):
    """A PDF of which nothing was read is scanned as it is."""
    rows, failures = found(Pdf([["x"]], info={"Title": "urn:ex:as-it-is "}).build(), "early-crash.pdf")
    assert rows == [(None, "urn:ex:as-it-is")]
    assert failures == ["pdfium was ended by signal 11: it is scanned unchanged, and its text is not read"]


@pytest.mark.full
def test_a_page_that_is_there_a_thousand_times(found, monkeypatch):
    """Each one comes within the time for a page, and all of them never: a PDF has a time by its bytes."""
    monkeypatch.setattr(pdfium, "_TIME", 1)
    monkeypatch.setattr(pdfium, "_BYTES_PER_SECOND", 1 << 30)
    rows, failures = found(Pdf([["urn:ex:one"]], repeated=(b"q Q " * 2_000_000, 5_000)).build())
    assert rows == [("page 1", "urn:ex:one")]
    assert failures == ["pdfium took more than 1 s of the processor for it: what it gave until then is read"]
    assert found(SIMPLE) == ([("page 1", "urn:ex:a")], [])


@pytest.mark.full
def test_a_process_that_somebody_has_ended(tmp_path):
    """Another one takes its place: no PDF is lost."""
    (tmp_path / "a.pdf").write_bytes(SIMPLE)
    options = Options()
    from urnscan.formats.unfold import open_documents
    from urnscan.stores.input import Input

    source = Input("a.pdf", str(tmp_path / "a.pdf"), len(SIMPLE))
    for _ in range(2):
        assert [document.member for document in open_documents(source, options.reading)] == ["page 1"]
        (number,) = processes()
        os.kill(number, signal.SIGKILL)
        time.sleep(0.1)
    options.reading.processes.end()


@pytest.mark.full
def test_one_process_for_all(tmp_path, monkeypatch):
    """A thread has one process, also for a PDF in a PDF, and uses it again."""
    started = []
    start = subprocess.Popen

    def popen(*arguments, **options):
        started.append(arguments)
        return start(*arguments, **options)

    monkeypatch.setattr(scripts.subprocess, "Popen", popen)
    inner = Pdf([["urn:ex:b"]], attached=[("c.pdf", SIMPLE)]).build()
    for number in range(5):
        (tmp_path / f"{number}.pdf").write_bytes(Pdf([[]], attached=[("b.pdf", inner), ("d.pdf", SIMPLE)]).build())
    scan = urnscan.scan(tmp_path, jobs=1, progress=False)
    assert scan.report.occurrences == 15
    assert len(started) == 1


def test_without_a_process(found, monkeypatch):
    """A system that starts no more processes costs the text of the PDF."""

    def popen(*_: object, **__: object):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(scripts, "subprocess", SimpleNamespace(Popen=popen, PIPE=-1, DEVNULL=-3))
    _, (reason,) = found(SIMPLE)
    assert reason.startswith("pdfium could not be started (Resource temporarily unavailable): ")


@pytest.mark.full
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"max_members": 50}, "has more than 50 members; the rest is not read; max_members allows more"),
        ({"max_size": 1000}, "unpacks to more than 1,000 bytes; the rest is not read; max_size allows more"),
    ],
    ids=["members", "size"],
)
def test_limits(found, options, says):
    """Those of all forms hold for pages."""
    rows, failures = found(Pdf([["urn:ex:a " * 4]] * 200).build(), **options)
    assert failures == [says]
    assert len(rows) < 200 * 4


def test_too_deep(found):
    """One line for all pages."""
    assert found(zipped([("a.pdf", Pdf([["urn:ex:a"]] * 9).build())]), "a.zip", max_depth=1) == (
        [],
        ["is nested more than 1 deep, so it is not read; max_depth allows more"],
    )


@pytest.mark.full
def test_an_attached_bomb(found):
    """What is attached unfolds within the same limits, before it takes memory or disk."""
    import zlib

    made = Pdf([["urn:ex:a"]], attached=[("b.txt", zlib.compress(bytes(30_000_000)))]).build()
    bomb = made.replace(b"/Type/EmbeddedFile", b"/Filter/FlateDecode/Type/EmbeddedFile", 1)
    rows, failures = found(bomb, max_size=1_000_000)
    assert rows == [("page 1", "urn:ex:a")]
    assert failures == ["unpacks to more than 1,000,000 bytes; the rest is not read; max_size allows more"]


def test_no_room_for_a_copy(found, monkeypatch):
    """A full disk is a line about the PDF that needs a copy."""

    def full(*_: object, **__: object):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", full)
    data = zipped([("a.pdf", SIMPLE), ("b.txt", b"urn:ex:b")])
    assert found(data, "a.zip") == (
        [("b.txt", "urn:ex:b")],
        ["could not be copied to a temporary file: No space left on device"],
    )


def test_options_go_to_other_processes():
    """Spark sends them to its workers; processes stay here."""
    options = pickle.loads(pickle.dumps(Options()))
    assert options.reading.processes is not Options().reading.processes
    assert options.reading == Options().reading


@pytest.mark.full
def test_odd_names(found):
    """Names of files may be no Unicode, or begin with signs that mean something elsewhere."""
    for name in ("~a.pdf", "-.pdf", "a\n.pdf", os.fsdecode(b"\xff.pdf")):
        assert found(SIMPLE, name)[0] == [("page 1", "urn:ex:a")]


@pytest.fixture(scope="module")
def big():
    """A PDF that takes seconds to read."""
    return Pdf([["urn:ex:a " * 8] * 50] * 1000).build()


@pytest.mark.full
class TestCommand:
    """What a user of the command meets."""

    def test_standard_input(self):
        """From a pipe."""
        command = [sys.executable, "-m", "urnscan", "-"]
        assert (
            subprocess.run(command, input=SIMPLE, capture_output=True, check=True).stdout == b"-!/page 1:1:urn:ex:a\n"
        )

    def test_context(self, tmp_path):
        """-C prints the text around."""
        (tmp_path / "a.pdf").write_bytes(Pdf([["before urn:ex:a behind"]] * 3).build())
        command = [sys.executable, "-m", "urnscan", str(tmp_path / "a.pdf"), "-C", "20"]
        said = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        assert said.count("before urn:ex:a behind") == 3

    def test_a_failure(self, tmp_path):
        """Exit status 1, and a line."""
        (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7\n")
        (tmp_path / "b.pdf").write_bytes(SIMPLE)
        command = [sys.executable, "-m", "urnscan", str(tmp_path), "--quiet"]
        run = subprocess.run(command, capture_output=True, check=False, text=True)
        assert (run.returncode, run.stderr.count("\n")) == (1, 1)
        assert run.stdout.endswith("page 1:1:urn:ex:a\n")

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
    def test_signals(self, big, tmp_path, number):
        """Ctrl-C and `kill` end the processes at once, `kill -9` within a second; no copy is left behind."""
        (tmp_path / "a.zip").write_bytes(zipped([(f"{each}.pdf", big) for each in range(5)]))
        command = [sys.executable, "-m", "urnscan", str(tmp_path / "a.zip"), "--quiet"]
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as running:
            deadline = time.monotonic() + 60
            while not (started := processes(running.pid)):
                assert time.monotonic() < deadline
                time.sleep(0.05)
            running.send_signal(number)
            assert running.wait(20) in (130, 143, -9)
        self._is_gone(started)
        assert number == signal.SIGKILL or not list(tmp_path.glob("urnscan-*"))

    def test_a_closed_pipe(self, big, tmp_path):
        """As `| head -1` does."""
        (tmp_path / "a.pdf").write_bytes(big)
        command = [sys.executable, "-m", "urnscan", str(tmp_path / "a.pdf"), "--quiet"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as running:
            assert running.stdout.readline()
            started = processes(running.pid)
            running.stdout.close()
            running.wait(30)
        self._is_gone(started)

    @staticmethod
    def _is_gone(started):
        deadline = time.monotonic() + 10
        for number in started:
            while True:
                try:
                    os.kill(number, 0)
                except ProcessLookupError:
                    break
                assert time.monotonic() < deadline
                time.sleep(0.1)


def test_frames():
    """The script writes what the other side reads."""
    out = io.BytesIO()
    pdfium_script._write(out, pdfium_script.TEXT, "a", b"bc")
    assert out.getvalue() == pdfium_script.FRAME.pack(b"T", 1, 2) + b"abc"
