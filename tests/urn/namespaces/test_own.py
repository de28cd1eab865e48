"""Own rules of namespaces: what a file may hold, how it is refused, and that its rules stand in place of ours."""

from __future__ import annotations

import functools
import hashlib
import pickle
from importlib.resources import files

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

import urnscan
from tests.support.registrations import EXAMPLES, is_right, names
from tests.urn.namespaces.test_rules import lexical
from urnscan.compiled.arrow import byte_strings, text_array
from urnscan.errors import ArgumentError, FatalError
from urnscan.urn.namespaces import Rulebook, judge, namespace_form, nid_status, read_rules, rules
from urnscan.urn.namespaces.judgement_columns import NAMES, is_invalid, is_valid, namespace_forms, verdicts

TABLE = (files("urnscan.urn.namespaces") / "rules.toml").read_text(encoding="utf-8")
HEAD = '[x-a]\ntitle = "t"\nrule = "base"\nequality = "e"\n'
GRAMMAR = HEAD + 'syntax = "s"\ngrammar = '
RESOLVER = HEAD + "resolvers = [{names = '.+', url = '%s'}]\n"


@pytest.fixture
def read(tmp_path):
    """A function: the rules in a file with this text."""

    def rules_in(text):
        path = tmp_path / "own.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_rules(path)

    return rules_in


@functools.cache
def repeated():
    """Rules of all our namespaces, as if they were own ones."""
    return Rulebook("0" * 64, tuple(rules().values()))


def of_column(urns, rulebook):
    """Of each URN whether it is valid, its problem and its form, by compiled code."""
    data, offsets = byte_strings(text_array(urns))
    codes = verdicts(data, offsets, offsets[1:], rulebook)
    forms, ends = namespace_forms(data, offsets, rulebook)
    known = is_valid(codes) | is_invalid(codes)
    return [
        (
            bool(is_valid(codes)[row]) if known[row] else None,
            NAMES[code],
            forms[ends[row] : ends[row + 1]].tobytes().decode(),
        )
        for row, code in enumerate(codes)
    ]


