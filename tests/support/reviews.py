"""Dumps with records in doubt, and what a page of review holds."""

import base64
import re
import zlib

HOSTILE = [
    '=HYPERLINK("http://x.example")',
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "\u202etxet desrever",
    "+1'\"\u2028{{ 7 * 7 }}",
]
"""Titles that must be text in a page, and no formula in a table."""

_ISBNS = ["9780306406157", "9780395363416", "9780198526636", "9780262033848", "9783999990521", "9783999990774"]


def shelf(titles=HOSTILE):
    """A dump in CSV: for each title three records with one ISBN, of which the third is another edition."""
    rows = ["id,title,isbn,year,edition,author"]
    for isbn, title in zip(_ISBNS, titles, strict=False):
        quoted = '"' + title.replace('"', '""') + '"'
        rows += [
            f'{isbn}-{at},{quoted},{isbn},{2000 + at // 3},{1 + at // 3}. ed.,"Wimpelfeld, A."' for at in (1, 2, 3)
        ]
    return "\n".join(rows) + "\n"


def blocks(page, name):
    """What a page holds in the elements with this class, unpacked."""
    found = re.findall(rf'<script type="text/plain" class="{name}">([A-Za-z0-9+/=]*)</script>', page)
    return [zlib.decompress(base64.b64decode(each)) for each in found]
