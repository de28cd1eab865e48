"""Media types of files by their first bytes; only types for which filters are common."""

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""First bytes of Office files up to 2003, and of messages of Outlook."""
_SIGNS = (
    ("application/pdf", (0, b"%PDF-")),
    ("application/postscript", (0, b"%!PS")),
    ("application/postscript", (0, b"\xc5\xd0\xd3\xc6")),  # with a preview for DOS
    ("image/vnd.djvu", (0, b"AT&TFORM"), (12, b"DJV")),
    ("application/rtf", (0, rb"{\rtf")),
    ("application/x-ole-storage", (0, OLE)),
    ("application/x-7z-compressed", (0, b"7z\xbc\xaf\x27\x1c")),
    ("application/vnd.rar", (0, b"Rar!\x1a\x07")),
    ("application/vnd.ms-cab-compressed", (0, b"MSCF\0\0\0\0")),
    ("image/png", (0, b"\x89PNG\r\n\x1a\n")),
    ("image/jpeg", (0, b"\xff\xd8\xff")),
    ("image/gif", (0, b"GIF87a")),
    ("image/gif", (0, b"GIF89a")),
    ("image/tiff", (0, b"II*\0")),
    ("image/tiff", (0, b"MM\0*")),
    ("image/tiff", (0, b"II+\0")),  # of more than 4 GiB
    ("image/tiff", (0, b"MM\0+")),
    ("image/webp", (0, b"RIFF"), (8, b"WEBP")),
    ("image/bmp", (0, b"BM"), (6, b"\0\0\0\0")),
    ("image/jp2", (0, b"\0\0\0\x0cjP  \r\n\x87\n")),
    ("image/heic", (0, b"\0\0\0"), (4, b"ftypheic")),
    ("image/avif", (0, b"\0\0\0"), (4, b"ftypavif")),
)
"""Media types, each with the parts of a signature: offset and bytes. A type may have several signatures."""
LONGEST = max(at + len(data) for _, *parts in _SIGNS for at, data in parts)
"""Number of first bytes of a file that are enough for `media_type`."""
BEGIN = frozenset(data[0] for _, (_, data), *_ in _SIGNS)
"""First byte, as int, of each signature: a file with another first byte has no type that `media_type` recognises."""


def media_type(head: bytes) -> str | None:
    r"""The media type of a file that begins with `head`; None for an unknown type. The first 15 bytes of the file
    (LONGEST) are enough to decide; with fewer bytes, None may also mean that `head` is too short.

    >>> media_type(b"%PDF-1.7\n"), media_type(b"RIFF\x10\0\0\0WEBP"), media_type(b"RIFF is a word")
    ('application/pdf', 'image/webp', None)
    """
    for name, *parts in _SIGNS:
        if all(head.startswith(data, at) for at, data in parts):
            return name
    return None
