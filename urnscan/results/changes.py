"""Kinds of changes, and values before and after, as the differences of all tables tell them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.arrays.arrow import flags_of

CAME, WENT, CHANGED = "came", "went", "changed"
"""Values of the column `change`."""

_NULL = "null"


def what_differs(old: Mapping[str, Any], new: Mapping[str, Any], names: Sequence[str]) -> Iterator[dict[str, str]]:
    """The values with these names that differ in two rows, as text. A row may lack values: they are none."""
    for name in names:
        before, after = old.get(name), new.get(name)
        if before != after:
            yield {"what": name, "old": _text(before), "new": _text(after)}


def elements_that_differ(name: str, old: Iterable[str], new: Iterable[str]) -> Iterator[dict[str, str]]:
    """The elements of a list that only one of two rows has, in the order of code points, each as a value of its own."""
    before = set(old)
    for each in sorted(before ^ set(new)):
        old_text, new_text = (each, _NULL) if each in before else (_NULL, each)
        yield {"what": name, "old": old_text, "new": new_text}


def are_unequal(before: pa.Array, after: pa.Array) -> npt.NDArray[np.bool_]:
    """Whether the values of two columns differ, for each row; null is equal to null alone."""
    unequal = pc.fill_null(pc.not_equal(before, after), False)
    return flags_of(pc.or_(unequal, pc.xor(before.is_null(), after.is_null())))


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return _NULL if value is None else str(value)
