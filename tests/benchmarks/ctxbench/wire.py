"""How a peer's process speaks with the bench: JSON lines. Only the standard library.

In: ``{"person": text}``; ``{"agent": {…}, "usage": [input, output]}``, the model's answer and the
results; ``{"call": true}``, make a prompt. Out: ``{"summarise": text}``, answered at once, and
``{"prompt": [numbers], "new": {number: piece}, …}``, where pieces told before are only numbered.
"""

from __future__ import annotations

import json
import sys
from typing import Any

_out = sys.stdout
_told: dict[str, int] = {}
sys.stdout = sys.stderr  # what a library prints must not get between the lines


def read() -> Any:
    """The next line; None at the end."""
    line = sys.stdin.readline()
    return json.loads(line) if line else None


def write(value: Any) -> None:
    _out.write(json.dumps(value) + "\n")
    _out.flush()


def ask(value: Any) -> Any:
    write(value)
    return read()


def piece(role: str, text: str, *, call_id: str = "", made: bool = False) -> dict[str, Any]:
    """One message of a prompt; calls are ``[id, name, arguments]``."""
    return {"role": role, "text": text, "calls": [], "call_id": call_id, "made": made}


def prompt(pieces: list[dict[str, Any]], **more: Any) -> None:
    """A prompt that goes to the model."""
    numbers: list[int] = []
    new: dict[int, Any] = {}
    for one in pieces:
        key = json.dumps(one)
        if key not in _told:
            _told[key] = len(_told)
            new[_told[key]] = one
        numbers.append(_told[key])
    write({"prompt": numbers, "new": new, **more})
