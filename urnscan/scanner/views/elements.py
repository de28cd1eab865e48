"""The elements of HTML and office documents that may occur in the middle of a name, and their kinds.

All other elements separate texts: paragraphs, cells, fields, notes, deleted or raised text.
"""

from __future__ import annotations

import numpy as np

from urnscan.compiled.strings import index_words
from urnscan.scanner.views.markup import EMPTY, HYPHENATED, LOOSE, PLAIN, TEXT, TIGHT, Elements

_HTML = {
    LOOSE: "b bdi bdo big em font i mark nobr small span strong u",
    TIGHT: "a abbr acronym cite code data dfn kbd samp time tt var",
    EMPTY: "wbr",
}
# ECMA-376, part 1: 17.3.2 (runs), 17.3.3 (content of runs), 17.13 (annotations); 18.4 (runs of a cell, whose namespace has
# no prefix, or x); 21.1.2.3 (runs of DrawingML). Elements of deleted, hidden, struck-out or raised text, of fields, notes,
# tabs and line ends are left out.
_OFFICE = {
    TIGHT: "w:hyperlink text:a",
    PLAIN: """
        w:r w:rPr w:rStyle w:rFonts w:b w:bCs w:i w:iCs w:caps w:smallCaps w:outline w:shadow w:emboss w:imprint w:noProof
        w:snapToGrid w:color w:spacing w:w w:kern w:sz w:szCs w:highlight w:u w:effect w:bdr w:shd w:fitText w:rtl w:cs
        w:em w:lang w:eastAsianLayout w:specVanish w:ins w:moveTo w:moveToRangeStart w:moveToRangeEnd w:rPrChange
        w:proofErr w:bookmarkStart w:bookmarkEnd w:commentRangeStart w:commentRangeEnd w:commentReference
        w:annotationRef w:permStart w:permEnd w:smartTag w:smartTagPr w:lastRenderedPageBreak w:softHyphen
        w14:ligatures w14:numForm w14:numSpacing w14:stylisticSets w14:cntxtAlts w14:textOutline w14:textFill
        a:r a:rPr a:solidFill a:srgbClr a:schemeClr a:sysClr a:prstClr a:lumMod a:lumOff a:alpha a:tint a:shade a:noFill
        a:ln a:effectLst a:highlight a:uLnTx a:uLn a:uFillTx a:uFill a:latin a:ea a:cs a:sym a:hlinkClick
        a:hlinkMouseOver a:extLst a:ext
        text:span text:bookmark text:bookmark-start text:bookmark-end text:reference-mark text:reference-mark-start
        text:reference-mark-end text:soft-page-break text:change text:change-start text:change-end
        text:alphabetical-index-mark text:alphabetical-index-mark-start text:alphabetical-index-mark-end
        text:toc-mark text:toc-mark-start text:toc-mark-end office:annotation-end
    """,
    TEXT: "w:t w:instrText a:t",
    HYPHENATED: "w:noBreakHyphen",
}
_ATTRIBUTES = "lang style background color font letter mso text"
"""First attributes of a `<span>` that sets a style (`lang`, `style`), then first words of the value of `style`.

The numbers of the first two words are `_LANG` and `_STYLE` in `markup`.
"""


_SHEET = {PLAIN: "r rPr rFont charset family outline shadow condense extend color sz scheme", TEXT: "t"}


def _elements() -> Elements:
    kinds = {name: kind for kind, names in _OFFICE.items() for name in names.split()}
    kinds |= {prefix + name: kind for kind, names in _SHEET.items() for name in names.split() for prefix in ("", "x:")}
    kinds |= {f"x:{name}": PLAIN for name in ("b", "i", "u")}
    kinds |= {name: kind for kind, names in _HTML.items() for name in (names + " " + names.upper()).split()}
    names = index_words([name.encode() for name in kinds])
    return Elements(names, np.array(list(kinds.values()), np.uint8), index_words(_ATTRIBUTES.encode().split()))


ELEMENTS = _elements()
