"""Columns of matches -> batches of rows of the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.arrays.arrow import bits, number_array, numbers, octet_strings, string_array, text_array
from urnscan.arrays.ascii import COLON, PERCENT, QUESTION_MARK
from urnscan.arrays.jit import compiled
from urnscan.arrays.octets import copy
from urnscan.arrays.strings import Octets, Offsets, Rows, cut, same, take_numbers
from urnscan.scanner.blocks import END, Matches, Rejects
from urnscan.scanner.views import KINDS
from urnscan.tables.schemas import CLASSES, OCCURRENCES, REJECTS, SINGLE
from urnscan.tables.values import InValues
from urnscan.urn.equivalence import Level
from urnscan.urn.lookalikes import lookalikes
from urnscan.urn.namespaces import nid_status
from urnscan.urn.namespaces.columns import NAMES, UNKNOWN, Codes, is_valid, namespace_forms, verdicts
from urnscan.urn.parser import parse
from urnscan.urn.reasons import invalid, why_not
from urnscan.urn.syntax import Syntax

__all__ = [
    "Found",
    "canonical_column",
    "class_rows",
    "occurrences_in_values",
    "reject_rows",
]


_DIGIT_0, _DIGIT_3, _DIGIT_7, _DIGIT_9, _C = b"0379C"


@dataclass(frozen=True, slots=True)
class Found:
    """Matches with their places in the inputs, and their canonical forms."""

    matches: Matches
    offset: npt.NDArray[np.int64]
    line: npt.NDArray[np.int64]
    source: npt.NDArray[np.int32]
    """Index of each match's input in `names`."""
    names: Sequence[str]
    member: pa.StringArray | None
    """None: no match is in a member."""
    urn: pa.StringArray

    def occurrences(self) -> pa.RecordBatch:
        """The matches as OCCURRENCES rows."""
        matches = self.matches
        octets, offsets = octet_strings(self.urn)
        colons, _ = _parts(octets, offsets, False)
        return pa.RecordBatch.from_arrays(
            [
                pa.DictionaryArray.from_arrays(number_array(self.source), text_array(self.names)),
                self._member(),
                number_array(self.offset),
                number_array(self.line),
                string_array(matches.text, matches.text_offsets),
                self.urn,
                _nids(octets, offsets, colons),
                _stops(matches.stop),
                number_array(matches.trailing),
                number_array(matches.length),
                _views(matches),
                _hosts(matches.host, matches.host_offsets),
            ],
            schema=OCCURRENCES,
        )

    def partial(self, places: npt.NDArray[np.int32]) -> pa.RecordBatch:
        """The matches as SINGLE rows; `places` has the number of each of `names` among all inputs."""
        matches = self.matches
        text = _blank_same(matches.text, matches.text_offsets, *octet_strings(self.urn))
        return pa.RecordBatch.from_arrays(
            [
                self.urn,
                string_array(*text),
                number_array(places[self.source]),
                self._member(),
                number_array(self.offset),
            ],
            schema=SINGLE,
        )

    def _member(self) -> pa.StringArray:
        return pa.nulls(len(self.matches), pa.string()) if self.member is None else self.member


def occurrences_in_values(hits: InValues, member: pa.StringArray, level: Level) -> pa.RecordBatch:
    """Matches in values of no input as OCCURRENCES rows: their `source` is empty."""
    found = Found(
        matches=hits.matches,
        offset=hits.offset,
        line=hits.line,
        source=np.zeros(len(hits.matches), np.int32),
        names=[""],
        member=member,
        urn=canonical_column(hits.matches, level),
    )
    return found.occurrences()


def canonical_column(matches: Matches, level: Level) -> pa.StringArray:
    """The canonical forms of the matches at a level."""
    octets, offsets = matches.canonical, matches.canonical_offsets
    if level.by_namespace:
        return string_array(*namespace_forms(octets, offsets))
    urn = string_array(octets, offsets)
    if not level.keep_query:
        return urn
    rows = pc.match_substring(urn, "&")  # without it there is at most one directive, and nothing to sort
    if not pc.any(rows).as_py():
        return urn
    refined = [level.refine(form) for form in urn.filter(rows).to_pylist()]
    return pc.replace_with_mask(urn, rows, text_array(refined))


