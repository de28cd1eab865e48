"""Views: decoded forms of a text, in which a scan finds URNs that are encoded, escaped or broken over lines.

A URN that only a view finds is called hidden; a URN that is written plainly is called literal. Grammar and kernel are
those of the literal scan. Positions of matches are positions in the original text.

kinds: the names of the views.
references: character references of XML and HTML.
markup, elements: tags and invisible characters in the middle of a URN; the elements that may occur there.
readings: the ways to decode a text, step by step, and the places where a hidden URN may begin.
windows: decodes the text at these places, and collects the results for the scanner.
wraps: decides whether a URN goes on after a line end.
bare, label_words: references to names without `urn:`, such as an ISBN after a label; the search for labels.
recovery: the scanner that returns literal and hidden URNs in the order of the text.
"""
