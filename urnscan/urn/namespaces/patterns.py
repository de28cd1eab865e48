r"""The patterns of the rules, as tables of states.

A pattern is a regular expression without backreferences and assertions: literals, `.`, `[...]`, `\d`, groups,
`(?i:...)`, `|`, `* + ? {m,n}`; `regex` reads it in the same way. The groups `(?<lower>...)` and `(?<upper>...)` hold
parts in which case does not matter, and name the preferred one. Tables run in linear time, on one string or, compiled,
on columns.

>>> automaton("(?<lower>[A-Za-z]+)-.+").fold("FI-Fe1")
'fi-Fe1'
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass

import regex

__all__ = ["EXACT", "LOWER", "UPPER", "Automaton", "automaton"]

EXACT, LOWER, UPPER = range(3)
_GROUPS = {"?<lower>": LOWER, "?<upper>": UPPER}
_URN_CHARACTERS = frozenset(range(0x21, 0x7F))
_NO_URN_CHARACTER = 127
_DIGITS = frozenset(b"0123456789")
_MOST_STATES = 5000
_REPEAT = regex.compile(r"\{(\d+)(,(\d*))?\}")
_CHANGE = {LOWER: str.lower, UPPER: str.upper}

_Octets = frozenset[int]


@dataclass(frozen=True, slots=True)
class Automaton:
    """A pattern as a deterministic automaton. State 0 is the dead state, state 1 the first."""

    kinds: bytes
    """The kind of each octet; the pattern does not tell octets of one kind apart."""
    width: int
    """The number of kinds."""
    follow: tuple[int, ...]
    """Next state after state s and an octet of kind k, at index s * width + k."""
    case: bytes
    """Change of that octet, at the same index: EXACT, LOWER or UPPER."""
    accepting: bytes
    """1 for each state in which the NSS may end."""

    def fold(self, nss: str) -> str | None:
        """The NSS in the preferred case, None if it does not fit.

        `columns.py` does the same for whole columns. The hex digits of %HH are in upper case already, and stay so (RFC
        8141 §3.1).
        """
        state, escaped = 1, 0
        out = []
        for character in nss:
            at = state * self.width + self.kinds[min(ord(character), _NO_URN_CHARACTER)]
            state, case = self.follow[at], self.case[at]
            escaped = 2 if character == "%" else max(escaped - 1, -1)
            out.append(character if case == EXACT or escaped >= 0 else _CHANGE[case](character))
        return "".join(out) if self.accepting[state] else None


@dataclass(frozen=True, slots=True)
class _Node:
    """A part of a pattern: a set of octets, a sequence, a choice, or a repetition."""

    kind: str
    octets: _Octets = frozenset()
    case: int = EXACT
    parts: tuple[_Node, ...] = ()
    least: int = 1
    most: int | None = 1


class _Parser:
    """Parser of patterns. Raises ValueError for anything outside the language."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def parse(self) -> _Node:
        node = self._choice(EXACT, any_case=False)
        if self._at < len(self._text):
            raise self._error("an unopened )")
        return node

    def _error(self, what: str) -> ValueError:
        return ValueError(f"pattern {self._text!r}, at {self._at}: {what}")

    def _take(self, text: str) -> bool:
        taken = self._text.startswith(text, self._at)
        self._at += len(text) if taken else 0
        return taken

    def _next(self) -> str:
        if self._at == len(self._text):
            raise self._error("it ends too early")
        self._at += 1
        return self._text[self._at - 1]

    def _choice(self, case: int, *, any_case: bool) -> _Node:
        branches = [self._sequence(case, any_case=any_case)]
        while self._take("|"):
            branches.append(self._sequence(case, any_case=any_case))
        return branches[0] if len(branches) == 1 else _Node("choice", parts=tuple(branches))

    def _sequence(self, case: int, *, any_case: bool) -> _Node:
        parts = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            parts.append(self._repeated(self._atom(case, any_case=any_case)))
        return _Node("sequence", parts=tuple(parts))

    def _repeated(self, atom: _Node) -> _Node:
        if self._take("*"):
            least, most = 0, None
        elif self._take("+"):
            least, most = 1, None
        elif self._take("?"):
            least, most = 0, 1
        elif found := _REPEAT.match(self._text, self._at):
            self._at = found.end()
            least = int(found[1])
            most = least if found[2] is None else int(found[3]) if found[3] else None
        else:
            return atom
        if self._text[self._at : self._at + 1] in ("?", "+", "*", "{"):
            raise self._error("a repeated repetition")
        return _Node("repeat", parts=(atom,), least=least, most=most)

    def _atom(self, case: int, *, any_case: bool) -> _Node:
        character = self._next()
        if character == "(":
            return self._group(case, any_case=any_case)
        if character == "[":
            octets = self._set(any_case=any_case)
        elif character == ".":
            octets = _URN_CHARACTERS
        elif character == "\\":
            octets = self._escaped()
        elif character in "*+?{}]^$":
            raise self._error(f"{character!r} stands for itself only behind a backslash")
        else:
            octets = frozenset(character.encode())
        return _Node("octets", octets=_in_any_case(octets) if any_case and character != "[" else octets, case=case)

    def _group(self, case: int, *, any_case: bool) -> _Node:
        for start, folded in _GROUPS.items():
            if self._take(start):
                case = folded
                break
        else:
            if self._take("?i:"):
                any_case = True
            elif not self._take("?:") and self._text.startswith("?", self._at):
                raise self._error("a group that the language does not have")
        node = self._choice(case, any_case=any_case)
        if not self._take(")"):
            raise self._error("an unclosed (")
        return node

    def _escaped(self) -> _Octets:
        character = self._next()
        if character == "d":
            return _DIGITS
        if character.isalnum():
            raise self._error(f"\\{character} is not of the language")
        return frozenset(character.encode())

    def _set(self, *, any_case: bool) -> _Octets:
        negated = self._take("^")
        octets: set[int] = set()
        while not self._take("]"):
            character = self._next()
            first = self._escaped() if character == "\\" else frozenset(character.encode())
            if (
                len(first) == 1
                and self._text[self._at : self._at + 1] == "-"
                and self._text[self._at + 1 : self._at + 2] != "]"
            ):
                self._at += 1
                last = self._next()
                octets.update(range(min(first), ord(last) + 1))
            else:
                octets |= first
        found = _in_any_case(octets) if any_case else frozenset(octets)
        return _URN_CHARACTERS - found if negated else found


