"""urnscan finds URNs in text, brings them to canonical form and groups them into equivalence classes.

>>> import urnscan
>>> urnscan.parse("URN:ISBN:0-395-36341-1").canonical
'urn:isbn:0-395-36341-1'
>>> urnscan.equivalent("urn:foo:a123%2C456", "URN:FOO:a123%2c456")
True
>>> [found.text for found in urnscan.find("See urn:isbn:0451450523 (or URN:ISBN:0451450523).", trim=True)]
['urn:isbn:0451450523', 'URN:ISBN:0451450523']

The import is fast: modules that scan and make tables (with Numba, pyarrow) are loaded at their first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from urnscan.errors import ArgumentError, FatalError, InvalidURN, SourceError, SourceNote, UrnscanError
from urnscan.urn import namespaces
from urnscan.urn.equivalence import LEVELS, LevelName, canonical, equivalent
from urnscan.urn.explanation import Explanation, explain
from urnscan.urn.namespaces import nid_status
from urnscan.urn.parser import URN, encode_nss, parse
from urnscan.urn.syntax import RESOLUTION_SERVICES, SYNTAXES, SyntaxName
from urnscan.version import __version__ as __version__

if TYPE_CHECKING:
    from urnscan.dedup.dedup_report import DedupReport
    from urnscan.dedup.policy import Policy
    from urnscan.library.batches import scan_batches
    from urnscan.library.comparing import DiffReport, diff
    from urnscan.library.compilation import WarmUp, warm_up
    from urnscan.library.context import Context, ContextLine
    from urnscan.library.dataframes import scan_frame
    from urnscan.library.deduplication import Dedup, deduplicate
    from urnscan.library.merging import MergeReport, merge
    from urnscan.library.partial import Partial, merge_partial, scan_partial
    from urnscan.library.samples import samples
    from urnscan.library.scans import Scan, scan
    from urnscan.run.options import Options
    from urnscan.run.pipeline import Report
    from urnscan.scanner.find import Occurrence, find
    from urnscan.scanner.views.kinds import ViewName

__all__ = ["LEVELS", "RESOLUTION_SERVICES", "SYNTAXES", "URN", "Explanation", "InvalidURN", "canonical", "encode_nss"]
__all__ += ["equivalent", "explain", "namespaces", "nid_status", "parse"]
__all__ += [
    "ArgumentError",
    "FatalError",
    "LevelName",
    "SourceError",
    "SourceNote",
    "SyntaxName",
    "UrnscanError",
    "ViewName",
]
__all__ += [
    "Context",
    "ContextLine",
    "Dedup",
    "DedupReport",
    "DiffReport",
    "MergeReport",
    "Occurrence",
    "Options",
    "Partial",
    "Policy",
    "Report",
    "Scan",
]
__all__ += ["WarmUp", "deduplicate", "diff", "find", "merge", "merge_partial", "samples", "scan", "scan_batches"]
__all__ += ["scan_frame", "scan_partial", "warm_up"]

_LATER = {
    "scanner.find": ["Occurrence", "find"],
    "scanner.views.kinds": ["ViewName"],
    "run.options": ["Options"],
    "run.pipeline": ["Report"],
    "library.comparing": ["DiffReport", "diff"],
    "library.compilation": ["WarmUp", "warm_up"],
    "library.context": ["Context", "ContextLine"],
    "library.scans": ["Scan", "scan"],
    "library.batches": ["scan_batches"],
    "library.dataframes": ["scan_frame"],
    "library.deduplication": ["Dedup", "deduplicate"],
    "library.merging": ["MergeReport", "merge"],
    "library.partial": ["Partial", "merge_partial", "scan_partial"],
    "library.samples": ["samples"],
    "dedup.policy": ["Policy"],
    "dedup.dedup_report": ["DedupReport"],
}
"""Module -> names that are imported from it at their first use."""


_OF_OTHERS = ("duckdb", "pandas", "polars", "spark")
"""Modules for other libraries. Each is loaded at its first use, because it needs that library."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 (whatever it is)
    if name in _OF_OTHERS:
        return importlib.import_module(f"{__name__}.{name}")
    for module, names in _LATER.items():
        if name in names:
            value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{module}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_OF_OTHERS])
