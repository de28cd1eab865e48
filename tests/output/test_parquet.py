"""The Parquet writer: a file that exists whole or not at all, and the same octets for the same rows."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import FEW
from urnscan.errors import FatalError
from urnscan.output import parquet, places
from urnscan.output.parquet import ParquetOutput
from urnscan.output.places import SHARDS_SUFFIX, work_folder
from urnscan.sources import TEMPORARY_SUFFIX, Selection, find_inputs
from urnscan.sources.remote import filesystems, store

SCHEMA = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        pa.field("kind", pa.dictionary(pa.int32(), pa.string()), nullable=False),
        pa.field("number", pa.int64(), nullable=False),
        pa.field("member", pa.string()),
        pa.field("parts", pa.list_(pa.struct([("text", pa.string()), ("count", pa.int64())]))),
    ]
)
METADATA = {"version": "0", "counts": {"inputs": 1, "ä": None}}


def rows_of(numbers):
    return pa.RecordBatch.from_pylist(
        [
            {
                "key": f"key {number}",
                "kind": f"kind {number % 3}",
                "number": number,
                "member": None if number % 5 else "a member",
                "parts": [{"text": "part", "count": count} for count in range(number % 4)],
            }
            for number in numbers
        ],
        SCHEMA,
    )


def write(path, batches, schema=SCHEMA, **options):
    with ParquetOutput(path, schema, **options) as file:
        for batch in batches:
            file.write(batch)
        file.commit(METADATA)


def fail(path, error, **options):
    """Write, and be interrupted by an error; nothing has happened to the file until then."""
    before = path.read_bytes() if path.exists() else None
    with mock.patch.object(parquet, "_ROW_GROUP", 4), ParquetOutput(path, SCHEMA, **options) as file:
        file.write(rows_of(range(10)))
        assert list(path.parent.iterdir()) != [path]
        assert (path.read_bytes() if path.exists() else None) == before
        raise error


def one_line(caught, path):
    """The message of a FatalError: one line that names the output."""
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    return message


@contextlib.contextmanager
def incompressible(rows=20_000):
    """Batches of a schema of their own whose octets zstd cannot make fewer."""
    schema = pa.schema([pa.field("octets", pa.binary())])
    noise = np.random.default_rng(1).bytes(rows * 64)
    batch = pa.RecordBatch.from_arrays([pa.array([noise[i : i + 64] for i in range(0, len(noise), 64)])], schema=schema)
    with mock.patch.object(parquet, "_ROW_GROUP", rows // 4):
        yield schema, batch


class TestWholeOrNotAtAll:
    """Contract: "An output exists only whole: it appears by rename at the end, or not at all." """

    def test_appears_by_commit(self, tmp_path):
        path = tmp_path / "out.parquet"
        with ParquetOutput(path, SCHEMA) as file:
            file.write(rows_of(range(10)))
            assert not path.exists()
            file.commit(METADATA)
            assert pq.read_table(path).to_pylist() == rows_of(range(10)).to_pylist()
        assert [entry.name for entry in tmp_path.iterdir()] == ["out.parquet"]
        assert pq.read_table(path).num_rows == 10

    @pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
    def test_nothing_is_left_after_an_exception(self, tmp_path, error):
        with pytest.raises(error):
            fail(tmp_path / "out.parquet", error)
        assert list(tmp_path.iterdir()) == []

    def test_nothing_is_left_without_a_commit(self, tmp_path):
        with ParquetOutput(tmp_path / "out.parquet", SCHEMA) as file:
            file.write(rows_of(range(3)))
        assert list(tmp_path.iterdir()) == []

    def test_what_was_spilled_into_the_work_folder_goes_too(self, tmp_path):
        with ParquetOutput(tmp_path / "out.parquet", SCHEMA) as file:
            assert file.folder.parent == tmp_path
            (file.folder / "spilled").mkdir()
            (file.folder / "spilled" / "run").write_bytes(b"x")
            file.commit(METADATA)
        assert [entry.name for entry in tmp_path.iterdir()] == ["out.parquet"]

    def test_old_file_stays_until_the_commit(self, tmp_path):
        path = tmp_path / "out.parquet"
        path.write_bytes(b"old")
        with pytest.raises(ZeroDivisionError):
            fail(path, ZeroDivisionError, force=True)
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]

    def test_reader_of_the_old_file_is_not_disturbed(self, tmp_path):
        """Replaced by rename: who has the old one open reads it to its end."""
        path = tmp_path / "out.parquet"
        path.write_bytes(b"old")
        with path.open("rb") as reader:
            write(path, [rows_of(range(3))], force=True)
            assert reader.read() == b"old"
        assert pq.read_table(path).num_rows == 3

    def test_no_rows(self, tmp_path):
        path = tmp_path / "out.parquet"
        write(path, [])
        assert pq.read_table(path).num_rows == 0
        assert pq.read_schema(path).names == SCHEMA.names

    def test_permissions_are_those_of_other_files(self, tmp_path):
        """Not those of the work folder, which is for its owner alone."""
        (tmp_path / "other").touch()
        write(tmp_path / "out.parquet", [rows_of(range(3))])
        modes = {stat.S_IMODE(entry.stat().st_mode) for entry in tmp_path.iterdir()}
        assert len(modes) == 1

    def test_two_outputs_side_by_side(self, tmp_path):
        """Their names may begin alike."""
        with ParquetOutput(tmp_path / "a", SCHEMA) as one, ParquetOutput(tmp_path / "a.b", SCHEMA) as other:
            one.write(rows_of([1]))
            other.write(rows_of([2]))
            one.commit(METADATA)
            other.commit(METADATA)
        assert pq.read_table(tmp_path / "a").column("number").to_pylist() == [1]
        assert pq.read_table(tmp_path / "a.b").column("number").to_pylist() == [2]


class TestPlace:
    """Contract: "an existing output is an error without" --force; what is no place for a file is one always."""

    @pytest.mark.parametrize("name", ["urns.csv", "urns.JSON", "urns.parquet.gz"])
    def test_name_of_another_form(self, tmp_path, name):
        """Parquet in a file that is called .csv would look damaged to whoever opens it."""
        with pytest.raises(FatalError, match=r"not as \.\w+: let its name end in \.parquet") as caught:
            ParquetOutput(tmp_path / name, SCHEMA)
        one_line(caught, tmp_path / name)
        assert not list(tmp_path.iterdir())

    def test_existing(self, tmp_path):
        path = tmp_path / "out.parquet"
        path.write_bytes(b"old")
        with pytest.raises(FatalError) as caught:
            ParquetOutput(path, SCHEMA)
        assert "--force" in one_line(caught, path)
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]

    def test_force(self, tmp_path):
        path = tmp_path / "out.parquet"
        path.write_bytes(b"old")
        write(path, [rows_of(range(3))], force=True)
        assert pq.read_table(path).num_rows == 3
        write(tmp_path / "new.parquet", [rows_of(range(3))], force=True)
        assert pq.read_table(tmp_path / "new.parquet").num_rows == 3

    @pytest.mark.parametrize("force", [False, True])
    def test_folder_is_missing(self, tmp_path, force):
        path = tmp_path / "missing" / "out.parquet"
        with pytest.raises(FatalError) as caught:
            ParquetOutput(path, SCHEMA, force=force)
        assert "does not exist" in one_line(caught, path)
        assert str(path.parent) in str(caught.value)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("force", [False, True])
    def test_is_a_folder(self, tmp_path, force):
        with pytest.raises(FatalError) as caught:
            ParquetOutput(tmp_path, SCHEMA, force=force)
        assert "folder" in one_line(caught, tmp_path)

    @pytest.mark.parametrize("force", [False, True])
    def test_folder_is_a_file(self, tmp_path, force):
        (tmp_path / "file").touch()
        path = tmp_path / "file" / "out.parquet"
        with pytest.raises(FatalError) as caught:
            ParquetOutput(path, SCHEMA, force=force)
        one_line(caught, path)

    @pytest.mark.parametrize("force", [False, True])
    def test_is_no_regular_file(self, tmp_path, force):
        """A rename would put a file in the place of /dev/null."""
        path = tmp_path / "fifo"
        os.mkfifo(path)
        with pytest.raises(FatalError) as caught:
            ParquetOutput(path, SCHEMA, force=force)
        assert "regular file" in one_line(caught, path)
        assert stat.S_ISFIFO(path.stat().st_mode)

    def test_relative_path(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        write("out.parquet", [rows_of(range(3))])
        assert os.listdir(tmp_path) == ["out.parquet"]  # noqa: PTH208

    def test_strange_name(self, tmp_path):
        """The name is no pattern."""
        path = tmp_path / "[a]*?.parquet"
        write(path, [rows_of(range(3))])
        write(path, [rows_of(range(4))], force=True)
        assert list(tmp_path.iterdir()) == [path]
        assert pq.read_table(path).num_rows == 4

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_folder_that_cannot_be_written_to(self, tmp_path):
        tmp_path.chmod(0o500)
        with pytest.raises(FatalError) as caught:
            ParquetOutput(tmp_path / "out.parquet", SCHEMA)
        one_line(caught, tmp_path / "out.parquet")


class TestLink:
    """A symbolic link as output stays one; what it leads to is replaced."""

    def test_leads_to_a_file(self, tmp_path):
        (tmp_path / "data").mkdir()
        target, path = tmp_path / "data" / "target.parquet", tmp_path / "out.parquet"
        target.write_bytes(b"old")
        path.symlink_to("data/target.parquet")
        with pytest.raises(FatalError, match="--force"):
            ParquetOutput(path, SCHEMA)
        write(path, [rows_of(range(3))], force=True)
        assert path.is_symlink()
        assert not target.is_symlink()
        assert pq.read_table(target).num_rows == 3
        assert [entry.name for entry in target.parent.iterdir()] == ["target.parquet"]

    def test_leads_nowhere_yet(self, tmp_path):
        path = tmp_path / "out.parquet"
        path.symlink_to("target.parquet")
        write(path, [rows_of(range(3))], force=True)
        assert path.is_symlink()
        assert pq.read_table(tmp_path / "target.parquet").num_rows == 3

    def test_leads_to_a_folder(self, tmp_path):
        (tmp_path / "folder").mkdir()
        path = tmp_path / "out.parquet"
        path.symlink_to("folder")
        with pytest.raises(FatalError, match="folder"):
            ParquetOutput(path, SCHEMA, force=True)


class TestRemote:
    """A URL: "written whole or not at all", looked for at the start and again before it appears."""

    @pytest.fixture
    def s3(self, s3_server, monkeypatch, tmp_path):
        """An empty bucket, a client of it, and an empty folder for temporary files."""
        import boto3

        for name, value in (("ACCESS_KEY_ID", "k"), ("SECRET_ACCESS_KEY", "s"), ("ENDPOINT_URL", s3_server)):
            monkeypatch.setenv(f"AWS_{name}", value)
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        filesystems._arrow_store.cache_clear()
        client = boto3.client("s3", region_name="us-east-1", endpoint_url=s3_server)
        client.create_bucket(Bucket="bucket")
        for upload in client.list_multipart_uploads(Bucket="bucket").get("Uploads", ()):
            client.abort_multipart_upload(Bucket="bucket", Key=upload["Key"], UploadId=upload["UploadId"])
        for entry in client.list_objects_v2(Bucket="bucket").get("Contents", ()):
            client.delete_object(Bucket="bucket", Key=entry["Key"])
        return client

    @staticmethod
    def keys(client):
        assert "Uploads" not in client.list_multipart_uploads(Bucket="bucket")
        return [entry["Key"] for entry in client.list_objects_v2(Bucket="bucket").get("Contents", ())]

    @staticmethod
    def table(client, key):
        return pq.read_table(pa.BufferReader(client.get_object(Bucket="bucket", Key=key)["Body"].read()))

    def test_appears_by_commit_and_no_folder_needs_to_be_there(self, s3, tmp_path):
        with ParquetOutput("s3://bucket/no/such/folder/out.parquet", SCHEMA) as file:
            file.write(rows_of(range(10)))
            assert file.folder.parent == tmp_path
            assert self.keys(s3) == []
            file.commit(METADATA)
            assert self.keys(s3) == ["no/such/folder/out.parquet"]
        assert self.table(s3, "no/such/folder/out.parquet").to_pylist() == rows_of(range(10)).to_pylist()
        assert list(tmp_path.iterdir()) == []

    def test_the_octets_are_those_of_a_local_one(self, s3, tmp_path):
        with incompressible(400_000) as (schema, batch):  # several parts of an upload
            write("s3://bucket/out.parquet", [batch], schema)
            write(tmp_path / "out.parquet", [batch], schema)
        octets = (tmp_path / "out.parquet").read_bytes()
        assert len(octets) > 20_000_000
        assert s3.get_object(Bucket="bucket", Key="out.parquet")["Body"].read() == octets

    @pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
    def test_nothing_appears_after_an_exception(self, s3, tmp_path, error):
        with ParquetOutput("s3://bucket/out.parquet", SCHEMA) as file:
            file.write(rows_of(range(10)))
            with pytest.raises(error), file:
                raise error
        assert self.keys(s3) == []
        assert list(tmp_path.iterdir()) == []

    def test_existing(self, s3):
        s3.put_object(Bucket="bucket", Key="out.parquet", Body=b"old")
        with pytest.raises(
            FatalError, match=r"^s3://bucket/out.parquet: exists already; --force \(in Python force=True\) replaces it$"
        ):
            ParquetOutput("s3://me:secret@bucket/out.parquet", SCHEMA)
        write("s3://bucket/out.parquet", [rows_of(range(3))], force=True)
        assert self.table(s3, "out.parquet").num_rows == 3

    def test_comes_into_being_during_the_run(self, s3):
        with ParquetOutput("s3://bucket/out.parquet", SCHEMA) as file:
            file.write(rows_of(range(3)))
            s3.put_object(Bucket="bucket", Key="out.parquet", Body=b"theirs")
            with pytest.raises(
                FatalError,
                match=r"out\.parquet: came into being during the run; --force \(in Python force=True\) replaces it",
            ):
                file.commit(METADATA)
        assert s3.get_object(Bucket="bucket", Key="out.parquet")["Body"].read() == b"theirs"

    @pytest.mark.parametrize(
        ("url", "line"),
        [
            ("s3://bucket/folder", "s3://bucket/folder: is a folder; name a file in it"),
            ("s3://bucket/", "s3://bucket/: cannot be written: names a folder; name a file in it"),
            ("s3://bucket/new/", "s3://bucket/new/: cannot be written: names a folder; name a file in it"),
            (
                "https://me:x@host/a",
                "https://host/a: cannot be written: nothing can be written to the web; name a file or an object store",
            ),
        ],
    )
    def test_no_place_for_a_file(self, s3, url, line):
        s3.put_object(Bucket="bucket", Key="folder/x", Body=b"x")
        with pytest.raises(FatalError) as caught:
            ParquetOutput(url, SCHEMA, force=True)
        assert str(caught.value) == line

    @pytest.mark.usefixtures("s3")
    def test_no_such_bucket(self):
        with (
            pytest.raises(FatalError, match=r"^s3://nobodys/out\.parquet: cannot be written: there is no such bucket$"),
        ):
            ParquetOutput("s3://nobodys/out.parquet", SCHEMA)

    @pytest.mark.usefixtures("s3")
    def test_the_bucket_is_removed_during_the_run(self, s3_server):
        import boto3

        other = boto3.client("s3", region_name="us-east-1", endpoint_url=s3_server)
        other.create_bucket(Bucket="passing")
        with ParquetOutput("s3://passing/out.parquet", SCHEMA) as file:
            other.delete_bucket(Bucket="passing")
            with pytest.raises(FatalError, match=r"out\.parquet: cannot be written: there is no such bucket$"):
                file.commit(METADATA)

    @pytest.mark.parametrize("key", ["enc/a%20b", "enc/a b", "ü ä#?", "a+b", "100%", "[1]*"])
    def test_the_path_is_the_key_as_it_is(self, s3, key):
        """As it is for inputs: `a%20b` and `a b` are two objects."""
        write(f"s3://bucket/{key}", [rows_of(range(3))])
        assert self.keys(s3) == [key]
        assert self.table(s3, key).num_rows == 3
        with pytest.raises(FatalError) as caught:
            ParquetOutput(f"s3://bucket/{key}", SCHEMA)
        assert str(caught.value) == f"s3://bucket/{key}: exists already; --force (in Python force=True) replaces it"

    @pytest.mark.parametrize("size", [1_000, 400_000])
    def test_an_upload_that_fails_half_way(self, s3, tmp_path, monkeypatch, size):
        """A server that takes the first octets and then no more: nothing appears, the old object stays."""
        s3.put_object(Bucket="bucket", Key="out.parquet", Body=b"old")
        monkeypatch.setattr(store, "PAUSES", (0.01,))
        with breaking_proxy(os.environ["AWS_ENDPOINT_URL"], most=100_000 if size == 1_000 else 12_000_000) as address:
            monkeypatch.setenv("AWS_ENDPOINT_URL", address)
            filesystems._arrow_store.cache_clear()
            with (
                incompressible(size) as (schema, batch),
                ParquetOutput("s3://bucket/out.parquet", schema, force=True) as file,
            ):
                file.write(batch)
                if size == 1_000:
                    file.write(batch)
                    file.write(batch)
                with pytest.raises(FatalError, match=r"^s3://bucket/out\.parquet: cannot be written: AWS Error"):
                    file.commit(METADATA)
        assert s3.get_object(Bucket="bucket", Key="out.parquet")["Body"].read() == b"old"
        assert list(tmp_path.iterdir()) == []

    def test_file_urls_are_paths(self, tmp_path):
        write(f"file://{tmp_path}/a%20b.parquet", [rows_of(range(3))])
        assert pq.read_table(tmp_path / "a b.parquet").num_rows == 3
        with pytest.raises(FatalError, match="exists already"):
            ParquetOutput(f"file://{tmp_path}/a%20b.parquet", SCHEMA)

    def test_other_stores(self):
        fsspec = pytest.importorskip("fsspec")
        system = fsspec.filesystem("memory")
        system.store.clear()
        write("memory://f/out.parquet", [rows_of(range(3))])
        assert list(system.store) == ["/f/out.parquet"]
        assert pq.read_table(pa.BufferReader(system.cat("/f/out.parquet"))).num_rows == 3
        system.store.clear()


@contextlib.contextmanager
def breaking_proxy(target, most):
    """The address of one that passes on what it gets, but of all connections together no more than so many octets."""
    host, port = target.removeprefix("http://").split(":")
    left = [most]
    listening = socket.create_server(("127.0.0.1", 0))

    def passing(source, sink, counted):
        with contextlib.suppress(OSError):
            while octets := source.recv(1 << 16):
                if counted:
                    left[0] -= len(octets)
                    if left[0] < 0:
                        break
                sink.sendall(octets)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def accepting():
        with contextlib.suppress(OSError):
            while True:
                ours, _ = listening.accept()
                theirs = socket.create_connection((host, int(port)))
                opened.extend((ours, theirs))
                for ends in ((ours, theirs, True), (theirs, ours, False)):
                    threading.Thread(target=passing, args=ends, daemon=True).start()

    opened = [listening]
    threading.Thread(target=accepting, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        for each in opened:
            each.close()


class TestSameOctets:
    """Contract: "The same inputs and options give the same octets, whatever `-j`, `--memory` or the machine." """

    @FEW
    @given(st.integers(0, 30), st.data(), st.integers(1, 9))
    def test_any_batching(self, total, data, group):
        cuts = sorted(data.draw(st.lists(st.integers(0, total), max_size=8)))
        whole = rows_of(range(total))
        slices = [whole.slice(a, b - a) for a, b in zip([0, *cuts], [*cuts, total], strict=True)]
        made = [rows_of(range(a, b)) for a, b in zip([0, *cuts], [*cuts, total], strict=True)]
        dictionaries = data.draw(st.sampled_from([True, False, ["kind", "parts.list.element.count"]]))
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(parquet, "_ROW_GROUP", group):
            written = []
            for number, batches in enumerate([[whole], slices, made]):
                path = Path(folder) / f"{number}.parquet"
                write(path, batches, dictionaries=dictionaries)
                written.append(path.read_bytes())
                assert pq.read_table(path).to_pylist() == whole.to_pylist()
            assert written[0] == written[1] == written[2]
            groups = [pq.read_metadata(path).row_group(n).num_rows for n in range(-(-total // group))]
            assert groups == [min(group, total - start) for start in range(0, total, group)]

    def test_dictionaries_that_came_with_other_values_in_another_order(self, tmp_path):
        """Of the dictionary of a batch only the values that its rows use are written, in the order of the rows."""
        written = []
        for number, names in enumerate((["x", "y"], ["unused", "y", "also not", "x"])):
            indices = pa.array([names.index(name) for name in "yxxy"], pa.int32())
            kind = pa.DictionaryArray.from_arrays(indices, pa.array(names))
            rows = rows_of(range(4)).set_column(1, SCHEMA.field("kind"), kind)
            path = tmp_path / f"{number}.parquet"
            write(path, [rows])
            written.append(path.read_bytes())
            assert b"unused" not in written[-1]
        assert written[0] == written[1]

    @pytest.mark.parametrize("values", [[None, "y", None, "x"], [None] * 4, [None, "y", "y", "y"]])
    def test_nulls_among_them(self, tmp_path, values):
        """As `via` and `resolver` have them, in all batches or in some."""
        schema = pa.schema([pa.field("kind", pa.dictionary(pa.int32(), pa.string()))])
        written = []
        for number, parts in enumerate(([values], [[value] for value in values], [values[:1], values[1:]])):
            path = tmp_path / f"{number}.parquet"
            with ParquetOutput(path, schema) as output:
                for part in parts:
                    column = pa.array(part, pa.string()).dictionary_encode()
                    output.write(pa.RecordBatch.from_arrays([column], schema=schema))
                output.commit(METADATA)
            assert pq.read_table(path).column("kind").to_pylist() == values
            written.append(path.read_bytes())
        assert len(set(written)) == 1

    def test_default_row_group(self, tmp_path):
        """Groups of a fixed size, and pages too, also where many batches come."""
        total = 300_000
        schema = pa.schema([pa.field("number", pa.int64()), pa.field("text", pa.string())])
        numbers = np.arange(total)
        noise = np.random.default_rng(1).bytes(total * 12).hex()
        texts = pa.array([noise[i : i + 24] for i in range(0, len(noise), 24)])
        whole = pa.RecordBatch.from_arrays([pa.array(numbers), texts], schema=schema)
        written = []
        for size in (total, 70_001):
            path = tmp_path / f"{size}.parquet"
            write(path, [whole.slice(start, size) for start in range(0, total, size)], schema, dictionaries=["number"])
            written.append(path.read_bytes())
        assert written[0] == written[1]
        metadata = pq.read_metadata(path)
        sizes = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
        assert sizes == [131_072, 131_072, total - 262_144]


class TestMetadata:
    """Contract: "in the Parquet key-value metadata under `urnscan`, a JSON object"."""

    def test_is_the_json(self, tmp_path):
        path = tmp_path / "out.parquet"
        write(path, [rows_of(range(3))])
        assert json.loads(pq.read_metadata(path).metadata[b"urnscan"]) == METADATA

    def test_statistics(self, tmp_path):
        """Of the columns by which a reader selects, or of all."""
        leaves = {"key", "kind", "number", "member", "parts.list.element.text", "parts.list.element.count"}
        for statistics, expected in ((["key", "number"], {"key", "number"}), (True, leaves)):
            path = tmp_path / f"{len(expected)}.parquet"
            write(path, [rows_of(range(3))], statistics=statistics)
            group = pq.read_metadata(path).row_group(0)
            columns = [group.column(number) for number in range(group.num_columns)]
            assert {column.path_in_schema for column in columns if column.is_stats_set} == expected

    def test_schema_is_that_of_the_table(self, tmp_path):
        path = tmp_path / "out.parquet"
        write(path, [rows_of(range(3))])
        assert pq.read_schema(path).remove_metadata().equals(SCHEMA)


class TestWorkFolder:
    """A dead run's folder is removed by who writes the same file later; that of a living one stays."""

    def stale(self, tmp_path, name="out.parquet", *, locked=True, age=0.0):
        folder = tmp_path / f".{name}.abc123{TEMPORARY_SUFFIX}"
        folder.mkdir()
        (folder / "output.parquet").write_bytes(b"half")
        if locked:
            (folder / "lock").touch()
        then = time.time() - age
        os.utime(folder, (then, then))
        return folder

    def test_name(self, tmp_path):
        """Hidden, and known to the walk, which passes it over."""
        with work_folder(tmp_path / "out.parquet") as folder:
            assert folder.name.startswith(".out.parquet.")
            (folder / "output.parquet").touch()
            assert list(find_inputs([str(tmp_path)], Selection())) == []

    def test_gone_afterwards(self, tmp_path):
        with work_folder(tmp_path / "out.parquet") as folder:
            (folder / "more").touch()
        assert list(tmp_path.iterdir()) == []

    def test_of_a_dead_process(self, tmp_path):
        """A process that is killed cannot clean up; the system gives back its lock."""
        code = (
            "import sys, time\n"
            "from pathlib import Path\n"
            "from urnscan.output.places import work_folder\n"
            "with work_folder(Path(sys.argv[1])) as folder:\n"
            "    print(folder, flush=True)\n"
            "    time.sleep(60)\n"
        )
        path = tmp_path / "out.parquet"
        with subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE, text=True) as process:
            folder = Path(process.stdout.readline().strip())
            assert folder.is_dir()
            with work_folder(path) as ours:
                assert folder.is_dir(), "the other process is alive"
                assert ours != folder
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert folder.is_dir()
        with work_folder(path):
            assert not folder.exists()
        assert list(tmp_path.iterdir()) == []

    def test_of_a_living_one(self, tmp_path):
        folder = self.stale(tmp_path, age=3_600)
        with (folder / "lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            write(tmp_path / "out.parquet", [rows_of(range(3))])
            assert (folder / "output.parquet").read_bytes() == b"half"
        write(tmp_path / "out.parquet", [rows_of(range(3))], force=True)
        assert not folder.exists()

    def test_of_another_output(self, tmp_path):
        folder = self.stale(tmp_path, "other.parquet")
        write(tmp_path / "out.parquet", [rows_of(range(3))])
        assert folder.exists()

    def test_name_is_no_pattern(self, tmp_path):
        own, other = self.stale(tmp_path, "[ab]?.parquet"), self.stale(tmp_path, "ax.parquet")
        write(tmp_path / "[ab]?.parquet", [rows_of(range(3))])
        assert not own.exists()
        assert other.exists()

    @pytest.mark.parametrize(("age", "stays"), [(0, True), (3_600, False)])
    def test_without_a_lock(self, tmp_path, age, stays):
        """It may be being made this moment; an hour later it is not."""
        folder = self.stale(tmp_path, locked=False, age=age)
        write(tmp_path / "out.parquet", [rows_of(range(3))])
        assert folder.exists() is stays

    def test_what_is_kept_for_resuming_stays(self, tmp_path):
        """However old it is: whoever goes on with the output wants it, and its lock has another name."""
        folder = self.stale(tmp_path, locked=False, age=3_600).rename(tmp_path / f".out.parquet{SHARDS_SUFFIX}")
        write(tmp_path / "out.parquet", [rows_of(range(3))])
        assert folder.is_dir()

    def test_being_made_this_moment(self, tmp_path):
        """Another process may look for stale folders between the making of a folder and its lock."""
        path = tmp_path / "out.parquet"
        original = fcntl.flock
        looked = []

        def slow(*arguments):
            if not looked:
                looked.append(True)
                with work_folder(path):
                    pass
            return original(*arguments)

        with mock.patch.object(places.fcntl, "flock", slow), work_folder(path) as folder:
            assert folder.is_dir()
        assert list(tmp_path.iterdir()) == []

    def test_that_is_none(self, tmp_path):
        """Whatever else has such a name is left alone and disturbs nobody."""
        name = tmp_path / f".out.parquet.abc123{TEMPORARY_SUFFIX}"
        name.write_bytes(b"a file")
        write(tmp_path / "out.parquet", [rows_of(range(3))])
        assert name.read_bytes() == b"a file"


class TestDiskFull:
    """Contract, exit status 2: FatalError in one line, and no file."""

    def test_no_room(self, tmp_path):
        """A file system of its own, where one can be had."""
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=256k", "none", tmp_path], check=False, capture_output=True
        )
        if mounted.returncode:
            pytest.skip("mounting is for root")
        path = tmp_path / "out.parquet"
        try:
            with incompressible() as (schema, batch):
                with pytest.raises(FatalError) as caught:
                    write(path, [batch], schema)
                assert "No space left" in one_line(caught, path)
                assert list(tmp_path.iterdir()) == []
        finally:
            subprocess.run(["umount", tmp_path], check=True)

    @pytest.mark.parametrize("rows", [20_000, 4_000])
    def test_file_may_not_grow(self, tmp_path, rows):
        """The same from another limit of the system, which is met while groups are written, or only at the end."""
        path = tmp_path / "out.parquet"
        path.write_bytes(b"old")
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        with incompressible(rows) as (schema, batch):
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
            try:
                with pytest.raises(FatalError) as caught:
                    write(path, [batch], schema, force=True)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, before)
        one_line(caught, path)
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]

    def test_while_it_is_completed(self, tmp_path):
        path = tmp_path / "out.parquet"
        full = OSError(28, "No space left on device")
        with mock.patch.object(places.os, "fsync", side_effect=full), pytest.raises(FatalError) as caught:
            write(path, [rows_of(range(3))])
        assert "No space left on device" in one_line(caught, path)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("has_links", [True, False])
def test_what_comes_into_being_during_the_run_is_not_replaced(tmp_path, monkeypatch, has_links):
    """Contract: "an existing output is an error without" `--force`, also when it exists only at the end, and on a file
    system without links.
    """
    if not has_links:
        monkeypatch.setattr(places.os, "link", mock.Mock(side_effect=PermissionError(1, "Operation not permitted")))
    path = tmp_path / "out.parquet"
    schema = pa.schema([("a", pa.int64())])
    with ParquetOutput(path, schema) as late:
        path.write_bytes(b"somebody else's")
        with pytest.raises(FatalError, match="came into being during the run"):
            late.commit({})
    assert path.read_bytes() == b"somebody else's"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.parquet"]
    write(tmp_path / "other.parquet", [rows_of(range(3))])
    assert pq.read_table(tmp_path / "other.parquet").num_rows == 3
