"""The bytes of a reader as a file on the disk, for programs and libraries that read only files."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from urnscan.errors import SourceError
from urnscan.formats.context import Layer
from urnscan.stores.reader import Reader, path_of

_BLOCK = 1 << 16
_LONGEST_SUFFIX = 20  # a copy keeps the suffix of the name if it has fewer characters


@contextlib.contextmanager
def on_disk(reader: Reader, layer: Layer) -> Iterator[str]:
    """Context with the path of a file that has the bytes of `reader`: the file that it reads, or a temporary copy.

    A file of this machine is not copied; its size is counted as read. A copy has all bytes that `reader` still gives,
    and is removed at the end of the context. `layer`: names and limits of the bytes. Raises SourceError if they cannot
    be read or copied.
    """
    path = path_of(reader)
    if path is not None:
        layer.budget.count_read(os.path.getsize(path))  # noqa: PTH202 (names may be odd)
        yield os.path.abspath(path)  # noqa: PTH100 (a name may begin with "-")
        return
    suffix = Path(layer.file_name).suffix
    is_plain = suffix.isascii() and suffix[1:].isalnum() and len(suffix) < _LONGEST_SUFFIX
    with contextlib.ExitStack() as stack:
        try:
            copy = _Copy(suffix if is_plain else "")
            stack.callback(layer.reading.processes.remove, copy)
            stack.callback(copy.end)
            layer.reading.processes.add(copy)
            copy.fill(reader)
        except OSError as error:
            reason = f"could not be copied to a temporary file: {error.strerror or error}"
            raise SourceError(layer.name, reason) from error
        yield copy.path


class _Copy:
    """A temporary file with the bytes of a reader. `Processes`, if it is added to them, remove it at their end."""

    def __init__(self, suffix: str) -> None:
        self._file = tempfile.NamedTemporaryFile(prefix="urnscan-", suffix=suffix, delete=False)  # noqa: SIM115 (`fill`)
        self.path = self._file.name

    def fill(self, reader: Reader) -> None:
        view = memoryview(bytearray(_BLOCK))
        with self._file as file:
            while got := reader.read_into(view):
                file.write(view[:got])

    def end(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self.path)  # noqa: PTH108 (as above)
