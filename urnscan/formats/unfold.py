"""An input -> the texts in it, through all its forms, such as text in gzip in a tar archive."""

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
    """The texts and values in an input as `open_together` gives them, but each text is a document."""
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
    """The texts and values in an input; in place of a member that cannot be read, its error.

    A unit whose checksum fails is read like any other, and so is text with bytes that cannot be decoded. Such an error
    comes after the text.
    `on_read` is called with the number of bytes of the input that were read. Waits for the first byte of a pipe.
    `extents`: those of the input, begun ahead, with those of other inputs after them; None: they are opened here.
    Raises SourceError where the input cannot be read or not to its end, LimitError where it unfolds to too much,
    FatalError for an unknown encoding.
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
    """Whether `open_range` can read parts of an input: a regular file whose text is its bytes, unchanged.

    Raises SourceError where the file cannot be read, FatalError for an unknown encoding.
    """
    layer = _bottom(source, reading)
    if not source.is_whole_file or source.size is None or not layer.is_wanted:
        return False
    with Buffer(open_file(source)) as reader:
        is_text = layer.filter(reader.head) is None and FORMS.recognise(reader, layer) is None
        is_text = is_text and declared_characters(reader.head(WITHIN)) is None
        return is_text and find_codec(reader.head, reading.encoding)[0] is None


def is_plain(source: Input, head: bytes, *, is_whole: bool, reading: Reading) -> bool:
    """Whether the text of an input that begins with these bytes (`is_whole`: it has no others) is definitely its bytes, unchanged.

    Raises FatalError for an unknown encoding.
    """
    layer = _bottom(source, reading)
    return (
        layer.is_wanted
        and layer.filter(lambda _: head) is None
        and not FORMS.may_be(head, layer, is_whole=is_whole)
        and find_codec(lambda _: head, reading.encoding)[0] is None
    )


@functools.cache
def doubts(reading: Reading) -> Doubts:
    """Beginnings and suffixes of inputs that may not be plain text, for which `is_plain` has to decide."""
    kinds = {kind for command in reading.filters for kind in command.kinds}
    are_all = reading.encoding is not None or bool(reading.columns) or reading.where is not None or ANY in kinds
    first = MARKS_BEGIN | (BEGIN if any(command.has_types for command in reading.filters) else frozenset())
    return Doubts.of(
        [(bytes(range(256)),)] if are_all else [(bytes(first),), *FORMS.signs],
        sorted(suffix.encode() for suffix in FORMS.suffixes | kinds),
    )


def _bottom(source: Input, reading: Reading, on_read: Callable[[int], object] = lambda _: None) -> Layer:
    """The layer of an input itself."""
    budget = Budget(source.name, reading.limits, on_read)
    return Layer(source.name, source.file_name, reading, budget)


def _unfold(reader: Buffer, layer: Layer) -> Iterator[Document | Texts | Values | SourceError]:
    """Texts and values in the bytes of a reader, through all their forms."""
    if layer.reading.filters:
        # A record of a web archive says its media type in the headers before its first byte.
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
                # A tar archive ends before the gzip file around it: what is left may still fail its checksum.
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
            # A table is one more layer.
            layer.unpacked(())
            for values in form.open(reader, layer):
                yield values if isinstance(values, SourceError) else replace(values, capture=layer.capture)


def _of(source: Input, extents: Iterator[Extent]) -> Iterator[Extent]:
    """The extents of one input, from an iterator that goes on with those of other inputs."""
    left = source.size or 0
    while left:
        extent = next(extents)
        left -= extent.size
        yield extent


def _records(extents: Iterator[Extent], layer: Layer) -> Iterator[Document | Texts | Values | SourceError]:
    """Texts and values in the extents of a web archive. Each is read on its own, so a damaged one does not affect the others."""
    for start, size, data in extents:
        layer.budget.count_read(size)
        inner = replace(layer, name=f"{layer.name} from byte {start:,} on")
        try:
            with Buffer(data) as reader:
                if FORMS.recognise(reader, inner) is None:
                    yield reader.error or _no_record(inner)
                    continue
                for content in _unfold(reader, inner):
                    if isinstance(content, Document | Values) and content.capture is None:
                        yield _no_record(inner)
                        break
                    yield content
                    yield from layer.budget.collected()
        except LimitError:
            # The extents of the next input follow.
            deque(extents, 0)
            raise
        except SourceError as error:
            yield error
        yield from layer.budget.collected()


def _no_record(layer: Layer) -> SourceError:
    return SourceError(layer.name, "is not a record of a web archive")


def _filtered(command: Filter, reader: Buffer, layer: Layer) -> Iterator[Document | Texts | Values | SourceError]:
    """Texts and values in what a command prints for a file."""
    from urnscan.formats.filter_commands import Filtered  # noqa: PLC0415 (few runs have filters)

    inner = layer.inside(command.name)
    with Buffer(Filtered(command, reader, layer)) as text:
        yield from _unfold(text, replace(inner, reading=replace(inner.reading, filters=())))
        yield from _drain(text)


def _members(texts: Texts, layer: Layer) -> Iterator[Document | Texts | Values | SourceError]:
    """Texts of members: plain texts stay together, any other is unfolded on its own."""
    reading = layer.reading
    if reading.where is not None:
        # Without captures here there may be some inside the members.
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
    """Texts of members that are definitely plain text."""
    labels = texts.labels

    def inside(number: int) -> Label:
        member, capture = labels[number]
        return Label(layer.of_value(str(member)), capture or layer.capture)

    if not len(texts):
        return
    if not layer.budget.count_members(len(texts)):
        for document in texts.documents():
            yield from _member(Member.of(document), layer)
    elif texts.has_captures or layer.is_wanted:
        has_captures = texts.has_captures or layer.capture is not None
        yield replace(texts, labels=Labels(inside, range(len(texts))), has_captures=has_captures)


def _member(member: Member, layer: Layer) -> Iterator[Document | Texts | Values | SourceError]:
    """Texts and values in a member of an archive; an error of the member alone is yielded, not raised."""
    layer.budget.count_member()
    try:
        inner = layer.inside(member.name, member.capture)
        if member.is_set_in_lines:
            if inner.is_wanted:
                yield Document(inner.member, member.reader, None, inner.capture, is_set_in_lines=True)
            return
        with Buffer(member.reader) as buffer:
            yield from _unfold(buffer, inner)
            # A reader of tables may not have come to the checksum.
            yield from _drain(buffer)
    except LimitError:
        raise
    except SourceError as error:
        yield error


def _drain(reader: Reader) -> Iterator[SourceError]:
    """Read to the end, only to report the errors on the way."""
    while True:
        try:
            skip(reader, sys.maxsize)
        except DamageError as error:
            yield error
        else:
            return
