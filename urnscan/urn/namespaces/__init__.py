"""Namespaces: the IANA registry, and the grammar, check digit and equivalence rule of each namespace.

RFC 2141 §5 and RFC 8141 §3 allow a namespace to declare more names equal than the syntax does.

registry: the IANA registry and the status of a NID; grammar, check digit, equivalences and resolvers of each namespace.
patterns: patterns of the rules as automata.
check_digits: other check digits than those of ISBN and ISSN (`urn.numbers`), for Python and compiled code.
trailing_text: names with text of the document at their end, and templates.
own: a file of custom rules, read and checked.
judgement: the rules and their check digits applied to one name: valid, problem, canonical form.
judgement_columns: the same rules applied to columns of names, compiled.
native: `Native`, the conversion of a native identifier to a URN and back.
identifiers: a `Native` for each of `doi`, `eidr`, `ietf`, … `uuid`.
references: the URN that a native identifier or a link to a resolver represents.

The module `identifiers` is loaded when one of its objects is first used.

>>> from urnscan import namespaces
>>> namespaces.isbn.to_urn("ISBN 0-395-36341-1")
'urn:isbn:9780395363416'
>>> namespaces.isbn.from_urn("urn:isbn:9780395363416")
'978-0-395-36341-6'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from urnscan.urn.namespaces.judgement import Judgement, judge, namespace_form
from urnscan.urn.namespaces.own import read_rules
from urnscan.urn.namespaces.registry import (
    Namespace,
    NidStatus,
    Resolver,
    Rule,
    Rulebook,
    nid_status,
    registered,
    rules,
)

if TYPE_CHECKING:
    from urnscan.urn.namespaces.native import Native

__all__ = ["Judgement", "Namespace", "NidStatus", "Resolver", "Rule", "Rulebook"]
__all__ += ["judge", "namespace_form", "nid_status", "read_rules", "registered", "rules"]
__all__ += ["doi", "eidr", "ietf", "isan", "isbn", "isni", "issn", "lei", "oid", "publicid", "uuid"]


def __getattr__(name: str) -> Native:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from urnscan.urn.namespaces import identifiers  # noqa: PLC0415 (most programs do without)

    native: Native = globals().setdefault(name, getattr(identifiers, name))
    return native


def __dir__() -> list[str]:
    return sorted(__all__)
