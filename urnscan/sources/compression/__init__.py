"""Compressed files -> the texts in them; a damaged member costs no other."""
