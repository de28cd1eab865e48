"""Destinations of the results of a run; the files for copies of the dumps: a file for all dumps, or for each input."""

from __future__ import annotations

import contextlib
import functools
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from urnscan.errors import FatalError, SourceError
from urnscan.framing.buffer import MARK
from urnscan.records.format import Format
from urnscan.records.format_registry import suffixes
from urnscan.stores.input import Input
from urnscan.stores.urls import is_remote, local_path, real_place
from urnscan.tables.layout import USUAL, Layout
from urnscan.tables.nested_columns import FlatTable
from urnscan.tables.output_file import Output, as_fatal, check_output, work_folder
from urnscan.tables.plain_output import NOT_WRITTEN, PAGES, ByteOutput, PageOutput, form_of
from urnscan.tables.schemas import CANDIDATES, CLUSTERS, MAPPING, REPEATING_IN_CLUSTERS, REVIEW, WRONG
from urnscan.tables.writers import TEXT_FORMS, open_table


class JoinedDumps:
    """Writes dumps in sequence, with line ends between them. A byte order mark is written only at the start of the
    first.
    """

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        # The last bytes that were written.
        self._tail = b""
        # Line ends that are needed before the next bytes.
        self._line_ends = 0
        # Whether the next bytes begin another dump.
        self._begins = False

    def begin(self, line_ends: int) -> None:
        """Begin another dump. If bytes were written before, line ends are written before its first bytes, so that at
        least `line_ends` are there, together with those at the end of the earlier dump.
        """
        self._begins = bool(self._tail)
        self._line_ends = line_ends if self._tail else 0

    def __call__(self, data: bytes) -> None:
        """Write bytes of the dump. Raises the errors of `write`."""
        if self._begins and data:
            data = data.removeprefix(MARK)
            self._begins = False
        if not data:
            return
        if self._line_ends:
            lines = self._tail.replace(b"\r", b"")
            self._write(b"\n" * (self._line_ends - len(lines) + len(lines.rstrip(b"\n"))))
            self._line_ends = 0
        self._write(data)
        self._tail = (self._tail + data[-4:])[-4:]


_FOLDER = "name an existing folder (mkdir makes one) to get a file for each input"


