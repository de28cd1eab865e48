"""Outputs in a store: a file or a folder at a URL."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

from urnscan.errors import SourceError
from urnscan.stores.filesystems import open_bucket, open_file_system
from urnscan.stores.store import PAUSES, Entry, Result, Trouble, in_thread, patiently
from urnscan.stores.urls import HTTP, Url, parse_url


class RemotePlace:
    """Output file at a URL of a store, but not http or https. The constructor creates nothing.

    The constructor and all methods raise SourceError for a failure of the store, the constructor also for a URL of the
    web or of a folder.
    """

    def __init__(self, argument: str) -> None:
        url = parse_url(argument)
        self.name = url.name
        """The URL without secrets, for messages."""
        if url.scheme in HTTP:
            raise SourceError(self.name, "http and https are for reading; name a file or an object store")
        if url.path.strip("/") == "" or url.path.endswith("/"):
            raise SourceError(self.name, "names a folder; name a file in it")
        self.base_name = url.path.rsplit("/", 1)[-1]
        """Last part of the path, as `a.parquet`."""
        self._url = url
        self._store = patiently(self.name, url, lambda: open_file_system(url, tries=len(PAUSES)))
        self._path = patiently(self.name, url, lambda: self._store.path_of(url.path))

    def find(self) -> Entry | None:
        """The object or folder that exists at the URL now, or None if there is none."""
        return patiently(self.name, self._url, lambda: self._store.find(self._path))

    def put(self, file: Path) -> None:
        """Upload a file to the URL, and check the size that arrived. Replaces an object that exists.

        The object appears only when the upload is complete. After a temporary failure the whole upload is repeated.
        """
        in_thread(lambda: patiently(self.name, self._url, lambda: self._put(file))).result()

    def _put(self, file: Path) -> None:
        self._store.put(file, self._path)
        entry = self._store.find(self._path)
        if entry is None or entry.size != file.stat().st_size:
            raise Trouble("the upload is incomplete: the stored size differs", passing=True)


class RemoteFolder:
    """Output folder in a store of pyarrow (S3, GCS, Azure, HDFS). The constructor creates nothing.

    The constructor and all methods raise SourceError for a failure of the store, the constructor also for a URL of a
    whole bucket.
    """

    def __init__(self, url: Url) -> None:
        self.url = url
        if url.path.strip("/") == "":
            raise SourceError(url.name, "names a bucket; name a folder in it")
        self._store = patiently(url.name, url, lambda: open_bucket(url, tries=len(PAUSES)))
        self._path = patiently(url.name, url, lambda: self._store.path_of(url.path))

    def with_suffix(self, suffix: str) -> "RemoteFolder":
        """Return the folder whose name is this name and a suffix: `out` and `.tmp` give `out.tmp`."""
        return RemoteFolder(dataclasses.replace(self.url, path=self.url.path.rstrip("/") + suffix))

    def exists(self, name: str = "") -> bool:
        """Whether the folder contains a file `name`; without `name`, whether the folder exists."""
        return self._patiently(lambda: self._store.find(self._inside(name))) is not None

    def put(self, file: Path, name: str) -> None:
        """Upload a file to the folder, as `name`; replaces a file of this name."""
        self._patiently(lambda: self._store.put(file, self._inside(name)))

    def take(self, folder: "RemoteFolder", name: str, new_name: str) -> None:
        """Move the file `name` from another folder of the same bucket to this folder, as `new_name`; replaces a file of
        this name.
        """
        path = self._store.path_of(f"{folder.url.path.rstrip('/')}/{name}")
        self._patiently(lambda: self._store.move(path, self._inside(new_name)))

    def delete(self) -> None:
        """Delete the folder and everything in it; does nothing if the folder does not exist."""
        if self.exists():
            self._patiently(lambda: self._store.delete(self._path))

    def _inside(self, name: str) -> str:
        return f"{self._path}/{name}" if name else self._path

    def _patiently(self, action: Callable[[], Result]) -> Result:
        return patiently(self.url.name, self.url, action)