def of_each(urns, rulebook):
    """The same, name by name."""
    judged = [judge(urn, rulebook) for urn in urns]
    return [(each.valid, each.problem, namespace_form(urn, rulebook)) for each, urn in zip(judged, urns, strict=True)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[x-a]\ntitle = "t\n', "2: invalid TOML: Illegal character"),
        (HEAD + "[x-a]\n", "5: invalid TOML: Cannot declare"),
        ("[x-a", "1: invalid TOML: Expected ']'"),
        ("a = " + "[" * 9999, " invalid TOML: too many nested brackets"),
        (b"# a\n# \xff\n", "2: is not in UTF-8"),
        ("# nothing\n", " contains no rules"),
        ("#" * 1_000_001, " too large for a file of rules; it may have 1,000,000 bytes"),
        ("\n".join(f"[n{number}]" for number in range(5001)), " contains 5,001 namespaces"),
        ("[x-a]\n", "1: [x-a]: title is missing: it says what the names name"),
        (HEAD + "grammar = 'a'\n", "1: [x-a]: syntax is missing"),
        ("\n[X-A]\n", "2: [X-A]: is not a NID in lower case; write x-a"),
        ("['a b']\n", "1: [a b]: is not a NID in lower case"),
        ("x-a = 1\n", "1: [x-a]: is a value, not a namespace"),
        (HEAD + 'gramar = "a"\n', "5: [x-a] gramar: unknown key; use title, "),
        (HEAD + "note = 1\n", "5: [x-a] note: must be a text in quotes, not 1"),
        (HEAD + 'note = ""\n', "5: [x-a] note: must be one line of text, and not empty"),
        (HEAD + 'unsure_because = """a\nnote = 1"""\nnote = 1\n', "5: [x-a] unsure_because: must be one line"),
        (HEAD + 'check = "isbn"\n', "5: [x-a] check: is of use only with grammar"),
        (GRAMMAR + "'a'\ncheck = 'luhn'\n", "7: [x-a] check: no check is called 'luhn'; there are isbn, "),
        (GRAMMAR + "'a'\ncode = 'luhn'\n", "7: [x-a] code: no code is called 'luhn'; there are isbn, "),
        (GRAMMAR + "'a'\ncheck = 'dnb'\n", '7: [x-a] check: "dnb" is computed over urn:nbn:'),
        (GRAMMAR + "'(?=a)'\n", "6: [x-a] grammar: pattern '(?=a)', at 0"),
        (GRAMMAR + "'(a'\n", "6: [x-a] grammar: pattern '(a', at 2"),
        (GRAMMAR + "'[z-a]'\n", "6: [x-a] grammar: [z-a]: bad character range"),
        (GRAMMAR + "'a{3,1}'\n", "6: [x-a] grammar: pattern 'a{3,1}', at "),
        (GRAMMAR + "'(?<lower>a*)a'\n", "6: [x-a] grammar: pattern '(?<lower>a*)a': what 'a' is depends on"),
        (GRAMMAR + "'a{9999}'\n", "6: [x-a] grammar: a pattern with too many states"),
        (GRAMMAR + f"'a{{{'9' * 5000}}}'\n", "6: [x-a] grammar: a pattern with too many states"),
        (GRAMMAR + f"'{'(' * 2000}a{')' * 2000}'\n", "6: [x-a] grammar: a pattern with too many groups inside"),
        (GRAMMAR + "'(?<check>a)'\n", "6: [x-a] grammar: (?<check>...) is of no use without check"),
        (GRAMMAR + "'(?<check>a*)a'\ncheck = 'isbn'\n", "6: [x-a] grammar: pattern '(?<check>a*)a': what 'a' is depends"),
        (HEAD + "unsure = '(?<check>a)'\n", "5: [x-a] unsure: (?<check>...) is of no use in unsure"),
        (HEAD + "unsure = '''(?=a)'''\n", "5: [x-a] unsure: pattern '(?=a)', at 0"),
        (HEAD + "resolvers = ['a']\n", "5: [x-a] resolvers: must be a list of {names"),
        (HEAD + "resolvers = [{names = '(', url = 'https://a'}]\n", "5: [x-a] resolvers: missing )"),
        (RESOLVER % "https://a/{b}", "5: [x-a] resolvers: {b} in url is none of {urn}, {nss}"),
        (RESOLVER % "https://a/{", "5: [x-a] resolvers: "),
        (RESOLVER % "javascript:{nss}", "5: [x-a] resolvers: url must begin with https:// or http://"),
    ],
)  # fmt: skip
def test_a_bad_file(read, text, message):
    """One line says what is wrong, and where."""
    with pytest.raises(FatalError) as caught:
        read(text)
    said = str(caught.value)
    assert f"own.toml:{message}" in said
    assert "\n" not in said


@pytest.mark.full
def test_a_pattern_with_too_large_an_automaton(read):
    """2**20 states would take minutes and gigabytes."""
    with pytest.raises(FatalError, match=r"own\.toml:6: \[x-a\] grammar: a pattern whose automaton is too large"):
        read(GRAMMAR + "'(a|b)*a(a|b){20}'\n")


@pytest.mark.parametrize("path", ["missing.toml", ".", "a\0b"])
def test_no_file(tmp_path, path):
    with pytest.raises(FatalError, match="cannot be read as rules: "):
        read_rules(tmp_path / path)


def test_the_line_of_a_key(read):
    """Words in texts and comments are no keys."""
    text = GRAMMAR + '"""(a\\\ncheck = )"""\n# check = 1\n\n"check" = 1\n[x-b]\ncheck = 1\n'
    with pytest.raises(FatalError, match=r"own\.toml:10: \[x-a\] check: must be a text"):
        read(text)


def test_our_own_file_is_a_file_of_rules(read):
    """It passes all checks, and its rules are ours."""
    found = read(TABLE)
    assert found.sha256 == hashlib.sha256(TABLE.encode()).hexdigest()
    assert found.rules == rules()
    assert found == pickle.loads(pickle.dumps(found)) != Rulebook()


