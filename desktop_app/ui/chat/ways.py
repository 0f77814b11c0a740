"""What can be done about a turn or a compaction that failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OF_THE_MODEL = ("compaction.failed", "compaction.cut", "compaction.empty")


CERTIFICATES = ("model.certificate", "model.certificate_changed")


def ways_of_turn(code: str, params: Mapping[str, Any], way: str) -> tuple[str, ...]:
    """Ids, the safest first, for a turn that ended with ``code``; ``way`` is what every one has."""
    if code in CERTIFICATES and params.get("seen"):
        return (way, "trust_certificate")  # the first one is the button to press
    return (way,)


def ways_after(code: str) -> tuple[str, ...]:
    """Ids, the best first: "compact" (once more), "compact_plain" (without the model),
    "choose_model" (another one). None where it would come out the same."""
    match code:
        case "compaction.not_smaller":
            return ()
        case "compaction.stopped" | "compaction.stale" | "compaction.mismatch":
            return ("compact",)
        case "compaction.cannot_fit":
            return ("choose_model",)
        case _ if code in _OF_THE_MODEL or code.startswith("model."):
            return ("compact", "compact_plain", "choose_model")
        case _:
            return ("compact",)
