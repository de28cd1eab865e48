"""Records of a bibliographic dump: where each begins and ends, what it is called, and what it says of itself.

    formats.py      the registry: how a format is recognised, and who reads it
    marc.py         MARC 21 (ISO 2709); marc_fields.py: of it and of MARCXML what is a record's own
    pica.py         PICA+, normalised and plain
    markup.py       records cut out of XML; markup_fields.py: what MARCXML, MODS, Dublin Core, OAI-PMH, SRU, ONIX say
    json_values.py  JSON Lines, JSON arrays; json_heads.py: what of a JSON text are its records
    separated.py    CSV, TSV; named_values.py: values under names, in JSON and in CSV
    triples.py      N-Triples, N-Quads
    tagged.py       RIS
    bibtex.py       BibTeX
    lines.py        any text, line by line

    record.py       what they give
    buffer.py       what they read from
    fields.py       where own identifiers stand (fields.toml)
    identifiers.py  native identifiers as URNs
    shown.py        a record as a person reads it

No reader knows what a URN is, and `identifiers.py` knows no format.
"""
