"""Measure urnscan side by side with what people use instead, in one run, as ratios, with the match counts beside them.

    python benchmarks/bench.py FOLDER [--dense SIZE] [--sparse SIZE] [--files N] [--runs N] [--save NAME]

FOLDER keeps the generated corpora between runs. Commands are timed as whole processes, from start to exit, in turn
(A B C, A B C, ...), on a warm page cache; the median counts. Peers that are not installed are left out.

What is fair and what is not:
* ripgrep only prints matches: it builds no canonical forms, counts nothing, and writes no table. With `sort | uniq -c`
  it counts spellings, not names: case and percent-encoding keep apart what is one.
* `sort` runs in the C locale with its own default of threads; urnscan runs with its default of one thread a core.
* `regex` with a dict is a script of ten lines, one thread, that folds case and counts classes in memory.
* The corpora are made up: dense text is one URN in 80 octets with few repetitions, which is harder than any catalogue.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

PATTERN = r"\burn:[a-z0-9][a-z0-9-]{0,31}:(?:[a-z0-9()+,\-.:=@;$_!*'/?#]|%[0-9a-f]{2})+"

WORDS = """the library holds a copy of each volume that was printed before the war and its catalogue names them all by
shelf mark author and year while readers ask for what they remember of a title or the colour of its binding so that
librarians learn to look things up in more than one way and keep records of every question they could not answer""".split()

SLOW = ("regex + dict", "ugrep", "grep")

REGEX_SCRIPT = r"""
import mmap, re, sys
import regex
pattern = regex.compile(PATTERN.encode(), regex.IGNORECASE)
percent = re.compile(rb"%..")
classes = {}
with open(sys.argv[1], "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
    for match in pattern.finditer(text):
        scheme, nid, nss = match[0].split(b":", 2)
        name = b"urn:" + nid.lower() + b":" + percent.sub(lambda m: m[0].upper(), nss)
        classes[name] = classes.get(name, 0) + 1
print(sum(classes.values()))
"""

KERNEL_SCRIPT = r"""
import os, sys, time
from urnscan.scanner import Grammar, Scanner
from urnscan.syntax import get_syntax
scanner = Scanner(Grammar(get_syntax("rfc2141"), count_lines=False))
found = 0
for warm in (True, False):
    descriptor = os.open(sys.argv[1], os.O_RDONLY)
    left = (64 << 20) if warm else sys.maxsize
    def read_into(view):
        global left
        octets = os.readv(descriptor, [view[:left]]) if left else 0
        left -= octets
        return octets
    began = time.perf_counter()
    found = sum(len(matches) for matches in scanner.scan(read_into))
    seconds = time.perf_counter() - began
print(found, scanner.octets / seconds / 1e9)
"""


@dataclass
class Contender:
    """A command, as the shell takes it, and how to find the number of matches in what it prints."""

    name: str
    command: str
    count: str = "last"  # "last": the last line's first number; "lines": how many lines; "uniq": the sum of the counts; "duplicates"
    seconds: list[float] = field(default_factory=list)
    megabytes: float = 0.0
    matches: int = 0


def generate(path: Path, octets: int, urns_per_megabyte: float) -> None:
    """Text with URNs in it, the same for the same arguments."""
    if path.exists() and path.stat().st_size >= octets:
        return
    chance = random.Random(f"{octets} {urns_per_megabyte}")
    gap = (1 << 20) / urns_per_megabyte
    prose = " ".join(chance.choice(WORDS) for _ in range(200_000)).replace(" a ", "\n")
    nids = ["isbn", "nbn:de", "uuid", "ietf:params:xml:ns", "oid", "issn", "nbn:fi", "xmpp"]
    written = 0
    with path.open("w", encoding="ascii") as file:
        while written < octets:
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
            written += file.write(text)


def generate_many(folder: Path, files: int) -> None:
    """So many small files, 1,000 in a folder, 1.3 KB each about, half of them with a URN."""
    if folder.exists():
        return
    chance = random.Random(files)
    new = folder.with_name(folder.name + ".new")
    for number in range(files):
        if number % 1000 == 0:
            (new / f"{number // 1000:05}").mkdir(parents=True)
        words = [chance.choice(WORDS) for _ in range(chance.randrange(50, 400))]
        if chance.random() < 0.5:
            words.append(f"<urn:nbn:de:{chance.getrandbits(40):x}>")
        (new / f"{number // 1000:05}" / f"{number % 1000:03}.txt").write_text(" ".join(words))
    new.rename(folder)


def run(contender: Contender) -> None:
    """Run once and keep the time, the peak memory of its largest process and the matches."""
    with tempfile.TemporaryFile() as out:
        began = time.perf_counter()
        process = subprocess.Popen(["bash", "-c", contender.command], stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        contender.seconds.append(time.perf_counter() - began)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        if process.returncode:
            sys.exit(f"{contender.command}\n{out.read().decode(errors='replace')[-2000:]}")
        contender.megabytes = max(contender.megabytes, usage.ru_maxrss / 1000)
        contender.matches = count(contender.count, out)


def count(how: str, out: IO[bytes]) -> int:
    """The number of matches in what a command printed."""
    if how == "lines":
        return sum(1 for _ in out)
    if how == "uniq":
        return sum(int(line.split(maxsplit=1)[0]) for line in out)
    what = "duplicate" if how == "duplicates" else "occurrence"
    for line in out.read().decode().splitlines():
        if what in line:
            return int(line.split(f" {what}")[0].rsplit(", ", 1)[-1].replace(",", ""))
    out.seek(0)
    return int(out.read().split()[0])


def contenders(text: Path, work: Path) -> list[Contender]:
    """What is run on a text; the first is what the ratios are of."""
    command = shutil.which("urnscan", path=str(Path(sys.executable).parent)) or "urnscan"
    target = work / "urns.parquet"
    quoted = PATTERN.replace("'", r"'\''")
    whole_job = f"{command} {text} -o {target} --force"
    found = [
        Contender("urnscan, whole job", whole_job),
        Contender("urnscan --equivalence namespace", f"{whole_job} --equivalence namespace"),
        Contender("urnscan --recover all", f"{whole_job} --recover all"),
    ]
    if shutil.which("rg"):
        rg = f"LC_ALL=C rg -oai --no-filename '{quoted}' {text}"
        found += [
            Contender("rg -oai", rg, "lines"),
            Contender("rg -oai | sort | uniq -c", f"{rg} | LC_ALL=C sort | uniq -c", "uniq"),
        ]
    for tool, options in (("ugrep", "-r -oaih -P"), ("grep", "-r -oaih -P")):
        if shutil.which(tool):
            peer = f"LC_ALL=C {tool} {options} '{quoted}' {text}"
            found.append(Contender(f"{tool} {options}", peer, "lines"))
    if text.is_dir():
        return found
    script = work / "with_regex.py"
    script.write_text(f"PATTERN = {PATTERN!r}\n{REGEX_SCRIPT}")
    found.append(Contender("regex + dict", f"{sys.executable} {script} {text}"))
    return found


def kernel(text: Path, runs: int) -> tuple[int, list[float]]:
    """The scanner alone on one thread, reading included: matches, and GB/s of each run."""
    rates = []
    matches = 0
    for _ in range(runs):
        result = subprocess.run([sys.executable, "-c", KERNEL_SCRIPT, text], capture_output=True, text=True, check=True)
        matches, rate = int(result.stdout.split()[0]), float(result.stdout.split()[1])
        rates.append(rate)
    return matches, rates


def measure(name: str, text: Path, runs: int) -> list[str]:
    """The table of one corpus."""
    octets = 0
    for path in sorted(text.rglob("*.txt")) if text.is_dir() else [text]:
        with path.open("rb") as file:  # into the page cache
            while block := file.read(1 << 24):
                octets += len(block)
    with tempfile.TemporaryDirectory(dir=text.parent) as work:
        field_ = contenders(text, Path(work))
        run(Contender("warm-up", field_[0].command))
        for _ in range(runs):
            for contender in field_:
                if not (contender.name.startswith(SLOW) and contender.seconds):  # slow, and steady: once is enough
                    run(contender)
    ours = statistics.median(field_[0].seconds)
    rows = [
        f"## {name}: {octets:,} octets",
        "",
        "| | median s | min-max s | urnscan takes | matches | peak MB |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for contender in field_:
        median = statistics.median(contender.seconds)
        rows.append(
            f"| {contender.name.replace('|', chr(92) + '|')} | {median:.2f} | {min(contender.seconds):.2f}-"
            f"{max(contender.seconds):.2f} | {ours / median:.2f} of it | {contender.matches:,} | {contender.megabytes:,.0f} |"
        )
    if text.is_dir():
        return [*rows, ""]
    matches, rates = kernel(text, runs)
    rows += [
        "",
        f"Kernel alone, one thread: {statistics.median(rates):.2f} GB/s, {matches:,} matches.",
        "",
    ]
    return rows


def size(text: str) -> int:
    """Octets from 1GB, 500MB."""
    return int(float(text[:-2]) * {"KB": 10**3, "MB": 10**6, "GB": 10**9}[text[-2:].upper()])


def tell(rows: list[str], name: str | None) -> None:
    """Print the result, and keep it under a name if there is one."""
    print("\n".join(rows))
    if name:
        folder = Path(__file__).parent / "runs"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.md").write_text("\n".join(rows) + "\n")


def main() -> None:
    """Generate, measure, print, save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dense", type=size, default=10**9)
    parser.add_argument("--sparse", type=size, default=4 * 10**9)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--save", metavar="NAME", help="keep the result as benchmarks/runs/NAME.md")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    dense, sparse = arguments.folder / f"dense-{arguments.dense}", arguments.folder / f"sparse-{arguments.sparse}"
    generate(dense, arguments.dense, 13_600)
    generate(sparse, arguments.sparse, 100)
    many = arguments.folder / f"many-{arguments.files}"
    generate_many(many, arguments.files)
    rows = [
        f"# {time.strftime('%Y-%m-%d')}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "",
        f"`python benchmarks/bench.py FOLDER --runs {arguments.runs}`",
        "",
        *measure("dense, 13,600 URNs per MB", dense, arguments.runs),
        *measure("sparse, 100 URNs per MB", sparse, arguments.runs),
        *measure(f"{arguments.files:,} small files", many, arguments.runs),
    ]
    tell(rows, arguments.save)


if __name__ == "__main__":
    main()
