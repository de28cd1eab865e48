r"""The patterns of rules, compiled to tables of states.

A pattern is a regular expression without backreferences and assertions: literals, `.`, `[...]`, `\d`, groups,
`(?i:...)`, `|`, `* + ? {m,n}`; the package `regex` reads a pattern in the same way. The groups `(?<lower>...)` and
`(?<upper>...)` mark parts in which case does not matter, and name the preferred case; `(?<check>...)` marks the part
whose check digit is computed. No pattern fits a name with `?` or `#`. A table runs in linear time. The functions on
bytes are called in plain Python for one NSS, and compiled for columns.

>>> automaton("(?<lower>[A-Za-z]+)-.+").fold("FI-Fe1")
'fi-Fe1'
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import regex

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from urnscan.compiled.bytes import ByteArray

    _Tables: TypeAlias = tuple[ByteArray | bytes, npt.NDArray[np.uint32] | tuple[int, ...], ByteArray | bytes]
    """The kinds, next states and marks of one automaton, or of several."""

EXACT, LOWER, UPPER = range(3)
CASE, CHECKED = 3, 4
"""Bits of the mark of a byte: its preferred case, and whether the byte is in the part with the check digit."""
# No rule is applied to a name with "?" or "#": RFC 2141 reserves them (§2.3.2), in RFC 8141 they begin components.
_RULE_CHARACTERS = frozenset(range(0x21, 0x7F)) - frozenset(b"?#")
_NO_URN_CHARACTER = 127
_MAX_STATES = 5000
_MAX_WORK = 2_000_000
"""Maximum number of NFA states that are visited to make one automaton; reaching it takes some seconds. The registered
patterns need some thousands.
"""
_CAPITAL_A, _SMALL_A, _PERCENT = b"Aa%"
# The bit in which upper and lower case of a letter differ.
_CASE_BIT = 32

_TOKEN = regex.compile(
    r"(?P<open>\((?:\?<lower>|\?<upper>|\?<check>|\?i:|\?:)?+(?!\?))|(?P<close>\))|(?P<or>\|)"
    r"|(?P<repeat>(?:[*+?]|\{\d+(?:,\d*)?\})(?![*+?{]))"
    r"|(?P<one>\[\^?(?:\\d|\\\W|[^\\\]])+\]|\\d|\\\W|[^\\\[\](){}*+?|^$])"
)
_COUNTS = {"*": "{0,}", "+": "{1,}", "?": "{0,1}"}

_Bytes = frozenset[int]
_Fragment = Callable[[int], int]
"""A piece of a pattern: a function that adds states after a given state of an NFA, and returns the last state."""


@dataclass(frozen=True, slots=True)
class Automaton:
    """A pattern of NSS as a deterministic automaton. States are multiples of `width`: 0 is the dead state, `width` the
    initial one. After a byte of kind `k = kinds[byte]` in state `s`, the next state is `follow[s + k]`. An NSS fits if
    it ends in a state with `accepting[s // width] == 1`.
    """

    kinds: bytes
    """For each of the 256 bytes, the number of its kind. The pattern treats bytes of the same kind alike."""
    width: int
    """The number of kinds."""
    follow: tuple[int, ...]
    """Next state after state s and a byte of kind k, at index s + k."""
    marks: bytes
    """At the index of a step in `follow`, the mark of its byte: EXACT, LOWER or UPPER (the preferred case), plus CHECKED
    if the byte is in a group `(?<check>...)`.
    """
    accepting: bytes
    """1 for each state in which the NSS may end, at index s // width."""
    has_part: bool
    """Whether the pattern has a group `(?<check>...)`."""

    def fold(self, nss: str) -> str | None:
        """The NSS with letters changed to the preferred case, where the pattern has one (`(?<lower>...)`); None if the
        NSS does not fit the pattern.
        """
        if not nss.isascii():
            return None
        data = bytearray(nss, "ascii")
        state = fold(data, 0, len(data), self.width, (self.kinds, self.follow, self.marks))
        return data.decode() if self.accepting[state // self.width] else None

    def part(self, nss: str) -> str:
        """The characters of an NSS that are in groups `(?<check>...)`, without gaps; empty if the pattern has no such
        group. The NSS must fit the pattern.

        >>> automaton("[a-z]+:(?<check>[0-9]{4})-(?<check>[0-9]{4})").part("journal:0317-8471")
        '03178471'
        """
        out = bytearray(len(nss))
        length = write_part(nss.encode(), 0, len(nss), self.width, (self.kinds, self.follow, self.marks), out)
        return out[:length].decode()

    def fits(self, nss: str) -> bytes:
        """For each prefix of the NSS (0, 1, 2, … characters), 1 if the prefix fits the pattern, else 0.

        >>> list(automaton("[a-z]+[0-9]").fits("ab12"))
        [0, 0, 0, 1, 0]
        """
        states = [self.width]
        for character in nss:
            states.append(self.follow[states[-1] + self.kinds[min(ord(character), _NO_URN_CHARACTER)]])
        return bytes(self.accepting[state // self.width] for state in states)


def fold(data: ByteArray | bytearray, start: int, end: int, state: int, tables: _Tables) -> int:
    """Run an automaton over `data[start:end]`, an NSS, change its letters in place to the preferred case of the
    pattern, and return the last state. The hex digits of %HH stay unchanged (RFC 8141 §3.1).

    `state` is the initial state, and `tables` are the kinds, next states and marks of the automaton. If the last state
    is not accepting, the NSS does not fit the pattern; letters may be changed all the same.
    """
    kinds, follow, marks = tables
    escaped = 0
    for i in range(start, end):
        byte = data[i]
        at = state + kinds[byte]
        case, state = marks[at] & CASE, follow[at]
        escaped = 3 if byte == _PERCENT else escaped - 1
        if case != EXACT and escaped <= 0:
            first = _CAPITAL_A if case == LOWER else _SMALL_A
            data[i] = byte ^ (_CASE_BIT * (first <= byte < first + 26))
    return state


def write_part(
    data: ByteArray | bytes, start: int, end: int, state: int, tables: _Tables, out: ByteArray | bytearray
) -> int:
    """Copy the bytes of `data[start:end]`, an NSS, that are in groups `(?<check>...)` of a pattern to the beginning of
    `out`, without gaps, and return their number. `out` must have room for `end - start` bytes.

    `state` is the initial state, and `tables` are the kinds, next states and marks of the automaton of the pattern,
    which the NSS must fit.
    """
    kinds, follow, marks = tables
    length = 0
    for i in range(start, end):
        at = state + kinds[data[i]]
        state = follow[at]
        if marks[at] & CHECKED:
            out[length] = data[i]
            length += 1
    return length


class _NFA:
    """A pattern as a nondeterministic automaton: a byte may lead to several states. State 0 is the initial state, `end`
    the accepting one. Raises ValueError for a text that is not a pattern.
    """

    def __init__(self, text: str) -> None:
        self.edges: list[list[tuple[_Bytes, int, int]]] = []
        """The edges of each state, as (bytes, mark, next state)."""
        self.free: list[list[int]] = []
        """For each state, the states that can be reached without a byte."""
        self._text = text
        self._at = 0
        self._token = _TOKEN.match(text)
        try:
            self.end = self._choice(EXACT, 0)(self._state())
        except RecursionError:
            raise ValueError("a pattern with too many groups inside each other") from None
        if self._at < len(text):
            raise self._error()

    def closure(self, states: Iterable[int]) -> frozenset[int]:
        """The states and all that can be reached from them without a byte."""
        pending, reached = list(states), set(states)
        while pending:
            for state in self.free[pending.pop()]:
                if state not in reached:
                    reached.add(state)
                    pending.append(state)
        return frozenset(reached)

    def _error(self) -> ValueError:
        return ValueError(f"pattern {self._text!r}, at {self._at}: not of the language")

    def _take(self, kind: str) -> regex.Match[str] | None:
        """Consume and return the next token, if it is of this kind (a group of _TOKEN)."""
        token = self._token
        if token is None or token.lastgroup != kind:
            return None
        self._at = token.end()
        self._token = _TOKEN.match(self._text, self._at)
        return token

    def _state(self) -> int:
        if len(self.edges) == _MAX_STATES:
            raise ValueError("a pattern with too many states")
        self.edges.append([])
        self.free.append([])
        return len(self.edges) - 1

    def _choice(self, mark: int, flags: int) -> _Fragment:
        branches = [self._sequence(mark, flags)]
        while self._take("or"):
            branches.append(self._sequence(mark, flags))

        def add(start: int) -> int:
            end = self._state()
            for branch in branches:
                self.free[branch(start)].append(end)
            return end

        return add

    def _sequence(self, mark: int, flags: int) -> _Fragment:
        fragments: list[_Fragment] = []
        while fragment := self._one(mark, flags):
            fragments.append(self._repeated(fragment))
        return lambda start: functools.reduce(lambda state, fragment: fragment(state), fragments, start)

    def _one(self, mark: int, flags: int) -> _Fragment | None:
        """The next group, set or character; None at the end of a sequence."""
        if token := self._take("open"):
            mark = _marked(mark, token[0])
            group = self._choice(mark, regex.IGNORECASE if token[0] == "(?i:" else flags)
            if not self._take("close"):
                raise self._error()
            return group
        token = self._take("one")
        if token is None:
            return None
        data = _bytes(token[0], flags)

        def add(start: int) -> int:
            end = self._state()
            self.edges[start].append((data, mark, end))
            return end

        return add

    def _repeated(self, fragment: _Fragment) -> _Fragment:
        token = self._take("repeat")
        if token is None:
            return fragment
        first, comma, last = _COUNTS.get(token[0], token[0])[1:-1].partition(",")
        if max(len(first), len(last)) > len(str(_MAX_STATES)):
            raise ValueError("a pattern with too many states")
        least, most = int(first), None if comma and not last else int(last or first)
        if most is not None and most < least:
            raise self._error()

        def add(start: int) -> int:
            for _ in range(least):
                start = fragment(start)
            end = self._state()
            if most is None:
                self.free[start].append(end)
                self.free[fragment(end)].append(end)
                return end
            for _ in range(most - least):
                self.free[start].append(end)
                start = fragment(start)
            self.free[start].append(end)
            return end

        return add


def _marked(mark: int, group: str) -> int:
    """The mark of the bytes in a group that is nested in a group with `mark`. `group` is the opening text, such as
    `(?<lower>`.
    """
    if group == "(?<check>":
        return mark | CHECKED
    case = {"(?<lower>": LOWER, "(?<upper>": UPPER}.get(group, mark & CASE)
    return mark & CHECKED | case


@functools.cache
def _bytes(one: str, flags: int) -> _Bytes:
    """The bytes of names that match `one`, a set or a character of a pattern. Raises ValueError if there are none."""
    try:
        pattern = regex.compile(one, flags)
    except regex.error as error:
        raise ValueError(f"{one}: {error}") from None
    data = frozenset(byte for byte in _RULE_CHARACTERS if pattern.fullmatch(chr(byte)))
    if not data:
        raise ValueError(f"{one} fits no character of a name; a name with ? or # is not checked")
    return data


@functools.cache
def automaton(text: str) -> Automaton:
    """The deterministic automaton of a pattern of a rule: a regular expression without backreferences and assertions,
    whose groups `(?<lower>...)`, `(?<upper>...)` and `(?<check>...)` mark parts of a name.

    Raises ValueError for another pattern, for a pattern whose automaton is too large, and if only later bytes decide
    whether a byte is inside or outside of a group.
    """
    nfa = _NFA(text)
    kinds, representatives = _kinds(data for edges in nfa.edges for data, _, _ in edges)
    width = len(representatives)
    initial = nfa.closure([0])
    states: dict[frozenset[int], int] = {frozenset(): 0, initial: 1}
    follow, marks = [0] * width, [EXACT] * width
    pending = [initial]
    work = 0
    # The list grows during the loop.
    for state in pending:
        edges = [edge for nfa_state in state for edge in nfa.edges[nfa_state]]
        for byte in representatives:
            steps = [(mark, target) for data, mark, target in edges if byte in data]
            next_state = nfa.closure({target for _, target in steps})
            work += 1 + len(next_state)
            if work > _MAX_WORK:
                raise ValueError("a pattern whose automaton is too large: fewer repetitions with {m,n} make it smaller")
            if next_state not in states:
                states[next_state] = len(states)
                pending.append(next_state)
            follow.append(states[next_state] * width)
            possible = {mark for mark, _ in steps} or {EXACT}
            if len(possible) > 1:
                raise ValueError(f"pattern {text!r}: what {chr(byte)!r} is depends on later characters")
            marks.append(possible.pop())
    accepting = bytes(nfa.end in state for state in states)
    has_part = any(mark & CHECKED for mark in marks)
    return Automaton(kinds, width, tuple(follow), bytes(marks), accepting, has_part)


def _kinds(sets: Iterable[_Bytes]) -> tuple[bytes, list[int]]:
    """The kind of each of the 256 bytes, and an example byte of each kind. Bytes in the same sets are of one kind."""
    distinct = list(set(sets))
    signatures = [tuple(byte in data for data in distinct) for byte in range(256)]
    kinds = list(dict.fromkeys(signatures))
    return bytes(map(kinds.index, signatures)), [signatures.index(kind) for kind in kinds]
