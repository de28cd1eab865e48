"""What people are shown.

text: texts escaped and counted; tables for a terminal and as HTML.
sizes: numbers of octets as people write them, `500MB`.
progress: the bar that shows how far a run is.
"""
