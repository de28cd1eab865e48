"""A scan in shares: `scan_partial` on each, `merge_partial` of all."""

import pickle
from pathlib import Path

import pytest

import urnscan
from urnscan.errors import ArgumentError, FatalError
from urnscan.library import partial
from urnscan.run import partial_result as exchanged
from urnscan.run.options import Options
from urnscan.run.tasks import Sizes, tasks

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
FILES = [path for path in sorted(SAMPLES.rglob("*")) if path.is_file()]


def shares(count):
    """The samples in shares of neighbours."""
    return [FILES[len(FILES) * number // count : len(FILES) * (number + 1) // count] for number in range(count)]


@pytest.mark.parametrize("count", [1, 3, len(FILES)])
@pytest.mark.parametrize(
    "options", [{}, {"syntax": "rfc8141", "equivalence": "namespace", "trim": True, "not_nid": "isbn"}]
)
def test_shares(count, options, tmp_path):
    """Whatever the shares are, and although each went through another process, the file is that of one run, byte for byte."""
    sent = (pickle.loads(pickle.dumps(urnscan.scan_partial(share, **options))) for share in shares(count))
    merged, one = urnscan.merge_partial(sent), urnscan.scan(FILES, **options)
    for name, scan in (("merged", merged), ("one", one)):
        scan.to_parquet(tmp_path / f"{name}.parquet")
    assert (tmp_path / "merged.parquet").read_bytes() == (tmp_path / "one.parquet").read_bytes()
    assert [str(each) for each in merged.report.failures] == [str(each) for each in one.report.failures]
    assert [str(each) for each in merged.report.notes] == [str(each) for each in one.report.notes]
    assert merged.occurrences.num_rows == 0


def test_many_rows(tmp_path, monkeypatch):
    """Rows are given in several batches; sources are counted through, and the first occurrence is of the first share."""
    monkeypatch.setattr(exchanged, "ROWS", 50)
    for name in "abc":
        (tmp_path / name).write_text(
            " ".join(f"urn:x:{number % 99} URN:x:1 urn:x:{name}{number}" for number in range(400))
        )
    (tmp_path / "empty").touch()
    order = [tmp_path / name for name in ("c", "empty", "a", "b")]
    one = urnscan.scan(order).classes
    assert one.num_rows > 1000
    for cut in range(5):
        found = [urnscan.scan_partial(some) for some in (order[:cut], order[cut:]) if some]
        assert urnscan.merge_partial(found, memory="20MB", jobs=1).classes.to_pylist() == one.to_pylist()


def test_a_huge_file(tmp_path, monkeypatch):
    """It is read in parts, and is one input, which fails once."""
    monkeypatch.setattr(partial, "_SIZES", Sizes(part=1 << 12))
    huge = tmp_path / "huge"
    huge.write_bytes(b"urn:a:b urn:c:d\n" * 4_000)
    (tmp_path / "small").write_text("urn:a:b")
    one = urnscan.scan(huge, tmp_path / "small")
    found = urnscan.merge_partial([urnscan.scan_partial(huge), urnscan.scan_partial(tmp_path / "small")])
    assert found.classes.to_pylist() == one.classes.to_pylist()
    assert found.report.inputs == 2
    planned = list(tasks([str(huge)], Options(), (), Sizes(part=1 << 12)))
    assert len(planned) > 9
    monkeypatch.setattr(partial, "tasks", lambda *_: planned)
    huge.unlink()
    assert len(urnscan.scan_partial(huge).failures) == 1


def test_failures(tmp_path):
    """A share whose inputs fail raises nothing: the others are good. If all fail, the merge says so, as a scan does."""
    (tmp_path / "a").write_text("urn:a:b")
    missing = urnscan.scan_partial(tmp_path / "missing")
    found = urnscan.merge_partial([missing, urnscan.scan_partial(tmp_path / "a")])
    assert found.report.occurrences == 1
    assert [each.source for each in found.report.failures] == [str(tmp_path / "missing")]
    with pytest.raises(FatalError, match="no input could be read"):
        urnscan.merge_partial([missing])


def test_options_that_differ(tmp_path):
    """Classes of different options are none of one scan."""
    (tmp_path / "a").write_text("urn:a:b")
    with pytest.raises(ArgumentError, match="different options: trim"):
        urnscan.merge_partial([urnscan.scan_partial(tmp_path / "a"), urnscan.scan_partial(tmp_path / "a", trim=True)])
    with pytest.raises(ArgumentError, match="nothing to merge"):
        urnscan.merge_partial([])
    for wrong in (None, ["a.partial"], [urnscan.scan_partial(tmp_path / "a"), 1]):
        with pytest.raises(ArgumentError, match="needs results of scan_partial, not "):
            urnscan.merge_partial(wrong)
