"""The namespaces: who has registered which, what their names look like, and which of them are the same.

RFC 2141 §5 and RFC 8141 §3 leave it to each namespace to declare more names equal than the syntax does.

Where a registration says how native identifiers become names, a module of the NID's name leads there and back; it is
loaded when it is used.

>>> import urnscan.namespaces
>>> urnscan.namespaces.isbn.to_urn("ISBN 0-395-36341-1")
'urn:isbn:9780395363416'
>>> urnscan.namespaces.isbn.from_urn("urn:isbn:9780395363416")
'978-0-395-36341-6'
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from urnscan.namespaces.judging import PROBLEMS, Judgement, judge, namespace_form
from urnscan.namespaces.registry import Namespace, NidStatus, nid_status, registered
from urnscan.namespaces.rules import Resolver, Rule, rules

if TYPE_CHECKING:
    from urnscan.namespaces import adid, doi, eic, eidr, gsma, ietf, isan, isbn, isni, issn, lei, oid, publicid, uuid

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
