"""Records of RDF/XML, Turtle and TriG: rdflib (the extra `rdf`) parses a dump as a whole, and its statements are grouped by
subject and read as those of N-Triples.

A record is what the dump says of a subject, and of the blank nodes below it: an ISBN, a title or an author often stands
in such a node. A record has no place in the dump. Its octets are its statements in N-Triples.
"""

from __future__ import annotations

import importlib.util
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping

from urnscan.framing.buffer import LONGEST, MARK, Buffer
from urnscan.framing.lines import Damaged, too_long
from urnscan.records.record import Cut, Record, UnreadableError
from urnscan.records.triples import TripleRecords

_MOST_NODES = 100  # objects of one predicate that a path follows
_BIBFRAME = "http://id.loc.gov/ontologies/bibframe/"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_STATUS = f"{_BIBFRAME}status"  # of an identifier that is cancelled or invalid
_QUALIFIER = f"{_BIBFRAME}qualifier"  # of an identifier: "set", "paperback"

_ROOT = re.compile(
    rb"\s*+(?:<\?[^>]*+>\s*+|<!--.*?-->\s*+|<!DOCTYPE[^\[>]*+(?:\[.*?\]\s*+)?+>\s*+)*+<(?:[\w.\-\x80-\xff]++:)?+RDF[\s>/]",
    re.DOTALL,
)
_GAP = rb"(?:\s|\#[^\r\n]*+[\r\n])*+"
_PREFIX = rb"[^\s:<>\"'{}(),;#]*+:"
_DIRECTIVE = rb"(?:@prefix\s++" + _PREFIX + rb"\s*+<[^<>\s]*+>\s*+\.|@base\s*+<[^<>\s]*+>\s*+\.|"
_DIRECTIVE += rb"(?i:PREFIX)\s++" + _PREFIX + rb"\s*+<[^<>\s]*+>|(?i:BASE)\s*+<[^<>\s]*+>)"
_DIRECTIVES = re.compile(_GAP + rb"(?:" + _DIRECTIVE + _GAP + rb")++")
_COMMENTS = re.compile(_GAP + rb"(?:\#[^\r\n]*+\Z)?+")
_QUERY = re.compile(rb"(?i:SELECT|ASK|CONSTRUCT|DESCRIBE|INSERT|DELETE|WITH|LOAD|CLEAR|CREATE|DROP)\b")  # SPARQL
_BEGINNING = re.compile(rb"[<\[(@]|_:|[A-Za-z]")
_SUFFIXES = (".ttl", ".trig", ".turtle")

Said = Mapping[str, Iterable[str]]
"""The statements of a dump about a subject: objects by predicate."""


def is_rdf(head: bytes, name: str) -> bool | None:
    """Whether a dump begins with the element `RDF`, or with directives of Turtle; without these its name tells Turtle."""
    head = head.removeprefix(MARK)
    if _ROOT.match(head):
        return True
    comments = _COMMENTS.match(head)
    begin = comments.end() if comments else 0
    if begin == len(head):
        return None
    if directives := _DIRECTIVES.match(head):
        return not _QUERY.match(head, directives.end())
    if name.endswith(_SUFFIXES):
        return bool(_BEGINNING.match(head, begin))
    return None if begin else False


