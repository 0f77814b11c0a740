"""What folding live events and folding records have in common: items, changes, ends of turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from desktop_app.core.agent.base import HistoryEntry
from desktop_app.core.ids import now_us
from desktop_app.ui.transcript.rows import ToolStatus

from .items import (
    RESULT_CHARS,
    CompactionItem,
    Item,
    NoticeItem,
    ReplyItem,
    TextItem,
    Tone,
    ToolItem,
    UserItem,
)
from .records import without_reminder
from .ways import ways_of_turn

ChangeKind = Literal["append", "update", "extend", "remove"]


@dataclass(slots=True)
class Change:
    """What to do to the transcript; ``text`` is what an ``extend`` adds."""

    kind: ChangeKind
    id: str
    text: str = ""


_STATUS: dict[str, ToolStatus] = {
    "success": "success",
    "error": "error",
    "interrupted": "interrupted",
    "denied": "denied",
    "running": "running",
}

# How a turn may end that is worth a card: tone, the card's code (None: the error's), its action.
_ENDINGS: dict[str, tuple[Tone, str | None, str]] = {
    "error": ("danger", None, "retry"),
    "interrupted": ("info", "run.interrupted", "continue"),
    "exceed_max_iters": ("warning", "run.max_iterations", "continue"),
}
# Errors that only cut an answer short: it goes on when the person says so.
_CUT = ("model.length", "model.thought_out", "model.window_full")


class FoldBase:
    """The items of one stretch of a session.

    ``orphans`` are records whose call is older than this stretch (it began in the middle of a
    reply); they are handed to the fold of the older stretch.
    """

    def __init__(self, *, clock: Callable[[], int] = now_us) -> None:
        self.items: dict[str, Item] = {}
        self.orphans: list[HistoryEntry] = []
        self.tool_output = 0  # characters of live output seen, for tests of the bound
        self._clock = clock
        self._changes: dict[str, Change] = {}
        self._model = ""
        self._thinking_since: dict[str, int] = {}

    # -- changes ----------------------------------------------------------------------------

    def take(self) -> list[Change]:
        """The changes since the last call, at most one a row, in an order that can be applied."""
        changes = list(self._changes.values())
        self._changes.clear()
        return changes

    def _add(self, item: Item) -> None:
        self.items[item.id] = item
        known = self._changes.pop(item.id, None)
        if known is not None and known.kind == "remove":
            # Gone and there again in one batch: the old row must go first.
            self._changes[f"{item.id}\0{len(self._changes)}"] = known
        self._changes[item.id] = Change("append", item.id)

    def put(self, item: Item) -> None:
        """Add an item of the page's own (a passing notice), or replace it in its place."""
        if item.id in self.items:
            self.items[item.id] = item
            self.touch(item.id)
        else:
            self._add(item)

    def touch(self, item_id: str) -> None:
        """Note that an item changed."""
        known = self._changes.get(item_id)
        if known is None or known.kind == "extend":
            self._changes[item_id] = Change("update", item_id)

    def _extend(self, item_id: str, text: str) -> None:
        known = self._changes.get(item_id)
        if known is None:
            self._changes[item_id] = Change("extend", item_id, text)
        elif known.kind == "extend":
            known.text += text

    def remove(self, item_id: str) -> None:
        if self.items.pop(item_id, None) is None:
            return
        known = self._changes.pop(item_id, None)
        if known is None or known.kind != "append":
            self._changes[item_id] = Change("remove", item_id)

    # -- parts that both ways share ---------------------------------------------------------

    def _reply(self, reply_id: str, ts_us: int, model: str = "") -> ReplyItem:
        item_id = f"h:{reply_id}"
        item = self.items.get(item_id)
        if not isinstance(item, ReplyItem):
            item = ReplyItem(item_id, reply_id, ts_us, model or self._model)
            self._add(item)
        elif model and not item.model:
            item.model = model
            self.touch(item_id)
        return item

    def _user(self, item: UserItem) -> None:
        for notice in list(self.items.values()):
            if isinstance(notice, NoticeItem) and notice.id.startswith("x:"):
                self.remove(notice.id)
        self._disarm()
        self._add(item)

    def _disarm(self) -> None:
        """A newer turn began: what older cards offered can no longer be done."""
        for item in reversed(self.items.values()):
            if isinstance(item, UserItem) and not item.id.startswith(
                "x:"
            ):  # not the one on its way
                break
            if isinstance(item, NoticeItem) and item.actions:
                item.actions = ()
                self.touch(item.id)

    def _drop_resumable(self) -> None:
        """The newest turn goes on: its card ("the model did not answer") is no longer true."""
        gone: list[str] = []
        for item in reversed(self.items.values()):
            if isinstance(item, UserItem):
                break
            if isinstance(item, NoticeItem) and (
                item.id.startswith("e:") or item.id in ("x:draft-notice",)
            ):
                gone.append(item.id)
            if item.id == "x:draft":
                gone.append(item.id)
            if item.id.startswith("r:") and isinstance(item, NoticeItem) and item.actions:
                item.actions = ()
                self.touch(item.id)
        for item_id in gone:
            self.remove(item_id)

    def _tool(self, op_id: str) -> ToolItem | None:
        item = self.items.get(f"o:{op_id}")
        return item if isinstance(item, ToolItem) else None

    def _result(
        self,
        item: ToolItem,
        state: str,
        text: str,
        metadata: dict[str, Any],
        seconds: float,
        offloaded: str | None,
        whole_bytes: int,
    ) -> None:
        ours: Any = metadata.get("slipway")
        lost = isinstance(ours, dict) and ours.get("code") == "tool.outcome_unknown"  # pyright: ignore[reportUnknownMemberType]
        item.status = "unknown" if lost else _STATUS.get(state, "unknown")
        text = without_reminder(text)
        item.output = text[:RESULT_CHARS]
        item.dropped = max(0, len(text) - RESULT_CHARS)
        item.metadata = metadata
        item.seconds = seconds
        item.offloaded = offloaded or ""
        item.whole_bytes = whole_bytes
        self.touch(item.id)

    def _finish(self, reply_id: str, reason: str, code: str | None, params: dict[str, Any]) -> None:
        """The end of a turn, the same from an event and from a record."""
        last: Item | None = None
        for item in reversed(self.items.values()):
            if isinstance(item, UserItem):
                break
            if getattr(item, "reply_id", None) != reply_id or isinstance(item, NoticeItem):
                continue
            last = last or item
            if isinstance(item, TextItem) and item.growing:
                item.growing = False
                self.touch(item.id)
            if isinstance(item, ToolItem) and item.status in ("arguments", "waiting", "running"):
                began = item.status == "running"  # a call that was still being written did nothing
                stopped = reason == "interrupted"
                item.status = "interrupted" if stopped else "unknown" if began else "cut"
                self.touch(item.id)
        if reason == "interrupted" and isinstance(last, TextItem):
            last.stopped = True
            self.touch(last.id)
        self.remove(f"e:{reply_id}")
        known = _ENDINGS.get(reason)
        if known is not None:
            tone, own_code, action = known
            if code in _CUT:
                tone, action = "warning", "continue"
            words = {} if reason == "interrupted" else params
            card = own_code or code or "run.failed"
            ways = ways_of_turn(card, words, action)
            self._add(NoticeItem(f"e:{reply_id}", tone, card, words, ways, reply_id))

    def _request(self, body: dict[str, Any]) -> None:
        """What a server asked and what became of it: a line of its own after the call."""
        tone: Tone = "warning" if body.get("answer") == "failed" else "info"
        words = {k: v for k, v in body.items() if k not in ("reply_id", "op_id", "tool")}
        self.put(NoticeItem(f"q:{body.get('id')}", tone, "request.answered", words))

    def _compacted(self, body: dict[str, Any], ts_us: int) -> None:
        self.remove("x:compaction")
        self.remove("x:compaction-failed")
        for item in self.items.values():
            if isinstance(item, CompactionItem) and item.newest:
                item.newest = False
                self.touch(item.id)
        gen = int(body.get("gen", 0))
        limits = body.get("limits") or {}
        self._add(
            CompactionItem(
                id=f"c:{gen}",
                gen=gen,
                ts_us=int(body.get("ts_us") or 0) or ts_us,
                before=int(body.get("before", 0)),
                after=int(body.get("after", 0)),
                window=int(limits.get("window") or 0),
                seconds=float(body.get("seconds") or 0.0),
                messages=len(body.get("covered_ids") or ()),
                pinned=int(body.get("pinned") or 0),
                pending=int(body.get("pending") or 0),
                summary=str(body.get("summary") or ""),
                compaction_id=str(body.get("id") or ""),
                cost=body.get("cost"),
                model=str(body.get("summariser") or ""),
                trigger=str(body.get("trigger") or ""),
            )
        )

    def pinned(self, ref: str, pinned: bool) -> None:
        """A message, text or result was pinned, or not any more."""
        for kind in "uot":
            item = self.items.get(f"{kind}:{ref}")
            if isinstance(item, UserItem | ToolItem | TextItem) and item.pin != pinned:
                item.pin = pinned
                self.touch(item.id)

    def _undone(self, gen: int, ts_us: int) -> None:
        item = self.items.get(f"c:{gen}")
        if isinstance(item, CompactionItem):
            item.undone_us, item.newest = ts_us, False
            self.touch(item.id)
        for other in reversed(self.items.values()):
            if isinstance(other, CompactionItem) and not other.undone_us and not other.running:
                other.newest = True
                self.touch(other.id)
                break
