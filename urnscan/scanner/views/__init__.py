"""Views: other readings of a text, in which a scan finds URNs that are encoded, escaped or broken over lines.

A view maps what it finds back to its place in the document. Grammar and kernel are those of the literal scan.

steps: one step of each view: which octet stands at a place, and where the next one begins.
windows: where a hidden URN can begin, and how far each view reads from there.
wraps: whether a URN goes on behind a line end.
recovery: the scanner that finds literal and hidden URNs in their order.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from urnscan.scanner.blocks import Grammar, Scanner
    from urnscan.scanner.views.recovery import RecoveringScanner

__all__ = ["KINDS", "make_scanner", "separators"]

KINDS = ("percent", "entities", "escapes", "wraps", "labels")
"""The views, in the order in which `Matches.via` counts them from 1."""


def separators(recover: Collection[str]) -> bytes | None:
    """Octets at which a text can be cut without cutting what these views read; None: at none.

    What is broken over lines may go on behind any octet that a mark, a quoted mail or a comment begins with.
    """
    if "wraps" in recover:
        return None
    return b'\0"<>' if "escapes" in recover else b'\0\n"<>'


def make_scanner(grammar: Grammar, recover: Collection[str] = ()) -> Scanner | RecoveringScanner:
    """What scans by a grammar and finds besides what the views in `recover`, names of KINDS, show."""
    if not recover:
        from urnscan.scanner.blocks import Scanner  # noqa: PLC0415 (heavy: the names of the views are wanted without)

        return Scanner(grammar)
    from urnscan.scanner.views.recovery import RecoveringScanner  # noqa: PLC0415 (its compiled code is loaded when it is needed)

    return RecoveringScanner(grammar, recover)
