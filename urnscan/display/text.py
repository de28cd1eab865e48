"""Texts, sizes and tables for people: escaped for a terminal, in columns, or as HTML.

Text from inputs must not control the terminal, and must not become markup. The HTML sets no colours and no fonts, so
that the page follows the light or dark theme of the notebook.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

import regex

CONTROL = regex.compile(r"[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]")
"""Pattern of a character that could control a terminal: control, format, lone surrogate, line or paragraph separator."""
_SIZE = regex.compile(r"([0-9]{1,20})(?:\.([0-9]{1,20}))?\s*(|[kmgt]i?)b?", regex.IGNORECASE)
_BYTE = 0xDC00
"""Difference between the character for a byte that is not UTF-8, by "surrogateescape", and the byte."""
_BLANK = regex.compile(r"[\s\p{Cc}]")
# Characters shown before and after the position of an error.
_CONTEXT_BEFORE, _CONTEXT_AFTER = 60, 20
# Maximum number of failures that are listed.
_FAILURES = 20
# Notebooks align all cells right.
_LEFT, _RIGHT = 'style="text-align:left"', 'style="text-align:right"'


def printable(text: str) -> str:
    r"""Return the text with each control character, line break, tab, and invisible character of direction or format
    escaped as in Python (`\x1b`, `\n`, `\u202e`). A byte that is not UTF-8, in a text that Python read with
    "surrogateescape", is shown as `\xff`.
    """
    return CONTROL.sub(_escaped, text)


def _escaped(match: regex.Match[str]) -> str:
    """The escape of the character of a match of CONTROL."""
    byte = ord(match[0]) - _BYTE
    return f"\\x{byte:02x}" if 0x80 <= byte <= 0xFF else match[0].encode("unicode_escape").decode()


def in_line(text: str) -> str:
    r"""Return the text as a single line: each white space or control character becomes a space, and invisible
    characters of direction or format are escaped, as in `\u202e`.
    """
    return printable(_BLANK.sub(" ", text))


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number, with thousands separators, and a noun: `one` if the number is 1, otherwise `many` (by default, `one`
    with an s).

    >>> counted(1, "record"), counted(1234, "class", "classes")
    ('1 record', '1,234 classes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def bytes_of(text: str) -> int:
    """Number of bytes of a size in text form, rounded down. k, M, G, T are powers of 1000, and Ki, Mi, Gi, Ti powers of
    1024, in upper or lower case.

    Raises ValueError if the text is not a size.

    >>> bytes_of("500MB"), bytes_of("2 GiB"), bytes_of("1.5k"), bytes_of("7")
    (500000000, 2147483648, 1500, 7)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"invalid size {text!r}; write it like 500MB or 2GiB")
    whole, part, unit = match[1], match[2] or "", match[3].lower()
    factor: int = (1024 if unit.endswith("i") else 1000) ** " kmgt".index(unit[:1] or " ")
    divisor: int = 10 ** len(part)
    return int(whole + part) * factor // divisor


def width_of(text: str) -> int:
    """Width of a text in columns of a terminal: two for a wide character (East Asian, emoji), none for a combining
    mark without width.
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(char) in ("Mn", "Me") else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Return the text with spaces after it (with `right`, before it), so that it is `width` columns of a terminal wide.
    A text that is as wide or wider is unchanged.
    """
    space = " " * (width - width_of(text))
    return space + text if right else text + space


def pointed(text: str, position: int) -> tuple[str, str]:
    r"""Return two lines: the text, and a caret below the character at `position`, an index from 0. Control characters
    are escaped; of a long text only 60 characters before the position and 20 from it on are shown, with "…".

    >>> print(*pointed("urn:a b", 5), sep="\n")
    urn:a b
         ^
    """
    start, end = max(position - _CONTEXT_BEFORE, 0), position + _CONTEXT_AFTER
    before = ("…" if start else "") + printable(text[start:position])
    return before + printable(text[position:end]) + ("…" if end < len(text) else ""), " " * width_of(before) + "^"


def html_text(text: str) -> str:
    r"""The text escaped for HTML; control characters are escaped as in Python (`\x1b`)."""
    import html  # noqa: PLC0415 (loads slowly, and the command does not need it)

    return html.escape(printable(text))


def others_left_out(count: int | None) -> list[str]:
    """A list with the part of a summary about the `count` occurrences that a filter of names (`--nid`, `--not-nid`)
    left out; an empty list if `count` is None, which means that there was no filter.

    >>> others_left_out(1200), others_left_out(1), others_left_out(None)
    (['1,200 occurrences left out'], ['1 occurrence left out'], [])
    """
    return [] if count is None else [f"{counted(count, 'occurrence')} left out"]


class Readings(Protocol):
    """Numbers of occurrences that may be longer or shorter than their authors meant; reports of runs have these
    attributes.
    """

    trimmable: int
    """Occurrences that `trim` would change."""
    components_in_names: int
    """Occurrences whose names contain components of RFC 8141 (`?+`, `?=`, `#`), which rfc2141 treats as a part of the
    name.
    """
    longer_in_rfc8141: int
    """Occurrences that end before a `~` or `&`, which RFC 8141 allows in names."""
    cut_short: int
    """Occurrences that end before another character that looks like a part of the URN, such as ü."""


class _Hint(NamedTuple):
    """A sentence about occurrences or classes that another option would change, with the fields `{count}` and
    `{option}`.
    """

    one: str
    several: str


