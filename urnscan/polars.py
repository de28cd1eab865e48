"""Functions of URNs for Polars: after `import urnscan.polars`, expressions and series have the namespace `urn`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Generic, TypeVar

import pyarrow as pa

from urnscan.errors import ArgumentError, checks_options
from urnscan.library.batches import OBJECT
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
    import polars as pl
except ImportError as error:
    raise ImportError("urnscan.polars needs Polars: pip install 'urnscan[polars]'") from error

__all__ = ["ColumnURN"]

_EXPLANATION = pl.Series(pa.array([], EXPLANATION)).dtype
_Column = TypeVar("_Column", pl.Expr, pl.Series)


@pl.api.register_expr_namespace("urn")
@pl.api.register_series_namespace("urn")
class ColumnURN(Generic[_Column]):
    """The namespace `urn` of an expression or a series of text. Each method returns an expression or a series with a
    result for each value; the result of a null is null.

    Each different text of a batch is processed once. All methods raise ArgumentError for an unknown option or value, and
    for a column that is neither text nor bytes; in an expression, the latter is raised when it is evaluated. `rules` are
    custom rules: a file, or the result of `urnscan.namespaces.read_rules`; a file that cannot be read or is wrong raises
    FatalError. The other options are those of `urnscan.scan`.

    >>> import polars, urnscan.polars
    >>> names = polars.DataFrame({"name": ["URN:ISBN:0-395-36341-1", "see urn:ietf:rfc:2648", None]})
    >>> names.select(polars.col("name").urn.canonical(equivalence="namespace")).to_series().to_list()
    ['urn:isbn:9780395363416', None, None]
    >>> names["name"].urn.find().to_list()
    [['urn:isbn:0-395-36341-1'], ['urn:ietf:rfc:2648'], None]
    """

    def __init__(self, column: _Column) -> None:
        self._column: _Column = column

    @checks_options
    def canonical(
        self, *, syntax: SyntaxName = "rfc2141", equivalence: LevelName = "lexical", rules: Rules = None
    ) -> _Column:
        """The canonical form of each value, the same as from `urnscan.canonical`; null for a value that is not a URN.

        A bare ISBN is not a URN: `explain` returns the URN that the ISBN represents.
        """
        (options,) = read_options(locals(), Options)
        return self._mapped(partial(canonical_forms, options=options), pl.String())

    @checks_options
    def is_valid(self, *, syntax: SyntaxName = "rfc2141", rules: Rules = None) -> _Column:
        """Whether each value is a URN that its namespace allows; null for a URN whose validity is unknown, for example
        because its namespace is not registered.

        A value that is not a URN is False, also a bare ISBN.
        """
        (options,) = read_options(locals(), Options)
        return self._mapped(partial(validities, options=options), pl.Boolean())

    @checks_options
    def nid(self, *, syntax: SyntaxName = "rfc2141") -> _Column:
        """The NID, in lower case, of each value that is a URN; null for a value that is not a URN."""
        (options,) = read_options(locals(), Options)
        return self._mapped(partial(nids, options=options), pl.String())

    @checks_options
    def problem(self, *, syntax: SyntaxName = "rfc2141", rules: Rules = None) -> _Column:
        """The problems of each value. For a URN: codes of `urnscan.urn.problems.PROBLEMS` with "; " between them; null
        without problems.

        For a value that is not a URN: one code of `urnscan.urn.reject_reasons.REASONS`, the reason (`InvalidURN.code`
        of the error that `urnscan.parse` raises).
        """
        (options,) = read_options(locals(), Options)
        return self._mapped(partial(problems, options=options), pl.String())

    @checks_options
    def find(
        self,
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
    ) -> _Column:
        """The canonical forms of the URNs in each value, from left to right, as a list; an empty list for a value
        without URNs.

        `urnscan.scan_frame` also returns the positions of the URNs. The options are those of `urnscan.scan`.
        """
        (options,) = read_options(locals(), Options, without=OF_INPUTS)
        return self._mapped(partial(names_in, options=options), pl.List(pl.String()))

    @checks_options
    def count(
        self,
        *,
        syntax: SyntaxName = "rfc2141",
        trim: bool = False,
        recover: ViewName | Iterable[ViewName] = (),
        resolver_tail: ResolverTail = "keep",
        max_length: int = 65_536,
        nid: str | Iterable[str] = (),
        not_nid: str | Iterable[str] = (),
        rules: Rules = None,
    ) -> _Column:
        """The number of URNs in each value, of the type Int64; 0 for a value without URNs. A URN that occurs twice
        counts twice.

        The options are those of `urnscan.scan`.
        """
        (options,) = read_options(locals(), Options, without=OF_INPUTS)
        return self._mapped(partial(counts, options=options), pl.Int64())

    @checks_options
    def explain(
        self, *, syntax: SyntaxName = "rfc2141", equivalence: LevelName = "lexical", rules: Rules = None
    ) -> _Column:
        """The explanation of each value, by `urnscan.explain`: a struct with the fields of `Explanation`.

        A value that is not a URN but represents one, such as a bare ISBN, is explained, too: `is_urn` is false,
        `read_as` is the URN, and `canonical`, `valid` and the other fields describe that URN. `directives` are texts
        like `s=I2L`. Each different text takes some 0.1 to 0.4 ms, hundreds of times as long as in `canonical`.

        >>> import polars, urnscan.polars
        >>> names = polars.DataFrame({"name": ["urn:isbn:978-0-395-36341-6", "978-0-395-36341-6", None]})
        >>> explained = polars.col("name").urn.explain(equivalence="namespace")
        >>> names.select(explained.struct.field("is_urn", "canonical")).rows()
        [(True, 'urn:isbn:9780395363416'), (False, 'urn:isbn:9780395363416'), (None, None)]
        """
        (options,) = read_options(locals(), Options)
        return self._mapped(partial(explanations, options=options), _EXPLANATION)

    def _mapped(self, function: Callable[[Any], Any], kind: pl.DataType) -> _Column:
        def mapped(series: pl.Series) -> pl.Series:
            if series.dtype == pl.Object:
                raise ArgumentError(f"the series is {OBJECT}")
            return pl.Series(series.name, function(series.to_arrow()), kind)

        if isinstance(self._column, pl.Series):
            return mapped(self._column)
        return self._column.map_batches(mapped, kind, is_elementwise=True)
