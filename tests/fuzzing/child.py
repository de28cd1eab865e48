"""The process in which libFuzzer runs one target: `python -m tests.fuzzing.child TARGET ARGUMENTS…` (those of libFuzzer).

The package is instrumented as it is imported, so that the fuzzer sees which inputs lead somewhere new; but for the modules
that Numba compiles, unless it is told not to (`NUMBA_DISABLE_JIT=1`).
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

__all__ = ["main"]

_COMPILED = re.compile(r"^@(?:compiled|lean|inlined)$", re.MULTILINE)


def main() -> None:
    """Run until libFuzzer ends the process."""
    import atheris  # not where pytest looks for doctests

    name, *arguments = sys.argv[1:]
    is_python = os.environ.get("NUMBA_DISABLE_JIT") == "1"
    with atheris.instrument_imports(include=["urnscan"], exclude=[] if is_python else _compiled_modules()):
        from tests.fuzzing.corpora import inputs
        from tests.fuzzing.targets import TARGETS
    target = TARGETS[name]
    for data in inputs(target.corpus).values():  # what is compiled at its first use would be taken for slow
        target.run(data)
    with tempfile.NamedTemporaryFile("w", suffix=".dict") as tokens:
        tokens.writelines(_quoted(token) for token in target.tokens if token)
        tokens.flush()
        command = f"{sys.executable} -m tests.fuzzing.child {name}"  # by which libFuzzer starts itself to merge corpora
        atheris.Setup([command, f"-dict={tokens.name}", f"-max_len={target.most}", *arguments], target.run)
        atheris.Fuzz()


def _quoted(token: bytes) -> str:
    """A line of a dictionary of libFuzzer."""
    return '"' + "".join(rf"\x{byte:02x}" for byte in token) + '"\n'


def _compiled_modules() -> list[str]:
    """The modules with functions that Numba compiles: it would compile what counts the coverage, too."""
    (folder,) = map(Path, find_spec("urnscan").submodule_search_locations)
    paths = [path for path in folder.rglob("*.py") if _COMPILED.search(path.read_text("utf-8"))]
    names = [".".join(("urnscan", *path.relative_to(folder).with_suffix("").parts)) for path in paths]
    return ["urnscan.compiled.jit", *names]


if __name__ == "__main__":
    main()