_TRIMMABLE = _Hint(
    "1 occurrence ends in punctuation or contains the next URN; {option} cuts that off",
    "{count:,} occurrences end in punctuation or contain the next URN; {option} cuts that off",
)
_UNTRIMMED = _Hint(" (1 name fits its namespace only then)", " ({count:,} names fit their namespaces only then)")
_COMPONENTS = _Hint(
    "1 occurrence has components of RFC 8141 (?+ ?= #); {option} separates them from the name",
    "{count:,} occurrences have components of RFC 8141 (?+ ?= #); {option} separates them from the name",
)
_LONGER = _Hint(
    "1 occurrence is cut before ~ or &, which RFC 8141 allows; {option} keeps 1 whole",
    "{count:,} occurrences are cut before ~ or &, which RFC 8141 allows; {option} keeps {count:,} whole",
)
_JOINABLE = _Hint(
    "1 class is equivalent to another by the rules of their namespaces; {option} joins them",
    "{count:,} classes are equivalent to others by the rules of their namespaces; {option} joins them",
)
_CUT_SHORT = _Hint(
    "1 occurrence is cut before a character that no URN may contain there, such as ü or a dash; {option} lists the "
    "places",
    "{count:,} occurrences are cut before characters that no URN may contain there, such as ü or a dash; {option} lists "
    "the places",
)


def hints(
    counts: Readings,
    option: Callable[[str, str | bool], str],
    rejects: str,
    *,
    untrimmed: int | None = None,
    joinable: int | None = None,
    has_rejects: bool = False,
) -> list[str]:
    """A list with a sentence for each option that would change the result of a run, according to its counts; empty if
    none would.

    `option` gets the name and the value of an option (True for a flag), and returns them as the user types them:
    `--trim`. `rejects`: the option or call that lists rejects (texts that are nearly URNs); no sentence advises it if
    `has_rejects`, because the run listed them. `untrimmed`: number of classes that fit their namespaces only after
    trimming; 0 or None: not mentioned. `joinable`: how many fewer classes the equivalence `namespace` would make; 0 or
    None (unknown): no sentence.
    """
    trim, rfc8141 = option("trim", True), option("syntax", "rfc8141")
    sentences = (
        _sentence(_TRIMMABLE, counts.trimmable, trim) + _sentence(_UNTRIMMED, counts.trimmable and untrimmed),
        _sentence(_COMPONENTS, counts.components_in_names, rfc8141),
        _sentence(_LONGER, counts.longer_in_rfc8141, rfc8141),
        _sentence(_JOINABLE, joinable, option("equivalence", "namespace")),
        _sentence(_CUT_SHORT, 0 if has_rejects else counts.cut_short, rejects),
    )
    return [sentence for sentence in sentences if sentence]


def _sentence(hint: _Hint, count: int | None, option: str = "") -> str:
    return (hint.one if count == 1 else hint.several).format(count=count, option=option) if count else ""


def html_table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """HTML table with a row for each of `rows` (at least one) below the column names. Numbers are aligned right, with
    thousands separators, and so are the names above numbers in the first row; a float has one decimal; None is an empty
    cell. Names and texts are escaped, and items of a list or tuple separated by commas.
    """
    sides = [_RIGHT if type(value) in (int, float) else _LEFT for value in rows[0]]
    head = "".join(f"<th {side}>{html_text(name)}</th>" for name, side in zip(names, sides, strict=True))
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_fields(fields: Iterable[tuple[str, object]]) -> str:
    """HTML table with a row for each pair of name and value, both escaped, without pairs whose value is None, `""` or
    `()`. Items of a list or tuple are separated by commas; numbers get thousands separators, and a float one decimal.
    """
    rows = (
        f"<tr><th {_LEFT}>{html_text(name)}</th>{_cell(value)}</tr>"
        for name, value in fields
        if value is not None and value not in ("", ())
    )
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def html_counts(*counts: str) -> str:
    """HTML paragraph in bold, with the counts (texts such as `3 classes`), escaped and separated by commas."""
    return f"<p><b>{html_text(', '.join(counts))}</b></p>"


def html_paragraphs(sentences: Iterable[str]) -> str:
    """HTML with a paragraph for each sentence, escaped; empty without sentences."""
    return "".join(f"<p>{html_text(sentence)}</p>" for sentence in sentences)


def html_failures(failures: Sequence[Exception], notes: Sequence[Exception] = ()) -> str:
    """HTML lists of the first 20 failures and of the first 20 notes, each with its total number and the number of the
    rest; empty without failures and notes.
    """
    return html_errors(failures, "failure") + html_errors(notes, "note")


def html_errors(errors: Sequence[Exception], one: str, many: str | None = None) -> str:
    """HTML list of the first 20 errors, with their total number (`one` and `many` are nouns as in `counted`) and the
    number of the rest; empty without errors.
    """
    if not errors:
        return ""
    lines = "".join(f"<li>{html_text(str(error))}</li>" for error in errors[:_FAILURES])
    # An error may represent several failures.
    count = sum(getattr(error, "count", 1) for error in errors)
    rest = count - sum(getattr(error, "count", 1) for error in errors[:_FAILURES])
    more = f"<p>and {rest:,} more</p>" if rest else ""
    return f"<p>{counted(count, one, many)}:</p><ul>{lines}</ul>{more}"


def _cell(value: object) -> str:
    if type(value) is int:
        return f"<td {_RIGHT}>{value:,}</td>"
    if type(value) is float:
        return f"<td {_RIGHT}>{value:,.1f}</td>"
    if isinstance(value, tuple | list):
        value = ", ".join(map(str, value))
    return f"<td {_LEFT}>{'' if value is None else html_text(str(value))}</td>"
