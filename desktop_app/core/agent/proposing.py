"""Compactions as proposals: made on a copy of the session's state, with nothing changed by it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from desktop_app.core.context.applying import record_body
from desktop_app.core.context.build import slipway
from desktop_app.core.context.compaction import Compactor, Proposal
from desktop_app.core.context.items import images_out, request_out, result_out
from desktop_app.core.context.owed import Owed, still_owed
from desktop_app.core.context.types import Breakdown, Choices, CompactionRecord, Trigger
from desktop_app.core.context.way_back import WayBack
from desktop_app.core.errors import ContextError
from desktop_app.core.ids import new_id
from desktop_app.core.messages import (
    AnyBlock,
    DataBlock,
    Msg,
    ToolCallBlock,
    ToolResultBlock,
    Usage,
)
from desktop_app.core.models.base import ChatModel
from desktop_app.core.sessions.base import NewRecord
from desktop_app.core.state import AgentState
from desktop_app.core.workspaces.outbox import Outbox

from .detail import beside
from .drafting import frozen
from .engine import ContextEngine
from .finding import locate, op_of

LONGEST = 0.4  # of what a request may hold: how much of it one message may take when room is short


class Proposals:
    """Makes them for one session, and keeps what an undo needs beside the journal."""

    def __init__(self, engine: ContextEngine, workspace: Any, outbox: Outbox) -> None:
        self._engine = engine
        self._log = engine.log
        self._workspace = workspace
        self._outbox = outbox

    def where(self) -> str:
        """The offload of messages as the agent names it."""
        session_id = self._log.now.state.session_id
        return self._outbox.where(session_id)

    async def propose(
        self,
        trigger: Trigger,
        *,
        before: Breakdown | None = None,
        choices: Choices | None = None,
        state: AgentState | None = None,
        notes: bool = True,
    ) -> Proposal:
        """A compaction of the present state, or of ``state``; by rules alone without ``notes``.
        Raises what ``Compactor.propose`` raises."""
        engine = self._engine
        if before is None and state is None:
            before = await engine.breakdown()
        model = engine.notes_model if notes else None
        compactor = Compactor(model, engine.account(), engine.envelope, where=self.where())
        owed = self._owed(again=state is not None)
        proposal = await compactor.propose(
            frozen(state or self._log.now.state),
            trigger,
            before=before,
            choices=choices,
            owed=owed,
        )
        if trigger == "manual":  # somebody will look at it
            await asyncio.to_thread(getattr, proposal, "after")
        return self._named(proposal, model)

    def _owed(self, *, again: bool) -> list[Owed]:
        """Earlier ranges that no model told about; ``again``: the newest is being done anew."""
        records = self._log.now.compactions
        records = records[:-1] if again else records
        found = {r.gen: r for r in records}

        def loader(record: CompactionRecord) -> Callable[[], Awaitable[list[Msg]]]:
            async def load() -> list[Msg]:
                kept = await self.way_back(record)
                return await asyncio.to_thread(
                    lambda: [Msg.model_validate(m) for m in kept["messages"]]
                )

            return load

        return [Owed(gen, loader(found[gen])) for gen in still_owed(records)]

    async def take_out(self, ref: str, *, images: bool) -> tuple[Proposal, tuple[NewRecord, ...]]:
        """One result, or the images of a message or result, out of the prompt; beside it the
        records that give a result a file of its own. ContextError ``context.not_live``,
        ``context.nothing_to_offload``."""
        state = frozen(self._log.now.state)
        found = locate(state, ref)
        if found is None:
            raise ContextError("context.not_live", ref=ref)
        place, at = found
        engine, where = self._engine, self.where()
        staged: tuple[NewRecord, ...] = ()
        block = state.context[place].content[at] if at is not None else None
        if images or at is None or isinstance(block, DataBlock):
            inner = "" if block is None or ref in (block.id, _op(block)) else ref
            masks = images_out(state.context, place, at, where, inner)
        else:
            pricer = engine.account().pricer
            if isinstance(block, ToolResultBlock) and not slipway(block.metadata).get("offload"):
                kept = await self._outbox.stage_tool_result(state.session_id, block)
                staged, where = kept.records, kept.path
            masks = [result_out(state.context, place, at, pricer, where)]
        before = await engine.breakdown()
        compactor = Compactor(None, engine.account(), engine.envelope, where=self.where())
        return self._named(await compactor.take_out(state, masks, before)), staged

    async def shorten(self) -> Proposal | None:
        """The person's newest message by its ends, where it is so long by itself that no window
        could hold it beside an answer; None where it is not."""
        state, engine = frozen(self._log.now.state), self._engine
        account = engine.account()
        context = state.context
        place = next((n for n, m in reversed([*enumerate(context)]) if m.role == "user"), None)
        if place is None:
            return None
        room = LONGEST * account.limits.usable / account.upper(1.0)
        masks = await asyncio.to_thread(
            request_out, context, place, account.pricer, room, self.where()
        )
        if not masks:
            return None
        before = await engine.breakdown()
        compactor = Compactor(None, engine.account(), engine.envelope, where=self.where())
        return self._named(await compactor.take_out(state, masks, before))

    def _named(self, proposal: Proposal, model: ChatModel | None = None) -> Proposal:
        record = proposal.record
        record.id = new_id()
        price = model.info.price if model is not None else None
        if price is not None and record.usage:
            record.cost = price.cost(Usage.model_validate(record.usage))
        return proposal

    async def body(self, proposal: Proposal, record: CompactionRecord) -> dict[str, Any]:
        """The body of the journal's record. What an undo would put back is as long as what left:
        it lies beside the journal as a blob, so that the journal stays quick to replay."""

        def dump() -> bytes:
            return WayBack.of(record.undo).to_json({"detail": beside(proposal)})

        ref = await self._log.journal.put_blob(await asyncio.to_thread(dump))
        body = await asyncio.to_thread(record_body, replace(record, undo={}))
        body["undo_blob"] = ref.sha256
        body["upper"] = [*proposal.uppers, proposal.limits.usable]  # for the guards
        return body

    async def way_back(self, record: CompactionRecord) -> dict[str, Any]:
        """What ``body`` put aside. SessionError ``blob.missing`` or ``blob.corrupt``."""
        sha = self._log.now.undo_blobs[record.gen]
        kept = json.loads(await self._log.journal.get_blob(sha))
        kept.pop("detail", None)
        return kept


def _op(block: AnyBlock) -> str:
    return op_of(block) if isinstance(block, ToolCallBlock | ToolResultBlock) else ""
