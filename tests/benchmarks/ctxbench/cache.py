"""Results of peers, which do not change when our own code does: kept by stream and version.

One file, ``tests/data/ctxbench/peers.json``, small enough to be in the repository: with it the
tables and charts can be made anew without any peer.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .judge import KEPT
from .matrix import VERSION
from .report import COLUMNS, WRONG

FILE = Path(__file__).parents[2] / "data" / "ctxbench" / "peers.json"
NUMBERS = (*COLUMNS, "largest", "said", "prompts")


def load(file: Path = FILE) -> dict[str, dict[str, Any]]:
    """Rows by ``matrix.key``; none when they were made by another version."""
    try:
        whole = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    if whole["version"] != VERSION:
        return {}
    return {name: _unpacked(row) for name, row in whole["rows"].items()}


def save(rows: dict[str, dict[str, Any]], file: Path = FILE) -> None:
    """Rows of peers, one a line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        f"{json.dumps(name)}: {json.dumps(_packed(row), separators=(',', ':'))}"
        for name, row in sorted(rows.items())
    ]
    body = ",\n".join(lines)
    text = f'{{"version": {VERSION}, "rows": {{\n{body}\n}}}}\n'
    temporary = file.with_suffix(".new")
    temporary.write_text(text, "utf-8")
    temporary.replace(file)


def _packed(row: dict[str, Any]) -> list[Any]:
    def short(value: float | None) -> float | None:
        return None if value is None else round(value, 4)

    return [
        row["stream"][:16],
        short(row["score"]),
        [short(row["visible"][k]) for k in KEPT],
        [short(row["reachable"][k]) for k in KEPT],
        [row["wrong"][k] for k in WRONG],
        [row[k] for k in NUMBERS],
        row["error"][:80],
    ]


def _unpacked(row: list[Any]) -> dict[str, Any]:
    stream, score, visible, reachable, wrong, numbers, error = row
    return {
        "stream": stream,
        "score": score,
        "visible": dict(zip(KEPT, visible, strict=True)),
        "reachable": dict(zip(KEPT, reachable, strict=True)),
        "wrong": dict(zip(WRONG, wrong, strict=True)),
        "error": error,
        **dict(zip(NUMBERS, numbers, strict=True)),
    }
