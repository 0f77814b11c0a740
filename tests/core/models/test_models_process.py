"""The process that talks to providers: it holds nobody up, outlives no program, and may die."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

import pytest

from desktop_app.core.errors import ModelError
from desktop_app.core.messages import Base64Source, DataBlock, Msg, TextBlock
from desktop_app.core.models import prompts
from desktop_app.core.models.base import ModelRequest, TextPart
from desktop_app.core.models.batches import HIGH_WATER, Batches
from desktop_app.core.models.frames import Frame
from desktop_app.core.models.process import ModelsProcess, command
from desktop_app.core.models.provider import Connections
from tests.core.models.test_provider_wire import ask, call, model, text_of
from tests.helpers import providers as wire
from tests.helpers.journals import REPO
from tests.helpers.providers import Server

KEY = "sk-test-0123456789abcdef"
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


@pytest.fixture
async def process() -> AsyncIterator[ModelsProcess]:
    made = ModelsProcess()
    yield made
    await made.close()


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def until(true: Callable[[], bool], seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while not (found := true()) and time.monotonic() < end:
        time.sleep(0.01)
    return found


@posix
async def test_a_process_that_dies_fails_its_call_and_the_next_one_gets_a_new_one(
    process: ModelsProcess,
) -> None:
    hold = threading.Event()
    answers = (wire.sse(wire.chat_chunk({"content": "Hel"}), hold), wire.chat("Hello"))
    with Server(*answers) as server:
        one = model(Connections(process=process), server)
        stream: Any = one.stream(ask())
        assert (await anext(stream)).text == "Hel", "what arrived before is kept"
        first = cast(int, process.pid)
        os.kill(first, signal.SIGKILL)
        with pytest.raises(ModelError) as caught:
            await anext(stream)
        assert (caught.value.code, caught.value.retryable) == ("model.process", True)
        hold.set()
        assert text_of(await call(one, ask())) == "Hello"
    assert process.pid not in (None, first)


async def test_a_program_that_cannot_start_one_says_so() -> None:
    process = ModelsProcess(argv=["/nowhere/at/all"])
    with Server() as server, pytest.raises(ModelError) as caught:
        await call(model(Connections(process=process), server), ask())
    assert (caught.value.code, caught.value.retryable) == ("model.process", False)
    assert caught.value.params["detail"]


async def test_last_words_are_told_and_hold_no_key() -> None:
    boot = f"import sys; print('no room for {KEY}', file=sys.stderr)"
    process = ModelsProcess(argv=[sys.executable, "-c", boot])
    with Server() as server, pytest.raises(ModelError) as caught:
        await call(model(Connections(process=process), server), ask())
    assert caught.value.params["detail"].startswith("no room for ")
    assert KEY not in str(caught.value)


@posix
async def test_keys_travel_over_the_pipe_alone(process: ModelsProcess) -> None:
    with Server(wire.chat("Hello")) as server:
        await call(model(Connections(process=process), server), ask())
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    for name in ("cmdline", "environ"):
        told = Path(f"/proc/{process.pid}/{name}").read_bytes()
        assert told
        assert KEY.encode() not in told
    assert KEY not in " ".join(command(1.0))


PROGRAM = """
import asyncio, sys
from desktop_app.core.models.process import ModelsProcess

