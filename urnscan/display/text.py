"""Texts and tables for people: escaped for a terminal, in columns, or as HTML.

Text from inputs must neither change the terminal nor become markup. The HTML sets no colours and no fonts, so that it
follows the light or dark theme of the notebook.
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
_BEFORE, _BEHIND = 60, 20  # characters shown around the position of an error
_FAILURES = 20  # most failures that are listed
_LEFT, _RIGHT = 'style="text-align:left"', 'style="text-align:right"'  # notebooks align all cells right


def printable(text: str) -> str:
    """Escape control characters, so that names of files and their content cannot change the terminal."""
    return CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def in_line(text: str) -> str:
    """Make the text one line: each white space or control character becomes a space; others are escaped as in `printable`."""
    return printable(_BLANK.sub(" ", text))


def counted(number: int, one: str, many: str | None = None) -> str:
    """Number with a noun, in the plural unless it is 1.

    >>> counted(1, "record"), counted(1234, "class", "classes")
    ('1 record', '1,234 classes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def width_of(text: str) -> int:
    """Columns of a text in a terminal: wide East Asian characters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(char) in ("Mn", "Me") else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Fill up the text with spaces to `width` columns of a terminal; `right` aligns it right."""
    space = " " * (width - width_of(text))
    return space + text if right else text + space


def pointed(text: str, position: int) -> tuple[str, str]:
    r"""Two lines: the text (of a long one, the part around the position), and a caret below the position.

    >>> print(*pointed("urn:a b", 5), sep="\n")
    urn:a b
         ^
    """
    start, end = max(position - _BEFORE, 0), position + _BEHIND
    before = ("…" if start else "") + printable(text[start:position])
    return before + printable(text[position:end]) + ("…" if end < len(text) else ""), " " * width_of(before) + "^"


def html_text(text: str) -> str:
    """Escape a text for HTML."""
    import html  # noqa: PLC0415 (loads slowly, and the command does not need it)

    return html.escape(printable(text))


def trimming(count: int, remedy: str) -> str:
    """Sentence about occurrences that trimming would change; empty if there are none. `remedy` names the option."""
    if not count:
        return ""
    many = f"{count:,} occurrences end in punctuation or run into the next"
    one = "1 occurrence ends in punctuation or runs into the next"
    return f"{one if count == 1 else many}; {remedy} cuts that off"


def html_table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """HTML table of rows under column names: numbers right, with separators of thousands; None is an empty cell."""
    rows = [list(row) for row in rows]
    ends = [rows and _is_number(rows[0][column]) for column in range(len(names))]
    head = "".join(
        f"<th {_RIGHT if end else _LEFT}>{html_text(name)}</th>" for name, end in zip(names, ends, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_fields(fields: Iterable[tuple[str, object]]) -> str:
    """HTML table with a row for each name and value; values that are None or empty are left out."""
    rows = (
        f"<tr><th {_LEFT}>{html_text(name)}</th>{_cell(value)}</tr>"
        for name, value in fields
        if value is not None and value not in ("", ())
    )
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def html_counts(*counts: str) -> str:
    """HTML line with counts, to stand above a table."""
    return f"<p><b>{html_text(', '.join(counts))}</b></p>"


def html_trimming(count: int) -> str:
    """HTML line about trimming, to stand below a table; empty if trimming would change nothing."""
    said = trimming(count, "trim=True")
    return f"<p>{html_text(said)}</p>" if said else ""


def html_failures(failures: Sequence[Exception]) -> str:
    """HTML list of the first failures, and the number of the others; empty if there are none."""
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
