"""The page of `urnscan dedup --review`: groups of records that are in doubt, and pairs that may be the same, for people who
decide.

The page contains the table of `--review FILE.csv`, the pairs of `--candidates`, and the records, in blocks. Its script unpacks
the records of a group when a person opens the group. It writes the table with the decisions, for `--decisions`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from urnscan.report.embedded import packed
from urnscan.report.excerpts import Kind, Line
from urnscan.report.page import digest, script, stream

_KINDS = {kind: number for number, kind in enumerate(Kind)}


class Counts(NamedTuple):
    """Numbers that the page shows: groups of records in doubt, their records, and pairs that may be the same."""

    groups: int
    """Groups of records in doubt."""
    records: int
    """Records of these groups."""
    pairs: int = 0
    """Pairs of records that share no key, and may be the same."""
    pairs_left_out: int = 0
    """Number of such pairs that are not in the page; they are less similar than the others."""
    not_in_doubt: int = 0
    """Groups (part of `groups`) that are shown only because records are removed."""


class ShownRecord(NamedTuple):
    """The start of a record, split into lines whose parts have marks (`excerpts.Kind`)."""

    rest: int
    """Number of bytes of the record that are not shown; approximate if the format shows a record in another form
    than its bytes.
    """
    lines: Sequence[Line]


class Block(NamedTuple):
    """A part of the page, with some groups or pairs of records. A group is never split."""

    rows: bytes
    """Rows of the table of `--review`, as CSV: one for each record of a group, or one for a pair. The first block
    begins with the header, so that the rows of all blocks together are the table.
    """
    records: Sequence[ShownRecord]
    """The records of the rows."""


def render(
    counts: Counts, version: str, blocks: Iterator[Block], joins: Sequence[tuple[str, str]] = ()
) -> Iterator[str]:
    """Yield the page as HTML, in pieces, to be written in UTF-8. `version`: of urnscan. The next block is requested
    from `blocks` only when the caller asks for its piece. `joins`: pairs of a kind of key in the column `joined_by`
    (`oclc`), and in words what records with the same key have in common (`same OCLC number`).
    """
    program = script("review.js")
    return stream(
        "review.html",
        **counts._asdict(),
        version=version,
        joins=joins,
        program=program,
        digest=digest(program),
        blocks=(tuple(map(_embedded, (block.rows, _as_json(block.records)))) for block in blocks),
    )


def _embedded(data: bytes) -> Markup:
    return Markup(packed(data))  # noqa: S704 (base64)


def _as_json(records: Sequence[ShownRecord]) -> bytes:
    # An array for each record: the number of bytes that are left out, and an array for each line. The array of a line is
    # 1 if the line is common, or 0, and the text and the number of the mark of each part.
    values = [
        [
            rest,
            *(
                [int(common), *(value for text, kind in parts for value in (text, _KINDS[kind]))]
                for parts, common in lines
            ),
        ]
        for rest, lines in records
    ]
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
