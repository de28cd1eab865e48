"""The names of the views, and the bytes at which a text may be split if views are on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, get_args

ViewName = Literal["percent", "entities", "escapes", "wraps", "labels", "bare", "markup", "all"]
"""Name of a view (a decoding by which hidden URNs are found), or `all`: a value of the option `recover`."""
KINDS = get_args(ViewName)[:-1]
"""Names of the views. `Matches.via` is the index in this tuple plus 1."""
MEANINGS: Mapping[str, str] = {
    "percent": "percent-encoded, as in URLs: urn%3Aisbn%3A...",
    "entities": "with character references: urn&#58;isbn:...",
    "escapes": "escaped as in JSON or C: urn\\u003aisbn:...",
    "wraps": "broken over lines or by soft hyphens",
    "labels": "after a label: URN: nbn:de:...",
    "bare": "without urn: as ISBN, ISSN, ISNI, DOI or NBN",
    "markup": "broken by tags of HTML, XML or office files",
}
"""Name of a view -> which hidden names the view reads."""


def separators(recover: Collection[str]) -> bytes | None:
    """Bytes at which a text can be split without splitting a name that a view in `recover` reads; None if the text must
    not be split (with `wraps`, `bare` or `markup`). An empty `recover` gives the same bytes as `percent`. Precondition:
    `all` is replaced by the names of the views.
    """
    # For these views no byte is safe: a URN that is broken over lines may go on after the quote mark of a mail or the
    # mark of a comment, a label may precede any mark, and a tag in the middle of a URN may contain any byte.
    if not {"wraps", "bare", "markup"}.isdisjoint(recover):
        return None
    return b'\0"<>' if "escapes" in recover else b'\0\n"<>'
