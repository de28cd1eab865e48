"""Files of partial results -> classes, the same as in a run over all inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import numbers
from urnscan.errors import ArgumentError, FatalError
from urnscan.grouping.classes import one_batch
from urnscan.grouping.out_of_core import Grouping
from urnscan.run.options import Options
from urnscan.run.partial_result import names_of, renumbered
from urnscan.tables.metadata import OF_PARTIAL
from urnscan.tables.readers import TableFile
from urnscan.tables.schemas import NAMED_PARTIAL, PARTIAL
from urnscan.urn.namespaces.own import rules_in
from urnscan.version import __version__

_MAX_INPUTS = 1 << 31


class ClassesOfPartials:
    """Adds the rows of partial results (files of `urnscan --partial`, NAMED_PARTIAL rows), in order, to `grouping`,
    which groups them into classes (one for each canonical form). Rows are checked, as they may come from any source.
    """

    def __init__(self, table: TableFile, grouping: Grouping) -> None:
        """`table` is any of the files: all must come from runs with the same options. `grouping`, which must be empty,
        groups the rows.

        Raises FatalError for missing or invalid options or rules, and if another version of urnscan wrote the file.
        """
        self.options = _options(table)
        """The options of the runs that decide the rows of classes."""
        self.grouping = grouping
        self.names: dict[int, str] = {}
        """Number of an input in the merged run, from 0 -> the name."""
        self._inputs = 0
        self._distinct: set[str] = set()
        self.shared = 0
        """Number of inputs of an added file whose names an earlier file has, too."""

    def add(self, table: TableFile, batches: Iterator[pa.RecordBatch]) -> Iterator[int]:
        """Add all rows of the next file, `table`, while the caller iterates over the result: adds some rows of
        `batches`, yields their number, and so on. The caller must iterate up to the end.

        Raises FatalError for damaged rows.
        """
        inputs = self._inputs
        names: dict[int, str] = {}
        for rows in _whole_classes(batches):
            names |= names_of(rows)
            if not _is_sound(rows, names, _MAX_INPUTS - inputs):
                raise FatalError(f"{table.path}: is damaged: its rows are not as urnscan wrote them; run its job again")
            self._inputs = max(self._inputs, inputs + 1 + pc.max(rows.column("last_source")).as_py())
            self.grouping.add(renumbered(rows.select(PARTIAL.names), inputs))
            yield len(rows)
        self.shared += len(self._distinct.intersection(names.values()))
        self._distinct.update(names.values())
        self.names.update((inputs + place, name) for place, name in names.items())


def _options(table: TableFile) -> Options:
    """The options of the run of a partial result that decide the rows of classes. Raises FatalError if they are
    invalid.
    """
    metadata = table.metadata()
    if metadata.get("version") != __version__:
        raise FatalError(
            f"{table.path}: was written by urnscan {metadata.get('version')}, and this is {__version__}: partial results "
            "are merged by the version that wrote them"
        )
    try:
        text = metadata[OF_PARTIAL]["rules_text"]
        rules = None if text is None else rules_in(text.encode(), f"{table.path}, its rules")
        options = Options(syntax=metadata["syntax"], equivalence=metadata["equivalence"], rules=rules)
    except (ArgumentError, AttributeError, KeyError, TypeError) as error:
        raise FatalError(f"{table.path}: its metadata have no valid options of a run; run its job again") from error
    if options.level.rulebook.sha256 != metadata.get("rules"):
        raise FatalError(f"{table.path}: the rules in it are not those of its run; run its job again")
    return options


def _whole_classes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Regroup sorted rows into batches of whole classes, as only the first row of a class has the number of sources. No
    batch may be empty.
    """
    pending: list[pa.RecordBatch] = []
    for rows in batches:
        begin = int(np.flatnonzero(_heads(rows))[-1])
        if begin or (pending and pending[0].column("urn")[0] != rows.column("urn")[0]):
            yield one_batch([*pending, rows.slice(0, begin)], NAMED_PARTIAL)
            pending = []
        pending.append(rows.slice(begin))
    if pending:
        yield one_batch(pending, NAMED_PARTIAL)


def _heads(rows: pa.RecordBatch) -> npt.NDArray[np.bool_]:
    urn = rows.column("urn")
    heads = np.ones(len(rows), np.bool_)
    heads[1:] = pc.not_equal(urn[1:], urn[:-1]).to_numpy(zero_copy_only=False)
    return heads


def _is_sound(rows: pa.RecordBatch, names: Collection[int], most_inputs: int) -> bool:
    """Whether rows of whole classes are as `urnscan --partial` writes them; `names`: numbers of the inputs whose names
    are known.
    """
    urn = rows.column("urn")
    heads = _heads(rows)
    sources, first, last = (numbers(rows.column(name)) for name in ("sources", "first_source", "last_source"))
    return bool(
        pc.all(pc.less_equal(urn[:-1], urn[1:]), min_count=0).as_py()
        and ((sources > 0) == heads).all()
        and (first >= 0).all()
        and (first <= last).all()
        and (last < most_inputs).all()
        and all(place in names for place in np.unique(first[heads]).tolist())
    )
