"""Documents that people read -> the texts in them.

mail, mime: messages and mboxes; the parts of a message.
long_bodies: parsing of messages without their long bodies.
marc_text: MARC as lines of text; each subfield is a separate text.
pdf, pdfium, pdfium_script: PDFs; processes in which pdfium reads PDFs, and the script that these run.
pdfium_breaks: URNs that a line end breaks on a page, recognised by links and fonts.
"""
