"""Records of a bibliographic dump: the place of each, its name, and the identifiers in its own fields.

fields: the table of the fields that hold own identifiers (`fields.toml`), and how its rows are applied.
record: `Record`, and the base class of the readers.
columns: columns of many records that are read together.
record_columns: records that readers find, put into these columns.
decoded_text: text of records, decoded, whole, and in a line.
description: what a record says of its thing (title, year, edition), by a table of fields (`descriptions.toml`).
format: the protocol of formats: what a module says of the format that it reads.
format_registry: the list of the formats, by their names, in the order in which they are asked.
marc: MARC in the exchange format (ISO 2709).
marc_runs: records of it without faults, found and taken apart into columns of fields, many by one call of compiled code.
marc_fields: fields of MARC in whatever they are written, brought into the form of ISO 2709.
marc_values: what columns of fields say, read by compiled code: family, control number, own identifiers, description.
marc_columns: columns of records made of that.
marc_octets: octets of MARC decoded, and descriptions unpacked.
marc_carry: fields of MARC taken from one record and put into another.
pica: PICA+, normalised and plain.
xml_records: records cut out of XML.
xml_runs: records in which nothing is unusual, many by one call of compiled code.
xml_scope: the elements around a record, and their namespaces.
xml_kinds: the table of XML formats, and their fields: MARCXML, MODS, Dublin Core, OAI-PMH, SRU and ONIX.
marcxml_runs: records of MARCXML in their most usual form, taken apart into columns of fields by compiled code.
json_records: JSON Lines and arrays, also within objects.
separated: CSV, TSV.
named_values: values under names, in JSON and in CSV.
triples: N-Triples, N-Quads.
tagged: fields in lines with tags: RIS, PubMed, EndNote, Web of Science.
marc_lines: MARC in such lines: MarcEdit, yaz-marcdump, Aleph.
bibtex: BibTeX.
lines: any text, line by line.
identifiers: native identifiers as URNs.
identifier_columns: many of them at once.
keys: other identifiers in one form for all their spellings, by a table (`keys.toml`).
key_columns: the keys of many records.

No reader knows what a URN is, and `identifiers` knows no format. `urnscan.framing` cuts out lines, rows of CSV and
values of JSON.
"""
