"""The web as a store: objects are pages, folders are pages that list links."""

import contextlib
import errno
import http.client
import re
import socket
import ssl
import time
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import Future
from typing import IO, Any, cast
from urllib.parse import quote, unquote, urljoin, urlsplit

from urnscan.display.addresses import without_secrets
from urnscan.stores import store
from urnscan.stores.store import Entry, Trouble, in_thread
from urnscan.stores.urls import HTTP, Url, clean

_INDEX = re.compile(rb"(?i)<title[^>]*>\s*(index of|directory listing for)\b")
_BLOCK = 1 << 16  # bytes per read to list a folder or to skip to a position
_LARGEST_INDEX = 1 << 24  # maximum bytes of a page that lists a folder
# Errors of OpenSSL if a server answers in plain HTTP, or in a version of TLS that OpenSSL refuses.
_NO_TLS = frozenset(
    "WRONG_VERSION_NUMBER RECORD_LAYER_FAILURE HTTP_REQUEST UNSUPPORTED_PROTOCOL TLSV1_ALERT_PROTOCOL_VERSION".split()
)
# Maximum time of a header: _PATIENCE * store.TIMEOUT. Of a body: this time, and a second for each _SLOWEST bytes.
_PATIENCE = 3
_SLOWEST = 1_000
_MAX_LINES = 100  # maximum lines of chunks and trailers in a read: as many as http.client accepts headers
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_SAFE = "/:?#[]@!$&'()*+,;=%-._~"  # characters of a URL that are not percent-encoded


class _Redirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        # The handler of urllib also follows redirects to FTP, and reads the body of the redirect, which may be of any
        # length.
        fp.close()
        if urlsplit(newurl).scheme not in HTTP:
            return None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_OPENER = urllib.request.build_opener(_Redirects)


def _answer(request: urllib.request.Request) -> http.client.HTTPResponse:
    """Send a request and wait for the headers of the response."""
    # The timeout of urllib is for one byte: a server that sends byte after byte slowly would never be too late.
    answer: Future[http.client.HTTPResponse] = in_thread(lambda: _OPENER.open(request, timeout=store.TIMEOUT))
    try:
        return answer.result(_PATIENCE * store.TIMEOUT)
    except TimeoutError:
        answer.add_done_callback(_close_late)
        raise


def _close_late(answer: Future[http.client.HTTPResponse]) -> None:
    if answer.exception() is None:
        answer.result().close()


