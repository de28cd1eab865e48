"""Views: decoded forms of a text, in which a scan finds URNs that are encoded, escaped or broken over lines.

Such a URN is called hidden; a URN that is written plainly is called literal. Grammar and kernel are those of the literal
scan. Places of matches are those in the original text.

references: character references of XML and HTML.
markup, elements: tags and invisible characters in the middle of a URN; the elements that may occur there.
readings: the ways to decode a text, step by step, and the places where a hidden URN may begin.
windows: decodes the text at these places, and collects the results for the scanner.
wraps: decides whether a URN goes on after a line end.
bare: references to names without `urn:`, such as an ISBN after its label.
recovery: the scanner that returns literal and hidden URNs in the order of the text.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from urnscan.scanner.blocks import Scanner
    from urnscan.scanner.grammar import Grammar
    from urnscan.scanner.views.recovery import RecoveringScanner

KINDS = ("percent", "entities", "escapes", "wraps", "labels", "bare", "markup")
"""Names of the views. `Matches.via` has their numbers, from 1, in this order."""


def separators(recover: Collection[str]) -> bytes | None:
    """Octets at which a text can be split for these views; None: the text must not be split.

    A URN that is broken over lines may go on after the mark of a quoted mail or a comment, a label may precede any mark,
    and a tag in the middle of a URN may contain any octet. So for these views no octet is safe.
    """
    if not {"wraps", "bare", "markup"}.isdisjoint(recover):
        return None
    return b'\0"<>' if "escapes" in recover else b'\0\n"<>'


def make_scanner(grammar: Grammar, recover: Collection[str] = ()) -> Scanner | RecoveringScanner:
    """A scanner for a grammar. `recover` has the names of views, from KINDS."""
    if not recover:
        from urnscan.scanner.blocks import Scanner  # noqa: PLC0415 (heavy; KINDS is needed without it)

        return Scanner(grammar)
    from urnscan.scanner.views.recovery import RecoveringScanner  # noqa: PLC0415 (loaded only if needed)

    return RecoveringScanner(grammar, recover)
