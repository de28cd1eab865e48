"""Start of a script in a separate process: `python script_start.py SCRIPT BYTES`. Imports nothing of urnscan.

The process is limited to BYTES of memory, and ends when the process that started it ends, even in an endless script.
"""

import contextlib
import os
import runpy
import sys
import threading
import time

_WATCH = 0.5  # seconds


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_WATCH)
    os._exit(1)


def main() -> None:
    """Run a script in this process. `sys.argv` has its path and its maximum bytes of memory (not on every system)."""
    script, data = sys.argv[1:]
    # If the system supports limits.
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 (not every system has it)

        resource.setrlimit(resource.RLIMIT_DATA, (int(data), int(data)))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    threading.Thread(target=_end_with, args=[os.getppid()], daemon=True).start()
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
