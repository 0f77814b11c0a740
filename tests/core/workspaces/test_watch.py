"""The window learns that files changed, however many there are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from desktop_app.core.workspaces.local import LocalBackend
from desktop_app.core.workspaces.watch import FolderWatch, directories
from tests.helpers.backends import RemoteLikeBackend


class Seen:
    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.event = asyncio.Event()

    async def wait(self, *paths: str) -> None:
        async with asyncio.timeout(20):
            while not set(paths) <= self.paths:
                await self.event.wait()
                self.event.clear()
        self.paths.clear()


@asynccontextmanager
async def watching(watch: FolderWatch, ready: Callable[[], bool]) -> AsyncIterator[Seen]:
    seen = Seen()

    async def follow() -> None:
        async with aclosing(watch.changes()) as changes:
            async for changed in changes:
                seen.paths |= changed
                seen.event.set()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(follow())
        async with asyncio.timeout(20):
            while not ready():
                await asyncio.sleep(0.01)
        yield seen
        task.cancel()


async def test_changes_in_old_and_new_directories(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "node_modules/x").mkdir(parents=True)
    watch = FolderWatch(LocalBackend(tmp_path))
    async with watching(watch, lambda: watch.mode == "watch") as seen:
        (tmp_path / "a/b/f").write_text("1")
        await seen.wait("a/b")
        (tmp_path / "new").mkdir()
        await seen.wait(".")
        (tmp_path / "new/sub").mkdir()
        (tmp_path / "new/sub/f").write_text("1")
        await seen.wait("new")
        (tmp_path / "node_modules/x/f").write_text("1")
        (tmp_path / "a/g").write_text("1")
        await seen.wait("a")
        assert not any("node_modules" in path for path in seen.paths)
    assert watch.code is None


async def test_a_folder_that_goes_and_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    folder.mkdir()
    watch = FolderWatch(LocalBackend(folder), poll_seconds=0.05)
    async with watching(watch, lambda: watch.mode == "watch") as seen:
        folder.rename(tmp_path / "moved")
        await seen.wait(".")
        (tmp_path / "moved").rename(folder)
        (folder / "sub").mkdir()
        async with asyncio.timeout(20):
            while not seen.paths:  # the new watch may begin before or after this file
                (folder / "sub/f").write_text("1")
                await asyncio.sleep(0.05)


async def test_too_many_directories_fall_back_to_what_is_visible(tmp_path: Path) -> None:
    for n in range(30):
        (tmp_path / f"d{n}").mkdir()
    watch = FolderWatch(LocalBackend(tmp_path), cap=20, poll_seconds=0.02)
    watch.show(["d1"])
    async with watching(watch, lambda: watch.mode == "poll") as seen:
        assert watch.code == "watch.too_many"
        await asyncio.sleep(0.1)
        (tmp_path / "d2/unseen").write_text("1")
        (tmp_path / "d1/f").write_text("1")
        await seen.wait("d1")
        assert "d2" not in seen.paths


async def test_a_remote_backend_is_looked_at(tmp_path: Path) -> None:
    backend = RemoteLikeBackend(LocalBackend(tmp_path))
    watch = FolderWatch(backend, poll_seconds=0.02)
    async with watching(watch, lambda: backend.calls.count("scandir") > 1) as seen:
        (tmp_path / "f").write_text("1")
        await seen.wait(".")
        backend.down = True
        await seen.wait(".")
        backend.down = False
        await seen.wait(".")


def test_what_is_worth_watching(tmp_path: Path) -> None:
    for name in ("a/b", ".git/objects", ".venv/lib", "node_modules/m", ".github"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "loop").symlink_to(tmp_path)
    found = directories(str(tmp_path))
    assert found is not None
    assert {Path(p).relative_to(tmp_path).as_posix() for p in found} == {
        ".",
        "a",
        "a/b",
        ".github",
    }
    assert directories(str(tmp_path), cap=2) is None
