"""Statements of a dump in RDF/XML, Turtle or TriG, by subject, as rdflib parses them.

A hostile dump costs no more than a large one: nothing outside of it is read, and neither entities nor prefixes unfold to
more than a limit.
"""

from __future__ import annotations

import contextlib
import io
import logging
import re
from collections.abc import Iterator, Mapping
from typing import Any
from xml.parsers import expat
from xml.sax import SAXException, SAXParseException
from xml.sax.xmlreader import InputSource

import rdflib
from rdflib.exceptions import ParserError
from rdflib.plugins.parsers.notation3 import BadSyntax, RDFSink
from rdflib.plugins.parsers.rdfxml import RDFXMLHandler, create_parser
from rdflib.plugins.parsers.trig import TrigSinkParser
from rdflib.store import Store

from urnscan.framing.buffer import LONGEST
from urnscan.records.record import UnreadableError

_MOST = 1 << 28  # characters of all statements
_LONGEST_XML = 1 << 16  # characters of a literal of XML, which rdflib copies with each element in it
_BASE = "dump:/"  # of IRIs that are relative to the dump, whose address nobody knows: they stay as they are
_REFERENCE = re.compile("&([^#;&][^;&]*);")
_NO_IRI = re.compile('[\0-\x20<>"{}|^`\\\\]')
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})
_LINE = re.compile(r":([0-9]+):[0-9]+: ")


class _Statements(Store):
    """A store that takes statements, and numbers blank nodes in their order: names that rdflib makes are random."""

    context_aware = True

    def __init__(self) -> None:
        super().__init__()
        self.by_subject: dict[str, dict[str, dict[str, None]]] = {}
        self._blank: dict[str, str] = {}
        self._characters = 0

    def add(self, triple: Any, context: Any, quoted: bool = False) -> None:  # noqa: ANN401, ARG002 (as rdflib has it)
        """Take a statement. Raises UnreadableError if there are too many."""
        subject, predicate, value = (self._term(term) for term in triple)
        self._characters += len(subject) + len(predicate) + len(value)
        if self._characters > _MOST:
            raise UnreadableError(f"has more than {_MOST:,} characters of statements: make N-Triples of it")
        self.by_subject.setdefault(subject, {}).setdefault(predicate[1:-1], {})[value] = None

    def _term(self, term: Any) -> str:  # noqa: ANN401
        """A term as N-Triples has it."""
        if isinstance(term, rdflib.BNode):
            return self._blank.setdefault(term, f"_:b{len(self._blank) + 1}")
        if not isinstance(term, rdflib.Literal):
            return f"<{_NO_IRI.sub(_code, term.removeprefix(_BASE))}>"
        text = f'"{str(term).translate(_ESCAPES)}"'
        if term.language:
            return f"{text}@{term.language}"
        return f"{text}^^<{_NO_IRI.sub(_code, term.datatype)}>" if term.datatype else text


def _code(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04X}"


class _XmlHandler(RDFXMLHandler):
    """A handler of RDF/XML that takes a text at once: the one of rdflib copies it with each piece."""

    def __init__(self, store: rdflib.Graph) -> None:
        super().__init__(store)
        self._pieces: list[str] = []

    def characters(self, content: str) -> None:
        """Take a piece of text."""
        self._pieces.append(content)

    def startElementNS(self, name: Any, qname: Any, attrs: Any) -> None:  # noqa: ANN401, N802 (as rdflib has it)
        """Begin an element."""
        self._give_text()
        super().startElementNS(name, qname, attrs)
        if isinstance(self.current.object, rdflib.Literal) and self.current.char == self.literal_element_char:
            self.current.object = ""  # one of XML grows, and rdflib would parse it with each element in it

    def endElementNS(self, name: Any, qname: Any) -> None:  # noqa: ANN401, N802
        """End an element. Raises UnreadableError where a literal of XML is too long."""
        self._give_text()
        text = self.current.object
        if type(text) is str:  # no term yet: a literal of XML, or an element in one
            if len(text) > _LONGEST_XML or len(self.parent.object or "") > _LONGEST_XML:
                raise UnreadableError(f"has a literal of XML with more than {_LONGEST_XML:,} characters")
            if self.current.end == self.property_element_end:
                self.current.object = rdflib.Literal(text, datatype=rdflib.RDF.XMLLiteral)
        super().endElementNS(name, qname)

    def _give_text(self) -> None:
        if self._pieces:
            super().characters("".join(self._pieces))
            self._pieces.clear()


class _TurtleParser(TrigSinkParser):
    """A parser of Turtle and TriG in which a number stays as it is written: 0451450523 may be an ISBN."""

    def nodeOrLiteral(self, argstr: str, i: int, res: Any) -> int:  # noqa: ANN401, N802 (as rdflib has it)
        end = super().nodeOrLiteral(argstr, i, res)
        if end >= 0 and isinstance(res[-1], int):
            res[-1] = rdflib.Literal(argstr[self.skipSpace(argstr, i) : end], datatype=rdflib.XSD.integer)
        return end


