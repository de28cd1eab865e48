"""The three URN syntaxes as data, the parser, and the `URN` value.

RFC 2141 §2; RFC 8141 §2 (as draft-ietf-urnbis-rfc2141bis-urn-20); draft-ietf-urnbis-rfc2141bis-urn-03 §2.

>>> parse("URN:ISBN:0-395-36341-1").canonical
'urn:isbn:0-395-36341-1'
>>> parse("urn:example:weather?=op=map#now", syntax="rfc8141").q_component
'op=map'
>>> parse("urn:example:a b")
Traceback (most recent call last):
    ...
urnscan.errors.InvalidURN: ' ' may not stand in a URN; encoded it is %20 (at position 13)
"""

from __future__ import annotations

import functools
import string
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

import regex

from urnscan.errors import InvalidURN

__all__ = [
    "REASONS",
    "RESOLUTION_SERVICES",
    "SYNTAXES",
    "URN",
    "Syntax",
    "SyntaxName",
    "as_octets",
    "as_text",
    "encode_nss",
    "get_syntax",
    "invalid",
    "parse",
    "why_not",
]

SyntaxName = Literal["rfc2141", "rfc8141", "rfc2141bis-03"]

# What an octet may be, one bit each; a syntax is a table of 256 such sets, which the compiled scanner reads too.
ALNUM = 1  # letter or digit: the first of a NID
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
_PCHAR = _LETTERS_DIGITS + "-._~!$&'()*+,;=:@"  # RFC 3986 §3.3, but for percent-encoding
_RFC2141_CHARS = _LETTERS_DIGITS + "()+,-.:=@;$_!*'/?#"  # RFC 2141 §2.2 <trans>: <other> and <reserved> included


@dataclass(frozen=True, slots=True)
class Syntax:
    """One of the three grammars, as a table for the scanner and as a pattern for the parser."""

    name: SyntaxName
    """As `syntax` names it."""
    reference: str
    """The document and the section that it follows."""
    title: str
    """The title of that document, and its date."""
    octets: bytes = field(repr=False)
    """For each octet the set of roles that it can play: the bits ALNUM to VALUE."""
    nid_min: int
    """The fewest characters of a NID; 32 are the most in all three."""
    nid_may_end_in_hyphen: bool
    """Whether a NID may end in a hyphen."""
    tail: int
    """What may follow the NSS: one of TAIL_NONE, TAIL_COMPONENTS, TAIL_QUERY."""
    namestring: str = field(repr=False)
    """The namestring as a pattern, with a group for each part; greedy and without a choice, so a match is the longest
    there is.
    """

    @property
    def pattern(self) -> regex.Pattern[str]:
        """The same, compiled at its first use: who scans needs it not at all, and it takes a while."""
        return _compiled(self.namestring)

    @property
    def separators(self) -> bytes:
        """The octets that no URN of this syntax holds: where a text can be cut without cutting a URN."""
        return bytes(octet for octet in range(256) if not self.octets[octet] and octet not in b"%?#")


_compiled = functools.cache(regex.compile)


def _octets(**roles: str) -> bytes:
    """The table of a syntax from the characters of each role."""
    roles |= {"ALNUM": _LETTERS_DIGITS, "LDH": _LETTERS_DIGITS + "-", "HEX": string.hexdigits}
    return bytes(sum(globals()[role] for role, chars in roles.items() if chr(octet) in chars) for octet in range(256))


def _chars(chars: str) -> str:
    """A pattern for one character of a set; %HH is one character everywhere."""
    return f"(?:[{regex.escape(chars, special_only=False)}]|%[0-9A-Fa-f][0-9A-Fa-f])"


