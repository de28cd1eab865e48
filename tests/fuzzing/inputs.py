"""Targets of what reads inputs: every form of files, lists of inputs, names of URLs, and the tables that a report reads."""

from __future__ import annotations

import atexit
import codecs
import contextlib
import functools
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

from tests.fuzzing.drawn import split
from tests.support.classes import classes, made, occurrences, write
from tests.support.packed import zipped
from urnscan.display.addresses import without_secrets
from urnscan.errors import DamageError, FatalError, LimitError, SourceError
from urnscan.formats.contents import Document, Values
from urnscan.formats.context import Reading
from urnscan.formats.limits import Limits
from urnscan.formats.processes import Processes
from urnscan.formats.unfold import open_documents
from urnscan.inputs import lists
from urnscan.inputs.lists import PathList
from urnscan.report.figures import summarise
from urnscan.report.scan_page import render
from urnscan.stores.input import Input
from urnscan.stores.urls import is_remote, is_url, local_path, parse_url

__all__ = ["HEAD", "files_from", "form", "report", "tables", "urls"]

HEAD = 3
"""Bytes that choose how a file is read."""
_LIMITS = Limits(ratio=1000, size=1 << 22, depth=4, members=500)
_ENCODINGS = (
    *("utf-16-le", "utf-16-be", "utf-16", "utf-32", "utf-32-be", "cp932", "utf-8-sig", "latin-1", "cp1252", "cp037"),
    *("shift_jis", "gb18030", "big5hkscs", "euc-jp", "euc-kr", "euc_jisx0213", "hz", "johab", "koi8_r", "mac_roman"),
)
_SECRET = frozenset(("sig", "token", "password", "x-amz-signature"))  # some names of what is not to be shown
_LONGEST_NAME = 1 << 16  # bytes that a list may have without a separator


@functools.cache
def _folder() -> Path:
    """A folder for the files, in memory if there is such a place."""
    folder = tempfile.mkdtemp(prefix="urnscan-fuzzing-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@functools.cache
def _processes() -> Processes:
    """Those that read PDFs, for all inputs: they take long to start."""
    return Processes()


def form(name: str, data: bytes, *, columns: tuple[str, ...] = (), encoded: bool = False) -> None:
    """No bytes make a reader raise anything but a SourceError; how much is read at once changes nothing, nor, of a file
    that is whole, an archive around it, in which nobody can jump about.
    """
    head, content = split(data, HEAD)
    encoding = _ENCODINGS[head[1] % len(_ENCODINGS)] if encoded else None
    reading = Reading(encoding, columns[: 1 + head[2] // 4 % 2], _LIMITS, processes=_processes())
    path = _folder() / name
    path.write_bytes(content)
    at_once = _read(path, reading, 1 << 17)
    assert _read(path, reading, 1 + head[0]) == at_once
    if head[2] & 1 and all(each[0] != "error" for each in at_once):
        around = _folder() / "around.zip"
        around.write_bytes(zipped([(name, content)], zipfile.ZIP_STORED if head[2] & 2 else zipfile.ZIP_DEFLATED))
        inside = _read(around, replace(reading, limits=replace(_LIMITS, depth=_LIMITS.depth + 1)), 1 << 17)
        assert _contents(inside) == _contents(at_once)


def _contents(found: list[tuple[Any, ...]]) -> list[tuple[str, bytes]]:
    """What was read, wherever it stands; of a member that is empty nothing is told."""
    return [(each[0], each[-1]) for each in found if each[-1]]


def _read(path: Path, reading: Reading, size: int) -> list[tuple[Any, ...]]:
    """All that is in a file, as a run would read it, and what could not be read."""
    found: list[tuple[Any, ...]] = []
    view = memoryview(bytearray(size))

    def failed(error: SourceError) -> None:
        str(error).encode()
        assert error.reason.isprintable()
        found.append(("error", type(error), error.reason))

    try:
        with contextlib.closing(open_documents(Input(str(path), str(path), None), reading)) as documents:
            for each in documents:
                match each:
                    case SourceError():
                        failed(each)
                    case Document():
                        (each.member or "").encode()
                        found.append(("text", each.member, each.codec, _text(each, view, failed)))
                    case Values():
                        each.values.validate(full=True)
                        found += [
                            ("value", each.place(at), value.as_buffer().to_pybytes())
                            for at, value in enumerate(each.values)
                            if value.is_valid
                        ]
    except SourceError as error:
        failed(error)
    return found


def _text(document: Document, view: memoryview, failed: Callable[[SourceError], None]) -> bytes:
    """What a reader gives, read on past what is damaged, as a run does it."""
    parts = []
    while True:
        try:
            got = document.reader.read_into(view)
        except LimitError:
            raise
        except DamageError as error:
            failed(error)
        except SourceError as error:
            failed(error)
            break
        else:
            assert 0 <= got <= len(view)
            if not got:
                break
            parts.append(bytes(view[:got]))
    text = b"".join(parts)
    if document.codec is not None:
        text.decode()
    return text


def files_from(data: bytes) -> None:
    """A list gives the names that stand between its separators, however it is read."""
    head, content = split(data, HEAD)
    path = _folder() / "names"
    path.write_bytes(content)
    telling, most = 1 + head[0], 1 + head[1]
    are_lines = b"\0" not in content[:telling]
    is_marked = are_lines and content[:telling].startswith(codecs.BOM_UTF8)
    names = content.removeprefix(codecs.BOM_UTF8) if is_marked else content
    expected = [name for name in names.split(b"\n" if are_lines else b"\0") if name]
    with mock.patch.multiple(lists, _TELLING=telling, _BLOCK=1 + head[2], _LONGEST=_LONGEST_NAME):
        found = []
        for some in PathList(str(path)).read(most):
            assert 0 < len(some) <= most
            found += some
    assert found == expected


def urls(data: bytes) -> None:
    """What looks like a URL is one or a SourceError; what is shown of it is one line that can be written, without secrets."""
    argument = os.fsdecode(data.replace(b"\0", b""))
    for parameter in without_secrets(argument).partition("?")[2].split("&"):
        name, is_one, _ = parameter.partition("=")
        assert not is_one or name.lower() not in _SECRET
    try:
        if is_remote(argument):
            url = parse_url(argument)
            url.name.encode()
            assert len(url.name.splitlines()) <= 1
            assert is_url(url.full)
            assert all(isinstance(part, str) for part in (url.pattern[0], *url.pattern[1], *url.option.values()))
        else:
            os.fsencode(local_path(argument))
    except SourceError as error:
        str(error).encode()


@functools.cache
def tables() -> tuple[bytes, bytes]:
    """Small tables of classes and their occurrences, as a run writes them."""
    rows = made(6)
    paths = [_folder() / "classes.parquet", _folder() / "occurrences.parquet"]
    for path, table in zip(paths, (classes(rows), occurrences(rows)), strict=True):
        write(table, path, compression="none", use_dictionary=False, write_statistics=False)
    return paths[0].read_bytes(), paths[1].read_bytes()


def report(data: bytes) -> None:
    """A report of whatever is said to be classes or occurrences is a page, or one line why it is none."""
    head, content = split(data, HEAD)
    paths = [_folder() / "in-classes.parquet", _folder() / "in-occurrences.parquet"]
    for path, known, is_given in zip(paths, tables(), (head[0] % 3 != 1, head[0] % 3 != 0), strict=True):
        path.write_bytes(content if is_given else known)
    why = ""
    try:
        render(summarise(str(paths[0]), str(paths[1]) if head[1] & 1 else None, version="0")).encode()
    except FatalError as error:
        why = str(error)
    assert len(why.splitlines()) <= 1
