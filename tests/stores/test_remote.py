"""Remote inputs: finding and reading them over a network that fails, from servers on this machine."""

from __future__ import annotations

import contextlib
import gc
import http.server
import re
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.walks import find_inputs
from urnscan.display.addresses import without_secrets
from urnscan.errors import SourceError
from urnscan.formats.buffer import Buffer
from urnscan.formats.contents import Document
from urnscan.formats.context import Reading
from urnscan.formats.unfold import is_splittable, open_documents
from urnscan.inputs import url_inputs
from urnscan.inputs.selection import Selection
from urnscan.stores import filesystems, objects, store, urls
from urnscan.stores import web as web_pages
from urnscan.stores.files import open_file
from urnscan.stores.input import Input
from urnscan.stores.reader import read_up_to
from urnscan.stores.remote_outputs import RemotePlace

TEXT = b"".join(b"%07d urn:example:%d\n" % (n, n) for n in range(40_000))  # no two places of it are alike


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    """Short pauses between the tries."""
    monkeypatch.setattr(store, "PAUSES", (0.01, 0.02, 0.03))


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch, tmp_path):
    """No settings of the machine, and no pyarrow file system of another test."""
    import os

    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    filesystems._arrow_store.cache_clear()


def found(*arguments, **selection):
    """The inputs and errors that arguments name, as their names and lines."""
    return [
        each.name if isinstance(each, Input) else str(each) for each in find_inputs(arguments, Selection(**selection))
    ]


def only(url):
    """The one input that a URL names."""
    (source,) = find_inputs([url])
    if isinstance(source, SourceError):
        raise source
    return source


def read(source, size=65_536):
    """All bytes of an input; a reader at its end gives no more."""
    view = memoryview(bytearray(size))
    data = bytearray()
    with open_file(source) as reader:
        while got := reader.read_into(view):
            data += view[:got]
        assert reader.read_into(view) == 0
    return bytes(data)


class Web:
    """An HTTP server whose pages do what a test wants."""

    def __init__(self):
        self.pages = {}
        """From paths to bytes, or to functions that answer a request themselves."""
        self.asked = []
        """The requests: method, path, Range."""
        self.headers = []
        self.etag = '"1"'
        self.is_closed = False
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                web.asked.append((self.command, self.path, self.headers.get("Range")))
                web.headers.append(dict(self.headers))
                page = web.pages.get(unquote(self.path.partition("?")[0]))
                if page is None:
                    self.answer(404, b"nothing here")
                elif callable(page):
                    page(self)
                else:
                    self.give(page)

            do_HEAD = do_GET  # noqa: N815 (it is called so)

            def answer(self, status, body=b"", **headers):
                self.send_response(status)
                for name, value in {"Content-Length": len(body), **headers}.items():
                    self.send_header(name.replace("_", "-"), str(value))
                self.end_headers()
                self.send_body(body)

            def send_body(self, body):
                with contextlib.suppress(OSError):
                    if self.command != "HEAD":
                        self.wfile.write(body)
                        self.wfile.flush()

            def give(self, data, stop=None, **headers):
                """The bytes, or the range that was asked for; `stop`: break off before that byte."""
                part = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
                start, end = int(part[1]) if part else 0, int(part[2]) + 1 if part and part[2] else len(data)
                if part and start >= len(data):
                    self.answer(416)
                    return
                end = min(end, len(data))
                self.send_response(206 if part else 200)
                if part:
                    self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
                if web.etag:
                    self.send_header("ETag", web.etag)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", str(end - start))
                self.end_headers()
                self.send_body(data[start : end if stop is None else min(stop, end)])
                self.close_connection = stop is not None and stop < end

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.is_closed = True
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def web():
    server = Web()
    yield server
    server.close()


class Endless:
    """Pages of a server that has one at each address."""

    def __init__(self, page):
        self._page = page

    def get(self, path):
        return self._page if path.endswith("/") else b"x" if path.endswith("a.txt") else None


def times(*answers):
    """A page that gives one answer after the other, and the last one from then on."""
    waiting = list(answers)

    def page(handler):
        answer = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        answer(handler)

    return page


def status(code):
    return lambda handler: handler.answer(code)


class TestPages:
    """A page of the web is one input."""

    def test_name_size_and_bytes(self, web):
        web.pages["/a.txt"] = TEXT
        source = only(f"{web.url}/a.txt")
        assert (source.name, source.path, source.size) == (f"{web.url}/a.txt", None, len(TEXT))
        assert read(source) == TEXT

    @pytest.mark.parametrize("size", [1, 1000, 3 << 20])
    def test_however_it_is_read(self, web, size):
        web.pages["/a"] = TEXT[:5000]
        assert read(only(f"{web.url}/a"), size) == TEXT[:5000]

    def test_an_empty_page(self, web):
        """A server answers 416 to a request for any byte of it."""
        web.pages["/empty"] = b""
        source = only(f"{web.url}/empty")
        assert source.size == 0
        assert read(source) == b""

    def test_a_server_that_knows_no_ranges_and_no_sizes(self, web):
        def chunked(handler):
            handler.send_response(200)
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            for start in range(0, len(TEXT), 10_000):
                block = TEXT[start : start + 10_000]
                with contextlib.suppress(OSError):
                    handler.wfile.write(b"%x\r\n%b\r\n" % (len(block), block))
            with contextlib.suppress(OSError):
                handler.wfile.write(b"0\r\n\r\n")

        web.pages["/a"] = chunked
        source = only(f"{web.url}/a")
        assert source.size is None
        assert read(source) == TEXT

    def test_is_read_in_one_request(self, web):
        """One latency for a page, and no page is a mixture of two."""
        web.pages["/a"] = TEXT
        source = only(f"{web.url}/a")
        web.asked.clear()
        read(source)
        assert web.asked == [("GET", "/a", "bytes=0-")]

    def test_it_is_never_split(self, web):
        """However large it is, it has no path on which ranges could be opened."""
        web.pages["/a"] = TEXT
        assert not is_splittable(only(f"{web.url}/a"), Reading())

    def test_documents(self, web):
        """Documents are found in it as in a run, and its bytes are counted for the progress."""
        web.pages["/a"] = TEXT
        counted = []
        view = memoryview(bytearray(1 << 20))
        for document in open_documents(only(f"{web.url}/a"), Reading(), counted.append):
            assert isinstance(document, Document)
            while document.reader.read_into(view):
                pass
        assert sum(counted) == len(TEXT)

    def test_reopened_it_can_be_read_anywhere(self, web):
        web.pages["/a"] = TEXT
        with open_file(only(f"{web.url}/a")) as reader, reader.reopen() as file:
            assert file.seek(-10, 2) == len(TEXT) - 10
            assert file.read() == TEXT[-10:]
            file.seek(300_000)
            assert file.read(300_000) == TEXT[300_000:600_000]
            file.seek(len(TEXT) + 5)
            assert file.read() == b""
            view = memoryview(bytearray(10))
            assert reader.read_into(view) > 0
            assert TEXT.startswith(view)

    def test_without_ranges_it_cannot_be_reopened(self, web):
        web.pages["/a"] = lambda handler: handler.answer(200, TEXT)
        with open_file(only(f"{web.url}/a")) as reader:
            assert reader.reopen() is None

    def test_the_query_is_part_of_the_page(self, web):
        web.pages["/a"] = TEXT[:100]
        source = only(f"{web.url}/a?x=*&y=[1]")
        assert source.name == f"{web.url}/a?x=*&y=[1]"
        assert source.file_name == "a"
        read(source)
        assert web.asked[-1][1] == "/a?x=*&y=[1]"

    def test_spaces_and_letters_are_encoded(self, web):
        web.pages["/ä b"] = b"x"
        assert read(only(f"{web.url}/ä b")) == b"x"
        assert read(only(f"{web.url}/%C3%A4%20b")) == b"x"

    def test_redirects_are_followed_and_get_no_password(self, web):
        web.pages["/old"] = lambda handler: handler.answer(302, Location="/new")
        web.pages["/new"] = TEXT[:100]
        url = web.url.replace("//", "//me:secret@") + "/old"
        assert read(only(url)) == TEXT[:100]
        assert [("Authorization" in headers) for headers in web.headers] == [True, False] * 2

    def test_bytes_are_as_they_are(self, web):
        """Nothing is unpacked by HTTP; urnscan recognises packed forms by their bytes."""
        web.pages["/a.gz"] = lambda handler: handler.give(b"\x1f\x8b...", Content_Encoding="gzip")
        assert read(only(f"{web.url}/a.gz")) == b"\x1f\x8b..."
        assert web.headers[-1]["Accept-Encoding"] == "identity"


