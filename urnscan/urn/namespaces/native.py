"""Native identifiers: conversion of an identifier, as people write an ISBN or a DOI, to a URN and back.

Only the rules of the namespace (`rules.toml`) decide whether a name is valid and its check digit is right.
"""

from __future__ import annotations

import bisect
from typing import ClassVar

from urnscan.errors import ArgumentError
from urnscan.urn.namespaces.judgement import judge
from urnscan.urn.parser import URN, parse
from urnscan.urn.syntax import as_text, pattern_of

# Hyphens, dashes and spaces of typesetters and web pages.
_TYPESET = str.maketrans(dict.fromkeys("\u2010\u2011\u2013", "-") | dict.fromkeys("\u00a0\u2007\u2009\u202f", " "))
# Maximum characters of an identifier.
_LONGEST = 2048
# Maximum characters of a text in a message.
_SHOWN = 60


class Native:
    """Converter between the native identifiers of a namespace (an ISBN, as people write it) and their URNs. Each
    namespace has a subclass.
    """

    nid: ClassVar[str]
    """The NID of the namespace, in lower case."""
    kind: ClassVar[str]
    """Singular noun for the identifier, as in "is no ISBN"."""
    label: ClassVar[str] = ""
    """Pattern of a label before the identifier, such as `ISBN:`; it may match the empty text."""
    form: ClassVar[str]
    """Pattern of the spellings of the identifier, without a label."""
    wanted: ClassVar[str]
    """`form` in words, with an example."""

    def to_urn(self, identifier: str) -> str:
        """The URN of an identifier, in the canonical form of the namespace.

        White space around the identifier and a label before it (`ISBN:`) are removed. Raises ArgumentError (a
        ValueError), with the reason, for a text that is not an identifier of this kind, for a wrong check digit, and
        for a value that is not a text.
        """
        return f"urn:{self.nid}:{self._judged(self._nss(identifier), identifier)}"

    def from_urn(self, urn: str | URN) -> str:
        """The identifier in a URN, without a label, in the form that the standard of the identifier prescribes.

        A str is parsed by RFC 8141; components are dropped. Raises InvalidURN for a text that is not a URN;
        ArgumentError for a URN of another namespace, for a name that is not an identifier of this kind, for a wrong
        check digit (except of an ISAN), and for a value that is not a text.
        """
        parsed = urn if isinstance(urn, URN) else parse(urn, syntax="rfc8141")
        if parsed.nid != self.nid:
            raise ArgumentError(f"{_shown(parsed.text)} is a name in urn:{parsed.nid}, not in urn:{self.nid}")
        return self._identifier(self._judged(parsed.canonical.split(":", 2)[2], parsed.text))

    def _nss(self, identifier: str) -> str:
        """An NSS for an identifier, not always the canonical one. The check digit may be wrong, except that of an ISAN.
        Raises ArgumentError for a text that is not an identifier of this kind.
        """
        return self._compact(identifier)

    def _identifier(self, nss: str) -> str:
        """The identifier, in the form that its standard prescribes outside of URNs (`978-0-395-36341-6`), from an NSS
        in canonical form (`9780395363416`).
        """
        return nss

    def _error(self, identifier: str, reason: str) -> ArgumentError:
        return ArgumentError(f"{_shown(identifier)} is no {self.kind}: {reason}; wanted: {self.wanted}")

    def _bare(self, identifier: str) -> str:
        if len(as_text(self.kind, identifier)) > _LONGEST:
            raise self._error(identifier, f"it has {len(identifier)} characters")
        text = identifier.strip()
        label = pattern_of(self.label).match(text)
        bare = text[label.end() :] if label else text
        if not bare:
            raise self._error(identifier, "a label alone" if text else "the identifier is empty")
        return bare

    def _written(self, identifier: str) -> str:
        """The identifier without a label, with plain hyphens and spaces instead of typographical ones."""
        return self._formed(self._bare(identifier).translate(_TYPESET), identifier)

    def _compact(self, identifier: str) -> str:
        return self._written(identifier).replace("-", "").replace(" ", "").upper()

    def _formed(self, text: str, identifier: str) -> str:
        """Return `text` if it matches `form`; otherwise raise ArgumentError about `identifier`."""
        form = pattern_of(self.form)
        if form.fullmatch(text):
            return text
        ends = range(len(text) + 1)
        length = bisect.bisect_left(ends, True, key=lambda end: form.fullmatch(text[:end], partial=True) is None) - 1
        if length == len(text):
            raise self._error(identifier, "it ends too early")
        error = f"cannot follow {_shown(text[:length])}" if length else "cannot begin it"
        raise self._error(identifier, f"{text[length]!r} {error}")

    def _judged(self, nss: str, identifier: str) -> str:
        judgement = judge(f"urn:{self.nid}:{nss}")
        if judgement.problem is not None:
            raise self._error(identifier, judgement.reason)
        return judgement.nss


def has_label(native: Native, text: str) -> bool:
    """Whether a text begins with a label that `native` accepts before an identifier, in upper or lower case: `ISBN:`,
    `oid `. For EIDR and ISNI, the prefix of an address (`https://isni.org/`) is a label, too. The text after it is not
    checked.
    """
    label = pattern_of(native.label).match(text)
    return bool(label and label[0])


def as_urn(native: Native, text: str) -> str | None:
    """The URN of an identifier as `to_urn` returns it, but also for an identifier with a wrong check digit (except an
    ISAN). None for a text that is not an identifier of this kind. Raises nothing.
    """
    try:
        nss = native._nss(text)  # noqa: SLF001 (of this module)
    except ValueError:
        return None
    return f"urn:{native.nid}:{judge(f'urn:{native.nid}:{nss}').nss}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
