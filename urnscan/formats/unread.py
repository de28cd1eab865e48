"""Forms that are recognised and not read: one line says how to unpack or convert them, and the exit status that they are left out."""

from __future__ import annotations

from typing import NoReturn

from urnscan.errors import SourceError, SourceNote
from urnscan.formats.context import Layer
from urnscan.formats.encodings import is_binary
from urnscan.formats.protocol import Archive, Recognise, looks_binary, scan_as_it_is
from urnscan.stores.reader import Reader, begins

_COMPRESS = tuple(b"\x1f\x9d%c" % (block | bits) for block in (0, 0x80) for bits in range(9, 17))
_RECIPE = "docs/howto/engines.md shows how to scan it with {}"
_ORC = b"ORC"


def _by_magic(*magics: bytes) -> Recognise:
    return lambda head, _: begins(head, *magics)


def _is_orc(head: bytes, layer: Layer) -> bool | None:
    """Recognise ORC by its magic, and by its name or octets that are not text: a text may begin with these letters."""
    known = begins(head, _ORC)
    return is_binary(head) if known and not layer.file_name.lower().endswith(".orc") else known


def _unread(
    name: str,
    *magics: bytes,
    remedy: str = "unpack it first",
    suffixes: tuple[str, ...] = (),
    recognise: Recognise | None = None,
) -> Archive:
    """A form that is refused. A file with one of the suffixes and another beginning is scanned unchanged."""

    def refuse(_: Reader, layer: Layer) -> NoReturn:
        raise SourceError(layer.name, f"{name} is not read: {remedy}")

    return Archive(
        name=name,
        open=refuse,
        recognise=recognise or _by_magic(*magics),
        begins=magics[0][:1],
        suffixes=suffixes,
        recognise_named=looks_binary if suffixes else None,
        needs_beginning=True,
    )


def _as_it_is(name: str, magic: bytes, kind: type[SourceError], reason: str) -> Archive:
    return Archive(
        name=name, open=scan_as_it_is(kind, f"{name} {reason}"), recognise=_by_magic(magic), begins=magic[:1]
    )


FORMS = (
    _as_it_is(
        "a Debian package",
        b"!<arch>\ndebian-binary",
        SourceError,
        "is scanned as it is, and what is packed in it is not read: unpack it first (dpkg-deb -x)",
    ),
    _as_it_is(
        "an ar archive",
        b"!<arch>\n",
        SourceNote,
        "is scanned as it is; unpack it first if its members are packed themselves",
    ),
    _unread("a 7z archive", b"7z\xbc\xaf\x27\x1c"),
    _unread("a RAR archive", b"Rar!\x1a\x07"),
    _unread("a cabinet", b"MSCF\0\0\0\0"),
    _unread("what compress wrote", *_COMPRESS),
    _unread("an Avro file", b"Obj\x01", remedy=_RECIPE.format("fastavro"), suffixes=(".avro",)),
    _unread("an ORC file", _ORC, remedy=_RECIPE.format("pyarrow.orc"), suffixes=(".orc",), recognise=_is_orc),
)
"""Packages of Debian before ar archives, which they are."""
