"""URLs: their parts, and names of them without secrets."""

import os
import re
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, quote, unquote, unquote_to_bytes

from urnscan.display.addresses import public_user, without_secrets
from urnscan.errors import SourceError

ARROW = frozenset("s3 gs gcs abfs abfss hdfs viewfs".split())
"""Schemes of stores that pyarrow reaches; options of the store follow the "?" of such a URL."""
HTTP = frozenset(("http", "https"))

_FILE = "file://"
_BEGIN = re.compile("([A-Za-z][A-Za-z0-9+.-]*)://")
_PATTERN = re.compile(r"(?<![^/])[^/*?\[]*+[*?\[].*", re.DOTALL)
_BREAKING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_OPTIONS = re.compile(r"\?((?:[a-z_]+=[^?&]*)(?:&[a-z_]+=[^?&]*)*)\Z")


@dataclass(frozen=True, slots=True)
class Url:
    """A URL, split into its parts, which are unchanged."""

    scheme: str
    user: str | None = field(repr=False)
    """Part before the "@"."""
    host: str
    """Bucket, container or host, with its port."""
    path: str = field(repr=False)
    """Path from the "/" on: percent-encoded on the web, in other stores "/" and the key, unchanged."""
    options: str = field(repr=False)
    """Part after the "?"."""

    @property
    def name(self) -> str:
        """URL without secrets."""
        name = self.authority + shown(self.path)
        # The options belong to the store, not to the object.
        if self.scheme in ARROW:
            return name
        return without_secrets(name + ("?" + shown(self.options) if self.options else ""))

    @property
    def authority(self) -> str:
        """Prefix of the name, up to the path."""
        user = public_user(self.scheme, self.user or "")
        return shown(f"{self.scheme}://{user and user + '@'}{self.host}")

    @property
    def full(self) -> str:
        """Whole URL, for libraries; never shown."""
        return f"{self.root}{self.path}" + ("?" + self.options if self.options else "")

    @property
    def root(self) -> str:
        """Prefix of the whole URL, up to the path."""
        return f"{self.scheme}://{'' if self.user is None else self.user + '@'}{self.host}"

    @property
    def option(self) -> dict[str, str]:
        """Options by their names."""
        return dict(parse_qsl(self.options, keep_blank_values=True))

    @property
    def pattern(self) -> tuple[str, list[str]]:
        """Path before the first part that is a pattern, ending in "/", and the parts from there on; [] without one."""
        match = _PATTERN.search(self.path)
        if match is None:
            return self.path, []
        parts = match[0].split("/")
        return self.path[: match.start()], [_decoded(part) for part in parts] if self.scheme in HTTP else parts


@dataclass(frozen=True, slots=True)
class Remote:
    """Object in a store. The repr has no secrets."""

    url: Url = field(repr=False)
    """URL by which the store was reached."""
    path: str = field(repr=False)
    """Path in the store."""
    name: str

    @property
    def key(self) -> Hashable:
        """Identity of the object, for any argument that names it. Names are no identity: they leave out secrets."""
        return self.url.root, self.url.options if self.url.scheme in ARROW else "", self.path


def is_url(argument: str) -> bool:
    """Whether an argument looks like a URL."""
    return _BEGIN.match(argument) is not None


def is_remote(argument: str) -> bool:
    """Whether an argument looks like a URL, and not of a file on this machine."""
    return is_url(argument) and not argument.lower().startswith(_FILE)


def local_path(argument: str) -> str:
    """Path of an argument that is not remote. Raises SourceError for a `file://` URL of another machine."""
    if not is_url(argument):
        return argument
    path = argument[len(_FILE) :].removeprefix("localhost")
    if not path.startswith("/"):
        raise SourceError(clean(argument), "invalid file URL; write file:///PATH")
    return os.fsdecode(unquote_to_bytes(os.fsencode(path)))


def real_place(argument: str) -> str:
    """Identity of an output: the real path, or the name of the URL. Raises SourceError for a URL that is not valid."""
    return parse_url(argument).name if is_remote(argument) else os.path.realpath(local_path(argument))


def in_folder(folder: str, name: str) -> str:
    """A file in a folder that is a path or a URL; options of the store stay at the end."""
    if not is_url(folder):
        return f"{folder}/{name}"
    url = parse_url(folder)
    return replace(url, path=f"{url.path.rstrip('/')}/{name}").full


def parse_url(argument: str) -> Url:
    """Parse an argument. Raises SourceError, without secrets, if it is not a valid URL."""
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
    """Path on one line: control characters and line separators are percent-encoded, nothing else is."""
    return _BREAKING.sub(lambda match: quote(match[0]), clean(path))


def clean(text: str) -> str:
    """Make a text encodable as UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _decoded(part: str) -> str:
    """Decode a part of a pattern on the web: `%2A` represents the character "*" and is not a pattern."""
    part = re.sub("%(2A|3F|5B)", lambda match: f"[{unquote(match[0])}]", part, flags=re.IGNORECASE)
    return unquote(part)
