"""Measure how fast each form is read: the same text compressed, packed and in a table, beside the fastest tools.

    python benchmarks/forms.py FOLDER [--text SIZE] [--runs N] [--save NAME]

Of web archives there are four: one record for each page, in gzip and in Zstandard; requests and metadata beside the answers
(`all`); text alone (`wet`). Of tar and zip there are some with few large members, and with many of 8 KB (`small`).

Timed as in bench.py: whole processes in turn, start-up included, on a warm page cache; the median counts.

What is fair and what is not:
* urnscan does its whole job: canonical forms, classes, Parquet. The others print matches (ripgrep, ugrep), count them
  (fastwarc with `regex`, DuckDB), or only decompress (isal and zstandard from Python, which are what urnscan uses).
* `zcat | rg` runs on two cores. urnscan runs on one: it reads several files at once, but not parts of a compressed file.
* bzip2 and xz are slow to decompress, so they get a tenth of the text.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from corpora import DENSITIES, generate, new, warm
from in_python import PATTERN
from measurement import Contender, Count, count_lines, count_nothing, count_numbers, measure
from peers import PRINTERS, urnscan
from results import heading, parser, rows_of, size, table, tell

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

COMPRESSIONS = {  # commands that compress and that print
    "gz": ("gzip -6 -c", "zcat"),
    "bz2": ("bzip2 -c", "bzcat"),
    "xz": ("xz -1 -c", "xzcat"),
    "zst": ("zstd -q -3 -c", "zstdcat"),
    "lz4": ("lz4 -q -c", "lz4 -dc"),
}

SCRIPTS = {  # what writes the text in a form, with its arguments behind those of the text and of the file
    "warc.gz": (WARC_SCRIPT, "response", "gz"),
    "warc.zst": (WARC_SCRIPT, "response", "zst"),
    "all.warc.gz": (WARC_SCRIPT, "all", "gz"),
    "wet.warc.gz": (WARC_SCRIPT, "conversion", "gz"),
    "small.tar": (MEMBERS_SCRIPT,),
    "small.zip": (MEMBERS_SCRIPT,),
    "parquet": (PARQUET_SCRIPT,),
    "jsonl": (JSON_SCRIPT,),
}


def make(folder: Path, octets: int) -> dict[str, Path]:
    """Make the text in every form, unless it is there; returns the files by suffix."""
    text, short = folder / f"text-{octets}", folder / f"text-{octets // 10}"
    generate(text, octets, DENSITIES["sparse"])
    generate(short, octets // 10, DENSITIES["sparse"])
    forms = {"text": text}
    for suffix, (command, _) in COMPRESSIONS.items():
        source = short if suffix in ("bz2", "xz") else text
        forms[suffix] = _make(source.with_name(f"{source.name}.{suffix}"), f"{command} {source}")
    names = " ".join(f"part-{number:03}" for number in range(100))
    parts = f"cd $(mktemp -d) && split -n l/100 -d -a 3 {text} part- && {{}}; rm -r $PWD"
    forms["tar.gz"] = _make(folder / f"{text.name}.tar.gz", parts.format(f"tar c {names} | gzip -6"))
    forms["zip"] = _make(folder / f"{text.name}.zip", parts.format(f"python3 -m zipfile -c x.zip {names} && cat x.zip"))
    for suffix, (script, *words) in SCRIPTS.items():
        forms[suffix] = path = folder / f"{text.name}.{suffix}"
        if not path.exists():
            with new(path) as unfinished:
                subprocess.run([sys.executable, "-c", script, text, unfinished, *words], check=True)
    return forms


def _make(path: Path, command: str) -> Path:
    if not path.exists():
        with new(path) as unfinished:
            subprocess.run(["bash", "-c", f"( {command} ) > {unfinished}"], check=True)
    return path


def contenders(suffix: str, path: Path, work: Path) -> list[Contender]:
    """Contenders for a form; ratios refer to the first."""
    job = ("-o", work / "urns.parquet")
    column = ("--column", "text") if suffix == "jsonl" else ()
    found = [urnscan("urnscan, whole job", path, *job, *column)]

    def script(name: str, text: str, count: Count = count_numbers) -> Contender:
        file = work / f"{len(found)}.py"
        file.write_text(f"PATTERN = {PATTERN!r}\n{text}")
        return Contender(name, [[sys.executable, file, path]], count)

    printed = {"tar.gz": "tar xzOf", "zip": "unzip -p", "small.tar": "tar xOf", "small.zip": "unzip -p"}
    printed |= {name: cat for name, (_, cat) in COMPRESSIONS.items()}
    if suffix in printed:
        pipe: list[Sequence[object]] = [[*printed[suffix].split(), path], [*PRINTERS["rg"], PATTERN]]
        found.append(Contender(f"{printed[suffix]} | rg", pipe, count_lines))
    if suffix in COMPRESSIONS:
        found.append(Contender("rg -z", [[*PRINTERS["rg"], "-z", PATTERN, path]], count_lines))
    if suffix not in ("parquet", "jsonl") and shutil.which("ugrep"):
        found.append(Contender("ugrep -z", [["ugrep", "-z", "-oaih", PATTERN, path]], count_lines))
    match suffix:
        case "gz":
            found.append(script("isal alone, no search", ISAL_SCRIPT, count_nothing))
            second = path.with_name(f"second-{path.name}")
            if not second.exists():
                shutil.copyfile(path, second)
            found.append(urnscan("urnscan, two such files", path, second, *job))
        case "warc.gz" | "warc.zst" | "all.warc.gz" | "wet.warc.gz":
            found.append(script("fastwarc + regex", FASTWARC_SCRIPT))
        case "parquet" | "jsonl":
            found.append(script("DuckDB regexp_extract_all", DUCKDB_SCRIPT))
    return found


def rows(suffix: str, path: Path, octets: int, runs: int) -> list[list[str]]:
    """Measure one form; returns its rows of the result."""
    warm(path)
    with tempfile.TemporaryDirectory(dir=path.parent) as work:
        results = measure(contenders(suffix, path, Path(work)), runs)
    return [[suffix, *row] for row in rows_of(results, lambda median: f"{octets / median / 1e6:,.0f}")]


def main() -> None:
    """Make, measure, print, save."""
    options = parser(__doc__, 3, "benchmarks/runs/NAME.md")
    options.add_argument("--text", type=size, default=2 * 10**9)
    arguments = options.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    found = []
    for suffix, path in make(arguments.folder, arguments.text).items():
        octets = arguments.text // 10 if suffix in ("bz2", "xz") else arguments.text
        found += rows(suffix, path, octets, arguments.runs)
    head = ["form", "", "median s", "min..max s", "CPU s", "MB/s of text", "urnscan takes of it", "matches", "peak MB"]
    about = f"{arguments.text:,} octets of text, {DENSITIES['sparse']} URNs per MiB; a tenth of it in bzip2 and xz."
    tell([*heading("Forms"), about, "", *table(head, found, left=2)], arguments.save)


if __name__ == "__main__":
    main()
