"""Measure how much longer odd values take than as many plain ones in input of the same form: at most twice as long.

    python benchmarks/cliffs.py [--only GLOB] [--values N] [--runs N]

For each row of ROWS two files of a million values (or records) are written, and `urnscan` reads both in turn, as whole
processes with one thread. The least CPU seconds of several runs count, because other work on the machine only adds to
them. Those of a run on one value are subtracted. It prints the ratio of odd to plain values, the seconds of both, and
the counts of both. Exit status: 1 if a ratio is above the limit of its row.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import io
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dedup import iso_2709
from peers import URNSCAN

from urnscan.cli import main as command
from urnscan.urn.numbers.isbn import calc_check_digit

VALUES = 1_000_000
LIMIT = 2.0
_PIECE = 10_000  # values that are in memory at once
TRIES = 3
"""How often the guard measures what is slower; the least ratio counts, as other work on the machine only adds time."""
_VALUES_OF_GUARD, _RECORDS_OF_GUARD = 16_000, 1_500
_SLOW_LIMIT, _PLAIN_OF_SLOW = 20, 8
"""Limit from which on the guard has so many times more plain values than odd ones. So many odd values would take minutes,
and as few plain ones only some milliseconds.
"""
_NOISE = 1.5
"""Allowed factor above a limit in the guard, whose runs take some hundredths of a second."""
_MIN_SECONDS = 0.001
"""What plain values take at least. On a busy machine a run on one value may take longer than one on all of them."""

RULES = r"""
[x-ours]
title = "Things in our archive"
grammar = '(?<lower>[A-Za-z]+):(?<check>\d{2}[ATVWXYZ][0-9A-Z-]{12}[0-9A-Z])-[a-z]'
syntax = "our guide"
check = "eic"
rule = "the kind in lower case"
equality = "our guide"
"""


class Number(dict[str, str]):
    """What a template may hold of the value with a number, made when it is asked for."""

    def __init__(self, number: int) -> None:
        super().__init__(i=f"{number:09}")

    def __missing__(self, name: str) -> str:
        self[name] = value = _MADE[name](self["i"])
        return value


def isbn13(i: str) -> str:
    """A right ISBN-13."""
    return f"978{i}{chr(calc_check_digit(f'978{i}'.encode(), 0))}"


def isbn10(i: str) -> str:
    """A right ISBN-10."""
    return i + "0123456789X"[sum(place * int(digit) for place, digit in enumerate(i, 1)) % 11]


def _mixed(i: str) -> str:
    return f"{int(i) * 0x9E3779B97F4A7C15 % (1 << 128):032x}"  # digits that look drawn


_MADE: dict[str, Callable[[str], str]] = {
    "isbn13": isbn13,
    "isbn10": isbn10,
    "isbn13h": lambda i: f"978-{i[0]}-{i[1:4]}-{i[4:]}-{isbn13(i)[12]}",
    "isbn10h": lambda i: f"{i[0]}-{i[1:4]}-{i[4:]}-{isbn10(i)[9]}",
    "wrong": lambda i: f"{isbn13(i)[:12]}{(int(isbn13(i)[12]) + 1) % 10}",
    "uuid": lambda i: re.sub("(.{8})(.{4})(.{4})(.{4})(.{12})", r"\1-\2-\3-\4-\5", _mixed(i)),
    "hex": _mixed,
    "HEX": lambda i: _mixed(i).upper(),
}


def lines(values: Sequence[str]) -> bytes:
    """A text with a value in each line."""
    return "\n".join([*values, ""]).encode()


def rows_of_csv(values: Sequence[str]) -> bytes:
    """Rows of CSV; each value is that of the last column, as it is written there."""
    return "".join([f"1,a,{value}\n" for value in values]).encode()


def json_lines(values: Sequence[str]) -> bytes:
    """JSON Lines; each value is a string, as it is written in JSON."""
    return "".join([f'{{"a": 1, "text": "{value}"}}\n' for value in values]).encode()


def marc(values: Sequence[str]) -> bytes:
    """Records of MARC 21; each value has fields between bars, with `$` before subfields."""
    note = "500  $aIncludes bibliographical references and index."
    records = (f"{value}|{note}".split("|") for value in values)
    return b"".join(
        iso_2709((field[:3], field[3:].replace("$", "\x1f").encode()) for field in fields) for fields in records
    )


def marcxml(values: Sequence[str]) -> bytes:
    """Records of MARCXML; each value as for `marc`, with its text as it is written in XML."""
    records = []
    for value in values:
        fields = ""
        for field in value.split("|"):
            if field < "01":
                fields += f'<controlfield tag="{field[:3]}">{field[3:]}</controlfield>\n'
                continue
            subfields = "".join(
                f'<subfield code="{text[0]}">{text[1:]}</subfield>' for text in field[5:].split("$")[1:]
            )
            fields += f'<datafield tag="{field[:3]}" ind1="{field[3]}" ind2="{field[4]}">{subfields}</datafield>\n'
        records.append(f"<record><leader>00000nam a2200000 i 4500</leader>\n{fields}</record>\n")
    return "".join(records).encode()


class Form(NamedTuple):
    """A form of input."""

    suffix: str
    write: Callable[[Sequence[str]], bytes]
    words: tuple[str, ...] = ("-o", "{}/out.parquet")
    head: bytes = b""
    tail: bytes = b""


_COLUMN = ("--column", "text", "-o", "{}/out.parquet")
_DEDUP = ("dedup", "-o", "{}/out.parquet")
_COLLECTION = b'<?xml version="1.0"?>\n<collection xmlns="http://www.loc.gov/MARC21/slim">\n'
TEXT = Form("txt", lines)
OCCURRENCES = Form("txt", lines, ("--occurrences", "{}/out.parquet", "--rejects", "{}/rejects.parquet"))
PRINTED = Form("txt", lines, ())
CSV = Form("csv", rows_of_csv, _COLUMN, b"id,name,text\n")
JSON = Form("jsonl", json_lines, _COLUMN)
MARC = Form("mrc", marc, _DEDUP)
MARCXML = Form("xml", marcxml, _DEDUP, _COLLECTION, b"</collection>\n")
REFERENCES = Form("ris", lines, _DEDUP)
BIBTEX = Form("bib", lines, _DEDUP)


class Row(NamedTuple):
    """Odd values, and plain ones."""

    name: str
    form: Form
    plain: str
    odd: tuple[str, ...]
    """Templates of values; they take turns."""
    words: tuple[str, ...] = ()
    """Options of the command."""
    limit: float = LIMIT


_NAME = "urn:x-test:{i}"
_BIS, _RFC_8141 = ("--syntax", "rfc2141bis-03"), ("--syntax", "rfc8141")
_RESOLUTION, _NAMESPACE = (*_BIS, "--equivalence", "resolution"), ("--equivalence", "namespace")
_ALL = ("--recover", "all")
_TITLE = "|24510$aA title :$bwith more, {i} /$cby somebody.|264 1$aBerlin :$bA Publisher,$c2026."
_RECORD = "001rec{i}|003DE-1|020  $a{isbn13}" + _TITLE
_OF_DOI = "001rec{i}|003DE-1|0247 $a10.1000/a{i}$2doi" + _TITLE
_OF_OCLC = "001rec{i}|003DE-1|035  $a(OCoLC){i}" + _TITLE
_OF_ADDRESS = "001rec{i}|003DE-1|85640$uhttps://example.org/a/b/c/{i}/de" + _TITLE
_RIS = "TY  - BOOK\nID  - {i}\nTI  - A title {i} of some length\nSN  - {isbn13}\nPY  - 2026\nER  - \n"
_BIBTEX = "@book{{b{i},\n  title = {{A title {i} of some length}},\n  isbn = {{{isbn13}}},\n  year = {{2026}},\n}}\n"
_LONG = "abcdefghij" * 60
_AS_LONG = " ".join(f"{_NAME}-{'abcdefghij' * 4}-{number}" for number in range(10))

ROWS = (
    Row("encoded: no UTF-8", TEXT, _NAME + "abcdefg", (_NAME + "%E4%FCb",)),
    Row("encoded: Latin", TEXT, _NAME + "abcdefg", (_NAME + "%C3%A9b",)),
    Row("encoded: mixed scripts", TEXT, _NAME + "abcdefg", (_NAME + "a%D0%B0",)),
    Row("encoded: Devanagari", TEXT, _NAME + "abcdefghijklmnopqr", (_NAME + "%E0%A4%95%E0%A4%BE",)),
    # Python composes the characters of a batch, all together.
    Row("encoded: decomposed", TEXT, _NAME + "abcdefg", (_NAME + "e%CC%81",), limit=2.5),
    # So are these.
    Row("encoded: invisible", TEXT, _NAME + "abcdefghij", (_NAME + "a%E2%80%8B",), limit=2.5),
    Row("encoded: NUL, letters", TEXT, _NAME + "abcdef", (_NAME + "%00%41", _NAME + "%61%62")),
    Row("directives: two", TEXT, _NAME + "?s=I2Labcde", (_NAME + "?s=I2L&c=b",), _BIS),
    # Python sorts the directives of each name. Only one draft has this level.
    Row("directives: two, resolution", TEXT, _NAME + "?s=I2Labcde", (_NAME + "?s=I2L&c=b",), _RESOLUTION, limit=7),
    Row("directives: repeated", TEXT, _NAME + "?s=I2Labcde", (_NAME + "?s=I2L&s=b", _NAME + "?s=a&S=I2L"), _BIS),
    # So many are counted by Python.
    Row("directives: seventy", TEXT, _NAME + "?s=" + "abcd" * 70, (_NAME + "?s=" + "&a=b" * 70,), _BIS, limit=10),
    Row("components", TEXT, _NAME + "abcdefghi", (_NAME + "?+r?=q#f", _NAME + "?=abc#fg"), _RFC_8141),
    Row("components, places", OCCURRENCES, _NAME + "abcdefghi", (_NAME + "?+r?=q#f",), _RFC_8141),
    Row("ISBN: wrong digit", TEXT, "urn:isbn:{isbn13}", ("urn:isbn:{wrong}",)),
    Row("ISBN: hyphens", TEXT, "urn:isbn:{isbn13}", ("urn:isbn:{isbn13h}", "URN:ISBN:{isbn10h}")),
    Row("ISBN: template", TEXT, "urn:isbn:{isbn13}", ("urn:isbn:xxx{i}", "urn:isbn:$isbn({i})")),
    Row("ISBN: text after it", TEXT, "urn:isbn:{isbn13}abcd", ("urn:isbn:{isbn13}.pdf", "urn:isbn:{isbn13});*")),
    Row("ISBN: not at all", TEXT, "urn:isbn:{isbn13}", ("urn:isbn:ISBN-{i}", "urn:isbn:978/{i}")),
    Row("UUID: spellings", TEXT, "urn:uuid:{uuid}", ("urn:uuid:{HEX}", "URN:UUID:{uuid}", "urn:uuid:{hex}-1")),
    Row("NBN: spellings", TEXT, "urn:nbn:de:101:1-{i}", ("URN:NBN:DE:101:1-{i}", "urn:nbn:fi:schema:{i}")),
    Row("EIC", TEXT, "urn:isbn:{isbn13}abc", ("urn:eic:10X1{i}ABC", "urn:eic:10YG{i}--K")),
    Row(
        "ISNI, LEI, EIDR, GSMA",
        TEXT,
        "urn:isbn:{isbn13}",
        ("urn:isni:{i}000000X", "urn:lei:5299{i}00000", "urn:gsma:imei:{i}-12345-0;vers=0"),
    ),
    # Python knows the status of a NID. Real texts have some hundred NIDs.
    Row("NIDs: all different", TEXT, "urn:nid-123456789:{i}", ("urn:nid-{i}:{i}",), limit=5),
    Row("NIDs: all different, places", OCCURRENCES, "urn:nid-123456789:{i}", ("urn:nid-{i}:{i}",)),
    Row(
        "own rules",
        TEXT,
        "urn:x-other:Letter:10X1{i}ABC-q",
        ("urn:x-ours:Letter:10X1{i}ABC-q",),
        ("--rules", "{}/rules.toml"),
    ),
    Row("trim", TEXT, _NAME + "abcdef", (_NAME + "abcd).", "(" + _NAME + "'s)!"), ("--trim",)),
    Row("namespace: ISBN", TEXT, "urn:isbn:{isbn13}", ("urn:isbn:{isbn10}", "urn:isbn:{isbn13h}"), _NAMESPACE),
    Row(
        "namespace: others",
        TEXT,
        "urn:isbn:{isbn13}",
        ("urn:uuid:{HEX}", "urn:issn:{i}x", "urn:gsma:imei:{i}-12345-0;vers=0"),
        _NAMESPACE,
    ),
    Row("stop", OCCURRENCES, _NAME + " a b", (_NAME + "ä b", _NAME + "<b>", _NAME + "\x07b", _NAME + "“b")),
    Row("stop, JSON", PRINTED, _NAME + " a b", (_NAME + "ä b", _NAME + "<b>", _NAME + "\x07b"), ("--json",)),
    Row("rejects", OCCURRENCES, _NAME + "abcd", ("urn:x_{i}:abcdef", "urn::{i}abcdefg", "urn:ab/{i}:ab")),
    # These are a match and a reject each.
    Row("rejects: bad ends", OCCURRENCES, _NAME + "abcd", (_NAME + "%4x", _NAME + "%zé", _NAME + "%"), limit=3),
    # So are these.
    Row(
        "rejects: components",
        OCCURRENCES,
        _NAME + "abcd",
        (_NAME + "?a", _NAME + "?+?=", _NAME + "#a#b"),
        _RFC_8141,
        limit=3,
    ),
    Row("places: encoded", OCCURRENCES, _NAME + "abcdefg", (_NAME + "%E4%FCb", _NAME + "a%D0%B0")),
    Row("line ends", TEXT, "some text " + _NAME + " words", ("some text\tmore\r" + _NAME + "\r",)),
    Row("long names", TEXT, _AS_LONG, (_NAME + "-" + _LONG,)),
    Row("long names, places", OCCURRENCES, _AS_LONG, (_NAME + "-" + _LONG,)),
    Row("in addresses", OCCURRENCES, "some text, and words; " + _NAME, ("https://example.org/?a=" + _NAME + "&b=c",)),
    # A view copies the text of each name into a window, and scans it a second time.
    Row("view percent", TEXT, _NAME + "abcdef", ("urn%3Ax-test%3A{i}ab", "urn%253Ax-test%253A{i}"), _ALL, limit=12),
    Row("view entities", TEXT, _NAME + "abcdef", ("urn&#58;x-test:{i}ab", "urn&colon;x-test:{i}"), _ALL, limit=12),
    Row("view escapes", TEXT, _NAME + "abcdef", ("urn\\u003ax-test:{i}", "urn\\x3Ax-test:{i}ab"), _ALL, limit=10),
    # Python decides whether a name goes on in the next line, and asks for each by itself.
    Row("view wraps", TEXT, _NAME + "-abc\n", (_NAME + "-\nabc",), _ALL, limit=130),
    Row("view labels", TEXT, _NAME + " abcdef", ("urn: nbn:de:101-{i}", "URN nbn:de:101-{i}"), _ALL, limit=12),
    # Python reads each reference by patterns, and makes its URN.
    Row(
        "view bare", TEXT, "urn:isbn:{isbn13}", ("ISBN {isbn13}", "isbn: {isbn10h}", "doi:10.1000/{i}"), _ALL, limit=60
    ),
    Row("view markup", TEXT, _NAME + "abcdef", ("urn:x-<b>test</b>:{i}", "<i>urn</i>:x-test:{i}"), _ALL, limit=16),
    Row("context", PRINTED, "these words " + _NAME + " more", ("théßé wörds " + _NAME + " mörè",), ("-C", "20")),
    Row("JSON printed", PRINTED, _NAME + "abcdef", (_NAME + "%E4%FC",), ("--json",)),
    Row("CSV: quoted", CSV, _NAME + " and words", ('"' + _NAME + ', and ""w"""',)),
    # A row of several lines is searched by Python, mark by mark.
    Row("CSV: line ends in it", CSV, _NAME + " and words", ('"' + _NAME + '\nand ""w"""',), limit=4.5),
    # The module csv of Python reads such a row.
    Row("CSV: stray quotes", CSV, _NAME + " and words", (_NAME + ' and "words',), limit=4),
    Row("JSON: escapes", JSON, _NAME + " and words of it", (_NAME + ' \\"and\\" \\u00e9\\n',)),
    Row("JSON: beyond ASCII", JSON, _NAME + " and words of it", (_NAME + " théßé wörds",)),
    Row("MARC: ISBN-10", MARC, _RECORD, (_RECORD.replace("{isbn13}", "{isbn10}"),)),
    Row("MARC: ISBN, hyphens", MARC, _RECORD, (_RECORD.replace("{isbn13}", "{isbn13h}"),)),
    Row("MARC: ISBN, wrong", MARC, _RECORD, (_RECORD.replace("{isbn13}", "{wrong}"),)),
    Row("MARC: ISBN, qualifier", MARC, _RECORD, (_RECORD.replace("{isbn13}", "{isbn13} (pbk.)"),)),
    # A label before the number is read by Python.
    Row(
        "MARC: ISBN, words",
        MARC,
        _RECORD,
        (_RECORD.replace("{isbn13}", "{isbn13} : EUR 12.00"), _RECORD.replace("{isbn13}", "ISBN {isbn13h} geb.")),
        limit=3,
    ),
    Row("MARC: ISBN, $q", MARC, _RECORD, (_RECORD.replace("{isbn13}", "{isbn13}$qpaperback"),)),
    Row("MARC: odd indicators", MARC, _RECORD, (_RECORD.replace("020  ", "0201x").replace("24510", "2459é"),)),
    Row("MARC: not ASCII", MARC, _RECORD, (_RECORD.replace("title", "títlé").replace("Berlin", "Москва"),)),
    Row("MARC: control number", MARC, _RECORD, (_RECORD.replace("001rec", "001réc"), _RECORD.replace("001", "001  "))),
    Row(
        "MARC: DOI", MARC, _OF_DOI, (_OF_DOI.replace("10.1000/a", "DOI:10.1000/A"), _OF_DOI.replace("10", "doi 10", 1))
    ),
    # What a URN cannot hold is encoded by Python.
    Row("MARC: DOI, odd", MARC, _OF_DOI, (_OF_DOI.replace("/a", "/(a)<b>"), _OF_DOI.replace("10.", "10.12.")), limit=3),
    Row("MARC: 024 that counts", MARC, _OF_DOI, (_OF_DOI.replace("0247 ", "0248 "), _OF_DOI.replace("0247 ", "024  "))),
    Row("MARC: OCLC prefixes", MARC, _OF_OCLC, (_OF_OCLC.replace("{i}", "ocn{i}"), _OF_OCLC.replace(")", ") 00"))),
    Row("MARC: other systems", MARC, _OF_OCLC, (_OF_OCLC.replace("OCoLC", "DE-é"), _OF_OCLC.replace("(OCoLC)", "BV"))),
    Row("MARC: LCCN", MARC, _OF_OCLC, (_OF_OCLC.replace("035  $a(OCoLC){i}", "010  $a   {i}"),)),
    # Python takes parts of the query away that say only where a reader comes from.
    Row(
        "MARC: address with query",
        MARC,
        _OF_ADDRESS,
        (_OF_ADDRESS.replace("a/b/c/{i}/de", "a?b={i}&utm_a=1"),),
        limit=3,
    ),
    # Python reads a value that is not in ASCII.
    Row(
        "MARC: address, odd",
        MARC,
        _OF_ADDRESS,
        (_OF_ADDRESS.replace("a/b/c/{i}/de", "á/{i}/ d"), _OF_ADDRESS.replace("https://", "Link: ")),
        limit=3,
    ),
    Row("MARC: URN in an address", MARC, _OF_ADDRESS, (_OF_ADDRESS.replace("a/b/c/{i}/de", "urn:nbn:de:1-{i}"),)),
    Row(
        "MARC: handle, ARK",
        MARC,
        _OF_ADDRESS,
        (
            _OF_ADDRESS.replace("example.org/a/b/c/{i}/de", "hdl.handle.net/20.500/{i}"),
            _OF_ADDRESS.replace("a/b/c/{i}/de", "ark:/12148/b{i}"),
        ),
    ),
    Row(
        "MARC: URNs of any field",
        MARC,
        _RECORD,
        (_RECORD.replace("{isbn13}", "{isbn13h} (pbk.)"),),
        ("--any-urn",),
    ),
    Row(
        "MARCXML: entities",
        MARCXML,
        _RECORD,
        (_RECORD.replace("title", "t&amp;i").replace("{isbn13}", "{isbn13} &lt;pbk&#62;"),),
    ),
    Row("MARCXML: not ASCII", MARCXML, _RECORD, (_RECORD.replace("title", "títlé"),)),
    # lxml reads such a record.
    Row(
        "MARCXML: CDATA, comments",
        MARCXML,
        _RECORD,
        (_RECORD.replace("A title", "<![CDATA[A title]]>"), _RECORD.replace("A title", "A <!-- c --> title")),
        limit=13,
    ),
    Row("RIS: numbers", REFERENCES, _RIS, (_RIS.replace("{isbn13}", "{isbn10h} (pbk.)"),)),
    Row("RIS: not ASCII, continued", REFERENCES, _RIS, (_RIS.replace("some length", "söme\nlength"),)),
    # As for MARC.
    Row(
        "RIS: DOI",
        REFERENCES,
        _RIS.replace("SN  - {isbn13}", "DO  - 10.1000/a{i}"),
        (_RIS.replace("SN  - {isbn13}", "DO  - doi:10.1000/<{i}>"),),
        limit=2.5,
    ),
    Row("BibTeX: LaTeX", BIBTEX, _BIBTEX, (_BIBTEX.replace("title {i} of some", 'tïtle {i} {{\\"o}}f {{\\ss}}ome'),)),
    Row("BibTeX: joined strings", BIBTEX, _BIBTEX, (_BIBTEX.replace("{{A title", '"A " # {{title'),)),
)