class Dumps(contextlib.AbstractContextManager["Dumps"]):
    """Files for copies of the dumps: a file for all dumps, or a folder with a file for each input; a context manager.

    All files appear when `commit` is called; without it, they are deleted at the end of the context.
    """

    def __init__(self, path: str, *, force: bool = False) -> None:
        """`path` is a folder if a folder exists there; otherwise a file, or a URL in an object store. With `force`,
        existing files may be replaced. Raises FatalError if `path` ends in "/" and no folder exists there, for a file
        that exists without `force` or cannot be written, and for a folder that cannot be written. `foresee` checks the
        files in a folder.
        """
        self._path = path
        self._force = force
        # Path of an output -> its first input, and the format.
        self._admitted: dict[str, tuple[str, Format]] = {}
        self._has_several = False
        # Key of an input -> its name in the folder, if that is not the name of the file.
        self._distinct: Mapping[bytes, str] = {}
        self._folder = None if is_remote(path) else Path(local_path(path))
        if self._folder is not None and not self._folder.is_dir():
            if path.endswith("/"):
                raise FatalError(f"{path}: this folder does not exist; make it first")
            self._folder = None
        self._joined: JoinedDumps | None = None
        self._outputs: list[ByteOutput] = []
        with as_fatal(path), contextlib.ExitStack() as stack:
            if self._folder is None:
                output = stack.enter_context(ByteOutput(path, force=force))
                self._outputs.append(output)
                self._joined = JoinedDumps(output.write)
            else:
                self._work = stack.enter_context(work_folder(self._folder / "deduplicated"))
            self._clean_up = stack.pop_all()

    def __exit__(self, *_: object) -> None:
        self._clean_up.close()

    def foresee(self, inputs: Iterable[Input | SourceError], others: Iterable[str] = ()) -> list[str]:
        """Check before the dumps are read that all files can be written, and return their paths. `others`: paths of the
        other outputs of the run.

        Raises FatalError for a file that is also an input or another output; in a folder also for a file that cannot be
        written, or that would be the output for two inputs.
        """
        sources = [source for source in inputs if not isinstance(source, SourceError)]
        self._has_several = len(sources) > 1
        if self._folder is not None:
            self._distinct = _distinct_names(sources)
        paths: dict[str, None] = {}
        # Real place -> name of the input, for the files that are read; the same in `written`.
        read: dict[str, str] = {}
        written: dict[str, str] = {}
        other_places = set(map(real_place, others)) - {real_place(self._path)}
        for source in sources:
            path = self._place(source)
            place = real_place(path)
            if self._folder is not None:
                if place in written:
                    raise FatalError(
                        f"{path}: would be the output for {written[place]} and for {source.name}; read them in two runs"
                    )
                if place in other_places:
                    raise FatalError(
                        f"{path}: would be the output for {source.name}, and is another output, too; name another folder"
                    )
                check_output(path, force=self._force)
            written[place] = source.name
            paths[path] = None
            if source.path is not None:
                read[real_place(source.path)] = source.name
        for path in paths if self._distinct else ():
            for parent in Path(path).relative_to(self._folder or "").parents[:-1]:
                place = str((self._folder or Path()) / parent)
                if real_place(place) in written or (os.path.lexists(place) and not Path(place).is_dir()):
                    raise FatalError(f"{place}: must be a folder for {path}, and is a file; name another folder")
        for place in read.keys() & written.keys():
            raise FatalError(f"{read[place]}: is an input and an output; name another output")
        return list(paths)

    def admit(self, source: Input, format_: Format, codec: str | None) -> None:
        """Check that a dump of an input can be written after the earlier dumps, and remember it for the next checks.
        Raises FatalError if it cannot, for example because the file already has records in another format.

        `codec`: the encoding from which the dump was decoded, which is a FatalError; None if its bytes were not
        decoded.
        """
        if codec is not None:
            raise FatalError(
                f"{source.name}: is in {codec}, so its records cannot be copied; convert it to UTF-8 first"
            )
        path = self._place(source)
        if path not in self._admitted:
            suffix, _ = form_of(path)
            if suffix in suffixes() and suffix not in (*format_.suffixes, form_of(source.name)[0]):
                hint = f"; use {format_.suffixes[0]}" if format_.suffixes else ""
                if self._folder is None and self._has_several:
                    hint = f"; {_FOLDER}" if format_.framed else f"{hint}, or, for several formats, {_FOLDER}"
                raise FatalError(f"{path}: the output keeps the format of {source.name}, {format_.title}{hint}")
            self._admitted[path] = source.name, format_
            return
        first, earlier = self._admitted[path]
        hint = f"unpack {first} first" if first == source.name else _FOLDER
        if earlier is not format_:
            raise FatalError(f"{path}: cannot contain {earlier.title} and {format_.title} ({source.name}); {hint}")
        if format_.framed:
            raise FatalError(f"{path}: cannot contain two dumps of {format_.title} ({source.name}); {hint}")

    @contextlib.contextmanager
    def open(self, source: Input) -> Iterator[JoinedDumps]:
        """Return a context manager whose value is the function that writes the dumps of an input. In a folder, the file
        of the input is written to its end when the context ends; it appears with `commit`. Raises FatalError if the
        file exists without `force`, or cannot be written.
        """
        if self._joined is not None:
            yield self._joined
            return
        work = self._work / f"dump-{len(self._outputs)}"
        with as_fatal(self._path):
            work.mkdir()
        output = self._clean_up.enter_context(ByteOutput(self._place(source), force=self._force, folder=work))
        yield JoinedDumps(output.write)
        # The output is completed now, because there may be more inputs than files that may be open.
        output.complete()
        self._outputs.append(output)

    def complete(self, _metadata: Mapping[str, Any] | None = None) -> None:
        """Write the files to their end; they do not appear before `commit`. Ignores its argument. Raises FatalError if
        the disk is full or fails.
        """
        for output in self._outputs:
            output.complete()

    def commit(self, _metadata: Mapping[str, Any] | None = None) -> None:
        """Complete the files, and move them to their places; called once. Ignores its argument. Raises FatalError if a
        file cannot be written or moved.
        """
        for output in self._outputs:
            if self._distinct:
                with as_fatal(self._path):
                    output.base_path.parent.mkdir(parents=True, exist_ok=True)
            output.commit()

    def _place(self, source: Input) -> str:
        if self._folder is None:
            return self._path
        return str(self._folder / (self._distinct.get(source.key) or _written_name(source)))


def _written_name(source: Input) -> str:
    """The name of the file for an input, without suffixes of forms that are not written: `a.csv` for `a.csv.xz`."""
    name = source.file_name.lstrip("-") or "standard-input"
    suffixes = Path(name).suffixes
    written = (suffix for suffix in suffixes if suffix.lower() not in NOT_WRITTEN)
    return name.removesuffix("".join(suffixes)) + "".join(written)


def _distinct_names(sources: Iterable[Input]) -> dict[bytes, str]:
    """Names of files, by `Input.key`, for inputs with the same name: with as many of their folders as distinguish them.
    Other inputs are missing.
    """
    by_name: dict[str, list[Input]] = defaultdict(list)
    for source in sources:
        by_name[_written_name(source)].append(source)
    names: dict[bytes, str] = {}
    for name, alike in by_name.items():
        if len(alike) == 1:
            continue
        folders = [[part for part in source.name.split("/")[:-1] if part not in {"", ".", ".."}] for source in alike]
        tails = [""] * len(alike)
        for depth in range(1, max(map(len, folders)) + 1):
            tails = ["/".join(parts[-depth:]) for parts in folders]
            if len(set(tails)) == len(alike):
                break
        names |= {source.key: f"{tail}/{name}".lstrip("/") for source, tail in zip(alike, tails, strict=True)}
    return names


