"""Pages of HTML about a result, one file each: no network, the same octets for the same summary.

dedup.py        the report of `urnscan dedup`: what it takes, what it shows; without a script
scan.py         that of `urnscan report`: what a scan found
reading.py      classes and occurrences in Parquet -> what scan.py takes
tallies.py      figures of rows that come in batches
page.py         the frame of every page: Jinja2's templates/ with what makes any text harmless, numbers, bars
charts.py       where the bars, lines and numbers of a chart stand
excerpts.py     records side by side: what differs between them, what joins them
spellings.py    how a spelling differs from its canonical form
embedding.py    rows in a page for its script
templates/      frame.html (style), parts.html and charts.html (macros), a file for each page, classes.js
"""
