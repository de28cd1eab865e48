"""Records of a bibliographic dump: where each begins and ends, its identifier, and what it says of itself.

buffer: octets of a dump, looked through and then taken front to back.
record: `Record`, `Damaged`, and the protocol of their readers.
formats: the registry: how each format is recognised, and its reader.
marc, marc_fields: MARC 21 and UNIMARC (ISO 2709); own identifiers of MARC records.
pica: PICA+, normalised and plain.
markup, markup_fields: records cut out of XML; what MARCXML, MODS, Dublin Core, OAI-PMH, SRU and ONIX say.
json_heads, json_values: where the records of a JSON text are; JSON Lines and arrays.
separated: CSV, TSV.
named_values: values under names, in JSON and in CSV.
triples: N-Triples, N-Quads.
tagged: RIS.
bibtex: BibTeX.
lines: any text, line by line.
fields: where own identifiers stand, by format (`fields.toml`).
identifiers: native identifiers as URNs.
shown: a record as text for a person.

No reader knows what a URN is, and `identifiers` knows no format.
"""
