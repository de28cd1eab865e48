"""Which readers an input needs: the one place where they are put on top of each other."""

from urnscan.sources.encodings import Transcoder, find_codec
from urnscan.sources.files import Reader, open_file
from urnscan.sources.walk import Input

__all__ = ["is_splittable", "open_input"]


def open_input(source: Input, encoding: str | None = None) -> Reader:
    """A reader of the text of an input: UTF-8, or the octets as they are.

    UTF-16 and UTF-32 are recognised by their byte order marks and come without it. Else `encoding` says what the
    input is in; None, like utf-8 and ascii, is as it is. Waits for the first octet of a pipe.
    Raises SourceError where the input cannot be read, FatalError for an unknown encoding.
    """
    reader = open_file(source)
    try:
        codec, mark = find_codec(reader.peek, encoding)
        if mark:
            reader.read_into(memoryview(bytearray(mark)))
        return reader if codec is None else Transcoder(reader, source.name, codec, mark)
    except BaseException:
        reader.close()
        raise


def is_splittable(source: Input, encoding: str | None = None) -> bool:
    """Whether `open_range` can read parts of an input: a regular file that `open_input` would give as it is.

    Raises SourceError where the file cannot be read, FatalError for an unknown encoding.
    """
    if source.path is None or source.size is None:
        return False
    with open_file(source) as reader:
        codec, _ = find_codec(reader.peek, encoding)
        return codec is None
