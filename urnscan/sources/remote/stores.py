"""The stores that URLs lead to: one way to ask what is there, to read it and to put a file there.

pyarrow reads object stores and HDFS, Python itself the web, fsspec everything else. What these raise is explained here:
in a few words, and whether it may pass.
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from urnscan.sources.remote.aws import after_refusal, new_file_system
from urnscan.sources.remote.urls import ARROW, HTTP, Url, shown, without_secrets

__all__ = ["TIMEOUT", "Content", "Entry", "Missing", "Store", "Trouble", "explain", "open_store"]

TIMEOUT = 20.0
"""Seconds that a store may be silent, connecting or answering."""

_Untyped: TypeAlias = Any  # neither pyarrow nor fsspec carries types

_RETRY_LIMIT = 5  # seconds that the library of Google may try by itself
_UNFINISHED: list[object] = []  # streams that must not be let go of: that completes them, and a part would appear
_CHUNK = 8 << 20  # octets that are put at a time
_INSTALL = "pip install 'urnscan[remote]'"
_PASSING = re.compile(
    "SLOW_?DOWN|THROTTL|SERVICE_?UNAVAILABLE|INTERNAL_?(FAILURE|ERROR)|REQUEST_?(TIMEOUT|TIME_OUT|LIMIT)|NETWORK_CONNECTION"
    r"|UNAVAILABLE|DEADLINE|HTTP status (408|429|5\d\d)|\b(429|50[0234]) |[Tt]imed? ?out|[Cc]onnection|incomplete",
)
_NO_HOST = re.compile(r"curlCode: 6\b|[Cc]ould ?n[o']t resolve host")
_DENIED = re.compile(
    r"ACCESS_DENIED|AccessDenied|HTTP status 40[13]\b|INVALID_ACCESS_KEY|SIGNATURE_DOES_NOT|SignatureDoesNotMatch|ExpiredToken"
    r"|INVALID_CLIENT_TOKEN|UNRECOGNIZED_CLIENT|[Uu]nauthenticated|UNAUTHENTICATED|PERMISSION_DENIED|\b40[13] |[Cc]redential"
)
_NO_BUCKET = re.compile("NO_SUCH_BUCKET|NoSuchBucket|ContainerNotFound|bucket does not exist")
_ABSENT = re.compile("NO_SUCH_KEY|RESOURCE_NOT_FOUND|NOT_FOUND|[Nn]ot found")
_HELP = {
    "gs": "set GOOGLE_APPLICATION_CREDENTIALS or run `gcloud auth application-default login`; for a public bucket write"
    " gs://anonymous@BUCKET/",
    "abfs": "log in with `az login` or set AZURE_CLIENT_ID, AZURE_TENANT_ID and AZURE_CLIENT_SECRET",
    "http": "credentials go before the host, as in https://USER:PASSWORD@HOST/",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands at a path of a store, or in a folder of it."""

    path: str
    name: str
    """The last part of the path, decoded."""
    is_folder: bool
    size: int | None = None


