"""Forms (file formats) that urnscan recognises, and does not read or reads only by libarchive: an error gives advice.

`PACKED` has the forms that compress or encrypt text and are still in use, out of the lists of `file` (magic/Magdir:
archive, compress, filesystems) and of libarchive. A scan of their raw bytes would find nothing, without a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from urnscan.errors import SourceError, SourceNote
from urnscan.formats.archives import by_libarchive
from urnscan.formats.contents import Document, Member
from urnscan.formats.context import Layer
from urnscan.formats.encodings import has_control, is_binary
from urnscan.formats.media_types import OLE
from urnscan.formats.protocol import (
    Archive,
    Compression,
    Recognise,
    begins_with,
    exactly,
    looks_binary,
    never,
    scan_as_it_is,
)
from urnscan.stores.reader import Reader, begins

_UNPACK, _DECRYPT = "unpack it first", "decrypt it first"
_STORED = "is scanned unchanged, so members that are packed are not read; {}"
# Bytes of the shortest text with a URN, such as `urn:a:b` and a space: so many are waited for in any case.
_SHORTEST = 8
_RECIPE = "read it with {}, and give its batches to urnscan.scan_batches"


@dataclass(frozen=True, slots=True)
class Packed:
    """Declaration of a form (file format) that urnscan does not read, or reads only by the library libarchive."""

    name: str
    """Name for messages, with an article."""
    signs: tuple[bytes, ...] = ()
    """Signatures. A signature of printable characters, which may begin a text, counts only if control characters
    follow, or with a suffix in `suffixes`.
    """
    suffixes: tuple[str, ...] = ()
    """Suffixes of file names, with the dot. A file with a suffix but no signature is reported, too, unless it is text.
    """
    at: int = 0
    """Offset in bytes of the signature in the file."""
    remedy: str = _UNPACK
    """Advice for the error, such as "unpack it first"."""
    formats: tuple[str, ...] = ()
    """Names of the formats of libarchive that read this form as an archive; empty: none."""
    filter_: str = ""
    """Name of the filter of libarchive that reads this form as a compression; empty: none."""
    is_text: bool = False
    """Whether a file of this form may be text, so that its signature alone is enough, without control characters."""

    def recognise(self, head: bytes, layer: Layer) -> bool | None:
        """Whether a file that begins with `head` has this form, by a signature (see `signs`).

        None if more bytes are needed. But if `at` is 8 or more, a `head` that ends before the signature and has no
        control characters is False: text from a slow pipe must not wait. `layer`: names of the file.
        """
        data = head[self.at :]
        sign = next((sign for sign in self.signs if data.startswith(sign)), None)
        if sign is not None:
            is_sure = self.is_text or has_control(sign) or layer.file_name.lower().endswith(self.suffixes or "/")
            return is_sure or is_binary(head)
        if not any(sign.startswith(data) for sign in self.signs):
            return False
        # Text from a slow pipe must not wait for byte 1,024, where an EROFS image has its signature.
        return None if data or self.at < _SHORTEST or has_control(head) else False

    def open(self, reader: Reader, layer: Layer) -> Any:  # noqa: ANN401 (an iterator of members, or a reader)
        """Open a file of this form by libarchive: returns an iterator over its members, or, if the form has a
        `filter_`, a reader of the unpacked bytes.

        Raises SourceError at once, with the advice of `remedy`, if libarchive does not read this form or is not
        installed; while members or bytes are read, if the rest cannot be read.
        """
        is_read = bool(self.formats or self.filter_)
        missing = by_libarchive.missing() if is_read else ""
        if missing or not is_read:
            remedy = f"{self.remedy}, or {missing}" if missing else self.remedy
            raise SourceError(layer.name, f"{self.name} is not read; {remedy}")
        if self.filter_:
            return by_libarchive.open_compressed(reader, layer, self.filter_)
        return by_libarchive.open_archive(reader, layer, self.formats)

    @property
    def form(self) -> Archive | Compression:
        """Declaration of this form for the registry: a `Compression` if it has a `filter_`, else an `Archive`."""
        kind = Compression if self.filter_ else Archive
        return kind(
            name=self.name,
            open=self.open,
            recognise=self.recognise if self.signs else never,
            signs=() if self.at else exactly(*self.signs),
            suffixes=self.suffixes,
            recognise_named=looks_binary if self.suffixes else None,
            needs_beginning=bool(self.signs),
        )


_LHA = tuple(b"-%b-" % kind for kind in b"lh0 lh1 lh4 lh5 lh6 lh7 lhd lhx lz4 lz5 lzs pm0 pm1 pm2".split())

PACKED = (
    # Archives.
    Packed("a 7z archive", (b"7z\xbc\xaf\x27\x1c",), (".7z",), formats=("7zip",)),
    Packed("a RAR archive", (b"Rar!\x1a\x07",), (".rar",), formats=("rar", "rar5")),
    Packed("a RAR archive before 1.5", (b"RE~^",)),
    Packed("a cabinet", (b"MSCF\0\0\0\0",), (".cab",), formats=("cab",)),
    Packed("a cabinet of InstallShield", (b"ISc(",)),
    Packed("an LHA archive", _LHA, (".lha", ".lzh"), at=2, formats=("lha",)),
    Packed("an ARJ archive", (b"\x60\xea",), (".arj",)),
    Packed("an XAR archive", (b"xar!",), (".xar",), formats=("xar",)),
    Packed("an RPM package", (b"\xed\xab\xee\xdb",), (".rpm",), filter_="rpm"),
    Packed("an ACE archive", (b"**ACE**",), (".ace",), at=7),
    Packed("a ZOO archive", (b"\xdc\xa7\xc4\xfd",), (".zoo",), at=20),
    Packed("a StuffIt archive", (b"SIT!", b"StuffIt"), (".sit", ".sitx")),
    Packed("a ZPAQ archive", (b"zPQ\x01", b"zPQ\x02", b"7kSt"), (".zpaq",)),
    Packed("a FreeArc archive", (b"ArC\x01",)),
    Packed("an ALZ or EGG archive", (b"ALZ\x01", b"EGGA"), (".alz",)),
    Packed("an ARC archive of SEA", tuple(b"\x1a%c" % kind for kind in (*range(2, 11), 0x14, 0x48))),
    Packed("an archive of dar", (), (".dar",)),
    Packed("a PEA archive", (), (".pea",)),
    Packed("a backup of Android", (b"ANDROID BACKUP\n",)),
    Packed("a pack of git", (b"PACK\0\0\0",), (".pack",), remedy="check it out first (git clone)"),
    # File systems and images of disks.
    Packed("a Windows image", (b"MSWIM\0\0\0",), (".wim", ".esd", ".swm")),
    Packed("a SquashFS image", (b"hsqs", b"sqsh", b"shsq", b"qshs"), (".squashfs", ".sqfs")),
    Packed("a CramFS image", (b"\x45\x3d\xcd\x28", b"\x28\xcd\x3d\x45")),
    Packed("an EROFS image", (b"\xe2\xe1\xf5\xe0",), at=1024),
    Packed("an Apple disk image", (), (".dmg",)),
    Packed("a QCOW disk image", (b"QFI\xfb",), (".qcow", ".qcow2")),
    Packed("a VMware disk image", (b"KDMV",), (".vmdk",)),
    Packed("an image of a virtual disk", (b"conectix", b"vhdxfile", b"<<< Oracle VM"), (".vhd", ".vhdx", ".vdi")),
    # Compressions.
    Packed("an lzip file", (b"LZIP",), (".lz",), filter_="lzip"),
    Packed("an lzop file", (b"\x89LZO\0\r\n\x1a\n",), (".lzo",)),
    Packed("an lrzip file", (b"LRZI",), (".lrz",)),
    Packed("an rzip file", (b"RZIP",), (".rz",)),
    Packed("a grzip file", (b"GRZipII\0",), (".grz",)),
    Packed("a framed Snappy file", (b"\xff\x06\0\0sNaPpY",), (".sz", ".snappy")),
    Packed("a Brotli file", (), (".br", ".tbr")),
    Packed("an LZFSE file", (b"bvx-", b"bvx1", b"bvx2", b"bvxn"), (".lzfse",)),
    Packed("a bzip3 file", (b"BZ3v1",), (".bz3",)),
    Packed("a bzip file", (b"BZ0",)),
    Packed("a qpress file", (b"qpress10",)),
    Packed("an LZ4 file of the legacy format", (b"\x02\x21\x4c\x18", b"\x03\x21\x4c\x18")),
    Packed("a Zstandard file of a version before 0.8", tuple(b"%c\xb5\x2f\xfd" % version for version in range(0x22, 0x28))),
    Packed("a zlib stream", (b"x\x01", b"x\x5e", b"x\x9c", b"x\xda"), (".zz", ".zlib", ".deflate")),
    Packed("what compress wrote", tuple(b"\x1f\x9d%c" % (block | bits) for block in (0, 0x80) for bits in range(9, 17)), (".z",), filter_="compress"),
    Packed("what pack, freeze or compact wrote", (b"\x1f\x1e", b"\x1f\x9e", b"\x1f\x9f", b"\x1f\xa0", b"\x1f\xa1", b"\x1f\xff", b"\xff\x1f")),
    Packed("what COMPRESS.EXE wrote", (b"SZDD\x88\xf0\x27\x33", b"KWAJ\x88\xf0\x27\xd1")),
    Packed("what yEnc or BinHex encoded", (b"=ybegin ", b"(This file must be converted with BinHex"), (".hqx",), is_text=True, remedy="decode it first"),
    # Mail.
    Packed("a folder of Outlook", (b"!BDN",), (".pst", ".ost"), remedy="convert it to mbox first (readpst)"),
    Packed("a folder of Outlook Express", (b"\xcf\xad\x12\xfe",), (".dbx",), remedy="convert it to mbox first (readdbx)"),
    Packed("an attachment of Outlook (TNEF)", (b"\x78\x9f\x3e\x22",), ("winmail.dat",), remedy="unpack it first (tnef)"),
    # Books and collections of pages.
    Packed("a Mobipocket book", (b"BOOKMOBI", b"TEXtREAd"), (".mobi", ".azw", ".azw3"), at=60, remedy="convert it to EPUB first"),
    Packed("a book of Microsoft Reader", (b"ITOLITLS",), (".lit",), remedy="convert it to EPUB first"),
    Packed("a file of HTML Help", (b"ITSF\x03\0\0\0",), (".chm",)),
    Packed("a DjVu document", (b"AT&TFORM",), (".djvu", ".djv"), remedy="--filter 'djvu:djvutxt %' reads its text"),
    Packed("a ZIM file", (b"ZIM\x04",), (".zim",), remedy="unpack it first (zimdump)"),
    Packed("a Flash film", (b"CWS", b"ZWS"), (".swf",)),
    # Tables and dumps.
    Packed("an Avro file", (b"Obj\x01",), (".avro",), remedy=_RECIPE.format("fastavro")),
    Packed("an ORC file", (b"ORC",), (".orc",), remedy=_RECIPE.format("pyarrow.orc")),
    Packed("a sequence file of Hadoop", (b"SEQ\x04", b"SEQ\x05", b"SEQ\x06", b"RCF\x01")),
    Packed("a DuckDB database", (b"DUCK",), (".duckdb",), at=8, remedy="export its tables to Parquet first"),
    Packed("an HDF5 file", (b"\x89HDF\r\n\x1a\n",), (".h5", ".hdf5"), remedy="export its text first"),
    Packed("an Access database", (b"Standard Jet DB\0", b"Standard ACE DB\0"), (".mdb", ".accdb"), at=4, remedy="export its tables first (mdb-export)"),
    Packed("a file of SPSS", (b"$FL2", b"$FL3"), (".sav", ".zsav"), remedy="export it to CSV first"),
    Packed("a part of an iWork document", (), (".iwa",), remedy="export the document to PDF or Office first"),
    Packed("a dump of pg_dump", (b"PGDMP",), remedy="write it as SQL first (pg_restore -f -)"),
    # What is encrypted.
    Packed("what OpenPGP encrypted or packed", (b"-----BEGIN PGP MESSAGE-----",), (".gpg", ".pgp"), remedy=_DECRYPT, is_text=True),
    Packed("what age encrypted", (b"age-encryption.org/v1\n", b"-----BEGIN AGE ENCRYPTED FILE-----"), (".age",), remedy=_DECRYPT, is_text=True),
    Packed("what OpenSSL encrypted", (b"Salted__",), remedy=_DECRYPT),
    Packed("a database of KeePass", (b"\x03\xd9\xa2\x9a",), (".kdbx", ".kdb"), remedy=_DECRYPT),
    Packed("a LUKS volume", (b"LUKS\xba\xbe",), (".luks",), remedy=_DECRYPT),
)  # fmt: skip
"""Forms that compress or encrypt text, so that a scan of their raw bytes would find nothing."""

# Signatures of archives whose members are not compressed, and of uuencode.
_CPIO_SIGNS = (b"070701", b"070702", b"070707", b"\xc7\x71", b"\x71\xc7")
_CPIO_HEADER = re.compile(rb"07070[12][0-9A-Fa-f]{104}|070707[0-7]{70}")
_CPIO_DIGITS = re.compile(rb"[0-9A-Fa-f]{6,109}")
_ISO_AT, _ISO_SIGNS = 32769, (b"CD001", b"BEA01")
_ISO_WITHIN = _ISO_AT + 5
_UUENCODE = re.compile(rb"begin(?:-base64)? [0-7]{3,4} [^\r\n]{1,250}\r?\n[!-`][ -`a-z]{4,84}\r?\n")
_UUENCODE_BEGUN = (b"begin ", b"begin-base64 ")
_UUENCODE_WITHIN = 400  # bytes


def _is_cpio(head: bytes, _: Layer) -> bool | None:
    """Whether a file is a cpio archive; None if more bytes are needed. Signatures of digits, with which text may begin,
    need a whole header, or bytes that are not text.
    """
    known = begins(head, *_CPIO_SIGNS)
    if not known or not head.isascii():
        return is_binary(head) if known else known
    return _CPIO_HEADER.match(head) is not None or (None if _CPIO_DIGITS.fullmatch(head) else False)


def _is_iso(head: bytes, layer: Layer) -> bool | None:
    """Whether a file is an ISO 9660 or UDF image, by the descriptor after 32 KiB. None, to read on, if a shorter `head`
    has only NULs or, with the suffix .iso, is binary.
    """
    if len(head) >= _ISO_WITHIN:
        return head.startswith(_ISO_SIGNS, _ISO_AT)
    return None if not head.strip(b"\0") or (layer.file_name.lower().endswith(".iso") and is_binary(head)) else False


def _is_uuencoded(head: bytes, _: Layer) -> bool | None:
    known = begins(head, *_UUENCODE_BEGUN)
    if not known or _UUENCODE.match(head):
        return known
    return None if len(head) < _UUENCODE_WITHIN else False


def _raw(
    name: str,
    signs: tuple[bytes, ...],
    reason: str,
    *formats: str,
    recognise: Recognise | None = None,
    kind: type[SourceError] = SourceError,
) -> Archive:
    """Declare a form that libarchive unpacks by its `formats`. Without libarchive or `formats`, the raw bytes are
    scanned, with an error or note (`kind`). `reason`: the message after the name, with `{}` for advice; `recognise`:
    None: by `signs`.
    """

    def open_(reader: Reader, layer: Layer) -> Iterator[Document | Member | SourceError]:
        missing = by_libarchive.missing() if formats else _UNPACK
        if missing:
            return scan_as_it_is(kind, f"{name} {reason.format(missing)}")(reader, layer)
        return by_libarchive.open_archive(reader, layer, formats)

    return Archive(name=name, open=open_, recognise=recognise or begins_with(*signs), signs=exactly(*signs))


FORMS = (
    _raw(
        "a Debian package",
        (b"!<arch>\ndebian-binary",),
        "is scanned unchanged, and what is packed in it is not read; {}",
        "ar",
    ),
    _raw("a thin ar archive", (b"!<thin>\n",), _STORED, kind=SourceNote),
    _raw("an ar archive", (b"!<arch>\n",), _STORED, "ar", kind=SourceNote),
    _raw("a cpio archive", _CPIO_SIGNS, _STORED, "cpio", recognise=_is_cpio, kind=SourceNote),
    _raw("an ISO image", (), _STORED, "iso9660", recognise=_is_iso, kind=SourceNote),
    _raw(
        "what uuencode wrote",
        _UUENCODE_BEGUN,
        "is scanned unchanged, and what is encoded in it is not read; decode it first (uudecode)",
        recognise=_is_uuencoded,
    ),
    # Word, Excel and PowerPoint write a text in one byte a character if they can, and Outlook hardly ever.
    _raw(
        "an Office file up to 2003 or an Outlook message",
        (OLE,),
        "is scanned unchanged, without its UTF-16 text; convert it first, or read it with --filter",
    ),
    *(packed.form for packed in PACKED),
)
"""All forms of this module, for the registry. A Debian package is an ar archive, so it comes before ar archives."""
