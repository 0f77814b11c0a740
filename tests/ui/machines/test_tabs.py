"""Files, log and settings of one workspace on the page."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QMimeData, QModelIndex, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication

from desktop_app.core.mcp.spec import ServerSpec
from desktop_app.core.service import Slipway
from desktop_app.core.workspaces.mcp_write import NewServer
from desktop_app.ui.machines.docker_form import DockerForm
from desktop_app.ui.machines.page import MachinesPage
from desktop_app.ui.widgets import ConfirmDialog

from .hands import Run, boxed, click, containers, dialog_of, start, words


def names(tab: Any) -> list[str]:
    model = tab.model
    if model.canFetchMore(QModelIndex()):
        model.fetchMore(QModelIndex())
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def pick(qtbot: Any, tab: Any, name: str) -> None:
    qtbot.waitUntil(lambda: name in names(tab), timeout=10_000)
    tab.tree.setCurrentIndex(tab.model.index(names(tab).index(name), 0))


def test_files_are_looked_into_uploaded_and_downloaded(
    qtbot: Any,
    page: MachinesPage,
    service: Slipway,
    run: Run,
    tmp_path: Path,
) -> None:
    place = tmp_path / "ws"
    place.mkdir()
    (place / "notes.md").write_text("the harbour opens in May\n")
    run(service.add_folder(str(place), trusted=True))
    start(qtbot, page)
    qtbot.waitUntil(lambda: page.detail.row is not None)
    page.detail.show_tab("files")
    tab = page.tabs.files
    pick(qtbot, tab, "notes.md")
    qtbot.waitUntil(lambda: "harbour" in tab.text.toPlainText())
    target = tmp_path / "copy.md"
    tab.download(target)
    qtbot.waitUntil(target.exists)
    assert target.read_text() == "the harbour opens in May\n"
    qtbot.waitUntil(lambda: not tab.copying, timeout=10_000)
    new = tmp_path / "new.txt"
    new.write_text("hello")
    tab.upload([new])
    qtbot.waitUntil(lambda: (place / "new.txt").exists())
    qtbot.waitUntil(lambda: "new.txt" in names(tab), timeout=10_000)
    qtbot.waitUntil(lambda: not tab.copying, timeout=10_000)
    other = tmp_path / "up" / "notes.md"
    other.parent.mkdir()
    other.write_text("other words")
    tab.upload([other])
    dialog = dialog_of(qtbot, ConfirmDialog)
    assert "Its content would be lost" in words(dialog)
    click(dialog.cancel)
    qtbot.waitUntil(lambda: not tab.copying, timeout=10_000)
    assert "harbour" in (place / "notes.md").read_text(), "nothing is replaced silently"
    tab.upload([other])
    click(dialog_of(qtbot, ConfirmDialog).go)
    qtbot.waitUntil(lambda: (place / "notes.md").read_text() == "other words")


def test_a_folder_is_downloaded_whole_and_never_over_another(
    qtbot: Any,
    page: MachinesPage,
    service: Slipway,
    run: Run,
    tmp_path: Path,
) -> None:
    place = tmp_path / "ws"
    (place / "notes" / "deep").mkdir(parents=True)
    (place / "notes" / "plan.md").write_text("the plan")
    (place / "notes" / "deep" / "data.bin").write_bytes(bytes(range(256)) * 64)
    run(service.add_folder(str(place), trusted=True))
    start(qtbot, page)
    qtbot.waitUntil(lambda: page.detail.row is not None)
    page.detail.show_tab("files")
    tab = page.tabs.files
    pick(qtbot, tab, "notes")
    assert tab.down.isEnabled()
    target = tmp_path / "out"
    with qtbot.waitSignal(page.vm.copied, timeout=20_000) as told:
        tab.download(target)
    assert told.args == [str(target), []]
    assert (target / "plan.md").read_text() == "the plan"
    assert (target / "deep" / "data.bin").read_bytes() == bytes(range(256)) * 64
    (target / "plan.md").write_text("mine now")
    qtbot.waitUntil(lambda: not tab.copying, timeout=10_000)
    with qtbot.waitSignal(page.vm.failed, timeout=20_000) as failed:
        tab.download(target)
    assert failed.args[0].code == "file.exists"
    assert (target / "plan.md").read_text() == "mine now"


def a_tree(top: Path) -> Path:
    (top / "sub").mkdir(parents=True)
    (top / "sub" / "data.bin").write_bytes(bytes(range(256)) * 100)
    (top / "words.md").write_text("words")
    return top


def shown_files(
    qtbot: Any,
    page: MachinesPage,
    service: Slipway,
    run: Run,
    place: Path,
) -> Any:
    """The files of a folder in the page."""
    run(service.add_folder(str(place), trusted=True))
    start(qtbot, page)
    qtbot.waitUntil(lambda: page.detail.row is not None)
    page.detail.show_tab("files")
    return page.tabs.files


def test_folders_are_uploaded_beside_files_and_both_are_kept(
    qtbot: Any,
    page: MachinesPage,
    service: Slipway,
    run: Run,
    tmp_path: Path,
) -> None:
    place, tree = tmp_path / "ws", a_tree(tmp_path / "data")
    place.mkdir()
    (tmp_path / "one.txt").write_text("one")
    os.mkfifo(tree / "pipe")
    tab = shown_files(qtbot, page, service, run, place)
    with qtbot.waitSignal(page.vm.uploaded, timeout=20_000) as told:
        tab.upload([tmp_path / "one.txt", tree])
    assert told.args == ["data", ["data/pipe"]], "what cannot be brought is told"
    assert (place / "data/sub/data.bin").read_bytes() == bytes(range(256)) * 100
    assert (place / "one.txt").read_text() == "one"
    qtbot.waitUntil(lambda: names(tab) == ["data", "one.txt"], timeout=10_000)
    (place / "data/words.md").write_text("mine now")
    qtbot.waitUntil(lambda: not tab.copying, timeout=10_000)
    tab.upload([tree])
    dialog = dialog_of(qtbot, ConfirmDialog)
    assert "uploaded as “data 2”" in words(dialog)
    click(dialog.cancel)
    qtbot.waitUntil(lambda: not tab.copying, timeout=10_000)
    assert not (place / "data 2").exists()
    tab.upload([tree])
    click(dialog_of(qtbot, ConfirmDialog).go)
    qtbot.waitUntil(lambda: (place / "data 2/words.md").exists(), timeout=10_000)
    assert (place / "data/words.md").read_text() == "mine now"
    qtbot.waitUntil(lambda: not tab.copying, timeout=10_000)


def test_an_upload_of_a_folder_is_cancelled_and_leaves_nothing_of_it(
    qtbot: Any,
    page: MachinesPage,
    service: Slipway,
    run: Run,
    tmp_path: Path,
) -> None:
    place, tree = tmp_path / "ws", a_tree(tmp_path / "data")
    place.mkdir()
    (tmp_path / "one.txt").write_text("one")
    with (tree / "big").open("wb") as file:
        file.truncate(1 << 40)  # holes: longer than the test could wait for
    tab = shown_files(qtbot, page, service, run, place)
    tab.upload([tmp_path / "one.txt", tree])
    qtbot.waitUntil(lambda: tab.progress.cancel.isVisible(), timeout=20_000)
    qtbot.waitUntil(lambda: "MB" in tab.progress.detail.text(), timeout=20_000)
    assert tab.progress.label.text() == "Uploading data, 2 of 2"
    click(tab.progress.cancel)
    qtbot.waitUntil(lambda: len(tab._tasks) == 0, timeout=30_000)
    assert [one.name for one in place.iterdir()] == ["one.txt"]
    assert not tab.progress.isVisible()
    qtbot.waitUntil(lambda: names(tab) == ["one.txt"], timeout=10_000)


def drag(tab: Any, kind: QEvent.Type, at: QPoint, paths: list[Path]) -> Qt.DropAction:
    """What a drag does over the tab; how it is answered."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    action, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    none = Qt.KeyboardModifier.NoModifier
    event: QDropEvent
    if kind == QEvent.Type.DragEnter:
        event = QDragEnterEvent(at, action, data, left, none)
    elif kind == QEvent.Type.DragMove:
        event = QDragMoveEvent(at, action, data, left, none)
    else:
        event = QDropEvent(at.toPointF(), action, data, left, none)
    QApplication.sendEvent(tab, event)
    assert event.isAccepted(), "the window would take it for a workspace"
    return event.dropAction()


