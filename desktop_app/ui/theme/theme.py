"""The theme in force: colours, fonts and lengths by name, for painters and layouts.

Everything asks ``theme()`` when it paints; nothing keeps a colour. ``serial`` grows with every
change, so that caches of pixmaps, layouts and formats know when they are stale.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from desktop_app.ui import i18n

from . import fonts, tokens
from .qss import qss

Scheme = Literal["light", "dark"]
Choice = Literal["system", "light", "dark"]


class Theme(QObject):
    """Colours, fonts and lengths of one scheme, font size and density."""

    changed = Signal()

    def __init__(self, scheme: Scheme = "light", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.serial = 1
        self.scheme: Scheme = scheme
        self.choice: Choice = scheme
        self.scale = 1.0
        self.compact = False
        self.high_contrast = False
        self.reduced_motion = False
        self._colors: dict[str, QColor] = {}
        self._fonts: dict[tuple[str, bool], QFont] = {}
        self._families: dict[str, list[str]] = {}
        self._app: QApplication | None = None

    # -- values -----------------------------------------------------------------------------

    def hex(self, token: str) -> str:
        """The colour as ``#RRGGBB``, for style sheets and documents. KeyError when unknown."""
        table = tokens.LIGHT if self.scheme == "light" else tokens.DARK
        if self.high_contrast:
            token = _HIGH_CONTRAST.get(token, token)
        return table[token]

    def color(self, token: str, alpha: float = 1.0) -> QColor:
        """The colour of a token, ``alpha`` 0 to 1. KeyError when unknown."""
        color = self._colors.get(token)
        if color is None:
            color = self._colors[token] = QColor(self.hex(token))
        if alpha < 1.0:
            color = QColor(color)
            color.setAlphaF(alpha)
        return color

    def font(self, role: str, *, figures: bool = False) -> QFont:
        """The font of a text style (``tokens.TYPE``); ``figures`` for digits in columns."""
        font = self._fonts.get((role, figures))
        if font is None:
            size, _line, weight, family = tokens.TYPE[role]
            font = fonts.make(
                self.families(family),
                size * self.scale,
                weight,
                mono=family == "mono",
                figures=figures,
            )
            self._fonts[role, figures] = font
        return QFont(font)

    def families(self, kind: str) -> list[str]:
        """Families for "ui" or "mono", in order of preference."""
        if kind not in self._families:
            self._families[kind] = fonts.ui_families() if kind == "ui" else fonts.mono_families()
        return self._families[kind]

    def line(self, role: str) -> int:
        """Line height of a text style in pixels."""
        line = tokens.TYPE[role][1]
        if i18n.language() == "zh_CN":
            line = tokens.CHINESE_LINES.get(role, line)
        return self.px(line)

    def px(self, n: float) -> int:
        """A length at the person's font size."""
        return round(n * self.scale)

    def size(self, name: str) -> int:
        """A named height or width (``tokens.SIZES``) at the density and font size in force."""
        value = tokens.COMPACT.get(name) if self.compact else None
        return self.px(tokens.SIZES[name] if value is None else value)

    def radius(self, name: str) -> int:
        return self.px(tokens.RADIUS[name])

    def ms(self, name: str) -> int:
        """Length of a motion; 0 when motion is reduced."""
        return 0 if self.reduced_motion else tokens.DURATIONS[name]

    def palette(self) -> QPalette:
        """What a palette can say, all groups."""
        palette = QPalette()
        role = QPalette.ColorRole
        for name, token in _PALETTE.items():
            palette.setColor(getattr(role, name), self.color(token))
        for name in ("Text", "WindowText", "ButtonText"):
            palette.setColor(
                QPalette.ColorGroup.Disabled, getattr(role, name), self.color("disabled")
            )
        inactive = QPalette.ColorGroup.Inactive
        palette.setColor(inactive, role.Highlight, self.color("selection-inactive"))
        palette.setColor(inactive, role.HighlightedText, self.color("text"))
        return palette

    # -- changes ----------------------------------------------------------------------------

    def set_scheme(self, choice: Choice) -> None:
        """Light, dark, or what the system says (and follow it)."""
        self.choice = choice
        self._set(scheme=_resolve(choice))

    def set_scale(self, percent: int) -> None:
        """Font size in percent of the system's."""
        base = fonts.system_scale() if self._app is not None else 1.0
        self._set(scale=base * percent / 100)

    def set_compact(self, on: bool) -> None:
        self._set(compact=on)

    def set_reduced_motion(self, on: bool) -> None:
        self._set(reduced_motion=on)

    def set_high_contrast(self, on: bool) -> None:
        self._set(high_contrast=on)

    def _set(self, **values: object) -> None:
        if all(getattr(self, name) == value for name, value in values.items()):
            return
        for name, value in values.items():
            setattr(self, name, value)
        self.refresh()

    def refresh(self) -> None:
        """Forget what was computed, hand the application its palette and sheet, tell everyone."""
        self._colors.clear()
        self._fonts.clear()
        self.serial += 1
        if self._app is not None:
            self._app.setPalette(self.palette())
            self._app.setFont(self.font("body"))
            self._app.setStyleSheet(qss(self))
        self.changed.emit()

    @contextmanager
    def building(self) -> Iterator[None]:
        """While a window is put together: the sheet comes back at the end, once. With a sheet in
        force Qt works out the style of a whole subtree each time it finds a parent."""
        if self._app is None:
            yield
            return
        self._app.setStyleSheet("")
        try:
            yield
        finally:
            self._app.setStyleSheet(qss(self))

    def attach(self, app: QApplication) -> None:
        """Make ``app`` look so: Fusion, palette, fonts, one style sheet."""
        self._app = app
        app.setStyle("Fusion")
        app.styleHints().colorSchemeChanged.connect(self._system_changed)
        i18n.notifier.changed.connect(self._language_changed)
        self.refresh()

    def detach(self) -> None:
        """Stop following the system; another theme takes over."""
        if self._app is not None:
            self._app.styleHints().colorSchemeChanged.disconnect(self._system_changed)
            i18n.notifier.changed.disconnect(self._language_changed)
            self._app = None

    def _system_changed(self) -> None:
        if self.choice == "system":
            self._set(scheme=_resolve("system"))

    def _language_changed(self) -> None:
        self.serial += 1  # line heights differ
        self.changed.emit()


