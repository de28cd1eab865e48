"""The files that a command writes: all appear at the end of the run, or none."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from urnscan.cli.conflicts import STANDARD_OUTPUT
from urnscan.cli.signals import uninterrupted
from urnscan.errors import FatalError


@dataclass(frozen=True, slots=True)
class OutputFiles:
    """The files that a command writes, by the names of their arguments."""

    paths: list[str]
    """Paths of the outputs that are files."""
    files: dict[str, Any]
    """Outputs, standard output first."""

    def sink(self, name: str) -> Callable[[Any], None] | None:
        """The function that appends to an output; None if the output was not asked for."""
        return self.files[name].write if name in self.files else None

    def folder(self, name: str) -> Path | None:
        """The folder next to an output in which it is written; None without the output."""
        return self.files[name].folder if name in self.files else None

    def commit(self, metadata: Mapping[str, Any]) -> None:
        """Put all files in their places; Parquet files get the metadata. Raises FatalError."""
        arguments = {name: (metadata,) if hasattr(file, "schema") else () for name, file in self.files.items()}
        for name, file in self.files.items():  # all steps that can fail come before the first file appears
            file.complete(*arguments[name])
        with uninterrupted(self.paths):
            for name, file in self.files.items():
                file.commit(*arguments[name])


def open_outputs(
    arguments: argparse.Namespace, kinds: Mapping[str, Callable[..., Any]], stack: contextlib.ExitStack
) -> OutputFiles:
    """Open the outputs that the arguments ask for, until the stack is closed. Raises FatalError.

    `kinds` has for the name of each argument the function that opens the output: path or stream, and `force` -> context
    manager.
    """
    paths = {name: path for name in kinds if (path := getattr(arguments, name)) is not None}
    outputs = OutputFiles([path for path in paths.values() if path != STANDARD_OUTPUT], {})
    with uninterrupted(outputs.paths):
        for name, path in sorted(paths.items(), key=lambda item: item[1] != STANDARD_OUTPUT):
            place = sys.stdout.buffer if path == STANDARD_OUTPUT else path
            outputs.files[name] = stack.enter_context(kinds[name](place, force=arguments.force))
    return outputs


def check_files(*paths: str | None) -> list[str]:
    """The paths in the arguments. Raises FatalError like check_outputs, and if one is standard output."""
    from urnscan.tables.output_file import check_outputs

    if STANDARD_OUTPUT in paths:
        raise FatalError("-: standard output takes only what a scan finds: name a file (./- for one of this name)")
    return check_outputs(*paths)
