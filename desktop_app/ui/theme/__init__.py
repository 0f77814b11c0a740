"""Look: tokens, the theme in force, icons."""

from .icons import icon, pixmap
from .theme import Theme, install, theme

__all__ = ["Theme", "icon", "install", "pixmap", "theme"]
