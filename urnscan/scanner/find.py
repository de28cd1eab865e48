"""The scanner of a string."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from urnscan.display.text import html_fields
from urnscan.errors import ArgumentError, checks_options
from urnscan.scanner.blocks import Scanner
from urnscan.scanner.grammar import MAX_LENGTH, Grammar, ResolverTail
from urnscan.urn.equivalence import LevelName, get_level
from urnscan.urn.namespaces.own import Rules
from urnscan.urn.syntax import SyntaxName, as_bytes, as_strings, get_syntax

# Matches in a batch. Most strings have few matches.
_ROWS = 1024


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A URN in a text, with the position in that text, the spelling and the canonical form."""

    text: str
    """The spelling, as in the text."""
    start: int
    """Index of the first character (of a str) or byte (of bytes) in the text, from 0."""
    end: int
    """Index after the last character or byte: `text` is the slice from `start` to `end`."""
    urn: str
    """The canonical form. All occurrences with the same canonical form are one class."""
    nid: str
    """The namespace identifier in lower case."""

    def _repr_html_(self) -> str:
        """HTML for a notebook."""
        return html_fields((name, getattr(self, name)) for name in self.__slots__)


def _bytes(text: object) -> bytes:
    if isinstance(text, list | tuple) or hasattr(text, "__arrow_c_stream__"):
        kind = type(text).__name__
        raise ArgumentError(f"a text must be a str or bytes, not {kind}; urnscan.scan_frame takes a column of texts")
    return as_bytes("a text", text)


@checks_options
def find(
    text: str | bytes,
    *,
    syntax: SyntaxName = "rfc2141",
    equivalence: LevelName = "lexical",
    trim: bool = False,
    resolver_tail: ResolverTail = "keep",
    max_length: int = MAX_LENGTH,
    nid: str | Iterable[str] = (),
    not_nid: str | Iterable[str] = (),
    rules: Rules = None,
) -> list[Occurrence]:
    """Return all URNs in a text, from left to right; an empty list without URNs. A URN ends at the first character that
    the syntax does not allow (RFC 2141 §2.4), or after `max_length` bytes (1 to 2**28).

    `trim` removes punctuation at the end of a URN (and `,urn:` with what follows), and `resolver_tail="cut"` the rest
    of a URL around it (`&page=2`). `nid` and `not_nid` are prefixes of names, in any case, to keep and to leave out
    (`isbn`, `nbn:de`; one or several). `rules` are custom rules of namespaces: a file, or the result of
    `urnscan.namespaces.read_rules`.

    Raises ArgumentError (a ValueError and a TypeError) for a `text` that is neither a str nor bytes-like, for an
    unknown option, and for an invalid value of an option; FatalError for a file of rules that cannot be read or is
    wrong.

    >>> find("„urn:nbn:de:101:1-201609052530“")
    [Occurrence(text='urn:nbn:de:101:1-201609052530', start=1, end=30, urn='urn:nbn:de:101:1-201609052530', nid='nbn')]
    """
    level = get_level(equivalence, syntax, rules)
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else _bytes(text)
    array = np.frombuffer(data, np.uint8)
    grammar = Grammar(
        syntax=get_syntax(syntax),
        max_length=max_length,
        trim=trim,
        resolver_tail=resolver_tail,
        keep_query=level.keep_query,
        count_lines=False,
        nid=as_strings("nid", nid),
        not_nid=as_strings("not_nid", not_nid),
    )
    ascii_only = len(data) == len(text)
    # The place of a character is the number of earlier bytes that begin a character (are not continuation bytes).
    characters = None if ascii_only else np.cumsum((array & 0xC0) != 0x80)
    occurrences = []
    for matches in Scanner(grammar, rows=_ROWS).scan_bytes(array):
        canonical = matches.canonical.tobytes().decode()
        for i, start in enumerate(matches.start.tolist()):
            length, nid_length = int(matches.length[i]), int(matches.nid_length[i])
            urn = canonical[matches.canonical_offsets[i] : matches.canonical_offsets[i + 1]]
            first = start if characters is None else int(characters[start]) - 1
            occurrences.append(
                Occurrence(
                    text=data[start : start + length].decode(),
                    start=first,
                    # A URN is ASCII, so it has as many characters as bytes.
                    end=first + length,
                    urn=level.refine(urn),
                    nid=urn[4 : 4 + nid_length],
                )
            )
    return occurrences
