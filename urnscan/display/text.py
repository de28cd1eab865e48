"""Texts, sizes and tables for people: escaped for a terminal, in columns, or as HTML.

Text from inputs must not control the terminal, and must not become markup. The HTML sets no colours and no fonts, so
that the page follows the light or dark theme of the notebook.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import regex

CONTROL = regex.compile(r"[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]")
_SIZE = regex.compile(r"([0-9]{1,20})(?:\.([0-9]{1,20}))?\s*(|[kmgt]i?)b?", regex.IGNORECASE)
_BLANK = regex.compile(r"[\s\p{Cc}]")
# Characters shown before and after the position of an error.
_CONTEXT_BEFORE, _CONTEXT_AFTER = 60, 20
# Maximum number of failures that are listed.
_FAILURES = 20
# Notebooks align all cells right.
_LEFT, _RIGHT = 'style="text-align:left"', 'style="text-align:right"'


def printable(text: str) -> str:
    r"""Return the text with each control character, line break, tab, and invisible character of direction or format
    escaped as in Python (`\x1b`, `\n`, `\u202e`), so that names and contents of files cannot control the terminal.
    """
    return CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


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
    1024, in any case.

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
    """Width of a text in columns of a terminal: two for a wide East Asian character, none for a combining mark."""
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
    are escaped; of a long text only 60 characters before and 20 after the position are shown, with "…".

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
    (['1,200 others left out'], ['1 other left out'], [])
    """
    return [] if count is None else [f"{counted(count, 'other')} left out"]


def trimming(count: int, remedy: str, untrimmed: int | None = None) -> str:
    """Sentence about `count` occurrences that trimming would change; empty if `count` is 0.

    `remedy` is the option that trims. `untrimmed` is the number of classes that fit their namespaces only after
    trimming; 0 or None: not mentioned.

    >>> trimming(1, "--trim")
    '1 occurrence ends in punctuation or runs into the next; --trim cuts that off'
    """
    if not count:
        return ""
    many = f"{count:,} occurrences end in punctuation or run into the next"
    one = "1 occurrence ends in punctuation or runs into the next"
    sentence = f"{one if count == 1 else many}; {remedy} cuts that off"
    if not untrimmed:
        return sentence
    fitting = "1 name fits its namespace" if untrimmed == 1 else f"{untrimmed:,} names fit their namespaces"
    return f"{sentence} ({fitting} only then)"


def components(count: int, remedy: str) -> str:
    """Sentence about `count` occurrences whose names contain components of RFC 8141; empty if `count` is 0.

    `remedy` is the option that separates components from names.

    >>> components(1, "--syntax rfc8141")
    '1 occurrence has components of RFC 8141 (?+ ?= #); --syntax rfc8141 separates them from the name'
    """
    carry = "1 occurrence has" if count == 1 else f"{count:,} occurrences have"
    return f"{carry} components of RFC 8141 (?+ ?= #); {remedy} separates them from the name" if count else ""


def longer(count: int, remedy: str) -> str:
    """Sentence about `count` occurrences that end before a `~` or `&`, at which RFC 8141 would not end them; empty if
    `count` is 0. `remedy` is the option for RFC 8141.

    >>> longer(1, "--syntax rfc8141")
    '1 occurrence is cut before ~ or &, which RFC 8141 allows; --syntax rfc8141 keeps 1 whole'
    """
    are_cut = "1 occurrence is cut" if count == 1 else f"{count:,} occurrences are cut"
    return f"{are_cut} before ~ or &, which RFC 8141 allows; {remedy} keeps {count:,} whole" if count else ""


def cut_short(count: int, remedy: str) -> str:
    """Sentence about `count` occurrences that end before a character that no URN may contain there, but that looks like
    a part of it, such as ü; empty if `count` is 0. `remedy` is the option or call that lists the places.

    >>> cut_short(1, "--rejects FILE")
    '1 occurrence is cut before a character that no URN may contain there, such as ü or a dash; --rejects FILE lists the places'
    """
    are_cut = (
        "1 occurrence is cut before a character" if count == 1 else f"{count:,} occurrences are cut before characters"
    )
    return f"{are_cut} that no URN may contain there, such as ü or a dash; {remedy} lists the places" if count else ""