@pytest.mark.full
@given(urns=st.lists(st.sampled_from(sorted(EXAMPLES)).flatmap(names).map(lexical).filter(bool), max_size=9))
def test_rules_that_repeat_ours_change_nothing(urns):
    """Verdicts, problems and canonical forms are the very same, for one name and in columns."""
    expected = of_each(urns, Rulebook())
    assert of_each(urns, repeated()) == of_column(urns, repeated()) == of_column(urns, Rulebook()) == expected


CHECKED = [
    ("isbn", "isbn"), ("issn", "issn"), ("mod_11_2", "gsma"), ("mod_97_10", "isbn"), ("mod_37_36", "issn"),
    ("eic", "isbn"), (None, "issn"), ("isbn", None), (None, "gsma"), ("issn", "gsma"),
]  # fmt: skip
NSS = st.text("0123456789Xx-:;=vers%aZ", min_size=1, max_size=18).map(lambda text: text.replace("%", "%00"))


@given(how=st.sampled_from(CHECKED), parts=st.lists(NSS, min_size=1, max_size=9))
def test_any_check_and_rewriting_fits_any_grammar(how, parts):
    """Compiled code agrees with plain, and stays within its arrays, where our rules never lead it."""
    check, code = how
    rule = urnscan.namespaces.Rule("a", "t", "base", "e", grammar=".+", syntax="s", check=check, code=code)
    own = Rulebook(f"{check}{code}", (rule,))
    urns = [f"urn:a:{part}" for part in parts]
    assert of_column(urns, own) == of_each(urns, own)


PARTS = [
    "[a-wyz:]*(?<check>[0-9Xx-]+)([;:].*)?",
    "(?<upper>[a-z]+:(?<check>[0-9A-Za-z-]*))(:[0-9]*)?",
    "(?<check>[0-9]{4})[:;](?<check>[0-9Xx]{4})|(a:)+.*",
]
RIGHT = st.sampled_from(
    ["0317-8471", "0317:8471", "0395363411", "9780395363416", "0000000121032683", "5493000IBP32UQZ0KL24", "a-1", "1X"]
)
FRAMED = st.tuples(st.sampled_from(["", "a:", "ab"]), RIGHT | NSS, st.sampled_from(["", ":", ";x", ":1", "),"])).map(
    "".join
)


DIGITS = {
    "isbn": "97[89][0-9]{10}|[0-9]{9}[0-9Xx]",
    "issn": "[0-9]{4}-?[0-9]{3}[0-9Xx]",
    "mod_11_2": "[0-9]+[0-9Xx]",
    "mod_97_10": "[0-9A-Za-z]{3,}",
    "mod_37_36": "[0-9A-Za-z-]{2,}",
    "eic": ".+",
}
"""Texts for which a check is made: a grammar of a namespace lets no others through."""


@given(
    pattern=st.sampled_from(PARTS),
    check=st.sampled_from(sorted(DIGITS)),
    parts=st.lists(FRAMED, min_size=1, max_size=9),
)
def test_a_check_digit_of_a_part(pattern, check, parts):
    """It is that of the groups, put together, as `regex` and `python-stdnum` have them; compiled code agrees with plain."""
    rule = urnscan.namespaces.Rule("a", "t", "base", "e", grammar=pattern, syntax="s", check=check)
    own = Rulebook(f"{pattern}{check}", (rule,))
    urns = [f"urn:a:{part}" for part in parts]
    judged = of_each(urns, own)
    assert of_column(urns, own) == judged
    for part, (valid, problem, _) in zip(parts, judged, strict=True):
        fitting = regex.fullmatch(pattern, part)
        if fitting is None:
            assert valid is not True
            continue
        checked = "".join(fitting.captures("check"))
        if not checked:
            assert problem is None
        elif regex.fullmatch(DIGITS[check], checked):
            assert (problem == "check-digit") == (not is_right(check, checked))


def test_the_length_of_a_number_in_a_part(read):
    """A part is judged alone: what stands around it, or fits no check, has no say."""
    own = read(GRAMMAR + "'(?<check>[0-9]{15}[0-9X])(:[a-z]+)?|unknown:[0-9]+'\ncheck = 'mod_11_2'\n")
    names = ["0000000121032683:front", "0000000121032684:front", "0000000121032683", "unknown:17", "0000000121032684,"]
    urns = [f"urn:x-a:{name}" for name in names]
    expected = [(True, None), (False, "check-digit"), (True, None), (True, None), (False, "nss-grammar")]
    assert [each[:2] for each in of_each(urns, own)] == expected
    assert of_column(urns, own) == of_each(urns, own)


