"""The files that a command writes: none appears before all are complete, at the end of the run."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from urnscan.cli.arguments import read_record
from urnscan.cli.conflicts import STANDARD_OUTPUT
from urnscan.cli.signals import uninterrupted
from urnscan.cli.terminal import say
from urnscan.errors import FatalError

if TYPE_CHECKING:
    from urnscan.tables.layout import Layout


@dataclass(frozen=True, slots=True)
class OutputFiles:
    """The files that a command writes, by the names of their arguments."""

    paths: list[str]
    """Paths and URLs of the outputs, without standard output."""
    files: dict[str, Any]
    """Name of the argument -> the open writer of the output; standard output comes first."""

    def sink(self, name: str) -> Callable[[Any], None] | None:
        """The function that appends rows or bytes to the output of an argument; None for an output that was not asked
        for.
        """
        return self.files[name].write if name in self.files else None

    def folder(self, name: str) -> Path | None:
        """The temporary folder of an output, which is removed at the end of the run; None for an output that was not
        asked for.
        """
        return self.files[name].folder if name in self.files else None

    def commit(self, metadata: Mapping[str, Any]) -> None:
        """Complete all files, then move them to their paths, and print the remarks of their writers. `metadata` is
        written into tables. Raises FatalError if a file cannot be written: no file has then appeared, unless moving one
        fails. Call this once, after the last row.
        """
        # All steps that can fail come before the first file appears.
        for file in self.files.values():
            file.complete(metadata)
        with uninterrupted(self.paths):
            for file in self.files.values():
                file.commit(metadata)
        for file in self.files.values():
            for remark in getattr(file, "remarks", ()):
                say(remark)


def open_outputs(
    arguments: argparse.Namespace, kinds: Mapping[str, Callable[..., Any]], stack: contextlib.ExitStack
) -> OutputFiles:
    """Open the outputs that the arguments ask for, until the stack is closed: `commit` of the result makes them appear,
    and without it they are discarded. Raises FatalError if an output cannot be opened, or exists and `arguments.force`
    is false.

    `kinds` maps the name of an argument to the function that opens the output: (path, or stream for `-`; `force`) ->
    context manager with the writer. An argument that is None is not an output.
    """
    paths = {name: path for name in kinds if (path := getattr(arguments, name)) is not None}
    outputs = OutputFiles([path for path in paths.values() if path != STANDARD_OUTPUT], {})
    with uninterrupted(outputs.paths):
        for name, path in sorted(paths.items(), key=lambda item: item[1] != STANDARD_OUTPUT):
            place = sys.stdout.buffer if path == STANDARD_OUTPUT else path
            outputs.files[name] = stack.enter_context(kinds[name](place, force=arguments.force))
    return outputs


def read_layout(arguments: argparse.Namespace, tables: Iterable[str | None]) -> Layout:
    """The layout of tables, from the parsed options `--delimiter` and `--flat`. `tables` are the paths of the tables,
    None for those that were not asked for. Raises FatalError for `--delimiter` without a CSV table and for `--flat`
    without a table, ArgumentError for an invalid delimiter.
    """
    from urnscan.tables.layout import Layout
    from urnscan.tables.plain_output import form_of

    forms = [form_of(path)[0] for path in tables if path is not None]
    if arguments.delimiter is not None and ".csv" not in forms:
        raise FatalError("--delimiter is for CSV; name a table that ends in .csv, or leave it out")
    if arguments.flat and not forms:
        raise FatalError("--flat is for tables; name one, as in -o names.csv, or leave it out")
    return read_record(Layout, arguments)


def check_files(*paths: str | None) -> list[str]:
    """Return the given paths of outputs, in order, without None. Opens nothing. Raises FatalError if two are the same
    file, one is empty (""), or one is standard output (`-`), SourceError for an invalid URL.
    """
    from urnscan.tables.output_file import check_outputs

    if STANDARD_OUTPUT in paths:
        raise FatalError("-: only a scan writes to standard output; name a file (./- for one of this name)")
    return check_outputs(*paths)