def values(templates: Sequence[str], count: int) -> Iterator[list[str]]:
    """So many values, in pieces."""
    taking_turns = itertools.cycle(templates)
    for first in range(0, count, _PIECE):
        numbers = range(first, min(first + _PIECE, count))
        yield [next(taking_turns).format_map(Number(number)) for number in numbers]


def write(path: Path, form: Form, templates: Sequence[str], count: int) -> Path:
    """Write a file of so many values."""
    with path.open("wb") as file:
        file.write(form.head)
        file.writelines(map(form.write, values(templates, count)))
        file.write(form.tail)
    return path


class Taken(NamedTuple):
    """What a run took, and the counts that it printed."""

    seconds: float
    counts: str


def in_a_process(words: Sequence[str]) -> Taken:
    """Run the installed command."""
    with tempfile.TemporaryFile() as printed, Path(os.devnull).open("wb") as nothing:
        process = subprocess.Popen([URNSCAN, *words], stdout=nothing, stderr=printed)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        text = printed.read().decode()
    if process.returncode not in (0, 1):
        raise RuntimeError(text)
    return Taken(usage.ru_utime + usage.ru_stime, _counts(text))


def here(words: Sequence[str]) -> Taken:
    """Run the command in this process."""
    printed = io.StringIO()
    with (
        Path(os.devnull).open("w") as nothing,
        contextlib.redirect_stderr(printed),
        contextlib.redirect_stdout(nothing),
    ):
        began = time.process_time()
        status = command(words)
        seconds = time.process_time() - began
    if status not in (0, 1):
        raise RuntimeError(printed.getvalue())
    return Taken(seconds, _counts(printed.getvalue()))


