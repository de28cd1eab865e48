"""A process of its own that reads the log of a table of a data lake, with the library deltalake or pyiceberg.

It takes a line of JSON with the kind, the folder and the newest metadata of the table, and gives the length of its answer
(8 octets) and the answer, in JSON: the files of the table as it is now, with what the table says about each, or why the
table cannot be read. It imports nothing of ours, and opens no file outside of the folder.
"""

import base64
import contextlib
import json
import os
import struct
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

LENGTH = struct.Struct("<Q")
DELTA, ICEBERG = "delta", "iceberg"
"""Kinds of tables."""

_OUTSIDE = "is outside of the folder of the table"


def _inside(folder: str, path: str) -> str:
    """The path, if it leads to a place in the folder. Raises ValueError."""
    if not os.path.realpath(path).startswith(os.path.realpath(folder).rstrip("/") + "/"):
        raise ValueError(f"{path} {_OUTSIDE}")
    return path


def _file(folder: str, path: str, columns: dict[str, Any], deleted: Iterable[int]) -> dict[str, Any]:
    """Entry of a file: its path as octets, the text of columns that it does not have, the rows that are deleted."""
    import numpy as np  # noqa: PLC0415 (who starts the script needs only the names above)

    entry: dict[str, Any] = {"path": os.fsencode(path).hex(), "columns": columns}
    try:
        _inside(folder, path)
    except ValueError:
        entry["refused"] = f"{_OUTSIDE}, and is not read"
    if len(rows := np.fromiter(deleted, np.uint64)):
        entry["deleted"] = base64.b64encode(np.sort(rows).tobytes()).decode()
    return entry


def _delta(folder: str) -> dict[str, Any]:
    import numpy as np  # noqa: PLC0415 (who starts the script needs only the names above)
    import pyarrow as pa  # noqa: PLC0415
    from deltalake import DeltaTable  # noqa: PLC0415

    top = os.path.realpath(folder)  # deltalake follows links, too
    if "%" in top:
        raise ValueError("deltalake reads no table whose path has a % in it: rename the folder")
    table = DeltaTable(top)
    schema = json.loads(table.schema().to_json())
    mapping = table.metadata().configuration.get("delta.columnMapping.mode", "none")
    ids: dict[int, str] = {}
    paths: dict[str, str] = {}
    for path, field in _delta_fields(schema, ""):
        paths[path] = field["name"]
        if mapping == "id" and "delta.columnMapping.id" in field["metadata"]:
            ids[field["metadata"]["delta.columnMapping.id"]] = field["name"]
    dead = {}
    for batch in table.deletion_vectors():
        for uri, kept in zip(*pa.record_batch(batch).columns, strict=True):
            dead[_of_uri(uri.as_py()).removeprefix(f"{top}/")] = np.flatnonzero(
                ~kept.values.to_numpy(zero_copy_only=False)
            )
    actions = pa.table(table.get_add_actions())
    partitions = actions["partition"].to_pylist() if "partition" in actions.column_names else [{}] * len(actions)
    files = []
    for uri, values in zip(actions["path"].to_pylist(), partitions, strict=True):
        text = {name: value for name, value in values.items() if isinstance(value, str)}
        path = _of_uri(uri)
        files.append(_file(folder, str(Path(folder, path)), text, dead.pop(path, ())))
    if dead:
        raise ValueError("rows are deleted of files that are not known")
    return {"names": [field["name"] for field in schema["fields"]], "ids": ids, "paths": paths, "files": files}


def _of_uri(uri: str) -> str:
    """The path that a URI, or a part of one, stands for."""
    return unquote(uri, errors="surrogateescape").removeprefix("file://")


def _delta_fields(kind: Any, above: str) -> Iterator[tuple[str, dict[str, Any]]]:  # noqa: ANN401 (JSON)
    """The fields of a type, however deep, each with the path that it has in the files."""
    if not isinstance(kind, dict):
        return
    for field in kind.get("fields", ()):
        path = above + field.get("metadata", {}).get("delta.columnMapping.physicalName", field["name"])
        yield path, field
        yield from _delta_fields(field["type"], f"{path}.")
    for part in ("elementType", "keyType", "valueType"):
        yield from _delta_fields(kind.get(part), f"{above}{part[:-4]}.")


