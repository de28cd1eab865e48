"""Archives and compressions that libarchive reads: 7z, RAR, cabinets and others (the extra `libarchive`, with the system's library).

An archive that lies in another form, or comes through a pipe, is copied to the folder of temporary files: 7z and others are read
back and forth. Links, devices, folders and empty files are counted and passed over.
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
_WORDS = 200  # characters of the library's message
_EMPTY = {"lzip": 36, "compress": 3}  # bytes of a file with nothing in it; a package of RPM has always something
_RAW = ("raw", "empty")


@functools.cache
def missing() -> str:
    """What to do so that these forms can be read; empty if nothing is missing."""
    if importlib.util.find_spec("libarchive") is None:
        return "pip install 'urnscan[libarchive]' and libarchive (apt install libarchive13, brew install libarchive) read it"
    try:
        importlib.import_module("libarchive")
    except (ImportError, OSError, AttributeError, TypeError):
        # The package loads the library as it is imported.
        return "the library libarchive reads it, but is not there (apt install libarchive13, brew install libarchive)"
    # What it would print is told as an error or does no harm.
    logger = logging.getLogger("libarchive")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return ""


class _Library:
    """One reading by libarchive, of a file or of bytes that come."""

    def __init__(self, formats: Sequence[str], filter_: str = "none") -> None:
        """`formats` and `filter_` are its names of what may be read; nothing that runs other programs is among them."""
        self.ffi: Any = importlib.import_module("libarchive.ffi")
        self.error: type[Any] = importlib.import_module("libarchive.exception").ArchiveError
        self.is_at_end = False
        """Whether nothing more can be read, for it failed."""
        self.byte_count = 0
        """Bytes that a reader gave."""
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
        """Free it."""
        self.ffi.entry_free(self._entry)
        self.ffi.read_free(self._archive)

    def open_file(self, descriptor: int) -> None:
        """Begin to read an open file, whose name need not be text. Raises `error`."""
        self.ffi.read_open_fd(self._archive, descriptor, _BLOCK)

    def open_reader(self, reader: Reader, failures: list[SourceError]) -> None:
        """Begin to read what a reader gives; its error ends that, and is added to `failures`. Raises `error`."""
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
        """Number of filters that the bytes pass."""
        return int(self.ffi.filter_count(self._archive)) - 1

    def next(self) -> bool:
        """Go to the next entry; whether there is one. Raises `error`."""
        return bool(self.ffi.read_next_header2(self._archive, self._entry) != self.ffi.ARCHIVE_EOF)

    @property
    def name(self) -> str:
        """Name of the entry."""
        name = self.ffi.entry_pathname_w(self._entry) or self.ffi.entry_pathname(self._entry) or ""
        return name.decode("utf-8", "backslashreplace") if isinstance(name, bytes) else str(name)

    @property
    def has_data(self) -> bool:
        """Whether the entry is a file that may have bytes."""
        is_empty = self.ffi.entry_size_is_set(self._entry) and not self.ffi.entry_size(self._entry)
        is_file = self.ffi.entry_filetype(self._entry) & _TYPES in (0, _REGULAR)
        return is_file and not is_empty and not self.ffi.entry_hardlink(self._entry)

    def texts(self, layer: Layer, name: str) -> Iterator[memoryview]:
        """The bytes of the entry. Raises SourceError where the rest of it is lost, LimitError."""
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
            # What a sparse file leaves out is NUL.
            for count in _pieces(offset.value - given):
                layer.budget.count_unfolded(count)
                yield memoryview(bytes(count))
            given = offset.value + size.value
            layer.budget.count_unfolded(size.value)
            yield memoryview(ctypes.string_at(block, size.value) if size.value else b"")


def open_archive(reader: Reader, layer: Layer, formats: Sequence[str]) -> Iterator[Member | SourceError]:
    """The files of an archive in one of these formats of libarchive. Raises SourceError where it cannot be read further."""
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
    """The text of a file in a compression of libarchive. It raises SourceError where the rest is lost."""
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
            # The error of the reader below is the cause of one that the library has for lack of bytes.
            raise (failures or [error])[0] from None
    if failures:
        raise failures[0]


def _pieces(count: int) -> Iterator[int]:
    """Lengths of pieces that make up this length."""
    return (min(_BLOCK, count - start) for start in range(0, count, _BLOCK))


def _in_words(error: Exception) -> str:
    """The message of the library, in one line."""
    message = getattr(error, "msg", None) or str(error)
    text = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
    return " ".join(text.split())[:_WORDS].rstrip(".") or "it is damaged"
