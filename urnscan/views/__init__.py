"""Other readings of a text, in which URNs stand that a literal scan misses.

A view reads the octets of a document as something else: percent-encoded, escaped, broken over lines. What it finds it
finds in the same grammar and with the same kernel, and maps back to the place in the document.

- `steps.py`: one step of each reading: which octet stands there, and where the next begins
- `hunting.py`: where in a text a hidden URN can begin, and how far each reading of it goes
- `wraps.py`: whether a URN goes on behind a line end
- `recovering.py`: a scanner that finds both, what stands there literally and what does not, in their order
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from urnscan.scanner import Grammar, Scanner
    from urnscan.views.recovering import RecoveringScanner

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
        from urnscan.scanner import Scanner  # noqa: PLC0415 (heavy: the names of the views are wanted without)

        return Scanner(grammar)
    from urnscan.views.recovering import RecoveringScanner  # noqa: PLC0415 (its compiled code is loaded when it is needed)

    return RecoveringScanner(grammar, recover)
