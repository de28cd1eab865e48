"""Tables of a data lake, Delta and Iceberg: folders with a log that says which of their files the table has now.

Their own libraries (the extra `lake`) read the log, in a process; the files are then read as Parquet (`tables/lake_rows.py`).
"""

from __future__ import annotations

import base64
import functools
import importlib.util
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from urnscan.errors import LakeNote, SourceError
from urnscan.sources import lake_script
from urnscan.sources.inputs import Input, TableFile, name_of
from urnscan.sources.lake_script import DELTA, ICEBERG, LENGTH
from urnscan.sources.scripts import ProcessError, Script

DELTA_LOG = "_delta_log"
"""Name of the folder with the log of a Delta table."""
_ICEBERG_LOG = "metadata"
_DELTA_COMMIT = re.compile(r"\d{20}\.(?:json|checkpoint\..*parquet)|_last_checkpoint")
_ICEBERG_METADATA = re.compile(r"(?:v(\d+)|(\d+)-[0-9a-f-]{36})(?:\.gz)?\.metadata\.json(?:\.gz)?")
_HINT, _SUFFIX = "version-hint.text", ".metadata.json"
_LONGEST_HINT = 1 << 10
_LIBRARIES = {DELTA: "deltalake", ICEBERG: "pyiceberg"}
_NAMES = {DELTA: "Delta", ICEBERG: "Iceberg"}


@dataclass(frozen=True, slots=True)
class LakeTable:
    """A table of a data lake."""

    folder: str
    kind: str
    metadata: str = ""
    """The newest file of metadata of an Iceberg table, in the folder."""

    def find(self) -> Iterator[Input | SourceError]:
        """The files that the table has now, sorted by the octets of their names; an error if that cannot be told."""
        try:
            answer = self._ask()
            reason = answer.get("refused")
        except ProcessError as error:
            reason = str(error)
        if reason is not None:
            every = name_of(self._below("**/*.parquet"))
            what = f"the {_NAMES[self.kind]} table is not read: {reason}"
            yield SourceError(name_of(self.folder), f"{what}; {every!r} names all files that it ever had")
            return
        of_table: dict[str, Any] = {
            "names": tuple(answer["names"]),
            "ids": {int(number): name for number, name in answer["ids"].items()},
            "paths": answer["paths"],
        }
        files = ((os.fsdecode(bytes.fromhex(each["path"])), each) for each in answer["files"])
        for path, file in sorted(files, key=lambda each: os.fsencode(each[0])):
            yield _found(self._as_named(path), file, of_table)

    def _ask(self) -> Mapping[str, Any]:
        """The answer of the process that reads the log. Raises ProcessError."""
        paths = {"folder": Path(self.folder), "metadata": Path(self._below(self.metadata))}
        asked = {"kind": self.kind, **{key: os.fsencode(path.absolute()).hex() for key, path in paths.items()}}
        with closing(_Log(_LIBRARIES[self.kind])) as process:
            process.ask(json.dumps(asked).encode())
            (length,) = LENGTH.unpack(process.take(LENGTH.size))
            answer: Mapping[str, Any] = json.loads(process.take(length))
            return answer

    def _below(self, path: str) -> str:
        """A path in the folder, as the folder was named."""
        return f"{self.folder.rstrip('/')}/{path}"

    def _as_named(self, path: str) -> str:
        """A path that the process gives, as the folder was named."""
        top = f"{Path(self.folder).absolute()}/"
        return self._below(path.removeprefix(top)) if path.startswith(top) else path


class _Log(Script):
    part = "the log of a table"

    def __init__(self, name: str) -> None:
        """Raises ProcessError if it cannot be started."""
        self.name = name
        super().__init__(lake_script.__file__)


def _found(path: str, file: Mapping[str, Any], of_table: Mapping[str, Any]) -> Input | SourceError:
    """A file of a table as an input, or why it is none."""
    if "refused" in file:
        return SourceError(name_of(path), file["refused"])
    try:
        size = Path(path).stat().st_size
    except ValueError:
        return SourceError(name_of(path), "no file can have such a name")
    except OSError as error:
        return SourceError(name_of(path), f"the table has this file, but it cannot be read: {error.strerror}")
    table = TableFile(columns=file["columns"], deleted=base64.b64decode(file.get("deleted", "")), **of_table)
    return Input(name_of(path), path, size, table=table)


def lake_table(folder: str, names: Collection[bytes]) -> LakeTable | None:
    """The table that a folder with these entries is; None if it is none."""
    if DELTA_LOG.encode() in names and any(map(_DELTA_COMMIT.fullmatch, _entries(folder, DELTA_LOG))):
        return LakeTable(folder, DELTA)
    if _ICEBERG_LOG.encode() in names and (metadata := _newest(folder)) is not None:
        return LakeTable(folder, ICEBERG, metadata)
    return None


def missing_library(table: LakeTable) -> LakeNote | None:
    """The note about a table whose log cannot be read here; None if it can."""
    if _is_installed(_LIBRARIES[table.kind]):
        return None
    reason = f"a table of {_NAMES[table.kind]} is scanned file by file, with the rows that were removed from it"
    return LakeNote(name_of(table.folder), f"{reason}: {LakeNote.together[1]}")


@functools.cache
def _is_installed(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


def _entries(folder: str, below: str) -> list[str]:
    """Names in a folder below another; none if there is no such folder."""
    try:
        return os.listdir(Path(folder, below))  # noqa: PTH208 (there may be millions)
    except OSError:
        return []


def _newest(folder: str) -> str | None:
    """The newest metadata of an Iceberg table: the file that the hint names, or else that with the highest number."""
    numbers = {}
    for name in _entries(folder, _ICEBERG_LOG):
        if match := _ICEBERG_METADATA.fullmatch(name):
            numbers[name] = int(match[1] or match[2])
    if not numbers:
        return None
    named = _hint(Path(folder, _ICEBERG_LOG, _HINT)).removesuffix(_SUFFIX) + _SUFFIX
    return f"{_ICEBERG_LOG}/{named if named in numbers else max(numbers, key=lambda name: (numbers[name], name))}"


def _hint(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(_LONGEST_HINT).strip()
    except (OSError, ValueError):
        return ""
