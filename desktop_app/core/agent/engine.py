"""The session's view of its context window: the prompt, its account, and making room.

The one place where the loop meets ``core.context``: it builds the model's input from the live
state, keeps the account, decides by the marks, and makes compactions durable.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from desktop_app.core import events as ev
from desktop_app.core.context.accounting import Accounting, Ratios
from desktop_app.core.context.applying import record_body, undo
from desktop_app.core.context.build import Envelope, Prompt, PromptBuilder
from desktop_app.core.context.compaction import Compactor, check_fits, decide
from desktop_app.core.context.limits import resolve, window_from_error
from desktop_app.core.context.types import Breakdown, CompactionRecord, Trigger
from desktop_app.core.errors import ContextError, ModelError, SlipwayError
from desktop_app.core.messages import Usage
from desktop_app.core.models.base import ChatModel, ModelRequest, TextPart
from desktop_app.core.sessions.base import NewRecord
from desktop_app.core.tools.bounds import Bounded, bound
from desktop_app.core.workspaces.base import Workspace
from desktop_app.core.workspaces.outbox import Outbox

from .closing import closing
from .log import SessionLog
from .toolbox import Toolbox

Emit = Callable[[ev.Event], None]
logger = logging.getLogger(__name__)

RESULT_SHARE = 0.25  # of W that one turn's tool results may bring


class ContextEngine:
    """One session's prompt and its account."""

    def __init__(
        self,
        log: SessionLog,
        model: Callable[[], ChatModel],
        toolbox: Toolbox,
        workspace: Workspace,
        outbox: Outbox,
        prompt: str,
        agent_id: str,
    ) -> None:
        self.log = log
        self._model = model
        self._toolbox = toolbox
        self._workspace = workspace
        self._outbox = outbox
        self._system = prompt
        self._agent_id = agent_id
        self._builder = PromptBuilder()
        self._ratios = Ratios()
        self._accounts: dict[str, Accounting] = {}
        self._envelope = Envelope()
        self._sent: Prompt | None = None
        self._offered = False
        self._counted: Accounting | None = None
        self._counting = asyncio.Lock()
        self.skills: Any = None
        self.stand_in: ChatModel | None = None  # answers in place of the session's model

    @property
    def model(self) -> ChatModel:
        """The model that answers now."""
        return self.stand_in or self._model()

    # -- the prompt --------------------------------------------------------------------------

    async def refresh(self) -> None:
        """Look at the workspace again: instructions, skills, tools. A change shows as a new
        envelope; an unchanged one keeps the provider's cache."""
        workspace: Any = self._workspace
        try:
            instructions = await workspace.get_instructions()
            self.skills = await workspace.skills_for_prompt(self._agent_id)
            listing = self.skills.prompt()
        except SlipwayError as error:
            logger.info("the workspace gave no instructions: %s", error)
            return
        envelope = Envelope(
            self._system,
            instructions,
            listing,
            tuple(self._toolbox.schemas()),
            self._toolbox.groups.servers(),
        )
        if envelope != self._envelope:
            self._envelope = envelope

    def prompt(self) -> Prompt:
        return self._builder.build(self._envelope, self.log.now.state)

    async def request(self) -> ModelRequest:
        """The next call. ContextError ``context.over_window`` when it would not fit."""
        prompt = self._sent = self.prompt()
        account = self.account()
        breakdown = account.breakdown(prompt)
        check_fits(breakdown)
        return prompt.request(max_output=breakdown.limits.reserve)

    async def collect(self, request: ModelRequest) -> str:
        """The text of a call that nobody watches."""
        pieces: list[str] = []
        async with closing(self.model.stream(request)) as parts:
            async for part in parts:
                if isinstance(part, TextPart):
                    pieces.append(part.text)
        return "".join(pieces)

    # -- the account -------------------------------------------------------------------------

    def account(self) -> Accounting:
        info = self.model.info
        mark = f"{info.id} {info.window} {info.max_output}"  # the person may correct a window
        account = self._accounts.get(mark)
        if account is None:
            account = Accounting(resolve(info), model=info.id, ratios=self._ratios)
            self._accounts[mark] = account
        return account

    async def breakdown(self) -> Breakdown:
        """Who uses the window now. The first call loads the model and counts the whole session in
        a thread; later ones only look at what is new."""
        if self._counted is not None and self._counted is (account := self.account()):
            return account.breakdown(self.prompt())
        async with self._counting:
            return await asyncio.to_thread(self._count)

    def _count(self) -> Breakdown:
        account = self.account()
        breakdown = account.breakdown(self.prompt())
        self._counted = account
        return breakdown

    def observe(self, usage: Usage | None) -> None:
        """The provider's count of the call that was just made."""
        if self._sent is not None:
            self.account().observe(usage, self._sent)

    async def overflowed(self, error: ModelError, emit: Emit) -> bool:
        """The provider refused the prompt as too long: learn from what it said, and make room.
        Whether the call is worth repeating."""
        account = self.account()
        window = window_from_error(str(error.params.get("detail", "")))
        if window is not None and window < account.limits.window:
            account.limits = resolve(self.model.info, error=window)
        if self._sent is not None:
            account.overflowed(self._sent)
        return await self.compact("overflow", emit)

    def result_budget(self, calls: int) -> int:
        """Tokens that each of ``calls`` results of one turn may bring into the context."""
        account = self.account()
        breakdown = account.breakdown(self.prompt())
        usable = breakdown.limits.usable
        free = max(0, breakdown.limits.mark(breakdown.limits.danger) - breakdown.upper)
        return max(256, int(min(usable * RESULT_SHARE, max(free, usable * 0.05)) / max(1, calls)))

    async def bound(self, text: str, budget: int) -> Bounded:
        """A result within its budget; long ones are cut in a thread."""
        account = self.account()

        def count(piece: str) -> int:
            return int(account.upper(account.pricer.texts.count(piece))) + 1

        if len(text) < 2000:
            return bound(text, max_tokens=budget, count=count)
        return await asyncio.to_thread(bound, text, max_tokens=budget, count=count)

    # -- making room -------------------------------------------------------------------------

    async def make_room(self, emit: Emit) -> None:
        """Before a call: offer at the alert mark, do it at the danger mark."""
        await self.refresh()
        breakdown = await self.breakdown()
        choice = decide(breakdown, self.log.now.state)
        if choice == "none":
            self._offered = False
        elif choice == "offer":
            if not self._offered:
                self._offered = True
                emit(ev.CompactionOffered(breakdown))
        elif choice == "do":
            await self.compact("danger", emit)
        else:
            check_fits(breakdown)

    async def compact(self, trigger: Trigger, emit: Emit) -> bool:
        """Reorganise the history. Nothing is changed when it does not work out, and the world is
        told why; whether the next call still fits is checked where it is made."""
        before = await self.breakdown()
        emit(ev.CompactionStarted(trigger, before.total))
        try:
            workspace: Any = self._workspace
            session_id = self.log.now.state.session_id
            where = workspace.visible(workspace.context_file(session_id))
            compactor = Compactor(self.model, self.account(), self._envelope, where=where)
            proposal = await compactor.propose(self.log.now.state, trigger, before=before)
            record, staged = proposal.record, ()
            if proposal.offloaded:
                kept = await self._outbox.stage_messages(session_id, proposal.offloaded)
                record.offload_path, staged = kept.path, kept.records
                emit(
                    ev.Offloaded("messages", kept.path, len(proposal.offloaded), kept.bytes, False)
                )
            body = await self._body(record)
            await self.log.append(*staged, NewRecord("compaction", body), draft=None)
        except SlipwayError as error:
            emit(ev.CompactionFailed(trigger, error.code, error.params))
            return False
        self._offered = False
        emit(ev.CompactionFinished(record))
        emit(ev.ContextChanged(await self.breakdown()))
        return True

    async def _body(self, record: CompactionRecord) -> dict[str, Any]:
        """The record's body. What an undo would put back is as long as what left: it lies beside
        the journal as a blob, so that the journal stays quick to replay."""
        way_back = json.dumps(record.undo, ensure_ascii=True, separators=(",", ":")).encode()
        ref = await self.log.journal.put_blob(way_back)
        body = record_body(replace(record, undo={}))
        body["undo_blob"] = ref.sha256
        return body

    async def _way_back(self, record: CompactionRecord) -> dict[str, Any]:
        """What ``_body`` put aside. SessionError ``blob.missing`` or ``blob.corrupt``."""
        if record.undo:
            return record.undo
        sha = self.log.now.undo_blobs[record.gen]
        return json.loads(await self.log.journal.get_blob(sha))

    async def undo(self) -> ev.Event:
        """Take the newest compaction back. ContextError ``compaction.none``, or
        ``compaction.would_not_fit`` when the former prompt and what came since are too long."""
        compactions = self.log.now.compactions
        if not compactions:
            raise ContextError("compaction.none")
        newest = compactions[-1]
        way_back = await self._way_back(newest)
        former = undo(replace(newest, undo=way_back), self.log.now.state)
        prompt = PromptBuilder().build(self._envelope, former)
        breakdown = self.account().fork().breakdown(prompt)
        if breakdown.upper > breakdown.limits.usable:
            raise ContextError(
                "compaction.would_not_fit",
                tokens=breakdown.upper,
                usable=breakdown.limits.usable,
            )
        # The record carries what it puts back, so that a replay needs nothing beside the journal.
        body = {"gen": newest.gen, "undo": way_back}
        await self.log.append(NewRecord("compaction.undone", body))
        return ev.CompactionUndone(newest.gen)
