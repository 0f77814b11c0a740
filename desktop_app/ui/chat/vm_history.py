"""Loading a conversation's history: the newest records first, older ones when asked for."""

from __future__ import annotations

import asyncio
from json import loads

from desktop_app.core.agent.base import Conversation, History, HistoryEntry
from desktop_app.core.agent.finding import op_of
from desktop_app.core.asleep import may_hold
from desktop_app.core.context.ledger import PIN_MARKS, is_pinned
from desktop_app.core.errors import SlipwayError
from desktop_app.core.messages import TextBlock, ToolResultBlock
from desktop_app.core.state import AgentState

from .fold import Fold
from .items import NoticeItem, TextItem
from .rows_from import row_from
from .vm_state import ChatState

PAGE = 120  # records of history fetched at once


class ChatHistory(ChatState):
    """Opens a conversation and pages through its past."""

    _load: asyncio.Task[None] | None = None  # the stretch of older records being fetched

    # -- opening ----------------------------------------------------------------------------

    def glance(self, title: str, history: History) -> None:
        """Show the end of a session that is still being opened; its last turn ended in order."""
        self._title = title
        for entry in history.entries:
            self._fold.entry(entry)
        self._glanced = history.entries[-1].seq
        self._reached(history)
        self._fold.settle((), running=False)
        self._apply()
        self.rows.has_older = not self.at_start
        self.titleChanged.emit(title)

    def _reached(self, history: History) -> None:
        self.at_start = history.at_start
        self._oldest = history.entries[0].seq if history.entries else None

    def open(self, conversation: Conversation) -> None:
        """Show ``conversation``: its newest records now, older ones when asked for."""
        self.conversation = conversation
        self._deaf = conversation.listen(self._heard)
        self.voice.writable = conversation.writable
        self._background.replace(self._open(conversation), name="open")

    async def _open(self, conversation: Conversation) -> None:
        self._loading = True
        try:
            history = await conversation.history(limit=PAGE)
            for entry in history.entries:
                if entry.seq > self._glanced:
                    self._fold.entry(entry)
            if not self._glanced:
                self._reached(history)
            self._take_pending()
            waiting = {a.op_id for a in self.approvals} | {q.op_id for q in self.questions}
            reason = conversation.why_readonly
            elsewhere = reason is not None and reason[0] == "journal.in_use"
            waiting |= conversation.asked
            running = conversation.activity == "running"
            self._fold.settle(waiting, running=running, elsewhere=elsewhere)
            self._show_cut(conversation)
            self.compactions = await conversation.compactions()
            self.voice.compacted = bool(self.compactions)
            await asyncio.sleep(0)  # the loop breathes between reading and laying out
            self._apply()
            self.rows.has_older = not self.at_start
            await asyncio.sleep(0)
        except SlipwayError as error:
            self.openFailed.emit(error.code, error.params)
            return
        finally:
            self._loading = False
        state = conversation.state
        self.tasks_list = [t.model_dump() for t in state.tasks_context.tasks]
        for command in conversation.background():
            self.commands[command.id] = command
            if command.ended is not None and not command.told:
                self._commands_news.add(command.id)
        self.commandsChanged.emit()
        for ref in await asyncio.to_thread(pinned_in, state):
            self._fold.pinned(ref, True)
        self._apply()
        self.drafting = "ready" if conversation.drafted is not None else self.drafting
        self.ready = True
        self.opened.emit()
        self.titleChanged.emit(self.title)
        self._emit_run_state()
        if self.queued is not None and not self.busy:
            self._send_queued()  # said before the conversation was there
        await self._refresh_context()

    def _send_queued(self) -> None:
        """Send what waits; the view model with what a person can do has it."""
        raise NotImplementedError

    def _show_cut(self, conversation: Conversation) -> None:
        """A turn that a dead process left open: its text, and the way on."""
        if conversation.activity != "idle" or not conversation.writable:
            return
        if text := conversation.draft():
            self._fold.put(TextItem("x:draft", "", text, stopped=True))
        last = next(reversed(self._fold.items.values()), None)
        ended = isinstance(last, NoticeItem) and last.id.startswith("e:")
        if isinstance(last, NoticeItem) and last.id.startswith("r:"):
            last.actions = ("continue",)
            self._fold.touch(last.id)
        elif (text or conversation.resumable is not None) and not ended and last is not None:
            notice = NoticeItem("x:draft-notice", "warning", "run.cut", {}, ("continue",))
            self._fold.put(notice)

    async def _refresh_context(self) -> None:
        if self.conversation is None:
            return
        try:
            self.compactions = await self.conversation.compactions()
            self.compaction_log = await self.conversation.compaction_log()
            found = await self.conversation.breakdown()
        except SlipwayError as error:
            self.failed.emit(error.code, error.params)
            return
        if not self.points:
            for record in self.compactions:
                self.points += [record.before, record.after]
        # What another program wrote left that one's window: there is none to show.
        self.breakdown = found if found.limits.window else None
        if self.breakdown is not None:
            self._point(found.total)
        self.compactionsChanged.emit()
        self.contextChanged.emit()

    def _read_log(self) -> None:
        self._background.replace(self._log_read(), name="log")

    async def _log_read(self) -> None:
        if self.conversation is not None:
            self.compaction_log = await self.conversation.compaction_log()
            self.compactionsChanged.emit()

    def load_older(self) -> None:
        """Fetch the records before the oldest one shown."""
        if self._loading or self.at_start or self._oldest is None or self.conversation is None:
            return
        self._older()

    def _older(self) -> asyncio.Task[None]:
        assert self.conversation is not None
        assert self._oldest is not None
        self._loading = True
        work = self._load_older(self.conversation, self._oldest)
        self._load = self._background.start(work, name="older")
        return self._load

    async def _older_once(self) -> None:
        """Wait for one more stretch of older records."""
        await asyncio.shield(self._load if self._loading and self._load else self._older())

    def locate(self, seq: int) -> None:
        """Find the rows of record ``seq``, fetching older records up to it; ``located(ids)``
        follows, empty when the record shows nothing."""
        if self.conversation is not None:
            self._background.replace(self._locate(self.conversation, seq), name="locate")

    async def _locate(self, conversation: Conversation, seq: int) -> None:
        while not self.at_start and self._oldest is not None and self._oldest > seq:
            before = self._oldest
            await self._older_once()
            if self._oldest == before and not self.at_start:
                break  # it could not be read; the failure has been told
        history = await conversation.history(before=seq + 1, limit=1)
        self.located.emit([row for e in history.entries for row in self._rows_of(e)])

    def _rows_of(self, entry: HistoryEntry) -> list[str]:
        """Ids of the loaded rows that show a record."""
        alone = Fold()
        alone.entry(entry)
        ids = [*alone.items]
        for orphan in alone.orphans:
            ids.append(f"o:{loads(orphan.raw).get('op_id')}")
        return [i for i in ids if i in self._fold.items and not i.startswith("h:")]

    async def _load_older(self, conversation: Conversation, before: int) -> None:
        try:
            history = await conversation.history(before=before, limit=PAGE)
            older = Fold()
            for entry in [*history.entries, *self._fold.orphans]:
                older.entry(entry)
            older.settle((), running=False)
            self.at_start = history.at_start
            self._oldest = history.entries[0].seq if history.entries else self._oldest
            items = self._fold.prepend(older)
            self._apply()
            older_rows = [row_from(item, self.voice) for item in items]
            self.rows.prepend(older_rows, has_older=not self.at_start)
        except SlipwayError as error:
            self.failed.emit(error.code, error.params)
        finally:
            self._loading = False


def pinned_in(state: AgentState) -> list[str]:
    """What a person pinned in the live state: ids of messages and texts, operations of results."""
    found: list[str] = []
    for msg in state.context:
        if not may_hold(msg, *PIN_MARKS):
            continue  # most of a session that was opened is asleep
        if is_pinned(msg.metadata):
            found.append(msg.id)
            found += [b.id for b in msg.content if isinstance(b, TextBlock)]
        for block in msg.content:
            if isinstance(block, ToolResultBlock) and is_pinned(block.metadata):
                found.append(op_of(block))
    return found
