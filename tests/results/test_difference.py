"""The difference of two tables of classes: what came, went and changed, and nothing else."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import urnscan
from urnscan.errors import FatalError
from urnscan.results import key_windows
from urnscan.results.changed_classes import CAME, CHANGED, WENT
from urnscan.results.difference import Difference
from urnscan.run.options import Options
from urnscan.tables.editions import RENAMED
from urnscan.tables.schemas import CLASSES
from urnscan.tables.writers import open_table

SPELLINGS = [f"{scheme}:foo:{name}" for scheme in ("urn", "URN", "Urn") for name in ("a", "b", "%41", "c", "d")]
TEXTS = st.lists(st.sampled_from(SPELLINGS), max_size=9)


def found(old, new, **options):
    difference = Difference(str(old), str(new), options=Options(**options))
    return [row for rows in difference.rows() for row in rows.to_pylist()]


def write(name, *texts, **options):
    """A table of the classes of a text, whose file has the same name in each table."""
    Path("text.txt").write_text("\n".join(texts))
    urnscan.scan("text.txt", **options).to_parquet(name, force=True)


@given(old=TEXTS, new=TEXTS, at_once=st.integers(1, 4))
def test_changes_lead_from_one_to_the_other(old, new, at_once):
    """Names that came and went turn the old set into the new; the others changed if their spellings' counts did."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(key_windows, "rows_at_once", lambda *_: at_once)
        write("old.parquet", *old)
        write("new.parquet", *new)
        rows = found("old.parquet", "new.parquet")
        before, after = (Counter(text.lower() for text in texts) for texts in (old, new))
        came, went = ({row["urn"] for row in rows if row["change"] == change} for change in (CAME, WENT))
        assert (before.keys() | came) - went == set(after)
        assert not came & before.keys()
        assert went <= before.keys()
        spelled = [{name: Counter(t for t in texts if t.lower() == name) for name in before} for texts in (old, new)]
        changed = {row["urn"] for row in rows if row["change"] == CHANGED}
        assert changed == {name for name in before.keys() & after.keys() if spelled[0][name] != spelled[1][name]}
        assert [row["urn"] for row in rows] == sorted(row["urn"] for row in rows)
        assert found("old.parquet", "old.parquet") == []


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


class TestChanges:
    def test_what_changed(self):
        """Values before and after stand in the order of the columns, then the spellings."""
        write("old.parquet", "urn:foo:a", "urn:foo:a", "URN:foo:a", "urn:isbn:1")
        write("new.parquet", "urn:foo:a", "Urn:foo:a", "urn:isbn:1")
        (row,) = found("old.parquet", "new.parquet")
        assert (row["change"], row["urn"]) == (CHANGED, "urn:foo:a")
        assert [(each["what"], each["old"], each["new"]) for each in row["changes"]] == [
            ("occurrence_count", "3", "2"),
            ("spelling URN:foo:a", "1", "0"),
            ("spelling Urn:foo:a", "0", "1"),
        ]

    def test_counts_of_spellings_where_the_sum_is_equal(self):
        """Else a class would have changed without a reason."""
        write("old.parquet", "urn:foo:a", "urn:foo:a", "URN:foo:a")
        write("new.parquet", "urn:foo:a", "URN:foo:a", "URN:foo:a")
        (row,) = found("old.parquet", "new.parquet")
        assert [(each["what"], each["old"], each["new"]) for each in row["changes"]] == [
            ("spelling URN:foo:a", "1", "2"),
            ("spelling urn:foo:a", "2", "1"),
        ]

    def test_verdicts(self):
        """A null is told as one."""
        write("old.parquet", "urn:foo:a?=%00", syntax="rfc8141")
        write("new.parquet", "urn:foo:a?=b", syntax="rfc8141")
        (row,) = found("old.parquet", "new.parquet")
        assert ("problem", "nul-octet", "null") in [(each["what"], each["old"], each["new"]) for each in row["changes"]]

    def test_an_empty_table(self):
        """All came, or all went."""
        write("none.parquet", "")
        write("some.parquet", "urn:foo:a", "urn:foo:b")
        assert [row["change"] for row in found("none.parquet", "some.parquet")] == [CAME] * 2
        assert [row["change"] for row in found("some.parquet", "none.parquet")] == [WENT] * 2

    def test_counts(self):
        """They are those of the rows."""
        write("old.parquet", "urn:foo:a", "urn:foo:b", "urn:foo:c")
        write("new.parquet", "urn:foo:b", "urn:foo:b", "urn:foo:d")
        difference = Difference("old.parquet", "new.parquet")
        assert sum(rows.num_rows for rows in difference.rows()) == 4
        assert difference.counts == {CAME: 1, WENT: 2, CHANGED: 1}


