"""A process of its own that reads ORC files with the library of Apache, which crashes on some that are damaged.

It takes a line of JSON with the path of a file, and gives its schema; takes another with the columns that are wanted and
the first stripe, and gives the rows of each stripe. It imports nothing of ours.

What it gives are frames: the kind (an octet) and the length of the content (8 octets), then the content.
"""

import contextlib
import json
import os
import struct
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

FRAME = struct.Struct("<cQ")
SCHEMA, STRIPE, ROWS, WRONG, END = b"S", b"N", b"R", b"W", b"E"
"""Kinds of frames: the schema, behind the number of stripes; the number of a stripe that begins; some of its rows;
why a stripe or the file cannot be read, behind the number of its rows, 0 if that is not known; the end."""
NUMBER = struct.Struct("<Q")

_MOST_ROWS = 1 << 16  # that are given at a time
_MOST_OCTETS = 1 << 23


def _write(out: BinaryIO, kind: bytes, *content: Any) -> None:  # noqa: ANN401 (octets, or what pyarrow has of them)
    out.write(FRAME.pack(kind, sum(map(len, content))))
    out.writelines(content)
    out.flush()


def _said(error: BaseException) -> bytes:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].encode("utf-8", "replace")


def _parts(pa: Any, batch: Any) -> Iterator[memoryview]:  # noqa: ANN401 (pyarrow carries no types)
    """The rows of a stripe as streams of Arrow, some at a time."""
    most = max(1, min(_MOST_ROWS, _MOST_OCTETS * batch.num_rows // max(1, batch.nbytes)))
    for start in range(0, batch.num_rows, most):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch.slice(start, most))
        yield memoryview(sink.getvalue())


def _give(pa: Any, file: Any, out: BinaryIO) -> None:  # noqa: ANN401 (as above)
    """Give the schema, and the stripes that are then asked for."""
    _write(out, SCHEMA, NUMBER.pack(file.nstripes), memoryview(file.schema.serialize()))
    asked = json.loads(sys.stdin.buffer.readline() or b'{"columns": [], "first": 0}')
    for number in range(asked["first"], file.nstripes if asked["columns"] else 0):
        _write(out, STRIPE, NUMBER.pack(number))
        try:
            batch = file.read_stripe(number, columns=asked["columns"])
            for part in _parts(pa, batch):
                _write(out, ROWS, part)
        except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
            _write(out, WRONG, NUMBER.pack(_rows(pa, file, number)), _said(error))


def _rows(pa: Any, file: Any, number: int) -> int:  # noqa: ANN401 (as above)
    """The number of rows of a stripe, by the first of its columns that can be read; 0 if none can."""
    for name in file.schema.names:
        with contextlib.suppress(pa.ArrowException, OSError, ValueError, MemoryError):
            return int(file.read_stripe(number, columns=[name]).num_rows)
    return 0


def main() -> None:
    """Read one file."""
    out = sys.stdout.buffer
    path = os.fsdecode(bytes.fromhex(json.loads(sys.stdin.buffer.readline())))
    import pyarrow as pa  # noqa: PLC0415 (who starts the script needs only the names above)
    from pyarrow import orc  # noqa: PLC0415 (as above)

    try:
        with pa.OSFile(path) as source:
            _give(pa, orc.ORCFile(source), out)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        _write(out, WRONG, NUMBER.pack(0), _said(error))
    _write(out, END)


if __name__ == "__main__":
    main()
