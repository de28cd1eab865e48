"""URLs: their parts, and their names without secrets."""

import os
import re
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, quote, unquote, unquote_to_bytes

from urnscan.display.addresses import public_user, without_secrets
from urnscan.errors import SourceError

ARROW = frozenset("s3 gs gcs abfs abfss hdfs viewfs".split())
"""URL schemes of the stores that pyarrow reads; in their URLs options of the store follow "?"."""
HTTP = frozenset(("http", "https"))

_FILE = "file://"
_BEGIN = re.compile("([A-Za-z][A-Za-z0-9+.-]*)://")
_PATTERN = re.compile(r"(?<![^/])[^/*?\[]*+[*?\[].*", re.DOTALL)
_BREAKING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_OPTIONS = re.compile(r"\?((?:[a-z_]+=[^?&]*)(?:&[a-z_]+=[^?&]*)*)\Z")


@dataclass(frozen=True, slots=True)
class Url:
    """A URL split into parts; no part is decoded."""

    scheme: str
    """Scheme in lower case."""
    user: str | None = field(repr=False)
    """Part before "@": user, or user and password; None without "@"."""
    host: str
    """Bucket, container, or host with port, in the case of the argument."""
    path: str = field(repr=False)
    """Path from "/" on, empty without one: percent-encoded on the web; in other stores "/" and the key, unchanged."""
    options: str = field(repr=False)
    """Part after "?"; empty without."""

    @property
    def name(self) -> str:
        """The URL without secrets, for messages: without user (except the container of `abfs`, which is not secret),
        password, and parameters such as tokens; in object stores without any options.
        """
        name = self.authority + shown(self.path)
        # The options belong to the store, not to the object.
        if self.scheme in ARROW:
            return name
        return without_secrets(name + ("?" + shown(self.options) if self.options else ""))

    @property
    def authority(self) -> str:
        """The part of `name` before the path, for example `s3://bucket`."""
        user = public_user(self.scheme, self.user or "")
        return shown(f"{self.scheme}://{user and user + '@'}{self.host}")

    @property
    def full(self) -> str:
        """The URL with secrets, for libraries; never shown."""
        return f"{self.root}{self.path}" + ("?" + self.options if self.options else "")

    @property
    def root(self) -> str:
        """Scheme, user and password (if any), and host, as in `https://user:password@host`, without a final `/`.
        Contains secrets; `authority` does not.
        """
        return f"{self.scheme}://{'' if self.user is None else self.user + '@'}{self.host}"

    @property
    def option(self) -> dict[str, str]:
        """The options (parameters after "?") as name -> value, decoded; empty without options. The last of several
        equal names counts. The value is empty for a name without "=".
        """
        return dict(parse_qsl(self.options, keep_blank_values=True))

    @property
    def pattern(self) -> tuple[str, list[str]]:
        """The path split before the first part with `*`, `?` or `[`: the folder, ending in "/", and the other parts;
        without such a part, the whole path and []. `/a/b*/c` gives `("/a/", ["b*", "c"])`. In the path of a URL
        of http or https, the other parts are percent-decoded; `%2A`, `%3F` and `%5B`, which mean the characters
        themselves, become `[*]`, `[?]` and `[[]`.
        """
        match = _PATTERN.search(self.path)
        if match is None:
            return self.path, []
        parts = match[0].split("/")
        return self.path[: match.start()], [_decoded(part) for part in parts] if self.scheme in HTTP else parts


@dataclass(frozen=True, slots=True)
class Remote:
    """An object in a store. The repr has no secrets."""

    url: Url = field(repr=False)
    """URL by which the store is opened: of the object, or of a folder or pattern by which the object was found."""
    path: str = field(repr=False)
    """Path of the object in the store."""
    name: str
    """URL of the object without secrets."""

    @property
    def key(self) -> Hashable:
        """Identity of the object, for comparison: user and host, options of the store, and path. Has secrets.

        Equal for an argument that names the object and one that names its folder; different for another user or other
        options.
        """
        return self.url.root, self.url.options if self.url.scheme in ARROW else "", self.path


