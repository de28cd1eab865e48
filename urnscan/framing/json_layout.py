"""Recognition of JSON texts, and of their layout: a value on each line, or values in arrays or over several lines."""

from __future__ import annotations

import re

from urnscan.framing.buffer import HEAD, MARK
from urnscan.framing.json_values import DECODER, Wraps

LINE_NAMES = (".jsonl", ".ndjson", ".ldjson", ".jsonlines", ".jsonseq", ".geojsonl", ".geojsons")
"""Suffixes of the names of files in which each line is a JSON value."""
_LEADING = re.compile(rb"(?>(?:" + MARK + rb")?)[ \t\r\n]*+")
_VALUE = re.compile(rb'\x1e|["{\[0-9tfn-]')
# Many texts that are not JSON begin with a bracket, so more is checked.
_BEGUN = re.compile(rb'\{[ \t\r\n]*+(?:["}]|\Z)|\[[ \t\r\n\[]*+(?:["{\]]|\Z)')
_OBJECTS = re.compile(rb"\[[ \t\r\n]*+\{")


def are_lines(head: bytes, name: str, wraps: Wraps | None = None) -> bool | None:
    """Whether a JSON text has a value on each line, by its first bytes `head` and the name of its file, in lower case.

    True: JSON Lines, for `ValueLines`, as `{"a": 1}` LF `{"a": 2}`. False: an array, an object around an array of
    records, or values over several lines, for `JsonValues`. None: more bytes are needed (never if `head` has 64 KiB).
    `wraps`: function that finds the array of records in an object; None: objects are records. Raises ValueError if the
    text does not begin like an object or an array of objects or strings, at any depth; in a file named as JSON Lines,
    if it does not begin like a JSON value.
    """
    leading = _LEADING.match(head)
    body = head[leading.end() if leading else 0 :]
    is_whole_head = len(head) >= HEAD
    if not is_whole_head and (not body or MARK.startswith(head)):
        return None
    if body[:1] == b"\x1e":
        return True
    is_named = name.endswith(LINE_NAMES) and _VALUE.match(body) is not None
    if not is_named and not _BEGUN.match(body):
        raise ValueError("not JSON")
    if not is_named and _OBJECTS.match(body):
        return False
    line, ended, rest = body.partition(b"\n")
    is_line = _is_value(line)
    wraps_records = wraps is not None and body[:1] == b"{" and wraps(body, is_whole_head) is not None
    if not (ended or is_line or is_whole_head):
        return True if is_named and not wraps_records else None
    # Also if each page is a line: a page of records is not a record.
    if wraps_records:
        return False
    following = rest.lstrip()[:1]
    # An array over several lines, although the name is of JSON Lines.
    if is_named and ended and not is_line and _OBJECTS.match(body):
        return False
    if is_named or (is_line and following in (b"{", b"[")):
        return True
    if ended and not is_line:
        # The first line is damaged, or an object over several lines, whose first line does not end with "}".
        return line.rstrip().endswith(b"}") and following == b"{"
    return body[:1] != b"["


def _is_value(line: bytes) -> bool:
    try:
        DECODER.decode(line.decode("latin-1"))
    except (ValueError, RecursionError):
        return False
    return True
