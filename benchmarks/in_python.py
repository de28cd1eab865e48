"""Alternatives to urnscan in Python or with a data frame: find URNs, fold the case, count classes.

    python in_python.py {regex,re2,duckdb,polars,kernel} FILE|FOLDER

Prints the numbers of matches and classes. `kernel` is urnscan's scanner alone on one thread: it prints the matches, "-",
and the seconds it measured itself.
"""

from __future__ import annotations

import mmap
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

PATTERN = r"\burn:[a-z0-9][a-z0-9-]{0,31}:(?:[a-z0-9()+,\-.:=@;$_!*'/?#]|%[0-9a-f]{2})+"

_HEAD = "^[^:]*:[^:]*:"  # the scheme and the NID, which are case-insensitive


def files(path: Path) -> list[Path]:
    """The file itself, or all files of the folder that are not empty."""
    return (
        sorted(file for file in path.rglob("*") if file.is_file() and file.stat().st_size) if path.is_dir() else [path]
    )


def count(path: Path, matches_of: Callable[[mmap.mmap], Iterable[Any]]) -> tuple[int, int]:
    """Count classes in a dict, on one thread."""
    percent = re.compile(rb"%..")
    classes: dict[bytes, int] = {}

    def add(text: mmap.mmap) -> None:
        for match in matches_of(text):
            scheme, nid, nss = match[0].split(b":", 2)
            urn = b"%b:%b:%b" % (scheme.lower(), nid.lower(), percent.sub(lambda digits: digits[0].upper(), nss))
            classes[urn] = classes.get(urn, 0) + 1

    for name in files(path):
        with name.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            add(text)
    return sum(classes.values()), len(classes)


def with_regex(path: Path) -> tuple[int, int]:
    """Count with the regex module and a dict."""
    import regex

    return count(path, regex.compile(PATTERN.encode(), regex.IGNORECASE).finditer)


def with_re2(path: Path) -> tuple[int, int]:
    """Count with google-re2 and a dict."""
    import re2

    options = re2.Options()
    options.case_sensitive = False
    options.encoding = re2.Options.Encoding.LATIN1  # bytes
    return count(path, re2.compile(PATTERN.encode(), options).finditer)


def with_duckdb(path: Path) -> tuple[int, int]:
    """Count with DuckDB, on all cores; percent-encoding is not folded."""
    import duckdb

    query = f"""
        SELECT sum(n), count(*) FROM (
            SELECT count(*) AS n FROM (
                SELECT unnest(regexp_extract_all(line, ?)) AS urn
                FROM read_csv(?, columns={{'line': 'VARCHAR'}}, delim='\x01', quote='', escape='', header=false,
                              auto_detect=false, max_line_size=10000000)
            ) GROUP BY lower(regexp_extract(urn, '{_HEAD}')) || regexp_replace(urn, '{_HEAD}', '')
        )"""
    matches, classes = duckdb.execute(query, ["(?i)" + PATTERN, [str(file) for file in files(path)]]).fetchall()[0]
    return int(matches or 0), classes


def with_polars(path: Path) -> tuple[int, int]:
    """Count with Polars, streaming, on all cores; percent-encoding is not folded."""
    import polars as pl

    urn = pl.col("urn")
    counts = (
        pl.scan_lines(files(path))
        .select(urn=pl.col("line").str.extract_all("(?i)" + PATTERN))
        .explode("urn")
        .drop_nulls()
        .select(urn=urn.str.extract(f"({_HEAD})").str.to_lowercase() + urn.str.replace(_HEAD, ""))
        .group_by("urn")
        .len()
        .select(matches=pl.col("len").sum(), classes=pl.len())
        .collect(engine="streaming")
    )
    return counts.item(0, 0), counts.item(0, 1)


def with_kernel(path: Path) -> tuple[int, str, float]:
    """Count with the scanner of urnscan alone, on one thread, reading included; only the second run is measured."""
    from urnscan.scanner.blocks import Scanner
    from urnscan.scanner.grammar import Grammar
    from urnscan.urn.syntax import get_syntax

    scanner = Scanner(Grammar(get_syntax("rfc2141"), count_lines=False))

    def blocks(most: int) -> Iterator[int]:
        with path.open("rb", buffering=0) as file:
            read = lambda view: os.readv(file.fileno(), [view]) if file.tell() < most else 0  # noqa: E731
            for matches in scanner.scan(read):
                yield len(matches)

    for most in (1 << 26, sys.maxsize):
        began = time.perf_counter()
        found = sum(blocks(most))
        seconds = time.perf_counter() - began
    return found, "-", seconds


if __name__ == "__main__":
    print(*globals()[f"with_{sys.argv[1]}"](Path(sys.argv[2])))
