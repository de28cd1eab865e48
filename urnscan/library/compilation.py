"""Compilation of all compiled functions, before the first run."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from urnscan.compiled import jit, object_code
from urnscan.display.text import counted
from urnscan.formats.scripts import start_python
from urnscan.library.deduplication import deduplicate
from urnscan.library.scans import scan
from urnscan.run.options import Options
from urnscan.scanner.views.kinds import KINDS
from urnscan.scanner.views.recovery import RecoveringScanner
from urnscan.urn.namespaces.judgement_columns import namespace_forms

_TEXTS = {
    "a.txt": b"see urn:isbn:0451450523, (URN:ISBN:0451450523) and https://r.example/urn:nbn:de:101-1?x\n",
    "b.txt": b"urn:isbn:0-395-36341-1 urn%3Aissn%3A0317-8471 urn:x urn:x-a:b%2C?+c urn:x-a:p%D0%B0%C2%AD\n",
}
_WARC = (
    b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:0>\r\nContent-Type: application/http\r\n"
    b"Content-Length: 39\r\n\r\nHTTP/1.1 200 OK\r\nServer: x\r\n\r\nurn:x:y 8\r\n\r\n"
)
_RECORD = (
    b"00088nam a2200061 i 4500001000200000020001800002245000600020\x1e1\x1e  \x1fa9783161484100\x1e  \x1faA\x1e\x1d"
)
_DUMPS = {
    "e.mrc": _RECORD,
    "f.xml": b"<record><leader></leader></record>",
}
_URN = b"urn:isbn:0451450523"
_FUNCTIONS = 44
"""Number of functions that `warm_up` compiles."""
_USE_HALF = "from urnscan.library.compilation import use_half; use_half()"


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Result of `warm_up`: how many functions it compiled, how long it took, and where the compiled code is saved.
    `str()` gives it as a line of text.
    """

    compiled: int
    """Number of functions that this call compiled; 0 if all were compiled already, or if NUMBA_DISABLE_JIT is set."""
    seconds: float
    """Duration of the call in seconds."""
    folder: Path | None
    """The folder in which compiled code is saved; None if no folder can be written to: then each process compiles."""

    @property
    def is_kept(self) -> bool:
        """False if compiled code cannot be saved, so that each process compiles again; otherwise True. Also True if
        NUMBA_DISABLE_JIT is set: then nothing is compiled.
        """
        return self.folder is not None or not jit.IS_COMPILED

    def __str__(self) -> str:
        """The result as a line of text."""
        if not jit.IS_COMPILED:
            return "nothing is compiled: NUMBA_DISABLE_JIT is set"
        if not self.compiled:
            done = "everything is already compiled"
        else:
            done = f"compiled {counted(self.compiled, 'function')} in {self.seconds:.1f} s"
        return f"{done}; {self._place()}"

    def _place(self) -> str:
        if self.folder is None:
            return jit.NOT_KEPT
        return f"compiled code is kept in {self.folder}"


def warm_up() -> WarmUp:
    """Compile all functions that a run of this version may need on this machine, and save the result on disk.

    Otherwise the first run compiles them, which takes about a minute. Call this function if the first run should not
    wait, for example when you build the image of a container. If all functions are compiled already, it takes little
    time. Returns how many functions it compiled, how long it took, and the folder with the result; the folder is None
    if none can be written to: then each process compiles. If NUMBA_DISABLE_JIT is set, nothing is compiled.

    >>> import urnscan
    >>> urnscan.warm_up().folder is None
    False
    """
    began, earlier = time.monotonic(), jit.count()
    if jit.IS_COMPILED:
        with jit.all_in_one():
            _use_all()
        object_code.mark_complete()
    return WarmUp(jit.count() - earlier, time.monotonic() - began, jit.kept_in())


def missing_functions() -> int:
    """Number of functions that `warm_up` compiles and whose code is not yet saved on disk, for this version and
    machine. Compiles nothing.
    """
    return max(_FUNCTIONS - object_code.count(), 0)


def _use_all() -> None:
    """Run small jobs that call the compiled functions, so that each is compiled and saved."""
    with tempfile.TemporaryDirectory() as folder, _second_process() as wait:
        for name, text in _TEXTS.items():
            (Path(folder) / name).write_bytes(text)
        with tarfile.open(Path(folder) / "c.tar", "w") as archive:
            archive.add(Path(folder) / "a.txt", "a.txt")
        (Path(folder) / "d.warc").write_bytes(_WARC)
        scan(folder, Path(folder) / "a.txt", rejects=True, progress=False)
        wait()
        scan(folder, syntax="rfc8141", equivalence="namespace", recover="all", not_nid="example", progress=False)
        for name, dump in _DUMPS.items():
            (Path(folder) / name).write_bytes(dump)
        deduplicate(*(Path(folder) / name for name in _DUMPS), progress=False)


@contextlib.contextmanager
def _second_process() -> Iterator[Callable[[], object]]:
    """Context in which a second process, if that is useful, calls `use_half`; yields a function that waits for its end."""
    process = None
    if Options().jobs > 1 and object_code.cache_folder() is not None and not object_code.count():
        with contextlib.suppress(OSError):
            process = start_python(
                "-c", _USE_HALF, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
    if process is None:
        yield lambda: None
        return
    with process:
        count = threading.Thread(target=_count, args=[process.stdout])
        count.start()
        try:
            yield count.join
        finally:
            process.kill()
            count.join()


def _count(lines: Iterable[bytes]) -> None:
    """`lines`: the output of the second process, a line for each function that it compiles."""
    for _ in lines:
        jit.count_one()


def use_half() -> None:
    """Compile about half of the code, and write an empty line to standard output for each compiled function. `warm_up`
    starts a second process that calls this function, and counts the lines.
    """
    jit.count_with(lambda _: os.write(1, b"\n"))
    offsets = np.array([0, len(_URN)], np.int32)
    namespace_forms(np.frombuffer(_URN, np.uint8), offsets)
    RecoveringScanner(Options().grammar(count_lines=False), KINDS).prepare()
