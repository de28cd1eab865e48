"""Explanation of a text, for people and programs: the parts of a URN, or why the text is not a URN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from urnscan.errors import InvalidURN, checks_options
from urnscan.urn.equivalence import Level, LevelName, get_level
from urnscan.urn.namespaces import NidStatus, Rulebook, judge, namespace_form, nid_status, registered
from urnscan.urn.namespaces.own import Rules
from urnscan.urn.namespaces.registry import OURS
from urnscan.urn.parser import URN, parse
from urnscan.urn.syntax import QUERY_KEYWORDS, RESOLUTION_SERVICES, SYNTAXES, SyntaxName, get_syntax

_OTHER_SPELLINGS = (
    "the text is read in the canonical form of its namespace; a URN with another spelling of it has this canonical form "
    'only at the level "namespace"'
)
# `text` is the first line of an explanation; `verdict` says what `is_urn` and `valid` say.
_NOT_SHOWN = ("text", "is_urn", "valid")
_VERDICTS = {True: "valid", False: "invalid", None: "unknown"}


@dataclass(frozen=True, slots=True)
class Explanation:
    """The parts of a URN in some syntax, or the reason why a text is not a URN.

    If a text neither is nor represents a URN, only `text`, `syntax`, `is_urn` (False), `position`, `reason`, and
    perhaps `remarks` are set.
    """

    text: str
    """The text, unchanged. Each byte of a bytes value becomes one character (Latin-1)."""
    syntax: SyntaxName
    """The name of the syntax."""
    is_urn: bool
    """Whether the text is a URN in that syntax."""
    read_as: str | None = None
    """The URN that the text represents, if the text is a native identifier (an ISBN, a DOI), a link to a resolver, or a
    URN in delimiters (`<urn:...>`). Then all following fields describe this URN.
    """
    canonical: str | None = None
    """The canonical form at the requested level."""
    equivalence: LevelName | None = None
    """The name of the level of `canonical`."""
    nid: str | None = None
    """The namespace identifier in lower case."""
    nid_status: NidStatus | None = None
    """The status of the NID: formal, informal, experimental, reserved or unregistered."""
    namespace: str | None = None
    """Title of the namespace, with its reference if the namespace is registered. None without rules for the NID."""
    rule: str | None = None
    """Equivalences that the namespace adds to those of the syntax, and the section that defines them. None without
    rules for the NID.
    """
    valid: bool | None = None
    """Whether the rules of the namespace allow the name; None if the rules do not decide, and without a URN."""
    verdict: str | None = None
    """`valid`, `invalid` or `unknown`, then a colon and the reason."""
    nss: str | None = None
    """The namespace specific string, unchanged: %HH is not decoded, neither here nor in the components."""
    r_component: str | None = None
    """The component after `?+` (RFC 8141 §2.3.1); None without one."""
    q_component: str | None = None
    """The component after `?=` (RFC 8141 §2.3.2), or the query of rfc2141bis-03 (§2.3); None without one."""
    f_component: str | None = None
    """The component after `#` (RFC 8141 §2.3.3), or the fragment of rfc2141bis-03; None without one."""
    directives: dict[str, str] = field(default_factory=dict, hash=False)
    """Keyword -> value of the query of rfc2141bis-03 (§2.3), unchanged (%HH is not decoded); all directives of a
    repeated keyword are left out. Empty in the other syntaxes.
    """
    service: str | None = None
    """The registered service that the directive `s` asks a resolver for, with its section (rfc2141bis-03 §9.2.2, RFC
    2483 §4); None without such a directive, and if its service is not registered.
    """
    display: str | None = None
    """The URN for display to people: with text instead of percent-encoded characters beyond ASCII."""
    problems: tuple[str, ...] = ()
    """Codes of `urnscan.urn.problems.PROBLEMS`: those of the name, then those of its spelling. Empty without
    problems.
    """
    resolver: str | None = None
    """URL of the URN at a public and stable resolution service; None if no known service resolves it."""
    remarks: tuple[str, ...] = ()
    """Sentences for people, for example: of a URN, which components go to a resolver, and which do not (RFC 8141 §2.3,
    rfc2141bis-03 §2.3, §2.4); of a text with more than an ISBN or ISSN, the number that is read; of a text that is not
    a URN, the other syntaxes in which the text is a URN.
    """
    position: int | None = None
    """Index, from 0, of the error in the text: mostly the first character that cannot be part of a URN. None if the
    text is or represents a URN.
    """
    reason: str | None = None
    """A sentence: why the text is not a URN, or what is wrong with a number that is nearly an ISBN or ISSN. None if the
    text is or represents a URN.
    """

    def __str__(self) -> str:
        """The lines that `urnscan explain` prints: the text, then most of the fields that have a value, each after its
        label.
        """
        from urnscan.display.text import pointed, printable  # noqa: PLC0415 (explaining does without)

        rows = [row for name, value in self.as_dict().items() for row in _rows(name, value)]
        if self.position is not None:
            rows += [("", line) for line in pointed(self.text, self.position)]
        lines = (f"  {label:<12} {printable(shown)}" for label, shown in rows)
        return "\n".join([printable(self.text), *lines])

    def _repr_html_(self) -> str:
        from urnscan.display.text import html_fields, html_text, pointed  # noqa: PLC0415 (explaining does without)

        aside = ("is_urn", "valid", "directives")
        fields = [(_label(name), value) for name, value in self.as_dict().items() if name not in aside]
        fields += [("directive", f"{keyword} = {value}") for keyword, value in self.directives.items()]
        if self.position is None:
            return html_fields(fields)
        return html_fields(fields) + f"<pre>{'<br>'.join(map(html_text, pointed(self.text, self.position)))}</pre>"

    @property
    def is_good(self) -> bool:
        """Whether the text is a URN, or is read as one (`read_as`: an ISBN, a link to a resolver, a URN in `<...>`), and
        its name is not invalid: it is valid or of unknown validity.
        """
        return (self.is_urn or self.read_as is not None) and self.valid is not False

    def as_dict(self) -> dict[str, Any]:
        """All fields as a dict, name -> value, for JSON; an unset field is included with its default (None, `()`,
        `{}`).
        """
        return asdict(self)


def _rows(name: str, value: Any) -> list[tuple[str, str]]:  # noqa: ANN401 (a field of any type)
    if name == "directives":
        return [(name, f"{keyword} = {directive}") for keyword, directive in value.items()]
    if name == "remarks":
        return [(name, remark) for remark in value]
    if name in _NOT_SHOWN or value is None or value == ():
        return []
    return [(_label(name), ", ".join(value) if isinstance(value, tuple) else str(value))]


def _label(name: str) -> str:
    return "result" if name == "verdict" else name.replace("_", " ")


@checks_options
def explain(
    text: str | bytes, *, syntax: SyntaxName = "rfc2141", equivalence: LevelName = "lexical", rules: Rules = None
) -> Explanation:
    """The parts of a URN (RFC 2141 §2, RFC 8141 §2, rfc2141bis-03 §2), or the reason and the position why a text is not
    a URN.

    A native identifier (an ISBN, ISSN, ISNI, DOI, UUID; with a label, as in `RFC 2648` or `LEI: …`, also the number of
    an RFC, an EIDR, ISAN, LEI or OID) is explained as the URN that it represents: `read_as`. The same holds for a link
    that contains a URN, or that leads to a known resolver and ends in the name (`https://doi.org/10.1000/182`), for a
    URN in `<...>`, in straight quotation marks or with white space around it, and for an ISBN or ISSN with a remark, as
    catalogues have it (`978-0-395-36341-6 (pbk.)`). For any other text that is not a URN, the result has `reason` and
    `position`.

    `equivalence` is the level of the canonical form. `rules` are custom rules: a file, or the result of
    `urnscan.namespaces.read_rules`. Raises ArgumentError (a ValueError and a TypeError) for an unknown syntax or
    equivalence, for an equivalence that the syntax does not define, and for a value that is not a text; FatalError for
    a file of rules that cannot be read or is wrong.

    >>> explain("URN:ISBN:0%2d395").canonical
    'urn:isbn:0%2D395'
    >>> explain("urn:isbn:0 395").reason
    "' ' is not allowed in a URN; its encoded form is %20"
    >>> explain("978-0-395-36341-6 (pbk.)").read_as
    'urn:isbn:9780395363416'
    >>> explain("97803953634").reason
    'it has 11 digits, but an ISBN has 10 or 13, and an ISSN has 8'
    """
    level = get_level(equivalence, syntax, rules)
    try:
        urn = parse(text, syntax)
    except InvalidURN as error:
        from urnscan.urn.namespaces.references import why_no_isbn_or_issn  # noqa: PLC0415 (loaded only if used)

        explanation = _read_as(error.text, syntax, level)
        if explanation is not None:
            return explanation
        others = [name for name in SYNTAXES if name != syntax and SYNTAXES[name].pattern.fullmatch(error.text)]
        return Explanation(
            text=error.text,
            syntax=get_syntax(syntax).name,
            is_urn=False,
            remarks=(f"it is a URN in {' and '.join(others)}",) if others else (),
            position=error.position,
            reason=why_no_isbn_or_issn(error.text) or error.reason,
        )
    return _explained(urn, level)


def _read_as(text: str, syntax: SyntaxName, level: Level) -> Explanation | None:
    """Explanation of the URN that a text represents; None if it represents no URN of the syntax."""
    from urnscan.urn.namespaces.references import number_before_remark, urn_of  # noqa: PLC0415 (loaded only if used)

    represented = urn_of(text, level.rulebook)
    remarks: tuple[str, ...] = ()
    if represented is None and (number := number_before_remark(text)):
        represented, remarks = urn_of(number, level.rulebook), (f"only the number is read: {number}",)
    if represented is None:
        return None
    try:
        urn = parse(represented, syntax)
    except InvalidURN:
        return None
    explanation = _explained(urn, level)
    if urn.nss.lower() not in text.lower() and level.name != "namespace":
        remarks = (*remarks, _OTHER_SPELLINGS)
    remarks += explanation.remarks
    return replace(explanation, text=text, is_urn=False, read_as=urn.text, remarks=remarks)


def _explained(urn: URN, level: Level) -> Explanation:
    canonical, judgement = level.form(urn), judge(urn.canonical, level.rulebook)
    entry, rule = registered().get(urn.nid), level.rulebook.rules.get(urn.nid)
    reference = f" ({entry.reference})" if entry else ""
    return Explanation(
        text=urn.text,
        syntax=urn.syntax,
        is_urn=True,
        canonical=canonical,
        equivalence=level.name,
        nid=urn.nid,
        nid_status=nid_status(urn.nid),
        namespace=f"{rule.title}{reference}" if rule else None,
        rule=f"{'none of its own' if rule.rule == 'base' else rule.rule} ({rule.equality})" if rule else None,
        valid=judgement.valid,
        verdict=f"{_VERDICTS[judgement.valid]}: {judgement.reason}",
        nss=urn.nss,
        r_component=urn.r_component,
        q_component=urn.q_component,
        f_component=urn.f_component,
        directives=dict(urn.directives),
        service=_service(urn),
        display=urn.display(),
        problems=(*filter(None, [judgement.problem]), *urn.problems),
        resolver=resolver(urn, level.rulebook),
        remarks=tuple(_remarks(urn, level.rulebook)),
    )


def resolver(urn: URN, rulebook: Rulebook = OURS) -> str | None:
    """URL of the URN at a public and stable service that resolves it; None if no known service does. No service is
    asked: the URL comes from the `resolvers` in the rule of the namespace.

    If the address contains the URN, it also contains the r-component (RFC 8141 §2.3.1), or the query of rfc2141bis-03
    (§2.3). The q-component of RFC 8141 is left out (§2.3.2). The f-component, or fragment, follows a "#", so the client
    does not send it (RFC 8141 §2.3.3, rfc2141bis-03 §2.4).

    >>> resolver(parse("urn:nbn:de:101:1-2?+part=3?=lang=de#p4", "rfc8141"))
    'https://nbn-resolving.org/urn:nbn:de:101:1-2?+part=3#p4'
    """
    rule = rulebook.rules.get(urn.nid)
    link = rule.link(namespace_form(urn.canonical, rulebook), _request(urn)) if rule and rule.resolvers else None
    return link if link is None or urn.f_component is None else f"{link}#{urn.f_component}"


def _request(urn: URN) -> str:
    """The component that is sent to a resolver with the name, after its delimiter; empty without one."""
    if urn.r_component is not None:
        return f"?+{urn.r_component}"
    return f"?{urn.q_component}" if urn.syntax == "rfc2141bis-03" and urn.q_component else ""


def _service(urn: URN) -> str | None:
    """The service that the directive `s` requests, and its section; None without a registered service."""
    asked = urn.directives.get("s")
    sections = {name: number for number, name in enumerate(RESOLUTION_SERVICES, 1)}
    return f"{RESOLUTION_SERVICES[asked]} (RFC 2483 §4.{sections[asked]})" if asked in sections else None


def _remarks(urn: URN, rulebook: Rulebook) -> Iterator[str]:
    if urn.syntax == "rfc2141bis-03":
        yield from _remarks_of_bis_03(urn, rulebook)
        return
    if urn.r_component is not None:
        yield f"the r-component goes to the resolver with the name (RFC 8141 §2.3.1){_but_not_here(urn, rulebook)}"
    if urn.q_component is not None:
        yield (
            "the q-component does not go to the resolver: it is the query of the address that the resolver gives "
            "(RFC 8141 §2.3.2)"
        )
    if urn.f_component is not None:
        yield "the f-component does not go to the resolver: the client looks for it in what it gets (RFC 8141 §2.3.3)"


def _remarks_of_bis_03(urn: URN, rulebook: Rulebook) -> Iterator[str]:
    if urn.q_component is not None:
        yield f"the directives go to the resolver with the name (rfc2141bis-03 §2.3){_but_not_here(urn, rulebook)}"
    for keyword in urn.repeated_keywords:
        is_registered = keyword in QUERY_KEYWORDS
        ignores = (
            ": a resolver ignores all its directives" if is_registered else "; it is not registered, so both count"
        )
        yield f'the keyword "{keyword}" is repeated{ignores} (rfc2141bis-03 §2.3)'
    for keyword, value in urn.directives.items():
        if keyword not in QUERY_KEYWORDS:
            yield (
                f'the keyword "{keyword}" is not registered (rfc2141bis-03 §9.2.1): '
                "a resolver that does not know it ignores it (§2.3)"
            )
        elif keyword == "s" and value not in RESOLUTION_SERVICES:
            yield (
                f'the service "{value}" is not registered (rfc2141bis-03 §9.2.2): '
                "a resolver that does not know it gives its default service (§2.3.1)"
            )
    if urn.f_component is not None:
        yield (
            "a fragment is allowed only in a reference to a URN, and only if the registration of the namespace says so; "
            "it does not go to the resolver (rfc2141bis-03 §2.4)"
        )


def _but_not_here(urn: URN, rulebook: Rulebook) -> str:
    """The end of a remark, if the service of the namespace gets no component, as its address lacks the URN; otherwise
    empty.
    """
    rule, form = rulebook.rules.get(urn.nid), namespace_form(urn.canonical, rulebook)
    link = rule.link(form) if rule else None
    is_left_out = rule and link and link == rule.link(form, _request(urn))
    return "; the service of this address is not asked with a URN, and does not get it" if is_left_out else ""
