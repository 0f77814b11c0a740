"""PySide6 without its import hook.

PySide6 replaces ``__import__`` so that a module may ask for snake_case names (``__feature__``). For
that it reads the source of every module that is imported after it and keeps the lines: a tenth of
a second and 15 MB of this program's start, and two calls more at each import inside a function.
"""

from __future__ import annotations

import builtins


def without_features() -> None:
    """Put Python's own import back; call it after PySide6 was imported. PySide6 6.11 keeps it as
    ``builtins.__orig_import__``; where that is missing nothing happens."""
    original = getattr(builtins, "__orig_import__", None)
    if original is not None:
        builtins.__import__ = original
