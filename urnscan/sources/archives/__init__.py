"""Archives and web archives -> the members in them, in one pass."""