_HIGH_CONTRAST = {
    "border": "outline",
    "border-strong": "outline",
    "faint": "muted",
    "muted": "text",
}
_PALETTE = {
    "Window": "bg",
    "Base": "surface",
    "AlternateBase": "sunken",
    "Button": "raised",
    "WindowText": "text",
    "Text": "text",
    "ButtonText": "text",
    "PlaceholderText": "faint",
    "ToolTipBase": "raised",
    "ToolTipText": "text",
    "Highlight": "selection",
    "HighlightedText": "text",
    "Accent": "accent",
    "Link": "accent-text",
    "LinkVisited": "accent-text",
    "BrightText": "danger",
    "Midlight": "hover",
    "Mid": "border-strong",
    "Dark": "outline",
    "Shadow": "border-strong",
    "Light": "raised",
}


def _resolve(choice: Choice) -> Scheme:
    if choice != "system":
        return choice
    app = QGuiApplication.instance()
    if not isinstance(app, QGuiApplication):
        return "light"
    return "dark" if app.styleHints().colorScheme() == Qt.ColorScheme.Dark else "light"


class _Installed:
    theme: Theme | None = None


def theme() -> Theme:
    """The installed theme; a light one when none was installed."""
    if _Installed.theme is None:
        _Installed.theme = Theme()
    return _Installed.theme


def install(app: QApplication, scheme: Choice = "system") -> Theme:
    """Give ``app`` the theme. Called once at start (again: replaces the former)."""
    current = theme()
    current.detach()
    current.choice = scheme
    current.scheme = _resolve(scheme)
    current.scale = fonts.system_scale()
    current.high_contrast = _system_contrast(app)
    current.attach(app)
    return current


def _system_contrast(app: QApplication) -> bool:
    hints = app.styleHints()
    accessibility = getattr(hints, "accessibility", None)
    if accessibility is None:
        return False
    return accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast
