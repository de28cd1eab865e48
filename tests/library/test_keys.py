"""`--keys`: records are joined by other identifiers than URNs, and not by those that lie."""

import json

import pymarc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import urnscan

URL = "https://example.org/report"


def csv(folder, header, *rows, name="a.csv"):
    (folder / name).write_text("\n".join([header, *rows]) + "\n")
    return folder / name


def marc(folder, *records, name="a.mrc"):
    """A dump of records, each fields: tag -> value of a control field, or `$a` and other subfields."""
    content = b""
    for fields in records:
        record = pymarc.Record()
        for tag, value in fields.items():
            if tag < "010":
                record.add_field(pymarc.Field(tag, data=value))
            else:
                codes = [value] if isinstance(value, str) else value
                subfields = [pymarc.Subfield("a2"[at], said) for at, said in enumerate(codes)]
                record.add_field(pymarc.Field(tag, indicators=["7" if tag == "016" else " ", " "], subfields=subfields))
        content += record.as_marc()
    (folder / name).write_bytes(content)
    return folder / name


def clusters(*dumps, **options):
    return urnscan.deduplicate(*dumps, **options).clusters.column("cluster").to_pylist()


def rows(*dumps, **options):
    return urnscan.deduplicate(*dumps, **options).clusters.to_pylist()


PAIRS = {
    "lccn": ({"010": "   84047775 "}, {"010": "84-47775"}),
    "oclc": ({"035": "(OCoLC)00012345"}, {"001": "ocm00012345"}),
    "nbn-number": ({"015": ["GB58123", "bnb"]}, {"015": ["GB58123 ", "bnb"]}),
    "id": ({"001": "014538970", "003": "DE-101"}, {"001": "x", "003": "DE-5", "035": "(DE-101)014538970"}),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_marc(tmp_path, kind):
    """The same number in two dumps of other libraries; `--keys urn` does not see it."""
    one, other = ({**fields, "245": "Imaginary lighthouses"} for fields in PAIRS[kind])
    dumps = marc(tmp_path, one), marc(tmp_path, other, name="b.mrc")
    assert clusters(*dumps) == clusters(*dumps, keys=kind) == [1, 1]
    assert clusters(*dumps, keys="urn") == [1, 2]
    assert clusters(*dumps, keys="urn,pmid,arxiv".split(",")) == [1, 2]
    (first, second) = rows(*dumps)
    assert first["joined_by"] == second["joined_by"] != []
    assert set(first["joined_by"]) <= set(first["other_keys"])


def test_marcxml_as_marc(tmp_path):
    fields = ({**one, "245": "T"} for pair in PAIRS.values() for one in pair)
    dump = marc(tmp_path, *fields)
    with dump.open("rb") as file:
        xml = b"".join(pymarc.record_to_xml(record, namespace=True) for record in pymarc.MARCReader(file))
    (tmp_path / "a.xml").write_bytes(b'<collection xmlns="http://www.loc.gov/MARC21/slim">' + xml + b"</collection>")
    told = [[row["other_keys"] for row in rows(path)] for path in (dump, tmp_path / "a.xml")]
    assert told[0] == told[1]
    assert all(told[0])


def test_a_key_does_not_join_what_contradicts(tmp_path):
    dump = csv(tmp_path, "oclc,title,year", "1,One title,2001", "1,Another thing,2001", "1,One title,2002")
    found = rows(dump)
    assert [row["cluster"] for row in found] == [1, 2, 1]
    assert found[1]["reason"] == "title"


class TestUnsure:
    """An address, or a number without its institution, joins only records with the same title."""

    def test_the_same_title_is_needed(self, tmp_path):
        dump = csv(tmp_path, "url,title", f"{URL},Lighthouses", f"{URL}/,Lighthouses", f"{URL},", f"{URL},Inks")
        found = rows(dump, keys="all", keep="first")
        assert [row["cluster"] for row in found] == [1, 1, 2, 3]
        assert [row["reason"] for row in found] == ["unsure"] * 4
        assert [row["decision"] for row in found] == ["kept", "removed", "apart", "apart"]
        assert found[1]["joined_by"] == ["url:example.org/report"]
        dump = csv(tmp_path, "url,title", f"{URL},Lighthouses", f"{URL},Inks")
        assert [row["decision"] for row in rows(dump)] == ["alone", "alone"]  # nothing is said of an address that lies

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("Drying times of invented inks of the north", "Drying times of newly invented inks of the north"),
            ("Drying times of invented inks of the north", "Drying times of invented inks of the north 2"),
        ],
    )
    def test_the_whole_title_and_the_part(self, tmp_path, one, other):
        """A surer key joins these, as they do not contradict each other."""
        dump = csv(tmp_path, "url,oclc,title", f"{URL},1,{one}", f"{URL},1,{other}")
        assert clusters(dump) == [1, 1]
        assert clusters(dump, keys="url") == [1, 2]

    @pytest.mark.full
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ({"type": "article", "volume": "17", "number": "3"}, {"type": "article", "volume": "17", "number": "4"}),
            ({"type": "article", "volume": "17", "number": "3"}, {"type": "article", "volume": "17"}),
            ({"type": "manual", "year": "2003"}, {"type": "manual", "year": "2004"}),
            ({"type": "manual", "year": "2003"}, {"type": "manual"}),
            ({"type": "manual", "version": "1.4"}, {"type": "manual", "version": "1.5"}),
        ],
    )
    def test_issues_and_versions_under_one_address(self, tmp_path, one, other):
        """In BibTeX of tugboat.bib the covers of all issues have the address of one, and a manual keeps its address."""

        def entry(key, fields):
            fields = {"title": "Front cover", "url": URL} | fields
            said = ", ".join(f"{name} = {{{value}}}" for name, value in fields.items() if name != "type")
            return f"@{fields['type']}{{{key}, {said}}}\n"

        dump = tmp_path / "a.bib"
        dump.write_text(entry("a", one) + entry("b", other))
        found = rows(dump, keys="url")
        assert [row["kept"] for row in found] == [True, True]
        assert {row["reason"] for row in found} == {"unsure"}
        dump.write_text(entry("a", one) + entry("b", {**one, "note": "again"}))
        assert clusters(dump, keys="url") == [1, 1]
        dump.write_text(entry("a", one | {"pmid": "12345678"}) + entry("b", other | {"pmid": "12345678"}))
        assert clusters(dump) == [1, 1]  # a surer key needs less

    def test_versions_as_editions(self, tmp_path):
        """Numbers of editions that differ are a conflict (docs/reference/dedup/conflicts.md), whatever the two share."""
        dump = tmp_path / "a.bib"
        shared = f"title = {{Front cover}}, url = {{{URL}}}, pmid = {{12345678}}"
        dump.write_text(
            "".join(f"@manual{{m{version}, edition = {{Version 1.{version}}}, {shared}}}\n" for version in "45")
        )
        assert clusters(dump) == [1, 2]

    def test_nothing_is_compared_so_nothing_is_joined(self, tmp_path):
        dump = csv(tmp_path, "url,title", f"{URL},Lighthouses", f"{URL}/,Lighthouses")
        assert clusters(dump, keys="all", agree="none") == [1, 2]
        assert clusters(dump, keys="all", agree="year") == [1, 1]

    def test_a_surer_key_beside_it_needs_no_title(self, tmp_path):
        dump = csv(tmp_path, "url,oclc,title", f"{URL},1,", f"{URL},1,Lighthouses")
        assert clusters(dump, keys="all") == [1, 1]

    def test_a_number_without_an_institution_counts_within_its_dump(self, tmp_path):
        record = {"001": "17", "245": "Lighthouses"}
        one = marc(tmp_path, record, {**record, "500": "again"})
        other = marc(tmp_path, {**record, "500": "elsewhere"}, name="b.mrc")
        assert clusters(one, other) == [1, 1, 2]
        assert rows(one)[0]["joined_by"] == ["local:1:17"]

    def test_it_joins_no_component_that_is_too_large(self, tmp_path):
        """Else the address of a site would undo what numbers join."""
        numbers = [1, 1, *range(2, 9)]
        dump = csv(tmp_path, "url,accession,title", *(f"{URL},CN-{number:08},Lighthouses" for number in numbers))
        assert clusters(dump, keys="all", max_cluster=9) == [1] * 9
        assert clusters(dump, keys="all", max_cluster=8) == [1, *range(1, 9)]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), max_size=12), st.integers(2, 12))
