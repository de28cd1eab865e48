"""Readers of objects in stores. After a failure they read on from the same byte, if the object has not changed."""

import io
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from urnscan.errors import SourceError
from urnscan.stores.filesystems import open_store
from urnscan.stores.reader import Reader
from urnscan.stores.store import Content, Trouble, in_thread, patiently
from urnscan.stores.urls import Remote

# Bytes of one request to an object store; smaller requests would be slowed down by latency.
_BLOCK = 8 << 20
_BUFFER = 1 << 18  # minimum bytes of a read after a seek
# Maximum of broken connections: 10, and one more for each 64 KiB read.
_BREAKS, _STEP = 10, 1 << 16
_HAS_CHANGED = "changed while it was read: read no further"

Result = TypeVar("Result")


class _Object(io.RawIOBase):
    """Object of a store as a Python file that reconnects when a connection fails. Reading raises SourceError, also if
    the object has changed since it was opened.
    """

    def __init__(self, source: Remote, start: int = 0, end: int | None = None) -> None:
        """The caller will read the bytes from `start` to `end` (exclusive). Raises SourceError."""
        self.source = source
        self._end = end
        self._content: Content | None = None
        self._position = 0
        self._reads = 0
        self._breaks = 0
        self._is_checked = False
        content = self._patiently(lambda: self._open(start))
        self.size, self._seekable, self._mark = content.size, content.seekable, content.mark
        self.is_stream = content.at is not None

    def read_at(self, position: int, view: memoryview) -> int:
        if self.size is not None and position >= self.size and self.is_stream:
            return 0
        return self._patiently(lambda: self._read_at(position, view), position)

    def again(self) -> "_Object":
        """The same object as another file. Raises SourceError, also if the object has changed."""
        other = _Object(self.source)
        if other._mark != self._mark:
            other.close()
            raise SourceError(self.source.name, _HAS_CHANGED)
        return other

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._seekable

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        begin = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.size or 0}[whence]
        if begin + offset < 0:
            raise ValueError("before the beginning")
        self._position = begin + offset
        return self._position

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any buffer
        view = memoryview(buffer).cast("B")
        got = self.read_at(self._position, view) if view and self._position < (self.size or 0) else 0
        self._position += got
        return got

    def close(self) -> None:
        if not self.closed:
            self._disconnect()
        super().close()

    def _disconnect(self) -> None:
        content, self._content = self._content, None
        if content is not None:
            content.close()

    def _patiently(self, action: Callable[[], Result], position: int = 0) -> Result:
        return patiently(self.source.name, self.source.url, action, position, self._disconnect)

    def _open(self, position: int) -> Content:
        self._content = open_store(self.source.url).open(self.source.path, position, self._end)
        return self._content

    def _opened(self, position: int) -> Content:
        """The content, reopened if need be, to read from `position`. Raises Trouble if the object may have changed, or
        if the connection broke too often.
        """
        if self._content is not None and self._content.at in (None, position):
            return self._content
        if self._content is None and self._reads:
            self._breaks += 1
            if self._breaks > _BREAKS + position // _STEP:
                raise Trouble("the connection broke off too often; download the file first", passing=False)
        self._disconnect()
        content = self._open(position)
        if content.mark != self._mark:
            raise Trouble(_HAS_CHANGED, passing=False)
        if content.mark is None and self._reads:
            reason = "the connection broke off, and the server does not show whether the file has changed"
            raise Trouble(f"{reason}; download it first", passing=False)
        return content

    def _read_at(self, position: int, view: memoryview) -> int:
        got = self._opened(position).read_at(position, view)
        if got:
            self._reads += 1
        elif self.size is not None and position < self.size:
            raise Trouble(f"ended at byte {position} of {self.size}", passing=True)
        elif self._reads > 1 and not self.is_stream and not self._is_checked:
            self._disconnect()
            # Raises if the object has changed since the first block was read.
            self._opened(position)
            self._is_checked = True
        return got


def open_between(source: Remote, start: int, end: int) -> _Object:
    """Open an object in a store to read only the bytes from `start` to before `end`. Raises SourceError.

    Returns a binary file, which the caller closes. It is read by `read_at(position, view)`, which fills the front of
    the view and returns the number of bytes; `position` counts from the first byte of the object, not from `start`.
    """
    return _Object(source, start, end)


class RemoteReader(Reader):
    """Reader of an object in a store, from its first byte on. After a failure of the network, it reads on from the same
    byte, if the object has not changed.
    """

    def __init__(self, source: Remote) -> None:
        """Open the object. Raises SourceError."""
        self._object = _Object(source)
        self._ahead: Future[memoryview] | None = None
        self._block = memoryview(b"")
        self._at = 0

    def read_into(self, view: memoryview) -> int:
        """Fill the front of the view. Returns the number of bytes, 0 at the end.

        Raises SourceError if the object cannot be read further, or has changed since it was opened.
        """
        if self._object.is_stream:
            got = self._object.read_at(self._at, view)
            self._at += got
            return got
        self._block = self._block or self._next_block()
        got = min(len(view), len(self._block))
        view[:got] = self._block[:got]
        self._block = self._block[got:]
        return got

    def _next_block(self) -> memoryview:
        ahead, self._ahead = self._ahead or in_thread(self._fetch), None
        block = ahead.result()
        self._at += len(block)
        if block and (self._object.size is None or self._at < self._object.size or self._at > _BLOCK):
            self._ahead = in_thread(self._fetch)
        return block

    def _fetch(self) -> memoryview:
        size = _BLOCK if self._object.size is None else max(1, min(_BLOCK, self._object.size - self._at))
        block = memoryview(bytearray(size))
        return block[: self._object.read_at(self._at, block)]

    def reopen(self) -> io.BufferedIOBase | None:
        """Open the object once more, as a seekable file from its first byte on, which the caller closes; None if the
        store cannot read from any byte. Raises SourceError, also if the object has changed.
        """
        return io.BufferedReader(self._object.again(), _BUFFER) if self._object.seekable() else None

    def close(self) -> None:
        """Close the connection. A pending request is abandoned."""
        # During a request, closing would wait for the server.
        if self._ahead is None:
            self._object.close()
        self._ahead = None
        self._block = memoryview(b"")
