"""Files with the partial result of a run: the counts of all spellings, and the options that `urnscan merge` needs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from urnscan.errors import FatalError
from urnscan.pool import Pool
from urnscan.tables.metadata import OF_PARTIAL
from urnscan.tables.output_file import name_of
from urnscan.tables.parquet_writer import ParquetOutput
from urnscan.tables.plain_output import PARTIAL_SUFFIX, form_of
from urnscan.tables.schemas import NAMED_PARTIAL

_REPEATING = "occurrence_count sources first_source last_source first_member source".split()


class PartialOutput(ParquetOutput):
    """A file with the partial result of a run, for a later `urnscan merge`: an output in Parquet with rows of the
    schema NAMED_PARTIAL (one row per spelling of a class; its first row also has the sources of the class).
    """

    def __init__(
        self, path: str | os.PathLike[str], reading: Mapping[str, Any], *, force: bool = False, pool: Pool | None = None
    ) -> None:
        """`reading` is a dict for JSON with the options that the metadata of tables do not have, and the text of custom
        rules (`Options.reading_metadata`); it is written with the metadata. Threads of `pool` encode row groups; None:
        the calling thread does.

        Raises FatalError for a name without the suffix `.partial`, if the file exists already (unless `force`), and if
        nothing can be written to its folder.
        """
        name = name_of(path)
        if form_of(name) != (PARTIAL_SUFFIX, ""):
            raise FatalError(
                f"{name}: a partial result is not a table; use {PARTIAL_SUFFIX}, as in urns{PARTIAL_SUFFIX}"
            )
        super().__init__(path, NAMED_PARTIAL, dictionaries=_REPEATING, statistics=False, force=force, pool=pool)
        self._reading = reading

    def _write_end(self, metadata: Mapping[str, Any]) -> None:
        super()._write_end({**metadata, OF_PARTIAL: dict(self._reading)})
