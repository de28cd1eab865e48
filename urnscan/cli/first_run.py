"""The first run on a machine compiles all that later runs need, and says so."""

from __future__ import annotations

import argparse

from urnscan.cli.heavy import loading
from urnscan.cli.terminal import say
from urnscan.errors import FatalError


def prepare(arguments: argparse.Namespace) -> None:
    """Compile all functions that any run needs, if they are not compiled yet and the result can be kept.

    So no later run waits for the compiler. A line says so, unless the run is quiet. Call it after `loading`.
    """
    from urnscan.arrays import jit

    jit.tell_with(lambda line: None if arguments.quiet else say(line))
    if jit.IS_COMPILED and jit.kept_in() is not None and not jit.is_complete():
        from urnscan.library.compilation import warm_up

        warm_up()


def warm_up(arguments: argparse.Namespace) -> bool:
    """Compile as `prepare` does, and say what was done, unless the run is quiet. Raises FatalError if nothing is kept."""
    if arguments.inputs or arguments.files_from is not None:
        raise FatalError("--warm-up reads no inputs: leave them out")
    with loading():
        from urnscan.arrays import jit
        from urnscan.library import compilation
    jit.tell_with(lambda line: None if arguments.quiet else say(line))
    done = compilation.warm_up()
    if not arguments.quiet:
        say(done)
    return done.is_kept
