"""The scanner for a grammar and the views of a run."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from urnscan.scanner.blocks import Scanner
from urnscan.scanner.grammar import Grammar

if TYPE_CHECKING:
    from urnscan.scanner.views.recovery import RecoveringScanner


def make_scanner(grammar: Grammar, recover: Collection[str] = ()) -> Scanner | RecoveringScanner:
    """A new scanner for a grammar. `recover` has the names of views (decodings, such as `percent`) by which it also
    finds hidden URNs: encoded, broken, or without `urn:`. Empty: only literal URNs are found. Raises ValueError for a
    name that is not in `views.kinds.KINDS`.
    """
    if not recover:
        return Scanner(grammar)
    from urnscan.scanner.views.recovery import RecoveringScanner  # noqa: PLC0415 (loaded only if needed)

    return RecoveringScanner(grammar, recover)
