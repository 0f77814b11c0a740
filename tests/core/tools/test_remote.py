"""The tools on a backend like a remote one: slow, coarse times, failing now and then."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.errors import ToolFailure
from desktop_app.core.tools.base import Tool, ToolContext
from desktop_app.core.tools.registry import builtin_tools
from desktop_app.core.workspaces.local import LocalBackend
from tests.helpers.backends import RemoteLikeBackend
from tests.helpers.tools import make_context

TOOLS: dict[str, Any] = {tool.name: tool for tool in builtin_tools()}


def remote(folder: Path, **options: Any) -> ToolContext:
    backend = RemoteLikeBackend(LocalBackend(folder), **options)
    return make_context(folder, backend=backend)  # type: ignore[arg-type]


async def call(ctx: ToolContext, name: str, **args: Any) -> str:
    tool: Tool = TOOLS[name]
    await tool.check(args, ctx)
    await tool.preview(args, ctx)
    return (await tool.run(args, ctx)).text


async def test_a_whole_piece_of_work(folder: Path) -> None:
    ctx = remote(folder, latency=0.001)
    await call(ctx, "Write", file_path="d/a.txt", content="one\ntwo\n")
    assert "two" in await call(ctx, "Read", file_path="d/a.txt")
    await call(ctx, "Edit", file_path="d/a.txt", old_string="two", new_string="2")
    assert await call(ctx, "Grep", pattern="^2$") == "d/a.txt"
    assert await call(ctx, "Glob", pattern="**/*.txt") == "d/a.txt"
    assert await call(ctx, "Bash", command="cat d/a.txt") == "one\n2"
    await ctx.backend.close()


@pytest.mark.parametrize("name", ["Read", "Write", "Edit", "Grep", "Glob", "Bash"])
async def test_a_workspace_that_is_gone_is_told(folder: Path, name: str) -> None:
    (folder / "f").write_text("one\n")
    ctx = remote(folder)
    await call(ctx, "Read", file_path="f")
    ctx.backend.down = True  # type: ignore[attr-defined]
    args = {
        "Read": {"file_path": "f"},
        "Write": {"file_path": "f", "content": "x"},
        "Edit": {"file_path": "f", "old_string": "one", "new_string": "x"},
        "Grep": {"pattern": "one"},
        "Glob": {"pattern": "*"},
        "Bash": {"command": "ls"},
    }[name]
    with pytest.raises(ToolFailure) as caught:
        await TOOLS[name].run(args, ctx)
    assert caught.value.code == "backend.unreachable"
    assert caught.value.retryable
    assert (folder / "f").read_text() == "one\n"
    await ctx.backend.close()


@pytest.mark.parametrize("seed", range(12))
async def test_failures_at_random_never_leave_half_a_file(folder: Path, seed: int) -> None:
    """Every edit is whole or absent, even when the answer to it is lost."""
    ctx = remote(folder, failures=0.1, lost_answers=0.1, seed=seed)
    (folder / "f").write_text("n=0\n" + "x" * 1000 + "\n")
    allowed = {0}
    for i in range(1, 30):
        with suppress(ToolFailure):
            await call(ctx, "Read", file_path="f")
            now = int((folder / "f").read_text().split("\n")[0][2:])
            assert now in allowed
            allowed = {now, i}
            old, new = f"n={now}\n", f"n={i}\n"
            await call(ctx, "Edit", file_path="f", old_string=old, new_string=new)
            allowed = {i}
        text = (folder / "f").read_text()
        assert text == f"n={text[2:].splitlines()[0]}\n" + "x" * 1000 + "\n"
        assert len(list(folder.iterdir())) == 1  # no temporary file either
    await ctx.backend.close()
