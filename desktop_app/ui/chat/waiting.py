"""Which model a run waits for, and how long it has said nothing."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QTimer, Signal

QUIET_MS = 8000  # an answer that pauses longer has come to a stand, for whoever looks at it


class Waiting(QObject):
    """``model`` is empty while none is waited for: from when it was asked to its first word, and
    again when nothing came for ``QUIET_MS``. ``preparing`` before that: a message is there and no
    model was asked yet, servers or a machine may be coming up. ``changed`` tells of all."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.model = ""
        self.preparing = False
        self._asked = ""
        self._heard = 0.0
        self._quiet = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._quiet.timeout.connect(self._paused)

    @property
    def seconds(self) -> float:
        """How long nothing has come."""
        return time.monotonic() - self._heard

    def began(self) -> None:
        """A message is on its way to a model."""
        self._heard = time.monotonic()
        self._set("", preparing=True)

    def asked(self, model: str) -> None:
        """A call began."""
        self._asked, self._heard = model, time.monotonic()
        self._quiet.stop()
        self._set(model)

    def heard(self) -> None:
        """A piece of the answer came."""
        if self._asked:
            self._heard = time.monotonic()
            self._quiet.start()
            self._set("")

    def ended(self) -> None:
        """The call is over."""
        self._asked = ""
        self._quiet.stop()
        self._set("")

    def _paused(self) -> None:
        self._set(self._asked)

    def _set(self, model: str, *, preparing: bool = False) -> None:
        if (model, preparing) != (self.model, self.preparing):
            self.model, self.preparing = model, preparing
            self.changed.emit()
