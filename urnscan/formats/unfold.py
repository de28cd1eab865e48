"""An input -> the texts and values in it, through all forms (file formats), such as text in gzip in a tar archive."""

import contextlib
import functools
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace

import numpy as np

from urnscan.compiled.jit import read_only
from urnscan.errors import DamageError, LimitError, NoWebArchiveNote, SourceError, option
from urnscan.formats.buffer import Buffer
from urnscan.formats.byte_ranges import Extent, open_extents
from urnscan.formats.contents import Document, Label, Labels, Member, Texts, Values
from urnscan.formats.context import Layer, Reading
from urnscan.formats.declared_encodings import WITHIN, declared_characters
from urnscan.formats.encodings import MARKS_BEGIN, as_text, find_codec
from urnscan.formats.filters import ANY, Filter
from urnscan.formats.limits import Budget
from urnscan.formats.media_types import BEGIN
from urnscan.formats.protocol import Archive, Compression, Table
from urnscan.formats.registry import FORMS
from urnscan.formats.small_files import Doubts
from urnscan.stores.files import open_file
from urnscan.stores.input import Input
from urnscan.stores.reader import Reader, skip


def open_documents(
    source: Input, reading: Reading, on_read: Callable[[int], object] = lambda _: None
) -> Generator[Document | Values | SourceError, None, None]:
    """Open an input, and yield the texts in it, at any depth: each text as a `Document`, columns of tables as `Values`.
    Also yields a SourceError for each failure, such as a member that cannot be read, and each note.

    The reader of a document may be used until the next item is requested. `reading`: options; `on_read`: called with
    the number of bytes of each read of the input. Raises SourceError if the input or its rest cannot be read,
    LimitError beyond a limit, and FatalError for an unknown encoding.
    """
    for content in open_together(source, reading, on_read):
        if isinstance(content, Texts):
            yield from content.documents()
        else:
            yield content


def open_together(
    source: Input,
    reading: Reading,
    on_read: Callable[[int], object] = lambda _: None,
    extents: Iterator[Extent] | None = None,
) -> Generator[Document | Texts | Values | SourceError, None, None]:
    """Open an input, and yield the texts in it, at any depth: a text as `Document`, small members perhaps together as
    `Texts`, columns of tables as `Values`. Also yields a SourceError for each failure, such as a member that cannot be
    read, and each note.

    A member with a wrong checksum, and text with bytes that cannot be decoded, is read; the error comes after the text.
    The texts of an item can be read only until the next item is requested.

    `on_read`: called with the number of bytes of each read of the input. `extents`, only for an input whose records an
    index names (`source.extents`): iterator (`open_extents`) over the byte ranges of this input and of inputs after it;
    those of this input are taken from it. None: they are opened here.

    Raises SourceError if the input or its rest cannot be read, LimitError beyond a limit, and FatalError for an unknown
    encoding.
    """
    layer = _bottom(source, reading, on_read)
    if source.extents:
        with contextlib.closing(open_extents([source])) as own:
            yield from _records(_of(source, extents or own), layer)
        return
    with Buffer(open_file(source), layer.budget.count_read) as reader:
        try:
            for content in _unfold(reader, layer):
                yield content
                yield from layer.budget.collected()
        except SourceError:
            yield from layer.budget.collected()
            raise
        yield from layer.budget.collected()
        if reading.where is not None and not layer.budget.has_records:
            yield NoWebArchiveNote(source.name, f"is not a web archive; {option('where', None)} reads nothing in it")


def is_splittable(source: Input, reading: Reading) -> bool:
    """Whether several threads may each read a part of an input (`stores.files.open_range`).

    True for a regular file that is scanned unchanged: not compressed, an archive or a table, not filtered, not in an
    encoding that is converted, and without a declaration of a multibyte encoding such as Shift JIS. False with
    `--where`. Reads the first bytes of the file. Raises SourceError if it cannot be read, FatalError for an unknown
    encoding.
    """
    layer = _bottom(source, reading)
    if not source.is_whole_file or source.size is None or not layer.is_wanted:
        return False
    with Buffer(open_file(source)) as reader:
        is_text = layer.filter(reader.head) is None and FORMS.recognise(reader, layer) is None
        is_text = is_text and declared_characters(reader.head(WITHIN)) is None
        return is_text and find_codec(reader.head, reading.encoding)[0] is None


