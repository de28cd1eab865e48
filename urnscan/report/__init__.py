"""Pages of HTML about a result. A page is a single file that needs no network. Equal summaries give equal bytes.

figures: tables of classes and occurrences -> the summary of a scan.
tallies: sums, and the rows with the largest numbers, of columns that come in batches.
scan_page: the page of `urnscan report`.
dedup_page: the page of `urnscan dedup --report`.
review_page: the page of `urnscan dedup --review`.
page: parts of all pages: templates, escaped text, numbers, the common folder of all sources.
excerpts: records next to each other: their differences, and the URNs that join them.
spelling_differences: how a spelling differs from its canonical form.
embedded: rows of a table inside a page, for its script.

`templates/` has frame.html (style), parts.html (macros), a file for each page, and their scripts: classes.js,
review.js, and parts.js, which is a part of both.
"""
