"""The context window in a person's hands: its account, compactions, what is pinned.

What happens by itself is ``room``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from desktop_app.core import events as ev
from desktop_app.core.context.compaction import Proposal
from desktop_app.core.context.types import Breakdown, Choices, CompactionRecord
from desktop_app.core.errors import ContextError
from desktop_app.core.sessions.base import NewRecord

from .detail import CompactionDetail, detail
from .driving import Driving
from .finding import find
from .offloads import Offload, content_of, offloads_in


class Compacting(Driving):
    """See ``base.Conversation`` for what each of these promises."""

    async def breakdown(self) -> Breakdown:
        return await self.engine.breakdown()

    # -- what was done -----------------------------------------------------------------------

    async def compactions(self) -> list[CompactionRecord]:
        return list(self.log.now.compactions)

    async def compaction_log(self) -> list[CompactionRecord]:
        return list(self.log.now.log)

    async def compaction_detail(self, compaction_id: str) -> CompactionDetail:
        return await detail(self.log, compaction_id)

    # -- proposals ---------------------------------------------------------------------------

    @property
    def drafted(self) -> Proposal | None:
        return self.room.drafts.ready

    async def propose_compaction(self, focus: str = "", choices: Choices | None = None) -> Proposal:
        self._check_writable()
        choices = choices or Choices()
        if focus:
            choices = replace(choices, focus=focus)
        return await self.room.proposals.propose("manual", choices=choices)

    async def accept_compaction(
        self, proposal: Proposal, choices: Choices | None = None
    ) -> CompactionRecord:
        self._check_writable()
        if choices is not None and choices != proposal.choices:
            proposal = await self.room.proposals.propose("manual", choices=choices)
        if self._stream.running:
            return await self.room.queue(proposal)
        return await self.room.commit(proposal)

    def cancel_draft(self) -> None:
        self.room.drafts.drop("stopped")

    def compact(self, *, notes: bool = True) -> AsyncIterator[ev.Event]:
        self._check_free()

        async def work() -> None:
            await self.room.compact("manual", notes=notes)
            self._stream.emit(ev.ContextChanged(await self.engine.breakdown()))

        return self._stream.start(work, "compact")

    def compact_again(self, focus: str) -> AsyncIterator[ev.Event]:
        self._check_free()
        self.room.newest()

        async def work() -> None:
            await self.room.again(focus)

        return self._stream.start(work, "compact again")

    # -- back --------------------------------------------------------------------------------

    async def undo_compaction(self) -> list[ev.Event]:
        self._check_free()
        events: list[ev.Event] = [await self.room.undo()]
        events.append(ev.ContextChanged(await self.engine.breakdown()))
        for event in events:
            self._stream.emit(event)
        return events

    # -- one thing ---------------------------------------------------------------------------

    async def offloads(self) -> list[Offload]:
        error = self.outbox.error
        why = (error.code, dict(error.params)) if error is not None else None
        found = await offloads_in(self.log.journal)
        return [kept if kept.place else replace(kept, why=why) for kept in found]

    async def offload_content(self, offload_id: str) -> bytes:
        return await content_of(self.log.journal, offload_id)

    async def offload_now(self, ref: str) -> CompactionRecord:
        self._check_free()
        return await self._take_out(ref, images=False)

    async def drop_image(self, ref: str) -> CompactionRecord:
        self._check_free()
        return await self._take_out(ref, images=True)

    async def _take_out(self, ref: str, *, images: bool) -> CompactionRecord:
        proposal, staged = await self.room.proposals.take_out(ref, images=images)
        return await self.room.commit(proposal, more=staged)

    # -- pins --------------------------------------------------------------------------------

    async def pin(self, ref: str, pinned: bool = True) -> None:
        self._check_writable()
        body: dict[str, Any] = {"ref": ref, "pinned": pinned}
        if find(self.state, ref) is None:
            entry = await self.past.find(ref)
            if entry is None:
                raise ContextError("context.not_live", ref=ref)
            if pinned:
                body |= {"text": entry.text, "who": entry.label or entry.who}
        await self.log.append(NewRecord("pin", body), draft=None)
        self.room.drafts.drop("stale")
        self._stream.emit(ev.PinChanged(ref, pinned))
        self._stream.emit(ev.ContextChanged(await self.engine.breakdown()))

    async def unpin(self, ref: str) -> None:
        await self.pin(ref, pinned=False)

    async def whole_result(self, ref: str) -> str:
        entry = await self.past.find(ref)
        if entry is None:
            raise ContextError("context.not_live", ref=ref)
        return entry.text
