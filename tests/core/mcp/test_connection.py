"""Connections to real servers, good and bad ones."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import psutil
import pytest

from desktop_app.core.errors import ToolFailure
from desktop_app.core.mcp.connection import Limits
from desktop_app.core.mcp.ring import KEEP
from desktop_app.core.mcp.spec import ServerSpec
from tests.helpers.mcp import QUICK, Bench, alive, call, free_port, serving, until


async def test_tools_are_listed_once_and_called(mcp: Bench, tmp_path: Path) -> None:
    c = await mcp.ok("plain.py", cwd=str(tmp_path), env={"GIVEN": "a secret"})
    tools = {t.name: t for t in c.status.tools}
    assert tools["add"].read_only
    assert not tools["write_note"].read_only
    assert tools["add"].schema["properties"]["a"]["type"] == "integer"
    for n in range(10):
        assert (await call(c, "add", a=n, b=1)).text == str(n + 1)
    assert c.listings == 1
    where = (await call(c, "where")).text.split()
    assert where[0] == os.path.realpath(tmp_path)
    assert "a secret" in (await call(c, "where")).text
    assert "a secret" not in repr(c.spec)


async def test_errors_pictures_and_progress(mcp: Bench) -> None:
    c = await mcp.ok("plain.py")
    failed = await call(c, "fail", why="no reason")
    assert failed.state == "error"
    picture = await call(c, "picture")
    assert picture.data[0].source.media_type == "image/png"
    blind = await c.call("picture", {}, images=False, progress=lambda _: None)
    assert blind.data == []
    assert "cannot see" in blind.text
    heard: list[str] = []
    done = await c.call("slow", {"steps": 4}, images=True, progress=heard.append)
    assert done.text == "done"
    assert heard[0] == "1/4 step 1"
    assert heard[-1] == "4/4 step 4"
    assert len((await call(c, "large", characters=5_000_000)).text) == 5_000_000


async def test_a_stopped_call_cancels_that_request_alone(mcp: Bench, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    c = await mcp.ok("raw.py", "plain", str(notes))
    hanging = asyncio.ensure_future(call(c, "hang"))
    await until(lambda: "call hang" in notes.read_text())
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    await until(lambda: "cancelled" in notes.read_text())
    assert (await call(c, "echo")).text.startswith("echo ")
    assert notes.read_text().count("start") == 1


async def test_a_call_ends_at_its_own_time_limit(mcp: Bench, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    c = await mcp.ok("raw.py", "plain", str(notes), call_seconds=0.2)
    with pytest.raises(ToolFailure) as failure:
        await call(c, "hang")
    assert failure.value.code == "mcp.timeout"
    await until(lambda: "cancelled" in notes.read_text())
    assert (await call(c, "echo")).state == "success"


async def test_a_server_that_dies_is_started_again(mcp: Bench, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    c = await mcp.ok("raw.py", "plain", str(notes))
    with pytest.raises(ToolFailure) as failure:
        await call(c, "die")
    assert failure.value.code == "mcp.died"
    again = await call(c, "echo")  # waits for the new one
    assert again.state == "success"
    assert notes.read_text().count("start") == 2
    assert notes.read_text().count("call die") == 1  # never repeated by itself


async def test_a_server_that_is_switched_off_in_a_call_is_told_so(
    mcp: Bench, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    c = await mcp.ok("raw.py", "plain", str(notes))
    calling = asyncio.ensure_future(call(c, "hang"))
    await until(lambda: "call hang" in notes.read_text())
    await c.stop()
    with pytest.raises(ToolFailure) as failure:
        await calling
    assert failure.value.code == "mcp.taken"
    assert "switched off" in failure.value.message
    assert "again" not in failure.value.message


async def test_a_killed_idle_server_is_noticed(mcp: Bench) -> None:
    c = await mcp.ok("raw.py", "plain")
    pid = int((await call(c, "echo")).text.split()[1])
    psutil.Process(pid).kill()
    await until(lambda: len(mcp.seen["server"]) > 3 and c.status.state == "ok")
    assert "waiting" in [s.state for s in mcp.seen["server"]]
    assert int((await call(c, "echo")).text.split()[1]) != pid


async def test_one_that_never_comes_up_fails_with_its_words(mcp: Bench, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    c = mcp.connect("raw.py", "dies_at_once", str(notes))
    await until(lambda: c.status.state == "failed")
    assert (c.status.code, c.status.params["detail"]) == ("mcp.exited", "cannot read the token")
    assert notes.read_text().count("start") == 1 + len(QUICK.pauses)
    assert [s.retry for s in mcp.seen["server"] if s.state == "waiting"] == list(QUICK.pauses)
    c.restart()
    await until(lambda: notes.read_text().count("start") > 1 + len(QUICK.pauses))
    with pytest.raises(ToolFailure) as failure:
        await call(c, "echo")
    assert failure.value.code == "mcp.not_running"
    assert "cannot read the token" in failure.value.message


async def test_a_server_that_says_nothing_is_given_up(mcp: Bench) -> None:
    c = mcp.connect("raw.py", "mute", limits=Limits(start=0.5, pauses=()))
    await until(lambda: c.status.state == "failed")
    assert c.status.code == "mcp.start_timeout"


@pytest.mark.parametrize(
    ("command", "cwd", "code"),
    [
        (("no-such-program-here",), None, "exec.missing"),
        (("python3",), "/no/such/folder", "mcp.no_folder"),
    ],
)
async def test_what_cannot_be_started_is_not_tried_twice(
    mcp: Bench, command: tuple[str, ...], cwd: str | None, code: str
) -> None:
    c = mcp.start(ServerSpec("x", "stdio", command, cwd=cwd))
    await until(lambda: c.status.state == "failed")
    assert c.status.code == code
    assert [s.state for s in mcp.seen["x"]].count("starting") == 1


async def test_a_bad_item_hides_no_other(mcp: Bench) -> None:
    c = await mcp.ok("raw.py", "bad_items")
    assert [t.name for t in c.status.tools] == ["good", "odd_hints", "bare", "refs"]
    assert [name for name, _ in c.status.bad] == ["", "no_schema", "array_schema", "", "good"]


async def test_odd_content_is_told_not_lost(mcp: Bench) -> None:
    c = await mcp.ok("raw.py", "plain")
    text = (await call(c, "odd")).text
    assert text.startswith("first\n")
    assert "hologram" in text
    assert "image/svg+xml" in text
    assert "file:///a" in text
    assert text.endswith("inside")


async def test_every_page_is_read_and_no_endless_one(mcp: Bench) -> None:
    c = await mcp.ok("raw.py", "pages")
    assert len(c.status.tools) == 15
    endless = await mcp.ok("raw.py", "endless_pages", name="endless")
    assert [t.name for t in endless.status.tools] == ["one"]
    assert endless.listings == 2


async def test_a_changed_list_is_read_again(mcp: Bench, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    c = await mcp.ok("raw.py", "changes", str(notes))
    assert [t.name for t in c.status.tools] == ["before", "change"]
    await call(c, "change")
    await until(lambda: [t.name for t in c.status.tools] == ["before", "after"])
    assert notes.read_text().count("list") == 2


async def test_lines_that_are_no_message_are_skipped(mcp: Bench) -> None:
    c = await mcp.ok("raw.py", "chatty")
    assert (await call(c, "echo")).state == "success"
    assert "no message" in c.ring.text()


async def test_connected_though_the_tools_cannot_be_listed(mcp: Bench) -> None:
    c = await mcp.ok("raw.py", "list_fails")
    assert (c.status.code, c.status.tools) == ("mcp.list_failed", ())
    none = await mcp.ok("raw.py", "no_tools", name="none")
    assert none.status.code == "mcp.no_tools"


async def test_the_folder_is_a_root_and_sampling_is_refused(mcp: Bench, tmp_path: Path) -> None:
    c = await mcp.ok("raw.py", "plain", cwd=str(tmp_path))
    assert tmp_path.as_uri() in (await call(c, "ask_roots")).text
    refused = (await call(c, "ask_sampling")).text
    assert "error" in refused
    assert "not supported" in refused.lower()


async def test_a_flood_on_standard_error_keeps_memory_flat(mcp: Bench) -> None:
    c = await mcp.ok("raw.py", "flood")
    await until(lambda: c.ring.total > 4 << 20)
    before = psutil.Process().memory_info().rss
    mark = c.ring.total
    await until(lambda: c.ring.total > mark + (24 << 20), 30)
    assert psutil.Process().memory_info().rss - before < 8 << 20
    assert len(c.ring.text(10_000)) <= KEEP
    assert (await call(c, "echo")).state == "success"


@pytest.mark.parametrize(
    ("mode", "says"), [("loud", "that are no messages"), ("endless_line", "a line of more than")]
)
async def test_a_flood_on_standard_output_is_given_up_and_costs_no_memory(
    mcp: Bench, mode: str, says: str
) -> None:
    other = await mcp.ok("plain.py")
    before = psutil.Process().memory_info().rss
    c = mcp.connect("raw.py", mode)
    await until(lambda: c.status.state == "failed", 120)
    assert c.status.code == "mcp.flood"
    assert says in c.status.params["detail"]
    assert psutil.Process().memory_info().rss - before < 300 << 20
    assert (await call(other, "add", a=1, b=1)).text == "2", "others are not kept from working"


async def test_one_that_will_not_go_is_killed_with_its_children(mcp: Bench, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    c = await mcp.ok("raw.py", "stays", str(notes))
    pids = [int(n) for n in re.findall(r"(?:start|child) (\d+)", notes.read_text())]
    assert len(pids) == 2
    assert all(alive(pid) for pid in pids)
    await c.stop()
    assert c.status.state == "stopped"
    await until(lambda: not any(alive(pid) for pid in pids), 5)


async def test_stopping_one_that_is_still_starting(mcp: Bench) -> None:
    c = mcp.connect("raw.py", "mute")
    await c.stop()
    assert c.status.state == "stopped"
    c.start()
    await c.stop()


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_over_http_and_sse(mcp: Bench, kind: str) -> None:
    port = free_port()
    path = "mcp" if kind == "http" else "sse"
    async with serving(kind, port) as process:
        spec = ServerSpec("web", kind, url=f"http://127.0.0.1:{port}/{path}")
        c = mcp.start(spec)
        await until(lambda: c.status.state == "ok")
        assert (await call(c, "add", a=20, b=22)).text == "42"
        wrong = mcp.start(ServerSpec("wrong", kind, url=f"http://127.0.0.1:{port}/nothing"))
        await until(lambda: wrong.status.state == "failed")
        assert (wrong.status.code, wrong.status.params["status"]) == ("mcp.not_mcp", 404)
        await c.stop()
        process.kill()
        await process.wait()
    gone = mcp.start(ServerSpec("gone", kind, url=f"http://user:secret@127.0.0.1:{port}/{path}"))
    await until(lambda: gone.status.state == "failed")
    assert gone.status.code == "mcp.unreachable"
    assert "secret" not in str(gone.status)
