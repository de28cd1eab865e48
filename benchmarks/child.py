"""Run one pipe of commands and print its time and memory. A small process, started again for each run.

    python -IS child.py '{"stages": [["rg", ...], ["sort"]], "out": FILE, "err": FILE}'

A process inherits the peak memory of the process that started it. This one takes 10 MB, so no peak below that can be
measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def run(stages: list[list[str]], out: str, err: str) -> dict[str, Any]:
    """Run the stages; returns the seconds from first start to last exit, and status, CPU seconds and peak of each."""
    began = time.perf_counter()
    processes: list[subprocess.Popen[bytes]] = []
    with Path(out).open("wb") as output, Path(err).open("wb") as errors:
        for number, stage in enumerate(stages, 1):
            processes.append(
                subprocess.Popen(
                    stage,
                    stdin=processes[-1].stdout if processes else subprocess.DEVNULL,
                    stdout=output if number == len(stages) else subprocess.PIPE,
                    stderr=errors,
                )
            )
            if number > 1 and (pipe := processes[-2].stdout):
                pipe.close()  # so that the process before gets SIGPIPE when the next one ends
        ended = [os.wait4(process.pid, 0) for process in processes]
    seconds = time.perf_counter() - began
    unit = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss
    return {
        "seconds": seconds,
        "status": [os.waitstatus_to_exitcode(status) for _, status, _ in ended],
        "cpu": [usage.ru_utime + usage.ru_stime for _, _, usage in ended],
        "peak": [usage.ru_maxrss * unit for _, _, usage in ended],
    }


if __name__ == "__main__":
    print(json.dumps(run(**json.loads(sys.argv[1]))))
