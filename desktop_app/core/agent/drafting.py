"""A compaction prepared in the background, so that nobody waits for it at the danger mark.

There is at most one draft. It is made on a copy of the state, while the turn goes on or the person
reads, and is used only if that state is still the beginning of the present one; else it is thrown
away. Nothing of it is in the journal but what it cost.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from desktop_app.core import events as ev
from desktop_app.core.context.compaction import Proposal
from desktop_app.core.context.fitting import still_fits
from desktop_app.core.errors import SlipwayError
from desktop_app.core.state import AgentState
from desktop_app.core.tasks import Tasks

logger = logging.getLogger(__name__)

GROWN = 1.08  # the upper estimate must have grown by so much before a failed draft is tried again


def frozen(state: AgentState) -> AgentState:
    """A copy that does not grow with the state. Only its newest reply, and what came after it, may
    still get blocks: the messages before are the state's own."""
    context = state.context
    replies = (n for n in range(len(context) - 1, -1, -1) if context[n].role == "assistant")
    newest = next(replies, 0)
    copies = [m.model_copy(update={"content": list(m.content)}) for m in context[newest:]]
    return state.model_copy(update={"context": [*context[:newest], *copies]})


class Drafts:
    """``make`` proposes a compaction of the present state."""

    def __init__(
        self,
        make: Callable[[], Awaitable[Proposal]],
        tasks: Tasks,
        emit: Callable[[ev.Event], None],
    ) -> None:
        self._make = make
        self._tasks = tasks
        self._emit = emit
        self._task: asyncio.Task[None] | None = None
        self._failed_at = 0
        self.ready: Proposal | None = None

    @property
    def working(self) -> bool:
        return self._task is not None and not self._task.done()

    def start(self, upper: int) -> None:
        """Begin one, unless there is one, or the last one failed at about this size."""
        if self.working or self.ready is not None or upper < self._failed_at * GROWN:
            return
        self._task = self._tasks.start(self._work(upper), name="draft a compaction")

    async def _work(self, upper: int) -> None:
        self._emit(ev.DraftStarted())
        try:
            proposal = await self._make()
        except SlipwayError as error:
            logger.info("no draft: %s", error)
            self._failed_at = upper
            self._emit(ev.DraftDropped(error.code, error.params))
            return
        except asyncio.CancelledError:
            self._emit(ev.DraftDropped("compaction.stopped"))
            raise
        self._failed_at = 0
        self.ready = proposal
        self._emit(ev.DraftReady(proposal))

    def drop(self, why: str) -> None:
        """Throw away what there is and stop what is under way; ``why``: done, stale, below."""
        self._failed_at = 0
        if self.working and self._task is not None:
            self._task.cancel()
        self._task = None
        if self.ready is not None:
            self.ready = None
            if why != "done":
                self._emit(ev.DraftDropped(f"compaction.{why}"))

    async def take(self, state: AgentState) -> Proposal | None:
        """The draft, if it still fits; one that is under way is waited for."""
        if self.working and self._task is not None:
            await asyncio.wait([self._task])
        if self.ready is not None and not still_fits(self.ready.record, state):
            self.drop("stale")
        return self.ready
