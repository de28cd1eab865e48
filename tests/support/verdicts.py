"""The join of the two tables of a scan by `urn`: what each says about a name."""

from __future__ import annotations

from collections import defaultdict

from tests.support.spelled import joined
from urnscan.urn.problems import OF_SPELLINGS, PROBLEMS

RULES = """
[foo]
title = "shelves"
grammar = "[a-b]+"
syntax = "our guide"
rule = "base"
equality = "our guide"
"""
"""Custom rules for a namespace."""

_OF_NAMES = PROBLEMS.keys() - {*OF_SPELLINGS}


def differing(occurrences, classes):
    """Names of which the two tables do not say the same.

    Each occurrence has the verdict of its class, and a class has the problems of its occurrences and no other.
    """
    names = set()
    problems = defaultdict(list)
    by_urn = {row["urn"]: row for row in classes}
    for row in occurrences:
        urn, of_class = row["urn"], by_urn[row["urn"]]
        code = (of_class["problem"] or "").split("; ")[0]
        of_spelling = (row["spelling_problem"] or "").split("; ")
        expected = of_class["valid"], code if code in _OF_NAMES else None
        if (row["valid"], row["problem"]) != expected or _OF_NAMES & {*of_spelling}:
            names.add(urn)
        problems[urn] += [[row["problem"]], of_spelling]
    return names | {urn for urn, row in by_urn.items() if joined(*problems[urn]) != row["problem"]}
