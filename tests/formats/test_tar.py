"""Tar archives: every file is there, whatever wrote it; what is damaged costs its own member and no other."""

import io
import os
import random
import subprocess
import tarfile
from shutil import which

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.packed import Given, contents, one_by_one
from urnscan.errors import DamageError, LimitError, SourceError
from urnscan.formats.archives import tar
from urnscan.formats.archives.tar import is_tar, open_tar
from urnscan.formats.archives.tar_fast import SAID, UsualFiles
from urnscan.formats.context import Layer, Reading
from urnscan.formats.limits import Budget, Limits
from urnscan.stores.files import File

FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}
TEXT = b"".join(b"urn:isbn:%d and some words\n" % (number * 7919) for number in range(3000))
LAYER = Layer("x", "x", Reading(), Budget("x", Limits()))


def read(reader, view=5000, upto=None, limits=None):
    """The members and the errors of an archive."""
    reader = Given(reader) if isinstance(reader, bytes) else reader
    layer = Layer("x", "x", Reading(), Budget("x", limits or Limits()))
    layer.budget.count_read(1)
    members, errors = [], []
    block = memoryview(bytearray(view))
    for found in one_by_one(open_tar(reader, layer)):
        if isinstance(found, SourceError):
            errors.append(str(found))
            continue
        name, member = found
        text = bytearray()
        try:
            with member:
                while (upto is None or len(text) < upto) and (got := member.read_into(block)):
                    text += block[:got]
        except LimitError:
            raise
        except SourceError as error:
            errors.append(str(error))
            assert member.read_into(block) == 0
        members.append((name, bytes(text)))
    return members, errors


def info(name, size=0, kind=tarfile.REGTYPE, **more):
    header = tarfile.TarInfo(name)
    header.size, header.type = size, kind
    for key, value in more.items():
        setattr(header, key, value)
    return header


def tarred(members, form=tarfile.USTAR_FORMAT, **options):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form, **options) as archive:
        for name, text in members:
            archive.addfile(info(name, len(text)), io.BytesIO(text))
    return file.getvalue()


def block(name, size, kind=b"0", form=tarfile.GNU_FORMAT):
    """A header alone, of any type and size."""
    return info(name, size, kind).tobuf(form, "utf-8", "surrogateescape")


def padded(content):
    return content + bytes(-len(content) % 512)


def rest_of(name, text):
    return block(name, len(text)) + padded(text)


@pytest.mark.full
@given(
    members=st.lists(
        st.tuples(st.text("aé中. ", min_size=1, max_size=200), st.binary(min_size=1, max_size=3000)), max_size=5
    ),
    form=st.sampled_from([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]),
    part=st.integers(1, 1000),
    view=st.integers(1, 4000),
)
def test_any_archive(members, form, part, view):
    """Any names, long and short, any contents; however it arrives and is asked for."""
    content = tarred(members, form)
    parts = Given(*(content[at : at + part] for at in range(0, len(content), part)))
    assert read(parts, view) == (members, [])


@pytest.mark.parametrize("form", FORMATS.values())
def test_large_members(form, tmp_path):
    members = [("a" * 60 + "/" + "b" * 80, TEXT * 9), ("b", random.Random(1).randbytes(900_001)), ("c", TEXT)]
    content = tarred(members, form)
    (tmp_path / "tar").write_bytes(content)
    with File("tar", os.open(tmp_path / "tar", os.O_RDONLY)) as file:
        assert read(file, 1 << 20) == (members, [])
    assert read(content, 1 << 20) == (members, [])


def test_data_goes_straight_into_the_view():
    """What is not at hand already is read by the reader below, with no copy between."""
    views = []

    class Watched(Given):
        def read_into(self, view):
            views.append(view.obj)
            return super().read_into(view)

    found = one_by_one(open_tar(Watched(tarred([("a", TEXT * 99)])), LAYER))
    _, member = next(found)
    buffer = bytearray(1 << 20)
    while member.read_into(memoryview(buffer)):
        pass
    assert any(obj is buffer for obj in views)


