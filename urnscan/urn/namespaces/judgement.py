"""The rules of a namespace applied to a single name: whether the name is valid, the problem, and the canonical form.

RFC 2141 §5, RFC 8141 §3.1: a namespace may declare more names equal than the syntax does, never fewer.
`judgement_columns.py` does the same for whole columns, compiled.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from urnscan.display.text import counted
from urnscan.urn.namespaces.check_digits import (
    DNB_NUMBERS,
    dnb_digit,
    eic_is_right,
    mod_11_2_is_right,
    mod_37_36_is_right,
    mod_97_10_is_right,
)
from urnscan.urn.namespaces.patterns import automaton
from urnscan.urn.namespaces.registry import OURS, Rule, Rulebook, nid_and_nss
from urnscan.urn.namespaces.trailing_text import KINDS, front, is_template, reserved_at
from urnscan.urn.numbers import isbn, issn
from urnscan.urn.problems import PROBLEMS
from urnscan.urn.trim import CLOSES, is_trimmable

_ALPHANUMERICS = (*string.digits, *string.ascii_uppercase)
GRAMMAR, UNTRIMMED, RUN_ON, TEMPLATE = "nss-grammar", "untrimmed", "run-on", "template"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of a check of a name (`urn:NID:NSS`) by the rules of its namespace. `valid` is None if nobody can be
    sure; `nss` is the canonical NSS.
    """

    valid: bool | None
    """Whether the name is valid; None if nobody can be sure: the namespace has no rule, or no pattern in it; the name
    fits only the pattern `unsure`; it fits, but contains `%00`; it contains `?` or `#`; or the problem is `untrimmed`,
    `run-on` or `template`.
    """
    problem: str | None
    """A code in `urnscan.urn.problems.PROBLEMS`, or None without a problem. A valid name may have the problem
    `dnb-check-digit`.
    """
    nss: str
    """The NSS of the canonical form at the level `namespace`; unchanged if the name fits no pattern."""
    reason: str
    """Why the name is valid, invalid or neither for sure, in words. It includes `hint`."""
    hint: str = ""
    """For a name that a wrong check digit makes invalid: a sentence with the right one; empty if no check digit fits.
    """


@dataclass(frozen=True, slots=True)
class Check:
    """An algorithm for a check digit or check character, and what a wrong one means for a name (`problem`, `decides`)."""

    title: str
    """The name of the algorithm, for messages."""
    is_right: Callable[[bytes, int, int], bool | None]
    """A function, called as `is_right(data, 0, len(data))`: whether the check digit at the end of `data` is right; None
    if none can be computed. `data` is the NSS, or its bytes in groups `(?<check>...)` of the pattern.
    """
    problem: str = "check-digit"
    """The problem of a name with a wrong check digit: a code in `urnscan.urn.problems.PROBLEMS`."""
    decides: bool = True
    """Whether a wrong check digit makes a name invalid. If not, the check digit is only reported as a problem."""
    ends: Sequence[str] = (*"0123456789X",)
    """The possible check digits or check characters, as texts of the same length. At most one fits, except that in an
    ISBN-13 X fits where 0 fits.
    """

    def hint(self, checked: str) -> str:
        """A sentence with the right check digit, "if only this digit is wrong, 1 is right"; empty if no check digit
        fits. `checked` is the text with the wrong check digit at its end: the NSS, or its characters in groups
        `(?<check>...)` of the pattern.
        """
        front = checked[: -len(self.ends[0])]
        # In an ISBN-13 X counts as 0, which comes first.
        right = next((end for end in self.ends if self.is_right((front + end).encode(), 0, len(checked))), "")
        return right and f"if only this digit is wrong, {right} is right"


def _dnb_is_right(nss: bytes, _start: int, _end: int) -> bool | None:
    name = b"urn:nbn:" + nss
    digit = dnb_digit(name, 0, len(name) - 1, DNB_NUMBERS)
    return None if digit == -1 else b"%d" % digit == nss[-1:]


CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "isbn": Check(isbn.CHECK, isbn.is_right),
        "issn": Check(issn.CHECK, issn.is_right),
        "mod_11_2": Check("ISO/IEC 7064 MOD 11-2", mod_11_2_is_right),
        "mod_97_10": Check(
            "ISO/IEC 7064 MOD 97-10", mod_97_10_is_right, ends=tuple(f"{number:02}" for number in range(2, 99))
        ),
        "mod_37_36": Check("ISO/IEC 7064 MOD 37,36", mod_37_36_is_right, ends=_ALPHANUMERICS),
        "eic": Check("the check character of the EIC reference manual", eic_is_right, ends=(*_ALPHANUMERICS, "-")),
        "dnb": Check("the check digit of the Deutsche Nationalbibliothek", _dnb_is_right, "dnb-check-digit", False),
    }
)
"""The algorithms of check digits, by the names that rules use: `check = "isbn"`."""


def _gsma(nss: str) -> str:
    """The NSS of an IMEI without version 0, which is the default (RFC 7254 §3, §4.1)."""
    return nss.removesuffix(";vers=0")


REWRITE: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {"isbn": isbn.canonical, "issn": issn.canonical, "gsma": _gsma}
)
"""Functions for equivalences that a pattern cannot express, by the names that rules use. Each maps an NSS that fits the
grammar, with letters in the preferred case, to the canonical NSS.
"""

_DIGITS = {*string.digits, "X", "x"}
NUMBERS: Mapping[str, tuple[str, tuple[int, ...]]] = MappingProxyType(
    {"isbn": ("ISBN", (10, 13)), "issn": ("ISSN", (8,))}
)
"""Check of a rule -> the name of the number, and how many digits the number has."""

KNOWN: Mapping[str, Mapping[str, object]] = MappingProxyType({"check": CHECKS, "code": REWRITE})
"""The values that the keys `check` and `code` of a rule may have."""


def judge(urn: str, rulebook: Rulebook = OURS) -> Judgement:
    """Check a URN by the rules of the namespace, and return the result (RFC 2141 §5, RFC 8141 §3.1).

    `urn` is in lexical canonical form, as `urnscan.canonical` returns it; `rulebook` is a result of `read_rules`, or
    the registered rules only. A wrong name raises nothing: the result says what is wrong. Raises ArgumentError for a
    text that does not have the form `urn:NID:NSS`, and for a value that is not a text.

    >>> judge("urn:issn:0317-8471").valid, judge("urn:issn:0317-8472").problem, judge("urn:example:lamp").valid
    (True, 'check-digit', None)
    """
    nid, nss = nid_and_nss(urn)
    rule = rulebook.rules.get(nid)
    if rule is None:
        return Judgement(None, None, nss, "the namespace is not registered")
    if rule.grammar is not None:
        folded = automaton(rule.grammar).fold(nss)
        if folded is not None:
            return _fitting(rule, nss, folded)
    if rule.unsure is not None:
        folded = automaton(rule.unsure).fold(nss)
        if folded is not None:
            return Judgement(None, None, folded, rule.unsure_because or "nothing certain is known of such names")
    elif rule.grammar is None:
        return Judgement(None, None, nss, "nothing certain is known of the names in this namespace")
    place = reserved_at(nss.encode("ascii", "replace"), 0, len(nss))
    not_meant = None if _goes_on(rule, nss, place) else _not_meant(rule, nss, rulebook)
    if not_meant is not None:
        return not_meant
    if place < len(nss):
        return Judgement(
            None, None, nss, "what its ? or # begins is reserved in RFC 2141 (§2.3.2), a component in RFC 8141"
        )
    return Judgement(False, GRAMMAR, nss, f"{_why_not(rule, nss)} ({rule.syntax})")


def _why_not(rule: Rule, nss: str) -> str:
    """Why an NSS does not fit the grammar of the rule. Precondition: it does not fit."""
    name, digits = NUMBERS.get(rule.check or "", ("", ()))
    if not name or (rule.grammar and automaton(rule.grammar).has_part):
        return PROBLEMS[GRAMMAR]
    if nss[: len(name)].upper() == name:
        return f'the label "{nss[: len(name)]}" is in the number'
    return why_no_number(nss.replace("-", ""), {name: digits}) or PROBLEMS[GRAMMAR]


