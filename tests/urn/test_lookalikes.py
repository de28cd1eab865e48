"""Lookalikes: the rules of UTS #39, word by word."""

# ruff: noqa: RUF001 - look-alikes are what this is about

from __future__ import annotations

import subprocess
import sys
import unicodedata
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.misleading import misleading
from urnscan.urn.explanation import explain
from urnscan.urn.lookalikes import lookalikes as problems_of_characters

MIXED, CONFUSABLE, INVISIBLE = "mixed-scripts", "confusable", "invisible-character"


def lookalikes(nss):
    """The codes of what misleads; other forms of characters (NFC, NFKC) are the matter of `TestOtherForms`."""
    return tuple(code for code in problems_of_characters(nss) if code in (MIXED, CONFUSABLE, INVISIBLE))


NAMES = [  # nothing is wrong with these
    *["isbn:0-395-36341-1", "a%2Cb", "caf%E9", "%FF%FEp%61y", "%ED%A0%80", "%F4%90%80%80", "%D0"],
    *["de:101:1-Stra%C3%9Fe", "it:regione.friuli:citt%C3%A0;1990-08-07", "fi:j%C3%A4rvi", "br:câmara.municipal:lei"],
    *["Grüße aus Köln", "l'œuvre de l'été", "Nguyễn Văn Trỗi", "Đặng-Thái", "Zażółć gęślą jaźń", "ığdır İstanbul"],
    *["Þórður", "Łódź", "naïve", "Oʻzbekiston", "Hawaiʻi", "col·legi", "Nº 5ª", "10µm", "Ωmega"[1:], "5×4", "½"],
    *["Война и мир", "ru:Война и мир, том 2", "book:война-1869", "T-лимфоцит", "ООО «Рога»", "обʼєкт", "об’єкт"],
    *["оса", "ru:оса", "ru:СССР:1961", "том:а", "а", "а и б", "ёлка", unicodedata.normalize("NFD", "ёлка-й")],
    *["Οδύσσεια", "gr:ΦΕΚ Α 120/2020", "gr:ΟΤΕ", "β-carotene", "10Ω", "Հայաստան", "საქართველო", "አማርኛ", "ᏣᎳᎩ"],
    *["العربية ١٢٣", "sa:1445ه", "کتاب\u200cها ۱۲۳", "עברית 5784", "doc:ו", "हिन्दी १२३", "क्\u200dष", "ශ්\u200dරී"],
    *[
        "ไทย",
        "ភាសាខ្មែរ",
        "vol:१०",
        "jp:日本語タイトル",
        "JIS規格ハンドブック",
        "第２版2刷",
        "人々のラーメン",
        "ｆｕｌｌ日本",
    ],
    *[
        "漢字とABC",
        "中文ㄅㄆ",
        "한국어Linux",
        "大韓民國의",
        "二〇二六年",
        "👩\u200d👩\u200d👧",
        "👩🏽\u200d🚀",
        "ᠬᠠᠷ\u180eᠠ",
        unicodedata.normalize("NFD", "vol:ё"),
        "vol:\u06f1",
        "❤\ufe0f",
        "🏴\U000e0067\U000e0062\U000e007f",
    ],
]
LOOKALIKES = {
    "%D0%B0123,z456": [CONFUSABLE],  # RFC 8141 §3.2
    "а123": [CONFUSABLE],
    "p%D0%B0ypal%c3%28": [MIXED, CONFUSABLE],  # what is no UTF-8 hides nothing
    "%FF%FEp%D0%B0y": [MIXED, CONFUSABLE],
    "doc:а": [CONFUSABLE],
    unicodedata.normalize("NFD", "aḅ:а"): [CONFUSABLE],
    "2୦26": [CONFUSABLE],
    "раураl": [MIXED, CONFUSABLE],
    "p\xadаypal": [MIXED, CONFUSABLE, INVISIBLE],
    "Grüßе": [MIXED, CONFUSABLE],
    "книга:pаypal": [MIXED, CONFUSABLE],
    "ΝATO": [MIXED, CONFUSABLE],
    "Տest": [MIXED, CONFUSABLE],
    "рaкета": [MIXED],
    "Xбокс": [MIXED],
    "βcarotene": [MIXED],
    "covid19пандемия": [MIXED],
    "Ωmega": [MIXED],
    "paypاl": [MIXED],
    "vol१": [MIXED],
    "कখ": [MIXED],
    "ひら한": [MIXED],
    "日本мир": [MIXED],
    "Ꮳabc": [MIXED],
    "a\u200bb": [INVISIBLE],
    "soft\xadhyphen": [INVISIBLE],
    "pay\u200dpal": [INVISIBLE],
    "\u200cмир": [INVISIBLE],
    "\u202egnp.exe": [INVISIBLE],
    "שלום\u200f": [INVISIBLE],
    "\ufeffname": [INVISIBLE],
    "name\U000e0067\U000e0062": [INVISIBLE],
    "ㅤ": [INVISIBLE],
    "მირ\u200dა": [INVISIBLE],
    "p\U000102a0ypal": [MIXED, CONFUSABLE],
}
ALPHABETS = [
    *["абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґђћ", "αβγδεζηθικλμνξοπρστυφχψωάέήίόύώς", "աբգդեզէըթժիլխծկհձղճմյնշոչ"],
    *[
        "אבגדהוזחטיכלמנסעפצקרשת",
        "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
        "あいうえおカキクケコ日本語漢字",
        "가나다라마바사",
        "กขฃคฅฆงจฉ",
    ],
]
LATIN = [
    *["abcdefghijklmnopqrstuvwxyzäöüß", "abcdefghijklmnopqrstuvwxyzàâæçéèêëîïôœùûüÿ", "abcçdefgğhıijklmnoöprsştuüvyzİ"],
    *[
        "aąbcćdeęfghijklłmnńoóprsśtuwyzźż",
        "aăâbcdđeêghiklmnoôơpqrstuưvxyàảãáạằẳẵắặầẩẫấậđèẻẽéẹềểễếệỉĩíịồổỗốộờởỡớợủũúụừửữứựỳỷỹýỵ",
    ],
]


