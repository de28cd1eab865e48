"""Archives and web archives -> the members in them, in one pass.

tar, tar_fast: tar archives; usual members, many at once.
zip, zip_entries: zip archives; headers of members, and how members are decoded.
by_libarchive: 7z, RAR, cabinets and others, by the library libarchive.
arc: web archives of the time before WARC.
warc, warc_fast, http: web archives; usual records, many at once; bodies of archived HTTP messages.
"""