class TestIndexes:
    """A page whose title says that it lists a folder is one; any other page is itself, whatever it links to."""

    INDEX = "<html><head><title>Index of /d/</title></head><body><a href='?C=N;O=D'>Name</a> <a href='../'>up</a>"

    @pytest.fixture(autouse=True)
    def _pages(self, web):
        def index(*links):
            body = (self.INDEX + "".join(f'<a href="{link}">x</a>' for link in links)).encode()
            return lambda handler: handler.answer(200, body, Content_Type="text/html; charset=utf-8")

        web.pages["/d/"] = index("b.txt", "e/", "/d/a.txt", "a%20b", "http://elsewhere.invalid/x", "b.txt#top", "/c")
        web.pages["/d/e/"] = index("y.txt", "x.md")
        for path in ("/d/b.txt", "/d/a.txt", "/d/a b", "/d/e/y.txt", "/d/e/x.md"):
            web.pages[path] = path.encode()

    def test_is_walked(self, web):
        names = ["a%20b", "a.txt", "b.txt", "e/x.md", "e/y.txt"]
        assert found(f"{web.url}/d/") == [f"{web.url}/d/{name}" for name in names]
        assert read(next(find_inputs([f"{web.url}/d/"]))) == b"/d/a b"

    def test_filters_and_patterns(self, web):
        assert found(f"{web.url}/d/", include=("*.txt",), exclude=("e",)) == [
            f"{web.url}/d/a.txt",
            f"{web.url}/d/b.txt",
        ]
        assert found(f"{web.url}/d/**/*.txt") == [f"{web.url}/d/{name}" for name in ("a.txt", "b.txt", "e/y.txt")]
        assert found(f"{web.url}/d/*.nope") == [
            f"{web.url}/d/*.nope: does not exist, and nothing matches it as a pattern"
        ]

    def test_what_is_named_is_read_before_it_is_a_pattern(self, web):
        web.pages["/d/[b].txt"] = b"literal"
        assert read(only(f"{web.url}/d/[b].txt")) == b"literal"
        del web.pages["/d/[b].txt"]
        assert found(f"{web.url}/d/[b].txt") == [f"{web.url}/d/b.txt"]

    def test_percent_encoding_stays_that_of_the_web(self, web):
        assert found(f"{web.url}/d/a%20*") == found(f"{web.url}/d/a%20b") == [f"{web.url}/d/a%20b"]

    def test_half_a_list_is_no_list(self, web):
        """Inputs that the lost part of a list would name are not left out in silence."""
        body = self.INDEX.encode() + b"<a href='b.txt'>" + b" " * 100_000

        def half(handler):
            handler.give(body, stop=50_000, Content_Type="text/html")

        web.pages["/h/"] = half
        assert found(f"{web.url}/h/") == [
            f"{web.url}/h/: the connection broke off at byte 50000 of {len(body)}; tried 4 times"
        ]
        web.pages["/h/"] = times(half, half, lambda handler: handler.give(body, Content_Type="text/html"))
        assert found(f"{web.url}/h/") == [f"{web.url}/h/b.txt"]

    def test_a_list_without_end(self, web, monkeypatch):
        monkeypatch.setattr(web_pages, "_LARGEST_INDEX", 100_000)
        body = self.INDEX.encode() + b"<a href='b.txt'>" * 10_000
        web.pages["/h/"] = lambda handler: handler.give(body, Content_Type="text/html")
        assert found(f"{web.url}/h/") == [f"{web.url}/h/: lists more than 100,000 bytes of names"]

    @pytest.mark.parametrize("pattern", ["", "**", "**/*.txt"])
    def test_a_server_that_makes_up_folders(self, web, pattern):
        """Each page links to one below it: the walk ends, and says so once; what was listed is read."""
        below = self.INDEX.encode() + b"<a href='a.txt'>x</a><a href='sub/'>x</a>"
        web.pages = Endless(lambda handler: handler.answer(200, below, Content_Type="text/html"))
        names = found(f"{web.url}/d/{pattern}")
        assert names.count(f"{web.url}/d/{pattern}: lists folders more than 64 deep, which are not read") == 1
        assert len(names) == 65
        assert len(web.asked) < 200

    def test_a_server_that_makes_up_pages(self, web, monkeypatch):
        """Folders side by side, each with as many below it, have no end either."""
        monkeypatch.setattr(url_inputs, "_MAX_LISTED", 100)
        below = self.INDEX.encode() + b"<a href='a.txt'>x</a><a href='b/'>x</a><a href='c/'>x</a>"
        web.pages = Endless(lambda handler: handler.answer(200, below, Content_Type="text/html"))
        *_, last = found(f"{web.url}/d/")
        assert last == f"{web.url}/d/: lists more than 100 pages and folders; the rest is not read"
        assert len(web.asked) < 200

    def test_any_other_page_is_itself(self, web):
        web.pages["/"] = lambda handler: handler.answer(
            200, b"<html><title>Home</title><body><a href='d/'>d</a>", Content_Type="text/html"
        )
        assert found(f"{web.url}/") == [f"{web.url}/"]
        assert b"Home" in read(only(f"{web.url}/"))


