"""Archives and web archives -> the members in them, in one pass.

tar: tar archives.
zip, zip_entries: zip archives; headers of members, and how members are decoded.
warc: web archives.
http, codings: bodies of archived HTTP messages; their content codings.
unread: files that are refused or read as text, and why.
"""
