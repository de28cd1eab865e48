"""Mail: headers, bodies and what is attached, of messages, mboxes and Maildirs (RFC 5322, RFC 2045 to 2047, RFC 4155)."""

from __future__ import annotations

import base64
import mailbox
import quopri
import re
import time
from email import policy
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

import urnscan
from tests.support.packed import zipped
from urnscan.formats.context import Layer, Reading
from urnscan.formats.documents import mail
from urnscan.formats.documents import mime as messages
from urnscan.formats.limits import Budget, Limits
from urnscan.stores.reader import PieceReader

TEXT = "Grüße, siehe urn:ex:text und " + "sehr " * 30 + "urn:ex:long\nFrom here 2020\n"


def message(number: int = 0, *, subject: str = "Über urn:ex:subject und mehr, " + "viel " * 20 + "urn:ex:folded"):
    """A message with both bodies, in two encodings, and an archive."""
    made = EmailMessage()
    made["From"] = "Zoë <z@ex.org>"
    made["Subject"] = subject
    made["Message-ID"] = f"<{number}@ex.org>"
    made.set_content(TEXT, cte="quoted-printable")
    made.add_alternative("<p>Grüße <a href='urn:ex:html' >x</a>", subtype="html", cte="base64")
    packed = zipped([("a.txt", b"urn:ex:zip")])
    made.add_attachment(packed, maintype="application", subtype="zip", filename="für/dich.zip")
    return made


FOUND = [
    ("headers", "urn:ex:subject"),
    ("headers", "urn:ex:folded"),
    ("text", "urn:ex:text"),
    ("text", "urn:ex:long"),
    ("html", "urn:ex:html'"),
    ("für_dich.zip!/a.txt", "urn:ex:zip"),
]


def scanned(path, **options: object):
    """The members and texts of a scan, and the reasons of its failures."""
    (path.parent / "also").write_bytes(b"")  # something that can be read
    scan = urnscan.scan(path, path.parent / "also", progress=False, **options)
    rows = [(row["member"], row["text"]) for row in scan.occurrences.to_pylist()]
    return rows, [failure.reason for failure in scan.report.failures]


@pytest.mark.parametrize("ends", [policy.SMTP, policy.default])
def test_a_message(tmp_path, ends):
    """Headers are unfolded and decoded, bodies decoded, attachments unfolded; both line ends."""
    (tmp_path / "a.eml").write_bytes(message().as_bytes(policy=ends))
    assert scanned(tmp_path / "a.eml") == (FOUND, [])


def test_without_being_known(tmp_path):
    """Text that begins like mail, but has neither the name nor the place of mail, stays as it is."""
    (tmp_path / "a.txt").write_bytes(b"From: urn:ex:a\n\nurn:ex:b=3D\n")
    (tmp_path / "b.txt").write_bytes(b"From 10:00 on in 1999, urn:ex:c\nwas used: never\n")
    for name, texts in (("a.txt", ["urn:ex:a", "urn:ex:b=3D"]), ("b.txt", ["urn:ex:c"])):
        assert scanned(tmp_path / name) == ([(None, text) for text in texts], [])


@pytest.mark.full
def test_maildir(tmp_path):
    """Its files have no suffix: they are known by their folder and their first header."""
    folder = mailbox.Maildir(tmp_path / "box")
    folder.add(message())
    (tmp_path / "box" / "new" / "0").write_bytes(b"Return-Path: <a>\n\nurn:ex:b\n")
    rows = urnscan.scan(tmp_path / "box", progress=False).occurrences.to_pylist()
    assert [(row["member"], row["text"]) for row in rows] == [("text", "urn:ex:b"), *FOUND]


@pytest.mark.full
@pytest.mark.parametrize("length", [False, True])
@pytest.mark.parametrize("quoted", [b">From ", b"From "])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("name", ["a.mbox", "Inbox"])
def test_mbox(tmp_path, length, quoted, end, name):
    """The four kinds: lines that begin with From are quoted or not, Content-Length is said or not."""
    data = b""
    for number in range(3):
        body = end.join(
            [b"", b"urn:ex:%d" % number, b"", quoted + b"x at 10:00 in 2001 in a body", b"no header here", b""]
        )
        said = b"Content-Length: %d" % len(body) + end if length else b""
        data += b"From a@ex.org Tue Nov 24 10:00:00 2026" + end + b"Subject: urn:ex:s" + end + said + end + body + end
    (tmp_path / name).write_bytes(data)
    expected = [
        (f"message {number}/{part}", text)
        for number in (1, 2, 3)
        for part, text in (("headers", "urn:ex:s"), ("text", f"urn:ex:{number - 1}"))
    ]
    assert scanned(tmp_path / name) == (expected, [])


