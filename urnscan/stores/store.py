"""Protocol of stores that URLs name, their errors, and retries."""

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol, TypeVar

from urnscan.display.addresses import without_secrets
from urnscan.errors import SourceError
from urnscan.stores.s3 import after_refusal
from urnscan.stores.urls import Url

PAUSES = (0.2, 1.0, 3.0)
"""Seconds before the second, third and fourth try of a request."""
TIMEOUT = 20.0
"""Maximum seconds that a store may take to accept a connection or to send more data."""

_MAX = 200  # characters of a library's message that are shown

_DENIED = (
    r"^PermissionError|ACCESS_DENIED|AccessDenied|HTTP status 40[13]\b|INVALID_ACCESS_KEY|SIGNATURE_DOES_NOT"
    r"|SignatureDoesNotMatch|ExpiredToken|INVALID_CLIENT_TOKEN|UNRECOGNIZED_CLIENT|[Uu]nauthenticated|UNAUTHENTICATED"
    r"|PERMISSION_DENIED|\b40[13] |[Cc]redential"
)
# Errors after which no further try can succeed: pattern of `Type: message` -> our reason. The first match counts.
_REASONS = {
    "NO_SUCH_BUCKET|NoSuchBucket|ContainerNotFound|bucket does not exist": "there is no such {bucket}",
    "^FileNotFoundError": "does not exist",
    r"curlCode: 6\b|[Cc]ould ?n[o']t resolve host": "the host does not exist, or cannot be found from here",
    _DENIED: "access denied{advice}",
    "NO_SUCH_KEY|RESOURCE_NOT_FOUND|NOT_FOUND|[Nn]ot found": "does not exist",
    "HTTP status 301": "the bucket is in another region; name it, as in ?region=eu-central-1",
}
_PASSING = re.compile(
    "SLOW_?DOWN|THROTTL|SERVICE_?UNAVAILABLE|INTERNAL_?(FAILURE|ERROR)|REQUEST_?(TIMEOUT|TIME_OUT|LIMIT)|NETWORK_CONNECTION"
    r"|UNAVAILABLE|DEADLINE|HTTP status (408|429|5\d\d)|\b(429|50[0234]) |[Tt]imed? ?out|[Cc]onnection|incomplete|^EOFError",
)
_HELP = {
    "gs": "set GOOGLE_APPLICATION_CREDENTIALS or run `gcloud auth application-default login`; for a public bucket write"
    " gs://anonymous@BUCKET/",
    "abfs": "log in with `az login` or set AZURE_CLIENT_ID, AZURE_TENANT_ID and AZURE_CLIENT_SECRET",
    "http": "credentials go before the host, as in https://USER:PASSWORD@HOST/",
}
_ALIASES = {"gcs": "gs", "abfss": "abfs", "https": "http"}

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Entry:
    """An object (file) or folder of a store (a bucket or a web host)."""

    path: str
    """Path in the store, for the methods of `Store`."""
    name: str
    """Last part of the path, decoded."""
    is_folder: bool
    """True for a folder, False for an object."""
    size: int | None = None
    """Bytes of an object; None for a folder, or if the store does not report the size."""
    mark: str | None = None
    """Version of an object, such as an ETag, which differs when the object changes; None if unknown to the store."""


class Content(Protocol):
    """Protocol: an open object of a store."""

    size: int | None
    """Bytes of the object; None if the store does not report the size."""
    mark: object | None
    """Version of the object, such as an ETag, which differs when the object changes; None if unknown to the store."""
    seekable: bool
    """Whether the object can be read from any byte on, if need be by reopening it."""

    @property
    def at(self) -> int | None:
        """Offset of the next byte of a stream; None if any byte can be read without reopening the object."""

    def read_at(self, position: int, view: memoryview) -> int:
        """Fill the front of the view with the bytes from `position` on. Returns their number, 0 at the end.

        In a stream, `position` is not before `at`; bytes before `position` are skipped.
        """

    def close(self) -> None:
        """Close the connection or file."""


