"""Namespaces: registry, grammars of their names, and additional equivalences.

RFC 2141 §5 and RFC 8141 §3 leave it to each namespace to declare more names equal than the syntax does.

registry: the IANA registry (`urn-namespaces.csv`), and the status of a NID.
rules: grammar, check digit, equivalences and resolvers of each namespace (`rules.toml`).
patterns: patterns of the rules as automata.
check_digits: check digits as arithmetic on octets, for Python and compiled code.
checks: the check digits that rules name.
judgement: the rules applied to one name: valid, problem, canonical form.
columns: the same rules applied to columns of names, compiled.
native: `Native`, the shape of a native identifier, for the modules below.
adid, doi, eic, eidr, gsma, ietf, isan, isbn, isni, issn, lei, oid, publicid, uuid: identifier -> URN and back.

The modules of the last line are loaded when they are used.

>>> from urnscan import namespaces
>>> namespaces.isbn.to_urn("ISBN 0-395-36341-1")
'urn:isbn:9780395363416'
>>> namespaces.isbn.from_urn("urn:isbn:9780395363416")
'978-0-395-36341-6'
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from urnscan.urn.namespaces.judgement import PROBLEMS, Judgement, judge, namespace_form
from urnscan.urn.namespaces.registry import Namespace, NidStatus, nid_status, registered
from urnscan.urn.namespaces.rules import Resolver, Rule, rules

if TYPE_CHECKING:
    from urnscan.urn.namespaces import (
        adid,
        doi,
        eic,
        eidr,
        gsma,
        ietf,
        isan,
        isbn,
        isni,
        issn,
        lei,
        oid,
        publicid,
        uuid,
    )

__all__ = [
    "PROBLEMS",
    "Judgement",
    "Namespace",
    "NidStatus",
    "Resolver",
    "Rule",
    "adid",
    "doi",
    "eic",
    "eidr",
    "gsma",
    "ietf",
    "isan",
    "isbn",
    "isni",
    "issn",
    "judge",
    "lei",
    "namespace_form",
    "nid_status",
    "oid",
    "publicid",
    "registered",
    "rules",
    "uuid",
]

_LATER = frozenset("adid doi eic eidr gsma ietf isan isbn isni issn lei oid publicid uuid".split())


def __getattr__(name: str) -> ModuleType:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
