"""What fills the windows of agents: logs, JSON, code, prose, listings, base64. Seeded."""

from __future__ import annotations

import base64
import json
from random import Random
from typing import Any

KINDS = ("log", "json", "code", "prose", "list", "zh", "base64")
WEIGHTS = (30, 20, 18, 14, 8, 6, 4)

_WORDS = (
    "the service restarted after the deployment and the worker picked up queued jobs while "
    "metrics were collected by the agent running on every node in the cluster before the "
    "scheduler drained old replicas and a reviewer asked for one more table in the report"
)
_EN = _WORDS.split()
_ZH = (
    "服务在部署之后重启队列里的任务由工人继续处理节点上的代理收集指标报表每天生成一次结果写入数据库"
)


def noise(rng: Random, length: int, kind: str) -> str:
    """About ``length`` characters."""
    return _MAKERS[kind](rng, length)


def _log(rng: Random, length: int) -> str:
    lines: list[str] = []
    for _ in range(max(1, length // 125)):
        lines.append(
            f"2026-11-{rng.randrange(1, 28):02d}T{rng.randrange(24):02d}:{rng.randrange(60):02d}:"
            f"{rng.randrange(60):02d}.{rng.randrange(1000):03d}Z INFO [w-{rng.randrange(8)}] "
            f"req={rng.getrandbits(128):032x} status={rng.choice((200, 404, 500))} "
            f"dur={rng.randrange(3000)}ms path=/api/v1/items/{rng.randrange(10**6)}"
        )
    return "\n".join(lines)


def _json(rng: Random, length: int) -> str:
    rows: list[dict[str, Any]] = [
        {
            "id": rng.randrange(10**6),
            "name": f"item-{n}",
            "price": round(rng.random() * 99, 2),
            "ok": bool(n % 2),
        }
        for n in range(max(1, length // 60))
    ]
    return json.dumps(rows)


def _code(rng: Random, length: int) -> str:
    pieces: list[str] = []
    for _ in range(max(1, length // 130)):
        number = rng.randrange(999)
        pieces.append(
            f"    def method_{number}(self, value: int) -> int:\n"
            f'        """Return the adjusted value."""\n'
            f"        return value * {rng.randrange(99)} + self.offset"
        )
    return "\n".join(pieces)


def _prose(rng: Random, length: int) -> str:
    words: list[str] = []
    for n in range(max(1, length // 6)):
        word = rng.choice(_EN)
        words.append(word + ("." if n % 13 == 12 else ""))
    return " ".join(words)


def _list(rng: Random, length: int) -> str:
    return "\n".join(
        f"src/{rng.choice(_EN)}/{rng.choice(_EN)}_{rng.randrange(1000)}.{rng.choice(('py', 'ts'))}"
        for _ in range(max(1, length // 32))
    )


def _zh(rng: Random, length: int) -> str:
    pieces: list[str] = []
    for _ in range(max(1, length // 22)):
        start = rng.randrange(len(_ZH) - 20)
        pieces.append(_ZH[start : start + rng.randrange(8, 20)])
    return "，".join(pieces) + "。"


def _base64(rng: Random, length: int) -> str:
    return base64.b64encode(rng.randbytes(length * 3 // 4)).decode()


_MAKERS = {
    "log": _log,
    "json": _json,
    "code": _code,
    "prose": _prose,
    "list": _list,
    "zh": _zh,
    "base64": _base64,
}
