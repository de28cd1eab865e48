"""`nid` and `not_nid`: with them, a scan gives what it gives without them, filtered afterwards."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import FEW
from tests.support.oracle import SYNTAXES, Pieces, records_of, with_components
from tests.support.results import expected_classes, rows_of
from tests.support.strategies import any_bytes, cuttings
from urnscan.run.options import Options
from urnscan.run.pipeline import Outputs, run
from urnscan.scanner.grammar import Grammar
from urnscan.scanner.scanners import make_scanner
from urnscan.scanner.views.kinds import KINDS
from urnscan.tables.printed_lines import PLAIN, frequency_lines, json_lines, occurrence_lines
from urnscan.tables.schemas import CODED_CLASSES, OCCURRENCES, REJECTS
from urnscan.urn.prefix_filter import read_beginnings
from urnscan.urn.syntax import get_syntax

every_syntax = pytest.mark.parametrize("syntax", SYNTAXES)
NIDS = {
    syntax: re.compile(rb"urn:(?!urn:)[a-z0-9]" + rest + rb":", re.IGNORECASE)
    for syntax, rest in zip(SYNTAXES, (rb"[a-z0-9-]{0,31}", *2 * (rb"[a-z0-9-]{0,30}[a-z0-9]",)), strict=True)
}
SAMPLES = (
    "ab nbn ISBN isbn:0 nbn:de x-1 urn-7 a* urns nbn:D* isbn:978-0 gsma:imei ab:c b1 b1:c, d1 * issn:0317*".split()
)
options = st.fixed_dictionaries(
    {
        "trim": st.booleans(),
        "resolver_tail": st.sampled_from(["keep", "cut"]),
        "max_length": st.one_of(st.just(65_536), st.integers(8, 60)),
    }
)


def has(text: bytes, beginning: str) -> bool:
    """Whether a text that begins with `urn:` has a beginning, as docs/reference/name-options.md says it."""
    stem = beginning.removesuffix("*")
    if stem == beginning and ":" not in beginning:
        stem += ":"
    is_word = stem == beginning and re.search("(?<!%.)[a-z0-9]$", stem, re.IGNORECASE)
    behind = rb"(?![a-z0-9])" if is_word else b""
    return re.match(b"urn:" + re.escape(stem.encode()) + behind, text, re.IGNORECASE) is not None


def is_wanted(text: bytes, chosen) -> bool:
    nid, not_nid = chosen
    return (not nid or any(has(text, each) for each in nid)) and not any(has(text, each) for each in not_nid)


def is_wanted_reject(text: bytes, chosen, syntax) -> bool:
    """A reject is left out only if it has a NID."""
    return NIDS[syntax].match(text) is None or is_wanted(text, chosen)


@st.composite
def texts_and_choices(draw, syntax):
    """A text, and what of it is wanted: samples, and beginnings of names that stand there."""
    text = draw(any_bytes)
    known = list(SAMPLES)
    for found in re.finditer(rb"urn:([!-~]+)", text, re.IGNORECASE):
        ends = st.tuples(st.integers(1, 40), st.sampled_from(["", "*"]))
        known += [found[1][:end].decode() + star for end, star in draw(st.lists(ends, max_size=2))]
    possible = [each for each in known if is_possible(each, syntax)]
    lists = st.lists(st.sampled_from(possible), max_size=3)
    return text, tuple(tuple(read_beginnings("", draw(lists), get_syntax(syntax))) for _ in range(2))


def is_possible(beginning, syntax):
    try:
        return bool(read_beginnings("", [beginning], get_syntax(syntax)))
    except ValueError:
        return False


def rejects_of(batches):
    """Rejects as rows; with views, they come in batches of their own."""
    return [
        (int(each.start[i]), int(each.line[i]), each.text[each.text_offsets[i] : each.text_offsets[i + 1]].tobytes())
        for each in (batch.rejects for batch in batches)
        if each is not None
        for i in range(len(each))
    ]


@every_syntax
class TestScanner:
    @given(data=st.data(), options=options, recover=st.sampled_from([(), (), KINDS]), sizes=cuttings)
    def test_filtered_afterwards(self, syntax, data, options, recover, sizes):
        """Matches and rejects, literal and hidden, in memory and in a stream; and the number that was left out."""
        text, chosen = data.draw(texts_and_choices(syntax))
        grammar = Grammar(get_syntax(syntax), rejects=True, **options)
        wanted = Grammar(get_syntax(syntax), rejects=True, nid=chosen[0], not_nid=chosen[1], **options)
        every, some = make_scanner(grammar, recover), make_scanner(wanted, recover)
        batches = list(every.scan_bytes(np.frombuffer(text, np.uint8)))
        records = [record for record in records_of(batches) if is_wanted(record.text, chosen)]
        rejects = [each for each in rejects_of(batches) if is_wanted_reject(each[2], chosen, syntax)]
        scans = [lambda: some.scan_bytes(np.frombuffer(text, np.uint8)), lambda: some.scan(Pieces(text, sizes))]
        for number, scan in enumerate(scans, 1):
            found = list(scan())
            assert records_of(found) == records
            assert rejects_of(found) == rejects
            assert (some.byte_count, some.lines) == (len(text), text.count(b"\n"))
            assert some.left_out == number * (len(records_of(batches)) - len(records))
        assert every.left_out == 0


def tables(path, **options):
    """All that a run gives: tables as rows, printed lines, and its report."""
    found, classes, rejects, names = [], [], [], []
    rules = Options(jobs=1, **options)
    report = run([str(path)], rules, Outputs(occurrences=found.append, classes=classes.append, rejects=rejects.append))
    run([str(path)], rules, Outputs(frequencies=lambda rows: names.append(bytes(frequency_lines(rows, PLAIN)))))
    lines = [bytes(occurrence_lines(rows, PLAIN)) + bytes(json_lines(rows)) for rows in found]
    return rows_of(found, OCCURRENCES), rows_of(classes, CODED_CLASSES), rows_of(rejects, REJECTS), lines, names, report


@every_syntax
@FEW
@given(data=st.data(), options=options, recover=st.sampled_from([(), ("percent", "labels")]))
def test_all_that_a_run_gives(syntax, data, options, recover):
    """Tables, lines and counts are those of the names that are wanted; classes are made of these alone."""
    text, chosen = data.draw(texts_and_choices(syntax))
    level = data.draw(st.sampled_from(["lexical", "namespace"]))
    options |= {"syntax": syntax, "equivalence": level, "recover": recover}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a"
        path.write_bytes(text)
        every, _, every_reject, *_, before = tables(path, **options)
        found, classes, rejects, lines, names, report = tables(path, nid=chosen[0], not_nid=chosen[1], **options)
    assert found == [row for row in every if is_wanted(row["text"].encode(), chosen)]
    assert rejects == [row for row in every_reject if is_wanted_reject(row["text"].encode(), chosen, syntax)]
    assert classes == expected_classes(found, syntax, level)
    printed = b"".join(lines).decode().splitlines()
    assert sorted(line for line in printed if not line.startswith("{")) == sorted(
        f"{row['source']}:{row['line']}:{row['text']}" for row in found
    )
    frequencies = sorted(((row["occurrence_count"], row["urn"]) for row in classes), key=lambda row: (-row[0], row[1]))
    assert b"".join(names).decode().split() == [str(value) for row in frequencies for value in row]
    assert report.occurrences == len(found)
    assert (report.left_out, before.left_out) == (len(every) - len(found) if any(chosen) else None, None)
    assert report.trimmable == sum(row["punctuation"] > 0 for row in found)
    assert report.components_in_names == with_components((row["text"].encode() for row in found), syntax)
