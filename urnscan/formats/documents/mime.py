"""A mail message (RFC 5322, MIME) -> headers and bodies, decoded, and attached files.

A message with a single text and without encodings is read without Python's parser, which takes most of the time.
"""

from __future__ import annotations

import binascii
import re
from email.errors import InvalidBase64CharactersDefect
from email.message import Message
from email.parser import BytesParser
from email.quoprimime import header_decode
from typing import Any, TypeAlias

from urnscan.formats.contents import plain_name
from urnscan.formats.declared_encodings import name_of_encoding
from urnscan.formats.documents.long_bodies import HEAD_END, check_depth, check_head, parse

Parts: TypeAlias = list[tuple[str, bytes]]
"""Pairs (name, bytes) of the texts or attached files of a mail message."""

_ATTACHED = "message/"  # prefix of the names in an attached message
# Maximum boundaries in a message: the parser compares each line with all boundaries.
_MAX_BOUNDARIES = 50
_BOUNDARY = re.compile(rb"(?i);\s*+boundary[*0-9]*+\s*+=")
_FLOWED_LINE = re.compile(rb"(>*+) ?([^\n]*+)\n?")
_SIGNATURE = b"-- "
_FOLD = re.compile(r"\r?\n(?=[ \t])")
_WORD = re.compile(r"=\?([!-)+->@-~]+?)(?:\*[!-)+->@-~]*)?\?([bqBQ])\?([!->@-~]*)\?=(?:[ \t\r\n]+(?==\?))?")
_PLAIN_HEAD = re.compile(rb"(?:[!-9;-~]+:[ \t]*[!-~][ -~\t]*\r?\n(?:[ \t]+[!-~][ -~\t]*\r?\n)*)+\r?\n")
"""Headers in ASCII with a value each, and the empty line."""
_PLAIN_FIELD = re.compile(
    rb"""content-length:.*|content-transfer-encoding:[ \t]*(?:7bit|8bit|binary)[ \t]*|"""
    rb"""content-type:[ \t]*text/(?P<kind>plain|html)(?:[ \t]*;[ \t]*format=flowed)?"""
    rb"""(?:[ \t]*;[ \t]*charset=(?P<quote>"?)(?P<charset>[a-z0-9_-]+)(?P=quote))?(?:[ \t]*;[ \t]*format=flowed)?[ \t]*""",
    re.IGNORECASE,
)
"""Content fields, in a single line each, of a body without an encoding."""
_TOKEN = re.compile(r"[a-z0-9-]+")
_ENCODINGS = ("base64", "quoted-printable")
_AS_THEY_ARE = {"", "us-ascii", "ascii", "utf-8", "utf8"}


def take_apart(data: bytes, before: str) -> tuple[Parts, Parts]:
    """Split a mail message into its texts (`headers`, and bodies `text` and `html`, each in UTF-8 if its charset is
    known) and its attached files, as pairs of name and bytes. The names in an attached message begin with `message/`,
    as `message/text`. An attached file is a part with a file name, or one that is not text (`attachment.png`); its
    bytes are decoded from base64 or quoted-printable.

    `before`: prefix of all names, as `message 7/`. Raises ValueError if parsing would take too much time or memory, and
    errors of any kind for a malformed message.
    """
    end = HEAD_END.search(data)
    head = end.end() if end else len(data)
    check_depth(data, before.count(_ATTACHED))
    check_head(data, head)
    plain = _plain(data, before)
    return (plain, []) if plain is not None else _parts(_parsed(data, head), before)


def _plain(data: bytes, before: str) -> Parts | None:
    """The texts of a message with a single body and without encodings; None for any other message."""
    head = _PLAIN_HEAD.match(data)
    if head is None or b"=?" in head[0]:
        return None
    headers = []
    body, charset, of_body = "text", "", set()
    for line in (
        head[0].replace(b"\r\n", b"\n").replace(b"\n ", b" ").replace(b"\n\t", b"\t").rstrip(b"\n").split(b"\n")
    ):
        name, _, value = line.partition(b":")
        headers.append(b"%b: %b\n" % (name, value.lstrip(b" \t")))
        if name[:8].lower() == b"content-":
            field = _PLAIN_FIELD.fullmatch(line)
            if field is None or name.lower() in of_body:
                return None
            of_body.add(name.lower())
            if field["kind"]:
                body = "html" if field["kind"].lower() == b"html" else "text"
                charset = (field["charset"] or b"").decode()
    return [(f"{before}headers", b"".join(headers)), (before + body, _in_utf_8(data[head.end() :], charset))]