def test_content_length_keeps_a_message_whole(tmp_path):
    """mboxcl2 quotes nothing: a message that another one quotes in full is a part of its text."""
    inner = b"From a Tue 10:00:00 2001\nSubject: x\n\nurn:ex:inner\n"
    body = b"see\n\n" + inner
    data = (
        b"From b Tue 10:00:00 2026\nContent-Length: %d\n\n%b\nFrom c Wed 10:00:00 2026\nSubject: y\n\nurn:ex:next\n"
        % (
            len(body),
            body,
        )
    )
    (tmp_path / "a.mbox").write_bytes(data)
    assert scanned(tmp_path / "a.mbox")[0] == [("message 1/text", "urn:ex:inner"), ("message 2/text", "urn:ex:next")]


@pytest.mark.parametrize("following", [b"\nFrom c Wed 10:00:00 2026\nSubject: y\n\nurn:ex:next\n", b"\n", b""])
def test_content_length_of_a_long_message(tmp_path, following):
    """A long message is whole, too: behind a message that it quotes, its attachments were not decoded."""
    inner = b"From a Tue 10:00:00 2001\nSubject: x\n\nurn:ex:inner\n" + b"x y\n" * 200_000
    attached = b"Content-Transfer-Encoding: base64\n\n" + base64.encodebytes(b"urn:ex:attached")
    body = b"--b\n\nsee\n\n%b--b\n%b--b--\n" % (inner, attached)
    head = b"From b Tue 10:00:00 2026\nContent-Type: multipart/mixed; boundary=b\nContent-Length: %d\n\n" % len(body)
    (tmp_path / "a.mbox").write_bytes(head + body + following)
    rows, said = scanned(tmp_path / "a.mbox")
    texts = ["urn:ex:inner", "urn:ex:attached", *["urn:ex:next"] * (b"next" in following)]
    assert ([text for _, text in rows], said) == (texts, [])


def test_a_content_length_that_lies_is_not_read_ahead(monkeypatch):
    """A length that no message has is not waited for: 128 MiB of a pipe were held in memory for a short message."""
    monkeypatch.setattr(mail, "_MAX", 1 << 22)
    head = b"From b Tue 10:00:00 2026\nContent-Length: %d\nX: " % 10**11
    # A message ends after each piece.
    read = []
    pieces = (read.append(0) or head + b"x\n\n" + b"urn:ex:a\n" * 9_000 + b"\n" for _ in range(60))
    layer = Layer("a.mbox", "a.mbox", Reading(), Budget("a.mbox", Limits()))
    next(mail.open_mbox(PieceReader(pieces), layer))
    assert len(read) < 20


@pytest.mark.full
def test_as_the_standard_library_reads_an_mbox(tmp_path):
    """A second opinion on where messages begin; larger than what is searched at a time."""
    box = mailbox.mbox(tmp_path / "a.mbox")
    for number in range(900):
        made = EmailMessage()
        made["Subject"] = f"urn:ex:s{number}"
        made.set_content(f"urn:ex:t{number}\n" + "x y\n" * (number * 7 % 400))
        box.add(made)
    box.close()
    read = mailbox.mbox(tmp_path / "a.mbox")
    expected = [
        (f"message {number}/{part}", text)
        for number, made in enumerate(read, 1)
        for part, text in (("headers", made["Subject"]), ("text", made.get_payload().split("\n")[0]))
    ]
    read.close()
    assert len(expected) == 1800
    assert scanned(tmp_path / "a.mbox") == (expected, [])


def test_a_message_in_a_message(tmp_path):
    """Also one that is forwarded with others; the word `message` stands in its member."""
    outer = EmailMessage()
    outer["Subject"] = "fwd"
    outer.set_content("see")
    outer.add_attachment(message())
    (tmp_path / "a.eml").write_bytes(bytes(outer))
    assert scanned(tmp_path / "a.eml") == ([(f"message/{member}", text) for member, text in FOUND], [])


@pytest.mark.full
@pytest.mark.parametrize("charset", ["iso-8859-1", "utf-16", "iso-2022-jp", "utf-7", "no-such-charset"])
def test_charsets(tmp_path, charset):
    """A body is decoded by its charset; by one that nobody knows it is read as it is."""
    data = "x urn:ex:a y".encode("ascii" if charset.startswith("no") else charset)
    (tmp_path / "a.eml").write_bytes(b"Content-Type: text/plain; charset=%b\n\n%b" % (charset.encode(), data))
    assert scanned(tmp_path / "a.eml") == ([("text", "urn:ex:a")], [])


