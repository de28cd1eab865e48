"""The command: arguments -> options -> run -> exit status. The only room that prints."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import regex

from urnscan import __version__
from urnscan.equivalence import LEVELS
from urnscan.errors import FatalError, UrnscanError
from urnscan.syntax import SYNTAXES
from urnscan.views import KINDS

if TYPE_CHECKING:
    import pyarrow as pa

    from urnscan.options import Options
    from urnscan.pipeline import Report

__all__ = ["main"]

DONE, SOME_FAILED, NOTHING_DONE, INTERRUPTED = 0, 1, 2, 130

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SIZE = regex.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(|[kmgt]i?)b?", regex.IGNORECASE)
_CONTROL = regex.compile(r"[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (by default the process's own); returns the exit status.

    0: done, also with nothing found; 1: done, but some inputs failed; 2: wrong usage, or nothing could be done;
    130: interrupted.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    for number in _SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup wants it
            signal.signal(number, _interrupt)
    try:
        if words[:1] == ["explain"]:
            status = _explain(_explain_parser().parse_args(words[1:]))
        else:
            status = _scan(_parser().parse_intermixed_args(words))
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:  # `| head` has seen enough
        _drop_standard_output()
        return DONE
    except (UrnscanError, ValueError) as error:
        _say(error)
        return NOTHING_DONE
    except OSError as error:  # what is read and written has its own words for it; this is the standard output
        _drop_standard_output()
        _say(f"standard output: {error.strerror or error}")
        return NOTHING_DONE
    except KeyboardInterrupt:
        _say("interrupted")
        _leave(INTERRUPTED)
        return INTERRUPTED
    except SystemExit as end:
        if isinstance(end.code, int):
            _leave(end.code)
        raise
    return status


def _leave(status: int) -> None:
    """End now, where the interpreter's end would wait for requests to a store that does not answer any more."""
    if "urnscan.sources.remote.stores" in sys.modules:
        os._exit(status)


def _interrupt(number: int, _frame: object) -> NoReturn:
    """Stop and clean up; whoever asks again while that is done has to wait for it."""
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Who asks to stop meanwhile is heard at the end: between making a file and knowing of it nothing may come."""
    asked: list[int] = []
    handled = [number for number in _SIGNALS if signal.getsignal(number) is _interrupt]
    for number in handled:
        signal.signal(number, lambda number, _frame: asked.append(number))
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, _interrupt)
    if asked:
        _interrupt(asked[0], None)


def _drop_standard_output() -> None:
    """What the interpreter would flush at its end goes nowhere, quietly."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Parser(argparse.ArgumentParser):
    """One that says what is wrong in one line, and lets no argument command the terminal."""

    def error(self, message: str) -> NoReturn:
        _say(f"{message} ({self.prog} --help tells more)")
        sys.exit(NOTHING_DONE)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="urnscan",
        usage="urnscan INPUT... [-o CLASSES.parquet] [--occurrences OCCURRENCES.parquet] [options]\n"
        "       urnscan explain URN... [options]",
        description="Find URNs in text, tell which are the same, and write them to Parquet. "
        "Text is read as it is kept: compressed, in archives (tar, zip, WARC), in tables (Parquet, Arrow, SQLite), behind "
        "URLs. Without an output, print each occurrence as source:line:text.",
        epilog="Exit status: 0 done, 1 done but some inputs failed, 2 wrong usage or nothing could be done, "
        "130 interrupted. An INPUT named explain is written ./explain.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "inputs",
        metavar="INPUT",
        nargs="*",
        help="a file, a folder (walked, sorted, links not followed), a glob, a URL, or - for standard input, "
        "which is also what is read when there is no INPUT and it is no terminal",
    )
    output = parser.add_argument_group("output")
    output.add_argument(
        "-o", dest="classes", metavar="FILE", help="write the equivalence classes to Parquet, one row each"
    )
    output.add_argument("--occurrences", metavar="FILE", help="write every occurrence to Parquet, one row each")
    output.add_argument(
        "--rejects", metavar="FILE", help="write what begins like a URN and is none to Parquet, with the reason"
    )
    output.add_argument("--force", action="store_true", help="replace outputs that exist")
    output.add_argument("--json", action="store_true", help="print occurrences as JSON objects, one a line")
    _add_meaning(parser.add_argument_group("what is a URN, and which are the same"), scan=True)
    which = parser.add_argument_group("which files of a folder")
    which.add_argument(
        "--include", metavar="GLOB", action="append", default=[], help="only files that match (repeatable)"
    )
    which.add_argument(
        "--exclude", metavar="GLOB", action="append", default=[], help="no files or folders that match (repeatable)"
    )
    which.add_argument("--follow", action="store_true", help="follow symbolic links")
    which.add_argument(
        "--encoding", metavar="NAME", help="what inputs are in that have no byte order mark (default: read as octets)"
    )
    inside = parser.add_argument_group("what is inside of files")
    inside.add_argument(
        "--column",
        metavar="NAME",
        action="append",
        default=[],
        help="read only this column of tables, and this field of CSV, TSV and JSON, which else are scanned as text "
        "(repeatable)",
    )
    limits = (
        ("ratio", int, "N", "unfold an input to no more than N times its size (default: 1000)"),
        ("size", _size, "SIZE", "unfold an input to no more than this (default: 10TB)"),
        ("depth", int, "N", "no more archives, tables and compressions in each other (default: 8)"),
        ("members", int, "N", "read no more members of an input's archives (default: 10 million)"),
    )
    for name, kind, shown, text in limits:
        inside.add_argument(f"--max-{name}", metavar=shown, type=kind, help=text)
    running = parser.add_argument_group("running")
    running.add_argument("-j", dest="jobs", metavar="N", type=int, help="threads (default: the cores)")
    running.add_argument(
        "--memory",
        metavar="SIZE",
        type=_size,
        default=10**9,
        help="what grouping may take before it spills to disk (default: 1GB)",
    )
    running.add_argument("--strict", action="store_true", help="end the run at the first input that fails")
    running.add_argument("--quiet", action="store_true", help="no summary; failures are still named")
    running.add_argument("--no-progress", action="store_true", help="no progress bar")
    running.add_argument("--version", action="version", version=f"urnscan {__version__}")
    return parser


