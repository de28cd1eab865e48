"""Archives and web archives -> the members in them, in one pass.

tar, pax: tar archives; their extended headers.
zip, zip_entries: zip archives; headers of members, and how members are decoded.
warc, window: web archives; the octets that are looked at before a record is read.
http, codings: bodies of archived HTTP messages; their content codings.
unread: files that are refused or read as text, and why.
"""
