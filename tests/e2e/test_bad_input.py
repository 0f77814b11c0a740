"""What a model, a folder or a disk may hand us: told in its place, nothing lost, the rest works."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

from PySide6.QtCore import Qt

from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.sessions.base import SessionKey
from tests.helpers.program import Driver
from tests.ui.conftest import LogGuard


def reading(*paths: str) -> ScriptedModel:
    turns: list[list] = [[Call("Read", {"file_path": path})] for path in paths]
    return ScriptedModel([*turns, [Say("Looked.")]], titles=[[Say("Looking")]])


def test_a_call_cut_short_is_answered_and_nothing_is_run(driver: Driver, folder: Path) -> None:
    model = ScriptedModel(
        [
            [Call("Write", '{"file_path": "cut.txt", "content": "abc')],
            [Call("Nothing", {}), Call("Write", {"wrong": 1}), Call("Read", "[1]")],
            [Say("I see.")],
        ],
        titles=[[Say("Cut")]],
    )
    driver.start(model).open_folder(folder)
    driver.ask("go")
    driver.until_idle()
    assert [t.status for t in driver.tools()] == ["error"] * 4
    assert all(t.output for t in driver.tools())
    assert "JSON" in driver.tools()[0].output
    assert not (folder / "cut.txt").exists()
    assert driver.said() == "I see."


def test_a_result_of_five_megabytes_is_kept_whole(driver: Driver, folder: Path) -> None:
    lines = "".join(f"{n:08d} the quick brown fox\n" for n in range(180_000))
    (folder / "big.log").write_text(lines)
    model = ScriptedModel(
        [[Call("Bash", {"command": "cat big.log"}, call_id="../../../outside")], [Say("Long.")]],
        titles=[[Say("Big")]],
    )
    driver.start(model).open_folder(folder)
    driver.ask("show it")
    if driver.vm.activity == "parked":
        driver.key(Qt.Key.Key_Y)
    driver.until_idle(30_000)
    call = driver.tools()[0]
    assert call.status == "success"
    assert call.whole_bytes > 4_900_000
    whole = folder / call.offloaded
    driver.until(lambda: whole.exists() and whole.stat().st_size == call.whole_bytes)
    assert whole.resolve().is_relative_to((folder / ".slipway").resolve()), "a call id is no path"
    assert whole.read_text().startswith(lines[:100])
    assert lines[-100:].strip() in whole.read_text()[-200:]
    assert len(call.output) < 200_000
    breakdown = driver.vm.breakdown
    assert breakdown is not None
    assert breakdown.upper < breakdown.limits.usable
    assert not list(folder.parent.glob("outside*"))


def test_files_that_are_no_text(driver: Driver, folder: Path) -> None:
    (folder / "noise.bin").write_bytes(os.urandom(100_000))
    os.mkfifo(folder / "pipe")
    with (folder / "line.txt").open("wb") as file:
        file.write(b"begin ")
        file.truncate(500_000_000)
    (folder / "loop").symlink_to("loop")
    driver.start(reading("noise.bin", "pipe", "line.txt", "loop", "."))
    driver.open_folder(folder)
    driver.ask("read all", 30_000)
    driver.until_idle(30_000)
    assert driver.said() == "Looked."
    noise, pipe, line, loop, directory = driver.tools()
    assert "binary" in noise.output.lower()
    assert pipe.status == "error"
    assert len(line.output) < 200_000
    assert (loop.status, directory.status) == ("error", "error")
    assert all(t.output for t in (noise, pipe, line, loop, directory))
    # The panel of files shows them all, and looks into none of them blindly.
    window = driver.window
    window.areas.open("files")
    files = window.inspector.files
    driver.until(lambda: files.model.rowCount() == 7)
    for row in range(files.model.rowCount()):
        files.tree.setCurrentIndex(files.model.index(row, 0))
        name = files.model.data(files.model.index(row, 0), Qt.ItemDataRole.DisplayRole)
        driver.until(lambda name=name: files.browser.name.text() == name)
    driver.until(lambda: not files.browser._tasks)


def test_thirty_thousand_folders(driver: Driver, folder: Path) -> None:
    for n in range(300):
        place = folder / f"d{n:03d}"
        place.mkdir()
        for m in range(100):
            (place / f"e{m:02d}").mkdir()
    model = ScriptedModel(
        [[Call("Glob", {"pattern": "**/*.md"})], [Say("One.")]], titles=[[Say("Many")]]
    )
    driver.start(model).open_folder(folder)
    driver.ask("find notes", 30_000)
    driver.until_idle(30_000)
    assert "notes.md" in driver.tools()[0].output
    window = driver.window
    window.areas.open("files")
    driver.until(lambda: window.inspector.files.model.rowCount() == 303)


def test_ids_that_would_climb_out(driver: Driver, folder: Path, home: Path) -> None:
    driver.start(ScriptedModel()).open_folder(folder)
    for key in (
        SessionKey("local", "default", "../../../etc/passwd"),
        SessionKey("local", "..", ".."),
        SessionKey("..", "default", "\0"),
        SessionKey("local", "foreign:../..", "x"),
        SessionKey("local", f"foreign:{driver.workspace('Field notes').info.id}", "../.."),
    ):
        before = len(driver.toasts())
        driver.window.open_session(key)
        driver.until(lambda before=before: len(driver.toasts()) > before)
        for toast in driver.window.toasts.toasts():
            toast.dismiss()
    outside = {p.name for p in home.parent.iterdir()}
    assert outside <= {home.name, folder.name}
    driver.new_session()
    assert driver.why_disabled() == ""


def damage(home: Path, key: SessionKey, seq: int) -> Path:
    (path,) = home.glob(f"data/journals/*/*/{key.session_id}/journal.db")
    db = sqlite3.connect(path)
    with db:
        body = json.dumps({"reply_id": "x", "msg": "forged"}).encode()
        db.execute("UPDATE record SET body = ? WHERE seq = ?", (body, seq))
    db.close()
    return path


def test_a_journal_damaged_in_its_middle(driver: Driver, folder: Path, home: Path) -> None:
    turns = [[Say(f"Answer {n}.")] for n in range(6)]
    driver.start(ScriptedModel([*turns, [Say("New.")]], titles=[[Say("One")], [Say("Two")]]))
    driver.open_folder(folder)
    hurt = driver.window.desk.current
    for n in range(4):
        driver.ask(f"question {n}")
    healthy = driver.new_session()
    driver.ask("healthy")
    records = driver.run(driver.service.conversation(hurt))
    seqs = [r.seq for r in driver.run(records.log.journal.read(kinds=["user.message"]))]
    driver.stop()
    path = damage(home, hurt, seqs[2])
    bytes_before = path.read_bytes()

    driver.start(ScriptedModel([[Say("Going on.")], [Say("Well.")]], titles=[[Say("Whole")]] * 2))
    driver.open_session(hurt)
    assert driver.asked() == ["question 0", "question 1"], "all that is whole is shown"
    assert "cannot be read" in driver.why_disabled()
    assert driver.window.chat.composer.way.text() == "Continue in a new session"
    driver.window.chat.composer.way.click()
    driver.until(lambda: driver.window.desk.current not in (hurt, healthy))
    driver.until_shown()
    assert driver.asked() == ["question 0", "question 1"]
    driver.ask("question 2, again")
    assert driver.said().endswith("Going on.")
    driver.open_session(healthy)
    driver.ask("and you?")
    assert driver.said().endswith("Well.")
    assert path.read_bytes() == bytes_before, "the damaged file is left as it is"


def test_settings_that_do_not_parse_are_told_and_kept(
    driver: Driver, home: Path, log_guard: LogGuard
) -> None:
    path = home / "config" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"language": "zh_CN", ')
    driver.start()
    assert any("settings" in t.lower() for t in driver.toasts())
    assert path.read_text() == '{"language": "zh_CN", '
    driver.window.settingChosen.emit("scheme", "dark")
    assert json.loads(path.read_text()) == {"scheme": "dark"}
    (kept,) = path.parent.glob("settings.broken-*.json")
    assert kept.read_text() == '{"language": "zh_CN", '


def test_a_damaged_list_of_workspaces_is_told_and_sessions_are_there(
    driver: Driver, folder: Path, home: Path, log_guard: LogGuard
) -> None:
    driver.start(ScriptedModel([[Say("Yes.")]], titles=[[Say("Talk")]])).open_folder(folder)
    driver.ask("Is it?")
    key = driver.window.desk.current
    driver.stop()
    path = home / "data" / "app.db"
    path.write_bytes(b"\x07" * 20_000)
    for name in ("app.db-wal", "app.db-shm"):
        (home / "data" / name).unlink(missing_ok=True)
    driver.start(ScriptedModel())
    assert any("list of workspaces" in t for t in driver.toasts())
    assert list((home / "data").glob("app*broken*")) or list((home / "data").glob("*damaged*"))
    driver.until_shown()
    assert driver.window.desk.current == key
    assert driver.said() == "Yes."
    driver.until(lambda: driver.session(key) is not None)
    workspace = driver.workspace("Field notes")
    assert workspace.info.folder == str(folder)
    assert not workspace.info.trusted, "trust was lost with the list; it is asked for again"
