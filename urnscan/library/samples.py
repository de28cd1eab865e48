"""What comes with the package to try it on: the samples."""

from __future__ import annotations

from pathlib import Path

__all__ = ["samples"]


def samples() -> Path:
    """The folder of the samples: small invented inputs in real formats, each told of in its README.md.

    >>> import urnscan
    >>> folder = urnscan.samples()
    >>> len(list(folder.iterdir())), (folder / "references.bib").is_file()
    (23, True)
    >>> [found.text for found in urnscan.find((folder / "prose.txt").read_text(encoding="utf-8"), trim=True)][:2]
    ['urn:isbn:0-9999412-0-8', 'urn:nbn:de:bvb:99-lantern-26']

    For the command: `urnscan "$(python -c 'import urnscan; print(urnscan.samples())')"`.

    In a wheel they lie in the package, in a checkout beside it. Raises FileNotFoundError where they were left out.
    """
    package = Path(__file__).parents[1]
    for place in (package, package.parent):
        folder = place / "data" / "samples"
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"the samples are not in {package / 'data'}: this copy of urnscan came without them")