def is_plain(source: Input, head: bytes, *, is_whole: bool, reading: Reading) -> bool:
    """Whether the name of an input and its first bytes `head` show that it is scanned unchanged: it is not compressed,
    an archive or a table, not filtered, and not in an encoding that is converted. False if `head` does not decide, and
    with `--where`.

    `is_whole`: whether `head` is the whole input. Raises FatalError for an unknown encoding.
    """
    layer = _bottom(source, reading)
    return (
        layer.is_wanted
        # A filter is not called for an input without bytes.
        and (not head or layer.filter(lambda _: head) is None)
        and not FORMS.may_be(head, layer, is_whole=is_whole)
        and find_codec(lambda _: head, reading.encoding)[0] is None
    )


@functools.cache
def doubts(reading: Reading) -> Doubts:
    """Return the signatures and suffixes of files that may not be plain text, with these options of reading.

    A file with one of them is doubtful, and is examined (`is_plain`). With `--encoding`, `--column`, `--where` or a
    filter for all files, every file with a byte is doubtful.
    """
    kinds = {kind for command in reading.filters for kind in command.kinds}
    are_all = reading.encoding is not None or bool(reading.columns) or reading.where is not None or ANY in kinds
    first = MARKS_BEGIN | (BEGIN if any(command.has_types for command in reading.filters) else frozenset())
    return Doubts.of(
        [(bytes(range(256)),)] if are_all else [(bytes(first),), *FORMS.signs],
        sorted(suffix.encode() for suffix in FORMS.suffixes | kinds),
    )


def _bottom(source: Input, reading: Reading, on_read: Callable[[int], object] = lambda _: None) -> Layer:
    budget = Budget(source.name, reading.limits, on_read)
    return Layer(source.name, source.file_name, reading, budget)


def _unfold(reader: Buffer, layer: Layer) -> Iterator[Document | Texts | Values | SourceError]:
    """Yield the texts and values in the bytes of a reader, unpacked at any depth, and errors. Raises SourceError if the
    rest cannot be read.
    """
    if layer.reading.filters:
        # The first read of a record of a web archive stores its headers, with the media type, in the capture.
        reader.peek()
        if layer.is_wanted and (command := layer.filter(reader.head)) is not None:
            yield from _filtered(command, reader, layer)
            return
    match form := FORMS.recognise(reader, layer):
        case None if layer.is_wanted:
            yield as_text(reader, layer)
        case Compression():
            inner = layer.unpacked(form.suffixes)
            with Buffer(form.open(reader, layer)) as unpacked:
                yield from _unfold(unpacked, inner)
                # A tar archive ends before the gzip file around it; only the rest shows whether the checksum is wrong.
                yield from _drain(unpacked)
        case Archive():
            layer.budget.has_records |= form.is_web_archive
            for content in form.open(reader, layer):
                match content:
                    case SourceError():
                        yield content
                    case Document() if layer.is_wanted:
                        yield replace(content, capture=layer.capture)
                    case Texts():
                        yield from _members(content, layer)
                    case Member():
                        yield from _member(content, layer)
        case Table() if layer.is_wanted:
            # Raises if the table exceeds the limit of depth: a table is a layer, too.
            layer.unpacked(())
            for values in form.open(reader, layer):
                yield values if isinstance(values, SourceError) else replace(values, capture=layer.capture)


def _of(source: Input, extents: Iterator[Extent]) -> Iterator[Extent]:
    # `extents` continues with those of later inputs.
    left = source.size or 0
    while left:
        extent = next(extents)
        left -= extent.size
        yield extent


