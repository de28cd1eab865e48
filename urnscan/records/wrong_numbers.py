"""Wrong ISBN and ISSN in the fields of records: the number, and what is wrong with it."""

from __future__ import annotations

import re
from typing import NamedTuple

from urnscan.records.fields import Own
from urnscan.records.identifiers import BRACKETS, as_text, counts_out, kind_of, wrong_numbers
from urnscan.urn.explanation import explain
from urnscan.urn.namespaces.references import why_no_isbn_or_issn
from urnscan.urn.numbers.field_values import LISTS, NEARLY, TYPESET

_DIGIT = re.compile(r"\d")
# Kinds of fields in which nothing else may be. A field of RIS may also have the number of a patent.
_TITLES = {"isbn": "an ISBN", "issn": "an ISSN"}


class WrongNumber(NamedTuple):
    """A wrong ISBN or ISSN in a record, and the reason why it is wrong."""

    number: str
    """The number as the record has it, but with plain hyphens. The whole text of the field if no part of it has the
    form of an ISBN or ISSN.
    """
    message: str
    """The reason why it is wrong, in words, with the right check digit if it can be known."""


def find_wrong(own: Own) -> list[WrongNumber]:
    """Return the different wrong numbers in the field `own`: a field for ISBN, ISSN or EAN, or a field of an unknown
    kind that shows such a number. One of another length is found only if it is alone in the field.

    Empty if an identifier in the field is right, and for fields of other kinds. Numbers that the record itself calls
    wrong (`(falsch)`) do not count, nor does a text without digits (`none`), or with digits that only fill the field
    (`0000000000`).

    >>> [wrong.message for wrong in find_wrong(Own("97803953634 (pbk.)", "isbn"))]
    ['it has 11 digits, but an ISBN has 10 or 13, and an ISSN has 8']
    """
    if own.is_key or as_text(own) is not None:
        return []
    if numbers := dict.fromkeys(wrong_numbers(own)):
        return [WrongNumber(number, _what_is_wrong(number)) for number in numbers]
    text, kind = own.text.strip(), kind_of(own.scheme)
    if kind not in (*_TITLES, "serial") or LISTS[kind].search(text) or len(set(_DIGIT.findall(text))) < 2:
        return []
    if any(counts_out(qualifier, kind) for qualifier in BRACKETS.findall(text)):
        return []
    explained = explain(text)
    # Words are not a URN that lacks its prefix, as for `urnscan explain`.
    is_nearly = NEARLY.match(text.translate(TYPESET).strip())
    message = why_no_isbn_or_issn(text) if is_nearly and not explained.read_as else None
    if message is None and kind in _TITLES:
        message = f"it is not {_TITLES[kind]}"
        message += f", but {explained.read_as}" if explained.read_as else ""
        message += ", whose check digit is wrong" if explained.valid is False else ""
    return [] if message is None else [WrongNumber(text, message)]


def _what_is_wrong(number: str) -> str:
    explained = explain(number)
    return str(explained.verdict or explained.reason).removeprefix("invalid: ")
