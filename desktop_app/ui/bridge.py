"""Between asyncio and Qt: batches for the window, signals and dialogs as awaitables.

Slots are plain functions; view models start coroutines through ``core.tasks.Tasks``. Nothing here
or elsewhere spins a nested loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QDialog, QWidget

from desktop_app.ui.i18n import tr

T = TypeVar("T")


class Coalescer(QObject, Generic[T]):
    """Hands on what was pushed as lists, at most one every ``ms`` milliseconds.

    After a pause the first item is delivered in the next turn of the loop, so that a single
    event shows at once; a flood arrives once a frame. Order is kept and nothing is dropped. No
    timer runs while nothing was pushed. ``clock`` (seconds) can be injected; tests ``flush``.
    """

    def __init__(
        self,
        parent: QObject | None,
        deliver: Callable[[list[T]], None],
        ms: int = 16,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._deliver = deliver
        self._seconds = ms / 1000
        self._clock = clock
        self._last = clock() - self._seconds
        self._items: list[T] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.flush)

    def push(self, item: T) -> None:
        """Take ``item`` and see that it is delivered soon."""
        self._items.append(item)
        if not self._timer.isActive():
            wait = self._last + self._seconds - self._clock()
            self._timer.start(max(0, round(wait * 1000)))

    def flush(self) -> None:
        """Deliver now what is waiting."""
        self._timer.stop()
        items, self._items = self._items, []
        if items:
            self._last = self._clock()
            self._deliver(items)

    def clear(self) -> None:
        """Forget what is waiting."""
        self._timer.stop()
        self._items = []

    def __len__(self) -> int:
        return len(self._items)


def future_of(signal: Any, owner: QObject | None = None) -> asyncio.Future[Any]:
    """A future for the next emission of ``signal``: its argument, a tuple of several, or None.

    It disconnects itself; it is cancelled when ``owner`` is destroyed first.
    """
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def arrived(*args: Any) -> None:
        if not future.done():
            future.set_result(args[0] if len(args) == 1 else args or None)

    def gone() -> None:
        if not future.done():
            future.cancel()

    def release(_: object) -> None:
        for source, slot in ((signal, arrived), (owner and owner.destroyed, gone)):
            try:
                if source is not None:
                    source.disconnect(slot)
            except (RuntimeError, TypeError):
                pass  # the sender is gone, and the connection with it

    signal.connect(arrived)
    if owner is not None:
        owner.destroyed.connect(gone)
    future.add_done_callback(release)
    return future


class _Last(QObject):
    """Resolves a future when what was posted before, painting included, has been handled."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.User and not self.future.done():
            self.future.set_result(None)
        return super().event(event)


async def after_paint(parent: QObject) -> None:
    """Come back when what has changed in the window by now is painted: Qt paints by an event of
    low priority, and this is one that is posted after it."""
    last = _Last(parent)
    try:
        await asyncio.sleep(0)  # layouts that were asked for ask for their painting first
        low = Qt.EventPriority.LowEventPriority.value
        QCoreApplication.postEvent(last, QEvent(QEvent.Type.User), low)
        await last.future
    finally:
        last.deleteLater()


async def show(dialog: QDialog, *, keep: bool = False) -> int:
    """Open ``dialog`` and wait for its end; returns the code of ``finished``.

    When the waiting task is cancelled the dialog closes; when the dialog's parent goes away the
    wait is cancelled. The dialog is deleted afterwards unless ``keep``.
    """
    future = future_of(dialog.finished, dialog)
    dialog.open()
    try:
        return await future
    finally:
        try:
            if dialog.isVisible():
                dialog.reject()
            if not keep:
                dialog.deleteLater()
        except RuntimeError:
            pass  # deleted with its parent


async def confirm(
    parent: QWidget | None,
    *,
    title: str,
    text: str,
    action: str,
    danger: bool = False,
    lost: Sequence[str] = (),
    kept: Sequence[str] = (),
) -> bool:
    """Ask; True when the person chose ``action``. ``lost`` and ``kept`` say exactly what will be
    gone and what stays. The safe choice has the focus."""
    from desktop_app.ui.widgets.dialogs import ConfirmDialog

    dialog = ConfirmDialog(
        parent, title=title, text=text, action=action, danger=danger, lost=lost, kept=kept
    )
    return await show(dialog) == QDialog.DialogCode.Accepted


async def confirm_unsaved(parent: QWidget | None, names: Sequence[str]) -> bool:
    """Ask whether a dialog closes though what was changed in it, by name, is not saved."""
    return await confirm(
        parent,
        title=tr("Close without saving?"),
        text=tr("What you changed is not saved: {names}", names=", ".join(names)),
        action=tr("Close without saving"),
        danger=True,
    )