class Web:
    """Pages of a web host, as a store. The paths of its methods are complete URLs without user and password, as
    `path_of` returns them. Methods raise Trouble and OSError.
    """

    def __init__(self, url: Url) -> None:
        self._url = url
        self._credentials = "Basic " + b64encode(unquote(url.user).encode()).decode() if url.user else ""

    def path_of(self, path: str) -> str:
        """Return the complete URL, percent-encoded, of a path that begins with "/" (empty: "/").

        If the path is that of the URL by which this store was opened, the query of that URL is added: in the store of
        `https://me:secret@host/a b?x=1`, `/a b` -> `https://host/a%20b?x=1`, and `/c` -> `https://host/c`.
        """
        query = "?" + self._url.options if self._url.options and path == self._url.path else ""
        return f"{self._url.scheme}://{self._url.host}{quote(path, safe=_SAFE) or '/'}{quote(query, safe=_SAFE)}"

    def name_of(self, path: str) -> str:
        """The URL `path` without secrets, for messages."""
        return clean(without_secrets(path))

    def find(self, path: str) -> Entry | None:
        """The page at a URL, by a request for its first byte; None if the server answers 404 or 410.

        A page is a folder if the URL ends in "/" without a query, and the page is HTML with the title of a list of
        files.
        """
        try:
            page = self._page(path, "bytes=0-0")
            page.close()
        except FileNotFoundError:
            return None
        parts = urlsplit(path)
        is_folder = page.is_html and parts.path.endswith("/") and not parts.query and self._links(path) is not None
        name = unquote(parts.path.rstrip("/").rsplit("/", 1)[-1])
        return Entry(path, name, is_folder, None if is_folder else page.size, None if is_folder else page.state)

    def entries(self, path: str) -> Iterator[Entry]:
        """Yield, sorted by URL, the pages and folders directly in a folder: those to which the page at `path` links,
        and whose URL is `path` and one more part (a folder with "/" at its end). Sizes are None.

        Nothing for a page that does not exist, or that is not a list of files.
        """
        try:
            links = self._links(path)
        except FileNotFoundError:
            return
        begin = path.partition("?")[0]
        for link in sorted(links or ()):
            below = link[len(begin) :]
            name = below.rstrip("/")
            if link.startswith(begin) and name and not re.search("[/?]", name):
                yield Entry(link, unquote(name), below.endswith("/"))

    def open(self, path: str, position: int, end: int | None = None) -> "_Page":
        """Open a page to read the bytes from `position` to before `end` (None: to the end of the page).

        If the server ignores ranges, the page begins at byte 0 and goes on after `end`; its `read_at` skips the bytes
        before a position.
        """
        page = self._page(path, f"bytes={position}-{'' if end is None else end - 1}")
        if page.at > position:
            page.close()
            raise Trouble("the server gives another part than was asked for", passing=False)
        return page

    def _links(self, path: str) -> set[str] | None:
        """Absolute URLs of the links of a page that lists a folder ("Index of …"); None for any other page."""
        from lxml import html  # noqa: PLC0415 (only for pages that may list a folder)

        data = bytearray()
        view = memoryview(bytearray(_BLOCK))
        with contextlib.closing(self.open(path, 0)) as page:
            while got := page.read_at(page.at, view):
                data += view[:got]
                if not _INDEX.search(data, 0, _BLOCK):
                    return None
                if page.at > _LARGEST_INDEX:
                    raise Trouble(f"lists more than {_LARGEST_INDEX:,} bytes of names", passing=False)
        if not data:
            return None
        links = (link.get("href") for link in html.document_fromstring(bytes(data)).iter("a"))
        return {urljoin(path, link).partition("#")[0] for link in links if link}

    def _page(self, path: str, range_: str | None) -> "_Page":
        request = urllib.request.Request(path, headers={"User-Agent": "urnscan"})  # noqa: S310 (http and https only)
        if range_:
            request.add_header("Range", range_)
        if self._credentials:
            request.add_unredirected_header("Authorization", self._credentials)
        try:
            return _Page(_answer(request))
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                # An empty page has no range.
                if range_ in ("bytes=0-", "bytes=0-0"):
                    return self._page(path, None)
                raise Trouble("is shorter than it was", passing=False) from None
            if str(error.msg).startswith(urllib.request.HTTPRedirectHandler.inf_msg):
                raise Trouble("a redirect loop: the server redirects without end", passing=False) from None
            scheme = urlsplit(error.headers.get("Location", "")).scheme
            if error.code in _REDIRECTS and scheme not in HTTP:
                reason = f"the server redirects to {scheme}:, and only http and https are followed"
                raise Trouble(reason, passing=False) from None
            raise _of_status(error.code) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _of_network(error) from None