def _explain_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="urnscan explain",
        description="Take URNs apart, or say where and why a text is none.",
        epilog="Exit status: 0 all are URNs, 1 some are not, 2 wrong usage.",
        allow_abbrev=False,
    )
    parser.add_argument("texts", metavar="URN", nargs="+")
    _add_meaning(parser, scan=False)
    parser.add_argument("--json", action="store_true", help="print a JSON object a line")
    return parser


def _add_meaning(group: argparse._ActionsContainer, *, scan: bool) -> None:
    group.add_argument("--syntax", choices=list(SYNTAXES), default="rfc2141", help="the standard (default: rfc2141)")
    group.add_argument(
        "--equivalence", choices=list(LEVELS), default="lexical", help="what makes two the same (default: lexical)"
    )
    if scan:
        group.add_argument(
            "--trim", action="store_true", help="cut closing punctuation and unmatched brackets off the ends"
        )
        group.add_argument(
            "--resolver-tail",
            choices=["keep", "cut"],
            default="keep",
            help="cut off what follows a URN in a URL and belongs to the URL: its query, its next parameter, its fragment "
            "(default: keep)",
        )
        group.add_argument(
            "--recover",
            metavar="KIND[,KIND...]",
            type=_views,
            default=(),
            help=f"also find URNs that do not stand there literally: {', '.join(KINDS)}, or all",
        )
        group.add_argument(
            "--max-length", metavar="N", type=int, default=65_536, help="cut longer matches (default: 65536 octets)"
        )


def _views(text: str) -> tuple[str, ...]:
    """The names of views, as in percent,wraps."""
    return tuple(kind.strip() for kind in text.split(","))


