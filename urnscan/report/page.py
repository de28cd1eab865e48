"""The frame of every page: templates in which any text is harmless and visible, numbers are readable, bars fit.

Whatever a template puts out goes through `_put`: text is escaped, and characters that are not seen or that command
(controls, bidirectional ones, lone surrogates) become a sign that is; whole numbers get their commas. A template has to
ask for anything else.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import count, groupby
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from urnscan.display.text import counted

__all__ = ["Bar", "bars", "digest", "page", "percent", "plain", "ranges", "script", "visible"]

# Controls, noncharacters, surrogates, interlinear annotation, and what Unicode calls Default_Ignorable_Code_Point. It is
# written out, as Python's `unicodedata` is not the same in every version and the page has to be. Unlike in most texts,
# joiners and variation selectors are shown, too: they may be all that two records differ in.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}-{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
    + "]"
)
# What catalogues are full of, gets signs of its own; the others say what they are.
_SIGNS = {"\t": "→", "\x1d": "¶", "\x1e": "¬", "\x1f": "▾"}


def _sign(character: str) -> str:
    r"""What stands for a character that is not seen.

    >>> [_sign(character) for character in "\x00\x1f\u202e"]
    ['[U+0000]', '▾', '[U+202E]']
    """
    return _SIGNS.get(character) or f"[U+{ord(character):04X}]"


def _marked(match: re.Match[str]) -> str:
    return f'<span class="unseen" title="U+{ord(match[0]):04X}">{_sign(match[0])}</span>'


def visible(text: str) -> Markup:
    r"""Any text as HTML, in which every character is seen and none commands.

    >>> visible("<b>\u202e")
    Markup('&lt;b&gt;<span class="unseen" title="U+202E">[U+202E]</span>')
    """
    return Markup(_UNSEEN.sub(_marked, str(escape(text))))  # noqa: S704 (escaped, and the rest is ours)


def plain(text: str) -> Markup:
    r"""The same without elements, for where HTML has text alone: titles and attributes.

    >>> plain("a & b\x00")
    Markup('a &amp; b[U+0000]')
    """
    return escape(_UNSEEN.sub(lambda match: _sign(match[0]), text))


def percent(part: int, whole: int) -> str:
    """How much of the whole a part is, in percent with one decimal; something is never 0.0, nor 100.0 what is not all.

    >>> percent(1, 8), percent(0, 0), percent(1, 1_000_000), percent(999_999, 1_000_000)
    ('12.5 %', '0 %', '< 0.1 %', '> 99.9 %')
    """
    if part in {0, whole}:
        return "100 %" if part else "0 %"
    if 1000 * part < whole:
        return "< 0.1 %"
    return "> 99.9 %" if 1000 * (whole - part) < whole else f"{100 * part / whole:.1f} %"


class Bar(NamedTuple):
    """A row of a table with a bar."""

    label: str
    number: int
    others: tuple[int | str, ...]
    """What stands in the further columns."""
    width: str
    """Of the bar, in percent: it grows with the logarithm of the count, as counts of what is rare would not be seen."""


def bars(rows: Iterable[tuple[str, int, *tuple[int | str, ...]]]) -> list[Bar]:
    """Rows of a label, a count and whatever stands behind it, with bars; the longest is as wide as there is room.

    >>> [bar.width for bar in bars([("1", 999), ("2", 9), ("3", 0)])]
    ['100.0', '33.3', '0.0']
    """
    rows = list(rows)
    longest = math.log1p(max((count for _, count, *_ in rows), default=0)) or 1.0
    return [
        Bar(label, count, tuple(others), f"{100 * math.log1p(count) / longest:.1f}") for label, count, *others in rows
    ]


def ranges(sizes: Iterable[int]) -> Iterator[tuple[str, list[int]]]:
    """Sizes that are shown together, with a label for them: up to 10 each alone, then 11 to 20, to 50, to 100, to 200 …

    >>> [within for _, within in ranges([1, 9, 12, 20, 300])]
    [[1], [9], [12, 20], [300]]
    """

    def bounds() -> Iterator[tuple[int, int]]:
        yield from ((size, size) for size in range(11))
        last = 10
        for power in count(1):
            for step in (2, 5, 10):
                first, last = last + 1, step * 10**power
                yield first, last

    steps = bounds()
    first, last = next(steps)

    def label(size: int) -> str:
        nonlocal first, last
        while size > last:
            first, last = next(steps)
        return f"{first:,}" if first == last else f"{first:,}–{last:,}"  # noqa: RUF001 (a range)

    for shown, within in groupby(sorted(sizes), label):
        yield shown, list(within)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("urnscan.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_put,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"plain": plain, "counted": counted}
    environment.globals["percent"] = percent
    return environment


def _put(value: Any) -> Any:  # noqa: ANN401 (whatever a template puts out)
    """What is put out for a value: HTML as it is, text and numbers made readable."""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value)
    return value


def script(name: str) -> Markup:
    """A script of this package as it stands in its file, where it holds nothing that would end the element."""
    text = _environment().get_template(name).render()
    return Markup(text)  # noqa: S704 (ours)


def digest(text: str) -> str:
    """What a policy calls a script by, which then is the only one that a browser runs."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def page(template: str, **values: object) -> str:
    """The page that a template of this package makes of the values."""
    return _environment().get_template(template).render(values)
