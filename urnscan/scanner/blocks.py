"""The scanner of a stream: bytes in, columns of matches out.

The scanner does not depend on files or Arrow. Its result does not depend on the sizes of blocks: if the end of a block
does not decide about a match, its bytes are scanned again with the next block. The kernel (`kernel.py`) scans a single
block.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.compiled.ascii import AMPERSAND, TILDE
from urnscan.compiled.bytes import ByteArray, Integers, count_lf
from urnscan.compiled.jit import read_only, with_last
from urnscan.scanner.grammar import LOOKAHEAD, Grammar, Rules
from urnscan.scanner.kernel import (
    AT,
    BEGIN,
    COUNTED,
    CUT,
    DOUBT,
    END,
    LEFT_OUT,
    LINE,
    MATCHES,
    REJECT,
    REJECTS,
    SLOTS,
    Block,
    Columns,
    RejectColumns,
    count_components,
    kernel,
)
from urnscan.scanner.multi_byte import MultiByte
from urnscan.scanner.url_context import LOOK_BACK
from urnscan.urn.syntax import TAIL_NONE, get_syntax

# Maximum seconds for which known matches are held back, so that a user who watches the output sees them soon.
_PATIENCE = 0.2
# Bytes that are read at a time: few enough to stay in the processor's cache.
_BLOCK = 1 << 20
# Maximum number of matches in one Matches.
_ROWS = 1 << 16
_RFC8141 = Grammar(get_syntax("rfc8141")).rules


@dataclass(frozen=True, slots=True)
class Rejects:
    """Columns of rejects, in the order of the text. The caller owns all arrays: no later scan changes them.

    A reject is a text that begins like a URN but is not a URN, such as `urn:isbn:` and a space, or a match before text
    that looks like a part of the URN, such as the malformed "%4" in `urn:example:a%4`.
    """

    start: Integers
    """Byte offset of each reject in the stream."""
    line: Integers
    """Line number of each reject: 1 + the number of LF bytes before it in the stream. 0 if lines are not counted."""
    position: npt.NDArray[np.int32]
    """Number of bytes from `start` to the end of a match that ends in an error; -1 if no URN begins at `start`."""
    rest: npt.NDArray[np.uint32]
    """For a match that ends in an error: the next bytes of the reject, at most REST, as a little-endian number; else 0.
    """
    text: ByteArray
    text_offsets: npt.NDArray[np.int32]
    """Reject i is `text[text_offsets[i]:text_offsets[i + 1]]`: from `start` up to a byte of REJECT_ENDS, at most 256
    bytes.
    """

    def __len__(self) -> int:
        return len(self.start)

    def locate(self, starts: Integers, _ends: Integers) -> npt.NDArray[np.int32]:
        """For each reject, the index of the text that contains the reject, if several texts were scanned as a single
        stream. Text i begins at byte offset `starts[i]` of the stream; `starts` is ascending.
        """
        return (np.searchsorted(starts, self.start, side="right") - 1).astype(np.int32)


@dataclass(frozen=True, slots=True)
class Matches:
    """Columns of matches (URNs in a text), in the order of the text. The caller owns all arrays: no later scan changes
    them.
    """

    start: Integers
    """Byte offset of each match in the stream."""
    length: npt.NDArray[np.int32]
    """Number of bytes of each match in the stream."""
    line: Integers
    """Line number of each match: 1 + the number of LF bytes before it in the stream. 0 if lines are not counted."""
    nid_length: npt.NDArray[np.uint8]
    """Number of bytes of the NID of each match, without `urn:`."""
    stop: npt.NDArray[np.int16]
    """The reason why each match ends: the value of the next byte, END (end of the text), or CUT (cut at `max_length`).
    """
    punctuation: npt.NDArray[np.uint8]
    """Number of bytes at the end of each match that `trim` would cut off, at most 255; 0 after trimming."""
    cut_short: npt.NDArray[np.bool_]
    """Whether the text after each match looks like a part of the URN that the syntax does not allow; `stop` has the
    first byte of that text.
    """
    text: ByteArray
    text_offsets: npt.NDArray[np.int32]
    """The spellings, concatenated in `text`: match i is `text[text_offsets[i]:text_offsets[i + 1]]`."""
    canonical: ByteArray
    canonical_offsets: npt.NDArray[np.int32]
    """The lexical canonical forms, stored in the same way."""
    host: ByteArray
    host_offsets: npt.NDArray[np.int32]
    """The hosts of the URLs around the matches, in lower case, without user and port, stored in the same way; empty for
    a match outside of URLs.
    """
    via: ByteArray
    """The view (decoding) that found each match: the index in `views.kinds.KINDS` plus 1; 0 for a literal match."""
    rejects: Rejects | None = None
    """The rejects, texts that are nearly URNs; None if the Grammar does not request them, and in the Matches of a
    RecoveringScanner that have matches. With rejects, a Matches may have no match.
    """

    def __len__(self) -> int:
        return len(self.start)

    def locate(self, starts: Integers, ends: Integers) -> npt.NDArray[np.int32]:
        """For each match, the index of the text that contains the match, if several texts were scanned as a single
        stream.

        Text i is the bytes from `starts[i]` up to, not including, `ends[i]` of the stream; a separator follows it.
        Changes `stop` in place: a match that ends at the end of its text gets END, as if the stream ended there.
        """
        numbers = (np.searchsorted(starts, self.start, side="right") - 1).astype(np.int32)
        self.stop[(self.start + self.length == ends[numbers]) & (self.stop != CUT)] = END
        return numbers


class OtherReadings(NamedTuple):
    """Numbers of matches that other options would change, and of matches after which text follows that looks like a
    part of the URN.
    """

    trimmable: int
    """Matches that `trim` would change."""
    components_in_names: int
    """Matches whose names contain components of RFC 8141; 0 except in rfc2141."""
    longer_in_rfc8141: int
    """Matches after which the name goes on with `~` or `&` by RFC 8141; 0 except in rfc2141."""
    cut_short: int
    """Other matches that are followed by text that looks like a part of the URN: a letter beyond ASCII, a dash, a bare
    "?".
    """

    @classmethod
    def of(cls, matches: Matches, grammar: Grammar) -> OtherReadings:
        """Count the matches of each kind in `matches`, which a scanner with `grammar` found. `trimmable` is 0 if they
        are trimmed already.
        """
        stops = matches.stop[matches.cut_short]
        components = longer = 0
        if grammar.syntax.tail == TAIL_NONE:
            components = int(count_components(read_only(matches.text), read_only(matches.text_offsets), _RFC8141))
            longer = int(np.count_nonzero((stops == TILDE) | (stops == AMPERSAND)))
        return cls(int(np.count_nonzero(matches.punctuation)), components, longer, len(stops) - longer)


class BufferedText(NamedTuple):
    """The part of a text that is in memory."""

    data: ByteArray
    """The bytes, read-only. They are valid until the next read."""
    base: int
    """Byte offset of `data` in the text."""
    decided: int
    """Byte offset in the text up to which all matches are known."""
    lines: int
    """Number of LF bytes before `decided`."""


class Scanner:
    """Scanner of texts, each after the other, with the same buffers, in a single thread.

    After a scan, `byte_count` is the number of bytes read, and `lines` the number of LF bytes among them (0 if the
    grammar does not count lines). `left_out` is the number of matches, in all scans so far, that `nid` or `not_nid`
    left out.

    A caller that also searches the text itself finds the bytes in memory in `buffered`, at each Matches and after a
    failed read. The caller sets `keep_from`, during a scan, to the first byte offset in the text that must stay in
    memory.
    """

    def __init__(self, grammar: Grammar, block: int = _BLOCK, rows: int = _ROWS) -> None:
        """`block` is the number of bytes read at a time, `rows` the maximum number of matches in a Matches; both are at
        least 1.
        """
        self.grammar = grammar
        self.byte_count = self.lines = self.left_out = 0
        self.buffered = BufferedText(read_only(np.empty(0, np.uint8)), 0, 0, 0)
        self.keep_from = sys.maxsize
        self.rules = grammar.rules
        self.multi_byte = MultiByte()
        """Decides whether a letter before a name is the end of a character of several bytes. Initially no encoding is
        known.
        """
        self._block = block
        # Only streams need a buffer.
        self._buffer = np.empty(0, np.uint8)
        text = max(grammar.max_length, 64 * rows)
        self._columns = Columns(
            *_room(rows, ("i8", "i4", "i8", "u1", "i2", "u1", "?"), (text, text, LOOK_BACK + 16 * rows))
        )
        rows = rows if grammar.rejects else 0
        self._rejects = RejectColumns(*_room(rows, ("i8", "i8", "i4", "u4"), (REJECT + 64 * rows,)))
        self._state = np.zeros(SLOTS, np.int64)
        self._kernel = self._kernel_by(self.rules)

    def scan_bytes(self, data: ByteArray) -> Iterator[Matches]:
        """Yield the matches (and rejects) of a whole text in memory, in the order of the text. Each Matches has at
        least one match or reject; a text without any yields nothing.
        """
        self._begin()
        data, done = read_only(data), False
        while not done:
            done = self._advance(self._kernel, Block(data, len(data), True), 0)
            if done:
                self._finish(data, 0)
            if self._has_rows():
                yield self._take_rows()

    def scan(self, read_into: Callable[[memoryview], int], *, after_each: bool = False) -> Iterator[Matches]:
        """Yield the matches (and rejects) of a stream, with their places in it.

        `read_into(view)` fills the beginning of a writable view of bytes and returns the number of bytes; 0 means the
        end. If it fills less than the view, or if the last Matches is a fifth of a second old, the known matches are
        yielded at once; else when many are known. A Matches has at least one match or reject, but with `after_each` one
        is yielded after each read, perhaps empty. Raises the errors of `read_into`, after yielding the matches that are
        known by then.
        """
        # A match is decided at most 2 * max_length bytes after its start: a list is cut at its separator and matched
        # again. The bytes before the match decide whether it may begin there, and whether it is in a URL.
        if not len(self._buffer):
            undecided = max(2 * self.grammar.max_length + LOOKAHEAD, self.grammar.max_length + REJECT)
            self._buffer = np.empty(LOOK_BACK + undecided + self._block, np.uint8)
        buffer, state, find = self._buffer, self._state, self._kernel
        self._begin()
        base = filled = 0
        last_yield = monotonic()
        failure: Exception | None = None
        while True:
            room = min(len(buffer) - filled, self._block)
            try:
                count = read_into(buffer.data[filled : filled + room])
            except Exception as error:  # noqa: BLE001 (raised again below)
                # A URN that reaches the end of the bytes is incomplete and does not count; earlier URNs count. A reject
                # that reaches the end is dropped, so that matches after its beginning are found.
                failure, count, find = error, 0, self._kernel_by(self.rules._replace(rejects=False, tells_cuts=False))
            filled += count
            data, done = read_only(buffer[:filled]), False
            while not done:
                done = self._advance(find, Block(data, filled, not count and failure is None), base)
                if done and not count:
                    self._finish(data, base)
                is_due = not done or count < self._block or monotonic() - last_yield > _PATIENCE
                if after_each or (is_due and self._has_rows()):
                    yield self._take_rows()
                    last_yield = monotonic()
            if failure is not None:
                raise failure
            if not count:
                return
            keep_from = max(0, min(int(state[AT]) - LOOK_BACK, self.keep_from - base))
            if filled - keep_from + self._block > len(buffer):
                self._buffer = buffer = np.concatenate([buffer, np.empty(len(buffer), np.uint8)])
            if keep_from:
                buffer[: filled - keep_from] = buffer[keep_from:filled].copy()
                base += keep_from
                filled -= keep_from
                state[[AT, COUNTED, BEGIN]] -= keep_from

    def _begin(self) -> None:
        self.keep_from = sys.maxsize
        self._state[:] = 0
        self._state[[DOUBT, BEGIN]] = -1
        self.multi_byte.begin()
        self._state[LINE] = 1
        self.byte_count = self.lines = 0

    def _kernel_by(self, rules: Rules) -> Callable[[Block], bool]:
        return with_last(kernel, self._state, rules, self._columns, self._rejects)

    def _advance(self, find: Callable[[Block], bool], block: Block, base: int) -> bool:
        """Run the kernel (`find`) on a block at byte offset `base` of the text. Returns whether the block is done; if
        not, the columns are full: empty them and call it again.
        """
        state = self._state
        matches, rejects = int(state[MATCHES]), int(state[REJECTS])
        done = bool(find(block))
        while (at := int(state[DOUBT])) >= 0:
            state[DOUBT] = -1
            begins = self.multi_byte.ends_at(block.data, at, base)
            state[BEGIN if begins else AT] = at if begins else at + 1
            done = bool(find(block))
        self._columns.start[matches : state[MATCHES]] += base
        self._rejects.start[rejects : state[REJECTS]] += base
        self.left_out += int(state[LEFT_OUT])
        state[LEFT_OUT] = 0
        self.buffered = BufferedText(block.data, base, base + int(state[AT]), int(state[LINE]) - 1)
        return done

    def _finish(self, data: ByteArray, base: int) -> None:
        self.byte_count = base + len(data)
        self.lines = int(self._state[LINE]) - 1
        if self.grammar.count_lines:
            self.lines += count_lf(data, int(self._state[COUNTED]), len(data))

    def _has_rows(self) -> bool:
        return bool(self._state[MATCHES] or self._state[REJECTS])

    def _take_rows(self) -> Matches:
        count, text, canonical, host, reject_count, reject_text = self._state[MATCHES:].tolist()
        self._state[MATCHES:] = 0
        rejects = Rejects(**_contents(self._rejects, reject_count, (reject_text,))) if self.grammar.rejects else None
        matches = _contents(self._columns, count, (text, canonical, host))
        return Matches(**matches, via=np.zeros(count, np.uint8), rejects=rejects)


def _room(rows: int, kinds: Sequence[str], texts: Sequence[int]) -> Iterator[npt.NDArray[Any]]:
    yield from (np.empty(rows, kind) for kind in kinds)
    for size in texts:
        yield np.empty(size, np.uint8)
        yield np.zeros(rows + 1, np.int32)


def _contents(columns: Columns | RejectColumns, rows: int, used: Sequence[int]) -> dict[str, Any]:
    sizes = [rows] * (len(columns) - 2 * len(used))
    for data in used:
        sizes += [data, rows + 1]
    arrays: dict[str, npt.NDArray[Any]] = columns._asdict()
    return {name: array[:size].copy() for (name, array), size in zip(arrays.items(), sizes, strict=True)}
