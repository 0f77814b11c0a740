"""The file half of the backend contract, on the local backend and on one like a remote."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.workspaces.backend import Backend
from desktop_app.core.workspaces.local import LocalBackend
from desktop_app.core.workspaces.oserrors import raise_os
from tests.helpers.far_end import each_backend


@pytest.fixture(params=["local", "remote", "far", "far-text", "docker", "e2b"])
async def backend(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Backend]:
    made = each_backend(request.param, tmp_path)
    await made.start()
    yield made
    await made.close()


async def collect(stream) -> bytes:
    async with aclosing(stream) as pieces:
        return b"".join([piece async for piece in pieces])


async def code_of(work) -> str:
    with pytest.raises(WorkspaceError) as caught:
        await work
    return caught.value.code


async def test_write_then_read_and_parents_are_made(backend: Backend, tmp_path: Path) -> None:
    info = await backend.write("a/b/文件.txt", "héllo\n".encode())
    assert (tmp_path / "a/b/文件.txt").read_bytes() == "héllo\n".encode()
    assert info.kind == "file"
    assert info.size == 7
    assert await backend.read_bytes("a/b/文件.txt") == "héllo\n".encode()
    assert os.listdir(tmp_path / "a/b") == ["文件.txt"]  # no temporary file is left


async def test_stream_in_and_out(backend: Backend, tmp_path: Path) -> None:
    async def pieces():
        for n in range(5):
            yield bytes([n]) * 700_000

    await backend.write("big", pieces())
    sizes = []
    async with aclosing(backend.read("big")) as stream:
        async for piece in stream:
            sizes.append(len(piece))
    assert sum(sizes) == 3_500_000
    assert max(sizes) <= 1 << 20
    assert await collect(backend.read("big", offset=699_999, length=2)) == b"\x00\x01"
    assert await collect(backend.read("big", offset=9_999_999)) == b""


async def test_a_failing_stream_leaves_the_old_file(backend: Backend, tmp_path: Path) -> None:
    await backend.write("f", b"old")

    async def pieces():
        yield b"new"
        raise RuntimeError("source broke")

    with pytest.raises(RuntimeError):
        await backend.write("f", pieces())
    assert await backend.read_bytes("f") == b"old"
    assert os.listdir(tmp_path) == ["f"]


async def test_empty_stream_makes_an_empty_file(backend: Backend) -> None:
    async def nothing():
        for piece in ():
            yield piece

    assert (await backend.write("e", nothing())).size == 0
    assert await backend.read_bytes("e") == b""


async def test_mode_and_link_target_are_kept(backend: Backend, tmp_path: Path) -> None:
    real = tmp_path / "real.sh"
    real.write_text("old")
    real.chmod(0o750)
    (tmp_path / "link").symlink_to("real.sh")
    await backend.write("link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o750
    await backend.write("key", b"s", mode=0o600)
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600


async def test_expect_and_create_refuse(backend: Backend) -> None:
    seen = await backend.write("f", b"one")
    assert (await backend.stat("f")).version == seen.version
    await backend.write("f", b"two", expect=seen.version)
    assert await code_of(backend.write("f", b"three", expect=seen.version)) == "file.changed"
    assert await code_of(backend.write("gone", b"x", expect=seen.version)) == "file.changed"
    assert await code_of(backend.write("f", b"four", create=True)) == "file.exists"
    assert await backend.read_bytes("f") == b"two"
    await backend.write("new", b"x", create=True)
    assert await backend.read_bytes("new") == b"x"


async def test_two_versions_within_one_second_differ(backend: Backend) -> None:
    first = await backend.write("f", b"aaa")
    second = await backend.write("f", b"bbb")
    assert first.version != second.version


async def test_append_mends_a_torn_tail(backend: Backend, tmp_path: Path) -> None:
    assert await backend.append("log", b'{"a":1}\n') == 0
    (tmp_path / "log").write_bytes(b'{"a":1}\n{"b"')
    assert await backend.append("log", b'{"c":3}\n') == 12
    assert (tmp_path / "log").read_bytes() == b'{"a":1}\n{"b"\n{"c":3}\n'
    assert await code_of(backend.append("no/such/dir", b"x")) == "file.missing"


async def test_append_plain_adds_the_bytes_and_nothing_else(
    backend: Backend, tmp_path: Path
) -> None:
    assert await backend.append("out", b"half a line", plain=True) == 0
    assert await backend.append("out", b" and\r\n\xff", plain=True) == 11
    assert (tmp_path / "out").read_bytes() == b"half a line and\r\n\xff"
    assert await code_of(backend.append(".", b"x", plain=True)) == "file.is_dir"
    os.mkfifo(tmp_path / "pipe")
    assert await code_of(backend.append("pipe", b"x", plain=True)) == "file.special"


async def test_many_appends_at_once_lose_nothing(backend: Backend, tmp_path: Path) -> None:
    async with asyncio.TaskGroup() as group:
        for n in range(50):
            group.create_task(backend.append("log", f"{n}\n".encode()))
    lines = (tmp_path / "log").read_text().splitlines()
    assert sorted(map(int, lines)) == list(range(50))


async def test_append_waits_for_the_lock_of_another_process(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("first\n")
    script = (
        "import fcntl,sys\nf=open(sys.argv[1],'a')\nfcntl.flock(f,fcntl.LOCK_EX)\n"
        "print('held',flush=True)\nsys.stdin.readline()\nf.write('theirs\\n')\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "log")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdin is not None
    assert other.stdout is not None
    with other:
        assert other.stdout.readline() == "held\n"
        backend = LocalBackend(tmp_path)
        async with asyncio.TaskGroup() as group:
            group.create_task(backend.append("log", b"ours\n"))
            await asyncio.sleep(0)
            other.stdin.write("\n")
            other.stdin.flush()
        await backend.close()
    assert (tmp_path / "log").read_text() == "first\ntheirs\nours\n"


async def test_special_files_are_never_opened(backend: Backend, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as sock:
        cwd = os.getcwd()
        os.chdir(tmp_path)  # socket paths are short
        try:
            sock.bind("sock")
        finally:
            os.chdir(cwd)
        for name in ("fifo", "sock", "/dev/zero"):
            assert await code_of(backend.read_bytes(name)) == "file.special"
            assert await code_of(collect(backend.read(name))) == "file.special"
            assert await code_of(backend.write(name, b"x")) == "file.special"
            assert await code_of(backend.append(name, b"x")) == "file.special"
            assert (await backend.stat(name)).kind == "special"


async def test_stat_of_links(backend: Backend, tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    (tmp_path / "to_dir").symlink_to("dir")
    (tmp_path / "nowhere").symlink_to("missing")
    (tmp_path / "loop").symlink_to("loop")
    assert (await backend.stat("to_dir")).kind == "dir"
    link = await backend.stat("to_dir", follow=False)
    assert (link.kind, link.target) == ("link", os.path.realpath(tmp_path / "dir"))
    dangling = await backend.stat("nowhere", follow=False)
    assert (dangling.kind, dangling.target) == ("link", None)
    assert await code_of(backend.stat("nowhere")) == "file.missing"
    assert await code_of(backend.stat("loop")) == "file.loop"
    assert await backend.realpath("to_dir/x") == os.path.realpath(tmp_path / "dir/x")


async def test_stat_many_and_access(backend: Backend, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"123")
    (tmp_path / "l").symlink_to("f")
    found = await backend.stat_many(["f", "none", "l", "."])
    assert [info and (info.kind, info.size) for info in found[:3]] == [
        ("file", 3),
        None,
        ("file", 3),
    ]
    assert found[0] is not None
    assert found[0].version == (await backend.stat("f")).version
    assert await backend.access("f") == (True, True)
    assert await code_of(backend.access("none")) == "file.missing"


async def test_versions_differ_when_a_file_may_have_changed(
    backend: Backend, tmp_path: Path
) -> None:
    (tmp_path / "d/below").mkdir(parents=True)
    (tmp_path / "d/f").write_bytes(b"123")
    (tmp_path / "d/below/f").write_bytes(b"456")
    (tmp_path / "d/l").symlink_to("f")
    names = ["f", "none", "below/f", "l", "f/x"]
    before = await backend.versions("d", names)
    assert [version is None for version in before] == [False, True, False, False, True]
    assert before == await backend.versions("d", names)
    assert before[0] == before[3]
    (tmp_path / "d/f").write_bytes(b"1234")
    after = await backend.versions("d", names)
    assert [a == b for a, b in zip(before, after, strict=True)] == [False, True, True, False, True]
    assert await backend.versions("nowhere", ["f", "g"]) == [None, None]
    assert await backend.versions("d", []) == []


async def test_scandir_in_batches(backend: Backend, tmp_path: Path) -> None:
    for n in range(600):
        (tmp_path / f"f{n}").touch()
    (tmp_path / "l").symlink_to("f1")
    (tmp_path / b"caf\xe9".decode("utf-8", "surrogateescape")).touch()  # not UTF-8 on disk
    batches = []
    async with aclosing(backend.scandir(".")) as stream:
        async for batch in stream:
            batches.append(batch)
    names = {info.name: info for batch in batches for info in batch}
    assert len(names) == 602
    assert len(batches) > 1
    assert names["l"].kind == "link"
    odd = names["caf\udce9"]
    assert await backend.read_bytes(odd.path) == b""
    assert await code_of(collect_first(backend.scandir("f1"))) == "file.not_dir"
    assert await code_of(collect_first(backend.scandir("none"))) == "file.missing"


async def collect_first(stream) -> None:
    async with aclosing(stream) as batches:
        async for _ in batches:
            return


async def test_refusals_by_code(backend: Backend, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/f").write_bytes(b"12345")
    assert await code_of(backend.read_bytes("none")) == "file.missing"
    assert await code_of(backend.read_bytes("d")) == "file.is_dir"
    assert await code_of(backend.read_bytes("d/f/x")) == "file.not_dir"
    assert await code_of(backend.read_bytes("d/f", max_bytes=4)) == "file.too_large"
    assert await backend.read_bytes("d/f", max_bytes=5) == b"12345"
    assert await code_of(backend.write("d", b"")) == "file.is_dir"
    assert await code_of(backend.read_bytes("a\0b")) == "file.bad_name"
    assert await code_of(backend.write("n" * 300, b"")) == "file.bad_name"
    assert await code_of(backend.mkdir("d/f")) == "file.exists"


async def test_rename_and_remove(backend: Backend, tmp_path: Path) -> None:
    await backend.write("a", b"1")
    await backend.write("b", b"2")
    assert await code_of(backend.rename("a", "b")) == "file.exists"
    await backend.rename("a", "b", replace=True)
    assert await backend.read_bytes("b") == b"1"
    assert await code_of(backend.rename("a", "c")) == "file.missing"
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/keep").touch()
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir/link").symlink_to(tmp_path / "outside")
    assert await code_of(backend.remove("dir")) == "file.is_dir"
    await backend.remove("dir", recursive=True)
    assert (tmp_path / "outside/keep").exists()  # links are removed, not followed
    assert not (tmp_path / "dir").exists()
    await backend.remove("b")
    assert await code_of(backend.remove("b")) == "file.missing"


async def test_start_says_what_is_wrong_with_the_folder(tmp_path: Path) -> None:
    assert await code_of(LocalBackend(tmp_path / "none").start()) == "file.missing"
    (tmp_path / "file").touch()
    assert await code_of(LocalBackend(tmp_path / "file").start()) == "file.not_dir"


async def test_closed_backend_says_so(backend: Backend) -> None:
    await backend.close()
    await backend.close()
    assert await code_of(backend.stat(".")) == "backend.closed"
    await backend.start()
    assert (await backend.stat(".")).kind == "dir"


async def test_full_disk_takes_half_a_line_back(tmp_path: Path) -> None:
    """A file size limit stands in for a full disk: the write that crosses it is cut short."""
    script = """
