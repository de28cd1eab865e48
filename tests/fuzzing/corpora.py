"""The corpora: an archive for each target, or for several that share one, so that a checkout has few files."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

__all__ = ["CORPORA", "add", "inputs", "unpack"]

CORPORA = Path(__file__).parent / "corpus"


def inputs(path: Path) -> Mapping[str, bytes]:
    """The inputs in an archive by their names, in the order of these."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in sorted(archive.namelist())}


def add(path: Path, data: Iterable[bytes]) -> None:
    """Put inputs into an archive, named by their checksums; one that is in it already is not added.

    The same inputs make the same archive: names are sorted, dates are none, and nothing is compressed.
    """
    inside = dict(inputs(path)) if path.exists() else {}
    names = {content: name for name, content in inside.items()}
    for content in data:
        name = names.setdefault(content, hashlib.sha1(content).hexdigest()[:12])
        inside[name] = content
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in sorted(inside.items()):
            archive.writestr(zipfile.ZipInfo(name), content)


def unpack(path: Path, folder: Path) -> None:
    """Write each input of an archive to a file, as libFuzzer wants them."""
    for name, content in inputs(path).items():
        (folder / name).write_bytes(content)
