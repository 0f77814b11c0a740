"""Renders a sample transcript in both palettes and languages at 1x and 2x.

``python -m tests.ui.transcript.gallery OUT [scale]`` writes PNGs into the folder OUT.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


def main(out: Path, scale: str) -> None:
    os.environ["QT_SCALE_FACTOR"] = scale
    from PySide6.QtWidgets import QApplication

    from desktop_app.ui import i18n
    from desktop_app.ui.theme import install
    from desktop_app.ui.transcript import TranscriptModel, TranscriptView, highlight
    from tests.ui.transcript.samples import chinese, english

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
            view.settle()
            total = view.heights.total + 60
            view.resize(820, total)
            view.settle()
            app.processEvents()
            view.grab().save(str(out / f"transcript-{language}-{scheme}-{scale}x.png"))
            view.close()
            view.deleteLater()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "1")
