"""`--cdx`: only the records that an index names are read, as they are read in a scan of the whole files."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import re
import threading
import time
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.property.test_forms import Archive
from tests.stores.test_remote import Web, _impatient, _no_credentials, s3, status, times  # noqa: F401 (fixtures)
from tests.support.packed import dictionary_frame, with_dictionary
from urnscan.errors import FatalError, LimitError, SourceError
from urnscan.formats import byte_ranges as extents
from urnscan.formats import limits as limiting
from urnscan.formats.context import Reading
from urnscan.formats.limits import Limits
from urnscan.formats.unfold import open_documents, open_together
from urnscan.inputs.arguments import find_listed
from urnscan.inputs.cdx import read_index
from urnscan.inputs.selection import Selection
from urnscan.stores.input import Input

RECORDS = [(f"r{number}", b"urn:example:%d " % number * (1 + number % 3)) for number in range(9)]
PACKED = {
    "a.warc": (b"", bytes),
    "a.warc.gz": (b"", gzip.compress),
    "a.warc.zst": (b"", zstandard.ZstdCompressor().compress),
    "dictionary.warc.zst": (dictionary_frame(), with_dictionary),
}
WARC = "a.warc.gz"
DATA = Path(__file__).parents[2] / "data"


def member_of(name):
    return f"https://example.org/{name} <urn:uuid:{name}>"


def web_archive(name, records=RECORDS, gap=b""):
    """A file of records, each a member of its own; and where each begins, and its bytes."""
    raw, pack = PACKED[name]
    places = []
    for record in records:
        packed = pack(Archive.warc([record]))
        places.append((len(raw), len(packed)))
        raw += packed + gap
    return raw, places


def cdxj(rows):
    lines = (json.dumps(dict(zip(("filename", "offset", "length"), map(str, row), strict=True))) for row in rows)
    return "".join(f"org,example)/ 20240101000000 {line}\n" for line in lines)


def cdx(rows):
    fields = (f"org,example)/ 20240101 http://a/ text/html 200 ABC - - {size} {at} {name}" for name, at, size in rows)
    return " CDX N b a m s k r M S V g\n" + "".join(line + "\n" for line in fields)


def table(rows):
    names = ["url", "warc_filename", "warc_record_offset", "warc_record_length"]
    return pa.table([pa.array([str(row[0]) for row in rows]), *map(pa.array, zip(*rows, strict=True))], names)


def as_csv(rows):
    out = io.StringIO()
    csv.writer(out).writerows(
        [
            ("warc_record_length", "url", "warc_filename", "warc_record_offset"),
            *((c, "a,\nb", a, b) for a, b, c in rows),
        ]
    )
    return out.getvalue()


def as_parquet(rows):
    out = io.BytesIO()
    pq.write_table(table(rows), out, row_group_size=2)
    return out.getvalue()


FORMATS = {
    "list.cdxj": cdxj,
    "list.cdxj.gz": lambda rows: gzip.compress(cdxj(rows[:1]).encode()) + gzip.compress(cdxj(rows[1:]).encode()),
    "meta.cdxj": lambda rows: "!OpenWayback-CDXJ 1.0\n\n" + cdxj(rows),
    "list.jsonl": lambda rows: cdxj(rows).replace("org,example)/ 20240101000000 ", ""),
    "list.cdx": cdx,
    "list.csv": as_csv,
    "list.tsv": lambda rows: as_csv(rows).replace("a,\nb", "a").replace('"', "").replace(",", "\t"),
    "list.parquet": as_parquet,
}


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(index, place, limits=None):
    """The texts of the records by their members, and what is wrong, in the order of the run."""
    out = []
    try:
        for found in find_listed([read_index(str(index), str(place))]):
            if isinstance(found, SourceError):
                out.append(str(found))
                continue
            for document in open_documents(found, Reading(limits=limits or Limits())):
                if isinstance(document, SourceError):
                    out.append(str(document))
                    continue
                view, text = memoryview(bytearray(1 << 16)), b""
                try:
                    while got := document.reader.read_into(view):
                        text += view[:got]
                except SourceError as error:
                    out.append(str(error))
                out.append((document.member, text))
    except LimitError as error:
        out.append(str(error))
    return [
        each.replace(str(index), "LIST").replace(f"{place}/", "") if isinstance(each, str) else each for each in out
    ]


def expected(*numbers):
    return [(member_of(RECORDS[number][0]), RECORDS[number][1]) for number in numbers]


@pytest.fixture
def archive(tmp_path):
    """A folder with a file of records, and the rows of its index."""
    (tmp_path / "w").mkdir()
    raw, places = web_archive(WARC)
    (tmp_path / "w" / WARC).write_bytes(raw)
    return tmp_path, [(WARC, *place) for place in places]


@pytest.fixture
def web():
    server = Web()
    yield server
    server.close()


class TestIndexes:
    """Each format of an index."""

    @pytest.mark.parametrize("name", FORMATS)
    def test_formats(self, archive, name):
        """In any order, and what is named twice counts once."""
        folder, rows = archive
        index = write(folder / name, FORMATS[name]([rows[7], rows[2], rows[7], rows[3]]))
        assert read(index, folder / "w") == expected(2, 3, 7)

    def test_an_index_of_another_program(self, tmp_path):
        """A WACZ of py-wacz: its index leads to the records of its archive, all but that about the file itself."""
        with zipfile.ZipFile(DATA / "harvest.wacz") as wacz:
            wacz.extractall(tmp_path)
        found = read(tmp_path / "indexes" / "index.cdx.gz", tmp_path / "archive")
        whole = open_documents(Input("a", str(tmp_path / "archive" / "harvest.warc.gz"), 842), Reading())
        assert [member for member, _ in found] == [each.member for each in whole][1:]
        assert len(found) == 2

    def test_the_files_are_read_in_the_order_of_their_names(self, archive):
        """As those of a folder are."""
        folder, rows = archive
        for name in ("b/z.warc.gz", "b/ä.warc.gz", "B.warc.gz"):
            (folder / "w" / name).parent.mkdir(exist_ok=True)
            (folder / "w" / name).write_bytes((folder / "w" / WARC).read_bytes())
        rows = [(name, *rows[0][1:]) for name in ("b/ä.warc.gz", "b/z.warc.gz", WARC, "B.warc.gz")]
        found = list(find_listed([read_index(str(write(folder / "l.cdxj", cdxj(rows))), f"{folder}/w/")]))
        names = [each.name.removeprefix(f"{folder}/w/") for each in found]
        assert names == ["B.warc.gz", WARC, "b/z.warc.gz", "b/ä.warc.gz"]

    @pytest.mark.parametrize(
        ("row", "reason"),
        [
            ((WARC, "x", 5), "invalid offset: 'x'"),
            ((WARC, "-1", 5), "invalid offset: '-1'"),
            ((WARC, 1, "٣"), "invalid length: '٣'"),
            ((WARC, 1, "9" * 99), f"invalid length: '{'9' * 79}…'"),
            ((WARC, 1, 0), "the length of its record is 0"),
            (("", 1, 5), "names no file"),
            (("../" + WARC, 1, 5), f"names a file that is not below the folder: '../{WARC}'"),
            (("/etc/passwd", 1, 5), "names a file that is not below the folder: '/etc/passwd'"),
        ],
    )
    @pytest.mark.parametrize("name", ["list.cdxj", "list.csv"])
    def test_a_wrong_line_costs_itself(self, archive, name, row, reason):
        """The others are read, and one line names file and line."""
        folder, rows = archive
        index = write(folder / name, FORMATS[name]([rows[0], row, rows[1]]))
        line = "line 2" if name == "list.cdxj" else "line 5"  # in CSV a value of each row goes over two lines
        assert read(index, folder / "w") == [f"LIST: {line}: {reason}", *expected(0, 1)]

    def test_names_that_no_file_can_have(self, archive):
        """JSON can write them."""
        folder, rows = archive
        index = write(folder / "l", cdxj([("\ud800", 1, 5), ("a\0", 1, 5), rows[0]]))
        assert read(index, folder / "w") == [
            r"LIST: line 1: invalid file name: '\ud800'",
            r"LIST: line 2: invalid file name: 'a\x00'",
            *expected(0),
        ]

    def test_lines_without_the_fields(self, archive):
        folder, rows = archive
        good = cdxj(rows[:1])
        for text in ("org,a)/ 2024 {bad\n", "[]\n", "org,a)/ 2024 []\n", "org\n"):
            assert read(write(folder / "l", good + text), folder / "w") == [
                "LIST: line 2: has too few or too many fields, or no JSON object",
                *expected(0),
            ]
        assert (
            read(write(folder / "l", good + 'a 2 {"offset": "1"}\n'), folder / "w")[0] == "LIST: line 2: names no file"
        )
        assert read(write(folder / "l", cdx(rows[:1]) + "a b\n"), folder / "w") == [
            "LIST: line 3: has too few or too many fields, or no JSON object",
            *expected(0),
        ]

    def test_rows_of_parquet(self, archive):
        """Null and numbers below zero."""
        folder, rows = archive
        index = write(
            folder / "l.parquet", as_parquet([rows[0], (None, 1, 5), (WARC, -1, 5), (WARC, 1, None), rows[1]])
        )
        assert read(index, folder / "w") == [
            "LIST: line 2: names no file",
            "LIST: line 3: invalid offset: '-1'",
            "LIST: line 4: invalid length: 'NoneType'",
            *expected(0, 1),
        ]

    @pytest.mark.parametrize(
        ("name", "content", "reason"),
        [
            ("l", b"", "the index lists no records"),
            ("l", b"a b c\nd e f\n", "unknown format of an index; use CDXJ, CDX with a header, or CSV"),
            ("l", b" CDX N b a m s k r V g\na", "the header of the index lacks S; it must name g, V and S"),
            ("l.csv", b"warc_filename,warc_record_offset\na,1\n", "unknown format of an index"),
            ("l.parquet", b"PAR1 and no more", "cannot be read as an index: "),
            ("l.gz", b"no gzip", "cannot be read as an index: "),
            ("gone", None, "cannot be read as an index: No such file or directory"),
        ],
    )
    def test_no_index(self, tmp_path, name, content, reason):
        """One line; nothing is read."""
        if content is not None:
            write(tmp_path / name, content)
        with pytest.raises(FatalError) as raised:
            read_index(str(tmp_path / name), str(tmp_path))
        assert str(raised.value).startswith(f"{tmp_path / name}: {reason}")
        assert "\n" not in str(raised.value)

    def test_a_parquet_file_without_the_columns(self, tmp_path):
        pq.write_table(pa.table({"warc_filename": ["a"], "url": ["b"]}), tmp_path / "l")
        with pytest.raises(FatalError, match="the index lacks the column warc_record_offset and warc_record_length"):
            read_index(str(tmp_path / "l"), str(tmp_path))

    def test_no_folder(self, archive):
        folder, rows = archive
        with pytest.raises(FatalError, match=r"a\.warc\.gz: no such folder; name the folder or URL"):
            read_index(str(write(folder / "l", cdxj(rows))), f"{folder}/w/{WARC}")

    @given(st.data())
    def test_whatever_it_holds(self, tmp_path_factory, data):
        """Damaged anywhere, it is an index with wrong lines, or one line says that it is none."""
        folder = tmp_path_factory.mktemp("w")
        name = data.draw(st.sampled_from(sorted(FORMATS)))
        content = FORMATS[name]([(WARC, 1, 2), (WARC, 4, 5)])
        raw = content if isinstance(content, bytes) else content.encode()
        start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(raw))] * 2)))
        more = data.draw(
            st.one_of(st.binary(max_size=9), st.sampled_from([b"[" * 9999, b"0" * 9999, b'"', b"\n", b"{"]))
        )
        write(folder / name, raw[:start] + more + raw[end:])
        with contextlib.suppress(FatalError):
            index = read_index(str(folder / name), str(folder))
            assert all(isinstance(each, SourceError) for each in index.find(lambda _: iter(()), follow=True))

    def test_very_many_wrong_lines(self, archive):
        """They are told one by one up to 10,000."""
        folder, rows = archive
        index = write(folder / "l", cdxj(rows[:1]) + "wrong {\n" * 10_007)
        found = read(index, folder / "w")
        assert found[0] == "LIST: line 2: has too few or too many fields, or no JSON object"
        assert found[10_000:] == ["LIST: 7 more lines without a record", *expected(0)]

    def test_no_url(self, archive):
        folder, rows = archive
        with pytest.raises(FatalError, match="the URL has no bucket or host"):
            read_index(str(write(folder / "l", cdxj(rows))), "https:///a")


class TestFiles:
    """Records of files on this machine."""

    @given(st.data())
    def test_any_records_of_any_file(self, tmp_path_factory, data):
        """Texts and members are those of the whole file, whatever is named, and however it is read."""
        name = data.draw(st.sampled_from(sorted(PACKED)))
        numbers = data.draw(st.lists(st.integers(0, len(RECORDS) - 1), min_size=1, max_size=20))
        folder = tmp_path_factory.mktemp("w")
        raw, places = web_archive(name, gap=data.draw(st.sampled_from([b"", b"\n"])) if name == "a.warc" else b"")
        (folder / name).write_bytes(raw)
        index = write(folder / "l", cdxj([(name, *places[number]) for number in numbers]))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(extents, "_REQUEST", data.draw(st.sampled_from([16, 100, 1000, 1 << 20])))
            patch.setattr(extents, "_GAP", data.draw(st.sampled_from([0, 100, 1 << 14])))
            assert read(index, folder) == expected(*sorted(set(numbers)))

    @pytest.mark.parametrize("name", PACKED)
    def test_what_is_wrong_costs_itself(self, tmp_path, name):
        """A place where no record begins, one that ends too early, and one behind the end, between good ones."""
        raw, places = web_archive(name)
        (tmp_path / name).write_bytes(raw)
        (before, size), (start, _), (last, rest) = places[0], places[4], places[-1]
        wrong = [(start + 3, 20), (last, rest + 1)]
        index = write(tmp_path / "l", cdxj([(name, *place) for place in [*places, *wrong]]))
        found = read(index, tmp_path)
        assert [each for each in found if isinstance(each, tuple)] == expected(*range(9))
        behind, none = (each for each in found if isinstance(each, str))
        reason = f"{name} has {len(raw):,} bytes, and a record of it cannot end at {last + rest + 1:,}"
        assert behind == f"LIST: line 11: {reason}"
        assert re.match(rf"{name} from byte {start + 3:,} on: .*no.* record", none)
        cut = write(tmp_path / "l", cdxj([(name, before, size - 9), (name, *places[1]), (name, *places[2])]))
        found = read(cut, tmp_path)
        assert found[-2:] == expected(1, 2)
        assert any(isinstance(each, str) and each.startswith(f"{name} from byte {before:,} on") for each in found)

    def test_touching_records_of_which_one_is_wrong(self, archive):
        """They are read as one file, but not where one begins in another way."""
        folder, rows = archive
        (_, start, size), third = rows[1], rows[2]
        index = write(folder / "l", cdxj([(WARC, start + 2, size - 2), third, rows[3]]))
        assert read(index, folder / "w") == [
            f"{WARC} from byte {start + 2:,} on: is not a record of a web archive",
            *expected(2, 3),
        ]

    def test_a_member_that_is_no_record(self, archive):
        """Text of a gzip member alone is nobody's record."""
        folder, _ = archive
        packed = gzip.compress(b"urn:example:text")
        (folder / "w" / "b.gz").write_bytes(packed)
        index = write(folder / "l", cdxj([("b.gz", 0, len(packed))]))
        assert read(index, folder / "w") == ["b.gz from byte 0 on: is not a record of a web archive"]

    def test_files_that_cannot_be_read(self, archive):
        folder, rows = archive
        (folder / "w" / "b").mkdir()
        index = write(folder / "l", cdxj([("b", 1, 2), ("c", 1, 2), rows[0]]))
        assert read(index, folder / "w") == [
            *expected(0),
            "b: is not a file, so its records cannot be read",
            "c: no such file or folder",
        ]

    @pytest.mark.parametrize("name", ["link.warc.gz", "to/a.warc.gz"])
    def test_links(self, archive, name):
        """An index of others leads no reader out of the folder: links below it are followed with --follow only."""
        folder, rows = archive
        place = folder / "named"
        place.mkdir()
        (place / "link.warc.gz").symlink_to(folder / "w" / WARC)
        (place / "to").symlink_to(folder / "w")
        index = write(folder / "l", cdxj([(name, *rows[0][1:])]))
        reason = "is a symbolic link, which is not read; follow=True reads it"
        assert read(index, place) == [f"{name}: {reason}"]
        (source,) = find_listed([read_index(str(index), str(place))], Selection(follow=True))
        assert source.path == str(place / name)
        (folder / "link").symlink_to(place / "to")
        index = write(folder / "l", cdxj(rows[:1]))
        assert read(index, folder / "link") == expected(0)

    def test_a_file_that_has_become_shorter(self, archive):
        """Between the finding and the reading."""
        folder, rows = archive
        (source,) = find_listed([read_index(str(write(folder / "l", cdxj(rows[:1]))), str(folder / "w"))])
        (folder / "w" / WARC).write_bytes(b"\x1f\x8b")
        (error,) = open_documents(source, Reading())
        assert str(error) == f"{folder}/w/{WARC}: ends at byte 2: it has become shorter"

    def test_limits_are_those_of_the_file(self, archive):
        """--max-members counts the records of a file; the next file has its own."""
        folder, rows = archive
        (folder / "w" / "b.warc.gz").write_bytes((folder / "w" / WARC).read_bytes())
        named = [*rows[:3:2], ("b.warc.gz", *rows[0][1:])]
        sources = list(find_listed([read_index(str(write(folder / "l", cdxj(named))), str(folder / "w"))]))
        begun = extents.open_extents(sources)
        with pytest.raises(LimitError, match="has more than 1 member;"):
            list(open_together(sources[0], Reading(limits=Limits(members=1)), extents=begun))
        assert len(list(open_together(sources[1], Reading(limits=Limits(members=1)), extents=begun))) == 1