class _Lines:
    """File of a response that limits the lines, and the seconds, of each call of http.client. Lines are the sizes of
    chunks, and the trailer fields (RFC 9112, 7.1.2).
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file: Any = file
        self.begin()

    def begin(self) -> None:
        """Reset the limits, before each call of http.client."""
        self._count = 0
        self._until = time.monotonic() + _PATIENCE * store.TIMEOUT

    def readline(self, most: int) -> bytes:
        self._count += 1
        line = bytearray()
        while len(line) < most and not line.endswith(b"\n") and (pending := self._file.peek(1)):
            # `peek` waits for the server at most once; `readline` would wait for a whole line.
            end = pending.find(b"\n") + 1 or len(pending)
            line += self._file.read(min(end, most - len(line)))
            if self._count > _MAX_LINES or time.monotonic() > self._until:
                raise Trouble("the server sends fields without end between or after the chunks", passing=False)
        return bytes(line)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (any attribute of a file)
        return getattr(self._file, name)


class _Page:
    """Body of a response, as a `Content`: a stream that may begin in the middle of the page."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self._response = response
        self._lines = _Lines(response.fp)
        if response.fp is not None:
            response.fp = cast(Any, self._lines)
        self._failure: Trouble | None = None  # to be raised after the bytes before it
        self._waited = 0.0  # seconds
        self._got = 0  # bytes
        headers = response.headers
        self.is_html = "html" in headers.get("Content-Type", "")
        length = headers.get("Content-Length", "")
        self.at = 0
        self.size = self._end = int(length) if length.isdecimal() else None
        is_part = response.status == http.HTTPStatus.PARTIAL_CONTENT
        if is_part:
            part = re.match(r"bytes (\d+)-(\d+)/(\d+|\*)", headers.get("Content-Range", ""))
            if part is None:
                raise Trouble("the server does not say which part it gives", passing=False)
            self.at, self._end = int(part[1]), int(part[2]) + 1
            self.size = int(part[3]) if part[3] != "*" else None
        self.seekable = is_part and self.size is not None
        marks = (headers.get("ETag"), headers.get("Last-Modified"), self.size)
        self.mark: object | None = marks if any(mark is not None for mark in marks) else None

    @property
    def state(self) -> str | None:
        """Version of the page: a strong ETag, else size and Last-Modified if both are known (RFC 9110, 8.8)."""
        tag, time = self._response.headers.get("ETag", ""), self._response.headers.get("Last-Modified")
        if tag.startswith('"'):
            return tag
        return None if time is None or self.size is None else f"{self.size} {time}"

    def read_at(self, position: int, view: memoryview) -> int:
        # The server ignores ranges and sends the whole page.
        while self.at < position:
            if not self._read(min(position - self.at, _BLOCK)):
                raise Trouble(f"the connection broke off at byte {self.at}", passing=True)
        filled = 0
        try:
            while filled < len(view) and self._failure is None and (data := self._read(len(view) - filled)):
                view[filled : filled + len(data)] = data
                filled += len(data)
        except Trouble as error:
            self._failure = error
        if self._failure is not None and not filled:
            raise self._failure
        return filled

    def _read(self, most: int) -> bytes:
        began = time.monotonic()
        self._lines.begin()
        try:
            data = self._response.read1(most)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _of_network(error) from None
        self._waited += time.monotonic() - began
        self._got += len(data)
        if self._waited > _PATIENCE * store.TIMEOUT + self._got / _SLOWEST:
            reason = f"too slow: {self._got:,} bytes came in {self._waited:.0f} s; read no further"
            raise Trouble(reason, passing=False)
        self.at += len(data)
        if not data and self._end is not None and self.at < self._end:
            raise Trouble(f"the connection broke off at byte {self.at} of {self._end}", passing=True)
        return data

    def close(self) -> None:
        self._response.close()


def _of_status(status: int) -> Exception:
    if status in (404, 410):
        return FileNotFoundError()
    if status in (401, 403):
        return PermissionError(errno.EACCES, f"HTTP status {status}")
    phrase = http.client.responses.get(status, "")
    return Trouble(f"the server answers {status} {phrase}".rstrip(), passing=status in (408, 425, 429) or status >= 500)


def _of_network(error: BaseException) -> Trouble:
    while isinstance(error, urllib.error.URLError) and isinstance(error.reason, BaseException):
        error = error.reason
    if isinstance(error, TimeoutError):
        return Trouble(f"no answer within {store.TIMEOUT:g} s", passing=True)
    if isinstance(error, socket.gaierror):
        return Trouble(f"the host cannot be found: {error.strerror}", passing=error.errno == socket.EAI_AGAIN)
    if isinstance(error, ssl.SSLCertVerificationError):
        return Trouble(f"the certificate is not trusted: {error.verify_message}", passing=False)
    if isinstance(error, ssl.SSLError) and error.reason in _NO_TLS:
        reason = f"no HTTPS connection with the server is possible ({error.reason}); try http://"
        return Trouble(reason, passing=False)
    if isinstance(error, http.client.InvalidURL | ValueError):
        return Trouble("invalid URL", passing=False)
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return Trouble(f"the connection failed: {without_secrets(text)}", passing=True)