def _counts(text: str) -> str:
    return ", ".join(re.findall(r"[\d,]+ (?:occurrence|class|reject|record|cluster)\w*", text))


class Measured(NamedTuple):
    """What a row took, above a run on one value."""

    row: Row
    plain: Taken
    odd: Taken

    @property
    def ratio(self) -> float:
        """Seconds of odd values, in those of plain ones."""
        return self.odd.seconds / max(self.plain.seconds, _MIN_SECONDS)


def measure(row: Row, count: int, runs: int, run: Callable[[Sequence[str]], Taken], more: int = 1) -> Measured:
    """Run the command on both files of a row in turn. There are `more` times as many plain values as odd ones (`count`);
    their seconds are divided by that.
    """
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rules.toml").write_text(RULES)
        files = {
            name: write(Path(folder) / f"{name}.{row.form.suffix}", row.form, templates, number)
            for name, templates, number in (
                ("one", (row.plain,), 1),
                ("plain", (row.plain,), count * more),
                ("odd", row.odd, count),
            )
        }
        words = [word.format(folder) for word in (*row.form.words, *row.words, "-j", "1", "--no-progress", "--force")]
        taken: dict[str, list[Taken]] = {name: [] for name in files}
        for number in range(runs + 1):
            for name, file in files.items():
                position = 1 if words[0] == "dedup" else 0
                done = run([*words[:position], str(file), *words[position:]])
                if number:  # the first one fills caches
                    taken[name].append(done)
    start, plain, odd = (min(each.seconds for each in of) for of in taken.values())
    per_count = (plain - start) / more
    return Measured(row, Taken(per_count, taken["plain"][0].counts), Taken(odd - start, taken["odd"][0].counts))


