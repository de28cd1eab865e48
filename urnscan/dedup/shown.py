"""Records as pages show them: the beginning of their text, and the spellings of the names in it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from urnscan.arrays.arrow import string_array
from urnscan.dedup.policy import Policy
from urnscan.dedup.second_reading import Dump
from urnscan.framing.buffer import Buffer
from urnscan.records.identifiers import as_text
from urnscan.records.keys import KeyReader
from urnscan.records.record import Record
from urnscan.run.options import Options
from urnscan.scanner.views import make_scanner
from urnscan.tables.rows import canonical_column

READ = 1 << 16
"""Octets read of a record that is shown."""
_EXCERPT = 3_000  # characters shown of it


class Excerpt(NamedTuple):
    """The beginning of a record."""

    text: str
    rest: int
    """Octets that are left out."""
    spellings: list[tuple[str, str]]
    """Spellings of URNs and keys in it, each with its canonical form."""


class Excerpts:
    """Makes excerpts of records, as the options of a run say what counts as a name."""

    def __init__(self, options: Options, policy: Policy) -> None:
        self._scanner = make_scanner(options.grammar(count_lines=False), options.recover)
        self._level = options.level
        self._fields = policy.fields
        self._keys = policy.keys if policy.has_keys else None

    def of(self, dump: Dump, octets: bytes, length: int) -> Excerpt:
        """The excerpt of a record with so many octets, of which the first are given."""
        text = dump.format.show(octets)
        rest = length - len(octets) + len(text[_EXCERPT:].encode("utf-8", "replace"))
        return Excerpt(text[:_EXCERPT], rest, list(dict.fromkeys(self._spellings(dump, octets))))

    def _spellings(self, dump: Dump, octets: bytes) -> Iterator[tuple[str, str]]:
        """Find the spellings in the octets of a record, each with its canonical form."""
        yield from self._literal(octets)
        if not (self._fields or self._keys):
            return
        # Native identifiers are not marked in a record that cannot be read without its wrapper.
        reader = dump.format.open(own=True, keys=bool(self._keys))
        key_reader = KeyReader(self._keys or (), 0)
        for record in reader.read(Buffer(io.BytesIO(octets).readinto)):
            for own in record.own if isinstance(record, Record) else ():
                for _, urn in self._literal((as_text(own) or "").encode() if self._fields else b""):
                    yield own.text.strip(), urn
                yield from ((own.text.strip(), key) for key in key_reader.of_own(own))

    def _literal(self, octets: bytes) -> Iterator[tuple[str, str]]:
        for matches in self._scanner.scan_octets(np.frombuffer(octets, np.uint8)):
            forms = canonical_column(matches, self._level).to_pylist()
            yield from zip(string_array(matches.text, matches.text_offsets).to_pylist(), forms, strict=True)
