"""Mail: messages (RFC 5322, MIME), mboxes and the files of a Maildir, decoded.

The members of a message are `headers` (unfolded and decoded), the bodies `text` and `html` (decoded), and attached
files by name. A URN in both bodies is two matches. In an mbox the names of members begin with the number of the
message, `message 7/text`; in an attached message with `message/`.

A line that an mbox quotes (`>From `) is not changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from urnscan.errors import SourceError
from urnscan.formats.buffer import Buffer
from urnscan.formats.contents import Label, Member, Texts
from urnscan.formats.context import Layer
from urnscan.formats.encodings import is_binary
from urnscan.formats.protocol import Archive, exactly
from urnscan.stores.reader import PieceReader, Reader

_NamedTexts: TypeAlias = list[tuple[str, bytes]]
"""Pairs of the name of a member and its bytes."""

# Maximum bytes of a message, which is read into memory.
_MAX = 1 << 26
_BLOCK = 1 << 18  # minimum bytes of an mbox that are searched at a time

_FIELD = rb"[!-9;-~]+[ \t]*:"
_FROM = rb"From [^\r\n]*[0-9]:[0-9]{2}[^\r\n]*[0-9]{4}[^\r\n]*\r?\n"  # the line has a time and a year
_MBOX = re.compile(rb"%b(?:>?%b)" % (_FROM, _FIELD))
_NEXT = re.compile(rb"\n\r?\n(?=%b>?%b)" % (_FROM, _FIELD))
_LINE = 1 << 10  # maximum bytes of the first line of a message with the name of the first field
_SURE = re.compile(rb"(?:Return-Path|Received|Delivered-To|From|Date|DKIM-Signature|X-[A-Za-z-]+):")
_SURE_SIGNS = exactly(b"Return-Path:", b"Received:", b"Delivered-To:", b"From:", b"Date:", b"DKIM-Signature:", b"X-")
_MAILDIR = re.compile(r"(?:^|/)(?:cur|new)/[^/]+$")
_HEAD_END = re.compile(rb"\n\r?\n")
_CONTENT_LENGTH = re.compile(rb"(?i)\nContent-Length[ \t]*:[ \t]*([0-9]{1,12})[ \t]*\r?\n")
_COUNT = re.compile(rb"([0-9]{1,10})[ \t]*\r?\n")
_COUNT_BEGUN = re.compile(rb"[0-9]{1,10}[ \t]{0,8}\r?")
_LONGEST_COUNT = 20
_TOLD_BY = 16  # bytes
_FOLLOWS = re.compile(rb"[\r\n]*(?:From |\Z)")
# A byte that no URN has, so that a name is not cut there; and the bytes in which it is searched.
_BETWEEN_NAMES, _NEAR = re.compile(rb"[\s\"<>]"), 1 << 16


def is_message(head: bytes, layer: Layer) -> bool:
    """Whether a file is a mail message of a Maildir: it begins with a usual header field, as `Received:`, and is in a
    folder `cur` or `new`, by `layer.name`.
    """
    return _SURE.match(head) is not None and _MAILDIR.search(layer.name) is not None


def is_mbox(head: bytes, _: Layer) -> bool | None:
    """Whether a file that begins with `head` is an mbox (mail messages in one file): its first line begins with `From `
    and has a date, and a header field follows. None if more bytes are needed.
    """
    if not (head.startswith(b"From ") or b"From ".startswith(head)):
        return False
    return _MBOX.match(head) is not None or (None if len(head) < _LINE else False)


def open_message(reader: Reader, layer: Layer) -> Iterator[Member | Texts | SourceError]:
    """Yield the parts of a mail message as members: `headers`, the decoded bodies `text` and `html`, and attached files
    by name. Headers and bodies come together in one `Texts`, then the files.

    If the message cannot be parsed: an error, and its bytes as the member `message`. A message over 64 MiB is not
    parsed: an error, its beginning (about 64 MiB) as `message`, and the other bytes as `rest`. An error of `reader` is
    yielded, too, and the bytes after it as `rest`.
    """
    return _message(Buffer.of(reader), layer, _MAX + 1, after="")


def is_emlx(head: bytes, _: Layer) -> bool | None:
    """Whether a file with the suffix .emlx is a message of Apple Mail: its first line is a number (the length).

    None if more bytes are needed; False for no bytes.
    """
    return _COUNT.match(head) is not None or (None if _COUNT_BEGUN.fullmatch(head) else False)


def open_emlx(reader: Reader, layer: Layer) -> Iterator[Member | Texts | SourceError]:
    """Yield the parts of a message of Apple Mail as members: `headers`, `text`, `html`, attached files by name, then
    the property list after the message as `properties`. The first line, with the length, is not a member.

    If the message cannot be parsed: an error, and its bytes as `message`. A message over 64 MiB is not parsed: an
    error, its beginning (about 64 MiB) as `message`, and all other bytes as `rest`. An error of `reader` is yielded,
    too, and the bytes after it as `rest`.
    """
    buffer = Buffer.of(reader)
    count = _COUNT.match(buffer.head(_LONGEST_COUNT))
    buffer.skip(count.end() if count else 0)
    return _message(buffer, layer, min(int(count[1]) if count else 0, _MAX + 1), after="properties")


def _message(buffer: Buffer, layer: Layer, length: int, after: str) -> Iterator[Member | Texts | SourceError]:
    """Yield the parts of the message in the next `length` bytes; then, if `after` is not empty, the bytes after it as a
    member with this name. A message over 64 MiB: its beginning (about 64 MiB), and all bytes after that as the member
    `rest`.
    """
    data = buffer.head(length if length <= _MAX else _MAX + _NEAR)
    data = data[: length if length <= _MAX else _most_of(data)]
    buffer.skip(len(data))
    is_whole = len(data) <= _MAX
    texts, others = _members(data, "", layer, is_whole=is_whole)
    yield _together(texts)
    yield from others
    if after or not is_whole:
        yield Member(after if is_whole else "rest", buffer)
    yield from _after_end(buffer)


def open_mbox(reader: Reader, layer: Layer) -> Iterator[Member | Texts | SourceError]:
    """Yield the parts of all messages of an mbox (mboxo, mboxrd, mboxcl, mboxcl2) as members, numbered from 1, as
    `message 7/headers`, `message 7/text` and `message 7/report.pdf`. Headers and bodies come together, as `Texts`.

    If a message cannot be parsed: an error, and its bytes as `message 7/message`. A message over 64 MiB is not parsed,
    either: an error, its beginning (about 64 MiB) as `message 7/message`, and its other bytes as further messages. An
    error of `reader` is yielded, too, and the bytes after it as `rest`.
    """
    buffer = Buffer.of(reader)
    number = waiting = 0
    texts: _NamedTexts = []
    while data := _next(buffer):
        number += 1
        name = f"message {number}"
        line = data.find(b"\n") + 1 if data.startswith(b"From ") else 0
        message_texts, others = _members(data[line:], f"{name}/", layer, is_whole=len(data) <= _MAX)
        texts += message_texts
        waiting += len(data)
        if others or waiting >= _BLOCK:
            yield _together(texts)
            texts, waiting = [], 0
            yield from others
    yield _together(texts)
    yield from _after_end(buffer)


def _after_end(buffer: Buffer) -> Iterator[Member | SourceError]:
    if (error := buffer.error) is not None:
        yield error
        buffer.resume()
        yield Member("rest", buffer)


def _next(buffer: Buffer) -> bytes:
    """Take the next message with the line `From ` before it; empty at the end, or at an error. Of a message over 64
    MiB, perhaps only a part is taken; the next calls return its rest.
    """
    data, searched = buffer.peek(_BLOCK), 0
    # The message may have other messages in it, so the end by its Content-Length comes first.
    length = _announced_length(data)
    data = buffer.peek(length + _LINE) if length else data
    end = _announced_end(data, length)
    while not end:
        if match := _NEXT.search(data, searched, _MAX + 1):
            end = match.end()
            break
        searched = max(0, len(data) - _LINE)
        longer = buffer.peek(2 * len(data)) if len(data) <= _MAX else data
        if len(longer) == len(data):
            end = _most_of(data)
            break
        data = longer
    message = bytes(data[:end])
    buffer.skip(end)
    return message


def _most_of(data: bytes | memoryview) -> int:
    """Index after the first byte that ends a name, from 64 MiB on; 64 MiB and one byte if there is none nearby; the
    number of all bytes of shorter `data`.
    """
    between = _BETWEEN_NAMES.search(data, _MAX, _MAX + _NEAR)
    return between.end() if between else min(len(data), _MAX + 1)


def _announced_length(data: memoryview) -> int:
    """Bytes of the first message in `data`, by its Content-Length; 0 without one, or if it is more than 128 MiB."""
    head = _HEAD_END.search(data)
    found = head and _CONTENT_LENGTH.search(data, 0, head.end())
    length = head.end() + int(found[1]) if head and found else 0
    return length if length <= 2 * _MAX else 0


def _announced_end(data: memoryview, length: int) -> int:
    """Index of the line `From ` after the first `length` bytes of `data`, or of the end after them; 0 if neither is
    there.
    """
    follows = _FOLLOWS.match(data, length) if 0 < length <= len(data) else None
    return follows.end() - len(b"From ") * follows[0].endswith(b"From ") if follows else 0


def _members(
    data: bytes, before: str, layer: Layer, *, is_whole: bool
) -> tuple[_NamedTexts, list[Member | SourceError]]:
    """The texts of a message (name, bytes), and its attached files as members; if it is not whole or cannot be parsed,
    instead an error, and its bytes as the member `message`. `before`: prefix of all names.
    """
    from urnscan.formats.documents.mime import take_apart  # noqa: PLC0415 (its library takes long to load)

    wrong = "" if is_whole else f"it has more than {_MAX:,} bytes"
    if not wrong:
        try:
            texts, attached = take_apart(data, before)
            return texts, [Member(name, PieceReader(iter([content]))) for name, content in attached]
        except Exception as error:  # noqa: BLE001 (`email` raises errors of any kind for malformed messages)
            wrong = " ".join(str(error).split())
    name = f"{before}message"
    failure = SourceError(layer.name_of(name), f"cannot be split into parts ({wrong}), so it is scanned unchanged")
    return [], [failure, Member(name, PieceReader(iter([data])))]


def _together(texts: _NamedTexts) -> Texts:
    return Texts.joined([(Label(name), text) for name, text in texts])


def _is_text(head: bytes, _: Layer) -> bool:
    # Only the first bytes: the bodies may be in any encoding.
    return not is_binary(head[:_TOLD_BY])


FORMS = (
    Archive(name="an mbox", open=open_mbox, recognise=is_mbox, signs=exactly(b"From ")),
    Archive(
        name="a message",
        open=open_message,
        recognise=is_message,
        signs=_SURE_SIGNS,
        # .mht and .mhtml are web pages with their images (RFC 2557).
        suffixes=(".eml", ".mht", ".mhtml"),
        recognise_named=_is_text,
    ),
    Archive(name="a message of Apple Mail", open=open_emlx, suffixes=(".emlx",), recognise_named=is_emlx),
)
