"""Our own engine on a stream, as the program runs it: a conversation with journal, workspace,
permissions, tools and outbox, whose model plays what the stream says.

Only three things stand in for the real ones: the model (there is none here), the tools' results
(they are the stream's), and the journal's disk (memory, which changes no byte of a prompt).
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

from desktop_app.core import events as ev
from desktop_app.core.agent.conversation import Agent as AgentSetting
from desktop_app.core.agent.conversation import SessionConversation, Setting
from desktop_app.core.context import summary
from desktop_app.core.context.build import kind_of
from desktop_app.core.errors import ModelError
from desktop_app.core.messages import Msg, Usage
from desktop_app.core.models.base import (
    Finish,
    ModelEvent,
    ModelInfo,
    ModelRequest,
    TextPart,
    ToolCallPart,
)
from desktop_app.core.sessions.base import SessionKey
from desktop_app.core.sessions.memory import MemoryJournalStore
from desktop_app.core.tasks import Tasks
from desktop_app.core.tools import bounds
from desktop_app.core.tools.base import ToolContext, ToolOutcome, Verdict
from desktop_app.core.tools.registry import builtin_tools
from desktop_app.core.workspaces.local_workspace import LocalWorkspace

from .events import Agent, Call, Person, Piece, Prompt, Result, Stream
from .summarise import Answer, Summariser
from .system import PROMPT, System, texts_in
from .truth import Scales

OURS = ("TaskCreate", "TaskUpdate")  # tools that run for real
NOT_ASKED = ("task", "constraint", "pending", "unicode")  # a request for notes asks not to
KEY = SessionKey("local", "default", "ctxbench")


class PlayedTool:
    """A tool of the stream: its schema is the real one's where there is one."""

    def __init__(self, schema: dict[str, Any], results: dict[str, deque[Result]]) -> None:
        self.name = str(schema["name"])
        self.description = str(schema["description"])
        self.parameters: dict[str, Any] = schema["parameters"]
        self._results = results

    def effect(self, args: dict[str, Any]) -> ev.Effect:
        return "read"

    def concurrency_safe(self, args: dict[str, Any]) -> bool:
        return True

    async def check(self, args: dict[str, Any], ctx: ToolContext) -> Verdict:
        return Verdict("allow")

    async def preview(self, args: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
        return {}

    async def run(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        result = self._results[_key(self.name, args)].popleft()
        return ToolOutcome(result.text, result.state)


class PlayedModel:
    """Answers with the stream's next step, tells the prompt's true size, and writes notes as the
    scripted summariser says."""

    def __init__(self, system: Ours) -> None:
        self._system = system
        self.info = ModelInfo(
            "bench", "Bench", window=system.window, max_output=system.window // 5, offline=True
        )
        self.next: deque[Agent] = deque()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        if request.purpose == "title":
            yield TextPart(0, "Billing service")
            yield Finish("stop")
            return
        if request.purpose == "summary":
            async for part in self._notes(request):
                yield part
            return
        size = self._system.sent(prompt_of(request))
        step = self.next.popleft() if self.next else Agent("Going on.")
        if step.text:
            yield TextPart(0, step.text)
        for number, call in enumerate(step.calls, 1):
            yield ToolCallPart(number, call.id, call.name, json.dumps(call.args))
        spoken = self._system.scales.count(Piece("assistant", step.text, step.calls).render())
        yield Finish(
            "tool_calls" if step.calls else "stop", Usage(input_tokens=size, output_tokens=spoken)
        )

    async def _notes(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        prompt = prompt_of(request)
        text = "\n".join(p.render() for p in prompt.pieces[:-1] if not p.made)
        asked = prompt.pieces[-1].text
        proofs = '"quote"' in asked
        answer = self._system.model.answer(text, request.max_output or 1000, NOT_ASKED, proofs)
        if answer.outcome == "fail":
            raise ModelError("model.unreachable", retryable=True, host="bench")
        if answer.outcome == "slow":
            await asyncio.sleep(3600)
        whole = _proven(answer) if proofs else _written(answer)
        if answer.outcome == "cut":
            whole = whole[: len(whole) * 4 // 5]
        yield TextPart(0, whole)
        usage = Usage(input_tokens=self._system.scales.prompt(prompt))
        yield Finish("length" if answer.outcome == "cut" else "stop", usage)


KINDS = {"decision": "decision", "constraint": "constraint", "pending": "question"}


def _proven(answer: Answer) -> str:
    """As JSON with a quote for each item."""
    items = [
        {"kind": KINDS.get(i.kind, "fact"), "text": i.text + answer.filler, "quote": i.quote}
        for i in answer.items
    ]
    return json.dumps({"items": items}, ensure_ascii=False) if items else ""


def _written(answer: Answer) -> str:
    """Under the headings that the request asks for."""
    parts: dict[str, list[str]] = {"Done": [], "Found": [], "Decided": [], "Next": []}
    place = {"artifact": "Done", "decision": "Decided", "pending": "Next"}
    for item in answer.items:
        parts[place.get(item.kind, "Found")].append(item.text + answer.filler)
    return "\n".join(f"{name}:\n" + "\n".join(lines) for name, lines in parts.items() if lines)


def prompt_of(request: ModelRequest) -> Prompt:
    """A request as the judge reads it."""
    tools = [
        {"name": t.name, "description": t.description, "parameters": t.parameters}
        for t in request.tools
    ]
    fixed = request.system + "\n" + json.dumps(tools)
    return Prompt(fixed, tuple(p for m in request.messages for p in _pieces(m)))


def _pieces(msg: Msg) -> list[Piece]:
    if results := msg.tool_results():
        return [Piece("tool", r.text(), call_id=r.id) for r in results]
    calls = tuple(Call(c.id, c.name, json.loads(c.input)) for c in msg.tool_calls())
    made = kind_of(msg) in ("pinned", "summary")
    role = "assistant" if msg.role == "assistant" else "user"
    return [Piece(role, msg.text(), calls, made=made)]


def _key(name: str, args: dict[str, Any]) -> str:
    return f"{name} {json.dumps(args, sort_keys=True)}"


class Ours(System):
    """Slipway."""

    name = "Slipway"
    conversation: SessionConversation

    def __init__(
        self, stream: Stream, window: int, scales: Scales, model: Summariser, folder: Path
    ) -> None:
        super().__init__(stream, window, scales, model, folder)
        self._results: dict[str, deque[Result]] = {}
        self._played = PlayedModel(self)
        self._tasks = Tasks(lambda name, error: self.errors.append(f"{name}: {error!r}"))
        self._turn: list[Agent] = []
        self._said: str | None = None
        self.failed_notes: dict[str, int] = {}
        self._patience = summary.TIMEOUT, summary.WAITS

    async def replay(self) -> None:
        """A turn at a time: what the person says, and all steps until they speak again."""
        summary.TIMEOUT = 0.05 if self.model.mode == "slow" else summary.TIMEOUT
        summary.WAITS = (0.0,) * len(summary.WAITS)  # as often as ever, but at once
        await self._open()
        await super().replay()

    async def person(self, event: Person) -> None:
        await self._play()
        self._said = event.text

    async def agent(self, event: Agent) -> None:
        self._turn.append(event)

    async def end(self) -> None:
        await self._play()

    async def close(self) -> None:
        summary.TIMEOUT, summary.WAITS = self._patience
        await self.conversation.close()
        await self._tasks.close()

    def archive(self) -> str:
        return texts_in(self.folder / ".slipway")

    async def _open(self) -> None:
        workspace = LocalWorkspace(self.folder, id="w", trusted=True)
        await workspace.initialize()
        real = {t.name: t for t in builtin_tools()}
        tools = [
            real[s["name"]] if s["name"] in OURS else PlayedTool(s, self._results)
            for s in self.tools
        ]
        journal = await MemoryJournalStore().create(KEY, {})
        setting = Setting(
            AgentSetting(name="Agent", prompt=PROMPT, max_iterations=10_000),
            workspace,
            lambda _: self._played,
            self._played.info.id,
            cast(Any, tools),
        )
        self.conversation = await SessionConversation.open(journal, setting, self._tasks)

    async def _play(self) -> None:
        if self._said is None:
            return
        for step in self._turn:
            for call, result in zip(step.calls, step.results, strict=True):
                self._results.setdefault(_key(call.name, call.args), deque()).append(result)
        self._played.next.extend(self._turn)
        said, self._said, self._turn = self._said, None, []
        stop = self.conversation.listen(self._note)  # at once, and not when the loop gets to it
        async with aclosing(cast(Any, self.conversation.send(said))) as run:
            async for _ in run:
                pass
        stop()
        while self.conversation.outbox.pending():
            await asyncio.sleep(0.001)

    def _note(self, event: ev.Event) -> None:
        if isinstance(event, ev.CompactionFinished):
            self.changed()
            for what, rule in event.record.rejected:
                if what == "summary":
                    self.failed_notes[rule] = self.failed_notes.get(rule, 0) + 1
        elif isinstance(event, ev.CompactionFailed):
            self.errors.append(f"compaction: {event.code} {event.params}")
        elif isinstance(event, ev.RunFinished) and event.reason != "completed":
            if event.code in ("context.over_window", "context.fixed_over_window"):
                self.counts.refused += 1
            self.errors.append(f"run: {event.reason} {event.code} {event.params}")
            self._played.next.clear()


class OursBlind(Ours):
    """Without the telling lines that shortened results keep: how much these are worth."""

    async def replay(self) -> None:
        whole = bounds.digest
        bounds.digest = lambda *_: []  # type: ignore[assignment]
        try:
            await super().replay()
        finally:
            bounds.digest = whole
