"""The first run on a machine compiles all that later runs need, and says so."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator

from urnscan.cli.lazy_imports import loading
from urnscan.cli.terminal import say, show_progress
from urnscan.display.progress import FUNCTIONS, Stage
from urnscan.errors import FatalError


def prepare(arguments: argparse.Namespace) -> None:
    """Compile all functions that any run needs, if they are not compiled yet and the result can be kept.

    So no later run waits for the compiler. A line says so, and a bar counts the functions, unless the run is quiet. Call
    it after `loading`.
    """
    from urnscan.compiled import jit, object_code

    jit.tell_with(lambda line: None if arguments.quiet else say(line))
    if jit.IS_COMPILED and jit.kept_in() is not None and not object_code.is_complete():
        from urnscan.library.compilation import warm_up

        with _counted(arguments):
            warm_up()


@contextlib.contextmanager
def _counted(arguments: argparse.Namespace) -> Iterator[None]:
    """Print a line before the first function is compiled in this context, and count the functions in a bar below it."""
    from urnscan.compiled import jit

    with contextlib.ExitStack() as stack:

        def tell(line: str) -> None:
            from urnscan.library.compilation import missing_functions

            if not arguments.quiet:
                say(line)
            progress = show_progress(arguments, "compiling", lambda: None, stack)
            progress.on_stage(Stage("compiling", missing_functions(), FUNCTIONS))
            jit.count_with(progress.on_progress)

        jit.tell_with(tell)
        stack.callback(jit.count_with, None)
        yield


def warm_up(arguments: argparse.Namespace) -> bool:
    """Compile as `prepare` does, and say what was done, unless the run is quiet. Raises FatalError if nothing is kept."""
    if arguments.inputs or arguments.files_from is not None:
        raise FatalError("--warm-up reads no inputs; leave them out")
    with loading():
        from urnscan.library import compilation
    with _counted(arguments):
        done = compilation.warm_up()
    if not arguments.quiet:
        say(done)
    return done.is_kept
