"""urnscan finds URNs in text, brings them to canonical form and groups them into equivalence classes.

>>> import urnscan
>>> urnscan.parse("URN:ISBN:0-395-36341-1").canonical
'urn:isbn:0-395-36341-1'
>>> urnscan.equivalent("urn:foo:a123%2C456", "URN:FOO:a123%2c456")
True
>>> [found.text for found in urnscan.find("See urn:isbn:0451450523 (or URN:ISBN:0451450523).", trim=True)]
['urn:isbn:0451450523', 'URN:ISBN:0451450523']

Importing it is light: what scans and makes tables (Numba, pyarrow) is loaded at the first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from urnscan.errors import ArgumentError, FatalError, InvalidURN, SourceError, UrnscanError
from urnscan.urn import namespaces
from urnscan.urn.equivalence import LEVELS, canonical, equivalent
from urnscan.urn.explanation import Explanation, explain
from urnscan.urn.namespaces import nid_status
from urnscan.urn.parser import URN, encode_nss, parse
from urnscan.urn.syntax import RESOLUTION_SERVICES, SYNTAXES

if TYPE_CHECKING:
    from urnscan.dedup.job import DedupReport
    from urnscan.dedup.policy import Policy
    from urnscan.library.context import Context, ContextLine
    from urnscan.library.deduplication import Dedup, deduplicate
    from urnscan.library.samples import samples
    from urnscan.library.scans import Scan, scan, scan_batches
    from urnscan.run.options import Options
    from urnscan.run.pipeline import Report
    from urnscan.scanner.text import Occurrence, find

__version__ = "0.1.0"

__all__ = [
    "LEVELS",
    "RESOLUTION_SERVICES",
    "SYNTAXES",
    "URN",
    "ArgumentError",
    "Context",
    "ContextLine",
    "Dedup",
    "DedupReport",
    "Explanation",
    "FatalError",
    "InvalidURN",
    "Occurrence",
    "Options",
    "Policy",
    "Report",
    "Scan",
    "SourceError",
    "UrnscanError",
    "canonical",
    "deduplicate",
    "encode_nss",
    "equivalent",
    "explain",
    "find",
    "namespaces",
    "nid_status",
    "parse",
    "samples",
    "scan",
    "scan_batches",
]

_LATER = {
    "Occurrence": "scanner.text",
    "find": "scanner.text",
    "Options": "run.options",
    "Report": "run.pipeline",
    "Context": "library.context",
    "ContextLine": "library.context",
    "Scan": "library.scans",
    "Dedup": "library.deduplication",
    "deduplicate": "library.deduplication",
    "Policy": "dedup.policy",
    "DedupReport": "dedup.job",
    "samples": "library.samples",
    "scan": "library.scans",
    "scan_batches": "library.scans",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 (whatever it is)
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATER])