class TestFailing:
    """Failures that may pass are tried again, from the byte that was reached; all others are one line at once."""

    def test_connections_that_break_are_taken_up_where_they_broke(self, web):
        breaks = [lambda handler, stop=stop: handler.give(TEXT, stop=stop) for stop in (1000, 300_000, 300_001)]
        web.pages["/a"] = times(lambda handler: handler.give(TEXT), *breaks, lambda handler: handler.give(TEXT))
        assert read(only(f"{web.url}/a")) == TEXT
        assert [data for _, _, data in web.asked][1:] == [
            "bytes=0-",
            "bytes=1000-",
            "bytes=300000-",
            "bytes=300001-",
        ]

    def test_without_ranges_what_was_read_is_passed_over(self, web):
        def whole(stop):
            def page(handler):
                del handler.headers["Range"]
                handler.give(TEXT, stop=stop)

            return page

        web.pages["/a"] = times(whole(None), whole(500_000), whole(None))
        assert read(only(f"{web.url}/a")) == TEXT

    def test_nothing_tells_whether_it_is_still_the_same(self, web):
        def chunked(handler):
            handler.send_response(200)
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            handler.wfile.write(b"3\r\nabc\r\n")
            handler.close_connection = True

        web.pages["/a"] = chunked
        with pytest.raises(SourceError, match="does not show whether the file has changed; download it first"):
            read(only(f"{web.url}/a"))

    def test_connections_that_break_again_and_again(self, web):
        """A server that sends ten bytes a connection would be asked for ever."""

        def few(handler):
            start = int(re.search(r"[0-9]+", handler.headers["Range"])[0])
            handler.give(TEXT, stop=start + 10)

        web.pages["/a"] = times(lambda handler: handler.give(TEXT), few)
        with pytest.raises(SourceError, match="the connection broke off too often; download the file first"):
            read(only(f"{web.url}/a"))
        assert len(web.asked) < 20

    @pytest.mark.full
    @pytest.mark.parametrize("part", ["header", "body", "chunks"])
    def test_a_drip(self, web, monkeypatch, part):
        """Each byte comes in time, and all of them never: there is a time for the whole."""
        monkeypatch.setattr(store, "TIMEOUT", 0.2)

        def drip(handler):
            begin = {"header": b"", "body": b"\r\n", "chunks": b"Transfer-Encoding: chunked\r\n\r\n"}[part]
            handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + begin)
            piece = {"header": b"a", "body": b"a", "chunks": b"1\r\na\r\n"}[part]
            handler.close_connection = True
            with contextlib.suppress(OSError):
                while not web.is_closed:
                    handler.wfile.write(piece)
                    time.sleep(0.02)

        web.pages["/a"] = times(lambda handler: handler.give(TEXT), drip) if part != "header" else drip
        began = time.monotonic()
        with pytest.raises(SourceError, match=r"too slow: [0-9]+ bytes came in 1 s|no answer within"):
            read(only(f"{web.url}/a"))
        assert time.monotonic() - began < 30

    @pytest.mark.parametrize(
        ("end", "line"),
        [(b"0\r\n", b"X-A: b\r\n"), (b"0\r\n", b"a"), (b"1;", b"a")],
        ids=["fields", "a field", "a size"],
    )
    def test_fields_without_end_after_a_chunk(self, web, monkeypatch, end, line):
        """Promise: a server that sends without end is left: also after the text, and in the size of a chunk."""
        monkeypatch.setattr(store, "TIMEOUT", 0.2)
        wrote = []

        def endless(handler):
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nurn:foo:a\r\n" + end)
            handler.close_connection = True
            with contextlib.suppress(OSError):
                while not web.is_closed:
                    handler.wfile.write(line)
                    wrote.append(line)
                    time.sleep(0.002)

        web.pages["/a"] = times(lambda handler: handler.give(b"urn:foo:a"), endless)
        began = time.monotonic()
        with pytest.raises(SourceError, match="sends fields without end between or after the chunks"):
            read(only(f"{web.url}/a"))
        assert time.monotonic() - began < 30
        assert len(wrote) < 10_000

    def test_some_fields_after_the_last_chunk(self, web):
        """RFC 9112, 7.1.2: a few are no trouble, and none of them is text."""

        def few(handler):
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            handler.wfile.write(b"9;x=y\r\nurn:foo:a\r\n0\r\n" + b"X-A: b\r\n" * 50 + b"\r\n")
            handler.close_connection = True

        web.pages["/a"] = few
        assert read(only(f"{web.url}/a")) == b"urn:foo:a"

    @pytest.mark.parametrize("code", [408, 429, 500, 502, 503, 504])
    def test_busy_twice_then_there(self, web, code):
        web.pages["/a"] = times(status(code), status(code), lambda handler: handler.give(TEXT))
        assert read(only(f"{web.url}/a")) == TEXT
        assert len(web.asked) == 4

    def test_busy_for_ever(self, web):
        web.pages["/a"] = status(503)
        with pytest.raises(SourceError) as caught:
            only(f"{web.url}/a")
        assert str(caught.value) == f"{web.url}/a: the server answers 503 Service Unavailable; tried 4 times"
        assert len(web.asked) == 4

    @pytest.mark.parametrize(
        ("code", "reason"),
        [
            (404, "does not exist"),
            (410, "does not exist"),
            (403, "access denied: credentials go before the host, as in https://USER:PASSWORD@HOST/"),
            (401, "access denied: credentials go before the host, as in https://USER:PASSWORD@HOST/"),
            (400, "the server answers 400 Bad Request"),
        ],
    )
    def test_what_does_not_pass_is_not_tried_again(self, web, code, reason):
        web.pages["/a"] = status(code)
        assert found(f"{web.url}/a") == [f"{web.url}/a: {reason}"]
        assert len(web.asked) == 1

    def test_gone_when_it_is_opened(self, web):
        web.pages["/a"] = TEXT
        source = only(f"{web.url}/a")
        del web.pages["/a"]
        with pytest.raises(SourceError, match=r"a: does not exist$"):
            open_file(source)

    @pytest.mark.full
    def test_no_answer(self, web, monkeypatch):
        monkeypatch.setattr(store, "TIMEOUT", 0.2)
        web.pages["/a"] = lambda _: time.sleep(1)
        began = time.monotonic()
        assert found(f"{web.url}/a") == [f"{web.url}/a: no answer within 0.2 s; tried 4 times"]
        assert time.monotonic() - began < 30

    @pytest.mark.full
    def test_an_answer_that_comes_to_a_stop(self, web, monkeypatch):
        monkeypatch.setattr(store, "TIMEOUT", 0.2)

        def stops(handler):
            handler.send_response(200)
            handler.send_header("Content-Length", "100")
            handler.end_headers()
            handler.wfile.write(b"x" * 50)
            time.sleep(1)

        web.pages["/a"] = times(lambda handler: handler.give(TEXT[:100]), stops)
        with pytest.raises(SourceError, match=r"no answer within 0.2 s \(byte 50\); tried 4 times"):
            read(only(f"{web.url}/a"))

    def test_the_position_is_said_once(self, web):
        web.pages["/a"] = times(
            lambda handler: handler.give(TEXT),
            lambda handler: handler.give(TEXT, stop=10_000),
            lambda handler: handler.give(TEXT, stop=0),
        )
        with pytest.raises(SourceError) as caught:
            read(only(f"{web.url}/a"))
        assert caught.value.reason == f"the connection broke off at byte 10000 of {len(TEXT)}; tried 4 times"

    def test_plain_http_behind_https(self, web):
        """It is tried once: the fourth try would fail, too."""
        url = web.url.replace("http", "https")
        (line,) = found(f"{url}/a")
        assert re.fullmatch(
            rf"{url}/a: no HTTPS connection with the server is possible \([A-Z_]+\); try http://",
            line,
        )

    @pytest.mark.parametrize("way", [("/a",), ("/a", "/b"), tuple(f"/{n}" for n in range(12))])
    def test_a_redirect_loop(self, web, way):
        for page, target in zip(way, way[1:] + way[:1], strict=True):
            web.pages[page] = lambda handler, target=target: handler.answer(302, Location=target)
        url = web.url + way[0]
        assert found(url) == [f"{url}: a redirect loop: the server redirects without end"]
        assert len(web.asked) <= 12

    @pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
    @pytest.mark.parametrize(
        "scheme", ["ftp", "FTP", "file", "data", "gopher", "s3", "gs", "hdfs", "javascript", "urn", "unix", "ws"]
    )
    def test_a_redirect_to_what_is_no_page(self, web, scheme, code):
        """Only http and https are followed: a page may not choose another way, nor a file of this machine."""
        server = socket.create_server(("127.0.0.1", 0))
        server.settimeout(0)
        target = f"{scheme}://127.0.0.1:{server.getsockname()[1]}{web.url}/b"
        web.pages["/a"] = lambda handler: handler.answer(code, Location=target)
        assert found(f"{web.url}/a") == [
            f"{web.url}/a: the server redirects to {scheme.lower()}:, and only http and https are followed"
        ]
        with pytest.raises(BlockingIOError):
            server.accept()
        server.close()

    def test_a_redirect_that_says_more_and_more(self, web):
        """What a server sends with a redirect is not read: it may be without end."""

        def endless(handler):
            handler.send_response(302)
            handler.send_header("Location", "/b")
            handler.end_headers()
            with contextlib.suppress(OSError):
                while True:
                    handler.wfile.write(bytes(1 << 16))

        web.pages["/a"] = endless
        web.pages["/b"] = b"x"
        assert read(only(f"{web.url}/a")) == b"x"

    def test_changed_where_someone_seeks(self, web):
        web.pages["/a"] = TEXT
        with open_file(only(f"{web.url}/a")) as reader, reader.reopen() as file:
            assert file.read(10) == TEXT[:10]
            web.etag = '"2"'
            file.seek(600_000)
            with pytest.raises(SourceError, match="changed while it was read"):
                file.read(10)

    def test_changed_before_it_is_reopened(self, web):
        """The bytes of two versions are not mixed."""
        web.pages["/a"] = TEXT
        with open_file(only(f"{web.url}/a")) as reader:
            web.etag = '"2"'
            with pytest.raises(SourceError, match="changed while it was read"):
                reader.reopen()

    def test_changed_where_a_buffer_goes_back(self, web):
        """`peek` raises no error: it stops, and `error` is the reason."""
        web.pages["/a"] = TEXT
        with open_file(only(f"{web.url}/a")) as reader, Buffer(reader) as buffer:
            buffer.start_keeping(1 << 16)
            buffer.skip(600_000)
            web.etag = '"2"'
            buffer.seek(300_000)
            assert buffer.peek(10) == b""
            assert "changed while it was read" in str(buffer.error)

    def test_another_part_than_was_asked_for(self, web):
        """A server that gives it is not believed: the bytes would be in the wrong place."""

        def later(handler):
            handler.headers.replace_header("Range", "bytes=700000-")
            handler.give(TEXT)

        web.pages["/a"] = TEXT
        with open_file(only(f"{web.url}/a")) as reader, reader.reopen() as file:
            assert file.read(10) == TEXT[:10]
            web.pages["/a"] = later
            file.seek(600_000)
            with pytest.raises(SourceError, match="another part than was asked for"):
                file.read(10)

    def test_changed_between_the_tries(self, web):
        def changed(handler):
            web.etag = '"2"'
            handler.give(TEXT)

        web.pages["/a"] = times(
            lambda handler: handler.give(TEXT), lambda handler: handler.give(TEXT, stop=1000), changed
        )
        with open_file(only(f"{web.url}/a")) as reader:
            assert read_up_to(reader, 1000) == TEXT[:1000]
            with pytest.raises(SourceError, match="changed while it was read"):
                read_up_to(reader, 1)

    def test_shorter_than_it_was(self, web):
        web.pages["/a"] = times(
            lambda handler: handler.give(TEXT),
            lambda handler: handler.give(TEXT, stop=1000),
            lambda handler: handler.give(TEXT[:500]),
        )
        with pytest.raises(SourceError, match=r"a: is shorter than it was \(byte 1000\)$"):
            read(only(f"{web.url}/a"))

    def test_no_server(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        (line,) = found(f"http://127.0.0.1:{port}/a")
        assert line == f"http://127.0.0.1:{port}/a: the connection failed: Connection refused; tried 4 times"

    def test_no_such_host(self, monkeypatch):
        def nobody(*_, **__):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

        monkeypatch.setattr(socket, "getaddrinfo", nobody)
        assert found("https://nobody.invalid/a") == [
            "https://nobody.invalid/a: the host cannot be found: Name or service not known"
        ]


class TestSecrets:
    """ "Secrets never appear in an error line or in `source`"; the object can still be known."""

    @pytest.mark.parametrize(
        ("url", "name"),
        [
            ("https://me:secret@host.example:8080/a", "https://host.example:8080/a"),
            ("https://host/a?id=7&X-Amz-Signature=secret&page=2", "https://host/a?id=7&page=2"),
            ("https://host/a&b=1?sig=secret?x", "https://host/a&b=1"),
            ("https://host/a?X-Goog-Credential=secret", "https://host/a"),
            ("https://host/a?access_token=secret", "https://host/a"),
            ("https://host/a?accessToken=secret&b=1", "https://host/a?b=1"),
            (
                "https://acc.blob.core.windows.net/c/a?sv=2022&sig=secret",
                "https://acc.blob.core.windows.net/c/a?sv=2022",
            ),
            ("https://host/a?keyword=x", "https://host/a?keyword=x"),
            ("https://host/react@18/x", "https://host/react@18/x"),
            ("s3://AKIA:secret@bucket/a b/%C3%BC", "s3://bucket/a b/%C3%BC"),
            ("s3://bucket/a\x01\n\x85\u2028b\udcff", "s3://bucket/a%01%0A%C2%85%E2%80%A8b\\xff"),
            ("gs://me:secret@bucket/*/a b%20", "gs://bucket/*/a b%20"),
            ("s3://bucket/a?region=eu&endpoint_override=localhost:1", "s3://bucket/a"),
            (
                "abfs://container:secret@account.dfs.core.windows.net/a",
                "abfs://container@account.dfs.core.windows.net/a",
            ),
            ("abfs://:secret@account/c/a", "abfs://account/c/a"),
            ("github://org:repo@main/a", "github://org:repo@main/a"),
            ("ftp://me:secret@host/a", "ftp://host/a"),
            ("https://host/a;jsessionid=secret/b", "https://host/a/b"),
        ],
    )
    def test_names(self, url, name):
        assert urls.parse_url(url).name == name
        assert "secret" not in repr(urls.parse_url(url))
        assert "secret" not in without_secrets(f"Cannot open '{url}' for reading")

    def test_a_blank_in_a_password(self):
        """What stands before the "@" is the user, whatever it is."""
        assert urls.parse_url("https://me:my secret@host/a").name == "https://host/a"

    def test_pages_that_differ_in_what_is_not_shown_are_two(self, web):
        """The parameter `key` is left out of the name, but not out of the identity."""
        web.pages["/a"] = b"x"
        one, other = find_inputs([f"{web.url}/a?key=1", f"{web.url}/a?key=2"])
        assert one.name == other.name == f"{web.url}/a"
        assert one.key != other.key

    def test_a_slash_in_a_password_does_not_make_it_a_host(self):
        assert found("s3://AKIA:sec/ret@bucket/a") == [
            's3://…: is not a URL; write a "/" or "@" in a password as %2F or %40'
        ]

    def test_in_a_run(self, web):
        web.pages["/a"] = times(lambda handler: handler.give(TEXT), status(503))
        url = web.url.replace("//", "//me:secret@") + "/a?sig=secret"
        source = only(url)
        assert web.asked[-1][1] == "/a?sig=secret"
        assert "secret" not in repr(source)
        with pytest.raises(SourceError) as caught:
            read(source)
        assert "secret" not in str(caught.value)

    @given(
        st.text(st.characters(exclude_characters="=", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1),
        st.sampled_from(sorted(urls.ARROW)),
    )
    def test_a_key_is_written_as_it_is(self, key, scheme):
        """Other tools write keys in this way: their URLs can be given to urnscan, and its names to them."""
        url = urls.parse_url(f"{scheme}://b/{key}")
        assert url.path == "/" + key
        assert url.name == f"{scheme}://b/{key}"

    @given(
        st.text(min_size=1), st.sampled_from(["s3", "memory", "https"]), st.sampled_from(["b", "b\x1d", "\udcff\x85"])
    )
    def test_a_name_is_one_line(self, path, scheme, host):
        for url in (f"{scheme}://{host}/{path}", f"{scheme}://{host}?x={path}"):
            try:
                name = urls.parse_url(url).name
            except SourceError as error:
                name = str(error)
            assert len(name.splitlines()) == 1
            assert name.encode()


@pytest.fixture
def s3(s3_server, monkeypatch):
    """A bucket that is empty, and a client of it."""
    import boto3

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server)
    client = boto3.client("s3", region_name="us-east-1", endpoint_url=s3_server)
    client.create_bucket(Bucket="bucket")
    for entry in client.list_objects_v2(Bucket="bucket").get("Contents", ()):
        client.delete_object(Bucket="bucket", Key=entry["Key"])
    return client


def put(client, *keys, data=b"x"):
    for key in keys:
        client.put_object(Bucket="bucket", Key=key, Body=data)


@pytest.mark.full
class TestBuckets:
    """Buckets are walked like folders."""

    @pytest.fixture(autouse=True)
    def _keys(self, s3):
        put(s3, "a.txt", "d/x.txt", "d/e/y.txt", "d/e.txt", "d/%41 b", "ü/[1].txt", "old.urnscan-tmp/x", data=b"12345")

    @pytest.mark.core
    def test_name_and_size(self):
        source = only("s3://bucket/d/x.txt")
        assert (source.name, source.path, source.size) == ("s3://bucket/d/x.txt", None, 5)
        assert read(source) == b"12345"

    def test_walk(self):
        names = ["a.txt", "d/%41 b", "d/e/y.txt", "d/e.txt", "d/x.txt", "ü/[1].txt"]
        assert found("s3://bucket") == found("s3://bucket/") == [f"s3://bucket/{name}" for name in names]
        assert found("s3://bucket/d") == found("s3://bucket/d/") == [f"s3://bucket/{name}" for name in names[1:5]]

    def test_an_object_has_one_key_whichever_argument_led_to_it(self):
        """Another object has another key, even if the names are equal."""
        arguments = ("s3://bucket", "s3://bucket/d/", "s3://bucket/*/x.txt", "s3://bucket/d/x.txt")
        keys = [source.key for source in find_inputs(arguments) if source.name == "s3://bucket/d/x.txt"]
        assert len(keys) == 4
        assert len(set(keys)) == 1
        assert {source.key for source in find_inputs(["s3://bucket/d/x.txt?region=eu"])}.isdisjoint(keys)

    @pytest.mark.full
    def test_every_name_names_its_object(self):
        for name in found("s3://bucket"):
            assert found(name) == [name]
            assert read(only(name)) == b"12345"

    @pytest.mark.full
    @pytest.mark.parametrize(
        ("pattern", "names"),
        [
            ("*.txt", ["a.txt"]),
            ("?/*.txt", ["d/e.txt", "d/x.txt", "ü/[1].txt"]),
            ("**/y.txt", ["d/e/y.txt"]),
            ("[a-d]", ["d/%41 b", "d/e/y.txt", "d/e.txt", "d/x.txt"]),
            ("d/*/", ["d/e/y.txt"]),
            ("ü/[[]?[]]*", ["ü/[1].txt"]),
            ("d/%*", ["d/%41 b"]),
            ("d/**", ["d/%41 b", "d/e/y.txt", "d/e.txt", "d/x.txt"]),
        ],
    )
    def test_patterns(self, pattern, names):
        assert found(f"s3://bucket/{pattern}") == [f"s3://bucket/{name}" for name in names]

    def test_filters(self):
        assert found("s3://bucket", include=("*.txt",), exclude=("ü", "d/e/")) == [
            f"s3://bucket/{name}" for name in ("a.txt", "d/e.txt", "d/x.txt")
        ]

    def test_an_object_and_a_folder_of_one_name(self, s3):
        put(s3, "a.txt/below")
        assert found("s3://bucket/a.txt") == ["s3://bucket/a.txt"]
        assert found("s3://bucket", include=("a.txt", "below")) == ["s3://bucket/a.txt", "s3://bucket/a.txt/below"]

    def test_names_with_an_empty_part_are_an_error_and_no_loop(self, s3):
        put(s3, "d//z")
        assert 's3://bucket/d: objects below it with "//" in their names cannot be read' in found("s3://bucket")

    @pytest.mark.full
    @pytest.mark.parametrize("url", ["s3://bucket/d//x.txt", "s3://bucket//a.txt", "s3://bucket/d//*.txt"])
    def test_an_empty_part_of_a_key_is_not_left_out(self, url):
        """The key without it would be another object."""
        assert found(url) == [f'{url}: an object with "//" in its name cannot be reached']

    def test_own_outputs_are_passed_over(self):
        listed = list(find_inputs(["s3://bucket/d"], Selection(), {urls.real_place("s3://me:x@bucket/d/x.txt")}))
        *sources, note = listed
        assert "s3://bucket/d/x.txt" not in [source.name for source in sources]
        assert len(sources) == 3
        assert str(note).startswith("s3://bucket/d/x.txt: is an output of this run")

    @pytest.mark.parametrize("url", ["s3://bucket/nope", "s3://bucket/a.txt/", "s3://bucket/d/x%2Etxt"])
    def test_what_is_not_there(self, url):
        assert found(url) == [f"{url}: does not exist"]

    @pytest.mark.parametrize("url", ["s3://nobodys/x", "s3://nobodys", "s3://nobodys/*.txt"])
    def test_a_bucket_that_is_not_there(self, url):
        """The line says that the bucket is wrong, not the key."""
        assert found(url) == [f"{url}: there is no such bucket"]

    def test_a_bucket_that_may_not_be_asked_for(self, monkeypatch):
        """Users may have access to objects but not to the bucket: then the line says that the key is missing."""
        from pyarrow.fs import S3FileSystem

        real = S3FileSystem.get_file_info

        class Closed:
            def __init__(self, system):
                self._system = system

            def get_file_info(self, path):
                if path == "bucket":
                    raise OSError("AWS Error ACCESS_DENIED during HeadBucket operation")
                return real(self._system, path)

        new = filesystems.new_file_system
        monkeypatch.setattr(filesystems, "new_file_system", lambda *arguments: Closed(new(*arguments)))
        assert found("s3://bucket/nope") == ["s3://bucket/nope: does not exist"]

    @pytest.mark.full
    @pytest.mark.parametrize("url", ["s3://bucket/nope*", "s3://bucket/nope/*", "s3://bucket/d/*.nope"])
    def test_what_matches_nothing(self, url):
        assert found(url) == [f"{url}: does not exist, and nothing matches it as a pattern"]

    def test_one_folder_at_a_time_is_listed(self, monkeypatch):
        listed = []
        real = filesystems._Arrow.entries
        monkeypatch.setattr(filesystems._Arrow, "entries", lambda self, path: listed.append(path) or real(self, path))
        inputs = find_inputs(["s3://bucket"], Selection(exclude=("a.txt", "*b")))
        assert next(inputs).name == "s3://bucket/d/e/y.txt"
        assert listed == ["bucket", "bucket/d", "bucket/d/e"]

    def test_a_local_file_of_that_name_comes_first(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "s3:" / "bucket").mkdir(parents=True)
        (tmp_path / "s3:" / "bucket" / "a.txt").write_bytes(b"")
        assert only("s3://bucket/a.txt").path == "s3://bucket/a.txt"

    def test_options_in_the_url(self, s3_server, monkeypatch):
        """Options of pyarrow: scheme, endpoint_override, region; the user is an access key."""
        for name in ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.delenv(name)
        address = s3_server.removeprefix("http://")
        url = f"s3://test:te%2Fst@bucket/d/?.txt?scheme=http&endpoint_override={address}&region=us-east-1"
        assert found(url) == ["s3://bucket/d/e.txt", "s3://bucket/d/x.txt"]
        assert read(only(url.replace("?.txt", "x.txt"))) == b"12345"
        assert "unknown option 'reigon'" in found("s3://bucket/a?reigon=eu")[0]

    def test_a_key_that_ends_like_options(self, s3):
        """The error line says how to write such a key."""
        put(s3, "a?b=c")
        (line,) = found("s3://bucket/a?b=c")
        assert line.endswith("a question mark of a key is written [?]")
        assert found("s3://bucket/a[?]b=c") == ["s3://bucket/a?b=c"]

    @pytest.mark.full
    def test_a_large_object(self, s3, monkeypatch):
        """Blocks are fetched ahead, and together they are the object; a second file can be read from any byte."""
        monkeypatch.setattr(objects, "_BLOCK", 100_000)
        put(s3, "large", data=TEXT)
        source = only("s3://bucket/large")
        assert read(source, 30_000) == read(source, 1 << 20) == TEXT
        with open_file(source) as reader, reader.reopen() as file:
            file.seek(500_000)
            assert file.read() == TEXT[500_000:]

    @pytest.mark.full
    def test_an_object_of_just_one_block(self, s3, monkeypatch):
        monkeypatch.setattr(objects, "_BLOCK", 1000)
        for size in (0, 1, 999, 1000, 1001, 2000):
            put(s3, "sized", data=TEXT[:size])
            assert read(only("s3://bucket/sized")) == TEXT[:size]

    @pytest.mark.core
    def test_changed_between_two_blocks(self, s3, monkeypatch):
        """Two halves of two objects of the same name and size are not read as one."""
        monkeypatch.setattr(objects, "_BLOCK", 10_000)
        put(s3, "changing", data=TEXT[:30_000])
        view = memoryview(bytearray(5_000))
        with open_file(only("s3://bucket/changing")) as reader:
            reader.read_into(view)
            put(s3, "changing", data=TEXT[30_000:60_000])
            with pytest.raises(SourceError, match="changed while it was read"):
                read_up_to(reader, 30_000)

    def test_closed_early(self, s3, monkeypatch):
        monkeypatch.setattr(objects, "_BLOCK", 1000)
        put(s3, "large", data=TEXT)
        with open_file(only("s3://bucket/large")) as reader:
            assert reader.read_into(memoryview(bytearray(10))) == 10
        reader.close()

    def test_parquet(self, s3):
        import pyarrow as pa
        import pyarrow.parquet as pq

        sink = pa.BufferOutputStream()
        table = pa.table({"n": range(1000)})
        pq.write_table(table, sink)
        put(s3, "t.parquet", data=sink.getvalue().to_pybytes())
        with open_file(only("s3://bucket/t.parquet")) as reader, reader.reopen() as file:
            assert pq.read_table(file).equals(table)


@pytest.mark.full
class TestKeys:
    """The path of a URL is the key, byte by byte, as aws-cli, boto3, DuckDB and fsspec read it."""

    KEYS = ("100%.txt", "a+b.txt", "enc/a b.txt", "enc/a%20b.txt", "q'\"&<>~.txt", "é́.txt", "ü ä#?.txt")

    @pytest.fixture(autouse=True)
    def _keys(self, s3):
        for key in self.KEYS:
            put(s3, key, data=key.encode())

    def test_each_is_named_and_read_by_itself(self):
        """ "a%20b" and "a b" are two."""
        for key in self.KEYS:
            assert found(f"s3://bucket/{key}") == [f"s3://bucket/{key}"]
            assert read(only(f"s3://bucket/{key}")) == key.encode()

    def test_a_walk_gives_the_same_names(self):
        assert found("s3://bucket") == [f"s3://bucket/{key}" for key in self.KEYS]
        assert found("s3://bucket/enc/*") == ["s3://bucket/enc/a b.txt", "s3://bucket/enc/a%20b.txt"]
        assert found("s3://bucket/enc/a%20*") == ["s3://bucket/enc/a%20b.txt"]

    def test_a_table_of_delta_is_a_folder_with_a_note(self, s3):
        """forms.md: its files are read as they lie, removed rows included, and a note says so."""
        put(s3, "t/_delta_log/0.json", "t/a.parquet")
        note, *files = found("s3://bucket/t")
        assert note.startswith("s3://bucket/t: is a table of Delta or Iceberg")
        assert files == ["s3://bucket/t/_delta_log/0.json", "s3://bucket/t/a.parquet"]

    def test_options_may_follow(self, s3_server, monkeypatch):
        monkeypatch.delenv("AWS_ENDPOINT_URL")
        options = f"?endpoint_override={s3_server.removeprefix('http://')}&scheme=http"
        for key in self.KEYS:
            source = only(f"s3://bucket/{key}{options}")
            assert source.name == f"s3://bucket/{key}"
            assert read(source) == key.encode()

    def test_control_characters_do_not_break_the_line(self, s3):
        """The key as an argument still leads to it."""
        put(s3, "c\x01\x85\u2028/x", data=b"control")
        assert found("s3://bucket/c*") == ["s3://bucket/c%01%C2%85%E2%80%A8/x"]
        assert read(only("s3://bucket/c\x01\x85\u2028/x")) == b"control"

    def test_what_is_named_is_read_before_it_is_a_pattern(self, s3):
        """ "A file that is named is always read": `[1].txt` matches `1.txt` alone, and `*.txt` all."""
        for key in ("p/[1].txt", "p/1.txt", "p/*.txt", "p/?.txt", "p/[d]/x", "p/d/x"):
            put(s3, key, data=key.encode())
        for key in ("p/[1].txt", "p/*.txt", "p/?.txt"):
            assert found(f"s3://bucket/{key}") == [f"s3://bucket/{key}"]
            assert read(only(f"s3://bucket/{key}")) == key.encode()
        assert found("s3://bucket/p/[d]") == found("s3://bucket/p/[d]/") == ["s3://bucket/p/[d]/x"]
        assert found("s3://bucket/p/[1]*") == ["s3://bucket/p/1.txt"]
        assert found("s3://bucket/p/[1].txt/") == [
            "s3://bucket/p/[1].txt/: does not exist, and nothing matches it as a pattern"
        ]


class TestS3Failing:
    """Errors of S3, from a server that gives them."""

    @pytest.fixture(autouse=True)
    def _endpoint(self, web, monkeypatch):
        monkeypatch.setenv("AWS_ENDPOINT_URL", web.url)

    def test_reading_goes_on_where_it_broke(self, web, monkeypatch):
        monkeypatch.setattr(objects, "_BLOCK", 300_000)
        broken = set()

        def page(handler):
            wanted = handler.headers.get("Range")
            if handler.command == "GET" and wanted not in broken:
                broken.add(wanted)
                handler.give(TEXT, stop=int(wanted[6:].partition("-")[0]) + 1000)
            else:
                handler.give(TEXT)

        web.pages["/bucket/a"] = page
        assert read(only("s3://bucket/a")) == TEXT
        assert len(broken) == -(-len(TEXT) // 300_000)

    def test_changed_between_the_tries(self, web):
        def page(handler):
            if handler.command == "GET":
                web.etag = '"2"'
                handler.give(TEXT, stop=1000)
            else:
                handler.give(TEXT)

        web.pages["/bucket/a"] = page
        with pytest.raises(SourceError, match=r"^s3://bucket/a: changed while it was read: read no further"):
            read(only("s3://bucket/a"))

    @pytest.mark.parametrize("code", [500, 503, 429])
    def test_busy_twice_then_there(self, web, code):
        web.pages["/bucket/a"] = times(status(code), status(code), lambda handler: handler.give(TEXT))
        assert read(only("s3://bucket/a")) == TEXT

    def test_busy_for_ever(self, web):
        web.pages["/bucket/a"] = status(503)
        (line,) = found("s3://bucket/a")
        assert line.startswith("s3://bucket/a: AWS Error")
        assert line.endswith("; tried 4 times")
        assert len(web.asked) == 4

    def test_access_denied(self, web):
        """Without credentials the request has none: a public bucket needs none. The line says what to set."""
        web.pages["/bucket/a"] = status(403)
        (line,) = found("s3://bucket/a")
        assert line.startswith("s3://bucket/a: access denied: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
        assert "s3://anonymous@BUCKET/" in line
        assert len(web.asked) == 1
        assert "Authorization" not in web.headers[0]

    @pytest.mark.parametrize(
        ("user", "environment", "reason"),
        [
            (
                "",
                ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
                "the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY were",
            ),
            ("me:hidden@", (), "the keys in the URL were"),
            ("me:hidden@", ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "the keys in the URL were"),
        ],
    )
    def test_keys_that_are_refused(self, web, monkeypatch, user, environment, reason):
        """The line says what to check, not what to set."""
        for name in environment:
            monkeypatch.setenv(name, "hidden")
        web.pages["/bucket/a"] = status(403)
        (line,) = found(f"s3://{user}bucket/a")
        assert line.startswith(f"s3://bucket/a: access denied: {reason} refused: check them")
        assert "set AWS" not in line
        assert "hidden" not in line

    def test_anonymous_is_not_called_refused(self, web, monkeypatch):
        """The keys that are set were not used."""
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        web.pages["/bucket/a"] = status(403)
        (line,) = found("s3://anonymous@bucket/a")
        assert line.startswith("s3://bucket/a: access denied: set AWS_ACCESS_KEY_ID")

    def test_anonymous(self, web, monkeypatch):
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        web.pages["/bucket/a"] = TEXT
        for url, signed in (("s3://bucket/a", True), ("s3://anonymous@bucket/a", False)):
            web.headers.clear()
            assert only(url).name == "s3://bucket/a"
            assert ["authorization" in map(str.lower, headers) for headers in web.headers] == [signed]

    @pytest.mark.full
    def test_no_answer(self, monkeypatch):
        monkeypatch.setattr(store, "TIMEOUT", 1.0)
        monkeypatch.setattr(store, "PAUSES", (0.01,))
        with socket.create_server(("127.0.0.1", 0)) as silent:
            monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
            began = time.monotonic()
            assert found("s3://bucket/a") == ["s3://bucket/a: no answer in time; tried 2 times"]
            assert time.monotonic() - began < 30

    @pytest.mark.full
    def test_a_metadata_service_that_never_answers_holds_nothing_up(self, web, monkeypatch):
        """On a laptop whose network swallows requests to 169.254.169.254 the SDK alone waits for seconds, at each request."""
        web.pages["/bucket/a"] = TEXT
        monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
        with socket.create_server(("127.0.0.1", 0)) as silent:
            address = f"http://127.0.0.1:{silent.getsockname()[1]}"
            monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", address)
            began = time.monotonic()
            assert read(only("s3://bucket/a")) == TEXT
            assert time.monotonic() - began < 3


def test_what_was_put_in_part_is_never_let_go_of(tmp_path):
    """An unfinished stream must not be garbage: pyarrow would complete it, and half an object would appear."""
    ended = []

    class Stream:
        def write(self, _):
            raise OSError("unplugged")

        def close(self):
            ended.append("closed")

        def __del__(self):
            ended.append("let go of")

    class System:
        def open_output_stream(self, _, compression):  # noqa: ARG002 (as of pyarrow)
            return Stream()

    (tmp_path / "out").write_bytes(TEXT)
    bucket = filesystems._Arrow(urls.parse_url("s3://bucket/out"), System(), "bucket")
    with pytest.raises(OSError, match="unplugged"):
        bucket.put(tmp_path / "out", "bucket/out")
    gc.collect()
    assert ended == []


def test_what_does_not_arrive_whole_is_an_error(monkeypatch, tmp_path):
    """An output is compared by size with the object that arrived: a store may report success and have less."""
    arrived = []

    class Lossy:
        def path_of(self, path):
            return path

        def put(self, file, _):
            arrived.append(file.read_bytes()[:-1])

        def find(self, path):
            return store.Entry(path, "out", is_folder=False, size=len(arrived[-1]))

    monkeypatch.setattr("urnscan.stores.remote_outputs.open_file_system", lambda *_, **__: Lossy())
    (tmp_path / "out").write_bytes(TEXT)
    with pytest.raises(
        SourceError, match=r"^s3://bucket/out: the upload is incomplete: the stored size differs; tried 4 times$"
    ):
        RemotePlace("s3://bucket/out").put(tmp_path / "out")
    assert len(arrived) == 4


class TestOthers:
    """Stores that only fsspec reaches."""

    @pytest.fixture
    def memory(self):
        fsspec = pytest.importorskip("fsspec")
        system = fsspec.filesystem("memory")
        system.store.clear()
        system.pseudo_dirs[:] = [""]
        for path in ("/f/a.txt", "/f/d/b.txt", "/f/d/c.md"):
            system.pipe(path, TEXT)
        yield system
        system.store.clear()

    @pytest.mark.usefixtures("memory")
    def test_walk_pattern_and_bytes(self):
        assert found("memory://f") == [f"memory://f/{name}" for name in ("a.txt", "d/b.txt", "d/c.md")]
        assert found("memory://f/**/*.txt") == ["memory://f/a.txt", "memory://f/d/b.txt"]
        source = only("memory://f/d/b.txt")
        assert (source.name, source.size) == ("memory://f/d/b.txt", len(TEXT))
        assert read(source) == TEXT
        with open_file(source) as reader, reader.reopen() as file:
            file.seek(700_000)
            assert file.read() == TEXT[700_000:]
        assert found("memory://f/nope") == ["memory://f/nope: does not exist"]

    def test_names_are_those_of_the_store(self, memory):
        """fsspec decodes nothing."""
        for key in ("a b", "a%20b", "[a] b"):
            memory.pipe(f"/g/{key}", key.encode())
        assert (
            found("memory://g") == found("memory://g/*") == [f"memory://g/{key}" for key in ("[a] b", "a b", "a%20b")]
        )
        for name in found("memory://g"):
            assert read(only(name)) == name.removeprefix("memory://g/").encode()

    def test_unknown_scheme(self):
        pytest.importorskip("fsspec")
        (line,) = found("nonsense://x/y")
        assert line.startswith("nonsense://x/y: ")
        assert "\n" not in line

    def test_what_is_not_installed_is_named_with_the_command(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "fsspec", None)
        monkeypatch.setitem(sys.modules, "fsspec.core", None)
        (line,) = found("ftp://host/x")
        assert line.startswith(
            "ftp://host/x: ftp:// needs a package that is not installed: pip install 'urnscan[remote]'"
        )

    def test_file_urls_are_paths(self, tmp_path):
        (tmp_path / "a b?.txt").write_bytes(b"12")
        assert found(f"file://{tmp_path}") == [f"{tmp_path}/a b?.txt"]
        assert only(f"file://localhost{tmp_path}/a%20b%3F.txt") == Input(
            f"{tmp_path}/a b?.txt", f"{tmp_path}/a b?.txt", 2
        )
        assert found("file://elsewhere/x") == ["file://elsewhere/x: invalid file URL; write file:///PATH"]
        # After 7 bytes, the length of "file://", this URL goes on like an absolute path.
        with pytest.raises(SourceError, match="invalid file URL"):
            urls.local_path("gs://ab/x")
        assert found(f"file://{tmp_path}/nope") == [f"{tmp_path}/nope: no such file or folder"]


def test_nothing_of_a_network_is_touched_where_no_url_is_given(tmp_path):
    """ "The heavy imports only when a URL is given", and no connection ever."""
    (tmp_path / "file").write_bytes(TEXT)
    code = f"""
import sys
def audit(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "urllib.Request"):
        raise AssertionError(event)
sys.addaudithook(audit)
from urnscan.stores.input import one_by_one
from urnscan.formats.context import Reading
from urnscan.formats.unfold import open_documents
from urnscan.inputs.arguments import find_listed
for source in one_by_one(find_listed([{str(tmp_path)!r}, {str(tmp_path / "*")!r}, "file://{tmp_path}", "nope"])):
    if hasattr(source, "path"):
        for document in open_documents(source, Reading()):
            while document.reader.read_into(memoryview(bytearray(1 << 20))):
                pass
remote = {{"urnscan.stores." + name for name in ("filesystems", "objects", "remote_outputs", "web")}}
loaded = {{"pyarrow._s3fs", "fsspec", "aiohttp", "urllib.request", "http.client", "ssl"}} | remote
print(*sorted(loaded & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []


@pytest.mark.full
class TestMarks:
    """What tells an object from another state of it (RFC 9110, 8.8)."""

    def test_of_pages(self, web):
        """A strong ETag; or else the length and the time. A weak ETag may stand for other bytes."""
        headers = {"Last_Modified": "Mon, 01 Jan 2024 00:00:00 GMT"}
        web.pages = {"/a": b"12345", "/b": lambda handler: handler.give(b"12345", **headers)}
        assert only(web.url + "/a").mark == '"1"'
        web.etag = 'W/"1"'
        assert only(web.url + "/a").mark is None
        assert only(web.url + "/b").mark == "5 Mon, 01 Jan 2024 00:00:00 GMT"
        web.etag = None
        assert only(web.url + "/a").mark is None
        headers["Last_Modified"] = "Mon, 01 Jan 2024 00:00:01 GMT"
        assert only(web.url + "/b").mark == "5 Mon, 01 Jan 2024 00:00:01 GMT"

    @pytest.mark.full
    def test_of_objects(self, s3):
        """Of one that is named, and of one in a folder."""
        put(s3, "d/a", data=b"12345")
        before = only("s3://bucket/d/a").mark
        assert before is not None
        assert only("s3://bucket/d").mark == before
        put(s3, "d/a", data=b"123456")
        assert only("s3://bucket/d/a").mark != before
