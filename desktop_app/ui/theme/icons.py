"""Lucide icons, tinted by the theme.

The ``lucide`` package is one archive of SVGs; it is opened at the first icon and kept open (a
pixmap costs about 0.1 ms). Pixmaps are cached by everything that shapes them.
"""

from __future__ import annotations

import importlib.resources
import re
import zipfile
from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from .theme import theme

_STROKE = re.compile(rb'stroke-width="[\d.]+"')
_FALLBACK = "square-dashed"


@lru_cache(1)
def _archive() -> zipfile.ZipFile:
    file = importlib.resources.files("lucide").joinpath("lucide.zip").open("rb")
    return zipfile.ZipFile(file)


@lru_cache(512)
def _svg(name: str) -> bytes:
    try:
        return _archive().read(f"{name}.svg")
    except KeyError:
        return _archive().read(f"{_FALLBACK}.svg")


def exists(name: str) -> bool:
    """Whether Lucide has an icon of this name."""
    try:
        _archive().getinfo(f"{name}.svg")
    except KeyError:
        return False
    return True


def _stroke(size: float) -> float:
    """Of 24: thicker when small, thinner when large, so that the line looks the same."""
    if size < 12:
        return 3.0  # the tick of a check box
    return 2.0 if size <= 14 else 1.5 if size >= 32 else 1.75


def pixmap(name: str, token: str = "muted", size: int = 16, dpr: float = 1.0) -> QPixmap:
    """The icon in the colour of ``token``, ``size`` logical pixels, for a screen of ``dpr``."""
    return _pixmap(name, token, size, dpr, theme().serial)


@lru_cache(2048)
def _pixmap(name: str, token: str, size: int, dpr: float, serial: int) -> QPixmap:
    color = theme().hex(token).encode()
    svg = _STROKE.sub(b'stroke-width="%.2f"' % _stroke(size), _svg(name))
    renderer = QSvgRenderer(QByteArray(svg.replace(b"currentColor", color)))
    side = max(1, round(size * dpr))
    image = QPixmap(side, side)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter, QRectF(0, 0, side, side))
    painter.end()
    image.setDevicePixelRatio(dpr)
    return image


def icon(name: str, token: str = "muted", size: int = 16) -> QIcon:
    """A QIcon: ``token`` at rest, ``text`` when selected, ``disabled`` when off; one pixmap for
    each scale of the screens that are there. Fetch it again after the theme changed."""
    return _icon(name, token, theme().px(size), _scales(), theme().serial)


def _scales() -> tuple[float, ...]:
    found = {screen.devicePixelRatio() for screen in QGuiApplication.screens()}
    return tuple(sorted(found | {1.0, 2.0}))


@lru_cache(1024)
def _icon(name: str, token: str, size: int, scales: tuple[float, ...], serial: int) -> QIcon:
    result = QIcon()
    selected = "text" if token == "muted" else token
    modes = (
        (QIcon.Mode.Normal, token),
        (QIcon.Mode.Active, token),
        (QIcon.Mode.Selected, selected),
        (QIcon.Mode.Disabled, "disabled"),
    )
    for dpr in scales:
        for mode, tint in modes:
            result.addPixmap(_pixmap(name, tint, size, dpr, serial), mode)
    # A size that is missing is drawn from the nearest larger one.
    result.actualSize(QSize(size, size))
    return result
