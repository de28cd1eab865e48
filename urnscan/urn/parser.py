"""The parser: a text that is a whole URN -> a `URN` value."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import regex

from urnscan.errors import ArgumentError, checks_options
from urnscan.urn.problems import spelling_problems
from urnscan.urn.reject_reasons import why_not
from urnscan.urn.syntax import (
    NSS,
    NSS_FIRST,
    QUERY_KEYWORDS,
    URL,
    SyntaxName,
    as_bytes,
    as_text,
    get_syntax,
    keywords_of,
    pattern_of,
    percent_encoded,
)

_PERCENT = regex.compile("%[0-9A-Fa-f]{2}")
# Only the bytes 80 to FF can be part of a character beyond ASCII.
_PERCENT_RUN = regex.compile("(?:%[89A-Fa-f][0-9A-Fa-f])+")


@dataclass(frozen=True, slots=True, eq=False)
class URN:
    """A parsed URN, immutable. `==` and `hash()` use lexical equivalence, so a set contains each name once.

    rfc2141bis-03 calls the q-component the query, and the f-component the fragment.

    >>> urn = parse("URN:Example:weather?=op=map#now", syntax="rfc8141")
    >>> urn.nid, urn.q_component, str(urn), urn == parse("urn:example:weather")
    ('example', 'op=map', 'urn:example:weather?=op=map#now', True)
    """

    text: str
    """The text that was parsed, unchanged. Each byte of a bytes value becomes one character."""
    nid: str
    """The namespace identifier in lower case."""
    nss: str
    """The namespace specific string, unchanged: %HH is not decoded, neither here nor in the components."""
    r_component: str | None
    """The component after `?+` (RFC 8141 §2.3.1), without the `?+`; None without one."""
    q_component: str | None
    """The component after `?=` (RFC 8141 §2.3.2), or the query of rfc2141bis-03 (§2.3); None without one."""
    f_component: str | None
    """The component after `#` (RFC 8141 §2.3.3), or the fragment of rfc2141bis-03; None without one."""
    syntax: SyntaxName
    """The name of the syntax by which the text was parsed."""
    canonical: str
    """The lexical canonical form: RFC 2141 §5, RFC 8141 §3.1, rfc2141bis-03 §5 with step 5a."""

    def __eq__(self, other: object) -> bool:
        return self.canonical == other.canonical if isinstance(other, URN) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.canonical)

    def __str__(self) -> str:
        """The whole URN in canonical syntax (RFC 8141 §4.4): scheme and NID in lower case, hex digits of %HH in upper
        case, all components kept.
        """
        return self.canonical + _normal_percent(self.text[len(self.canonical) :])

    @property
    def directives(self) -> Mapping[str, str]:
        """Keyword -> value of an rfc2141bis-03 query (§2.3), `?s=I2L&c=ToC` -> `{"s": "I2L", "c": "ToC"}`, in the order
        of the query. A keyword that occurs more than once is left out with all its values. Keywords and values are
        unchanged: %HH is not decoded. Empty without a query and in the other syntaxes. Cannot be changed.
        """
        repeated = self.repeated_keywords
        return MappingProxyType({word: value for word, value in directives_of(self._query) if word not in repeated})

    @property
    def repeated_keywords(self) -> tuple[str, ...]:
        """Keywords that occur more than once in an rfc2141bis-03 query (§2.3), each once, in the order of the query:
        `?c=ToC&c=map` -> `("c",)`. Empty without such keywords, and in the other syntaxes.
        """
        return tuple(keyword for keyword, count in keywords_of(self._query).items() if count > 1)

    @property
    def problems(self) -> tuple[str, ...]:
        """Problems of this text with its components: codes of `urnscan.urn.problems.PROBLEMS`, in that order; empty
        without problems. Only the spelling is checked: a wrong ISBN has no problem here (see `explain`).

        >>> parse("urn:example:a#%D0%B0123", syntax="rfc8141").problems, parse("urn:example:%41%00").problems
        (('confusable',), ('nul-octet', 'needless-encoding'))
        """
        return spelling_problems(self.text, get_syntax(self.syntax))

    def locator(self, base: str) -> str:
        """Return the URL `base`, to which a resolver has resolved the name, with the components of this URN added (RFC
        8141 §2.3.2, §2.3.3).

        The q-component becomes the query, the f-component the fragment. If `base` has a query, the q-component is
        appended with one "&". The f-component replaces a fragment of `base`. The query of rfc2141bis-03 and the
        r-component are meant for the resolver and are not copied.

        Raises ArgumentError if `base` is not a URL: a scheme, "://", and characters allowed in URLs (RFC 3986 §2, §3).

        >>> parse("urn:example:weather?=op=map&lat=39.56#now", syntax="rfc8141").locator("https://weatherapp.example")
        'https://weatherapp.example?op=map&lat=39.56#now'
        """
        if not pattern_of(URL).fullmatch(as_text("base", base)):
            raise ArgumentError(
                f"base must be a URL, a scheme and :// with only the characters of URLs after it, not {base!r:.200}"
            )
        url, hash_sign, fragment = base.partition("#")
        if self.q_component is not None and self.syntax == "rfc8141":
            url = _with_query(url, self.q_component)
        if self.f_component is not None:
            hash_sign, fragment = "#", self.f_component
        return url + hash_sign + fragment

    def display(self) -> str:
        """The URN for display to people (RFC 8141 §4.4, RFC 2141 §4): percent-encoded UTF-8 beyond ASCII becomes text.

        Encoded ASCII stays encoded, since its meaning may differ from that of the plain character. Bytes that are not
        UTF-8 or not printable stay encoded, too; `urn:` and the NID are in lower case. The result is not a canonical
        form.

        >>> parse("urn:example:stra%C3%9Fe%2C%20a").display()
        'urn:example:straße%2C%20a'
        """

        def shown(run: regex.Match[str]) -> str:
            text = bytes.fromhex(run[0].replace("%", "")).decode("utf-8", "surrogateescape")
            return "".join(
                c if c.isprintable() else percent_encoded(c.encode("utf-8", "surrogateescape")) for c in text
            )

        return _PERCENT_RUN.sub(shown, str(self))

    def _repr_html_(self) -> str:
        from urnscan.display.text import html_fields  # noqa: PLC0415 (parsing does without)

        names = ("text", "canonical", "nid", "nss", "r_component", "q_component", "f_component", "syntax", "problems")
        fields = [(name.replace("_component", "-component"), getattr(self, name)) for name in names]
        display = self.display()
        return html_fields([*fields, ("display", None if display == str(self) else display)])

    @property
    def _query(self) -> str:
        return self.q_component or "" if self.syntax == "rfc2141bis-03" else ""


@checks_options
def parse(text: str | bytes, syntax: SyntaxName = "rfc2141") -> URN:
    """Return the parts of a text that is a whole URN, without text around it.

    `syntax` is `rfc2141` (§2), `rfc8141` (§2) or `rfc2141bis-03` (§2). Only the syntax is checked, not the rules of the
    namespace. Raises InvalidURN, with `reason` and `position` (a character index from 0), for a text that is not a URN;
    ArgumentError for an unknown syntax and for a value that is neither a str nor bytes-like.

    >>> parse("urn:example:weather?=op=map#now", syntax="rfc8141").q_component
    'op=map'
    >>> parse("urn:example:a b")
    Traceback (most recent call last):
        ...
    urnscan.errors.InvalidURN: ' ' is not allowed in a URN; its encoded form is %20 (at position 13)
    """
    rules = get_syntax(syntax)
    if not isinstance(text, str):
        # Each byte becomes one character, and no character beyond ASCII can match.
        text = as_bytes("a URN", text).decode("latin-1")
    match = rules.pattern.fullmatch(text)
    if match is None:
        error = why_not(text, rules)
        error.text = text
        raise error
    parts = match.groupdict()
    return URN(
        text=text,
        nid=parts["nid"].lower(),
        nss=parts["nss"],
        r_component=parts.get("r"),
        q_component=parts.get("q"),
        f_component=parts.get("f"),
        syntax=rules.name,
        canonical=f"urn:{parts['nid'].lower()}:{_normal_percent(parts['nss'])}",
    )


@checks_options
def encode_nss(text: str, syntax: SyntaxName = "rfc2141", *, nid: str | None = None) -> str:
    """Return a native name encoded as an NSS: UTF-8, then %HH for each byte that the syntax does not allow unencoded.

    `/` stays unencoded in rfc8141, except as the first character; `~` and `&` stay in rfc8141 and rfc2141bis-03. `%`,
    `?` and `#` are always encoded (RFC 2141 §2.2, §2.3; RFC 8141 §2.2; rfc2141bis-03 §2.2, §2.5).

    A namespace may define other encodings and forms of its names (RFC 8141 §2.2): `urnscan.namespaces` has those of
    some namespaces, as in `namespaces.publicid.to_urn`. For a namespace that was registered before RFC 8141, use the
    syntax rfc2141, whose encodings it keeps.

    Raises ArgumentError (a ValueError and a TypeError) for an unknown syntax, for a value that is not a str, for an
    empty text, for NUL, which no URN may contain, encoded or not (RFC 2141 §2.4), and for a lone surrogate. With `nid`,
    also raises ArgumentError for a name that the grammar or the check digit of this namespace does not allow, and
    InvalidURN for a `nid` that is not a NID.

    >>> encode_nss("Grüße, 100%")
    'Gr%C3%BC%C3%9Fe,%20100%25'
    >>> encode_nss("1/406/47452/2"), encode_nss("1/406/47452/2", syntax="rfc8141")
    ('1%2F406%2F47452%2F2', '1/406/47452/2')
    >>> encode_nss("0-395-36341-1", nid="isbn")
    '0-395-36341-1'
    >>> encode_nss("0-395-36341-6", nid="isbn")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    urnscan.errors.ArgumentError: '0-395-36341-6' is no name in the namespace isbn: the check digit is wrong: ISBN...
    """
    get_syntax(syntax)
    if not as_text("a name", text):
        raise ArgumentError("an NSS has at least one character")
    if "\0" in text:
        raise ArgumentError(f"NUL at position {text.index(chr(0))}: no URN may hold it, encoded or not (RFC 2141 §2.4)")
    # The text is encoded as a whole, so that an error has the position in the text.
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(f"lone surrogate at position {error.start}: UTF-8 has no bytes for it") from None
    first, others = (_encodings(syntax, role) for role in (NSS_FIRST, NSS))
    nss = first[data[0]] + "".join([others[byte] for byte in data[1:]])
    if nid is not None:
        _check_name(text, parse(f"urn:{as_text('a NID', nid)}:{nss}", syntax))
    return nss


def _check_name(text: str, urn: URN) -> None:
    """Raise ArgumentError if the rules of the namespace do not allow the name as a whole."""
    from urnscan.urn.namespaces.judgement import judge  # noqa: PLC0415 (most programs do without)

    judgement = judge(urn.canonical)
    # The caller gave the name as a whole, so text at its end that could belong to a document belongs to the name.
    if judgement.valid is False or judgement.problem in ("untrimmed", "run-on", "template"):
        raise ArgumentError(f"{text!r} is no name in the namespace {urn.nid}: {judgement.reason}")


@functools.cache
def _encodings(syntax: str, role: int) -> Sequence[str]:
    """The text of each of the 256 bytes in an NSS, percent-encoded if need be. `role` is NSS_FIRST (first byte) or NSS."""
    rules = get_syntax(syntax)
    return [
        chr(byte) if rules.data[byte] & role and chr(byte) not in rules.reserved else f"%{byte:02X}"
        for byte in range(256)
    ]


def _normal_percent(text: str) -> str:
    return _PERCENT.sub(lambda match: match[0].upper(), text) if "%" in text else text


def _with_query(url: str, query: str) -> str:
    """The URL, which has no fragment, with `query` added."""
    address, _, url_query = url.partition("?")
    if url_query:
        url_query = url_query.removesuffix("&") + ("" if query.startswith("&") else "&")
    return f"{address}?{url_query}{query}"


def directives_of(query: str) -> list[tuple[str, str]]:
    """(keyword, value) of each directive `keyword=value` of a query of rfc2141bis-03, without the `?`, in the order of
    the query; an empty query has none. Without a `=`, the value is empty. Both are unchanged: %HH is not decoded, and
    case is significant.

    If a registered keyword (`s`, `c`) occurs more than once, all its directives are left out: a resolver must ignore
    them (rfc2141bis-03 §2.3). Other repeated keywords stay.
    """
    times = keywords_of(query)
    pairs = (directive.partition("=") for directive in query.split("&") if directive)
    return [(word, value) for word, _, value in pairs if times[word] == 1 or word not in QUERY_KEYWORDS]
