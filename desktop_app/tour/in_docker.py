"""The tour's part in a Docker container: made, used, looked after, removed."""

from __future__ import annotations

import os
import socket

from desktop_app.app import Program
from desktop_app.core import events as ev
from desktop_app.core.loopwatch import LoopWatch
from desktop_app.core.models.scripted import Call, Say
from desktop_app.core.resources import path as resource
from desktop_app.core.workspaces.docker.image import LIBRARIES
from desktop_app.core.workspaces.docker.spec import BASE_IMAGE
from desktop_app.core.workspaces.docker.workspace import DockerWorkspace
from desktop_app.ui.tools.add_server import AddServerDialog

from .hands import Hands, TourError
from .machines import (
    BUILD_SECONDS,
    allow,
    asked,
    begin,
    file_shown,
    loss,
    new_dialog,
    opened,
    page_of,
    paused_and_back,
    row_of,
)
from .needs import IMAGE

NAME = "Field work"
SYSTEM = "system.txt"
# What it writes is in its folder; the same lines go to the log of the container's main process.
LINE = (
    '{ . /etc/os-release; echo "$PRETTY_NAME on $(uname -n)"; python3 --version; id; } '
    f"| tee {SYSTEM} /proc/1/fd/1"
)
TURNS = [
    [Say("I look at where I am and write it down."), Call("Bash", {"command": LINE})],
    [Say(f"I work in a container of my own. What I found is in `{SYSTEM}`.")],
    [Call("mcp__tally__tally", {"path": SYSTEM})],
    [Say("The server counted the file where it lies: inside the container.")],
]


def image() -> str:
    """The base image of the container."""
    return os.environ.get(IMAGE) or BASE_IMAGE


async def play(hands: Hands, program: Program, watch: LoopWatch) -> None:
    await begin(hands, program, TURNS)
    workspace = await _made(hands, program)
    await _used(hands, workspace)
    await _looked_after(hands, workspace)
    await _server(hands, workspace)
    await _removed(hands, workspace)


async def _made(hands: Hands, program: Program) -> DockerWorkspace:
    dialog = await new_dialog(hands, "docker")
    if not any(r.finding.what == "engine" and r.finding.error is None for r in dialog.doctor.rows):
        raise TourError("the doctor found no engine")
    hands.write(dialog.name.edit, NAME)
    hands.write(dialog.docker.image.edit, image())
    dialog.docker.memory.set_value("1024")
    await hands.settle()
    await hands.step("docker-new", "20-docker-new", dialog)
    await hands.click(dialog.go)
    lines = dialog.progress.lines
    await hands.until(lambda: lines.blockCount() > 2, "lines of the build", BUILD_SECONDS)
    await hands.step("docker-building", "21-docker-building", dialog)
    workspace = await opened(hands, program, NAME, DockerWorkspace)
    await hands.step("docker-made", "22-docker-made")
    return workspace


async def _used(hands: Hands, workspace: DockerWorkspace) -> None:
    await asked(hands, f"Which system is this? Write it into {SYSTEM}.")
    await hands.step("docker-asked", "23-docker-asked")
    hands.heard.clear()
    await allow(hands)
    await hands.answered()
    text = (await workspace.get_backend().read_bytes(SYSTEM)).decode()
    if "Python 3" not in text or f"on {socket.gethostname()}\n" in text:
        raise TourError(f"the file was not written in the container: {text!r}")
    if list(hands.out.rglob(SYSTEM)):
        raise TourError("the file is on this computer too")
    await hands.step("docker-written", "24-docker-written")


async def _looked_after(hands: Hands, workspace: DockerWorkspace) -> None:
    page = await page_of(hands, workspace.info.id)
    page.detail.show_tab("overview")
    one = workspace.info.id
    await hands.until(
        lambda: row_of(page).memory and len(page.vm.overview.points(one)) > 3, "measurements"
    )
    await hands.settle()
    await hands.step("docker-live", "25-docker-live")

    page.detail.show_tab("files")
    page.tabs.files.upload([resource("demo", "servers") / "tally.py"])
    await file_shown(hands, page, "tally.py")
    if "Python 3" not in await file_shown(hands, page, SYSTEM):
        raise TourError("the agent's file is not shown as it is")
    await hands.step("docker-files", "26-docker-files")

    page.detail.show_tab("logs")
    await hands.until(lambda: "Python 3" in page.tabs.logs.text.toPlainText(), "lines of the log")
    await hands.step("docker-logs", "27-docker-logs")

    page.detail.show_tab("overview")
    await paused_and_back(hands, page, "docker-paused", "28-docker-paused")
    if "Python 3" not in await file_shown(hands, page, SYSTEM):
        raise TourError("its files are not as they were")
    page.detail.show_tab("overview")
    await hands.settle()
    await hands.step("docker-resumed", "29-docker-resumed")


async def _server(hands: Hands, workspace: DockerWorkspace) -> None:
    window = hands.window
    window.open_workspace(workspace.info.id)
    await hands.until(lambda: window.pages.currentWidget() is window.chat, "the chat")
    window.areas.open("tools")
    window.inspector.tools.show_part("servers")
    panel = window.inspector.tools.servers
    await hands.until(lambda: panel.manager is not None, "the list of servers")
    panel.add()
    dialog = await hands.top(AddServerDialog)
    hands.write(dialog.what.edit, "python3 tally.py")
    hands.write(dialog.pairs, f"PYTHONPATH={LIBRARIES}")
    await hands.picture("30-docker-server", dialog)
    await hands.click(dialog.ok)
    await hands.until(lambda: [s.state for s in panel.servers] == ["ok"], "the server to run")
    await hands.settle()
    await hands.step("docker-server", "31-docker-server")
    await asked(hands, f"Have the server count {SYSTEM}.")
    hands.heard.clear()
    await allow(hands)
    await hands.answered()
    said = str([e.result.model_dump()["output"] for e in hands.of(ev.ToolFinished)])
    if f"{SYSTEM}: 3 lines" not in said or f"counted on {socket.gethostname()}" in said:
        raise TourError(f"the server did not count in the container: {said[:300]}")
    await hands.step("docker-called", "32-docker-called")


async def _removed(hands: Hands, workspace: DockerWorkspace) -> None:
    page = await page_of(hands, workspace.info.id)
    container = await workspace.container()
    await loss(hands, page, "Delete the container…", "docker-loss", "33-docker-loss")
    if await container.find() is not None:
        raise TourError("the container is still at the engine")
    await hands.step("docker-removed", "34-docker-removed")