import asyncio, resource, signal, sys
from desktop_app.core.errors import WorkspaceError
from desktop_app.core.workspaces.local import LocalBackend
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
async def main():
    backend = LocalBackend(sys.argv[1])
    await backend.append("log", b"x" * 99 + b"\\n")
    resource.setrlimit(resource.RLIMIT_FSIZE, (150, resource.RLIM_INFINITY))
    for work in (backend.append("log", b"y" * 100 + b"\\n"), backend.write("log", b"z" * 500)):
        try:
            await work
        except WorkspaceError as error:
            print(error.code)
    await backend.close()
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        cwd=Path(__file__).parents[3],
    )
    assert done.stdout.split() == ["file.failed", "file.failed"]
    assert (tmp_path / "log").read_bytes() == b"x" * 99 + b"\n"
    assert os.listdir(tmp_path) == ["log"]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("ENOSPC", "disk.full"),
        ("EDQUOT", "disk.full"),
        ("EROFS", "disk.readonly"),
        ("EACCES", "file.denied"),
        ("EPERM", "file.denied"),
        ("ENOENT", "file.missing"),
        ("ENXIO", "file.special"),
        ("ESTALE", "backend.unreachable"),
        ("EMFILE", "system.too_many_files"),
        ("EBUSY", "file.busy"),
        ("EIO", "file.failed"),
    ],
)
def test_errno_to_code(name: str, code: str) -> None:
    import errno

    with pytest.raises(WorkspaceError) as caught:
        raise_os(OSError(getattr(errno, name), "words"), "p")
    assert caught.value.code == code
    assert caught.value.params["path"] == "p"