class Store(Protocol):
    """Protocol: a bucket or a web host. Methods raise Trouble, and any error of the library of the store; `explain`
    makes a Trouble of such an error.
    """

    def path_of(self, path: str) -> str:
        """Convert the path of a URL (`Url.path`) to the form of path that the other methods expect."""

    def name_of(self, path: str) -> str:
        """URL of a path in the store, without secrets, for messages."""

    def find(self, path: str) -> Entry | None:
        """The object or folder at a path; None if nothing exists there."""

    def entries(self, path: str) -> Iterator[Entry]:
        """Yield the objects and folders directly in a folder, unsorted; nothing for a folder that does not exist."""

    def open(self, path: str, position: int, end: int | None = None) -> Content:
        """Open an object to read the bytes from `position` to before `end` (None: to the end of the object).

        If the store cannot begin at `position`, the result is a stream that begins earlier, at `Content.at`.
        """


class Trouble(Exception):  # noqa: N818
    """Failure of a store. The message is the reason, for a user."""

    def __init__(self, reason: str, *, passing: bool) -> None:
        super().__init__(reason)
        self.passing = passing
        """Whether the failure is temporary, so that a further try may succeed."""


_TOLD_BY_TYPE = (FileNotFoundError, PermissionError, TimeoutError, ConnectionError, EOFError)


def explain(error: BaseException, url: Url) -> Trouble:
    """Return a Trouble for an error of the library of a store: a reason in one line, without secrets, and whether a
    further try may succeed. A Trouble is returned unchanged.
    """
    if isinstance(error, Trouble):
        return error
    message = without_secrets(" ".join(str(error).split()))
    kind = next((base.__name__ for base in _TOLD_BY_TYPE if isinstance(error, base)), "")
    text = f"{kind}: {message}"
    scheme = _ALIASES.get(url.scheme, url.scheme)
    reason = next((reason for pattern, reason in _REASONS.items() if re.search(pattern, text)), None)
    if reason is not None:
        advice = after_refusal(url) if scheme == "s3" else _HELP.get(scheme, "")
        bucket = "container" if scheme == "abfs" else "bucket"
        return Trouble(reason.format(bucket=bucket, advice=advice and ": " + advice), passing=False)
    if kind == "TimeoutError" or "curlCode: 28" in message:
        return Trouble("no answer in time", passing=True)
    # The prefix repeats the name of the object; the suffix is the number of the request.
    message = re.sub(r"^When .*?: (?=AWS Error)", "", message)
    message = re.sub(r" \(Request ID: [^)]*\)|; Details: .*|\. Detail: .*", "", message) or type(error).__name__
    message = message if len(message) <= _MAX else message[: _MAX - 1] + "…"
    return Trouble(message, passing=_PASSING.search(text) is not None)


def patiently(
    name: str, url: Url, action: Callable[[], Result], position: int = 0, on_failure: Callable[[], object] = int
) -> Result:
    """Return the result of `action`; after a temporary failure call `action` again, up to four times in all.

    Waits between the tries (`PAUSES`). `on_failure` is called after each failure; its errors are ignored. After the
    fourth failure, or one that is not temporary, raises SourceError with the reason, `name` as the source, and
    `position` (an offset in bytes; not if 0). A SourceError of `action` is raised at once, unchanged, without
    `on_failure`.
    """
    for pause in (*PAUSES, None):
        try:
            return action()
        except SourceError:
            raise
        except Exception as error:  # noqa: BLE001 (each library has its own errors)
            # Closing a broken connection may fail.
            with contextlib.suppress(Exception):
                on_failure()
            trouble = explain(error, url)
            if pause is None or not trouble.passing:
                reason = str(trouble)
                if position and " byte " not in reason:
                    reason += f" (byte {position})"
                tries = f"; tried {len(PAUSES) + 1} times" if trouble.passing else ""
                raise SourceError(name, reason + tries) from None
            time.sleep(pause)
    raise AssertionError


def in_thread(action: Callable[[], Result]) -> Future[Result]:
    """Call `action` in a new daemon thread. Returns at once a future, whose `result()` waits for the result of
    `action`, and raises its errors.

    Ctrl-C interrupts this wait, and the process can end while `action` still runs.
    """
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(action())
        except BaseException as error:  # noqa: BLE001 (raised again by the future)
            future.set_exception(error)

    threading.Thread(target=run, daemon=True, name="urnscan-remote").start()
    return future
