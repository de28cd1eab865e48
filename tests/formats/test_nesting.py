"""What the readers of one input share: the limits, the checksums, the names; and the way through nested forms."""

from contextlib import closing

import pytest

from tests.support.packed import Given
from urnscan.errors import DamageError, LimitError, SourceError
from urnscan.formats import limits
from urnscan.formats import unfold as opening
from urnscan.formats.contents import Document, Member
from urnscan.formats.context import Layer, Reading
from urnscan.formats.limits import Budget, Limits
from urnscan.formats.protocol import Archive, Compression, Table
from urnscan.formats.registry import Registry
from urnscan.formats.unfold import is_splittable
from urnscan.stores.input import Input


class TestBudget:
    """ "a decompression ratio and total size limit …, and member count; past a limit that input fails by name" """

    def test_ratio_counts_only_past_256_mib(self):
        budget = Budget("x", Limits(ratio=10))
        budget.count_read(1)
        budget.count_unfolded(1 << 28)
        with pytest.raises(LimitError, match=r"x: unpacks to more than 10 times its size; .*max_ratio"):
            budget.count_unfolded(1)

    def test_ratio_is_that_of_what_was_read(self):
        budget = Budget("x", Limits(ratio=10))
        budget.count_read(10**8)
        budget.count_unfolded(10**9)
        with pytest.raises(LimitError):
            budget.count_unfolded(1)

    def test_size(self):
        budget = Budget("x", Limits(size=1000))
        budget.count_read(10**8)
        budget.count_unfolded(1000)
        with pytest.raises(LimitError, match=r"x: unpacks to more than 1,000 bytes; .*max_size"):
            budget.count_unfolded(1)

    def test_members(self):
        budget = Budget("x", Limits(members=2))
        budget.count_member()
        budget.count_member()
        with pytest.raises(LimitError, match=r"x: has more than 2 members; .*max_members"):
            budget.count_member()

    def test_progress_is_told_what_was_read(self):
        told = []
        Budget("x", Limits(), told.append).count_read(7)
        assert told == [7]

    def test_wrong_checksums_are_told_once_and_summed_up(self, monkeypatch):
        """An input made to harm has millions of them."""
        monkeypatch.setattr(limits, "_MAX_WRONG", 2)
        budget = Budget("x", Limits())
        for number in range(5):
            budget.failed_checksum("x", str(number))
        told = [str(error) for error in budget.collected()]
        wrong = "is wrong; its text may be damaged"
        assert told == [f"x: 0 {wrong}", f"x: 1 {wrong}", "x: 3 more errors of this kind in it"]
        assert list(budget.collected()) == []


class TestLayer:
    def layer(self, **limits):
        return Layer("a.tar", "a.tar", Reading(limits=Limits(**limits)), Budget("a.tar", Limits()))

    def test_names(self):
        """`member` is the way to it, by "!/" where archives lie in archives."""
        layer = self.layer()
        inner = layer.inside("b/c.ZIP")
        assert (inner.name, inner.member, inner.file_name) == ("a.tar!/b/c.ZIP", "b/c.ZIP", "c.ZIP")
        assert inner.inside("d").member == "b/c.ZIP!/d"
        assert (layer.of_value("1/x"), inner.of_value("1/x")) == ("1/x", "b/c.ZIP!/1/x")

    @pytest.mark.parametrize(("name", "inner"), [("x.tar.GZ", "x.tar"), ("x.gz", "x"), ("x", "x"), ("gz", "gz")])
    def test_suffixes_of_compression(self, name, inner):
        assert self.layer().inside(name).unpacked((".gz", ".gzip")).file_name == inner

    def test_depth(self):
        layer = self.layer(depth=2)
        with pytest.raises(
            SourceError, match=r"a.tar!/b!/c: is nested more than 2 deep, so it is not read; .*max_depth"
        ) as raised:
            layer.inside("b").inside("c").unpacked(())
        assert not isinstance(raised.value, LimitError)


