"""Twice the input takes twice the time: of texts that were made to harm, for the scanner and for every pattern of the house.

What is measured is the least CPU time of several runs. A ratio above the bound is measured again, and then with four
times the text: noise goes away by that, what is quadratic does not.
"""

import ast
import dataclasses
import functools
import importlib
import pkgutil
import re
import re._constants as constants
import re._parser as parser
import time
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
import regex

import urnscan
from urnscan.dedup.compare.known_words import known_words
from urnscan.run.options import Options
from urnscan.scanner.scanners import make_scanner
from urnscan.scanner.views.kinds import KINDS
from urnscan.urn.namespaces.native import Native
from urnscan.urn.syntax import SYNTAXES, pattern_of

FOLDER = Path(urnscan.__file__).parent


def least(run, argument, times):
    """The least CPU time of some runs."""
    taken = []
    for _ in range(times):
        began = time.thread_time()
        run(argument)
        taken.append(time.thread_time() - began)
    return min(taken)


def is_slow(run, text_of, times):
    """Whether twice the text takes more than three times as long, and four times the text more than nine times."""
    return exceeds(run, text_of(times), text_of(2 * times), 3) and exceeds(run, text_of(times), text_of(4 * times), 9)


def exceeds(run, text, longer, bound):
    """Whether a longer text takes more than so many times as long."""
    first, second = least(run, text, 1), least(run, longer, 1)
    for _ in range(9):
        if second < bound * first:
            return False
        first, second = min(first, least(run, text, 4)), min(second, least(run, longer, 4))
    return True


SHAPES = {
    "schemes": b"urn:",
    "names in names": b"urn:urn:a:",
    "a NID that never ends": b"urn:a",
    "brackets": b"(",
    "closed brackets": b")",
    "lists": b",urn:",
    "lists of names": b"urn:a:b;urn:",
    "lists in brackets that stay open": b"urn:a:(,",
    "lists in brackets": b"urn:a:(b,urn:a:c),",
    "closing brackets and lists": b"(),urn:a:b&urn:",
    "percents": b"%",
    "percent-encodings": b"%2525",
    "URLs": b"http://r.example/a?b=c&",
    "URLs around names": b"http://r/urn:ab:c?urn:ab:c&",
    "slashes": b"://",
    "colons": b":",
    "labels": b"n:",
    "labels of names": b"urn: nbn: de:",
    "references": b"&#x75;",
    "references that never end": b"&#x",
    "hidden schemes": b"&#117;rn%3A\\u003a",
    "soft hyphens": b"urn:a:\xc2\xad",
    "broken over lines": b"<urn:a:\n",
    "broken at hyphens": b"urn:nbn:de-\n  ",
    "quoted-printable": b"urn:a:b=\n",
    "escapes": b"\\u",
    "escaped schemes": b"\\u0075rn:",
    "backslashes": b"\\",
    "lookalikes": b"urn:a:%D0%B0%CC%81",
    "rejects": b"urn:-:x urn:a.b:c urn:x %zz ",
    "quotes": b"\"'<>",
    "line ends": b"urn:\r\n",
    "labels of numbers": b"isbn",
    "numbers that go on": b"isbn 978-",
    "DOIs": b"doi:10.1000/a",
    "DOIs that go on": b"doi.org/10.1000/(SICI)",
    "names in tags": b"urn:a:b<b>",
    "letters in tags": b"u<b>r",
    "names in names in tags": b"urn:a:u<b>rn:a:",
    "tags that never end": b"u<b ",
    "attributes that never end": b"urn:a:b<b '",
    "comments that never end": b"u<!--",
    "runs": b"urn:a:9</w:t><w:t>\n",
    "punctuation in tags": b"urn:a:b<b>.<b>.",
    "closed elements": b"<b>urn:a:b</b>-1</b>-2",
    "spans": b"<span>urn:a:b</span><span>",
    "addresses of NBNs": b"https://nbn-resolving.org/nbn:",
}
HEADS = {"brackets": b"urn:a:", "closed brackets": b"urn:a:", "percents": b"urn:a:", "a NID that never ends": b""}


