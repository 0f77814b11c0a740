"""Help: the list of keys, and what this program is."""
