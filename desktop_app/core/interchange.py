"""AgentScope's events, made from ours and read into ours.

Their 28 kinds are an interchange format: who watches a run over a wire, or stores it as their
service does, gets them from here. What AgentScope leaves silent (compaction, offloads, notices)
goes out as ``CUSTOM`` with a ``slipway.`` name. Shapes as agentscope 2.0.11 wrote them
(``tests/data/samples/events.jsonl``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, Literal

from . import events as ev
from .errors import SessionError
from .ids import new_id, now_iso
from .messages import DataBlock, TextBlock, ToolResultBlock

OUT = frozenset({
    "REPLY_START", "REPLY_END", "MODEL_CALL_START", "MODEL_CALL_END",
    "TEXT_BLOCK_START", "TEXT_BLOCK_DELTA", "TEXT_BLOCK_END",
    "THINKING_BLOCK_START", "THINKING_BLOCK_DELTA", "THINKING_BLOCK_END",
    "DATA_BLOCK_START", "DATA_BLOCK_DELTA", "DATA_BLOCK_END", "HINT_BLOCK",
    "TOOL_CALL_START", "TOOL_CALL_DELTA", "TOOL_CALL_END",
    "TOOL_RESULT_START", "TOOL_RESULT_TEXT_DELTA", "TOOL_RESULT_DATA_DELTA", "TOOL_RESULT_END",
    "REQUIRE_USER_CONFIRM", "REQUIRE_EXTERNAL_EXECUTION", "EXCEED_MAX_ITERS", "CUSTOM",
})  # fmt: skip
IN = frozenset({"USER_CONFIRM_RESULT", "EXTERNAL_EXECUTION_RESULT", "USER_INTERRUPT"})
KINDS = OUT | IN

_FINISH = {
    "stop": "completed",
    "tool_calls": "completed",
    "length": "max_tokens",
    "window": "max_tokens",
}


@dataclasses.dataclass(slots=True)
class Answer:
    """An input event as our own verbs: for ``Conversation.decide``, ``answer``, ``interrupt``.
    ``calls`` maps a call's id to what was decided (True, False or the result's output)."""

    kind: Literal["confirm", "execution", "interrupt"]
    reply_id: str
    calls: dict[str, Any]
    arguments: dict[str, str] = dataclasses.field(default_factory=dict[str, str])
    rules: list[dict[str, Any]] = dataclasses.field(default_factory=list[dict[str, Any]])


def read(event: dict[str, Any]) -> Answer:
    """An input event of AgentScope. SessionError ``event.unknown`` for any other kind or shape."""
    kind, reply_id = event.get("type"), event.get("reply_id")
    if kind not in IN or not isinstance(reply_id, str):
        raise SessionError("event.unknown", kind=str(kind)[:60])
    try:
        if kind == "USER_INTERRUPT":
            return Answer("interrupt", reply_id, {})
        if kind == "EXTERNAL_EXECUTION_RESULT":
            results = [ToolResultBlock.model_validate(r) for r in event["execution_results"]]
            return Answer("execution", reply_id, {r.id: r for r in results})
        answer = Answer("confirm", reply_id, {})
        for result in event["confirm_results"]:
            call = result["tool_call"]
            answer.calls[call["id"]] = bool(result["confirmed"])
            answer.arguments[call["id"]] = str(call["input"])
            answer.rules.extend(result.get("rules") or ())
        return answer
    except (KeyError, TypeError, ValueError) as error:
        raise SessionError("event.unknown", kind=str(kind)) from error


class Writer:
    """Turns one session's events into AgentScope's, in order: ``feed`` gives none, one or several
    for each of ours. Block ends come when the model's call ends, as theirs do."""

    def __init__(self, session_id: str, name: str) -> None:
        self._session_id = session_id
        self._name = name
        self._open: dict[str, str] = {}  # block id -> TEXT or THINKING
        self._calls: dict[str, tuple[str, str]] = {}  # op id -> call id, name
        self._ended: set[str] = set()
        self._input: dict[str, str] = {}
        self._started: set[str] = set()
        self._reply = ""
        self._table: dict[type, Callable[[Any], Iterator[dict[str, Any]]]] = {
            ev.RunStarted: self._run_started,
            ev.RunFinished: self._run_finished,
            ev.ModelCallStarted: self._model_started,
            ev.ModelCallFinished: self._model_finished,
            ev.TextDelta: lambda e: self._delta(e, "TEXT"),
            ev.ThinkingDelta: lambda e: self._delta(e, "THINKING"),
            ev.ToolCallStarted: self._call_started,
            ev.ToolCallDelta: self._call_delta,
            ev.ToolCallReady: self._call_ready,
            ev.ToolStarted: self._tool_started,
            ev.ToolFinished: self._tool_finished,
            ev.ApprovalRequested: self._approval,
            ev.QuestionAsked: self._question,
            ev.TasksChanged: lambda e: self._custom("state_updated", {"tasks": e.tasks}),
            ev.CompactionStarted: lambda e: self._ours("compaction_started", e),
            ev.CompactionFailed: lambda e: self._ours("compaction_failed", e),
            ev.CompactionFinished: self._compacted,
            ev.CompactionUndone: lambda e: self._ours("compaction_undone", e),
            ev.CompactionMeasured: lambda e: self._ours("compaction_measured", e),
            ev.PinChanged: lambda e: self._ours("pin_changed", e),
            ev.Offloaded: lambda e: self._ours("offloaded", e),
            ev.Notice: lambda e: self._ours("notice", e),
        }

    def feed(self, event: ev.Event) -> list[dict[str, Any]]:
        handler = self._table.get(type(event))
        return list(handler(event)) if handler is not None else []

    def _make(self, kind: str, **fields: Any) -> dict[str, Any]:
        head: dict[str, Any] = {
            "id": new_id(),
            "created_at": now_iso(),
            "metadata": {},
            "type": kind,
        }
        if kind == "CUSTOM":
            return {**head, **fields}
        first = {"session_id": self._session_id} if kind in ("REPLY_START", "REPLY_END") else {}
        return {**head, **first, "reply_id": self._reply, **fields}

    def _custom(self, name: str, value: Any) -> Iterator[dict[str, Any]]:
        yield self._make("CUSTOM", name=name, value=value)

    def _ours(self, name: str, event: Any) -> Iterator[dict[str, Any]]:
        return self._custom(f"slipway.{name}", dataclasses.asdict(event))

    def _compacted(self, event: ev.CompactionFinished) -> Iterator[dict[str, Any]]:
        r = event.record
        value = {"gen": r.gen, "trigger": r.trigger, "before": r.before, "after": r.after}
        return self._custom("slipway.compaction_finished", value)

    def _run_started(self, event: ev.RunStarted) -> Iterator[dict[str, Any]]:
        self._reply = event.reply_id
        if not event.resumed:
            yield self._make("REPLY_START", name=self._name, role="assistant")

    def _run_finished(self, event: ev.RunFinished) -> Iterator[dict[str, Any]]:
        yield from self._close()
        if event.reason == "exceed_max_iters":
            yield self._make("EXCEED_MAX_ITERS", name=self._name)
        error = {"type": event.code, "message": event.code} if event.code else None
        yield self._make("REPLY_END", finished_reason=event.reason, error=error)

    def _model_started(self, event: ev.ModelCallStarted) -> Iterator[dict[str, Any]]:
        yield self._make("MODEL_CALL_START", model_name=event.model)

    def _model_finished(self, event: ev.ModelCallFinished) -> Iterator[dict[str, Any]]:
        yield from self._close()
        usage = event.usage
        yield self._make(
            "MODEL_CALL_END",
            input_tokens=usage.input_tokens if usage else 0,
            output_tokens=usage.output_tokens if usage else 0,
            cache_input_tokens=usage.cache_input_tokens if usage else 0,
            cache_creation_input_tokens=usage.cache_creation_input_tokens if usage else 0,
            finished_reason=_FINISH.get(event.reason, event.reason),
        )

    def _close(self) -> Iterator[dict[str, Any]]:
        for block_id, kind in self._open.items():
            text = {"text": None} if kind == "TEXT" else {}
            yield self._make(f"{kind}_BLOCK_END", block_id=block_id, **text)
        self._open.clear()
        for op_id, (call_id, _name) in self._calls.items():
            if op_id not in self._ended:
                self._ended.add(op_id)
                yield self._make("TOOL_CALL_END", tool_call_id=call_id)

    def _delta(self, event: Any, kind: str) -> Iterator[dict[str, Any]]:
        if event.block_id not in self._open:
            self._open[event.block_id] = kind
            yield self._make(f"{kind}_BLOCK_START", block_id=event.block_id)
        yield self._make(f"{kind}_BLOCK_DELTA", block_id=event.block_id, delta=event.text)

    def _call_started(self, event: ev.ToolCallStarted) -> Iterator[dict[str, Any]]:
        self._calls[event.op_id] = (event.call_id, event.name)
        yield self._make("TOOL_CALL_START", tool_call_id=event.call_id, tool_call_name=event.name)

    def _call_delta(self, event: ev.ToolCallDelta) -> Iterator[dict[str, Any]]:
        call_id, _ = self._calls[event.op_id]
        yield self._make("TOOL_CALL_DELTA", tool_call_id=call_id, delta=event.arguments)

    def _call_ready(self, event: ev.ToolCallReady) -> Iterator[dict[str, Any]]:
        self._calls[event.op_id] = (event.call_id, event.name)
        self._input[event.op_id] = event.arguments
        yield from ()

    def _result_start(self, op_id: str, name: str = "") -> Iterator[dict[str, Any]]:
        if op_id not in self._started:
            self._started.add(op_id)
            call_id, known = self._calls.get(op_id, (op_id, name))
            yield self._make("TOOL_RESULT_START", tool_call_id=call_id, tool_call_name=known)

    def _tool_started(self, event: ev.ToolStarted) -> Iterator[dict[str, Any]]:
        return self._result_start(event.op_id)

    def _tool_finished(self, event: ev.ToolFinished) -> Iterator[dict[str, Any]]:
        yield from self._result_start(event.op_id, event.result.name)
        call_id = event.result.id
        output = event.result.output
        blocks = [TextBlock(text=output)] if isinstance(output, str) else output
        for block in blocks:
            if isinstance(block, DataBlock):
                source = block.source.model_dump(exclude={"type"})
                yield self._make(
                    "TOOL_RESULT_DATA_DELTA", tool_call_id=call_id, block_id=block.id, **source
                )
            else:
                yield self._make("TOOL_RESULT_TEXT_DELTA", tool_call_id=call_id, delta=block.text)
        end = self._make("TOOL_RESULT_END", tool_call_id=call_id, state=event.state)
        end["metadata"] = {k: v for k, v in event.result.metadata.items() if k != "slipway"}
        yield end

    def _call_block(self, op_id: str, state: str, rule: dict[str, Any] | None) -> dict[str, Any]:
        call_id, name = self._calls.get(op_id, (op_id, ""))
        return {
            "type": "tool_call",
            "id": call_id,
            "name": name,
            "input": self._input.get(op_id, "{}"),
            "state": state,
            "suggested_rules": [rule] if rule else [],
            "created_at": now_iso(),
            "finished_at": None,
        }

    def _approval(self, event: ev.ApprovalRequested) -> Iterator[dict[str, Any]]:
        a = event.approval
        self._calls.setdefault(a.op_id, (a.call_id, a.name))
        call = self._call_block(a.op_id, "asking", a.rule)
        yield self._make("REQUIRE_USER_CONFIRM", tool_calls=[call])

    def _question(self, event: ev.QuestionAsked) -> Iterator[dict[str, Any]]:
        yield from self._result_start(event.op_id)
        call = self._call_block(event.op_id, "submitted", None)
        yield self._make("REQUIRE_EXTERNAL_EXECUTION", tool_calls=[call])
