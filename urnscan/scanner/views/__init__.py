"""Views: other readings of a text, in which a scan finds URNs that are encoded, escaped or broken over lines.

Grammar and kernel are those of the literal scan. Matches have their places in the document.

references: character references of XML and HTML.
markup, elements: tags and characters that nobody sees in the middle of a URN; the elements that may stand there.
readings: ways to read a text: places where a hidden URN may begin, and the octets that stand there.
windows: how far each reading goes from there.
wraps: whether a URN goes on behind a line end.
bare: references to names without `urn:`, such as an ISBN behind its label.
recovery: the scanner that finds literal and hidden URNs in their order.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from urnscan.scanner.blocks import Scanner
    from urnscan.scanner.grammar import Grammar
    from urnscan.scanner.views.recovery import RecoveringScanner

KINDS = ("percent", "entities", "escapes", "wraps", "labels", "bare", "markup")
"""The views; `Matches.via` numbers them in this order, from 1."""


def separators(recover: Collection[str]) -> bytes | None:
    """Octets at which a text can be cut for these views; None: the text must not be cut.

    A URN that is broken over lines may go on behind the mark of a quoted mail or a comment, a label may stand before any
    mark, and a tag in the middle of a URN may hold any octet, so none ends them.
    """
    if not {"wraps", "bare", "markup"}.isdisjoint(recover):
        return None
    return b'\0"<>' if "escapes" in recover else b'\0\n"<>'


def make_scanner(grammar: Grammar, recover: Collection[str] = ()) -> Scanner | RecoveringScanner:
    """A scanner for a grammar and the views `recover`, names of KINDS."""
    if not recover:
        from urnscan.scanner.blocks import Scanner  # noqa: PLC0415 (heavy; KINDS is needed without it)

        return Scanner(grammar)
    from urnscan.scanner.views.recovery import RecoveringScanner  # noqa: PLC0415 (loaded only if needed)

    return RecoveringScanner(grammar, recover)