def words(alphabets, min_size):
    """Words of one alphabet, with delimiters and ASCII digits between them."""
    return st.sampled_from(alphabets).flatmap(
        lambda letters: st.lists(st.text(letters, min_size=min_size, max_size=6), min_size=1, max_size=4).map(
            ":12-".join
        )
    )


class TestNames:
    @pytest.mark.parametrize("name", NAMES)
    def test_nothing_is_wrong_with(self, name):
        """Titles and names as libraries, laws and publishers encode them; bytes that are not UTF-8."""
        assert lookalikes(quote(name, safe=":-./,;'()%")) == ()

    @pytest.mark.parametrize(("name", "problems"), LOOKALIKES.items())
    def test_lookalikes(self, name, problems):
        """RFC 8141 §3.2; UTS #39 §4, §5."""
        assert list(lookalikes(quote(name, safe=":-./,;'()%"))) == problems

    @given(st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="\\%")))
    def test_ascii_has_none(self, name):
        assert lookalikes(name) == lookalikes(quote(name)) == ()

    @given(words(LATIN, 1), st.sampled_from(["NFC", "NFD"]))
    def test_latin_has_none(self, name, form):
        """German, French, Turkish, Polish and Vietnamese, composed or not."""
        assert lookalikes(quote(unicodedata.normalize(form, name))) == ()

    @given(words(ALPHABETS, 2), st.sampled_from(["", "lex:ru:", "nbn-1.", "vol 2, "]), st.sampled_from(["NFC", "NFD"]))
    def test_a_text_of_one_script_has_none(self, name, scaffolding, form):
        """The ASCII letters of its namespace before it do not matter."""
        assert lookalikes(quote(scaffolding + unicodedata.normalize(form, name))) == ()

    @given(st.from_regex("[A-Za-z0-9]*[A-Za-z][A-Za-z0-9]*", fullmatch=True), st.sampled_from("асеорхіј"), st.data())
    def test_one_letter_among_latin_ones(self, word, letter, data):
        at = data.draw(st.integers(0, len(word)))
        assert lookalikes(quote("a:" + word[:at] + letter + word[at:] + "-мир")) == (MIXED, CONFUSABLE)

    @given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x4FF, exclude_categories=["Lm", "Cn"])))
    def test_the_oracle_agrees(self, name):
        assert list(lookalikes(quote(name))) == misleading(quote(name))

    @given(st.binary())
    def test_any_bytes(self, content):
        """Each byte that is not UTF-8 is a character between words, and nothing raises."""
        found = lookalikes(quote(content))
        assert set(found) <= {MIXED, CONFUSABLE, INVISIBLE}
        assert found == lookalikes(quote(content.decode(errors="replace")))


