"""Files between this computer and a workspace."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.workspaces.local import LocalBackend
from desktop_app.core.workspaces.local_workspace import LocalWorkspace
from desktop_app.core.workspaces.remote.tree_tar import Moved
from desktop_app.core.workspaces.transfer import (
    download,
    free_name,
    upload,
    upload_tree,
    weigh,
)


async def test_a_file_goes_up_and_comes_back(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    backend = LocalBackend(str(tmp_path / "ws"))
    source, back = tmp_path / "big.bin", tmp_path / "back.bin"
    source.write_bytes(b"\0\1\2" * 1_000_000)
    told: list[int] = []
    path = f"{backend.cwd}/sub/big.bin"
    await upload(backend, source, path, told.append)
    assert told == sorted(told)
    assert told[-1] == 3_000_000
    with pytest.raises(WorkspaceError) as raised:
        await upload(backend, source, path, told.append)
    assert raised.value.code == "file.exists"
    await download(backend, path, back, told.append)
    assert back.read_bytes() == source.read_bytes()


async def test_what_fails_leaves_what_was_there(tmp_path: Path) -> None:
    backend = LocalBackend(str(tmp_path))
    target = tmp_path / "kept.txt"
    target.write_text("kept")
    with pytest.raises(WorkspaceError) as raised:
        await download(backend, f"{tmp_path}/none.txt", target, lambda _n: None)
    assert raised.value.code == "file.missing"
    assert [p.name for p in tmp_path.iterdir()] == ["kept.txt"], "no part is left behind"
    assert target.read_text() == "kept"
    with pytest.raises(WorkspaceError) as raised:
        await upload(backend, tmp_path / "gone", f"{tmp_path}/x", lambda _n: None)
    assert raised.value.code == "file.missing"


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[LocalWorkspace]:
    (tmp_path / "ws").mkdir()
    made = LocalWorkspace(tmp_path / "ws", id="w", trusted=True)
    await made.initialize()
    yield made
    await made.close()


def a_tree(top: Path) -> Path:
    (top / "sub" / "empty").mkdir(parents=True)
    (top / "sub" / "data.bin").write_bytes(os.urandom(300_000))
    (top / "名字.md").write_text("words")
    return top


async def test_a_tree_goes_up_whole_and_never_over_another(
    workspace: LocalWorkspace, tmp_path: Path
) -> None:
    tree, told = a_tree(tmp_path / "tree"), list[int]()
    (tree / "out").symlink_to("/etc/passwd")
    weight = await weigh(tree)
    assert (weight.files, weight.bytes) == (2, 300_005)
    path = f"{workspace.get_backend().cwd}/in/tree"
    moved = await upload_tree(workspace, tree, path, lambda one: told.append(one.bytes))
    assert (moved.files, moved.bytes, moved.left_out) == (2, 300_005, ["out"])
    there = tmp_path / "ws" / "in"
    assert (there / "tree/sub/data.bin").read_bytes() == (tree / "sub/data.bin").read_bytes()
    assert (there / "tree/sub/empty").is_dir()
    assert (there / "tree/名字.md").read_text() == "words"
    assert [one.name for one in there.iterdir()] == ["tree"], "no part is left behind"
    with pytest.raises(WorkspaceError) as raised:
        await upload_tree(workspace, tree, path, lambda _one: None)
    assert raised.value.code == "file.exists"
    assert await free_name(workspace.get_backend(), path) == f"{path} 2"
    await upload_tree(workspace, tree, f"{path} 2", lambda _one: None)
    assert await free_name(workspace.get_backend(), path) == f"{path} 3"
    assert (there / "tree 2/名字.md").exists(), "under the name that was asked for"


async def test_a_tree_can_be_copied_into_itself(workspace: LocalWorkspace, tmp_path: Path) -> None:
    a_tree(tmp_path / "ws" / "tree")
    path = f"{workspace.get_backend().cwd}/tree/sub/tree"
    await upload_tree(workspace, tmp_path / "ws" / "tree", path, lambda _one: None)
    inner = tmp_path / "ws" / "tree" / "sub" / "tree"
    assert sorted(one.name for one in (inner / "sub").iterdir()) == ["data.bin", "empty"]


async def test_a_linked_tree_is_brought_and_not_the_link(
    workspace: LocalWorkspace, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(a_tree(tmp_path / "tree"))
    path = f"{workspace.get_backend().cwd}/link"
    await upload_tree(workspace, tmp_path / "link", path, lambda _one: None)
    assert not (tmp_path / "ws" / "link").is_symlink()
    assert (tmp_path / "ws" / "link" / "名字.md").exists()


async def test_a_tree_that_is_cancelled_leaves_nothing(
    workspace: LocalWorkspace, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    with (tree / "big").open("wb") as file:
        file.truncate(1 << 40)  # holes: longer than the test could wait for
    begun = asyncio.Event()

    def tell(moved: Moved) -> None:
        begun.set()

    path = f"{workspace.get_backend().cwd}/tree"
    going = asyncio.ensure_future(upload_tree(workspace, tree, path, tell))
    async with asyncio.timeout(60):
        await begun.wait()
    going.cancel()
    async with asyncio.timeout(60):
        await asyncio.wait([going])
    assert going.cancelled()
    assert list((tmp_path / "ws").iterdir()) == []


async def test_a_tree_is_not_put_where_nothing_may_be_written(
    workspace: LocalWorkspace, tmp_path: Path
) -> None:
    tree, place = a_tree(tmp_path / "tree"), tmp_path / "ws"
    path = f"{workspace.get_backend().cwd}/tree"
    await asyncio.to_thread(os.rename, place, tmp_path / "elsewhere")
    await workspace.refresh()
    with pytest.raises(WorkspaceError) as raised:
        await upload_tree(workspace, tree, path, lambda _one: None)
    assert raised.value.code == "workspace.missing"
    assert not place.exists(), "the folder that went away is not made anew"