class TestUrls:
    """Records of files behind URLs."""

    def asked(self, web):
        """The ranges of the requests for bytes, without those that find a file."""
        return sorted(raw for _, _, raw in web.asked if raw != "bytes=0-0")

    @pytest.mark.parametrize("name", PACKED)
    def test_only_these_bytes_are_asked_for(self, tmp_path, web, monkeypatch, name):
        """Neighbours by one request; the dictionary of a file by one more."""
        monkeypatch.setattr(extents, "_GAP", 0)
        raw, places = web_archive(name)
        web.pages[f"/x/{name}"] = raw
        index = write(tmp_path / "l", cdxj([(f"x/{name}", *places[number]) for number in (5, 4, 1)]))
        assert read(index, web.url) == expected(1, 4, 5)
        ranges = [(places[1][0], sum(places[1]) - 1), (places[4][0], sum(places[5]) - 1)]
        more = ["bytes=0-8388615"] if name.endswith(".zst") else []
        assert self.asked(web) == sorted([*(f"bytes={start}-{end}" for start, end in ranges), *more])

    def test_names_that_urls_escape(self, tmp_path, web):
        raw, places = web_archive(WARC)
        web.pages["/a b#%.warc.gz"] = raw
        index = write(tmp_path / "l", cdxj([("a b#%.warc.gz", *places[3])]))
        assert read(index, web.url + "/") == expected(3)

    @pytest.mark.full
    def test_many_requests_at_once(self, tmp_path, web):
        """Over files and in one file; the order stays. One by one 40 requests at 50 ms would take 2 s."""
        lock, now, most = threading.Lock(), 0, 0
        raw, places = web_archive(WARC, gap=b" " * (1 << 15))

        def slow(handler):
            nonlocal now, most
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(0.05)
            with lock:
                now -= 1
            handler.give(raw)

        names = [f"{number}.warc.gz" for number in range(10)]
        web.pages = {f"/{name}": slow for name in names}
        index = write(tmp_path / "l", cdxj([(name, *places[number]) for name in names for number in (0, 3, 6)]))
        sources = list(find_listed([read_index(str(index), web.url)]))
        most = 0
        begun = extents.open_extents(sources)
        found = [
            each.labels[0].member for source in sources for each in open_together(source, Reading(), extents=begun)
        ]
        assert found == [member_of(f"r{number}") for _ in names for number in (0, 3, 6)]
        assert 4 <= most <= extents._AT_ONCE

    def test_failures_that_pass_and_failures_that_stay(self, tmp_path, web):
        """A request is tried again; one that fails for good costs its records, and nothing else."""
        raw, places = web_archive(WARC, gap=b" " * (1 << 15))
        give = lambda handler: handler.give(raw)  # noqa: E731 (two answers of a server)

        def broken(handler):
            (status(503) if f"={places[4][0]}-" in handler.headers.get("Range", "") else give)(handler)

        web.pages = {"/a.warc.gz": times(give, status(503), give), "/b.warc.gz": broken}
        named = [(name, *places[number]) for name in ("a.warc.gz", "b.warc.gz") for number in (1, 4, 7)]
        found = read(write(tmp_path / "l", cdxj(named)), web.url)
        told = "b.warc.gz: the server answers 503 Service Unavailable; tried 4 times"
        assert found == [*expected(1, 4, 7, 1), told, *expected(7)]

    def test_a_server_without_ranges(self, tmp_path, web):
        raw, places = web_archive(WARC)
        web.pages["/" + WARC] = lambda handler: handler.answer(200, raw)
        assert read(write(tmp_path / "l", cdxj([(WARC, *places[5])])), web.url) == expected(5)

    def test_no_such_file_and_an_end_before_the_record(self, tmp_path, web):
        raw, places = web_archive(WARC)
        web.pages["/" + WARC] = raw
        named = [("gone.warc.gz", 1, 2), (WARC, 1, len(raw)), (WARC, *places[0])]
        found = read(write(tmp_path / "l", cdxj(named)), web.url)
        assert found == [
            f"LIST: line 2: {WARC} has {len(raw):,} bytes, and a record of it cannot end at {len(raw) + 1:,}",
            *expected(0),
            "gone.warc.gz: does not exist",
        ]

    def test_a_folder_of_this_name_and_no_secrets(self, tmp_path, web):
        """A page that lists a folder is no file; the line about it has no user and no signature of the URL."""
        raw, _ = web_archive(WARC)
        listing = b"<title>Index of /a/</title><a href='b.warc.gz'>b</a>"
        web.pages = {"/a/": lambda handler: handler.give(listing, Content_Type="text/html"), "/a/b.warc.gz": raw}
        index = write(tmp_path / "l", cdxj([("a/", 0, 5), ("gone", 0, 5)]))
        place = web.url.replace("//", "//ann:secret@") + "/?sig=secret"
        found = read(index, place)
        assert found == [
            f"{web.url}/a/: is not a file, so its records cannot be read",
            f"{web.url}/gone: does not exist",
        ]

    @pytest.mark.full
    def test_objects(self, tmp_path, s3):  # noqa: F811 (the fixture)
        """forms.md, An index of records: below a bucket, too, and a wrong line costs nothing else."""
        raw, places = web_archive(WARC, gap=b" " * (1 << 15))
        s3.put_object(Bucket="bucket", Key=f"2024/x y/{WARC}", Body=raw)
        named = [(f"x y/{WARC}", *places[number]) for number in (5, 0)]
        named += [("gone.warc.gz", 0, 9), (f"x y/{WARC}", 1, len(raw))]
        assert read(write(tmp_path / "l", cdxj(named)), "s3://bucket/2024") == [
            "gone.warc.gz: does not exist",
            f"LIST: line 4: x y/{WARC} has {len(raw):,} bytes, and a record of it cannot end at {len(raw) + 1:,}",
            *expected(0, 5),
        ]