def why_no_number(bare: str, numbers: Mapping[str, Sequence[int]]) -> str | None:
    """A sentence: why a text without hyphens and spaces does not have the form of one of `numbers` (the name of a number
    -> how many digits it may have); None if it has the form of one.

    >>> why_no_number("97803953634", {"ISBN": (10, 13), "ISSN": (8,)})
    'it has 11 digits, but an ISBN has 10 or 13, and an ISSN has 8'
    """
    if not bare or set(bare) - _DIGITS or "X" in bare[:-1].upper():
        return f"an {' or '.join(numbers)} has only digits, hyphens and perhaps an X at its end"
    if all(len(bare) not in lengths for lengths in numbers.values()):
        wanted = (f"an {name} has {' or '.join(map(str, lengths))}" for name, lengths in numbers.items())
        return f"it has {counted(len(bare), 'digit')}, but {', and '.join(wanted)}"
    return None


def namespace_form(urn: str, rulebook: Rulebook = OURS) -> str:
    """The canonical form of a URN at the level `namespace` (RFC 2141 §5, RFC 8141 §3.1).

    `urn` is in lexical canonical form; a name that fits no pattern of its namespace is returned unchanged. Raises
    ArgumentError for a text that does not have the form `urn:NID:NSS`, and for a value that is not a text.

    >>> namespace_form("urn:issn:0317847x"), namespace_form("urn:oid:1.3.6.1")
    ('urn:issn:0317-847X', 'urn:oid:1.3.6.1')
    """
    nid, _ = nid_and_nss(urn)
    return f"urn:{nid}:{judge(urn, rulebook).nss}"


def _goes_on(rule: Rule, nss: str, place: int) -> bool:
    """Whether an NSS fits a pattern up to the "?" or "#" at index `place`, and `--trim` would not cut off the whole
    rest.
    """
    data = nss.encode("ascii", "replace")
    patterns = filter(None, (rule.grammar, rule.unsure))
    return not is_trimmable(data, place, len(data), CLOSES) and any(
        automaton(pattern).fold(nss[:place]) is not None for pattern in patterns
    )


def _not_meant(rule: Rule, nss: str, rulebook: Rulebook) -> Judgement | None:
    """The result for an NSS that fits no pattern, if other text follows a name that is not invalid, or if it is a
    template (`n-nn-nnnnnn-n`); otherwise None.
    """
    data = nss.encode("ascii", "replace")
    for pattern in filter(None, (rule.grammar, rule.unsure)):
        length = front(data, 0, automaton(pattern).fits(nss), KINDS)
        if length and judge(f"urn:{rule.nid}:{nss[:length]}", rulebook).valid is not False:
            problem = UNTRIMMED if is_trimmable(data, length, len(data), CLOSES) else RUN_ON
            return Judgement(None, problem, nss, f"{PROBLEMS[problem]}: {nss[:length]}")
    if is_template(data, 0, len(data)):
        return Judgement(None, TEMPLATE, nss, PROBLEMS[TEMPLATE])
    return None


def _fitting(rule: Rule, nss: str, folded: str) -> Judgement:
    """The result for an NSS that fits the grammar of the rule. `folded` is the NSS with letters in the preferred case."""
    form = REWRITE[rule.code](folded) if rule.code else folded
    reason = f"it fits {rule.syntax}"
    check = CHECKS[rule.check] if rule.check else None
    grammar = automaton(rule.grammar or "")
    checked = grammar.part(nss) if grammar.has_part else nss
    is_right = check.is_right(checked.encode(), 0, len(checked)) if check and checked else None
    if check and checked and is_right is False and check.decides:
        hint = check.hint(checked)
        reason = f"{PROBLEMS[check.problem]}: {check.title}{hint and f'; {hint}'}"
        return Judgement(False, check.problem, form, reason, hint)
    if "%00" in nss:
        return Judgement(None, None, form, f"{reason}, but it holds %00, which no URN should hold (RFC 2141 §2.4)")
    if check is None or is_right is None:
        return Judgement(True, None, form, reason)
    if is_right:
        return Judgement(True, None, form, f"{reason}, and the check digit is right")
    return Judgement(True, check.problem, form, f"{reason}; {PROBLEMS[check.problem]}")
