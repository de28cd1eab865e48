"""The parser and the `URN` value: what holds of every text and of every URN."""

from __future__ import annotations

import pickle
import string
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.oracle import COMPILED, SYNTAXES, fold_hex, whole
from tests.support.strategies import any_bytes, near_urns, spoiled_urns, urn_pairs
from urnscan.errors import InvalidURN
from urnscan.urn.parser import URN, encode_nss, parse
from urnscan.urn.syntax import get_syntax

every_syntax = pytest.mark.parametrize("syntax", SYNTAXES)


def parsed(text: str | bytes, syntax: str) -> URN | None:
    try:
        return parse(text, syntax)
    except InvalidURN:
        return None


def parts(urn: URN) -> tuple[str | None, ...]:
    """All that a URN is made of; `==` looks at the canonical form alone."""
    return (
        *(urn.text, urn.nid, urn.nss, urn.r_component, urn.q_component, urn.f_component),
        *(urn.syntax, urn.canonical, str(urn), urn.display(), *urn.problems),
    )


def folded(component: str | None) -> str | None:
    return None if component is None else fold_hex(component.encode()).decode()


@every_syntax
class TestAcceptance:
    """RFC 2141 §2, RFC 8141 §2, rfc2141bis-03 §2: what the grammar derives is a URN, and nothing else."""

    @given(data=st.data())
    def test_accepts_what_the_grammar_derives(self, syntax, data):
        text = data.draw(st.one_of(near_urns, spoiled_urns(syntax), any_bytes))
        assert (parsed(text, syntax) is not None) == whole(text, syntax)

    @given(data=st.data())
    def test_bytes_and_text_are_one(self, syntax, data):
        text = data.draw(st.one_of(near_urns, spoiled_urns(syntax)).filter(bytes.isascii))
        from_bytes, from_text = parsed(text, syntax), parsed(text.decode(), syntax)
        if from_bytes is None:
            assert from_text is None
        else:
            assert parts(from_bytes) == parts(from_text)

    @given(text=st.one_of(st.text(max_size=20), st.text(max_size=8).map("urn:ab:{}".format)))
    @example(text="urn:ab:\N{ARABIC-INDIC DIGIT ONE}")
    @example(text="urn:a\N{SUPERSCRIPT TWO}b:c")
    @example(text="urn:ab:c\n")
    @example(text="urn:ab:%\N{FULLWIDTH DIGIT FOUR}1")
    @example(text="\N{FULLWIDTH LATIN SMALL LETTER U}rn:ab:c")
    def test_nothing_beyond_ascii(self, syntax, text):
        assert (parsed(text, syntax) is not None) == whole(text.encode("utf-8", "surrogatepass"), syntax)

    @given(data=st.data())
    def test_refusals_say_where(self, syntax, data):
        text = data.draw(st.one_of(near_urns, spoiled_urns(syntax), any_bytes))
        if whole(text, syntax):
            return
        for given_text in (text, text.decode("utf-8", "replace")):
            with pytest.raises(InvalidURN) as caught:
                parse(given_text, syntax)
            error = caught.value
            assert type(error.position) is int
            assert 0 <= error.position <= len(given_text)
            assert error.reason
            assert str(error) == f"{error.reason} (at position {error.position})"
            assert len(str(error).splitlines()) == 1
            assert str(error).isprintable()
            copy = pickle.loads(pickle.dumps(error))
            assert (copy.reason, copy.position, str(copy)) == (error.reason, error.position, str(error))

    @given(data=st.data())
    def test_position_is_where_the_longest_urn_ends(self, syntax, data):
        """Where a text begins with a URN, the position is the first byte that the URN cannot hold."""
        text = data.draw(st.one_of(near_urns, spoiled_urns(syntax)))
        longest = COMPILED[syntax].match(text)
        if longest is None or longest.end() == len(text):
            return
        with pytest.raises(InvalidURN) as caught:
            parse(text, syntax)
        assert caught.value.position == longest.end()


