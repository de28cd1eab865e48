r"""The patterns of the rules, as tables of states.

A pattern is a regular expression without backreferences and assertions: literals, `.`, `[...]`, `\d`, groups,
`(?i:...)`, `|`, `* + ? {m,n}`; `regex` reads it in the same way. The groups `(?<lower>...)` and `(?<upper>...)` hold
parts in which case does not matter, and name the preferred one; `(?<check>...)` holds the part whose check digit is
computed. Tables run in linear time, on one string or, compiled, on columns.

>>> automaton("(?<lower>[A-Za-z]+)-.+").fold("FI-Fe1")
'fi-Fe1'
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import regex

EXACT, LOWER, UPPER = range(3)
CASE, CHECKED = 3, 4
"""Bits of the mark of an octet: its case, and whether it is in the part with the check digit."""
_URN_CHARACTERS = range(0x21, 0x7F)
_NO_URN_CHARACTER = 127
_MOST_STATES = 5000
_MOST_WORK = 2_000_000
"""States of the net that may be gone through for all states of an automaton: some seconds. Ours need some thousands."""
_CHANGE = {LOWER: str.lower, UPPER: str.upper}

_TOKEN = regex.compile(
    r"(?P<open>\((?:\?<lower>|\?<upper>|\?<check>|\?i:|\?:)?+(?!\?))|(?P<close>\))|(?P<or>\|)"
    r"|(?P<repeat>(?:[*+?]|\{\d+(?:,\d*)?\})(?![*+?{]))"
    r"|(?P<one>\[\^?(?:\\d|\\\W|[^\\\]])+\]|\\d|\\\W|[^\\\[\](){}*+?|^$])"
)
_COUNTS = {"*": "{0,}", "+": "{1,}", "?": "{0,1}"}

_Octets = frozenset[int]
_Part = Callable[[int], int]
"""Part of a pattern: adds its states to a net behind a state, and returns the state in which the part ends."""


@dataclass(frozen=True, slots=True)
class Automaton:
    """A pattern as a deterministic automaton. State 0 is the dead state, state 1 the first."""

    kinds: bytes
    """The kind of each octet; the pattern does not tell octets of one kind apart."""
    width: int
    """The number of kinds."""
    follow: tuple[int, ...]
    """Next state after state s and an octet of kind k, at index s * width + k."""
    marks: bytes
    """Change of that octet, at the same index: EXACT, LOWER or UPPER, and CHECKED."""
    accepting: bytes
    """1 for each state in which the NSS may end."""
    has_part: bool
    """Whether the pattern names the part with the check digit."""

    def fold(self, nss: str) -> str | None:
        """The NSS in the preferred case, None if it does not fit.

        `columns.py` does the same for whole columns. The hex digits of %HH are in upper case already, and stay so (RFC
        8141 §3.1).
        """
        state, escaped = 1, 0
        out = []
        for character in nss:
            at = state * self.width + self.kinds[min(ord(character), _NO_URN_CHARACTER)]
            state, case = self.follow[at], self.marks[at] & CASE
            escaped = 2 if character == "%" else max(escaped - 1, -1)
            out.append(character if case == EXACT or escaped >= 0 else _CHANGE[case](character))
        return "".join(out) if self.accepting[state] else None

    def part(self, nss: str) -> str:
        """The characters of an NSS that are in the part with the check digit. There may be several parts, or none.

        >>> automaton("[a-z]+:(?<check>[0-9]{4})-(?<check>[0-9]{4})").part("journal:0317-8471")
        '03178471'
        """
        state = 1
        out = []
        for character in nss:
            at = state * self.width + self.kinds[min(ord(character), _NO_URN_CHARACTER)]
            state = self.follow[at]
            if self.marks[at] & CHECKED:
                out.append(character)
        return "".join(out)

    def fits(self, nss: str) -> bytes:
        """For the first 0, 1, 2, … characters of the NSS, 1 if they fit and 0 if not.

        >>> list(automaton("[a-z]+[0-9]").fits("ab12"))
        [0, 0, 0, 1, 0]
        """
        states = [1]
        for character in nss:
            states.append(self.follow[states[-1] * self.width + self.kinds[min(ord(character), _NO_URN_CHARACTER)]])
        return bytes(self.accepting[state] for state in states)


class _Net:
    """A pattern as states and edges, where one octet may lead to several states. State 0 is the first."""

    def __init__(self, text: str) -> None:
        self.edges: list[list[tuple[_Octets, int, int]]] = []
        """Of each state: octets, their mark, the state behind."""
        self.free: list[list[int]] = []
        """For each state, the states that are reached without an octet."""
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
        """The states, and all states that are reached from them without an octet."""
        waiting, found = list(states), set(states)
        while waiting:
            for state in self.free[waiting.pop()]:
                if state not in found:
                    found.add(state)
                    waiting.append(state)
        return frozenset(found)

    def _error(self) -> ValueError:
        return ValueError(f"pattern {self._text!r}, at {self._at}: not of the language")

    def _take(self, kind: str) -> regex.Match[str] | None:
        """The next token, if it is of that kind."""
        token = self._token
        if token is None or token.lastgroup != kind:
            return None
        self._at = token.end()
        self._token = _TOKEN.match(self._text, self._at)
        return token

    def _state(self) -> int:
        if len(self.edges) == _MOST_STATES:
            raise ValueError("a pattern with too many states")
        self.edges.append([])
        self.free.append([])
        return len(self.edges) - 1

    def _choice(self, mark: int, flags: int) -> _Part:
        branches = [self._sequence(mark, flags)]
        while self._take("or"):
            branches.append(self._sequence(mark, flags))

        def add(start: int) -> int:
            end = self._state()
            for branch in branches:
                self.free[branch(start)].append(end)
            return end

        return add

    def _sequence(self, mark: int, flags: int) -> _Part:
        parts: list[_Part] = []
        while part := self._one(mark, flags):
            parts.append(self._repeated(part))
        return lambda start: functools.reduce(lambda state, part: part(state), parts, start)

    def _one(self, mark: int, flags: int) -> _Part | None:
        """The next group, set or character; None at the end of a sequence."""
        if token := self._take("open"):
            mark = _marked(mark, token[0])
            part = self._choice(mark, regex.IGNORECASE if token[0] == "(?i:" else flags)
            if not self._take("close"):
                raise self._error()
            return part
        token = self._take("one")
        if token is None:
            return None
        octets = _octets(token[0], flags)

        def add(start: int) -> int:
            end = self._state()
            self.edges[start].append((octets, mark, end))
            return end

        return add

    def _repeated(self, part: _Part) -> _Part:
        token = self._take("repeat")
        if token is None:
            return part
        first, comma, last = _COUNTS.get(token[0], token[0])[1:-1].partition(",")
        if max(len(first), len(last)) > len(str(_MOST_STATES)):
            raise ValueError("a pattern with too many states")
        least, most = int(first), None if comma and not last else int(last or first)
        if most is not None and most < least:
            raise self._error()

        def add(start: int) -> int:
            for _ in range(least):
                start = part(start)
            end = self._state()
            if most is None:
                self.free[start].append(end)
                self.free[part(end)].append(end)
                return end
            for _ in range(most - least):
                self.free[start].append(end)
                start = part(start)
            self.free[start].append(end)
            return end

        return add


def _marked(mark: int, group: str) -> int:
    """The mark of octets in a group, by its beginning, within one with a mark."""
    if group == "(?<check>":
        return mark | CHECKED
    case = {"(?<lower>": LOWER, "(?<upper>": UPPER}.get(group, mark & CASE)
    return mark & CHECKED | case


@functools.cache
def _octets(one: str, flags: int) -> _Octets:
    """The octets that a set or a character of a pattern stands for."""
    try:
        pattern = regex.compile(one, flags)
    except regex.error as error:
        raise ValueError(f"{one}: {error}") from None
    return frozenset(octet for octet in _URN_CHARACTERS if pattern.fullmatch(chr(octet)))


@functools.cache
def automaton(text: str) -> Automaton:
    """The automaton of a pattern.

    Raises ValueError for a pattern outside the language, and for one in which an octet can be read both inside and
    outside of a group, so that only later octets decide.
    """
    net = _Net(text)
    kinds, members = _kinds(octets for edges in net.edges for octets, _, _ in edges)
    width = len(members)
    states: dict[frozenset[int], int] = {frozenset(): 0, net.closure([0]): 1}
    follow, marks = [0] * width, [EXACT] * width
    waiting = [net.closure([0])]
    work = 0
    for state in waiting:  # grows while it is gone through
        edges = [edge for each in state for edge in net.edges[each]]
        for octet in members:
            taken = [(done, behind) for octets, done, behind in edges if octet in octets]
            behind = net.closure({behind for _, behind in taken})
            work += 1 + len(behind)
            if work > _MOST_WORK:
                raise ValueError("a pattern whose automaton is too large: fewer repetitions with {m,n} make it smaller")
            if behind not in states:
                states[behind] = len(states)
                waiting.append(behind)
            follow.append(states[behind])
            marked = {done for done, _ in taken} or {EXACT}
            if len(marked) > 1:
                raise ValueError(f"pattern {text!r}: what {chr(octet)!r} is, is told only by what comes later")
            marks.append(marked.pop())
    accepting = bytes(net.end in state for state in states)
    has_part = any(mark & CHECKED for mark in marks)
    return Automaton(kinds, width, tuple(follow), bytes(marks), accepting, has_part)


def _kinds(sets: Iterable[_Octets]) -> tuple[bytes, list[int]]:
    """The kind of each octet, and an octet of each kind."""
    distinct = list(set(sets))
    signatures = [tuple(octet in octets for octets in distinct) for octet in range(256)]
    known = list(dict.fromkeys(signatures))
    return bytes(map(known.index, signatures)), [signatures.index(signature) for signature in known]
