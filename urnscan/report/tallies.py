"""Figures of rows that come in batches: sums by keys, and the rows with the greatest numbers. Batches are not kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.compiled.arrow import decoded

Numbers = npt.NDArray[np.int64]
"""An array of integers, such as counts or numbers of rows."""

# Rows that are added up together; if there are many different keys, up to twice as many rows as keys.
_FEW = 1 << 16


class Tally:
    """Sums of numbers by keys, for rows that come in batches, like GROUP BY and SUM in SQL. A key is the values of one
    column or several.
    """

    def __init__(self, keys: Sequence[str], sums: Sequence[str]) -> None:
        """`keys`: names of the columns whose values, together, are the key of a row. `sums`: names of the columns of
        numbers that are added up.
        """
        self._keys, self._sums = list(keys), list(sums)
        self._pending: list[pa.Table] = []
        self._rows, self._full = 0, _FEW

    def add(self, **columns: pa.Array) -> None:
        """Add rows: an array for each column of keys and of numbers, by its name; other columns are ignored. Columns of
        keys may be dictionary arrays.
        """
        self._pending.append(self._sum(pa.table(columns)))
        self._rows += self._pending[-1].num_rows
        if self._rows > self._full:
            self._pending = [self.result()]
            self._rows = self._pending[0].num_rows
            self._full = max(_FEW, 2 * self._rows)

    def result(self) -> pa.Table | None:
        """Return a table with a row for each different key, in no fixed order: the columns of keys, and the sums under
        the names of their columns; None if `add` was never called.
        """
        return self._sum(pa.concat_tables(self._pending)) if self._pending else None

    def _sum(self, rows: pa.Table) -> pa.Table:
        sums = rows.group_by(self._keys, use_threads=False).aggregate([(name, "sum") for name in self._sums])
        columns = [decoded(sums.column(name)) for name in self._keys]
        columns += [sums.column(f"{name}_sum") for name in self._sums]
        return pa.table(columns, names=self._keys + self._sums)


class Top:
    """Finds the rows with the greatest numbers, for rows that come in batches: by the first number, then the next, then
    in the order of the rows.
    """

    def __init__(self, size: int, numbers: int = 1) -> None:
        """`size`: how many rows are found. `numbers`: how many numbers each row has."""
        self._size = size
        # A column for each row: the numbers, and the place as a negative number.
        self._top = np.empty((numbers + 1, 0), np.int64)
        self._least: Numbers | None = None

    def add(self, places: Numbers, *numbers: Numbers) -> None:
        """Add rows: their places (indices of rows), ascending and greater than all earlier places; and an array for
        each number, with its value in each row.
        """
        rows = np.vstack([*numbers, -places])
        if self._least is not None:
            better, equal = np.zeros(len(places), np.bool_), np.ones(len(places), np.bool_)
            for number, least in zip(rows, self._least, strict=True):
                better |= equal & (number > least)
                equal &= number == least
            rows = rows[:, better]
        self._top = np.hstack([self._top, rows])
        if self._top.shape[1] > 2 * self._size or (self._least is None and self._top.shape[1] >= self._size):
            self._cut()

    def places(self) -> Numbers:
        """Return the places of the rows with the greatest numbers among those added so far, the greatest first; fewer
        than `size` if fewer were added.
        """
        self._cut()
        places: Numbers = -self._top[-1]
        return places

    def _cut(self) -> None:
        order = np.lexsort(self._top[::-1])[::-1][: self._size]
        self._top = self._top[:, order]
        if len(order) == self._size > 0:
            self._least = self._top[:, -1]