def test_what_is_dropped_goes_into_the_folder_under_the_pointer(
    qtbot: Any,
    page: MachinesPage,
    service: Slipway,
    run: Run,
    tmp_path: Path,
) -> None:
    place, tree = tmp_path / "ws", a_tree(tmp_path / "data")
    (place / "in").mkdir(parents=True)
    (place / "notes.md").write_text("notes")
    tab = shown_files(qtbot, page, service, run, place)
    pick(qtbot, tab, "notes.md")
    row = tab.tree.visualRect(tab.model.index(names(tab).index("in"), 0)).center()
    at = tab.tree.viewport().mapTo(tab, row)
    assert drag(tab, QEvent.Type.DragEnter, at, [tree]) == Qt.DropAction.CopyAction
    mark = tab.drops.mark
    assert mark.isVisible()
    assert (mark.words, mark.target.contains(at)) == ("Upload into in", True)
    beside = tab.text.mapTo(tab, QPoint(5, 5))
    drag(tab, QEvent.Type.DragMove, beside, [tree])
    assert mark.words == "Upload into the top folder"
    QApplication.sendEvent(tab, QDragLeaveEvent())
    assert not mark.isVisible()
    drag(tab, QEvent.Type.DragEnter, at, [tree])
    assert drag(tab, QEvent.Type.Drop, at, [tree]) == Qt.DropAction.CopyAction
    drag(tab, QEvent.Type.DragEnter, at, [tree])
    assert mark.words == "One copy at a time: this one first"
    assert drag(tab, QEvent.Type.Drop, at, [tree]) == Qt.DropAction.IgnoreAction
    qtbot.waitUntil(lambda: (place / "in/data/words.md").exists(), timeout=20_000)
    qtbot.waitUntil(lambda: not tab.copying, timeout=20_000)
    assert not mark.isVisible()
    assert sorted(one.name for one in (place / "in").iterdir()) == ["data"]


