"""Functions of URNs for pandas: after `import urnscan.pandas`, each series of text has the accessor `urn`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd
import pyarrow as pa

from urnscan.errors import ArgumentError, checks_options
from urnscan.library.batches import remedy_for, texts_of_pandas
from urnscan.library.columns import (
    EXPLANATION,
    canonical_forms,
    counts,
    explained_rows,
    names_in,
    nids,
    problems,
    validities,
)
from urnscan.library.shared import watched
from urnscan.run.options import OF_INPUTS, Options, read_options
from urnscan.scanner.grammar import ResolverTail
from urnscan.scanner.views.kinds import ViewName
from urnscan.tables.scanned_columns import is_text
from urnscan.urn.equivalence import LevelName
from urnscan.urn.namespaces.own import Rules
from urnscan.urn.syntax import SyntaxName

__all__ = ["SeriesURN"]


@pd.api.extensions.register_series_accessor("urn")
class SeriesURN:
    """The accessor `urn` of a series of text. Each method returns a result for each value, with the index of the
    series.

    A missing value has a missing result. Each different text is processed once. All methods raise ArgumentError if the
    series is neither text nor bytes, and for an unknown option or value. `rules` are custom rules: a file, or the
    result of `urnscan.namespaces.read_rules`; a file that cannot be read raises FatalError. The other options are those
    of `urnscan.scan`.

    >>> import pandas, urnscan.pandas
    >>> names = pandas.Series(["URN:ISBN:0-395-36341-1", "see urn:ietf:rfc:2648", None])
    >>> names.urn.canonical(equivalence="namespace").tolist()[0]
    'urn:isbn:9780395363416'
    >>> names.urn.find().explode().dropna().tolist()
    ['urn:isbn:0-395-36341-1', 'urn:ietf:rfc:2648']
    """

    def __init__(self, series: pd.Series) -> None:
        self._series = series

    @checks_options
    def canonical(
        self, *, syntax: SyntaxName = "rfc2141", equivalence: LevelName = "lexical", rules: Rules = None
    ) -> pd.Series:
        """The canonical form of each value, the same as from `urnscan.canonical`; missing for a value that is not a
        URN.

        A bare ISBN is not a URN: `explain` returns the URN that the ISBN represents (`read_as`), and the canonical form
        of that URN.
        """
        (options,) = read_options(locals(), Options)
        return self._like(canonical_forms(self._array(), options))

    @checks_options
    def is_valid(self, *, syntax: SyntaxName = "rfc2141", rules: Rules = None) -> pd.Series:
        """Whether each value is a URN that its namespace allows, as a series of the type `boolean`; missing for a URN
        whose validity is unknown, for example because its namespace is not registered.

        A value that is not a URN is False, also a bare ISBN; `explain` checks the URN that the ISBN represents.
        """
        (options,) = read_options(locals(), Options)
        return self._like(validities(self._array(), options), lambda _: pd.BooleanDtype())

    @checks_options
    def nid(self, *, syntax: SyntaxName = "rfc2141") -> pd.Series:
        """The NID, in lower case, of each value that is a URN; missing for a value that is not a URN.

        >>> import pandas, urnscan.pandas
        >>> pandas.Series(["URN:ISBN:0-395-36341-1", "urn:ietf:rfc:2648"]).urn.nid().tolist()
        ['isbn', 'ietf']
        """
        (options,) = read_options(locals(), Options)
        return self._like(nids(self._array(), options))

    @checks_options
    def problem(self, *, syntax: SyntaxName = "rfc2141", rules: Rules = None) -> pd.Series:
        """The problems of each value: codes of `urnscan.urn.problems.PROBLEMS` with "; " between them.

        A value that is not a URN has one code, the reason (`InvalidURN.code` of the error that `urnscan.parse` raises).
        Missing for a URN without problems.

        >>> import pandas, urnscan.pandas
        >>> pandas.Series(["urn:isbn:0-395-36341-1", "urn:isbn:0-395-36341-6", "urn:a b"]).urn.problem().tolist()[1:]
        ['check-digit', 'nid-character']
        """
        (options,) = read_options(locals(), Options)
        return self._like(problems(self._array(), options))

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
        progress: bool | None = None,
    ) -> pd.Series:
        """The canonical forms of the URNs in each value, from left to right, as a series of Arrow lists; an empty list
        for a value without URNs.

        `.explode()` makes a row of each URN; pandas reads lists of Arrow from Parquet only with
        `dtype_backend="pyarrow"`. `urnscan.scan_frame` also returns the positions of the URNs. The options are those of
        `urnscan.scan`, including `progress`.
        """
        (options,) = read_options(locals(), Options, without=OF_INPUTS)
        with watched(progress, "scanning", lambda: None) as shown:
            return self._like(names_in(self._array(), options, shown), pd.ArrowDtype)

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
        progress: bool | None = None,
    ) -> pd.Series:
        """The number of URNs in each value, as a series of the type Int64; 0 for a value without URNs. A URN that
        occurs twice counts twice.

        The options are those of `urnscan.scan`.
        """
        (options,) = read_options(locals(), Options, without=OF_INPUTS)
        with watched(progress, "scanning", lambda: None) as shown:
            return self._like(counts(self._array(), options, shown), lambda _: pd.Int64Dtype())

    @checks_options
    def explain(
        self,
        *,
        syntax: SyntaxName = "rfc2141",
        equivalence: LevelName = "lexical",
        rules: Rules = None,
        progress: bool | None = None,
    ) -> pd.DataFrame:
        """The explanation of each value, by `urnscan.explain`: a frame with the fields of `Explanation` as columns, and
        with the index of the series. A missing value has a row of missing values.

        A value that is not a URN but represents one, such as a bare ISBN, is explained, too: `is_urn` is False,
        `read_as` is the URN, and `canonical`, `valid` and the other fields describe that URN. `directives` are texts
        like `s=I2L`. Each different text takes some 0.1 to 0.4 ms, hundreds of times as long as in `canonical`.
        `progress`: whether to show a bar; None: in interactive sessions.

        >>> import pandas, urnscan.pandas
        >>> names = pandas.Series(["urn:isbn:978-0-395-36341-6", "978-0-395-36341-6"])
        >>> names.urn.explain(equivalence="namespace")[["is_urn", "canonical"]].to_dict("list")
        {'is_urn': [True, False], 'canonical': ['urn:isbn:9780395363416', 'urn:isbn:9780395363416']}
        >>> names.urn.canonical(equivalence="namespace").dropna().tolist()
        ['urn:isbn:9780395363416']
        """
        (options,) = read_options(locals(), Options)
        encoded = self._array().combine_chunks().dictionary_encode()
        texts = encoded.dictionary.to_pylist()
        with watched(progress, "explaining", lambda: None) as shown:
            rows = explained_rows(texts, options, shown)
        frame = pd.DataFrame(rows, columns=EXPLANATION.names)
        frame = frame.astype({"is_urn": "boolean", "valid": "boolean", "position": "Int64"})
        return frame.reindex(encoded.indices.fill_null(-1).to_numpy()).set_axis(self._series.index)

    def _array(self) -> pa.ChunkedArray:
        array = texts_of_pandas(self._series, "the series is not text")
        if not is_text(array.type):
            raise ArgumentError(f"the series is {self._series.dtype}, not text: {remedy_for(array.type)}")
        return array

    def _like(self, results: pa.ChunkedArray, kind: Callable[[pa.DataType], Any] | None = None) -> pd.Series:
        return pd.Series(results.to_pandas(types_mapper=kind).array, index=self._series.index, name=self._series.name)
