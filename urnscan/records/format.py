"""The protocol of formats of records: what a module declares about the format that it reads, for the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from urnscan.records.decoded_text import decoded
from urnscan.records.record import RecordReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format of dumps."""

    name: str
    """Name of the format in `--record`."""
    title: str
    """Name of the format in messages."""
    reader: type[RecordReader]
    """Class of the reader of one dump."""
    recognise: Callable[[bytes, str], bool | None] = lambda _head, _name: False
    """Whether a dump with these first bytes and this file name (in lower case) has the format. None: more bytes are needed."""
    suffixes: tuple[str, ...] = ()
    """Suffixes of the names of files that programs write in this format, in lower case."""
    trace: bytes = b"(?!)"
    """Pattern of bytes that hardly any other text has. By it, a message names the likely format of a damaged dump."""
    separator: bytes = b""
    """Bytes between two records, in addition to white space. They do not follow the last record."""
    framed: bool = False
    """Whether a dump has more than its records, for example a header. Then two dumps, one after the other, are not one dump."""
    line_ends: int = 1
    """Least number of line ends between the last record of a dump and another dump that follows."""
    keyed: bool = False
    """Whether two records with the same identifier in one dump are parts of one record."""
    numbered: bool = True
    """Whether the name of a record identifies the record. In Dublin Core it identifies the work that the record describes."""
    has_fields: bool = True
    """Whether a record has fields, so that it can have keys other than URNs, and identifiers of its own."""
    knows_fields: Callable[[bytes], bool] = lambda _head: True
    """Whether a dump with these first bytes has fields that are known to contain identifiers: a table may have none."""
    unread: Callable[[bytes], str] = lambda _head: ""
    """Name of what the records of a dump with these first bytes contain and what is not read by its fields; empty: nothing."""
    recipe: str = ""
    """How to convert a dump of a format that is recognised and not read; empty if the format is read."""
    in_columns: bool = False
    """Whether compiled code reads nearly all records: then other processes that read records save no time."""
    show: Callable[[bytes], str] = decoded
    """Function that writes a record for people; it never raises."""
