"""Stores through libraries: object stores and HDFS through pyarrow, all others except the web through fsspec."""

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from urnscan.display.addresses import without_secrets
from urnscan.stores import store
from urnscan.stores.s3 import new_file_system
from urnscan.stores.store import Content, Entry, Store, Trouble
from urnscan.stores.temporary import TEMPORARY_SUFFIX
from urnscan.stores.urls import ARROW, HTTP, Url, shown

_Untyped: TypeAlias = Any  # neither pyarrow nor fsspec carries types

_RETRY_LIMIT = 5  # seconds in which the library of Google repeats a request
# Streams of failed uploads. Deleting a stream would complete the upload, and a partial object would appear.
_UNFINISHED: list[object] = []
_CHUNK = 8 << 20  # bytes per write of an upload
_INSTALL = "pip install 'urnscan[remote]'"
_MARKS = re.compile("(?i)etag|mtime|modif|created|generation|sha|md5|oid")


def open_store(url: Url) -> Store:
    """Open the store of a URL, to read from it: a bucket by pyarrow, a web host by `web.Web`, any other by fsspec.

    Raises Trouble for an invalid URL or a missing package, and any error of the library of the store, of which the
    function `store.explain` makes a Trouble.
    """
    if url.scheme in HTTP:
        from urnscan.stores.web import Web  # noqa: PLC0415 (loaded only to read from the web)

        return Web(url)
    return open_file_system(url)


def open_file_system(url: Url, tries: int = 1) -> "_Arrow | _Fsspec":
    """Open the store of a URL, other than http and https. The result is a `Store` that can also upload files (`put`).
    Raises Trouble for an invalid URL or a missing package, and any error of the library of the store.

    `tries`: maximum number of times that pyarrow sends the same request to S3; 1 if the caller repeats requests.
    """
    return open_bucket(url, tries) if url.scheme in ARROW else _Fsspec(url)


def open_bucket(url: Url, tries: int = 1) -> "_Arrow":
    """Open the bucket (the whole store) of a URL whose scheme is in ARROW, by pyarrow. Raises Trouble and errors of
    pyarrow. The result is a `Store` that can also upload, move and delete; it is cached.

    `tries` is the maximum number of times that pyarrow sends the same request to S3.
    """
    return _arrow_store(Url(url.scheme, url.user, url.host, "/", url.options), tries)


class _Arrow:
    def __init__(self, url: Url, system: _Untyped, base: str) -> None:
        self._url = url
        self._system = system
        self._base = base.rstrip("/")  # the bucket, which is the prefix of all paths

    def path_of(self, path: str) -> str:
        key = path.removeprefix("/").removesuffix("/")
        if self._base and key and "" in key.split("/"):
            raise Trouble('an object with "//" in its name cannot be reached', passing=False)
        return f"{self._base}/{key}" if key else self._base or "/"

    def name_of(self, path: str) -> str:
        return f"{self._url.authority}/{shown(path[len(self._base) :].lstrip('/'))}"

    def find(self, path: str) -> Entry | None:
        info = self._system.get_file_info(path)
        if info.type.name != "NotFound":
            return self._entry(info)
        if self._base and self._lacks_bucket():
            raise FileNotFoundError("bucket does not exist")
        return None

    def _lacks_bucket(self) -> bool:
        try:
            return str(self._system.get_file_info(self._base).type.name) == "NotFound"
        except Exception:  # noqa: BLE001 (a user may have permission for the object and not for the bucket)
            return False

    def entries(self, path: str) -> Iterator[Entry]:
        from pyarrow.fs import FileSelector  # noqa: PLC0415 (loaded only to read from stores)

        return map(self._entry, self._system.get_file_info(FileSelector(path, allow_not_found=True)))

    @staticmethod
    def _entry(info: _Untyped) -> Entry:
        marks = {} if info.mtime_ns is None else {"mtime": info.mtime_ns}
        return _entry(info.path, info.size, marks, is_folder=info.type.name == "Directory")

    def open(self, path: str, position: int, end: int | None = None) -> Content:  # noqa: ARG002 (_File can seek)
        file = self._system.open_input_file(path)
        marks = _marks(file.metadata() or {}) or {"mtime": self._system.get_file_info(path).mtime_ns}
        return _File(file, file.size(), marks)

    def put(self, file: Path, path: str) -> None:
        temporary = path + TEMPORARY_SUFFIX if self._url.scheme in ("hdfs", "viewfs") else path
        # Not by pyarrow.fs.copy_files, which does not report that the last part failed.
        # By default, pyarrow would compress it if the name ends in .gz.
        stream = self._system.open_output_stream(temporary, compression=None)
        try:
            with file.open("rb") as source:
                while block := source.read(_CHUNK):
                    stream.write(block)
        except BaseException:
            _UNFINISHED.append(stream)
            raise
        stream.close()
        if temporary != path:
            self._system.move(temporary, path)

    def move(self, path: str, new_path: str) -> None:
        self._system.move(path, new_path)

    def delete(self, folder: str) -> None:
        self._system.delete_dir(folder)


