"""The application's event loop: qasync 0.28 with three repairs.

It touches private names of qasync (``_SimpleTimer``, ``_timer``), so the version is pinned and a
test holds them.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from PySide6.QtCore import QTimerEvent  # before qasync, which takes the binding it finds loaded
from PySide6.QtWidgets import QApplication

import qasync  # isort: skip

T = TypeVar("T")


class _Timer(qasync._SimpleTimer):
    """Puts callbacks off while a task is on the stack, that is while a coroutine spins a nested
    Qt loop. Stock qasync runs them there: asyncio says "Cannot enter into task", the wake-up is
    lost and that task can neither go on nor be cancelled. A net, not a licence: it spins."""

    def __init__(self, loop: AppEventLoop) -> None:
        super().__init__()
        self._loop = loop

    def timerEvent(self, event: QTimerEvent) -> None:
        if asyncio.current_task(self._loop) is None:
            super().timerEvent(event)  # else the Qt timer stays and fires again


class AppEventLoop(qasync.QEventLoop):
    """asyncio on Qt's loop. Started by ``asyncio.Runner(loop_factory=lambda: AppEventLoop(app))``
    after the application was made; one per process."""

    def __init__(self, app: QApplication, *, already_running: bool = False) -> None:
        super().__init__(app, already_running=already_running)
        self._timer = _Timer(self)
        self._timer.set_debug(self.get_debug())
        # qasync's own executor keeps the arguments of its last call alive.
        self.set_default_executor(ThreadPoolExecutor(thread_name_prefix="work"))

    def run_forever(self) -> Any:
        """Run; async generators are closed at the end (stock qasync forgets their hooks)."""
        old = sys.get_asyncgen_hooks()
        base: Any = self  # asyncio's own hooks, private but the same since 3.6
        sys.set_asyncgen_hooks(
            firstiter=base._asyncgen_firstiter_hook, finalizer=base._asyncgen_finalizer_hook
        )
        try:
            return super().run_forever()
        finally:
            sys.set_asyncgen_hooks(*old)

    def run_until_complete(self, future: Awaitable[T]) -> T:  # pyright: ignore
        """As upstream, without its last ``processEvents`` outside of the running loop."""
        if self.is_running():
            raise RuntimeError("Event loop already running")
        wrapped = asyncio.ensure_future(future, loop=self)

        def stop(_: object) -> None:
            self.stop()

        wrapped.add_done_callback(stop)
        try:
            self.run_forever()
        finally:
            wrapped.remove_done_callback(stop)
        if not wrapped.done():
            raise RuntimeError("Event loop stopped before Future completed.")
        return wrapped.result()
