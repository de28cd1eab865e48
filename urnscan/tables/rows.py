"""Rows of the tables, made from columns of matches, of rejects, or of grouped rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import bits, byte_strings, flag_array, number_array, numbers, string_array, text_array
from urnscan.compiled.ascii import COLON, HYPHEN, QUESTION_MARK, is_alnum
from urnscan.compiled.bytes import ByteArray, copy
from urnscan.compiled.jit import compiled
from urnscan.compiled.strings import Offsets, RowNumbers, cut, same, take_numbers
from urnscan.scanner.blocks import Matches, Rejects
from urnscan.scanner.kernel import END, REST
from urnscan.scanner.views.kinds import KINDS
from urnscan.tables.scanned_columns import InValues
from urnscan.tables.schemas import CODED_CLASSES, OCCURRENCES, REJECTS, SINGLE
from urnscan.tables.spelling_columns import problem_column, spelling_columns
from urnscan.urn.equivalence import Level
from urnscan.urn.namespaces import nid_status
from urnscan.urn.namespaces.judgement_columns import (
    NAMES,
    UNTRIMMED,
    Codes,
    is_invalid,
    is_valid,
    namespace_forms,
    verdicts,
)
from urnscan.urn.reject_reasons import why_ends_badly, why_not
from urnscan.urn.syntax import Syntax

_LETTER_A = ord("a")
# Number of names at the beginning of a batch that show whether many names are equal. Finding the distinct names takes
# 70 ns a name, a check 100 ns.
_HEAD = 2048

OF_CAPTURES = [OCCURRENCES.field(name).type for name in ("captured", "status", "mime")]
"""Types of the columns `captured`, `status` and `mime`, which have values only for web archives."""


@dataclass(frozen=True, slots=True)
class Places:
    """Positions of matches or rejects in the inputs: element i of each array is about match or reject i. `source` has
    indices in `names`, the names of the inputs.
    """

    start: npt.NDArray[np.int64]
    """Byte offset in the input or member, from 0."""
    line: npt.NDArray[np.int64]
    """Line number, from 1; 0 if lines are not counted."""
    source: npt.NDArray[np.int32]
    """For each match or reject, the index, from 0, of its input in `names`."""
    names: Sequence[str]
    members: pa.StringArray | None = None
    """For each match or reject, the path of its text in the input, such as `b.zip!/c.txt`, `page 1` or `7/url`; null if
    the text is the input itself; None if all are null.
    """
    captures: Sequence[pa.Array] | None = None
    """The columns captured (time), status (of HTTP) and mime of the captures in web archives; None if the inputs are
    not web archives.
    """

    @property
    def member(self) -> pa.StringArray:
        """The column `member` of a table: `members`, or all null if that is None."""
        return pa.nulls(len(self.start), pa.string()) if self.members is None else self.members

    def columns(self) -> list[pa.Array]:
        """The four columns with which the tables OCCURRENCES and REJECTS begin: source (a dictionary with the names),
        member, start and line.
        """
        source = pa.DictionaryArray.from_arrays(number_array(self.source), text_array(self.names))
        return [source, self.member, number_array(self.start), number_array(self.line)]


@dataclass(frozen=True, slots=True)
class MatchColumns:
    """Matches with their positions in the inputs, and `urn`, their canonical forms at `level`: what is needed to make
    rows of them. Element i of each column is about match i. `syntax` is the syntax of the scan.
    """

    matches: Matches
    places: Places
    urn: pa.StringArray
    level: Level
    syntax: Syntax

    def occurrences(self) -> pa.RecordBatch:
        """Make rows of the schema OCCURRENCES: one for each match, in the same order."""
        matches = self.matches
        names = NameColumns.of(self.urn, self.level)
        hosts = pa.py_buffer(matches.host_offsets), pa.py_buffer(matches.host)
        *components, spelling_problem = spelling_columns(matches.text, matches.text_offsets, self.syntax)
        return pa.RecordBatch.from_arrays(
            [
                *self.places.columns(),
                string_array(matches.text, matches.text_offsets),
                self.urn,
                names.nid,
                _nullable(pa.int16(), matches.stop != END, pa.py_buffer(matches.stop)),
                number_array(matches.punctuation),
                number_array(matches.length),
                text_array([None, *KINDS]).take(number_array(matches.via)).dictionary_encode(),
                _nullable(pa.string(), np.diff(matches.host_offsets) > 0, *hosts).dictionary_encode(),
                *components,
                names.valid,
                names.problem,
                spelling_problem,
                *(self.places.captures or [pa.nulls(len(matches), kind) for kind in OF_CAPTURES]),
            ],
            schema=OCCURRENCES,
        )

    def partial(self, numbers: npt.NDArray[np.int32]) -> pa.RecordBatch:
        """Make rows of the schema SINGLE, from which classes are made: canonical form, spelling (empty if it is equal
        to the canonical form), and position (number of the input, member, byte offset) of each match, in the same
        order.

        `numbers[i]` is the number of the input `places.names[i]` among all inputs of the run, from 0.
        """
        matches, places = self.matches, self.places
        text = string_array(matches.text, matches.text_offsets)
        # An Arrow value instead of "", for which pyarrow would import pandas.
        no_text = text_array([""])[0]
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


class NameColumns(NamedTuple):
    """Columns of the table OCCURRENCES that follow from the canonical forms: NID, validity, and problem of the name."""

    nid: pa.DictionaryArray
    valid: pa.BooleanArray
    """Whether the rules of the namespace allow the name; null if they do not decide."""
    problem: pa.DictionaryArray
    """The problem of the name, a code of `urn.problems.PROBLEMS`, null without one; problems of spellings are not in
    it.
    """

    @classmethod
    def of(cls, urn: pa.StringArray, level: Level) -> Self:
        """Check each canonical form of a column by the rules of its namespace, and return the columns: a row for each
        form, in the same order. `level` is the level of the forms.
        """
        head = urn.slice(0, _HEAD)
        names = urn.dictionary_encode() if 2 * len(head.unique()) <= len(head) else None
        data, offsets = byte_strings(urn if names is None else names.dictionary)
        parts = _parts(data, offsets, level.keep_query)
        nid, codes = parts.nids(data, offsets), verdicts(data, offsets, parts.ends, level.rulebook)
        if names is not None:
            nid = pa.DictionaryArray.from_arrays(nid.indices.take(names.indices), nid.dictionary)
            codes = codes[numbers(names.indices)]
        return cls(nid, _valid(codes), problem_column(codes, np.zeros(len(codes), np.uint16)))


def occurrences_in_values(
    hits: InValues, level: Level, syntax: Syntax, member: pa.StringArray | None = None
) -> pa.RecordBatch:
    """Make rows of the schema OCCURRENCES from matches in the values of a column: one for each match, in the same
    order. `level` is the level of the column `urn`, `syntax` that of the scan. `start` and `line` are positions in the
    value. `source` is the empty text, because there is no input; `member` is the column `member`, all null if None.
    """
    matches, source = hits.matches, np.zeros(len(hits.matches), np.int32)
    places = Places(hits.start, hits.line, source, [""], member)
    return MatchColumns(matches, places, canonical_column(matches, level), level, syntax).occurrences()


def canonical_column(matches: Matches, level: Level) -> pa.StringArray:
    """The canonical form of each match at a level, in the order of the matches. For the level `resolution`, the scanner
    must have kept the queries (`Grammar.keep_query`).
    """
    data, offsets = matches.canonical, matches.canonical_offsets
    if level.by_namespace:
        return string_array(*namespace_forms(data, offsets, level.rulebook))
    urn = string_array(data, offsets)
    if not level.keep_query:
        return urn
    # Directives of a query are separated by "&" and sorted: a query without "&" has at most one.
    has_several = pc.match_substring(urn, "&")
    if not pc.any(has_several).as_py():
        return urn
    refined = [level.refine(form) for form in urn.filter(has_several).to_pylist()]
    return pc.replace_with_mask(urn, has_several, text_array(refined))


def reject_rows(rejects: Rejects, places: Places, syntax: Syntax) -> pa.RecordBatch:
    """Make rows of the schema REJECTS: one for each reject (a text that is nearly a URN, or a match that ends in an
    error), in the same order, with the reason as a code and in words. `places` are the positions of the rejects.
    """
    text = string_array(rejects.text, rejects.text_offsets)
    # The error of a match that ends badly is found by the text after the match: the match may be longer than `text`.
    is_match = rejects.position >= 0
    distinct = _shapes(text.filter(flag_array(~is_match))).dictionary_encode()
    errors = [why_not(reject, syntax) for reject in distinct.dictionary.to_pylist()]
    error_numbers = np.empty(len(rejects), np.int32)
    error_numbers[~is_match] = numbers(distinct.indices)
    rests, rest_numbers = np.unique(rejects.rest[is_match], return_inverse=True)
    error_numbers[is_match] = rest_numbers + len(errors)
    errors += [why_ends_badly(int(rest).to_bytes(REST, "little").rstrip(b"\0").decode(), syntax) for rest in rests]
    position = np.array([error.position for error in errors], np.int32)[error_numbers]
    error = number_array(error_numbers)
    return pa.RecordBatch.from_arrays(
        [
            *places.columns(),
            text,
            text_array([error.code for error in errors]).take(error).dictionary_encode(),
            text_array([error.reason for error in errors]).take(error),
            number_array(np.where(is_match, rejects.position, position)),
        ],
        schema=REJECTS,
    )


def _shapes(texts: pa.StringArray) -> pa.StringArray:
    """For each text that is not a URN, a text with the same error at the same position. Similar texts become equal:
    `urn:isbn;1` and `urn:issn;2` both give `urn:aaaa;`.
    """
    data, offsets = byte_strings(texts)
    out, out_offsets = np.empty(len(data), np.uint8), np.zeros(len(texts) + 1, np.int32)
    _write_shapes(data, offsets, out, out_offsets)
    return string_array(out[: out_offsets[-1]], out_offsets)


@compiled
def _write_shapes(data: ByteArray, offsets: Offsets, out: ByteArray, out_offsets: Offsets) -> None:
    """Write the texts that `_shapes` returns to `out`, which is as long as `data`, and their ends to `out_offsets` from
    its second element on. The first one is 0.
    """
    # Letters and digits of an NID of more than three characters become "a". Text after a character that cannot follow
    # the NID is left out.
    at = 0
    for i in range(len(offsets) - 1):
        start, end = offsets[i], offsets[i + 1]
        nid = min(start + len("urn:"), end)
        colon = nid
        while colon < end and (is_alnum(data[colon]) or data[colon] == HYPHEN):
            colon += 1
        until = end
        if colon < end and data[colon] != COLON:
            until = colon + 1
            while until < end and data[until] & 0xC0 == 0x80:
                until += 1
        elif colon == nid:
            until = nid
        first = at
        at = copy(data, start, until, out, at)
        for place in range(first + len("urn:"), first + colon - start if colon - nid > len("urn") else first):
            if out[place] != HYPHEN:
                out[place] = _LETTER_A
        out_offsets[i + 1] = at


def class_rows(grouped: pa.RecordBatch, names: Mapping[int, str], level: Level) -> pa.RecordBatch:
    """Make rows of the schema CODED_CLASSES (the table of classes) from rows of the schema GROUPED, one for each class,
    in the same order. `level` is the level of the classes.

    `names` maps the numbers in `first_source` to the names of these inputs. Raises KeyError if one is missing.
    """
    urn = grouped.column("urn")
    data, offsets = byte_strings(urn)
    parts = _parts(data, offsets, level.keep_query)
    codes = verdicts(data, offsets, parts.ends, level.rulebook)
    nid = parts.nids(data, offsets)
    places = grouped.column("first_source").dictionary_encode()
    sources = text_array([names[place] for place in places.dictionary.to_pylist()])
    status = text_array([nid_status(name) for name in nid.dictionary.to_pylist()]).dictionary_encode()
    columns = {
        "nid": nid,
        "nss": string_array(*cut(data, parts.colons + np.int32(1), parts.ends)),
        "nid_status": pa.DictionaryArray.from_arrays(status.indices.take(nid.indices), status.dictionary),
        "first_source": pa.DictionaryArray.from_arrays(places.indices, sources),
        "valid": _valid(codes),
        "problem": problem_column(codes, numbers(grouped.column("marks"))),
    }
    return pa.RecordBatch.from_arrays(
        [columns[name] if name in columns else grouped.column(name) for name in CODED_CLASSES.names],
        schema=CODED_CLASSES,
    )


def coded_rows(classes: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows of the table of classes (schema CLASSES) with the schema CODED_CLASSES: the same values, but the
    columns nid, nid_status, first_source and problem have dictionaries.
    """
    columns = [
        classes.column(field.name).dictionary_encode()  # does nothing if the column has a dictionary
        if pa.types.is_dictionary(field.type)
        else classes.column(field.name)
        for field in CODED_CLASSES
    ]
    return pa.RecordBatch.from_arrays(columns, schema=CODED_CLASSES)


