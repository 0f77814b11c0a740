"""Window tests: one qasync loop for the session, guards for logs, tasks, windows and timers.

Window tests are plain functions. They call view models and wait by ``qtbot.waitUntil`` or
``waitSignal`` (Qt's loop turns asyncio too, as no task is on the stack), or run a coroutine with
the fixture ``run``. Never ``qtbot.wait*`` inside a coroutine.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import re
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_SCALE_FACTOR", "1")

import pytest
import shiboken6
from PySide6.QtCore import QDeadlineTimer, QEvent, QEventLoop, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from desktop_app.ui import i18n
from desktop_app.ui.loop import AppEventLoop
from desktop_app.ui.theme import Theme, install

SHOTS = Path(__file__).resolve().parents[2] / "build" / "shots"


@pytest.fixture(scope="session")
def session_loop(qapp: QApplication) -> Iterator[AppEventLoop]:
    """The one loop. Never stopped: ``stop`` calls ``app.exit()``, after which every nested
    QEventLoop returns at once. It is the running loop only while a window test runs, so that
    tests of the core in the same process can have theirs."""
    qapp.setQuitOnLastWindowClosed(False)
    qapp.setCursorFlashTime(0)
    loop = AppEventLoop(qapp, already_running=True)
    asyncio._set_running_loop(None)
    yield loop
    asyncio._set_running_loop(None)


def turn(done: Callable[[], bool], ms: int = 2000) -> bool:
    """Turn Qt's loop until ``done`` or ``ms`` are over."""
    deadline = QDeadlineTimer(ms)
    loop = QEventLoop()
    while not done() and not deadline.hasExpired():
        loop.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 10)
    return done()


@pytest.fixture(autouse=True)
def aloop(session_loop: AppEventLoop) -> Iterator[AppEventLoop]:
    """The running loop of a test. Afterwards no task may be left that cannot be cancelled, and no
    error may have reached the loop."""
    errors: list[dict[str, Any]] = []
    session_loop.set_exception_handler(lambda _loop, context: errors.append(context))
    asyncio._set_running_loop(session_loop)
    yield session_loop
    left = [task for task in asyncio.all_tasks(session_loop) if not task.done()]
    for task in left:
        task.cancel()
    ended = turn(lambda: all(task.done() for task in left))
    session_loop.set_exception_handler(None)
    asyncio._set_running_loop(None)
    assert ended, [task for task in left if not task.done()]
    assert not errors, errors


@pytest.fixture
def run(aloop: AppEventLoop) -> Callable[..., Any]:
    """``run(coroutine, ms=5000)``: its result, with the loop turned by Qt meanwhile."""

    def go(coro: Coroutine[Any, Any, Any], ms: int = 5000) -> Any:
        task = aloop.create_task(coro)
        assert turn(task.done, ms), "did not end in time"
        return task.result()

    return go


class LogGuard(logging.Handler):
    """Collects warnings; a test announces the ones it provokes."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.seen: list[str] = []
        self.announced: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.seen.append(f"{record.name}: {record.getMessage()}")

    def expect(self, pattern: str) -> None:
        """Messages matching ``pattern`` are part of this test; at least one must come."""
        self.announced.append(pattern)

    def check(self) -> None:
        for pattern in self.announced:
            assert any(re.search(pattern, line) for line in self.seen), f"no log like {pattern!r}"
        loud = [s for s in self.seen if not any(re.search(p, s) for p in self.announced)]
        assert not loud, f"unannounced warnings: {loud}"


@pytest.fixture(autouse=True)
def log_guard() -> Iterator[LogGuard]:
    """Fails a test that logs an unannounced WARNING; ``log_guard.expect(pattern)`` announces."""
    guard = LogGuard()
    logging.getLogger().addHandler(guard)
    yield guard
    logging.getLogger().removeHandler(guard)
    guard.check()


def _windows() -> set[int]:
    return {id(w) for w in QApplication.topLevelWidgets() if not w.property("permanent")}


def _timers() -> dict[int, QTimer]:
    found = (o for o in gc.get_objects() if type(o) is QTimer)
    return {id(t): t for t in found if shiboken6.isValid(t) and t.isActive()}


@pytest.fixture(autouse=True, scope="module")
def _frozen() -> None:
    """What earlier modules made is out of sight: the guards look at every object there is, and
    after thousands of tests that would take longer than the tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def leak_guard(qapp: QApplication, aloop: AppEventLoop) -> Iterator[None]:
    """Fails a test that leaves top-level widgets or running timers behind."""
    windows = _windows()
    timers = set(_timers())
    yield
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    if not turn(lambda: not (_windows() - windows), 200):
        gc.collect()
    left: list[QWidget] = [w for w in QApplication.topLevelWidgets() if id(w) not in windows]
    left = [w for w in left if not w.property("permanent")]
    names = [repr(w) for w in left]
    for widget in left:
        widget.close()
        widget.deleteLater()
    running = [repr(t.parent()) for i, t in _timers().items() if i not in timers]
    assert not names, f"top-level widgets left: {names}"
    assert not running, f"timers left running: {running}"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has its own home; nothing of the person's is read or written."""
    monkeypatch.setenv("SLIPWAY_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def theme(qapp: QApplication) -> Iterator[Theme]:
    """Light, English, 100 %, no motion; a test may change it."""
    i18n.set_language("en")
    installed = install(qapp, "light")
    installed.compact = False
    installed.scale = 1.0
    installed.reduced_motion = True
    yield installed
    i18n.set_language("en")


@pytest.fixture
def dark(theme: Theme) -> Theme:
    theme.set_scheme("dark")
    return theme


@pytest.fixture
def chinese(theme: Theme) -> None:
    i18n.set_language("zh_CN")


@pytest.fixture
def shot() -> Callable[[QWidget, str], Path]:
    """``shot(widget, name)`` saves what the widget shows as build/shots/name.png."""

    def take(widget: QWidget, name: str) -> Path:
        SHOTS.mkdir(parents=True, exist_ok=True)
        path = SHOTS / f"{name}.png"
        assert widget.grab().save(str(path))
        return path

    return take