@pytest.mark.parametrize(
    ("label", "encoding", "letter"),
    [
        ("gb2312", "gbk", "丄"),
        ("ks_c_5601-1987", "cp949", "갂"),
        ("Shift_JIS", "cp932", "①"),
        ("x-sjis", "cp932", "ア"),
        ("big5", "big5hkscs", "丁"),
    ],
)
def test_charsets_with_the_labels_of_smaller_ones(tmp_path, label, encoding, letter):
    """Mail programs call GBK "gb2312", as browsers do: no byte of a character is taken for a letter before the name."""
    data = f"{letter}urn:ex:a {letter}".encode(encoding)
    (tmp_path / "a.eml").write_bytes(b"Content-Type: text/plain; charset=%b\n\n%b" % (label.encode(), data))
    assert scanned(tmp_path / "a.eml") == ([("text", "urn:ex:a")], [])


def test_headers_of_parts(tmp_path):
    """The address of a page, a file elsewhere, a report on delivery: fields of a part are read, too."""
    parts = [
        "Content-Type: text/html\nContent-Location: urn:ex:page\n\nurn:ex:html",
        'Content-Type: message/external-body; access-type=URL; URL="urn:ex:away"\n\nContent-Type: text/plain\n\n',
        "Content-Type: message/delivery-status\n\nReporting-MTA: x\n\nOriginal-Envelope-Id: urn:ex:envelope\n\nStatus: 2",
    ]
    (tmp_path / "a.eml").write_text(
        "Content-Type: multipart/report; boundary=b\n\n" + "".join(f"--b\n{part}\n" for part in parts) + "--b--\n"
    )
    rows, failures = scanned(tmp_path / "a.eml")
    found = {("headers", f"urn:ex:{name}") for name in ("page", "away", "envelope")}
    assert (set(rows), failures) == (found | {("html", "urn:ex:html")}, [])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("=?utf-8?q?urn=3Aex=3A=C3=BC?=", "urn:ex:%C3%BC".replace("%C3%BC", "ü")),
        ("=?utf-8?b?dXJuOmV4OmE=?=", "urn:ex:a"),
        ("=?utf-8?b?dXJuOmV4?=\n =?utf-8?b?OmE?=", "urn:ex:a"),
        ("=?utf-8*de?Q?urn:ex:a_b?=", "urn:ex:a b"),
        ("=?x-none?Q?urn:ex:a?=", "=?x-none?Q?urn:ex:a?="),
        ("a\n b", "a b"),
    ],
)
def test_encoded_words(value, text):
    """RFC 2047 §4 and §6.2: white space between two encoded words goes; one in an unknown charset stays."""
    assert messages._decoded(value) == text


@given(st.text())
def test_any_header(value):
    """No header raises an error."""
    messages._decoded(value)


FIELDS = (
    *(
        "From: a@ex.org",
        "Subject:  urn:ex:a \t b ",
        "X-A:\tx\n y\n\tz",
        "Subject: =?utf-8?q?urn=3Aex=3Aa?=",
        "To:",
        "X:\n y",
        "X: a\n  ",
    ),
    *(
        "Content-Type: text/plain",
        "content-type: TEXT/HTML; charset=UTF-8",
        'Content-Type: text/plain; format=flowed; charset="latin1"',
    ),
    *(
        "Content-Type: text/plain; charset=x-none",
        "Content-Type: text/plain; charset=cp037;\n format=flowed",
        "Content-Type: image/png",
    ),
    *(
        "Content-Type: text/plain; name=a.txt",
        "Content-Type: multipart/mixed; boundary=b",
        "Content-Disposition: attachment",
    ),
    *(
        "Content-Transfer-Encoding: 8bit",
        "Content-Transfer-Encoding: base64",
        "Content-Transfer-Encoding:quoted-printable",
    ),
    *(
        "Content-Length: 5",
        "Content-Type: text/html",
        "Über: a",
        "a b: c",
        ": x",
        "X\x01: a",
        "X: a\x0bb",
        "X: a\rb",
        "From a Tue 10:00",
    ),
)


