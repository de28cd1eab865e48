"""The rules applied to one name: whether it is valid, its problem, and its canonical form in the namespace.

RFC 2141 §5, RFC 8141 §3.1: a namespace may declare more names equal than the syntax does, never fewer.
`columns.py` does the same for whole columns, compiled.

>>> judge("urn:isbn:0-395-36341-6")
Judgement(valid=False, problem='check-digit', nss='0395363416', reason='the check digit is wrong: ISBN-10 modulo 11, ISBN-13 modulo 10 (ISO 2108)')
>>> namespace_form("urn:isbn:0-395-36341-1")
'urn:isbn:9780395363416'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from urnscan.urn.namespaces.check_digits import isbn_13, isbn_is_right
from urnscan.urn.namespaces.checks import CHECKS
from urnscan.urn.namespaces.patterns import automaton
from urnscan.urn.namespaces.rules import Rule, nid_and_nss, rules

__all__ = ["GRAMMAR", "PROBLEMS", "REWRITE", "Judgement", "judge", "namespace_form"]

GRAMMAR = "nss-grammar"
PROBLEMS: Mapping[str, str] = MappingProxyType(
    {
        GRAMMAR: "the NSS does not fit the grammar of its namespace",
        "check-digit": "the check digit is wrong",
        "dnb-check-digit": "the check digit of the Deutsche Nationalbibliothek, which not all names have, is wrong",
    }
)
"""Problems of a name in its namespace: the code in the column `problem`, and a sentence."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Verdict of a namespace on a name."""

    valid: bool | None
    """None if nothing is certain: the namespace has no grammar, or the name fits only the unsure one."""
    problem: str | None
    """One of PROBLEMS."""
    nss: str
    """NSS of the canonical form in the namespace."""
    reason: str
    """The reason in words."""


def _isbn(nss: str) -> str:
    digits = nss.replace("-", "").upper()
    # A wrong ISBN-10 is not converted: it would get a right check digit, and become the name of another book.
    return isbn_13(digits) if len(digits) == 10 and isbn_is_right(digits.encode(), 0, 10) else digits


def _issn(nss: str) -> str:
    digits = nss.replace("-", "").upper()
    return f"{digits[:4]}-{digits[4:]}"


def _gsma(nss: str) -> str:
    """Drop version 0 of the form of an IMEI's URN, which is the default (RFC 7254 §3, §4.1)."""
    return nss.removesuffix(";vers=0")


REWRITE: Mapping[str, Callable[[str], str]] = MappingProxyType({"isbn": _isbn, "issn": _issn, "gsma": _gsma})
"""Functions for rules that a pattern cannot express: NSS that fits, in the preferred case -> canonical NSS."""


def judge(urn: str) -> Judgement:
    """Judge a URN by the rules of its namespace (RFC 2141 §5, RFC 8141 §3.1).

    `urn` is in lexical canonical form, as `urnscan.canonical` gives it. Raises ValueError for a text that does not
    begin with `urn:`, a NID and `:`, TypeError for a value that is no text.

    >>> judge("urn:issn:0317-8471").valid, judge("urn:issn:0317-8472").problem, judge("urn:example:lamp").valid
    (True, 'check-digit', None)
    """
    nid, nss = nid_and_nss(urn)
    rule = rules().get(nid)
    if rule is None:
        return Judgement(None, None, nss, "the namespace is not registered")
    if rule.grammar is not None:
        folded = automaton(rule.grammar).fold(nss)
        if folded is not None:
            return _fitting(rule, folded)
    if rule.unsure is not None:
        folded = automaton(rule.unsure).fold(nss)
        if folded is not None:
            return Judgement(None, None, folded, rule.unsure_because or "nothing certain is known of such names")
    elif rule.grammar is None:
        return Judgement(None, None, nss, "nothing certain is known of the names in this namespace")
    if "?" in nss or "#" in nss:
        return Judgement(
            None, None, nss, "what its ? or # begins is reserved in RFC 2141 (§2.3.2), a component in RFC 8141"
        )
    return Judgement(False, GRAMMAR, nss, f"{PROBLEMS[GRAMMAR]}: {rule.syntax}")


def namespace_form(urn: str) -> str:
    """The canonical form of a URN in its namespace (RFC 2141 §5, RFC 8141 §3.1).

    `urn` is in lexical canonical form. Raises the errors of `judge`.

    >>> namespace_form("urn:issn:0317847x"), namespace_form("urn:oid:1.3.6.1")
    ('urn:issn:0317-847X', 'urn:oid:1.3.6.1')
    """
    nid, _ = nid_and_nss(urn)
    return f"urn:{nid}:{judge(urn).nss}"


def _fitting(rule: Rule, nss: str) -> Judgement:
    """Judgement on an NSS that fits the grammar."""
    form = REWRITE[rule.code](nss) if rule.code else nss
    reason = f"it fits {rule.syntax}"
    if rule.check is None:
        return Judgement(True, None, form, reason)
    check = CHECKS[rule.check]
    is_right = check.is_right(nss)
    if is_right is None:
        return Judgement(True, None, form, reason)
    if is_right:
        return Judgement(True, None, form, f"{reason}, and the check digit is right")
    return Judgement(not check.decides, check.problem, form, f"{PROBLEMS[check.problem]}: {check.title}")