def open_review(path: str | os.PathLike[str], *, force: bool = False, layout: Layout = USUAL) -> Output | FlatTable:
    """Open the output of `--review`, and return it: a page (PageOutput) if the name ends in .html, .htm or .xhtml,
    perhaps with the suffix of a compression, otherwise a table (with a flat `layout` a FlatTable). With `force`, an
    existing file is replaced; `layout` is only for tables. Raises FatalError for a file that exists without `force` or
    cannot be written, and for an unknown table format.
    """
    if form_of(os.fspath(path))[0] in PAGES:
        return PageOutput(path, force=force)
    return open_table(path, REVIEW, force=force, layout=layout)


def open_clusters(path: str | os.PathLike[str], *, force: bool = False, layout: Layout = USUAL) -> Output | FlatTable:
    """Open the table of clusters, and return it. With `force`, an existing file is replaced. Raises FatalError for a
    file that exists without `force` or cannot be written, for an unknown table format, and for the name of a dump:
    `new.mrc`.
    """
    suffix, _ = form_of(os.fspath(path))
    if suffix in suffixes() and suffix not in TEXT_FORMS:
        raise FatalError(
            f"{path}: -o writes a table, not a dump; --deduplicated {path} writes the dump without its duplicates"
        )
    return open_table(path, CLUSTERS, dictionaries=REPEATING_IN_CLUSTERS, force=force, layout=layout)


TABLES: Mapping[str, Callable[..., Any]] = {
    "clusters": open_clusters,
    "mapping": functools.partial(open_table, schema=MAPPING),
    "review": open_review,
    "candidates": functools.partial(open_table, schema=CANDIDATES),
    "wrong": functools.partial(open_table, schema=WRONG),
}
"""The outputs of FILES that are tables, by the names of their options: functions that open them, which also take a
`layout`.
"""
FILES: Mapping[str, Callable[..., Any]] = {
    **TABLES,
    "deduplicated": Dumps,
    "removed": Dumps,
    "report": PageOutput,
}
"""The functions that open the outputs of a run, by the names of their options (`clusters`, `report`). Each takes a path
and `force`, and returns a context manager.
"""


def review_sinks(file: Any) -> tuple[Callable[[Any], None] | None, Callable[[Any], None] | None]:  # noqa: ANN401
    """Return the functions that append to `file`, the output of `--review`: first the function for rows of a table,
    then the function for the bytes of a page. The one that does not fit the output is None; both are None if `file` is
    None.
    """
    if isinstance(file, PageOutput):
        return None, file.write
    return file and file.write, None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Destinations of the results of a run; None for results that are not written."""

    clusters: Callable[[pa.RecordBatch], None] | None = None
    """Function that writes batches of rows of the table of clusters (CLUSTERS), in order."""
    mapping: Callable[[pa.RecordBatch], None] | None = None
    """Function that writes batches of rows of the table of removed records (MAPPING), in order."""
    review: Callable[[pa.RecordBatch], None] | None = None
    """Function that writes batches of rows of the table for people who decide (REVIEW), in order."""
    review_page: Callable[[bytes], object] | None = None
    """Function that writes the bytes of the page for people who decide, in blocks."""
    review_all: bool = False
    """Whether the review also has groups in doubt that are decided, and all groups with a removed record."""
    candidates: Callable[[pa.RecordBatch], None] | None = None
    """Function that writes batches of rows of pairs that may be the same (CANDIDATES), in order."""
    wrong: Callable[[pa.RecordBatch], None] | None = None
    """Function that writes batches of rows of wrong ISBN and ISSN (WRONG), in order."""
    dumps: Dumps | None = None
    """Files for the kept records, and the bytes around them."""
    removed: Dumps | None = None
    """Files for the removed records, and the bytes around them."""
    page: Callable[[bytes], object] | None = None
    """Function that writes the bytes of the HTML report."""
    paths: Collection[str] = ()
    """Paths and URLs that the run writes and therefore must not read."""
    spill_folder: Path | None = None
    """Folder in which the folder for temporary rows is made; None: the folder of the system for temporary files."""

    @property
    def copies(self) -> Mapping[bool, Dumps]:
        """Destinations of copies of the dumps: True for the kept records, False for the removed records; without those
        that are not written.
        """
        return {kept: dumps for kept, dumps in ((True, self.dumps), (False, self.removed)) if dumps is not None}

    @property
    def need_second_reading(self) -> bool:
        """Whether the dumps are read a second time: for copies, and for pages that show records."""
        return bool(self.copies) or self.page is not None or self.review_page is not None

    @property
    def has_review(self) -> bool:
        """Whether records are written for people to decide, to a table or a page."""
        return self.review is not None or self.review_page is not None

    @property
    def has_digests(self) -> bool:
        """Whether the digests of records (hashes of their bytes) are written."""
        tables = (self.clusters, self.mapping, self.candidates)
        return self.has_review or any(table is not None for table in tables)
