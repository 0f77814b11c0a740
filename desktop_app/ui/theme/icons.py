"""Lucide icons, tinted by the theme.

The ``lucide`` package is one archive of 1,700 SVGs. It is mapped into memory and searched for the
one that is wanted: reading its whole directory would cost every start 15 ms and a megabyte. An
icon is drawn when it is painted, and pixmaps are cached by everything that shapes them.
"""

from __future__ import annotations

import importlib.resources
import logging
import mmap
import re
import struct
import zlib
from functools import lru_cache

from PySide6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from .theme import theme

log = logging.getLogger(__name__)
_STROKE = re.compile(rb'stroke-width="[\d.]+"')
_FALLBACK = "square-dashed"
_ENTRY = struct.Struct("<4s6xH8xL4xH12xL")  # a central directory's entry, up to the file's name
_NAME = 46  # where the name begins in it
_LOCAL = 30  # bytes before name and extra field in the header before the data


@lru_cache(1)
def _archive() -> mmap.mmap:
    with importlib.resources.files("lucide").joinpath("lucide.zip").open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _entry(name: str) -> tuple[int, int, int] | None:
    """Offset of an icon's header, compressed bytes, method; from the archive's directory, which
    stands at its end (APPNOTE.TXT 4.3.12). None when there is no such icon."""
    data, wanted = _archive(), f"{name}.svg".encode()
    at = len(data)
    while (at := data.rfind(wanted, 0, at)) >= 0:
        start = at - _NAME
        if start < 0 or data[start : start + 4] != b"PK\x01\x02":
            continue
        _, method, size, length, offset = _ENTRY.unpack_from(data, start)
        if length == len(wanted):
            return offset, size, method
    return None


@lru_cache(512)
def _svg(name: str) -> bytes:
    found = _entry(name)
    if found is None:
        log.warning("there is no icon %r", name)
        found = _entry(_FALLBACK)
    assert found is not None, "the archive of icons is not Lucide's"
    offset, size, method = found
    data = _archive()
    names, extra = struct.unpack_from("<2H", data, offset + _LOCAL - 4)
    start = offset + _LOCAL + names + extra
    raw = data[start : start + size]
    return zlib.decompress(raw, -zlib.MAX_WBITS) if method else raw


def exists(name: str) -> bool:
    """Whether Lucide has an icon of this name."""
    return _entry(name) is not None


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


class _Engine(QIconEngine):
    """Draws an icon when it is painted, in the colours of that moment."""

    def __init__(self, name: str, token: str, size: int) -> None:
        super().__init__()
        self._name, self._token, self._size = name, token, size

    def _tint(self, mode: QIcon.Mode) -> str:
        if mode == QIcon.Mode.Disabled:
            return "disabled"
        return "text" if mode == QIcon.Mode.Selected and self._token == "muted" else self._token

    def actualSize(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QSize:
        side = min(self._size, size.width(), size.height())
        return QSize(side, side)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        return self.scaledPixmap(size, mode, state, 1.0)

    def scaledPixmap(
        self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float
    ) -> QPixmap:
        side = self.actualSize(size, mode, state).width()
        return pixmap(self._name, self._tint(mode), side, scale)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        scale = painter.device().devicePixelRatio()
        image = self.scaledPixmap(rect.size(), mode, state, scale)
        place = QRect(0, 0, round(image.width() / scale), round(image.height() / scale))
        place.moveCenter(rect.center())
        painter.drawPixmap(place.topLeft(), image)

    def clone(self) -> QIconEngine:
        return _Engine(self._name, self._token, self._size)


def icon(name: str, token: str = "muted", size: int = 16) -> QIcon:
    """A QIcon: ``token`` at rest, ``text`` when selected, ``disabled`` when off, sharp on every
    screen. Fetch it again after the theme changed, so that what shows it paints anew."""
    return _icon(name, token, theme().px(size), theme().serial)


@lru_cache(1024)
def _icon(name: str, token: str, size: int, serial: int) -> QIcon:
    return QIcon(_Engine(name, token, size))
