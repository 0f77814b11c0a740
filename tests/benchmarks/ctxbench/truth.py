"""Real tokenizers: how many tokens a prompt is, whatever anybody estimated.

``o200k`` ships with the program. The others come in the bench's own environment
(packaging/requirements-bench.lock), where a child process counts.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from desktop_app.core.context.tokens import Counter, load_counter
from desktop_app.core.models.base import ModelInfo

from .events import Prompt

FRAME = 4  # tokens that a chat template puts around each message
TOKENIZERS = ("deepseek-v4", "qwen-3.5", "o200k")
CHILD = Path(__file__).with_name("child_tokens.py")


class Scales:
    """One tokenizer. Each text is counted once."""

    def __init__(self, name: str, python: str = "") -> None:
        self.name = name
        self._known: dict[str, int] = {}
        self._child: subprocess.Popen[str] | None = None
        self._ranks: Counter | None = None
        self.seconds = 0.0  # CPU of this process that went into counting
        if name == "o200k":
            info = ModelInfo("o200k", "o200k", 1, 1, tokenizer="o200k_base")
            self._ranks = asyncio.run(load_counter(info))
            assert self._ranks.name.startswith("ranks"), "the ranks that ship are not whole"
        else:
            self._child = subprocess.Popen(
                [python, str(CHILD), name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )

    def count(self, text: str) -> int:
        return self.count_all([text])[0]

    def count_all(self, texts: Iterable[str]) -> list[int]:
        started = time.process_time()
        wanted = list(texts)
        new = list(dict.fromkeys(t for t in wanted if t not in self._known))
        if new:
            self._known.update(zip(new, self._measure(new), strict=True))
        counts = [self._known[t] for t in wanted]
        self.seconds += time.process_time() - started
        return counts

    def _measure(self, texts: list[str]) -> list[int]:
        whole = [t.encode("utf-8", "replace").decode() for t in texts]
        if self._ranks is not None:
            return [int(self._ranks.count(t)) for t in whole]
        assert self._child is not None
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(json.dumps(whole) + "\n")
        self._child.stdin.flush()
        return json.loads(self._child.stdout.readline())

    def prompt(self, prompt: Prompt) -> int:
        """The whole input: fixed part, messages, frames."""
        texts = [p.render() for p in prompt.pieces]
        return self.count(prompt.fixed) + sum(self.count_all(texts)) + FRAME * (len(texts) + 1)

    def forget(self) -> None:
        """Between streams, whose texts do not repeat."""
        self._known.clear()

    def close(self) -> None:
        if self._child is not None and self._child.stdin is not None:
            self._child.stdin.close()
            self._child.wait(10)
            self._child = None
