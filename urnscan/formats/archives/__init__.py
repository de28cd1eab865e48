"""Archives and web archives -> the members in them, in one pass.

tar, tar_fast: tar archives; many usual members by one call.
zip, zip_entries: zip archives; headers of members, and how members are decoded.
by_libarchive: 7z, RAR, cabinets and more, by the library libarchive.
arc: web archives older than WARC.
warc, warc_fast, http: WARC files; many usual records by one call; bodies of archived HTTP messages.
"""
