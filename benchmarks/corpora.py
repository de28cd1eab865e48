"""Generated texts: always the same bytes for the same arguments, and kept between runs."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["DENSITIES", "Corpus", "describe", "generate", "generate_many", "new", "parse_size", "pieces", "warm"]

DENSITIES = {"dense": 13_600, "medium": 1_000, "sparse": 100}
"""URNs in a MiB of text. Dense text has one in 80 bytes, nearly all different: harder than any catalogue."""

WORDS = """the library holds a copy of each volume that was printed before the war and its catalogue names them all by
shelf mark author and year while readers ask for what they remember of a title or the colour of its binding so that
librarians learn to look things up in more than one way and keep records of every question they could not answer""".split()

_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9}


@dataclass(frozen=True)
class Corpus:
    """A file or a folder to scan."""

    kind: str
    """`dense`, `medium`, `sparse`, `many`, `small` or `texts`."""
    path: Path
    byte_count: int
    files: int = 1


def parse_size(text: str) -> int:
    """Read a size such as 1GB or 500MB. Raises ValueError."""
    number, unit = text[:-2], text[-2:].upper()
    if unit not in _UNITS:
        raise ValueError(f"{text}: a size is written 500MB or 1GB")
    return int(float(number) * _UNITS[unit])


def describe(byte_count: int) -> str:
    """Write a size, such as 4 GB or 250 MB."""
    unit, factor = next(
        ((unit, factor) for unit, factor in reversed(_UNITS.items()) if byte_count >= factor), ("KB", 1000)
    )
    return f"{byte_count / factor:.3g} {unit}"


def pieces(byte_count: int, urns_per_mebibyte: float) -> Iterator[tuple[str, int]]:
    """Generate at least `byte_count` of text, in pieces with the number of URNs in each."""
    chance = random.Random(f"{byte_count} {urns_per_mebibyte}")
    gap = (1 << 20) / urns_per_mebibyte
    prose = " ".join(chance.choice(WORDS) for _ in range(200_000)).replace(" a ", "\n")
    nids = ["isbn", "nbn:de", "uuid", "ietf:params:xml:ns", "oid", "issn", "nbn:fi", "xmpp"]
    written = 0
    while written < byte_count:
        parts = []
        for _ in range(10_000 if gap < 1000 else 100):
            number = chance.getrandbits(28 if chance.random() < 0.25 else 64)
            urn = f"urn:{chance.choice(nids)}:{number:x}"
            style = chance.random()
            if style < 0.15:
                urn = urn.upper()
            elif style < 0.2:
                urn += "%2c%C3%a9"
            length = max(2, int((gap - len(urn)) * chance.uniform(0.5, 1.5)))
            start = chance.randrange(max(1, len(prose) - length))
            parts.append(f"{prose[start : start + length]} <{urn}> ")
        text = "".join(parts)
        written += len(text)
        yield text, len(parts)


@contextlib.contextmanager
def new(path: Path) -> Iterator[Path]:
    """Give a temporary name for a file or folder, which gets its real name at the end."""
    unfinished = path.with_name(path.name + ".new")
    yield unfinished
    unfinished.rename(path)


def generate(path: Path, byte_count: int, urns_per_mebibyte: float) -> None:
    """Write a file of `pieces`, unless it is there."""
    if path.exists() and path.stat().st_size >= byte_count:
        return
    with new(path) as unfinished, unfinished.open("w", encoding="ascii") as file:
        file.writelines(text for text, _ in pieces(byte_count, urns_per_mebibyte))


def generate_many(folder: Path, files: int) -> None:
    """Write small files, unless they are there: 1,000 in a folder, about 1.3 KB each, half of them with a URN."""
    if folder.exists():
        return
    chance = random.Random(files)
    with new(folder) as unfinished:
        for number in range(files):
            part = unfinished / f"{number // 1000:05}"
            part.mkdir(parents=True, exist_ok=True)
            words = [chance.choice(WORDS) for _ in range(chance.randrange(50, 400))]
            if chance.random() < 0.5:
                words.append(f"<urn:nbn:de:{chance.getrandbits(40):x}>")
            (part / f"{number % 1000:03}.txt").write_text(" ".join(words))


def warm(path: Path, kind: str = "") -> Corpus:
    """Read a file or folder, so that it is in the page cache."""
    byte_count = files = 0
    for file in sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]:
        files += 1
        with file.open("rb") as text:
            while block := len(text.read(1 << 24)):
                byte_count += block
    return Corpus(kind, path, byte_count, files)
