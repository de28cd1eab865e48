"""Set of the inputs that a run has read, so that each is read only once; small enough for millions of inputs."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from urnscan.compiled.jit import compiled

_ROWS = 1 << 10  # rows of the first table; a power of two, as each later number of rows
_Hashes = npt.NDArray[np.int64]


class SeenInputs:
    """Set of byte strings that stores 128 bits of hash for each string, not the string: 24 to 48 bytes of memory for
    each if there are many.
    """

    def __init__(self) -> None:
        self._table = np.zeros((_ROWS, 2), np.int64)
        self._count = 0

    def add(self, keys: Sequence[bytes]) -> npt.NDArray[np.bool_]:
        """Add the keys of inputs (`Input.key`: inputs with equal keys are the same file or object). Returns for each,
        in an array, whether it was not yet in the set.

        Of equal strings in `keys` only the first is new.
        """
        old, rows = self._table, len(self._table)
        while 3 * (self._count + len(keys)) > 2 * rows:
            rows *= 2
        if rows > len(old):
            self._table = np.zeros((rows, 2), np.int64)
            hashes_so_far = old[old[:, 1] != 0]
            _add(self._table, hashes_so_far, np.zeros(len(hashes_so_far), np.bool_))
        # The hashes have a random key in each process: nobody can choose names of two files with equal hashes.
        hashes, are_new = np.empty((len(keys), 2), np.int64), np.zeros(len(keys), np.bool_)
        hashes[:, 0] = [hash(key) for key in keys]
        # 0 marks a free row of the table.
        hashes[:, 1] = [hash(key + b"\0") | 1 for key in keys]
        _add(self._table, hashes, are_new)
        self._count += int(are_new.sum())
        return are_new


@compiled
def _add(table: _Hashes, hashes: _Hashes, are_new: npt.NDArray[np.bool_]) -> None:
    """Add hashes to a table (its length is a power of two, and it has free rows of 0), and mark those that were not in
    it in `are_new`.
    """
    for i in range(len(hashes)):
        at = hashes[i, 0] & (len(table) - 1)
        while table[at, 1] != 0 and (table[at, 0] != hashes[i, 0] or table[at, 1] != hashes[i, 1]):
            at = (at + 1) & (len(table) - 1)
        if table[at, 1] == 0:
            table[at, 0], table[at, 1] = hashes[i, 0], hashes[i, 1]
            are_new[i] = True
