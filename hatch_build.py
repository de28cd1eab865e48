"""Hatchling's hook that puts object code into a wheel: `hatch build` runs it, and pip, uv and build do not.

`[tool.hatch.envs.hatch-build.env-vars]` in pyproject.toml is the reason: it sets HATCH_BUILD_HOOK_ENABLE_CUSTOM, which
enables the hook in any other program as well. docs/howto/first-run.md says what such a wheel is for.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import sys_tags

_MAKERS = "numba", "llvmlite", "numpy"
_VARIANTS = "from urnscan.compiled.object_code import variants; print(*variants())"


class ObjectCodeHook(BuildHookInterface):
    """Compiles all functions for each variant of this kind of processor."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and tell hatchling what the wheel contains and where it can be installed."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        for variant in self._run("-c", _VARIANTS).split():
            self._run("-m", "urnscan", "--warm-up", NUMBA_CPU_NAME=variant, NUMBA_CPU_FEATURES="")
        (code,) = Path(self._folder.name).iterdir()
        build_data["force_include"][str(code)] = "urnscan/object_code"
        build_data["pure_python"] = False
        # The code calls `statx` of the C library, which glibc has since 2.28.
        tags = [*sys_tags()]
        tag = next((tag for tag in tags if tag.platform.startswith("manylinux_2_28_")), tags[0])
        build_data["tag"] = str(tag)
        # The extra brings the versions for which the code is made; with others, the first run compiles.
        build_data["dependencies"] += [f"{name}=={version_of(name)}; extra == 'compiled'" for name in _MAKERS]

    def finalize(self, *_: object) -> None:
        """Remove the folder: the wheel is written."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()

    def _run(self, *words: str, **settings: str) -> str:
        """What Python prints in the project's folder."""
        environment = os.environ | {"NUMBA_CACHE_DIR": self._folder.name} | settings
        done = subprocess.run(  # noqa: S603 (our own words)
            [sys.executable, *words], cwd=self.root, env=environment, stdout=subprocess.PIPE, check=True, text=True
        )
        return done.stdout