@pytest.mark.full
@pytest.mark.parametrize("name", ["l.cdxj.gz", "l.parquet"])
@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(ratio=100), "unpacks to more than 100 times its size; the rest is not read; max_ratio allows more"),
        (Limits(size=10**6), "unpacks to more than 1,000,000 bytes; the rest is not read; max_size allows more"),
    ],
)
def test_an_index_that_unpacks_without_end(tmp_path, monkeypatch, name, limits, said):
    """Promise: a bomb ends at a limit, also as an index; what the limits allow is read."""
    monkeypatch.setattr(limiting, "_FREE", 1 << 19)
    rows = [("a", 1, 1)] * 100_000
    if name.endswith(".gz"):
        raw = gzip.compress(b'{"filename": "a", "offset": "1", "length": "1"}\n' * len(rows))
    else:
        raw = table_bytes(rows)
    path = str(write(tmp_path / name, raw))
    with pytest.raises(FatalError) as error:
        read_index(path, str(tmp_path), limits)
    assert str(error.value) == f"{path}: {said}"
    assert read_index(path, str(tmp_path), Limits(ratio=10**6)).byte_count == len(rows)


def table_bytes(rows):
    """An index in Parquet."""
    stream = io.BytesIO()
    pq.write_table(table(rows), stream)
    return stream.getvalue()
