"""Registry of all forms (formats of files with text inside), in the order in which they are tried.

A form is recognised by the first bytes of a file, or else by the suffix. The content of a form is recognised in the
same way, so forms can be nested in any order.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from urnscan.errors import SourceError
from urnscan.extensions import extensions
from urnscan.formats import unread
from urnscan.formats.archives import arc, tar, warc
from urnscan.formats.archives import zip as zip_archive
from urnscan.formats.buffer import Buffer
from urnscan.formats.compression import codecs
from urnscan.formats.contents import Document
from urnscan.formats.context import Layer
from urnscan.formats.documents import mail, marc_text, pdf
from urnscan.formats.protocol import ANY, Archive, Form, never, scan_as_it_is
from urnscan.formats.tables import arrow, former_outputs, parquet, sqlite, text_fields
from urnscan.stores.reader import Reader

# Bytes of the first look into a member, enough for nearly all forms. Of an input it is a byte, as a pipe may be slow.
_TELLING = 1 << 9


class Registry:
    """Forms (formats of files with text inside) in the order in which they are tried; recognises the form of a file.

    A form is tried only if one of its signatures begins with the first byte of the file, if it has no signatures, or if
    the suffix of the name belongs to it.
    """

    def __init__(self, forms: Iterable[Form[Any]], text_forms: Iterable[Form[Any]] = ()) -> None:
        """`forms` are tried in their order, first by `recognise`, then by `recognise_named`; `text_forms` last: CSV and
        JSON, which are read as tables only if the user names a column.
        """
        forms = tuple(forms)
        named = tuple(
            Archive(name=form.name, open=_misnamed(form.name), recognise=form.recognise_named, suffixes=form.suffixes)
            if form.needs_beginning
            else replace(form, recognise=form.recognise_named)
            for form in forms
            if form.recognise_named is not None
        )
        self._named, self._text_forms = named, tuple(text_forms)
        self._suffixes = tuple(suffix for form in named for suffix in form.suffixes)
        asked = (form for form in forms if form.recognise is not never)
        firsts = [(form, b"".join(sign[0] for sign in form.signs) or ANY) for form in asked]
        self._by_first = [tuple(form for form, first in firsts if byte in first) for byte in ANY]
        self.suffixes = frozenset(self._suffixes)
        """All suffixes by which a form is recognised."""
        self.signs = tuple(sign for form in forms for sign in form.signs)
        """Signatures of all forms."""

    def is_named(self, name: str) -> bool:
        """Whether the part of a name from its last full stop on, such as `.GZ`, is in `suffixes`, whatever its case."""
        return name[name.rfind(".") :].lower() in self.suffixes

    def may_be(self, head: bytes, layer: Layer, *, is_whole: bool) -> bool:
        """Whether a file that begins with `head` has one of the forms, or may have one, as more bytes are needed to
        decide. If False, the file is scanned as it is, whether text or not.

        `is_whole`: whether `head` is the whole file. `layer`: its name, options and limits.
        """
        form, is_unsure = self._tell(head, layer)
        return form is not None or (is_unsure and not is_whole)

    def recognise(self, reader: Buffer, layer: Layer) -> Form[Any] | None:
        """Return the form of the next bytes of `reader`, whose position does not move; None if they have no form (text
        or other bytes). An empty file has one only if no file with its suffix is empty; then `open` gives an error.

        Of an input it reads as few bytes as possible, as a pipe may be slow. `layer`: name, options and limits.
        """
        head = reader.head(_TELLING if layer.depth else 1)
        # What cannot be read is not empty: its next reader raises the error.
        if not head and reader.error is not None:
            return None
        while True:
            form, is_unsure = self._tell(head, layer)
            longer = reader.head(len(head) + 1) if is_unsure else head
            if len(longer) == len(head):
                return form
            head = longer

    def _tell(self, head: bytes, layer: Layer) -> tuple[Form[Any] | None, bool]:
        """Return the form of a file that begins with `head`, or None; and whether more bytes may show a form. An empty
        `head`: the file is empty.
        """
        is_unsure = False
        name = layer.file_name.lower()
        is_named = name.endswith(self._suffixes)
        named = (form for form in self._named if is_named and name.endswith(form.suffixes))
        if not head:
            return next((_empty(form) for form in named if form.recognise(head, layer)), None), False
        for form in itertools.chain(self._by_first[head[0]], named, self._text_forms):
            known = form.recognise(head, layer)
            if known:
                return form, False
            is_unsure |= known is None
        return None, is_unsure


def _empty(form: Form[Any]) -> Form[Any]:
    reason = f"is named like {form.name}, but is empty: it may be a failed transfer"
    return Archive(name=form.name, open=scan_as_it_is(SourceError, reason))


def _misnamed(name: str) -> Callable[[Reader, Layer], Iterator[Document | SourceError]]:
    return scan_as_it_is(
        SourceError, f"is named like {name} but does not begin like one: scanned unchanged, so text may be missing"
    )


FORMS = Registry(
    [
        # First, so that other packages can read forms that urnscan only recognises.
        *(point.load() for point in extensions("urnscan.formats")),
        *codecs.FORMS,
        warc.FORM,
        zip_archive.FORM,
        pdf.FORM,
        *mail.FORMS,
        parquet.FORM,
        *arrow.FORMS,
        sqlite.FORM,
        former_outputs.FORM,
        *unread.FORMS,
        tar.FORM,
        arc.FORM,
        marc_text.FORM,
    ],
    text_fields.FORMS,
)
"""All forms: first those of other packages that declare the entry point `urnscan.formats`, then those of urnscan."""
