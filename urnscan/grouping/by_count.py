"""Classes sorted by count, the most frequent first. Rows that do not fit in memory are spilled to files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import number_array, numbers, string_array, text_array
from urnscan.grouping.out_of_core import Grouping
from urnscan.tables.schemas import FREQUENCIES, SINGLE

# All keys of a grouping begin with this scheme.
_SCHEME = "urn:"
_MAX = 10**18
_DIGITS = 18
_HEAD = len(_SCHEME) + _DIGITS


def by_count(classes: Iterable[pa.RecordBatch], grouping: Grouping) -> Iterator[pa.RecordBatch]:
    """Sort classes by count (number of occurrences), the highest first, then by the bytes of the URN. `classes`:
    batches with the columns of GROUPED, a row for each class. Yields batches with the columns of FREQUENCIES (URN and
    count).

    `grouping`, which must be empty, does the sorting, and is used up. Raises FatalError if the disk fails.
    """
    scheme, nothing = text_array([_SCHEME])[0], text_array([""])[0]
    for rows in classes:
        number = number_array(_MAX - numbers(rows.column("occurrence_count"))).cast(pa.string())
        name = pc.utf8_slice_codeunits(rows.column("urn"), len(_SCHEME))
        key = pc.binary_join_element_wise(scheme, pc.utf8_lpad(number, _DIGITS, "0"), name, nothing)
        zeros = np.zeros(len(key), np.int64)
        text = string_array(np.zeros(0, np.uint8), np.zeros(len(key) + 1, np.int32))
        source = number_array(zeros.astype(np.int32))
        columns = [key, text, source, pa.nulls(len(key), pa.string()), number_array(zeros)]
        grouping.add(pa.RecordBatch.from_arrays(columns, schema=SINGLE))
    yield from grouping.classes(_frequencies)


def _frequencies(rows: pa.RecordBatch) -> pa.RecordBatch:
    """FREQUENCIES rows of GROUPED rows whose `urn` is a key of `by_count`: `urn:`, 18 digits of 10**18 - count, and the
    URN without `urn:`.
    """
    scheme, nothing = text_array([_SCHEME])[0], text_array([""])[0]
    number = pc.utf8_slice_codeunits(rows.column("urn"), len(_SCHEME), _HEAD).cast(pa.int64())
    name = pc.utf8_slice_codeunits(rows.column("urn"), _HEAD)
    urn = pc.binary_join_element_wise(scheme, name, nothing)
    return pa.RecordBatch.from_arrays([urn, number_array(_MAX - numbers(number))], schema=FREQUENCIES)