@pytest.mark.parametrize(
    ("chosen", "urns"),
    [
        ({"nid": "foo"}, ["urn:foo:a", "urn:foo:b"]),
        ({"not_nid": "foo"}, ["urn:nbn:de:1", "urn:nbn:fi:1"]),
        ({"nid": ["nbn", "foo:a"], "not_nid": "nbn:fi"}, ["urn:foo:a", "urn:nbn:de:1"]),
    ],
)
def test_chosen_namespaces(chosen, urns):
    """They are those that a scan with the same options would find."""
    write("old.parquet", "urn:foo:a", "urn:nbn:fi:1", "urn:nbn:de:1", "urn:nbn:fi:2")
    write("new.parquet", "urn:foo:b", "urn:nbn:fi:2")
    assert [row["urn"] for row in found("old.parquet", "new.parquet", **chosen)] == urns
    write("old.parquet", "urn:foo:a", "urn:nbn:fi:1", "urn:nbn:de:1", "urn:nbn:fi:2", **chosen)
    write("new.parquet", "urn:foo:b", "urn:nbn:fi:2", **chosen)
    assert [row["urn"] for row in found("old.parquet", "new.parquet")] == urns


class TestOtherTables:
    def test_other_options_are_told(self):
        """The tables are compared all the same."""
        write("old.parquet", "urn:foo:a.")
        write("new.parquet", "urn:foo:a.", trim=True)
        (line,) = Difference("old.parquet", "new.parquet").remarks()
        assert line == "trim is off in old.parquet, and on in new.parquet: names may differ for that reason alone"
        assert [row["change"] for row in found("old.parquet", "new.parquet")] == [CAME, WENT]

    def test_of_any_form_and_edition(self):
        """Tables as text, and of the first edition, have the same classes; as text they do not say which options they had."""
        for text, name in ("urn:foo:a URN:foo:b", "old"), ("urn:foo:b urn:foo:c", "new"):
            write(f"{name}.parquet", *text.split())
            for form in "csv", "jsonl":
                with open_table(f"{name}.{form}", CLASSES) as file:
                    for batch in pq.read_table(f"{name}.parquet").cast(CLASSES).to_batches():
                        file.write(batch)
                    file.commit({})
        classes = pq.read_table("old.parquet")
        earlier = {now: before for before, now in RENAMED.items()}
        names = [earlier.get(column, column) for column in classes.column_names]
        metadata = {"urnscan": json.dumps({"syntax": "rfc2141"})}
        pq.write_table(classes.rename_columns(names).replace_schema_metadata(metadata), "first.parquet")
        expected = found("old.parquet", "new.parquet")
        assert len(expected) == 3
        for old, new in ("old.csv", "new.jsonl"), ("old.jsonl", "new.parquet"), ("first.parquet", "new.csv"):
            assert found(old, new) == expected
        (line,) = Difference("old.parquet", "new.csv").remarks()
        assert line == "new.csv: does not say which options its run had: names may differ for that reason alone"

    @pytest.mark.parametrize(
        ("other", "said"),
        [
            ("places.parquet", "places.parquet: contains occurrences (urnscan --occurrences), not classes"),
            ("folder", "folder: contains 2 tables; make one of them with urnscan merge"),
            ("none.parquet", "none.parquet: no such file or folder"),
            ("half.parquet", "half.parquet: truncated Parquet file; "),
        ],
    )
    def test_refused(self, other, said):
        """One line says what is wrong."""
        write("old.parquet", "urn:foo:a")
        urnscan.scan("text.txt").to_parquet(occurrences="places.parquet")
        Path("folder").mkdir()
        for name in ("folder/a.parquet", "folder/b.parquet"):
            Path(name).write_bytes(Path("old.parquet").read_bytes())
        Path("half.parquet").write_bytes(Path("old.parquet").read_bytes()[:1000])
        with pytest.raises(FatalError) as error:
            found("old.parquet", other)
        assert said in str(error.value)
        assert "\n" not in str(error.value)
