"""Output files of bytes and of HTML: deduplicated dumps, tables as text, pages."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from urnscan.errors import FatalError
from urnscan.stores.urls import is_remote
from urnscan.tables.output_file import Output, as_fatal, name_of

CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
"""Suffix of a file name -> the compression that pyarrow writes."""
NOT_WRITTEN = (".xz", ".lzma", ".zip", ".7z", ".rar", ".tar", ".tgz", ".tbz2", ".tbz", ".txz", ".tlz", ".tzst")
"""Suffixes of forms that are read, but not written."""

PARTIAL_SUFFIX = ".partial"
"""Suffix of files with a partial result (sums that are merged later). They are Parquet, but not tables for people."""
PAGES = (".html", ".htm", ".xhtml")
"""Suffixes that the name of a page may have; a name without a suffix is accepted, too."""
GENERATOR = b'<meta name="generator" content="urnscan">'
"""Bytes at the beginning of each page that urnscan writes."""


def form_of(name: str) -> tuple[str, str]:
    """The suffix of the format and the suffix of the compression of a path or URL, in lower case; "" for a missing
    suffix.

    >>> form_of("a/urns.CSV.gz"), form_of("s3://bucket/urns.parquet?versionId=1.2"), form_of("urns")
    (('.csv', '.gz'), ('.parquet', ''), ('', ''))
    """
    file = Path(name.partition("?")[0] if is_remote(name) else name)
    codec = file.suffix.lower()
    if codec in CODECS:
        return file.with_suffix("").suffix.lower(), codec
    return codec, ""


class ByteOutput(Output):
    """A file of bytes. The suffix of the file name chooses the compression (.gz, .bz2, .zst, .lz4)."""

    def __init__(self, path: str | os.PathLike[str], *, force: bool = False, folder: Path | None = None) -> None:
        """Parameters are as in Output. Raises FatalError like Output, and for a suffix in NOT_WRITTEN."""
        suffix = Path(os.fspath(path)).suffix.lower()
        if suffix in NOT_WRITTEN:
            raise FatalError(f"{name_of(path)}: {suffix} is not written; choose {', '.join(CODECS)} or none of them")
        super().__init__(path, force=force, folder=folder)
        with as_fatal(self._place.name), contextlib.ExitStack() as stack:
            stack.push(self)
            self._file = pa.OSFile(str(self._written), "wb")
            if suffix in CODECS:
                self._file = pa.CompressedOutputStream(self._file, CODECS[suffix])
            stack.pop_all()

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes, which are compressed if the suffix says so. Raises FatalError."""
        with as_fatal(self._place.name):
            self._file.write(data)

    def _write_end(self, _metadata: Mapping[str, Any]) -> None:
        self._file.close()


class PageOutput(ByteOutput):
    """A page of HTML, compressed like ByteOutput."""

    def __init__(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Parameters are as in ByteOutput. Raises FatalError like ByteOutput, and for a suffix that is not in PAGES; a
        name without a suffix is accepted.
        """
        name = name_of(path)
        suffix, _ = form_of(name)
        if suffix and suffix not in PAGES:
            raise FatalError(f"{name}: a page is HTML; use .html")
        super().__init__(path, force=force)
