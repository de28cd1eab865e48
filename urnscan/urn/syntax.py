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
from typing import Literal, TypeVar

import regex

from urnscan.errors import ArgumentError

_Choice = TypeVar("_Choice")
SyntaxName = Literal["rfc2141", "rfc8141", "rfc2141bis-03"]

# Roles of an octet, one bit each. A syntax is a table of 256 sets of roles, which the compiled scanner reads, too.
ALNUM = 1  # letter or digit: the first character of a NID
LDH = 2  # letter, digit or hyphen: inside a NID
HEX = 4  # a digit of %HH
NSS_FIRST = 8
NSS = 16
COMPONENT = 32  # r-component; its "?" is looked at apart, since "?=" ends it
QUERY = 64  # q-component, f-component, fragment
VALUE = 128  # the value of a directive

# What may follow the NSS.
TAIL_NONE, TAIL_COMPONENTS, TAIL_QUERY = range(3)

_LETTERS_DIGITS = string.ascii_letters + string.digits
NID_CHARS = _LETTERS_DIGITS + "-"
_PCHAR = _LETTERS_DIGITS + "-._~!$&'()*+,;=:@"  # RFC 3986 §3.3, but for percent-encoding
_RFC2141_CHARS = _LETTERS_DIGITS + "()+,-.:=@;$_!*'/?#"  # RFC 2141 §2.2 <trans>: <other> and <reserved> included


@dataclass(frozen=True, slots=True)
class Syntax:
    """A grammar, as a table for the scanner and as a pattern for the parser."""

    name: SyntaxName
    """Value of the option `syntax`."""
    reference: str
    """Document and section that define it."""
    title: str
    """Title and date of that document."""
    octets: bytes = field(repr=False)
    """Roles of each octet: a set of the bits ALNUM to VALUE."""
    nid_min: int
    """Least number of characters of a NID; the most are 32 in all syntaxes."""
    nid_may_end_in_hyphen: bool
    """Whether a NID may end in a hyphen."""
    tail: int
    """The text that may follow the NSS: one of TAIL_NONE, TAIL_COMPONENTS, TAIL_QUERY."""
    reserved: str
    """Characters that may stand in an NSS, but that a name itself is not written with: a translation encodes them."""
    namestring: str = field(repr=False)
    """Regular expression of a namestring, with a group for each part; it never backtracks, so matches are longest."""

    @property
    def pattern(self) -> regex.Pattern[str]:
        """The compiled `namestring`."""
        return pattern_of(self.namestring)

    @property
    def separators(self) -> bytes:
        """Octets that no URN of this syntax holds. A text can be cut at them."""
        return bytes(octet for octet in range(256) if not self.octets[octet] and octet not in b"%?#")


pattern_of = functools.cache(regex.compile)
"""A pattern, compiled at its first use: few programs need all."""


def _octets(**roles: str) -> bytes:
    """Table of a syntax from the characters of each role."""
    roles |= {"ALNUM": _LETTERS_DIGITS, "LDH": NID_CHARS, "HEX": string.hexdigits}
    return bytes(sum(globals()[role] for role, chars in roles.items() if chr(octet) in chars) for octet in range(256))


def _chars(chars: str) -> str:
    """Pattern of one character of a set; %HH is a character of every set."""
    return f"(?:[{regex.escape(chars, special_only=False)}]|%[0-9A-Fa-f][0-9A-Fa-f])"


_ALNUM = "[A-Za-z0-9]"
_SCHEME = "[Uu][Rr][Nn]:"
# The NID "urn" is reserved: RFC 2141 §2.1, bis-03 §2.1. RFC 8141 does not say so; no URN begins "urn:urn:" there either.
_NOT_URN = f"(?!{_SCHEME})"
_NID_2141 = f"(?P<nid>{_NOT_URN}{_ALNUM}[A-Za-z0-9-]{{0,31}}):"
_NID_8141 = f"(?P<nid>{_NOT_URN}{_ALNUM}[A-Za-z0-9-]{{0,30}}{_ALNUM}):"
_PC, _PC_SLASH, _PC_SLASH_QUESTION = _chars(_PCHAR), _chars(_PCHAR + "/"), _chars(_PCHAR + "/?")
_VALUE_CHARS = (_PCHAR + "/?").replace("&", "")
_FRAGMENT = f"(?:#(?P<f>{_PC_SLASH_QUESTION}*+))?+"
URL = f"[A-Za-z][A-Za-z0-9+.-]*+://{_chars(_PCHAR + '/?[]')}++{_FRAGMENT}"
"""Pattern of a URL: a scheme, `://`, and characters that URLs may hold (RFC 3986 §2, §3)."""
_DIRECTIVE = f"[A-Za-z](?:-?{_ALNUM})*+={_chars(_VALUE_CHARS)}*+"

