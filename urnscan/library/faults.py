"""Faults: wrong names in texts, with their positions. `urnscan check` prints them."""

from __future__ import annotations

import re
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
from urnscan.urn.reject_reasons import DASHES, INVISIBLES, why_ends_badly
from urnscan.urn.syntax import get_syntax

# Characters after a name that show whether it was cut: a dash or an invisible character, and a letter or digit.
_AFTER = 2
# A dash that is typed instead of a hyphen, an invisible character, or a letter beyond ASCII.
_CUT = re.compile(rf"[{DASHES}{INVISIBLES}][A-Za-z0-9]|(?![A-Za-z])[^\W\d_]")


class Fault(NamedTuple):
    """A fault in a text: a name that the rules of its namespace do not allow or whose NID is not registered, or a text
    that is nearly a URN; with its position. `source` is the input; `member` the path of the text in the input, or None
    if the text is the input itself; `text` the name as written; `message` the reason in words.
    """

    source: str
    member: str | None
    line: int
    """Number of the line in which the name begins, from 1."""
    column: int | None
    """Number of the first character of the name in the line, from 1; None if the text cannot be read a second time, or
    has changed.
    """
    text: str
    code: str
    """The kind of fault: a code of `urn.problems.PROBLEMS`, a code of `urn.reject_reasons.REASONS`, or `unregistered`.
    """
    message: str

    @property
    def path(self) -> str:
        """The source, and the member after it: `a.zip!/b.txt`; the source alone without a member."""
        return full_name(self.source, self.member)


class FaultSearch:
    """Finds the faults in the rows of a scan, and passes them to the function `add`. `add_names` and `add_rejects` are
    sinks: functions that a run calls with batches of rows, in the order of the inputs. The inputs are read again, for
    the columns of the faults.
    """

    def __init__(
        self,
        kinds: Collection[str],
        inputs: Sequence[Argument],
        options: Options,
        about_nid: Callable[[str], str | None],
        add: Callable[[Fault], None],
    ) -> None:
        """`kinds` are names among invalid (by the rules of the namespace), reject (nearly a URN) and unregistered
        (NID). Faults of other kinds are not reported. `inputs`, `options`: of the scan. `about_nid` returns the message
        about a NID that is not registered, or None for a NID to accept. `add` gets the faults, in the order of the
        rows.
        """
        self._kinds = kinds
        self._about = about_nid
        self._take = add
        self._rulebook = options.level.rulebook
        self._syntax = get_syntax(options.syntax)
        self.other_unregistered = self.other_rejects = 0
        """Numbers of names and of rejects that are of these kinds, and that `kinds` leaves out."""
        # Rows of both tables come in the order of the inputs, but independently. So each table has a separate reader.
        self._of_names, self._of_rejects = Passages(inputs, options, _AFTER), Passages(inputs, options, 0)

    def add_names(self, rows: pa.RecordBatch) -> None:
        """Call `add` with a Fault for each row of the table of occurrences (OCCURRENCES) whose name is invalid or
        unregistered, if `kinds` has this kind. If `kinds` has no "unregistered", unregistered names are counted, in
        `other_unregistered`.
        """
        nid = rows.column("nid")
        is_odd = np.array([self._about_nid(name) is not None for name in nid.dictionary.to_pylist()], np.bool_)
        is_wrong = is_odd[numbers(nid.indices)]
        if "unregistered" not in self._kinds:
            self.other_unregistered += int(np.count_nonzero(is_wrong))
            is_wrong[:] = False
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
        """Call `add` with a Fault for each row of the table of rejects (REJECTS: texts that are nearly URNs, or URNs
        that end badly). If `kinds` has no "reject", only count the rows, in `other_rejects`.
        """
        if "reject" not in self._kinds:
            self.other_rejects += rows.num_rows
            return
        for row in rows.to_pylist():
            whole = row | {"length": len(row["text"].encode()), "via": None}
            self._add(self._of_rejects, whole, row["reason"], row["message"])

    def _about_nid(self, nid: str) -> str | None:
        """None, no fault, for a NID (in lower case) that is registered or has a custom rule."""
        return None if nid in self._rulebook.nids else self._about(nid)

    def _add(self, passages: Passages, row: Mapping[str, Any], code: str, message: str) -> None:
        passage = passages.find(Wanted(*map(row.__getitem__, Wanted._fields)))
        column = None if passage is None else passage.place_in_line
        if passage is not None and _CUT.match(passage.after):
            message += f"; it was cut: {why_ends_badly(passage.after, self._syntax).reason}"
        self._take(Fault(row["source"], row["member"], row["line"], column, row["text"], code, message))