async def main():
    process = ModelsProcess()
    await process.ask({"do": "warm", "wire": "chat"})
    print(process.pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@posix
def test_a_program_that_is_killed_leaves_no_process() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=REPO, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        pid = int(program.stdout.readline())
        assert alive(pid)
        program.kill()
        program.wait()
        assert until(lambda: not alive(pid))


@posix
async def test_an_idle_process_ends_and_a_call_starts_another() -> None:
    process = ModelsProcess(idle=0.2)
    await process.ask({"do": "warm", "wire": "chat"})
    first = cast(int, process.pid)
    assert await asyncio.to_thread(until, lambda: process.pid is None and not alive(first))
    with Server(wire.chat("Hello")) as server:
        one = model(Connections(process=process), server)
        assert text_of(await call(one, ask())) == "Hello"
    await process.close()


async def test_a_frame_that_makes_no_sense_ends_the_process_not_the_program(
    process: ModelsProcess,
) -> None:
    with pytest.raises(ModelError) as caught:
        await process.ask({"do": "stream", "slot": 0, "keep": 3})
    assert (caught.value.code, caught.value.retryable) == ("model.process", True)
    await process.ask({"do": "warm", "wire": "chat"})


async def test_many_calls_at_once_stay_apart(models_process: ModelsProcess) -> None:
    def answer(asked: wire.Asked) -> wire.Answer:
        said = asked.body["messages"][-1]["content"]
        return wire.chat(*[f"{said} {n} " for n in range(20)])

    with Server(*[answer] * 12) as server:
        one = model(Connections(process=models_process), server)
        asked = [call(one, ModelRequest("s", [Msg.user(f"Q{n}")])) for n in range(12)]
        said = [text_of(parts) for parts in await asyncio.gather(*asked)]
    assert said == ["".join(f"Q{n} {k} " for k in range(20)) for n in range(12)]


# -- what is sent ----------------------------------------------------------------------------------


async def test_only_the_end_of_a_grown_prompt_is_sent(
    models_process: ModelsProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[str] = []
    real = prompts.Sent.place

    def place(self: prompts.Sent, messages: Any) -> tuple[int, int]:
        slot, keep = real(self, messages)
        encoded.append(f"{len(messages) - keep} of {len(messages)}")
        return slot, keep

    monkeypatch.setattr(prompts.Sent, "place", place)
    said = [Msg.user("One"), Msg(name="a", role="assistant", content=[TextBlock(text="A")])]
    longer = [*said, Msg.user("Two")]
    fork = [said[0], Msg.user("Other")]
    requests = [said[:1], longer, fork, longer, [*longer, Msg.user("Three")]]
    with Server(*[wire.chat("ok")] * 5) as server:
        one = model(Connections(process=models_process), server)
        for messages in requests:
            await call(one, ModelRequest("s", messages))
    assert encoded == ["1 of 1", "2 of 3", "1 of 2", "2 of 3", "1 of 4"]
    for asked, messages in zip(server.asked, requests, strict=True):
        told = [m["content"] for m in asked.body["messages"] if m["role"] != "system"]
        said_there = " ".join(str(t) for t in told)
        for text in ("One", "Two", "Three", "Other"):
            assert (text in said_there) == any(text in m.text() for m in messages)


def test_a_message_that_changed_is_sent_again() -> None:
    sent = prompts.Sent()
    messages = [Msg.user("One"), Msg.user("Two"), Msg.user("Three")]
    slot, keep = sent.place(messages)
    assert keep == 0
    sent.note(slot, messages)
    assert sent.place(messages) == (slot, 3)
    assert sent.place(messages[:2]) == (slot, 2)
    messages[1].content.append(TextBlock(text="more"))
    assert sent.place(messages) == (slot, 1)
    messages[0].content = [TextBlock(text="other")]
    assert sent.place(messages)[1] == 0


def test_the_oldest_prompt_makes_room() -> None:
    sent, held = prompts.Sent(), prompts.Held()
    all_prompts = [[Msg.user(f"{n}")] for n in range(prompts.SLOTS + 1)]
    for messages in all_prompts:
        slot, keep = sent.place(messages)
        assert keep == 0
        sent.note(slot, messages)
        held.note(slot, messages)
    assert sent.place(all_prompts[-1])[1] == 1
    assert sent.place(all_prompts[0])[1] == 0
    with pytest.raises(ValueError, match="not known"):
        held.beginning(0, 2)


async def test_a_call_that_is_left_while_its_prompt_is_sent(
    models_process: ModelsProcess,
) -> None:
    """What was sent of it is forgotten on both sides; the same prompt goes through afterwards."""
    long = [Msg.user(f"{n} " + "word " * 4000) for n in range(400)]
    with Server(wire.chat("Hello")) as server:
        one = model(Connections(process=models_process), server)
        asking = asyncio.ensure_future(call(one, ModelRequest("s", long)))
        await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert text_of(await call(one, ModelRequest("s", long))) == "Hello"
        assert len(server.asked) <= 2
        told = str(server.asked[-1].body["messages"])
        assert all(f"{n} word" in told for n in (0, 200, 399))


async def test_bytes_that_json_does_not_like_arrive_whole(models_process: ModelsProcess) -> None:
    strange = 'a\ud800b "quoted" \u2028 \x00 港口 🚢'
    picture = DataBlock(source=Base64Source(data="aGVsbG8=", media_type="image/png"))
    message = Msg(name="u", role="user", content=[TextBlock(text=strange), picture])
    with Server(wire.chat("ok")) as server:
        made = model(Connections(process=models_process), server, images=True)
        with pytest.raises(ModelError) as caught:
            await call(made, ModelRequest("s", [message]))
        assert caught.value.code == "model.failed", "no server takes half a character"
        message.content = [TextBlock(text=strange.replace("\ud800", "")), picture]
        assert text_of(await call(made, ModelRequest("s", [message]))) == "ok"
        told = server.asked[-1].body["messages"][-1]["content"]
    assert told[0]["text"] == strange.replace("\ud800", "")
    assert told[1]["image_url"]["url"].endswith("aGVsbG8=")


# -- what comes back -------------------------------------------------------------------------------


async def test_a_fast_stream_does_not_flood_the_loop(models_process: ModelsProcess) -> None:
    words = [f"w{n} " for n in range(5_000)]
    with Server(wire.chat(*words)) as server:
        parts = await call(model(Connections(process=models_process), server), ask())
    assert text_of(parts) == "".join(words)
    assert len(parts) < len(words) / 4


async def test_a_slow_reader_makes_the_provider_wait() -> None:
    frames: list[Frame] = []
    batches = Batches(frames.append, 1)
    large = TextPart(0, "x" * (HIGH_WATER + 1))
    await batches.put(large)
    waiting = asyncio.ensure_future(batches.put(TextPart(0, "more")))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    batches.took(frames[0]["size"])
    await asyncio.wait_for(waiting, 5)
    batches.flush()
    assert [f["size"] for f in frames] == [HIGH_WATER + 1, 4]


async def test_warming_makes_the_first_call_quick(process: ModelsProcess) -> None:
    connections = Connections(process=process)
    await connections.warm("chat")
    assert process.pid is not None
    with Server(wire.chat("Hello")) as server:
        parts = model(connections, server).stream(ask())
        async with aclosing(cast(Any, parts)) as stream:
            assert (await anext(stream)).text == "Hello"
