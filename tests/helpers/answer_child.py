"""The other process in tests of answers and kills. Usage: ROOT SCENARIO KILL_AT

Plays a person who works through one reply, from wherever the session stands, and kills itself
before the operation KILL_AT on the disk. Says in lines:

    waits OP          found waiting when the session was opened, or asked now
    decided OP        the answer is in the journal
    ended REASON      the reply is over; nothing is left to do

``mark`` is a tool that must never run twice for one call: it appends its argument to ``world``.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from desktop_app.core import events as ev
from desktop_app.core.agent.base import Decision
from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.messages import Msg
from desktop_app.core.models.base import ModelRequest
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from desktop_app.core.tools.ask_user import AskUser
from desktop_app.core.tools.base import ToolContext, ToolOutcome, Verdict
from tests.helpers.journals import Disk
from tests.helpers.sessions import Bench, collect

QUESTION = {
    "question": "Which?",
    "header": "Which",
    "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}],
}


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


class Mark:
    """Changes the world once."""

    name = "mark"
    description = "Appends its argument to the world."
    parameters = {"type": "object", "properties": {"text": {"type": "string"}}}  # noqa: RUF012

    def __init__(self, world: Path) -> None:
        self.world = world

    def effect(self, args: dict[str, Any]) -> str:
        return "unsafe"

    def concurrency_safe(self, args: dict[str, Any]) -> bool:
        return False

    async def check(self, args: dict[str, Any], ctx: ToolContext) -> Verdict:
        return Verdict("ask")

    async def preview(self, args: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
        return {}

    async def run(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        with self.world.open("a") as file:
            file.write(f"{ctx.op_id} {args['text']}\n")
            file.flush()
            os.fsync(file.fileno())
        if args["text"] == "long":
            await asyncio.sleep(600)
        return ToolOutcome("marked")


CALLS: dict[str, list[Call]] = {
    "part": [Call("mark", {"text": t}) for t in ("yes", "no", "edit", "yes2")],
    "answer": [Call("AskUser", {"questions": [QUESTION]}), Call("mark", {"text": "yes"})],
    "external": [Call("AskUser", {"questions": [QUESTION]}), Call("mark", {"text": "yes"})],
    "interrupt": [Call("mark", {"text": "yes"}), Call("mark", {"text": "give up"})],
    "stop": [Call("mark", {"text": "long"})],
    "limit": [Call("mark", {"text": "yes"})],
}


def model_for(scenario: str) -> ScriptedModel:
    """The calls once, then words; under the limit of steps it never stops calling."""

    def play(request: ModelRequest) -> list[Any]:
        if request.purpose == "title":
            return [Say("A title")]
        done = any(m.tool_results() for m in request.messages if isinstance(m, Msg))
        return [Say("All done.")] if done and scenario != "limit" else list(CALLS[scenario])

    return ScriptedModel([play], forever=True)


async def answer_one(talk: SessionConversation, scenario: str) -> None:
    """Answer the first of what waits: in part, that is."""
    pending = talk.pending
    assert pending is not None
    if pending.questions and scenario == "external":  # executed by another program
        call = talk.log.now.calls()[0]
        block = {"type": "tool_result", "id": call.id, "name": call.name, "output": "B it is"}
        event = {"type": "EXTERNAL_EXECUTION_RESULT", "reply_id": pending.reply_id}
        await collect(talk.take({**event, "execution_results": [block]}))
        return
    if pending.questions:
        op_id = pending.questions[0].op_id
        answer = {"answers": [{"question": "Which?", "selected": ["B"]}]}
        await collect(talk.answer(pending.reply_id, op_id, answer))
        return
    approval = pending.approvals[0]
    text = approval.arguments["text"]
    if text == "give up":
        event = {"type": "USER_INTERRUPT", "reply_id": pending.reply_id}
        await collect(talk.take(event))
        return
    edited = {"text": "edited"} if text == "edit" else None
    await collect(talk.decide(pending.reply_id, [Decision(approval.op_id, text != "no", edited)]))


async def work(root: Path, scenario: str, store: SqliteJournalStore) -> None:
    tools = [Mark(root / "world"), AskUser()]
    limit = 3 if scenario == "limit" else 50
    bench = Bench(
        root / "folder", model_for(scenario), store=store, tools=tools, max_iterations=limit
    )
    talk = await bench.open(mode="default", model="scripted")
    over: list[str] = []

    def heard(event: ev.Event) -> None:
        if isinstance(event, ev.RunFinished):
            over.append(event.reason)
        elif isinstance(event, ev.RunParked):
            for op_id in event.op_ids:
                say(f"waits {op_id}")
        elif isinstance(event, ev.ApprovalDecided) and event.by == "person":
            say(f"decided {event.op_id}")
        elif isinstance(event, ev.ToolStarted) and scenario == "stop":
            talk._tasks.start(talk.stop(), name="stop")

    talk.listen(heard)
    for op_id in talk.log.now.waiting:
        say(f"waits {op_id}")
    while not over:
        if talk.pending is not None:
            await answer_one(talk, scenario)
        elif not talk.state.context:
            await collect(talk.send("Do it."))
        elif talk.log.now.open_reply is not None:
            await collect(talk.go_on())
        else:  # it ended before the kill
            over.append(str(talk.state.context[-1].finished_reason))
    say(f"ended {over[-1]}")
    await talk.close()


def main() -> None:
    root, scenario, at = sys.argv[1:]
    disk, left = Disk(), int(at)

    def count(op: str, name: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    disk.before = count
    store = SqliteJournalStore(Path(root) / "journals", vfs=disk.name)
    asyncio.run(work(Path(root), scenario, store))


if __name__ == "__main__":
    main()
