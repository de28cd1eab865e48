"""The rules of namespaces applied to columns of URNs, compiled: verdicts and canonical forms.

`judgement.py` does the same for one name. Patterns are tables of states, run octet by octet. Check digits and forms of
frequent namespaces are compiled; names of the others are judged one by one.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.arrays.ascii import CASE, COLON, HASH, HYPHEN, PERCENT, QUESTION_MARK, lower, upper
from urnscan.arrays.jit import compiled, lean, read_only
from urnscan.arrays.octets import copy
from urnscan.arrays.strings import Column, Octets, Offsets, Vocabulary, index_words, word_number
from urnscan.urn.namespaces import Rule, judge, registered, rules
from urnscan.urn.namespaces.check_digits import (
    DNB_NUMBERS,
    dnb_digit,
    isbn_13_digit,
    isbn_is_right,
    issn_is_right,
    mod_11_2_is_right,
    mod_37_36_is_right,
    mod_97_10_is_right,
)
from urnscan.urn.namespaces.patterns import EXACT, LOWER, automaton

__all__ = ["NAMES", "UNKNOWN", "Codes", "is_valid", "namespace_forms", "registered_nids", "verdicts"]

Codes = npt.NDArray[np.uint8]
_Indices = npt.NDArray[np.int16]
_Places = npt.NDArray[np.int32]
_Rows = npt.NDArray[np.int64]

NAMES = (None, None, "nss-grammar", "check-digit", "dnb-check-digit")
"""Problem of each code of a verdict, a key of `namespaces.PROBLEMS`."""
UNKNOWN, _VALID, _GRAMMAR, _CHECK_DIGIT, _DNB = range(5)

_NOTHING, _ISBN, _ISSN, _NBN, _MOD_11_2, _MOD_97_10, _MOD_37_36 = range(7)
_COMPILED = {
    (None, None): _NOTHING,
    ("isbn", "isbn"): _ISBN,
    ("issn", "issn"): _ISSN,
    ("dnb", None): _NBN,
    ("mod_11_2", None): _MOD_11_2,
    ("mod_97_10", None): _MOD_97_10,
    ("mod_37_36", None): _MOD_37_36,
}
"""Compiled steps for a name that fits the grammar, by `check` and `code` of the rule."""
_ONE_BY_ONE = 255
_DNB_NUMBERS = np.frombuffer(DNB_NUMBERS, np.uint8)

_isbn_is_right, _issn_is_right = lean(isbn_is_right), lean(issn_is_right)
_mod_11_2_is_right, _mod_97_10_is_right = lean(mod_11_2_is_right), lean(mod_97_10_is_right)
_mod_37_36_is_right = lean(mod_37_36_is_right)
_isbn_13_digit, _dnb_digit = lean(isbn_13_digit), lean(dnb_digit)

_SCHEME = 4  # octets of "urn:"
_DIGIT_0, _DIGIT_7, _DIGIT_8, _DIGIT_9, _X, _SMALL_X, _D, _E = b"0789Xxde"
_NO_STATES = np.empty(0, np.int32)


class _Machines(NamedTuple):
    """The automata that were needed so far, end to end. A state is the index of its first kind."""

    grammar: _Indices
    """Number of the automaton of each rule, -1 for none."""
    unsure: _Indices
    further: Codes
    """Step of each rule behind the grammar (a value of _COMPILED), or _ONE_BY_ONE."""
    kinds: npt.NDArray[np.uint8]
    first: _Places
    """First state of each automaton. The state before it is the dead state, which nothing leaves."""
    dead: _Places
    follow: _Places
    case: Codes
    accepting: Codes


def is_valid(codes: Codes) -> npt.NDArray[np.bool_]:
    """Whether each code means a valid name; without meaning for UNKNOWN."""
    return np.asarray((codes == _VALID) | (codes == _DNB))


def verdicts(urn: Octets, offsets: Offsets, ends: Offsets) -> Codes:
    """Verdict on each URN in canonical form (of any level), an index of NAMES; its NSS ends at `ends`."""
    urn, offsets, ends = read_only(urn), read_only(offsets), read_only(ends)
    rule, start = _lookup(urn, offsets, registered_nids())
    machines = _built().of(rule)
    codes, _ = _judge(urn, start, ends, rule, machines, _DNB_NUMBERS)
    for row in _one_by_one(rule, codes == _VALID, machines):
        name = urn[offsets[row] : ends[row]].tobytes().decode()
        judgement = judge(name)
        codes[row] = NAMES.index(judgement.problem) if judgement.problem else _VALID
    return codes


def namespace_forms(urn: Octets, offsets: Offsets) -> tuple[Octets, Offsets]:
    """Canonical forms in their namespaces, of URNs in lexical canonical form without components."""
    urn, offsets = read_only(urn), read_only(offsets)
    rule, start = _lookup(urn, offsets, registered_nids())
    machines = _built().of(rule)
    codes, fitting = _judge(urn, start, offsets[1:], rule, machines, _DNB_NUMBERS)
    others: dict[int, bytes] = {}
    for row in _one_by_one(rule, codes == _VALID, machines):
        others[row] = judge(urn[offsets[row] : offsets[row + 1]].tobytes().decode()).nss.encode()
    rows = np.array([*others, -1], np.int64)
    nss = np.frombuffer(b"".join(others.values()), np.uint8)
    nss_offsets = np.cumsum([0, *map(len, others.values())]).astype(np.int32)
    return _forms((urn, offsets), start, rule, (codes, fitting), machines, (rows, nss, nss_offsets))


@functools.cache
def registered_nids() -> Vocabulary:
    """The registered NIDs, sorted; rules are numbered in the same order."""
    return index_words([nid.encode() for nid in sorted(registered())])


@functools.cache
def _built() -> _Built:
    # Not every run needs the rules, and reading their table takes a while.
    return _Built([rules()[nid] for nid in sorted(registered())])


def _one_by_one(rule: _Indices, fits: npt.NDArray[np.bool_], machines: _Machines) -> list[int]:
    """Rows that fit the grammar of a rule that is not compiled."""
    rare = np.append(machines.further == _ONE_BY_ONE, False)  # the last one, index -1, for URNs without a rule
    return [int(row) for row in np.flatnonzero(rare[rule] & fits)]


class _Built:
    """The automata that were needed so far, shared by threads."""

    def __init__(self, table: Sequence[Rule]) -> None:
        self._table = table
        self._lock = threading.Lock()
        known = np.zeros(len(table) + 1, np.bool_)
        known[-1] = True  # index -1: URNs without a rule
        self._state = known, _build(table, known)

    def of(self, rule: _Indices) -> _Machines:
        """Automata for at least these rules."""
        known, machines = self._state
        if known[rule].all():
            return machines
        with self._lock:
            known = self._state[0].copy()
            known[rule] = True
            self._state = known, _build(self._table, known)
            return self._state[1]


def _build(table: Sequence[Rule], known: npt.NDArray[np.bool_]) -> _Machines:
    """The automata of the known rules."""
    needed = [rule if known[number] else None for number, rule in enumerate(table)]
    texts = {text: None for rule in needed if rule for text in (rule.grammar, rule.unsure) if text}
    automata = [automaton(text) for text in texts]
    number = {text: index for index, text in enumerate(texts)} | {None: -1}
    bases = np.cumsum([0] + [len(each.follow) for each in automata]).astype(np.int32)
    placed = list(zip(bases.tolist(), automata, strict=False))
    return _Machines(
        grammar=np.array([number[rule.grammar] if rule else -1 for rule in needed], np.int16),
        unsure=np.array([number[rule.unsure] if rule else -1 for rule in needed], np.int16),
        further=np.array([_COMPILED.get((r.check, r.code), _ONE_BY_ONE) if r else _NOTHING for r in needed], np.uint8),
        kinds=np.array([list(each.kinds) for each in automata], np.uint8).reshape(-1, 256),
        dead=bases[:-1],
        first=np.array([base + each.width for base, each in placed], np.int32),
        follow=np.concatenate(
            [_NO_STATES, *(base + each.width * np.array(each.follow, np.int32) for base, each in placed)]
        ),
        case=np.frombuffer(b"".join(each.case for each in automata), np.uint8),
        accepting=np.repeat(
            np.frombuffer(b"".join(each.accepting for each in automata), np.uint8),
            [each.width for each in automata for _ in each.accepting],
        ),
    )


@compiled
def _lookup(urn: Octets, offsets: Offsets, nids: Vocabulary) -> tuple[_Indices, Offsets]:
    """The rule of each URN, -1 if its NID is not registered, and the beginning of its NSS."""
    rule = np.empty(len(offsets) - 1, np.int16)
    starts = np.empty(len(offsets) - 1, np.int32)
    for i in range(len(rule)):
        begin = offsets[i] + _SCHEME
        colon = begin
        while urn[colon] != COLON:
            colon += 1
        starts[i] = colon + 1
        rule[i] = word_number(urn, begin, colon, nids)
    return rule, starts


@lean
def _fits(octets: Octets, start: int, end: int, number: int, machines: _Machines) -> bool:
    """Whether `octets[start:end]` fits the pattern of automaton `number`."""
    kinds, follow = machines.kinds[number], machines.follow
    state, dead = machines.first[number], machines.dead[number]
    for i in range(start, end):
        state = follow[state + kinds[octets[i]]]
        if state == dead:
            return False
    return bool(machines.accepting[state])


@compiled
def _judge(
    urn: Octets, starts: Offsets, ends: Offsets, rule: _Indices, machines: _Machines, dnb: Codes
) -> tuple[Codes, _Indices]:
    """The code of each URN, without the judgement of names one by one, and the automaton that it fits, -1 for none."""
    codes = np.zeros(len(rule), np.uint8)
    fitting = np.full(len(rule), -1, np.int16)
    for i in range(len(rule)):
        if rule[i] == -1:
            continue
        start, end = starts[i], ends[i]
        grammar, unsure = machines.grammar[rule[i]], machines.unsure[rule[i]]
        if grammar != -1 and _fits(urn, start, end, grammar, machines):
            fitting[i] = grammar
            further = machines.further[rule[i]]
            codes[i] = _VALID
            if further != _NOTHING and not _is_right(further, urn, start, end, dnb):
                codes[i] = _DNB if further == _NBN else _CHECK_DIGIT
        elif unsure != -1 and _fits(urn, start, end, unsure, machines):
            fitting[i] = unsure
        elif (grammar != -1 or unsure != -1) and not _holds_reserved(urn, start, end):
            codes[i] = _GRAMMAR
    return codes, fitting


@lean
def _holds_reserved(octets: Octets, start: int, end: int) -> bool:
    """Whether the NSS holds a "?" or "#": reserved in RFC 2141 (§2.3.2), the beginning of a component in RFC 8141."""
    found = False
    for i in range(start, end):
        found |= octets[i] == QUESTION_MARK or octets[i] == HASH
    return found


@lean
def _is_right(further: int, octets: Octets, start: int, end: int, dnb: Codes) -> bool:
    """Whether the check digit or character of an NSS is right; True for a rule that is not compiled."""
    if further == _ISBN:
        return _isbn_is_right(octets, start, end)
    if further == _ISSN:
        return _issn_is_right(octets, start, end)
    if further == _NBN:
        return _dnb_is_right(octets, start, end, dnb)
    if further == _MOD_11_2:
        return _mod_11_2_is_right(octets, start, end)
    if further == _MOD_97_10:
        return _mod_97_10_is_right(octets, start, end)
    return further != _MOD_37_36 or _mod_37_36_is_right(octets, start, end)


@lean
def _dnb_is_right(octets: Octets, start: int, end: int, numbers: Codes) -> bool:
    """Whether the digit of the DNB is right; True also for other countries, and if it cannot be computed."""
    if octets[start] | CASE != _D or octets[start + 1] | CASE != _E or octets[start + 2] not in (HYPHEN, COLON):
        return True
    digit = _dnb_digit(octets, start - len("urn:nbn:"), end - 1, numbers)
    return digit == -1 or octets[end - 1] == _DIGIT_0 + digit


@compiled
def _forms(
    urns: Column,
    starts: Offsets,
    rule: _Indices,
    judged: tuple[Codes, _Indices],
    machines: _Machines,
    given: tuple[_Rows, Octets, Offsets],
) -> Column:
    """Canonical forms of URNs that `_judge` has judged; `given` has rows, with -1 behind the last, and their NSS."""
    urn, offsets = urns
    codes, fitting = judged
    others, nss, nss_offsets = given
    rows = len(offsets) - 1
    out = np.empty(len(urn) + 3 * rows + len(nss), np.uint8)  # an ISBN grows by three digits
    out_offsets = np.zeros(rows + 1, np.int32)
    at = other = 0
    for i in range(rows):
        start, end = starts[i], offsets[i + 1]
        at = copy(urn, offsets[i], start, out, at)
        further = machines.further[rule[i]] if codes[i] != UNKNOWN else _NOTHING
        if others[other] == i:
            at = copy(nss, nss_offsets[other], nss_offsets[other + 1], out, at)
            other += 1
        elif fitting[i] == -1:
            at = copy(urn, start, end, out, at)
        elif further == _ISBN:
            at = _copy_isbn(urn, start, end, codes[i] == _VALID, out, at)
        elif further == _ISSN:
            at = _copy_issn(urn, start, end, out, at)
        else:
            at = _copy_folded(urn, start, end, fitting[i], machines, out, at)
        out_offsets[i + 1] = at
    return out[:at].copy(), out_offsets


@lean
def _copy_folded(octets: Octets, start: int, end: int, number: int, machines: _Machines, out: Octets, at: int) -> int:
    """Copy an NSS in the preferred case, except the hex digits of %HH."""
    kinds, state = machines.kinds[number], machines.first[number]
    escaped = 0
    for i in range(start, end):
        octet = octets[i]
        place = state + kinds[octet]
        case, state = machines.case[place], machines.follow[place]
        escaped = 3 if octet == PERCENT else escaped - 1
        if case != EXACT and escaped <= 0:
            octet = lower(octet) if case == LOWER else upper(octet)
        out[at] = octet
        at += 1
    return at


@lean
def _copy_isbn(octets: Octets, start: int, end: int, convert: bool, out: Octets, at: int) -> int:
    """Copy an ISBN without hyphens; if `convert`, an ISBN-10 as ISBN-13."""
    begin = at + 3
    at = begin
    for i in range(start, end):
        if octets[i] != HYPHEN:
            out[at] = _X if octets[i] == _SMALL_X else octets[i]
            at += 1
    if at - begin == 10 and convert:
        out[begin - 3], out[begin - 2], out[begin - 1] = _DIGIT_9, _DIGIT_7, _DIGIT_8
        out[at - 1] = _isbn_13_digit(out, begin - 3)
        return at
    for i in range(begin, at):
        out[i - 3] = out[i]
    return at - 3


@lean
def _copy_issn(octets: Octets, start: int, end: int, out: Octets, at: int) -> int:
    """Copy an ISSN with its hyphen."""
    begin = at
    for i in range(start, end):
        if octets[i] != HYPHEN:
            if at - begin == 4:
                out[at] = HYPHEN
                at += 1
            out[at] = _X if octets[i] == _SMALL_X else octets[i]
            at += 1
    return at
