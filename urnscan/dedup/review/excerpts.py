"""Records prepared for pages: the start of their text, and the spellings of names in the text."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from urnscan.compiled.arrow import bytes_array, string_array
from urnscan.dedup.policy import Policy
from urnscan.dedup.reread import Dump
from urnscan.framing.buffer import Buffer
from urnscan.framing.lines import Damaged
from urnscan.records.fields import Own
from urnscan.records.identifiers import as_text
from urnscan.records.keys import KeyReader
from urnscan.records.record_columns import read_columns
from urnscan.run.options import Options
from urnscan.scanner.scanners import make_scanner
from urnscan.tables.rows import canonical_column
from urnscan.tables.scanned_columns import scan_values

READ = 1 << 16
"""Maximum number of bytes that are read of a record that is shown."""
# Characters that are shown of a record.
_EXCERPT = 3_000


class Excerpt(NamedTuple):
    """The start of a record, prepared for a page that shows the record."""

    text: str
    """The first characters of the record, at most 3,000, as the format shows a record to people."""
    rest: int
    """About how many bytes of the record are left out."""
    spellings: list[tuple[str, str]]
    """URNs and keys in the first 64 KiB of the record: how each is written there, and its canonical form."""


class Beginning(NamedTuple):
    """The first bytes of a record, from which an excerpt is made."""

    dump: Dump
    """The dump that contains the record."""
    data: bytes
    """At most READ bytes from the start of the record."""
    length: int
    """Bytes of the whole record."""


class Excerpts:
    """Makes excerpts (the start of the text) of records for a page. The options of a run decide which URNs and keys are
    in `Excerpt.spellings`.
    """

    def __init__(self, options: Options, policy: Policy) -> None:
        self._scanner = make_scanner(options.grammar(count_lines=False), options.recover)
        self._level = options.level
        self._has_keys = policy.has_keys
        self._key_reader = KeyReader(policy.keys if policy.has_keys else (), 0)

    def of(self, records: Sequence[Beginning]) -> list[Excerpt]:
        """Return the excerpts of records, in their order."""
        spellings: list[list[tuple[str, str]]] = [[] for _ in records]
        texts = [data for _, data, _ in records]
        owner: list[tuple[int, str | None]] = [(at, None) for at in range(len(records))]
        """For each text, the index of the record, and the spelling of the name in the record; None if the text has the
        spelling.
        """
        for at, record in enumerate(records):
            for own in self._own(record):
                written = own.text.strip()
                if record.dump.own and (text := as_text(own)):
                    texts.append(text.encode())
                    owner.append((at, written))
                spellings[at] += ((written, key) for key in self._key_reader.of_own(own))
        for hits in scan_values(self._scanner, bytes_array(texts)):
            names = canonical_column(hits.matches, self._level).to_pylist()
            spelled = string_array(hits.matches.text, hits.matches.text_offsets).to_pylist()
            for value, text, name in zip(hits.value.tolist(), spelled, names, strict=True):
                at, spelling = owner[value]
                spellings[at].append((text if spelling is None else spelling, name))
        return [_excerpt(record, of_record) for record, of_record in zip(records, spellings, strict=True)]

    def _own(self, record: Beginning) -> Iterator[Own]:
        """Yield the record-level identifiers that count in a record; none if it cannot be read without the wrapper of
        the dump.
        """
        if not (record.dump.own or self._has_keys):
            return
        reader = record.dump.format.reader(own=True, keys=self._has_keys)
        items = [
            item for item in reader.find(Buffer(io.BytesIO(record.data).readinto)) if not isinstance(item, Damaged)
        ]
        for own in read_columns(reader, items).own_of_each():
            yield from own


def _excerpt(record: Beginning, spellings: Sequence[tuple[str, str]]) -> Excerpt:
    text = record.dump.format.show(record.data)
    rest = record.length - len(record.data) + len(text[_EXCERPT:].encode("utf-8", "replace"))
    # A qualifier in a subfield of its own (`$q pbk.`) is in brackets in the identifier, and not in the text.
    bare = ((spelling.partition(" (")[0], name) for spelling, name in spellings)
    return Excerpt(text[:_EXCERPT], rest, list(dict.fromkeys([*spellings, *bare])))
