"""Templates of HTML pages, in which any text is harmless and visible, and numbers are readable.

All output of templates passes `_put`. It escapes text, and groups the digits of integers by commas. It replaces
characters that are invisible or change the display (controls, bidirectional ones, lone surrogates) by visible signs.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import groupby
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from urnscan.display.text import counted

# Controls, noncharacters, surrogates, interlinear annotation, and Unicode's Default_Ignorable_Code_Point. The list is
# written out because `unicodedata` differs between versions of Python, and a page must not. Joiners and variation
# selectors are shown, too, because they may be the only difference between two records.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}-{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
    + "]"
)
# Characters that are frequent in catalogues have signs of their own; the others show their code points.
_SIGNS = {"\t": "→", "\x1d": "¶", "\x1e": "¬", "\x1f": "▾"}


def _sign(character: str) -> str:
    r"""The sign for an invisible character.

    >>> [_sign(character) for character in "\x00\x1f\u202e"]
    ['[U+0000]', '▾', '[U+202E]']
    """
    return _SIGNS.get(character) or f"[U+{ord(character):04X}]"


def visible(text: str) -> Markup:
    r"""Return a text as HTML in which all characters are visible, and no character changes the display: an invisible
    one is replaced by a sign in a `span` element.

    >>> visible("<b>\u202e")
    Markup('&lt;b&gt;<span class="unseen" title="U+202E">[U+202E]</span>')
    """

    def span(match: re.Match[str]) -> str:
        return f'<span class="unseen" title="U+{ord(match[0]):04X}">{_sign(match[0])}</span>'

    return Markup(_UNSEEN.sub(span, str(escape(text))))  # noqa: S704 (escaped, and the rest is ours)


def plain(text: str) -> Markup:
    r"""Return a text escaped for HTML, for titles and attributes: with signs instead of invisible characters, and
    without elements.

    >>> plain("a & b\x00")
    Markup('a &amp; b[U+0000]')
    """
    return escape(_UNSEEN.sub(lambda match: _sign(match[0]), text))


def percent(part: int, whole: int) -> str:
    """`part` as a percentage of `whole`, with one decimal. Only a part of 0 is `0 %`, and only the whole is `100 %`.

    >>> percent(1, 8), percent(0, 0), percent(1, 1_000_000), percent(999_999, 1_000_000)
    ('12.5 %', '0 %', '< 0.1 %', '> 99.9 %')
    """
    if part in {0, whole}:
        return "100 %" if part else "0 %"
    if 1000 * part < whole:
        return "< 0.1 %"
    return "> 99.9 %" if 1000 * (whole - part) < whole else f"{100 * part / whole:.1f} %"


def common_folder(names: Iterable[str]) -> str:
    """Return the longest folder, with its final `/`, that contains all sources (paths or URLs); empty if there is none,
    only `/`, or no source.

    >>> common_folder(["/data/2024/a/1.txt", "/data/2024/b.txt"]), common_folder(["https://a.org/1", "https://b.org/1"])
    ('/data/2024/', '')
    """
    names = sorted(names) or [""]
    least, greatest = names[0], names[-1]
    folder = least
    while folder and (folder == least or not greatest.startswith(folder)):
        folder = folder[: folder.rstrip("/").rfind("/") + 1]
    return "" if folder.endswith("//") or folder == "/" else folder


def by_size(sizes: Mapping[int, int]) -> list[tuple[str, int, int]]:
    """Add up numbers of groups in ranges of sizes: 0, 1, … 10, then 11 to 20, 21 to 50, 51 to 100 …

    `sizes`: size -> number of groups. Returns a tuple for each range that has groups: label, number of groups, sum of
    their sizes.

    >>> by_size({1: 90, 2: 1, 10: 2})
    [('1', 90, 90), ('2', 1, 2), ('10', 2, 20)]
    """
    rows = []
    for (first, last), within in groupby(sorted(sizes.items()), lambda item: _range(item[0])):
        groups = list(within)
        label = f"{first:,}" if first == last else f"{first:,}–{last:,}"  # noqa: RUF001 (a range)
        rows.append((label, sum(number for _, number in groups), sum(size * number for size, number in groups)))
    return rows


def _range(size: int) -> tuple[int, int]:
    if size <= 10:
        return size, size
    power = 10 ** (len(str(size - 1)) - 1)
    steps = ((1, 2), (2, 5), (5, 10))
    return next((low * power + 1, high * power) for low, high in steps if size <= high * power)


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


def _put(value: Any) -> Any:  # noqa: ANN401 (any value of a template)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value)
    return value


def script(name: str) -> Markup:
    """Return the file `name` of the templates of `urnscan.report` as a script for a page, with the files that it
    includes (`{% include "parts.js" %}`). It must contain no other marks of Jinja, and no text that ends an element of
    HTML.
    """
    text = _environment().get_template(name).render()
    return Markup(text)  # noqa: S704 (ours)


def digest(text: str) -> str:
    """Return the SHA-256 of a script (its bytes in UTF-8) as `sha256-` and base64. A Content-Security-Policy with this
    value lets a browser run only this script.
    """
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def page(template: str, **values: object) -> str:
    """Return the HTML of the template `template` (`scan.html`), filled with `values`, by name. Texts are escaped,
    except `Markup`; integers get commas. Raises `jinja2.UndefinedError` if a value that the template uses is missing.
    """
    return _environment().get_template(template).render(values)


def stream(template: str, **values: object) -> Iterator[str]:
    """Yield the HTML of the template `template` (`review.html`) in pieces, filled with `values`, by name (texts are
    escaped, except `Markup`). Each piece is made when the caller asks for it; then `jinja2.UndefinedError` is raised if
    it uses a value that is missing.
    """
    return _environment().get_template(template).generate(values)
