"""The rules of all registered namespaces: the table is whole, its examples hold, and what is promised of every rule."""

from __future__ import annotations

import contextlib
import itertools
import string
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.examples import FEW
from tests.support.registrations import EXAMPLES, TABLE, names, verdict
from urnscan.errors import InvalidURN
from urnscan.urn.equivalence import canonical, equivalent
from urnscan.urn.namespaces import judge, namespace_form, registered, rules
from urnscan.urn.namespaces.judgement import CHECKS, REWRITE
from urnscan.urn.namespaces.patterns import automaton
from urnscan.urn.parser import parse
from urnscan.urn.problems import PROBLEMS
from urnscan.urn.syntax import SYNTAXES

NIDS = sorted(EXAMPLES)
each_namespace = pytest.mark.parametrize("nid", NIDS)
SETTINGS = settings(FEW, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


def groups(kind):
    return [group for entry in EXAMPLES.values() for group in entry.get(kind, [])]


def lexical(name):
    """The lexical canonical form in the first syntax that has the name; those of RFC 2141 only may hold ? and #."""
    for syntax in ("rfc8141", "rfc2141"):
        with contextlib.suppress(InvalidURN):
            return parse(name, syntax).canonical
    return None


class TestTable:
    def test_every_registered_namespace_has_an_entry(self):
        assert set(rules()) == set(registered())
        assert set(EXAMPLES) == set(registered())

    def test_entries(self):
        """Each rule cites the section that it rests on, and each grammar its own; what it names exists."""
        for nid, rule in rules().items():
            assert rule.nid == nid
            assert rule.title[0].isupper() or rule.title[0].isdigit(), nid
            assert rule.rule, nid
            assert any(mark in rule.equality for mark in ("§", "template")), nid
            assert (rule.syntax is not None) >= (rule.grammar is not None), nid
            assert rule.check is None or (rule.check in CHECKS and rule.grammar), nid
            assert rule.code is None or (rule.code in REWRITE and rule.grammar), nid
            assert rule.unsure_because is None or rule.unsure, nid
            for pattern in filter(None, (rule.grammar, rule.unsure)):
                assert automaton(pattern).fold("") is None, f"{nid}: an NSS has a character"

    def test_base_means_base(self):
        """A rule called "base" changes no letter, and one that changes letters is not called so."""
        for nid, rule in rules().items():
            patterns = (rule.grammar or "", rule.unsure or "")
            folds = any("(?<lower>" in pattern or "(?<upper>" in pattern for pattern in patterns)
            assert (rule.rule == "base") == (not folds and rule.code is None), nid

    def test_nothing_is_unused(self):
        assert {rule.code for rule in rules().values()} - {None} == set(REWRITE)
        assert {rule.check for rule in rules().values()} - {None} == set(CHECKS)
        assert {check.problem for check in CHECKS.values()} < set(PROBLEMS)

    def test_examples(self):
        """At least one name that is not invalid, one invalid where any can be, and one pair of equal names."""
        for nid, entry in EXAMPLES.items():
            assert entry.get("valid") or entry.get("unsure"), nid
            assert entry["equivalent"], nid
            if rules()[nid].grammar and rules()[nid].unsure is None:
                assert entry["invalid"], nid
            if rules()[nid].grammar:
                assert entry["valid"], nid


class TestExamples:
    @pytest.mark.parametrize("kind", ["valid", "unsure", "invalid"])
    def test_verdict(self, kind):
        """Real names with their source: valid, not certain, or invalid, and why."""
        valid = {"valid": True, "unsure": None, "invalid": False}[kind]
        judged = {name: judge(lexical(name)) for entry in EXAMPLES.values() for name, _ in entry.get(kind, [])}
        assert len(judged) > 50
        assert [(name, found.reason) for name, found in judged.items() if found.valid is not valid] == []

    def test_equivalent(self):
        """Names that the registration calls equal, with the section that does."""
        for group in groups("equivalent"):
            assert group["section"]
            assert {namespace_form(lexical(name)) for name in group["names"]} == {group["canonical"]}

    def test_different(self):
        """Names that one could take for equal, and that the registration keeps apart."""
        for group in groups("different"):
            assert group["section"]
            assert len({namespace_form(lexical(name)) for name in group["names"]}) == len(group["names"]), group


class TestPromises:
    """Semantics §4: a rule only joins, only where the NSS fits, and leaves a URN of its namespace."""

    @each_namespace
    @SETTINGS
    @given(data=st.data())
    def test_of_each_name(self, nid, data):
        name = data.draw(names(nid))
        urn = lexical(name)
        if urn is None:
            return
        self.agrees_with_the_oracle(nid, urn)
        self.stays_valid_before_punctuation(urn, data.draw(st.text(".,;:!?'*_)", min_size=1, max_size=5)))
        self.has_a_form(nid, name, urn)
        self.splits_no_lexical_class(nid, urn, data)

    def agrees_with_the_oracle(self, nid, urn):
        found = judge(urn)
        expected = verdict(urn)
        assert (found.valid, found.problem, f"urn:{nid}:{found.nss}") == expected
        assert namespace_form(urn) == expected.form

    def stays_valid_before_punctuation(self, urn, end):
        """A name that is not invalid is not called so in a sentence either."""
        if judge(urn).valid is not False:
            assert judge(urn + end).valid is not False

    def has_a_form(self, nid, name, urn):
        """Idempotent; a URN in every syntax that has the name; valid names to valid names, others never to invalid ones."""
        form = namespace_form(urn)
        assert namespace_form(form) == form
        assert judge(form).valid == judge(urn).valid
        for syntax in SYNTAXES:
            with contextlib.suppress(InvalidURN):
                parsed = parse(name, syntax)
                assert parse(canonical(name, syntax=syntax, equivalence="namespace"), syntax).nid == parsed.nid == nid

    def splits_no_lexical_class(self, nid, urn, data):
        """RFC 8141 §3.1: "only eliminate false negatives": two spellings of one lexical class stay together."""
        nss = urn.split(":", 2)[2]
        spelled = f"URN:{nid.upper()}:" + "".join(
            part if not number else data.draw(st.sampled_from([str.upper, str.lower]))(part[:2]) + part[2:]
            for number, part in enumerate(nss.replace("%", "\n%").split("%"))
        ).replace("\n", "%")
        for syntax in SYNTAXES:
            with contextlib.suppress(InvalidURN):
                assert equivalent(urn, spelled, syntax=syntax)
                assert equivalent(urn, spelled, syntax=syntax, equivalence="namespace")

    @pytest.mark.full
    def test_junk(self):
        """Whatever an NSS holds, the rules say something about it, and soon."""
        long = [text * (2_000 // len(text)) for text in ("a", "0", "-", "a:", "%41", "1-", ";", "A.", "a,")]
        every = "".join(map(chr, range(33, 127)))
        texts = [*long, every, "%D9%A0%D9%A1%D9%A2", "%00", "..", *string.punctuation]
        for nid, nss in itertools.product([*NIDS, "unregistered"], texts):
            urn = f"urn:{nid}:{nss}"
            began = time.process_time()
            found = judge(urn)
            assert namespace_form(urn) == f"urn:{nid}:{found.nss}"
            assert time.process_time() - began < 5, urn[:100]
            assert found.problem in (None, *PROBLEMS), urn
            assert found.reason, urn

    def test_what_no_urn_holds(self):
        """Empty, other scripts' digits, half a surrogate pair: no exception, and never valid."""
        for nid in NIDS:
            for nss in ("", "\0", "é", "٠١٢٣٤٥٦٧٨٩", "\uff10\uff13\uff19", "\ud800", "\n"):
                assert not judge(f"urn:{nid}:{nss}").valid, (nid, nss)


class TestWhatPeopleMeet:
    """Names from catalogues and specifications that stricter grammars reject, and what becomes of them here."""

    @pytest.mark.parametrize(
        ("name", "valid", "problem"),
        [
            ("urn:nbn:hr:204:468943", None, None),
            ("urn:nbn:fi:att:data-catalog-ida", True, None),
            ("urn:isbn:ISBN9784061486683", False, "nss-grammar"),
            ("urn:ISBN:0-395-36341-6", False, "check-digit"),
            ("urn:nbn:de:101:1-2020112012434733354624", True, "dnb-check-digit"),
            ("urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6#part", None, None),
            ("urn:ietf:params:xml:ns:xmpp-sasl", True, None),
        ],
    )
    def test_verdict(self, name, valid, problem):
        found = judge(parse(name).canonical)
        assert (found.valid, found.problem) == (valid, problem)
        assert found.reason

    @pytest.mark.parametrize(
        ("name", "problem"),
        [
            ("urn:isbn:0-395-36341-1.", "untrimmed"),
            ("urn:isbn:0-395-36341-1?", "untrimmed"),
            ("urn:alert:source:internal)", "untrimmed"),
            ("urn:oid:1.3.52.4.1.1.1.13.1.2.1.1.1,", "untrimmed"),
            ("urn:isbn:0-395-36341-1,urn:isbn:3", "untrimmed"),
            ("urn:isbn:0-395-36341-1');URN:ISBN:3", "untrimmed"),
            ("urn:eic:22XWATTPLUS----G.", "untrimmed"),
            ("urn:eic:22xwattplus----g.", "untrimmed"),
            ("urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6;grid=99a", "run-on"),
            ("urn:isbn:0-395-36341-1,hardcover", "run-on"),
            ("urn:isbn:0-395-36341-1/cover.jpg", "run-on"),
            ("urn:isbn:0-395-36341-1.&lang=de", "run-on"),
            ("urn:isbn:0-395-36341-1(a).", "run-on"),
            ("urn:isbn:n-nn-nnnnnn-n", "template"),
            ("urn:issn:XXXX-XXXX", "template"),
            ("urn:nbn:...", "template"),
        ],
    )
    def test_what_nobody_meant_is_not_called_invalid(self, name, problem):
        """Punctuation of a sentence, parameters of a SIP URI or a link, the next name of a list, templates."""
        found = judge(parse(name, "rfc8141" if "&" in name else "rfc2141").canonical)
        assert (found.valid, found.problem, found.nss) == (None, problem, name.split(":", 2)[2])

    @pytest.mark.parametrize(
        ("name", "problem"),
        [
            ("urn:isbn:0-395-36341-6.", "nss-grammar"),
            ("urn:isbn:0-395-36341-6", "check-digit"),
            ("urn:eic:22XWATTPLUS----H.", "nss-grammar"),
            ("urn:isbn:0-395-36341-1:a", "nss-grammar"),
            ("urn:isbn:0-395-36341-1.5", "nss-grammar"),
            ("urn:isbn:,0-395-36341-1", "nss-grammar"),
            ("urn:isbn:abc", "nss-grammar"),
            ("urn:alert:service", "nss-grammar"),
            ("urn:issn:0317-847", "nss-grammar"),
        ],
    )
    def test_what_is_wrong_without_its_punctuation_is_invalid(self, name, problem):
        found = judge(parse(name).canonical)
        assert (found.valid, found.problem) == (False, problem)

    def test_no_rule_is_applied_to_a_name_with_a_component_of_rfc_8141(self):
        """Semantics: null for each namespace, in any case of letters; a "#" is data to one author and a place to another."""
        for nid, entry in EXAMPLES.items():
            for name, _ in [*entry.get("valid", []), *entry.get("unsure", [])]:
                plain = lexical(name)
                if judge(plain).problem in ("run-on", "untrimmed", "template"):
                    continue
                for end in ("#Part", "?=Q", "?+R#f", "?id=A", "#"):
                    urn = plain + end
                    found = judge(urn)
                    assert (found.valid, found.problem, f"urn:{nid}:{found.nss}") == (None, None, urn)

    def test_an_address_goes_on(self):
        """`run-on` names what stands before the first sign that no name of the namespace holds; a "?" is no such sign."""
        assert judge("urn:doi:10.1000/ab/cd?x=1").problem is None
        assert judge("urn:isbn:0-395-36341-1/a?x=1").problem == "run-on"
        assert judge("urn:doi:10.1000/ab/cd?").problem == "untrimmed"

    def test_xml_namespaces_of_the_ietf_stay_exact(self):
        """RFC 3553 §4 against RFC 2648 §2: XML compares names of namespaces byte by byte."""
        assert not equivalent("urn:ietf:params:xml:ns:a", "urn:ietf:params:xml:ns:A", equivalence="namespace")
        assert equivalent("urn:ietf:rfc:2648", "URN:IETF:RFC:2648", equivalence="namespace")

    def test_a_wrong_isbn_is_not_converted(self):
        """To convert it would give it a right check digit: the name of another book."""
        assert canonical("urn:isbn:0-395-36341-6", equivalence="namespace") == "urn:isbn:0395363416"
        assert not equivalent("urn:isbn:0-395-36341-6", "urn:isbn:0-395-36341-1", equivalence="namespace")
        assert equivalent("urn:isbn:0-395-36341-6", "urn:isbn:0395363416", equivalence="namespace")


class TestResolvers:
    def test_links(self):
        """A resolver's address can be made for each example that it is for; only secure ones."""
        for nid, entry in EXAMPLES.items():
            forms = [namespace_form(lexical(name)) for kind in ("valid", "unsure") for name, _ in entry.get(kind, [])]
            links = [link for form in forms if (link := rules()[nid].link(form))]
            assert bool(links) == bool(rules()[nid].resolvers), nid
            for link in links:
                assert link.startswith(("https://", "http://www.opengis.net/def/"))  # which are names themselves
                assert "{" not in link

    def test_only_whole_names_lead_somewhere(self):
        """A service for some names of a namespace is none for those that only begin like them."""
        assert rules()["issn"].link("urn:issn:0317-8471") == "https://portal.issn.org/resource/ISSN/0317-8471"
        assert rules()["issn"].link("urn:issn:0317-84711") is None

    def test_no_entry_is_forgotten(self):
        assert len(TABLE) == len(EXAMPLES) == 105
