"""Records of a bibliographic dump: where each begins and ends, its identifier, and what it says of itself.

record: `Record`, and the protocol of the readers of records.
formats: the registry: how each format is recognised, and its reader.
marc, marc_fields: MARC 21 and UNIMARC (ISO 2709); own identifiers of MARC records.
pica: PICA+, normalised and plain.
markup, markup_fields: records cut out of XML; what MARCXML, MODS, Dublin Core, OAI-PMH, SRU and ONIX say.
json_records, json_wrappers: JSON Lines and arrays; which array in an object holds the records.
separated: CSV, TSV.
named_values: values under names, in JSON and in CSV.
triples: N-Triples, N-Quads.
tagged: RIS.
bibtex: BibTeX.
lines: any text, line by line.
fields: where own identifiers stand, by format (`fields.toml`).
identifiers: native identifiers as URNs.
shown: a record as text for a person.

No reader knows what a URN is, and `identifiers` knows no format. Lines, rows of CSV and values of JSON are cut out by
`urnscan.framing`.
"""