def test_no_other_key_undoes_what_urns_join(tmp_path_factory, records, max_cluster):
    """Whatever else records share, and however many: those that URNs join stay together."""
    folder = tmp_path_factory.mktemp("keys")
    lines = [
        json.dumps(
            {
                "n": at,
                "urn": urn and f"urn:isbn:978{urn}",
                "oclc": oclc and str(oclc),
                "url": url and f"{URL}/{url}",
                "title": "T",
            }
        )
        for at, (urn, oclc, url) in enumerate(records)
    ]
    (folder / "a.jsonl").write_text("".join(f"{line}\n" for line in ['{"n": "first"}', *lines]))
    strict, loose = (
        clusters(folder / "a.jsonl", record="jsonl", max_cluster=max_cluster, keys=keys) for keys in ("urn", "all")
    )
    joined = dict(zip(strict, loose, strict=True))
    assert [joined[cluster] for cluster in strict] == loose


def test_keys_in_too_many_records_join_nothing(tmp_path):
    found = urnscan.deduplicate(csv(tmp_path, "oclc,title", *["7,T"] * 4), max_class=3, keys="oclc")
    assert found.report.common == [("oclc:7", 4)]
    assert found.report.duplicates == 0


def test_urns_join_only_if_they_are_keys(tmp_path):
    dump = csv(tmp_path, "urn,oclc", "urn:isbn:1,5", "urn:isbn:1,6", "urn:nbn:de:2,6")
    assert clusters(dump, keys="urn") == [1, 1, 2]
    assert clusters(dump, keys="oclc") == [1, 2, 2]
    assert rows(dump, keys="oclc")[0]["urns"] == ["urn:isbn:1"]