def _records(extents: Iterator[Extent], layer: Layer) -> Iterator[Document | Texts | Values | SourceError]:
    """Yield the texts and values in the extents (byte ranges) of a web archive, and errors; damage affects only its
    extent. `extents`: those of one input, skipped at a LimitError.
    """
    for start, size, data in extents:
        layer.budget.count_read(size)
        inner = replace(layer, name=f"{layer.name} from byte {start:,} on")
        try:
            with Buffer(data) as reader:
                if FORMS.recognise(reader, inner) is None:
                    yield reader.error or _no_record(inner)
                    continue
                layer.budget.has_records = False
                for content in _unfold(reader, inner):
                    if not isinstance(content, Document | Values) or content.capture is not None:
                        yield content
                    elif not layer.budget.has_records:
                        yield _no_record(inner)
                        break
                    yield from layer.budget.collected()
        except LimitError:
            # Skip the other extents of this input: the iterator continues with the next input.
            deque(extents, 0)
            raise
        except SourceError as error:
            yield error
        yield from layer.budget.collected()


def _no_record(layer: Layer) -> SourceError:
    return SourceError(layer.name, "is not a record of a web archive")


def _filtered(command: Filter, reader: Buffer, layer: Layer) -> Iterator[Document | Texts | Values | SourceError]:
    from urnscan.formats.filter_commands import Filtered  # noqa: PLC0415 (few runs have filters)

    inner = layer.inside(command.name)
    with Buffer(Filtered(command, reader, layer)) as text:
        yield from _unfold(text, replace(inner, reading=replace(inner.reading, filters=())))
        yield from _drain(text)


def _members(texts: Texts, layer: Layer) -> Iterator[Document | Texts | Values | SourceError]:
    """Yield members that are definitely plain text together, the texts and values in the others, and errors. Leaves out
    members that `--where` does not select.
    """
    reading = layer.reading
    if reading.where is not None:
        # Members without captures may contain web archives, so they are not left out.
        if texts.has_captures:
            texts = texts.chosen([reading.where.fits(label.capture or layer.capture) for label in texts.labels])
        reading = replace(reading, where=None)
    data = read_only(np.frombuffer(texts.data, np.uint8))
    may_be_more = doubts(reading).of_texts(data, texts.starts, texts.ends)
    if reading.filters:
        may_be_more[:] = True
    elif texts.names is None:
        may_be_more |= np.array([FORMS.is_named(str(label.member)) for label in texts.labels], np.bool_)
    else:
        may_be_more |= doubts(reading).of_names(texts.names)
    first = 0
    for number in np.flatnonzero(may_be_more).tolist():
        yield from _plain_members(texts.between(first, number), layer)
        yield from _member(Member.of(texts.document(number)), layer)
        first = number + 1
    yield from _plain_members(texts.between(first, len(texts)), layer)


def _plain_members(texts: Texts, layer: Layer) -> Iterator[Document | Texts | Values | SourceError]:
    """Yield members that are plain text together, unless `--where` does not select them; if they exceed the limit, one
    by one, until LimitError is raised.
    """
    labels = texts.labels

    def inside(number: int) -> Label:
        member, capture = labels[number]
        return Label(layer.of_value(str(member)), capture or layer.capture)

    if not len(texts):
        return
    if not layer.budget.allows_members(len(texts)):
        for document in texts.documents():
            yield from _member(Member.of(document), layer)
        return
    layer.budget.count_member(len(texts))
    if texts.has_captures or layer.is_wanted:
        has_captures = texts.has_captures or layer.capture is not None
        yield replace(texts, labels=Labels(inside, range(len(texts))), has_captures=has_captures)


def _member(member: Member, layer: Layer) -> Iterator[Document | Texts | Values | SourceError]:
    layer.budget.count_member()
    try:
        inner = layer.inside(member.name, member.capture)
        if member.is_set_in_lines:
            if inner.is_wanted:
                yield Document(inner.member, member.reader, None, inner.capture, is_set_in_lines=True)
            return
        with Buffer(member.reader) as buffer:
            yield from _unfold(buffer, inner)
            # A reader of tables may stop before the end of the member, where a checksum may fail.
            yield from _drain(buffer)
    except LimitError:
        raise
    except SourceError as error:
        yield error


def _drain(reader: Reader) -> Iterator[SourceError]:
    while True:
        try:
            skip(reader, sys.maxsize)
        except DamageError as error:
            yield error
        else:
            return
