"""Run a command, and print the CPU seconds of all its processes by their kind. A process of its own, started again for each run.

    python -IS processes.py OUT ERR COMMAND...

`/proc` is read ten times a second; what a process took between its last reading and its end is `unseen`. Processes that lose their
parent come to this one, so that none is missed. Linux only.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

KINDS = {
    "CoarseGrainedExecutorBackend": "JVM of executors",
    "java": "JVM of the driver",
    "pyspark.daemon": "Python of executors",
    "pyspark/daemon": "Python of executors",
}
"""Part of a command line -> kind of process; the first that fits. All others are `Python of the driver`."""

_SET_CHILD_SUBREAPER = 36  # of prctl
_TICKS = os.sysconf("SC_CLK_TCK")


def _kind(process: Path) -> str:
    """Kind of a process; empty for one that has ended, and is not yet waited for."""
    command = process.joinpath("cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    if not command:
        return ""
    return next((kind for part, kind in KINDS.items() if part in command), "Python of the driver")


def children() -> dict[Path, list[str]]:
    """Folder in `/proc` of each process below this one, and the text of its `stat` after the name."""
    stats = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            stats[process.name] = (process / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
    return {Path("/proc", name): stat for name, stat in stats.items() if _descends(name, stats)}


def _descends(name: str, stats: dict[str, list[str]]) -> bool:
    me = str(os.getpid())
    while (name := stats[name][1] if name in stats else "") not in ("", "0", "1"):
        if name == me:
            return True
    return False


class Watch:
    """CPU seconds and peaks of the descendants of this process, as they were last seen."""

    def __init__(self) -> None:
        self.taken: dict[tuple[str, str], tuple[str, float]] = {}
        """Process and its time of start -> its kind, and the CPU seconds of itself alone."""
        self.peaks: dict[str, int] = {}

    def look(self) -> None:
        """Read `/proc` once."""
        for process, stat in children().items():
            try:
                kind = _kind(process)
                resident = int((process / "statm").read_text().split()[1]) * resource.getpagesize()
            except OSError:
                continue
            before, _ = self.taken.get((process.name, stat[19]), ("", 0.0))
            kind = kind or before
            self.taken[process.name, stat[19]] = kind, (int(stat[11]) + int(stat[12])) / _TICKS
            self.peaks[kind] = max(self.peaks.get(kind, 0), resident)

    def seconds(self) -> dict[str, float]:
        """CPU seconds by kind."""
        found: dict[str, float] = {}
        for kind, seconds in self.taken.values():
            found[kind] = found.get(kind, 0.0) + seconds
        return found


def run(out: str, err: str, command: list[str]) -> dict[str, object]:
    """Run the command; gives its status, seconds, CPU seconds by kind, and the peak of a process of each kind."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    watch, ended = Watch(), threading.Event()

    def look() -> None:
        while not ended.wait(0.1):
            watch.look()

    began = time.perf_counter()
    with Path(out).open("wb") as output, Path(err).open("wb") as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        threading.Thread(target=look, daemon=True).start()
        status = process.wait()
    seconds = time.perf_counter() - began
    while True:  # what it left
        try:
            os.wait()
        except ChildProcessError:
            break
    ended.set()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = watch.seconds()
    taken["unseen"] = max(0.0, usage.ru_utime + usage.ru_stime - sum(taken.values()))
    return {"status": status, "seconds": seconds, "cpu": taken, "peak": watch.peaks}


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], sys.argv[2], sys.argv[3:])))
