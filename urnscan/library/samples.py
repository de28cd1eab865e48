"""The sample texts of the package."""

from __future__ import annotations

from pathlib import Path


def samples() -> Path:
    """The folder of the sample texts: small invented inputs in real formats. The file README.md in the folder describes
    each.

    >>> import urnscan
    >>> folder = urnscan.samples()
    >>> len(list(folder.iterdir())), (folder / "references.bib").is_file()
    (23, True)
    >>> [match.text for match in urnscan.find((folder / "prose.txt").read_text(encoding="utf-8"), trim=True)][:2]
    ['urn:isbn:0-9999412-0-8', 'urn:nbn:de:bvb:99-lantern-26']

    For the command: `urnscan "$(python -c 'import urnscan; print(urnscan.samples())')"`.

    Raises FileNotFoundError if this copy of urnscan came without them.
    """
    package = Path(__file__).parents[1]
    for place in (package, package.parent):
        folder = place / "data" / "samples"
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"the samples are not in {package / 'data'}: this copy of urnscan came without them")
