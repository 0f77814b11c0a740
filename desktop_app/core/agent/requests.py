"""What MCP servers ask for while a call runs, and what the person answers.

A request stands beside the run: the call goes on waiting, and with it the turn. It is an event when
it comes, in ``pending`` while it is open, and two records: what was asked, what became of it. A
request ends with its call, its turn, or when its server takes it back. Rules for ``sampling:NAME``,
``form:NAME`` and ``visit:NAME`` may refuse it; one for sampling may allow it unseen.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from desktop_app.core import events as ev
from desktop_app.core.errors import ModelError, SessionError, SlipwayError
from desktop_app.core.ids import new_id
from desktop_app.core.mcp.asks import Ask, Form, Reply, Sampling, Visit
from desktop_app.core.messages import Usage
from desktop_app.core.models.base import CUT, ChatModel, Finish, ModelRequest, TextPart
from desktop_app.core.sessions.base import NewRecord
from desktop_app.core.state import PermissionContext
from desktop_app.core.tasks import Tasks
from desktop_app.core.tools.base import Verdict

from .closing import closing
from .log import SessionLog
from .permissions import Permissions
from .request_shapes import (
    KEPT,
    Answered,
    Request,
    asked,
    filled,
    measured,
    texts,
    who,
    wrong_value,
)

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Open:
    request: Request
    answer: asyncio.Future[Answered]


@dataclass(slots=True)
class _Outcome:
    """What became of a request, for the record and the transcript."""

    answer: Literal["accept", "decline", "cancel", "failed", "withdrawn"]
    by: Literal["person", "rule", "mode", "program"] = "person"
    extra: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(slots=True)
class _Sampled:
    """What a model said: its text up to a stop, why it ended, what it used, or how it failed."""

    text: str = ""
    stop: Literal["endTurn", "maxTokens", "stopSequence"] = "endTurn"
    usage: Usage | None = None
    failure: SlipwayError | None = None


class Requests:
    """The requests of one session. ``ask`` is what ``McpManager.ask`` calls."""

    def __init__(
        self,
        log: SessionLog,
        emit: Callable[[ev.Event], None],
        tasks: Tasks,
        model: Callable[[], ChatModel],
        permissions: Callable[[], PermissionContext],
        add_rule: Callable[[dict[str, Any]], Awaitable[None]],
    ) -> None:
        self._log = log
        self._emit = emit
        self._tasks = tasks
        self._model = model
        self._permissions = permissions
        self._add_rule = add_rule
        self._open: dict[str, _Open] = {}
        self._asking: set[asyncio.Task[Any]] = set()
        self._notes: set[asyncio.Task[Any]] = set()
        self._ended: set[str] = set()  # whose end is being noted

    @property
    def pending(self) -> tuple[Request, ...]:
        """What waits for the person, oldest first."""
        return tuple(o.request for o in self._open.values() if not o.answer.done())

    def answer(self, request_id: str, answer: Answered) -> None:
        """Answer a request. SessionError ``request.gone`` when it waits no more,
        ``request.bad_value`` (with the field and what is wrong) for a form that is not filled in
        right; then it goes on waiting."""
        waiting = self._open.get(request_id)
        if waiting is None or waiting.answer.done():
            raise SessionError("request.gone", id=request_id)
        what = waiting.request.what
        if isinstance(what, Form) and answer.action == "accept":
            wrong = wrong_value(what, answer.content)
            if wrong is not None:
                raise SessionError("request.bad_value", field=wrong[0], why=wrong[1])
        waiting.answer.set_result(answer)

    async def settle(self) -> None:
        """After a run: take back what is still asked, and wait until the journal knows."""
        for waiting in self._open.values():
            waiting.answer.cancel()
        for some in (self._asking, self._notes):
            if some:
                await asyncio.wait(set(some), timeout=5)

    # -- asked -------------------------------------------------------------------------------

    async def ask(self, ask: Ask) -> Reply:
        """Put a request to the person (or to a rule) and do what is allowed."""
        reply_id = self._log.now.open_reply or ""
        request = Request(new_id(), reply_id, ask.op_id, ask.server, ask.tool, ask.what)
        began = time.monotonic()
        task = asyncio.current_task()
        if task is not None:
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)
        try:
            return await self._ask(request, began)
        except asyncio.CancelledError:
            if request.id not in self._ended:
                self._note_later(request, _Outcome("withdrawn", "program"), began)
            raise
        finally:
            self._ended.discard(request.id)

    async def _ask(self, request: Request, began: float) -> Reply:
        what, model, decided = request.what, None, None
        if isinstance(what, Sampling):
            model, decided = self._sampler()
            if model is not None:
                request = await measured(request, what, model)
                decided = _too_long(request, what, model)
        record = NewRecord("request.asked", {**who(request), **asked(request)}, ignorable=True)
        await self._log.append(record, draft=None)
        decided = decided or self._by_rule(request)
        content: dict[str, Any] = {}
        if decided is None:
            answer = await self._put(request)
            decided = _Outcome(answer.action)
            if isinstance(what, Visit) and what.scopes:
                decided.extra["scopes"] = list(what.scopes)
            if isinstance(what, Form) and answer.action == "accept":
                content = filled(what, answer.content)
                decided.extra["filled"] = list(content)  # the names alone
            if isinstance(what, Sampling) and answer.action == "accept":
                if answer.edited is not None and answer.edited != what:
                    what = answer.edited
                    decided.extra["sent"] = texts(what)
                if answer.always:
                    await self._add_rule({"tool_name": request.rule})
        if decided.answer == "accept" and isinstance(what, Sampling) and model is not None:
            return await self._sample(request, what, model, decided, began)
        await self._note(request, decided, began)
        action = "cancel" if decided.answer == "withdrawn" else decided.answer
        return Reply(action, content=content, why=str(decided.extra.get("why", "")))

    async def _put(self, request: Request) -> Answered:
        future: asyncio.Future[Answered] = asyncio.get_running_loop().create_future()
        self._open[request.id] = _Open(request, future)
        self._emit(ev.RequestAsked(request.reply_id, request.op_id, request))
        try:
            return await future
        finally:
            del self._open[request.id]

    def _sampler(self) -> tuple[ChatModel | None, _Outcome | None]:
        """The session's model; or why it cannot be asked."""
        try:
            model = self._model()
        except ModelError as error:
            why = "The client has no model."
            return None, _Outcome("failed", "program", {"code": error.code, "why": why})
        if not model.info.is_ai:
            why = "The client's session has no AI model."
            return None, _Outcome("failed", "program", {"code": "request.no_model", "why": why})
        return model, None

    def _by_rule(self, request: Request) -> _Outcome | None:
        """What a rule or the mode says. Bypassing questions does not reach this: what a server has
        the model answer is paid for, what it has the person type leaves the computer. Only a rule
        for this server may allow sampling unseen; nothing answers a form for a person."""
        context = self._permissions()
        verdict = Verdict("ask", subjects=(request.rule,))
        decided = Permissions(context).decide(request.rule, {}, verdict, effect="read")
        if decided.behavior == "deny" and decided.by == "rule":
            return _Outcome("decline", "rule")
        if context.mode == "dont_ask":
            return _Outcome("decline" if request.kind == "sampling" else "cancel", "mode")
        allowed = decided.behavior == "allow" and decided.by == "rule"
        return _Outcome("accept", "rule") if allowed and request.kind == "sampling" else None

    # -- the model ---------------------------------------------------------------------------

    async def _sample(
        self, request: Request, what: Sampling, model: ChatModel, decided: _Outcome, began: float
    ) -> Reply:
        info = model.info
        said = await _said(what, model)
        decided.extra |= {"model": info.name, "text": said.text[:KEPT]}
        if said.usage is not None:
            decided.extra["usage"] = said.usage.model_dump()
            decided.extra["cost"] = info.price.cost(said.usage) if info.price is not None else None
        if said.failure is not None:
            decided.answer = "failed"
            decided.extra |= {"code": said.failure.code, "params": said.failure.params}
        await self._note(request, decided, began)
        if said.failure is not None:
            return Reply("failed", why=f"The model did not answer ({said.failure.code}).")
        return Reply("accept", text=said.text, model=info.name, stop=said.stop)

    # -- noting ------------------------------------------------------------------------------

    async def _note(self, request: Request, outcome: _Outcome, began: float) -> None:
        body = {
            **who(request),
            "answer": outcome.answer,
            "by": outcome.by,
            "seconds": round(time.monotonic() - began, 3),
            **outcome.extra,
        }
        self._ended.add(request.id)
        record = NewRecord("request.answered", body, ignorable=True)
        try:
            await self._log.append(record, draft=None, keep=True)
        finally:
            self._emit(ev.RequestAnswered(request.reply_id, request.op_id, body))

    def _note_later(self, request: Request, outcome: _Outcome, began: float) -> None:
        """Note something although the task that waited is being cancelled."""
        note = self._tasks.start(self._noted(request, outcome, began), name="note a request")
        self._notes.add(note)
        note.add_done_callback(self._notes.discard)

    async def _noted(self, request: Request, outcome: _Outcome, began: float) -> None:
        try:
            await self._note(request, outcome, began)
        except SlipwayError as error:
            logger.warning("a request's end could not be saved: %s", error)


