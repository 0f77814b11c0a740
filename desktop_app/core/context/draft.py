"""A planned compaction: what leaves, what is masked, and the ledger of it. Nothing is done yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from desktop_app.core.messages import Msg
from desktop_app.core.state import AgentState

from .applying import plain_summary
from .build import compaction_part, summary_text, whole_summary
from .ledger import Ledger
from .masking import Mask
from .types import Breakdown
from .way_back import WayBack


@dataclass(slots=True)
class Draft:
    """A plan on ``state``. ``places`` are the messages that leave whole, ``front`` the one whose
    first ``front_blocks`` blocks leave; masks are placed as in ``state``."""

    state: AgentState
    before: Breakdown | None  # as it was shown, where it was
    weight: tuple[int, int]  # total and upper estimate as a compaction's are made, unmeasured
    ledger: Ledger
    tier: int
    places: list[int] = field(default_factory=list[int])
    front: int | None = None
    front_blocks: int = 0
    masks: list[Mask] = field(default_factory=list[Mask])
    covered: list[Msg] = field(default_factory=list[Msg])
    until: tuple[int, Msg | None] = (0, None)  # up to the cut: so many messages, a part of the next
    offloaded: list[Msg] = field(default_factory=list[Msg])
    written: list[Any] | None = None  # how far the offload reaches, in the state as it is
    dropped: frozenset[str] = frozenset()  # ids that a person leaves out of the prompt
    level: int = 0  # how far the ledger gave way: ``levels``
    found: float = 0.0  # raw tokens of its decisions and facts
    noted: float = 0.0  # and of its narratives
    spare: float = 0.0  # raw tokens left to the target
    rejected: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    _gone: tuple[list[int], set[int]] = field(default_factory=lambda: ([], set()), repr=False)

    @property
    def gone(self) -> set[int]:
        """``places`` for looking up."""
        of, gone = self._gone
        if of is not self.places:
            gone = set(self.places)
            self._gone = self.places, gone
        return gone

    def summary_text(self) -> str:
        """``AgentState.summary`` after it. Masking alone leaves the summary as it is."""
        if self.tier == 1:
            return summary_text(self.state)
        return whole_summary(self.ledger.pinned, self.ledger.history)

    def covered_blocks(self) -> dict[str, list[str]]:
        if self.front is None:
            return {}
        msg = self.state.context[self.front]
        return {msg.id: [b.id for b in msg.content[: self.front_blocks]]}

    def gone_from(self, message: int) -> int:
        """How many first blocks of a message leave."""
        return self.front_blocks if message == self.front else 0

    def leaves(self, mask: Mask) -> bool:
        """Whether a masked result leaves anyway."""
        if mask.message in self.gone:
            return True
        return mask.message == self.front and mask.block < self.front_blocks

    def mask_entries(self) -> list[dict[str, Any]]:
        return [
            {
                "message": self.state.context[m.message].id,
                "block": m.block - self.gone_from(m.message),
                "text": m.text,
                **({"inner": list(m.inner)} if m.inner else {}),
            }
            for m in self.masks
        ]

    def way_back(self) -> WayBack:
        """What ``applying.undo`` needs."""
        outputs = [
            {
                "message": self.state.context[m.message].id,
                "block": m.block - self.gone_from(m.message),
                "former": m.former.model_dump(),
            }
            for m in self.masks
        ]
        former = {"summary": plain_summary(self.state), "part": compaction_part(self.state)}
        return WayBack(self.covered, outputs, former, self.written)
