"""Where dumps without their duplicates go: one file for all of them, or one for each in a folder."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from urnscan.errors import FatalError, SourceError
from urnscan.output.octets import OctetOutput
from urnscan.output.places import as_fatal, check_output, work_folder
from urnscan.records.buffer import MARK
from urnscan.records.formats import Format
from urnscan.sources import Input, is_remote, local_path, real_place

__all__ = ["Dumps", "Following"]

_UNPACKED = (".xz", ".lzma", ".zip", ".7z", ".rar", ".tar", ".tgz", ".txz")  # what is read, but not written


class Following:
    """Writes dumps one behind the other, so that no record runs into one of the next dump."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._tail = b""  # what was written last
        self._line_ends = 0  # that must stand before what is written next
        self._begins_later = False  # the next octets are the first of a dump that is not the first

    def begin(self, line_ends: int) -> None:
        """Another dump comes, with at least so many line ends before it."""
        self._begins_later = bool(self._tail)
        self._line_ends = line_ends if self._tail else 0

    def __call__(self, octets: bytes) -> None:
        """Write octets of the dump. Raises what `write` does."""
        if self._begins_later and octets:
            octets = octets.removeprefix(MARK)
            self._begins_later = False
        if not octets:
            return
        if self._line_ends:
            lines = self._tail.replace(b"\r", b"")
            self._write(b"\n" * (self._line_ends - len(lines) + len(lines.rstrip(b"\n"))))
            self._line_ends = 0
        self._write(octets)
        self._tail = (self._tail + octets[-4:])[-4:]


class Dumps:
    """Where dumps without their duplicates go: a file for all, or a folder with a file for each input; a context manager.

    All files appear when `commit` is called.
    """

    def __init__(self, path: str, *, force: bool = False) -> None:
        """`path` is a folder where there is one, or where it ends in "/". Raises FatalError as every output does."""
        self._path = path
        self._force = force
        self._admitted: dict[str, tuple[str, Format]] = {}  # by the path of the output, the first input for it
        self._folder = None if is_remote(path) else Path(local_path(path))
        if self._folder is not None and not self._folder.is_dir() and not path.endswith("/"):
            self._folder = None
        if self._folder is not None and not self._folder.is_dir():
            raise FatalError(f"{path}: this folder does not exist; make it first")
        self._joined: Following | None = None
        self._outputs: list[OctetOutput] = []
        with as_fatal(path), contextlib.ExitStack() as stack:
            if self._folder is None:
                output = stack.enter_context(OctetOutput(path, force=force))
                self._outputs.append(output)
                self._joined = Following(output.write)
            else:
                self._work = stack.enter_context(work_folder(self._folder / "deduplicated"))
            self._clean_up = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clean_up.close()

    def foresee(self, inputs: Iterable[Input | SourceError], others: Iterable[str] = ()) -> None:
        """Look, before hours go into reading, for what cannot be written; `others` are outputs of the run beside these.

        Raises FatalError.
        """
        read: dict[str, str] = {}  # by their real places, here and below: the names of inputs
        written: dict[str, str] = {}
        taken = set(map(real_place, others)) - {real_place(self._path)}
        for source in inputs:
            if isinstance(source, SourceError):
                continue
            path = self._place(source)
            place = real_place(path)
            if self._folder is not None:
                if place in written:
                    raise FatalError(
                        f"{path}: would be written for {written[place]} and for {source.name}: give them in two runs"
                    )
                if place in taken:
                    raise FatalError(f"{path}: would be written for {source.name}, and is another output")
                check_output(path, force=self._force)
            written[place] = source.name
            if source.path is not None:
                read[real_place(source.path)] = source.name
        for place in read.keys() & written.keys():
            raise FatalError(f"{read[place]}: is an input and an output: name another place to write")

    def admit(self, source: Input, format_: Format, codec: str | None) -> None:
        """A dump of this format is in the input, decoded from that codec. Raises FatalError where it cannot be written, or
        not with those before it.
        """
        if codec is not None:
            raise FatalError(
                f"{source.name}: is in {codec}, and dumps are written as they came: convert it to UTF-8 first"
            )
        path = self._place(source)
        if path not in self._admitted:
            self._admitted[path] = source.name, format_
            return
        first, before = self._admitted[path]
        hint = "unpack it" if first == source.name else "name a folder that exists, and each input gets a file in it"
        if before is not format_:
            raise FatalError(f"{path}: would hold {before.title} and {format_.title} ({source.name}); {hint}")
        if format_.framed:
            raise FatalError(f"{path}: two dumps of {format_.title} do not make one ({source.name}); {hint}")

    @contextlib.contextmanager
    def open(self, source: Input) -> Iterator[Following]:
        """What writes the dumps of an input. Raises FatalError."""
        if self._joined is not None:
            yield self._joined
            return
        work = self._work / f"dump-{len(self._outputs)}"
        with as_fatal(self._path):
            work.mkdir()
        output = self._clean_up.enter_context(OctetOutput(self._place(source), force=self._force, folder=work))
        yield Following(output.write)
        output.complete()  # there may be more dumps than files can be open
        self._outputs.append(output)

    def complete(self) -> None:
        """Complete the files. Raises FatalError."""
        for output in self._outputs:
            output.complete()

    def commit(self) -> None:
        """Put the files in their places. Raises FatalError."""
        for output in self._outputs:
            output.commit()

    def _place(self, source: Input) -> str:
        if self._folder is None:
            return self._path
        name = source.file_name.lstrip("-") or "standard-input"
        suffixes = Path(name).suffixes
        written = (suffix for suffix in suffixes if suffix.lower() not in _UNPACKED)
        return str(self._folder / (name.removesuffix("".join(suffixes)) + "".join(written)))