def test_servers_and_skills_of_a_workspace_are_seen_and_switched_without_a_session(
    qtbot: Any,
    page: MachinesPage,
    service: Slipway,
    run: Run,
    tmp_path: Path,
) -> None:
    place = tmp_path / "ws"
    place.mkdir()
    info = run(service.add_folder(str(place), trusted=True))
    workspace = run(service.workspace(info.id))
    source = Path(workspace.info.root) / "skills" / "default" / "report"
    source.mkdir(parents=True)
    (source / "SKILL.md").write_text("---\nname: report\ndescription: Weekly.\n---\nDo it.\n")
    run(workspace.mcp_writer().add(("", ""), NewServer("clock", ("clock-server",))))
    run(workspace.refresh())
    start(qtbot, page)
    qtbot.waitUntil(lambda: page.detail.row is not None)
    page.detail.show_tab("skills")
    skills = page.tabs.skills.panel
    qtbot.waitUntil(lambda: skills.model.rowCount() == 1)
    skills.view.setCurrentIndex(skills.model.index(0, 0))
    assert skills.switch.isChecked()
    click(skills.switch)
    qtbot.waitUntil(lambda: (one := skills.current()) is not None and not one.enabled)
    assert run(service.skills_off(info.id, "default")) == ["report"]
    page.detail.show_tab("mcp")
    servers = page.tabs.servers.panel
    qtbot.waitUntil(lambda: len(servers.cards) == 1)
    (view,) = servers.servers
    assert (view.name, view.state) == ("clock", "off"), "looking starts nothing"
    servers.cards[0].enabled.emit("clock", False)
    qtbot.waitUntil(lambda: not servers.servers[0].enabled)
    (declared,) = run(workspace.mcp_file()).all()
    assert declared.name == "clock"
    assert not ServerSpec.of(declared).enabled


def test_each_agents_skills_are_shown_and_switched_for_it_alone(
    qtbot: Any,
    page: MachinesPage,
    service: Slipway,
    run: Run,
    tmp_path: Path,
) -> None:
    place = tmp_path / "ws"
    place.mkdir()
    info = run(service.add_folder(str(place), trusted=True))
    writer = run(service.agents.make("Writer"))
    workspace = run(service.workspace(info.id))
    for agent, name in (("default", "report"), (writer.id, "letters")):
        source = Path(workspace.info.root) / "skills" / agent / name
        source.mkdir(parents=True)
        (source / "SKILL.md").write_text(f"---\nname: {name}\ndescription: D.\n---\nDo it.\n")
    run(workspace.refresh())
    start(qtbot, page)
    qtbot.waitUntil(lambda: page.detail.row is not None)
    page.detail.show_tab("skills")
    tab = page.tabs.skills
    listed = tab.panel.model

    def names() -> list[str]:
        return [listed.item(row).text() for row in range(listed.rowCount())]

    qtbot.waitUntil(lambda: names() == ["report"], timeout=10_000)
    assert tab.whose.isVisible()
    tab.agents.set_value(writer.id)
    tab.agents.chosen.emit(writer.id)
    qtbot.waitUntil(lambda: names() == ["letters"], timeout=10_000)
    tab.panel.view.setCurrentIndex(listed.index(0, 0))
    click(tab.panel.switch)
    qtbot.waitUntil(lambda: (one := tab.panel.current()) is not None and not one.enabled)
    assert run(service.skills_off(info.id, writer.id)) == ["letters"]
    assert run(service.skills_off(info.id, "default")) == []