async def _said(what: Sampling, model: ChatModel) -> _Sampled:
    """Have the model answer."""
    pieces: list[str] = []
    finish: Finish | None = None
    made = _Sampled()
    most = min(what.max_tokens, model.info.max_output)
    try:
        wanted = ModelRequest(what.system, what.messages, max_output=most)
        async with closing(model.stream(wanted)) as parts:
            async for part in parts:
                if isinstance(part, TextPart):
                    pieces.append(part.text)
                elif isinstance(part, Finish):
                    finish, made.usage = part, part.usage
    except SlipwayError as error:
        made.failure = error
    made.text, stopped = _until("".join(pieces), what.stop)
    if stopped:
        made.stop = "stopSequence"
    elif finish is not None and finish.reason in CUT:
        made.stop = "maxTokens"
    if made.failure is None and not made.text and not stopped:
        made.failure = ModelError("model.empty", model=model.info.name)
    return made


def _too_long(request: Request, what: Sampling, model: ChatModel) -> _Outcome | None:
    if request.tokens + min(what.max_tokens, 256) <= model.info.window:
        return None
    why = "The messages are longer than the client's model can read."
    return _Outcome("failed", "program", {"code": "request.too_long", "why": why})


def _until(text: str, stops: tuple[str, ...]) -> tuple[str, bool]:
    """The text before the first of ``stops``, and whether there was one."""
    found = [at for stop in stops if (at := text.find(stop)) >= 0]
    return (text[: min(found)], True) if found else (text, False)


__all__ = ["Answered", "Request", "Requests"]
