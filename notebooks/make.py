"""Run the notebooks and write the outputs into them: `python notebooks/make.py`, after a change.

Without pyspark and Java 17, cells that are tagged `spark` keep their outputs.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import nbformat
from ipykernel.kernelspec import write_kernel_spec

HERE = Path(__file__).parent
SAMPLES = HERE.parent / "data" / "samples"
KERNEL = "urnscan-notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
SPARK = "spark"
PARAMETERS = "parameters"
_WIDGET = "application/vnd.jupyter.widget-view+json"


def has_spark() -> bool:
    """Whether cells for Spark can run here."""
    has_java = bool(shutil.which("java") or os.environ.get("JAVA_HOME"))
    return has_java and importlib.util.find_spec("pyspark") is not None


def paths() -> list[Path]:
    """Paths of the notebooks, in their order."""
    return sorted(HERE.glob("*.ipynb"))


def read(path: Path) -> nbformat.NotebookNode:
    """Read a notebook. Raises ValidationError."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def written(notebook: nbformat.NotebookNode) -> str:
    """Text of the file of a notebook."""
    return f"{nbformat.writes(notebook, version=4)}\n"


def run(
    folder: Path,
    notebooks: Iterable[Path] | None = None,
    parameters: Mapping[str, object] | None = None,
) -> dict[str, nbformat.NotebookNode]:
    """Run copies of notebooks (None: of all) and of what they use in an empty folder, with this Python; returns them by name.

    `parameters` are values that replace those of the cell for parameters, as papermill replaces them. Raises
    RuntimeError with the output of nbmake if a cell fails.
    """
    copies = folder / "notebooks"
    copies.mkdir()
    shutil.copy(HERE / "helpers.py", copies)
    for path in paths() if notebooks is None else notebooks:
        notebook = read(path)
        for cell in notebook.cells:
            if PARAMETERS in cell.metadata.get("tags", ()):
                lines = [f"{name} = {value!r}" for name, value in (parameters or {}).items()]
                cell.source = "\n".join([cell.source, *lines])
        (copies / path.name).write_text(written(notebook), encoding="utf-8")
    shutil.copytree(HERE / "corpus", copies / "corpus")
    write_kernel_spec(folder / "kernels" / KERNEL)
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"
    } | {
        "IPYTHONDIR": str(folder / "ipython"),  # without the settings of the user
        "JUPYTER_PATH": str(folder),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PYTHONPATH": str(HERE.parent),
    }
    options = ["--nbmake", f"--nbmake-kernel={KERNEL}", "--overwrite", "--rootdir", str(copies)]
    command = [
        sys.executable,
        "-m",
        "pytest",
        *options,
        "-q",
        "-p",
        "no:cacheprovider",
        str(copies),
    ]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return {path.name: normalised(read(path)) for path in sorted(copies.glob("*.ipynb"))}


def normalised(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Copy a notebook without metadata that differ between runs or between editors."""
    notebook = nbformat.from_dict(notebook)
    notebook.metadata = nbformat.from_dict(METADATA)
    for number, cell in enumerate(
        (cell for cell in notebook.cells if cell.cell_type == "code"), 1
    ):
        cell.execution_count = number
        cell.outputs = _joined(cell.outputs)
        for output in cell.outputs:
            output.pop("execution_count", None)
            if output.output_type == "execute_result":
                output.execution_count = number
            if "metadata" in output:
                output.metadata = {}
            if output.output_type == "stream":
                output.text = _without_place(output.text.replace("\r\n", "\n"))
            output.get("data", {}).pop(
                _WIDGET, None
            )  # it has another number in each run, and shows nothing without a kernel
            for kind, text in output.get("data", {}).items():
                output.data[kind] = _without_place(text) if isinstance(text, str) else text
    for cell in notebook.cells:
        cell.metadata = {"tags": cell.metadata.tags} if cell.metadata.get("tags") else {}
    return notebook


def _without_place(text: str) -> str:
    """Name the samples as in this repository, wherever that lies."""
    return text.replace(f"{SAMPLES}", "data/samples")


def _joined(outputs: list[Any]) -> list[Any]:
    """Join neighbouring outputs of one stream: how a stream is cut depends on time."""
    joined: list[Any] = []
    for output in outputs:
        if output.output_type == "stream" and joined and joined[-1].get("name") == output.name:
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def is_spark(cell: nbformat.NotebookNode) -> bool:
    """Whether a cell needs Spark."""
    return SPARK in cell.metadata.get("tags", ())


_VARYING = (
    (re.compile(r"\b\d+\.\d s\b"), "N s"),
    (re.compile(r"seconds=[\d.e-]+"), "seconds=N"),
    (re.compile(r'"version": "[^"]*"'), "version"),
)


def shown(cell: nbformat.NotebookNode) -> list[str]:
    """Outputs of a cell in a form that is the same in each run and with each version of the libraries.

    Seconds, markup of tables, white space and pictures are left out.
    """
    return [_shown(output) for output in cell.get("outputs", ())]


def _shown(output: nbformat.NotebookNode) -> str:
    data = output.get("data", {})
    if "image/png" in data:
        return "a picture"
    text = output.get("text", "")
    if "text/html" in data:
        text = re.sub(r"<style.*?</style>|<[^>]*>", " ", data["text/html"], flags=re.DOTALL)
    elif "text/plain" in data:
        text = data["text/plain"]
    for varying, name in _VARYING:
        text = varying.sub(name, text)
    return " ".join([output.get("name") or output.output_type, *text.split()])


def main() -> None:
    """Run all notebooks and write them."""
    with tempfile.TemporaryDirectory() as folder:
        notebooks = run(Path(folder))
    for path in paths():
        notebook = notebooks[path.name]
        if not has_spark():
            for cell, before in zip(notebook.cells, read(path).cells, strict=True):
                if is_spark(cell):
                    cell.outputs = before.outputs
        path.write_text(written(notebook), encoding="utf-8")


if __name__ == "__main__":
    main()
