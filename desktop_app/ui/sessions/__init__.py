"""All sessions at once: the search in everything that was said, and the trash."""