def joining(count: int | None, remedy: str) -> str:
    """Sentence about `count` classes (of URNs with the same canonical form) that name the same as another class by the
    rules of their namespaces; empty if `count` is 0 or None (unknown). `remedy` is the option that joins them.

    >>> joining(1, "--equivalence namespace")
    '1 class names the same as another by the rules of their namespaces; --equivalence namespace joins them'
    """
    if not count:
        return ""
    same = "1 class names the same as another" if count == 1 else f"{count:,} classes name the same as others"
    return f"{same} by the rules of their namespaces; {remedy} joins them"


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


def hints(
    counts: Readings,
    option: Callable[[str, str], str],
    rejects: str,
    *,
    untrimmed: int | None = None,
    joinable: int | None = None,
    has_rejects: bool = False,
) -> list[str]:
    """A list with a sentence for each option that would change the result of a run, according to its counts; empty if
    none would.

    `option` gets the name and the value of an option (empty for a flag), and returns them in the form that the user
    types, such as `--trim`. `rejects` is the option or call that lists rejects (texts that are nearly URNs); no
    sentence advises it if `has_rejects`, because the run listed them. `untrimmed` is the number of classes that fit
    their namespaces only after trimming; 0 or None: not mentioned. `joinable` is how many fewer classes the equivalence
    `namespace` would make; 0 or None (unknown): no sentence.
    """
    rfc8141 = option("syntax", "rfc8141")
    sentences = (
        trimming(counts.trimmable, option("trim", ""), untrimmed),
        components(counts.components_in_names, rfc8141),
        longer(counts.longer_in_rfc8141, rfc8141),
        joining(joinable, option("equivalence", "namespace")),
        cut_short(0 if has_rejects else counts.cut_short, rejects),
    )
    return [sentence for sentence in sentences if sentence]


def html_table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """HTML table with a row for each of `rows` (at least one) below the column names. Numbers are aligned right and
    have thousands separators; None is an empty cell.
    """
    sides = [_RIGHT if type(value) in (int, float) else _LEFT for value in rows[0]]
    head = "".join(f"<th {side}>{html_text(name)}</th>" for name, side in zip(names, sides, strict=True))
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_fields(fields: Iterable[tuple[str, object]]) -> str:
    """HTML table with a row for each pair of name and value, without pairs whose value is None or empty."""
    rows = (
        f"<tr><th {_LEFT}>{html_text(name)}</th>{_cell(value)}</tr>"
        for name, value in fields
        if value is not None and value not in ("", ())
    )
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def html_counts(*counts: str) -> str:
    """HTML paragraph in bold, with the counts (texts such as `3 classes`) separated by commas."""
    return f"<p><b>{html_text(', '.join(counts))}</b></p>"


def python_hints(
    counts: Readings, *, untrimmed: int | None = None, joinable: int | None = None, has_rejects: bool = False
) -> list[str]:
    """A sentence for each option that would change the result of a run, as `hints` returns them, with options in the
    form of Python: `trim=True`.
    """

    def option(name: str, value: str) -> str:
        return f'{name}="{value}"' if value else f"{name}=True"

    rejects = "urnscan.scan(..., rejects=True)"
    return hints(counts, option, rejects, untrimmed=untrimmed, joinable=joinable, has_rejects=has_rejects)


def html_paragraphs(sentences: Iterable[str]) -> str:
    """HTML with a paragraph for each sentence, escaped; empty without sentences."""
    return "".join(f"<p>{html_text(sentence)}</p>" for sentence in sentences)


def html_failures(failures: Sequence[Exception], notes: Sequence[Exception] = ()) -> str:
    """HTML lists of the first 20 failures and of the first 20 notes, each with its total number and the number of the
    rest; empty without failures and notes.
    """
    return _html_errors(failures, "failure") + _html_errors(notes, "note")


def _html_errors(errors: Sequence[Exception], one: str) -> str:
    if not errors:
        return ""
    lines = "".join(f"<li>{html_text(str(error))}</li>" for error in errors[:_FAILURES])
    # An error may represent several failures.
    count = sum(getattr(error, "count", 1) for error in errors)
    rest = count - sum(getattr(error, "count", 1) for error in errors[:_FAILURES])
    more = f"<p>and {rest:,} more</p>" if rest else ""
    return f"<p>{counted(count, one)}:</p><ul>{lines}</ul>{more}"


def _cell(value: object) -> str:
    if type(value) is int:
        return f"<td {_RIGHT}>{value:,}</td>"
    if type(value) is float:
        return f"<td {_RIGHT}>{value:,.1f}</td>"
    if isinstance(value, tuple | list):
        value = ", ".join(map(str, value))
    return f"<td {_LEFT}>{'' if value is None else html_text(str(value))}</td>"
