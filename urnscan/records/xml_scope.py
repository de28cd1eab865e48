"""The elements around a record in XML, and the namespaces that they declare."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

NCNAME = rb"[A-Za-z_\x80-\xff][A-Za-z0-9_.\x80-\xff-]*+"
"""Pattern of a name without a colon. The pattern also fits texts that are not names."""
PREFIX = re.compile(rb"[<\s](" + NCNAME + rb"):")
"""Pattern of the prefix of an element or an attribute."""

# Maximum number of elements around a record.
_DEEPEST = 1 << 8
# Maximum number of bytes of the namespaces that are declared around a record.
_MAX_DECLARED = 1 << 14
# If more prefixes are in scope, a record gets only the declarations that it uses.
_FEW = 32


class Scope:
    """The elements that are open at a place in an XML document, with the namespaces that they declare; and the encoding
    of the document, in the attribute `encoding`, which the caller sets (`utf-8` at first). The default namespace has
    the prefix b"".
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begin a document: no element is open, the encoding is UTF-8.

        `open` has the open elements, the outermost first: pairs of the name and the namespaces that it declares (prefix
        -> namespace in quotes).
        """
        self.open: list[tuple[bytes, Mapping[bytes, bytes]]] = []
        self.encoding = "utf-8"
        # Open elements that are deeper than `_DEEPEST`: they are only counted.
        self._deeper = 0

    def start(self, name: bytes, declared: Mapping[bytes, bytes]) -> None:
        """Open an element `name` (with its prefix) inside the elements that are open. `declared`: prefix -> namespace
        in quotes, for the namespaces that the element declares; prefix b"" for the default namespace. If 256 elements
        are open, further ones are only counted, without name and namespaces.
        """
        if len(self.open) == _DEEPEST:
            self._deeper += 1
            return
        self.open.append((name, declared))

    def end(self, name: bytes) -> None:
        """Close the innermost open element `name` (with its prefix), and all open elements inside it; but if elements
        are only counted (those inside 256 others), one of these, whatever its name. Does nothing if no such element is
        open. When the outermost element is closed, the document ends (`clear`).
        """
        if self._deeper:
            self._deeper -= 1
            return
        if all(name != open_name for open_name, _ in self.open):
            return
        while self.open.pop()[0] != name:
            pass
        if not self.open:
            self.clear()

    def expanded(self, name: bytes, *declared: Mapping[bytes, bytes]) -> str:
        """Return the name of an element with its namespace: `a:record` -> `{http://…}record`. A name without a prefix
        is in the default namespace. Without a namespace, and for a prefix that is not declared, the result is `record`.

        `declared` has declarations of elements inside the open ones, the innermost first; they count before those of
        the open elements. Each maps a prefix, b"" for the default namespace, to a namespace in quotes.
        """
        prefix, _, local_name = name.rpartition(b":")
        uri = next((names[prefix] for names in declared if prefix in names), None) or self._uri(prefix) or b'""'
        namespace = uri[1:-1].decode("utf-8", "replace").strip()
        decoded = local_name.decode("utf-8", "replace")
        return f"{{{namespace}}}{decoded}" if namespace else decoded

    @property
    def is_large(self) -> bool:
        """Whether open elements have more than 32 declarations of namespaces."""
        return sum(len(declared) for _, declared in self.open) > _FEW

    def declarations(self, record: bytes) -> bytes:
        """Return the namespaces that open elements declare, as attributes in UTF-8 (` xmlns:a="…"`), so that a record
        can be parsed alone. If `is_large`, only the default namespace and those whose prefixes occur in the bytes of
        the record. Those that would make more than 16 KiB are left out.
        """
        if self.is_large:
            return self._as_attributes((b"", *PREFIX.findall(record)))
        return self._as_attributes(prefix for _, declared in self.open for prefix in declared)

    def _as_attributes(self, prefixes: Iterable[bytes]) -> bytes:
        """Declarations of the namespaces of prefixes, as attributes, in UTF-8, without those beyond about 16 KiB."""
        attributes = b""
        for prefix in dict.fromkeys(prefixes):
            uri = self._uri(prefix)
            if uri and len(attributes) + len(uri) < _MAX_DECLARED:
                attributes += b" xmlns%b%b=%b" % (b":" if prefix else b"", prefix, uri)
        return attributes.decode(self.encoding, "replace").encode()

    def _uri(self, prefix: bytes) -> bytes | None:
        """Namespace of a prefix, in quotes."""
        return next((declared[prefix] for _, declared in reversed(self.open) if prefix in declared), None)
