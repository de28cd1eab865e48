"""Documents that people read -> the texts in them.

mail, mime: messages and mboxes; the parts of a message.
long_bodies: messages parsed without their long bodies.
marc_text: MARC in lines; its subfields as texts of their own.
pdf, pdfium, pdfium_script: PDFs; the processes in which pdfium reads them, and the script that they run.
pdfium_breaks: names that line ends break on a page, recognised by links and fonts.
"""
