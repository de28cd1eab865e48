"""Tables of data lakes as their libraries write them, and with deleted rows, which these libraries only read."""

import base64
import json
import struct
import uuid
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
from pyroaring import BitMap, BitMap64

_MAGIC = struct.pack("<I", 1681511377)  # of a deletion vector of Delta
_PUFFIN_MAGIC = bytes.fromhex("d1d33964")  # of one of Iceberg
_Z85 = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_B85 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"


def delta(folder, *tables, **options):
    """A Delta table, each of the tables appended."""
    for table in tables:
        deltalake.write_deltalake(folder, table, mode="append", **options)
    return deltalake.DeltaTable(folder)


def commit(folder, *actions):
    """Add a commit to the log of a Delta table."""
    log = Path(folder, "_delta_log")
    number = len(list(log.glob("*.json")))
    (log / f"{number:020}.json").write_text("\n".join(map(json.dumps, actions)))


def added(folder):
    """The actions in the log of a Delta table that add files."""
    lines = [
        line for file in sorted(Path(folder, "_delta_log").glob("*.json")) for line in file.read_text().splitlines()
    ]
    return [action for action in map(json.loads, lines) if "add" in action]


def delete_by_vector(folder, rows):
    """Delete rows of the last file of a Delta table by a deletion vector in its log."""
    octets = _MAGIC + BitMap64(rows).serialize()
    text = base64.b85encode(octets + bytes(-len(octets) % 4)).translate(bytes.maketrans(_B85, _Z85)).decode()
    vector = {"storageType": "i", "pathOrInlineDv": text, "sizeInBytes": len(octets), "cardinality": len(rows)}
    add = added(folder)[-1]["add"]
    remove = {"path": add["path"], "dataChange": True, "deletionTimestamp": 1}
    commit(folder, {"remove": remove}, {"add": {**add, "deletionVector": vector}})


def iceberg(warehouse, *tables, name="t"):
    """An Iceberg table in the folder `default/NAME` of a warehouse, each of the tables appended, and the folder."""
    from pyiceberg.catalog.memory import InMemoryCatalog

    catalog = InMemoryCatalog("memory", warehouse=f"file://{warehouse}")
    catalog.create_namespace_if_not_exists("default")
    table = catalog.create_table(f"default.{name}", schema=tables[0].schema)
    for each in tables:
        table.append(each)
    return table, Path(warehouse, "default", name)


def delete_by_positions(table, folder, rows, *, form="PARQUET", content="POSITION_DELETES"):
    """Delete rows of the first file of an Iceberg table by a file that lists them."""
    from pyiceberg import manifest

    class Deletes(manifest.ManifestWriterV2):
        def content(self):
            return manifest.ManifestContent.DELETES

        @property
        def _meta(self):
            return {**super()._meta, "content": "deletes"}

    data = next(iter(table.scan().plan_files())).file
    listing = folder / "data" / f"{uuid.uuid4()}-deletes.{form.lower()}"
    if form == "PUFFIN":
        listing.write_bytes(_puffin(rows, data.file_path))
    else:
        pq.write_table(pa.table({"file_path": [data.file_path] * len(rows), "pos": rows}), listing)
    snapshot = table.current_snapshot()
    number, sequence = snapshot.snapshot_id + 1, snapshot.sequence_number + 1
    top = table.metadata.location
    deletes = manifest.DataFile.from_args(
        content=manifest.DataFileContent[content],
        file_path=f"{top}/data/{listing.name}",
        file_format=manifest.FileFormat[form],
        partition=data.partition,
        record_count=len(rows),
        file_size_in_bytes=listing.stat().st_size,
        spec_id=0,
        equality_ids=[1],
    )
    entry = manifest.ManifestEntry.from_args(
        status=manifest.ManifestEntryStatus.ADDED, snapshot_id=number, data_file=deletes
    )
    out = table.io.new_output(f"{top}/metadata/{uuid.uuid4()}-m0.avro")
    with Deletes(table.spec(), table.schema(), out, number, "deflate") as writer:
        writer.add(entry)
    every = [*snapshot.manifests(table.io), writer.to_manifest_file()]
    of_snapshot = f"{top}/metadata/snap-{number}.avro"
    with manifest.write_manifest_list(2, table.io.new_output(of_snapshot), number, None, sequence, "deflate") as lists:
        lists.add_manifests(every)
    log = folder / "metadata"
    newest = max(log.glob("*.metadata.json"))
    metadata = json.loads(newest.read_text())
    more = {"snapshot-id": number, "sequence-number": sequence, "manifest-list": of_snapshot}
    metadata["snapshots"].append(metadata["snapshots"][-1] | more)
    metadata |= {"current-snapshot-id": number, "last-sequence-number": sequence}
    metadata["refs"]["main"]["snapshot-id"] = number
    version = int(newest.name.partition("-")[0]) + 1
    (log / f"{version:05}-{uuid.uuid4()}.metadata.json").write_text(json.dumps(metadata))


def _puffin(rows, data):
    """A file of Puffin with a deletion vector for a file."""
    vector = _PUFFIN_MAGIC + struct.pack("<QI", 1, 0) + BitMap(rows).serialize()
    blob = struct.pack(">I", len(vector)) + vector + bytes(4)
    described = {
        "type": "deletion-vector-v1",
        "fields": [],
        "snapshot-id": -1,
        "sequence-number": -1,
        "offset": 4,
        "length": len(blob),
        "properties": {"referenced-data-file": data, "cardinality": str(len(rows))},
    }
    footer = json.dumps({"blobs": [described]}).encode()
    return b"PFA1" + blob + b"PFA1" + footer + struct.pack("<I", len(footer)) + bytes(4) + b"PFA1"