async def test_realpaths_are_what_realpath_says_of_each(backend: Backend, tmp_path: Path) -> None:
    (tmp_path / "deep/er").mkdir(parents=True)
    (tmp_path / "deep/er/f").write_text("x")
    (tmp_path / "to").symlink_to("deep")
    (tmp_path / "deep/up").symlink_to("..")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "out").symlink_to("/etc")
    asked = [".", "to/er/f", "deep/er/f", "to", "deep/up/deep/er", "none/at/all", "to/none",
             "loop", "loop/x", "out/passwd", "deep/er/f/below", "/", "//usr", ".."]  # fmt: skip
    found = await backend.realpaths(asked)
    assert found == [await backend.realpath(path) for path in asked]
    assert await backend.realpaths([]) == []
    assert await code_of(backend.realpaths([".", "a\0b"])) == "file.bad_name"


async def test_look_gives_a_file_whole_or_its_beginning(backend: Backend, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"0123456789")
    (tmp_path / "link").symlink_to("f")
    (tmp_path / "empty").write_bytes(b"")
    whole = await backend.look("link", whole=10, head=4, beside=[".", "link"])
    assert (whole.data, whole.whole) == (b"0123456789", True)
    assert whole.info == await backend.stat(str(tmp_path / "f"))
    assert whole.beside == [str(tmp_path), str(tmp_path / "f")]
    part = await backend.look("f", whole=9, head=4)
    assert (part.data, part.whole, part.info.size) == (b"0123", False, 10)
    nothing = await backend.look("empty", whole=10, head=4)
    assert (nothing.data, nothing.whole) == (b"", True)


async def test_look_refuses_what_read_refuses(backend: Backend, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "dir").mkdir()
    (tmp_path / "to-fifo").symlink_to("fifo")
    for path, code in (("fifo", "file.special"), ("to-fifo", "file.special"),
                       ("/dev/null", "file.special"), ("dir", "file.is_dir"),
                       ("none", "file.missing"), ("a\0b", "file.bad_name")):  # fmt: skip
        assert await code_of(backend.look(path, whole=10, head=4)) == code, path


async def test_look_reads_a_file_whose_size_says_nothing(backend: Backend) -> None:
    found = await backend.look("/proc/self/status", whole=1 << 20, head=10)
    assert found.info.size == 0
    assert found.data.startswith(b"Name:")
    assert found.whole
    cut = await backend.look("/proc/self/status", whole=20, head=5)
    assert (cut.data, cut.whole) == (b"Name:", False)
