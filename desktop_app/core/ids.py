"""Identifiers and times, made in one place so that tests can hold them still.

Ids that came from outside (a model, a file, the network) are never used as a path: ``safe_name``
turns any string into one file name, ``check_id`` refuses what cannot be one.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable
from datetime import datetime

from .errors import SessionError

_SAFE = re.compile(r"[A-Za-z0-9_\-\u4e00-\u9fff][A-Za-z0-9_.\-\u4e00-\u9fff]{0,119}")
# Windows refuses these as file names whatever the extension (Microsoft, "Naming Files").
_RESERVED = {"con", "prn", "aux", "nul"} | {f"{d}{i}" for d in ("com", "lpt") for i in range(10)}


def _random_id() -> str:
    """``uuid4().hex`` (RFC 9562, 5.4) at a third of its cost."""
    bits = int.from_bytes(os.urandom(16), "big")
    return f"{bits & _FREE | _VERSION:032x}"


_VERSION = 4 << 76 | 2 << 62  # version 4, variant 10
_FREE = (1 << 128) - 1 & ~(15 << 76 | 3 << 62)
_new_id: Callable[[], str] = _random_id
_now: Callable[[], float] = time.time


def new_id() -> str:
    """A fresh id: uuid4 as 32 hexadecimal digits, as AgentScope makes them."""
    return _new_id()


def now_us() -> int:
    """Microseconds since the epoch. For display only: order is always the sequence number."""
    return int(_now() * 1_000_000)


def now_iso() -> str:
    """Naive local ISO time with microseconds, as AgentScope writes it."""
    return datetime.fromtimestamp(_now()).isoformat(timespec="microseconds")


def set_factories(
    *, ids: Callable[[], str] | None = None, clock: Callable[[], float] | None = None
) -> None:
    """Replace the makers of ids and times; ``None`` restores the real one. For tests."""
    global _new_id, _now
    _new_id = ids or _random_id
    _now = clock or time.time


def is_safe_name(text: str) -> bool:
    """Whether ``text`` may be used as one file name on every system as it stands."""
    return (
        _SAFE.fullmatch(text) is not None
        and text.split(".", 1)[0].lower() not in _RESERVED
        and not text.endswith(".")
    )


def check_id(kind: str, text: str) -> str:
    """``text`` if it may name a file; else SessionError ``id.unsafe``."""
    if not is_safe_name(text):
        raise SessionError("id.unsafe", kind=kind, id=text[:80])
    return text


def safe_name(text: str) -> str:
    """A file name for any id: the id itself where it is safe, else its safe part and a hash.

    Injective in practice (64 bits of SHA-256), so two ids never share a file.
    """
    if is_safe_name(text):
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    kept = re.sub(r"[^A-Za-z0-9_\-]+", "_", text)[:40].strip("_")
    return f"{kept}-{digest}" if kept else f"x-{digest}"
