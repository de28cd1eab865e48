"""Where dumps without duplicates go."""

import contextlib
from pathlib import Path

import pytest

from urnscan.dedup.write.outputs import Dumps
from urnscan.errors import FatalError
from urnscan.formats.compression.codecs import CODECS
from urnscan.records.format_registry import FORMATS
from urnscan.stores.input import Input
from urnscan.tables.plain_output import CODECS as WRITTEN
from urnscan.tables.plain_output import NOT_WRITTEN

MARC, JSON, BIBTEX = FORMATS["marc"], FORMATS["json"], FORMATS["bibtex"]


class TestDumps:
    """One file for all dumps where their records can follow one another, else a folder with a file for each."""

    def named(self, name):
        return Input(name, name, 1)

    def test_one_file(self, tmp_path):
        place = tmp_path / "out.mrc"
        with Dumps(str(place)) as dumps:
            for name in ("a.mrc", "b.mrc"):
                dumps.admit(self.named(name), MARC, None)
            for name in ("a.mrc", "b.mrc"):
                with dumps.open(self.named(name)) as write:
                    write(name.encode())
            assert not place.exists()
            dumps.commit()
        assert place.read_bytes() == b"a.mrcb.mrc"

    @pytest.mark.parametrize(
        ("first", "second", "message"),
        [
            (JSON, JSON, "cannot contain two dumps of JSON array .b.; name an existing folder"),
            (MARC, BIBTEX, "cannot contain MARC .ISO 2709. and BibTeX .b.; name an existing folder"),
        ],
    )
    def test_what_makes_no_dump(self, tmp_path, first, second, message):
        with Dumps(str(tmp_path / "out")) as dumps:
            dumps.admit(self.named("a"), first, None)
            with pytest.raises(FatalError, match=message):
                dumps.admit(self.named("b"), second, None)
        assert not list(tmp_path.iterdir())

    def test_two_formats_and_the_suffix_of_the_first(self, tmp_path):
        """The message names a folder: with "use .bib", and after that "use .mrc", nobody would come to an end."""
        with Dumps(str(tmp_path / "out.mrc")) as dumps:
            dumps.admit(self.named("a.mrc"), MARC, None)
            with pytest.raises(
                FatalError, match=r"out\.mrc: cannot contain MARC .ISO 2709. and BibTeX .b\.bib.; name an"
            ):
                dumps.admit(self.named("b.bib"), BIBTEX, None)

    @pytest.mark.parametrize(
        ("form", "message"),
        [
            (FORMATS["endnote"], r"the output keeps the format of a, EndNote .XML.; name an existing folder .mkdir"),
            (MARC, "MARC .ISO 2709.; use .mrc, or, for several formats, name an existing folder"),
        ],
    )
    def test_the_suffix_of_a_later_dump(self, tmp_path, form, message):
        """Guards against "use .xml", which would lead into "cannot contain EndNote (XML) and RIS"."""
        with Dumps(str(tmp_path / "all.ris")) as dumps:
            dumps.foresee([self.named("a"), self.named("b.ris")])
            with pytest.raises(FatalError, match=message):
                dumps.admit(self.named("a"), form, None)

    @pytest.mark.parametrize(
        ("name", "form", "message"),
        [
            ("a.bib", BIBTEX, None),
            ("a.bib.gz", BIBTEX, None),
            ("a.txt", BIBTEX, None),
            ("a", BIBTEX, None),
            ("a.xml", BIBTEX, "a.xml: the output keeps the format of b.bib, BibTeX; use .bib"),
            ("a.XML.zst", JSON, "the output keeps the format of b.bib, JSON array; use .json"),
            ("a.bib", MARC, None),  # as the input is called
            ("a.csv", FORMATS["line"], "the output keeps the format of b.bib, lines$"),
        ],
    )
    def test_a_name_of_another_format(self, tmp_path, name, form, message):
        """A program that opens MODS.xml expects XML: bad names are refused before the work, as for tables."""
        with Dumps(str(tmp_path / name)) as dumps:
            if message is None:
                dumps.admit(self.named("b.bib"), form, None)
                return
            with pytest.raises(FatalError, match=message):
                dumps.admit(self.named("b.bib"), form, None)
        assert not list(tmp_path.iterdir())

    def test_folder(self, tmp_path):
        with Dumps(str(tmp_path)) as dumps:
            for name in ("x/a.json", "b.json.xz"):
                dumps.admit(self.named(name), JSON, None)
                with dumps.open(self.named(name)) as write:
                    write(b"[]")
            dumps.commit()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "b.json"]

    def test_two_of_one_name_in_a_folder(self, tmp_path):
        """Each lies in its own folder there, with as many folders as tell them apart; others lie where they did."""
        names = {
            "jan/x.xml": "jan/x.xml",
            "feb/x.xml": "feb/x.xml",
            "../old/jan/y.json": "old/jan/y.json",
            "new/jan/y.json": "new/jan/y.json",
            "y.json": "y.json",
            "feb/z.json": "z.json",
        }
        with Dumps(str(tmp_path)) as dumps:
            sources = [*map(self.named, names)]
            assert dumps.foresee(sources) == [str(tmp_path / name) for name in names.values()]
            for source in sources:
                with dumps.open(source) as write:
                    write(source.name.encode())
            dumps.complete()
            assert not [*tmp_path.glob("*n")]
            dumps.commit()
        assert {name: (tmp_path / place).read_text() for name, place in names.items()} == {name: name for name in names}

    def test_what_no_folder_tells_apart(self, tmp_path):
        two = "would be the output for x/a.json and for ../x/a.json"
        with Dumps(str(tmp_path)) as dumps, pytest.raises(FatalError, match=two):
            dumps.foresee([self.named("x/a.json"), self.named("../x/a.json")])

    def test_a_file_where_a_folder_is_needed(self, tmp_path):
        """A dump without a suffix, or a file of before, may have the name of the folder of another dump."""
        pair = [self.named("x/a.json"), self.named("y/a.json")]
        with Dumps(str(tmp_path)) as dumps, pytest.raises(FatalError, match=r"y: must be a folder for .*y/a\.json"):
            dumps.foresee([*pair, self.named("z/y")])
        (tmp_path / "x").write_text("")
        with Dumps(str(tmp_path), force=True) as dumps, pytest.raises(FatalError, match="x: must be a folder for"):
            dumps.foresee(pair)

    def test_what_exists_is_not_replaced(self, tmp_path):
        (tmp_path / "a.json").write_text("[]")
        with (
            Dumps(str(tmp_path)) as dumps,
            pytest.raises(FatalError, match=r"exists already; force=True replaces it"),
        ):
            dumps.foresee([self.named("x/a.json")])
        with Dumps(str(tmp_path), force=True) as dumps:
            dumps.foresee([self.named("x/a.json")])

    def test_no_input_is_replaced(self, tmp_path):
        """It may be the only copy."""
        source = self.named(str(tmp_path / "a.json"))
        with Dumps(str(tmp_path), force=True) as dumps, pytest.raises(FatalError, match="is an input and an output"):
            dumps.foresee([source])
        (tmp_path / "a.json").write_text("[]")
        (tmp_path / "link").symlink_to(tmp_path / "a.json")
        with Dumps(str(tmp_path / "link"), force=True) as dumps, pytest.raises(FatalError, match="is an input and an"):
            dumps.foresee([source])

    def test_no_other_input_is_replaced(self, tmp_path):
        """Nor is one that lies where another's file goes, whatever links lead to it."""
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "a.json").write_text("[]")
        (tmp_path / "z.json").symlink_to(tmp_path / "out" / "a.json")
        sources = [self.named(str(tmp_path / name)) for name in ("in/a.json", "z.json")]
        for some in (sources, sources[::-1]):
            with Dumps(str(tmp_path / "out"), force=True) as dumps, pytest.raises(FatalError) as caught:
                dumps.foresee(some)
            assert str(caught.value) == f"{sources[1].name}: is an input and an output; name another output"

    def test_another_output_of_the_run(self, tmp_path):
        """The table or the page of one name would take the place of a dump, or it theirs."""
        place, folder = tmp_path / "a.json", str(tmp_path)
        with (
            Dumps(folder, force=True) as dumps,
            pytest.raises(FatalError, match=r"for x/a\.json, and is another output"),
        ):
            dumps.foresee([self.named("x/a.json")], [folder, f"{folder}/./a.json"])
        with Dumps(folder, force=True) as dumps:
            dumps.foresee([self.named("x/b.json")], [folder, str(place)])

    def test_all_or_none_in_a_folder(self, tmp_path):
        """What is written first must not appear where the next fails; and of a thousand dumps none stays open."""
        names = [f"{number}.json" for number in range(40)]
        with pytest.raises(ZeroDivisionError):
            self.written(tmp_path, names, ZeroDivisionError)
        assert not list(tmp_path.iterdir())
        with self.written(tmp_path, names) as dumps:
            dumps.complete()
            assert not list(tmp_path.glob("*.json"))
            dumps.commit()
        assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: name for name in names}

    def written(self, folder, names, error=None):
        """Dumps of these names, written into the folder; `error` is raised while the last is."""
        files = Path("/proc/self/fd")  # where there is none, nothing is counted
        before = len(list(files.glob("*")))
        with contextlib.ExitStack() as stack:
            dumps = stack.enter_context(Dumps(str(folder)))
            for name in names:
                with dumps.open(self.named(name)) as write:
                    write(name.encode())
                    if error and name == names[-1]:
                        raise error
            assert len(list(files.glob("*"))) < before + 10
            stack.pop_all()
        return dumps

    def test_folder_that_is_not_there(self, tmp_path):
        with pytest.raises(FatalError, match="this folder does not exist"):
            Dumps(str(tmp_path / "none") + "/")

    @pytest.mark.parametrize("suffix", [suffix for codec in CODECS for suffix in codec.suffixes])
    def test_no_name_says_another_form_than_the_bytes_have(self, tmp_path, suffix):
        """x.mrc.tzst in a folder kept its name and was written without compression."""
        with Dumps(str(tmp_path) + "/") as dumps:
            name = Path(dumps._place(self.named(f"x.mrc{suffix}"))).name
        assert name == ("x.mrc" + suffix * (suffix in WRITTEN))
        assert (suffix in WRITTEN) != (suffix in NOT_WRITTEN)

    def test_other_encodings(self, tmp_path):
        """Bytes as they came are not those that were read."""
        with Dumps(str(tmp_path / "out")) as dumps, pytest.raises(FatalError, match="is in utf-16-le"):
            dumps.admit(self.named("a"), JSON, "utf-16-le")
