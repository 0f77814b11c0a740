"""Small files looked at on the loop: the same as a thread finds, or nothing, and never a wait."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_app.core.crew import Begun, Crew
from desktop_app.core.workspaces import local_files
from desktop_app.core.workspaces.local import LocalBackend
from desktop_app.core.workspaces.local_cached import CachedFiles

WHOLE = 4096


class Folder:
    """A working directory whose file system was found to answer without waiting."""

    def __init__(self, path: Path) -> None:
        self.cwd = path / "cwd"
        self.cwd.mkdir()
        self.page = self.cwd / "page.txt"
        self.page.write_text("what is read\n")
        self.files = CachedFiles()
        self.files.learn(str(self.page))

    def both(self, file: Path, *beside: Path, cwd: Path | None = None) -> tuple[object, object]:
        """What is found on the loop, and in a thread."""
        bases = [str(p) for p in (cwd or self.cwd, *(beside or (self.cwd / ".slipway",)))]
        found = self.files.look(str(file), WHOLE, list(bases))
        return found, local_files.look_plain(str(file), WHOLE, list(bases))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    made.both(made.page)  # brings all names into memory
    if made.both(made.page)[0] is None:
        pytest.skip("the file system here does not answer without waiting")
    return made


@pytest.fixture(autouse=True)
def nothing_left_open() -> Iterator[None]:
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    yield
    if before:
        assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_that_was_read_is_found_as_a_thread_finds_it(folder: Folder) -> None:
    below = folder.cwd / "a" / "b"
    below.mkdir(parents=True)
    (below / "ü 文.txt").write_bytes(b"\0\xff" * 100)
    (folder.cwd / "empty").touch()
    (folder.cwd / "full").write_bytes(b"x" * WHOLE)
    elsewhere = folder.cwd.parent / "elsewhere"
    elsewhere.mkdir()
    for file in (folder.page, below / "ü 文.txt", folder.cwd / "empty", folder.cwd / "full"):
        for beside in (
            [folder.cwd / ".slipway"],  # which is not there
            [below],
            [folder.cwd],
            [folder.cwd / "no" / "such", elsewhere],
        ):
            local_files.look_plain(str(file), WHOLE, [str(p) for p in (folder.cwd, *beside)])
            found, wanted = folder.both(file, *beside)
            assert found == wanted != None  # noqa: E711 - both are something


def test_a_way_with_a_link_on_it_is_left_to_a_thread(folder: Folder) -> None:
    link = folder.cwd.parent / "link"
    link.symlink_to(folder.cwd)
    for cwd, root in ((link, link / ".slipway"), (folder.cwd, link), (folder.cwd, link / "no")):
        folder.both(cwd / "page.txt", root, cwd=cwd)
        found, wanted = folder.both(cwd / "page.txt", root, cwd=cwd)
        assert found is None
        assert wanted is not None


def test_what_changed_since_is_seen(folder: Folder) -> None:
    was, _ = folder.both(folder.page)
    folder.page.write_text("what is read next\n")
    found, wanted = folder.both(folder.page)
    assert found == wanted != was
    shutil.move(folder.cwd, folder.cwd.parent / "away")
    folder.cwd.mkdir()
    assert folder.both(folder.page) == (None, None)
    folder.page.write_text("another folder's\n")
    found, wanted = folder.both(folder.page)
    assert found in (None, wanted)  # its names may not be in memory yet
    assert wanted is not None


def test_links_special_files_and_large_ones_are_left_to_a_thread(folder: Folder) -> None:
    (folder.cwd / "large").write_bytes(b"x" * (WHOLE + 1))
    (folder.cwd / "to-page").symlink_to("page.txt")
    (folder.cwd / "out").symlink_to("/etc")
    os.mkfifo(folder.cwd / "fifo")
    for name in ("large", "to-page", "out/passwd", "fifo", ".", "missing", "page.txt/below"):
        assert folder.both(folder.cwd / name) == (None, None)
    found, _ = folder.both(folder.cwd / "nul\0name")
    assert found is None


def test_a_file_whose_bytes_are_not_in_memory_is_left_to_a_thread(folder: Folder) -> None:
    fd = os.open(folder.page, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)
    found, wanted = folder.both(folder.page)
    assert found in (None, wanted)  # a file system in memory has nothing to drop
    assert folder.both(folder.page) == (wanted, wanted)  # it was read meanwhile


def test_nothing_is_asked_on_the_loop_of_a_file_system_that_nothing_is_known_of(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object) -> int:
        raise OSError("not supported")

    monkeypatch.setattr(os, "preadv", refuses)
    unknown = CachedFiles()
    with pytest.raises(OSError, match="not supported"):
        unknown.learn(str(folder.page))
    monkeypatch.undo()
    assert unknown.look(str(folder.page), WHOLE, [str(folder.cwd)]) is None


async def test_a_small_file_that_was_read_takes_no_way_to_a_thread(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = LocalBackend(folder.cwd)
    cwd, page = str(folder.cwd), str(folder.page)
    begun = backend.look_ahead(page, whole=WHOLE, beside=[cwd])
    assert isinstance(begun, Begun)
    first = await begun.result()
    monkeypatch.setattr(Crew, "_put", None)
    assert backend.look_ahead(page, whole=WHOLE, beside=[cwd]) == first is not None
    monkeypatch.undo()
    await backend.close()
