"""What a person may set of a window, for an agent or a session. A dialog shows it as three shares
with their defaults, and two numbers that are empty until somebody knows better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

LEAST, MOST = 0.1, 1.0
GAP = 0.05  # between two marks, so that each has a meaning


@dataclass(frozen=True, slots=True)
class CompactionSettings:
    """``alert`` (a compaction is offered), ``danger`` (it is done) and ``target`` (down to where)
    are shares of W, in the order ``target < alert < danger``. ``window`` in tokens overrules every
    other source but the provider's own refusal; ``reserve`` in tokens is kept for the answer, at
    most half of the window. None: as the model says."""

    alert: float = 0.65
    danger: float = 0.85
    target: float = 0.45
    window: int | None = None
    reserve: int | None = None

    def problem(self) -> str:
        """The name of the first field that does not fit, by itself or with the others; empty when
        all do."""
        for name in ("target", "alert", "danger"):
            if not LEAST <= getattr(self, name) <= MOST:
                return name
        if self.alert < self.target + GAP:
            return "alert"
        if self.danger < self.alert + GAP:
            return "danger"
        for name, least in (("window", 1024), ("reserve", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                return name
        return ""

    def to_json(self) -> dict[str, Any]:
        """Only what differs from the defaults."""
        default = asdict(CompactionSettings())
        return {name: value for name, value in asdict(self).items() if value != default[name]}

    @classmethod
    def from_json(cls, value: Any) -> CompactionSettings:
        """What ``to_json`` wrote; the defaults where that does not fit (somebody edited it)."""
        fields: dict[str, Any] = {}
        for name, found in value.items() if isinstance(value, Mapping) else ():  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
            number = isinstance(found, int | float) and not isinstance(found, bool)
            if name in ("alert", "danger", "target") and number:
                fields[name] = float(found)  # pyright: ignore[reportUnknownArgumentType]
            elif name in ("window", "reserve") and number and isinstance(found, int):
                fields[name] = found
        made = cls(**fields)
        return cls() if made.problem() else made


DEFAULTS = CompactionSettings()
