"""The command palette: find and do anything by typing."""

from .palette import Entry, Palette

__all__ = ["Entry", "Palette"]
