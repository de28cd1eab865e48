"""Pairs of identifiers whose records are never joined: read from a table, and looked up in the records."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import numbers
from urnscan.dedup.join.components import Numbers
from urnscan.dedup.reread import Dump
from urnscan.dedup.review.user_tables import is_path, read_table
from urnscan.errors import ArgumentError, FatalError, InvalidURN
from urnscan.records.keys import keys
from urnscan.urn.equivalence import Level, canonical, get_level
from urnscan.urn.namespaces.references import urn_of

_COLUMNS = ("identifier", "other")
_NAMESPACE = get_level("namespace", "rfc8141")
_HINT = "it needs the columns identifier and other, with a pair of identifiers in each row"


@dataclass(frozen=True, slots=True)
class NeverJoin:
    """Pairs of identifiers, as URNs or keys (`oclc:1234`), whose records are never joined, as read from a table."""

    path: str
    """Path of the table."""
    sha256: str
    """SHA-256 of the table, in hexadecimal digits."""
    pairs: tuple[tuple[str, str], ...]
    """The pairs, in the order of the table, each once; URNs are in the canonical form of the level `lexical`."""

    def at(self, level: Level) -> list[tuple[str, str]]:
        """Return the pairs, with URNs in the canonical form of a level of equivalence; keys are not changed."""
        return [(_refined(one, level), _refined(other, level)) for one, other in self.pairs]


def read_never_join(path: str | os.PathLike[str]) -> NeverJoin:
    """Read a table with the columns `identifier` and `other`, CSV or TSV in UTF-8, and return its pairs, each once. The
    order in a pair has no meaning, but if the table has a pair in both orders, both are returned.

    An identifier is a URN, an identifier that has a URN (`ISBN 0-395-36341-1`), or a key such as
    `oclc:1234`, written as in the column `other_keys` of the table of clusters.
    Raises FatalError for a file that cannot be read or lacks a column, for other identifiers, and for a pair of
    identifiers that are equal at the level `namespace`, such as the ISBN-10 and the ISBN-13 of a book.
    """
    table = read_table(path, "the pairs of identifiers")
    pairs = []
    for where, _, cells in table.rows(_COLUMNS, _HINT):
        one, other = (_name(where, cells[column].strip()) for column in _COLUMNS)
        if _refined(one, _NAMESPACE) == _refined(other, _NAMESPACE):
            raise FatalError(f"{where}: both identifiers are {one}; a pair needs two different ones")
        pairs.append((one, other))
    return NeverJoin(table.path, table.sha256, tuple(dict.fromkeys(pairs)))


def never_join_of(value: object) -> NeverJoin | None:
    """Return the pairs in the value of the option `never_join`: a path is read by `read_never_join`, which may raise
    FatalError; None and a NeverJoin are returned unchanged. Raises ArgumentError for other values.
    """
    if value is None or isinstance(value, NeverJoin):
        return value
    if is_path(value, "never_join"):
        return read_never_join(value)
    raise ArgumentError(f"never_join must be a path, or what read_never_join gives, not {value!r:.60}")


def _name(where: str, text: str) -> str:
    kind, _, name = text.partition(":")
    if kind in keys() and name:
        return text
    urn = urn_of(text)
    try:
        return canonical(urn or text, syntax="rfc8141")
    except InvalidURN:
        raise FatalError(f"{where}: {text!r:.80} is neither a URN nor a key such as oclc:1234") from None


def _refined(name: str, level: Level) -> str:
    return level.refine(name) if name.startswith("urn:") else name


def never_joined_works(
    pairs: Sequence[tuple[str, str]],
    batches: Iterable[tuple[Dump, slice, pa.RecordBatch]],
    work: Numbers,
    component: Numbers,
) -> list[tuple[int, int]]:
    """Return the pairs of works that are never joined, sorted, the smaller number of each pair first: one work has an
    identifier of a pair in `pairs`, the other work has the other identifier, and both are in the same component (group
    that keys connect). A work is a record, or all records with the same subject (N-Triples). Works are numbered from 0,
    components from 1.

    `pairs`: identifiers as in the column `names` of the rows. `batches`: for each batch of records their dump, their
    numbers among the records of all dumps, from 0, and their rows. `work`: number of the work of each record.
    `component`: number of the component of each work. Raises the errors of `batches`.
    """
    named = dict.fromkeys(name for pair in pairs for name in pair)
    of_name = {name: number for number, name in enumerate(named)}
    others: dict[int, set[int]] = defaultdict(set)
    for one, other in pairs:
        others[of_name[one]].add(of_name[other])
        others[of_name[other]].add(of_name[one])
    # For each component, its works by the number of a name.
    by_component: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    values = pa.array(named, pa.string())
    for _, span, rows in batches:
        names = rows.column("names")
        which = pc.index_in(names.values, values)
        if which.null_count == len(which):
            continue
        of_record = pc.list_parent_indices(names).filter(which.is_valid())
        for record, name in zip(numbers(of_record).tolist(), which.drop_null().to_pylist(), strict=True):
            of_work = int(work[span.start + record])
            by_component[int(component[of_work])][name].add(of_work)
    never = set()
    for by_name in by_component.values():
        for name, works in by_name.items():
            for other_name in others[name] & by_name.keys():
                never |= {(one, two) for one in works for two in by_name[other_name] if one < two}
    return sorted(never)
