"""Archives and compressions by libarchive: 7z, RAR, cabinets and more (extra `libarchive`, library of the system).

An archive inside another form, or from a pipe, is copied to the folder of temporary files, because reading 7z and
similar forms needs seeks. Links, devices, folders and empty files are counted and skipped.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import importlib.util
import logging
from collections.abc import Iterator, Sequence
from typing import Any

from urnscan.errors import SourceError
from urnscan.formats.contents import Member
from urnscan.formats.context import Layer
from urnscan.formats.on_disk import on_disk
from urnscan.stores.reader import PieceReader, Reader

_BLOCK = 1 << 18
_TYPES, _REGULAR = 0o170000, 0o100000
_WORDS = 200  # maximum characters of a message of the library
_EMPTY = {"lzip": 36, "compress": 3}  # bytes of a compressed empty file; a package of RPM is never empty
_RAW = ("raw", "empty")
_LIBRARY = "apt install libarchive13 (macOS: brew install libarchive)"


@functools.cache
def missing() -> str:
    """How to install libarchive and its Python package, as the advice in a message about a file; empty if both can be
    loaded.
    """
    if importlib.util.find_spec("libarchive") is None:
        return f"install libarchive: pip install 'urnscan[libarchive]', {_LIBRARY}"
    try:
        importlib.import_module("libarchive")
    except (ImportError, OSError, AttributeError, TypeError):
        # The import of the package loads the library.
        return f"install the library libarchive: {_LIBRARY}"
    # Without this the package prints messages; errors are raised in addition, and the rest is harmless.
    logger = logging.getLogger("libarchive")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return ""


class _Library:
    """A read handle of libarchive. After `open_file` or `open_reader`, each `next` goes to an entry, about which the
    properties and `texts` are.
    """

    def __init__(self, formats: Sequence[str], filter_: str = "none") -> None:
        """`formats`, `filter_`: names of libarchive. A filter that runs a program must not be named."""
        self.ffi: Any = importlib.import_module("libarchive.ffi")
        self.error: type[Any] = importlib.import_module("libarchive.exception").ArchiveError
        self.is_at_end = False
        """Whether a fatal error ended reading."""
        self.byte_count = 0
        """Bytes read from the reader of `open_reader`."""
        self._archive = self.ffi.read_new()
        self._entry = self.ffi.entry_new()
        self._callback: object = None
        try:
            self.ffi.get_read_filter_function(filter_)(self._archive)
            for name in formats:
                self.ffi.get_read_format_function(name)(self._archive)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self.ffi.entry_free(self._entry)
        self.ffi.read_free(self._archive)

    def open_file(self, descriptor: int) -> None:
        """Read from an open file, which must stay open."""
        self.ffi.read_open_fd(self._archive, descriptor, _BLOCK)

    def open_reader(self, reader: Reader, failures: list[SourceError]) -> None:
        """Read from a reader. A SourceError of the reader is the end, and is added to `failures`, also later."""
        block = ctypes.create_string_buffer(_BLOCK)
        view = memoryview(block).cast("B")

        def read(_archive: int, _context: int, pointer: Any) -> int:  # noqa: ANN401 (a pointer of ctypes)
            try:
                got = reader.read_into(view)
            except SourceError as error:
                failures.append(error)
                return 0
            self.byte_count += got
            pointer[0] = ctypes.cast(block, ctypes.c_void_p)
            return got

        self._callback = self.ffi.READ_CALLBACK(read)
        self.ffi.read_open(self._archive, None, self.ffi.NO_OPEN_CB, self._callback, self.ffi.NO_CLOSE_CB)

    @property
    def filters(self) -> int:
        """Number of compressions that libarchive recognised."""
        return int(self.ffi.filter_count(self._archive)) - 1

    def next(self) -> bool:
        """Go to the next entry; False at the end of the archive."""
        return bool(self.ffi.read_next_header2(self._archive, self._entry) != self.ffi.ARCHIVE_EOF)

    @property
    def name(self) -> str:
        name = self.ffi.entry_pathname_w(self._entry) or self.ffi.entry_pathname(self._entry) or ""
        return name.decode("utf-8", "backslashreplace") if isinstance(name, bytes) else str(name)

    @property
    def has_data(self) -> bool:
        """Whether the entry is a file, not a link, that is not known to be empty."""
        is_empty = self.ffi.entry_size_is_set(self._entry) and not self.ffi.entry_size(self._entry)
        is_file = self.ffi.entry_filetype(self._entry) & _TYPES in (0, _REGULAR)
        return is_file and not is_empty and not self.ffi.entry_hardlink(self._entry)

    def texts(self, layer: Layer, name: str) -> Iterator[memoryview]:
        """Yield the bytes of the entry, in pieces. Raises SourceError if the rest of the entry is lost, and LimitError
        if it exceeds the limits of `layer`.
        """
        block, size, offset = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_longlong()
        given = 0
        while True:
            try:
                status = self.ffi.read_data_block(
                    self._archive, ctypes.byref(block), ctypes.byref(size), ctypes.byref(offset)
                )
            except self.error as error:
                self.is_at_end = error.retcode == self.ffi.ARCHIVE_FATAL
                raise SourceError(name, f"cannot be read further: {_in_words(error)}") from None
            if status == self.ffi.ARCHIVE_EOF:
                return
            # The holes of a sparse file are NULs.
            for count in _pieces(offset.value - given):
                layer.budget.count_unfolded(count)
                yield memoryview(bytes(count))
            given = offset.value + size.value
            layer.budget.count_unfolded(size.value)
            yield memoryview(ctypes.string_at(block, size.value) if size.value else b"")


def open_archive(reader: Reader, layer: Layer, formats: Sequence[str]) -> Iterator[Member | SourceError]:
    """Yield the files of an archive as members; `formats`: names of libarchive for the formats that it may have, as
    "7zip".

    Entries without data, such as links, folders and empty files, are only counted. The reader of a member may be used
    until the next is requested. If `reader` does not read a file on disk, its bytes are copied to a temporary file.
    Raises SourceError if the rest cannot be read; an error is never yielded.
    """
    with (
        on_disk(reader, layer) as path,
        open(path, "rb") as file,  # noqa: PTH123 (names may be odd)
        contextlib.closing(_Library(formats)) as library,
    ):
        try:
            library.open_file(file.fileno())
            while library.next():
                name = library.name
                if library.has_data:
                    yield Member(name, PieceReader(library.texts(layer, layer.name_of(name))))
                else:
                    layer.budget.count_member()
                if library.is_at_end:
                    raise SourceError(layer.name, f"is read no further than {name}")
        except library.error as error:
            raise SourceError(layer.name, f"cannot be read further: {_in_words(error)}") from None


def open_compressed(reader: Reader, layer: Layer, filter_: str) -> Reader:
    """Return a reader of the unpacked bytes of a compressed file; `filter_`: libarchive's name of the compression, as
    "lzip".

    Raises nothing; `read_into` of the result raises SourceError if the rest cannot be read.
    """
    return PieceReader(_compressed(reader, layer, filter_))


def _compressed(reader: Reader, layer: Layer, filter_: str) -> Iterator[memoryview]:
    failures: list[SourceError] = []
    is_empty = True
    with contextlib.closing(_Library(_RAW, filter_)) as library:
        try:
            library.open_reader(reader, failures)
            if not library.filters:
                failures.append(SourceError(layer.name, "is damaged at its beginning: not read"))
            elif library.next():
                for text in library.texts(layer, layer.name):
                    is_empty &= not text
                    yield text
            if is_empty and library.byte_count > _EMPTY.get(filter_, 0) and not failures:
                failures.append(SourceError(layer.name, "is cut off or damaged: nothing comes out of it"))
        except library.error as error:
            raise (failures or [SourceError(layer.name, f"cannot be read further: {_in_words(error)}")])[0] from None
        except SourceError as error:
            # If the reader failed, libarchive reports missing bytes: the error of the reader is the cause.
            raise (failures or [error])[0] from None
    if failures:
        raise failures[0]


def _pieces(count: int) -> Iterator[int]:
    return (min(_BLOCK, count - start) for start in range(0, count, _BLOCK))


def _in_words(error: Exception) -> str:
    message = getattr(error, "msg", None) or str(error)
    text = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
    return " ".join(text.split())[:_WORDS].rstrip(".") or "it is damaged"
