"""Record what an installed `urnscan` writes, and compare two recordings: a rebuilding of the code must change nothing.

    python benchmarks/compare.py record OLD --command old/bin/urnscan [--corpora DIR] [--also DIR] [--jobs N] [--only GLOB...]
    python benchmarks/compare.py record NEW --command new/bin/urnscan [the same options]
    python benchmarks/compare.py diff OLD NEW [--allow FILE]

Make both recordings with the same copy of this script: the inputs come from the tree in which it is.

* `samples`: data/samples, and names in many spellings; with every syntax, level, trim and view.
* `damaged`: samples and made-up inputs in every form (inputs.py): whole, cut off, with flipped bits, with wrong checksums,
  with garbage. `fuzzed`: finds of fuzzing (tests/fuzzing/corpus). The options of a run follow from its name.
* `corpora`: the archives (*.tar.xz) in `--corpora DIR`, packed and unpacked, with a selection of options.
* `dedup`: dumps among the samples, made-up ones, and the files in `--also DIR`.

A recording has a folder for each run: the command, its standard output, standard error and exit status, and each file that
it wrote, all as text. Of a Parquet file these are schema, metadata, sizes of row groups, and each row as a JSON object.
Compressed dumps are decompressed. Texts of more than 64 KiB are kept in gzip. `inputs/files.txt` has checksums of all
inputs, so recordings of other inputs are not equal.

Replaced, as they vary from run to run: the time in a summary (`TIME s`), the version of urnscan (`VERSION`), and
the folder in which the commands run (`WORK`). Left out: `ARROW:schema` and `created_by` of Parquet files.

`diff` prints the first lines that differ, counts outputs by kind, and ends with status 1 where a difference is left.
FILE names differences that are intended, one in a line: a glob of RUN/OUTPUT, blanks, the reason. For example:

    damaged/*.gz/checksum/*   what decodes counts, also in a member whose checksum is wrong
"""

from __future__ import annotations

import argparse
import bz2
import collections
import fnmatch
import gzip
import hashlib
import io
import itertools
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import lz4.frame
import pyarrow.parquet as pq
import zstandard
from inputs import NAMES, make_inputs

LARGE = 20_000_000  # bytes; a larger archive has fewer runs
PATIENCE = 300  # seconds for a run that should take one
SHOWN = 3  # lines that `diff` shows of each side

# --- runs ------------------------------------------------------------------------------------------------------------

