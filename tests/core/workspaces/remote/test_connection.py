"""The connection to a far end: made late, lost, made again, and what is left of a lost one."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.workspaces.backend import OutputChunk, ProcessExit
from desktop_app.core.workspaces.remote import line
from desktop_app.core.workspaces.remote.backend import RemoteBackend
from desktop_app.core.workspaces.remote.bundle import command
from desktop_app.core.workspaces.remote.channel import Decoder, encode
from tests.helpers.far_end import PipeChannel, far_backend

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the far end runs on POSIX")

PYTHONS = [
    path
    for name in ("python3.8", "python3.9", "python3.10", "python3.12", "python3.13", "python3")
    if (path := shutil.which(name, path="/usr/bin:/usr/local/bin"))
] or [sys.executable]


class Lost(PipeChannel):
    """A connection that can be cut from outside, at once and without a word."""

    async def cut(self) -> None:
        self.process.kill()
        await asyncio.to_thread(self.process.wait)


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[tuple[RemoteBackend, list[Lost]]]:
    channels: list[Lost] = []

    async def connect() -> Lost:
        channels.append(await asyncio.to_thread(Lost))
        return channels[-1]

    backend = RemoteBackend("far", str(tmp_path), connect)
    yield backend, channels
    await backend.close()


async def until(check: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(10):
        while not await check():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("python", PYTHONS)
async def test_works_with_any_python_from_3_8(tmp_path: Path, python: str) -> None:
    backend = far_backend(tmp_path, python=python)
    try:
        await backend.write("a/b.txt", "née".encode())
        result = await backend.exec(["sh", "-c", "cat a/b.txt; exit 3"])
        assert (result.code, result.stdout.decode()) == (3, "née")
    finally:
        await backend.close()


async def test_files_of_the_workspace_cannot_take_the_helper_over(tmp_path: Path) -> None:
    for name in ("json.py", "struct.py", "base64.py", "sitecustomize.py", "types.py"):
        (tmp_path / name).write_text("raise SystemExit('taken over')")
    process = await asyncio.create_subprocess_exec(
        *command(python=sys.executable),
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONSTARTUP": "json.py"},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(encode({"id": 1, "op": "realpath", "path": "/"}, b"", False))
    await process.stdin.drain()
    decoder, frames = Decoder(False), []
    while len(frames) < 2:
        frames += decoder.feed(await process.stdout.read(1 << 16))
    assert frames[1][0] == {"id": 1, "end": "/"}
    process.stdin.close()
    assert await process.wait() == 0


async def test_a_lost_connection_is_told_and_made_again(
    made: tuple[RemoteBackend, list[Lost]],
) -> None:
    backend, channels = made
    with pytest.raises(WorkspaceError) as raised:
        async with aclosing(backend.run(["sh", "-c", "echo started; sleep 60"])) as events:
            async for event in events:
                assert isinstance(event, OutputChunk)
                await channels[0].cut()
    assert raised.value.code == "backend.unreachable"
    assert raised.value.retryable
    assert (await backend.exec(["echo", "again"])).stdout == b"again\n"
    assert len(channels) == 2


async def test_many_requests_share_one_connection(made: tuple[RemoteBackend, list[Lost]]) -> None:
    backend, channels = made
    results = await asyncio.gather(*(backend.exec(["echo", str(n)]) for n in range(30)))
    assert [int(result.stdout) for result in results] == list(range(30))
    assert len(channels) == 1


async def test_a_lost_connection_leaves_no_process(made: tuple[RemoteBackend, list[Lost]]) -> None:
    backend, channels = made
    async with aclosing(backend.run(["sh", "-c", "setsid sleep 61 & echo $!; wait"])) as events:
        first = await anext(events)
        assert isinstance(first, OutputChunk)
        pid = int(first.data)
        assert channels[0].process.stdin is not None
        channels[0].process.stdin.close()  # what the far end sees when the program dies

        async def gone() -> bool:
            return not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie"

        await until(gone)


async def test_closing_ends_what_runs_and_refuses_more(tmp_path: Path) -> None:
    backend = far_backend(tmp_path)
    stream = backend.run(["sleep", "62"], mark="slipway-test-closing")
    waiting = asyncio.ensure_future(anext(stream))
    await until(lambda: _runs("sleep 62"))
    await backend.close()
    ended = (await asyncio.gather(waiting, return_exceptions=True))[0]
    killed = isinstance(ended, ProcessExit) and ended.code < 0
    assert killed or (isinstance(ended, WorkspaceError) and ended.code == "backend.unreachable")
    assert not await _runs("sleep 62")
    with pytest.raises(WorkspaceError) as raised:
        await backend.stat(".")
    assert raised.value.code == "backend.closed"


async def _runs(line: str) -> bool:
    found = (proc.info["cmdline"] or [] for proc in psutil.process_iter(["cmdline"]))
    return any(" ".join(words) == line for words in found)


async def test_a_broken_off_write_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("before")
    backend = far_backend(tmp_path)
    going = asyncio.Event()

    async def pieces() -> AsyncIterator[bytes]:
        yield b"x" * 300_000
        going.set()
        await asyncio.Event().wait()

    writing = asyncio.ensure_future(backend.write("kept.txt", pieces()))
    await going.wait()
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert os.listdir(tmp_path) == ["kept.txt"]
    assert (tmp_path / "kept.txt").read_text() == "before"
    await backend.close()


async def test_ends_by_name_what_an_earlier_program_left(tmp_path: Path) -> None:
    backend, later = far_backend(tmp_path), far_backend(tmp_path)
    stream = backend.run(["sleep", "63"], mark="slipway-test-left")
    waiting = asyncio.ensure_future(anext(stream))
    await until(lambda: _runs("sleep 63"))
    assert await later.end_marked(["slipway-test-left", ""]) == 1
    assert isinstance(await waiting, ProcessExit)
    await backend.close()
    await later.close()


async def test_something_else_that_speaks_there_is_told(tmp_path: Path) -> None:
    class Stranger:
        text = False

        def __init__(self) -> None:
            self.said = [b"Welcome to this machine!\r\n" * 3, b""]

        async def send(self, data: bytes) -> None: ...

        async def receive(self) -> bytes:
            return self.said.pop(0)

        async def close(self) -> None: ...

    async def connect() -> Stranger:
        return Stranger()

    backend = RemoteBackend("far", str(tmp_path), connect)
    with pytest.raises(WorkspaceError) as raised:
        await backend.start()
    assert raised.value.code == "backend.unreachable"
    await backend.close()


class Mute(PipeChannel):
    """A connection that stands and over which nothing comes any more: that of a frozen machine."""

    muted = False
    heard = 0

    async def receive(self) -> bytes:
        while (data := await super().receive()) and self.muted:
            pass
        self.heard += 1
        return data


async def test_a_far_end_that_says_nothing_any_more_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or a call would wait for ever in a machine that somebody froze."""
    few = line.UNANSWERED
    monkeypatch.setattr(line, "PING_SECONDS", 0.2)
    monkeypatch.setattr(line, "UNANSWERED", 10**6)  # however late a busy machine answers
    channels: list[Mute] = []

    async def connect() -> Mute:
        channels.append(await asyncio.to_thread(Mute))
        return channels[-1]

    backend = RemoteBackend("far", str(tmp_path), connect)
    try:
        waiting = asyncio.ensure_future(backend.exec(["sleep", "63"]))
        await until(lambda: _runs("sleep 63"))
        heard = channels[0].heard
        async with asyncio.timeout(60):
            while channels[0].heard < heard + 5:  # it is only busy
                await asyncio.sleep(0.01)
        assert not waiting.done()
        channels[0].muted = True
        monkeypatch.setattr(line, "UNANSWERED", few)
        with pytest.raises(WorkspaceError) as raised:
            await asyncio.wait_for(waiting, 60)
        assert (raised.value.code, raised.value.retryable) == ("backend.unreachable", True)
        monkeypatch.setattr(line, "PING_SECONDS", 60)
        assert (await backend.exec(["echo", "again"])).stdout == b"again\n"
        assert len(channels) == 2
    finally:
        await backend.close()
