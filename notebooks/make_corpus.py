"""Write `corpus/`: the names in RFCs and in the registrations of namespaces, one file for each of these documents.

    python notebooks/make_corpus.py RFCS REGISTRATIONS

RFCS is a folder with texts of RFCs (`rfc3553.txt`) from https://www.rfc-editor.org/rfc/; those before RFC 5000 were read.
REGISTRATIONS is a folder with registrations of URN namespaces (`isbn`) from
https://www.iana.org/assignments/urn-namespaces/.

A file holds a line for each name, in the order of the document: the name as it is spelled there, with the one character
before it and the one after it. Nothing else of a document is copied. Names that are broken over lines are joined.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import urnscan

CORPUS = Path(__file__).parent / "corpus"


def lines(path: Path) -> list[str]:
    """A line for each name in a document."""
    data = path.read_bytes()
    found = urnscan.scan(path, recover="wraps", progress=False).occurrences.to_pylist()
    return [_line(data, row) for row in found]


def _line(data: bytes, row: dict[str, object]) -> str:
    """A name with its neighbours, as far as they are printed."""
    end = row["start"] + row["length"]
    before, after = data[max(row["start"] - 1, 0) : row["start"]], data[end : end + 1]
    return f"{_printed(before)}{row['text']}{_printed(after)}".strip()


def _printed(byte: bytes) -> str:
    character = byte.decode("ascii", "replace")
    return character if character.isascii() and character.isprintable() else " "


def main(rfcs: str, registrations: str) -> None:
    """Write the files of all documents that have a name."""
    shutil.rmtree(CORPUS, ignore_errors=True)
    CORPUS.mkdir()
    documents = [(path.stem, path) for path in Path(rfcs).glob("rfc*.txt")]
    documents += [(f"registration-{path.stem}", path) for path in Path(registrations).iterdir()]
    for name, path in documents:
        if names := lines(path):
            (CORPUS / f"{name}.txt").write_text("".join(f"{each}\n" for each in names), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
