"""Functions of whole Arrow columns: canonical forms, validity, names in texts, explanations.

A text that occurs several times in a column is read only once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import bits, byte_strings, decoded, number_array
from urnscan.display.progress import TEXTS, Progress, Stage
from urnscan.errors import ArgumentError, InvalidURN
from urnscan.run.options import Options
from urnscan.scanner.blocks import Scanner
from urnscan.scanner.grammar import LONGEST, Grammar
from urnscan.scanner.scanners import make_scanner
from urnscan.tables.rows import canonical_column
from urnscan.tables.scanned_columns import InValues, as_bytes, count_bytes, is_text, scan_values
from urnscan.tables.spelling_columns import problem_column
from urnscan.urn.equivalence import Level, get_level
from urnscan.urn.explanation import Explanation, explain
from urnscan.urn.namespaces.judgement_columns import is_invalid, is_valid, verdicts
from urnscan.urn.parser import parse
from urnscan.urn.problem_columns import marks_of
from urnscan.urn.syntax import SyntaxName, get_syntax

# Maximum number of matches at a time.
_ROWS = 1 << 16
# Number of values between two reports of progress.
_VALUES = 1 << 16
_Rows = npt.NDArray[np.int64]
Values: TypeAlias = pa.Array | pa.ChunkedArray
"""A column of texts or bytes."""
_NO_PROGRESS = Progress()

_OTHER_TYPES = {"is_urn": pa.bool_(), "valid": pa.bool_(), "position": pa.int64()} | dict.fromkeys(
    ("directives", "problems", "remarks"), pa.list_(pa.string())
)
EXPLANATION = pa.struct([(field.name, _OTHER_TYPES.get(field.name, pa.string())) for field in fields(Explanation)])
"""The Arrow type of an `Explanation`: a struct with the same fields. Directives are texts like `s=I2L`."""


def canonical_forms(values: Values, options: Options) -> pa.ChunkedArray:
    """For each value, the canonical form at the level of equivalence of the options if the whole value is a URN; null
    for other values and for null.

    Raises ArgumentError if the values are not text or bytes.
    """

    def forms(texts: pa.Array) -> pa.Array:
        rows, urns = _whole(texts, options, options.level)
        return urns.take(_places(rows, len(texts)))

    return _for_distinct(values, forms)


def validities(values: Values, options: Options) -> pa.ChunkedArray:
    """For each value: true for a URN that the rules of its namespace allow; false for a URN that they do not allow, and
    for a value that is not a URN; null for null, and for a URN about which the rules do not decide or that has no
    rules.

    Raises ArgumentError if the values are not text or bytes.
    """

    def valid(texts: pa.Array) -> pa.Array:
        rows, urns = _whole(texts, options, get_level("lexical", options.syntax))
        data, offsets = byte_strings(urns)
        codes = verdicts(data, offsets, offsets[1:], options.level.rulebook)
        known, flags = np.ones(len(texts), np.bool_), np.zeros(len(texts), np.bool_)
        known[rows], flags[rows] = is_valid(codes) | is_invalid(codes), is_valid(codes)
        return pa.Array.from_buffers(pa.bool_(), len(texts), [bits(known), bits(flags)])

    return _for_distinct(values, valid)


def nids(values: Values, options: Options) -> pa.ChunkedArray:
    """For each value, the namespace identifier in lower case if the whole value is a URN; null for other values and for
    null.

    Raises ArgumentError if the values are not text or bytes.
    """

    def of(texts: pa.Array) -> pa.Array:
        rows, urns = _whole(texts, options, get_level("lexical", options.syntax))
        return pc.list_element(pc.split_pattern(urns, ":", max_splits=2), 1).take(_places(rows, len(texts)))

    return _for_distinct(values, of)


def problems(values: Values, options: Options) -> pa.ChunkedArray:
    """For each value, the problems as in the column `problem` of the classes: codes of `urn.problems.PROBLEMS`, joined
    by "; ", if the whole value is a URN; the code of `InvalidURN` if it is not a URN; null for null, and for a URN
    without problems.

    Raises ArgumentError if the values are not text or bytes.
    """

    def found(texts: pa.Array) -> pa.Array:
        rows, urns = _whole(texts, options, get_level("lexical", options.syntax))
        data, offsets = byte_strings(urns)
        spellings, places = byte_strings(texts.take(number_array(rows)).cast(pa.string()))
        marks = marks_of(spellings, places, get_syntax(options.syntax))
        codes = verdicts(data, offsets, offsets[1:], options.level.rulebook)
        named = decoded(problem_column(codes, marks)).take(_places(rows, len(texts)))
        others: list[str | None] = [None] * len(texts)
        for row in np.setdiff1d(np.arange(len(texts)), rows).tolist():
            others[row] = _code(texts[row].as_py(), options.syntax)
        return pc.coalesce(named, pa.array(others, pa.string()))

    return _for_distinct(values, found)


def _code(data: bytes, syntax: SyntaxName) -> str | None:
    try:
        parse(_text(data), syntax)
    except InvalidURN as error:
        return str(error.code)
    return None


def counts(values: Values, options: Options, progress: Progress = _NO_PROGRESS) -> pa.ChunkedArray:
    """For each value, the number of URNs in the text, as int64 (0 for none); null for null. A URN that occurs twice
    counts twice.

    `progress` gets the stage "scanning", and the numbers of bytes scanned; a text that several values have is scanned
    once. Raises ArgumentError if the values are not text or bytes.
    """
    found = names_in(values, options, progress)
    return pa.chunked_array([pc.list_value_length(chunk).cast(pa.int64()) for chunk in found.chunks], pa.int64())


def names_in(values: Values, options: Options, progress: Progress = _NO_PROGRESS) -> pa.ChunkedArray:
    """For each value, a list of the canonical forms of the URNs in the text, from left to right, with duplicates; an
    empty list without URNs; null for null.

    `progress` gets the stage "scanning", and the numbers of bytes scanned; a text that several values have is scanned
    once. Raises ArgumentError if the values are not text or bytes.
    """

    def scanned(texts: pa.Array) -> Iterator[tuple[_Rows, pa.StringArray]]:
        progress.on_stage(Stage("scanning", count_bytes(texts)))
        scanner = make_scanner(options.grammar(count_lines=False), options.recover)
        for first in range(0, len(texts), _VALUES):
            group = texts.slice(first, _VALUES)
            for hits in scan_values(scanner, group):
                yield hits.value + first, canonical_column(hits.matches, options.level)
            progress.on_progress(count_bytes(group))

    def names(texts: pa.Array) -> pa.Array:
        rows, urns = _joined(scanned(texts))
        ends = np.cumsum(np.bincount(rows, minlength=len(texts)), dtype=np.int32)
        return pa.ListArray.from_arrays(number_array(np.append(np.int32(0), ends)), urns)

    return _for_distinct(values, names)


def explanations(values: Values, options: Options) -> pa.ChunkedArray:
    """For each value, an explanation as by `urnscan.explain` (whether it is a URN, its parts, validity and problems),
    as a struct of the type EXPLANATION; null for null.

    Raises ArgumentError if the values are not text or bytes.
    """

    def explained(texts: pa.Array) -> pa.Array:
        return pa.array(explained_rows(list(map(_text, texts.to_pylist())), options), EXPLANATION)

    return _for_distinct(values, explained)


def explained_rows(
    texts: Sequence[str | bytes], options: Options, progress: Progress = _NO_PROGRESS
) -> list[dict[str, Any]]:
    """For each text, an explanation as by `urnscan.explain` (whether it is a URN, its parts, validity and problems), as
    a dict with the fields of EXPLANATION, in the order of the texts; `directives` is a tuple of texts such as `s=I2L`.
    `progress` gets the stage "explaining", and 1 after each text.
    """
    progress.on_stage(Stage("explaining", len(texts), TEXTS))
    rows = []
    for text in texts:
        row = explain(text, syntax=options.syntax, equivalence=options.equivalence, rules=options.rules).as_dict()
        # Most of these dicts are empty, and Parquet cannot store a struct without fields.
        row["directives"] = tuple(map("=".join, row["directives"].items()))
        rows.append(row)
        progress.on_progress(1)
    return rows


def _text(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _for_distinct(values: Values, function: Callable[[pa.Array], pa.Array]) -> pa.ChunkedArray:
    """The result of `function` for each value; null for null. It is called once, with the distinct values as bytes, and
    returns an array with a result for each.
    """
    if not is_text(values.type):
        raise ArgumentError(f"these values are {values.type}, not text")
    chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    encoded = pa.chunked_array(map(as_bytes, chunks), pa.large_binary()).dictionary_encode()
    texts = encoded.chunks[-1].dictionary if encoded.num_chunks else pa.nulls(0, pa.large_binary())
    results = function(texts)
    return pa.chunked_array([results.take(chunk.indices) for chunk in encoded.chunks], results.type)


def _whole(texts: pa.Array, options: Options, level: Level) -> tuple[_Rows, pa.StringArray]:
    """Indices of the texts that are a whole URN, and their canonical forms. `texts` has the type large binary, without
    null.
    """
    lengths = np.diff(np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1])
    longest = min(max(1, int(lengths.max(initial=0))), LONGEST)
    grammar = Grammar(get_syntax(options.syntax), longest, keep_query=level.keep_query, count_lines=False)
    scanner = Scanner(grammar, rows=min(len(texts) + 1, _ROWS))

    def whole(hits: InValues) -> tuple[_Rows, pa.StringArray]:
        is_whole = (hits.start == 0) & (hits.matches.length == lengths[hits.value])
        urns = canonical_column(hits.matches, level)
        return hits.value[is_whole], urns.take(number_array(np.flatnonzero(is_whole)))

    return _joined(whole(hits) for hits in scan_values(scanner, texts))


def _joined(parts: Iterable[tuple[_Rows, pa.StringArray]]) -> tuple[_Rows, pa.StringArray]:
    rows, urns = [np.empty(0, np.int64)], [pa.nulls(0, pa.string())]
    for part_rows, part_urns in parts:
        rows.append(part_rows)
        urns.append(part_urns)
    return np.concatenate(rows), pa.concat_arrays(urns)


def _places(rows: _Rows, total: int) -> pa.Array:
    """For each number below `total`: its index in `rows`, which has no duplicates; null if it is not there."""
    places = np.zeros(total, np.int64)
    places[rows] = np.arange(len(rows))
    return pa.Array.from_buffers(pa.int64(), total, [bits(np.isin(np.arange(total), rows)), pa.py_buffer(places)])
