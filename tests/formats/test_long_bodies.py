"""Mail is parsed without its long bodies, and without what would take long: with the same result, or with one line."""

from __future__ import annotations

import base64
import contextlib
import time
from email.parser import BytesParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import urnscan
from tests.support.examples import MANY
from urnscan.formats.documents import long_bodies, mime

LINES = (
    *("--b", "--c", "--b--", "--c--", "--", "--- a/file", ""),
    *("Content-Type: multipart/mixed; boundary=b", "Content-Type: multipart/mixed; boundary*=us-ascii''c"),
    *("Content-Type: message/rfc822", "Content-Type: text/html; charset=latin1", "Content-Type: message/delivery-status"),
    *("Content-Transfer-Encoding: base64", "Content-Transfer-Encoding: quoted-printable"),
    *("Content-Disposition: attachment; filename=a", "Subject: urn:ex:a", " folded urn:ex:b", "X: " + "x" * 90),
    *("dXJuOmV4OmE=", "urn=3Aex=3Aa=", "urn:ex:\xe4", "a" * 40, "--b: x"),
)  # fmt: skip


@MANY
@example(["Content-Transfer-Encoding: base64", "--b", "urn:ex:\xe4"], ["\n"])
@given(
    st.lists(st.sampled_from(LINES) | st.sampled_from(LINES[:8]), max_size=25),
    st.lists(st.sampled_from(["\n", "\r\n", "\n", "\r"]), min_size=1, max_size=3),
)
def test_the_parser_alone_says_the_same(lines, ends):
    """Wherever bodies are cut out, they come back to their place, or the message is refused: it is never read otherwise."""
    data = "".join(line + ends[number % len(ends)] for number, line in enumerate(lines)).encode("latin-1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_bodies, "_KEPT", 60)
        patch.setattr(long_bodies, "_LONG", 5)
        try:
            message = long_bodies.parse(BytesParser(mime._Part), data)
        except ValueError:
            return
    assert mime._parts(message, "") == mime._parts(BytesParser(mime._Part).parsebytes(data), "")


def test_long_bodies_are_cut_out():
    """Else the tests around would see nothing: of each long body 64 KiB are parsed, and a line."""
    body = base64.encodebytes(bytes(300_000))
    part = b"--b\nContent-Type: application/x; name=a\nContent-Transfer-Encoding: base64\n\n" + body
    data = b"Content-Type: multipart/mixed; boundary=b\n\n" + part * 2 + b"--b--\n"
    short, bodies = long_bodies._set_aside(data, "mark-")
    assert len(bodies) == 2
    assert 130_000 < len(short) < 140_000
    assert mime.take_apart(data, "")[1] == [("a", bytes(300_000))] * 2


def test_a_header_that_hides_a_body():
    """A part whose header goes on behind what is parsed is not read as text: its body may be encoded."""
    head = b"Content-Type: message/rfc822\n\nX: " + b"x\n y" * 20_000 + b"\nContent-Transfer-Encoding: base64\n\n"
    data = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" + head + b"dXJuOmV4OmE=\n" * 999 + b"--b--\n"
    with pytest.raises(ValueError, match="the header of a part has more than 65,536 bytes"):
        mime.take_apart(data, "")


@pytest.mark.parametrize("data", [b"Subject: a\n\nurn:ex:a\n", b"Subject: a\n\n" + b"urn:ex:a\n" * 1_000_000])
def test_encoded_messages_in_one_another(data):
    """Each is in memory, decoded: a thousand of them, of 60 MB each, would take hours and all that there is."""
    head = b"Content-Type: message/rfc822\nContent-Transfer-Encoding: quoted-printable\n\n"
    assert mime.take_apart(head * 2 + data, "")[0][-1][0] == "message/message/text"
    with pytest.raises(ValueError, match="too many messages are attached in one another"):
        mime.take_apart(head * (17 if len(data) < 1000 else 3) + data, "")


FIELDS = {
    f"{name}{unit}": (name, unit)
    for name in ("Content-Type: text/plain", "Content-Disposition: attachment", "content-transfer-encoding: base64")
    for unit in ("; a=b", ";", '; a="', "; a*0*=b", ";\r\n a=b", ";\r a", '\\"', ", a")
}  # fmt: skip


@pytest.mark.parametrize("is_part", [False, True])
@pytest.mark.parametrize("kind", FIELDS)
def test_fields_are_linear(kind, is_part):
    """The library parses parameters in quadratic time: 16 times as many take no more than 40 times as long."""
    name, unit = FIELDS[kind]
    taken = []
    for times in (2_000, 32_000):
        data = name.encode() + unit.encode() * times + b"\n\nurn:ex:a\n"
        if is_part:
            data = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" + data + b"\n--b--\n"
        began = time.thread_time()
        with contextlib.suppress(ValueError):
            mime.take_apart(data, "")
        taken.append(time.thread_time() - began)
    assert taken[1] < 40 * max(taken[0], 0.005)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"X: a\n" * 10_001 + b"\nurn:ex:a", "its header has more than 10,000 lines"),
        (b"X: a\r" * 10_001 + b"\n\nurn:ex:a", "its header has more than 10,000 lines"),
        (b"X: " + b"a" * (1 << 20) + b"\n\nurn:ex:a", "its header has more than 1,048,576 bytes"),
        (b"Content-Type: text/plain" + b"; a=b" * 101 + b"\n\nurn:ex:a", "or 100 parameters"),
        (b"Content-Type: text/plain; a=" + b"b" * 20_000 + b"\n\nurn:ex:a", "more than 16,384 bytes"),
        (b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" + b"X: a\n" * 250_000 + b"\nurn:ex:a", "250,000 lines"),
    ],
)
def test_what_is_too_much_is_told(tmp_path, data, reason):
    """The message is read as it is."""
    (tmp_path / "a.eml").write_bytes(data)
    scan = urnscan.scan(tmp_path, progress=False)
    assert "urn:ex:a" in scan.occurrences["text"].to_pylist()
    (failure,) = scan.report.failures
    assert reason in failure.reason
    assert failure.reason.endswith(", so it is scanned unchanged")