def reject_rows(
    rejects: Rejects,
    *,
    offset: npt.NDArray[np.int64],
    line: npt.NDArray[np.int64],
    source: npt.NDArray[np.int32],
    names: Sequence[str],
    member: pa.StringArray | None,
    syntax: Syntax,
) -> pa.RecordBatch:
    """REJECTS rows; `source` has the index of each input in `names`, `member` is None if no reject is in a member."""
    text = string_array(rejects.text, rejects.text_offsets)
    behind = rejects.position >= 0  # behind a match, which may be longer than the text, so that the parser sees no "%"
    distinct = text.filter(pa.array(~behind)).dictionary_encode()
    errors = [why_not(reject, syntax) for reject in distinct.dictionary.to_pylist()]
    errors.append(invalid("percent-malformed", 0))
    which = np.full(len(rejects), len(errors) - 1, np.int32)
    which[~behind] = numbers(distinct.indices)
    position = np.array([error.position for error in errors], np.int32)[which]
    error = number_array(which)
    return pa.RecordBatch.from_arrays(
        [
            pa.DictionaryArray.from_arrays(number_array(source), text_array(names)),
            pa.nulls(len(rejects), pa.string()) if member is None else member,
            number_array(offset),
            number_array(line),
            text,
            text_array([error.code for error in errors]).take(error).dictionary_encode(),
            text_array([error.reason for error in errors]).take(error),
            number_array(np.where(behind, rejects.position, position)),
        ],
        schema=REJECTS,
    )


def class_rows(grouped: pa.RecordBatch, names: Mapping[int, str], syntax: str, level: Level) -> pa.RecordBatch:
    """CLASSES rows of GROUPED rows; `names` has the names of the inputs by their numbers."""
    urn = grouped.column("urn")
    octets, offsets = octet_strings(urn)
    colons, ends = _parts(octets, offsets, level.keep_query)
    codes = verdicts(octets, offsets, ends)
    nid = _nids(octets, offsets, colons)
    places = grouped.column("first_source").dictionary_encode()
    status = text_array([nid_status(name) for name in nid.dictionary.to_pylist()])
    columns = {
        "nid": nid,
        "nss": string_array(*cut(octets, colons + np.int32(1), ends)),
        "nid_status": _coded(numbers(nid.indices), status),
        "first_source": text_array([names[place] for place in places.dictionary.to_pylist()]).take(places.indices),
        "valid": _flags(is_valid(codes), codes != UNKNOWN),
        "problem": _problems(urn, codes, syntax, level),
    }
    return pa.RecordBatch.from_arrays(
        [columns[field.name] if field.name in columns else grouped.column(field.name) for field in CLASSES],
        schema=CLASSES,
    )


def _stops(stop: npt.NDArray[np.int16]) -> pa.Int16Array:
    """Octets that ended matches; null for the end of the input."""
    known = stop != END
    buffers = [bits(known), pa.py_buffer(stop)]
    return pa.Array.from_buffers(pa.int16(), len(stop), buffers, null_count=int((~known).sum()))


def _views(matches: Matches) -> pa.DictionaryArray:
    """Names of the views by which matches were found; null for literal matches."""
    via = np.zeros(len(matches), np.uint8) if matches.via is None else matches.via
    return text_array([None, *KINDS]).take(number_array(via)).dictionary_encode()


def _hosts(host: Octets, offsets: Offsets) -> pa.DictionaryArray:
    """Hosts of URLs; null for an empty one."""
    known = np.diff(offsets) > 0
    buffers = [bits(known), pa.py_buffer(offsets), pa.py_buffer(host)]
    hosts = pa.Array.from_buffers(pa.string(), len(known), buffers, null_count=int((~known).sum()))
    return hosts.dictionary_encode()


def _nids(octets: Octets, offsets: Offsets, colons: Offsets) -> pa.DictionaryArray:
    """NIDs of canonical forms."""
    heads, run = _nid_runs(octets, offsets, colons)
    nids = string_array(*cut(octets, offsets[heads] + np.int32(4), colons[heads])).dictionary_encode()
    return _coded(take_numbers(numbers(nids.indices), run), nids.dictionary)


def _coded(codes: npt.NDArray[np.int32], values: pa.StringArray) -> pa.DictionaryArray:
    """A column whose row i is `values[codes[i]]`; values may be equal."""
    values = values.dictionary_encode()
    return pa.DictionaryArray.from_arrays(number_array(take_numbers(numbers(values.indices), codes)), values.dictionary)


def _flags(values: npt.NDArray[np.bool_], known: npt.NDArray[np.bool_]) -> pa.BooleanArray:
    return pa.Array.from_buffers(pa.bool_(), len(values), [bits(known), bits(values)], null_count=int((~known).sum()))