def _in_any_case(octets: Iterable[int]) -> _Octets:
    return frozenset(octets) | {octet ^ 32 for octet in octets if chr(octet).isalpha()}


class _Net:
    """The same as states and edges, where one octet may lead to several states."""

    def __init__(self, root: _Node) -> None:
        self.edges: list[list[tuple[_Octets, int, int]]] = []
        """Of each state: octets, what is done to them, the state behind."""
        self.free: list[list[int]] = []
        """For each state, the states that are reached without an octet."""
        self.start, self.end = self._state(), self._state()
        self._add(root, self.start, self.end)

    def closure(self, states: Iterable[int]) -> frozenset[int]:
        """The states, and all states that are reached from them without an octet."""
        waiting, found = list(states), set(states)
        while waiting:
            for state in self.free[waiting.pop()]:
                if state not in found:
                    found.add(state)
                    waiting.append(state)
        return frozenset(found)

    def _state(self) -> int:
        if len(self.edges) == _MOST_STATES:
            raise ValueError("a pattern with too many states")
        self.edges.append([])
        self.free.append([])
        return len(self.edges) - 1

    def _add(self, node: _Node, start: int, end: int) -> None:
        if node.kind == "octets":
            self.edges[start].append((node.octets, node.case, end))
        elif node.kind == "choice":
            for part in node.parts:
                self._add(part, start, end)
        elif node.kind == "sequence":
            for part in node.parts:
                behind = self._state()
                self._add(part, start, behind)
                start = behind
            self.free[start].append(end)
        else:
            self._repeat(node, start, end)

    def _repeat(self, node: _Node, start: int, end: int) -> None:
        (part,) = node.parts
        for _ in range(node.least):
            behind = self._state()
            self._add(part, start, behind)
            start = behind
        if node.most is None:
            again, behind = self._state(), self._state()
            self.free[start].append(again)
            self._add(part, again, behind)
            self.free[behind].append(again)
            self.free[again].append(end)
            return
        for _ in range(node.most - node.least):
            self.free[start].append(end)
            behind = self._state()
            self._add(part, start, behind)
            start = behind
        self.free[start].append(end)


@functools.cache
def automaton(text: str) -> Automaton:
    """The automaton of a pattern.

    Raises ValueError for a pattern outside the language, and for one in which an octet can be read both inside and
    outside of a group, so that only later octets decide.
    """
    net = _Net(_Parser(text).parse())
    kinds, members = _kinds(octets for edges in net.edges for octets, _, _ in edges)
    width = len(members)
    states: dict[frozenset[int], int] = {frozenset(): 0, net.closure([net.start]): 1}
    follow, case = [0] * width, [EXACT] * width
    waiting = [net.closure([net.start])]
    for state in waiting:  # grows while it is gone through
        edges = [edge for each in state for edge in net.edges[each]]
        for octet in members:
            taken = [(done, behind) for octets, done, behind in edges if octet in octets]
            behind = net.closure({behind for _, behind in taken})
            if behind not in states:
                states[behind] = len(states)
                waiting.append(behind)
            follow.append(states[behind])
            cases = {done for done, _ in taken} or {EXACT}
            if len(cases) > 1:
                raise ValueError(f"pattern {text!r}: what {chr(octet)!r} is, is told only by what comes later")
            case.append(cases.pop())
    return Automaton(kinds, width, tuple(follow), bytes(case), bytes(net.end in state for state in states))


def _kinds(sets: Iterable[_Octets]) -> tuple[bytes, list[int]]:
    """The kind of each octet, and an octet of each kind."""
    distinct = list(set(sets))
    kinds, members = bytearray(256), list[int]()
    known: dict[tuple[bool, ...], int] = {}
    for octet in range(256):
        signature = tuple(octet in octets for octets in distinct)
        if signature not in known:
            known[signature] = len(members)
            members.append(octet)
        kinds[octet] = known[signature]
    return bytes(kinds), members