@functools.cache
def scanner(syntax, *, views):
    """All that costs is on: trimming, cutting tails, lines, rejects, and all views or none."""
    options = Options(syntax=syntax, trim=True, resolver_tail="cut", recover=KINDS if views else ())
    return make_scanner(options.grammar(count_lines=True, rejects=True), options.recover)


WAYS = [
    pytest.param("rfc8141", False, id="rfc8141"),
    pytest.param("rfc2141", True, id="rfc2141-views"),
    *(pytest.param(syntax, False, id=syntax, marks=pytest.mark.full) for syntax in SYNTAXES if syntax != "rfc8141"),
    *(
        pytest.param(syntax, True, id=f"{syntax}-views", marks=pytest.mark.full)
        for syntax in SYNTAXES
        if syntax != "rfc2141"
    ),
]


@pytest.mark.parametrize(("syntax", "views"), WAYS)
@pytest.mark.parametrize("shape", SHAPES)
def test_scanner(shape, syntax, views):
    """Whatever stands in a text, and whichever syntax and views it is read with."""
    unit, head = SHAPES[shape], HEADS.get(shape, b"")
    scan = scanner(syntax, views=views)

    def run(text):
        for _ in scan.scan_bytes(text):
            pass

    many = (1 << 13 if views else 1 << 18) // len(unit)
    run(np.frombuffer(head + unit, np.uint8))
    assert not is_slow(run, lambda times: np.frombuffer(head + unit * times, np.uint8).copy(), many)


# --- patterns --------------------------------------------------------------------------------------------------------

UNITS = (
    [
        chr(code)
        for code in (9, 10, 13, 29, 30, 31, *range(32, 127))
        if not chr(code).isalnum() or chr(code) in "09AXanux"
    ]
    + '\r\n urn: é \u00ad &#x &a; =" =\'\' <!-- --> ]]> <a  <a:b  </a> @a{ {a= \\\\ \\" "a", 10.1/ 978 9- // :// 1. %25 %C3'.split(
        " "
    )
    + "(a) [a] ;  a, 1X _:a  \\u00 $a \x1fa \x1e0 a= a:b isbn vol. (set) urn:a: 0\r\n -- */ '' \"\" {} [] {[ [{ ,\n .- A. Aa".split(
        " "
    )
    + [
        " - ",
        "a b",
        "1 ",
        "\n ",
        "\n\n",
        " \n",
        "\t\n",
        "<a> ",
        "TY  - ",
        "003@ ",
        "; ",
        "HTTP/1",
        "a: b\n",
        "\ud800",
        "\nA:",
    ]
)
HEADS_OF_TEXTS = (
    "<a ", "<!--", "<!DOCTYPE a [", "<?xml ", '"', "'", "{", "(", "[", "@a{", "@a{b,c={", "urn:", "http://", "http://a/?",
    "10.1000/", "isbn ", "978", "_:a <b> ", '<a> <b> "', "HTTP/1.1 200\r\n", "a: b\r\n", "TY  - ", "003@ \x1f0", "&#x", "&a",
    "%", "1", "a", ".", "\n", " ", "x\n",
)  # fmt: skip
METHODS = "match search fullmatch finditer findall sub subn split".split()
ALIKE = {"finditer": {*"finditer findall sub subn split".split()}, "search": {"search"}, "match": {"match"}}