def test_what_is_no_file_is_passed_over():
    """Links, devices, folders (also those of V7 and of GNU's incremental archives), empty files."""
    content = b"".join(block("no", 0, kind) for kind in (b"1", b"2", b"3", b"4", b"5", b"6"))
    content += block("no/", 0, b"\0") + block("no", 3, b"D") + padded(b"Ya\0") + block("no", 0)
    content += rest_of("a", b"a") + block("b", 1, b"7") + padded(b"b") + block("c", 1, b"\0") + padded(b"c")
    assert read(content) == ([("a", b"a"), ("b", b"b"), ("c", b"c")], [])


def test_a_file_that_is_called_as_a_folder_is_read():
    """What has data is not passed over for its name; as it was, without a word."""
    content = block("d/", 20, b"0") + padded(b"text urn:a:hidden end"[:20]) + rest_of("a", b"a")
    assert read(content) == ([("d/", b"text urn:a:hidden en"), ("a", b"a")], [])


def test_headers_of_1979():
    """V7: no magic string."""
    header = bytearray(block("a", 3))
    header[257:265] = bytes(8)
    header[148:156] = b"%06o\0 " % (sum(header[:148]) + sum(header[156:]) + 256)
    content = bytes(header) + padded(b"abc")
    assert is_tar(content[:512], LAYER)
    assert read(content) == ([("a", b"abc")], [])


def test_names_that_are_not_utf8():
    for form in FORMATS.values():
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode="w", format=form, encoding="latin-1") as archive:
            archive.addfile(info("é" * 50, 1), io.BytesIO(b"x"))
        names = [name for name, _ in read(file.getvalue())[0]]
        assert names == [("é" if form == tarfile.PAX_FORMAT else "\\xe9") * 50]


def test_hostile_names_are_only_names():
    for name in ("../../etc/passwd", "/etc/passwd", "a//b", "."):
        assert read(tarred([(name, b"x")])) == ([(name, b"x")], [])


def test_an_incremental_header_of_gnu_tar():
    """Where ustar has the front of the name it has times."""
    header = bytearray(block("a", 1))
    header[345:357] = b"14000000000\0"
    header[148:156] = b"%06o\0 " % (sum(header[:148]) + sum(header[156:]) + 256)
    assert read(bytes(header) + padded(b"a")) == ([("a", b"a")], [])


def test_global_pax_records():
    """They hold for all that follow, unless a record of the member's own says otherwise."""
    content = tarred([("a", b"a")], tarfile.PAX_FORMAT, pax_headers={"path": "global", "comment": "x" * 3000})
    content = content.rstrip(b"\0")
    content += bytes(-len(content) % 512) + tarred([("é", b"b")], tarfile.PAX_FORMAT)
    assert read(content) == ([("global", b"a"), ("é", b"b")], [])


def test_archives_one_after_the_other():
    one, two = tarred([("a", TEXT)]), tarred([("b", TEXT)])
    assert read(one + bytes(512 * 7) + two) == ([("a", TEXT), ("b", TEXT)], [])


def test_no_end_marker():
    """Many writers leave it out, and GNU tar says nothing."""
    assert read(rest_of("a", b"a")) == ([("a", b"a")], [])
    assert read(rest_of("a", b"a") + bytes(512)) == ([("a", b"a")], [])


@pytest.mark.skipif(which("tar") is None, reason="there is no tar command")
@pytest.mark.parametrize(
    "options", [["--format=v7"], ["--format=oldgnu"], ["--format=gnu"], ["--format=ustar"], ["--format=posix"]]
)
def test_the_tar_command(tmp_path, options):
    names = ["a", "b" * 90]
    for name in names:
        (tmp_path / name).write_bytes(TEXT)
    done = subprocess.run(["tar", "-c", *options, *names], cwd=tmp_path, check=True, capture_output=True)
    assert read(done.stdout) == ([(name, TEXT) for name in names], [])


@pytest.mark.skipif(which("tar") is None, reason="there is no tar command")
@pytest.mark.parametrize(
    "version", ["--format=gnu", "--sparse-version=0.0", "--sparse-version=0.1", "--sparse-version=1.0"]
)
@pytest.mark.parametrize("view", [777, 1 << 20])
def test_sparse_files(tmp_path, version, view):
    """All four ways to store them are named as not read, and cost no other."""
    with (tmp_path / "sparse").open("wb") as file:
        for number in range(40):
            file.seek(number * 100_000)
            file.write(b"urn:isbn:%d" % number)
        file.truncate(5_000_000)
    (tmp_path / "after").write_bytes(TEXT)
    form = ["--format=posix"] if "sparse" in version else []
    command = ["tar", "-c", "-S", *form, version, "sparse", "after"]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    if len(done.stdout) > 2_000_000:
        pytest.skip("the file system does not tell holes")
    error = "x!/sparse: a sparse file, which is not read; unpack it, and pack it without --sparse"
    assert read(done.stdout, view) == ([("after", TEXT)], [error])


