"""Plain octets: reports and deduplicated dumps."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pyarrow as pa

from urnscan.errors import FatalError
from urnscan.output.places import Output, as_fatal

__all__ = ["CODECS", "NOT_WRITTEN", "OctetOutput"]

CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
"""Compressions that pyarrow writes, by the suffix of the name."""
NOT_WRITTEN = (".xz", ".lzma", ".zip", ".7z", ".rar", ".tar", ".tgz")
"""Suffixes of forms that are not written."""


class OctetOutput(Output):
    """A file of octets, compressed as the suffix of its name says (.gz, .bz2, .zst, .lz4)."""

    def __init__(self, path: str | os.PathLike[str], *, force: bool = False, folder: Path | None = None) -> None:
        """See Output. Raises FatalError for the suffix of a form that is not written, too."""
        suffix = Path(os.fspath(path)).suffix.lower()
        if suffix in NOT_WRITTEN:
            raise FatalError(f"{os.fspath(path)}: {suffix} is not written; choose {', '.join(CODECS)} or none of them")
        super().__init__(path, force=force, folder=folder)
        self._written = self.folder / "output"
        with as_fatal(self._place.name), contextlib.ExitStack() as stack:
            stack.push(self)
            self._file = pa.OSFile(str(self._written), "wb")
            if suffix in CODECS:
                self._file = pa.CompressedOutputStream(self._file, CODECS[suffix])
            stack.pop_all()

    def write(self, octets: bytes | memoryview) -> None:
        """Append octets. Raises FatalError."""
        with as_fatal(self._place.name):
            self._file.write(octets)

    def complete(self) -> None:
        """Write the end of the file, so that hardly anything can fail in `commit`. Raises FatalError."""
        if not self._is_complete:
            with as_fatal(self._place.name):
                self._file.close()
                self._completed(self._written)

    def commit(self) -> None:
        """Complete the file and put it in its place. Raises FatalError."""
        self.complete()
        self._put(self._written)
