"""What an undo of a compaction puts back. It is as long as what left, so it is written out only
when somebody wants it; what may change meanwhile (marks beside the text) is noted at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from desktop_app.core.asleep import Sleepers, asleep, read
from desktop_app.core.messages import AnyBlock, Msg, ToolResultBlock

from .build import slipway

_KEYS = ("messages", "outputs", "former", "written")


def _marks_of(block: AnyBlock) -> dict[str, Any]:
    return block.metadata if isinstance(block, ToolResultBlock) else {}


class WayBack(Mapping[str, Any]):
    """``messages`` that left as JSON has them, ``outputs`` that were replaced in place, the
    ``former`` summary and part, how far the offload had ``written``: as ``applying.undo`` reads
    them, as they were when this was made."""

    def __init__(
        self,
        left: Sequence[Msg],
        outputs: list[dict[str, Any]],
        former: dict[str, Any],
        written: list[Any] | None,
    ) -> None:
        self._left = list(left)
        # What is asleep is as it was stored, whatever becomes of it.
        self._stored = Sleepers(left)
        self._marks: dict[tuple[int, int], dict[str, Any]] = {}
        for place in self._stored.awake:
            msg = left[place]
            if msg.metadata or any(map(_marks_of, msg.content)):
                self._mark_all(place, msg)
        self._plain = {"outputs": outputs, "former": former, "written": written}

    def _mark_all(self, place: int, msg: Msg) -> None:
        if msg.metadata:
            self._marks[place, -1] = dict(msg.metadata)
        for at, block in enumerate(msg.content):
            if block.type == "tool_result" and (marks := _marks_of(block)):
                self._marks[place, at] = dict(marks)

    @classmethod
    def of(cls, undo: Mapping[str, Any]) -> WayBack:
        """One as it is, or what was read from the journal."""
        if isinstance(undo, WayBack):
            return undo
        left = [Msg.model_validate(m) for m in undo["messages"]]
        return cls(left, undo["outputs"], undo["former"], undo["written"])

    def still(self, place: int, here: Msg, *, whole: bool) -> bool:
        """Whether ``here`` begins with the message that left as number ``place``, its marks as they
        were; ``whole`` that nothing came to it."""
        if here is self._left[place] and asleep(here):
            return True
        left, now = self._was(place), here.content
        if here.id != left.id or (len(now) != len(left.content) if whole else False):
            return False
        if len(now) < len(left.content) or slipway(here.metadata) != self._mark(place, -1):
            return False
        for at, was in enumerate(left.content):
            block = now[at]
            if block is not was and block.id != was.id:
                return False
            pinned = isinstance(block, ToolResultBlock) and slipway(block.metadata).get("pinned")
            if bool(pinned) != bool(self._mark(place, at).get("pinned")):
                return False
        return True

    def _was(self, place: int) -> Msg:
        """A message that left; one that was asleep, as it was then."""
        if (raw := self._stored.take(place)) is not None:
            self._left[place] = read(raw)
            self._mark_all(place, self._left[place])
        return self._left[place]

    def _mark(self, place: int, at: int) -> dict[str, Any]:
        mark = self._marks.get((place, at))
        return slipway(mark) if mark else {}

    def to_json(self, more: Mapping[str, Any]) -> bytes:
        """All of it and ``more``, as one object; messages are written as they are kept."""
        messages = ",".join(self._json(place, msg) for place, msg in enumerate(self._left))
        rest = json.dumps({**self._plain, **more}, ensure_ascii=True, separators=(",", ":"))
        return f'{{"messages":[{messages}],{rest[1:]}'.encode()

    def _json(self, place: int, msg: Msg) -> str:
        if (raw := self._stored.get(place)) is not None:
            return bytes(raw).decode()
        marks = self._marks
        same = msg.metadata == marks.get((place, -1), {}) and all(
            block.metadata == marks.get((place, at), {})
            for at, block in enumerate(msg.content)
            if isinstance(block, ToolResultBlock)
        )
        if same:
            return msg.to_json()
        return json.dumps(self._written_out(place, msg), ensure_ascii=True, separators=(",", ":"))

    @cached_property
    def _messages(self) -> list[dict[str, Any]]:
        return [self._written_out(place, msg) for place, msg in enumerate(self._left)]

    def _written_out(self, place: int, msg: Msg) -> dict[str, Any]:
        if (raw := self._stored.get(place)) is not None:
            return read(raw).model_dump()
        out = msg.model_dump()
        out["metadata"] = self._marks.get((place, -1), {})
        for at, block in enumerate(out["content"]):
            if isinstance(msg.content[at], ToolResultBlock):
                block["metadata"] = self._marks.get((place, at), {})
        return out

    def __getitem__(self, key: str) -> Any:
        return self._messages if key == "messages" else self._plain[key]

    def __iter__(self) -> Iterator[str]:
        return iter(_KEYS)

    def __len__(self) -> int:
        return len(_KEYS)
