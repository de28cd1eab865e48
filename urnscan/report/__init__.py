"""Pages of HTML about a result, one file each: no network, no script, the same octets for the same summary.

dedup.py        the report of `urnscan dedup`: what it takes, what it shows
page.py         the frame of every page: Jinja2's templates/ with what makes any text harmless, numbers, bars
excerpts.py     records side by side: what differs between them, what joins them
templates/      frame.html (style), parts.html (macros), a file for each page
"""