def _size(text: str) -> int:
    """A number of octets, as in 500MB or 2GiB."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write it like 500MB or 2GiB")
    unit = match[2].lower()
    return int(float(match[1]) * (1024 if unit.endswith("i") else 1000) ** " kmgt".index(unit[:1] or " "))


def _scan(arguments: argparse.Namespace) -> int:
    import pyarrow as pa  # noqa: PLC0415 (heavy: --help and explain do without)

    from urnscan.options import Options  # noqa: PLC0415
    from urnscan.pipeline import run  # noqa: PLC0415
    from urnscan.sources import is_remote, real_place  # noqa: PLC0415

    # Our tables are large and live shortly: the system's allocator, which keeps what is freed, saves half the time that
    # the kernel spends on new pages.
    pa.set_memory_pool(pa.system_memory_pool())

    inputs = arguments.inputs or _standard_input()
    of_its_own = ("jobs", "max_ratio", "max_size", "max_depth", "max_members")  # their defaults are those of Options
    given = {name: value for name in of_its_own if (value := getattr(arguments, name)) is not None}
    options = Options(
        syntax=arguments.syntax,
        equivalence=arguments.equivalence,
        trim=arguments.trim,
        recover=arguments.recover,
        resolver_tail=arguments.resolver_tail,
        max_length=arguments.max_length,
        include=tuple(arguments.include),
        exclude=tuple(arguments.exclude),
        follow=arguments.follow,
        encoding=arguments.encoding,
        column=tuple(arguments.column),
        memory=arguments.memory,
        strict=arguments.strict,
        **given,
    )
    outputs = [path for path in (arguments.classes, arguments.occurrences, arguments.rejects) if path is not None]
    if "" in outputs:
        raise FatalError("an output has an empty name")
    if not outputs and sys.stdout is None:
        raise FatalError("standard output is closed: name an output with -o, --occurrences or --rejects")
    if arguments.json and outputs:
        raise FatalError("--json is for printing: leave it out, or leave out -o, --occurrences and --rejects")
    places = [real_place(path) for path in outputs]
    for number, place in enumerate(places):
        if place in places[:number]:
            raise FatalError(f"{outputs[places.index(place)]}: named as two outputs")
    with contextlib.ExitStack() as stack:
        # To look for a remote output may take long, and whoever waits for that may want to stop.
        with contextlib.nullcontext() if any(map(is_remote, outputs)) else _uninterrupted():
            files = _open_outputs(arguments, stack)
        progress = _progress(arguments, inputs, options, outputs, stack)
        report = run(
            inputs,
            options,
            classes=files["classes"].write if "classes" in files else None,
            occurrences=(
                files["occurrences"].write if "occurrences" in files else None if outputs else _printer(arguments.json)
            ),
            rejects=files["rejects"].write if "rejects" in files else None,
            outputs=outputs,
            spill_folder=files["classes"].folder if "classes" in files else None,
            **progress,
        )
        for file in files.values():
            file.commit(report.metadata(options))
    if not arguments.quiet:
        _summarise(report, options)
    return SOME_FAILED if report.failures else DONE


def _standard_input() -> list[str]:
    if sys.stdin is None or sys.stdin.isatty():
        raise FatalError("nothing to read: name files or folders, or - for standard input (urnscan --help tells more)")
    return ["-"]


def _open_outputs(arguments: argparse.Namespace, stack: contextlib.ExitStack) -> dict[str, Any]:
    from urnscan.output import ParquetOutput  # noqa: PLC0415
    from urnscan.tables import CLASSES, OCCURRENCES, REJECTS, REPEATING, SELECTIVE  # noqa: PLC0415

    files = {}
    if arguments.classes is not None:
        output = ParquetOutput(
            arguments.classes, CLASSES, dictionaries=REPEATING, statistics=SELECTIVE, force=arguments.force
        )
        files["classes"] = stack.enter_context(output)
    if arguments.occurrences is not None:
        output = ParquetOutput(arguments.occurrences, OCCURRENCES, force=arguments.force)
        files["occurrences"] = stack.enter_context(output)
    if arguments.rejects is not None:
        files["rejects"] = stack.enter_context(ParquetOutput(arguments.rejects, REJECTS, force=arguments.force))
    return files


def _progress(
    arguments: argparse.Namespace,
    inputs: Sequence[str],
    options: Options,
    outputs: Sequence[str],
    stack: contextlib.ExitStack,
) -> dict[str, Any]:
    """What `run` is to call: failures in lines, and on a terminal a bar of octets, both on standard error."""
    both_on_screen = not outputs and sys.stdout.isatty()  # the occurrences run over the screen
    if arguments.no_progress or arguments.quiet or both_on_screen or sys.stderr is None or not sys.stderr.isatty():
        return {"on_failure": _say}
    from tqdm import tqdm  # noqa: PLC0415

    from urnscan.planning import plan_size  # noqa: PLC0415

    total = None if "-" in inputs else plan_size(inputs, options, outputs)
    bar = tqdm(desc="scanning", total=total, unit="B", unit_scale=True, leave=False, dynamic_ncols=True)
    stack.enter_context(bar)

    def say(failure: object) -> None:
        with tqdm.external_write_mode(file=sys.stderr):
            _say(failure)

    return {"on_failure": say, "on_progress": bar.update, "on_grouping": lambda: bar.set_description("grouping")}


def _printer(as_json: bool) -> Callable[[pa.RecordBatch], None]:
    """A sink that prints occurrences, as `source:line:text` or as JSON."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    from urnscan.arrow import octet_strings, text_array  # noqa: PLC0415
    from urnscan.sources import INSIDE  # noqa: PLC0415

    out = sys.stdout.buffer

    def write(*parts: pa.StringArray | str) -> None:
        """Print the lines that these columns make side by side; a string stands in each of them."""
        columns = [text_array([part])[0] if isinstance(part, str) else part for part in parts]
        octets, _ = octet_strings(pc.binary_join_element_wise(*columns, text_array([""])[0]))
        out.write(octets.data)
        out.flush()

    def each(column: pa.Array, change: Callable[[str], str]) -> pa.StringArray:
        """A column of few different strings, each of them changed."""
        column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        return text_array([change(text) for text in column.dictionary.to_pylist()]).take(column.indices)

    def print_json(rows: pa.RecordBatch) -> None:
        parts: list[pa.StringArray | str] = []
        for name in rows.schema.names:
            column = rows.column(name)
            if name in ("source", "member", "via", "resolver"):
                column = each(column, lambda text: json.dumps(text, ensure_ascii=False))
            parts += [f'{", " if parts else "{"}"{name}": ']
            if name in ("text", "urn", "nid"):  # no URN holds what would have to be escaped
                parts += ['"', column.cast(pa.string()), '"']
            else:
                parts += [column.cast(pa.string()).fill_null("null")]
        write(*parts, "}\n")

    def print_lines(rows: pa.RecordBatch) -> None:
        # A member's name is what somebody else wrote into an archive: it must neither end the line nor command a terminal.
        member = each(rows.column("member"), lambda text: INSIDE + _printable(text)).fill_null("")
        write(
            rows.column("source").cast(pa.string()),
            member,
            ":",
            rows.column("line").cast(pa.string()),
            ":",
            rows.column("text"),
            "\n",
        )

    return print_json if as_json else print_lines