def slower_rows() -> Iterator[Measured]:
    """Measure fewer values in this process, for the guard: yields the rows that are above their limits at each try."""
    for row in ROWS:
        count = _RECORDS_OF_GUARD if row.form.words[:1] == ("dedup",) else _VALUES_OF_GUARD
        more = _PLAIN_OF_SLOW if row.limit > _SLOW_LIMIT else 1
        tries = (measure(row, count, 2, here, more) for _ in range(TRIES))
        slower = list(itertools.takewhile(lambda done: done.ratio > done.row.limit * _NOISE, tries))
        if len(slower) == TRIES:
            yield min(slower, key=lambda done: done.ratio)


def main(words: list[str] | None = None) -> int:
    """Measure, and print a table; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", metavar="GLOB", help="names of rows")
    parser.add_argument("--values", type=int, default=VALUES, metavar="N")
    parser.add_argument("--runs", type=int, default=3, metavar="N")
    parser.add_argument("--here", action="store_true", help="run the command in this process, as the guard does")
    arguments = parser.parse_args(words)
    print("| values | odd / plain | s | s, plain | odd | plain |\n|---|---|---|---|---|---|")
    worst = 0.0
    for row in ROWS:
        if fnmatch.fnmatch(row.name, arguments.only):
            done = measure(row, arguments.values, arguments.runs, here if arguments.here else in_a_process)
            worst = max(worst, done.ratio / row.limit)
            limit = f" (limit {row.limit:g})" if done.ratio > row.limit else ""
            print(
                f"| {row.name} | {done.ratio:.2f}{limit} | {done.odd.seconds:.2f} | {done.plain.seconds:.2f} "
                f"| {done.odd.counts} | {done.plain.counts} |",
                flush=True,
            )
    return 1 if worst > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
