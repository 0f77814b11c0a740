"""What can be done about a compaction that failed."""

from __future__ import annotations

_OF_THE_MODEL = ("compaction.failed", "compaction.cut", "compaction.empty")


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
