"""Targets of what finds, parses and judges URNs: scanner and kernel, views, `parse` and its kin, rules of namespaces."""

from __future__ import annotations

import contextlib
import functools

import numpy as np

import urnscan
from tests.fuzzing.drawn import split
from tests.property.test_scanner_oracle import check, check_rejects
from tests.support.oracle import COMPILED, SYNTAXES, Pieces, canonical, oracle, rejects_of, whole
from tests.support.registrations import EXAMPLES, verdict
from tests.urn.namespaces.test_columns import judged
from tests.urn.namespaces.test_rules import lexical
from urnscan.errors import InvalidURN
from urnscan.scanner.grammar import MAX_LENGTH, Grammar
from urnscan.scanner.scanners import make_scanner
from urnscan.scanner.views.kinds import KINDS
from urnscan.urn.namespaces import judge
from urnscan.urn.reject_reasons import REASONS
from urnscan.urn.syntax import get_syntax

__all__ = ["HEAD", "kernel", "parse", "rules"]

HEAD = 8
"""Bytes that choose the options of a scan."""
_NIDS = sorted(EXAMPLES)


def kernel(data: bytes) -> None:
    """The scanner finds what the oracle finds, however the text is cut; with views, the same for each cut."""
    head, text = split(data, HEAD)
    syntax = SYNTAXES[head[0] % len(SYNTAXES)]
    trim, tail = bool(head[1] & 1), "cut" if head[1] & 2 else "keep"
    keep_query = bool(head[1] & 4) and syntax == "rfc2141bis-03"
    max_length = MAX_LENGTH if head[2] < 128 else 7 + head[2] % 64
    sizes = [1 + size % 32 for size in head[5:7]]
    block, rows = 1 + head[3], 1 + head[4] % 5
    check(text, syntax, trim, keep_query, tail, max_length, block, rows, sizes)
    if tail == "cut" and not keep_query:
        check_rejects(text, syntax, trim, tail, max_length, block, rows, sizes)
    if recover := tuple(kind for bit, kind in enumerate(KINDS) if head[7] >> bit & 1):
        scanner = _with_views(syntax, trim, tail, max_length, recover)
        at_once = _rows(scanner.scan_bytes(np.frombuffer(text, np.uint8)))
        assert _rows(scanner.scan(Pieces(text, sizes))) == at_once
        assert (scanner.byte_count, scanner.lines) == (len(text), text.count(b"\n"))


@functools.lru_cache(maxsize=6)
def _with_views(syntax, trim, tail, max_length, recover):
    grammar = Grammar(get_syntax(syntax), max_length=max_length, trim=trim, resolver_tail=tail, rejects=True)
    return make_scanner(grammar, recover)


def _rows(batches):
    """All that is told of matches and rejects, which no longer shows how it was batched."""
    found, rejected = [], []
    for batch in batches:
        if batch.rejects is not None:
            rejected += rejects_of([batch])
        strings = [
            [data[offsets[row] : offsets[row + 1]].tobytes() for row in range(len(batch))]
            for data, offsets in (
                (batch.text, batch.text_offsets),
                (batch.canonical, batch.canonical_offsets),
                (batch.host, batch.host_offsets),
            )
        ]
        via = batch.via
        numbers = (batch.start, batch.length, batch.line, batch.nid_length, batch.stop, batch.punctuation, via)
        found += zip(*(column.tolist() for column in numbers), *strings, strict=True)
    return found, rejected


def parse(data: bytes) -> None:
    """`parse` takes what the grammar derives; `canonical`, `equivalent`, `explain` and `find` agree with it."""
    head, text = split(data, 1)
    syntax = SYNTAXES[head[0] % len(SYNTAXES)]
    as_text = text.decode("utf-8", "surrogateescape" if head[0] & 64 else "replace")
    match = COMPILED[syntax].fullmatch(text)
    longest = COMPILED[syntax].match(text)
    for given in (text, as_text):
        urn, error = _parsed(given, syntax)
        assert (urn is None) == (match is None)
        if error is not None:
            assert error.code in REASONS
            assert 0 <= error.position <= len(given)
            assert longest is None or error.position == longest.end()
            assert len(str(error).splitlines()) == 1
        else:
            assert urn.canonical.encode() == canonical(match)
            assert urnscan.parse(str(urn), syntax) == urn
            urn.display().encode()
            with contextlib.suppress(ValueError):  # of a text that is no URL
                urn.locator(as_text)
    explained = urnscan.explain(as_text, syntax=syntax)
    assert explained.is_urn == (match is not None)
    assert [explained.is_urn, explained.read_as is not None, explained.reason is not None].count(True) == 1
    if match is not None:
        _agree(text.decode(), syntax)
    for found in urnscan.find(as_text, syntax=syntax, trim=bool(head[0] & 128)):
        assert as_text[found.start : found.end] == found.text
        assert urnscan.canonical(found.text, syntax=syntax) == found.urn
        assert urnscan.parse(found.text, syntax).nid == found.nid


def _parsed(given, syntax):
    try:
        return urnscan.parse(given, syntax), None
    except InvalidURN as error:
        return None, error


def _agree(text, syntax):
    """What is true of a URN at every level of equivalence."""
    (found,) = urnscan.find(text, syntax=syntax, max_length=len(text))
    assert (found.text, found.start) == (text, 0)
    for level in urnscan.LEVELS.values():
        if syntax in level.syntaxes:
            form = urnscan.canonical(text, syntax=syntax, equivalence=level.name)
            assert urnscan.canonical(form, syntax=syntax, equivalence=level.name) == form
            assert urnscan.equivalent(text, form, syntax=syntax, equivalence=level.name)
            assert urnscan.explain(text, syntax=syntax, equivalence=level.name).canonical == form
            assert urnscan.find(text, syntax=syntax, equivalence=level.name, max_length=len(text))[0].urn == form
    (record,) = oracle(text.encode(), syntax, max_length=len(text))
    assert whole(record.canonical, syntax)


def rules(data: bytes) -> None:
    """What the registrations say of a name: the table run by `regex`, by the automata, and by compiled code."""
    head, rest = split(data, 1)
    urn = lexical(f"urn:{_NIDS[head[0] % len(_NIDS)]}:{rest.decode('latin-1')}")
    if urn is not None:
        expected, judgement = verdict(urn), judge(urn)
        assert judged([urn]) == [expected]
        nid = urn.split(":")[1]
        assert (judgement.valid, judgement.problem, f"urn:{nid}:{judgement.nss}") == expected
        again = judge(expected.form)
        assert f"urn:{nid}:{again.nss}" == expected.form
