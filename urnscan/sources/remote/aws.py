"""pyarrow's file system for a bucket of S3 and its like: which endpoint, region and credentials, and how long it waits."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from urnscan.sources.remote.urls import Url

__all__ = ["after_refusal", "new_file_system"]

_OPTIONS = frozenset("region scheme endpoint_override tls_ca_file_path force_virtual_addressing".split())
_IGNORED = frozenset("allow_bucket_creation allow_bucket_deletion allow_delayed_open smart_defaults".split())


def new_file_system(root: Url, timeout: float, tries: int) -> Any:  # noqa: ANN401 (pyarrow carries no types)
    """The file system of a bucket: pyarrow's, but never without bounds on the waiting.

    Left to itself, it asks the metadata service of EC2 for credentials and a region, again for each request, and on a
    machine whose network swallows that it waits for seconds each time.
    """
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem, resolve_s3_region  # noqa: PLC0415

    given = root.option
    if unknown := given.keys() - _OPTIONS - _IGNORED:
        known = ", ".join(sorted(_OPTIONS))
        raise ValueError(
            f"unknown option {min(unknown)!r} in the URL; known are {known}; a question mark of a key is written [?]"
        )
    environment = os.environ
    endpoint = (
        given.get("endpoint_override") or environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")
    )
    options: dict[str, Any] = {key: given[key] for key in ("scheme", "tls_ca_file_path") if key in given}
    options["force_virtual_addressing"] = given.get("force_virtual_addressing") == "true"
    if endpoint:
        scheme, separator, address = endpoint.partition("://")
        options["endpoint_override"] = (address if separator else endpoint).rstrip("/")
        if separator:
            options["scheme"] = scheme
    region = given.get("region") or environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    options["region"] = region or ("us-east-1" if endpoint else resolve_s3_region(root.host))
    user, _, password = (root.user or "").partition(":")
    if user == "anonymous":
        options["anonymous"] = True
    elif user:
        options.update(access_key=unquote(user), secret_key=unquote(password))
    elif environment.get("AWS_ACCESS_KEY_ID") and environment.get("AWS_SECRET_ACCESS_KEY"):
        options["access_key"] = environment["AWS_ACCESS_KEY_ID"]
        options["secret_key"] = environment["AWS_SECRET_ACCESS_KEY"]
        options["session_token"] = environment.get("AWS_SESSION_TOKEN")
    elif not _has_credentials():
        options["anonymous"] = True
    return S3FileSystem(
        connect_timeout=timeout,
        request_timeout=timeout,
        retry_strategy=AwsStandardS3RetryStrategy(max_attempts=tries),
        **options,
    )


def after_refusal(url: Url) -> str:
    """What to check or to set where access was denied, by what was asked with."""
    environment = os.environ
    public = "; for a public bucket write s3://anonymous@BUCKET/"
    user = (url.user or "").partition(":")[0]
    if user and user != "anonymous":
        return "the keys in the URL were refused: check them and what they may do in this bucket"
    if not user and environment.get("AWS_ACCESS_KEY_ID") and environment.get("AWS_SECRET_ACCESS_KEY"):
        return (
            "the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY were refused: check them, AWS_SESSION_TOKEN"
            " and what they may do in this bucket" + public
        )
    return "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE" + public


def _has_credentials() -> bool:
    """Whether there is anything that could give credentials of AWS: settings, files, or a machine that knows them."""
    environment = os.environ
    if any(environment.get("AWS_" + key) for key in ("PROFILE", "DEFAULT_PROFILE", "WEB_IDENTITY_TOKEN_FILE")):
        return True
    if any(environment.get(f"AWS_CONTAINER_CREDENTIALS_{key}_URI") for key in ("FULL", "RELATIVE")):
        return True
    files = (("AWS_SHARED_CREDENTIALS_FILE", "credentials"), ("AWS_CONFIG_FILE", "config"))
    if any(Path(environment.get(key) or Path.home() / ".aws" / name).is_file() for key, name in files):
        return True
    if environment.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        return False
    import http.client  # noqa: PLC0415 (only who reads from S3 loads it)

    address = environment.get("AWS_EC2_METADATA_SERVICE_ENDPOINT") or "http://169.254.169.254"
    service = http.client.HTTPConnection(address.partition("://")[2].rstrip("/"), timeout=1)
    try:
        service.request("GET", "/")
        service.getresponse()
    except (OSError, ValueError, http.client.HTTPException):
        return False
    finally:
        service.close()
    return True
