"""What an undo of a compaction puts back. It is as long as what left, so it is written out only
when somebody wants it; what may change meanwhile (marks beside the text) is noted at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from desktop_app.core.messages import Msg, ToolResultBlock

_KEYS = ("messages", "outputs", "former", "written")


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
        self._marks: dict[tuple[int, int], dict[str, Any]] = {}
        for place, msg in enumerate(left):
            if msg.metadata:
                self._marks[place, -1] = dict(msg.metadata)
            for at, block in enumerate(msg.content):
                if isinstance(block, ToolResultBlock) and block.metadata:
                    self._marks[place, at] = dict(block.metadata)
        self._plain = {"outputs": outputs, "former": former, "written": written}

    @cached_property
    def _messages(self) -> list[dict[str, Any]]:
        return [self._written_out(place, msg) for place, msg in enumerate(self._left)]

    def _written_out(self, place: int, msg: Msg) -> dict[str, Any]:
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
