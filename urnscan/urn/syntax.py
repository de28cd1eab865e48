"""The three URN syntaxes as data.

RFC 2141 §2; RFC 8141 §2 (as draft-ietf-urnbis-rfc2141bis-urn-20); draft-ietf-urnbis-rfc2141bis-urn-03 §2.
"""

from __future__ import annotations

import functools
import string
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeVar

import regex

from urnscan.errors import ArgumentError, unknown_value

_Choice = TypeVar("_Choice")
SyntaxName = Literal["rfc2141", "rfc8141", "rfc2141bis-03"]
"""Name of a syntax: a value of the option `syntax`."""

# Roles of a byte, one bit each. A syntax has a table of 256 sets of roles, which the compiled scanner reads, too.
ALNUM = 1
"""A letter or digit: the first character of a NID."""
LDH = 2
"""A letter, digit or hyphen: any character of a NID."""
HEX = 4
"""A digit of %HH."""
NSS_FIRST = 8
NSS = 16
COMPONENT = 32
"""A character of an r-component, except "?". A "?" needs a look at the next byte, because "?=" ends the component."""
QUERY = 64
"""A character of a q-component, an f-component or a fragment."""
VALUE = 128
"""A character in the value of a directive."""

# The text that may follow the NSS: nothing, components, or a query and a fragment.
TAIL_NONE, TAIL_COMPONENTS, TAIL_QUERY = range(3)

_LETTERS_DIGITS = string.ascii_letters + string.digits
NID_CHARS = _LETTERS_DIGITS + "-"
# The pchar of RFC 3986 §3.3, without percent-encoding.
_PCHAR = _LETTERS_DIGITS + "-._~!$&'()*+,;=:@"
# <trans> of RFC 2141 §2.2, with <other> and <reserved>.
_RFC2141_CHARS = _LETTERS_DIGITS + "()+,-.:=@;$_!*'/?#"


@dataclass(frozen=True, slots=True)
class Syntax:
    """A grammar of URNs, as a table for the scanner (`data`) and as a pattern for the parser (`namestring`)."""

    name: SyntaxName
    """Value of the option `syntax`."""
    reference: str
    """Document and section that define the syntax."""
    title: str
    """Title and date of that document."""
    data: bytes = field(repr=False)
    """256 bytes: element b is the union of the roles (bits) of byte b, of ALNUM, LDH, HEX, NSS_FIRST, NSS, COMPONENT,
    QUERY and VALUE (described at their constants); 0 for a byte without a role, also for `%`.
    """
    nid_min: int
    """Minimum number of characters of a NID. The maximum is 32 in all syntaxes."""
    nid_may_end_in_hyphen: bool
    """Whether a NID may end in a hyphen."""
    tail: int
    """The text that may follow the NSS: TAIL_NONE (nothing), TAIL_COMPONENTS (those of RFC 8141), or TAIL_QUERY (query
    and fragment of rfc2141bis-03).
    """
    reserved: str
    """Characters that the grammar allows in an NSS, but that are reserved. `encode_nss` encodes them."""
    namestring: str = field(repr=False)
    """Regular expression of a URN with its components, with the groups `nid`, `nss`, and `r`, `q` and `f` where the
    syntax has them, not anchored. After the NID the pattern never backtracks, so each match is the longest.
    """

    @property
    def pattern(self) -> regex.Pattern[str]:
        """The compiled form of the field `namestring`, with the groups `nid` and `nss`, and `r`, `q` and `f` where the
        syntax has them. The pattern is not anchored.
        """
        return pattern_of(self.namestring)

    @property
    def separators(self) -> bytes:
        """The bytes that no URN of this syntax contains, in ascending order."""
        return bytes(byte for byte in range(256) if not self.data[byte] and byte not in b"%?#")


pattern_of = functools.cache(regex.compile)
"""The compiled form of a regular expression (a str). It is compiled at its first use and kept, because few programs
need all patterns.
"""


