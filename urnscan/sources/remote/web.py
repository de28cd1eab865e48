"""The web as a store: pages are objects, and pages that list what lies below them are folders."""

import errno
import http.client
import re
import socket
import ssl
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urljoin, urlsplit

from urnscan.sources.remote import stores
from urnscan.sources.remote.stores import Content, Entry, Missing, Trouble
from urnscan.sources.remote.urls import Url, clean, without_secrets

__all__ = ["Web"]

_INDEX = re.compile(r"(?i)\s*(index of|directory listing for)\b")
_PASSED = 1 << 16  # octets that are passed over at a time
_LARGEST_INDEX = 1 << 24  # octets of a page that lists a folder
# What OpenSSL finds wrong where a server answers in plain HTTP, or in a TLS that is not spoken here.
_NO_TLS = frozenset(
    "WRONG_VERSION_NUMBER RECORD_LAYER_FAILURE HTTP_REQUEST UNSUPPORTED_PROTOCOL TLSV1_ALERT_PROTOCOL_VERSION".split()
)
_SAFE = "/:?#[]@!$&'()*+,;=%-._~"  # stays as it is in a URL that people wrote


class Web:
    """The pages of a host. Paths are URLs without the user, as they are asked for."""

    reads_ahead = False  # a page is one stream

    def __init__(self, url: Url) -> None:
        self._url = url
        self._headers = {}
        if url.user:
            credentials = b64encode(unquote(url.user).encode()).decode()
            self._headers["Authorization"] = "Basic " + credentials

    def path_of(self, path: str) -> str:
        """The URL to be asked for: a path that is not that of the store's own URL has no query."""
        query = "?" + self._url.options if self._url.options and path == self._url.path else ""
        return f"{self._url.scheme}://{self._url.host}{quote(path, safe=_SAFE) or '/'}{quote(query, safe=_SAFE)}"

    def name_of(self, path: str) -> str:
        """The URL as it is shown."""
        return clean(without_secrets(path))

    def find(self, path: str) -> Entry | None:
        """The page, without reading it; a folder, if it lists what is below."""
        try:
            page = self.page(path, "bytes=0-0")
        except Missing:
            return None
        try:
            size = page.size
            is_html = "html" in page.kind
        finally:
            page.close()
        parts = urlsplit(path)
        is_folder = is_html and parts.path.endswith("/") and not parts.query and self._links(path) is not None
        return Entry(path, unquote(parts.path.rstrip("/").rsplit("/", 1)[-1]), is_folder, None if is_folder else size)

    def entries(self, path: str) -> Iterator[Entry]:
        """What a page lists that is right below it."""
        try:
            links = self._links(path)
        except Missing:
            return
        begin = path.partition("?")[0]
        for link in sorted(links or ()):
            below = link[len(begin) :]
            name = below.rstrip("/")
            if link.startswith(begin) and name and not re.search("[/?]", name):
                yield Entry(link, unquote(name), below.endswith("/"))

    def open(self, path: str, position: int) -> Content:
        """The page, to be read."""
        return _Stream(self, path, position)

    def put(self, file: Path, path: str) -> None:  # noqa: ARG002 (it is what a store can)
        """Nothing is written to the web."""
        raise Trouble("nothing can be written to the web", passing=False)

    def _links(self, path: str) -> set[str] | None:
        """Where the links of a page lead that lists a folder; None for any other page."""
        page = _Stream(self, path, 0)
        try:
            links = _Links()
            read = 0
            view = memoryview(bytearray(_PASSED))
            while got := page.read_at(read, view):
                read += got
                if read > _LARGEST_INDEX:
                    raise Trouble(f"lists more than {_LARGEST_INDEX:,} octets of names", passing=False)
                links.feed(str(view[:got], "latin-1"))
                if links.is_index is False:
                    return None
        finally:
            page.close()
        return {urljoin(path, link).partition("#")[0] for link in links.found} if links.is_index else None

    def page(self, path: str, octets: str | None) -> "_Page":
        """An answer to a request for a page, or for a part of it: a server may not know parts, and give all."""
        request = urllib.request.Request(path)  # noqa: S310 (open_store gives http and https only)
        request.add_header("User-Agent", "urnscan")
        if octets:
            request.add_header("Range", octets)
        for name, value in self._headers.items():
            request.add_unredirected_header(name, value)
        try:
            return _Page(urllib.request.urlopen(request, timeout=stores.TIMEOUT))  # noqa: S310
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                if octets in ("bytes=0-", "bytes=0-0"):  # of an empty page no octet can be asked for
                    return self.page(path, None)
                raise Trouble("is shorter than it was", passing=False) from None
            if str(error.msg).startswith(urllib.request.HTTPRedirectHandler.inf_msg):
                raise Trouble("a redirect loop: the server redirects without end", passing=False) from None
            raise _of_status(error.code) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _of_network(error) from None


