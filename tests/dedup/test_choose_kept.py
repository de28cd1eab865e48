"""Which record of a cluster is kept."""

import numpy as np
import pymarc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import urnscan
from tests.support.examples import FEW
from urnscan.dedup.join import components
from urnscan.dedup.join.choose_kept import KEEP, RankingValues, moment_of, ranks
from urnscan.dedup.reread import Dump
from urnscan.errors import FatalError
from urnscan.records.description import Description
from urnscan.records.format_registry import FORMATS
from urnscan.stores.input import Input

RECORD = st.fixed_dictionaries(
    {
        "cluster": st.integers(1, 3),
        "byte_count": st.integers(0, 3),
        "identifiers": st.integers(0, 3),
        "dump": st.integers(0, 2),
        "changed": st.integers(0, 2),
        "decided": st.integers(0, 2),
        "level": st.integers(1, 3),
        "fields": st.integers(0, 2),
        "deleted": st.integers(0, 1),
    }
)
DUMPS = [
    Dump(Input(name, name, 1), name, None, 0, FORMATS["line"], 0)
    for name in ("dumps/dnb-1.mrc", "dnb-2.mrc", "hbz.mrc")
]
BEST = {
    "first": lambda place, _of: place,
    "last": lambda place, _of: -place,
    "longest": lambda _place, of: -of["byte_count"],
    "most-identifiers": lambda _place, of: -of["identifiers"],
    "newest": lambda _place, of: -of["changed"],
    "fullest": lambda _place, of: (of["level"], -of["fields"], -of["byte_count"]),
    "source:hbz.mrc": lambda _place, of: of["dump"] != 2,
    "source:dnb*": lambda _place, of: of["dump"] == 2,
}


@FEW
@given(
    records=st.lists(RECORD, max_size=14),
    keep=st.lists(st.sampled_from(sorted(BEST)), min_size=1, max_size=3),
    pieces=st.lists(st.integers(0, 13), max_size=8),
    number=st.sampled_from([np.uint8, np.int64]),
    slice_=st.sampled_from([2, 1 << 20]),
)
def test_ranks(records, keep, pieces, number, slice_):
    """In each cluster 1 is what is kept, and the others follow: by what people decided, by the rules, by their order.

    Pieces of one record have one rank. Kind of numbers, and how many things are ranked at a time, change nothing.
    """
    units = [*range(len(records)), *(unit for unit in pieces if unit < len(records))]
    merits = {name: [of[name] for of in records] for name in RECORD.wrapped_strategy.mapping} if records else {}
    clusters = merits.pop("cluster", [])
    held = RankingValues(**{name: np.array(merits.get(name, []), number) for name in RankingValues.__slots__})
    of_records = np.array([clusters[unit] for unit in units], np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(components, "_SLICE", slice_)
        found = ranks(keep, of_records, np.array(units, np.int32), held, DUMPS)
    expected = {}
    for cluster in set(clusters):
        mine = [unit for unit, of in enumerate(records) if of["cluster"] == cluster]
        first = {unit: (records[unit]["decided"], records[unit]["deleted"]) for unit in mine}
        mine.sort(key=lambda unit: (first[unit], [BEST[rule](unit, records[unit]) for rule in keep], unit))
        expected |= {unit: rank for rank, unit in enumerate(mine, 1)}
    assert found.tolist() == [expected[unit] for unit in units]


def test_every_rule_is_tested():
    assert {name for name in BEST if ":" not in name} == set(KEEP)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("20240131123456.0", 20240131123456),
        ("2024-01-31T12:34:56Z", 20240131123456),
        ("2024-01-31", 20240131000000),
        ("2024.01.31", 20240131000000),
        ("2023-05-01 2024-01-31 2022-12-24", 20240131000000),
        ("240131", 0),  # the year may be the day
        ("1999:31-01-24 12:34:56.000", 20240131123456),
        ("9000:31-12-99", 19991231000000),
        ("31-01-24", 0),
        ("20241331", 0),
        ("yesterday", 0),
        (None, 0),
    ],
)
def test_moments(changed, expected):
    """As systems write them; what is no date says nothing, so the record is not taken for the newest."""
    assert moment_of(Description(changed=changed)) == expected


