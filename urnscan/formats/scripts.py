"""Python as another process: for PDFs, whose library may crash, and for what takes more than one core."""

import os
import subprocess
import sys
from typing import Any


def start_python(*words: str, **options: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401 (those of Popen)
    """Start this Python as a new process, which finds the modules that this one finds. Raises OSError.

    No module is taken from next to the script or from the working folder, where it may have the name of another one.
    """
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen([sys.executable, "-P", *words], env={**os.environ, "PYTHONPATH": paths}, **options)  # noqa: S603