# What only looks as if it took too long: where and how it is used, nothing of the kind can come.
BOUNDED = {
    "urnscan.records.triples:_STATEMENT": "finds in runs of statements alone, in which every byte belongs to one",
    "urnscan.records.separated:_IN_LIST": "finds in what _LIST matches whole, so each quotation is closed",
}
# Patterns that are asked about one character.
OF_ONE_CHARACTER = {"urnscan.urn.lookalikes:pattern"}
# Patterns that are made in functions, and are no more to be found when they have returned: by what they are tested.
MADE = {
    "urn.numbers.field_values:_in_list": "what it makes are _ISBN, _ISSN, _EAN and _SERIAL",
    "dedup.compare.known_words:known_words": "patterns of words.toml, which are tried as those of modules are",
    "formats.documents.long_bodies:parse": "a word of our own and digits",
    "records.tagged:begun": "of the layouts, whose patterns are tried as those of modules are",
    "records.tagged:ended": "of the layouts, whose patterns are tried as those of modules are",
    "formats.captures:_parts": "a piece of a condition of --where, on one character",
    "framing.json_values:_marks": "a list of plain names",
    "framing.rows:__init__": "two bytes, or one",
    "records.keys:__init__": "the patterns of keys.toml, all in one: records/test_keys.py::test_hostile_texts",
    "records.tagged:_first_lines": "of the layouts, whose patterns are tried as those of modules are",
    "records.tagged:field": "of the layouts, whose patterns are tried as those of modules are",
    "records.tagged:tagged": "of the layouts, whose patterns are tried as those of modules are",
    "records.tagged:_inside": "of the layouts, whose patterns are tried as those of modules are",
    "records.tagged:bound": "of the layouts, whose patterns are tried as those of modules are",
    "records.tagged:first_line": "of the layouts, whose patterns are tried as those of modules are",
    "records.xml_records:_read_start_tag": "the name of an element, and what ends it",
    "scanner.views.bare:_kind": "of _KINDS, which are tried as those of modules are",
    "scanner.views.bare:_address_of_nbn": "of the 256 bytes before a name",
    "formats.captures:_pattern": "conditions of the user, for texts of at most a hundred characters",
    "stores.files:__init__": "one byte of a set",
    "urn.namespaces.patterns:_bytes": "a character, or a set of them",
    "urn.namespaces.own:_check_resolvers": "a pattern of the user, which is only compiled",
    "formats.compression.codecs:__init__": "a few bytes: where a member may begin",
}


def modules():
    """All of the house, but for what needs more than is installed for tests."""
    for found in pkgutil.walk_packages(urnscan.__path__, "urnscan."):
        if not found.name.startswith("urnscan.spark") and found.name != "urnscan.__main__":
            yield importlib.import_module(found.name)


def patterns_in(name, value, depth=0):
    """The patterns in a value of a module: itself, or in mappings, sequences and records of ours."""
    if isinstance(value, (re.Pattern, regex.Pattern)):
        yield name, value
    elif depth == 3:
        return
    elif isinstance(value, type):
        if value.__module__.startswith("urnscan"):
            for attribute, each in list(vars(value).items()):
                if dataclasses.is_dataclass(each) and not isinstance(each, type):
                    yield from patterns_in(f"{name}.{attribute}", each, depth + 1)
    elif isinstance(value, (dict, MappingProxyType)):
        for key, each in value.items():
            yield from patterns_in(f"{name}[{key!r}]", each, depth + 1)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for number, each in enumerate(value):
            yield from patterns_in(f"{name}[{number}]", each, depth + 1)
    elif type(value).__module__.startswith("urnscan") and dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from patterns_in(f"{name}.{field.name}", getattr(value, field.name, None), depth + 1)
        for made, member in vars(type(value)).items():
            if isinstance(member, functools.cached_property):
                yield from patterns_in(f"{name}.{made}", getattr(value, made), depth + 1)


@functools.cache
def patterns():
    """By where it was made first, each pattern and what it is asked."""
    found = {}
    texts = {module.__name__: Path(module.__file__).read_text() for module in modules()}
    for module in modules():
        for name, value in list(vars(module).items()):
            for path, pattern in patterns_in(f"{module.__name__}:{name}", value):
                found.setdefault(id(pattern), (path, pattern))
    known = {path: (pattern, sorted(asked(path, texts))) for path, pattern in found.values()}
    known |= {
        path: (each, ["sub"])
        for path, each in patterns_in("urnscan.dedup.compare.known_words:known_words", known_words()._asdict())
    }
    return known | {path: found for module in modules() for path, found in made_later(module, texts[module.__name__])}


