"""Whole directories to a machine and back: proven by digests, whole or not at all."""

from __future__ import annotations

import asyncio
import io
import os
import tarfile
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.workspaces.remote.channel import Channel
from desktop_app.core.workspaces.remote.managed import Machine, ManagedWorkspace
from desktop_app.core.workspaces.remote.tree_tar import Moved, unpack
from desktop_app.core.workspaces.transfer import upload_tree
from tests.helpers.far_end import PipeChannel

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the far end runs on POSIX")


class Here(ManagedWorkspace):
    """A machine that is a directory of this computer, over a real far end."""

    def __init__(self, folder: Path) -> None:
        super().__init__("here", str(folder), env={}, id="here", name="here", trusted=True)
        self.tamper = False

    async def look(self) -> Machine:
        return Machine("running")

    async def _connect(self) -> Channel:
        return await asyncio.to_thread(PipeChannel)

    async def _fetch(self, path: str) -> AsyncGenerator[bytes]:
        async for piece in super()._fetch(path):
            yield piece.replace(b"whole", b"w%ole") if self.tamper else piece

    async def _nothing(self, *_: Any) -> Any: ...

    _bring_up = _pause = _stop = _discard = rebuild = loss = _nothing  # type: ignore[assignment]
    usage = logs = set_spec = _nothing  # type: ignore[assignment]


Here.__abstractmethods__ = frozenset()  # type: ignore[misc]


@pytest.fixture
async def there(tmp_path: Path) -> AsyncIterator[Here]:
    (tmp_path / "machine").mkdir()
    made = Here(tmp_path / "machine")
    await made.initialize()
    yield made
    await made.close()


def a_tree(top: Path) -> Path:
    (top / "sub/deep").mkdir(parents=True)
    (top / "文件 one.txt").write_text("whole")
    (top / "sub/deep/big.bin").write_bytes(os.urandom(700_000))
    (top / "sub/empty").mkdir()
    (top / "run.sh").write_text("#!/bin/sh\n")
    (top / "run.sh").chmod(0o755)
    (top / "link").symlink_to("run.sh")
    return top


def seen(top: Path) -> dict[str, object]:
    return {
        path.relative_to(top).as_posix(): (
            os.readlink(path)
            if path.is_symlink()
            else path.read_bytes()
            if path.is_file()
            else None
        )
        for path in top.rglob("*")
    }


async def test_a_tree_goes_there_and_comes_back_as_it_was(there: Here, tmp_path: Path) -> None:
    tree = a_tree(tmp_path / "tree")
    told: list[int] = []
    moved = await there.upload(tree, "in", tell=lambda one: told.append(one.bytes))
    assert (moved.files, moved.left_out) == (3, [])
    assert seen(tmp_path / "machine/in/tree") == seen(tree)
    assert told[-1] > 0
    back = await there.download("in/tree", tmp_path / "back")
    assert seen(tmp_path / "back") == seen(tree)
    assert os.access(tmp_path / "back/run.sh", os.X_OK)
    assert (back.files, back.bytes) == (3, moved.bytes)


async def test_what_did_not_come_over_whole_is_told(there: Here, tmp_path: Path) -> None:
    await there.upload(a_tree(tmp_path / "tree"), "in")
    there.tamper = True
    with pytest.raises(WorkspaceError) as raised:
        await there.download("in/tree", tmp_path / "back")
    assert raised.value.code == "transfer.differs"
    assert raised.value.params["path"] == "文件 one.txt"


async def test_nothing_is_written_over_and_a_broken_off_one_leaves_nothing(
    there: Here, tmp_path: Path
) -> None:
    await there.upload(a_tree(tmp_path / "tree"), "in")
    (tmp_path / "mine").write_text("kept")
    with pytest.raises(WorkspaceError) as raised:
        await there.download("in/tree", tmp_path / "mine")
    assert raised.value.code == "file.exists"
    assert (tmp_path / "mine").read_text() == "kept"
    before = sorted(os.listdir(tmp_path))

    async def broken() -> AsyncGenerator[bytes]:
        yield b"this is no tar" * 100

    with pytest.raises(WorkspaceError) as raised:
        await unpack(broken(), tmp_path / "new", Moved(), digests=False)
    assert raised.value.code == "transfer.broken"
    assert sorted(os.listdir(tmp_path)) == before


async def test_a_cancelled_download_leaves_nothing(there: Here, tmp_path: Path) -> None:
    (tmp_path / "machine/big").mkdir()
    (tmp_path / "machine/big/one").write_bytes(os.urandom(8 << 20))
    under_way = asyncio.Event()
    going = asyncio.ensure_future(
        there.download("big", tmp_path / "new", tell=lambda _: under_way.set())
    )
    await under_way.wait()
    going.cancel()
    await asyncio.wait([going])
    assert sorted(os.listdir(tmp_path)) == ["machine"]
    assert (await there.download("big", tmp_path / "new")).files == 1


async def test_a_machine_cannot_write_outside_the_target(tmp_path: Path) -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, kind, link in (
            ("t", tarfile.DIRTYPE, ""),
            ("t/ok.txt", tarfile.REGTYPE, ""),
            ("t/../../evil.txt", tarfile.REGTYPE, ""),
            ("t/out", tarfile.SYMTYPE, "/etc"),
            ("t/out/passwd", tarfile.REGTYPE, ""),
            ("t/up", tarfile.SYMTYPE, "../.."),
            ("t/dev", tarfile.CHRTYPE, ""),
            ("t/pipe", tarfile.FIFOTYPE, ""),
        ):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, link
            tar.addfile(entry)

    async def pieces() -> AsyncGenerator[bytes]:
        yield made.getvalue()

    moved = Moved()
    target = tmp_path / "inside/new"
    await unpack(pieces(), target, moved, digests=False)
    assert sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.txt")) == [
        "inside/new/ok.txt"
    ]
    assert not any(path.is_symlink() for path in target.rglob("*"))
    assert {"../../evil.txt", "out", "up", "dev", "pipe"} <= set(moved.left_out)


async def test_a_tree_is_put_under_a_new_name_whole_or_not_at_all(
    there: Here, tmp_path: Path
) -> None:
    tree = a_tree(tmp_path / "tree")
    path = f"{there.get_backend().cwd}/in/new name"
    await upload_tree(there, tree, path, lambda _moved: None)
    assert (tmp_path / "machine/in/new name/sub").is_dir()
    assert [one.name for one in (tmp_path / "machine/in").iterdir()] == ["new name"]
    sent = there._send

    async def broken(folder: str, tar: AsyncGenerator[bytes]) -> None:
        await sent(folder, tar)
        raise WorkspaceError("transfer.broken")

    there._send = broken  # type: ignore[method-assign]
    with pytest.raises(WorkspaceError) as raised:
        await upload_tree(there, tree, f"{there.get_backend().cwd}/in/other", lambda _moved: None)
    assert raised.value.code == "transfer.broken"
    assert [one.name for one in (tmp_path / "machine/in").iterdir()] == ["new name"]
