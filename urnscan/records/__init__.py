"""Records of a bibliographic dump: their places, IDs, record-level identifiers, keys and descriptions.

fields: the table of the fields that contain record-level identifiers (`fields.toml`), and how rows are applied.
record: `Record`, and the base classes of the readers.
columns: columns of many records that are read together.
record_columns: records that readers find -> these columns.
decoded_text: text of records: decoding, replacement of surrogates and controls.
description: title, year, edition and other properties of a work, by a table (`descriptions.toml`).
format: the protocol of formats: what a module declares about the format that it reads.
format_registry: the formats by name, in the order in which they are tried.
marc: MARC in the exchange format (ISO 2709).
marc_runs: records of ISO 2709 without faults: compiled code finds many by a call, and splits them into fields.
marc_fields: fields of MARC, written in any format -> the form of ISO 2709.
marc_values: compiled code that reads columns of fields: family, control number, record-level identifiers, description.
marc_columns: columns of fields -> columns of records.
marc_bytes: bytes of MARC -> text; packed descriptions -> descriptions.
marc_carry: fields of MARC copied from one record into another.
mab: MAB2, which is recognised and not read.
pica: PICA+, normalised and plain.
xml_records: the places of records in XML.
xml_formats: the formats of records in XML, and how a dump is recognised.
xml_runs: records of XML in a usual form, many by a call of compiled code.
xml_scope: the elements around a record, and their namespaces.
xml_text: the parser of one record in XML, and its text.
xml_kinds: the table of XML formats, and their fields: MARCXML, MODS, Dublin Core, OAI-PMH, SRU and ONIX.
marcxml_runs: records of MARCXML in their most usual form: compiled code splits them into columns of fields.
json_records: JSON Lines and arrays, also inside objects.
separated: CSV, TSV.
named_values: values with names, in JSON and in CSV.
triples: N-Triples, N-Quads.
tagged: lines with tags.
citations: references in lines with tags: RIS, PubMed, Ovid, EndNote, Web of Science.
marc_lines: MARC in lines with tags: MarcEdit, yaz-marcdump, Aleph.
bibtex: BibTeX.
latex: commands of LaTeX in titles and names, for BibTeX.
lines: any text, line by line.
identifiers: native identifiers -> URNs.
doi_spellings: DOI as programs write them -> plain DOI.
wrong_numbers: ISBN and ISSN that are wrong, and why.
identifier_columns: columns of native identifiers -> URNs.
keys: other identifiers -> keys, a common form for all spellings of an identifier, by a table (`keys.toml`).
key_columns: columns of identifiers -> keys.

Readers do not know what a URN is, and `identifiers` does not know formats. `urnscan.framing` finds lines, rows of CSV
and values of JSON.
"""
