"""Native identifiers, such as an ISBN as its own standard writes it: the way to a URN and back, for any namespace.

Only the rules of the namespace (`rules.toml`) judge what is a name, and whether its check digit is right.
"""

from __future__ import annotations

import bisect
from typing import ClassVar

from urnscan.errors import ArgumentError
from urnscan.urn.namespaces.judgement import judge
from urnscan.urn.parser import URN, parse
from urnscan.urn.syntax import as_text, pattern_of

# Hyphens and spaces of typesetters and web pages, at which lines are not broken.
_TYPESET = str.maketrans(dict.fromkeys("\u2010\u2011\u2013", "-") | dict.fromkeys("\u00a0\u2007\u2009\u202f", " "))
_LONGEST = 2048  # characters of an identifier; a longer text is none
_SHOWN = 60  # characters of a text in a message


class Native:
    """The way of the native identifiers of a namespace to their URNs, and back."""

    nid: ClassVar[str]
    kind: ClassVar[str]
    """Name of one of them, as in "no ISBN"."""
    label: ClassVar[str] = ""
    """Pattern of a label that people write before it; may match nothing."""
    form: ClassVar[str]
    """Pattern of the form in which it may be written."""
    wanted: ClassVar[str]
    """`form` in words, with an example."""

    def to_urn(self, identifier: str) -> str:
        """The URN of an identifier, in the canonical form of its namespace.

        White space and a label (`ISBN:`) around it are cut. Raises ArgumentError (a ValueError), which says why,
        for a text that is no such identifier or has a wrong check digit, and for a value that is no text.
        """
        return f"urn:{self.nid}:{self._judged(self._nss(identifier), identifier)}"

    def from_urn(self, urn: str | URN) -> str:
        """The identifier of a URN, as its standard displays it, without a label.

        A text is read by RFC 8141; components are dropped. Raises InvalidURN for a text that is no URN, ArgumentError for
        another namespace and for a name that is no such identifier or has a wrong check digit.
        """
        parsed = urn if isinstance(urn, URN) else parse(urn, syntax="rfc8141")
        if parsed.nid != self.nid:
            raise ArgumentError(f"{_shown(parsed.text)} is a name in urn:{parsed.nid}, not in urn:{self.nid}")
        return self._identifier(self._judged(parsed.canonical.split(":", 2)[2], parsed.text))

    def _nss(self, identifier: str) -> str:
        """NSS of an identifier, in any spelling that the namespace knows."""
        return self._compact(identifier)

    def _identifier(self, nss: str) -> str:
        """Identifier of an NSS in the canonical form of the namespace."""
        return nss

    def _error(self, identifier: str, reason: str) -> ArgumentError:
        return ArgumentError(f"{_shown(identifier)} is no {self.kind}: {reason}; wanted: {self.wanted}")

    def _bare(self, identifier: str) -> str:
        """The identifier without white space around it and without its label."""
        if len(as_text(self.kind, identifier)) > _LONGEST:
            raise self._error(identifier, f"it has {len(identifier)} characters")
        text = identifier.strip()
        label = pattern_of(self.label).match(text)
        bare = text[label.end() :] if label else text
        if not bare:
            raise self._error(identifier, "a label alone" if text else "nothing stands there")
        return bare

    def _written(self, identifier: str) -> str:
        """The identifier without its label, with plain hyphens and spaces."""
        return self._formed(self._bare(identifier).translate(_TYPESET), identifier)

    def _compact(self, identifier: str) -> str:
        """The identifier in capital letters, without the hyphens and spaces that group it."""
        return self._written(identifier).replace("-", "").replace(" ", "").upper()

    def _formed(self, text: str, identifier: str) -> str:
        """`text`, if it has the form. Raises ArgumentError about `identifier`, with the place where `text` departs."""
        form = pattern_of(self.form)
        if form.fullmatch(text):
            return text
        ends = range(len(text) + 1)
        length = bisect.bisect_left(ends, True, key=lambda end: form.fullmatch(text[:end], partial=True) is None) - 1
        if length == len(text):
            raise self._error(identifier, "it ends too early")
        behind = f"cannot follow {_shown(text[:length])}" if length else "cannot begin it"
        raise self._error(identifier, f"{text[length]!r} {behind}")

    def _judged(self, nss: str, identifier: str) -> str:
        """The NSS in the canonical form of the namespace. Raises ArgumentError if the namespace does not admit it."""
        judgement = judge(f"urn:{self.nid}:{nss}")
        if judgement.problem is not None:
            raise self._error(identifier, judgement.reason)
        return judgement.nss


def has_label(native: Native, text: str) -> bool:
    """Whether a label of these identifiers, or the beginning of their addresses, stands at the front of the text."""
    label = pattern_of(native.label).match(text)
    return bool(label and label[0])


def as_urn(native: Native, text: str) -> str | None:
    """The URN of an identifier, as `to_urn` gives it, also if its check digit is wrong; None for any other text."""
    try:
        nss = native._nss(text)  # noqa: SLF001 (of this module)
    except ValueError:
        return None
    return f"urn:{native.nid}:{judge(f'urn:{native.nid}:{nss}').nss}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