class RdfRecords(TripleRecords):
    """Reads subjects, each with the blank nodes below it."""

    def __init__(self, *, own: bool, described: bool = False, keys: bool = False) -> None:
        super().__init__(own=own, described=described, keys=keys)
        names = {name.decode() for name in (*self.field_octets, *self.described_octets)}
        self._direct = {name for name in names if ">" not in name}
        self._paths = sorted(tuple(name.split(">")) for name in names if ">" in name)
        self._begun = False

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Find the subjects, in the order in which the dump names them. Raises UnreadableError."""
        if self._begun:  # octets were lost: without them the others may mean anything
            buffer.take_rest()
            return
        self._begun = True
        if importlib.util.find_spec("rdflib") is None:
            buffer.take_rest()
            raise UnreadableError("is RDF/XML or Turtle, and needs rdflib: pip install 'urnscan[rdf]'")
        octets = buffer.take(LONGEST)
        if buffer.has(1):
            buffer.take_rest()
            reason = f"is longer than {LONGEST:,} octets, and RDF/XML and Turtle are read as a whole"
            raise UnreadableError(f"{reason}: make N-Triples of it: {CONVERSION}")
        if buffer.error is not None:
            return
        from urnscan.records.rdf_graph import statements  # noqa: PLC0415 (only where rdflib is needed)

        graph = statements(octets, is_xml=bool(_ROOT.match(octets)))
        offset = 0
        for subject, nodes in _things(graph).items():
            lines = "".join(_line(node, graph[node]) for node in nodes).encode("utf-8", "replace")
            if len(lines) > LONGEST:
                yield too_long(offset)
                continue
            yield Cut(offset, lines, (subject.encode("utf-8", "replace"), self._wanted(graph, subject)))
            offset += len(lines)

    def record(self, cut: Cut) -> Record:
        """Read a subject."""
        subject, said = cut.around
        return self.of_subject(cut, subject, said)

    def _wanted(self, graph: Mapping[str, Said], subject: str) -> list[tuple[bytes, str]]:
        """The values of a subject in the fields that are wanted, by the names of these."""
        said = graph[subject]
        found = [(name, value) for name in said if name in self._direct for value in said[name]]
        for path in self._paths:
            found += ((">".join(path), value) for value in _below(graph, said, path))
        return [(name.encode(), _plain(value)) for name, value in found if not value.startswith("_:")]


CONVERSION = "rapper -q -i guess DUMP > DUMP.nt"
"""The command that makes N-Triples of a dump."""


def _things(graph: Mapping[str, Said]) -> Mapping[str, list[str]]:
    """The subjects that are records, each with itself and the blank nodes below it; a node is below one subject alone."""
    leads = {
        node
        for subject, said in graph.items()
        for node in itertools.chain.from_iterable(said.values())
        if node.startswith("_:") and node != subject
    }
    held: dict[str, list[str]] = {}
    taken: set[str] = set()
    # Blank nodes that lead to each other in a circle come last.
    for subject in (*(each for each in graph if each not in leads), *graph):
        if subject in taken:
            continue
        taken.add(subject)
        nodes = held[subject] = [subject]
        for node in nodes:
            for below in itertools.chain.from_iterable(graph[node].values()):
                if below.startswith("_:") and below in graph and below not in taken:
                    taken.add(below)
                    nodes.append(below)
    return held


def _below(graph: Mapping[str, Said], said: Said, path: tuple[str, ...]) -> Iterator[str]:
    """The values at the end of a path: predicate, class of the node there (or nothing), predicate of that, and so on."""
    predicate, class_, *rest = path
    for node in itertools.islice(said.get(predicate, ()), _MOST_NODES):
        inner = graph.get(node, {})
        if _STATUS in inner or (class_ and f"<{class_}>" not in inner.get(_TYPE, ())):
            continue
        if len(rest) > 1:
            yield from _below(graph, inner, tuple(rest))
            continue
        qualifiers = "".join(f" ({_plain(each).strip('() ')})" for each in inner.get(_QUALIFIER, ()))
        for value in itertools.islice(inner.get(rest[0], ()), _MOST_NODES):
            yield f"<{_plain(value)}{qualifiers}>" if qualifiers else value


def _line(subject: str, said: Said) -> str:
    """The statements of a subject as lines of N-Triples."""
    return "".join(f"{subject} <{predicate}> {each} .\n" for predicate, held in said.items() for each in held)


_END_OF_LITERAL = re.compile(r'"(?:@[\w-]+|\^\^<[^>]*>)?\Z')
_ESCAPED = re.compile(r'\\(["\\nr])|\\u([0-9A-F]{4})')
_MEANINGS = {"n": "\n", "r": "\r"}


def _plain(term: str) -> str:
    """The text of a literal, or an IRI without its brackets."""
    if term.startswith('"'):
        term = _END_OF_LITERAL.sub("", term)[1:]
    elif term.startswith("<"):
        term = term[1:-1]
    return _ESCAPED.sub(lambda match: chr(int(match[2], 16)) if match[2] else _MEANINGS.get(match[1], match[1]), term)
