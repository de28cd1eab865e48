"""Names with markup in the middle: what joins, what parts, and that a second reading of docs/reference/views.md agrees."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.scanner.views.test_recovery import every_syntax, found_in, simple, streamed
from tests.support.examples import FEW
from tests.support.markup import names_in
from tests.support.strategies import cuttings, urn_pairs

RUN = b'</w:t></w:r><w:r w:rsidRPr="00A1"><w:rPr><w:rFonts w:ascii="Arial"/><w:b/></w:rPr><w:t xml:space="preserve">'
PROOF = b'</w:t></w:r><w:proofErr w:type="spellEnd"/>\r\n  <w:r>\n<w:t>'
SLIDE = b'</a:t></a:r><a:r><a:rPr lang="en-US"><a:solidFill><a:srgbClr val="FF0000"/></a:solidFill></a:rPr><a:t>'

CELL = b'</t></r><r><rPr><b/><sz val="11"/><color rgb="FFFF0000"/><rFont val="Calibri"/><family val="2"/><scheme val="minor"/></rPr><t xml:space="preserve">'
CELL_X = b"</x:t></x:r>\n<x:r><x:rPr><x:b/><x:i/></x:rPr><x:t>"

TABLE = [
    # elements of a style, phrase or link; their attributes hold anything
    (b"urn:isbn:<b>978</b>-3-16 x", [(0, 24, "urn:isbn:978-3-16")]),
    (b'<b title="a>b">urn</b>:isbn:<SPAN\nclass=\'"\'>978</SPAN>-3', [(15, 56, "urn:isbn:978-3")]),
    (b"urn:a:b%<b>4<wbr>1</b>", [(0, 18, "urn:a:b%41")]),
    (b"u<i>r<wbr>n</i>:isbn:97<!-- 8 -->8", [(0, 34, "urn:isbn:978")]),
    (b"<code>urn</code>:isbn:978 <a>urn:isbn:</a>978", [(6, 25, "urn:isbn:978"), (29, 45, "urn:isbn:978")]),
    # runs, also with white space between them
    (b"<w:t>urn:isbn:97" + RUN + b"8-3</w:t>", [(5, 16 + len(RUN) + 3, "urn:isbn:978-3")]),
    (b"<w:t>urn" + PROOF + b":isbn:97" + RUN + b"8", [(5, 16 + len(PROOF) + len(RUN) + 1, "urn:isbn:978")]),
    (b"<w:t>urn:isbn:978<w:noBreakHyphen/>3</w:t>", [(5, 36, "urn:isbn:978-3")]),
    (b"<a:t>urn:isbn:97" + SLIDE + b"8", [(5, 16 + len(SLIDE) + 1, "urn:isbn:978")]),
    (b"<si><r><t>urn:isbn:97" + CELL + b"8</t></r></si>", [(10, 21 + len(CELL) + 1, "urn:isbn:978")]),
    (b"<x:t>urn:isbn:97" + CELL_X + b"8</x:t>", [(5, 16 + len(CELL_X) + 1, "urn:isbn:978")]),
    (b"<text:p>urn:isbn:97<text:span text:style-name='T1'>8</text:span>-3</text:p>", [(8, 66, "urn:isbn:978-3")]),
    # references and what nobody sees
    (b"urn&#58;isbn&colon;97&shy;8&#x200b;-&ZeroWidthSpace;3&amp;", [(0, 53, "urn:isbn:978-3")]),
    ("urn:isbn:97\u00ad8\u200b\u200c-\u200d3\u20606\ufeff x".encode(), [(0, 29, "urn:isbn:978-36")]),
    # a tag that closes what begins with the name, or that of a phrase: what is whole on both sides is parted
    (b"<code>urn:xmpp:ping</code>s <b>urn:xmpp:ping</b>s <p>urn:a:b<code>c</code>", []),
    (b"<b>urn:isbn:978</b>-3 <b>urn:isbn:978</b>3 <b>urn:xmpp:ping</b>-aware", [(3, 21, "urn:isbn:978-3"), (25, 42, "urn:isbn:9783")]),
    (b"<span>urn:isbn:978</span><span>3</span>", [(6, 32, "urn:isbn:9783")]),
    (b"<span class=c1>urn:isbn:978</span><span class=c22>3</span><span>4", [(15, 65, "urn:isbn:97834")]),
    (b"<span class=urn>urn:isbn:978</span><span class=year>2014</span>", []),
    (b"<i>urn:nbn:d<b>e</b></i>abc", []),  # its end is in doubt
    # another style in the middle of a word, as office programs write it
    (b"<i><b>urn:nbn:d</b></i><span lang='de'>e:b</span><u>c</u>d x", [(6, 58, "urn:nbn:de:bcd")]),
    (b'<u>urn:nbn:f</u><font color="#f00">i-fe1', [(3, 40, "urn:nbn:fi-fe1")]),
    (b"<u>urn:x:ab</u><i>.c</i>, <u>urn:x:ab</u><i>, c</i>, <u>urn:x:ab</u><i>(c)</i>", [(3, 20, "urn:x:ab.c")]),
    (b"<b>urn:isbn:978</b><span style='font-size:2em'>3", [(3, 48, "urn:isbn:9783")]),
    (b"<b>urn:isbn:978</b><span style='float:left'>2014, <span class=a>urn:isbn:978</span><b>2014", []),
    (b"<b>urn:isbn:978</b><a>2014", []),
    (b"<b>urn:nbn:d</b>e:101 <b>urn:nbn</b>:de:1 <b>urn:xmpp</b>:a-b:c", [(3, 21, "urn:nbn:de:101"), (25, 41, "urn:nbn:de:1"), (45, 63, "urn:xmpp:a-b:c")]),
    (b"<b>urn:xmpp:ping</b>s: yes, <b>urn:xmpp:a</b>:ping, <code>urn:xmpp:ping</code>s:yes", []),
    # another name, and punctuation
    (b"urn:a:b<b>urn:c:d</b>, urn:a:b<b>http://x</b>", []),
    (b"(urn:a:b<i>c</i><b>).</b>", [(1, 12, "urn:a:bc")]),
    (b"(<tt>urn:a:b</tt>), 'urn:a:<i>b</i>'/&gt;", [(21, 31, "urn:a:b")]),
    (b"&#39;urn:a:<i>b</i>&#39;/ &apos;urn:a:<i>b</i>'/", [(5, 15, "urn:a:b"), (32, 42, "urn:a:b")]),
    (b"&&#39;urn:a:<i>b</i>&#39;/", [(6, 16, "urn:a:b")]),
    # what parts: cells, paragraphs, items, fields, notes, what is raised, struck out or unknown; attributes
    *(
        (b"<p>urn:isbn:978" + tags + b"3</p>", [])
        for tags in (
            b"</td><td>", b"</p><p>", b"</li><li>", b"<br>", b"<br/>", b"<sup>", b"<del>", b"<q>", b"<x>", b"<div>", b" <b>", b"<b> ",
            b"<b>\n", b"</w:t></w:r></w:p><w:p><w:r><w:t>", b"</w:t></w:r><w:r><w:tab/><w:t>", b"</w:t></w:r><w:r><w:t> </w:t></w:r><w:r><w:t>",
            b'</w:t></w:r><w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>', b"</w:t></w:r><w:r><w:delText>",
            b"</w:t></w:r><w:r><w:fldChar/></w:r><w:r><w:instrText>", b"<text:s/>", b"<text:note>", b"</a:t></a:r></a:p><a:p><a:r><a:t>",
            b"</t></si><si><t>", b"</t></r></si><si><r><t>", b"</t></r><rPh><t>", b'</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>',
            b"<![CDATA[", b"<?php x ?>", b"<!x>", b"<b <i>", b"<b", b"<", b"<b a='>", b"<>", b"</>", b"<!-->", b"<b\0>", b"&nbsp;", b"&lt;b&gt;",
        )
    ),
    (b'<a title="urn:isbn:97" href="8"><b urn="urn:isbn:97"\n>8</b>', []),
    (b"<p id='urn:isbn:97'>8<b>", []),
    (b"return<b>:a:b</b> xu<b>rn</b>:a:b urn<b></b> :a:b ur<b>n:a</b>", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), TABLE, ids=[text.decode(errors="replace")[:40] for text, _ in TABLE])
def test_table(text, expected):
    """Semantics, "Views": where inline markup stands a name goes on, and nowhere else."""
    found = [hit for hit in found_in(text, ["markup"]) if hit.via]
    assert simple(found) == [(*hit, "markup") for hit in expected]


GAPS = {
    "html": [b"<b>", b"</b>", b"<em class='x y'>", b"<wbr>", b"<wbr/>", b"</span><i>", b"<!-- -->", b"&shy;", b"\xc2\xad", b"&#8203;"],
    "word": [RUN, PROOF, b'<w:bookmarkStart w:id="0"/>', b"<w:softHyphen/>", b"\xe2\x80\x8b"],
    "slides": [SLIDE, b"</a:t></a:r>\n<a:r><a:t>", b"\xe2\x81\xa0"],
    "sheets": [CELL, CELL_X, b"</t></r><r><t>"],
    "odf": [b"<text:span>", b"</text:span><text:span>", b"<text:bookmark/>", b"<text:soft-page-break/>"],
}  # fmt: skip


@st.composite
def parted(draw, syntax):
    """A URN, and the bytes that show it with gaps of one format at random places."""
    spelled, _ = draw(urn_pairs(syntax))
    gaps = st.sampled_from(GAPS[draw(st.sampled_from(sorted(GAPS)))])
    cuts = draw(st.sets(st.integers(1, len(spelled) - 1), min_size=1, max_size=4))
    parts = [
        html.escape(spelled[a:b], quote=False)
        for a, b in zip([0, *sorted(cuts)], [*sorted(cuts), len(spelled)], strict=True)
    ]
    text = parts[0].encode()
    for part in parts[1:]:
        text += draw(gaps) + part.encode()
    return spelled, text


@pytest.mark.parametrize("view", ["entities", "markup"])
def test_a_reference_between_directives(view):
    """rfc2141bis-03 §2.3: a literal match ends before a "&" without a directive, and `&amp;` is one."""
    (hit,) = found_in(b"<p>urn:aa:a?A=b&amp;C=a</p>", [view], "rfc2141bis-03")
    assert (hit.text, hit.via) == ("urn:aa:a?A=b&C=a", view)


def test_a_keyword_that_markup_ends():
    """rfc2141bis-03 §2.3: a literal match ends before a keyword without its value, which goes on behind the tag."""
    (hit,) = found_in(b"<p>urn:aa:a?keyword<b>=a</b>", ["markup"], "rfc2141bis-03")
    assert (hit.text, hit.via) == ("urn:aa:a?keyword=a", "markup")


class TestParted:
    """A URN with gaps of inline markup is found whole, with its place."""

    @pytest.mark.full
    @every_syntax
    @FEW
    @given(data=st.data())
    def test_is_found(self, syntax, data):
        spelled, text = data.draw(parted(syntax))
        found = next(iter(found_in(b"<p>see " + text + b"</p>", ["markup"], syntax)), None)
        if re.search(r"[A-Za-z0-9][^A-Za-z0-9]*\Z", spelled) and not spelled[-1].isalnum():
            assert found is None or spelled.startswith(found.text)  # punctuation alone behind a gap
        elif not re.search(r"(?i)urn:|[a-z]{1,8}://", spelled[1:]):
            assert simple([found]) == [(7, 7 + len(text), spelled, "markup")]

    @every_syntax
    @FEW
    @given(data=st.data(), sizes=cuttings)
    def test_however_the_text_is_cut(self, syntax, data, sizes):
        text = b" ".join(data.draw(parted(syntax))[1] for _ in range(2)) + data.draw(pieces)
        for views in (["markup"], ["entities", "wraps", "markup", "labels"]):
            assert streamed(text, sizes, views, syntax) == found_in(text, views, syntax)


PIECES = (
    b"urn:|urn:a9:|u|r|n|ur|:|a|9|-|/|.|'|=| |\n|\0|<b>|</b>|<span class='s1'>|<span class='s2'>|<span lang='x'>|<span style='font:x'>|<span style='top:1'>|</span>|<b/>|<code>|</code>|<a "
    b'href="urn:a9:b">|</a>|<w:r>|</w:r>|<w:t>|</w:t>|<w:rPr/>|<wbr>|<td>|<br/>|<b|<|>|"|<!-- x -->|<!--|&shy;|&#173;|&#58;|&apos;'
    b"|%|%4|1|?|+|&amp;|&lt;|&|;|\xc2\xad|\xe2\x80\x8b|\xc2|\xe2\x80|<w:noBreakHyphen/>|http://|urn:a9:b"
).split(b"|")
pieces = st.lists(st.sampled_from(PIECES), max_size=16).map(b"".join)


class TestSecondOpinion:
    """What is found is what `tests/support/markup.py` reads, whatever the text."""

    @pytest.mark.parametrize("syntax", ["rfc2141", "rfc8141"])
    @given(text=pieces)
    @example(b"<b>urn:a9:b</b><b/>9")
    def test_any_text(self, syntax, text):
        found = found_in(text, ["markup"], syntax)
        assert [(hit.start, hit.end, hit.text.encode(), hit.via) for hit in found] == names_in(text, syntax)

    @pytest.mark.parametrize("syntax", ["rfc2141", "rfc8141"])
    @example(before=b"", behind=b"&")  # the end of the text, which a reference could go beyond
    @example(before=b"", behind=b"&9")
    @given(
        before=st.sampled_from([b"", b"<b>", b"<span class='s1'>", b"<span lang='x'>", b"<code>", b"'", b"<b"]),
        behind=pieces,
    )
    def test_behind_a_name(self, syntax, before, behind):
        text = before + b"urn:a9:b" + behind
        found = found_in(text, ["markup"], syntax)
        assert [(hit.start, hit.end, hit.text.encode(), hit.via) for hit in found] == names_in(text, syntax)


def test_trimmed_matches_go_on():
    """With --trim, a literal match ends before its last colon: the name behind the tag is found all the same."""
    (hit,) = found_in(b"urn:nbn:de:<b>101:1-2</b>.", ["markup"], trim=True)
    assert (hit.text, hit.start, hit.end) == ("urn:nbn:de:101:1-2", 0, 21)
    (hit,) = found_in(b"urn:ietf:params:\n  rtp-hdrext:1234 x", ["wraps"], trim=True)
    assert hit.text == "urn:ietf:params:rtp-hdrext:1234"


def test_the_longest_reading_counts():
    """A soft hyphen is read by `wraps`, too; where a tag follows, the view that reads both shows more."""
    text = b"urn:a:b\xc2\xadc<b>d</b>e x urn:a:b\xc2\xadc x"
    assert [(hit.text, hit.via) for hit in found_in(text)] == [("urn:a:bcde", "markup"), ("urn:a:bc", "wraps")]


def test_a_gap_has_an_end():
    """Markup of more than 8,192 bytes parts, so that no text has to be kept in memory for it."""
    for tags, is_joined in (
        (b"<b x='%b'>" % (b"x" * 4000), True),
        (b"<b x='%b'>" % (b"x" * 9000), False),
        (b"<b>" * 3000, False),
    ):
        found = found_in(b"urn:a:b" + tags + b"c", ["markup"])
        assert [hit.text for hit in found] == ["urn:a:bc" if is_joined else "urn:a:b"]
