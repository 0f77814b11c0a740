"""One run of the program in the hour of ``test_an_hour.py``: ``hour_child.py PART ADDRESS FOLDER``.

The real window, offscreen, driven by what a person can do. Each part asserts what the person would
see; two end in a kill of their own process. The home is in SLIPWAY_HOME."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
from PySide6.QtCore import QDeadlineTimer, QEventLoop, Qt
from PySide6.QtWidgets import QApplication

from desktop_app.core.agent import servers as servers_of
from desktop_app.core.models.base import Price
from desktop_app.core.models.definitions import ModelDefinition
from desktop_app.ui.chat.items import CompactionItem, ToolItem
from desktop_app.ui.loop import AppEventLoop
from desktop_app.ui.widgets import TrustDialog
from tests.helpers.program import Driver

LONG = 90_000  # ms; generous, for machines that have other work


def turn(done: Callable[[], bool], ms: int) -> bool:
    deadline, nested = QDeadlineTimer(ms), QEventLoop()
    while not done() and not deadline.hasExpired():
        nested.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 10)
    return done()


class Hour:
    """The person at the window."""

    def __init__(self, folder: Path) -> None:
        self.app = QApplication([])
        self.app.setQuitOnLastWindowClosed(False)
        self.loop = AppEventLoop(self.app, already_running=True)
        asyncio._set_running_loop(self.loop)
        self.driver = Driver(self.app, self.run, self.until)
        self.folder = folder

    def run(self, coro: Any, ms: int = LONG) -> Any:
        task = self.loop.create_task(coro)
        assert turn(task.done, ms), "did not end in time"
        return task.result()

    def until(self, done: Callable[[], bool], timeout: int = LONG) -> None:
        assert turn(done, max(timeout, LONG)), "did not come about in time"

    # -- what the person does ---------------------------------------------------------------------

    def ask(self, text: str, *keys: Qt.Key) -> str:
        """Say something, answer what is asked with ``keys`` in turn; what was said at the end."""
        d = self.driver
        d.type(text)
        self.until(lambda: d.vm.busy)
        for key in keys:
            self.until(lambda: d.vm.activity == "parked")
            d.key(key)
            self.until(lambda: d.vm.activity != "parked")
        self.until(lambda: d.vm.activity != "running")
        assert d.vm.activity == "idle", f"{text}: {d.vm.activity}"
        return d.said().split("\n")[-1]

    def again(self) -> str:
        """Press what the last card offers first to go on."""
        d = self.driver
        d.vm.retry()
        self.until(lambda: d.vm.busy)
        self.until(lambda: not d.vm.busy)
        return d.said().split("\n")[-1]

    def tool(self) -> ToolItem:
        return self.driver.tools()[-1]

    def compactions(self) -> int:
        return sum(isinstance(i, CompactionItem) for i in self.driver.vm.items())

    def children(self, word: str) -> list[psutil.Process]:
        found: list[psutil.Process] = []
        for process in psutil.Process().children(recursive=True):
            try:
                if word in " ".join(process.cmdline()):
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def reopen(self) -> None:
        """Start the program; the last session opens by itself."""
        self.driver.start()
        self.driver.service.library._find = list
        self.until(lambda: self.driver.window.desk.current is not None)
        self.driver.until_shown()


def work(hour: Hour, address: str) -> None:
    begin(hour, address)
    tools_and_approvals(hour)
    trouble_at_the_provider(hour)
    a_server_dies(hour)
    many_reports(hour)
    killed_in_a_command(hour)


def begin(hour: Hour, address: str) -> None:
    d = hour.driver
    d.start()
    one = ModelDefinition(
        "", "compatible", "m", "Local", address=address, window=24_000, price=Price(1.0, 2.0)
    )
    kept, _ = hour.run(d.service.library.put(one))
    d.service.library._find = list
    d.service.default_model = kept.id
    d.window.workspaces.open_folder(str(hour.folder))
    d.dialog(TrustDialog).accept()
    hour.until(lambda: d.window.desk.current is not None)
    d.until_shown()
    assert hour.ask("What is noon UTC in Shanghai?", Qt.Key.Key_A) == "It is 20:00 in Shanghai."
    assert "20:00" in hour.tool().output
    assert hour.ask("And in Tokyo?") == "It is 21:00 in Tokyo.", "always is always"


def tools_and_approvals(hour: Hour) -> None:
    yes, no = Qt.Key.Key_Y, Qt.Key.Key_N
    assert hour.ask("Read the first report") == "It is about tide, wind, crew and cargo."
    hour.ask("List the folder with the file server", yes)
    assert "report-01.md" in hour.tool().output
    hour.ask("Write a summary", yes)
    hour.ask("Change the summary", yes)
    assert "Thirty good reports" in (hour.folder / "summary.md").read_text()
    hour.ask("Clean up the folder", no)
    assert hour.tool().status == "denied"
    assert len(list(hour.folder.glob("report-*.md"))) == 30
    hour.ask("Start the watcher", yes)
    hour.until(lambda: hour.driver.window.chat.commands.bar.isVisible())
    hour.ask("What does the watcher say?")
    assert "It is still running." in hour.tool().output
    hour.ask("Stop the watcher")
    assert "It was stopped" in hour.tool().output
    hour.ask("Use the report style")
    assert "three sentences" in hour.tool().output
    hour.ask("检查一下数据")
    assert "先看表头" in hour.tool().output
    hour.ask("Show me a picture", yes)
    assert "saved as .slipway/data/" in hour.tool().output, "no model sees it, the person may"


def trouble_at_the_provider(hour: Hour) -> None:
    d = hour.driver
    assert hour.ask("Ask too fast") == "Not so fast."
    assert hour.ask("Ask a tired server") == "Awake."
    for said, code, then in (
        ("Ask with a wrong key", "model.auth", "Right key."),
        ("Half an answer", "model.cut", "and the second half."),
    ):
        hour.ask(said)
        assert d.cards()[-1:] == [code]
        assert hour.again() == then
    assert hour.ask("Half a call") == "I will not."
    assert not (hour.folder / "half.txt").exists()
    d.type("Tell me a long story")
    hour.until(lambda: "Once upon" in d.said())
    d.vm.stop()
    hour.until(lambda: not d.vm.busy)
    assert hour.ask("And then?") == "They sailed home."
    assert "Once upon a time" in d.said()


def a_server_dies(hour: Hour) -> None:
    d = hour.driver
    d.type("Echo in death")
    d.key(Qt.Key.Key_A)
    hour.until(lambda: hour.tool().status == "running" and bool(hour.tool().output))
    for process in hour.children("server-everything"):
        process.kill()
    hour.until(lambda: not d.vm.busy)
    assert hour.tool().status == "error"
    assert "what it had done by then stays done" in hour.tool().output
    hour.ask("Echo after death", Qt.Key.Key_Y)
    assert hour.tool().output == "Echo: again"


def many_reports(hour: Hour) -> None:
    for n in range(3, 31):
        assert hour.ask(f"Look at report {n}") == f"Report {n} is in order."
    assert hour.compactions() >= 2
    assert hour.ask("And in Tokyo?") == "It is 21:00 in Tokyo.", "rules and servers outlive it"


def killed_in_a_command(hour: Hour) -> None:
    hour.driver.type("Sleep long")
    hour.driver.key(Qt.Key.Key_Y)
    hour.until((hour.folder / "begun.txt").exists)
    os.kill(os.getpid(), signal.SIGKILL)


def story(hour: Hour, _address: str) -> None:
    """What the kill left; then another, while the provider says nothing more."""
    hour.reopen()
    assert hour.tool().status == "unknown"
    assert "run.recovered" in hour.driver.cards()
    assert hour.again() == "I slept."
    assert (hour.folder / "begun.txt").read_text() == "begun\n", "nothing was run twice"
    hour.driver.type("Story before the crash")
    hour.until(lambda: "The storm came" in hour.driver.said())
    journal = hour.driver.vm.conversation.log.journal
    hour.until(lambda: b"The storm came" in hour.run(journal.draft()))
    os.kill(os.getpid(), signal.SIGKILL)


def after(hour: Hour, _address: str) -> None:
    hour.reopen()
    assert "The storm came and " in hour.driver.said(), "what was streamed is there"
    assert hour.again().endswith("passed.")
    assert hour.ask("And in Tokyo?") == "It is 21:00 in Tokyo."
    hour.driver.stop()


if __name__ == "__main__":
    servers_of.NEW_SECONDS = 90.0  # however busy the machine is
    part, address, folder = sys.argv[1:]
    hour = Hour(Path(folder))
    try:
        {"work": work, "story": story, "after": after}[part](hour, address)
    except Exception:
        # The program has put its own hook in the place of Python's.
        traceback.print_exc(file=sys.__stderr__)
        last = "\n".join(repr(item)[:300] for item in hour.driver.vm.items()[-6:])
        print(last, file=sys.__stderr__)
        os._exit(1)
