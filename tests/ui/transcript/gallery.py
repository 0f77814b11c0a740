"""Renders a sample transcript in both palettes and languages at 1x and 2x.

``python -m tests.ui.transcript.gallery OUT [scale]`` writes PNGs into the folder OUT.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QApplication

from desktop_app.ui import i18n
from desktop_app.ui.theme import install
from desktop_app.ui.transcript import TranscriptModel, TranscriptView, highlight
from desktop_app.ui.transcript.select import Point
from tests.ui.transcript.samples import chinese, english


def main(out: Path, scale: str) -> None:
    os.environ["QT_SCALE_FACTOR"] = scale
    app = QApplication.instance() or QApplication([])
    theme = install(app, "light")
    theme.set_reduced_motion(True)
    out.mkdir(parents=True, exist_ok=True)
    for name in ("python", "json"):
        highlight.load(name)
    for scheme in ("light", "dark"):
        theme.set_scheme(scheme)
        for language, rows in (("en", english()), ("zh_CN", chinese())):
            i18n.set_language(language)
            model = TranscriptModel()
            model.set_rows(rows)
            view = TranscriptView(model)
            view.resize(820, 1000)
            view.show()
            for _ in range(3):
                view.resize(820, view.heights.total + 60)
                app.processEvents()
            view.grab().save(str(out / f"transcript-{language}-{scheme}-{scale}x.png"))
            if language == "en":
                _states(app, view).save(str(out / f"states-{scheme}-{scale}x.png"))
            view.close()
            view.deleteLater()


def _states(app: QApplication, view: TranscriptView) -> QPixmap:
    """Hover, keyboard focus, selection, search, the way back to the end."""
    view.resize(820, 760)
    app.processEvents()
    view.scroll_to_row("h1")
    view.find("region")
    view.find_next()
    view.scroll_to_row("h1")
    view.setFocus(Qt.FocusReason.TabFocusReason)
    view.keys.focus(Qt.FocusReason.TabFocusReason)
    view.setCurrentIndex(view.rows.index(view.rows.index_of("t3")))
    view.scroll_to_row("t2", 140)
    view.mouse.head_id = "h1"
    view.selection.set(Point("m1", 0, 0, 12), Point("m1", 1, 0, 60))
    view.unread = 3
    view.jump.place(False, 3)
    app.processEvents()
    return view.grab()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "1")
