"""The context in a person's hands: compaction as a proposal, and back; pins; single things.

What can fail with words ends in ``failed``; what a person must decide about has a signal of its
own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from PySide6.QtCore import Signal

from desktop_app.core.agent.base import Branch, Conversation
from desktop_app.core.agent.detail import CompactionDetail
from desktop_app.core.context.compaction import Proposal
from desktop_app.core.context.types import Choices
from desktop_app.core.errors import ContextError, SessionError, SlipwayError
from desktop_app.core.events import Event
from desktop_app.core.sessions.base import SessionKey

from .items import ReplyItem, ToolItem
from .vm_history import ChatHistory


class ChatContext(ChatHistory):
    """See the module."""

    undoRefused = Signal(dict)  # it would not fit any more; params of the error, with "id"
    wayWanted = Signal(str)  # a way out that is not ours: an id of ``errors``
    refFound = Signal(str, str)  # a ref that was looked for, and its row ("": nowhere)

    def _start(self, make: Callable[[], AsyncIterator[Event]]) -> None:
        """Start a run; the view model with what a person can do has it."""
        raise NotImplementedError

    def _held(self) -> Conversation:
        if self.conversation is None:
            raise SessionError("run.busy")
        return self.conversation

    async def _guarded(self, work: Awaitable[Any]) -> None:
        """Run ``work``; a failure that has words becomes a toast."""
        try:
            await work
        except SlipwayError as error:
            self.failed.emit(error.code, error.params)

    def measure_again(self) -> None:
        """Ask how full the window is: something beside the conversation changed it."""
        self._background.replace(self._refresh_context(), name="context")

    # -- compaction ---------------------------------------------------------------------------

    def compact(self, *, notes: bool = True) -> None:
        """Compact now; without ``notes`` no model takes part."""
        conversation = self.conversation
        if conversation is not None and not self.busy:
            self._start(lambda: conversation.compact(notes=notes))

    def compact_again(self, focus: str) -> None:
        """The newest compaction once more, its notes written with ``focus`` in mind."""
        conversation = self.conversation
        if conversation is not None and not self.busy:
            self._start(lambda: conversation.compact_again(focus))

    def dismiss_offer(self) -> None:
        """Not now: the offer comes again with the next turn that is over the mark. What is being
        prepared for it is stopped; what is ready stays at hand."""
        if self.drafting == "working" and self.conversation is not None:
            self.conversation.cancel_draft()
        self._offer(False)

    async def propose(self, choices: Choices) -> Proposal:
        """What a compaction would do; raises what the conversation raises."""
        return await self._held().propose_compaction(choices=choices)

    @property
    def drafted(self) -> Proposal | None:
        """A proposal that was prepared in the background."""
        return self.conversation.drafted if self.conversation is not None else None

    def accept(self, proposal: Proposal) -> None:
        """Do it; while a turn runs, before its next call."""
        if (conversation := self.conversation) is not None:
            self._offer(False)
            self._background.start(
                self._guarded(conversation.accept_compaction(proposal)), name="accept"
            )

    async def detail(self, compaction_id: str) -> CompactionDetail:
        """One compaction of the log, looked at closely."""
        return await self._held().compaction_detail(compaction_id)

    def undo_compaction(self) -> None:
        """Put back what the newest compaction took out."""
        conversation = self.conversation
        if conversation is not None and not self.busy:
            self._background.start(self._guarded(self._undo(conversation)), name="undo")

    async def _undo(self, conversation: Conversation) -> None:
        try:
            await conversation.undo_compaction()  # its events are heard
        except ContextError as error:
            if error.code != "compaction.would_not_fit":
                raise
            newest = self.compactions[-1].id if self.compactions else ""
            self.undoRefused.emit({"id": newest, **error.params})
            return
        self._batches.flush()
        await self._refresh_context()

    async def branch(self, message_id: str, *, after: bool = False) -> Branch:
        """A new session that goes on from before a message of the person, or after its answer."""
        return await self._held().branch(message_id, after=after)

    async def fork_before(self, compaction_id: str) -> SessionKey:
        """A new session with everything up to a compaction."""
        return await self._held().fork_before_compaction(compaction_id)

    # -- one thing ----------------------------------------------------------------------------

    def pin(self, ref: str, pinned: bool = True) -> None:
        """Keep a message or a result byte for byte, or not any more."""
        if (conversation := self.conversation) is not None:
            self._background.start(self._guarded(conversation.pin(ref, pinned)), name="pin")

    def offload_now(self, ref: str) -> None:
        """Take one result out of the prompt now."""
        if (conversation := self.conversation) is not None:
            self._background.start(self._guarded(conversation.offload_now(ref)), name="offload")

    def drop_image(self, ref: str) -> None:
        """Take one image out of the prompt now."""
        if (conversation := self.conversation) is not None:
            self._background.start(self._guarded(conversation.drop_image(ref)), name="image")

    # -- where things are ---------------------------------------------------------------------

    def row_of(self, ref: str) -> str | None:
        if (row := super().row_of(ref)) is not None:
            return row
        for item in reversed(self._fold.items.values()):
            if isinstance(item, ToolItem) and item.call_id == ref:
                return item.id
            if isinstance(item, ReplyItem) and (ref in item.thinking or item.reply_id == ref):
                return item.id
        return None

    def find_ref(self, ref: str) -> None:
        """Look for the row of a message, block or operation, fetching older records as needed;
        ``refFound`` follows."""
        self._background.replace(self._find_ref(ref), name="find ref")

    async def _find_ref(self, ref: str) -> None:
        while (row := self.row_of(ref)) is None and not self.at_start:
            before = self._oldest
            if before is None:
                break
            await self._older_once()
            if self._oldest == before and not self.at_start:
                break  # it could not be read; the failure has been told
        self.refFound.emit(ref, row or "")