class TestOtherForms:
    """Two spellings that look alike, of which RFC 8141 §3.2 warns: composed or not (NFC), and forms that NFKC replaces."""

    # The canonical decomposition of this Greek letter, U+03D3, begins with a compatibility character, U+03D2.
    @example("\u03d3")
    @given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x4FF, exclude_categories=["Lm", "Cn"])))
    def test_of_any_text(self, name):
        found = problems_of_characters(quote(name))
        composed = unicodedata.normalize("NFC", name)
        assert ("not-nfc" in found) == (composed != name)
        assert ("compatibility-character" in found) == any(
            unicodedata.decomposition(char).startswith("<") for char in unicodedata.normalize("NFD", name)
        )

    def test_spellings_of_one_letter(self):
        composed, apart = (quote(unicodedata.normalize(form, "é")) for form in ("NFC", "NFD"))
        assert (problems_of_characters(composed), problems_of_characters(apart)) == ((), ("not-nfc",))
        assert problems_of_characters("%EF%BD%81") == ("compatibility-character",)


class TestWhere:
    """In `explain`, behind the problems of the namespace and of the syntax; tests/tables/test_rows.py has the table."""

    def test_explain(self):
        assert explain("urn:isbn:p%D0%B0y%00").problems == ("nss-grammar", "nul-octet", MIXED, CONFUSABLE)
        assert explain("urn:example:stra%c3%9fe").problems == ()

    def test_components(self):
        """They are judged at every level, also where the canonical form drops them."""
        text = "urn:example:book?s=%d0%b0bc"
        for level in ("lexical", "resolution"):
            found = explain(text, syntax="rfc2141bis-03", equivalence=level)
            assert found.problems == (MIXED, CONFUSABLE, "component-not-adopted")
        assert explain("urn:example:a#%D0%B0123", syntax="rfc8141").problems == (CONFUSABLE,)

    def test_a_component_hides_nothing_in_the_name(self):
        """A Russian word shows that a name is not all Latin, but not if it stands in a component."""
        name, word = "urn:example:%D0%B0123", "%D0%BC%D0%B8%D1%80"
        assert explain(f"{name}#{word}", syntax="rfc8141").problems == (CONFUSABLE,)
        assert explain(f"{name}#{word}").problems == ()

    @pytest.mark.full
    @pytest.mark.parametrize(("name", "loaded"), [("straße", False), ("Война и мир", False), ("pаypal", True)])
    def test_the_table_of_confusables_is_loaded_when_it_is_needed(self, name, loaded):
        code = f"import sys, urnscan; urnscan.explain('urn:example:{quote(name)}'); print('homoglyphs_fork' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        assert done.stdout.split() == [str(loaded)]


def test_accented_latin_letters_never_mislead():
    """U+00C0 to U+027F: problem_columns.py does not even ask for names that have no others beyond ASCII."""
    for code in range(0xC0, 0x280):
        encoded = "".join(f"%{byte:02X}" for byte in chr(code).encode())
        assert "C3" <= encoded[1:3] <= "C9"
        for nss in (encoded, f"a{encoded}b", f"{encoded}:1", f"x-{encoded}{encoded}"):
            assert lookalikes(nss) == ()
