"""Addresses in messages are shown without secrets, wherever they stand ("no secret is in any message")."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.display.addresses import without_secrets
from urnscan.errors import FatalError, SourceError

USERS = [
    "http://me:secret@host/a",
    "http:///me:secret@host/a",
    "http:////me:secret@host/a",
    "https:me:secret@host/a",
    "https:/me:secret@host/a",
    "HTTP:me:secret@host/a",
    "http://secret@host/a",
    "http://me:sec/ret-secret@host/a",
    "http://me:a?secret@host/a",
    "http://me:a#secret@host/a",
    "s3:AKIA:secret@bucket/a",
    "sftp:me:secret@host/a",
    "other+scheme://me:secret@host/a",
]
PARAMETERS = "pw pwd pass passwd password passphrase secret sharedsecret shared_secret clientSecret token access_token idToken".split()
PARAMETERS += (
    "bearer hmac sig signature Signature key apikey api-key api_key accesskey privateKey auth Authorization".split()
)
PARAMETERS += (
    "credential X-Amz-Credential X-Goog-Signature sessionid PHPSESSID jwt otp pin cookie SAMLResponse code".split()
)
OPEN = [
    "urn:example:a@b: no such file or folder",
    "https://host/react@18/x?page=2&keyword=a&passage=3&compass=n&sid=Elsevier:SD",
    "http://[::1]:80/a@b",
    "is it a list of paths?",
    "mailto:me@host",
    "as in https://USER:PASSWORD@HOST/",
    "see http: me@host",
    "github://org:repo@main/a",
]


@pytest.mark.parametrize("address", USERS)
def test_users(address):
    """A password is one wherever a hand may put it: with a slash too few or too many, or with one in it."""
    for text in (address, f"{address}: no such file or folder", f"cannot open '{address}' to read", f"a, {address}; b"):
        assert "secret" not in without_secrets(text)


@pytest.mark.parametrize("mark", "?&;#")
@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters(name, mark):
    """What is said behind an address stays, and so do its other parameters."""
    shown = without_secrets(f"https://host/a?x=1{mark}{name}=hidden: cannot be read; is it there?")
    assert shown == "https://host/a?x=1: cannot be read; is it there?"
    assert without_secrets(f"https://host/a?{name}=hidden&x=1") == "https://host/a?x=1"


@pytest.mark.parametrize("text", OPEN)
def test_no_secrets(text):
    """Nothing else is left out: names, paths, and words that only contain the letters of a secret one."""
    assert without_secrets(text) == text


@given(
    st.sampled_from(["http:", "https:", "s3:", "ftp:"]),
    st.sampled_from(["", "/", "//", "///"]),
    st.sampled_from(["me:secret@", "secret@", ""]),
    st.lists(st.sampled_from(["/a", ";v=1", ";sessionid=secret"])),
    st.lists(st.sampled_from(["a=b", "key=secret", "a", "x.hmac=secret"])),
    st.sampled_from(["", "#a", "#id_token=secret"]),
    st.sampled_from(["{}", "{}: not found", "at '{}'", "{}, {}; x"]),
)
def test_any_address(scheme, slashes, user, path, parameters, fragment, message):
    """Whatever an address is made of, and wherever it stands."""
    address = f"{scheme}{slashes}{user}host{''.join(path)}?{'&'.join(parameters)}{fragment}"
    shown = without_secrets(message.format(address, address))
    assert "secret" not in shown
    assert "host" in shown
    assert shown.count("a=b") == message.count("{}") * parameters.count("a=b")


def test_errors():
    """In a program and in a notebook errors are shown without the command: they have none in any part of them."""
    for error in (FatalError(f"{USERS[0]}: no"), SourceError(USERS[1], f"is not {USERS[2]}")):
        assert "secret" not in repr(error) + str(error) + repr(vars(error))


@pytest.mark.parametrize(
    "unit", ["http:", "http://", "http://a:b", "'http:", "?key=", "a=", ";key=a", "&a=", "x@", "?key=1 ", "'"]
)
def test_is_linear(unit):
    """The name of a page may be anything: 16 times the text takes no more than 50 times as long."""
    taken = []
    for times in (5_000, 80_000):
        text = unit * times
        began = time.thread_time()
        without_secrets(text)
        taken.append(time.thread_time() - began)
    assert taken[1] < 50 * max(taken[0], 0.002)