def _problems(urn: pa.StringArray, codes: Codes, syntax: str, level: Level) -> pa.StringArray:
    """Problems of each canonical form, or null: by its namespace, then by its syntax, then by its characters.

    Only forms that can have a problem of the last two kinds are looked at one by one.
    """
    problems = text_array(NAMES).take(number_array(codes))
    octets, offsets = octet_strings(urn)
    if not level.keep_query and not _hold_oddities(octets):
        return problems
    odd, encoded = map(pa.array, _oddities(octets, offsets))
    if level.keep_query:
        odd = pc.or_(odd, pc.match_substring(urn, "&"))
    suspects = pc.or_(odd, encoded)
    columns = (column.filter(suspects).to_pylist() for column in (urn, problems, odd, encoded))
    found = [
        [
            *([problem] if problem else ()),
            *(parse(form, syntax).problems if is_odd else ()),
            *(lookalikes(form.split(":", 2)[2]) if is_encoded else ()),
        ]
        for form, problem, is_odd, is_encoded in zip(*columns, strict=True)
    ]
    return pc.replace_with_mask(problems, suspects, text_array(["; ".join(each) or None for each in found]))


@compiled
def _blank_same(text: Octets, text_offsets: Offsets, urn: Octets, urn_offsets: Offsets) -> tuple[Octets, Offsets]:
    """The texts; those that are equal to their canonical form become empty."""
    offsets = np.zeros(len(text_offsets), np.int32)
    octets = np.empty(len(text), np.uint8)
    for i in range(len(text_offsets) - 1):
        start, end = text_offsets[i], text_offsets[i + 1]
        used = offsets[i]
        if not same(text, start, end, urn, urn_offsets[i], urn_offsets[i + 1]):
            copy(text, start, end, octets, used)
            used += end - start
        offsets[i + 1] = used
    return octets[: offsets[len(text_offsets) - 1]].copy(), offsets


@compiled
def _hold_oddities(octets: Octets) -> bool:
    """Whether `%00`, or `%80` to `%FF` (beyond ASCII), stands anywhere in a column.

    They seldom do, and this is far faster than to look into each string.
    """
    found = np.uint8(0)
    rest = octets[2:]
    for i in range(len(rest)):
        nul = np.uint8(octets[i + 1] == _DIGIT_0) & np.uint8(rest[i] == _DIGIT_0)
        found |= np.uint8(octets[i] == PERCENT) & (nul | np.uint8(octets[i + 1] > _DIGIT_7))
    return bool(found)


@compiled
def _oddities(octets: Octets, offsets: Offsets) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """For each string, whether it holds `%00`, and whether it holds a character that can mislead.

    U+00C0 to U+027F, letters of Latin, cannot mislead, and are frequent: in UTF-8 they begin with `%C3` to `%C9`.
    """
    nul = np.zeros(len(offsets) - 1, np.bool_)
    beyond = np.zeros(len(offsets) - 1, np.bool_)
    for i in range(len(nul)):
        string = octets[offsets[i] : offsets[i + 1]]
        percents = 0
        for j in range(len(string)):  # counting has no early exit, so it is vectorised; most strings have none
            percents += string[j] == PERCENT
        if percents:
            for j in range(len(string) - 2):
                if string[j] == PERCENT:
                    first, second = string[j + 1], string[j + 2]
                    nul[i] |= first == _DIGIT_0 and second == _DIGIT_0
                    beyond[i] |= first > _C or (first == _C and not _DIGIT_3 <= second <= _DIGIT_9)
    return nul, beyond


@compiled
def _nid_runs(urn: Octets, offsets: Offsets, colons: Offsets) -> tuple[Rows, Rows]:
    """The first row of each run of rows with the same NID, and the run of each row."""
    heads = np.empty(len(colons), np.int32)
    run = np.empty(len(colons), np.int32)
    found = 0
    for i in range(len(colons)):
        if i == 0 or not same(urn, offsets[i], colons[i] + 1, urn, offsets[i - 1], colons[i - 1] + 1):
            heads[found] = i
            found += 1
        run[i] = found - 1
    return heads[:found], run


@compiled
def _parts(urn: Octets, offsets: Offsets, query: bool) -> tuple[Offsets, Offsets]:
    """The end of the NID of each canonical form, and the end of its NSS: before the query, if `query`."""
    colons = np.empty(len(offsets) - 1, np.int32)
    ends = offsets[1:].copy()
    for i in range(len(colons)):
        j = offsets[i] + 4
        while urn[j] != COLON:
            j += 1
        colons[i] = j
        if query:
            while j < ends[i] and urn[j] != QUESTION_MARK:
                j += 1
            ends[i] = j
    return colons, ends
