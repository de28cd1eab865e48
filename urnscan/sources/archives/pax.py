"""What the extended headers of pax say of the members of tar archives that follow them."""

import re

__all__ = ["decimal", "pax_records"]

_KEYWORDS = (b"path", b"size", *(b"GNU.sparse." + end for end in (b"name", b"map", b"size", b"realsize", b"major")))


def decimal(digits: bytes) -> int:
    """A number in pax records. Raises ValueError."""
    if not re.fullmatch(rb"[0-9]{1,18}", digits):
        raise ValueError("it has no number where one must be")
    return int(digits)


def pax_records(data: bytes) -> dict[bytes, bytes]:
    """Those of the records of a pax header that say what a member is. Raises ValueError.

    The segments of sparse files, version 0.0, which are many records, are given as those of version 0.1 are, in one.
    """
    records = {}
    segments = []
    at = 0
    while at < len(data):
        digits, space, _ = data[at : at + 20].partition(b" ")
        length = decimal(digits)
        record = data[at + len(digits) + 1 : at + length]
        keyword, equals, value = record[:-1].partition(b"=")
        if not (space and equals and record.endswith(b"\n") and at + length <= len(data)):
            raise ValueError("not a record")
        if keyword in (b"GNU.sparse.offset", b"GNU.sparse.numbytes"):
            segments.append(value)
        elif keyword in _KEYWORDS:
            records[keyword] = value
        at += length
    if segments:
        records[b"GNU.sparse.map"] = b",".join(segments)
    return records