_SYNTAXES = [
    Syntax(
        name="rfc2141",
        reference="RFC 2141 §2",
        title="URN Syntax (May 1997)",
        octets=_octets(NSS_FIRST=_RFC2141_CHARS, NSS=_RFC2141_CHARS),
        nid_min=1,
        nid_may_end_in_hyphen=True,
        tail=TAIL_NONE,
        reserved="/?#",  # §2.3.2
        namestring=f"{_SCHEME}{_NID_2141}(?P<nss>{_chars(_RFC2141_CHARS)}++)",
    ),
    Syntax(
        name="rfc8141",
        reference="RFC 8141 §2 (draft-ietf-urnbis-rfc2141bis-urn-20)",
        title="Uniform Resource Names (April 2017)",
        octets=_octets(NSS_FIRST=_PCHAR, NSS=_PCHAR + "/", COMPONENT=_PCHAR + "/", QUERY=_PCHAR + "/?"),
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
        octets=_octets(NSS_FIRST=_PCHAR, NSS=_PCHAR, QUERY=_PCHAR + "/?", VALUE=_VALUE_CHARS),
        nid_min=2,
        nid_may_end_in_hyphen=False,
        tail=TAIL_QUERY,
        reserved="",
        namestring=rf"{_SCHEME}{_NID_8141}(?P<nss>{_PC}++)(?:\?(?P<q>{_DIRECTIVE}(?:&{_DIRECTIVE})*+))?+{_FRAGMENT}",
    ),
]
SYNTAXES: Mapping[str, Syntax] = MappingProxyType({syntax.name: syntax for syntax in _SYNTAXES})
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
"""Values of the directive `s` and the service that each requests (rfc2141bis-03 §9.2.2), in the order of RFC 2483 §4,
which has a subsection for each.
"""


def keywords_of(query: str) -> Counter[str]:
    """The keywords of a query (rfc2141bis-03 §2.3), in the order given, and how often each stands there."""
    return Counter(directive.partition("=")[0] for directive in query.split("&") if directive)


def get_syntax(name: str) -> Syntax:
    """The syntax of that name. Raises ArgumentError for any other."""
    return chosen("syntax", SYNTAXES, name)


def chosen(what: str, known: Mapping[str, _Choice], name: str) -> _Choice:
    """The value of that name. Raises ArgumentError, which calls it `what`, for any other."""
    try:
        return known[name]
    except (KeyError, TypeError):
        raise ArgumentError(f"unknown {what} {as_text(what, name)!r}: choose from {', '.join(known)}") from None


def as_text(what: str, given: object) -> str:
    """`given`, if it is a str. Raises ArgumentError, which calls it `what`, for anything else."""
    if isinstance(given, str):
        return given
    raise ArgumentError(f"{what} must be a str, not {type(given).__name__}")


def as_strings(name: str, value: object) -> tuple[str, ...]:
    """The strings that an option is given, one or several. Raises ArgumentError for other values."""
    strings = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    if not all(isinstance(string, str) for string in strings):
        raise ArgumentError(f"{name} must be strings, not {value!r}")
    return strings


def as_octets(what: str, given: object) -> bytes:
    """The octets of `given`, for functions that also take a str. Raises ArgumentError if it has none, or wider items."""
    try:
        view = memoryview(given)  # type: ignore[arg-type]
    except TypeError:
        view = None
    if view is None or view.itemsize != 1:
        raise ArgumentError(f"{what} must be a str or bytes, not {type(given).__name__}")
    return view.tobytes()


def percent_encoded(octets: bytes) -> str:
    """%HH for each octet."""
    return "".join(f"%{octet:02X}" for octet in octets)