def _summarise(report: Report, options: Options) -> None:
    """One line of what was done, and one about trimming where it would have changed something."""
    parts = [
        _counted(report.inputs, "input"),
        _counted(report.octets, "octet"),
        _counted(report.occurrences, "occurrence"),
    ]
    if report.classes is not None:
        parts.append(_counted(report.classes, "class", "classes"))
    if report.rejects is not None:
        parts.append(_counted(report.rejects, "reject"))
    parts.append(f"{report.seconds:.1f} s")
    if report.failures:
        parts.append(_counted(len(report.failures), "failure"))
    _say(", ".join(parts))
    if report.trimmable and not options.trim:
        many = f"{report.trimmable:,} occurrences end in punctuation or run into the next"
        one = "1 occurrence ends in punctuation or runs into the next"
        _say(f"{one if report.trimmable == 1 else many}; --trim cuts that off")


def _counted(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _explain(arguments: argparse.Namespace) -> int:
    from urnscan.explanation import explain  # noqa: PLC0415

    status = DONE
    for number, text in enumerate(arguments.texts):
        found = explain(text, syntax=arguments.syntax, equivalence=arguments.equivalence)
        if not found.is_urn:
            status = SOME_FAILED
        if arguments.json:
            print(json.dumps(found.as_dict()))
            continue
        if number:
            print()
        print(_printable(text))
        for name, value in found.as_dict().items():
            if name == "directives":
                rows = [(name, f"{keyword} = {directive}") for keyword, directive in value.items()]
            elif name in ("text", "is_urn", "valid") or value is None or value == ():
                rows = []
            else:
                rows = [(name, ", ".join(value) if isinstance(value, tuple) else str(value))]
            for label, shown in rows:
                print(f"  {label.replace('_', ' '):<12} {_printable(shown)}")
        if found.position is not None:
            print(f"  {'':<12} {_printable(text)}")
            print(f"  {'':<12} {' ' * len(_printable(text[: found.position]))}^")
    return status


def _say(message: object) -> None:
    """One line on standard error."""
    if sys.stderr is not None:  # closed: print would take standard output instead
        print(f"urnscan: {_printable(str(message))}", file=sys.stderr)


def _printable(text: str) -> str:
    """The text with control characters escaped: names of files and what they hold must not command a terminal."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