def test_copies(tmp_path):
    """Records without any identifier, byte for byte the same; lines are no records of their own."""
    dump = csv(tmp_path, "title,year", "Lighthouses,2001", "Inks,2001", "Lighthouses,2001")
    assert clusters(dump) == [1, 2, 1]
    assert clusters(dump, record="line") == [1, 2, 3, 4]
    assert all(not row["other_keys"] for row in rows(dump))


def test_eprints(tmp_path):
    """One preprint as eprint of two programs, by its DOI, its address, and as Google Scholar cites it."""
    (tmp_path / "a.bib").write_text(
        "@misc{a, title={Mamba}, eprint={2312.00752}, archiveprefix={arXiv}, year={2023}}\n"
        "@inproceedings{b, title={Mamba}, eprint={2312.00752v2}, eprinttype={arxiv}, year={2024}}\n"
        "@article{c, title={Mamba}, doi={10.48550/arXiv.2312.00752}, year={2024}}\n"
        "@misc{d, title={Mamba}, url={https://arxiv.org/abs/2312.00752v2}, year={2024}}\n"
        "@article{e, title={Mamba}, journal={arXiv preprint arXiv:2312.00752}, year={2023}}\n"
        "@article{f, title={Mamba}, journal={CoRR}, volume={abs/2312.00752}, year={2023}}\n"
    )
    assert clusters(tmp_path / "a.bib") == [1] * 6


def test_accession_numbers(tmp_path):
    """In RIS the number belongs to the database that DB, or else DP, names."""
    references = [
        ("AN  - WOS:000123456700001",),
        ("AN  - ISI:000123456700001",),
        ("AN  - 12345678", "DB  - a9h", "DP  - EBSCOhost"),
        ("DP  - EBSCOhost", "DB  - A9H", "AN  - 12345678"),
        ("AN  - 12345678", "DB  - PubMed"),
        ("UR  - https://www.ncbi.nlm.nih.gov/pubmed/12345678",),
    ]
    text = "".join("\n".join(["TY  - JOUR", "TI  - T", *lines, "ER  - \n"]) for lines in references)
    (tmp_path / "a.ris").write_text(text)
    assert clusters(tmp_path / "a.ris", keys=["accession", "pmid"]) == [1, 1, 2, 2, 3, 3]


def test_mods(tmp_path):
    mods = (
        f'<mods xmlns="http://www.loc.gov/mods/v3"><titleInfo><title>T</title></titleInfo>{said}</mods>'
        for said in (
            '<identifier type="oclc">ocm00000012</identifier>',
            '<identifier type="uri">http://www.worldcat.org/oclc/12</identifier>',
            '<recordInfo><recordIdentifier source="DLC">77</recordIdentifier></recordInfo>',
            '<recordInfo><recordIdentifier source="dlc">77</recordIdentifier><languageOfCataloging/></recordInfo>',
        )
    )
    (tmp_path / "a.xml").write_text(
        f'<modsCollection xmlns="http://www.loc.gov/mods/v3">{"".join(mods)}</modsCollection>'
    )
    assert clusters(tmp_path / "a.xml") == [1, 1, 2, 2]


def test_pica(tmp_path):
    """007I of the German National Library says what the number is; codes of booksellers are no kinds of keys."""
    fields = [
        "007I $So$0934811868",
        "007I $So$0934811868",
        "007I $Se$0934811868",
        "007A $aHEB$0387669329",
        "007A $aheb$0387669329",
    ]
    text = "\n".join(f"003@ $0{at}\n021A $aInks\n{field}\n" for at, field in enumerate(fields))
    (tmp_path / "a.pp").write_text(text)
    assert clusters(tmp_path / "a.pp") == [1, 1, 2, 3, 3]


def test_metadata_names_the_keys(tmp_path):
    found = urnscan.deduplicate(csv(tmp_path, "oclc,title", "1,T"), keys="urn,oclc".split(","))
    assert json.loads(found.clusters.schema.metadata[b"urnscan"])["keys"] == ["urn", "oclc"]


@pytest.mark.parametrize("keys", ["", "isbn", ["all", "urn"], 7])
def test_no_such_key(tmp_path, keys):
    with pytest.raises(urnscan.ArgumentError, match="keys"):
        urnscan.deduplicate(csv(tmp_path, "a", "b"), keys=keys)


def test_pica_of_k10plus(tmp_path):
    """003O has the number in WorldCat with its code, 007G that of the catalogue that had the record first."""
    dump = tmp_path / "a.pica"
    dump.write_bytes(
        b"003@ \x1f01\x1e003O \x1faOCoLC\x1f00844984463\x1e006A \x1f02012345678\x1e007G \x1fiDNB\x1f0970000001\x1e021A \x1faInks\x1e\n"
        b"003@ \x1f02\x1e003O \x1faOCoLC\x1f0844984463\x1e006G \x1f0970000001\x1e021A \x1faInks\x1e\n"
    )
    assert [row["cluster"] for row in rows(dump)] == [1, 1]
    assert rows(dump)[0]["joined_by"] == ["oclc:844984463", "id:dnb/970000001"]
    assert "lccn:2012345678" in rows(dump)[0]["other_keys"]
