"""An agent that works in a machine while that machine, its gateway and its engine fail.

``Worker`` is what the model does: numbered, unsafe steps, each under a token of its own; after an
error it tries the step again under a new one. ``judge`` says what must hold in the end.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable

from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.agent.fold import Folder
from desktop_app.core.events import Event, ModelCallStarted, RunFinished, ToolFinished
from desktop_app.core.messages import ToolCallBlock, ToolResultBlock
from desktop_app.core.models.base import ModelRequest
from desktop_app.core.models.scripted import Call, Say, Turn
from desktop_app.core.workspaces.backend import Backend
from tests.helpers.sessions import collect, of

LOG, NOTES, SLOW = "log.txt", "notes.txt", "slow.txt"
PAUSES = (0.2, 4.0)  # seconds before each harm: some while the last is mended, some after
KINDS = ("log", "file", "note", "slow")
SERVER = f"""
import time
from mcp.server import MCPServer

server = MCPServer("notes")


@server.tool()
def note(token: str) -> str:
    time.sleep(0.05)
    with open("{NOTES}", "a") as file:
        file.write(token + "\\n")
    return "noted " + token


server.run("stdio")
"""


class Worker:
    """The script: ``turn`` is the scripted model's. ``calm``: nothing is harmed any more, and it
    ends after one more step of each kind. ``acked`` are tokens whose call said that it was done,
    ``called`` all that were tried."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._step = 0
        self._try = 0
        self._kind = KINDS[0]  # of the step
        self._last: tuple[str, str] = ("", "")  # token, kind
        self._left = set(KINDS)  # to be done once more in the end
        self.calm = False
        self.called: dict[str, str] = {}
        self.acked: dict[str, str] = {}
        self.errors: Counter[str] = Counter()

    @property
    def through(self) -> bool:
        return not self._left

    def turn(self, request: ModelRequest) -> Turn:
        token, kind = self._last
        if token:
            self._last = ("", "")
            state, text = _result(request, token)
            if state == "success":
                assert token in text, f"{token} was said to be done: {text!r}"
                self.acked[token] = kind
                self._step += 1
                self._try = 0
                if self.calm:
                    self._left.discard(kind)
            else:
                self.errors[text[:160].replace(token, "…")] += 1
                self._try += 1
        if self.through:
            return [Say("All done.")]
        return [self._call()]

    def _call(self) -> Call:
        token = f"t{self._step}.{self._try}"
        if not self._try:
            self._kind = KINDS[self._step % len(KINDS)]
        self._last = (token, self._kind)
        self.called[token] = self._kind
        match self._kind:
            case "log":
                line = f"echo {token} >> {LOG}; sleep 0.05; echo {token}"
                return Call("Bash", {"command": line}, call_id=token)
            case "slow":
                each = f"echo {token}/$n >> {SLOW}; sleep 0.2;"
                line = f"for n in 1 2 3 4; do {each} done; echo {token}"
                return Call("Bash", {"command": line}, call_id=token)
            case "note":
                return Call("mcp__notes__note", {"token": token}, call_id=token)
            case _:
                path = f"files/{token}.txt"
                content = f"{token}\n" * self._rng.randint(1, 400)
                return Call("Write", {"file_path": path, "content": content}, call_id=token)


def _result(request: ModelRequest, token: str) -> tuple[str, str]:
    """State and text of the newest result of a call."""
    for message in reversed(request.messages):
        for block in reversed(message.content):
            if isinstance(block, ToolResultBlock) and block.id == token:
                output = block.output
                if not isinstance(output, str):
                    output = "".join(getattr(one, "text", "") for one in output)
                return str(block.state), output
    raise AssertionError(f"the model never hears of {token}")


Act = Callable[[], Awaitable[None]]


async def harm(rng: random.Random, acts: dict[str, Act], seconds: float) -> list[str]:
    """Do one thing after another; what was done, for the report of a failure."""
    done: list[str] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        await asyncio.sleep(rng.uniform(*PAUSES))
        name = rng.choice(sorted(acts))
        done.append(f"{name} at {seconds - (end - time.monotonic()):.1f}")
        await acts[name]()
    return done


async def talk(conversation: SessionConversation, worker: Worker, seconds: float) -> list[Event]:
    """The conversation, gone on with whenever a turn ends, until the worker is through."""
    events: list[Event] = []
    async with asyncio.timeout(seconds):
        while True:
            going_on = conversation.resumable is not None
            run = conversation.go_on() if going_on else conversation.send("Go on")
            told = await collect(run)
            events += told
            assert of(told, ModelCallStarted), f"going on did nothing: {told}"
            if worker.through and of(told, RunFinished)[-1].reason == "completed":
                return events


async def judge(
    conversation: SessionConversation, worker: Worker, backend: Backend, events: list[Event]
) -> None:
    """Nothing lost, nothing done twice, nothing told wrongly, and the context is whole."""
    written = {name: await _lines(backend, name) for name in (LOG, NOTES, SLOW)}
    found = Counter(line for lines in written.values() for line in lines)
    assert [token for token, n in found.items() if n > 1] == [], "done twice"
    for token, kind in worker.acked.items():
        if kind == "file":
            text = (await backend.read_bytes(f"files/{token}.txt")).decode()
            assert set(text.split()) == {token}, f"{token} was acknowledged and is not whole"
        else:
            wanted = [f"{token}/{n}" for n in range(1, 5)] if kind == "slow" else [token]
            assert all(found[one] for one in wanted), f"{token} was acknowledged and is lost"
    states = {op.call_id: op.state for op in await conversation.log.journal.operations()}
    for token, kind in worker.called.items():
        state = states.get(token)
        assert state in ("done", "failed", "unknown", None), f"{token} is left {state}"
        assert (state == "done") == (token in worker.acked), f"{token}: {state}"
        traces = [one for one in found if one.partition("/")[0] == token]
        if state in ("failed", None) and kind in ("log", "note"):
            assert not traces, f"{token} has an effect and was told as {state}"
    ended = Counter(e.op_id for e in events if isinstance(e, ToolFinished))
    assert [op for op, n in ended.items() if n > 1] == [], "two results of one call"
    check_pairs(conversation)
    folder = Folder(conversation.key.session_id)
    for record in await conversation.log.journal.read():
        folder.apply(record)
    assert folder.now.state.to_json() == conversation.state.to_json(), "the journal folds otherwise"
    assert await conversation.log.journal.verify() is None


def check_pairs(conversation: SessionConversation) -> None:
    """Every call of the context has exactly one result, after it."""
    calls: list[str] = []
    results: list[str] = []
    for message in conversation.state.context:
        for block in message.content:
            if isinstance(block, ToolCallBlock):
                calls.append(block.id)
            elif isinstance(block, ToolResultBlock):
                assert block.id in calls, f"a result before its call: {block.id}"
                results.append(block.id)
    assert calls == results


async def _lines(backend: Backend, name: str) -> list[str]:
    (there,) = await backend.stat_many([name])
    return (await backend.read_bytes(name)).decode().splitlines() if there else []
