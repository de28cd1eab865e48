"""Measure how fast each form is read: the same text compressed, packed and in a table, next to the fastest tools.

    python benchmarks/forms.py FOLDER [--only FORM,...] [--scale FACTOR] [--runs N] [--save NAME]

`FORMS` has the size of the text for each form; `--scale 0.01` is for trying. All forms take some six minutes on two quiet
cores, and making them takes six more and 5 GB. Timed as in bench.py: whole processes in turn, start-up included, on a warm
page cache; the median counts.

Of web archives there are five: one record for each page, in gzip, in Zstandard, and in four files (`warcs`); requests and
metadata next to the answers (`all`); text alone (`wet`). Of tar and zip there are some with few large members, and with
25,000 of 8 KB (`small`).

What is fair and what is not:
* urnscan does its whole job: canonical forms, classes, Parquet. The others print matches (ripgrep, ugrep), count them
  (fastwarc with `regex`, DuckDB), or only decompress (igzip; isal from Python, which is what urnscan uses).
* `zcat | rg` runs on two cores; `rg -z` starts the same two processes, so it is not measured. urnscan reads several files
  at once, each by one thread. So there are rows with `-j 1`, and CPU time is next to the time.
* bzip2 and xz are slow to decompress, so they get less text.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from corpora import DENSITIES, generate, new, warm
from in_python import PATTERN
from measurement import Contender, Count, count_lines, count_nothing, count_numbers, measure
from peers import PRINTERS, urnscan
from results import Measured, choice, heading, keep, parser, place, table
from targets import DUCKDB, FASTWARC, HEAD, JOB, ONE, TWO, rows

WARC_SCRIPT = r"""
import gzip, sys, uuid
import zstandard
source, warc, kinds, compression = sys.argv[1:]
compress = {"gz": gzip.compress, "zst": zstandard.ZstdCompressor(3).compress}[compression]
number = 0

def write(kind, media_type, body):
    global number
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{uuid.UUID(int=number)}>\r\n"
        f"WARC-Target-URI: https://example.org/{number}\r\nContent-Type: {media_type}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    out.write(compress(head.encode() + body + b"\r\n\r\n"))
    number += 1

HTTP = "application/http; msgtype="
with open(source, "rb") as text, open(warc, "wb") as out:
    while page := text.read(20_000 if kinds != "conversion" else 6_000) + text.readline():
        if kinds == "conversion":
            write("conversion", "text/plain", page)
            continue
        if kinds == "all":
            write("request", HTTP + "request", b"GET /%d HTTP/1.1\r\nHost: example.org\r\n\r\n" % number)
        answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%b" % (len(page), page)
        write("response", HTTP + "response", answer)
        if kinds == "all":
            write("metadata", "application/warc-fields", b"fetchTimeMs: 231\r\ncharset-detected: UTF-8\r\n")
"""

MEMBERS_SCRIPT = r"""
import io, sys, tarfile, zipfile
source, archive = sys.argv[1:]
is_zip = ".zip" in archive
with open(source, "rb") as text, zipfile.ZipFile(archive, "w", 8) if is_zip else tarfile.open(archive, "w") as out:
    number = 0
    while page := text.read(8_000) + text.readline():
        name = f"{number // 1000:04}/{number % 1000:03}.txt"
        if is_zip:
            out.writestr(name, page)
        else:
            header = tarfile.TarInfo(name)
            header.size = len(page)
            out.addfile(header, io.BytesIO(page))
        number += 1
"""

JSON_SCRIPT = r"""
import json, sys
source, lines = sys.argv[1:]
with open(source) as text, open(lines, "w") as out:
    number = 0
    while page := text.read(1_500) + text.readline():
        record = {"id": number, "url": f"https://example.org/{number}", "text": page, "meta": {"list": [1, 2], "lang": "en"}}
        out.write(json.dumps(record) + "\n")
        number += 1
"""

PARQUET_SCRIPT = r"""
import sys
import pyarrow as pa, pyarrow.parquet as pq
source, parquet = sys.argv[1:]
with open(source, "rb") as text:
    schema = pa.schema([("text", pa.string())])
    with pq.ParquetWriter(parquet, schema, compression="zstd", use_dictionary=False) as writer:
        while lines := text.readlines(1 << 24):
            writer.write_batch(pa.record_batch([pa.array([line.decode() for line in lines])], schema))