OPTIONS = ("--syntax", "--equivalence", "--trim", "--recover", "--resolver-tail")
PAIRS = [*itertools.product(("rfc2141", "rfc8141", "rfc2141bis-03"), ("lexical", "namespace"))]
PAIRS.append(("rfc2141bis-03", "resolution"))
VIEWS = ["", "percent", "entities", "escapes", "wraps", "labels", "all"]
FULL = [(*pair, *rest) for pair, *rest in itertools.product(PAIRS, ("", "trim"), VIEWS, ("", "cut"))]
COVERING = [  # each pair with each trim, each trim with each view
    (*PAIRS[at % 7], "trim" * (at >= 7), VIEWS[(at + at // 7) % 7], "cut" * (at % 2)) for at in range(14)
]
TABLES = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".feather", ".arrow", ".arrows", ".sqlite")
ROWS = "-o {out}/classes.parquet --occurrences {out}/occurrences.parquet --rejects {out}/rejects.parquet"
KEPT = "-o {out}/clusters.parquet --deduplicated {out}/kept/"
SCANS = """
column: samples --column urn --column works.urn | encoding: samples --encoding utf-16-le | max-length: samples --max-length 24
folders: damaged --include made.xz/whole/* --include 0.made.bib --exclude cut | max-members: samples --max-members 1
glob: samples/*.xml ./samples/prose.txt samples/*.xml | files-from: --files-from lists/some.txt | none: samples/none.txt
max-depth: samples damaged/nested.zip/whole --max-depth 1 | max-size: damaged/made.gz --max-size 100KB | quiet: samples --quiet
one-thread: samples damaged/made.gz -j 1 | memory: damaged/long.gz damaged/made.txt --memory 1MB | resume: samples --resume
strict: damaged/made.xz/checksum/0.made.xz samples --strict | wrong-option: samples --syntax rfc9999 | follow: samples --follow
"""
DEDUPS = """
keep-last: --keep last | keep-longest: --keep longest | keep-most: --keep most-identifiers | max-class: --max-class 2
weak-none: --weak= | weak-some: --weak isbn,nbn:de --any-urn | quiet: --quiet | any-urn: --any-urn
levels: --equivalence lexical --recover all | otherwise: --syntax rfc8141 --trim --resolver-tail cut
"""


class Run(NamedTuple):
    """Commands that run one after the other and share a folder for outputs, `{out}`."""

    name: str
    commands: tuple[str, ...]
    stdin: Path | None = None


def words(choice: tuple[str, ...]) -> str:
    """A choice of what counts as a URN, as words of a command."""
    given = [(option, value) for option, value in zip(OPTIONS, choice, strict=True) if value]
    return " ".join(option if value == "trim" else f"{option} {value}" for option, value in given)


def label(choice: tuple[str, ...]) -> str:
    """A choice as part of the name of a run."""
    return "-".join(filter(None, choice))


def chosen(name: str) -> str:
    """Options for a run by its name alone, so that they stay when there are more runs."""
    return words(FULL[zlib.crc32(name.encode()) % len(FULL)])


def entries(table: str) -> list[list[str]]:
    """Names and words of a table of options."""
    return [re.split(r":\s+", each.strip(), maxsplit=1) for each in re.split(r"[|\n]", table.strip())]


def runs(work: Path) -> Iterator[Run]:
    """All runs on the inputs that were made."""
    for choice in (each for each in FULL if each[-1] == "" or each in COVERING):
        yield Run(f"samples/rows/{label(choice)}", (f"samples {ROWS} {words(choice)}",))
    for choice in COVERING:
        yield Run(f"samples/printed/{label(choice)}", (f"samples {words(choice)}",))
        yield Run(f"samples/json/{label(choice)}", (f"samples --json {words(choice)}",))
    for name, given in entries(SCANS):
        yield Run(f"samples/options/{name}", (f"{given} {ROWS}",))
    names = " ".join(map(shlex.quote, NAMES))
    for syntax, level in PAIRS:
        explain = f"explain --syntax {syntax} --equivalence {level} {names}"
        yield Run(f"explain/{syntax}-{level}", (explain, f"{explain} --json"))
    yield Run("help", ("--help", "dedup --help", "explain --help", "report --help", "--version", "dedup", "--wrong"))
    report = "report {out}/classes.parquet --occurrences {out}/occurrences.parquet -o {out}/page.html"
    yield Run("report", (f"samples {ROWS} --recover all", report, report, f"samples {ROWS}", f"{report} --force"))
    yield from damaged_runs(work)
    yield from corpora_runs(work)
    yield from dedup_runs(work)


def damaged_runs(work: Path) -> Iterator[Run]:
    """Damaged files: a folder at once, one file through a pipe, tables by column, dumps as dumps."""
    for kind in sorted((work / "damaged").glob("*/*")):
        path, form, files = kind.relative_to(work), kind.parent.name, sorted(kind.iterdir())
        yield Run(f"{path}/rows", (f"{path} {ROWS} {chosen(str(path))}",))
        if kind.name in ("cut", "flipped"):
            yield Run(f"{path}/piped", (f"- --json {chosen(str(path))}",), files[len(files) // 2])
            if Path(form).suffix in TABLES:
                yield Run(f"{path}/column", (f"{path} {ROWS} --column urn",))
        if (work / "dumps" / form).exists() and kind.name != "whole":
            named = " ".join(str(each.relative_to(work)) for each in files)
            yield Run(f"{path}/dedup", (f"dedup {named} {KEPT}{' --any-urn' * (kind.name == 'flipped')}",))
    for folder in sorted((work / "fuzzed").glob("*")):
        path, (kind, _, form) = folder.relative_to(work), folder.name.partition("-")
        yield Run(f"{path}/rows", (f"{path} {ROWS} {chosen(str(path))}",))
        if f".{form}" in TABLES:
            yield Run(f"{path}/column", (f"{path} {ROWS} --column urn --column a --recover all",))
        if kind == "records":
            yield Run(
                f"{path}/dedup", (f"dedup {path} {KEPT}", f"dedup {path} {KEPT} --force --any-urn --record {form}")
            )


def corpora_runs(work: Path) -> Iterator[Run]:
    """Archives of texts, packed and unpacked; few runs for large ones, unpacked ones and dumps."""
    for archive in sorted((work / "corpora").glob("*.tar.xz")):
        few = 4 if archive.stat().st_size > LARGE else 0
        for name, step in (
            (f"corpora/{archive.name}", 1 + few),
            (f"corpora/{archive.name.removesuffix('.tar.xz')}", 3 + few),
        ):
            for choice in COVERING[::step]:
                yield Run(f"{name}/rows/{label(choice)}", (f"{name} {ROWS} {words(choice)}",))
            yield Run(f"{name}/printed", (f"{name} --trim",))
            if not few:
                yield Run(f"{name}/dedup", (f"dedup {name} -o {{out}}/clusters.parquet",))


def dedup_runs(work: Path) -> Iterator[Run]:
    """Each dump alone, then all of them with each option."""
    for path in sorted((work / "dumps").glob("*")):
        dedup = f"dedup dumps/{path.name} {KEPT} --report {{out}}/page.html"
        yield Run(f"dedup/{path.name}/any-urn", (f"{dedup} --any-urn",))
        yield Run(f"dedup/{path.name}/all", (f"{dedup} {chosen(path.name)}",))
    for name, given in entries(DEDUPS):
        yield Run(f"dedup/options/{name}", (f"dedup dumps {KEPT} {given}",))
    some = "dumps/made.mrc dumps/record.mrc dumps/dump.mrc.gz"
    for suffix in (".mrc", *DECOMPRESS):
        yield Run(f"dedup/options/to{suffix}", (f"dedup {some} --deduplicated {{out}}/kept/all{suffix}",))
    yield Run("dedup/options/lines", (f"dedup samples/prose.txt {KEPT} --record line",))


# --- recording -------------------------------------------------------------------------------------------------------

VARYING = (
    (rb"(?m)(?<=, )\d+\.\d s(?=,|$| ->)", b"TIME s"),
    (rb'(urnscan |"version": ")\d+\.\d+[\w.+]*', rb"\1VERSION"),
)
DECOMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".zst": lambda data: zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read(),
    ".lz4": lambda data: lz4.frame.open(io.BytesIO(data)).read(),
}


def normalised(data: bytes, work: Path) -> bytes:
    """The bytes without what varies from run to run."""
    for pattern, instead in VARYING:
        data = re.sub(pattern, instead, data)
    return data.replace(os.fsencode(work), b"WORK")


def as_text(path: Path, work: Path) -> bytes:
    """An output in a form that can be compared line by line; one that cannot be read in its form begins with the reason."""
    data = path.read_bytes()
    try:
        text = parquet_text(path) if path.suffix == ".parquet" else DECOMPRESS.get(path.suffix, bytes)(data)
    except Exception as error:  # noqa: BLE001 (each library has its own errors)
        text = f"cannot be read: {error}\n".encode() + data
    return normalised(text, work) if path.suffix in (".html", ".parquet") else text


def parquet_text(path: Path) -> bytes:
    """Schema, metadata, sizes of row groups, and rows of a Parquet file."""
    with pq.ParquetFile(path) as file:
        metadata, schema, rows = file.metadata, file.schema_arrow, file.read().to_pylist()
    lines = [f"column {field.name}: {field.type}{'' if field.nullable else ' not null'}" for field in schema]
    said = json.loads((metadata.metadata or {}).get(b"urnscan", b"{}"))
    lines += [f"metadata {json.dumps({key: said[key]})}" for key in sorted(said)]
    lines.append(f"row groups {[metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)]}")
    lines += [json.dumps(row, sort_keys=True, ensure_ascii=False) for row in rows]
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")


def perform(run: Run, command: str, work: Path, folder: Path) -> str:
    """Run the commands, keep what they write, and give their exit statuses."""
    out = work / "out" / run.name
    (out / "kept").mkdir(parents=True)
    output, statuses = {"stdout": b"", "stderr": b""}, []
    how = {"cwd": work, "env": os.environ | {"LC_ALL": "C.UTF-8", "TZ": "UTC", "COLUMNS": "100"}, "timeout": PATIENCE}
    piped = run.stdin.read_bytes() if run.stdin else b""
    for line in run.commands:
        argv = [command, *shlex.split(line.replace("{out}", str(out.relative_to(work))))]
        try:
            done = subprocess.run(argv, input=piped, capture_output=True, check=False, **how)
        except subprocess.TimeoutExpired:
            statuses.append("timeout")
            continue
        statuses.append(str(done.returncode))
        output["stdout"] += normalised(done.stdout, work)
        output["stderr"] += normalised(done.stderr, work)
    output |= {"status": " ".join(statuses).encode(), "command": "\n".join(run.commands).encode()}
    output |= {str(path.relative_to(out)): as_text(path, work) for path in out.rglob("*") if path.is_file()}
    for name, text in output.items():
        is_long = len(text) > 1 << 16
        kept = folder / run.name / f"{name}.txt{'.gz' * is_long}"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(gzip.compress(text, 6, mtime=0) if is_long else text)
    shutil.rmtree(out)
    return " ".join(statuses) + " and a traceback" * (b"Traceback (most" in output["stderr"])


def record(arguments: argparse.Namespace) -> int:
    """Make a recording; print how many runs ended with which exit statuses."""
    folder, command, start = arguments.folder, str(Path(arguments.command).absolute()), time.perf_counter()
    if folder.exists() and any(folder.iterdir()):
        raise SystemExit(f"{folder}: exists and is not empty")
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary).resolve()
        make_inputs(work, arguments.corpora, arguments.also)
        inputs = sorted(path for path in work.rglob("*") if path.is_file())
        sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.relative_to(work)}\n" for path in inputs]
        (folder / "inputs").mkdir(parents=True)
        (folder / "inputs" / "files.txt").write_text("".join(sums), "utf-8", "surrogateescape")
        some = [run for run in runs(work) if any(fnmatch.fnmatchcase(run.name, glob) for glob in arguments.only)]
        with ThreadPoolExecutor(arguments.jobs) as pool:
            statuses = list(pool.map(lambda run: perform(run, command, work, folder), some))
    ended = ", ".join(f"{count} with status {status}" for status, count in collections.Counter(statuses).most_common())
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = f"{time.perf_counter() - start:.0f} s ({used.ru_utime + used.ru_stime:.0f} s of CPU)"
    print(f"{len(some)} runs in {took}: {ended}")
    return 0


# --- comparing -------------------------------------------------------------------------------------------------------


def outputs(folder: Path) -> dict[str, Path]:
    """The outputs in a recording by RUN/OUTPUT."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    found = {re.sub(r"\.txt(\.gz)?$", "", str(path.relative_to(folder))): path for path in files}
    if not found:
        raise SystemExit(f"{folder}: holds no recording")
    return found


def lines_of(path: Path | None) -> list[bytes] | None:
    """The lines of an output; None if it is not there."""
    if path is None:
        return None
    return (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).split(b"\n")


def differences(old: list[bytes], new: list[bytes]) -> Iterator[str]:
    """The first lines that only one side has, from shortly before the place where they differ."""
    first = next(at for at, (one, other) in enumerate(itertools.zip_longest(old, new), 1) if one != other)
    counts = collections.Counter(old), collections.Counter(new)
    gone, come = [*(counts[0] - counts[1]).elements()], [*(counts[1] - counts[0]).elements()]
    yield f"  from line {first}: " + (f"{len(gone)} lines gone, {len(come)} new" if gone or come else "another order")
    pair = zip(gone[0], come[0], strict=False) if gone and come else ()
    start = max(0, next((at for at, (one, other) in enumerate(pair) if one != other), 0) - 60)
    for sign, lines in (("-", gone), ("+", come)):
        for line in lines[:SHOWN]:
            text = line[start : start + 200].decode("utf-8", "backslashreplace")
            shown = "".join(each if each.isprintable() else f"\\x{ord(each):02x}" for each in text)
            yield f"  {sign} {'…' * bool(start)}{shown}"


def diff(arguments: argparse.Namespace) -> int:
    """Print the differences of two recordings; 1 if one of them is not allowed."""
    old, new = outputs(arguments.old), outputs(arguments.new)
    lines = arguments.allow.read_text("utf-8").splitlines() if arguments.allow else []
    words_of = (line.split(maxsplit=1) for line in lines if line.strip() and not line.startswith("#"))
    allowed = {glob: " ".join(why) or "no reason is given" for glob, *why in words_of}
    uses: collections.Counter[str] = collections.Counter()
    kinds: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for name in sorted(old.keys() | new.keys()):
        kind = kinds["kept" if "/kept/" in name else Path(name).name]
        sides = [lines_of(side.get(name)) for side in (old, new)]
        glob = next((glob for glob in allowed if fnmatch.fnmatchcase(name, glob)), None)
        if sides[0] == sides[1]:
            kind["equal"] += 1
        elif glob:
            kind["allowed"] += 1
            uses[glob] += 1
        else:
            kind["different"] += 1
            print(name + (f": only in {'NEW' if sides[0] is None else 'OLD'}" if None in sides else ""))
            print(*differences(*(side or [] for side in sides)), sep="\n")
    print(f"{'output':24}{'equal':>10}{'different':>10}{'allowed':>10}")
    for kind, counts in sorted(kinds.items()):
        print(f"{kind:24}{counts['equal']:10}{counts['different']:10}{counts['allowed']:10}")
    for glob, why in allowed.items():
        print(f"{uses[glob]} allowed by {glob}: {why}")
    return int(any(counts["different"] for counts in kinds.values()))


def main() -> int:
    """Record or compare; gives the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    recording = commands.add_parser("record", help="run a command on all inputs and keep what it writes")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--command", required=True, help="the urnscan to run")
    recording.add_argument("--corpora", type=Path, help="a folder with archives of texts, *.tar.xz")
    recording.add_argument("--also", type=Path, help="a folder with more dumps to deduplicate")
    recording.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs side by side (default: the cores)")
    recording.add_argument("--only", nargs="+", default=["*"], metavar="GLOB", help="only runs with such a name")
    recording.set_defaults(act=record)
    comparing = commands.add_parser("diff", help="compare two recordings")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    comparing.add_argument("--allow", type=Path, metavar="FILE", help="differences that are intended")
    comparing.set_defaults(act=diff)
    arguments = parser.parse_args()
    return arguments.act(arguments)


if __name__ == "__main__":
    sys.exit(main())
