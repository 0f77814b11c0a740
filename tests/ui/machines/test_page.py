"""The Workspaces page on real folders, a real engine and a cloud on this computer."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt

from desktop_app.core.overview_row import OverviewRow
from desktop_app.core.service import Slipway
from desktop_app.core.workspaces.docker.discovery import Endpoint
from desktop_app.core.workspaces.docker.engines import Engines
from desktop_app.core.workspaces.docker.spec import DockerSpec
from desktop_app.core.workspaces.e2b.account import Account
from desktop_app.core.workspaces.e2b.spec import E2BSpec
from desktop_app.core.workspaces.e2b.workspace import E2BWorkspace
from desktop_app.ui.machines.facts import Fact, Facts
from desktop_app.ui.machines.import_dialog import ImportDialog
from desktop_app.ui.machines.orphans import OrphansDialog
from desktop_app.ui.machines.page import MachinesPage
from desktop_app.ui.widgets import ConfirmDialog, TextPrompt
from tests.helpers.docker import base_image, engine_or_skip
from tests.helpers.e2b_cloud import cloud_or_skip

from .hands import Run, boxed, click, containers, dialog_of, start, use, words


def test_without_workspaces_the_page_says_what_one_is(qtbot: Any, page: MachinesPage) -> None:
    start(qtbot, page)
    assert page.pages.currentWidget() is page.empty
    text = page.empty.text
    assert text.height() >= text.heightForWidth(text.width()), "both lines of it"
    with qtbot.waitSignal(page.newWanted):
        page.empty.action.emit("new")


def test_the_first_workspace_of_an_empty_list_is_counted_and_shown_at_once(
    qtbot: Any, page: MachinesPage, service: Slipway, run: Run, tmp_path: Path
) -> None:
    start(qtbot, page)
    assert page.detail.row is None
    page._totals.setInterval(10**9)
    run(service.add_folder(str(tmp_path), trusted=True))
    qtbot.waitUntil(lambda: page.detail.row is not None, timeout=10_000)
    assert page.total.text() == "1"
    assert page.status.count.text() == "1 workspace"
    assert page.pages.currentWidget() is page.split


def test_folders_are_listed_live_and_filtered(
    qtbot: Any, page: MachinesPage, service: Slipway, run: Run, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    run(service.add_folder(str(tmp_path / "one"), trusted=True))
    start(qtbot, page)
    assert page.vm.rows.rowCount() == 1
    assert page.detail.name.text() == "one"
    two = run(service.add_folder(str(tmp_path / "two"), trusted=True))
    qtbot.waitUntil(lambda: page.vm.rows.rowCount() == 2)
    qtbot.waitUntil(lambda: page.status.count.text() == "2 workspaces")
    page.bar.search.setText("zzz")
    qtbot.waitUntil(lambda: page.pages.currentWidget() is page.none)
    page.none.action.emit("all")
    assert page.pages.currentWidget() is page.split
    page.show_workspace(two.id)
    page._wanted("forget")
    dialog = dialog_of(qtbot, ConfirmDialog)
    assert "Nothing is deleted" in words(dialog)
    click(dialog.go)
    qtbot.waitUntil(lambda: page.vm.rows.rowCount() == 1)
    assert (tmp_path / "two").is_dir()


def test_a_missing_folder_is_told_in_whole_lines_also_where_there_is_little_room(
    qtbot: Any, page: MachinesPage, service: Slipway, run: Run, tmp_path: Path
) -> None:
    place = tmp_path / ("a folder with a long name " * 6).strip()
    place.mkdir()
    info = run(service.add_folder(str(place), trusted=True))
    place.rmdir()
    run(service.refresh_workspace(info.id))
    page.resize(700, 560)
    start(qtbot, page)
    qtbot.waitUntil(lambda: page.detail._notice is not None)
    notice = page.detail._notice
    assert notice is not None
    for label in (notice.title, notice.reason, notice.detail):
        qtbot.waitUntil(
            lambda label=label: label.height() >= label.heightForWidth(label.width()) > 0
        )
    assert not page.detail.rescue.isVisible(), "a folder needs no copy"


def test_a_lease_that_ends_soon_is_in_the_colour_of_warnings(
    qtbot: Any, page: MachinesPage
) -> None:
    ends = int((time.time() + 300) * 1e6)
    row = OverviewRow("e", "box", "e2b", "ready", engine="base", ends_us=ends, pauses=True)
    page.detail.show_row(row, None, busy=False)
    name, value = page.detail.facts.pairs[0]
    assert name.text() == "Time left"
    assert value.text().endswith("then pauses")
    assert value._tone == "warning"
    page.detail.show_row(replace(row, ends_us=ends + 10**10), None, busy=False)
    assert value._tone == "text"
    with qtbot.waitSignal(page.detail.wanted) as told:
        page.detail.rescue.click()
    assert told.args == ["rescue"]


def test_where_room_is_short_the_least_wanted_facts_go_and_none_is_cut(qtbot: Any) -> None:
    facts = Facts()
    qtbot.addWidget(facts)
    facts.resize(900, 40)
    facts.show()
    wanted = [
        Fact("Time left", "10 min, then pauses"),
        Fact("Container image", "slipway-workspace:9c934e047fc72675", 9),
        Fact("Started", "today 04:17", 5),
        Fact("Sessions", "1", 4),
    ]
    facts.show_facts(wanted)
    assert facts.shown() == ["Time left", "Container image", "Started", "Sessions"]
    facts.resize(330, 40)
    qtbot.waitUntil(lambda: facts.shown() == ["Time left", "Started", "Sessions"])
    for _name, value in facts.pairs[:3]:
        qtbot.waitUntil(lambda value=value: value.width() >= value.sizeHint().width())
    facts.resize(60, 40)
    qtbot.waitUntil(lambda: facts.shown() == ["Time left"])
    facts.resize(900, 40)
    qtbot.waitUntil(lambda: len(facts.shown()) == 4)


def test_a_docker_container_is_started_measured_and_deleted_from_the_page(
    qtbot: Any, page: MachinesPage, service: Slipway, run: Run
) -> None:
    info = boxed(service, run)
    run(service.new_session(info.id))
    start(qtbot, page)
    qtbot.waitUntil(lambda: page.detail.name.text() == "a box")
    assert not page.detail.buttons["pause"].isVisible()
    click(page.detail.buttons["start"])
    qtbot.waitUntil(lambda: page.detail.buttons["stop"].isVisible(), timeout=60_000)
    qtbot.waitUntil(
        lambda: "of 2.1 GB" in page.detail.overview.memory.figure.text(), timeout=20_000
    )
    qtbot.waitUntil(lambda: page.status.running.text() == "1 machine runs")
    events = page.detail.overview.events
    qtbot.waitUntil(lambda: events.rows[0][2].text() == "Started up", timeout=10_000)
    workspace: Any = run(service.workspace(info.id))
    run(workspace.get_backend().write("big.bin", b"x" * 300_000))
    page._wanted("remove")
    dialog = dialog_of(qtbot, ConfirmDialog)
    said = words(dialog)
    assert "1 session with its history" in said
    assert "of files that are only in it" in said
    assert dialog.cancel.isDefault(), "the safe choice has the focus"
    click(dialog.cancel)
    qtbot.waitUntil(lambda: not dialog.isVisible())
    assert page.vm.rows.rowCount() == 1
    page._wanted("remove")
    click(dialog_of(qtbot, ConfirmDialog).go)
    qtbot.waitUntil(lambda: page.vm.rows.rowCount() == 0, timeout=30_000)
    assert containers(info.id) == []


def test_without_a_docker_engine_the_row_says_so_and_retry_finds_it(
    qtbot: Any, page: MachinesPage, service: Slipway, run: Run, tmp_path: Path
) -> None:
    engine = engine_or_skip()
    missing = Endpoint(f"unix://{tmp_path}/gone.sock", "default", missing=True)
    service.places.engines = Engines(look=lambda _chosen: [missing])
    info = run(service.machines.create("a box", DockerSpec(base_image=base_image())))
    start(qtbot, page)
    qtbot.waitUntil(lambda: page.detail.name.text() == "a box")
    row = page.vm.row(info.id)
    assert row is not None
    assert row.params["code"] == "docker.not_running"
    notice = page.detail._notice
    assert notice is not None
    assert notice.title.text() == "Docker is not running"
    assert page.status.trouble.text() == "1 engine not reachable"
    service.places.engines._look = lambda _chosen: [engine.endpoint]
    notice.action.emit("retry")
    qtbot.waitUntil(lambda: page.detail.buttons["start"].isVisible(), timeout=10_000)
    assert page.detail._notice is None
    run(engine.close())


def test_an_e2b_row_without_a_key_takes_one(
    qtbot: Any, page: MachinesPage, service: Slipway, run: Run
) -> None:
    with cloud_or_skip() as cloud:
        use(service, cloud)
        info = run(service.machines.create("in the cloud", E2BSpec()))
        start(qtbot, page)
        row = page.vm.row(info.id)
        assert row is not None
        assert row.params["code"] == "e2b.no_key"
        page._wanted("key")
        prompt = dialog_of(qtbot, TextPrompt)
        prompt.field.edit.setText(run(cloud.key()))
        click(prompt.go)
        qtbot.waitUntil(lambda: page.detail.buttons["start"].isVisible(), timeout=10_000)
        assert run(service.places.key_kept())[0] == "session"


def test_an_e2b_sandbox_is_extended_paused_and_an_orphan_ended(
    qtbot: Any, page: MachinesPage, service: Slipway, run: Run
) -> None:
    with cloud_or_skip() as cloud:
        account = service.places.e2b
        use(service, cloud)
        service.places.engines._look = lambda _chosen: []  # containers of tests that run beside it
        run(service.places.keep_key(run(cloud.key())))
        info = run(service.machines.create("in the cloud", E2BSpec(timeout=600, price=0.5)))
        run(service.machines.do(info.id, "start"), 20_000)
        other = E2BWorkspace(E2BSpec(), account, id="elsewhere", name="left behind")
        run(other.initialize())
        run(other.start(), 20_000)
        start(qtbot, page)
        qtbot.waitUntil(lambda: page.bar.found.review.isVisible(), timeout=10_000)
        assert page.bar.found.words.text() == "1 sandbox has no owner"
        before = page.vm.row(info.id)
        click(page.detail.buttons["extend"])

        def longer() -> bool:
            row = page.vm.row(info.id)
            return bool(before and row and row.ends_us > before.ends_us)

        qtbot.waitUntil(longer, timeout=10_000)
        click(page.bar.found.review)
        dialog = dialog_of(qtbot, OrphansDialog)
        (orphan,) = dialog.rows
        click(orphan.end)
        assert orphan.warning.isVisible()
        wanted = orphan.warning.heightForWidth(orphan.warning.width())
        qtbot.waitUntil(lambda: orphan.warning.height() >= wanted)
        assert len(cloud.boxes) == 2, "the first press ends nothing"
        click(orphan.end)
        qtbot.waitUntil(lambda: not page.bar.found.review.isVisible(), timeout=10_000)
        assert len(cloud.boxes) == 1
        click(page.detail.buttons["pause"])
        qtbot.waitUntil(lambda: page.detail.buttons["start"].isVisible(), timeout=10_000)
        assert page.detail.buttons["start"].text() == "Resume"
        run(service.machines.do(info.id, "remove"), 15_000)
        run(other.close(), 10_000)


def test_an_e2b_sandbox_of_agentscope_is_added_read_and_opened_anyway(
    qtbot: Any, page: MachinesPage, service: Slipway, run: Run
) -> None:
    with cloud_or_skip() as cloud:
        account = service.places.e2b
        use(service, cloud)
        service.places.engines._look = lambda _chosen: []  # containers of tests that run beside it
        run(service.places.keep_key(run(cloud.key())))
        run(service.machines.create("ours", E2BSpec()))
        theirs = run(made_by_agentscope(account, "w-theirs"), 20_000)
        start(qtbot, page)
        qtbot.waitUntil(lambda: page.bar.found.review.isVisible(), timeout=20_000)
        assert page.bar.found.words.text() == "1 machine of AgentScope found"
        assert not page.bar.found.sign.isVisible(), "nothing is wrong"
        click(page.bar.found.review)
        (found,) = dialog_of(qtbot, OrphansDialog).found
        click(found.add)
        qtbot.waitUntil(lambda: not page.bar.found.review.isVisible(), timeout=20_000)
        qtbot.waitUntil(lambda: len(page.vm.rows.rows()) == 2, timeout=20_000)
        (row,) = [one for one in page.vm.rows.rows() if one.theirs]
        page.show_workspace(row.id)
        notice = page.detail._notice
        assert notice is not None
        assert notice.title.text() == "AgentScope made this machine"
        shown = [verb for verb, button in page.detail.buttons.items() if button.isVisible()]
        assert shown == ["open"]
        tabs = [tab.value for tab in page.detail.tabs.parts()]
        assert tabs == ["overview", "files", "mcp", "skills"], "nothing to be set here"
        notice.action.emit("open_anyway")
        qtbot.waitUntil(lambda: page.detail.buttons["pause"].isVisible(), timeout=20_000)
        assert page.detail._notice is None
        assert cloud.boxes[theirs].state == "running"


async def made_by_agentscope(account: Account, workspace_id: str) -> str:
    """A sandbox with the metadata that AgentScope gives it; its id."""
    await account.options()
    import e2b

    metadata = {"agentscope.workspace.id": workspace_id}
    options = await account.options()
    made = await e2b.AsyncSandbox.create("base", metadata=metadata, **options)
    await made.files.make_dir("/home/user/workspace")
    return made.sandbox_id


SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples"


def test_workspaces_of_agentscope_are_imported_restricted_and_those_known_are_not_offered(
    qtbot: Any, page: MachinesPage, service: Slipway, run: Run, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    for name in ("one", "two", "three"):
        shutil.copytree(SAMPLES / "gen-c-2.0.11", root / name)
    run(service.add_folder(str(root / "one"), trusted=True))
    start(qtbot, page)
    page.importing.look_below(str(root))
    dialog = dialog_of(qtbot, ImportDialog)
    rows = {row.candidate.name: row.box for row in dialog.rows}
    assert (rows["one"].isEnabled(), rows["two"].isChecked()) == (False, True)
    assert dialog.go.text() == "Add 2"
    rows["three"].setChecked(False)
    assert dialog.go.text() == "Add 1"
    with qtbot.waitSignal(page.importing.imported, timeout=10_000) as told:
        click(dialog.go)
    assert told.args == [1]
    qtbot.waitUntil(lambda: len(page.vm.rows.rows()) == 2, timeout=10_000)
    (row,) = [one for one in page.vm.rows.rows() if one.name == "two"]
    assert not row.trusted
    with qtbot.waitSignal(page.importing.nothing, timeout=10_000):
        page.importing.look_below(str(tmp_path / "root" / "one" / "skills"))


def test_a_rescue_copy_is_imported_under_the_name_it_had(
    qtbot: Any, page: MachinesPage, service: Slipway, run: Run, home: Path
) -> None:
    start(qtbot, page)
    with qtbot.waitSignal(page.importing.nothing, timeout=10_000):
        menu_of(page.importing)["A rescue copy…"].trigger()
    info = run(service.machines.create("night run", E2BSpec()))
    copy = service.paths.data / "rescued" / info.id / "2026-11-30 10.05.00"
    (copy / "sessions").mkdir(parents=True)
    menu_of(page.importing)["A rescue copy…"].trigger()
    dialog = dialog_of(qtbot, ImportDialog)
    assert not dialog.go.isEnabled(), "nothing is chosen yet"
    dialog.rows[0].box.setChecked(True)
    click(dialog.go)
    wanted = ["night run", "Copy of night run"]
    qtbot.waitUntil(lambda: [r.name for r in page.vm.rows.rows()] == wanted, timeout=10_000)
    assert copy.is_dir()


def menu_of(button: Any) -> dict[str, Any]:
    menu = button.menu()
    menu.aboutToShow.emit()
    return {action.text(): action for action in menu.actions()}


def test_every_entry_of_import_does_something(qtbot: Any, page: MachinesPage) -> None:
    start(qtbot, page)
    actions = menu_of(page.importing)
    with qtbot.waitSignal(page.folderWanted):
        actions["Open a folder…"].trigger()
    assert not actions["AgentScope's containers and sandboxes…"].isEnabled(), "none was found"


def test_tab_goes_from_left_to_right_through_the_filters_into_the_table(
    qtbot: Any, page: MachinesPage, service: Slipway, run: Run, tmp_path: Path
) -> None:
    run(service.add_folder(str(tmp_path), trusted=True))
    start(qtbot, page)
    qtbot.waitUntil(lambda: page.detail.row is not None)
    bar = page.bar
    stops: list[Any] = []
    at: Any = bar.search
    while at is not page.table and len(stops) < 60:
        if at.focusPolicy() & Qt.FocusPolicy.TabFocus and at.isVisibleTo(page):
            stops.append(at)
        at = at.nextInFocusChain()
    assert stops[0] is bar.search
    assert stops[1] in bar.kinds.parts()
    assert stops[2:4] == [bar.states, bar.groups]
