"""The protocol of formats of records: what a module says of the format that it reads, so that the registry can list it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from urnscan.records.decoded_text import decoded
from urnscan.records.record import RecordReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format of dumps."""

    name: str
    """Its name in `--record`."""
    title: str
    """Its name in messages."""
    reader: type[RecordReader]
    """Class of the reader of one dump."""
    recognise: Callable[[bytes, str], bool | None] = lambda _head, _name: False
    """Whether a dump with these first octets and this file name, lower case, has the format; None: more are needed."""
    suffixes: tuple[str, ...] = ()
    """Suffixes of names that programs take for this format, lower case."""
    trace: bytes = b"(?!)"
    """Pattern of octets that a dump has, and hardly any other text: it tells the likely format of a damaged dump."""
    separator: bytes = b""
    """Octets between two records, besides white space, and not after the last."""
    framed: bool = False
    """Whether something stands around the records, so that two dumps, one after the other, do not make one."""
    line_ends: int = 1
    """Number of line ends, at least, between the last record of a dump and another dump after it."""
    keyed: bool = False
    """Whether two records with the same identifier in one dump are parts of one record."""
    numbered: bool = True
    """Whether the name of a record is a number of the record itself; in Dublin Core it is any identifier of the thing."""
    has_fields: bool = True
    """Whether a record has fields, so that it can have keys other than URNs."""
    recipe: str = ""
    """How to make a dump that is read of one in this format, which is recognised and not read; empty if it is read."""
    in_columns: bool = False
    """Whether compiled code takes nearly all records apart: then a process that reads some of them saves nothing."""
    show: Callable[[bytes], str] = decoded
    """Function that shows a record to a person; it never raises."""