def _bytes(**roles: str) -> bytes:
    """The roles of each of the 256 bytes, as bits. `roles` maps names of roles to characters; ALNUM, LDH and HEX are
    added.
    """
    roles |= {"ALNUM": _LETTERS_DIGITS, "LDH": NID_CHARS, "HEX": string.hexdigits}
    return bytes(sum(globals()[role] for role, chars in roles.items() if chr(byte) in chars) for byte in range(256))


def _chars(chars: str) -> str:
    return f"(?:[{regex.escape(chars, special_only=False)}]|%[0-9A-Fa-f][0-9A-Fa-f])"


_ALNUM = "[A-Za-z0-9]"
_SCHEME = "[Uu][Rr][Nn]:"
# The NID "urn" is reserved: RFC 2141 §2.1, bis-03 §2.1. RFC 8141 does not say so, but the same rule is applied to it.
_NOT_URN = f"(?!{_SCHEME})"
_NID_2141 = f"(?P<nid>{_NOT_URN}{_ALNUM}[A-Za-z0-9-]{{0,31}}):"
_NID_8141 = f"(?P<nid>{_NOT_URN}{_ALNUM}[A-Za-z0-9-]{{0,30}}{_ALNUM}):"
_PC, _PC_SLASH, _PC_SLASH_QUESTION = _chars(_PCHAR), _chars(_PCHAR + "/"), _chars(_PCHAR + "/?")
_VALUE_CHARS = (_PCHAR + "/?").replace("&", "")
_FRAGMENT = f"(?:#(?P<f>{_PC_SLASH_QUESTION}*+))?+"
URL = f"[A-Za-z][A-Za-z0-9+.-]*+://{_chars(_PCHAR + '/?[]')}++{_FRAGMENT}"
"""Pattern of a URL: a scheme, `://`, and characters that are allowed in URLs (RFC 3986 §2, §3). Group `f` is the
fragment.
"""
_DIRECTIVE = f"[A-Za-z](?:-?{_ALNUM})*+={_chars(_VALUE_CHARS)}*+"

_SYNTAXES = [
    Syntax(
        name="rfc2141",
        reference="RFC 2141 §2",
        title="URN Syntax (May 1997)",
        data=_bytes(NSS_FIRST=_RFC2141_CHARS, NSS=_RFC2141_CHARS),
        nid_min=1,
        nid_may_end_in_hyphen=True,
        tail=TAIL_NONE,
        # §2.3.2
        reserved="/?#",
        namestring=f"{_SCHEME}{_NID_2141}(?P<nss>{_chars(_RFC2141_CHARS)}++)",
    ),
    Syntax(
        name="rfc8141",
        reference="RFC 8141 §2 (draft-ietf-urnbis-rfc2141bis-urn-20)",
        title="Uniform Resource Names (April 2017)",
        data=_bytes(NSS_FIRST=_PCHAR, NSS=_PCHAR + "/", COMPONENT=_PCHAR + "/", QUERY=_PCHAR + "/?"),
        nid_min=2,
        nid_may_end_in_hyphen=False,
        tail=TAIL_COMPONENTS,
        reserved="",
        namestring=f"{_SCHEME}{_NID_8141}(?P<nss>{_PC}{_PC_SLASH}*+)"
        rf"(?:\?\+(?P<r>{_PC}(?:{_PC_SLASH}|\?(?!=))*+))?+(?:\?=(?P<q>{_PC}{_PC_SLASH_QUESTION}*+))?+{_FRAGMENT}",
    ),
    Syntax(
        name="rfc2141bis-03",
        reference="draft-ietf-urnbis-rfc2141bis-urn-03 §2",
        title="Uniform Resource Name (URN) Syntax (October 2012)",
        data=_bytes(NSS_FIRST=_PCHAR, NSS=_PCHAR, QUERY=_PCHAR + "/?", VALUE=_VALUE_CHARS),
        nid_min=2,
        nid_may_end_in_hyphen=False,
        tail=TAIL_QUERY,
        reserved="",
        namestring=rf"{_SCHEME}{_NID_8141}(?P<nss>{_PC}++)(?:\?(?P<q>{_DIRECTIVE}(?:&{_DIRECTIVE})*+))?+{_FRAGMENT}",
    ),
]
SYNTAXES: Mapping[SyntaxName, Syntax] = MappingProxyType({syntax.name: syntax for syntax in _SYNTAXES})
"""The syntaxes by their names."""

