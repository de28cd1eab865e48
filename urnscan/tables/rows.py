"""Columns of matches -> batches of rows of the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import bits, flag_array, number_array, numbers, octet_strings, string_array, text_array
from urnscan.compiled.ascii import COLON, QUESTION_MARK
from urnscan.compiled.jit import compiled
from urnscan.compiled.octets import Octets
from urnscan.compiled.strings import Offsets, RowNumbers, cut, same, take_numbers
from urnscan.scanner.blocks import Matches, Rejects
from urnscan.scanner.kernel import END, REST
from urnscan.scanner.views.kinds import KINDS
from urnscan.tables.scanned_columns import InValues
from urnscan.tables.schemas import CODED_CLASSES, OCCURRENCES, REJECTS, SINGLE
from urnscan.tables.spelling_columns import problem_column, spelling_columns
from urnscan.urn.equivalence import Level
from urnscan.urn.namespaces import nid_status
from urnscan.urn.namespaces.judgement_columns import NAMES, UNTRIMMED, is_invalid, is_valid, namespace_forms, verdicts
from urnscan.urn.reject_reasons import why_ends_badly, why_not
from urnscan.urn.syntax import Syntax

OF_CAPTURES = [OCCURRENCES.field(name).type for name in ("captured", "status", "mime")]
"""Types of the columns that tell of web archives."""


@dataclass(frozen=True, slots=True)
class Places:
    """Places of matches or rejects in the inputs: arrays of equal length."""

    start: npt.NDArray[np.int64]
    line: npt.NDArray[np.int64]
    source: npt.NDArray[np.int32]
    """Index of the input in `names`."""
    names: Sequence[str]
    members: pa.StringArray | None = None
    """None: none is in a member."""
    captures: Sequence[pa.Array] | None = None
    """The columns captured, status and mime; None: none is in a web archive."""

    @property
    def member(self) -> pa.StringArray:
        """The column of members."""
        return pa.nulls(len(self.start), pa.string()) if self.members is None else self.members

    def columns(self) -> list[pa.Array]:
        """The columns source, member, start and line, with which the rows of both tables begin."""
        source = pa.DictionaryArray.from_arrays(number_array(self.source), text_array(self.names))
        return [source, self.member, number_array(self.start), number_array(self.line)]


@dataclass(frozen=True, slots=True)
class MatchColumns:
    """Matches with their places in the inputs, and their canonical forms."""

    matches: Matches
    places: Places
    urn: pa.StringArray
    syntax: Syntax

    def occurrences(self) -> pa.RecordBatch:
        """The matches as OCCURRENCES rows."""
        matches = self.matches
        octets, offsets = octet_strings(self.urn)
        parts = _parts(octets, offsets, False)
        hosts = pa.py_buffer(matches.host_offsets), pa.py_buffer(matches.host)
        return pa.RecordBatch.from_arrays(
            [
                *self.places.columns(),
                string_array(matches.text, matches.text_offsets),
                self.urn,
                parts.nids(octets, offsets),
                _nullable(pa.int16(), matches.stop != END, pa.py_buffer(matches.stop)),
                number_array(matches.punctuation),
                number_array(matches.length),
                text_array([None, *KINDS]).take(number_array(matches.via)).dictionary_encode(),
                _nullable(pa.string(), np.diff(matches.host_offsets) > 0, *hosts).dictionary_encode(),
                *spelling_columns(matches.text, matches.text_offsets, self.syntax),
                *(self.places.captures or [pa.nulls(len(matches), kind) for kind in OF_CAPTURES]),
            ],
            schema=OCCURRENCES,
        )

    def partial(self, numbers: npt.NDArray[np.int32]) -> pa.RecordBatch:
        """The matches as SINGLE rows; `numbers` has the number among all inputs of each of `places.names`."""
        matches, places = self.matches, self.places
        text = string_array(matches.text, matches.text_offsets)
        no_text = text_array([""])[0]  # pyarrow would import pandas to make it from ""
        return pa.RecordBatch.from_arrays(
            [
                self.urn,
                pc.if_else(pc.equal(text, self.urn), no_text, text),
                number_array(numbers[places.source]),
                places.member,
                number_array(places.start),
            ],
            schema=SINGLE,
        )


def occurrences_in_values(
    hits: InValues, level: Level, syntax: Syntax, member: pa.StringArray | None = None
) -> pa.RecordBatch:
    """Matches in values of no input as OCCURRENCES rows: their `source` is empty."""
    matches, source = hits.matches, np.zeros(len(hits.matches), np.int32)
    places = Places(hits.start, hits.line, source, [""], member)
    return MatchColumns(matches, places, canonical_column(matches, level), syntax).occurrences()


def canonical_column(matches: Matches, level: Level) -> pa.StringArray:
    """The canonical forms of the matches at a level."""
    octets, offsets = matches.canonical, matches.canonical_offsets
    if level.by_namespace:
        return string_array(*namespace_forms(octets, offsets, level.rulebook))
    urn = string_array(octets, offsets)
    if not level.keep_query:
        return urn
    rows = pc.match_substring(urn, "&")  # without it there is at most one directive, and nothing to sort
    if not pc.any(rows).as_py():
        return urn
    refined = [level.refine(form) for form in urn.filter(rows).to_pylist()]
    return pc.replace_with_mask(urn, rows, text_array(refined))


def reject_rows(rejects: Rejects, places: Places, syntax: Syntax) -> pa.RecordBatch:
    """Rejects as REJECTS rows."""
    text = string_array(rejects.text, rejects.text_offsets)
    behind = rejects.position >= 0  # behind a match, which may be longer than the text
    distinct = text.filter(flag_array(~behind)).dictionary_encode()
    errors = [why_not(reject, syntax) for reject in distinct.dictionary.to_pylist()]
    which = np.empty(len(rejects), np.int32)
    which[~behind] = numbers(distinct.indices)
    rests, of_match = np.unique(rejects.rest[behind], return_inverse=True)
    which[behind] = of_match + len(errors)
    errors += [why_ends_badly(int(rest).to_bytes(REST, "little").rstrip(b"\0").decode(), syntax) for rest in rests]
    position = np.array([error.position for error in errors], np.int32)[which]
    error = number_array(which)
    return pa.RecordBatch.from_arrays(
        [
            *places.columns(),
            text,
            text_array([error.code for error in errors]).take(error).dictionary_encode(),
            text_array([error.reason for error in errors]).take(error),
            number_array(np.where(behind, rejects.position, position)),
        ],
        schema=REJECTS,
    )


def class_rows(grouped: pa.RecordBatch, names: Mapping[int, str], level: Level) -> pa.RecordBatch:
    """CODED_CLASSES rows of GROUPED rows; `names` has the names of the inputs by their numbers."""
    urn = grouped.column("urn")
    octets, offsets = octet_strings(urn)
    parts = _parts(octets, offsets, level.keep_query)
    codes = verdicts(octets, offsets, parts.ends, level.rulebook)
    valid = is_valid(codes)
    nid = parts.nids(octets, offsets)
    places = grouped.column("first_source").dictionary_encode()
    sources = text_array([names[place] for place in places.dictionary.to_pylist()])
    status = text_array([nid_status(name) for name in nid.dictionary.to_pylist()]).dictionary_encode()
    columns = {
        "nid": nid,
        "nss": string_array(*cut(octets, parts.colons + np.int32(1), parts.ends)),
        "nid_status": pa.DictionaryArray.from_arrays(status.indices.take(nid.indices), status.dictionary),
        "first_source": pa.DictionaryArray.from_arrays(places.indices, sources),
        "valid": _nullable(pa.bool_(), valid | is_invalid(codes), bits(valid)),
        "problem": problem_column(codes, numbers(grouped.column("marks"))),
    }
    return pa.RecordBatch.from_arrays(
        [columns[name] if name in columns else grouped.column(name) for name in CODED_CLASSES.names],
        schema=CODED_CLASSES,
    )


def coded_rows(classes: pa.RecordBatch) -> pa.RecordBatch:
    """CLASSES rows as CODED_CLASSES rows."""
    columns = [
        classes.column(field.name).dictionary_encode()  # a column with a dictionary stays as it is
        if pa.types.is_dictionary(field.type)
        else classes.column(field.name)
        for field in CODED_CLASSES
    ]
    return pa.RecordBatch.from_arrays(columns, schema=CODED_CLASSES)


def count_untrimmed(classes: pa.RecordBatch) -> int:
    """Number of CODED_CLASSES rows with the problem `untrimmed`, which is the first one of a class."""
    problem = classes.column("problem")
    return pc.sum(pc.starts_with(problem.dictionary, NAMES[UNTRIMMED]).take(problem.indices)).as_py() or 0


def _nullable(kind: pa.DataType, known: npt.NDArray[np.bool_], *buffers: pa.Buffer) -> pa.Array:
    """A column of these buffers, null where a value is not known."""
    return pa.Array.from_buffers(kind, len(known), [bits(known), *buffers], null_count=int((~known).sum()))


class _Parts(NamedTuple):
    """Parts of canonical forms."""

    colons: Offsets
    """The end of the NID of each."""
    ends: Offsets
    """The end of its NSS."""
    runs: RowNumbers
    """Number of the run of each, from 0: neighbours with the same NID."""
    heads: RowNumbers
    """The first row of each run."""

    def nids(self, octets: Octets, offsets: Offsets) -> pa.DictionaryArray:
        """The column of NIDs."""
        starts = take_numbers(offsets, self.heads) + np.int32(len("urn:"))
        nids = string_array(*cut(octets, starts, take_numbers(self.colons, self.heads))).dictionary_encode()
        of_rows = number_array(take_numbers(numbers(nids.indices), self.runs))
        return pa.DictionaryArray.from_arrays(of_rows, nids.dictionary)


def _parts(urn: Octets, offsets: Offsets, query: bool) -> _Parts:
    """The parts of each canonical form; its NSS ends before the query, if `query`."""
    rows = len(offsets) - 1
    parts = _Parts(np.empty(rows, np.int32), offsets[1:].copy(), np.empty(rows, np.int32), np.empty(rows, np.int32))
    runs = _find_parts(urn, offsets, query, parts)
    return parts._replace(heads=parts.heads[:runs])


@compiled
def _find_parts(urn: Octets, offsets: Offsets, query: bool, parts: _Parts) -> int:
    """Set the parts of each form, and return the number of runs; `ends` is the end of the form."""
    colons, ends, runs, heads = parts
    count = begin = end = 0
    for i in range(len(colons)):
        start = j = offsets[i] + 4
        while urn[j] != COLON:
            j += 1
        colons[i] = j
        if i == 0 or not same(urn, start, j, urn, begin, end):
            heads[count] = i
            count += 1
            begin, end = start, j
        runs[i] = count - 1
        if query:
            while j < ends[i] and urn[j] != QUESTION_MARK:
                j += 1
            ends[i] = j
    return count
