"""File tools in a container: a link leads where the container says, never to a file of ours."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.errors import ToolFailure
from desktop_app.core.tools.base import Tool, ToolContext
from desktop_app.core.tools.registry import builtin_tools
from desktop_app.core.workspaces.docker.engine import Engine
from desktop_app.core.workspaces.docker.spec import DockerSpec
from desktop_app.core.workspaces.docker.workspace import DockerWorkspace
from tests.helpers.docker import base_image, engine_or_skip, remove_leftovers
from tests.helpers.tools import make_context

TOOLS: dict[str, Any] = {tool.name: tool for tool in builtin_tools()}


@pytest.fixture
async def ctx() -> AsyncIterator[ToolContext]:
    engine: Engine = engine_or_skip()
    name = f"test-{secrets.token_hex(6)}"

    async def of() -> Engine:
        return engine

    spec = DockerSpec(base_image=base_image(), network=False)
    workspace = DockerWorkspace(spec, of, id=name, name=name, trusted=True, gateway=False)
    await workspace.initialize()
    await workspace.start()
    backend = workspace.get_backend()
    yield make_context(Path(backend.cwd), backend=backend, root=workspace.info.root)
    await workspace.close()
    await asyncio.to_thread(remove_leftovers, name)
    await engine.close()


async def sh(ctx: ToolContext, line: str) -> str:
    done = await ctx.backend.exec(["sh", "-c", line])
    assert done.code == 0, done.stderr
    return done.stdout.decode()


async def reasons(ctx: ToolContext, name: str, args: dict[str, Any]) -> set[str]:
    """Why a call is asked for; empty when it is not."""
    tool: Tool = TOOLS[name]
    verdict = await tool.check(args, ctx)
    return {code for code, _ in verdict.reasons} if verdict.behavior == "ask" else set()


async def test_docker_links_are_resolved_in_the_container_and_the_tools_stay_inside(
    ctx: ToolContext, tmp_path: Path
) -> None:
    here = tmp_path / "secret.txt"  # of this computer: the same name means another file there
    here.write_text("only on the host\n")
    await sh(
        ctx,
        f"mkdir -p real /tmp/elsewhere {tmp_path} && echo inside > real/a.txt"
        " && echo there > /tmp/elsewhere/b.txt"
        " && ln -s real good && ln -s /tmp/elsewhere out && ln -s out chain"
        f" && ln -s {here} host && ln -s /etc/passwd people && ln -s ../../../../etc up"
        " && ln -s /tmp/elsewhere/none dead",
    )

    # A link that stays inside is as good as what it names.
    assert await reasons(ctx, "Read", {"file_path": "good/a.txt"}) == set()
    assert "inside" in (await TOOLS["Read"].run({"file_path": "good/a.txt"}, ctx)).text

    # One that leads out is asked for, by whatever it is reached, also where nothing is there yet.
    outside = [
        "out/b.txt",
        "chain/b.txt",
        "people",
        "up/passwd",
        "host",
        "dead",
        "out/new/deep.txt",
    ]
    for path in outside:
        assert "path.outside" in await reasons(ctx, "Read", {"file_path": path}), path
        write = {"file_path": path, "content": "x"}
        assert "path.outside" in await reasons(ctx, "Write", write), path
    for name, args in (
        ("Edit", {"file_path": "out/b.txt", "old_string": "there", "new_string": "x"}),
        ("Grep", {"pattern": "there", "path": "out"}),
        ("Glob", {"pattern": "*", "path": "chain"}),
    ):
        assert "path.outside" in await reasons(ctx, name, args), name

    # What the person then allows is done in the container, never on this computer.
    with pytest.raises(ToolFailure) as caught:
        await TOOLS["Read"].run({"file_path": "host"}, ctx)
    assert caught.value.code == "file.missing", "there it leads to nothing"
    await TOOLS["Write"].run({"file_path": "host", "content": "written there\n"}, ctx)
    assert here.read_text() == "only on the host\n"
    assert await sh(ctx, f"cat {here}") == "written there\n"
    assert "there" in (await TOOLS["Read"].run({"file_path": "out/b.txt"}, ctx)).text

    # Searches go through no link by themselves.
    found = (await TOOLS["Grep"].run({"pattern": "there|inside"}, ctx)).text
    assert "real/a.txt" in found
    assert "b.txt" not in found
    listed = (await TOOLS["Glob"].run({"pattern": "**/*.txt"}, ctx)).text
    assert "real/a.txt" in listed
    assert "b.txt" not in listed
