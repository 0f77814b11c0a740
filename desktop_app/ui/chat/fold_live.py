"""The live half of the fold: what a running turn emits."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from typing import Any

from desktop_app.core import events as ev

from .fold_base import FoldBase
from .items import LIVE_CHARS, CompactionItem, NoticeItem, ReplyItem, TextItem, ToolItem
from .records import user_item
from .ways import ways_after


class LiveFold(FoldBase):
    """Folds events."""

    def event(self, event: ev.Event) -> None:
        """Take one event of a run."""
        match event:
            case ev.RunStarted(resumed=True):
                self._drop_resumable()
            case ev.UserMessage(msg=msg):
                self._user(user_item(msg, self._clock()))
            case ev.ModelCallStarted(model=model):
                self._model = model
            case ev.TextDelta():
                self.remove("x:model.retry")
                self._text_delta(event)
            case ev.ThinkingDelta():
                self.remove("x:model.retry")
                self._thinking_delta(event)
            case ev.ToolCallStarted():
                self.remove("x:model.retry")
                self._tool_event(event)
            case ev.BlockFinished(reply_id=reply_id, block_id=block_id):
                self._block_finished(reply_id, block_id)
            case ev.CompactionStarted(tokens=tokens):
                self.remove("x:compaction-failed")
                self._add(
                    CompactionItem(
                        "x:compaction", 0, self._clock(), tokens, tokens, 0, running=True
                    )
                )
            case ev.CompactionFinished(record=record):
                body = asdict(record) if is_dataclass(record) else dict(record)  # type: ignore[arg-type]
                self._compacted(body, self._clock())
            case ev.CompactionFailed(code=code, params=params):
                self.remove("x:compaction")
                ways = ways_after(code)
                self.put(NoticeItem("x:compaction-failed", "warning", code, dict(params), ways))
            case ev.CompactionMeasured(gen=gen, after=after):
                if isinstance(item := self.items.get(f"c:{gen}"), CompactionItem):
                    item.after, item.measured = after, True
                    self.touch(item.id)
            case ev.PinChanged(ref=ref, pinned=pinned):
                self.pinned(ref, pinned)
            case ev.CompactionUndone(gen=gen):
                self._undone(gen, self._clock())
            case ev.RequestAnswered(body=body):
                self._request(body)
            case ev.Notice(code="outbox", params=params):
                self._outbox(dict(params))
            case ev.Notice(code=code, params=params):
                self.put(NoticeItem(f"x:{code}", "info", code, dict(params)))
            case ev.RunFinished(reply_id=reply_id, reason=reason, code=code, params=params):
                self.remove("x:compaction")
                self.remove("x:model.retry")
                self._finish(reply_id, reason, code, dict(params))
            case _:
                self._tool_event(event)

    def _outbox(self, params: dict[str, Any]) -> None:
        """Offloads on their way are no news; those that cannot be delivered are."""
        if params.get("pending") and params.get("error"):
            self.put(NoticeItem("x:outbox", "warning", "outbox", params))
        else:
            self.remove("x:outbox")

    def _text_delta(self, event: ev.TextDelta) -> None:
        if not event.text:
            return
        item = self.items.get(f"t:{event.block_id}")
        if isinstance(item, TextItem):
            item.text += event.text
            self._extend(item.id, event.text)
            return
        self._reply(event.reply_id, self._clock())
        self._add(TextItem(f"t:{event.block_id}", event.reply_id, event.text, growing=True))

    def _thinking_delta(self, event: ev.ThinkingDelta) -> None:
        if not event.text:
            return
        reply = self._reply(event.reply_id, self._clock())
        self._thinking_since.setdefault(event.block_id, self._clock())
        reply.thinking[event.block_id] = reply.thinking.get(event.block_id, "") + event.text
        reply.thinking_open = event.block_id
        self.touch(reply.id)

    def _block_finished(self, reply_id: str, block_id: str) -> None:
        item = self.items.get(f"t:{block_id}")
        if isinstance(item, TextItem):
            item.growing = False
            self.touch(item.id)
        reply = self.items.get(f"h:{reply_id}")
        if isinstance(reply, ReplyItem) and block_id in reply.thinking:
            since = self._thinking_since.pop(block_id, self._clock())
            reply.thinking_us += max(0, self._clock() - since)
            if reply.thinking_open == block_id:
                reply.thinking_open = ""
            self.touch(reply.id)

    def _tool_event(self, event: ev.Event) -> None:
        match event:
            case ev.ToolCallStarted(reply_id=reply_id, op_id=op_id, call_id=call_id, name=name):
                self._reply(reply_id, self._clock())
                if self._tool(op_id) is None:
                    self._add(ToolItem(f"o:{op_id}", reply_id, op_id, call_id, name))
                return
            case ev.ToolCallReady():
                item = self._tool(event.op_id)
                if item is None:
                    self._reply(event.reply_id, self._clock())
                    item = ToolItem(
                        f"o:{event.op_id}", event.reply_id, event.op_id, event.call_id, event.name
                    )
                    self._add(item)
                item.input, item.args = event.arguments, event.parsed
                self.touch(item.id)
                return
            case ev.ToolFinished(op_id=op_id, result=result):
                if (item := self._tool(op_id)) is not None:
                    self._result(
                        item,
                        event.state,
                        result.text(),
                        dict(result.metadata),
                        event.seconds,
                        event.offloaded,
                        event.whole_bytes,
                    )
                return
            case _:
                pass
        item = self._tool(getattr(event, "op_id", "") or "")
        if isinstance(event, ev.ApprovalRequested):
            item = self._tool(event.approval.op_id)
        if item is None:
            return
        match event:
            case ev.ToolCallDelta(arguments=text):
                item.input += text
            case ev.ApprovalRequested() | ev.QuestionAsked():
                item.status = "waiting"
            case ev.ApprovalDecided(allowed=allowed, by=by):
                item.status = "arguments" if allowed else "denied"
                item.decided = by
            case ev.ToolStarted():
                item.status = "running"
            case ev.ToolOutput(text=text):
                self.tool_output += len(text)
                whole = item.output + text
                item.dropped += max(0, len(whole) - LIVE_CHARS)
                item.output = whole[-LIVE_CHARS:]
            case _:
                return
        self.touch(item.id)
