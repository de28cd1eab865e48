"""The registry of the formats of records that modules declare, in the order in which they are tried.

The modules load slowly, and the help of the command needs only the names. So a module is loaded when one of its formats
is used.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from urnscan.extensions import extensions
from urnscan.framing.buffer import HEAD, Buffer

if TYPE_CHECKING:
    from urnscan.records.format import Format

# Bytes by which the format of most dumps is recognised.
_FIRST_BYTES = 1 << 12
_MODULES = {
    "mab": "mab",
    "marc": "marc",
    "marcxml": "xml_formats",
    "mrk": "marc_lines",
    "marc-lines": "marc_lines",
    "aleph": "marc_lines",
    "pica-xml": "xml_formats",
    "mods": "xml_formats",
    "dc": "xml_formats",
    "oai": "xml_formats",
    "sru": "xml_formats",
    "onix": "xml_formats",
    "pubmed": "xml_formats",
    "endnote": "xml_formats",
    "json": "json_records",
    "jsonl": "json_records",
    "pica": "pica",
    "pica-plain": "pica",
    "ntriples": "triples",
    "rdf": "triples",
    "ris": "citations",
    "nbib": "citations",
    "ovid": "citations",
    "enw": "citations",
    "ciw": "citations",
    "bibtex": "bibtex",
    "csv": "separated",
    "line": "lines",
}
"""Names of the formats of this package -> the modules that declare them, in the order in which they are tried."""
# Formats that are recognised, and not read.
_UNREAD = ("mab", "rdf")


class Registry(Mapping[str, "Format"]):
    """Read-only mapping of formats by name, in the order in which they are tried. The module of a format is loaded at
    the first use of the format. An unknown name raises KeyError.
    """

    def __init__(self, loaders: Mapping[str, Callable[[], Format]]) -> None:
        self._loaders = loaders

    def __getitem__(self, name: str) -> Format:
        return self._loaders[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaders)

    def __len__(self) -> int:
        return len(self._loaders)


@functools.cache
def _load(name: str) -> Format:
    formats: tuple[Format, ...] = importlib.import_module(f"urnscan.records.{_MODULES[name]}").FORMATS
    return next(format_ for format_ in formats if format_.name == name)


_LOADERS: Mapping[str, Callable[[], Format]] = {
    # Formats of other packages come first, so that they may read a format that is only recognised here.
    **{point.name: point.load for point in extensions("urnscan.records")},
    **{name: functools.partial(_load, name) for name in _MODULES},
}
_RECOGNISED = Registry(_LOADERS)
FORMATS = Registry({name: load for name, load in _LOADERS.items() if name not in _UNREAD})
"""Formats that are read, by their names in `--record`: those of this package, and those that other packages declare by
an entry point.
"""


@functools.cache
def suffixes() -> frozenset[str]:
    """The suffixes of the names of files in all formats, in lower case, with the dot, such as `.mrc`. Loads the modules
    of all formats.
    """
    return frozenset(suffix for format_ in _RECOGNISED.values() for suffix in format_.suffixes)


def recognise(buffer: Buffer, name: str) -> Format | None:
    """Return the first format that recognises a dump by its first bytes (at most 64 KiB) and its file name `name`, in
    any case; None if none does. It may be a format that is not read (`Format.recipe` says how to convert it). The
    position of the buffer does not change.
    """
    count = _FIRST_BYTES
    while True:
        more = buffer.has(count)
        head = buffer.data[buffer.at : buffer.at + count]
        is_unsure = False
        for format_ in _RECOGNISED.values():
            known = format_.recognise(head, name.lower())
            if known:
                return format_
            is_unsure |= known is None
        if not (more and is_unsure and count < HEAD):
            return None
        count = HEAD


def likely(head: bytes) -> Format | None:
    """Return the likely format of a dump that no format recognises, for a message: the first format whose `trace`
    matches in the first bytes `head`; None if no trace matches.
    """
    return next((format_ for format_ in FORMATS.values() if re.search(format_.trace, head)), None)