def _iceberg(folder: str, metadata_file: str) -> dict[str, Any]:
    from pyiceberg.catalog.noop import NoopCatalog  # noqa: PLC0415 (who starts the script needs only the names above)
    from pyiceberg.io import FileIO, InputFile  # noqa: PLC0415
    from pyiceberg.schema import index_by_id  # noqa: PLC0415
    from pyiceberg.serializers import FromInputFile  # noqa: PLC0415
    from pyiceberg.table import StaticTable  # noqa: PLC0415

    moved_from: list[str] = []  # where the table was when it was written

    def local(location: str) -> str:
        for top in moved_from:
            if location.startswith(top):
                return str(Path(folder, location[len(top) :]))
        return location.removeprefix("file://") if location.startswith("file:///") else location.removeprefix("file:")

    class File(InputFile):
        @property
        def path(self) -> Path:
            return Path(_inside(folder, local(self.location)))

        def __len__(self) -> int:
            return self.path.stat().st_size

        def exists(self) -> bool:
            return self.path.exists()

        def open(self, seekable: bool = True) -> Any:  # noqa: ANN401, ARG002 (as of pyiceberg)
            return self.path.open("rb")

    class Files(FileIO):
        def new_input(self, location: str) -> InputFile:
            return File(location)

        def new_output(self, location: str) -> Any:  # noqa: ANN401
            raise PermissionError(location)

        def delete(self, location: Any) -> None:  # noqa: ANN401
            raise PermissionError(location)

    files = Files()
    metadata = FromInputFile.table_metadata(files.new_input(metadata_file))
    moved_from.append(metadata.location.rstrip("/") + "/")
    # Not `StaticTable.from_metadata`: a property of the table would name the class that opens files.
    table = StaticTable(("table",), metadata, metadata_file, files, NoopCatalog("table"))
    schema = table.schema()
    ids = {number: field.name for number, field in index_by_id(schema).items()}
    mapped = table.name_mapping()
    known = [(name, each.field_id) for each in (mapped.root if mapped else ()) for name in each.names]
    paths = {name: ids[number] for name, number in known or _own_names(schema) if number in ids}
    deletes = _Deletes(files)
    entries = []
    for task in table.scan().plan_files():
        if (form := task.file.file_format.name) != "PARQUET":
            raise ValueError(f"its files are in {form}, and only Parquet is read")
        values = _identities(table, task.file)
        values |= {each.name: each.initial_default for each in schema.fields if each.initial_default is not None}
        text = {name: value for name, value in values.items() if isinstance(value, str)}
        entries.append(_file(folder, local(task.file.file_path), text, deletes.of(task)))
    return {"names": [field.name for field in schema.fields], "ids": ids, "paths": paths, "files": entries}


def _own_names(schema: Any) -> list[tuple[str, int]]:  # noqa: ANN401 (as of pyiceberg)
    """Columns by the names that they have now, for files that do not number theirs."""
    return [(field.name, field.field_id) for field in schema.fields]


def _identities(table: Any, file: Any) -> dict[str, Any]:  # noqa: ANN401 (as of pyiceberg)
    """Columns by whose values, as they are, the files are partitioned: a file of Hive does not have them."""
    found = {}
    for place, field in enumerate(table.specs()[file.spec_id].fields):
        with contextlib.suppress(ValueError):  # the table does not have the column any more
            if str(field.transform) == "identity":
                found[table.schema().find_field(field.source_id).name] = file.partition[place]
    return found


class _Deletes:
    """Rows that are deleted of the files of an Iceberg table."""

    def __init__(self, files: Any) -> None:  # noqa: ANN401 (as of pyiceberg)
        self._files = files
        self._read: dict[
            str, dict[str, list[int]]
        ] = {}  # by the path of the file that lists them, and that of the data

    def of(self, task: Any) -> set[int]:  # noqa: ANN401
        """Numbers of the rows."""
        rows: set[int] = set()
        for listing in task.delete_files:
            if listing.file_path not in self._read:
                self._read[listing.file_path] = self._rows(listing)
            rows.update(self._read[listing.file_path].get(task.file.file_path, ()))
        return rows

    def _rows(self, listing: Any) -> dict[str, list[int]]:  # noqa: ANN401
        import pyarrow.parquet as pq  # noqa: PLC0415 (who starts the script needs only the names above)

        form = listing.file_format.name
        with self._files.new_input(listing.file_path).open() as file:
            if form == "PARQUET":
                table = pq.read_table(file, columns=["file_path", "pos"])
                found: dict[str, list[int]] = {}
                for path, row in zip(table["file_path"].to_pylist(), table["pos"].to_pylist(), strict=True):
                    found.setdefault(path, []).append(row)
                return found
            if form == "PUFFIN":
                from pyiceberg.table.deletion_vector import deletion_vectors_from_puffin_file  # noqa: PLC0415
                from pyiceberg.table.puffin import PuffinFile  # noqa: PLC0415

                vectors = deletion_vectors_from_puffin_file(PuffinFile(file.read()))
                return {each.referenced_data_file: each.to_vector().to_pylist() for each in vectors}
        raise ValueError(f"rows are deleted by a file in {form}, which is not read")


def _answer(asked: dict[str, str]) -> dict[str, Any]:
    folder, metadata = (os.fsdecode(bytes.fromhex(asked[key])) for key in ("folder", "metadata"))
    try:
        return _delta(folder) if asked["kind"] == DELTA else _iceberg(folder, metadata)
    except BaseException as error:  # noqa: BLE001 (a panic of Rust is no Exception)
        lines = str(error).strip().splitlines() or [type(error).__name__]
        return {"refused": "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in lines[0])}


def main() -> None:
    """Read one log."""
    answer = json.dumps(_answer(json.loads(sys.stdin.buffer.readline()))).encode()
    sys.stdout.buffer.write(LENGTH.pack(len(answer)) + answer)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
