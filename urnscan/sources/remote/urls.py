"""URLs: their parts, and names of them without secrets."""

import os
import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, unquote, unquote_to_bytes

from urnscan.errors import SourceError

__all__ = [
    "ARROW",
    "HTTP",
    "Remote",
    "Url",
    "clean",
    "is_remote",
    "is_url",
    "local_path",
    "parse_url",
    "real_place",
    "shown",
    "without_secrets",
]

ARROW = frozenset("s3 gs gcs abfs abfss hdfs viewfs".split())
"""Schemes of stores that pyarrow reaches; what follows the "?" of such a URL are options of the store."""
HTTP = frozenset(("http", "https"))

_FILE = "file://"
_BEGIN = re.compile("([A-Za-z][A-Za-z0-9+.-]*)://")
_MAGIC = re.compile(r"[*?\[]")
_BREAKING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_OPTIONS = re.compile(r"\?((?:[a-z_]+=[^?&]*)(?:&[a-z_]+=[^?&]*)*)\Z")
# The scheme is bounded: a page that lists a folder may hold anything, and the search would be slow.
_USER = re.compile(r"\b([A-Za-z][A-Za-z0-9+.-]{0,63})://([^/?#\s]*)@")
_PARAMETER = re.compile(r"(?<=[?&])([^=?&#\s]+)=")
_VALUE = re.compile(r"""[^&#\s'"]*&?""")
_WORD = re.compile("[A-Z]?[a-z0-9]+|[A-Z]+")
# A parameter is left out of names if a word of its own name is one of these, or if it begins like those of clouds.
_SECRET = frozenset(
    "sig signature token secret password passwd pwd key apikey credential credentials auth authorization policy session"
    " sas jwt code accesskeyid".split()
)
_SIGNED = ("x-amz-", "x-goog-", "x-oss-", "x-ms-")


@dataclass(frozen=True, slots=True)
class Url:
    """A URL in its parts."""

    scheme: str
    user: str | None = field(repr=False)
    """Part before the "@", as it was written."""
    host: str
    """Bucket, container or host, with its port."""
    path: str
    """Path from the "/" on, as it was written: percent-encoded on the web, in other stores "/" and the key as it is."""
    options: str = field(repr=False)
    """Part behind the "?", as it was written."""

    @property
    def name(self) -> str:
        """The URL without secrets."""
        name = self.authority + shown(self.path)
        if self.scheme in ARROW:  # the options are those of the store, not of the object
            return name
        return without_secrets(name + ("?" + shown(self.options) if self.options else ""))

    @property
    def authority(self) -> str:
        """The beginning of the name, up to the path."""
        return without_secrets(shown(self.root))

    @property
    def full(self) -> str:
        """The URL with everything, to be given to libraries and never shown."""
        return f"{self.root}{self.path}" + ("?" + self.options if self.options else "")

    @property
    def root(self) -> str:
        """The beginning of the full URL, up to the path."""
        return f"{self.scheme}://{'' if self.user is None else self.user + '@'}{self.host}"

    @property
    def option(self) -> dict[str, str]:
        """The options by their names."""
        return dict(parse_qsl(self.options, keep_blank_values=True))

    @property
    def pattern(self) -> tuple[str, list[str]]:
        """The path before the first part that is a pattern, ending in "/", and the parts from there on; [] without one."""
        parts = self.path.split("/")
        for at, part in enumerate(parts):
            if _MAGIC.search(part):
                rest = parts[at:]
                return "/".join([*parts[:at], ""]), [_decoded(part) for part in rest] if self.scheme in HTTP else rest
        return self.path, []


@dataclass(frozen=True, slots=True)
class Remote:
    """An object in a store. Its repr has no secrets."""

    url: Url = field(repr=False)
    """URL by which the store was reached."""
    path: str = field(repr=False)
    """Path in the store."""
    name: str

    @property
    def key(self) -> Hashable:
        """The identity of the object, whichever argument led to it: equal names may differ in secrets that are not shown."""
        return self.url.root, self.url.options if self.url.scheme in ARROW else "", self.path


def is_url(argument: str) -> bool:
    """Whether an argument looks like a URL."""
    return _BEGIN.match(argument) is not None


