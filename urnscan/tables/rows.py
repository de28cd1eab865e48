"""The tables that urnscan writes, as Arrow schemas, and the way from columns of matches to batches of their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.arrays.arrow import bits, number_array, numbers, octet_strings, string_array, text_array
from urnscan.arrays.jit import compiled
from urnscan.arrays.octets import copy
from urnscan.arrays.strings import Octets, Offsets, Rows, cut, same, take_numbers
from urnscan.scanner.blocks import END, Matches, Rejects
from urnscan.scanner.views import KINDS
from urnscan.tables.values import InValues
from urnscan.urn.equivalence import Level
from urnscan.urn.lookalikes import lookalikes
from urnscan.urn.namespaces import nid_status
from urnscan.urn.namespaces.columns import NAMES, UNKNOWN, Codes, is_valid, namespace_forms, verdicts
from urnscan.urn.syntax import Syntax, invalid, parse, why_not

__all__ = [
    "CLASSES",
    "CLUSTERS",
    "GROUPED",
    "OCCURRENCES",
    "PARTIAL",
    "REJECTS",
    "REPEATING",
    "REPEATING_IN_CLUSTERS",
    "SELECTIVE",
    "SINGLE",
    "Found",
    "canonical_column",
    "class_rows",
    "occurrences_in_values",
    "reject_rows",
]

_DICTIONARY = pa.dictionary(pa.int32(), pa.string())
_VARIANTS = pa.list_(
    pa.field(
        "element",
        pa.struct([pa.field("text", pa.string(), nullable=False), pa.field("count", pa.int64(), nullable=False)]),
        nullable=False,
    )
)

OCCURRENCES = pa.schema(
    [
        pa.field("source", _DICTIONARY, nullable=False),
        pa.field("member", pa.string()),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("line", pa.int64(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("urn", pa.string(), nullable=False),
        pa.field("nid", _DICTIONARY, nullable=False),
        pa.field("stop", pa.int16()),
        pa.field("trailing", pa.uint8(), nullable=False),
        pa.field("length", pa.int32(), nullable=False),
        pa.field("via", _DICTIONARY),
        pa.field("resolver", _DICTIONARY),
    ]
)
"""One row per occurrence, in the order of the inputs, then by offset."""

REJECTS = pa.schema(
    [
        *(OCCURRENCES.field(name) for name in ("source", "member", "offset", "line", "text")),
        pa.field("reason", _DICTIONARY, nullable=False),
        pa.field("message", pa.string(), nullable=False),
        pa.field("position", pa.int32(), nullable=False),
    ]
)
"""One row for each place where a URN nearly begins, or ends for a malformed %HH; in the same order."""

CLASSES = pa.schema(
    [
        pa.field("urn", pa.string(), nullable=False),
        pa.field("nid", _DICTIONARY, nullable=False),
        pa.field("nss", pa.string(), nullable=False),
        pa.field("nid_status", _DICTIONARY, nullable=False),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("source_count", pa.int64(), nullable=False),
        pa.field("variant_count", pa.int64(), nullable=False),
        pa.field("variants", _VARIANTS, nullable=False),
        pa.field("first_source", pa.string(), nullable=False),
        pa.field("first_member", pa.string()),
        pa.field("first_offset", pa.int64(), nullable=False),
        pa.field("valid", pa.bool_()),
        pa.field("problem", pa.string()),
    ]
)
"""One row per equivalence class, sorted by `urn` in the order of octets."""

REPEATING = [
    "nid",
    "nid_status",
    "count",
    "source_count",
    "variant_count",
    "variants.list.element.count",
    "first_source",
    "first_member",
    "problem",
]
"""The leaf columns of CLASSES whose values repeat; all others of a class are its own."""

SELECTIVE = ["urn", "nid", "nid_status", "count", "source_count", "variant_count", "first_source", "problem"]
"""The leaf columns of CLASSES by which one selects."""

PARTIAL = pa.schema(
    [
        pa.field("urn", pa.string(), nullable=False),
        pa.field("text", pa.string(), nullable=False),  # empty where it is the same as `urn`
        pa.field("count", pa.int64(), nullable=False),
        pa.field("sources", pa.int64(), nullable=False),
        pa.field("first_source", pa.int32(), nullable=False),
        pa.field("last_source", pa.int32(), nullable=False),
        pa.field("first_member", pa.string()),
        pa.field("first_offset", pa.int64(), nullable=False),
    ]
)
"""What is known so far of one spelling of one class; sources are their places in the order of the inputs, from 0."""

SINGLE = pa.schema([PARTIAL.field(name) for name in ("urn", "text", "first_source", "first_member", "first_offset")])
"""PARTIAL rows of one occurrence each, without what follows from that."""

_URNS = pa.list_(pa.field("element", pa.string(), nullable=False))

CLUSTERS = pa.schema(
    [
        pa.field("cluster", pa.int64(), nullable=False),
        pa.field("source", _DICTIONARY, nullable=False),
        pa.field("member", _DICTIONARY),
        pa.field("record", pa.int64(), nullable=False),
        pa.field("record_id", pa.string()),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("length", pa.int64(), nullable=False),
        pa.field("urns", _URNS, nullable=False),
        pa.field("joined_by", _URNS, nullable=False),
        pa.field("rank", pa.int64(), nullable=False),
        pa.field("kept", pa.bool_(), nullable=False),
    ]
)
"""One row per record of a dump, in the order of the inputs, then of the records."""

REPEATING_IN_CLUSTERS = ["source", "member", "rank", "joined_by.list.element"]
"""The leaf columns of CLUSTERS whose values repeat."""

GROUPED = pa.schema(
    [
        CLASSES.field("urn"),
        CLASSES.field("count"),
        CLASSES.field("source_count"),
        CLASSES.field("variant_count"),
        CLASSES.field("variants"),
        pa.field("first_source", pa.int32(), nullable=False),
        CLASSES.field("first_member"),
        CLASSES.field("first_offset"),
    ]
)
"""What grouping knows of a class: CLASSES without what follows from `urn`, the first source as its place."""


@dataclass(frozen=True, slots=True)
class Found:
    """Matches with the places where they were found, and their canonical forms."""

    matches: Matches
    offset: npt.NDArray[np.int64]
    line: npt.NDArray[np.int64]
    source: npt.NDArray[np.int32]
    """The place of each match's input in `names`."""
    names: Sequence[str]
    member: pa.StringArray | None
    """null throughout where it is None."""
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
        """The matches as SINGLE rows; `places` has the places of `names` among all inputs."""
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
    """REJECTS rows; `source` has the place of each input in `names`, and `member` is null throughout where it is None."""
    text = string_array(rejects.text, rejects.text_offsets)
    behind = rejects.position >= 0  # a match, which may be longer than the text: then the parser would not see the "%"
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
    """CLASSES rows of GROUPED rows; `names` has the names of the inputs by their places."""
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
    """The octets that ended matches; null for the end of the input."""
    known = stop != END
    buffers = [bits(known), pa.py_buffer(stop)]
    return pa.Array.from_buffers(pa.int16(), len(stop), buffers, null_count=int((~known).sum()))


