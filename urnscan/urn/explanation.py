"""Explanation of a text: the parts of a URN, or why it is none. One record for people and programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from urnscan.errors import InvalidURN
from urnscan.urn.equivalence import get_level
from urnscan.urn.lookalikes import lookalikes
from urnscan.urn.namespaces import NidStatus, judge, namespace_form, nid_status, registered, rules
from urnscan.urn.parser import parse
from urnscan.urn.syntax import get_syntax

__all__ = ["Explanation", "explain"]

_NO_RULE = "none of its own"
_VERDICTS = {True: "valid", False: "invalid", None: "unknown"}


@dataclass(frozen=True, slots=True)
class Explanation:
    """A text as a syntax reads it. If it is no URN, only `text`, `syntax`, `position` and `reason` are set."""

    text: str
    """The text as given, octets as characters."""
    syntax: str
    """The name of the syntax that it was read by."""
    is_urn: bool
    """Whether the text is a URN in that syntax."""
    canonical: str | None = None
    """The canonical form at the requested level."""
    nid: str | None = None
    """The namespace identifier in lower case."""
    nid_status: NidStatus | None = None
    """The standing of the NID, as `urnscan.nid_status` gives it."""
    namespace: str | None = None
    """Title and reference of the namespace, if it is registered."""
    rule: str | None = None
    """Equivalences of the namespace beyond those of the syntax, and the section that defines them."""
    valid: bool | None = None
    """Whether the namespace admits the name; None if nothing is certain."""
    verdict: str | None = None
    """`valid` in words, and why."""
    nss: str | None = None
    """The namespace specific string as given."""
    r_component: str | None = None
    """The component behind `?+` (RFC 8141 §2.3.1)."""
    q_component: str | None = None
    """The component behind `?=` (RFC 8141 §2.3.2), or the query of rfc2141bis-03 (§2.3)."""
    f_component: str | None = None
    """The component behind `#` (RFC 8141 §2.3.3), or the fragment of rfc2141bis-03."""
    directives: dict[str, str] = field(default_factory=dict, hash=False)
    """Keyword -> value of the query of rfc2141bis-03 (§2.3)."""
    display: str | None = None
    """The human-friendly form, as `URN.display` gives it."""
    problems: tuple[str, ...] = ()
    """Problems, in the codes of the column `problem`."""
    resolver: str | None = None
    """Address at a public and stable service for the thing named, with the components (RFC 8141 §2.3)."""
    position: int | None = None
    """Where a text that is no URN stops being one, in characters from 0."""
    reason: str | None = None
    """Why the text is no URN, in a sentence."""

    def _repr_html_(self) -> str:
        """HTML for a notebook: what `urnscan explain` prints."""
        from urnscan.display.text import html_fields, html_text, pointed  # noqa: PLC0415 (explaining does without)

        aside = ("is_urn", "valid", "directives")
        fields = [(name.replace("_", " "), value) for name, value in self.as_dict().items() if name not in aside]
        fields += [("directive", f"{keyword} = {value}") for keyword, value in self.directives.items()]
        if self.position is None:
            return html_fields(fields)
        return html_fields(fields) + f"<pre>{'<br>'.join(map(html_text, pointed(self.text, self.position)))}</pre>"

    def as_dict(self) -> dict[str, Any]:
        """The fields as a dict, for JSON."""
        return asdict(self)


def explain(text: str | bytes, *, syntax: str = "rfc2141", equivalence: str = "lexical") -> Explanation:
    """Parts of a URN of `syntax` (RFC 2141 §2, RFC 8141 §2, rfc2141bis-03 §2), or where and why a text is none.

    A text that is no URN raises no error. Raises ValueError for an unknown syntax or equivalence and for an equivalence
    that the syntax does not define, TypeError for a value that is no text.

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
        return Explanation(text=error.text, syntax=name, is_urn=False, position=error.position, reason=error.reason)
    canonical, judgement = level.form(urn), judge(urn.canonical)
    entry, rule = registered().get(urn.nid), rules().get(urn.nid)
    link = rule.link(namespace_form(urn.canonical)) if rule else None
    return Explanation(
        text=urn.text,
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
