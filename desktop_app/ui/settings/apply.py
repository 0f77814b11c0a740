"""Making the window look as the settings say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtGui import QGuiApplication

from desktop_app.ui import i18n
from desktop_app.ui.theme import theme

LOOK = ("language", "scheme", "font_size", "density", "motion")


def apply(get: Callable[[str], Any], names: tuple[str, ...] = LOOK) -> None:
    """Put the named settings into force; ``get`` gives a setting's value."""
    for name in names:
        value = get(name)
        if name == "language":
            i18n.set_language(i18n.system_language() if value == "system" else value)
        elif name == "scheme":
            theme().set_scheme(value)
        elif name == "font_size":
            theme().set_scale(int(value))
        elif name == "density":
            theme().set_compact(value == "compact")
        elif name == "motion":
            theme().set_reduced_motion(
                _system_reduces_motion() if value == "system" else value == "reduced"
            )


def _system_reduces_motion() -> bool:
    """What the system asks for, where Qt can tell (6.12 and later)."""
    app = QGuiApplication.instance()
    if not isinstance(app, QGuiApplication):
        return False
    accessibility = getattr(app.styleHints(), "accessibility", None)
    preference = getattr(accessibility(), "motionPreference", None) if accessibility else None
    return preference is not None and "Reduced" in str(preference())
