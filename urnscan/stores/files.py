"""Readers of files, ranges of files, pipes and standard input.

The readers call the system directly, which releases the GIL, and fill the buffer of the scanner without one in between.
"""

import contextlib
import fcntl
import io
import os
import re
import select
import stat

from urnscan.errors import SourceError
from urnscan.stores.input import Input
from urnscan.stores.reader import Reader

_PIPE_SIZE = 1 << 20  # bytes; the maximum that Linux allows every user
_SEARCHED = 1 << 16  # bytes searched for a separator at a time


class File(Reader):
    """Reader of a regular file or block device, from the position of its descriptor on."""

    def __init__(self, name: str, descriptor: int, path: str | None = None) -> None:
        """`descriptor`: of an open file; closed with this reader, except 0, standard input. `path`: of the file, for
        `reopen`; with None, `reopen` gives None.
        """
        self.name = name
        """Name of the input, for errors."""
        self._descriptor = descriptor
        self._path = path
        self._ended = False

    def read_into(self, view: memoryview) -> int:
        """Fill the view; at the end of the file, or before an error, only its front. Returns the number of bytes.

        Returns 0 at the end, and from then on, also if the file grows. Raises SourceError for an error, but if bytes
        came before it, only at the next call.
        """
        got = 0
        try:
            # After the end nothing more is read: a terminal would wait for more text, and a growing file may never end.
            while got < len(view) and not self._ended and self._is_ready(got):
                more = os.readv(self._descriptor, [view[got:]])
                self._ended = not more
                got += more
        except OSError as error:
            # Bytes before the error come first; the next call raises it.
            if not got:
                raise SourceError.from_os(self.name, error) from error
        return got

    def reopen(self) -> io.BufferedIOBase | None:
        """Open the file a second time, from the first byte; the caller closes it. None without a path.

        Raises SourceError.
        """
        if self._path is None:
            return None
        try:
            return open(self._path, "rb")  # noqa: PTH123 (the caller closes it)
        except OSError as error:
            raise SourceError.from_os(self.name, error) from error

    def close(self) -> None:
        """Close the descriptor; standard input stays open."""
        if self._descriptor > 0:
            os.close(self._descriptor)
        self._descriptor = -1

    def _is_ready(self, got: int) -> bool:  # noqa: ARG002 (pipes use it)
        """A pipe may wait here for the first byte."""
        return True


class Pipe(File):
    """Reader of a pipe, a socket or a terminal. `read_into` waits for the first byte, and then returns what is present,
    without waiting for a full view; 0 when the writer has closed.
    """

    def __init__(self, name: str, descriptor: int) -> None:
        super().__init__(name, descriptor)
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)
        # Linux: fewer and larger reads.
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            with contextlib.suppress(OSError):
                if fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ) < _PIPE_SIZE:
                    fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)

    def _is_ready(self, got: int) -> bool:
        # `poll` waits, and not the read, because another process may have made the pipe non-blocking.
        events = self._poll.poll(0 if got else None)
        return not got or any(event & select.POLLIN for _, event in events)


class Range(File):
    """Reader of a byte range of a regular file that cuts no URN; made by `open_range`.

    The range begins with a separator (a byte that no URN contains) or with byte 0, and ends before a separator or at
    the end of the file.
    """

    offset: int
    """Offset in the file of the first byte of the range."""
    following: int | None
    """After reading: the separator that follows the range (a byte value); None at the end of the file, and for an empty
    range.
    """

    def __init__(self, name: str, descriptor: int, start: int, end: int, separators: bytes) -> None:
        """Find the beginning of the range from offset `start` to `end`. `separators`: bytes that occur in no URN;
        without any, only a range that begins at 0 is not empty. Raises OSError.
        """
        super().__init__(name, descriptor)
        self._separator = re.compile(b"[%b]" % re.escape(separators) if separators else b"(?!)")
        self._end = end
        self.following = None
        self.offset = self._at = self._begin(start)
        os.lseek(descriptor, self.offset, os.SEEK_SET)

    def _begin(self, start: int) -> int:
        """Offset of the first separator from `start` on; 0 if `start` is 0. Without one, `start`, and the range is
        empty.
        """
        if start == 0 and self._end > 0:
            return 0
        at = start
        while at < self._end:
            block = os.pread(self._descriptor, min(_SEARCHED, self._end - at), at)
            if not block:
                break
            separator = self._separator.search(block)
            if separator:
                return at + separator.start()
            at += len(block)
        self._ended = True
        return start

    def read_into(self, view: memoryview) -> int:
        """Fill the view; at the end of the range only its front. Returns the number of bytes, 0 at the end.

        Sets `following` when the end of the range is read. Raises SourceError.
        """
        got = super().read_into(view)
        if self._at + got > self._end:
            separator = self._separator.search(view, max(0, self._end - self._at), got)
            if separator:
                got = separator.start()
                self.following = view[got]
                self._ended = True
        self._at += got
        return got


def open_file(source: Input) -> Reader:
    """Open a reader of a file, a pipe, standard input or an object in a store. Raises SourceError, also for a folder.

    Waits until a FIFO has a writer. The reader gives all bytes: `Input.extents` (byte ranges) has no effect.
    """
    if source.remote is not None:
        from urnscan.stores.objects import RemoteReader  # noqa: PLC0415 (loaded only for URLs)

        return RemoteReader(source.remote)
    descriptor, mode = _open(source)
    if stat.S_ISREG(mode) or stat.S_ISBLK(mode):
        return File(source.name, descriptor, source.path)
    return Pipe(source.name, descriptor)


def open_range(source: Input, start: int, end: int, separators: bytes) -> Range:
    """Open a reader of a byte range of a regular file, by a separate descriptor. Raises SourceError.

    `separators` are bytes that occur in no URN and in no URL around a URN. The range begins with the first separator at
    or after `start` (with byte 0 if `start` is 0), and ends before the first separator at or after `end`. A range
    without a separator between `start` and `end` is empty. So adjacent ranges from 0 to sys.maxsize contain each byte
    once, and each URN is whole in one range.
    """
    descriptor, _ = _open(source)
    try:
        return Range(source.name, descriptor, start, end, separators)
    except OSError as error:
        os.close(descriptor)
        raise SourceError.from_os(source.name, error) from error


def _open(source: Input) -> tuple[int, int]:
    """Open a path or standard input, not an object in a store. Returns the descriptor (0: standard input) and
    `st_mode`.
    """
    descriptor = 0
    try:
        if source.path is not None:
            descriptor = os.open(source.path, os.O_RDONLY | os.O_NOCTTY)
        mode = os.fstat(descriptor).st_mode
    except OSError as error:
        raise SourceError.from_os(source.name, error) from error
    if stat.S_ISDIR(mode):
        if descriptor:
            os.close(descriptor)
        raise SourceError(source.name, "a folder cannot be read as a file")
    return descriptor, mode
