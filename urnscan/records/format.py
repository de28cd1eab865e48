"""The protocol of formats of records: what a module declares about the format that it reads, for the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from urnscan.records.decoded_text import decoded
from urnscan.records.record import RecordReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """What urnscan knows of a format of dumps: its names, how a dump is recognised, the class that reads it, and how
    dumps are joined and shown.
    """

    name: str
    """Name of the format in `--record`."""
    title: str
    """Name of the format in messages."""
    reader: type[RecordReader]
    """Class that reads the dumps; for a format that is not read (`recipe`), `RecordReader`."""
    recognise: Callable[[bytes, str], bool | None] = lambda _head, _name: False
    """Whether a dump has the format: a function of the first bytes and the file name (in lower case). None: more bytes
    are needed.
    """
    suffixes: tuple[str, ...] = ()
    """Suffixes of the names of files that programs write in this format, with the dot, in lower case: `.ris`."""
    trace: bytes = b"(?!)"
    """Pattern of bytes that hardly any other text has. If a dump is not recognised, a message names the format whose
    pattern is in it. The default matches nothing.
    """
    separator: bytes = b""
    """Bytes between two records, in addition to white space. They do not follow the last record."""
    framed: bool = False
    """Whether two dumps cannot be joined to a single dump, for example because a dump has a header."""
    line_ends: int = 1
    """Least number of line ends between the last record of a dump and another dump that follows."""
    keyed: bool = False
    """Whether two records with the same ID in a dump describe the same work."""
    numbered: bool = True
    """Whether the ID of a record identifies the record, and so may be a key. In Dublin Core it identifies the work."""
    has_fields: bool = True
    """Whether a record has fields, and so can have keys other than URNs, and record-level identifiers."""
    knows_fields: Callable[[bytes], bool] = lambda _head: True
    """Whether a dump that begins with these bytes has fields that are known to contain identifiers. If not, every URN
    in its records counts.
    """
    unread: Callable[[bytes], str] = lambda _head: ""
    """For a dump that begins with these bytes, the name of an element in its records whose fields are not known, such
    as `ead`; empty if there is none.
    """
    recipe: str = ""
    """How to convert a dump of a format that is recognised and not read, as the end of a message (`… is not read;
    <recipe>`); empty if the format is read.
    """
    in_columns: bool = False
    """Whether compiled code reads nearly all records. Then other processes that read records save no time."""
    show: Callable[[bytes], str] = decoded
    """Function from the bytes of a record to a text for people; it never raises."""
