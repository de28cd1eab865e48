"""What people are shown of texts and tables: escaped, counted, in columns of a terminal or as HTML.

The text of corpora is data: it neither commands a terminal nor becomes markup. HTML has no colours and no fonts of its
own, so that it looks as the notebook does, in the light and in the dark.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

import regex

__all__ = [
    "CONTROL",
    "counted",
    "html_counts",
    "html_failures",
    "html_fields",
    "html_table",
    "html_text",
    "html_trimming",
    "in_line",
    "padded",
    "pointed",
    "printable",
    "trimming",
    "width_of",
]

CONTROL = regex.compile(r"[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]")
_BLANK = regex.compile(r"[\s\p{Cc}]")
_BEFORE, _BEHIND = 60, 20  # characters of a text that is no URN, around the place where it stops being one
_FAILURES = 20  # that are listed
_LEFT, _RIGHT = 'style="text-align:left"', 'style="text-align:right"'  # notebooks set all cells right


def printable(text: str) -> str:
    """The text with control characters escaped: names of files and what they hold must not command a terminal."""
    return CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def in_line(text: str) -> str:
    """The same for a part of a running text: white space and control characters are a space each, so it is one line."""
    return printable(_BLANK.sub(" ", text))


def counted(number: int, one: str, many: str | None = None) -> str:
    """The number and what is counted, in the plural where it is not one.

    >>> counted(1, "record"), counted(1234, "class", "classes")
    ('1 record', '1,234 classes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def width_of(text: str) -> int:
    """The columns that a text takes in a terminal: wide characters of East Asia take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(char) in ("Mn", "Me") else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def padded(text: str, width: int, *, right: bool = False) -> str:
    """The text filled up with spaces to so many columns of a terminal; `right`: it stands at the end of them."""
    space = " " * (width - width_of(text))
    return space + text if right else text + space


def pointed(text: str, position: int) -> tuple[str, str]:
    r"""A line with the text, or of a long one what is around a position in it, and a line with a caret below that place.

    >>> print(*pointed("urn:a b", 5), sep="\n")
    urn:a b
         ^
    """
    start, end = max(position - _BEFORE, 0), position + _BEHIND
    before = ("…" if start else "") + printable(text[start:position])
    return before + printable(text[position:end]) + ("…" if end < len(text) else ""), " " * width_of(before) + "^"


def html_text(text: str) -> str:
    """A text as HTML."""
    import html  # noqa: PLC0415 (slow to load: the command does without)

    return html.escape(printable(text))


def trimming(count: int, remedy: str) -> str:
    """What is told of so many occurrences that trimming would have changed; nothing where there are none."""
    if not count:
        return ""
    many = f"{count:,} occurrences end in punctuation or run into the next"
    one = "1 occurrence ends in punctuation or runs into the next"
    return f"{one if count == 1 else many}; {remedy} cuts that off"


def html_table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows of values under names: numbers to the right, with separators of thousands; None is an empty cell."""
    rows = [list(row) for row in rows]
    ends = [rows and _is_number(rows[0][column]) for column in range(len(names))]
    head = "".join(
        f"<th {_RIGHT if end else _LEFT}>{html_text(name)}</th>" for name, end in zip(names, ends, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_fields(fields: Iterable[tuple[str, object]]) -> str:
    """Names and values, a row each; those that are None or empty are left out."""
    rows = (
        f"<tr><th {_LEFT}>{html_text(name)}</th>{_cell(value)}</tr>"
        for name, value in fields
        if value is not None and value not in ("", ())
    )
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def html_counts(*counts: str) -> str:
    """What was counted, as the line above a table."""
    return f"<p><b>{html_text(', '.join(counts))}</b></p>"


def html_trimming(count: int) -> str:
    """What is told of trimming, as the line below a table."""
    said = trimming(count, "trim=True")
    return f"<p>{html_text(said)}</p>" if said else ""


def html_failures(failures: Sequence[Exception]) -> str:
    """The first of the failures, a line each, and how many more there are; nothing where there are none."""
    if not failures:
        return ""
    more = f"<p>and {len(failures) - _FAILURES:,} more</p>" if len(failures) > _FAILURES else ""
    lines = "".join(f"<li>{html_text(str(failure))}</li>" for failure in failures[:_FAILURES])
    return f"<p>{counted(len(failures), 'failure')}:</p><ul>{lines}</ul>{more}"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: object) -> str:
    if _is_number(value):
        return f"<td {_RIGHT}>{value:,}</td>" if isinstance(value, int) else f"<td {_RIGHT}>{value:,.1f}</td>"
    if isinstance(value, tuple | list):
        value = ", ".join(map(str, value))
    return f"<td {_LEFT}>{'' if value is None else html_text(str(value))}</td>"