_ALNUM = "[A-Za-z0-9]"
_SCHEME = "[Uu][Rr][Nn]:"
_NOT_URN = f"(?!{_SCHEME})"  # the NID "urn" is reserved: RFC 2141 §2.1, bis-03 §2.1, RFC 8141 §5.1
_NID_2141 = f"(?P<nid>{_NOT_URN}{_ALNUM}[A-Za-z0-9-]{{0,31}}):"
_NID_8141 = f"(?P<nid>{_NOT_URN}{_ALNUM}[A-Za-z0-9-]{{0,30}}{_ALNUM}):"
_PC, _PC_SLASH, _PC_SLASH_QUESTION = _chars(_PCHAR), _chars(_PCHAR + "/"), _chars(_PCHAR + "/?")
_VALUE_CHARS = (_PCHAR + "/?").replace("&", "")
_FRAGMENT = f"(?:#(?P<f>{_PC_SLASH_QUESTION}*+))?+"
_DIRECTIVE = f"[A-Za-z](?:-?{_ALNUM})*+={_chars(_VALUE_CHARS)}*+"

SYNTAXES: Mapping[str, Syntax] = MappingProxyType(
    {
        syntax.name: syntax
        for syntax in (
            Syntax(
                name="rfc2141",
                reference="RFC 2141 §2",
                title="URN Syntax (May 1997)",
                octets=_octets(NSS_FIRST=_RFC2141_CHARS, NSS=_RFC2141_CHARS),
                nid_min=1,
                nid_may_end_in_hyphen=True,
                tail=TAIL_NONE,
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
                namestring=f"{_SCHEME}{_NID_8141}(?P<nss>{_PC}{_PC_SLASH}*+)"
                rf"(?:\?\+(?P<r>{_PC}(?:{_PC_SLASH}|\?(?!=))*+))?+"
                rf"(?:\?=(?P<q>{_PC}{_PC_SLASH_QUESTION}*+))?+{_FRAGMENT}",
            ),
            Syntax(
                name="rfc2141bis-03",
                reference="draft-ietf-urnbis-rfc2141bis-urn-03 §2",
                title="Uniform Resource Name (URN) Syntax (October 2012)",
                octets=_octets(NSS_FIRST=_PCHAR, NSS=_PCHAR, QUERY=_PCHAR + "/?", VALUE=_VALUE_CHARS),
                nid_min=2,
                nid_may_end_in_hyphen=False,
                tail=TAIL_QUERY,
                namestring=rf"{_SCHEME}{_NID_8141}(?P<nss>{_PC}++)(?:\?(?P<q>{_DIRECTIVE}(?:&{_DIRECTIVE})*+))?+{_FRAGMENT}",
            ),
        )
    }
)
"""The syntaxes by their names."""

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
"""The values of the directive `s` and what they ask of a resolver (rfc2141bis-03 §9.2.2, after RFC 2483 §4)."""

REASONS: Mapping[str, str] = MappingProxyType(
    {
        "scheme-missing": 'a URN begins with "urn:"',
        "nid-first-character": "a NID begins with a letter or digit",
        "nid-too-long": "a NID has at most 32 characters",
        "nid-colon-missing": 'no ":" after the NID',
        "nid-character": "{character!r} may not stand in a NID",
        "nid-reserved": 'the NID "urn" is reserved',
        "nid-too-short": 'the NID "{nid}" is too short: {reference} wants {least} characters',
        "nid-hyphen": "a NID may not end in a hyphen",
        "nss-missing": "the NSS is empty",
        "percent-malformed": '"%" is not followed by two hex digits; a "%" itself is written %25',
        "excluded-character": "{character!r} may not stand in a URN; encoded it is {encoded}",
        "non-ascii-character": "{character!r} may not stand in a URN",
        "slash": '"/" may not stand here in the NSS',
        "question-mark": '"?" is followed by neither "+" nor "="',
        "query-directive": 'a query is made of directives keyword=value, joined by "&"',
        "second-fragment": 'a second "#"',
        "component-missing": "the {component} is empty",
        "component-first-character": "the {component} cannot begin with {character!r}",
    }
)
"""Why a text is no URN: `InvalidURN.code`, which programs rely on, and the sentence for people."""

_COMPONENTS = {"?+": "r-component", "?=": "q-component"}

