"""Unsent messages of all sessions, kept over restarts.

One small JSON file beside the window's geometry: ``{"<user>/<agent>/<session>": text}``. Only for
the person's eyes (mode 0600). Attachments are kept while the program runs, not over a restart.
A file that cannot be read is left alone and drafts live in memory.
"""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from desktop_app.core.sessions.base import SessionKey

from .vm_shapes import Draft

MAX_CHARS = 200_000  # of one draft that is written
_LATER_MS = 1500
log = logging.getLogger(__name__)


def _name(key: SessionKey) -> str:
    return f"{key.user_id}/{key.agent_id}/{key.session_id}"


class Drafts(QObject):
    """``get`` and ``put`` by session. Written a moment after the last change, and by ``save``."""

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = path
        self._drafts: dict[str, Draft] = {}
        self._usable = True
        self._dirty = False
        self._timer = QTimer(self, singleShot=True, interval=_LATER_MS)
        self._timer.timeout.connect(self.save)
        self._load()

    def _load(self) -> None:
        try:
            found = json.loads(self._path.read_text("utf-8"))
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            log.error("drafts cannot be read: %s", error)
            self._usable = False
            return
        if isinstance(found, dict):
            for name, text in found.items():
                if isinstance(text, str):
                    self._drafts[str(name)] = Draft(text, [], len(text))

    def get(self, key: SessionKey) -> Draft:
        """The session's draft; an empty one when there is none."""
        return self._drafts.get(_name(key)) or Draft()

    def put(self, key: SessionKey, draft: Draft) -> None:
        """Keep ``draft``; an empty one is forgotten."""
        name = _name(key)
        if draft.text or draft.attachments:
            self._drafts[name] = draft
        elif self._drafts.pop(name, None) is None:
            return
        self._dirty = True
        self._timer.start()

    def save(self) -> None:
        """Write what changed, whole and at once. Failing to is logged, never in the way."""
        self._timer.stop()
        if not self._dirty or not self._usable:
            return
        self._dirty = False
        texts = {name: d.text[:MAX_CHARS] for name, d in self._drafts.items() if d.text}
        new = self._path.with_suffix(".new")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w",
                      encoding="utf-8", errors="replace") as file:  # fmt: skip
                json.dump(texts, file, ensure_ascii=False)
            os.replace(new, self._path)
        except OSError as error:
            log.error("drafts cannot be written: %s", error)
