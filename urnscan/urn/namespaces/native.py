"""What the modules of single namespaces share that lead from an identifier as its own standard writes it to its URN, and back.

Each of them has the same two functions, `to_urn` and `from_urn`; what is a name, and whether its check digit is right,
is judged by the rules of its namespace (`rules.toml`) alone.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass

import regex

from urnscan.urn.namespaces.judgement import judge
from urnscan.urn.syntax import URN, as_text, parse

__all__ = ["Native"]

# What typesetters and web pages put in the place of hyphens and spaces, so that no line is broken there.
_TYPESET = str.maketrans(dict.fromkeys("\u2010\u2011\u2013", "-") | dict.fromkeys("\u00a0\u2007\u2009\u202f", " "))
_LONGEST = 2048
"""Far more characters than identifiers have: what is longer is a text, not a name."""
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Native:
    """The identifiers that the names of a namespace stand for."""

    nid: str
    kind: str
    """What one of them is called, as in "no ISBN"."""
    label: regex.Pattern[str]
    """What people put before it; may match nothing."""
    form: regex.Pattern[str]
    """How it may be written."""
    wanted: str
    """The same in words, with an example."""

    def error(self, identifier: str, reason: str) -> ValueError:
        """Why a text is none of them, in one line."""
        return ValueError(f"{_shown(identifier)} is no {self.kind}: {reason}; wanted: {self.wanted}")

    def bare(self, identifier: str) -> str:
        """The identifier without white space around it and without its label.

        Raises ValueError where nothing is left or where it is too long for any, TypeError for what is no text.
        """
        if len(as_text(self.kind, identifier)) > _LONGEST:
            raise self.error(identifier, f"it has {len(identifier)} characters")
        text = identifier.strip()
        label = self.label.match(text)
        text = text[label.end() :] if label else text
        if not text:
            raise self.error(identifier, "nothing stands there" if label is None or not label[0] else "a label alone")
        return text

    def written(self, identifier: str) -> str:
        """The identifier without its label, in the form that it may have, with plain hyphens and spaces.

        Raises ValueError, with the place at which it ceases to have that form, for any other text.
        """
        text = self.bare(identifier).translate(_TYPESET)
        if self.form.fullmatch(text) is None:
            raise self.error(identifier, self.why_not(text))
        return text

    def compact(self, identifier: str) -> str:
        """What `written` gives, in capital letters and without the hyphens and spaces that only group it."""
        return self.written(identifier).replace("-", "").replace(" ", "").upper()

    def why_not(self, text: str) -> str:
        """Where a text that does not have the form ceases to have it."""

        def strays(length: int) -> bool:
            return self.form.fullmatch(text[:length], partial=True) is None

        length = bisect.bisect_left(range(len(text) + 1), True, key=strays) - 1
        if length == len(text):
            return "it ends too early"
        return f"{text[length]!r} cannot follow {_shown(text[:length])}" if length else f"{text[0]!r} cannot begin it"

    def judged(self, nss: str, identifier: str) -> str:
        """The NSS in the canonical form of the namespace. Raises ValueError where the namespace does not admit it."""
        judgement = judge(f"urn:{self.nid}:{nss}")
        if judgement.valid is False:
            raise self.error(identifier, judgement.reason)
        return judgement.nss

    def urn(self, nss: str, identifier: str) -> str:
        """The URN of a NSS in the canonical form of the namespace; raises what `judged` raises."""
        return f"urn:{self.nid}:{self.judged(nss, identifier)}"

    def nss(self, urn: str | URN) -> str:
        """The NSS of a URN in the canonical form of the namespace, components dropped; a text is read by RFC 8141.

        Raises InvalidURN for what is no URN, ValueError for one of another namespace and for what this one does not admit.
        """
        parsed = urn if isinstance(urn, URN) else parse(urn, syntax="rfc8141")
        if parsed.nid != self.nid:
            raise ValueError(f"{_shown(parsed.text)} is a name in urn:{parsed.nid}, not in urn:{self.nid}")
        return self.judged(parsed.canonical.split(":", 2)[2], parsed.text)


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