@pytest.mark.parametrize("size", [(1 << 20) + 1, 1 << 33, (1 << 63) - 1])
@pytest.mark.parametrize("kind", [b"x", b"g", b"L", b"K"])
def test_extension_headers_of_gigabytes(kind, size):
    """They are not read, and no memory is taken for them."""
    members, errors = read(rest_of("a", b"a") + block("b", size, kind) + b"x" * 5000)
    assert members == [("a", b"a")]
    assert errors[0] == f"x: the extension header at byte 1024 has {size:,} bytes, and more than 1 MiB is not read"
    assert errors[1:] == [f"x!/b: truncated: only 5,000 of {size:,} bytes are present"]


@pytest.mark.full
def test_a_long_chain_of_extension_headers():
    """Thousands of them before a member: no recursion, and the last counts."""
    content = b"".join(
        block("x", 4, kind) + padded(b"no%d" % (number % 10)) for number in range(4000) for kind in (b"L", b"K")
    )
    content += block("x", 3, b"L") + padded(b"yes")
    assert read(content + rest_of("a", b"a")) == ([("yes", b"a")], [])


@pytest.mark.parametrize("size", [-1, -512, 1 << 63, (1 << 88) - 1])
def test_hostile_sizes(size):
    """No such header: passed over, up to the next."""
    members, errors = read(rest_of("a", b"a") + block("b", size) + b"x" * 512 + rest_of("c", b"c"))
    assert members == [("a", b"a"), ("c", b"c")]
    assert errors == ["x: invalid tar header at byte 1024; skipped to the next one"]


@pytest.mark.parametrize("records", [b"11 path=abc", b"0 path=a\n", b"99 path=abc\n", b"1" * 100_000, b"12 path abc\n"])
def test_damaged_pax_records(records):
    """Said once; the member is there, by its own name. (A regular expression on digits alone would take minutes.)"""
    content = block("x", len(records), b"x") + padded(records) + rest_of("a", b"a")
    assert read(content) == ([("a", b"a")], ["x: damaged extension header at byte 0; it is skipped"])


def test_pax_records_of_any_number_are_not_kept():
    """What does not say what a member is, is dropped: a chain of headers would fill the memory."""
    records = b"".join(b"%d GNU.sparse.%05d=1\n" % (len(b"20 GNU.sparse.00000=1\n"), number) for number in range(9000))
    content = (block("x", len(records), b"g") + padded(records)) * 3 + rest_of("a", b"a")
    found = open_tar(Given(content), LAYER)
    assert [label.member for label in next(found).labels] == ["a"]
    assert not found.gi_frame.f_locals["self"]._global


@pytest.mark.parametrize("size", ["x", "1" * 30, "-1"])
def test_a_size_in_pax_records_that_is_none(size):
    """Where the member ends is not known then: the next header is searched."""
    content = block("x", 9 + len(size), b"x") + padded(b"%d size=%b\n" % (9 + len(size), size.encode()))
    assert len(b"%d size=%b\n" % (9 + len(size), size.encode())) == 9 + len(size)
    members, errors = read(content + rest_of("a", TEXT) + rest_of("b", b"b"))
    assert members == [("b", b"b")]
    assert len(errors) == 1


def test_a_damaged_header_in_the_middle():
    """Reported once with its position; the next is found."""
    content = bytearray(rest_of("a", TEXT) + rest_of("b", TEXT) + rest_of("c", TEXT))
    at = len(rest_of("a", TEXT))
    content[at] ^= 1
    members, errors = read(bytes(content))
    assert members == [("a", TEXT), ("c", TEXT)]
    assert errors == [f"x: invalid tar header at byte {at}; skipped to the next one"]


@pytest.mark.parametrize("form", ["gnu", "pax"])
def test_a_long_name_is_lost_with_its_member(form):
    """It is not that of the next one that is found."""
    head = bytearray(block("n" * 300, len(TEXT), form=FORMATS[form]))
    head[-500] ^= 1
    members, errors = read(bytes(head) + padded(TEXT) + rest_of("b", b"text"))
    assert members == [("b", b"text")]
    assert len(errors) == 1


