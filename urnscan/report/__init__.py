"""Pages of HTML about a result: one file each, no network, the same octets for the same summary.

figures: classes and occurrences in Parquet -> the summary of a scan.
tallies: sums and largest rows of columns that come in batches.
scan_page: the page of `urnscan report`.
dedup_page: the page of `urnscan dedup --report`.
review_page: the page of `urnscan dedup --review`.
page: the frame of all: templates, escaped text, numbers, the folder of all sources.
excerpts: records side by side: their differences, and the URNs that join them.
spelling_differences: how a spelling differs from its canonical form.
embedded: rows of a table inside the page, for its script.

`templates/` has frame.html (style), parts.html (macros), a file for each page, and their scripts: classes.js, review.js, and parts.js, which is in
both.
"""