@given(
    fields=st.lists(st.sampled_from(FIELDS[:2]) | st.sampled_from(FIELDS), max_size=5),
    body=st.binary(max_size=9) | st.sampled_from([b"dXJuOmV4OmE=", b"urn=3Aex=3Aa", b"--b\n\nurn:ex:a\n--b--"]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_a_plain_message_is_read_as_by_the_parser(fields, body, end):
    """A message is taken apart without Python's parser only where this gives the same."""
    data = "".join(f"{field}\n" for field in [*fields, ""]).replace("\n", end).encode("latin-1") + body
    texts = messages._plain(data, "1/")
    head = len(data) - len(body)
    assert texts is None or (texts, []) == messages._parts(messages._parsed(data, head), "1/")


def test_a_plain_message_needs_no_parser(monkeypatch):
    """What most messages of lists are like is read without Python's parser, which takes most of the time."""
    monkeypatch.setattr(messages, "_parsed", None)
    data = b"From: a\nSubject: b\n c\nContent-Type: text/plain; charset=latin1\n\n\xe4 urn:ex:a"
    texts = [
        ("headers", b"From: a\nSubject: b c\nContent-Type: text/plain; charset=latin1\n"),
        ("text", "ä urn:ex:a".encode()),
    ]
    assert messages.take_apart(data, "") == (texts, [])


class TestDamage:
    @pytest.mark.full
    def test_cut_off_anywhere(self, tmp_path):
        """What stands before the cut is found, and nothing raises an error of Python."""
        data = bytes(message())
        for end in range(0, len(data), 37):
            (tmp_path / "a.eml").write_bytes(data[:end])
            rows, _ = scanned(tmp_path / "a.eml")
            assert {text for _, text in rows if text.startswith("urn:ex:s")} <= {"urn:ex:subject"}
            assert end < data.index(b"\n\n") or ("headers", "urn:ex:subject") in rows

    @pytest.mark.full
    @pytest.mark.parametrize(
        "data",
        [
            b"Content-Type: multipart/mixed; boundary=" + b"x" * 60 + b"\n\nurn:ex:a\n",
            b"Content-Type: multipart/mixed\n\nurn:ex:a\n",
            b"Content-Transfer-Encoding: base64\n\nurn:ex:a %%%\n",
            b"Content-Transfer-Encoding: x-uuencode\n\nurn:ex:a\n",
            b"Content-Type: message/rfc822\n\nSubject: x\n\nurn:ex:a\n",
            b"Content-Type: text/plain; charset*=\xff''x\n\nurn:ex:a\n",
            b"no header at all urn:ex:a\n",
            b"\n\nurn:ex:a\n",
            b"Content-Type: multipart/mixed; boundary=b\n\nurn:ex:a\n--b\n\nx\n--b--\n",
        ],
    )
    def test_odd_messages(self, tmp_path, data):
        """The name is found, whatever the message says of itself."""
        (tmp_path / "a.eml").write_bytes(data)
        assert "urn:ex:a" in [text for _, text in scanned(tmp_path / "a.eml")[0]]

    def test_base64_that_is_none(self, tmp_path):
        """A body that only says to be base64 is a text as it is, also with bytes that are not ASCII."""
        (tmp_path / "a.eml").write_bytes(b"Content-Transfer-Encoding: base64\n\n--b\n\xe4 urn:ex:a\xe4\n")
        rows, said = scanned(tmp_path / "a.eml")
        assert (("text", "urn:ex:a") in rows, said) == (True, [])

    @pytest.mark.full
    @pytest.mark.parametrize("most", range(500_000, 500_011, 2))
    def test_too_large(self, tmp_path, monkeypatch, most):
        """A message that would not fit in memory is read as it is, and told; no name is cut, and the next is read."""
        monkeypatch.setattr(mail, "_MAX", most)
        large = b"From a Tue 10:00:00 2026\nSubject: urn:ex:a\n\n" + b"x urn:ex:b\n" * 60_000 + b"\n"
        (tmp_path / "a.mbox").write_bytes(large + b"From b Tue 10:00:00 2026\nSubject: urn:ex:c\n\nd\n")
        rows, reasons = scanned(tmp_path / "a.mbox")
        assert sorted({text for _, text in rows}) == ["urn:ex:a", "urn:ex:b", "urn:ex:c"]
        assert len(rows) == 60_002
        # What is left of it has no header, and so it is all header.
        assert all(re.search("it has more than 500,0.. bytes|its header has more than", reason) for reason in reasons)
        assert reasons
        (tmp_path / "a.eml").write_bytes(large)
        rows, reasons = scanned(tmp_path / "a.eml")
        assert len(rows) == 60_001
        assert all("scanned unchanged" in reason for reason in reasons)
        assert reasons

    @pytest.mark.full
    @pytest.mark.parametrize(
        "data",
        [
            b"Content-Type: multipart/mixed; boundary=a\n\n--a\n" * 20_000 + b"urn:ex:a",
            b"Content-Type: message/rfc822\n\n" * 3_000 + b"urn:ex:a",
            b"A: urn:ex:a\n" + b"B: =?a?q?\n" * 100_000,
            b"A: urn:ex:a\nB: " + b"=?a?q?" * 200_000,
            b"A: urn:ex:a\nB: " + b"\n " * 300_000,
            b"A: urn:ex:a\n\n" + b"\n\nFrom x 10:00 2020\n" * 100_000,
            b"A: urn:ex:a\n\n" + b"From " * 300_000,
        ],
        ids=["boundaries", "nested", "fields", "words", "folds", "from-lines", "from"],
    )
    @pytest.mark.parametrize("name", ["a.eml", "a.mbox"])
    def test_hostile(self, tmp_path, data, name):
        """Linear time, and the name is found."""
        (tmp_path / name).write_bytes((b"From a Tue 10:00:00 2026\n" if name == "a.mbox" else b"") + data)
        began = time.process_time()
        assert "urn:ex:a" in [text for _, text in scanned(tmp_path / name)[0]]
        assert time.process_time() - began < 20


@pytest.mark.parametrize("encoding", ["base64", "quoted-printable", "BASE64 ", "Base64 (of a gateway)"])
@pytest.mark.parametrize("kind", ["message/rfc822", "message/global"])
def test_an_encoded_message_in_a_message(tmp_path, encoding, kind):
    """RFC 2046, 5.2.1, forbids it and RFC 6532, 3.5, allows it; many gateways do it. The parser takes its text for a message."""
    inner = message().as_bytes()
    coded = base64.encodebytes(inner) if "64" in encoding else quopri.encodestring(inner)
    data = (
        b"From: a@ex.org\nContent-Type: multipart/mixed; boundary=outer\n\n--outer\nContent-Type: %b\n" % kind.encode()
    )
    data += b"Content-Transfer-Encoding: %b\n\n%b\n--outer--\n" % (encoding.encode(), coded)
    (tmp_path / "a.eml").write_bytes(data)
    assert scanned(tmp_path / "a.eml") == ([(f"message/{member}", text) for member, text in FOUND], [])


def test_a_boundary_in_prose(tmp_path):
    """Only parameters are boundaries: a text about boundary conditions is taken apart like any other."""
    made = message()
    body = "The boundary condition: boundary = 1, Boundary=2.\n" * 60
    made.get_body().set_content(f"{body}urn:ex:text\n", cte="quoted-printable")
    (tmp_path / "a.eml").write_bytes(made.as_bytes())
    rows, failures = scanned(tmp_path / "a.eml")
    assert ("text", "urn:ex:text") in rows
    assert failures == []


FLOWED = "urn:ex:a- \nb end\n> urn:ex:c: \n> d\n>> urn:ex:e- \n> f\nurn:ex:g-\nh\n-- \nurn:ex:i/ \n j\nurn:ex:k- \n"


def test_flowed_lines_without_their_spaces(tmp_path):
    """RFC 3676, 4: with delsp=yes the space goes and lines of one depth of quotation are one; a signature is a line."""
    head = "Subject: x\nContent-Type: text/plain; format=flowed; delsp=yes\n\n"
    (tmp_path / "a.eml").write_text(head + FLOWED)
    found = ["urn:ex:a-b", "urn:ex:c:d", "urn:ex:e-", "urn:ex:g-", "urn:ex:i/j", "urn:ex:k-"]
    assert scanned(tmp_path / "a.eml") == ([("text", text) for text in found], [])
    (tmp_path / "a.eml").write_text(head.replace("delsp=yes", "delsp=no") + FLOWED)
    assert scanned(tmp_path / "a.eml")[0][0] == ("text", "urn:ex:a-")


@pytest.mark.parametrize("name", ["a.mht", "A.MHTML"])
def test_a_page_with_all_that_it_shows(tmp_path, name):
    """MHTML (RFC 2557) is a message: its parts are decoded."""
    (tmp_path / name).write_bytes(message().as_bytes())
    assert scanned(tmp_path / name) == (FOUND, [])


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_message_of_apple_mail(tmp_path, end):
    """A number of bytes, the message, a property list."""
    data = message().as_bytes()
    (tmp_path / "a.emlx").write_bytes(b"%d   " % len(data) + end + data + b"<plist>urn:ex:plist</plist>")
    assert scanned(tmp_path / "a.emlx") == ([*FOUND, ("properties", "urn:ex:plist")], [])
    (tmp_path / "b.emlx").write_bytes(b"no number: urn:ex:b")
    assert scanned(tmp_path / "b.emlx") == ([(None, "urn:ex:b")], [])
