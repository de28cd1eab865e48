"""What a URN is made of, or why a text is none: one record for people and programs alike."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from urnscan.equivalence import get_level
from urnscan.errors import InvalidURN
from urnscan.namespaces import NidStatus, nid_status, registered
from urnscan.syntax import get_syntax, parse

__all__ = ["Explanation", "explain"]


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
    """What the registry says of the namespace, and where it is defined."""
    nss: str | None = None
    r_component: str | None = None
    q_component: str | None = None
    f_component: str | None = None
    directives: dict[str, str] = field(default_factory=dict)
    display: str | None = None
    problems: tuple[str, ...] = ()
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
    entry = registered().get(urn.nid)
    return Explanation(
        text=text,
        syntax=urn.syntax,
        is_urn=True,
        canonical=level.form(urn),
        nid=urn.nid,
        nid_status=nid_status(urn.nid),
        namespace=f"{entry.description} ({entry.reference})" if entry else None,
        nss=urn.nss,
        r_component=urn.r_component,
        q_component=urn.q_component,
        f_component=urn.f_component,
        directives=dict(urn.directives),
        display=urn.display(),
        problems=urn.problems,
    )
