"""Twice the input takes twice the time: of texts that were made to harm, for the scanner and for every pattern of the house.

What is measured is the least CPU time of several runs. A ratio above the bound is measured again: noise goes away by that,
what is quadratic does not.
"""

import ast
import dataclasses
import functools
import importlib
import pkgutil
import re
import time
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
import regex

import urnscan
from urnscan.run.options import Options
from urnscan.scanner.views import KINDS, make_scanner
from urnscan.urn.syntax import SYNTAXES

FOLDER = Path(urnscan.__file__).parent


def least(run, argument, times):
    """The least CPU time of some runs."""
    taken = []
    for _ in range(times):
        began = time.thread_time()
        run(argument)
        taken.append(time.thread_time() - began)
    return min(taken)


def ratio(run, once, twice, bound):
    """How many times as long the second argument takes as the first."""
    first, second = least(run, once, 1), least(run, twice, 1)
    for _ in range(9):
        if second < bound * first:
            break
        first, second = min(first, least(run, once, 4)), min(second, least(run, twice, 4))
    return second / first


SHAPES = {
    "schemes": b"urn:",
    "names in names": b"urn:urn:a:",
    "a NID that never ends": b"urn:a",
    "brackets": b"(",
    "closed brackets": b")",
    "lists": b",urn:",
    "lists of names": b"urn:a:b;urn:",
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
}
HEADS = {"brackets": b"urn:a:", "closed brackets": b"urn:a:", "percents": b"urn:a:", "a NID that never ends": b""}


@functools.cache
def scanner(syntax, *, views):
    """All that costs is on: trimming, cutting tails, lines, rejects, and all views or none."""
    options = Options(syntax=syntax, trim=True, resolver_tail="cut", recover=KINDS if views else ())
    return make_scanner(options.grammar(count_lines=True, rejects=True), options.recover)


WAYS = [
    *(pytest.param(syntax, False, id=syntax) for syntax in SYNTAXES),
    pytest.param("rfc2141", True, id="views"),
    *(
        pytest.param(syntax, True, id=f"{syntax}-views", marks=pytest.mark.slow)
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
        for _ in scan.scan_octets(text):
            pass

    many = (1 << 13 if views else 1 << 18) // len(unit)
    once, twice = (np.frombuffer(head + unit * times, np.uint8).copy() for times in (many, 2 * many))
    run(once[:1000])
    assert ratio(run, once, twice, 2.2) < 2.2


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

# What only looks as if it took too long: where and how it is used, nothing of the kind can come.
BOUNDED = {
    "urnscan.records.triples:_STATEMENT": "finds in runs of statements alone, in which every octet belongs to one",
}
# Patterns that are made in functions, and are no more to be found when they have returned: by what they are tested.
MADE = {
    "records.identifiers:_in_list": "what it makes are _ISBN, _ISSN, _EAN and _SERIAL",
    "framing.json_values:_marks": "a list of plain names",
    "framing.rows:__init__": "two octets, or one",
    "sources.files:__init__": "one octet of a set",
    "urn.lookalikes:_patterns": "sets of characters",
    "urn.lookalikes:compiled": "the same",
    "sources.compression.members:_header": "a few octets: where a member may begin",
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
    elif depth == 3 or isinstance(value, type):
        return
    elif isinstance(value, (dict, MappingProxyType)):
        for key, each in value.items():
            yield from patterns_in(f"{name}[{key!r}]", each, depth + 1)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for number, each in enumerate(value):
            yield from patterns_in(f"{name}[{number}]", each, depth + 1)
    elif type(value).__module__.startswith("urnscan") and dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from patterns_in(f"{name}.{field.name}", getattr(value, field.name, None), depth + 1)


@functools.cache
def patterns():
    """By where it was made first, each pattern and what it is asked."""
    found = {}
    texts = {module.__name__: Path(module.__file__).read_text() for module in modules()}
    for module in modules():
        for name, value in list(vars(module).items()):
            for path, pattern in patterns_in(f"{module.__name__}:{name}", value):
                found.setdefault(id(pattern), (path, pattern))
    return {path: (pattern, sorted(asked(path, texts))) for path, pattern in found.values()}


def asked(path, texts):
    """The methods by which a pattern is used, by the names in the code; match and finditer where they are not told by it."""
    module, name = path.split(":")
    name = re.match(r"\w+", name)[0]
    used = set()
    for other, text in texts.items():
        if other == module or (
            name in text and re.search(rf"^from [^\n]+ import \(?[^)]*\b{name}\b", text, re.MULTILINE)
        ):
            used |= set(re.findall(rf"\b{name}(?:\[[^\]]*\])?\.({'|'.join(METHODS)})\(", text))
    return used or {"match", "finditer"}


def caller(pattern, method):
    if method in ("sub", "subn"):
        empty = b"" if isinstance(pattern.pattern, bytes) else ""
        return lambda text: pattern.sub(empty, text)
    if method == "finditer":
        return lambda text: sum(1 for _ in pattern.finditer(text))
    return getattr(pattern, method)


def slow_units(pattern, method, heads):
    """The texts of which twice as much takes more than three times as long. Short ones first: some take exponential time."""
    run = caller(pattern, method)
    kind = (lambda text: text.encode("utf-8", "surrogatepass")) if isinstance(pattern.pattern, bytes) else str
    for head in heads:
        for unit in UNITS:
            if not unit:
                continue
            for times in (24, 200, 1_500):
                text = kind(head + unit * times + "\0")
                began = time.thread_time()
                run(text)
                if time.thread_time() - began < 0.0015:
                    continue
                if least(run, text, 2) < 0.0015:
                    continue
                # So few take no time at all; and to run twice as many of what is exponential would take for ever.
                if times == 24 or ratio(run, text, kind(head + unit * 2 * times + "\0"), 3) > 3:
                    yield head, unit, times
                    break


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


@pytest.mark.slow
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


def test_patterns_are_found():
    """Else the tests above would see nothing: patterns of modules, in mappings and in records; and what is slow is told."""
    found = patterns()
    for path in ("urnscan.cli.scan_command:CONTROL", "urnscan.records.bibtex:_KEY", "urnscan.scanner.views.wraps:_RUN"):
        assert path in found
    assert any(path.startswith("urnscan.urn.namespaces.") and path.endswith(".form") for path in found)
    assert any("urnscan.urn.parser:" in path or "urnscan.urn.namespaces" in path for path in found)
    assert set(BOUNDED) <= set(found)
    assert next(slow_units(re.compile(r"\s*\n"), "search", ["x"]), None)
    assert next(slow_units(re.compile(r"(a|aa)+\Z"), "match", [""]), None)


def test_patterns_that_functions_make():
    """They are in no module when a test looks: each is in the table above, with the reason why it does no harm."""
    made = set()
    for path in FOLDER.rglob("*.py"):
        tree = ast.parse(path.read_text())
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                for call in ast.walk(function):
                    if isinstance(call, ast.Call) and ast.unparse(call.func) in ("re.compile", "regex.compile"):
                        name = ".".join(path.relative_to(FOLDER).with_suffix("").parts)
                        made.add(f"{name}:{function.name}")
    assert made == set(MADE)
