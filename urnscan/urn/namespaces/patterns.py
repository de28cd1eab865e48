r"""The patterns of the rules, as tables of states.

A pattern is a regular expression without backreferences and assertions: literals, `.`, `[...]`, `\d`, groups,
`(?i:...)`, `|`, `* + ? {m,n}`; `regex` reads a pattern in the same way. The groups `(?<lower>...)` and `(?<upper>...)`
mark parts in which case does not matter, and name the preferred case; `(?<check>...)` marks the part whose check digit is
computed. A table runs in linear time, on one string or, compiled, on columns.

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
"""Bits of the mark of an octet: its preferred case, and whether the octet is in the part with the check digit."""
_URN_CHARACTERS = range(0x21, 0x7F)
_NO_URN_CHARACTER = 127
_MOST_STATES = 5000
_MOST_WORK = 2_000_000
"""Maximum number of NFA states that are visited to make one automaton: some seconds. Our patterns need some thousands."""
_CHANGE = {LOWER: str.lower, UPPER: str.upper}

_TOKEN = regex.compile(
    r"(?P<open>\((?:\?<lower>|\?<upper>|\?<check>|\?i:|\?:)?+(?!\?))|(?P<close>\))|(?P<or>\|)"
    r"|(?P<repeat>(?:[*+?]|\{\d+(?:,\d*)?\})(?![*+?{]))"
    r"|(?P<one>\[\^?(?:\\d|\\\W|[^\\\]])+\]|\\d|\\\W|[^\\\[\](){}*+?|^$])"
)
_COUNTS = {"*": "{0,}", "+": "{1,}", "?": "{0,1}"}

_Octets = frozenset[int]
_Fragment = Callable[[int], int]
"""A piece of a pattern: a function that adds states after a given state of an NFA, and returns the last state."""


@dataclass(frozen=True, slots=True)
class Automaton:
    """A pattern as a deterministic automaton. State 0 is the dead state, state 1 the initial state."""

    kinds: bytes
    """The kind of each octet. The pattern treats octets of the same kind alike."""
    width: int
    """The number of kinds."""
    follow: tuple[int, ...]
    """Next state after state s and an octet of kind k, at index s * width + k."""
    marks: bytes
    """The mark of that octet, at the same index: EXACT, LOWER or UPPER, and CHECKED."""
    accepting: bytes
    """1 for each state in which the NSS may end."""
    has_part: bool
    """Whether the pattern has a group `(?<check>...)`."""

    def fold(self, nss: str) -> str | None:
        """The NSS in the preferred case; None if the NSS does not fit the pattern.

        `judgement_columns.py` does the same for whole columns. The hex digits of %HH are already in upper case, and remain so (RFC
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
        """The characters of an NSS that are in groups `(?<check>...)`. There may be several such groups, or none.

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
        """For each prefix of the NSS (0, 1, 2, … characters), 1 if the prefix fits the pattern, else 0.

        >>> list(automaton("[a-z]+[0-9]").fits("ab12"))
        [0, 0, 0, 1, 0]
        """
        states = [1]
        for character in nss:
            states.append(self.follow[states[-1] * self.width + self.kinds[min(ord(character), _NO_URN_CHARACTER)]])
        return bytes(self.accepting[state] for state in states)


class _NFA:
    """A pattern as a nondeterministic automaton: an octet may lead to several states. State 0 is the initial state."""

    def __init__(self, text: str) -> None:
        self.edges: list[list[tuple[_Octets, int, int]]] = []
        """The edges of each state: octets, their mark, the next state."""
        self.free: list[list[int]] = []
        """For each state, the states that can be reached without an octet."""
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
        """The union of `states` and all states that can be reached from them without an octet."""
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
        """Consume and return the next token, if it is of that kind."""
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
        octets = _octets(token[0], flags)

        def add(start: int) -> int:
            end = self._state()
            self.edges[start].append((octets, mark, end))
            return end

        return add

    def _repeated(self, fragment: _Fragment) -> _Fragment:
        token = self._take("repeat")
        if token is None:
            return fragment
        first, comma, last = _COUNTS.get(token[0], token[0])[1:-1].partition(",")
        if max(len(first), len(last)) > len(str(_MOST_STATES)):
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
    """The mark of the octets in a group, which is nested in a group with `mark`. `group` is the beginning of its text."""
    if group == "(?<check>":
        return mark | CHECKED
    case = {"(?<lower>": LOWER, "(?<upper>": UPPER}.get(group, mark & CASE)
    return mark & CHECKED | case


@functools.cache
def _octets(one: str, flags: int) -> _Octets:
    """The octets that match a set or a character of a pattern."""
    try:
        pattern = regex.compile(one, flags)
    except regex.error as error:
        raise ValueError(f"{one}: {error}") from None
    return frozenset(octet for octet in _URN_CHARACTERS if pattern.fullmatch(chr(octet)))


@functools.cache
def automaton(text: str) -> Automaton:
    """The automaton of a pattern.

    Raises ValueError for a pattern outside the language. Also raises ValueError if an octet can match both inside and
    outside of a group, so that only later octets decide.
    """
    nfa = _NFA(text)
    kinds, representatives = _kinds(octets for edges in nfa.edges for octets, _, _ in edges)
    width = len(representatives)
    states: dict[frozenset[int], int] = {frozenset(): 0, nfa.closure([0]): 1}
    follow, marks = [0] * width, [EXACT] * width
    pending = [nfa.closure([0])]
    work = 0
    # The list grows during the loop.
    for state in pending:
        edges = [edge for nfa_state in state for edge in nfa.edges[nfa_state]]
        for octet in representatives:
            steps = [(mark, target) for octets, mark, target in edges if octet in octets]
            next_state = nfa.closure({target for _, target in steps})
            work += 1 + len(next_state)
            if work > _MOST_WORK:
                raise ValueError("a pattern whose automaton is too large: fewer repetitions with {m,n} make it smaller")
            if next_state not in states:
                states[next_state] = len(states)
                pending.append(next_state)
            follow.append(states[next_state])
            possible = {mark for mark, _ in steps} or {EXACT}
            if len(possible) > 1:
                raise ValueError(f"pattern {text!r}: what {chr(octet)!r} is, is told only by what comes later")
            marks.append(possible.pop())
    accepting = bytes(nfa.end in state for state in states)
    has_part = any(mark & CHECKED for mark in marks)
    return Automaton(kinds, width, tuple(follow), bytes(marks), accepting, has_part)


def _kinds(sets: Iterable[_Octets]) -> tuple[bytes, list[int]]:
    """The kind of each octet, and one octet of each kind. Octets in the same sets are of the same kind."""
    distinct = list(set(sets))
    signatures = [tuple(octet in octets for octets in distinct) for octet in range(256)]
    kinds = list(dict.fromkeys(signatures))
    return bytes(map(kinds.index, signatures)), [signatures.index(kind) for kind in kinds]
