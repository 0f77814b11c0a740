"""One opened session in one opened workspace, as the window or a script holds it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from typing import Any

from desktop_app.core import events as ev
from desktop_app.core.errors import SessionError, SlipwayError
from desktop_app.core.ids import new_id
from desktop_app.core.messages import Msg
from desktop_app.core.sessions.base import Journal, NewRecord
from desktop_app.core.tasks import Tasks
from desktop_app.core.tools.background import Command
from desktop_app.core.workspaces.elsewhere import Elsewhere
from desktop_app.core.workspaces.outbox import Outbox

from .answering import Answering
from .attaching import attachment_blocks, delivered, placed
from .base import Attachment
from .branching import Branching
from .changing import Changing
from .compacting import Compacting
from .engine import ContextEngine
from .execute import Executor
from .recovery import end_left, recover
from .room import Room
from .setting import Agent, Setting, begun
from .shown import SHOWN, entry_of, history_of

logger = logging.getLogger(__name__)

FOLLOW_SECONDS = 30.0  # one wait for the writer's next record; it ends as soon as one comes


class SessionConversation(Answering, Branching, Compacting, Changing):
    """Implements ``core.agent.base.Conversation``. Made by ``open``."""

    @classmethod
    async def open(cls, journal: Journal, setting: Setting, tasks: Tasks) -> SessionConversation:
        """Replay the journal; when it is ours to write, recover what a dead process left."""
        self = cls(journal, setting, tasks)
        await self.log.load()
        setting.agent = begun(setting.agent, self.log.now.config)
        if journal.info.writable:
            await end_left(self.log, setting.workspace.get_backend())
            self.recovered = await recover(self.log)
            await self.commands.recover()
        self._files.seen = self.log.now.files
        workspace: Any = setting.workspace
        other = setting.offloader
        self.outbox = Outbox(
            journal,
            workspace,
            elsewhere=Elsewhere(other) if other is not None else None,
            on_change=self._delivered,
        )
        self.engine = ContextEngine(
            self.log,
            self.model,
            self.toolbox,
            setting.workspace,
            setting.agent.prompt,
            setting.agent.id,
            setting.ratios,
            self.policy,
            setting.models,
        )
        self.room = Room(self.engine, self.outbox, workspace, self.policy, tasks, self._stream.emit)
        await self.engine.refresh(wake=False)  # to look at a session starts no machine
        self.executor = Executor(
            self.log,
            self.toolbox,
            self.engine,
            lambda call_id, data: self.outbox.stage_raw_result(
                self.state.session_id, call_id, data
            ),
            self.log.tell,
            self._task_list,
        )
        if journal.info.writable:
            await self.outbox.load()
            self.log.written.append(self.outbox.add)
            tasks.start(self.outbox.run(), name=f"outbox {journal.info.key.session_id}")
        elif journal.info.why == "journal.in_use":
            name = f"follow {journal.info.key.session_id}"
            self._follower = tasks.start(self._follow(), name=name)
        self._servers.watch()
        return self

    async def _follow(self) -> None:
        """Show what the writer, in another window or process, adds."""
        journal = self.log.journal
        try:
            while True:
                head = self.log.now.head
                if await journal.wait_for_change(head, FOLLOW_SECONDS) <= head:
                    continue
                title, tasks, asked = self.title, self._task_list(), self.asked
                records = await self.log.follow()
                self.engine.resume()
                shown = [entry_of(r) for r in records if r.kind in SHOWN]
                if shown or self.asked != asked:
                    now = {"entries": shown, "asked": self.asked}
                    self._stream.emit(ev.Notice("followed", now))
                self._stream.emit(ev.Saved(self.log.now.head, self.log.now.last_us))
                for change in self.commands.changed_by(records):
                    self._stream.emit(change)
                if self.title != title:
                    self._stream.emit(ev.TitleChanged(self.title))
                if self._task_list() != tasks:
                    self._stream.emit(ev.TasksChanged(self._task_list()))
                self._stream.emit(ev.ContextChanged(await self.breakdown()))
        except SlipwayError as error:
            logger.info("a session is not followed any more: %s", error)

    def _delivered(self) -> None:
        """The outbox moved: tell how much is still on its way."""
        error = self.outbox.error
        params: dict[str, Any] = {**error.params} if error is not None else {}
        params |= {"pending": self.outbox.pending(), "error": error.code if error else None}
        self._stream.emit(ev.Notice("outbox", params))

    # -- turns -------------------------------------------------------------------------------

    def send(self, text: str, attachments: Sequence[Attachment] = ()) -> AsyncIterator[ev.Event]:
        self._check_free()
        if self.log.now.waiting:
            raise SessionError("run.parked")
        blocks = attachment_blocks(attachments)
        msg = Msg.user(text, blocks=blocks)
        reply_id = new_id()

        async def work() -> None:
            await self._save_unsaved()
            await self._settle()
            msg.content, files = await placed(msg.content, self.outbox, self.key.session_id)
            body = {"reply_id": reply_id, "msg": msg.model_dump()}
            await self.log.append(NewRecord("user.message", body), *files)
            self._stream.emit(ev.UserMessage(msg))
            if files:
                await delivered(self.outbox)
            await self._drive(reply_id)

        return self._stream.start(self._told(work, reply_id), f"turn {reply_id}")

    def go_on(self) -> AsyncIterator[ev.Event]:
        self._check_free()
        reply_id = self.resumable
        if reply_id is None:
            raise SessionError("run.nothing_to_continue")

        async def work() -> None:
            await self._drive(reply_id, resumed=True)

        return self._stream.start(self._told(work, reply_id), f"turn {reply_id}")

    async def stop(self) -> None:
        await self._stream.stop()
        await self._requests.settle()

    # -- in the background ---------------------------------------------------------------------

    def background(self) -> Sequence[Command]:
        return self.commands.all()

    async def stop_command(self, command_id: str) -> None:
        await self.commands.stop(command_id, "person")

    async def command_output(self, command_id: str) -> str:
        return await self.commands.text(command_id)

    async def close(self) -> None:
        if self._follower is not None:
            self._follower.cancel()
        await self.stop()
        self.room.drafts.drop("stopped")
        await self.commands.close()
        await self._servers.close()
        await self._requests.settle()
        await self.log.close()


__all__ = ["Agent", "SessionConversation", "Setting", "history_of"]