def test_own_rules_stand_in_place_of_ours(read):
    """Those of the NID as a whole; all others hold on."""
    own = read('[isbn]\ntitle = "t"\nrule = "r"\nequality = "e"\nsyntax = "s"\ngrammar = "(?<upper>[a-z]+)"\n')
    urns = ["urn:isbn:abc", "urn:isbn:9780395363416", "urn:issn:0317847x", "urn:issn:03178471"]
    expected = [
        (True, None, "urn:isbn:ABC"),
        (False, "nss-grammar", "urn:isbn:9780395363416"),
        *of_each(urns[2:], Rulebook()),
    ]
    assert of_each(urns, own) == of_column(urns, own) == expected
    assert judge("urn:isbn:abc").valid is False, "ours are as they were"


def test_an_unregistered_namespace(read):
    own = read(GRAMMAR + "'(?<lower>[A-Z]+)'\n" + RESOLVER.split("\n")[4] % "https://a/{nss}")
    found = urnscan.explain("urn:X-a:LAMP", rules=own, equivalence="namespace")
    assert (found.canonical, found.valid, found.resolver) == ("urn:x-a:lamp", True, "https://a/lamp")
    assert (found.namespace, found.rule, found.nid_status) == ("t", "none of its own (e)", nid_status("x-a"))
    assert urnscan.explain("https://a/lamp", rules=own).read_as == "urn:x-a:lamp"
    assert urnscan.explain("urn:x-a:lamp").valid is None


def test_each_function_takes_them(read, tmp_path):
    """As a file, and as what `read_rules` gave; in all threads."""
    own = read(GRAMMAR + "'(?<lower>[A-Z]+)'\n")
    for number in range(40):
        (tmp_path / f"{number}.txt").write_text("urn:x-a:LAMP urn:x-a:lamp\n" * 9)
    for given_rules in (own, tmp_path / "own.toml", str(tmp_path / "own.toml")):
        options = {"rules": given_rules, "equivalence": "namespace"}
        assert urnscan.canonical("urn:x-a:LAMP", **options) == "urn:x-a:lamp"
        assert urnscan.equivalent("urn:x-a:LAMP", "urn:x-a:lamp", **options)
        assert [each.urn for each in urnscan.find("urn:x-a:LAMP", **options)] == ["urn:x-a:lamp"]
        (row,) = urnscan.scan(tmp_path, include="*.txt", jobs=2, **options).classes.to_pylist()
        assert (row["urn"], row["valid"], row["occurrence_count"]) == ("urn:x-a:lamp", False, 720)
        (rows,) = urnscan.scan_batches(text_array(["urn:x-a:LAMP"]), **options)
        assert rows["urn"].to_pylist() == ["urn:x-a:lamp"]
        dump = tmp_path / "dump.jsonl"
        dump.write_text('{"a": "urn:x-a:LAMP"}\n{"a": "urn:x-a:lamp"}\n')
        assert urnscan.deduplicate(dump, record="line", rules=given_rules).report.duplicates == 1
        assert urnscan.deduplicate(dump, record="line").report.duplicates == 0


def test_what_is_no_rules():
    with pytest.raises(ArgumentError, match=r"rules must be a path, or what .* gives, not 3"):
        urnscan.scan("a", rules=3)


def test_metadata_and_identity(read):
    """The checksum of the file is in the metadata of tables, and in what `--resume` compares."""
    own = read(HEAD)
    options = urnscan.Options(rules=own)
    digest = hashlib.sha256(HEAD.encode()).hexdigest()
    assert options.metadata()["rules"] == options.identity()["rules"] == digest
    assert urnscan.Options().metadata()["rules"] is None
    assert pickle.loads(pickle.dumps(options)).rules.rules["x-a"].title == "t", "executors get the rules themselves"
