"""The replay half of the fold: what the journal kept of past turns."""

from __future__ import annotations

from json import JSONDecodeError, loads
from typing import Any, cast

from desktop_app.core.agent.base import HistoryEntry

from .fold_base import FoldBase
from .items import NoticeItem, TextItem, ToolItem, UserItem
from .records import data_name, output_text, said_us, shows, span_us, user_item_from


class ReplayFold(FoldBase):
    """Folds records."""

    def entry(self, entry: HistoryEntry) -> None:
        """Take one record of the history. A body that does not parse becomes a card."""
        try:
            body: Any = loads(entry.raw)
        except (JSONDecodeError, UnicodeDecodeError):
            body = None
        if not isinstance(body, dict):
            self._add(NoticeItem(f"b:{entry.seq}", "danger", "journal.record", {"seq": entry.seq}))
            return
        self._record(entry, cast("dict[str, Any]", body))

    def _record(self, entry: HistoryEntry, body: dict[str, Any]) -> None:
        reply_id = str(body.get("reply_id") or "")
        match entry.kind:
            case "user.message":
                msg: dict[str, Any] = body.get("msg") or {}
                self._user(user_item_from(msg, entry))
            case "assistant.message":
                self._drop_resumable()
                self._assistant(reply_id, body, entry.ts_us)
            case "tool.result" | "approval.decided" | "question.answered":
                self._call_record(entry, body)
            case "request.answered":
                self._request(body)
            case "compaction":
                self._compacted(body.get("record") or body, entry.ts_us)
            case "compaction.undone":
                gen = int(body.get("gen") or 0)
                if f"c:{gen}" not in self.items:
                    self.orphans.append(entry)
                self._undone(gen, entry.ts_us)
            case "turn.finished":
                if not self._has_part(reply_id):
                    self.orphans.append(entry)  # what it ends is older than this stretch
                self._finish(
                    reply_id,
                    str(body.get("reason") or "completed"),
                    body.get("code"),
                    dict(body.get("params") or {}),
                )
            case "history.damaged":
                words = {"line": body.get("line"), "bytes": body.get("bytes")}
                self._add(NoticeItem(f"b:{entry.seq}", "warning", entry.kind, words))
            case "recovered":
                self._recovered(entry, body.get("ops") or [])
            case _:
                pass

    def _call_record(self, entry: HistoryEntry, body: dict[str, Any]) -> None:
        item = self._tool(str(body.get("op_id") or ""))
        if item is None:
            self.orphans.append(entry)
        elif entry.kind == "tool.result":
            self._tool_result(item, body)
        elif entry.kind == "approval.decided":
            item.status = "arguments" if body.get("allowed") else "denied"
            item.decided = body.get("by") or "person"
            if body.get("arguments") is not None:
                item.set_input(body["arguments"])
            self.touch(item.id)

    def _recovered(self, entry: HistoryEntry, ops: list[dict[str, Any]]) -> None:
        if ops:
            unknown = sum(1 for op in ops if op.get("outcome") == "unknown")
            self._add(
                NoticeItem(
                    f"r:{entry.seq}",
                    "warning" if unknown else "info",
                    "run.recovered",
                    {"n": len(ops), "unknown": unknown},
                )
            )
        for op in ops:
            item = self._tool(str(op.get("op_id") or ""))
            if item is not None and item.status not in ("success", "error", "denied"):
                item.status = "unknown" if op.get("outcome") == "unknown" else "interrupted"
                self.touch(item.id)

    def _assistant(self, reply_id: str, body: dict[str, Any], ts_us: int) -> None:
        ops: list[str] = [str(op) for op in body.get("ops") or ()]
        blocks: list[Any] = list(body.get("blocks") or ())
        shown = [b for b in blocks if isinstance(b, dict) and shows(cast("dict[str, Any]", b))]
        if not shown:
            return
        cut = body.get("finish") == "interrupted"
        began = cast("dict[str, Any]", shown[0]).get("created_at")
        reply = self._reply(reply_id, said_us(began, ts_us), str(body.get("model") or ""))
        nth = 0
        for block in cast("list[dict[str, Any]]", shown):
            kind = block.get("type")
            block_id = str(block.get("id") or "")
            if kind == "thinking":
                reply.thinking[block_id] = str(block["thinking"])
                reply.thinking_us += span_us(block.get("created_at"), block.get("finished_at"))
                self.touch(reply.id)
            elif kind == "text":
                last = block is shown[-1]
                text = str(block["text"])
                self._add(TextItem(f"t:{block_id}", reply_id, text, stopped=cut and last))
            elif kind == "data":
                self._add(TextItem(f"t:{block_id}", reply_id, f"*{data_name(block)}*"))
            elif kind == "tool_call":
                op_id = str(block.get("op_id") or (ops[nth] if nth < len(ops) else block_id))
                nth += 1
                raw = block.get("input")
                name = str(block.get("name") or "")
                item = ToolItem(f"o:{op_id}", reply_id, op_id, block_id, name)
                item.set_input(raw if isinstance(raw, str) else "{}")
                self._add(item)

    def _has_part(self, reply_id: str) -> bool:
        for item in reversed(self.items.values()):
            if isinstance(item, TextItem | ToolItem) and item.reply_id == reply_id:
                return True
            if isinstance(item, UserItem):
                break
        return False

    def _tool_result(self, item: ToolItem, body: dict[str, Any]) -> None:
        block: dict[str, Any] = body.get("block") or {}
        offload: Any = body.get("offload")
        path = offload.get("path") if isinstance(offload, dict) else offload
        whole = body.get("whole_bytes")
        self._result(
            item,
            str(block.get("state") or "success"),
            output_text(block.get("output")),
            dict(block.get("metadata") or {}),
            float(body.get("seconds") or 0.0),
            str(path) if path else None,
            int(whole or 0) if path else 0,
        )