def test_a_docker_container_shows_files_log_and_settings(
    qtbot: Any,
    page: MachinesPage,
    service: Slipway,
    run: Run,
    tmp_path: Path,
) -> None:
    info = boxed(service, run)
    start(qtbot, page)
    qtbot.waitUntil(lambda: page.detail.row is not None)
    page.detail.show_tab("files")
    assert page.tabs.files.stopped.isVisible(), "looking starts nothing"
    page.tabs.files.stopped.action.emit("start")
    qtbot.waitUntil(lambda: page.tabs.files.tree.isVisible(), timeout=60_000)
    source = tmp_path / "data.csv"
    source.write_bytes(b"a,b\n1,2\n" * 200_000)
    page.tabs.files.upload([source])
    assert not page.tabs.files.down.isEnabled(), "one copy at a time"
    qtbot.waitUntil(lambda: not page.tabs.files.copying, timeout=60_000)
    qtbot.waitUntil(lambda: "data.csv" in names(page.tabs.files), timeout=20_000)
    pick(qtbot, page.tabs.files, "data.csv")
    qtbot.waitUntil(lambda: page.tabs.files.text.toPlainText().startswith("a,b"), timeout=10_000)
    target = tmp_path / "back.csv"
    page.tabs.files.download(target)
    qtbot.waitUntil(lambda: target.exists() and not page.tabs.files.copying, timeout=60_000)
    assert target.read_bytes() == source.read_bytes()
    run(cached(service, info.id).get_backend().write("notes/plan.md", b"the plan"))
    page.tabs.files.model.refresh()
    pick(qtbot, page.tabs.files, "notes")
    page.tabs.files.download(tmp_path / "notes")
    plan = tmp_path / "notes" / "plan.md"
    qtbot.waitUntil(lambda: plan.exists() and plan.read_text() == "the plan", timeout=20_000)
    qtbot.waitUntil(lambda: not page.tabs.files.copying, timeout=20_000)
    with qtbot.waitSignal(page.vm.uploaded, timeout=60_000):
        page.tabs.files.upload([a_tree(tmp_path / "tree")], "notes")
    backend = cached(service, info.id).get_backend()
    assert run(backend.read_bytes("notes/tree/words.md"), 20_000) == b"words"
    listed = run(backend.exec(["ls", "-A", "notes"]), 20_000).stdout
    assert listed == b"plan.md\ntree\n", "no part is left behind"
    qtbot.waitUntil(lambda: not page.tabs.files.copying, timeout=20_000)
    (container,) = containers(info.id)
    page.detail.show_tab("logs")
    say = "echo the pump is on > /proc/1/fd/1"
    subprocess.run(["docker", "exec", container, "sh", "-c", say], check=True, timeout=30)
    qtbot.waitUntil(lambda: "the pump is on" in page.tabs.logs.text.toPlainText(), timeout=15_000)
    page.detail.show_tab("settings")
    form = page.tabs.settings.form
    assert isinstance(form, DockerForm)
    form.memory.set_value("1024")
    click(page.tabs.settings.rebuild)
    dialog = dialog_of(qtbot, ConfirmDialog)
    assert "files that are only in it" in words(dialog)
    click(dialog.go)
    qtbot.waitUntil(lambda: containers(info.id) not in ([], [container]), timeout=60_000)
    row = service.manager.cached(info.id)
    assert row is not None
    qtbot.waitUntil(lambda: not page.vm.busy(info.id), timeout=30_000)
    kept = run(service.db.workspace(info.id)).config["docker"]
    assert kept["memory"] == 1024


def cached(service: Slipway, workspace_id: str) -> Any:
    return service.manager.cached(workspace_id)
