"""Files between this computer and a workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.workspaces.local import LocalBackend
from desktop_app.core.workspaces.transfer import download, upload


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