class _Part(Message):
    """A part of a message. An attached message that is encoded is read as bytes, which are decoded later."""

    # RFC 2046, 5.2.1, forbids encoded attached messages, and RFC 6532, 3.5, allows them; `email` would not decode them.

    @property
    def encoding(self) -> str:
        # `email` would keep comment and spaces.
        token = _TOKEN.search(str(self.get("content-transfer-encoding", "")).lower())
        return token[0] if token else ""

    @property
    def is_encoded_message(self) -> bool:
        return self.encoding in _ENCODINGS and super().get_content_maintype() == "message"

    @property
    def data(self) -> bytes:
        if self.encoding:
            self.replace_header("Content-Transfer-Encoding", self.encoding)
        data = self.get_payload(decode=True)
        return data if isinstance(data, bytes) else b""

    @property
    def written(self) -> bytes:
        # `get_payload` would replace bytes that are not ASCII.
        return str(self._payload).encode("ascii", "surrogateescape")  # type: ignore[attr-defined]

    def get_content_maintype(self) -> str:
        # An encoded attached message must not be parsed.
        return "application" if self.is_encoded_message else super().get_content_maintype()


def _parsed(data: bytes, head: int) -> _Part:
    """Parse a message whose header has `head` bytes. Raises ValueError if that would take too much time or memory, and
    the errors of `email`.
    """
    parser = BytesParser(_Part)
    message = parser.parsebytes(data[:head])
    if message.get_content_maintype() in ("multipart", "message"):
        if sum(1 for _ in _BOUNDARY.finditer(data)) > _MAX_BOUNDARIES:
            raise ValueError(f"it has more than {_MAX_BOUNDARIES} boundaries")
        return parse(parser, data)
    # A message without parts: the parser would split the body into lines, which takes long.
    rest = data[head:].decode("ascii", "surrogateescape")
    message.set_payload(str(message.get_payload()) + rest)
    return message


def _parts(message: _Part, before: str) -> tuple[Parts, Parts]:
    """The texts and the attached files of a parsed message; `before`: prefix of all names."""
    texts: Parts = []
    attached: Parts = []
    parts: list[Any] = [message]
    while parts:
        part = parts.pop()
        # Also those of a part: it may have `Content-Location: urn:…`, and a report on delivery consists of such fields.
        if part.items():
            headers = "".join(f"{name}: {_decoded(str(value))}\n" for name, value in part.items())
            texts.append((f"{before}headers", headers.encode("utf-8", "surrogateescape")))
        kind = part.get_content_type()
        content = part.get_payload()
        if part.is_encoded_message:
            inner_texts, inner_attached = take_apart(part.data, before + _ATTACHED)
            texts += inner_texts
            attached += inner_attached
            continue
        if isinstance(content, list):
            around = f"{part.preamble or ''}\n{part.epilogue or ''}".strip()
            if around:
                texts.append((f"{before}text", around.encode("utf-8", "surrogateescape")))
            if kind.startswith("message/") and len(content) == 1:
                inner_texts, inner_attached = _parts(content[0], before + _ATTACHED)
                texts += inner_texts
                attached += inner_attached
            else:
                parts += reversed(content)
            continue
        data = part.data
        if any(isinstance(defect, InvalidBase64CharactersDefect) for defect in part.defects):
            texts.append((f"{before}text", part.written))
        name = plain_name(_decoded(part.get_filename() or ""))
        if name or part.get_content_maintype() != "text":
            attached.append((before + (name or f"attachment.{part.get_content_subtype()}"), data))
        else:
            body = "html" if kind == "text/html" else "text"
            text = _in_utf_8(data, part.get_content_charset() or "")
            texts.append((before + body, _unflowed(text) if _deletes_spaces(part) else text))
    return texts, attached


def _deletes_spaces(part: Message) -> bool:
    # RFC 3676, 4.1: then joined lines lose the space at their end.
    parameters = (part.get_param("format", ""), part.get_param("delsp", ""))
    return tuple(str(value).strip().lower() for value in parameters) == ("flowed", "yes")


def _unflowed(text: bytes) -> bytes:
    """Join the flowed lines of a text with DelSp=yes (RFC 3676, 4.2-4.5)."""
    out: list[bytes] = []
    depth: bytes | None = None
    for line in _FLOWED_LINE.finditer(text.replace(b"\r\n", b"\n")):
        quoted, content = line.groups()
        goes_on = depth == quoted and content != _SIGNATURE
        if not goes_on and out:
            out.append(b"\n")
        out.append(content if goes_on else quoted + content)
        depth = None
        if content.endswith(b" ") and content != _SIGNATURE:
            out[-1] = out[-1][:-1]
            depth = quoted
    return b"".join(out)


def _in_utf_8(data: bytes, charset: str) -> bytes:
    """Convert a body to UTF-8, with U+FFFD for invalid bytes; unchanged if the charset is empty, unknown, ASCII or
    UTF-8.
    """
    if charset.lower() in _AS_THEY_ARE:
        return data
    try:
        return data.decode(name_of_encoding(charset), "replace").encode("utf-8", "replace")
    except (LookupError, ValueError):
        return data


def _decoded(value: str) -> str:
    # Encoded words are of RFC 2047.
    value = _FOLD.sub("", value)
    return _WORD.sub(_decoded_word, value) if "=?" in value else value


def _decoded_word(word: re.Match[str]) -> str:
    try:
        if word[2] in "bB":
            data = binascii.a2b_base64(word[3] + "=" * (-len(word[3]) % 4))
        else:
            data = header_decode(word[3]).encode("latin-1")
        return data.decode(name_of_encoding(word[1]), "replace")
    except (LookupError, ValueError):
        return word[0]
