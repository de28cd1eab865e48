"""Native identifiers, such as an ISBN as its own standard writes it: the base of the modules of single namespaces.

Each of these modules has two functions, `to_urn` and `from_urn`. Only the rules of the namespace (`rules.toml`) judge
what is a name, and whether its check digit is right.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass

import regex

from urnscan.urn.namespaces.judgement import judge
from urnscan.urn.parser import URN, parse
from urnscan.urn.syntax import as_text

__all__ = ["Native"]

# Hyphens and spaces of typesetters and web pages, at which lines are not broken.
_TYPESET = str.maketrans(dict.fromkeys("\u2010\u2011\u2013", "-") | dict.fromkeys("\u00a0\u2007\u2009\u202f", " "))
_LONGEST = 2048
"""Characters of an identifier at most; a longer text is no name."""
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Native:
    """The native identifiers of a namespace."""

    nid: str
    kind: str
    """Name of one of them, as in "no ISBN"."""
    label: regex.Pattern[str]
    """Label that people write before it; may match nothing."""
    form: regex.Pattern[str]
    """The form in which it may be written."""
    wanted: str
    """`form` in words, with an example."""

    def error(self, identifier: str, reason: str) -> ValueError:
        """The error for a text that is no such identifier."""
        return ValueError(f"{_shown(identifier)} is no {self.kind}: {reason}; wanted: {self.wanted}")

    def bare(self, identifier: str) -> str:
        """The identifier without white space around it and without its label.

        Raises ValueError if nothing is left or the text is too long, TypeError for a value that is no text.
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
        """The identifier without its label, with plain hyphens and spaces.

        Raises ValueError, with the place where the text departs from `form`, for any other text.
        """
        text = self.bare(identifier).translate(_TYPESET)
        if self.form.fullmatch(text) is None:
            raise self.error(identifier, self.why_not(text))
        return text

    def compact(self, identifier: str) -> str:
        """`written` in capital letters, without the hyphens and spaces that group it."""
        return self.written(identifier).replace("-", "").replace(" ", "").upper()

    def why_not(self, text: str) -> str:
        """The place where a text departs from `form`, in words."""

        def strays(length: int) -> bool:
            return self.form.fullmatch(text[:length], partial=True) is None

        length = bisect.bisect_left(range(len(text) + 1), True, key=strays) - 1
        if length == len(text):
            return "it ends too early"
        return f"{text[length]!r} cannot follow {_shown(text[:length])}" if length else f"{text[0]!r} cannot begin it"

    def judged(self, nss: str, identifier: str) -> str:
        """The NSS in the canonical form of the namespace. Raises ValueError if the namespace does not admit it."""
        judgement = judge(f"urn:{self.nid}:{nss}")
        if judgement.valid is False:
            raise self.error(identifier, judgement.reason)
        return judgement.nss

    def urn(self, nss: str, identifier: str) -> str:
        """The URN of an NSS in the canonical form of the namespace. Raises the errors of `judged`."""
        return f"urn:{self.nid}:{self.judged(nss, identifier)}"

    def nss(self, urn: str | URN) -> str:
        """The NSS of a URN in the canonical form of the namespace, components dropped; a text is read by RFC 8141.

        Raises InvalidURN for a text that is no URN, ValueError for a name of another namespace and for one that this
        namespace does not admit.
        """
        parsed = urn if isinstance(urn, URN) else parse(urn, syntax="rfc8141")
        if parsed.nid != self.nid:
            raise ValueError(f"{_shown(parsed.text)} is a name in urn:{parsed.nid}, not in urn:{self.nid}")
        return self.judged(parsed.canonical.split(":", 2)[2], parsed.text)


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
