"""A conversation that plays scripts through the same protocol as the real one.

A turn is a list of steps: events, a ``Gate`` (waits until the test opens it), ``Park`` (the run
waits for the person; what follows is played by ``decide`` or ``answer``), or an exception to raise.
Everything played is also recorded as the journal would have it, so that ``history`` tells the same
story as the events did.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from desktop_app.core import events as ev
from desktop_app.core.agent.base import (
    Attachment,
    Branch,
    Decision,
    History,
    HistoryEntry,
    Pending,
    Question,
    Spent,
)
from desktop_app.core.agent.detail import CompactionDetail
from desktop_app.core.agent.offloads import Offload
from desktop_app.core.agent.permissions import Permissions
from desktop_app.core.agent.policy import Policy
from desktop_app.core.agent.request_shapes import Answered, Request
from desktop_app.core.context.compaction import Proposal
from desktop_app.core.context.figures import Forecast
from desktop_app.core.context.types import (
    Breakdown,
    Category,
    Choices,
    CompactionRecord,
    Item,
    LedgerItem,
    Limits,
)
from desktop_app.core.errors import SessionError
from desktop_app.core.ids import now_us
from desktop_app.core.messages import Msg, ToolResultBlock
from desktop_app.core.models.base import Effort
from desktop_app.core.sessions.base import SessionKey
from desktop_app.core.state import AgentState, Mode, PermissionContext
from desktop_app.core.tools.background import Command, Ending


@dataclass(slots=True)
class Gate:
    """The run stands still here until ``open`` is called."""

    event: asyncio.Event = field(default_factory=asyncio.Event)
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    def open(self) -> None:
        self.event.set()


@dataclass(frozen=True, slots=True)
class Park:
    """The run waits for the person here."""


Step = ev.Event | Gate | Park | Exception


def text(reply: str, block: str, *pieces: str) -> list[Step]:
    """A streamed text block."""
    deltas: list[Step] = [ev.TextDelta(reply, block, piece) for piece in pieces]
    return [*deltas, ev.BlockFinished(reply, block)]


def thinking(reply: str, block: str, *pieces: str) -> list[Step]:
    deltas: list[Step] = [ev.ThinkingDelta(reply, block, piece) for piece in pieces]
    return [*deltas, ev.BlockFinished(reply, block)]


def model_call(reply: str, *blocks: list[Step], model: str = "glm-4.6", n: int = 1) -> list[Step]:
    """One model call around the steps of its blocks."""
    return [
        ev.ModelCallStarted(reply, model, 1200, n),
        *[step for block in blocks for step in block],
        ev.ModelCallFinished(reply, None, 1.0, "stop"),
    ]


def call(reply: str, op: str, name: str, args: dict[str, Any] | str) -> list[Step]:
    """A tool call as the model makes it: begun, streamed, whole."""
    raw = args if isinstance(args, str) else json.dumps(args)
    try:
        parsed = json.loads(raw)
    except ValueError:
        parsed = None
    middle = len(raw) // 2
    return [
        ev.ToolCallStarted(reply, op, f"call-{op}", name),
        ev.ToolCallDelta(reply, op, raw[:middle]),
        ev.ToolCallDelta(reply, op, raw[middle:]),
        ev.ToolCallReady(reply, op, f"call-{op}", name, raw, parsed, "read"),
    ]


def result(
    reply: str,
    op: str,
    name: str,
    output: str = "",
    *,
    state: Any = "success",
    seconds: float = 0.4,
    live: Sequence[str] = (),
    offloaded: str | None = None,
    whole_bytes: int = 0,
    **ours: Any,
) -> list[Step]:
    """A tool's run: started, live output, finished. ``ours`` is its ``slipway`` metadata."""
    block = ToolResultBlock(
        id=f"call-{op}",
        name=name,
        output=output,
        state=state,
        metadata={"slipway": ours} if ours else {},
    )
    return [
        ev.ToolStarted(reply, op),
        *[ev.ToolOutput(reply, op, "stdout", piece) for piece in live],
        ev.ToolFinished(reply, op, state, block, seconds, offloaded, whole_bytes),
    ]