_PERCENT = regex.compile("%[0-9A-Fa-f]{2}")
_PERCENT_RUN = regex.compile("(?:%[89A-Fa-f][0-9A-Fa-f])+")  # octets 80 to FF: where text beyond ASCII can be


def get_syntax(name: str) -> Syntax:
    """The syntax of that name; raises ValueError with the known names for any other, TypeError for what is no name."""
    try:
        return SYNTAXES[name]
    except (KeyError, TypeError):
        raise ValueError(f"unknown syntax {as_text('syntax', name)!r}: choose from {', '.join(SYNTAXES)}") from None


def as_text(what: str, given: object) -> str:
    """A str that a function is given. Raises TypeError for anything else."""
    if isinstance(given, str):
        return given
    raise TypeError(f"{what} must be a str, not {type(given).__name__}")


def as_octets(what: str, given: object) -> bytes:
    """The octets that a function is given that takes a str, too. Raises TypeError for what has none, or wider items."""
    try:
        view = memoryview(given)  # type: ignore[arg-type]
    except TypeError:
        view = None
    if view is None or view.itemsize != 1:
        raise TypeError(f"{what} must be a str or bytes, not {type(given).__name__}")
    return view.tobytes()


@dataclass(frozen=True, slots=True, eq=False)
class URN:
    """A parsed URN. Immutable; `==` and `hash()` go by lexical equivalence, so spellings of one name are one in a set.

    The q-component of rfc2141bis-03 is what that draft calls the query, the f-component its fragment.

    >>> urn = parse("URN:Example:weather?=op=map#now", syntax="rfc8141")
    >>> urn.nid, urn.q_component, str(urn), urn == parse("urn:example:weather")
    ('example', 'op=map', 'urn:example:weather?=op=map#now', True)
    """

    text: str
    """As it was given."""
    nid: str
    """The namespace identifier in lower case."""
    nss: str
    """The namespace specific string as it was given."""
    r_component: str | None
    """What stands behind `?+` (RFC 8141 §2.3.1); None where there is none."""
    q_component: str | None
    """What stands behind `?=` (RFC 8141 §2.3.2), or the query of rfc2141bis-03 (§2.3); None where there is none."""
    f_component: str | None
    """What stands behind `#` (RFC 8141 §2.3.3), or the fragment of rfc2141bis-03; None where there is none."""
    syntax: SyntaxName
    """The name of the syntax by which it was parsed."""
    canonical: str
    """The lexical canonical form: RFC 2141 §5, RFC 8141 §3.1, rfc2141bis-03 §5 with step 5a."""

    def __eq__(self, other: object) -> bool:
        return self.canonical == other.canonical if isinstance(other, URN) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.canonical)

    def __str__(self) -> str:
        """The whole URN in canonical syntax (RFC 8141 §4.4): case normalised, every component kept."""
        return self.canonical + _normal_percent(self.text[len(self.canonical) :])

    @property
    def directives(self) -> Mapping[str, str]:
        """Keyword -> value of an rfc2141bis-03 query (§2.3), in the order given.

        A keyword that is repeated is left out, as that section tells resolvers to; `problems` names it.
        """
        pairs = self._directive_pairs()
        times = Counter(keyword for keyword, _ in pairs)
        return MappingProxyType({keyword: value for keyword, value in pairs if times[keyword] == 1})

    @property
    def problems(self) -> tuple[str, ...]:
        """What is well-formed and yet wrong: `nul-octet` (RFC 2141 §2.4), `repeated-keyword` (rfc2141bis-03 §2.3)."""
        found = []
        if "%00" in self.text:
            found.append("nul-octet")
        keywords = [keyword for keyword, _ in self._directive_pairs()]
        if len(set(keywords)) < len(keywords):
            found.append("repeated-keyword")
        return tuple(found)

    def locator(self, base: str) -> str:
        """The locator that a resolver makes of this URN and the URL `base` (RFC 8141 §2.3.2, §2.3.3).

        The q-component becomes the query, the f-component the fragment. Where `base` has a query, the q-component is
        joined to it by "&" (RFC 8141 leaves this open); a fragment of `base` gives way to the f-component.
        The query of rfc2141bis-03 speaks to the resolver (§2.3) and is not copied.

        >>> parse("urn:example:weather?=op=map&lat=39.56#now", syntax="rfc8141").locator("https://weatherapp.example")
        'https://weatherapp.example?op=map&lat=39.56#now'
        """
        url, hash_sign, fragment = as_text("base", base).partition("#")
        if self.q_component is not None and self.syntax == "rfc8141":
            url += ("&" if "?" in url else "?") + self.q_component
        if self.f_component is not None:
            hash_sign, fragment = "#", self.f_component
        return url + hash_sign + fragment

    def display(self) -> str:
        """The human-friendly form (RFC 8141 §4.4, RFC 2141 §4): percent-encoded UTF-8 beyond ASCII shown as text.

        Nothing else is decoded: an encoded ASCII character may mean something else than a bare one, and what is not
        UTF-8 or not printable stays as it is. Not for transport, and not a canonical form.

        >>> parse("urn:example:stra%C3%9Fe%2C%20a").display()
        'urn:example:straße%2C%20a'
        """

        def shown(run: regex.Match[str]) -> str:
            text = bytes.fromhex(run[0].replace("%", "")).decode("utf-8", "surrogateescape")
            return "".join(c if c.isprintable() else _encoded(c.encode("utf-8", "surrogateescape")) for c in text)

        return _PERCENT_RUN.sub(shown, str(self))

    def _repr_html_(self) -> str:
        """As a notebook shows it: its parts."""
        from urnscan.display.text import html_fields  # noqa: PLC0415 (parsing does without)

        names = ("text", "canonical", "nid", "nss", "r_component", "q_component", "f_component", "syntax", "problems")
        fields = [(name.replace("_component", "-component"), getattr(self, name)) for name in names]
        display = self.display()
        return html_fields([*fields, ("display", None if display == str(self) else display)])

    def _directive_pairs(self) -> list[tuple[str, str]]:
        if self.syntax != "rfc2141bis-03" or self.q_component is None:
            return []
        return [(keyword, value) for keyword, _, value in (d.partition("=") for d in self.q_component.split("&"))]