def statements(octets: bytes, *, is_xml: bool) -> Mapping[str, Mapping[str, Mapping[str, None]]]:
    """The objects in a dump by subject and predicate, in their order; terms as N-Triples has them, predicates without
    brackets. Raises UnreadableError.
    """
    store = _Statements()
    graph = rdflib.Graph(store, bind_namespaces="none")
    with _as_written():
        try:
            (_parse_xml if is_xml else _parse_turtle)(octets, graph)
        except RecursionError:
            raise UnreadableError("cannot be read: its nodes are nested too deep") from None
    return store.by_subject


def _parse_turtle(octets: bytes, graph: rdflib.Graph) -> None:
    """Parse Turtle or TriG. Raises UnreadableError."""
    parser = _TurtleParser(RDFSink(graph), baseURI=_BASE, turtle=True)
    try:
        parser.loadBuf(octets.decode())
    except UnicodeDecodeError as error:
        line = octets.count(b"\n", 0, error.start) + 1
        raise UnreadableError(f"cannot be read: line {line:,} is not UTF-8") from None
    except BadSyntax as error:
        raise _unreadable(error.lines + 1, error._why) from None  # noqa: SLF001 (its text has several lines)
    except (UnreadableError, RecursionError):
        raise
    except Exception as error:  # noqa: BLE001 (rdflib raises many on damaged text)
        raise _unreadable(parser.lines + 1, str(error) or type(error).__name__) from None


def _parse_xml(octets: bytes, graph: rdflib.Graph) -> None:
    """Parse RDF/XML. Raises UnreadableError."""
    source = InputSource()
    source.setByteStream(io.BytesIO(octets))
    with contextlib.suppress(UnicodeDecodeError):
        octets.decode()
        source.setEncoding("utf-8")  # what the declaration says may be of the text before it was decoded
    _check_entities(octets, source.getEncoding())
    parser = create_parser(source, graph)  # type: ignore[arg-type]  # it wants the one of rdflib, and uses no more of it
    parser.setContentHandler(_XmlHandler(graph))
    try:
        parser.parse(source)
    except SAXParseException as error:
        raise _unreadable(error.getLineNumber() or 1, error.getMessage()) from None
    except (ParserError, SAXException) as error:
        text = str(error)
        line = _LINE.search(text)
        raise _unreadable(int(line[1]) if line else 1, text[line.end() :] if line else text) from None
    except (UnreadableError, RecursionError):
        raise
    except Exception as error:  # noqa: BLE001 (rdflib raises many on damaged text)
        line_number = parser.getLineNumber()  # type: ignore[attr-defined]
        raise _unreadable(line_number or 1, str(error) or type(error).__name__) from None


def _unreadable(line: int, reason: str) -> UnreadableError:
    return UnreadableError(f"cannot be read: line {line:,}: {' '.join(reason.split())[:200]}")


def _check_entities(octets: bytes, encoding: str | None) -> None:
    """Raise UnreadableError if entities lead out of a dump, or unfold to much more than it."""
    lengths: dict[str, int] = {}
    wrong: list[str] = []

    def declared(name: str, is_parameter: bool, value: str | None, *_: object) -> None:
        if is_parameter or value is None:
            wrong.append(f"its entity {name} is one of parameters, or stands in another file")
            return
        inner = _REFERENCE.findall(value)
        lengths.setdefault(name, len(value) + sum(lengths.get(each, LONGEST) for each in inner if each not in _KNOWN))

    parser = expat.ParserCreate(encoding)
    parser.EntityDeclHandler = declared
    parser.StartElementHandler = lambda *_: _stop()
    with contextlib.suppress(expat.ExpatError, _EndOfHead):  # the other parser tells where it is damaged
        parser.Parse(octets, True)
    if not lengths and not wrong:
        return
    count = sum(octets.count(f"&{name};".encode()) * length for name, length in lengths.items())
    if count > LONGEST:
        wrong.append(f"its entities unfold to more than {LONGEST:,} characters")
    if wrong:
        raise UnreadableError(f"is not read: {wrong[0]}")


_KNOWN = frozenset(("amp", "lt", "gt", "quot", "apos"))


class _EndOfHead(Exception):  # noqa: N818 (it is no error)
    """The first element begins."""


def _stop() -> None:
    raise _EndOfHead


@contextlib.contextmanager
def _as_written() -> Iterator[None]:
    """Have rdflib keep literals as they are written (`01` is a number, and stays), and say nothing about odd ones."""
    logger = logging.getLogger("rdflib.term")
    before = rdflib.NORMALIZE_LITERALS, logger.disabled
    rdflib.NORMALIZE_LITERALS, logger.disabled = False, True
    try:
        yield
    finally:
        rdflib.NORMALIZE_LITERALS, logger.disabled = before
