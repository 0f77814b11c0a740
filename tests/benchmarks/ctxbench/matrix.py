"""What is compared with what, and one run of it."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .baselines import Masking, Truncation
from .events import Stream
from .generate import Shape, generate
from .judge import judge
from .ours import Ours, OursBlind
from .peers import AgentScope, LangChain, LangChainTuned
from .summarise import Summariser
from .system import System
from .truth import TOKENIZERS, Scales

VERSION = 1  # of the judge, the summarisers and the drivers: a change makes former results void
MANY, FEW = 20, 5


@dataclass(frozen=True, slots=True)
class Arm:
    """A system as it is compared. ``mode`` is the summariser it always has; None takes the
    configuration's. ``python`` names the variable with the environment it needs."""

    name: str
    system: Callable[..., System]
    mode: str | None = None
    python: str = ""
    ours: bool = False


PEER, BENCH = "SLIPWAY_PEER_PYTHON", "SLIPWAY_BENCH_PYTHON"
ARMS = (
    Arm("truncation", Truncation, "down"),
    Arm("masking", Masking, "down"),
    Arm("langchain", LangChain, python=BENCH),
    Arm("langchain-tuned", LangChainTuned, python=BENCH),
    Arm("agentscope", AgentScope, python=PEER),
    Arm("ours-blind", OursBlind, "down", ours=True),
    Arm("ours-ledger", Ours, "down", ours=True),
    Arm("ours", Ours, ours=True),
)
TITLES = {
    "truncation": "Truncation",
    "masking": "Observation masking",
    "langchain": "LangChain 1.5.2, default",
    "langchain-tuned": "LangChain 1.5.2, keep 10 %, no trim",
    "agentscope": "AgentScope 2.0.11",
    "ours-blind": "Slipway, no model, no digest of results",
    "ours-ledger": "Slipway, no model",
    "ours": "Slipway, with model",
}


USUAL = Shape(steps=220)
NAMES = {"other": "held-out words"}


@dataclass(frozen=True, slots=True)
class Config:
    """One column of the comparison."""

    mode: str
    window: int = 32_000
    shape: Shape = USUAL
    seeds: int = FEW

    @property
    def name(self) -> str:
        """What differs from the usual, for tables."""
        flags = {k: v for k, v in asdict(self.shape).items() if k != "steps"}
        kind = "".join(f", {NAMES.get(n, n)}" for n, on in flags.items() if on)
        return f"{self.mode}, {self.window // 1000}k, {self.shape.steps} steps{kind}"


LONG = 220
MAIN = tuple(Config(mode, seeds=MANY) for mode in ("perfect", "lossy", "failing"))
REST = (
    *(
        Config(mode)
        for mode in ["down", "empty", "cut", "verbose", "mutating", "inventing", "obeying", "slow"]
    ),
    Config("lossy", 16_000, Shape(120)),
    Config("lossy", 128_000, Shape(500)),
    Config("failing", shape=Shape(LONG, blobs=True)),
    Config("lossy", shape=Shape(LONG, chatty=True)),
    Config("lossy", shape=Shape(LONG, surrogates=True)),
    Config("down", shape=Shape(LONG, other=True)),
    Config("lossy", shape=Shape(LONG, other=True)),
    Config("lossy", shape=Shape(LONG, chatty=True, other=True)),
)


def runs(configs: Iterable[Config], arms: Iterable[Arm]) -> Iterator[tuple[Arm, Config, int]]:
    """Every run once: an arm that always has the same summariser runs once for a kind of stream."""
    seen: set[str] = set()
    for config in configs:
        for seed in range(config.seeds):
            for arm in arms:
                if (name := key(arm, config, seed)) not in seen:
                    seen.add(name)
                    yield arm, config, seed


def key(arm: Arm, config: Config, seed: int) -> str:
    """The name of a run among the results."""
    on = {k: v for k, v in asdict(config.shape).items() if v}
    shape = json.dumps(on, separators=(",", ":"))
    return f"{arm.name} {arm.mode or config.mode} {config.window} {shape} {seed}"


def tokenizer(seed: int) -> str:
    """Each seed is counted by one of the tokenizers, the same for all arms."""
    return TOKENIZERS[seed % len(TOKENIZERS)]


class Bench:
    """Runs one after the other; keeps the tokenizers loaded."""

    def __init__(self, only_shipped: bool = False) -> None:
        self._scales: dict[str, Scales] = {}
        self._stream: tuple[Any, Stream] | None = None
        self._only_shipped = only_shipped

    def close(self) -> None:
        for scales in self._scales.values():
            scales.close()

    def stream(self, config: Config, seed: int) -> Stream:
        if self._stream is None or self._stream[0] != (config.shape, seed):
            for scales in self._scales.values():
                scales.forget()
            self._stream = (config.shape, seed), generate(seed, config.shape)
        return self._stream[1]

    def scales(self, seed: int) -> Scales:
        name = "o200k" if self._only_shipped else tokenizer(seed)
        if name not in self._scales:
            self._scales[name] = Scales(name, os.environ.get(BENCH, ""))
        return self._scales[name]

    def run(self, arm: Arm, config: Config, seed: int) -> dict[str, Any]:
        """One system on one stream; its row."""
        stream, scales = self.stream(config, seed), self.scales(seed)
        model = Summariser(stream, arm.mode or config.mode, scales.count)
        more = {"python": os.environ[arm.python]} if arm.python else {}
        with tempfile.TemporaryDirectory() as temp:
            system = arm.system(stream, config.window, scales, model, Path(temp), **more)
            archive = asyncio.run(_whole(system))
            final = scales.prompt(system.last)
            found = judge(stream, system.last, archive, model.bad, final <= config.window)
        counts = system.counts
        prefix = counts.kept_prefix
        return {
            **{k: found[k] for k in ("visible", "reachable", "wrong", "score", "lost")},
            "over": counts.over,
            "refused": counts.refused,
            "largest": counts.largest,
            "orphans": counts.orphans,
            "twice": counts.twice,
            "prompts": counts.prompts,
            "prefix": sum(prefix) / len(prefix),
            "broken_prefix": counts.broken_prefix,
            "compactions": system.compactions,
            "calls": model.calls,
            "read": model.read,
            "errors": len(system.errors),
            "error": system.errors[0] if system.errors else "",
            "final": final,
            "said": scales.count(stream.said()),
            "stream": stream.digest(),
        }


async def _whole(system: System) -> str:
    try:
        await system.replay()
        return system.archive()
    finally:
        await system.close()
