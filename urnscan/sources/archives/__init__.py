"""Archives and web archives -> the members in them, in one pass.

tar, tar_heads: tar archives; members that are as usual, many at once.
zip, zip_entries: zip archives; headers of members, and how members are decoded.
mail, messages: messages and mboxes; what is in a message.
pdf, pdfium, pdfium_script: PDFs; the processes in which pdfium reads them, and the script that they run.
pdfium_breaks: names that line ends break on a page, told by links and fonts.
arc: web archives before WARC.
warc, warc_heads, http: web archives; records that are as usual, many at once; bodies of archived HTTP messages.
"""