@pytest.mark.parametrize("missing", [1, 300, 512, 700])
def test_a_hole_below(missing):
    """Behind it headers stand anywhere: they are found, also when it is in a header, or in what is passed over."""
    content = b"".join(rest_of(name, TEXT) for name in "abcd")
    size = len(rest_of("a", TEXT))
    for at in (size + 1000, size + 100, 2 * size - 100):
        for upto in (None, 10):
            parts = Given(content[:at], DamageError("below", "a hole"), content[at + missing :])
            members, errors = read(parts, upto=upto)
            if upto is None:
                assert members[0] == ("a", TEXT)
                assert members[-1] == ("d", TEXT)
            assert [name for name, _ in members] in (["a", "b", "c", "d"], ["a", "c", "d"], ["a", "b", "d"])
            assert errors == ["below: a hole"]


@pytest.mark.parametrize("read_at_once", [1 << 16, 1 << 17])
@pytest.mark.parametrize("before", [0, 1, 256, 511, 512, 600])
def test_a_header_where_two_searches_meet(read_at_once, before):
    """Behind a hole it may begin so many bytes before the end of what is looked through at a time."""
    lost = rest_of("a", TEXT * 2)
    behind = len(lost) - read_at_once + before
    parts = Given(lost[: behind - 300], DamageError("below", "a hole"), lost[behind:] + rest_of("b", b"b"))
    parts.most = read_at_once
    members, errors = read(parts)
    assert members[1:] == [("b", b"b")]
    assert errors == ["below: a hole"]


def test_an_extension_header_of_1_mib_is_read():
    """What is said of a larger one: "1 MiB is the most"."""
    size = 1 << 20
    data = b"%d path=" % size
    content = block("x", size, b"x") + data + b"n" * (size - len(data) - 1) + b"\n" + rest_of("a", b"text")
    ((name, text),), errors = read(content)
    assert (set(name), text, errors) == ({"n"}, b"text", [])


def test_a_failure_below_is_the_end():
    content = tarred([("a", TEXT)])
    assert read(Given(content[:1000], SourceError("below", "gone"))) == ([("a", TEXT[:488])], ["below: gone"])
    with pytest.raises(SourceError, match="below: gone"):
        read(Given(content[:100], SourceError("below", "gone")))


@pytest.mark.parametrize("form", FORMATS.values())
def test_cut_off_anywhere(form):
    """Members before the end are whole, the one that is cut is as far as it goes, and it is said once."""
    texts = [("é" * 40 + "/" + "a" * 60, TEXT[:4000]), ("b", TEXT[:5000]), ("c", TEXT[:3000])]
    content = tarred(texts, form)
    rng = random.Random(3)
    for at in rng.sample(range(1, content.rindex(b"and some words") + 600), 100):
        members, errors = read(content[:at])
        assert len(errors) <= 1
        # At the end of a block it may be meant so, GNU tar says nothing either; and behind the last there are only zeros.
        assert errors or at % 512 == 0 or at > len(content.rstrip(b"\0")) // 512 * 512 + 512
        for (name, text), whole in zip(members, texts, strict=False):
            assert name == whole[0]
            assert whole[1].startswith(text)
            if text != whole[1]:
                assert errors == [f"x!/{name}: truncated: only {len(text):,} of {len(whole[1]):,} bytes are present"]
        for (_, text), whole in zip(members[:-1], texts, strict=False):
            assert text == whole[1]


@pytest.mark.parametrize("upto", [0, 10, 10_000])
def test_a_member_that_is_not_read_on(upto):
    """Closed early, it is passed over; where that shows that it is cut off, it is said."""
    members = [("a", TEXT * 5), ("b", TEXT * 5), ("c", TEXT)]
    found, errors = read(tarred(members), upto=upto)
    assert ([name for name, _ in found], errors) == (["a", "b", "c"], [])
    _, errors = read(tarred(members)[:200_000], upto=upto)
    assert errors == [f"x!/a: truncated: only 199,488 of {len(TEXT * 5):,} bytes are present"]


