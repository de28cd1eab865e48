"""What the readers of records give: records, and in the place of one that is damaged, why."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from urnscan.framing.buffer import Buffer
from urnscan.framing.lines import Damaged

__all__ = ["Damaged", "Own", "Record", "RecordReader", "whole"]

_SURROGATE = re.compile("[\ud800-\udfff]")


class Own(NamedTuple):
    """An identifier of the record itself, as it stands in one of its fields. What it says is `whole`."""

    text: str
    scheme: str = ""
    """What the record says that it is (`isbn`, `doi`), in lower case; empty where it does not say."""


class Record(NamedTuple):
    """One record of a dump."""

    offset: int
    """Octets from the beginning of the dump."""
    octets: bytes
    """As it came: what is taken out of the dump, but for what only parts it from the record before, when it goes."""
    identifier: str | None
    """What the dump calls it (MARC 001, the subject, `id`), `whole`; None where it has no name."""
    texts: Sequence[bytes] = ()
    """What is searched for URNs, UTF-8 without the escapes of the format, each a text of its own. Empty if only own
    identifiers are asked for."""
    own: Sequence[Own] = ()
    """Its own identifiers, if these are asked for."""


def whole(text: str) -> str:
    """Without halves of surrogate pairs, which some formats can escape and UTF-8 cannot hold."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


class RecordReader(Protocol):
    """Finds the records of one dump. One thread's own."""

    def read(self, buffer: Buffer) -> Iterator[Record | Damaged]:
        """The records in what the buffer gives, in their order; each counts one, also a damaged one.

        Asked again after a loss of octets (`Buffer.resume`), it goes on behind: with what may be the middle of a record.
        """
        ...