QUERY_KEYWORDS = ("s", "c")
"""Registered keywords of directives: the service, and a component of the resource (rfc2141bis-03 §9.2.1)."""
RESOLUTION_SERVICES: Mapping[str, str] = MappingProxyType(
    {
        "I2L": "URI to URL",
        "I2Ls": "URI to URLs",
        "I2R": "URI to resource",
        "I2Rs": "URI to resources",
        "I2C": "URI to URC",
        "I2Cs": "URI to URCs",
        "I2N": "URI to URN",
        "I2Ns": "URI to URNs",
        "I=I": "URI equal to URI?",
    }
)
"""Value of the directive `s` -> the requested service (rfc2141bis-03 §9.2.2).

The order is that of RFC 2483 §4, which has a subsection for each service.
"""


def keywords_of(query: str) -> Counter[str]:
    """How often each keyword occurs in a query of rfc2141bis-03 (§2.3): directives `keyword=value` with `&` between
    them, without the `?`. Keywords are in the order of their first occurrence; an empty query has none. %HH is not
    decoded, and case is significant.

    >>> dict(keywords_of("c=ToC&s=I2L&c=map"))
    {'c': 2, 's': 1}
    """
    return Counter(directive.partition("=")[0] for directive in query.split("&") if directive)


def get_syntax(name: str) -> Syntax:
    """The syntax with this name. Raises ArgumentError for an unknown name."""
    return chosen("syntax", SYNTAXES, name)


def chosen(label: str, choices: Mapping[Any, _Choice], name: str) -> _Choice:
    """The value of `choices` for the key `name`. Raises ArgumentError if there is no such key: the message begins with
    `label`, and lists the keys or, if `name` is not a str, says so.
    """
    try:
        return choices[name]
    except (KeyError, TypeError):
        raise ArgumentError(f"{label}: {unknown_value(as_text(label, name), choices)}") from None


def as_text(label: str, value: object) -> str:
    """Return `value` unchanged if it is a str. Raises ArgumentError for another type; the message begins with `label`:
    "`label` must be a str".
    """
    if isinstance(value, str):
        return value
    raise ArgumentError(f"{label} must be a str, not {type(value).__name__}")


def as_strings(name: str, value: object) -> tuple[str, ...]:
    """The value of an option as a tuple: `"a"` -> `("a",)`, an iterable of str -> a tuple of its items, perhaps empty.

    Raises ArgumentError for any other value; the message begins with `name`.
    """
    strings = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    if not all(isinstance(string, str) for string in strings):
        raise ArgumentError(f"{name} must be strings, not {value!r}")
    return strings


def as_bytes(label: str, value: object) -> bytes:
    """The content of a bytes-like value (bytes, bytearray, memoryview, array with items of one byte) as bytes.

    Raises ArgumentError for another type, also for a str; the message begins with `label`.
    """
    try:
        view = memoryview(value)  # type: ignore[arg-type]
    except TypeError:
        view = None
    if view is None or view.itemsize != 1:
        raise ArgumentError(f"{label} must be a str or bytes, not {type(value).__name__}")
    return view.tobytes()


def percent_encoded(data: bytes) -> str:
    """All bytes as `%HH` with upper-case hex digits, also those that need no encoding: `b"a/"` -> `"%61%2F"`."""
    return "".join(f"%{byte:02X}" for byte in data)