@pytest.mark.full
@pytest.mark.parametrize("form", FORMATS.values())
def test_flipped_bits(form):
    """Never a crash; all but one member are there, and what is missing is told."""
    texts = {f"name{number}": TEXT[number * 50 : number * 50 + 900] for number in range(8)}
    content = tarred(texts.items(), form)
    end = 8 * 1536
    rng = random.Random(form)
    for _ in range(200):
        at = rng.randrange(end)
        damaged = bytearray(content)
        damaged[at] ^= 1 << rng.randrange(8)
        members, errors = read(bytes(damaged))
        whole = [name for name, text in members if texts.get(name) == text]
        assert len(whole) >= 7
        assert len(members) + len(errors) == 8


@given(st.data())
def test_whatever_the_bytes_are(data):
    """No crash, no hang: parts of archives in any order, with anything between and damage below."""
    whole = b"".join(tarred([("a" * 120, b"urn:a:b" * 300), ("é", b"c" * 40)], form) for form in (1, 2))
    pieces = st.one_of(
        st.binary(max_size=600),
        st.tuples(st.integers(0, 9000), st.integers(0, 9000)),
        st.just(DamageError("below", "hole")),
    )
    parts = data.draw(st.lists(pieces, max_size=8))
    parts = [whole[min(part) : max(part)] if isinstance(part, tuple) else part for part in parts]
    _, errors = read(Given(*parts), view=data.draw(st.integers(1, 1000)))
    assert len(errors) < 100


@pytest.mark.full
def test_memory_does_not_grow_with_the_members():
    """Thousands of members: nothing of them is kept."""
    import tracemalloc

    class Endless(Given):
        def __init__(self):
            self.left = 6_000
            self.buffer = b""

        def read_into(self, view):
            if not self.buffer:
                if not self.left:
                    return 0
                self.left -= 1
                self.buffer = one
            got = min(len(view), len(self.buffer))
            view[:got] = self.buffer[:got]
            self.buffer = self.buffer[got:]
            return got

    one = tarred([("a" * 120, b"text")], tarfile.PAX_FORMAT)[:2560]
    block = memoryview(bytearray(1000))
    taken = []
    tracemalloc.start()
    for number, (_, member) in enumerate(one_by_one(open_tar(Endless(), LAYER))):
        member.read_into(block)
        if number in (1000, 5_900):
            taken.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert number == 5_999
    assert taken[1] - taken[0] < 10_000


@pytest.mark.parametrize("form", FORMATS.values())
def test_recognised(form):
    content = tarred([("é" * 40, b"a")], form)
    assert is_tar(content, LAYER)
    assert is_tar(content[:512], LAYER)
    for count in (200, 511):
        assert is_tar(content[:count], LAYER) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"a",
        b"urn:a:b" * 20,
        b"urn:a:b" * 200,
        "urn:a:b".encode("utf-16"),
        "urn:a:b".encode("utf-16-le"),
        "urn:a:b".encode("utf-32-be"),
        bytes(100),
        bytes(10240),
        b"a" + bytes(600),
        random.Random(1).randbytes(512),
    ],
)
def test_not_recognised(content):
    """A slow pipe of text is not kept waiting."""
    assert is_tar(content, LAYER) is False


@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE])
def test_members_that_are_passed_over_count(kind):
    """Else an archive of nothing but them would have no limit."""
    content = b"".join(block(str(number), 0, kind) for number in range(4))
    assert read(content, limits=Limits(members=4)) == ([], [])
    with pytest.raises(LimitError, match="more than 3 members"):
        read(content, limits=Limits(members=3))


PARTS = st.one_of(
    st.builds(
        rest_of,
        st.sampled_from(["a", "b/c.gz", "é", "d/"]),
        st.one_of(
            st.binary(min_size=1, max_size=1200),
            st.sampled_from([b"\xef\xbb\xbfurn:a:mark", b"\0urn:a:nul", "urn:a:b".encode("utf-16"), b"urn:a:1" * 100]),
        ),
    ),
    st.builds(lambda name: tarred([(name, b"urn:a:long")], tarfile.GNU_FORMAT)[:-8192], st.text("ab/", min_size=101)),
    st.builds(lambda name: tarred([(name, b"urn:a:pax")], tarfile.PAX_FORMAT)[:-8192], st.text("é中", min_size=60)),
    st.sampled_from([block("no", 0), block("no", 0, b"5"), block("list", 7, b"D") + padded(b"Yurn:a:"), bytes(1024)]),
    st.builds(
        lambda records: block("pax", len(records), b"x") + padded(records) + rest_of("of pax", b"urn:a:of:pax"),
        st.lists(
            st.sampled_from(
                [b"12 mtime=1.5\n", b"9 path=b\n", b"11 size=20\n", b"5 =\n\n", b"12 mtime=1.5 ", b"9 ctime\n="]
            ),
            min_size=1,
        ).map(b"".join),
    ),
    st.sampled_from([b"?" * 512, b"x"]),
)


