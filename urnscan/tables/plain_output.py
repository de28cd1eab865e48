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


def suffix_of(name: str) -> str:
    """The last suffix of a path or URL, in lower case; "" for a name without one. The query of a URL is ignored.

    >>> suffix_of("urns.CSV"), suffix_of("s3://bucket/urns.csv.gz?region=eu-west-1")
    ('.csv', '.gz')
    """
    return _file(name).suffix.lower()


def form_of(name: str) -> tuple[str, str]:
    """(suffix of the format, suffix of the compression) of a path or URL, in lower case; "" for a missing one. Only
    the name is used, and only .gz, .bz2, .zst and .lz4 are compressions. The query of a URL is ignored.

    >>> form_of("a/urns.CSV.gz"), form_of("s3://bucket/urns.parquet?versionId=1.2"), form_of("urns")
    (('.csv', '.gz'), ('.parquet', ''), ('', ''))
    """
    last = suffix_of(name)
    return (_file(name).with_suffix("").suffix.lower(), last) if last in CODECS else (last, "")


def _file(name: str) -> Path:
    return Path(name.partition("?")[0] if is_remote(name) else name)


class ByteOutput(Output):
    """An output of bytes, which appears only when `commit` is called, like every `Output`. The suffix of the file name
    chooses the compression: .gz, .bz2, .zst or .lz4; without such a suffix, the bytes are not compressed.
    """

    def __init__(self, path: str | os.PathLike[str], *, force: bool = False, folder: Path | None = None) -> None:
        """`folder` is an existing work folder (temporary folder) that no other output uses, and that the caller
        removes; None: a new folder.

        Raises FatalError if the file exists already (unless `force`), if nothing can be written to its folder, and for
        the suffix of a compression that is not written, such as .xz and .zip.
        """
        suffix = suffix_of(os.fspath(path))
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
        """Append bytes, which are compressed if the suffix says so. Raises FatalError if the disk is full or fails."""
        with as_fatal(self._place.name):
            self._file.write(data)

    def _write_end(self, _metadata: Mapping[str, Any]) -> None:
        self._file.close()


class PageOutput(ByteOutput):
    """An output for a page of HTML: a ByteOutput with a check of the name. It writes no HTML itself."""

    def __init__(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Raises FatalError for a suffix other than .html, .htm and .xhtml (perhaps with that of a compression; a name
        without a suffix is accepted), if the file exists already (unless `force`), and if nothing can be written to its
        folder.
        """
        name = name_of(path)
        suffix, _ = form_of(name)
        if suffix and suffix not in PAGES:
            raise FatalError(f"{name}: a page is HTML; use .html")
        super().__init__(path, force=force)
