"""Amazon S3 and stores with its protocol: endpoint, region, credentials and timeouts, for pyarrow."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from urnscan.stores.urls import Url

_OPTIONS = frozenset("region scheme endpoint_override tls_ca_file_path force_virtual_addressing".split())
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
# Variables that lead to credentials: profiles of ~/.aws, and the roles of a container or of a Kubernetes pod.
_ROLES = (
    *("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"),
    *("AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
)
_FILES = (("AWS_SHARED_CREDENTIALS_FILE", "credentials"), ("AWS_CONFIG_FILE", "config"))


def new_file_system(bucket: Url, timeout: float, tries: int) -> Any:  # noqa: ANN401 (pyarrow carries no types)
    """Return the file system of pyarrow (`S3FileSystem`) for a bucket. A request waits at most `timeout` seconds, and
    is sent at most `tries` times.

    Endpoint, region and keys come from the URL, where %HH is decoded, else from the environment; keys also from
    profiles and roles of AWS. Without a region and an endpoint, AWS is asked for the region; without keys, the access
    is anonymous. Raises ValueError for an unknown option of the URL, and OSError for a bucket whose region is not
    found.
    """
    # Keys and regions of the environment are passed to pyarrow. Without them its SDK asks the metadata service of EC2
    # first, which takes many seconds in a network that drops these requests.
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem, resolve_s3_region  # noqa: PLC0415 (only for S3)

    parameters = bucket.option
    if unknown := parameters.keys() - _OPTIONS:
        known = ", ".join(sorted(_OPTIONS))
        raise ValueError(
            f"unknown option {min(unknown)!r} in the URL; known are {known}; a question mark of a key is written [?]"
        )
    options: dict[str, Any] = {key: parameters[key] for key in ("scheme", "tls_ca_file_path") if key in parameters}
    options["force_virtual_addressing"] = parameters.get("force_virtual_addressing") == "true"
    if endpoint := parameters.get("endpoint_override") or _first_set("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"):
        scheme, separator, address = endpoint.rpartition("://")
        options["endpoint_override"] = address.rstrip("/")
        if separator:
            options["scheme"] = scheme
    region = parameters.get("region") or _first_set("AWS_REGION", "AWS_DEFAULT_REGION")
    options["region"] = region or ("us-east-1" if endpoint else resolve_s3_region(bucket.host))
    retries = AwsStandardS3RetryStrategy(max_attempts=tries)
    options |= _credentials(bucket)
    return S3FileSystem(connect_timeout=timeout, request_timeout=timeout, retry_strategy=retries, **options)


def after_refusal(url: Url) -> str:
    """Advice for a message about denied access to a bucket: what to check or set."""
    public = "; for a public bucket write s3://anonymous@BUCKET/"
    if url.user and url.user.partition(":")[0] != "anonymous":
        return "the keys in the URL were refused: check them and what they may do in this bucket"
    if not url.user and all(map(os.environ.get, _KEYS)):
        return (
            f"the keys in {' and '.join(_KEYS)} were refused: check them, AWS_SESSION_TOKEN"
            " and what they may do in this bucket" + public
        )
    return f"set {' and '.join(_KEYS)} or AWS_PROFILE" + public


def _credentials(bucket: Url) -> dict[str, Any]:
    """Options of pyarrow for the credentials of a bucket; empty if pyarrow may find those of AWS itself."""
    user, _, password = (bucket.user or "").partition(":")
    if user == "anonymous":
        return {"anonymous": True}
    if user:
        return {"access_key": unquote(user), "secret_key": unquote(password)}
    access_key, secret_key = map(os.environ.get, _KEYS)
    if access_key and secret_key:
        token = os.environ.get("AWS_SESSION_TOKEN")
        return {"access_key": access_key, "secret_key": secret_key, "session_token": token}
    return {} if _has_credentials() else {"anonymous": True}


def _has_credentials() -> bool:
    """Whether pyarrow may find credentials of AWS itself. The metadata service of EC2 is asked last, because it may not
    answer.
    """
    if _first_set(*_ROLES):
        return True
    if any(Path(os.environ.get(key) or Path.home() / ".aws" / name).is_file() for key, name in _FILES):
        return True
    if os.environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        return False
    import http.client  # noqa: PLC0415 (only for S3)

    address = os.environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT") or "http://169.254.169.254"
    service = http.client.HTTPConnection(address.partition("://")[2].rstrip("/"), timeout=1)
    try:
        service.request("GET", "/")
        service.getresponse()
    except (OSError, ValueError, http.client.HTTPException):
        return False
    finally:
        service.close()
    return True


def _first_set(*variables: str) -> str | None:
    return next(filter(None, map(os.environ.get, variables)), None)
