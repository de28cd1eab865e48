"""Python in another process: for PDFs, whose library may crash, and for work on several cores."""

import os
import subprocess
import sys
from typing import Any


def start_python(*words: str, **options: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401 (those of Popen)
    """Start a new process of this Python, and return it without waiting. Raises OSError if it cannot start.

    `words`: arguments of Python, such as the path of a script; `options`: options of `subprocess.Popen`.

    The process finds the modules that this process finds, and not those in the folder of its script and in the working
    folder.
    """
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen([sys.executable, "-P", *words], env={**os.environ, "PYTHONPATH": paths}, **options)  # noqa: S603
