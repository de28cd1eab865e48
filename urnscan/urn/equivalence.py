"""Canonical forms. Two URNs are equivalent at a level if and only if their canonical forms at that level are equal.

RFC 2141 §5; RFC 8141 §3; draft-ietf-urnbis-rfc2141bis-urn-03 §5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from urnscan.errors import ArgumentError, checks_options, option
from urnscan.urn.namespaces import Rulebook, namespace_form
from urnscan.urn.namespaces.own import Rules, rulebook_of
from urnscan.urn.namespaces.registry import OURS
from urnscan.urn.parser import URN, directives_of, parse
from urnscan.urn.syntax import SYNTAXES, SyntaxName, chosen, get_syntax

LevelName = Literal["lexical", "resolution", "namespace"]
"""Name of a level of equivalence: a value of the option `equivalence`."""


@dataclass(frozen=True, slots=True)
class Level:
    """A level of equivalence: which parts of a URN the canonical form keeps (with `keep_query` also the query), and by
    which rules they are normalised (with `by_namespace` also those in `rulebook`).
    """

    name: LevelName
    """Value of the option `equivalence`."""
    title: str
    """Description of the level in words."""
    syntaxes: tuple[str, ...] = tuple(SYNTAXES)
    """Syntaxes that define the level."""
    keep_query: bool = False
    """Whether the query of rfc2141bis-03 belongs to the canonical form."""
    by_namespace: bool = False
    """Whether the equivalence rule of the namespace is applied, in addition to that of the syntax."""
    rulebook: Rulebook = OURS
    """The rules of namespaces. Names are checked by them at every level; `by_namespace` also uses them for the
    canonical form.
    """

    def form(self, urn: URN) -> str:
        """The canonical form of a parsed URN at this level: `urn:NID:NSS`, with the query of rfc2141bis-03 (`?…`,
        normalized) at its end if the level keeps it. The syntax of the URN must be one of `syntaxes`; this is not
        checked.
        """
        return self.refine(str(urn).partition("#")[0] if self.keep_query else urn.canonical)

    def refine(self, urn: str) -> str:
        """The canonical form at this level, from the lexical canonical form `urn`, as the scanner writes it. If
        `keep_query` is true, `urn` may have a query of rfc2141bis-03 at its end. Its directives are sorted, and all
        directives of a repeated `s` or `c` are left out: `?s=b&c=1&c=2` -> `?s=b`.
        """
        if self.by_namespace:
            return namespace_form(urn, self.rulebook)
        return _ordered(urn) if self.keep_query else urn


def _ordered(urn: str) -> str:
    """The URN with the directives that count, sorted (rfc2141bis-03 §2.3, §5, step 5b)."""
    # A resolver must ignore a repeated `s` or `c` (§2.3), so these directives cannot change the result of a resolution.
    # The draft does not define the meaning of other repeated keywords, so all their directives count.
    name, _, query = urn.partition("?")
    directives = "&".join(f"{keyword}={value}" for keyword, value in sorted(directives_of(query)))
    return f"{name}?{directives}" if directives else name


_LEVELS = [
    Level("lexical", "scheme, NID and the hex digits of %HH in one case; components dropped"),
    Level(
        "resolution",
        "the same, but the query kept with its directives sorted by keyword, repeated s and c ignored (rfc2141bis-03 §5, "
        "step 5b, §2.3)",
        syntaxes=("rfc2141bis-03",),
        keep_query=True,
    ),
    Level(
        "namespace",
        "as lexical, then by the rule that the namespace has registered (RFC 2141 §5, RFC 8141 §3.1)",
        by_namespace=True,
    ),
]
LEVELS: Mapping[LevelName, Level] = MappingProxyType({level.name: level for level in _LEVELS})
"""Levels of equivalence by name."""


def get_level(name: str, syntax: str, rules: Rules = None) -> Level:
    """The level of equivalence with this name, with custom rules: the path of a file, a result of `read_rules`, or None
    (the registered rules only).

    Raises ArgumentError for an unknown name or syntax, for a level that the syntax does not define (`resolution`
    outside of rfc2141bis-03), and for `rules` of another type; FatalError for a file of rules that cannot be read or is
    wrong.
    """
    get_syntax(syntax)
    level = chosen("equivalence", LEVELS, name)
    if syntax not in level.syntaxes:
        raise ArgumentError(f"{option('equivalence', None)}: {name} requires {option('syntax', level.syntaxes[0])}")
    return level if rules is None else replace(level, rulebook=rulebook_of(rules))


@checks_options
def canonical(
    text: str | bytes, *, syntax: SyntaxName = "rfc2141", equivalence: LevelName = "lexical", rules: Rules = None
) -> str:
    """The canonical form of a URN, which all spellings of the same name share: RFC 2141 §5, RFC 8141 §3.1,
    rfc2141bis-03 §5.

    At the level `lexical`, `urn:`, the NID and the hex digits of %HH have one case, and the components of rfc8141 and
    rfc2141bis-03 are dropped. (rfc2141 has no components: there `?` and `#` belong to the name.) The level `resolution`
    keeps the query of rfc2141bis-03, with sorted directives; an `s` or `c` that occurs twice is dropped (both). The
    level `namespace` is `lexical`, and then applies the registered rule of the namespace
    (`urnscan.urn.namespaces.rules()`).

    `text` is one whole URN; `rules` are custom rules: a file, or the result of `urnscan.namespaces.read_rules`.
    Raises InvalidURN if `text` is not a URN in that syntax; ArgumentError (a ValueError and a TypeError) for an unknown
    syntax or equivalence, for an equivalence that the syntax does not define, and for a value that is not a text;
    FatalError for a file of rules that cannot be read or is wrong. A name that the rules of its namespace do not allow
    raises nothing; the rule may still change it (a wrong ISBN loses its hyphens).

    >>> canonical("URN:ISBN:0-395-36341-1"), canonical("URN:ISBN:0-395-36341-1", equivalence="namespace")
    ('urn:isbn:0-395-36341-1', 'urn:isbn:9780395363416')
    >>> canonical("urn:example:a?s=I2L&c=ToC#p1", syntax="rfc2141bis-03", equivalence="resolution")
    'urn:example:a?c=ToC&s=I2L'
    """
    return get_level(equivalence, syntax, rules).form(parse(text, syntax))


@checks_options
def equivalent(
    a: str | bytes,
    b: str | bytes,
    *,
    syntax: SyntaxName = "rfc2141",
    equivalence: LevelName = "lexical",
    rules: Rules = None,
) -> bool:
    """Whether two URNs have the same canonical form, and so are the same name (RFC 2141 §5, RFC 8141 §3, rfc2141bis-03
    §5).

    Both must be whole URNs. Raises InvalidURN for any other text, ArgumentError for a wrong option or a value that is
    not a text, FatalError for a file of rules that cannot be read or is wrong.

    >>> equivalent("urn:nbn:de:101:1-2016", "URN:NBN:de:101:1-2016")
    True
    >>> equivalent("urn:nbn:de:101:1-2016", "urn:nbn:DE:101:1-2016")
    False
    >>> equivalent("urn:nbn:de:101:1-2016", "urn:nbn:DE:101:1-2016", equivalence="namespace")  # RFC 8458 §4.3
    True
    """
    level = get_level(equivalence, syntax, rules)
    return level.form(parse(a, syntax)) == level.form(parse(b, syntax))
