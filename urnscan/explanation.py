"""What a URN is made of, or why a text is none: one record for people and programs alike."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from urnscan.equivalence import get_level
from urnscan.errors import InvalidURN
from urnscan.lookalikes import lookalikes
from urnscan.namespaces import NidStatus, judge, namespace_form, nid_status, registered, rules
from urnscan.syntax import get_syntax, parse

__all__ = ["Explanation", "explain"]

_NO_RULE = "none of its own"
_VERDICTS = {True: "valid", False: "invalid", None: "unknown"}


@dataclass(frozen=True, slots=True)
class Explanation:
    """A text as one standard sees it. Where it is no URN, only `text`, `syntax`, `position` and `reason` are set."""

    text: str
    syntax: str
    is_urn: bool
    canonical: str | None = None
    nid: str | None = None
    nid_status: NidStatus | None = None
    namespace: str | None = None
    """What the names of the namespace name, if it is registered, and where it is defined."""
    rule: str | None = None
    """Which names of it are equal beyond the syntax, and where that is said."""
    valid: bool | None = None
    """Whether its namespace admits it; None where nothing is certain."""
    verdict: str | None = None
    """The same in words, and why."""
    nss: str | None = None
    r_component: str | None = None
    q_component: str | None = None
    f_component: str | None = None
    directives: dict[str, str] = field(default_factory=dict)
    display: str | None = None
    problems: tuple[str, ...] = ()
    resolver: str | None = None
    """Where a public and stable service leads to what it names, with its components (RFC 8141 §2.3)."""
    position: int | None = None
    """Where a text that is no URN stops being one: characters from 0."""
    reason: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return asdict(self)


def explain(text: str, *, syntax: str = "rfc2141", equivalence: str = "lexical") -> Explanation:
    """Take a text apart as a URN of `syntax`, or say where and why it is none.

    Raises ValueError for an unknown syntax or equivalence.

    >>> explain("URN:ISBN:0%2d395").canonical
    'urn:isbn:0%2D395'
    >>> explain("urn:isbn:0 395").reason
    "' ' may not stand in a URN; encoded it is %20"
    """
    level = get_level(equivalence, syntax)
    try:
        urn = parse(text, syntax)
    except InvalidURN as error:
        name = get_syntax(syntax).name
        return Explanation(text=text, syntax=name, is_urn=False, position=error.position, reason=error.reason)
    canonical, judgement = level.form(urn), judge(urn.canonical)
    entry, rule = registered().get(urn.nid), rules().get(urn.nid)
    link = rule.link(namespace_form(urn.canonical)) if rule else None
    return Explanation(
        text=text,
        syntax=urn.syntax,
        is_urn=True,
        canonical=canonical,
        nid=urn.nid,
        nid_status=nid_status(urn.nid),
        namespace=f"{rule.title} ({entry.reference})" if rule and entry else None,
        rule=f"{_NO_RULE if rule.rule == 'base' else rule.rule} ({rule.equality})" if rule else None,
        valid=judgement.valid,
        verdict=f"{_VERDICTS[judgement.valid]}: {judgement.reason}",
        nss=urn.nss,
        r_component=urn.r_component,
        q_component=urn.q_component,
        f_component=urn.f_component,
        directives=dict(urn.directives),
        display=urn.display(),
        problems=(*filter(None, [judgement.problem]), *urn.problems, *lookalikes(canonical.split(":", 2)[2])),
        resolver=urn.locator(link) if link else None,
    )
