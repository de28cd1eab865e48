"""Commands of LaTeX in the values of BibTeX."""

import io

import pytest

from urnscan.framing.buffer import Buffer
from urnscan.records.format_registry import FORMATS
from urnscan.records.latex import without_commands
from urnscan.records.record import description_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (r"\"Osterreich", "Österreich"),
        (r"{\'e}t{\'{e}}", "{é}t{é}"),
        (r"Ro\c{s}u", "Roşu"),
        (r"Ne{\v c}as", "Ne{č}as"),
        (r"Rodr{\'\i}guez, \'{\i}", "Rodr{í}guez, í"),
        (r"S{\o}rensen, \O rsted, \L{}ukasz", "S{ø}rensen, Ørsted, Łukasz"),
        (r"Stra{\ss}e", "Stra{ß}e"),
        (r"\emph{in vitro} {\it and} \textbf{so}", "{in vitro} {and} {so}"),
        (r"84{\textendash}141", "84{-}141"),
        (r"\alpha \omega \unknown{x} \cite{y} \&", r"\alpha \omega \unknown{x} \cite{y} \&"),
    ],
)
def test_commands(value, text):
    """Names and titles are compared as other databases write them; other commands stay as they are."""
    assert without_commands(value.encode()).decode() == text


def test_only_descriptions():
    """In an identifier, a tilde is no accent: `http://x.org/\\~user`."""
    entry = rb"@article{a, title={Caf\'e}, author={Ro\c{s}u, G.}, url={http://x.org/\~user}}"
    reader = FORMATS["bibtex"].reader(own=True, described=True, keys=True)
    (cut,) = reader.find(Buffer(io.BytesIO(entry).readinto))
    record = reader.record(cut)
    described = description_of(record.description)
    assert (described.title, described.author) == ("Café", "Roşu, G.")
    assert [own.text for own in record.own] == [r"http://x.org/\~user"]
