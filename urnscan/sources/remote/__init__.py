"""What a URL names: found, read and written."""