def _views(matches: Matches) -> pa.DictionaryArray:
    """The names of the views by which matches were found; null for those that stand there literally."""
    via = np.zeros(len(matches), np.uint8) if matches.via is None else matches.via
    return text_array([None, *KINDS]).take(number_array(via)).dictionary_encode()


def _hosts(host: Octets, offsets: Offsets) -> pa.DictionaryArray:
    """The hosts of URLs; null for an empty one."""
    known = np.diff(offsets) > 0
    buffers = [bits(known), pa.py_buffer(offsets), pa.py_buffer(host)]
    hosts = pa.Array.from_buffers(pa.string(), len(known), buffers, null_count=int((~known).sum()))
    return hosts.dictionary_encode()


def _nids(octets: Octets, offsets: Offsets, colons: Offsets) -> pa.DictionaryArray:
    """The NIDs of canonical forms."""
    heads, run = _nid_runs(octets, offsets, colons)
    nids = string_array(*cut(octets, offsets[heads] + np.int32(4), colons[heads])).dictionary_encode()
    return _coded(take_numbers(numbers(nids.indices), run), nids.dictionary)


def _coded(codes: npt.NDArray[np.int32], values: pa.StringArray) -> pa.DictionaryArray:
    """Each row is the value of that number; values may be equal."""
    values = values.dictionary_encode()
    return pa.DictionaryArray.from_arrays(number_array(take_numbers(numbers(values.indices), codes)), values.dictionary)


def _flags(values: npt.NDArray[np.bool_], known: npt.NDArray[np.bool_]) -> pa.BooleanArray:
    return pa.Array.from_buffers(pa.bool_(), len(values), [bits(known), bits(values)], null_count=int((~known).sum()))


def _problems(urn: pa.StringArray, codes: Codes, syntax: str, level: Level) -> pa.StringArray:
    """What is wrong with each canonical form, or null: what its namespace says, then its syntax, then how it looks.

    Only those that can have a problem of the last two kinds are looked at one by one.
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
    """The texts, empty where they are their canonical form."""
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
    """Whether `%00` or an octet beyond ASCII, `%80` to `%FF`, stands anywhere in a column.

    That is far faster than to look into each string, and they seldom do.
    """
    found = np.uint8(0)
    rest = octets[2:]
    for i in range(len(rest)):
        nul = np.uint8(octets[i + 1] == 48) & np.uint8(rest[i] == 48)
        found |= np.uint8(octets[i] == 37) & (nul | np.uint8(octets[i + 1] > 55))
    return bool(found)


@compiled
def _oddities(octets: Octets, offsets: Offsets) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """In which strings `%00` stands, and in which a character that can mislead.

    None of U+00C0 to U+027F does, letters of Latin, in UTF-8 behind `%C3` to `%C9`; and they are the most.
    """
    nul = np.zeros(len(offsets) - 1, np.bool_)
    beyond = np.zeros(len(offsets) - 1, np.bool_)
    for i in range(len(nul)):
        string = octets[offsets[i] : offsets[i + 1]]
        percents = 0
        for j in range(len(string)):  # counting has no early exit, so it is vectorised; most strings have none
            percents += string[j] == 37
        if percents:
            for j in range(len(string) - 2):
                if string[j] == 37:
                    first, second = string[j + 1], string[j + 2]
                    nul[i] |= first == 48 and second == 48
                    beyond[i] |= first > 67 or (first == 67 and not 51 <= second <= 57)
    return nul, beyond


@compiled
def _nid_runs(urn: Octets, offsets: Offsets, colons: Offsets) -> tuple[Rows, Rows]:
    """The first rows of runs of rows with the same NID, and of each row its run."""
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
    """Where the NID of each canonical form ends and where its NSS does: before the query, if `query`."""
    colons = np.empty(len(offsets) - 1, np.int32)
    ends = offsets[1:].copy()
    for i in range(len(colons)):
        j = offsets[i] + 4
        while urn[j] != 58:
            j += 1
        colons[i] = j
        if query:
            while j < ends[i] and urn[j] != 63:
                j += 1
            ends[i] = j
    return colons, ends