@every_syntax
class TestCanonicalForm:
    """RFC 2141 §5, RFC 8141 §3.1, rfc2141bis-03 §5 step 5a."""

    @given(data=st.data())
    def test_as_spelled_and_as_expected(self, syntax, data):
        spelled, canonical = data.draw(urn_pairs(syntax))
        urn = parse(spelled, syntax)
        assert urn.text == spelled
        assert urn.canonical == canonical
        assert urn == parse(canonical, syntax)
        assert hash(urn) == hash(parse(canonical, syntax))
        assert parse(urn.canonical, syntax).canonical == urn.canonical

    @given(data=st.data())
    def test_equal_urns_hash_equal(self, syntax, data):
        pairs = data.draw(st.lists(urn_pairs(syntax), min_size=2, max_size=3))
        spellings = [text for pair in pairs for text in pair]
        urns = [parse(text, syntax) for text in (*spellings, *(swap_hex(text) for text in spellings))]
        for one in urns:
            for other in urns:
                assert (one == other) == (one.canonical == other.canonical)
                assert one != other or hash(one) == hash(other)
        assert len(set(urns)) == len({urn.canonical for urn in urns}) == len({canonical for _, canonical in pairs})

    @given(data=st.data())
    def test_str_keeps_every_component(self, syntax, data):
        """RFC 8141 §4.4: the whole URN in canonical syntax."""
        spelled, canonical = data.draw(urn_pairs(syntax))
        urn = parse(spelled, syntax)
        again = parse(str(urn), syntax)
        assert again == urn
        assert str(urn).startswith(canonical)
        assert str(again) == str(urn)
        assert len(str(urn)) == len(spelled)
        for name in ("r_component", "q_component", "f_component"):
            assert getattr(again, name) == folded(getattr(urn, name))

    @given(data=st.data())
    def test_components_make_up_the_urn(self, syntax, data):
        spelled, _ = data.draw(urn_pairs(syntax))
        urn = parse(spelled, syntax)
        introduced = {
            "?+": urn.r_component,
            "?" if syntax == "rfc2141bis-03" else "?=": urn.q_component,
            "#": urn.f_component,
        }
        tail = "".join(mark + part for mark, part in introduced.items() if part is not None)
        assert spelled == f"{spelled[:4]}{spelled[4 : 4 + len(urn.nid)]}:{urn.nss}{tail}"
        assert urn.nid == spelled[4 : 4 + len(urn.nid)].lower()

    @given(data=st.data())
    def test_pickled(self, syntax, data):
        urn = parse(data.draw(urn_pairs(syntax))[0], syntax)
        assert parts(pickle.loads(pickle.dumps(urn))) == parts(urn)


def swap_hex(text: str) -> str:
    """The same URN with the hex digits of every %HH in the other case."""
    head, *rest = text.split("%")
    return "%".join([head, *(part[:2].swapcase() + part[2:] for part in rest)])


_encoded_text = st.text(max_size=6).map(
    lambda text: "".join(f"%{byte:02x}" for byte in text.encode("utf-8", "replace"))
)
_encoded_bytes = st.binary(max_size=6).map(lambda raw: "".join(f"%{byte:02X}" for byte in raw))
_sometimes_text = st.lists(
    st.one_of(_encoded_text, _encoded_bytes, st.sampled_from(["a", "%c3", "%9F", "%ed%a0%80"])), min_size=1
)


class TestDisplay:
    """RFC 8141 §4.4, RFC 2141 §4: %HH beyond ASCII may be shown as text; nothing is lost by it."""

    @given(nss=_sometimes_text.map("".join).filter(bool))
    @example(nss="stra%c3%9fe")
    @example(nss="%C3%9F%9f")
    @example(nss="%F0%9F%98%80%ed%a0%80")
    @example(nss="%c2%80%C2%a0%e2%80%a8%EF%BF%BD")
    def test_encoding_it_again_gives_str(self, nss):
        for syntax in SYNTAXES:
            urn = parse(f"urn:example:{nss}", syntax)
            shown = urn.display()
            assert shown.isprintable()
            assert encode_beyond_ascii(shown) == str(urn)

    @given(text=st.text(min_size=1).filter(lambda text: text.isprintable() and "\0" not in text))
    def test_shows_what_was_encoded(self, text):
        beyond = "".join(char for char in text if not char.isascii())
        urn = parse("urn:example:a" + encode_nss(beyond or "\N{LATIN SMALL LETTER SHARP S}"))
        assert urn.display() == "urn:example:a" + (beyond or "\N{LATIN SMALL LETTER SHARP S}")


def encode_beyond_ascii(text: str) -> str:
    return "".join(char if char.isascii() else "".join(f"%{byte:02X}" for byte in char.encode()) for char in text)


class TestEncodeNSS:
    """RFC 2141 §2.2, §2.3: a native name becomes an NSS and can be had back."""

    @given(text=st.text(min_size=1).filter(lambda text: "\0" not in text))
    @example(text="%2C")
    @example(text="a/b?c#d&e~f%")
    def test_is_an_nss_and_can_be_undone(self, text):
        for syntax in SYNTAXES:
            nss = encode_nss(text, syntax)
            assert parse(f"urn:example:{nss}", syntax).nss == nss
            assert unquote(nss, errors="strict") == text
        nss = encode_nss(text)
        assert {parse(f"urn:example:{nss}", syntax).nss for syntax in SYNTAXES} == {nss}

    @every_syntax
    @given(char=st.sampled_from(string.printable))
    def test_encodes_no_more_than_it_must(self, syntax, char):
        """§2.3.1: a character MUST NOT be encoded if it is not reserved (nor excluded)."""
        urn = parsed(f"urn:example:a{char}", syntax)
        may_stand = urn is not None and urn.nss == f"a{char}" and not (syntax == "rfc2141" and char in "/?#")
        assert encode_nss(f"a{char}", syntax) == "a" + (char if may_stand else f"%{ord(char):02X}")


@every_syntax
class TestSeparators:
    """RFC 2141 §2.4: an excluded byte is in no URN, so a text can be cut there."""

    @given(data=st.data())
    def test_no_urn_holds_one(self, syntax, data):
        spelled, _ = data.draw(urn_pairs(syntax))
        assert not set(spelled.encode()) & set(get_syntax(syntax).separators)
