"""Folds history records and live events into transcript items, in one order, by one set of rules.

``Fold.event`` takes what a run emits, ``Fold.entry`` what the journal kept; both change ``items``
(insertion order is row order) and note what changed, so that ``take`` hands out at most one change
a row however many events came in between. No Qt, no words.

Rows that only a live run has (progress, passing notices) have ids that start with ``x:``.
"""

from __future__ import annotations

from collections.abc import Collection

from desktop_app.core import events as ev

from .fold_base import Change, ChangeKind
from .fold_live import LiveFold
from .fold_replay import ReplayFold
from .items import CompactionItem, Item, NoticeItem, ReplyItem, ToolItem, UserItem

__all__ = ["Change", "ChangeKind", "Fold"]


class Fold(LiveFold, ReplayFold):
    """The items of one stretch of a session, from events, records, or both."""

    def event(self, event: ev.Event) -> None:
        """Take one event; of a session that another window writes, the records that came."""
        if isinstance(event, ev.Notice) and event.code == "followed":
            for entry in event.params["entries"]:
                self.entry(entry)
            if (asked := event.params.get("asked")) is not None:
                self._elsewhere(asked)
            return
        super().event(event)

    def prepend(self, older: Fold) -> list[Item]:
        """Join an older stretch in front; returns its items, oldest first, to be shown there.

        ``older`` has folded its own records and then our ``orphans``. A reply that the border cut
        in two becomes one again: its head moves to the older part. Changes to rows that are
        already shown are noted for ``take``.
        """
        if self.items:
            if not isinstance(next(iter(self.items.values())), UserItem):
                older._drop_resumable()
            for item in older.items.values():
                if isinstance(item, NoticeItem):
                    item.actions = ()
        has_newer = any(isinstance(i, CompactionItem) and i.newest for i in self.items.values())
        for item in older.items.values():
            if isinstance(item, CompactionItem) and has_newer:
                item.newest = False
            if isinstance(item, ReplyItem):
                self._join_head(item)
        for item_id in [i for i in older.items if i.startswith("e:") and i in self.items]:
            del older.items[item_id]  # the end of a turn that the border cut: shown already
        items = list(older.items.values())
        self.items = {**older.items, **self.items}
        self.orphans = older.orphans
        return items

    def _join_head(self, head: ReplyItem) -> None:
        ours = self.items.get(head.id)
        if isinstance(ours, ReplyItem):
            head.thinking.update(ours.thinking)
            head.thinking_us += ours.thinking_us
            head.thinking_open = ours.thinking_open
            head.model = head.model or ours.model
            self.remove(ours.id)

    def settle(self, waiting: Collection[str], *, running: bool, elsewhere: bool = False) -> None:
        """After a replay: which calls wait for the person, and which never got a result.
        ``elsewhere``: another window or program is at work in the session."""
        if elsewhere:
            self._elsewhere(waiting)
            return
        for item in self.items.values():
            if not isinstance(item, ToolItem) or item.status not in ("arguments", "running"):
                continue
            if item.op_id in waiting:
                item.status = "waiting"
            elif running or waiting:
                continue
            else:
                item.status = "unknown"
            self.touch(item.id)

    def _elsewhere(self, asked: Collection[str]) -> None:
        """A call that is in the journal was written to its end: where it is not asked about it
        runs, as far as can be seen from here."""
        for item in self.items.values():
            if isinstance(item, ToolItem) and item.status in ("arguments", "running", "waiting"):
                item.status = "waiting" if item.op_id in asked else "running"
                self.touch(item.id)
