"""What a URN is made of, or why a text is none: one record for people and programs alike."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from urnscan.errors import InvalidURN
from urnscan.urn.equivalence import get_level
from urnscan.urn.lookalikes import lookalikes
from urnscan.urn.namespaces import NidStatus, judge, namespace_form, nid_status, registered, rules
from urnscan.urn.syntax import get_syntax, parse

__all__ = ["Explanation", "explain"]

_NO_RULE = "none of its own"
_VERDICTS = {True: "valid", False: "invalid", None: "unknown"}


@dataclass(frozen=True, slots=True)
class Explanation:
    """A text as one standard sees it. Where it is no URN, only `text`, `syntax`, `position` and `reason` are set."""

    text: str
    """As it was given, octets as characters."""
    syntax: str
    """The name of the syntax by which it was read."""
    is_urn: bool
    """Whether it is a URN in that syntax."""
    canonical: str | None = None
    """The canonical form at the level that was asked for."""
    nid: str | None = None
    """The namespace identifier in lower case."""
    nid_status: NidStatus | None = None
    """The standing of its NID, as `urnscan.nid_status` tells it."""
    namespace: str | None = None
    """What the names of the namespace name, if it is registered, and where it is defined."""
    rule: str | None = None
    """Which names of it are equal beyond the syntax, and where that is said."""
    valid: bool | None = None
    """Whether its namespace admits it; None where nothing is certain."""
    verdict: str | None = None
    """The same in words, and why."""
    nss: str | None = None
    """The namespace specific string as it was given."""
    r_component: str | None = None
    """What stands behind `?+` (RFC 8141 §2.3.1)."""
    q_component: str | None = None
    """What stands behind `?=` (RFC 8141 §2.3.2), or the query of rfc2141bis-03 (§2.3)."""
    f_component: str | None = None
    """What stands behind `#` (RFC 8141 §2.3.3), or the fragment of rfc2141bis-03."""
    directives: dict[str, str] = field(default_factory=dict, hash=False)
    """Keyword -> value of the query of rfc2141bis-03 (§2.3)."""
    display: str | None = None
    """The form for people, as `URN.display` gives it."""
    problems: tuple[str, ...] = ()
    """What is wrong or odd, in the codes of the column `problem`."""
    resolver: str | None = None
    """Where a public and stable service leads to what it names, with its components (RFC 8141 §2.3)."""
    position: int | None = None
    """Where a text that is no URN stops being one: characters from 0."""
    reason: str | None = None
    """Why it is none, in a sentence."""

    def _repr_html_(self) -> str:
        """As a notebook shows it: what `urnscan explain` prints."""
        from urnscan.display.text import html_fields, html_text, pointed  # noqa: PLC0415 (explaining does without)

        aside = ("is_urn", "valid", "directives")
        fields = [(name.replace("_", " "), value) for name, value in self.as_dict().items() if name not in aside]
        fields += [("directive", f"{keyword} = {value}") for keyword, value in self.directives.items()]
        if self.position is None:
            return html_fields(fields)
        return html_fields(fields) + f"<pre>{'<br>'.join(map(html_text, pointed(self.text, self.position)))}</pre>"

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return asdict(self)


def explain(text: str | bytes, *, syntax: str = "rfc2141", equivalence: str = "lexical") -> Explanation:
    """Take a text apart as a URN of `syntax` (RFC 2141 §2, RFC 8141 §2, rfc2141bis-03 §2), or say where and why it is none.

    What is no URN raises nothing. Raises ValueError for an unknown syntax or equivalence, and for one that the syntax
    does not define, TypeError for what is no text.

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
