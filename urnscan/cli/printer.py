"""Printed results of a scan: occurrences, counts, sources or classes, on standard output."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from urnscan.cli.conflicts import STANDARD_OUTPUT, TABLES
from urnscan.display.text import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from urnscan.library.passages import Passages
    from urnscan.run.options import Options
    from urnscan.run.tasks import Argument
    from urnscan.tables.namespace_counts import NamespaceCounts
    from urnscan.tables.printed_lines import Colours

    _Write = Callable[[memoryview], None]
    _Sink = Callable[[Any], None]


def open_passages(arguments: Namespace, inputs: Sequence[Argument], options: Options) -> Passages | None:
    """The reader of the text around occurrences, which reads the inputs a second time; None without the option
    `--context`. Raises ArgumentError if that is not from 0 to 10,000 characters.
    """
    if arguments.context is None:
        return None
    from urnscan.library.passages import Passages

    return Passages(inputs, options, arguments.context)


class Printers(NamedTuple):
    """Functions that print the result of a scan."""

    sinks: Mapping[str, _Sink] = MappingProxyType({})
    """Name of a result -> a function that prints the rows that it gets (`occurrences`, `classes`, `frequencies`:
    classes by count), or is called with the names of sources that were read completely (`names`).
    """
    finish: Callable[[], None] = lambda: None
    """Prints results that are known only at the end."""


def printers(arguments: Namespace, passages: Passages | None, write: _Write) -> Printers:
    """Return the functions that print what the arguments ask for: occurrences, classes, counts or sources. There are
    none if all results go to files, or as Parquet to standard output: `cli.outputs` writes that. The arguments must fit
    together (`check_rules`).

    `passages` adds the text around occurrences; None without `--context`. `write` gets lines in UTF-8 for standard
    output.
    """
    from urnscan.tables.namespace_counts import NamespaceCounts
    from urnscan.tables.printed_lines import frequency_lines, json_lines, occurrence_lines

    paths = {table: getattr(arguments, table) for table in TABLES}
    streamed = next((table for table, path in paths.items() if path == STANDARD_OUTPUT), None)
    if streamed is None and any(path is not None for path in paths.values()):
        return Printers()
    colours = _colours(arguments.color)
    if arguments.json:
        return Printers({streamed or "occurrences": _writer(write, json_lines, passages)})
    if streamed is not None:
        return Printers()
    if arguments.by is not None:
        by_namespace = NamespaceCounts()
        sinks = {"occurrences": by_namespace.add_occurrences, "classes": by_namespace.add_classes}
        return Printers(sinks, lambda: write(_bytes(by_namespace.table())))
    if arguments.unique:
        return Printers({"frequencies": _writer(write, lambda rows: frequency_lines(rows, colours))})
    if arguments.count:
        counts = _Counts(write, colours)
        return Printers({"occurrences": counts.add, "names": counts.print})
    if arguments.list_sources:
        return Printers({"occurrences": _Sources(write, colours).add})
    name = "urn" if arguments.canonical else "text"
    return Printers({"occurrences": _writer(write, lambda rows: occurrence_lines(rows, colours, name), passages)})


def count_by_namespace(sinks: dict[str, _Sink | None]) -> NamespaceCounts:
    """Return a counter, by namespace, of the classes that a run will write. To count them, this replaces the sink
    `classes` (the function that gets their rows) in `sinks`. Without such a sink the counter stays empty.
    """
    from urnscan.tables.namespace_counts import NamespaceCounts

    by_namespace = NamespaceCounts()
    if (to_file := sinks.get("classes")) is not None:
        sinks["classes"] = _both(by_namespace.add_classes, to_file)
    return by_namespace


def _both(first: _Sink, second: _Sink) -> _Sink:
    def take(rows: pa.RecordBatch) -> None:
        first(rows)
        second(rows)

    return take


_OFFICE = ("schemas-microsoft-com", "oasis:names:tc:opendocument")
"""Prefixes of names, for `--not-nid`, that office programs write into each of their files."""


class OfficeNames:
    """Counter of the occurrences of names that office programs write into each of their files, such as
    `urn:schemas-microsoft-com:…`.
    """

    def __init__(self) -> None:
        self._counts = dict.fromkeys(_OFFICE, 0)

    def counted_in(self, sinks: Mapping[str, _Sink | None]) -> dict[str, _Sink | None]:
        """Return a copy of the sinks of a scan (name of a table -> function that gets its rows), in which one sink also
        counts the names: the first of `classes`, `frequencies` and `occurrences` that there is.
        """
        counted_one = next((name for name in ("classes", "frequencies", "occurrences") if sinks.get(name)), None)
        return {
            name: _both(self._add, sink) if sink is not None and name == counted_one else sink
            for name, sink in sinks.items()
        }

    def _add(self, rows: pa.RecordBatch) -> None:
        import pyarrow.compute as pc

        for prefix in _OFFICE:
            is_office = pc.starts_with(rows.column("urn"), f"urn:{prefix}:")
            each = rows.column("occurrence_count") if "occurrence_count" in rows.schema.names else None
            self._counts[prefix] += pc.sum(is_office if each is None else each.filter(is_office)).as_py() or 0

    def hint(self) -> str:
        """A sentence with the number of occurrences of these names so far, and the option that leaves them out; empty if
        there were none.
        """
        prefixes = [prefix for prefix, count in self._counts.items() if count]
        names = counted(sum(self._counts.values()), "occurrence names a vocabulary", "occurrences name vocabularies")
        remedy = f"--not-nid {','.join(prefixes)}"
        return f"{names} of office files, such as urn:{prefixes[0]}:…; {remedy} leaves them out" if prefixes else ""


def _colours(setting: str) -> Colours:
    from urnscan.tables.printed_lines import COLOURED, PLAIN

    # no-color.org
    can = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return COLOURED if setting == "always" or (setting == "auto" and can) else PLAIN


def _writer(
    write: _Write, lines: Callable[[pa.RecordBatch], memoryview], passages: Passages | None = None
) -> Callable[[pa.RecordBatch], None]:
    return lambda rows: write(lines(rows if passages is None else passages.add(rows)))


def _bytes(lines: Iterable[str]) -> memoryview:
    return memoryview("".join(lines).encode("utf-8", "backslashreplace"))


class _Counts:
    """Prints the number of occurrences in each source, also 0: `add` counts rows, `print` prints sources that were read
    completely.
    """

    def __init__(self, write: _Write, colours: Colours) -> None:
        self._write = write
        self._colours = colours
        # Source that is being read -> number of occurrences.
        self._counts: Counter[str] = Counter()

    def add(self, rows: pa.RecordBatch) -> None:
        for item in rows.column("source").value_counts().to_pylist():
            self._counts[item["values"]] += item["counts"]

    def print(self, sources: Sequence[str]) -> None:
        from urnscan.tables.printed_lines import source_line

        self._write(_bytes(source_line(source, self._counts.pop(source, 0), self._colours) for source in sources))


class _Sources:
    """Prints each source with an occurrence, like `grep -l`."""

    def __init__(self, write: _Write, colours: Colours) -> None:
        self._write = write
        self._colours = colours
        self._last = ""

    def add(self, rows: pa.RecordBatch) -> None:
        """Print the new sources. Precondition: all occurrences of a source are consecutive."""
        from urnscan.tables.printed_lines import source_line

        sources = [source for source in rows.column("source").unique().to_pylist() if source != self._last]
        if sources:
            self._last = sources[-1]
            self._write(_bytes(source_line(source, None, self._colours) for source in sources))
