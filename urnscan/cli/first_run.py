"""The first run on a machine: compile all functions that later runs need, and report that."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator

from urnscan.cli.lazy_imports import loading
from urnscan.cli.terminal import say, show_progress
from urnscan.display.progress import FUNCTIONS, Stage
from urnscan.errors import FatalError


def prepare(arguments: argparse.Namespace) -> None:
    """Compile all functions that any run needs, if they are not compiled yet and the result can be saved. Unless the
    run is quiet, a line on standard error reports the compilation.

    If the result cannot be saved, nothing is compiled here, and the line comes later, with the first function that is
    compiled. Call this after the context `lazy_imports.loading`, which loads pyarrow.
    """
    from urnscan.compiled import jit, object_code

    jit.tell_with(lambda line: None if arguments.quiet else say(line))
    if jit.IS_COMPILED and jit.kept_in() is not None and not object_code.is_complete():
        from urnscan.library.compilation import warm_up

        with _counted(arguments):
            warm_up()


@contextlib.contextmanager
def _counted(arguments: argparse.Namespace) -> Iterator[None]:
    """Context in which compilations show a message and a bar, unless the run is quiet."""
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
    """Run `urnscan --warm-up`: compile all functions that any run needs and that are not compiled yet, and print on
    standard error how many and where they are saved, unless the run is quiet.

    Returns whether later runs can load the compiled code. Raises FatalError if inputs are named.
    """
    if arguments.inputs or arguments.files_from is not None:
        raise FatalError("--warm-up reads no inputs; leave them out")
    with loading():
        from urnscan.library import compilation
    with _counted(arguments):
        done = compilation.warm_up()
    if not arguments.quiet:
        say(done)
    return done.is_kept