class Content(Protocol):
    """The octets of an object, to be read in any order where they are `seekable`."""

    size: int | None
    """None where the store does not say."""
    mark: object | None
    """Tells one state of the object from another; None where the store says nothing that could."""
    seekable: bool
    is_whole: bool
    """Whether all is read in one go, so that it cannot change between two parts of it."""

    def read_at(self, position: int, view: memoryview) -> int:
        """Fill the front of the view from an octet on; how many octets were filled, 0 at the end."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


class Store(Protocol):
    """What a URL leads to. Its methods raise whatever its library does, which `explain` understands."""

    reads_ahead: bool
    """Whether octets are better fetched before they are asked for, by a thread beside."""

    def path_of(self, path: str) -> str:
        """The path in the store of the path of a URL."""
        ...

    def name_of(self, path: str) -> str:
        """The URL, without secrets, of a path in the store."""
        ...

    def find(self, path: str) -> Entry | None:
        """What stands at a path; None: nothing."""
        ...

    def entries(self, path: str) -> Iterator[Entry]:
        """What is in a folder, in no order. A folder that is not there has nothing in it."""
        ...

    def open(self, path: str, position: int) -> Content:
        """An object, to be read from an octet on, first of all."""
        ...

    def put(self, file: Path, path: str) -> None:
        """Put a file into the place of an object, which appears when it is whole."""
        ...


class Missing(Exception):  # noqa: N818 (it is no error where one looks whether something is there)
    """There is no such object."""


class Trouble(Exception):  # noqa: N818
    """What a store of ours says itself: why, and whether it may pass."""

    def __init__(self, reason: str, *, passing: bool) -> None:
        super().__init__(reason)
        self.passing = passing


def open_store(url: Url, tries: int = 1) -> Store:
    """The store of a URL; `tries` are those of S3 for each request: who reads tries again from where it stands.

    Raises Trouble where there is none, and what the libraries raise.
    """
    if url.scheme in HTTP:
        from urnscan.sources.remote.web import Web  # noqa: PLC0415 (only who reads from the web loads it)

        return Web(url)
    if url.scheme in ARROW:
        return _arrow_store(Url(url.scheme, url.user, url.host, "/", url.options), tries)
    return _Fsspec(url)


def explain(error: BaseException, url: Url) -> Trouble:
    """Why the store of a URL failed, without secrets."""
    if isinstance(error, Trouble):
        return error
    text = without_secrets(" ".join(str(error).split())) or type(error).__name__
    if _NO_BUCKET.search(text):
        return _no_bucket(url)
    if isinstance(error, Missing | FileNotFoundError):
        return Trouble("does not exist", passing=False)
    if _NO_HOST.search(text):
        return Trouble("the host does not exist, or cannot be found from here", passing=False)
    if isinstance(error, PermissionError) or _DENIED.search(text):
        scheme = {"gcs": "gs", "abfss": "abfs", "https": "http"}.get(url.scheme, url.scheme)
        helps = after_refusal(url) if scheme == "s3" else _HELP.get(scheme, "")
        return Trouble("access denied" + (": " + helps if helps else ""), passing=False)
    if _ABSENT.search(text):
        return Trouble("does not exist", passing=False)
    if "HTTP status 301" in text:
        return Trouble("the bucket is in another region: name it, as in ?region=eu-central-1", passing=False)
    if isinstance(error, TimeoutError) or "curlCode: 28" in text:
        return Trouble("no answer in time", passing=True)
    passing = isinstance(error, ConnectionError | EOFError) or _PASSING.search(text) is not None
    return Trouble(_shortened(text), passing=passing)


def _no_bucket(url: Url) -> Trouble:
    kind = "container" if url.scheme in ("abfs", "abfss") else "bucket"
    return Trouble(f"there is no such {kind}", passing=False)


def _shortened(text: str) -> str:
    """What a library says, without what it was about: that stands before it already."""
    text = re.sub(r"^When .*?: (?=AWS Error)", "", text)
    text = re.sub(r" \(Request ID: [^)]*\)|; Details: .*|\. Detail: .*", "", text)
    return text if len(text) <= 200 else text[:199] + "…"


class _Arrow:
    """A file system of pyarrow."""

    reads_ahead = True

    def __init__(self, url: Url, system: _Untyped, base: str) -> None:
        self._url = url
        self._system = system
        self._base = base.rstrip("/")  # the bucket, which begins all paths

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
            return _entry(info)
        if self._base and self._lacks_bucket():
            raise _no_bucket(self._url)
        return None

    def _lacks_bucket(self) -> bool:
        try:
            return str(self._system.get_file_info(self._base).type.name) == "NotFound"
        except Exception:  # noqa: BLE001 (who may read an object need not be allowed to ask for its bucket)
            return False

    def entries(self, path: str) -> Iterator[Entry]:
        from pyarrow.fs import FileSelector  # noqa: PLC0415 (only who reads from stores loads it)

        for info in self._system.get_file_info(FileSelector(path, allow_not_found=True)):
            yield _entry(info)

    def open(self, path: str, position: int) -> Content:  # noqa: ARG002 (any part can be asked for)
        return _ArrowContent(self._system, path)

    def put(self, file: Path, path: str) -> None:
        temporary = path + ".urnscan-tmp" if self._url.scheme in ("hdfs", "viewfs") else path
        # pyarrow.fs.copy_files would do, but it keeps to itself that the last part failed.
        stream = self._system.open_output_stream(temporary)
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


def _entry(info: _Untyped) -> Entry:
    is_folder = info.type.name == "Directory"
    return Entry(info.path, info.base_name, is_folder, None if is_folder else info.size)


class _ArrowContent:
    seekable = True
    is_whole = False

    def __init__(self, system: _Untyped, path: str) -> None:
        self._file = system.open_input_file(path)
        self.size: int | None = self._file.size()
        known = self._file.metadata() or {}
        marks = [known.get(key) for key in ("ETag", "Last-Modified", "Generation", "etag")]
        self.mark: object | None = (self.size, *marks, None if any(marks) else str(system.get_file_info(path).mtime_ns))

    def read_at(self, position: int, view: memoryview) -> int:
        if self.size is not None and position >= self.size:
            return 0
        self._file.seek(position)
        octets: int = self._file.readinto(view)
        return octets

    def close(self) -> None:
        self._file.close()


@functools.lru_cache(maxsize=32)
def _arrow_store(root: Url, tries: int) -> _Arrow:
    from pyarrow.fs import FileSystem  # noqa: PLC0415 (only who reads from stores loads it)

    try:
        if root.scheme == "s3":
            return _Arrow(root, new_file_system(root, TIMEOUT, tries), root.host)
        options = root.options
        if root.scheme in ("gs", "gcs") and "retry_limit_seconds" not in root.option:
            options = "&".join(filter(None, (options, f"retry_limit_seconds={_RETRY_LIMIT}")))
        system, base = FileSystem.from_uri(root.root + "/" + ("?" + options if options else ""))
    except ValueError as error:
        raise Trouble(_shortened(without_secrets(" ".join(str(error).split()))), passing=False) from None
    return _Arrow(root, system, base)


class _Fsspec:
    """A file system of fsspec, of its own for each object: those of FTP and the like serve one at a time."""

    reads_ahead = False

    def __init__(self, url: Url) -> None:
        try:
            import fsspec.core  # noqa: PLC0415 (an extra)

            self._system, path = fsspec.core.url_to_fs(url.full, skip_instance_cache=True)
        except ImportError as error:
            reason = f"{url.scheme}:// needs a package that is not installed: {_INSTALL} ({error})"
            raise Trouble(reason, passing=False) from None
        except ValueError as error:
            raise Trouble(without_secrets(str(error)), passing=False) from None
        # The path in the store is the end of the URL; what comes before it begins the names.
        inside = path.strip("/")
        whole = url.name.rstrip("/")
        self._begin = whole[: len(whole) - len(inside)] if whole.endswith(inside) else f"{url.authority}/"
        self._root = path

    def path_of(self, path: str) -> str:  # noqa: ARG002 (fsspec has its own ways with the paths of URLs)
        return str(self._root)

    def name_of(self, path: str) -> str:
        return self._begin + shown(path.lstrip("/"))

    def find(self, path: str) -> Entry | None:
        self._system.invalidate_cache()
        try:
            return _fsspec_entry(self._system.info(path))
        except FileNotFoundError:
            return None

    def entries(self, path: str) -> Iterator[Entry]:
        self._system.invalidate_cache()
        try:
            for info in self._system.ls(path, detail=True):
                if info["name"].strip("/") != path.strip("/"):
                    yield _fsspec_entry(info)
        except FileNotFoundError:
            return

    def open(self, path: str, position: int) -> Content:  # noqa: ARG002 (any part can be asked for)
        return _FsspecContent(self._system, path)

    def put(self, file: Path, path: str) -> None:
        temporary = path + ".urnscan-tmp"
        try:
            self._system.put_file(str(file), temporary)
            self._system.mv(temporary, path)
        except BaseException:
            if self._system.exists(temporary):
                self._system.rm_file(temporary)
            raise


def _fsspec_entry(info: dict[str, Any]) -> Entry:
    path = info["name"].rstrip("/")
    is_folder = info["type"] == "directory"
    return Entry(path, path.rsplit("/", 1)[-1], is_folder, None if is_folder else info.get("size"))


class _FsspecContent:
    is_whole = False

    def __init__(self, system: _Untyped, path: str) -> None:
        system.invalidate_cache()
        info = system.info(path)
        self.size: int | None = info.get("size")
        known = [str(info[key]) for key in sorted(info) if re.search("(?i)etag|mtime|modif|created|sha|md5|oid", key)]
        self.mark: object | None = (self.size, *known) if known or self.size is not None else None
        self._file = system.open(path, "rb")
        self.seekable = bool(self._file.seekable()) and self.size is not None

    def read_at(self, position: int, view: memoryview) -> int:
        if self._file.tell() != position:
            self._file.seek(position)
        octets = self._file.read(len(view))
        view[: len(octets)] = octets
        return len(octets)

    def close(self) -> None:
        self._file.close()
