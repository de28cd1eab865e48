"""Functions of URNs for DuckDB: `urnscan.duckdb.register(connection)` adds them to SQL."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import pyarrow as pa

from urnscan.errors import ArgumentError, checks_options
from urnscan.library.columns import (
    EXPLANATION,
    canonical_forms,
    counts,
    explanations,
    names_in,
    nids,
    problems,
    validities,
)
from urnscan.run.options import OF_INPUTS, Options, read_options
from urnscan.scanner.grammar import ResolverTail
from urnscan.scanner.views.kinds import ViewName
from urnscan.urn.equivalence import LevelName
from urnscan.urn.namespaces.own import Rules
from urnscan.urn.syntax import SyntaxName

try:
    import duckdb
except ImportError as error:
    raise ImportError("urnscan.duckdb needs DuckDB: pip install 'urnscan[duckdb]'") from error

__all__ = ["register"]

_Function: TypeAlias = Callable[[Any, Options], Any]
_KINDS = {pa.string(): "VARCHAR", pa.bool_(): "BOOLEAN", pa.int64(): "BIGINT", pa.list_(pa.string()): "VARCHAR[]"}
_FUNCTIONS: dict[str, tuple[_Function, str]] = {
    "urn_canonical": (canonical_forms, "VARCHAR"),
    "urn_is_valid": (validities, "BOOLEAN"),
    "urn_nid": (nids, "VARCHAR"),
    "urn_problem": (problems, "VARCHAR"),
    "urn_find": (names_in, "VARCHAR[]"),
    "urn_count": (counts, "BIGINT"),
    "urn_explain": (explanations, f"STRUCT({', '.join(f'{each.name} {_KINDS[each.type]}' for each in EXPLANATION)})"),
}


@checks_options
def register(
    connection: duckdb.DuckDBPyConnection,
    *,
    syntax: SyntaxName = "rfc2141",
    equivalence: LevelName = "lexical",
    trim: bool = False,
    recover: ViewName | Iterable[ViewName] = (),
    resolver_tail: ResolverTail = "keep",
    max_length: int = 65_536,
    nid: str | Iterable[str] = (),
    not_nid: str | Iterable[str] = (),
    rules: Rules = None,
) -> None:
    """Add seven functions of a VARCHAR to a connection of DuckDB. Each returns NULL for NULL.

    `urn_canonical` returns the canonical form of a value that is a URN, as `urnscan.canonical` does; NULL for other
    values. `urn_is_valid` returns whether a value is a URN that its namespace allows: false for a value that is not a
    URN; NULL for a URN if its validity is unknown, for example because its namespace is not registered. `urn_nid`
    returns the NID in lower case; NULL for a value that is not a URN. `urn_problem` returns a VARCHAR: codes of
    `urnscan.urn.problems.PROBLEMS` with "; " between them, or the code of `urnscan.InvalidURN` if the value is not a
    URN; NULL without problems. `urn_find` returns a list: the canonical forms of the URNs in a text, from left to
    right, empty without URNs; `urn_count` returns their number. `urn_explain` returns a struct with the fields of
    `Explanation`, as `urnscan.explain` does, but slowly. The options are those of `urnscan.scan`, and each function
    uses the options that matter for it. A second call replaces the functions. Raises ArgumentError for invalid options,
    FatalError for a file of rules that cannot be read.

    >>> import duckdb, urnscan.duckdb
    >>> with duckdb.connect() as connection:
    ...     urnscan.duckdb.register(connection, trim=True)
    ...     connection.sql("SELECT urn_find('See URN:ISBN:0451450523.'), urn_is_valid('urn:isbn:1')").fetchall()
    ...     connection.sql("SELECT urn_explain('978-0-395-36341-6').read_as").fetchall()
    [(['urn:isbn:0451450523'], False)]
    [('urn:isbn:9780395363416',)]
    """
    (options,) = read_options(locals(), Options, without=OF_INPUTS)
    if not hasattr(connection, "create_function"):
        raise ArgumentError(f"register needs a connection of DuckDB, not {type(connection).__name__}")
    create: Any = connection.create_function  # its types know no strings for `type`
    for name, (function, kind) in _FUNCTIONS.items():
        # At the first call, there is no such function yet.
        with contextlib.suppress(duckdb.InvalidInputException):
            connection.remove_function(name)
        create(name, _with_options(function, options), ["VARCHAR"], kind, type="arrow", null_handling="special")


def _with_options(function: _Function, options: Options) -> Callable[[Any], Any]:
    # DuckDB counts parameters, but wrongly for a `functools.partial`.
    return lambda values: function(values, options)