def made_later(module, text):
    """The patterns that `pattern_of` compiles at their first use: of a text, of a name of the module, of all native forms."""
    if "pattern_of(" not in text:
        return
    tree = ast.parse(text)
    calls = {id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for call in ast.walk(tree):
        if not (isinstance(call, ast.Call) and ast.unparse(call.func) == "pattern_of"):
            continue
        (argument,) = call.args
        methods = [calls.get(id(call), "fullmatch")]
        name = f"{module.__name__}:{ast.unparse(argument)}"
        if isinstance(argument, ast.Constant):
            yield name, (pattern_of(argument.value), methods)
        elif isinstance(argument, ast.Name) and argument.id in vars(module):
            yield name, (pattern_of(vars(module)[argument.id]), methods)
        elif isinstance(argument, ast.Name):
            assert name in OF_ONE_CHARACTER
        elif isinstance(argument, ast.Attribute):
            for owner in Native.__subclasses__():
                if isinstance(pattern := getattr(owner, argument.attr, None), str):
                    yield f"{name} of {owner.__name__}", (pattern_of(pattern), methods)


def asked(path, texts):
    """The methods by which a pattern is used, by the names in the code; finditer where they are not told by it.

    Of two methods one may try all that the other tries, and more: then it is left out. `search` tries what `match` tries,
    `finditer` what `search` tries, and the others find as `finditer` does.
    """
    module, name = path.split(":")
    name = re.match(r"\w+", name)[0]
    used = set()
    for other, text in texts.items():
        if other == module or name in imported_names(text):
            used |= set(re.findall(rf"\b{name}(?:\[[^\]]*\])?\.({'|'.join(METHODS)})\(", text))
    leading = next((each for each in ALIKE if used & ALIKE[each]), None)
    return {leading} - {None} | (used & {"fullmatch"}) or {"finditer"}


@functools.cache
def imported_names(text):
    imports = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom))
    return {name.name for node in imports for name in node.names}


def caller(pattern, method, head):
    """What is measured. Behind a head, a search tries nothing new but where it begins in the head, with \\G at its start."""
    if head and method not in ("match", "fullmatch"):
        starts = range(1 if r"\G" in str(pattern.pattern) else len(head))
        return lambda text: [pattern.match(text, start) for start in starts]
    if method in ("sub", "subn"):
        empty = b"" if isinstance(pattern.pattern, bytes) else ""
        return lambda text: pattern.sub(empty, text)
    if method == "finditer":
        return lambda text: sum(1 for _ in pattern.finditer(text))
    return getattr(pattern, method)


def may_begin_in(head, pattern):
    """Whether a match may begin in the head: if not, what stands behind it takes as long as without it."""
    if not isinstance(pattern, regex.Pattern):
        flags = pattern.flags & (re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE)
        try:
            pattern = regex.compile(pattern.pattern, flags | (regex.ASCII if pattern.flags & re.ASCII else 0))
        except regex.error:
            return True
    return any(pattern.match(head, start, partial=True) for start in range(len(head)))


def slow_units(pattern, method, heads):
    """The texts of which more takes too long. Short ones first: some take exponential time."""
    kind = (lambda text: text.encode("utf-8", "surrogatepass")) if isinstance(pattern.pattern, bytes) else str
    for head in heads:
        if head and not may_begin_in(kind(head), pattern):
            continue
        run = caller(pattern, method, kind(head))
        for unit in UNITS:
            if not unit:
                continue

            def text_of(times, head=head, unit=unit):
                return kind(head + unit * times + "\0")

            taken = 0
            for times in (24, 200, 1_500):
                text = text_of(times)
                began, before = time.thread_time(), taken
                run(text)
                taken = time.thread_time() - began
                if taken < max(
                    0.0015, 12 * before
                ):  # linear is some 8 times as long each time, quadratic some 60 times
                    continue
                if least(run, text, 2) < 0.0015:
                    continue
                # So few take no time at all; and to run twice as many of what is exponential would take for ever.
                if times == 24 or is_slow(run, text_of, times):
                    yield head, unit, times
                    break


