"""Columns that follow from spellings: components and problems."""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.compiled.arrow import bits, decoded, text_array
from urnscan.compiled.ascii import EQUALS, HASH, PLUS, QUESTION_MARK
from urnscan.compiled.bytes import ByteArray, find_byte
from urnscan.compiled.jit import compiled, read_only
from urnscan.compiled.strings import Offsets, cut
from urnscan.urn.namespaces.judgement_columns import NAMES, Codes
from urnscan.urn.problem_columns import MARKS_IN_ALL, Marks, marks_of
from urnscan.urn.problems import OF_SPELLINGS, joined
from urnscan.urn.syntax import TAIL_COMPONENTS, TAIL_NONE, Syntax

_R, _Q, _F = range(3)


def spelling_columns(data: ByteArray, offsets: Offsets, syntax: Syntax) -> list[pa.Array]:
    """Make the columns `r_component`, `q_component`, `f_component` and `spelling_problem`, with a row for each spelling
    (a URN as it is in a text): spelling i is `data[offsets[i]:offsets[i + 1]]`, a whole URN in `syntax`.

    Null: the URN has no such component (in rfc2141 always; in rfc2141bis-03 always for `r_component`, and the query is
    in `q_component`), or no problem. Components are without their delimiters; several problems have "; " between their
    codes.
    """
    marks = marks_of(data, offsets, syntax)
    problem = decoded(problem_column(np.zeros(len(marks), np.uint8), marks)) if marks.any() else _nulls(len(marks))
    return [*_components(data, offsets, syntax), problem]


def problem_column(codes: Codes, marks: Marks) -> pa.DictionaryArray:
    """Make the column `problem`: for each row, the code of the problem of the name, then those of the spellings, with
    "; " between them; null without problems.

    For each row, `codes` has the result of the check of the name, an index of `judgement_columns.NAMES`; `marks` has
    the problems of the spellings as a set of bits: bit i is the problem `OF_SPELLINGS[i]`.
    """
    pairs = codes.astype(np.int32) * MARKS_IN_ALL + marks
    used = np.flatnonzero(np.bincount(pairs))
    problems = [_problem(pair) for pair in used.tolist()]
    distinct = list(dict.fromkeys(filter(None, problems)))
    places, known = np.zeros(MARKS_IN_ALL * len(NAMES), np.int32), np.zeros(MARKS_IN_ALL * len(NAMES), np.bool_)
    places[used] = [distinct.index(problem) if problem else 0 for problem in problems]
    known[used] = [problem is not None for problem in problems]
    buffers = [bits(known[pairs]), pa.py_buffer(places[pairs])]
    indices = pa.Array.from_buffers(pa.int32(), len(pairs), buffers)
    return pa.DictionaryArray.from_arrays(indices, text_array(distinct))


@functools.cache
def _problem(pair: int) -> str | None:
    """The text of the column `problem`. `pair` is the code of the check * MARKS_IN_ALL + marks."""
    code, mark = divmod(pair, MARKS_IN_ALL)
    return joined([NAMES[code], *(each for bit, each in enumerate(OF_SPELLINGS) if mark >> bit & 1)])


def _nulls(rows: int) -> pa.StringArray:
    return pa.nulls(rows, pa.string())


def _components(data: ByteArray, offsets: Offsets, syntax: Syntax) -> list[pa.StringArray]:
    """The columns r_component, q_component and f_component, without delimiters."""
    rows = len(offsets) - 1
    text = data[offsets[0] : offsets[-1]]
    if syntax.tail == TAIL_NONE or not ((text == QUESTION_MARK).any() or (text == HASH).any()):
        return [_nulls(rows)] * 3
    starts, ends = np.zeros((3, rows), np.int32), np.zeros((3, rows), np.int32)
    _find_components(read_only(data), read_only(offsets), syntax.tail == TAIL_COMPONENTS, starts, ends)
    columns = []
    for start, end in zip(starts, ends, strict=True):
        # A component begins after "urn:", so its start is never 0.
        known = start > 0
        component, component_offsets = cut(data, start, end)
        buffers = [bits(known), pa.py_buffer(component_offsets), pa.py_buffer(component)]
        nulls = rows - int(np.count_nonzero(known))
        columns.append(
            pa.Array.from_buffers(pa.string(), rows, buffers, null_count=nulls) if nulls < rows else _nulls(rows)
        )
    return columns


@compiled
def _find_components(
    data: ByteArray, offsets: Offsets, is_rfc8141: bool, starts: npt.NDArray[np.int32], ends: npt.NDArray[np.int32]
) -> None:
    """Set `starts[c, i]` and `ends[c, i]` to the byte range in `data` of component c (_R, _Q or _F) of URN i, without
    delimiters. Precondition: all starts and ends are 0, which means "no such component".
    """
    for i in range(len(offsets) - 1):
        at, end = offsets[i], offsets[i + 1]
        # The first "?" or "#" of a URN begins its components.
        while at < end and data[at] != QUESTION_MARK and data[at] != HASH:
            at += 1
        if is_rfc8141 and at + 1 < end and data[at] == QUESTION_MARK and data[at + 1] == PLUS:
            at += 2
            starts[_R, i] = at
            while at < end and data[at] != HASH:
                if data[at] == QUESTION_MARK and at + 1 < end and data[at + 1] == EQUALS:
                    break
                at += 1
            ends[_R, i] = at
        if at < end and data[at] == QUESTION_MARK:
            at += 2 if is_rfc8141 else 1
            starts[_Q, i] = at
            ends[_Q, i] = at = find_byte(data, at, end, HASH)
        if at < end:
            starts[_F, i] = at + 1
            ends[_F, i] = end
