"""Places of outputs in stores, against an S3 server on this machine."""

from __future__ import annotations

import contextlib
import gzip
import os
import socket
import tempfile
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.outputs import METADATA, SCHEMA, incompressible, rows_of, write
from urnscan.errors import FatalError
from urnscan.stores import filesystems, store
from urnscan.tables.parquet_writer import ParquetOutput
from urnscan.tables.plain_output import ByteOutput


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

    @pytest.mark.parametrize("options", ["", "?region=us-east-1"])
    def test_a_suffix_compresses_once(self, s3, options):
        """Once pyarrow compressed such an output again, and it was refused; with options, it was not compressed at all."""
        with ByteOutput(f"s3://bucket/out.csv.gz{options}") as file:
            file.write(b"urn:a:b")
            file.commit({})
        assert gzip.decompress(s3.get_object(Bucket="bucket", Key="out.csv.gz")["Body"].read()) == b"urn:a:b"
        with pytest.raises(FatalError, match=r"\.xz is not written"):
            ByteOutput(f"s3://bucket/out.csv.xz{options}")

    @pytest.mark.full
    def test_the_bytes_are_those_of_a_local_one(self, s3, tmp_path):
        with incompressible(400_000) as (schema, batch):  # several parts of an upload
            write("s3://bucket/out.parquet", [batch], schema)
            write(tmp_path / "out.parquet", [batch], schema)
        data = (tmp_path / "out.parquet").read_bytes()
        assert len(data) > 20_000_000
        assert s3.get_object(Bucket="bucket", Key="out.parquet")["Body"].read() == data

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
        with pytest.raises(FatalError, match=r"^s3://bucket/out.parquet: exists already; force=True replaces it$"):
            ParquetOutput("s3://me:secret@bucket/out.parquet", SCHEMA)
        write("s3://bucket/out.parquet", [rows_of(range(3))], force=True)
        assert self.table(s3, "out.parquet").num_rows == 3

    def test_comes_into_being_during_the_run(self, s3):
        with ParquetOutput("s3://bucket/out.parquet", SCHEMA) as file:
            file.write(rows_of(range(3)))
            s3.put_object(Bucket="bucket", Key="out.parquet", Body=b"theirs")
            with pytest.raises(
                FatalError,
                match=r"out\.parquet: was created during the run; force=True replaces it",
            ):
                file.commit(METADATA)
        assert s3.get_object(Bucket="bucket", Key="out.parquet")["Body"].read() == b"theirs"

    @pytest.mark.full
    @pytest.mark.parametrize(
        ("url", "line"),
        [
            ("s3://bucket/folder", "s3://bucket/folder: is a folder; name a file in it"),
            ("s3://bucket/", "s3://bucket/: cannot be written: names a folder; name a file in it"),
            ("s3://bucket/new/", "s3://bucket/new/: cannot be written: names a folder; name a file in it"),
            (
                "https://me:x@host/a",
                "https://host/a: cannot be written: http and https are for reading; name a file or an object store",
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

    @pytest.mark.full
    @pytest.mark.parametrize("key", ["enc/a%20b", "enc/a b", "ü ä#?", "a+b", "100%", "[1]*"])
    def test_the_path_is_the_key_as_it_is(self, s3, key):
        """Outputs `a%20b` and `a b` are two objects, as inputs are."""
        write(f"s3://bucket/{key}", [rows_of(range(3))])
        assert self.keys(s3) == [key]
        assert self.table(s3, key).num_rows == 3
        with pytest.raises(FatalError) as caught:
            ParquetOutput(f"s3://bucket/{key}", SCHEMA)
        assert str(caught.value) == f"s3://bucket/{key}: exists already; force=True replaces it"

    @pytest.mark.full
    @pytest.mark.parametrize("size", [1_000, 400_000])
    def test_an_upload_that_fails_half_way(self, s3, tmp_path, monkeypatch, size):
        """A server that takes the first bytes and then no more: nothing appears, the old object stays."""
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

    @pytest.mark.full
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
    """The address of a proxy that passes on `most` bytes in all, then closes its connections."""
    host, port = target.removeprefix("http://").split(":")
    left = [most]
    listening = socket.create_server(("127.0.0.1", 0))

    def passing(source, sink, counted):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if counted:
                    left[0] -= len(data)
                    if left[0] < 0:
                        break
                sink.sendall(data)
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
