"""Whole directories into a container, sent by the thread that makes the tar; and a container whose
working directory is a small part of memory."""

from __future__ import annotations

import asyncio
import os
import secrets
import subprocess
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.messages import Msg
from desktop_app.core.workspaces.docker.engine import Engine
from desktop_app.core.workspaces.docker.spec import DockerSpec, host_user
from desktop_app.core.workspaces.docker.workspace import DockerWorkspace
from tests.helpers.docker import base_image, engine_or_skip, remove_leftovers

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the engine's socket is one of POSIX")


@pytest.fixture
async def workspace(request: pytest.FixtureRequest) -> AsyncIterator[DockerWorkspace]:
    """With ``tmpfs`` as the test's parameter its working directory is 4 MB of memory: a container
    with our label that somebody else made is taken as it is."""
    engine, name = engine_or_skip(), f"test-{secrets.token_hex(6)}"

    async def of() -> Engine:
        return engine

    if getattr(request, "param", "") == "tmpfs":
        uid, _, gid = host_user().partition(":")
        line = ["docker", "run", "-d", "--label", f"slipway.workspace={name}", "--init"]
        line += ["--tmpfs", f"/workspace:size=4m,uid={uid},gid={gid}", "--user", host_user()]
        line += ["--network", "none", base_image(), "sleep", "infinity"]
        await asyncio.to_thread(subprocess.run, line, capture_output=True, check=True)
    spec = DockerSpec(base_image=base_image(), network=False)
    made = DockerWorkspace(spec, of, id=name, name=name, trusted=True, gateway=False)
    await made.initialize()
    await made.start()
    yield made
    await made.close()
    await engine.close()
    await asyncio.to_thread(remove_leftovers, name)


async def test_docker_takes_a_tree_with_everything_that_is_in_one(
    workspace: DockerWorkspace, tmp_path: Path
) -> None:
    tree = tmp_path / "树 one"
    (tree / "sub/empty").mkdir(parents=True)
    (tree / "sub/big.bin").write_bytes(os.urandom(3_000_001))
    (tree / "none").write_bytes(b"")
    (tree / ("long" * 60)).write_text("name of 240 letters")
    (tree / "run.sh").write_text("#!/bin/sh\n")
    (tree / "run.sh").chmod(0o755)
    os.link(tree / "run.sh", tree / "second name")
    (tree / "link").symlink_to("run.sh")
    os.mkfifo(tree / "pipe")
    told: list[int] = []
    moved = await workspace.upload(tree, "in", tell=lambda one: told.append(one.bytes))
    assert (moved.files, moved.left_out) == (5, ["树 one/pipe"])
    assert told
    backend = workspace.get_backend()
    assert await backend.read_bytes("in/树 one/sub/big.bin") == (tree / "sub/big.bin").read_bytes()
    shown = await backend.exec(["sh", "-c", "cd in/*; stat -c '%n %A %u' * | sort"])
    rows = dict(line.rsplit(" ", 2)[0::2] for line in shown.stdout.decode().splitlines())
    assert set(rows) == {"link", "long" * 60, "none", "run.sh", "second name", "sub"}
    assert set(rows.values()) == {host_user().partition(":")[0]}
    assert b"run.sh -rwxr-xr-x" in shown.stdout
    await workspace.download("in/树 one", tmp_path / "back")
    assert os.readlink(tmp_path / "back/link") == "run.sh"


async def test_docker_upload_that_is_cancelled_ends_and_the_workspace_goes_on(
    workspace: DockerWorkspace, tmp_path: Path
) -> None:
    (tmp_path / "tree").mkdir()
    with (tmp_path / "tree/big").open("wb") as file:
        file.truncate(8 << 30)  # holes: longer than the test could wait for
    started, threads = asyncio.Event(), threading.active_count()
    going = asyncio.ensure_future(
        workspace.upload(tmp_path / "tree", "in", verify=False, tell=lambda _: started.set())
    )
    async with asyncio.timeout(60):
        await started.wait()
    going.cancel()
    async with asyncio.timeout(60):
        await asyncio.wait([going])
    assert going.cancelled()
    assert threading.active_count() <= threads + 6, "workers of the pool, none that sends"
    await workspace.remote.remove("in", recursive=True)
    assert (await workspace.get_backend().exec(["echo", "on"])).stdout == b"on\n"


async def test_docker_upload_says_the_engines_reason(
    workspace: DockerWorkspace, tmp_path: Path
) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/big").write_bytes(bytes(20 << 20))
    await workspace.remote.mkdir("in")
    with pytest.raises(WorkspaceError) as raised:
        await workspace._send_tree(tmp_path / "tree", "/workspace/nowhere", _moved(), False, None)
    assert raised.value.code in ("docker.gone", "docker.failed")
    assert "nowhere" in str(raised.value.params["detail"])


def _moved():
    from desktop_app.core.workspaces.remote.tree_tar import Moved

    return Moved()


@pytest.mark.parametrize("workspace", ["tmpfs"], indirect=True)
async def test_docker_disk_full_inside_is_told_where_and_room_is_enough_to_go_on(
    workspace: DockerWorkspace, tmp_path: Path
) -> None:
    assert workspace.machine.volatile, "the page warns that these files go"
    await workspace.offload_context("s1", [Msg.user("before")])
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/big").write_bytes(os.urandom(6 << 20))
    full = [
        workspace.upload(tmp_path / "tree", "in"),
        workspace.get_backend().write("fill.bin", os.urandom(6 << 20)),
    ]
    for work in full:
        with pytest.raises(WorkspaceError) as raised:
            await work
        assert raised.value.code == "disk.full"
        assert raised.value.retryable
        assert workspace.info.state == "ready", "it is still there"
    listed = [one.path for one in await workspace.list_offloads()]
    assert listed == ["sessions/s1/context.jsonl"], "nothing of before is lost"
    await workspace.remote.remove("in", recursive=True)
    await workspace.offload_context("s1", [Msg.user("after")])
    assert len((await workspace.read_context("s1")).messages) == 2
    await workspace.download(".slipway", tmp_path / "copy")  # which the engine does not see
    assert (tmp_path / "copy/sessions/s1/context.jsonl").read_text().count("\n") == 2


async def test_docker_working_directory_that_is_no_tmpfs_is_not_warned_of(
    workspace: DockerWorkspace,
) -> None:
    assert not workspace.machine.volatile