@given(
    st.lists(PARTS, max_size=6),
    st.one_of(st.just(0), st.integers(0, 2000)),
    st.sampled_from([Limits(), Limits(members=3), Limits(depth=1), Limits(depth=2)]),
)
def test_files_together_are_what_each_is_alone(tmp_path_factory, parts, cut, limits):
    """Files that are taken together give the names, texts and errors of those that are taken one by one."""
    path = tmp_path_factory.getbasetemp() / "files.tar"
    content = rest_of("first", b"urn:a:first") + b"".join(parts)
    path.write_bytes(content[: max(600, len(content) - cut)])
    together = contents(path, limits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tar._TarMembers, "_run", lambda _: None)
        assert contents(path, limits) == together


def test_files_are_taken_together():
    """An archive of small files costs no reader for each."""
    content = tarred([(str(number), b"urn:a:%d" % number) for number in range(9)])
    (texts,) = open_tar(Given(content), LAYER)
    assert [label.member for label in texts.labels] == [*"012345678"]
    assert [bytes(texts.data[start:end]) for start, end in zip(texts.starts, texts.ends, strict=True)] == [
        b"urn:a:%d" % number for number in range(9)
    ]


@given(
    st.text("aé/. ", min_size=1, max_size=120),
    st.integers(0, 1 << 12),
    st.sampled_from([*FORMATS.values()]),
    st.dictionaries(
        st.integers(0, 511), st.one_of(st.sampled_from(b"\0 07890-/x\x80\xff"), st.integers(0, 255)), max_size=3
    ),
    st.sampled_from([b"%06o\0 ", b"%06o \0", b"%07o\0", b" %06o\0"]),
    st.integers(-1, 0),
)
def test_usual_headers_are_what_the_library_makes_of_them(name, size, form, changed, checksum, wrong):
    """A usual header that is read here gives the name and the size that the standard library gives, or is left to it."""
    header = bytearray(
        info(name, size, mode=0o644, mtime=1e9, uname="me").tobuf(form, "utf-8", "surrogateescape")[-512:]
    )
    for at, byte in changed.items():
        header[at] = byte
    header[148:156] = b" " * 8
    header[148:156] = checksum % (sum(header) + wrong)
    texts, _, end = UsualFiles().find(memoryview(header + bytes(1 << 12)))
    if texts:
        parsed = tarfile.TarInfo.frombuf(bytes(header), "utf-8", "backslashreplace")
        is_gnu = header[257:265] == b"ustar  \0"
        known = bytes(header[:100]).split(b"\0")[0].decode(errors="backslashreplace") if is_gnu else parsed.name
        assert (parsed.type, texts.labels[0].member) == (tarfile.REGTYPE, known)
        assert (*texts.starts, *texts.ends, end) == (512, 512 + parsed.size, 512 + parsed.size + -parsed.size % 512)


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_headers_that_programs_write_are_usual(form):
    """The quick way is taken for what the common programs write."""
    header = info("a/b", 5, mtime=1e9, uname="me").tobuf(form)[-512:]
    assert [label.member for label in UsualFiles().find(memoryview(header + bytes(512))).texts.labels] == ["a/b"]


def test_files_with_pax_headers_are_taken_together():
    """Python writes one in front of each file, for the fraction of a second in its time."""
    content = b"".join(
        info(name, 5, mtime=1.5).tobuf(tarfile.PAX_FORMAT) + padded(b"urn:a") for name in ("a", "b", "c")
    )
    (texts,) = open_tar(Given(content), LAYER)
    assert [label.member for label in texts.labels] == ["a", "b", "c"]


def test_keywords_of_pax_that_count_are_not_passed_over():
    """A name, a size or holes that a pax header tells would be lost."""
    assert {keyword[0] for keyword in tar._KEYWORDS} <= {*SAID.tolist()}
