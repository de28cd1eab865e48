"""From an input to the texts in it: the way through all forms that it has, one inside the other."""

import io
from collections.abc import Callable, Generator, Iterator

import numpy as np

from urnscan.errors import DamageError, LimitError, SourceError
from urnscan.sources.buffer import Buffer
from urnscan.sources.documents import Document, Values
from urnscan.sources.encodings import MARKS_BEGIN, Transcoder, find_codec
from urnscan.sources.files import open_file
from urnscan.sources.forms import FORMS, Archive, Compression, Table
from urnscan.sources.inputs import Input
from urnscan.sources.layers import Budget, Layer, Reading
from urnscan.sources.reader import Reader
from urnscan.sources.small_files import Doubts

__all__ = ["doubts", "is_plain", "is_splittable", "open_documents"]


def open_documents(
    source: Input, reading: Reading, on_read: Callable[[int], object] = lambda _: None
) -> Generator[Document | Values | SourceError, None, None]:
    """The texts and values in an input; in place of a member that cannot be read, its error.

    A unit whose checksum fails is read like any other; its error comes behind the text in which the unit ends.
    `on_read` is told how many octets of the input itself were read. Waits for the first octet of a pipe.
    Raises SourceError where the input cannot be read or not to its end, LimitError where it unfolds to too much,
    FatalError for an unknown encoding.
    """
    layer = _bottom(source, reading, on_read)
    with Buffer(_Counted(open_file(source), layer.budget)) as reader:
        try:
            for found in _unfold(reader, layer):
                yield found
                yield from layer.budget.failed_checksums()
        except SourceError:
            yield from layer.budget.failed_checksums()
            raise
        yield from layer.budget.failed_checksums()


def is_splittable(source: Input, reading: Reading) -> bool:
    """Whether `open_range` can read parts of an input: a regular file whose text is its octets as they are.

    Raises SourceError where the file cannot be read, FatalError for an unknown encoding.
    """
    if source.path is None or source.size is None:
        return False
    layer = _bottom(source, reading)
    with Buffer(open_file(source)) as reader:
        return FORMS.recognise(reader, layer) is None and find_codec(reader.head, reading.encoding)[0] is None


def is_plain(source: Input, head: bytes, *, is_whole: bool, reading: Reading) -> bool:
    """Whether the text of an input that begins with these octets is surely its octets as they are; `is_whole`: they are
    all that it has. Else `open_documents` tells what it is. Raises FatalError for an unknown encoding.
    """
    layer = _bottom(source, reading)
    return not FORMS.may_be(head, layer, is_whole=is_whole) and find_codec(lambda _: head, reading.encoding)[0] is None


def doubts(reading: Reading) -> Doubts:
    """Signs by which only `is_plain` can tell whether an input is plain text."""
    are_all = reading.encoding is not None or bool(reading.columns)
    begins = np.full(256, are_all)
    begins[[*FORMS.begins, *MARKS_BEGIN]] = True
    suffixes = sorted(suffix.encode() for suffix in FORMS.suffixes)
    return Doubts(begins, np.frombuffer(b"".join(suffixes), np.uint8), np.cumsum([len(suffix) for suffix in suffixes]))


def _bottom(source: Input, reading: Reading, on_read: Callable[[int], object] = lambda _: None) -> Layer:
    """The layer of an input itself."""
    return Layer(source.name, source.file_name, reading, Budget(source.name, reading.limits, on_read))


class _Counted(Reader):
    """Tells the budget what is read of the input itself."""

    def __init__(self, reader: Reader, budget: Budget) -> None:
        self._reader = reader
        self._budget = budget

    def read_into(self, view: memoryview) -> int:
        octets = self._reader.read_into(view)
        self._budget.took(octets)
        return octets

    def reopen(self) -> io.BufferedIOBase | None:
        return self._reader.reopen()

    def close(self) -> None:
        self._reader.close()


def _unfold(reader: Buffer, layer: Layer) -> Iterator[Document | Values | SourceError]:
    """Texts and values in the octets of a reader, through all their forms."""
    match form := FORMS.recognise(reader, layer):
        case None:
            yield _text(reader, layer)
        case Compression():
            inner = layer.unpacked(form.suffixes)
            with Buffer(form.open(reader, layer)) as unpacked:
                yield from _unfold(unpacked, inner)
                # A tar archive ends before the gzip file around it: what is left may still fail its checksum.
                yield from _drain(unpacked)
        case Archive():
            for found in form.open(reader, layer):
                if isinstance(found, SourceError):
                    yield found
                else:
                    yield from _member(*found, layer)
        case Table():
            layer.unpacked(())  # it is one more layer
            yield from form.open(reader, layer)


def _member(name: str, reader: Reader, layer: Layer) -> Iterator[Document | Values | SourceError]:
    """Texts and values in a member of an archive; errors of the member alone are given, not raised."""
    layer.budget.member()
    try:
        with Buffer(reader) as buffer:
            yield from _unfold(buffer, layer.inside(name))
            yield from _drain(buffer)  # a reader of tables may not have come to the checksum
    except LimitError:
        raise
    except SourceError as error:
        yield error


def _drain(reader: Reader) -> Iterator[SourceError]:
    """Read on to the end, for nothing but the errors on the way."""
    view = memoryview(bytearray(1 << 16))
    while True:
        try:
            if not reader.read_into(view):
                return
        except DamageError as error:
            yield error


def _text(reader: Buffer, layer: Layer) -> Document:
    """The text that a reader gives: UTF-8, or the octets as they are."""
    codec, mark = find_codec(reader.head, layer.reading.encoding)
    if mark:
        reader.read_into(memoryview(bytearray(mark)))
    if codec is None:
        return Document(layer.member, reader)
    return Document(layer.member, Transcoder(reader, layer.name, codec, mark), codec)