@pytest.mark.full
@pytest.mark.parametrize("part", range(8))
def test_patterns(part):
    """Each that is compiled in a module, with what repeats; a new one is among them when it is written."""
    slow = {}
    for number, (path, (pattern, methods)) in enumerate(patterns().items()):
        if number % 8 == part and path not in BOUNDED:
            for method in methods:
                if units := list(slow_units(pattern, method, [""])):
                    slow[path, method] = units
    assert slow == {}


@pytest.mark.full
@pytest.mark.parametrize("part", range(8))
def test_patterns_behind_heads(part):
    """What repeats stands behind what the pattern may begin with."""
    slow = {}
    for number, (path, (pattern, methods)) in enumerate(patterns().items()):
        if number % 8 == part and path not in BOUNDED:
            for method in methods:
                if units := list(slow_units(pattern, method, HEADS_OF_TEXTS)):
                    slow[path, method] = units
    assert slow == {}


@pytest.mark.full
def test_patterns_are_found():
    """Else the tests above would see nothing: patterns of modules, in mappings and in records; and what is slow is told."""
    found = patterns()
    for path in ("urnscan.display.text:CONTROL", "urnscan.records.bibtex:_KEY", "urnscan.scanner.views.wraps:_RUN"):
        assert path in found
    assert "urnscan.urn.namespaces.native:self.form of Isbn" in found
    assert "urnscan.urn.lookalikes:_LETTER_OF_ONE_SCRIPT" in found
    assert "urnscan.dedup.compare.known_words:known_words['addition']" in found
    assert any("urnscan.urn.parser:" in path or "urnscan.urn.namespaces" in path for path in found)
    assert set(BOUNDED) <= set(found)
    assert next(slow_units(re.compile(r"\s*\n"), "search", [""]), None)
    assert next(slow_units(re.compile(r"(a|aa)+\Z"), "match", [""]), None)
    behind_a_head = re.compile(r"<a (?:\w|\w\w|\w\w\w)*>")
    assert not next(slow_units(behind_a_head, "match", [""]), None)
    assert next(slow_units(behind_a_head, "match", HEADS_OF_TEXTS), None)


def possessive_groups(items):
    """What `(?:ab)*+` and the like repeat in a pattern that `re` has parsed; `a*+` and `[ab]*+` are no groups."""
    for operation, value in items:
        if operation is constants.POSSESSIVE_REPEAT and not (
            len(value[2]) == 1
            and value[2][0][0] in (constants.LITERAL, constants.NOT_LITERAL, constants.ANY, constants.IN)
        ):
            yield value[2]
        for inside in value if isinstance(value, tuple) else (value,):
            for each in inside if isinstance(inside, list) else (inside,):
                if isinstance(each, parser.SubPattern):
                    yield from possessive_groups(each)


@pytest.mark.full
def test_no_group_of_re_is_possessive():
    """Python before 3.11.5, such as that of Debian 12, matches these wrongly, and says nothing; `(?>(?:ab)*)` is the same, and right."""
    assert [*possessive_groups(parser.parse(r"x(?:(a|(?:bc)++))?"))]
    assert not [*possessive_groups(parser.parse(r"(?>(?:ab)*)[ab]*+a?+"))]
    wrong = [
        path
        for path, (pattern, _) in patterns().items()
        if isinstance(pattern, re.Pattern) and any(possessive_groups(parser.parse(pattern.pattern, pattern.flags)))
    ]
    assert wrong == []


@pytest.mark.full
def test_patterns_that_functions_make():
    """They are in no module when a test looks: each is in the table above, with the reason why it does no harm."""
    made = set()
    for path in FOLDER.rglob("*.py"):
        text = path.read_text()
        if not re.search(r"\bre(?:gex)?\.compile\b", text):
            continue
        for function in ast.walk(ast.parse(text)):
            if isinstance(function, ast.FunctionDef):
                for call in ast.walk(function):
                    if isinstance(call, ast.Call) and ast.unparse(call.func) in ("re.compile", "regex.compile"):
                        name = ".".join(path.relative_to(FOLDER).with_suffix("").parts)
                        made.add(f"{name}:{function.name}")
    assert made == set(MADE)