def parse(text: str | bytes, syntax: str = "rfc2141") -> URN:
    """Parse a text that is one whole URN.

    `syntax` is `rfc2141` (§2), `rfc8141` (§2) or `rfc2141bis-03` (§2). Raises InvalidURN, with the reason and the
    position, for any other text; ValueError for an unknown syntax; TypeError for what is no text.

    >>> parse("urn:x:y", syntax="rfc8141")
    Traceback (most recent call last):
        ...
    urnscan.errors.InvalidURN: the NID "x" is too short: RFC 8141 §2 (draft-ietf-urnbis-rfc2141bis-urn-20) wants 2 \
characters (at position 4)
    """
    rules = get_syntax(syntax)
    if not isinstance(text, str):
        text = as_octets("a URN", text).decode("latin-1")  # one character an octet: nothing beyond ASCII can match
    match = rules.pattern.fullmatch(text)
    if match is None:
        error = why_not(text, rules)
        error.text = text
        raise error
    parts = match.groupdict()
    assigned_name = text[: match.end("nss")]
    return URN(
        text=text,
        nid=parts["nid"].lower(),
        nss=parts["nss"],
        r_component=parts.get("r"),
        q_component=parts.get("q"),
        f_component=parts.get("f"),
        syntax=rules.name,
        canonical=f"urn:{parts['nid'].lower()}:{_normal_percent(assigned_name[match.start('nss') :])}",
    )