@functools.lru_cache(maxsize=32)
def _arrow_store(root: Url, tries: int) -> _Arrow:
    from pyarrow.fs import FileSystem  # noqa: PLC0415 (loaded only to read from stores)

    try:
        if root.scheme == "s3":
            return _Arrow(root, new_file_system(root, store.TIMEOUT, tries), root.host)
        options = root.options
        if root.scheme in ("gs", "gcs") and "retry_limit_seconds" not in root.option:
            options = "&".join(filter(None, (options, f"retry_limit_seconds={_RETRY_LIMIT}")))
        system, base = FileSystem.from_uri(root.root + "/" + ("?" + options if options else ""))
    except ValueError as error:
        raise Trouble(without_secrets(" ".join(str(error).split())), passing=False) from None
    return _Arrow(root, system, base)


class _Fsspec:
    def __init__(self, url: Url) -> None:
        try:
            import fsspec.core  # noqa: PLC0415 (an extra)

            # An FTP connection reads a single file at a time, so no file system is shared.
            self._system, self._root = fsspec.core.url_to_fs(url.full, skip_instance_cache=True)
        except ImportError as error:
            reason = f"{url.scheme}:// needs a package that is not installed: {_INSTALL} ({error})"
            raise Trouble(reason, passing=False) from None
        except ValueError as error:
            raise Trouble(without_secrets(str(error)), passing=False) from None
        # Names are URLs: the part of the URL before the path in the store is the prefix of all names.
        inside, whole = self._root.strip("/"), url.name.rstrip("/")
        self._begin = whole[: len(whole) - len(inside)] if whole.endswith(inside) else f"{url.authority}/"

    def path_of(self, path: str) -> str:  # noqa: ARG002 (fsspec derives the path from the URL)
        return str(self._root)

    def name_of(self, path: str) -> str:
        return self._begin + shown(path.lstrip("/"))

    def find(self, path: str) -> Entry | None:
        try:
            return self._entry(self._info(path))
        except FileNotFoundError:
            return None

    def entries(self, path: str) -> Iterator[Entry]:
        self._system.invalidate_cache()
        try:
            listing = self._system.ls(path, detail=True)
        except FileNotFoundError:
            return iter(())
        return (self._entry(info) for info in listing if info["name"].strip("/") != path.strip("/"))

    @staticmethod
    def _entry(info: dict[str, Any]) -> Entry:
        is_folder = info["type"] == "directory"
        return _entry(info["name"].rstrip("/"), info.get("size"), _marks(info), is_folder=is_folder)

    def open(self, path: str, position: int, end: int | None = None) -> Content:  # noqa: ARG002 (_File can seek)
        info = self._info(path)
        return _File(self._system.open(path, "rb"), info.get("size"), _marks(info))

    def put(self, file: Path, path: str) -> None:
        temporary = path + TEMPORARY_SUFFIX
        try:
            self._system.put_file(str(file), temporary)
            self._system.mv(temporary, path)
        except BaseException:
            if self._system.exists(temporary):
                self._system.rm_file(temporary)
            raise

    def _info(self, path: str) -> dict[str, Any]:
        self._system.invalidate_cache()
        info: dict[str, Any] = self._system.info(path)
        return info


def _entry(path: str, size: int | None, marks: dict[str, Any], *, is_folder: bool) -> Entry:
    states = sorted(f"{key}={value}" for key, value in marks.items() if value)
    mark = " ".join([str(size), *states]) if states and size is not None and not is_folder else None
    return Entry(path, path.rsplit("/", 1)[-1], is_folder, None if is_folder else size, mark)


def _marks(metadata: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if _MARKS.search(key)}


class _File:
    """Content of an object, read by a file of pyarrow or fsspec."""

    at: int | None = None

    def __init__(self, file: _Untyped, size: int | None, marks: dict[str, Any]) -> None:
        self._file = file
        self.size = size
        self.mark: object | None = (size, sorted(map(str, marks.items()))) if marks or size is not None else None
        self.seekable = size is not None and bool(file.seekable())

    def read_at(self, position: int, view: memoryview) -> int:
        if self.size is not None and position >= self.size:
            return 0
        if self._file.tell() != position:
            self._file.seek(position)
        count: int = self._file.readinto(view)
        return count

    def close(self) -> None:
        self._file.close()
