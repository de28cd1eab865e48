"""The scanner for a grammar and the views of a run."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from urnscan.scanner.blocks import Scanner
from urnscan.scanner.grammar import Grammar

if TYPE_CHECKING:
    from urnscan.scanner.views.recovery import RecoveringScanner


def make_scanner(grammar: Grammar, recover: Collection[str] = ()) -> Scanner | RecoveringScanner:
    """A new scanner for the URNs of a grammar (a syntax and options). `recover`: names of views, keys of `MEANINGS` in
    `views/kinds.py`, by which it also finds hidden URNs (encoded, broken, or without `urn:`). Empty: a `Scanner`, which
    finds only literal URNs. Raises ValueError for any other name, also `all`.
    """
    if not recover:
        return Scanner(grammar)
    from urnscan.scanner.views.recovery import RecoveringScanner  # noqa: PLC0415 (loaded only if needed)

    return RecoveringScanner(grammar, recover)