def approval(op: str, name: str, args: dict[str, Any], **fields: Any) -> ev.Approval:
    preview = fields.pop("preview", {"command": args.get("command", "")})
    return ev.Approval(op, f"call-{op}", name, args, preview, **fields)


def breakdown(total: int = 86_100, window: int = 200_000, **fields: Any) -> Breakdown:
    """A breakdown with plausible parts that add up to ``total``."""
    weights: dict[Category, int] = {
        "system": 32,
        "tools": 64,
        "mcp": 128,
        "skills": 21,
        "ledger": 82,
        "user": 19,
        "assistant": 96,
        "thinking": 67,
        "result": 304,
        "images": 48,
    }
    whole = sum(weights.values())
    parts = {name: total * weight // whole for name, weight in weights.items()}
    parts["result"] += total - sum(parts.values())
    items = tuple(fields.pop("items", ()))
    if "rest" not in fields:
        left = {name: n - sum(i.tokens for i in items if i.category == name)
                for name, n in parts.items()}  # fmt: skip
        fields["rest"] = tuple(
            Item(name, "", n, f"{name}/", True, name, 2) for name, n in left.items() if n > 0
        )
    if (turns := fields.pop("turns_left", None)) is not None:
        fields["forecast"] = Forecast(turns, 9_000, 4)
    fields.setdefault("upper", total + total // 20)
    fields.setdefault("measured", max(0, total - 1200))
    return Breakdown(total=total, limits=Limits(window, 16_000), parts=parts, items=items, **fields)


def item(category: Category, label: str, tokens: int, ref: str, *, measured: bool = True) -> Item:
    server = label.partition(": ")[0]
    group = f"mcp:{server}" if category == "mcp" else category
    return Item(category, label, tokens, ref, measured, group)


def compaction(
    gen: int, before: int = 162_000, after: int = 39_000, **fields: Any
) -> CompactionRecord:
    values: dict[str, Any] = {
        "gen": gen,
        "id": f"c-{gen}",
        "trigger": "alert",
        "summary": "## Task\nFind the regions.\n",
        "covered_ids": [f"m{i}" for i in range(61)],
        "covered_blocks": {},
        "kept_ids": [],
        "before": before,
        "after": after,
        "limits": {"window": 200_000},
        "summariser": "glm-4.6",
        "seconds": 8.0,
        "pinned": 5,
        "pending": 3,
        "ts_us": now_us(),
    }
    return CompactionRecord(**{**values, **fields})


class FakeConversation:
    """See the module. ``turns`` are played in order by ``send`` and ``go_on``."""

    def __init__(self, turns: Iterable[Iterable[Step]] = (), *, title: str = "Returns") -> None:
        self.key = SessionKey("me", "analyst", f"s-{title}")
        self.title = title
        self.writable = True
        self.why_readonly: tuple[str, dict[str, Any]] | None = None
        self.pending: Pending | None = None
        self.state = AgentState(session_id="s1")
        self.permissions = PermissionContext()
        self.effort: Effort | None = None
        self.own_policy: Policy | None = None
        self.kept: list[Offload] = []
        self.contents: dict[str, bytes] = {}
        self.turns: list[list[Step]] = [list(turn) for turn in turns]
        self.rest: list[Step] = []
        self.records: list[HistoryEntry] = []
        self.sent: list[tuple[str, tuple[Attachment, ...]]] = []
        self.decided: list[Decision] = []
        self.answered: list[dict[str, Any]] = []
        self.calls: list[str] = []
        self.closed_runs = 0
        self.draft_text = ""
        self.measure = breakdown()
        self.made: list[CompactionRecord] = []
        self.logged: list[CompactionRecord] = []  # undone and failed ones too
        self.undo_events: list[ev.Event] = []
        self.fail_next: Exception | None = None
        self.reply_id = ""
        self.resumable: str | None = None
        self.listeners: list[Callable[[ev.Event], None]] = []
        self.commands: dict[str, Command] = {}
        self.outputs: dict[str, str] = {}
        self.open_requests: list[Request] = []
        self.request_answers: list[tuple[str, Answered]] = []
        self._running = False
        self._stop = asyncio.Event()
        self._blocks: dict[str, dict[str, Any]] = {}
        self._ops: list[str] = []

    async def set_effort(self, effort: Effort | None) -> None:
        self.effort = effort

    async def set_policy(self, policy: Policy | None) -> None:
        self.own_policy = policy

    def policy(self) -> Policy:
        return self.own_policy or Policy()

    # -- records ----------------------------------------------------------------------------

    def record(self, kind: str, body: dict[str, Any]) -> None:
        """Write a record as the journal would."""
        raw = json.dumps(body, default=str).encode()
        self.records.append(HistoryEntry(len(self.records) + 1, kind, now_us(), raw))

    def _flush_blocks(self) -> None:
        if self._blocks:
            body = {
                "reply_id": self.reply_id,
                "blocks": list(self._blocks.values()),
                "ops": list(self._ops),
                "model": self._model,
            }
            self.record("assistant.message", body)
        self._blocks, self._ops = {}, []

    _model = ""
    spent: Spent | None = None

    def _journal(self, event: ev.Event) -> None:
        match event:
            case ev.UserMessage(msg=msg):
                self.record("user.message", {"msg": msg.model_dump(), "reply_id": self.reply_id})
            case ev.ModelCallStarted(model=model):
                self._model = model
            case ev.TextDelta(block_id=block_id, text=piece):
                block = self._blocks.setdefault(
                    block_id, {"type": "text", "id": block_id, "text": ""}
                )
                block["text"] += piece
            case ev.ThinkingDelta(block_id=block_id, text=piece):
                block = self._blocks.setdefault(
                    block_id, {"type": "thinking", "id": block_id, "thinking": ""}
                )
                block["thinking"] += piece
            case ev.ToolCallReady():
                self._ops.append(event.op_id)
                self._blocks[event.op_id] = {
                    "type": "tool_call",
                    "id": event.call_id,
                    "name": event.name,
                    "input": event.arguments,
                }
            case ev.ModelCallFinished():
                self._flush_blocks()
            case ev.ApprovalDecided():
                self.record(
                    "approval.decided",
                    {
                        "reply_id": event.reply_id,
                        "op_id": event.op_id,
                        "allowed": event.allowed,
                        "by": event.by,
                    },
                )
            case ev.ToolFinished():
                self.record(
                    "tool.result",
                    {
                        "reply_id": event.reply_id,
                        "op_id": event.op_id,
                        "block": event.result.model_dump(),
                        "seconds": event.seconds,
                        "offload": event.offloaded,
                        "whole_bytes": event.whole_bytes,
                    },
                )
            case ev.RequestAsked(request=request):
                self.open_requests.append(request)
            case ev.RequestAnswered(body=body):
                self.record("request.answered", body)
            case ev.CompactionFinished(record=made):
                self.made.append(made)
                self.logged.append(made)
                self.record("compaction", asdict(made))
            case ev.CompactionUndone(gen=gen):
                self.made = [c for c in self.made if c.gen != gen]
                undone = [replace(c, status="undone") if c.gen == gen else c for c in self.logged]
                self.logged = undone
                self.record("compaction.undone", {"gen": gen})
            case ev.RunFinished():
                self._flush_blocks()
                self.record(
                    "turn.finished",
                    {
                        "reply_id": event.reply_id,
                        "reason": event.reason,
                        "code": event.code,
                        "params": event.params,
                    },
                )
            case _:
                pass

    @property
    def requests(self) -> tuple[Request, ...]:
        return tuple(self.open_requests)

    def answer_request(self, request_id: str, answer: Answered) -> None:
        self.open_requests = [r for r in self.open_requests if r.id != request_id]
        self.request_answers.append((request_id, answer))

    # -- playing ----------------------------------------------------------------------------

    @property
    def asked(self) -> frozenset[str]:
        pending = self.pending
        if pending is None:
            return frozenset()
        return frozenset(a.op_id for a in (*pending.approvals, *pending.questions))

    @property
    def activity(self) -> Any:
        if self._running:
            return "running"
        return "parked" if self.pending is not None else "idle"

    async def _play(self, steps: list[Step]) -> AsyncGenerator[ev.Event, None]:
        if self.fail_next is not None:
            error, self.fail_next = self.fail_next, None
            raise error
        self._running = True
        self._stop.clear()
        asked: list[ev.Approval] = []
        questions: list[Question] = []
        try:
            for i, step in enumerate(steps):
                if isinstance(step, Gate):
                    step.reached.set()
                    await self._wait(step)
                    if self._stop.is_set():
                        finished = ev.RunFinished(self.reply_id, "interrupted")
                        self._journal(finished)
                        self._running = False
                        yield finished
                        return
                elif isinstance(step, Park):
                    self.rest = steps[i + 1 :]
                    self.pending = Pending(self.reply_id, tuple(asked), tuple(questions))
                    ops = tuple([a.op_id for a in asked] + [q.op_id for q in questions])
                    yield ev.RunParked(self.reply_id, ops)
                    return
                elif isinstance(step, Exception):
                    raise step
                else:
                    if isinstance(step, ev.RunStarted):
                        self.reply_id = step.reply_id
                    if isinstance(step, ev.ApprovalRequested):
                        asked.append(step.approval)
                    if isinstance(step, ev.QuestionAsked):
                        questions.append(Question(step.op_id, step.questions))
                    if isinstance(step, ev.ContextChanged | ev.CompactionOffered):
                        self.measure = step.breakdown
                    self._journal(step)
                    if isinstance(step, ev.RunFinished):
                        self._running = False
                    yield step
        finally:
            self._running = False
            self.closed_runs += 1

    async def _wait(self, gate: Gate) -> None:
        waits = [asyncio.ensure_future(w.wait()) for w in (gate.event, self._stop)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def send(
        self, text: str, attachments: Sequence[Attachment] = ()
    ) -> AsyncGenerator[ev.Event, None]:
        self.sent.append((text, tuple(attachments)))
        n = len(self.sent)
        steps = self.turns.pop(0) if self.turns else answer(f"r{n}", f"Answer {n}.")
        started = next((s for s in steps if isinstance(s, ev.RunStarted)), None)
        self.reply_id = started.reply_id if started else f"r{n}"
        head: list[Step] = [] if started else [ev.RunStarted(self.reply_id)]
        msg = Msg.user(text)
        msg.id = f"m{n}"
        at = 1 if started else 0
        user: list[Step] = [ev.UserMessage(msg)]
        return self._play([*head, *steps[:at], *user, *steps[at:]])

    async def decide(
        self, reply_id: str, decisions: Sequence[Decision]
    ) -> AsyncGenerator[ev.Event, None]:
        assert self.pending is not None
        assert reply_id == self.pending.reply_id
        self.decided.extend(decisions)
        done = {d.op_id for d in decisions}
        left = tuple(a for a in self.pending.approvals if a.op_id not in done)
        said: list[Step] = [
            ev.ApprovalDecided(reply_id, d.op_id, d.allowed, "person") for d in decisions
        ]
        if left:
            self.pending = Pending(reply_id, left, self.pending.questions)
            for step in said:
                assert not isinstance(step, Gate | Park | Exception)
                self._journal(step)
                yield step
            yield ev.RunParked(reply_id, tuple(a.op_id for a in left))
            return
        rest, self.rest, self.pending = self.rest, [], None
        async for event in self._play([ev.RunStarted(reply_id, resumed=True), *said, *rest]):
            yield event

    async def answer(
        self, reply_id: str, op_id: str, answer: dict[str, Any]
    ) -> AsyncGenerator[ev.Event, None]:
        assert self.pending is not None
        self.answered.append(answer)
        rest, self.rest, self.pending = self.rest, [], None
        async for event in self._play([ev.RunStarted(reply_id, resumed=True), *rest]):
            yield event

    async def interrupt(self, reply_id: str) -> AsyncGenerator[ev.Event, None]:
        self.calls.append("interrupt")
        self.rest, self.pending = [], None
        async for event in self._play([ev.RunFinished(reply_id, "interrupted")]):
            yield event

    def go_on(self) -> AsyncGenerator[ev.Event, None]:
        self.calls.append("go_on")
        steps = self.turns.pop(0) if self.turns else answer(self.reply_id, "Going on.", "again")
        return self._play([ev.RunStarted(self.reply_id, resumed=True), *steps])

    async def stop(self) -> None:
        self.calls.append("stop")
        self._stop.set()

    # -- the rest ---------------------------------------------------------------------------

    async def history(self, *, before: int | None = None, limit: int | None = None) -> History:
        found = [r for r in self.records if before is None or r.seq < before]
        page = found if limit is None else found[-limit:]
        return History(page, len(page) == len(found))

    def draft(self) -> str:
        return self.draft_text

    def background(self) -> Sequence[Command]:
        return list(self.commands.values())

    async def stop_command(self, command_id: str) -> None:
        self.calls.append(f"stop {command_id}")
        command = self.commands[command_id]
        self.commands[command_id] = replace(command, ended=Ending("person", seconds=3.0))
        self.tell(ev.CommandChanged(self.commands[command_id]))

    async def command_output(self, command_id: str) -> str:
        return self.outputs.get(command_id, "")

    def begin(self, command: Command) -> None:
        """A background command is there."""
        self.commands[command.id] = command
        self.tell(ev.CommandChanged(command))

    async def breakdown(self) -> Breakdown:
        return self.measure

    async def compactions(self) -> list[CompactionRecord]:
        return list(self.made)

    def compact(self, *, notes: bool = True) -> AsyncGenerator[ev.Event, None]:
        self.calls.append("compact" if notes else "compact without notes")
        if self.compact_error is not None:
            return self._play([ev.CompactionStarted("manual", 100), self._fail()])
        made = compaction(len(self.made) + 1, trigger="manual")
        return self._play(
            [ev.CompactionStarted("manual", made.before), ev.CompactionFinished(made)]
        )

    def _fail(self) -> ev.Event:
        code, params = self.compact_error or ("", {})
        number = len(self.logged) + 1
        why: dict[str, Any] = {"status": "failed", "code": code, "params": params}
        why["trigger"] = "manual"
        self.logged.append(compaction(0, id=f"failed-{number}", summary="", **why))
        return ev.CompactionFailed("manual", code, params)

    async def undo_compaction(self) -> list[ev.Event]:
        self.calls.append("undo")
        if self.undo_error is not None:
            raise self.undo_error
        made: ev.Event = ev.CompactionUndone(self.made[-1].gen)
        self._journal(made)
        self.tell(made)
        return [made]

    # -- the context in a person's hands ------------------------------------------------------

    proposer: Callable[[Choices], Awaitable[Proposal]] | None = None
    drafted: Proposal | None = None
    ledger: tuple[LedgerItem, ...] = ()  # of every compaction
    compact_error: tuple[str, dict[str, Any]] | None = None
    undo_error: Exception | None = None
    fork: SessionKey | None = None

    async def propose_compaction(self, focus: str = "", choices: Choices | None = None) -> Proposal:
        assert self.proposer is not None
        self.calls.append("propose")
        return await self.proposer(choices or Choices(focus=focus))

    async def accept_compaction(
        self, proposal: Proposal, choices: Choices | None = None
    ) -> CompactionRecord:
        self.calls.append("accept")
        made = replace(proposal.record, id=f"c-{len(self.made) + 1}", gen=len(self.made) + 1)
        event = ev.CompactionFinished(made)
        self._journal(event)
        self.tell(event)
        return made

    async def compaction_log(self) -> list[CompactionRecord]:
        known = {c.id for c in self.logged}
        return [*(c for c in self.made if c.id not in known), *self.logged]

    async def compaction_detail(self, compaction_id: str) -> CompactionDetail:
        found = next((c for c in self.made if c.id == compaction_id), None)
        if found is None:
            raise SessionError("compaction.unknown", id=compaction_id)
        return CompactionDetail(
            found, summary_before="# Task\nold", summary_after=found.summary, items=self.ledger
        )

    def compact_again(self, focus: str) -> AsyncGenerator[ev.Event, None]:
        self.calls.append(f"again {focus}")
        gen = self.made[-1].gen
        made = compaction(gen + 1, trigger="manual")
        return self._play([ev.CompactionUndone(gen), ev.CompactionFinished(made)])

    async def branch(self, message_id: str, *, after: bool = False) -> Branch:
        self.calls.append(f"branch {'after' if after else 'before'} {message_id}")
        assert self.fork is not None
        return Branch(self.fork, "said before")

    async def fork_before_compaction(self, compaction_id: str) -> SessionKey:
        self.calls.append(f"fork {compaction_id}")
        assert self.fork is not None
        return self.fork

    async def pin(self, ref: str, pinned: bool = True) -> None:
        self.calls.append(f"{'pin' if pinned else 'unpin'} {ref}")
        self.tell(ev.PinChanged(ref, pinned))

    async def unpin(self, ref: str) -> None:
        await self.pin(ref, pinned=False)

    async def offloads(self) -> list[Offload]:
        return list(self.kept)

    async def offload_content(self, offload_id: str) -> bytes:
        if offload_id not in self.contents:
            raise SessionError("blob.missing", sha256="0" * 64)
        return self.contents[offload_id]

    async def offload_now(self, ref: str) -> CompactionRecord:
        self.calls.append(f"offload {ref}")
        return compaction(0)

    async def drop_image(self, ref: str) -> CompactionRecord:
        self.calls.append(f"image {ref}")
        return compaction(0)

    def cancel_draft(self) -> None:
        self.calls.append("cancel draft")

    def listen(self, listener: Callable[[ev.Event], None]) -> Callable[[], None]:
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def tell(self, event: ev.Event) -> None:
        """Something beside a run."""
        for listener in list(self.listeners):
            listener(event)

    async def set_mode(self, mode: Mode) -> None:
        self.permissions.mode = mode

    async def set_model(self, model_id: str) -> None:
        self.calls.append(f"model {model_id}")

    async def set_tool(self, name: str, on: bool) -> None:
        self.calls.append(f"tool {name} {'on' if on else 'off'}")

    async def recount(self) -> None:
        self.calls.append("recount")

    async def set_title(self, title: str) -> None:
        self.title = title
        self.tell(ev.TitleChanged(title))

    async def add_rule(self, rule: dict[str, Any]) -> None:
        self.calls.append("add_rule")
        Permissions(self.permissions).add(rule)

    async def remove_rule(self, rule: dict[str, Any]) -> None:
        self.calls.append("remove_rule")
        Permissions(self.permissions).remove(rule)

    async def close(self) -> None:
        self.calls.append("close")


def answer(reply: str, words: str, block: str = "") -> list[Step]:
    """The simplest turn: one model call with one text, finished."""
    return [
        *model_call(reply, text(reply, block or f"{reply}-t", words)),
        ev.RunFinished(reply, "completed"),
    ]