def count_untrimmed(classes: pa.RecordBatch) -> int:
    """How many classes (rows of the schema CODED_CLASSES) have the problem `untrimmed`: punctuation that `--trim` would
    cut follows the name.
    """
    problem = classes.column("problem")
    return pc.sum(pc.starts_with(problem.dictionary, NAMES[UNTRIMMED]).take(problem.indices)).as_py() or 0


def _valid(codes: Codes) -> pa.BooleanArray:
    valid = is_valid(codes)
    return _nullable(pa.bool_(), valid | is_invalid(codes), bits(valid))


def _nullable(kind: pa.DataType, known: npt.NDArray[np.bool_], *buffers: pa.Buffer) -> pa.Array:
    """A column in which row i is null if `known[i]` is False. `buffers` are those of Arrow without the validity bits."""
    return pa.Array.from_buffers(kind, len(known), [bits(known), *buffers], null_count=int((~known).sum()))


class _Parts(NamedTuple):
    """Parts of the canonical forms of a column. A run is a group of neighbouring rows with the same NID."""

    colons: Offsets
    """The end of the NID of each form in the bytes of the column."""
    ends: Offsets
    """The end of the NSS of each form in the bytes of the column."""
    runs: RowNumbers
    """The number of the run of each form, from 0."""
    heads: RowNumbers
    """The number of the first row of each run."""

    def nids(self, data: ByteArray, offsets: Offsets) -> pa.DictionaryArray:
        starts = take_numbers(offsets, self.heads) + np.int32(len("urn:"))
        nids = string_array(*cut(data, starts, take_numbers(self.colons, self.heads))).dictionary_encode()
        indices = number_array(take_numbers(numbers(nids.indices), self.runs))
        return pa.DictionaryArray.from_arrays(indices, nids.dictionary)


def _parts(urn: ByteArray, offsets: Offsets, query: bool) -> _Parts:
    """The parts of each form. With `query`, the NSS ends before the query."""
    rows = len(offsets) - 1
    parts = _Parts(np.empty(rows, np.int32), offsets[1:].copy(), np.empty(rows, np.int32), np.empty(rows, np.int32))
    runs = _find_parts(urn, offsets, query, parts)
    return parts._replace(heads=parts.heads[:runs])


@compiled
def _find_parts(urn: ByteArray, offsets: Offsets, query: bool, parts: _Parts) -> int:
    """Set the arrays in `parts`, and return the number of runs. Precondition: `parts.ends` has the ends of the forms."""
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