OLD, NEW = ("20200101000000.0", "2020-01-01", "01-01-20"), ("20240131123456.0", "2024-01-31T12:34:56Z", "31-01-24")
MARCXML = """<record xmlns="http://www.loc.gov/MARC21/slim"><leader>00000nam a22000007a 4500</leader>
<controlfield tag="005">{0[0]}</controlfield><datafield tag="024" ind1="7" ind2=" "><subfield code="a">urn:foo:a</subfield>
</datafield></record>"""
OAI = """<record><header><identifier>i</identifier><datestamp>{0[1]}</datestamp></header><metadata>
<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier>urn:foo:a</dc:identifier></oai_dc:dc></metadata></record>"""
MODS = """<mods xmlns="http://www.loc.gov/mods/v3"><identifier>urn:foo:a</identifier>
<recordInfo><recordChangeDate>2019-01-01</recordChangeDate><recordChangeDate>{0[1]}</recordChangeDate></recordInfo></mods>"""
CHANGED = {
    "marcxml": ("<collection>{}</collection>", MARCXML),
    "oai": ('<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords>{}</ListRecords></OAI-PMH>', OAI),
    "mods": ("<modsCollection>{}</modsCollection>", MODS),
    "jsonl": ("{}", '{{"id": "a", "urn": "urn:foo:a", "dateModified": "{0[1]}"}}\n'),
    "bibtex": ("{}", "@book{{a, note = {{urn:foo:a}}, timestamp = {{{0[1]}}}}}\n"),
    "ntriples": ("{}", None),
    "pica-plain": ("{}", "003@ $0{1}\n001B $01999:{0[2]}$t00:00:00.000\n004U $0urn:foo:a\n\n"),
}
TRIPLES = '<x:{1}> <x:y> <urn:foo:a> .\n<x:{1}> <http://purl.org/dc/terms/modified> "{0[1]}" .\n'


@pytest.mark.parametrize("format_", CHANGED)
def test_newest_in_each_format(tmp_path, format_):
    """The record that was changed last, wherever the format says so, also where nothing else is compared."""
    wrapper, record = CHANGED[format_]
    texts = [(record or TRIPLES).format(stamp, number) for number, stamp in enumerate((OLD, NEW, OLD))]
    path = tmp_path / "dump"
    path.write_text(wrapper.format("".join(texts)))
    found = urnscan.deduplicate(path, keep="newest", agree="none", record=format_, any_urn=True).clusters.to_pylist()
    assert [row["kept"] for row in found if row["urns"] == ["urn:foo:a"]] == [False, True, False]


def test_fullest(tmp_path):
    """The encoding level of MARC comes before the length; the rule before it comes first. It is the default."""
    record = '<record xmlns="http://www.loc.gov/MARC21/slim"><leader>00000nam a2200000{} a 4500</leader>'
    record += '<controlfield tag="001">urn:foo:a</controlfield>{}</record>'
    texts = [record.format("8", " " * 9), record.format(" ", ""), record.format("7", " " * 90), record.format("u", " ")]
    for name, some in {"a.xml": texts[:2], "b.xml": texts[2:]}.items():
        (tmp_path / name).write_text(f"<collection>{''.join(some)}</collection>")
    dumps = [tmp_path / "a.xml", tmp_path / "b.xml"]
    fullest, of_b = [3, 1, 2, 4], [4, 3, 1, 2]
    for options, order in (
        ({}, fullest),
        ({"keep": "fullest"}, fullest),
        ({"keep": ["source:b.*", "fullest"]}, of_b),
    ):
        found = urnscan.deduplicate(*dumps, **options, any_urn=True).clusters
        assert found.column("cluster_rank").to_pylist() == order


@pytest.mark.parametrize("name", ["a.mrc", "a.xml"])
def test_fullest_counts_fields(tmp_path, name):
    """Of two records of one level the one with more fields is fuller, however long a note of the other is."""
    records = []
    for notes in (["a note that is very long " * 9], ["short", "shorter"]):
        records.append(pymarc.Record())
        fields = [("001", "urn:foo:a"), *(("500", note) for note in notes)]
        for tag, text in fields:
            said = {"data": text} if tag == "001" else {"subfields": [pymarc.Subfield("a", text)]}
            records[-1].add_field(pymarc.Field(tag, **said))
    if name == "a.mrc":
        data = b"".join(record.as_marc() for record in records)
    else:
        data = b"".join(pymarc.record_to_xml(record, namespace=True) for record in records)
        data = b'<collection xmlns="http://www.loc.gov/MARC21/slim">' + data + b"</collection>"
    (tmp_path / name).write_bytes(data)
    for keep, ranks_ in {"longest": [1, 2], "fullest": [2, 1]}.items():
        found = urnscan.deduplicate(tmp_path / name, keep=keep, any_urn=True).clusters
        assert found.column("cluster_rank").to_pylist() == ranks_


def test_a_dump_that_is_not_there(tmp_path):
    """A name that is mistyped would silently prefer nothing."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"urn": "urn:foo:a"}\n')
    with pytest.raises(FatalError, match=r"source:b\.jsonl.?: no dump has this name; the first dump is .*a\.jsonl"):
        urnscan.deduplicate(path, keep=["source:a.jsonl", "source:b.jsonl"])
    # A delivery without records has the name that the rule expects.
    (tmp_path / "b.jsonl").touch()
    assert urnscan.deduplicate([path, tmp_path / "b.jsonl"], keep="source:b.jsonl").clusters.num_rows == 1


def test_a_preferred_dump_where_all_are_empty(tmp_path):
    """Without any dump to name in the message, this was an IndexError."""
    path = tmp_path / "a.jsonl"
    path.touch()
    assert not urnscan.deduplicate(path, keep="source:a.jsonl").clusters.num_rows
