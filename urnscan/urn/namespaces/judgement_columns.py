"""The rules of namespaces applied to columns of URNs, compiled: codes of verdicts, and canonical forms.

`judgement.py` does the same for one name. A pattern is a table of states and is run byte by byte, in some 60 ns a name.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.compiled.ascii import COLON, PERCENT
from urnscan.compiled.bytes import ByteArray, copy, holds
from urnscan.compiled.jit import compiled, inner, read_only
from urnscan.compiled.strings import Column, Offsets, Vocabulary, index_words, same, word_number
from urnscan.urn.namespaces.check_digits import (
    DNB_NUMBERS,
    dnb_digit,
    eic_is_right,
    mod_11_2_is_right,
    mod_37_36_is_right,
    mod_97_10_is_right,
)
from urnscan.urn.namespaces.patterns import automaton, fold, write_part
from urnscan.urn.namespaces.registry import OURS, Rulebook
from urnscan.urn.namespaces.trailing_text import KINDS, front, is_template, reserved_at
from urnscan.urn.numbers.isbn import is_right as isbn_is_right
from urnscan.urn.numbers.isbn import write_canonical as write_isbn
from urnscan.urn.numbers.issn import is_right as issn_is_right
from urnscan.urn.numbers.issn import write_canonical as write_issn
from urnscan.urn.trim import CLOSES, is_trimmable

Codes = npt.NDArray[np.uint8]
_Indices = npt.NDArray[np.int16]
# The next state can only be loaded when the last one is known. An unsigned index needs no test between the two loads.
_States = npt.NDArray[np.uint32]

NAMES = (None, None, "nss-grammar", "check-digit", "dnb-check-digit", "untrimmed", "run-on", "template", None)
"""Problem of each result of a check, a key of `urn.problems.PROBLEMS`, or None. The codes are
_UNKNOWN to _NUL; _NUL is the code of a name with `%00`.
"""
_UNKNOWN, _VALID, _GRAMMAR, _CHECK_DIGIT, _DNB, UNTRIMMED, _RUN_ON, _TEMPLATE, _NUL = range(9)

_STEPS = ["", "isbn", "issn", "gsma", "dnb", "mod_11_2", "mod_97_10", "mod_37_36", "eic"]
"""Values of `check` and `code` of a rule, in the order of the constants _NOTHING to _EIC. Each is a compiled step for a
name that fits the grammar.
"""
_NOTHING, _ISBN, _ISSN, _GSMA, _NBN, _MOD_11_2, _MOD_97_10, _MOD_37_36, _EIC = range(9)

_CLOSES, _KINDS, _DNB_NUMBERS = (np.frombuffer(table, np.uint8) for table in (CLOSES, KINDS, DNB_NUMBERS))
# The number of bytes of "urn:". State 0 is a dead state, so it is never an initial state.
_SCHEME, _NO_STATE = 4, 0
_DIGIT_0 = ord("0")
_VERSION_0 = np.frombuffer(b";vers=0", np.uint8)


@functools.lru_cache(maxsize=8)
def _needed(_rulebook: Rulebook) -> set[int]:
    """The numbers of the rules that columns have needed so far: a set, which `_judged` extends."""
    # No other rule gets automata, because it takes milliseconds to make one.
    return set()


class _Tables(NamedTuple):
    """The rules as arrays. Rule n has two automata: number 2n for `grammar`, and number 2n + 1 for `unsure`. The tables
    of all automata are concatenated; a state is the index of its first kind in `follow`.
    """

    check: Codes
    """Check digit of each rule: an index of _STEPS."""
    code: Codes
    """Rewriting of each rule: an index of _STEPS."""
    has_part: npt.NDArray[np.bool_]
    """Whether the grammar of each rule names the part with the check digit."""
    kinds: npt.NDArray[np.uint8]
    """The kind of each byte in each automaton, of shape (automata, 256)."""
    first: _States
    """Initial state of each automaton; _NO_STATE if the rule has no such pattern."""
    dead: _States
    """Dead state of each automaton: no text that reaches it fits the pattern."""
    follow: _States
    """Next state after state s and a byte of kind k, at index s + k."""
    marks: Codes
    """Mark of each step in `follow`, at the same index: the preferred case of the byte, and whether it belongs to the
    part with the check digit.
    """
    accepting: Codes
    """1 at index s if an NSS may end in state s."""


class _Judged(NamedTuple):
    """The results of the check of a column: arrays with an element for each URN."""

    rule: _Indices
    """Number of the rule; -1 if the NID has none."""
    start: Offsets
    """Index of the first byte of the NSS."""
    codes: Codes
    """The result as an index of NAMES."""
    fitting: _Indices
    """Number of the automaton whose pattern the URN fits; -1 if it fits none."""


def is_valid(codes: Codes) -> npt.NDArray[np.bool_]:
    """For each code that `verdicts` returned for a name, whether the name is certainly valid: true also with the
    problem `dnb-check-digit`, which is only a hint.
    """
    return np.asarray((codes == _VALID) | (codes == _DNB))


def is_invalid(codes: Codes) -> npt.NDArray[np.bool_]:
    """For each code that `verdicts` returned for a name, whether the name is certainly invalid: it has the problem
    `nss-grammar` or `check-digit`.
    """
    return np.asarray((codes == _GRAMMAR) | (codes == _CHECK_DIGIT))


def verdicts(urn: ByteArray, offsets: Offsets, ends: Offsets, rulebook: Rulebook = OURS) -> Codes:
    """For each URN of a column, the result of the check by the rules of its namespace, as a code: `NAMES[code]` is the
    problem or None, and `is_valid` and `is_invalid` say for an array of codes whether the names are valid.

    The URNs are in canonical form of any level: URN i begins at `offsets[i]` in the bytes `urn`, and its NSS ends
    before `ends[i]`.
    """
    return _judged(urn, offsets, ends, rulebook)[0].codes


def namespace_forms(urn: ByteArray, offsets: Offsets, rulebook: Rulebook = OURS) -> Column:
    """The canonical form of each URN at the level `namespace`, as a column (bytes, offsets).

    The URNs are in lexical canonical form, without components; URN i is `urn[offsets[i] : offsets[i + 1]]`. A URN that
    fits no pattern of its namespace stays unchanged.
    """
    judged, tables = _judged(urn, offsets, offsets[1:], rulebook)
    rows = len(offsets) - 1
    # An ISBN-10 grows by three bytes.
    out, out_offsets = np.empty(len(urn) + 3 * rows, np.uint8), np.zeros(rows + 1, np.int32)
    _write_forms((read_only(urn), read_only(offsets)), judged, tables, out, out_offsets)
    return out[: out_offsets[-1]].copy(), out_offsets


@functools.lru_cache(maxsize=8)
def numbered_nids(rulebook: Rulebook) -> Vocabulary:
    """The NIDs that have a rule or are registered, as a hash table, in which `word_number` looks up the index of a NID
    in `Rulebook.nids`, the same NIDs sorted.
    """
    return index_words([nid.encode() for nid in rulebook.nids])


def _judged(urn: ByteArray, offsets: Offsets, ends: Offsets, rulebook: Rulebook) -> tuple[_Judged, _Tables]:
    """The results of the check of a column, and the tables. The NSS of URN i ends before `ends[i]`."""
    rows = len(offsets) - 1
    rule, start = np.empty(rows, np.int16), np.empty(rows, np.int32)
    _look_up(read_only(urn), read_only(offsets), numbered_nids(rulebook), rule, start)
    needed = _needed(rulebook)
    needed.update(np.flatnonzero(np.bincount(rule[rule != -1])).tolist())
    tables = _tables(rulebook, frozenset(needed))
    judged = _Judged(rule, start, np.zeros(rows, np.uint8), np.full(rows, -1, np.int16))
    room = np.empty((ends - start).max(initial=0) + 1, np.uint8)
    _judge(read_only(urn), read_only(ends), judged, tables, room)
    return judged, tables


@functools.lru_cache(maxsize=4)
def _tables(rulebook: Rulebook, numbers: frozenset[int]) -> _Tables:
    """The tables of all rules. Only the rules with these numbers get automata."""
    table = [rulebook.rules[nid] for nid in rulebook.nids]
    checks, codes = [rule.check or "" for rule in table], [rule.code or "" for rule in table]
    kinds = np.zeros((2 * len(table), 256), np.uint8)
    first, dead = np.full(2 * len(table), _NO_STATE, np.uint32), np.full(2 * len(table), _NO_STATE, np.uint32)
    follow, marks, accepting = [np.empty(0, np.uint32)], [np.empty(0, np.uint8)], [np.empty(0, np.uint8)]
    has_part, size = np.zeros(len(table), np.bool_), 0
    for number in sorted(numbers):
        for place, pattern in enumerate((table[number].grammar, table[number].unsure), 2 * number):
            if pattern is not None:
                each = automaton(pattern)
                kinds[place] = np.frombuffer(each.kinds, np.uint8)
                first[place], dead[place] = size + each.width, size
                follow.append(np.uint32(size) + np.array(each.follow, np.uint32))
                marks.append(np.frombuffer(each.marks, np.uint8))
                if place == 2 * number:
                    has_part[number] = each.has_part
                accepting.append(np.repeat(np.frombuffer(each.accepting, np.uint8), each.width))
                size += len(each.follow)
    return _Tables(
        check=np.array([_STEPS.index(step) for step in checks], np.uint8),
        code=np.array([_STEPS.index(step) for step in codes], np.uint8),
        has_part=has_part,
        kinds=kinds,
        first=first,
        dead=dead,
        follow=np.concatenate(follow),
        marks=np.concatenate(marks),
        accepting=np.concatenate(accepting),
    )


@compiled
def _look_up(urn: ByteArray, offsets: Offsets, nids: Vocabulary, rule: _Indices, starts: Offsets) -> None:
    """Set the number of the rule of each URN, -1 if the NID has none, and the start of its NSS. `nids` is the result of
    `numbered_nids`.
    """
    # The NID of the URN before. Names are often sorted, so most have the same NID.
    known = length = 0
    for i in range(len(rule)):
        begin = offsets[i] + _SCHEME
        colon = begin
        while urn[colon] != COLON:
            colon += 1
        starts[i] = colon + 1
        if i and same(urn, begin, colon, urn, known, known + length):
            rule[i] = rule[i - 1]
        else:
            rule[i] = word_number(urn, begin, colon, nids)
            known, length = begin, colon - begin


@inner
def _fits(data: ByteArray, start: int, end: int, number: int, tables: _Tables) -> bool:
    kinds, follow = tables.kinds[number], tables.follow
    state, dead = tables.first[number], tables.dead[number]
    if state == _NO_STATE:
        return False
    text = data[start:end]
    for i in range(len(text)):
        state = follow[state + kinds[text[i]]]
        if state == dead:
            return False
    return bool(tables.accepting[state])


@compiled
def _judge(urn: ByteArray, ends: Offsets, judged: _Judged, tables: _Tables, room: Codes) -> None:
    """Set in `judged` the code and the fitting automaton of each URN. Precondition: all codes are _UNKNOWN, all
    elements of `fitting` are -1. `room` has one byte more than the longest NSS, and is overwritten.
    """
    rule, starts, codes, fitting = judged
    for i in range(len(rule)):
        if rule[i] == -1:
            continue
        start, end = starts[i], ends[i]
        grammar, unsure = 2 * rule[i], 2 * rule[i] + 1
        if _fits(urn, start, end, grammar, tables):
            fitting[i] = grammar
            step = tables.check[rule[i]]
            codes[i] = _VALID
            if step != _NOTHING and not _has_right_digit(urn, start, end, rule[i], tables, room):
                codes[i] = _DNB if step == _NBN else _CHECK_DIGIT
            if codes[i] != _CHECK_DIGIT and _holds_nul(urn, start, end):
                codes[i] = _NUL
        elif _fits(urn, start, end, unsure, tables):
            fitting[i] = unsure
        elif tables.first[grammar] != _NO_STATE or tables.first[unsure] != _NO_STATE:
            place = reserved_at(urn, start, end)
            goes_on = not is_trimmable(urn, place, end, _CLOSES)
            if goes_on and (_fits(urn, start, place, grammar, tables) or _fits(urn, start, place, unsure, tables)):
                continue
            codes[i] = _not_meant(urn, start, end, rule[i], tables, room)
            if codes[i] == _UNKNOWN and place == end:
                codes[i] = _GRAMMAR


@inner
def _not_meant(data: ByteArray, start: int, end: int, rule: int, tables: _Tables, room: Codes) -> int:
    """The code of an NSS that fits no pattern: UNTRIMMED or _RUN_ON if other text follows a name that is not invalid,
    _TEMPLATE for a template, else _UNKNOWN. `room` has at least one byte more than the NSS, and is overwritten.
    """
    fits = room[: end - start + 1]
    fits[end - start] = 0
    for number in range(2 * rule, 2 * rule + 2):
        kinds, state = tables.kinds[number], tables.first[number]
        if state == _NO_STATE:
            continue
        some_fit = False
        for i in range(end - start):
            fits[i] = tables.accepting[state]
            some_fit |= fits[i] != 0
            if state != tables.dead[number]:
                state = tables.follow[state + kinds[data[start + i]]]
            elif not some_fit:
                # No prefix fits, as with most names.
                break
        length = front(data, start, fits, _KINDS) if some_fit else 0
        if length == 0:
            continue
        after = start + length
        is_sure = _fits(data, start, after, 2 * rule, tables)
        # `room` contains the flags of the prefixes. They are no longer needed, so the part with the check digit may
        # overwrite them.
        if not is_sure or tables.check[rule] == _NBN or _has_right_digit(data, start, after, rule, tables, room):
            return UNTRIMMED if is_trimmable(data, after, end, _CLOSES) else _RUN_ON
    return _TEMPLATE if is_template(data, start, end) else _UNKNOWN


@inner
def _holds_nul(data: ByteArray, start: int, end: int) -> bool:
    if holds(data[start:end], PERCENT):
        for i in range(start, end - 2):
            if data[i] == PERCENT and data[i + 1] == _DIGIT_0 and data[i + 2] == _DIGIT_0:
                return True
    return False


@inner
def _has_right_digit(data: ByteArray, start: int, end: int, rule: int, tables: _Tables, room: Codes) -> bool:
    """Whether an NSS that fits the grammar has the right check digit; True if none can be computed. `urn:NID:` must be
    before `start`. `room` is as long as the NSS or longer, and is overwritten.
    """
    step = tables.check[rule]
    if not tables.has_part[rule]:
        return _is_right(step, data, start, end)
    of_rule = tables.kinds[2 * rule], tables.follow, tables.marks
    length = write_part(data, start, end, tables.first[2 * rule], of_rule, room)
    return length == 0 or _is_right(step, room, 0, length)


@inner
def _is_right(step: int, data: ByteArray, start: int, end: int) -> bool:
    """Whether the check digit at the end of `data[start:end]` is right by the algorithm `step`; True if none can be
    computed. For _NBN, `urn:nbn:` must be before `start`.
    """
    if step == _ISBN:
        return isbn_is_right(data, start, end)
    if step == _ISSN:
        return issn_is_right(data, start, end)
    if step == _NBN:
        digit = dnb_digit(data, start - len("urn:nbn:"), end - 1, _DNB_NUMBERS)
        return digit == -1 or data[end - 1] == _DIGIT_0 + digit
    if step == _MOD_11_2:
        return mod_11_2_is_right(data, start, end)
    if step == _MOD_97_10:
        return mod_97_10_is_right(data, start, end)
    if step == _MOD_37_36:
        return mod_37_36_is_right(data, start, end)
    return step != _EIC or eic_is_right(data, start, end)


@compiled
def _write_forms(column: Column, judged: _Judged, tables: _Tables, out: ByteArray, out_offsets: Offsets) -> None:
    """Write the canonical forms of checked URNs, and their ends from the second element of `out_offsets` on. `out` must
    have room for three bytes more for each URN.
    """
    urn, offsets = column
    at = 0
    for i in range(len(offsets) - 1):
        begin = at + judged.start[i] - offsets[i]
        at = copy(urn, offsets[i], offsets[i + 1], out, at)
        number = judged.fitting[i]
        if number != -1:
            fold(out, begin, at, tables.first[number], (tables.kinds[number], tables.follow, tables.marks))
            step = tables.code[judged.rule[i]]
            if step != _NOTHING and judged.codes[i] != _UNKNOWN:
                at = _rewrite(out, begin, at, step)
        out_offsets[i + 1] = at


@inner
def _rewrite(data: ByteArray, start: int, end: int, step: int) -> int:
    """Rewrite an NSS in place to the canonical form, and return its new end. An ISBN-10 becomes an ISBN-13, so `data`
    must have room for three more bytes.
    """
    if step == _GSMA:
        first = end - len(_VERSION_0)
        return first if first >= start and same(data, first, end, _VERSION_0, 0, len(_VERSION_0)) else end
    return write_issn(data, start, end) if step == _ISSN else write_isbn(data, start, end)
