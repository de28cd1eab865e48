"""Faults: wrong names in texts, with their places. `urnscan check` writes them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import flag_array, flags_of, numbers
from urnscan.formats.context import full_name
from urnscan.library.passages import Passages, Wanted
from urnscan.run.options import Options
from urnscan.run.tasks import Argument
from urnscan.urn.namespaces import judge


class Fault(NamedTuple):
    """A wrong name in a text."""

    source: str
    member: str | None
    line: int
    """The line, from 1."""
    column: int | None
    """The character of the line, from 1; None where the input can be read only once."""
    text: str
    code: str
    """What is wrong: a code of `urn.problems`, a reason of `urn.reject_reasons`, or `unregistered`."""
    message: str

    @property
    def path(self) -> str:
        """The source, and the member in it: `a.zip!/b.txt`."""
        return full_name(self.source, self.member)


class FaultSearch:
    """Sinks of a scan that search its rows for faults."""

    def __init__(
        self,
        kinds: Collection[str],
        inputs: Sequence[Argument],
        options: Options,
        about_nid: Callable[[str], str | None],
        add: Callable[[Fault], None],
    ) -> None:
        """`kinds` are some of invalid, reject and unregistered. `about_nid` gives the message about a NID that is not registered,
        and None for any other. `add` takes the faults, in the order of the inputs.
        """
        self._kinds = kinds
        self._about = about_nid
        self._take = add
        self._rulebook = options.level.rulebook
        # Both tables come in the order of the inputs, but not together: each has a reader of its own.
        self._of_names, self._of_rejects = Passages(inputs, options, 0), Passages(inputs, options, 0)

    def add_names(self, rows: pa.RecordBatch) -> None:
        """Search the names of OCCURRENCES rows."""
        nid = rows.column("nid")
        is_odd = np.array([self._about_nid(name) is not None for name in nid.dictionary.to_pylist()], np.bool_)
        is_wrong = is_odd[numbers(nid.indices)]
        if "invalid" in self._kinds:
            valid = rows.column("valid")
            is_wrong |= flags_of(pc.and_kleene(valid.is_valid(), pc.invert(valid)))
        for row in rows.filter(flag_array(is_wrong)).to_pylist():
            if (message := self._about_nid(row["nid"])) is not None:
                self._add(self._of_names, row, "unregistered", message)
            else:
                reason = judge(row["urn"], self._rulebook).reason
                self._add(self._of_names, row, row["problem"], reason)

    def add_rejects(self, rows: pa.RecordBatch) -> None:
        """Search REJECTS rows: each is a fault."""
        for row in rows.to_pylist():
            whole = row | {"length": len(row["text"].encode()), "via": None}
            self._add(self._of_rejects, whole, row["reason"], row["message"])

    def _about_nid(self, nid: str) -> str | None:
        """The message about a namespace that is neither registered nor one of own rules; None if that is no fault."""
        if "unregistered" not in self._kinds or nid in self._rulebook.nids:
            return None
        return self._about(nid)

    def _add(self, passages: Passages, row: Mapping[str, Any], code: str, message: str) -> None:
        passage = passages.find(Wanted(*map(row.__getitem__, Wanted._fields)))
        column = None if passage is None else passage.place_in_line
        self._take(Fault(row["source"], row["member"], row["line"], column, row["text"], code, message))
