"""The repaired loop and the bridge."""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtCore import QEventLoop, QObject, QTimer, Signal
from PySide6.QtWidgets import QDialog, QWidget

from desktop_app.ui.bridge import Coalescer, future_of, show


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_single_item_shows_in_the_next_turn_and_a_flood_once_a_frame(qtbot):
    got: list[list[int]] = []
    clock = Clock()
    coalescer: Coalescer[int] = Coalescer(None, got.append, ms=16, clock=clock)
    coalescer.push(1)
    assert coalescer._timer.interval() == 0
    coalescer.flush()
    clock.now += 0.004
    for item in range(2, 50):
        coalescer.push(item)
    assert coalescer._timer.interval() == 12
    coalescer.flush()
    assert got == [[1], list(range(2, 50))]
    coalescer.flush()
    assert len(got) == 2, "nothing waiting, nothing delivered"


def test_items_pushed_while_delivering_come_next(qtbot):
    got: list[list[int]] = []

    def deliver(items: list[int]) -> None:
        got.append(items)
        if items[0] < 3:
            coalescer.push(items[0] + 1)

    coalescer: Coalescer[int] = Coalescer(None, deliver, ms=1)
    coalescer.push(1)
    qtbot.waitUntil(lambda: got == [[1], [2], [3]])


class Source(QObject):
    none = Signal()
    one = Signal(int)
    two = Signal(int, str)


def test_future_of_gives_what_was_emitted(run):
    source = Source()

    async def go():
        out = []
        for signal, args in ((source.none, ()), (source.one, (7,)), (source.two, (1, "a"))):
            future = future_of(signal, source)
            signal.emit(*args)
            signal.emit(*args)
            out.append(await future)
        return out

    assert run(go()) == [None, 7, (1, "a")]


def test_future_is_cancelled_when_the_owner_goes(run):
    source = Source()

    async def go():
        future = future_of(source.one, source)
        source.deleteLater()
        with pytest.raises(asyncio.CancelledError):
            await future

    run(go())


def test_show_returns_the_dialogs_answer_and_others_go_on(run, qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    async def go():
        other = asyncio.get_running_loop().create_task(tick())
        dialog = QDialog(parent)
        dialog.finished.connect(lambda _: other.cancel())
        asyncio.get_running_loop().call_later(0.02, dialog.accept)
        return await show(dialog)

    assert run(go()) == QDialog.DialogCode.Accepted
    assert ticks > 2


def test_cancelling_the_wait_closes_the_dialog(run, qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = QDialog(parent)

    async def go():
        task = asyncio.get_running_loop().create_task(show(dialog, keep=True))
        while not dialog.isVisible():
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(go())
    assert not dialog.isVisible()


def test_a_nested_loop_inside_a_task_loses_nothing(run):
    """Stock qasync loses the wake-up of ``other`` here for good."""
    seen = []

    async def other():
        for i in range(5):
            seen.append(i)
            await asyncio.sleep(0.002)

    async def go():
        task = asyncio.get_running_loop().create_task(other())
        await asyncio.sleep(0)
        nested = QEventLoop()
        QTimer.singleShot(30, nested.quit)
        nested.exec()
        await task

    run(go())
    assert seen == [0, 1, 2, 3, 4]


def test_failing_task_reaches_its_awaiter_and_work_runs_in_threads(run):
    async def boom():
        raise ValueError("x")

    async def go():
        with pytest.raises(ValueError, match="x"):
            await asyncio.get_running_loop().create_task(boom())
        return await asyncio.to_thread(lambda: 42)

    assert run(go()) == 42
