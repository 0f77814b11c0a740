"""The tour itself: what is asked, what must come of it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt

from desktop_app.app import Program, make_application
from desktop_app.core import events as ev
from desktop_app.core.loopwatch import LoopWatch
from desktop_app.core.workspaces.docker.spec import DockerSpec
from desktop_app.core.workspaces.e2b.spec import E2BSpec
from desktop_app.ui.chat.compaction import PreviewDialog
from desktop_app.ui.chat.items import CompactionItem
from desktop_app.ui.loop import AppEventLoop

from . import in_docker, in_e2b
from .hands import Hands, TourError
from .plan import DOCKER, E2B, FIRST, SECOND

LONG_READS = 14  # of 700 lines each; more than the Guide's window holds


def play(part: str, out: Path) -> int:
    """Run one part in this process; the exit code."""
    app = make_application()
    parts: dict[str, Any] = {
        FIRST: _first,
        SECOND: _second,
        DOCKER: in_docker.play,
        E2B: in_e2b.play,
        "shots": _shots,
    }

    async def main() -> int:
        program = Program(app)
        watch = LoopWatch()
        await program.open()
        watch.start()
        hands = Hands(program.window, out, part, watch)
        program.window.resize(1440, 900)
        try:
            await parts[part](hands, program, watch)
        except TourError as error:
            hands.window.grab().save(str(out / f"failed-{part}.png"))
            print(f"tour: {error}", file=sys.stderr, flush=True)
            return 1
        finally:
            _facts(hands, watch)
            await program.close()
        if part == SECOND:
            hands.note(step="closed")
        return 0

    with asyncio.Runner(loop_factory=lambda: AppEventLoop(app)) as runner:
        return runner.run(main())


def _facts(hands: Hands, watch: LoopWatch) -> None:
    longest = watch.longest()
    hands.note(
        facts={"longest_callback_ms": round(longest.ms, 1)},
        slowest=[f"{held.ms:.1f} ms {held.name}" for held in watch.slowest()[:8]],
    )


async def _open_documents(hands: Hands) -> None:
    window = hands.window
    window.workspaces.open_folder(str(hands.out / "field-sales"))
    await hands.until(lambda: window.chat.vm is not None, "a session in the workspace")
    await hands.until(lambda: window.chat.vm and window.chat.vm.conversation, "its conversation")
    await hands.until(lambda: hands.vm.breakdown is not None, "its context")
    hands.vm.conversation.listen(lambda e: _count(hands, e))  # type: ignore[union-attr]
    await hands.settle()


async def _another_session(hands: Hands) -> None:
    before = hands.vm
    hands.window.new_session()
    await hands.until(lambda: hands.window.chat.vm is not before, "a new session")
    await hands.until(lambda: hands.window.chat.vm and hands.vm.breakdown, "its context")
    await hands.settle()


def _count(hands: Hands, event: ev.Event) -> None:
    if isinstance(event, ev.ToolFinished):
        hands.note(facts={"tool_calls": 1})
    elif isinstance(event, ev.CompactionFinished):
        record = event.record
        hands.note(facts={"tokens_before": record.before, "tokens_after": record.after})


async def _first(hands: Hands, program: Program, watch: LoopWatch) -> None:
    window = hands.window
    await hands.settle()
    await hands.step("welcome", "01-welcome")
    await _open_documents(hands)
    await hands.step("workspace", "02-workspace")

    await hands.ask("What is in this folder?")
    await hands.answered()
    _needs(hands, ev.ToolFinished, "a tool call")
    await hands.step("listed", "03-listed")

    await hands.ask('Search for "refund" in all files')
    await hands.answered()
    _needs(hands, ev.ToolFinished, "a search")
    await hands.step("searched", "04-searched")

    program.change_setting("language", "zh_CN")
    await hands.ask("总结 notes/客户走访记录.md")
    await hands.answered()
    await hands.step("chinese", "05-chinese")
    program.change_setting("language", "en")

    await hands.ask('Search for "2026-03" in sales/2026-03-march.csv')
    await hands.answered()
    if not any(f.offloaded for f in hands.of(ev.ToolFinished)):
        raise TourError("no result was long enough to be offloaded")
    await hands.step("offloaded", "06-offloaded")

    await _approval(hands)
    await _fill(hands)
    hands.window.chat.show_row(_compaction_row(hands))
    await hands.step("compacted", "09-compacted")
    await _context_in_hand(hands)
    if (view := hands.window.chat.view) is not None:
        view.jump_to_end()

    window.areas.open("context")
    await hands.ask("Read contracts/framework-agreement.txt")
    await hands.until(lambda: len(hands.of(ev.TextDelta)) > 30, "some words of the answer")
    hands.press(window.chat.composer.edit, Qt.Key.Key_Escape)
    await hands.answered()
    if hands.of(ev.RunFinished)[-1].reason != "interrupted":
        raise TourError("the answer was not stopped")
    await hands.step("stopped", "14-stopped")

    _facts(hands, watch)
    hands.on_event = _kill_in_the_middle(hands)
    await hands.ask('Search for "2026-02" in sales/2026-02-february.csv')
    await hands.answered()
    raise TourError("the answer ended before the program was killed")


def _needs(hands: Hands, kind: type, what: str) -> None:
    if not hands.saw(kind):
        raise TourError(f"there was no {what}")


async def _approval(hands: Hands) -> None:
    window = hands.window
    await hands.ask("Write a summary of notes/team-meeting.md to reports/team-meeting.md")
    await hands.until(lambda: hands.saw(ev.ApprovalRequested), "an approval")
    await _card(hands)
    target = hands.out / "field-sales" / "reports" / "team-meeting.md"
    if target.exists():
        raise TourError("the file was written before it was allowed")
    await hands.settle()
    await hands.step("asked", "07-approval")
    hands.heard.clear()
    hands.press(window.chat.approval, Qt.Key.Key_Y, "y")
    await hands.answered()
    if not target.exists():
        raise TourError("the file was not written")
    await hands.step("written", "08-written")


async def _card(hands: Hands) -> None:
    """The approval card, shown for long enough to take keys."""
    card = hands.window.chat.approval
    await hands.until(lambda: card.isVisible() and card.takes_keys, "the approval card")


async def _fill(hands: Hands) -> None:
    """Read until the window is compacted."""
    files = ("january", "february", "march", "april")
    for n in range(LONG_READS * 2):
        name = f"sales/2026-0{n % 4 + 1}-{files[n % 4]}.csv"
        await hands.ask(f'Search for "00{n + 1}" in {name}')
        await hands.answered()
        if hands.saw(ev.CompactionFinished):
            break
    else:
        raise TourError("the context window was never compacted")


def _compaction_row(hands: Hands) -> str:
    """The newest row that tells of a compaction."""
    rows = [item.id for item in hands.vm.items() if isinstance(item, CompactionItem)]
    if not rows:
        raise TourError("no row tells of the compaction")
    return rows[-1]


async def _context_in_hand(hands: Hands) -> None:
    """Look at the X-ray, then at a proposal, accept it and take it back."""
    chat, vm = hands.window.chat, hands.vm
    hands.window.areas.open("context")
    xray = hands.window.inspector.context.xray
    await hands.until(lambda: xray.map.tiles.rowCount() > 2, "the tiles of the X-ray")
    xray.map.setFocus()
    hands.press(xray.map, Qt.Key.Key_Home)
    await hands.until(lambda: xray.map.current() is not None, "a chosen tile")
    if not xray.buttons:
        raise TourError("nothing can be done about the largest tile")
    await hands.settle()
    await hands.step("xray", "10-xray")

    chat.compaction.preview()
    await hands.until(lambda: isinstance(chat.compaction.dialog, PreviewDialog), "the preview")
    dialog = chat.compaction.dialog
    assert isinstance(dialog, PreviewDialog)
    await hands.until(dialog.go.isEnabled, "a proposal")
    await hands.step("previewed", "11-preview", dialog)
    hands.heard.clear()
    dialog.go.click()
    await hands.until(lambda: hands.saw(ev.CompactionFinished), "the accepted compaction")
    await hands.settle()
    chat.show_row(_compaction_row(hands))
    await hands.step("accepted", "12-accepted")
    n = len(vm.compactions)
    chat.row_action(_compaction_row(hands), "undo_compaction")
    await hands.until(lambda: hands.saw(ev.CompactionUndone), "the compaction to be undone")
    await hands.until(lambda: len(vm.compactions) == n - 1, "the log without it")
    await hands.settle()
    await hands.step("undone", "13-undone")


def _kill_in_the_middle(hands: Hands) -> Any:
    """Ends this process as a crash would, once some words of the answer have been saved: that is
    done every 0.9 s."""
    began = 0.0

    def heard(event: ev.Event) -> None:
        nonlocal began
        if isinstance(event, ev.TextDelta):
            began = began or time.monotonic()
            if time.monotonic() - began > 1.1:
                os.kill(os.getpid(), signal.SIGKILL)

    return heard


async def _second(hands: Hands, program: Program, watch: LoopWatch) -> None:
    window = hands.window
    await hands.until(lambda: window.chat.vm is not None, "the last session")
    await hands.until(lambda: hands.vm.conversation is not None, "its conversation")
    conversation = hands.vm.conversation
    assert conversation is not None
    conversation.listen(lambda e: _count(hands, e))
    if conversation.resumable is None:
        raise TourError("nothing was left to continue")
    if len(conversation.state.context[-1].text()) < 100:
        raise TourError("the text streamed before the kill was lost")
    await hands.settle()
    await hands.step("resumed", "15-resumed")
    hands.heard.clear()
    hands.listen()
    hands.vm.retry()
    await hands.answered()
    if hands.of(ev.RunFinished)[-1].reason != "completed":
        raise TourError("the answer was not finished")
    await hands.step("continued", "16-continued")


async def _shots(hands: Hands, program: Program, watch: LoopWatch) -> None:
    """Pictures for the README: one of each, named for what it shows."""
    window = hands.window
    await hands.settle()
    _grab(hands, "welcome")
    await _open_documents(hands)
    await hands.ask("List the files in sales and read notes/team-meeting.md")
    await hands.answered()
    window.areas.open("context")
    await hands.settle()
    _grab(hands, "chat-light")
    program.change_setting("scheme", "dark")
    await hands.settle()
    _grab(hands, "chat-dark")
    program.change_setting("scheme", "light")
    await hands.ask("Write a summary of notes/team-meeting.md to reports/team-meeting.md")
    await _card(hands)
    await hands.settle()
    _grab(hands, "approval")
    hands.heard.clear()
    hands.press(window.chat.approval, Qt.Key.Key_Y, "y")
    await hands.answered()
    window.areas.open("files")
    await hands.settle()
    _grab(hands, "inspector-files")
    program.change_setting("language", "zh_CN")
    window.areas.open("context")
    await _another_session(hands)
    await hands.ask("总结 notes/客户走访记录.md")
    await hands.answered()
    await hands.ask("列出 contracts 目录下的文件")
    await hands.answered()
    _grab(hands, "chat-zh")
    program.change_setting("language", "en")
    await _another_session(hands)
    await _fill(hands)
    window.areas.open("compactions")
    window.chat.show_row(_compaction_row(hands))
    await hands.settle()
    _grab(hands, "compaction")
    # Nothing of these is started: what is seen of them is what this computer has for them.
    machines = program.service.machines
    await machines.create("web-dev", DockerSpec())
    await machines.create("nightly-eval", E2BSpec())
    window.show_machines()
    await hands.until(
        lambda: window.machines is not None and len(window.machines.vm.rows.rows()) == 3,
        "the list of workspaces",
    )
    await asyncio.sleep(1.0)  # what it measures comes a moment later
    await hands.settle()
    _grab(hands, "workspaces")


def _grab(hands: Hands, name: str) -> None:
    hands.window.grab().save(str(hands.out / f"{name}.png"))
