"""The files that a command writes: all appear at the end of the run, or none."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from urnscan.cli.signals import uninterrupted
from urnscan.errors import FatalError

__all__ = ["Outputs", "check_outputs", "open_outputs"]


@dataclass(frozen=True, slots=True)
class Outputs:
    """The outputs of a run, by the names of their arguments."""

    paths: list[str]
    files: dict[str, Any]

    def sink(self, name: str) -> Callable[[Any], None] | None:
        """The function that appends to an output; None if the output was not asked for."""
        return self.files[name].write if name in self.files else None

    def commit(self, metadata: Mapping[str, Any]) -> None:
        """Put all files in their places; Parquet files get the metadata. Raises FatalError."""
        given = {name: (metadata,) if hasattr(file, "schema") else () for name, file in self.files.items()}
        for name, file in self.files.items():  # whatever can fail comes before the first file appears
            file.complete(*given[name])
        with uninterrupted(self.paths):
            for name, file in self.files.items():
                file.commit(*given[name])


def open_outputs(
    arguments: argparse.Namespace, kinds: Mapping[str, Callable[..., Any]], stack: contextlib.ExitStack
) -> Outputs:
    """Open the outputs that the arguments ask for, until the stack is closed. Raises FatalError.

    `kinds` has for the name of each argument the function that opens the output: path and `force` -> context manager.
    """
    paths = {name: path for name in kinds if (path := getattr(arguments, name)) is not None}
    outputs = Outputs(list(paths.values()), {})
    with uninterrupted(outputs.paths):
        for name, path in paths.items():
            outputs.files[name] = stack.enter_context(kinds[name](path, force=arguments.force))
    return outputs


def check_outputs(*paths: str | None) -> list[str]:
    """The paths that are given. Raises FatalError if two are the same file, or one is empty."""
    from urnscan.sources import real_place  # noqa: PLC0415 (heavy: --help does without)

    outputs = [path for path in paths if path is not None]
    if "" in outputs:
        raise FatalError("an output has an empty name")
    places = [real_place(path) for path in outputs]
    for number, place in enumerate(places):
        if place in places[:number]:
            raise FatalError(f"{outputs[places.index(place)]}: named as two outputs")
    return outputs
