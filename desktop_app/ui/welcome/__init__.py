"""The first-run page."""
