"""The elements around a record of XML, and the namespaces that they declare."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

NCNAME = rb"[A-Za-z_\x80-\xff][A-Za-z0-9_.\x80-\xff-]*+"
"""Pattern of a name without a colon, in its loosest form."""
PREFIX = re.compile(rb"[<\s](" + NCNAME + rb"):")
"""Pattern of the prefix of an element or an attribute."""

_DEEPEST = 1 << 8  # elements around a record
_DECLARED_MOST = 1 << 14  # octets of namespaces declared around a record
_FEW = 32  # prefixes; if more are in scope, only those are declared that a record uses


class Scope:
    """The elements that are open around a record, with the namespaces that they declare."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begin a document."""
        self.open: list[tuple[bytes, Mapping[bytes, bytes]]] = []
        self.encoding = "utf-8"
        self._deeper = 0  # elements beyond `_DEEPEST`, which no dump has: they are only counted
        self._count = 0  # of declarations
        self._declarations: bytes | None = None

    def start(self, name: bytes, declared: Mapping[bytes, bytes]) -> None:
        """Begin an element."""
        if len(self.open) == _DEEPEST:
            self._deeper += 1
            return
        self.open.append((name, declared))
        self._changed(len(declared))

    def end(self, name: bytes) -> None:
        """End an element and all that is open in it; an end tag without a start tag is ignored."""
        if self._deeper:
            self._deeper -= 1
            return
        if all(name != opened for opened, _ in self.open):
            return
        ended = b""
        while ended != name:
            ended, declared = self.open.pop()
            self._changed(-len(declared))
        if not self.open:
            self.clear()

    def expanded(self, name: bytes, *declared: Mapping[bytes, bytes]) -> str:
        """Expand a name to `{namespace}local`; `declared`: declarations besides those in scope, the innermost first."""
        prefix, _, local_name = name.rpartition(b":")
        uri = next((names[prefix] for names in declared if prefix in names), None) or self._uri(prefix) or b'""'
        namespace = uri[1:-1].decode("utf-8", "replace").strip()
        decoded = local_name.decode("utf-8", "replace")
        return f"{{{namespace}}}{decoded}" if namespace else decoded

    @property
    def is_large(self) -> bool:
        """Whether so many namespaces are in scope that a record is given only those that it uses."""
        return self._count > _FEW

    def declarations(self, record: bytes) -> bytes:
        """Declare the namespaces in scope, or those of them that a record uses, as attributes in UTF-8."""
        if self.is_large:
            return self._as_attributes((b"", *PREFIX.findall(record)))
        if self._declarations is None:
            self._declarations = self._as_attributes(prefix for _, declared in self.open for prefix in declared)
        return self._declarations

    def _changed(self, declarations: int) -> None:
        if declarations:
            self._count += declarations
            self._declarations = None

    def _as_attributes(self, prefixes: Iterable[bytes]) -> bytes:
        """Declarations of the namespaces of prefixes, as attributes of a tag."""
        found = b""
        for prefix in dict.fromkeys(prefixes):
            uri = self._uri(prefix)
            if uri and len(found) + len(uri) < _DECLARED_MOST:
                found += b" xmlns%b%b=%b" % (b":" if prefix else b"", prefix, uri)
        return found.decode(self.encoding, "replace").encode()

    def _uri(self, prefix: bytes) -> bytes | None:
        """Namespace of a prefix, in its quotes."""
        return next((declared[prefix] for _, declared in reversed(self.open) if prefix in declared), None)