def is_remote(argument: str) -> bool:
    """Whether an argument looks like a URL, and not of a file on this machine."""
    return is_url(argument) and not argument.lower().startswith(_FILE)


def local_path(argument: str) -> str:
    """The path that an argument names that is not remote. Raises SourceError for a `file://` URL of another machine."""
    if not is_url(argument):
        return argument
    path = argument[len(_FILE) :].removeprefix("localhost")
    if not path.startswith("/"):
        raise SourceError(clean(argument), "a file on this machine is written file:///PATH")
    return os.fsdecode(unquote_to_bytes(os.fsencode(path)))


def real_place(argument: str) -> str:
    """The identity of an output, however it is written: its real path, or the name of its URL.

    Raises SourceError for a URL that is not valid.
    """
    return parse_url(argument).name if is_remote(argument) else os.path.realpath(local_path(argument))


def parse_url(argument: str) -> Url:
    """The URL that an argument is. Raises SourceError, without secrets, where it is not valid."""
    begin = _BEGIN.match(argument)
    if begin is None:
        raise SourceError(argument, "is no URL")
    scheme = begin[1].lower()
    rest = argument[begin.end() :]
    options = ""
    if scheme in ARROW:
        if found := _OPTIONS.search(rest):  # any other "?" is part of a pattern
            options, rest = found[1], rest[: found.start()]
    elif scheme in HTTP:
        rest, _, options = rest.partition("#")[0].partition("?")
    elif "=" in rest.rpartition("?")[2] and "?" in rest:
        rest, _, options = rest.rpartition("?")
    authority, slash, path = rest.partition("/")
    user, at, host = authority.rpartition("@")
    if re.search(r":(?!\d*\Z)", re.sub(r"^\[[^\]]*\]", "", host)):
        raise SourceError(f"{scheme}://…", 'is no URL: a "/" or "@" in a password is written %2F or %40')
    if not host and scheme in ARROW | HTTP and scheme not in ("hdfs", "viewfs"):
        raise SourceError(f"{scheme}://{clean(path)}", "the URL names no bucket or host")
    return Url(scheme, user if at else None, host, slash + path, options)


def shown(path: str) -> str:
    """The path on one line: control characters and line separators are percent-encoded, nothing else is."""
    return _BREAKING.sub(lambda found: quote(found[0]), clean(path))


def clean(text: str) -> str:
    """The text, encodable as UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def without_secrets(text: str) -> str:
    """The text without the users, passwords and signatures of the URLs in it."""
    text = _USER.sub(_public, text)
    text = "".join(_public_parameters(text))
    return re.sub(r"[?&](?=[\s'\"]|\Z)", "", text) if "?" in text else text


def _public(found: re.Match[str]) -> str:
    """The begin of a URL without secrets: before the "@" some have a user, others a container or a repository."""
    scheme, user = found[1], found[2]
    if scheme == "github":
        return found[0]
    return (
        f"{scheme}://{user.partition(':')[0]}@" if scheme in ("abfs", "abfss") and user[:1] != ":" else f"{scheme}://"
    )


def _public_parameters(text: str) -> Iterator[str]:
    """The parts of a text between secret parameters; the value of a secret is left out to its end."""
    at = 0
    while found := _PARAMETER.search(text, at):
        is_secret = _is_secret(unquote(found[1]))
        yield text[at : found.start() if is_secret else found.end()]
        value = _VALUE.match(text, found.end()) if is_secret else None
        at = value.end() if value else found.end()  # "&b=1?sig=…": in a path there may be "&" and "="
    yield text[at:]


def _is_secret(parameter: str) -> bool:
    words = {word.lower() for word in _WORD.findall(parameter)}
    return bool(words & _SECRET) or parameter.lower() in _SECRET or parameter.lower().startswith(_SIGNED)


def _decoded(part: str) -> str:
    """A part of a path on the web, decoded to be compared with names: `%2A` stands for the character "*", not for any."""
    part = re.sub("%(2A|3F|5B)", lambda found: f"[{unquote(found[0])}]", part, flags=re.IGNORECASE)
    return unquote(part)