class TestRegistry:
    """The way through forms: "recognised by content (magic bytes) before name, nested where people nest them"."""

    @pytest.fixture
    def documents(self, tmp_path, monkeypatch):
        """Documents of a file as (member, text or error); `forms` stand in the registry."""

        def documents(data, *forms, limits=None):
            monkeypatch.setattr(opening, "FORMS", Registry(forms))
            path = tmp_path / "file"
            path.write_bytes(data)
            out = []
            reading = Reading(limits=limits or Limits())
            for document in opening.open_documents(Input("file", str(path), None), reading):
                if isinstance(document, Document):
                    out.append((document.member, read(document.reader)))
                else:
                    out.append(str(document))
            return out

        def read(reader):
            view = memoryview(bytearray(100))
            text = b""
            while True:
                try:
                    got = reader.read_into(view)
                except DamageError as error:
                    text += f"<{error.reason}>".encode()
                    continue
                if not got:
                    return text
                text += view[:got]

        return documents

    @staticmethod
    def compression(*readers):
        """A form that begins with C and holds what the readers give, one after the other each time that it is met."""
        left = list(readers)
        return Compression(
            name="a form",
            recognise=lambda head, _: head.startswith(b"C"),
            open=lambda *_: left.pop(0),
            suffixes=(".c",),
        )

    @staticmethod
    def archive(*members):
        return Archive(name="a form", recognise=lambda head, _: head.startswith(b"A"), open=lambda *_: iter(members))

    def test_text(self, documents):
        assert documents(b"text") == [(None, b"text")]

    def test_compression_is_no_member(self, documents):
        inner = Given(b"te", b"xt")
        assert documents(b"C", self.compression(inner)) == [(None, b"text")]
        assert inner.closed

    def test_archive_in_compression_in_archive(self, documents):
        inner = self.archive(Member("x", Given(b"1")), Member("y", Given(b"2")))
        outer = Archive(
            name="a form",
            recognise=lambda head, _: head.startswith(b"B"),
            open=lambda *_: iter([Member("z", Given(b"C"))]),
        )
        found = documents(b"B", outer, inner, self.compression(Given(b"A")))
        assert found == [("z!/x", b"1"), ("z!/y", b"2")]

    def test_a_member_that_fails_costs_nothing_else(self, documents):
        broken = Given(SourceError("file!/b", "broken"))
        members = [
            Member("a", Given(b"1")),
            SourceError("file!/secret", "encrypted"),
            Member("b", broken),
            Member("c", Given(b"3")),
        ]
        found = documents(b"A", self.archive(*members[:2], members[3]))
        assert found == [("a", b"1"), "file!/secret: encrypted", ("c", b"3")]

    def test_opening_a_member_that_fails_costs_nothing_else(self, documents):
        def refuse(*_):
            raise SourceError("file!/a", "no good")

        bad = Compression(name="a form", recognise=lambda head, _: head.startswith(b"X"), open=refuse)
        found = documents(b"A", self.archive(Member("a", Given(b"X")), Member("b", Given(b"2"))), bad)
        assert found == ["file!/a: no good", ("b", b"2")]

    def test_a_limit_ends_the_input(self, documents):
        members = [Member("a", Given(b"1")), Member("b", Given(b"2")), Member("c", Given(b"3"))]
        with pytest.raises(LimitError, match="more than 2 members"):
            documents(b"A", self.archive(*members), limits=Limits(members=2))

    def test_a_limit_that_is_met_inside_of_a_member_ends_the_input(self, documents):
        def unfold(*_):
            raise LimitError("file", "unfolds to too much")

        bomb = Compression(name="a form", recognise=lambda head, _: head.startswith(b"X"), open=unfold)
        with pytest.raises(LimitError, match="too much"):
            documents(b"A", self.archive(Member("a", Given(b"X")), Member("b", Given(b"2"))), bomb)

    def test_a_table_is_one_layer_and_is_read_to_its_end(self, documents):
        """What its reader has not come to may still fail."""
        table = Table(name="a form", recognise=lambda head, _: head.startswith(b"T"), open=lambda *_: iter(()))
        members = [Member("a", Given(b"T", SourceError("file!/a", "checksum"))), Member("b", Given(b"2"))]
        assert documents(b"A", self.archive(*members), table) == ["file!/a: checksum", ("b", b"2")]
        found = documents(b"A", self.archive(Member("a", Given(b"T"))), table, limits=Limits(depth=1))
        assert found == ["file!/a: is nested more than 1 deep, so it is not read; max_depth allows more"]

    def test_what_is_nested_too_deep_fails_by_name(self, documents):
        """A file that holds itself, as some zip files do."""

        def itself(*_):
            return iter([Member("self", Given(b"A")), Member("text", Given(b"1"))])

        quine = Archive(name="a form", recognise=lambda head, _: head.startswith(b"A"), open=itself)
        found = documents(b"A", quine, limits=Limits(depth=3))
        assert (
            found[0] == "file!/self!/self!/self: is nested more than 3 deep, so it is not read; max_depth allows more"
        )
        assert [member for member, _ in (each for each in found if isinstance(each, tuple))] == [
            "self!/self!/text",
            "self!/text",
            "text",
        ]

    def test_damage_is_told_and_the_rest_is_given(self, documents):
        inner = Given(b"before", DamageError("file", "lost"), b"after")
        assert documents(b"C", self.compression(inner)) == [(None, b"before<lost>after")]

    def test_what_is_behind_an_archive_is_read_for_its_errors(self, documents):
        """A tar archive ends before the gzip around it; that checksum must be looked at all the same."""
        inner = Given(b"A", b"rest", DamageError("file", "checksum"), b"more")
        found = documents(b"C", self.compression(inner), self.archive(Member("x", Given(b"1"))))
        assert found == [("x", b"1"), "file: checksum"]

    def test_more_bytes_where_a_form_needs_them(self, documents):
        """None: cannot tell yet; the bytes are there all the same."""
        asked = []

        def recognise(head, _):
            asked.append(len(head))
            return None if len(head) < 5000 else True

        late = Archive(name="a form", recognise=recognise, open=lambda *_: iter([Member("x", Given(b"1"))]))
        assert documents(b"t" * 9000, late) == [("x", b"1")]
        assert documents(b"t" * 4000, late) == [(None, b"t" * 4000)]
        assert max(asked) < 9000

    def test_closing_in_the_midst_closes_what_is_open(self, tmp_path, monkeypatch):
        inner = Given(b"A")
        member = Given(b"1")
        forms = (self.compression(inner), self.archive(Member("x", member)))
        monkeypatch.setattr(opening, "FORMS", Registry(forms))
        (tmp_path / "file").write_bytes(b"C")
        with closing(opening.open_documents(Input("f", str(tmp_path / "file"), None), Reading())) as found:
            next(found)
            assert not inner.closed
        assert inner.closed
        assert member.closed

    def test_no_form_is_split(self, tmp_path, monkeypatch):
        monkeypatch.setattr(opening, "FORMS", Registry([self.archive()]))
        (tmp_path / "a").write_bytes(b"A")
        (tmp_path / "t").write_bytes(b"t")
        assert not is_splittable(Input("a", str(tmp_path / "a"), 1), Reading())
        assert is_splittable(Input("t", str(tmp_path / "t"), 1), Reading())