"""

ISAL_SCRIPT = r"""
import sys
from isal import igzip_lib
decompressor = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
with open(sys.argv[1], "rb") as file:
    while not decompressor.eof:
        decompressor.decompress(file.read(1 << 17) if decompressor.needs_input else b"", 1 << 18)
"""

FASTWARC_SCRIPT = r"""
import sys
import regex
from fastwarc import ArchiveIterator
pattern = regex.compile(PATTERN.encode(), regex.IGNORECASE)
found = 0
for record in ArchiveIterator(open(sys.argv[1], "rb")):
    found += sum(1 for _ in pattern.finditer(record.reader.read()))
print(found)
"""

DUCKDB_SCRIPT = r"""
import sys
import duckdb
source = "read_parquet(?)" if sys.argv[1].endswith(".parquet") else "read_ndjson(?, columns={text: 'VARCHAR'})"
query = f"SELECT sum(len(regexp_extract_all(text, ?))) FROM {source}"
print(duckdb.execute(query, ["(?i)" + PATTERN, sys.argv[1]]).fetchone()[0])
"""


class Form(NamedTuple):
    """A form of the text."""

    title: str
    byte_count: int
    """Bytes of the text."""
    printed: str = ""
    """Command that prints the text."""
    made: str = ""
    """Command that compresses the text, or packs the 100 files of a folder."""
    script: tuple[str, ...] = ()
    """Program that writes the text in this form, with its arguments after the paths of both."""


_PACKED = "cd $(mktemp -d) && split -n l/100 -d -a 3 {text} part- && %s; rm -r $PWD"

FORMS = {
    "text": Form("plain text", 10**9),
    "gz": Form("gzip", 2 * 10**9, "zcat", "gzip -6 -c {text}"),
    "bz2": Form("bzip2", 10**8, "bzcat", "bzip2 -c {text}"),
    "xz": Form("xz", 2 * 10**8, "xzcat", "xz -1 -c {text}"),
    "zst": Form("Zstandard", 10**9, "zstdcat", "zstd -q -3 -c {text}"),
    "lz4": Form("LZ4", 10**9, "lz4 -dc", "lz4 -q -c {text}"),
    "tar.gz": Form("tar in gzip, 100 members", 6 * 10**8, "tar xzOf", _PACKED % "tar c part-* | gzip -6"),
    "zip": Form("zip, 100 members", 6 * 10**8, "unzip -p", _PACKED % "python3 -m zipfile -c x.zip part-* && cat x.zip"),
    "small.tar": Form("tar, members of 8 KB", 2 * 10**8, "tar xOf", script=(MEMBERS_SCRIPT,)),
    "small.zip": Form("zip, members of 8 KB", 2 * 10**8, "unzip -p", script=(MEMBERS_SCRIPT,)),
    "warc.gz": Form("WARC, records of 20 KB", 6 * 10**8, script=(WARC_SCRIPT, "response", "gz")),
    "warc.zst": Form("WARC in Zstandard", 6 * 10**8, script=(WARC_SCRIPT, "response", "zst")),
    "all.warc.gz": Form("WARC, records of all kinds", 6 * 10**8, script=(WARC_SCRIPT, "all", "gz")),
    "wet.warc.gz": Form("WARC, text alone (WET)", 3 * 10**8, script=(WARC_SCRIPT, "conversion", "gz")),
    "warcs": Form("four WARC files", 6 * 10**8),
    "parquet": Form("Parquet, a string column", 10**9, script=(PARQUET_SCRIPT,)),
    "jsonl": Form("JSON Lines, a column", 10**9, script=(JSON_SCRIPT,)),
}


def make(folder: Path, suffix: str, byte_count: int) -> Path:
    """Make the text in a form, unless it is there; returns the path of the form."""
    text, form = folder / f"text-{byte_count}", FORMS[suffix]
    generate(text, byte_count, DENSITIES["sparse"])
    path = text.with_name(f"{text.name}.{suffix}")
    if suffix == "text":
        return text
    if suffix == "warcs":
        return make_warcs(text, path, 4)
    if not path.exists():
        with new(path) as unfinished:
            command = ["bash", "-c", f"( {form.made.format(text=text)} ) > {unfinished}"]
            if form.script:
                command = [sys.executable, "-c", form.script[0], str(text), str(unfinished), *form.script[1:]]
            subprocess.run(command, check=True)
    return path


def make_warcs(text: Path, folder: Path, files: int) -> Path:
    """Make a folder with a text in so many WARC files, unless it is there; returns the folder."""
    if not folder.exists():
        with new(folder) as unfinished, tempfile.TemporaryDirectory(dir=text.parent) as parts:
            unfinished.mkdir()
            subprocess.run(["split", "-d", "-n", f"l/{files}", text, f"{parts}/"], check=True)
            for part in sorted(Path(parts).iterdir()):
                warc = unfinished / f"{part.name}.warc.gz"
                subprocess.run([sys.executable, "-c", WARC_SCRIPT, part, warc, "response", "gz"], check=True)
    return folder


def contenders(suffix: str, path: Path, work: Path) -> list[Contender]:
    """Contenders for a form; ratios refer to the first."""
    job = ("-o", work / "urns.parquet", *(("--column", "text") if suffix == "jsonl" else ()))
    found = [urnscan(JOB, path, *job)]

    def script(name: str, text: str, count: Count = count_numbers) -> Contender:
        file = work / f"{len(found)}.py"
        file.write_text(f"PATTERN = {PATTERN!r}\n{text}")
        return Contender(name, [[sys.executable, file, path]], count)

    if suffix in ("gz", "warc.gz", "warcs"):
        found += [urnscan(ONE, path, *job, "-j", "1"), urnscan(TWO, path, *job, "-j", "2")]
    if (printed := FORMS[suffix].printed) and shutil.which("rg"):
        pipe: list[Sequence[object]] = [[*printed.split(), path], [*PRINTERS["rg"], PATTERN]]
        found.append(Contender(f"{printed} | rg", pipe, count_lines))
    if suffix not in ("parquet", "jsonl", "warcs") and shutil.which("ugrep"):
        found.append(Contender("ugrep -z", [["ugrep", "-z", "-oaih", PATTERN, path]], count_lines))
    if suffix == "gz":
        found.append(script("isal alone, no search", ISAL_SCRIPT, count_nothing))
        second = path.with_name(f"second-{path.name}")
        if not second.exists():
            shutil.copyfile(path, second)
        found.append(urnscan("urnscan, two such files", path, second, *job))
    if suffix == "warc.gz" and shutil.which("igzip"):
        found.append(Contender("igzip -dc", [["sh", "-c", 'igzip -dc "$0" > /dev/null', path]], count_nothing))
    if "warc." in suffix:
        found.append(script(FASTWARC, FASTWARC_SCRIPT))
    if suffix in ("parquet", "jsonl"):
        found.append(script(DUCKDB, DUCKDB_SCRIPT))
    return found


def run(suffix: str, path: Path, byte_count: int, runs: int) -> Measured:
    """Measure one form of a text of so many bytes."""
    corpus = replace(warm(path), kind=suffix, byte_count=byte_count)
    with tempfile.TemporaryDirectory(dir=path.parent) as work:
        results = measure(
            contenders(suffix, path, Path(work)), runs, lambda line: print(f"{suffix}, {line}", file=sys.stderr)
        )
    return Measured(corpus, results, about=FORMS[suffix].title)


def main() -> None:
    """Make, measure, print, save."""
    options = parser(__doc__, 3)
    options.add_argument("--only", type=choice([*FORMS]), default=[*FORMS], metavar="FORM,...")
    options.add_argument("--scale", type=float, default=1.0, metavar="FACTOR", help="of the sizes of the texts")
    arguments = options.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    sizes = {suffix: int(FORMS[suffix].byte_count * arguments.scale) for suffix in arguments.only}
    paths = {suffix: make(arguments.folder, suffix, byte_count) for suffix, byte_count in sizes.items()}
    measured = [run(suffix, path, sizes[suffix], arguments.runs) for suffix, path in paths.items()]
    data = [each.json() for each in measured]
    lines = [*heading("Forms"), *table(HEAD, [row for row in rows([data]) if row[2] != "-"], left=2)]
    lines += [
        f"Sizes are those of the text, which has {DENSITIES['sparse']} URNs per MiB. ≠ marks a count that differs.",
        "",
        *(line for each in measured for line in each.rows()),
    ]
    keep(place(arguments, "forms"), lines, {"measured": data})
    print("\n".join(lines))


if __name__ == "__main__":
    main()