class _Page:
    """An answer of a server, and what its headers say."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.response = response
        headers = response.headers
        self.kind = headers.get("Content-Type", "")
        length = headers.get("Content-Length", "")
        self.length = int(length) if length.isdecimal() else None
        self.position, self.size = 0, self.length
        self.is_part = response.status == http.HTTPStatus.PARTIAL_CONTENT
        if self.is_part:
            part = re.match(r"bytes (\d+)-(\d+)/(\d+|\*)", headers.get("Content-Range", ""))
            if part is None:
                raise Trouble("the server does not say which part it gives", passing=False)
            self.position, self.length = int(part[1]), int(part[2]) - int(part[1]) + 1
            self.size = int(part[3]) if part[3] != "*" else None
        marks = (headers.get("ETag"), headers.get("Last-Modified"), self.size)
        self.mark = marks if any(mark is not None for mark in marks) else None

    def close(self) -> None:
        self.response.close()


class _Stream:
    """A page that is read; anew from where it shall go on where that is not where it stands."""

    is_whole = True

    def __init__(self, web: Web, path: str, position: int) -> None:
        self._web = web
        self._path = path
        self._page = web.page(path, f"bytes={position}-")
        self._at = self._page.position
        self._failure: Exception | None = None  # behind the octets that were given
        self.size: int | None = self._page.size
        self.mark: object | None = self._page.mark
        self.seekable = self._page.is_part and self.size is not None

    def read_at(self, position: int, view: memoryview) -> int:
        filled = 0
        if self.size is not None and position >= self.size:
            return 0
        try:
            self._move(position)
            while filled < len(view) and self._failure is None:
                octets = self._read(len(view) - filled)
                if not octets:
                    break
                view[filled : filled + len(octets)] = octets
                filled += len(octets)
        except Trouble as error:
            self._failure = error
        if self._failure is not None and not filled:
            raise self._failure
        return filled

    def _move(self, position: int) -> None:
        """Go on at an octet: a server that gives no parts gives all that was read already once more."""
        if position == self._at:
            return
        if position < self._at or self._page.is_part:
            self._page.close()
            self._page = self._web.page(self._path, f"bytes={position}-")
            if self._page.mark != self.mark:
                raise Trouble("changed while it was read: read no further", passing=False)
            self._at = self._page.position
            if self._at > position:
                raise Trouble("the server gives another part than was asked for", passing=False)
        while self._at < position:
            if not self._read(min(position - self._at, _PASSED)):
                raise Trouble(f"the connection broke off at octet {self._at}", passing=True)

    def _read(self, most: int) -> bytes:
        """The next octets, empty at the end. Raises Trouble."""
        page = self._page
        try:
            octets = page.response.read1(most)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _of_network(error) from None
        self._at += len(octets)
        end = None if page.length is None else page.position + page.length
        if not octets and end is not None and self._at < end:
            raise Trouble(f"the connection broke off at octet {self._at} of {end}", passing=True)
        return octets

    def close(self) -> None:
        self._page.close()


class _Links(HTMLParser):
    """The links of a page, and whether its title says that it lists a folder."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.is_index: bool | None = None
        """None: there was no title yet."""
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_title = tag == "title"
        if tag == "a":
            self.found += [value for name, value in attrs if name == "href" and value]
        elif tag == "body" and self.is_index is None:
            self.is_index = False

    def handle_data(self, data: str) -> None:
        if self._in_title and self.is_index is None:
            self.is_index = _INDEX.match(data) is not None


def _of_status(status: int) -> Exception:
    """What a server answered, as an error."""
    if status in (404, 410):
        return Missing()
    if status in (401, 403):
        return PermissionError(errno.EACCES, f"HTTP status {status}")
    phrase = http.client.responses.get(status, "")
    reason = f"the server answers {status} {phrase}".rstrip()
    return Trouble(reason, passing=status in (408, 425, 429) or status >= 500)


def _of_network(error: BaseException) -> Exception:
    """What went wrong on the way, as an error."""
    while isinstance(error, urllib.error.URLError) and isinstance(error.reason, BaseException):
        error = error.reason
    if isinstance(error, TimeoutError):
        return Trouble(f"no answer within {stores.TIMEOUT:g} s", passing=True)
    if isinstance(error, socket.gaierror):
        return Trouble(f"the host cannot be found: {error.strerror}", passing=error.errno == socket.EAI_AGAIN)
    if isinstance(error, ssl.SSLCertVerificationError):
        return Trouble(f"the certificate is not trusted: {error.verify_message}", passing=False)
    if isinstance(error, ssl.SSLError) and error.reason in _NO_TLS:
        reason = f"the server speaks no TLS that is understood here ({error.reason}): is it http:// and not https://?"
        return Trouble(reason, passing=False)
    if isinstance(error, http.client.InvalidURL | ValueError):
        return Trouble("is no URL that can be asked for", passing=False)
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return Trouble(f"the connection failed: {without_secrets(text)}", passing=True)
