"""The grammar of a scan: the options, the longest URN at a place, and the part that `--trim` keeps; compiled.

The function `match` serves all syntaxes. It uses the tables of byte roles in `urn/syntax.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from urnscan.compiled.ascii import AMPERSAND, COLON, EQUALS, HASH, HYPHEN, PERCENT, PLUS, QUESTION_MARK, is_letter
from urnscan.compiled.bytes import ByteArray, is_urn, may_hold
from urnscan.compiled.jit import inlined, inner
from urnscan.errors import ArgumentError, option
from urnscan.scanner.url_context import URL_BYTES
from urnscan.urn.prefix_filter import Beginnings, begins, compiled_beginnings, read_beginnings
from urnscan.urn.syntax import (
    ALNUM,
    COMPONENT,
    HEX,
    LDH,
    NSS,
    NSS_FIRST,
    QUERY,
    TAIL_COMPONENTS,
    TAIL_NONE,
    VALUE,
    Syntax,
)
from urnscan.urn.trim import CLOSES, LIST_SEPARATORS, QUOTATION_MARK, end_without_closing, may_be_cut
from urnscan.urn.trim import separator as any_separator

MAX_LENGTH = 65_536
"""Default of `max_length`, the maximum number of bytes of a match."""
LONGEST = 1 << 28
"""Maximum value of `max_length`. The buffers need twice as many bytes."""

REJECT_ENDS = bytes((*range(33), *b'"<>', *range(127, 256)))
"""Bytes that end the text of a reject, and that no URN contains: white space, control bytes, `"<>`, non-ASCII bytes."""

DELIMITERS = "‡ǂ".encode()
"""Bytes of the subfield delimiters that have more than one byte. Each of these bytes ends a URN."""

LOOKAHEAD = 5
"""The length of "?+%HH". Whether a URN ends before a "%" or "?" depends on at most this number of bytes."""

# Numba compiles a function again for each literal Python number among its arguments, but only once for NumPy numbers.
_NSS, _COMPONENT, _QUERY, _VALUE = np.array([NSS, COMPONENT, QUERY, VALUE], np.uint8)
_PLUS, _EQUALS = np.array([PLUS, EQUALS], np.uint8)
_COMMA, _SEMICOLON, _AMPERSAND = np.array(LIST_SEPARATORS, np.uint8)

IS_CLOSING = np.frombuffer(CLOSES, np.uint8)
"""For each byte, whether it is punctuation that closes a sentence or a bracket."""

ResolverTail = Literal["keep", "cut"]


@dataclass(frozen=True, slots=True)
class Grammar:
    """A syntax, and the options that decide which URNs a scan finds.

    Raises ArgumentError for an invalid value of an option. The prefixes in `nid` and `not_nid` are normalised:
    `URN:ISBN:` becomes `isbn`.
    """

    syntax: Syntax
    max_length: int = MAX_LENGTH
    """Maximum bytes of a match; a longer match is cut."""
    trim: bool = False
    """Whether closing punctuation, and the rest of a list (`,urn:…`), is cut off the end of a match."""
    resolver_tail: ResolverTail = "keep"
    """With "cut", a match inside a URL ends where the rest of the URL begins (its query or fragment); with "keep", the
    match goes on.
    """
    keep_query: bool = False
    """Whether canonical forms keep the query of rfc2141bis-03 (§5, step 5b). The directives are sorted later."""
    count_lines: bool = True
    """Whether `Matches.line` is set; else all line numbers are 0. Counting lines costs a pass over all bytes."""
    rejects: bool = False
    """Whether `Matches.rejects` is set: texts that begin like a URN but are not URNs, and matches that end in an
    error.
    """
    nid: tuple[str, ...] = ()
    """Prefixes of the names to keep, such as `nbn:de`; empty: all names."""
    not_nid: tuple[str, ...] = ()
    """Prefixes of the names to leave out, even if `nid` keeps them."""

    def __post_init__(self) -> None:
        # A string such as "no" would count as true.
        if self.trim not in (True, False):
            raise ArgumentError(f"trim must be True or False, not {self.trim!r}")
        if not isinstance(self.max_length, int | np.integer):
            raise ArgumentError(f"max_length must be an integer, not {self.max_length!r}")
        if self.max_length < 1:
            raise ArgumentError(f"{option('max_length', None)} must be at least 1")
        if self.max_length > LONGEST:
            raise ArgumentError(f"{option('max_length', None)} must be at most {LONGEST:,}")
        if self.resolver_tail not in get_args(ResolverTail):
            raise ArgumentError(
                f"resolver_tail must be {' or '.join(get_args(ResolverTail))}, not {self.resolver_tail!r}"
            )
        for name in ("nid", "not_nid"):
            object.__setattr__(self, name, read_beginnings(option(name, None), getattr(self, name), self.syntax))

    @property
    def separators(self) -> bytes:
        """Bytes at which a text can be split without splitting a match, in ascending order: no URN, no URL, no MARC
        delimiter `‡` or `ǂ` and, with `rejects`, no reject contains them.
        """
        separators = bytes(byte for byte in self.syntax.separators if byte not in URL_BYTES and byte not in DELIMITERS)
        return bytes(byte for byte in separators if byte in REJECT_ENDS) if self.rejects else separators

    @property
    def rules(self) -> Rules:
        """The grammar as a tuple for compiled code; a new one at each access."""
        syntax = self.syntax
        return Rules(
            np.frombuffer(syntax.data, np.uint8),
            syntax.nid_min,
            syntax.nid_may_end_in_hyphen,
            syntax.tail,
            self.max_length,
            self.trim,
            self.resolver_tail == "cut",
            # In RFC 8141 a "?" in a URN begins a component ("?+" or "?="), so it belongs to the URN (§2.3).
            ord("#" if syntax.tail == TAIL_COMPONENTS else "?"),
            self.keep_query,
            self.count_lines,
            self.rejects,
            True,
            bool(self.nid or self.not_nid),
            compiled_beginnings(self.nid),
            compiled_beginnings(self.not_nid),
        )


class Rules(NamedTuple):
    """A Grammar and its `syntax` as a tuple for compiled code. Fields without a text have the meaning of the same field
    of Grammar (`trim`, `rejects`) or of Syntax (`nid_min`, `tail`: what may follow the NSS).
    """

    roles: ByteArray
    """The roles of each of the 256 bytes: `Syntax.data`."""
    nid_min: int
    hyphen_ends_nid: bool
    """Whether a NID may end in a hyphen."""
    tail: int
    max_length: int
    trim: bool
    cut_tail: bool
    """Whether `resolver_tail` is "cut"."""
    path_mark: int
    """With `cut_tail`, the byte that, in addition to "#", ends a URN in the path of a URL."""
    keep_query: bool
    count_lines: bool
    rejects: bool
    tells_cuts: bool
    """Whether the kernel looks whether the text after a match makes the match cut short. If not, it needs only the
    bytes that decide where the match ends.
    """
    filters_names: bool
    """Whether `nid` or `not_nid` leaves out names."""
    nid: Beginnings
    not_nid: Beginnings


@inner
def match(data: ByteArray, start: int, limit: int, rules: Rules) -> tuple[int, int, int, bool]:
    """Find the longest URN that begins with the `urn:` at index `start`, in a text that ends at `limit`.

    Returns the index of the colon after the NID, the end of the NSS, the end of the URN with its components (-1: there
    is no URN), and whether bytes from `limit` on could change the result. An end is the index after the last byte.
    Without a URN, the first index is the end of the letters, digits and hyphens (at most 32) after `urn:`.
    """
    roles = rules.roles
    colon = start + 4
    nid = data[colon : min(limit, colon + 32)]
    for i in range(len(nid)):
        if not roles[nid[i]] & LDH:
            colon += i
            break
    else:
        colon += len(nid)
    if colon >= limit:
        return colon, colon, -1, True
    if data[colon] != COLON or not _is_nid(data, start + 4, colon, rules):
        return colon, colon, -1, False
    at = colon + 1
    if at >= limit:
        return colon, at, -1, True
    if not _may_begin(data[at], roles):
        return colon, at, -1, False
    nss_end = _run(data, at, limit, roles, _NSS)
    undecided = _may_go_on(data, nss_end, limit)
    if nss_end == at:
        return colon, nss_end, -1, undecided
    if rules.tail == TAIL_NONE:
        return colon, nss_end, nss_end, undecided

    if rules.tail == TAIL_COMPONENTS:
        end = _component(data, nss_end, limit, roles, _PLUS)
        end = _component(data, end, limit, roles, _EQUALS)
    else:
        end, reaches_limit = _directives(data, nss_end, limit, roles)
        undecided = undecided or reaches_limit
    if end < limit and data[end] == HASH:
        end = _run(data, end + 1, limit, roles, _QUERY)
    return colon, nss_end, end, undecided or _may_go_on(data, end, limit)


@inlined
def separator(data: ByteArray, start: int, colon: int, end: int, whole: bool, rules: Rules) -> int:
    """Index in `data` at which other text begins inside the match `data[start:end]`: a list separator with `urn:` after
    it, a closing `'`, `&quot;`, `&lt;` or `&gt;`; -1 without other text.

    `colon` is the index of the colon after the NID. `whole` is false if the match may go on after `end`.
    """
    is_quoted = start > 0 and data[start - 1] == QUOTATION_MARK
    # Most matches have no separator. A search in whole blocks is faster than a search byte by byte.
    if (
        is_quoted
        or may_hold(data, colon + 1, end, _COMMA, _SEMICOLON)
        or (rules.tail != TAIL_NONE and may_hold(data, colon + 1, end, _AMPERSAND, _AMPERSAND))
    ):
        return any_separator(data, start, colon, end, whole)
    return -1


@inlined
def trim(data: ByteArray, start: int, parts: tuple[int, int, int], rules: Rules) -> tuple[int, int, int]:
    """Calculate where the match that begins at index `start` ends after trimming: without a following item of a list,
    and without closing punctuation. Changes nothing. `parts` are the index of the colon after the NID, the end of the
    NSS, and the end of the match, as `match` returns them.

    Returns the index at which other text begins inside the match, such as the next item of a list (the end of the match
    if there is none); the new end of the NSS; and the new end of the match (-1: no URN is left).
    """
    colon, nss_end, end = parts
    item_end = end
    at = separator(data, start, colon, end, True, rules)
    if at != -1:
        item_end = at
        _, nss_end, end, _ = match(data, start, item_end, rules)
    if end != -1 and may_be_cut(data, end, IS_CLOSING):
        nss_end, end = _trimmed(data, start, end, rules)
    return item_end, nss_end, end


@inner
def _trimmed(data: ByteArray, start: int, end: int, rules: Rules) -> tuple[int, int]:
    """The ends of the NSS and of the match `data[start:end]` without closing punctuation. The second is -1 if no URN is
    left.
    """
    while True:
        kept = end_without_closing(data, start, end, IS_CLOSING)
        _, nss_end, again, _ = match(data, start, kept, rules)
        if again == -1 or again == end:
            return nss_end, again
        end = again


@inner
def is_selected(data: ByteArray, start: int, end: int, rules: Rules) -> bool:
    """Whether the options `nid` and `not_nid` keep the match `data[start:end]`: its name begins, in any case, with a
    prefix in `nid` (or `nid` is empty), and with none in `not_nid`. A prefix is a NID, or more of the name (`nbn:de`).
    """
    start += 4
    if len(rules.nid.ends) and not begins(data, start, end, rules.nid):
        return False
    return not begins(data, start, end, rules.not_nid)


@inner
def may_be_selected(data: ByteArray, start: int, end: int, rules: Rules) -> bool:
    """Whether the options `nid` and `not_nid` keep the text `data[start:end]`, which begins with `urn:` but may be no
    URN: True for a text without a NID; else the name must begin with a prefix in `nid` (or `nid` is empty), and with
    none in `not_nid`.
    """
    colon, _, _, _ = match(data, start, end, rules)
    has_nid = colon < end and data[colon] == COLON and _is_nid(data, start + 4, colon, rules)
    return not has_nid or is_selected(data, start, end, rules)


@inlined
def _is_nid(data: ByteArray, start: int, end: int, rules: Rules) -> bool:
    """Whether the letters, digits and hyphens `data[start:end]` are a NID; "urn" is reserved."""
    if end - start < rules.nid_min or data[start] == HYPHEN:
        return False
    if data[end - 1] == HYPHEN and not rules.hyphen_ends_nid:
        return False
    return end - start != 3 or not is_urn(data, start)


@inlined
def _may_begin(byte: int, roles: ByteArray) -> bool:
    return byte == PERCENT or roles[byte] & NSS_FIRST != 0


@inner
def _run(data: ByteArray, at: int, limit: int, roles: ByteArray, role: np.uint8) -> int:
    """The end of the run of characters with this role (a bit) from index `at` on. A well-formed %HH has every role."""
    rest = data[at:limit]
    for i in range(len(rest)):
        byte = rest[i]
        # Hex digits have every role, so only the "%" of a %HH needs a look at the next bytes.
        if not roles[byte] & role and not (
            byte == PERCENT and i + 2 < len(rest) and roles[rest[i + 1]] & HEX and roles[rest[i + 2]] & HEX
        ):
            return at + i
    return limit


@inner
def _may_go_on(data: ByteArray, end: int, limit: int) -> bool:
    return end == limit or (end + LOOKAHEAD > limit and (data[end] == PERCENT or data[end] == QUESTION_MARK))


@inner
def _component(data: ByteArray, start: int, limit: int, roles: ByteArray, kind: np.uint8) -> int:
    """The end of the r-component (`kind` is "+") or q-component ("=") that begins at `start`; `start` if there is none."""
    first = start + 2
    if first >= limit or data[start] != QUESTION_MARK or data[start + 1] != kind:
        return start
    if not _may_begin(data[first], roles):
        return start
    role = _COMPONENT if kind == PLUS else _QUERY
    end = _run(data, first, limit, roles, role)
    if end == first:
        return start
    # A "?" belongs to the r-component, unless "?=" begins the q-component.
    if kind == PLUS:
        while end < limit and data[end] == QUESTION_MARK and not (end + 1 < limit and data[end + 1] == EQUALS):
            end = _run(data, end + 1, limit, roles, role)
    return end


@inner
def _directives(data: ByteArray, start: int, limit: int, roles: ByteArray) -> tuple[int, bool]:
    """The end of the query that begins at `start` (`start` if there is none), and whether bytes from `limit` on may
    make a directive (`name=value`) of the text before them. A value that reaches `limit` ends there.
    """
    undecided = False
    end = start
    mark = QUESTION_MARK
    while end < limit and data[end] == mark:
        at, reaches_limit = _directive(data, end + 1, limit, roles)
        undecided = undecided or reaches_limit
        if at == -1:
            break
        end, mark = at, AMPERSAND
    return end, undecided


@inner
def _directive(data: ByteArray, at: int, limit: int, roles: ByteArray) -> tuple[int, bool]:
    """The end of the directive (`name=value`) that begins at `at` (-1 if there is none), and whether bytes from `limit`
    on may make it one.
    """
    if at >= limit:
        return -1, True
    if not is_letter(data[at]):
        return -1, False
    at += 1
    while at < limit and (
        roles[data[at]] & ALNUM or (data[at] == HYPHEN and at + 1 < limit and roles[data[at + 1]] & ALNUM)
    ):
        at += 1
    if at + 1 >= limit:
        return (at + 1 if at < limit and data[at] == EQUALS else -1), True
    if data[at] != EQUALS:
        return -1, False
    return _run(data, at + 1, limit, roles, _VALUE), False