def encode_nss(text: str) -> str:
    """Translate a native name into an NSS (RFC 2141 §2.2, §2.3): UTF-8, then %HH for each octet outside <trans>.

    `%`, `/`, `?` and `#` are reserved and encoded too. Raises ValueError for an empty text and for NUL, which no URN
    may hold in either form (§2.4), UnicodeEncodeError (a ValueError) for a lone surrogate, TypeError for what is no str.

    >>> encode_nss("Grüße, 100%")
    'Gr%C3%BC%C3%9Fe,%20100%25'
    """
    if not as_text("a name", text):
        raise ValueError("an NSS has at least one character")
    if "\0" in text:
        raise ValueError(f"NUL at position {text.index(chr(0))}: no URN may hold it, encoded or not (RFC 2141 §2.4)")
    octets = text.encode()  # all at once: an error tells the place in the text
    unreserved = set(_RFC2141_CHARS.encode()) - set(b"/?#")
    return "".join(chr(octet) if octet in unreserved else f"%{octet:02X}" for octet in octets)


def _encoded(octets: bytes) -> str:
    return "".join(f"%{octet:02X}" for octet in octets)


def _normal_percent(text: str) -> str:
    """The hex digits of every %HH in upper case."""
    return _PERCENT.sub(lambda match: match[0].upper(), text) if "%" in text else text


def why_not(text: str, syntax: Syntax) -> InvalidURN:
    """Where and why a text that is not a URN stops being one."""
    for position, expected in enumerate("urn:"):
        if text[position : position + 1].lower() != expected:
            return invalid("scheme-missing", position)
    start, after = 4, text[4:]
    nid = after[: len(after) - len(after.lstrip(_LETTERS_DIGITS + "-"))]
    end = start + len(nid)
    if not nid or nid.startswith("-"):
        return invalid("nid-first-character", start)
    if len(nid) > 32:
        return invalid("nid-too-long", start + 32)
    if end == len(text):
        return invalid("nid-colon-missing", end)
    if text[end] != ":":
        return invalid("nid-character", end, character=text[end])
    if nid.lower() == "urn":
        return invalid("nid-reserved", start)
    if len(nid) < syntax.nid_min:
        return invalid("nid-too-short", start, nid=nid, reference=syntax.reference, least=syntax.nid_min)
    if nid.endswith("-") and not syntax.nid_may_end_in_hyphen:
        return invalid("nid-hyphen", end - 1)
    end += 1
    if end == len(text) or (text[end] in "?#" and syntax.tail != TAIL_NONE):
        return invalid("nss-missing", end)
    longest = syntax.pattern.match(text)
    return _why_ends(text, longest.end() if longest else end, syntax)


def _why_ends(text: str, position: int, syntax: Syntax) -> InvalidURN:
    """Why the character at `position`, behind the longest part of `text` that is a URN, does not belong to it."""
    in_fragment = syntax.tail != TAIL_NONE and "#" in text[:position]
    component = _COMPONENTS.get(text[position : position + 2])
    if component and syntax.tail == TAIL_COMPONENTS and not in_fragment:
        # A component that begins well would belong to the URN: its first character is missing or wrong.
        rest = text[position + 2 :]
        if not rest or rest.startswith(("#", "?=")):
            return invalid("component-missing", position, component=component)
        return invalid("component-first-character", position, component=component, character=rest[0])
    character = text[position]
    if character == "%":
        return invalid("percent-malformed", position)
    if character == "?" and syntax.tail == TAIL_COMPONENTS and not in_fragment:
        return invalid("question-mark", position)
    if character in "?&" and syntax.tail == TAIL_QUERY and not in_fragment:
        return invalid("query-directive", position)
    if character == "#" and in_fragment:
        return invalid("second-fragment", position)
    if character == "/" and syntax.tail != TAIL_NONE:
        return invalid("slash", position)
    if character.isascii():
        return invalid("excluded-character", position, character=character, encoded=_encoded(character.encode()))
    return invalid("non-ascii-character", position, character=character)


def invalid(code: str, position: int, **words: object) -> InvalidURN:
    """The error of that code; `words` are those that its sentence wants."""
    return InvalidURN(REASONS[code].format_map(words), position, code)
