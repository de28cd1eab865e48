"""The beginning of a script in a process of its own: `python script_start.py SCRIPT BYTES`. It imports nothing of ours.

The process may take so many bytes of memory, and ends when the one that started it is gone, even if the script never
comes to its end.
"""

import contextlib
import os
import runpy
import sys
import threading
import time

_WATCH = 0.5  # seconds


def _end_with(parent: int) -> None:
    """End this process when the one that started it is gone."""
    while os.getppid() == parent:
        time.sleep(_WATCH)
    os._exit(1)


def main() -> None:
    """Set the limits, and run the script."""
    script, data = sys.argv[1:]
    # Where the system has such limits.
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 (not every system has it)

        resource.setrlimit(resource.RLIMIT_DATA, (int(data), int(data)))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    threading.Thread(target=_end_with, args=[os.getppid()], daemon=True).start()
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
