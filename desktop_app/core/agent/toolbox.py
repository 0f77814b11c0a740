"""The tools of one session: schemas for the model, planning and running of calls."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Protocol, TypeGuard, cast

from desktop_app.core.errors import SlipwayError, ToolFailure
from desktop_app.core.events import Approval, Effect, ToolCallReady
from desktop_app.core.messages import ToolCallBlock
from desktop_app.core.tools.base import ExternalTool, Tool, ToolContext, ToolOutcome, Verdict
from desktop_app.core.tools.plain import PlainTool

from .assembly import parse_arguments
from .finding import op_of
from .groups import AnyTool, ToolGroups
from .permissions import Decided, Permissions

log = logging.getLogger(__name__)

Fate = Literal["run", "ask", "external", "answered"]
MakeContext = Callable[[str], ToolContext]


class Waits(Protocol):
    """Where tools come from that may be late: MCP servers."""

    def owner(self, tool: str) -> str | None:
        """The server that a tool of this name would be of."""
        ...

    async def bring(
        self, tool: str, server: str, told: Callable[[str], None]
    ) -> ToolFailure | None:
        """Wait a bounded time for it, and tell so; None when the tool is there then, else why
        not."""
        ...


@dataclass(slots=True)
class Planned:
    """One call and what is to become of it. ``answered`` calls have their outcome already: a
    refusal, an unknown tool, arguments that are no JSON."""

    call: ToolCallBlock
    op_id: str
    args: dict[str, Any]
    fate: Fate
    effect: Effect = "unsafe"
    outcome: ToolOutcome | None = None
    by: Literal["person", "rule", "mode"] = "mode"
    verdict: Verdict | None = None
    tool: Tool | None = None  # that looked at it

    @property
    def args_sha(self) -> str:
        return hashlib.sha256(self.call.input.encode("utf-8", "surrogatepass")).hexdigest()


UNCERTAIN = (
    "The connection broke while this call ran, so its outcome is unknown: it may have done all of "
    "its work, some of it or none. Check before you repeat it."
)


def failed(message: str, code: str, **params: Any) -> ToolOutcome:
    """An error outcome that the model reads; ``code`` is for the window."""
    return ToolOutcome(message, "error", metadata={"slipway": {"code": code, "params": params}})


# The way to where it ran broke while it ran: nobody knows what it had done by then.
_BROKE = ("backend.unreachable", "mcp.died", "mcp.taken")


def _uncertain(outcome: ToolOutcome) -> ToolOutcome:
    """A failure of which it is not known whether it is one: told so, and kept as unknown."""
    part: dict[str, Any] = outcome.metadata.get("slipway") or {}
    if part.get("code") not in _BROKE:
        return outcome
    text = f"{outcome.text}\n<system-reminder>{UNCERTAIN}</system-reminder>"
    metadata = {**outcome.metadata, "slipway": {**part, "unknown": True}}
    return replace(outcome, text=text, metadata=metadata)


def internal(tool: AnyTool | None) -> TypeGuard[Tool]:
    """Whether we run it (else a person answers it)."""
    return tool is not None and not getattr(tool, "external", False)


def effect_of(tool: Tool, args: dict[str, Any]) -> Effect:
    """What a call may do; the worst where the tool cannot say."""
    try:
        return tool.effect(args)
    except Exception:  # noqa: BLE001 - arguments come from a model: anything may be wrong
        return "unsafe"


@dataclass(frozen=True, slots=True)
class _Begun:
    """A call that was looked at before it is planned, its arguments as text and parsed."""

    context: ToolContext
    text: str
    args: dict[str, Any]


class Toolbox:
    """The tools that the model has now. ``context(op_id)`` makes what a tool may use; ``late`` has
    those that may not be there yet."""

    def __init__(self, groups: ToolGroups, context: MakeContext, late: Waits | None = None) -> None:
        self.groups = groups
        self._context = context
        self._begun: dict[str, _Begun] = {}  # by operation
        self._late = late
        self._absent: dict[str, ToolFailure | None] = {}  # what came of waiting for tools
        self._asked: dict[str, Approval] = {}  # what the person decided on, by operation

    @property
    def tools(self) -> dict[str, AnyTool]:
        """By name; what there is may change between two steps of a turn."""
        return self.groups.tools()

    def effect(self, name: str, args: dict[str, Any] | None) -> Effect:
        tool = self.tools.get(name)
        return effect_of(tool, args) if internal(tool) and args is not None else "read"

    def look_ahead(self, calls: Sequence[ToolCallReady], permissions: Permissions) -> None:
        """Begin what calls that only read will wait for, while something else is waited for: those
        before the first that does more, and only where no rule could object."""
        self._begun.clear()
        for call in calls:
            tool, args = self.tools.get(call.name), call.parsed
            if args is None or not isinstance(tool, PlainTool) or call.effect != "read":
                return
            if not permissions.rules_on(call.name):
                context = self._context(call.op_id)
                context.ahead = tool.ahead(args, context)
                if context.ahead is not None:
                    self._begun[call.op_id] = _Begun(context, call.arguments, args)

    def looking(self, calls: Sequence[ToolCallReady]) -> bool:
        """Whether all of ``calls`` do nothing but read what is being looked at already."""
        return bool(calls) and len(self._begun) == len(calls)

    def forget(self) -> None:
        """What was looked at ahead may have changed since."""
        self._begun.clear()

    def _with_ahead(self, op_id: str) -> ToolContext:
        begun = self._begun.get(op_id)
        return begun.context if begun is not None else self._context(op_id)

    def _arguments(self, op_id: str, text: str) -> dict[str, Any] | None:
        begun = self._begun.get(op_id)
        if begun is not None and begun.text == text:
            return begun.args
        return parse_arguments(text)

    async def bring(self, calls: Sequence[ToolCallBlock]) -> None:
        """Before a step's calls are planned: wait a bounded time, once for all of them, for the
        servers of tools that are not there, which a model knows from an earlier turn."""
        self._absent.clear()
        waits: dict[str, Coroutine[Any, Any, ToolFailure | None]] = {}
        for call in calls:
            name = call.name
            if self._late is None or op_of(call) in self._begun:
                continue
            if name in self.tools or self.groups.group_of(name) is not None:
                continue
            if name not in waits and (server := self._late.owner(name)) is not None:
                told = partial(self._context(op_of(call)).emit, "progress")
                waits[name] = self._late.bring(name, server, told)
        if waits:
            self._absent.update(zip(waits, await asyncio.gather(*waits.values()), strict=True))

    async def plan(
        self, call: ToolCallBlock, permissions: Permissions, *, approved: bool = False
    ) -> Planned:
        """Decide what becomes of a call. Never raises for what a model wrote."""
        op_id = op_of(call)
        args = self._arguments(op_id, call.input)
        if args is None:
            text = (
                "The arguments of this call are not a JSON object (cut short?): "
                f"{call.input[:200]!r}. Send the whole call again."
            )
            return self._answered(call, {}, failed(text, "tool.bad_json", name=call.name))
        tool = self.tools.get(call.name)
        if tool is None and (absent := self._absent.get(call.name)) is not None:
            return self._answered(call, args, self._failure(absent))
        if tool is None:
            text = f"There is no tool named {call.name!r}. Tools: {', '.join(self.tools)}."
            if (group := self.groups.group_of(call.name)) is not None:
                text = f"The group {group!r} of this tool is off; reset_tools switches it on."
            elif self.groups.is_off(call.name):
                text = f"The person switched {call.name} off in this session."
            return self._answered(call, args, failed(text, "tool.unknown", name=call.name))
        if not internal(tool):
            try:
                cast(ExternalTool, tool).validate(args)
            except ToolFailure as error:
                return self._answered(call, args, self._failure(error))
            return Planned(call, op_id, args, "external", "read")
        try:
            verdict = await tool.check(args, self._with_ahead(op_id))
        except ToolFailure as error:
            return self._answered(call, args, self._failure(error))
        except SlipwayError as error:
            return self._answered(call, args, failed(str(error), error.code, **error.params))
        except Exception as error:
            log.exception("tool %s failed while checking", call.name)
            return self._answered(call, args, self._crash(call.name, error))
        effect = effect_of(tool, args)
        if approved and not self._another(op_id, args, verdict):
            return Planned(call, op_id, args, "run", effect, None, "person", verdict, tool)
        decided: Decided = permissions.decide(tool.name, args, verdict, effect=effect)
        if decided.behavior == "deny":
            text = (
                f"Not allowed ({decided.by}): this call was refused without asking the person. "
                "Do not try it another way; say what you would need."
            )
            outcome = ToolOutcome(text, "denied")
            return Planned(call, op_id, args, "answered", effect, outcome, decided.by)
        fate: Fate = "run" if decided.behavior == "allow" else "ask"
        return Planned(call, op_id, args, fate, effect, None, decided.by, verdict, tool)

    def decided(self, approvals: Iterable[Approval]) -> None:
        """What the person was shown of calls that they have just decided on."""
        self._asked = {approval.op_id: approval for approval in approvals}

    def _another(self, planned_for: str, args: dict[str, Any], verdict: Verdict) -> bool:
        """Whether a call that the person allowed would do something else now: a link leads
        elsewhere than it did when they were asked. What they edited themselves is theirs."""
        seen = self._asked.get(planned_for)
        if seen is None or seen.arguments != args:
            return False
        return not _reasons(verdict.reasons) <= _reasons(seen.reasons)

    def _answered(self, call: ToolCallBlock, args: dict[str, Any], outcome: ToolOutcome) -> Planned:
        return Planned(call, op_of(call), args, "answered", "read", outcome)

    @staticmethod
    def _failure(error: ToolFailure) -> ToolOutcome:
        return failed(error.message, error.code, **error.params)

    @staticmethod
    def _crash(name: str, error: BaseException) -> ToolOutcome:
        text = f"The tool {name} failed unexpectedly: {type(error).__name__}: {error}"
        return failed(text, "tool.crashed", name=name, error=type(error).__name__)

    async def approval(
        self, planned: Planned, permissions: Permissions, past: Sequence[dict[str, Any]]
    ) -> Approval:
        """What the person is asked for a call whose fate is ``ask``."""
        tool = self.tools.get(planned.call.name)
        try:
            preview: dict[str, Any] = {}
            if internal(tool):
                preview = await tool.preview(planned.args, self._context(planned.op_id))
        except (SlipwayError, OSError, ValueError) as error:
            preview = {"error": str(error)}
        verdict = planned.verdict or Verdict("ask")
        rule = verdict.rule
        hits = permissions.count(rule, past) if rule else 0
        return Approval(
            planned.op_id,
            planned.call.id,
            planned.call.name,
            planned.args,
            preview,
            verdict.reasons,
            rule,
            (hits, len(past)),
        )

    def concurrent(self, planned: Planned) -> bool:
        """Whether this call may run beside its neighbours."""
        if planned.fate == "answered":
            return True
        return planned.tool is not None and planned.tool.concurrency_safe(planned.args)

    def harmless(self, planned: Planned) -> bool:
        """Whether a restart may do the call again as if it had never begun: one of our own tools,
        which only reads, and which nobody was asked about. Its beginning need not be on disk."""
        ours = isinstance(planned.tool, PlainTool)
        return ours and planned.effect == "read" and planned.by != "person"

    async def run(self, planned: Planned) -> tuple[ToolOutcome, float]:
        """Run one call; failures become outcomes, cancellation passes through. Seconds returned."""
        started = time.monotonic()
        if planned.outcome is not None:
            return planned.outcome, 0.0
        tool = self.tools.get(planned.call.name)
        if not internal(tool):
            text = f"The tool {planned.call.name} is gone: its server ended."
            return failed(text, "tool.unknown", name=planned.call.name), 0.0
        if planned.effect != "read":
            self.forget()
        try:
            outcome = await tool.run(planned.args, self._with_ahead(planned.op_id))
        except ToolFailure as error:
            outcome = self._failure(error)
        except SlipwayError as error:
            outcome = failed(str(error), error.code, **error.params)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            log.exception("tool %s crashed", planned.call.name)
            outcome = self._crash(planned.call.name, error)
        if outcome.state == "error" and planned.effect not in ("read", "idempotent"):
            outcome = _uncertain(outcome)
        return outcome, time.monotonic() - started


def _reasons(reasons: Iterable[tuple[str, dict[str, Any]]]) -> set[tuple[str, str]]:
    """Codes with the path that they speak of."""
    return {(code, str(params.get("path", ""))) for code, params in reasons}


def approval_body(approval: Approval) -> dict[str, Any]:
    """An approval as the journal keeps it."""
    return {
        "op_id": approval.op_id,
        "call_id": approval.call_id,
        "name": approval.name,
        "arguments": approval.arguments,
        "preview": approval.preview,
        "reasons": [[code, params] for code, params in approval.reasons],
        "rule": approval.rule,
        "rule_matches": list(approval.rule_matches),
    }


def approval_from(body: dict[str, Any]) -> Approval:
    """The inverse of ``approval_body``."""
    hits, of = body.get("rule_matches") or (0, 0)
    return Approval(
        body["op_id"],
        body["call_id"],
        body["name"],
        body["arguments"],
        body["preview"],
        tuple((code, params) for code, params in body.get("reasons") or ()),
        body.get("rule"),
        (int(hits), int(of)),
    )


def arguments_text(args: dict[str, Any]) -> str:
    """Arguments as the JSON text of a call."""
    return json.dumps(args, ensure_ascii=False)
