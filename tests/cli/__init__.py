"""The installed command in a fresh folder: what users and their scripts rely on."""
