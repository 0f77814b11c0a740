"""The process half of the backend contract."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.workspaces.backend import Backend, OutputChunk, ProcessExit
from desktop_app.core.workspaces.left_running import LeftRunning
from desktop_app.core.workspaces.local import LocalBackend
from tests.helpers.far_end import each_backend

PY = sys.executable


@pytest.fixture(params=["local", "remote", "far", "far-text", "docker", "e2b"])
async def backend(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Backend]:
    made = each_backend(request.param, tmp_path)
    await made.start()
    yield made
    await made.close()


async def until(true: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_exec_collects(backend: Backend, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    result = await backend.exec(
        ["sh", "-c", 'pwd; echo "$MORE" >&2; cat; exit 3'],
        cwd="sub",
        env={"MORE": "more"},
        stdin=b"in",
    )
    assert result.code == 3
    assert result.stdout == f"{tmp_path / 'sub'}\nin".encode()
    assert result.stderr == b"more\n"
    assert not result.timed_out
    assert not result.truncated


async def test_nothing_goes_through_a_shell(backend: Backend) -> None:
    result = await backend.exec(["echo", "$HOME; `id` *"])
    assert result.stdout == b"$HOME; `id` *\n"


async def test_no_stdin_is_an_empty_one(backend: Backend) -> None:
    assert (await backend.exec(["cat"], timeout=10)).stdout == b""


async def test_large_input_and_output_do_not_deadlock(backend: Backend) -> None:
    data = os.urandom(3_000_000)
    result = await backend.exec(["cat"], stdin=data, timeout=60)
    assert result.stdout == data


async def test_output_past_the_limit_is_dropped(backend: Backend) -> None:
    result = await backend.exec(["sh", "-c", "head -c 500000 /dev/zero"], max_bytes=1000)
    assert len(result.stdout) == 1000
    assert result.truncated
    assert result.code == 0


async def test_output_streams_while_it_runs(backend: Backend) -> None:
    seen: list[bytes] = []
    stream = backend.run(["sh", "-c", "echo one; cat fifo 2>/dev/null; sleep 30"])
    started = time.monotonic()
    async with aclosing(stream) as events:
        async for event in events:
            assert isinstance(event, OutputChunk)
            seen.append(event.data)
            break
    assert b"".join(seen) == b"one\n"
    assert time.monotonic() - started < 20


async def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    backend = LocalBackend(tmp_path)
    (tmp_path / "f").write_text("x")

    async def once() -> None:
        await backend.exec(["sh", "-c", "echo x; exit 1"], stdin=b"y")
        await backend.exec(["sleep", "60"], timeout=0.01)
        with pytest.raises(WorkspaceError):
            await backend.exec(["no-such-program-here"])
        with pytest.raises(WorkspaceError):
            await backend.read_bytes(".")
        async with aclosing(backend.read("f")) as pieces:
            async for _ in pieces:
                break
        await backend.write("f", b"y")
        await backend.append("f", b"z")

    await once()
    gc.collect()  # what earlier tests left goes now, so that it cannot hide one of ours
    before = psutil.Process().num_fds()
    for _ in range(20):
        await once()
    assert psutil.Process().num_fds() <= before  # a leak is twenty; others may still close theirs
    await backend.close()


async def test_missing_programs_and_folders(backend: Backend, tmp_path: Path) -> None:
    (tmp_path / "noexec").write_text("x")
    for argv, cwd, code in (
        (["no-such-program-here"], None, "exec.missing"),
        ([], None, "exec.missing"),
        ([str(tmp_path / "noexec")], None, "exec.denied"),
        (["true"], "gone", "file.missing"),
        (["true"], "noexec", "file.not_dir"),
        (["echo", "a\0b"], None, "exec.failed"),
        (["echo", "x" * 3_000_000], None, "exec.too_long"),
    ):
        with pytest.raises(WorkspaceError) as caught:
            await backend.exec(argv or [], cwd=cwd)
        assert caught.value.code == code, argv[:1]


TREE = r"""
import os, subprocess, sys, time
where = sys.argv[1]
def note(name):
    with open(os.path.join(where, name), "w") as f: f.write(str(os.getpid()))
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
if os.fork() == 0:
    os.setsid()                      # leaves the group
    note("left_group")
    time.sleep(600)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:               # a daemon: leaves the tree, too
        while os.getppid() != 1 and not os.path.exists(os.path.join(where, "gone")): time.sleep(.01)
        note("daemon")
        time.sleep(600)
    open(os.path.join(where, "gone"), "w").close()
    os._exit(0)
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
note("leader")
time.sleep(600)
"""
NAMES = ("leader", "left_group", "daemon")


async def pids(tmp_path: Path) -> list[int]:
    await until(lambda: all((tmp_path / n).exists() and (tmp_path / n).read_text() for n in NAMES))
    return [int((tmp_path / n).read_text()) for n in NAMES]


async def test_timeout_kills_the_whole_tree(backend: Backend, tmp_path: Path) -> None:
    started = time.monotonic()
    result = await backend.exec([PY, "-c", TREE, str(tmp_path)], timeout=2)
    assert result.timed_out
    assert result.code < 0
    assert time.monotonic() - started < 12
    numbers = await pids(tmp_path)
    await until(lambda: not any(map(alive, numbers)))


async def test_cancel_kills_the_whole_tree(backend: Backend, tmp_path: Path) -> None:
    task = asyncio.ensure_future(backend.exec([PY, "-c", TREE, str(tmp_path)]))
    numbers = await pids(tmp_path)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: not any(map(alive, numbers)))  # a kill takes a moment


async def test_aclose_kills_the_whole_tree(backend: Backend, tmp_path: Path) -> None:
    stream = backend.run(
        ["sh", "-c", f'echo go; exec "{PY}" -c "$T" "{tmp_path}"'], env={"T": TREE}
    )
    async with aclosing(stream) as events:
        async for _ in events:
            numbers = await pids(tmp_path)
            break
    await until(lambda: not any(map(alive, numbers)))  # a kill takes a moment


async def test_a_mark_finds_what_a_dead_program_left_and_nothing_else(tmp_path: Path) -> None:
    """The two processes are ones whose program died: nobody holds them any more."""
    env = {**os.environ, "SLIPWAY_RUN": "the-mark"}
    ours = subprocess.Popen(["sh", "-c", "setsid sleep 600 & wait"], env=env)
    other = subprocess.Popen(["sleep", "600"], env={**env, "SLIPWAY_RUN": "another"})
    await until(lambda: len(psutil.Process(ours.pid).children()) == 1)
    left = psutil.Process(ours.pid).children()[0]
    backend = LocalBackend(tmp_path)
    assert await backend.end_marked(["none", "the-mark"]) == 2
    await until(lambda: ours.poll() is not None and not alive(left.pid))
    assert other.poll() is None
    assert await backend.end_marked(["the-mark"]) == 0
    other.kill()
    other.wait()
    await backend.close()


async def test_what_is_run_carries_the_mark_that_was_given(backend: Backend) -> None:
    async with aclosing(backend.run(["sh", "-c", "echo $SLIPWAY_RUN"], mark="m1")) as events:
        first = await anext(events)
    assert isinstance(first, OutputChunk)
    assert first.data == b"m1\n"


async def test_close_ends_what_runs_and_what_was_left_behind(tmp_path: Path) -> None:
    backend = LocalBackend(tmp_path)
    left = await backend.exec(["sh", "-c", "sleep 600 >/dev/null 2>&1 </dev/null & echo $!"])
    pid = int(left.stdout)
    assert alive(pid)  # a command may leave a server running
    running = asyncio.ensure_future(backend.exec(["sleep", "600"]))
    await until(lambda: any("600" in c.cmdline() for c in psutil.Process().children()))
    await backend.close()
    assert (await running).code < 0
    await until(lambda: not alive(pid))


async def test_close_ends_also_what_was_started_by_what_was_left_behind(tmp_path: Path) -> None:
    backend = LocalBackend(tmp_path, left=LeftRunning(tmp_path / "left"))
    loop = "while :; do sleep 600 & echo $! > pid; wait; done"
    await backend.exec(["sh", "-c", f"sh -c '{loop}' >/dev/null 2>&1 </dev/null &"])
    await until(lambda: (tmp_path / "pid").exists() and bool((tmp_path / "pid").read_text()))
    first = int((tmp_path / "pid").read_text())
    psutil.Process(first).kill()
    await until(lambda: (tmp_path / "pid").read_text().strip() not in ("", str(first)))
    second = int((tmp_path / "pid").read_text())
    assert len(list((tmp_path / "left").iterdir())) == 1, "noted, should we die"
    await backend.close()
    await until(lambda: not alive(second))


async def test_a_child_that_holds_the_pipe_does_not_hold_us(backend: Backend) -> None:
    started = time.monotonic()
    result = await backend.exec(["sh", "-c", "echo done; sleep 60 &"])
    assert result.stdout == b"done\n"
    assert result.code == 0
    assert time.monotonic() - started < 10


async def test_a_slow_consumer_loses_nothing_and_slows_the_process(tmp_path: Path) -> None:
    backend = LocalBackend(tmp_path)
    script = "import sys\nfor n in range(60):\n sys.stdout.write(chr(65+n%26)*100000)"
    got, first = 0, True
    async with aclosing(backend.run([PY, "-c", script])) as events:
        async for event in events:
            if isinstance(event, ProcessExit):
                assert event.code == 0
                continue
            got += len(event.data)
            if first:  # longer than the drain of an ended process
                first = False
                await asyncio.sleep(2.5)
    assert got == 6_000_000
    await backend.close()


async def test_signal_death_is_negative(backend: Backend) -> None:
    assert (await backend.exec(["sh", "-c", "kill -15 $$"])).code == -15


async def test_the_loop_stays_free_while_a_flood_is_read(tmp_path: Path) -> None:
    backend = LocalBackend(tmp_path)
    longest, last, done = 0.0, time.thread_time(), False

    async def watch() -> None:
        nonlocal longest, last
        while not done:
            last = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - last)

    async with asyncio.TaskGroup() as group:
        group.create_task(watch())
        result = await backend.exec(["sh", "-c", "yes | head -c 20000000"], max_bytes=1 << 20)
        done = True
    assert result.truncated
    assert longest < 0.016
    await backend.close()