def is_url(argument: str) -> bool:
    """Whether an argument begins like a URL: a scheme and `://`, also `file://`."""
    return _BEGIN.match(argument) is not None


def is_remote(argument: str) -> bool:
    """Whether an argument begins like a URL (a scheme and `://`) other than `file://`, in any case."""
    return is_url(argument) and not argument.lower().startswith(_FILE)


def local_path(argument: str) -> str:
    """Path of an argument that is a path (returned unchanged) or a `file://` URL (its path, percent-decoded).

    Raises SourceError for a `file://` URL of another machine, and for any other URL.
    """
    if not is_url(argument):
        return argument
    path = argument[len(_FILE) :].removeprefix("localhost")
    if is_remote(argument) or not path.startswith("/"):
        raise SourceError(clean(argument), "invalid file URL; write file:///PATH")
    return os.fsdecode(unquote_to_bytes(os.fsencode(path)))


def real_place(argument: str) -> str:
    """Identity of an input or output: the absolute path with links resolved of a path or a `file://` URL; of another
    URL its name without secrets (`Url.name`).

    Raises SourceError for an invalid URL, and for a `file://` URL of another machine.
    """
    return parse_url(argument).name if is_remote(argument) else os.path.realpath(local_path(argument))


def in_folder(folder: str, name: str) -> str:
    """Path or URL of the file `name` in a folder that is a path or a URL; secrets and options of the URL stay. `name`
    is added unchanged: it is not percent-encoded.

    `s3://bucket/out?region=x` and `a.parquet` -> `s3://bucket/out/a.parquet?region=x`. Raises SourceError for an
    invalid URL.
    """
    if not is_url(folder):
        return f"{folder}/{name}"
    url = parse_url(folder)
    return replace(url, path=f"{url.path.rstrip('/')}/{name}").full


def parse_url(argument: str) -> Url:
    """Split a URL into its parts; a fragment (`#...`) on the web is dropped. Raises SourceError, whose message has no
    secrets, for an invalid URL.
    """
    begin = _BEGIN.match(argument)
    if begin is None:
        raise SourceError(argument, "is not a URL")
    scheme = begin[1].lower()
    rest = argument[begin.end() :]
    options = ""
    if scheme in ARROW:
        # Any other "?" is part of a pattern.
        if match := _OPTIONS.search(rest):
            options, rest = match[1], rest[: match.start()]
    elif scheme in HTTP:
        rest, _, options = rest.partition("#")[0].partition("?")
    elif "=" in rest.rpartition("?")[2] and "?" in rest:
        rest, _, options = rest.rpartition("?")
    authority, slash, path = rest.partition("/")
    user, at, host = authority.rpartition("@")
    if re.search(r":(?!\d*\Z)", re.sub(r"^\[[^\]]*\]", "", host)):
        raise SourceError(f"{scheme}://…", 'is not a URL; write a "/" or "@" in a password as %2F or %40')
    if not host and scheme in ARROW | HTTP and scheme not in ("hdfs", "viewfs"):
        raise SourceError(f"{scheme}://{clean(path)}", "the URL has no bucket or host")
    return Url(scheme, user if at else None, host, slash + path, options)


def shown(path: str) -> str:
    r"""Return a path for messages, in a single line: control characters and line separators are percent-encoded, a byte
    that is not UTF-8 (a surrogate escape) is written `\xff`, everything else stays.

    >>> shown("a\nb\udcff c")
    'a%0Ab\\xff c'
    """
    return _BREAKING.sub(lambda match: quote(match[0]), clean(path))


def clean(text: str) -> str:
    r"""Return a text for messages: a byte that is not UTF-8 (a surrogate escape) is written `\xff`."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _decoded(part: str) -> str:
    """Decode a part of a pattern. An encoded wildcard is a literal character: `%2A` becomes `[*]`."""
    part = re.sub("%(2A|3F|5B)", lambda match: f"[{unquote(match[0])}]", part, flags=re.IGNORECASE)
    return unquote(part)
