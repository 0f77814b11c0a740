"""What is done when a model call fails before anything of its answer was shown.

Errors that may pass are tried again after a wait that doubles; a provider that names a time is
heard, unless it is longer than anybody would sit and watch. Then the fallback model answers, if
there is one. A request that proves too long is made shorter; where the provider complains of the
answer that is asked for, a shorter one is asked for.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from desktop_app.core.errors import ModelError
from desktop_app.core.messages import AnyBlock, TextBlock, Usage
from desktop_app.core.models.base import ModelInfo

TRIES = 4  # repeats of one call
FIRST_WAIT = 1.0  # seconds; doubles
LONGEST_WAIT = 60.0  # a provider that asks for more is taken at its word: the turn ends
SHORTENED = 3  # times that one call is made shorter: its answer, its window, its prompt
HARDLY = 8  # tokens of an answer that had no room
TOO_LONG = ("model.overflow", "model.max_output")

# A call that failed for one of these may well work with another model.
_ELSEWHERE = frozenset(
    {
        "model.rate_limited",
        "model.overloaded",
        "model.unavailable",
        "model.unreachable",
        "model.timeout",
        "model.quota",
        "model.auth",
        "model.no_key",
        "model.not_found",
        "model.proxy",
        "model.certificate",
        "model.certificate_changed",
        "model.empty",
        "model.cut",
    }
)


@dataclass(slots=True)
class Retries:
    """The repeats of one call. ``jitter`` gives a factor around 1, so that many callers of one
    provider do not come back at the same instant."""

    jitter: Callable[[], float] = lambda: random.uniform(0.8, 1.2)
    done: int = 0

    def wait(self, error: ModelError) -> float | None:
        """Seconds until the next try, or None when there is none."""
        if not error.retryable or self.done >= TRIES:
            return None
        asked: Any = error.params.get("retry_after")
        if isinstance(asked, int | float) and asked > LONGEST_WAIT:
            return None
        seconds = FIRST_WAIT * 2**self.done * self.jitter()
        self.done += 1
        return max(seconds, float(asked)) if isinstance(asked, int | float) else seconds


def cut_short(
    reason: str, usage: Usage | None, blocks: Sequence[AnyBlock], info: ModelInfo
) -> ModelError:
    """What an answer that ended at its longest length is told as. Where nothing came and next to
    nothing was counted, the prompt alone filled the window: LM Studio, llama.cpp and Ollama end
    such a call as if the answer had been long enough. Else the tokens were spent, if only on
    thinking."""
    spent = usage.output_tokens if usage is not None else 0
    whole = usage.input_tokens + spent if usage is not None else 0
    if not blocks and spent <= HARDLY:
        return ModelError("model.overflow", model=info.name, window=whole)
    if reason == "window":
        return ModelError("model.window_full", model=info.name, window=whole)
    said = any(isinstance(b, TextBlock) and b.text for b in blocks)
    return ModelError("model.length" if said else "model.thought_out", model=info.name)


def elsewhere(error: ModelError) -> bool:
    """Whether another model may answer what this one could not."""
    return error.code in _ELSEWHERE
