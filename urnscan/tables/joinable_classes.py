"""How many classes of a scan at the level `lexical` would be joined to other classes at the level `namespace`."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import byte_strings, string_array
from urnscan.urn.equivalence import Level
from urnscan.urn.namespaces.judgement_columns import namespace_forms

# With more classes, nothing is counted, because all names would have to be in memory.
_MAX_CLASSES = 250_000
_MAX_BYTES = 1 << 25


class JoinableClasses:
    """Counter of how many classes fewer (names with the same canonical form) a scan at the level `lexical` would have
    at the level `namespace`. First `add` all classes, then ask for `count`.
    """

    def __init__(self, level: Level) -> None:
        """`level` is the level of the scan; at any level except `lexical`, `count` gives None."""
        self._level = level
        self._classes = self._bytes = 0
        # Names that are canonical at the level `namespace`, and the canonical forms of all other names.
        self._canonical: list[pa.StringArray] = []
        self._forms: list[pa.StringArray] = []

    def add(self, urn: pa.StringArray) -> None:
        """Add the canonical forms of some classes of the scan. Each canonical form may be added only once in all calls."""
        data, offsets = byte_strings(urn)
        self._classes += len(urn)
        self._bytes += int(offsets[-1] - offsets[0])
        if not self._is_countable:
            self._canonical.clear()
            self._forms.clear()
            return
        forms = string_array(*namespace_forms(data, offsets, self._level.rulebook))
        is_canonical = pc.equal(forms, urn)
        self._canonical.append(urn.filter(is_canonical))
        self._forms.append(forms.filter(pc.invert(is_canonical)))

    def count(self) -> int | None:
        """The number of added classes minus the number of classes that the level `namespace` would make of them. None
        if the level of the scan is not `lexical`, or if too many classes were added (more than 250,000, or 32 MiB of
        names).
        """
        if not self._is_countable:
            return None
        forms = pa.chunked_array(self._forms, pa.string())
        distinct = forms.unique()
        canonical = pa.chunked_array(self._canonical, pa.string())
        # All elements of `canonical` differ, so each distinct form is at most once in it.
        known = pc.sum(pc.is_in(canonical, value_set=distinct)).as_py() or 0
        return len(forms) - len(distinct) + known

    @property
    def _is_countable(self) -> bool:
        return self._level.name == "lexical" and self._classes <= _MAX_CLASSES and self._bytes <= _MAX_BYTES
