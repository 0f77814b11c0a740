"""How a reply of a conversation is driven: before, between and after its turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from desktop_app.core import events as ev
from desktop_app.core.errors import SlipwayError
from desktop_app.core.messages import HintBlock, TextBlock, ToolCallBlock
from desktop_app.core.sessions.base import NewRecord

from .assembly import parse_arguments
from .opened import Opened
from .permissions import Permissions
from .run import Turn, TurnParts
from .shown import entry_of
from .titles import better_title

GO_ON = (
    "<system-reminder>Your answer broke off here. The person asks you to go on: continue from "
    "where it stopped, without repeating what is there.</system-reminder>"
)


class Driving(Opened):
    """Whoever starts or continues a reply does it by ``_drive``, inside ``_told``."""

    def _told(self, work: Callable[[], Any], reply_id: str) -> Callable[[], Any]:
        """Errors before or after the turn proper become its end, so that nobody waits in vain."""

        async def told() -> None:
            try:
                await work()
            except SlipwayError as error:
                params = {**error.params, "retryable": error.retryable}
                self._stream.emit(ev.RunFinished(reply_id, "error", error.code, params))

        return told

    async def _drive(self, reply_id: str, *, resumed: bool = False) -> None:
        await self._save_unsaved()
        if resumed and self.log.now.open_reply is None:
            # Going on after an end: the same reply is open again.
            self.log.now.open_reply = reply_id
        if resumed:
            await self._hint_to_go_on(reply_id)
        await self._servers.start(self.log.now.calls())
        parts = TurnParts(
            self.log,
            self.model(),
            self.toolbox,
            lambda: Permissions(self.permissions, self._setting.workspace.get_backend().cwd),
            self.engine,
            self.room,
            self.executor,
            self._setting.agent.name,
            self._past_calls,
            self._setting.agent.max_iterations,
            self._fallback,
            self._setting.sleep,
            self.commands.tell,
        )
        if resumed:
            self.room.trigger = "resume"
        await Turn(parts, reply_id, self.log.tell).drive(resumed=resumed)
        await self.room.look()
        await self._name_it()
        await self.log.save_snapshot()

    async def _hint_to_go_on(self, reply_id: str) -> None:
        """An answer that broke off in a text needs a word after it: models expect to be spoken to
        last."""
        tail = self.state.context[-1] if self.state.context else None
        if tail is None or tail.id != reply_id or not tail.content:
            return
        if isinstance(tail.content[-1], TextBlock):
            hint = HintBlock(hint=GO_ON, source="slipway")
            body = {
                "reply_id": reply_id,
                "name": self._setting.agent.name,
                "blocks": [hint.model_dump()],
                "finish": "hint",
            }
            await self.log.append(NewRecord("assistant.message", body))

    async def _save_unsaved(self) -> None:
        """Save what a full disk refused; results that nobody has seen yet are told."""
        saved = await self.log.save_unsaved()
        results = [entry_of(r) for r in saved if r.kind == "tool.result"]
        if results:
            self._stream.emit(ev.Notice("followed", {"entries": results}))

    async def _settle(self) -> None:
        """Close what an earlier turn left open, before something new begins."""
        reply_id = self.log.now.open_reply
        if reply_id is None:
            return
        await self.executor.close_open(reply_id, "interrupted")
        body: dict[str, Any] = {"reply_id": reply_id, "reason": "interrupted", "params": {}}
        await self.log.append(NewRecord("turn.finished", body))

    async def _name_it(self) -> None:
        """A title, where a better one than the present can be had."""
        record = await better_title(self.log.now, self.engine.collect)
        if record is not None:
            await self.log.append(record)
            self._stream.emit(ev.TitleChanged(str(record.body["title"])))

    def _past_calls(self, name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for msg in self.state.context:
            for block in msg.content:
                if (
                    isinstance(block, ToolCallBlock)
                    and block.name == name
                    and block.state == "finished"
                    and (args := parse_arguments(block.input))
                ):
                    found.append(args)
        return found
