"""What every journal does alike: record bodies to bytes, operations merged, and the hash chain."""

from __future__ import annotations

import hashlib
import json
import zlib
from typing import Any

from desktop_app.core.errors import SessionError

from .base import Operation, OpState, OpUpdate, SessionKey

TERMINAL: frozenset[OpState] = frozenset({"done", "failed", "unknown", "cancelled"})
_TEXT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_ASCII = json.JSONEncoder(separators=(",", ":"))
GENESIS = bytes(32)
"""The hash before the first record."""


def encode(body: dict[str, Any]) -> bytes:
    """A body as compact UTF-8 JSON. A lone surrogate (half an emoji that a model or a cut left
    behind) is escaped, so that it comes back as it went in."""
    try:
        return _TEXT.encode(body).encode()
    except UnicodeEncodeError:
        return _ASCII.encode(body).encode()


def digest(raw: bytes) -> bytes:
    """SHA-256 of a body, 32 bytes; also the name of its blob when it is kept as a file."""
    return hashlib.sha256(raw).digest()


def head_of(seq: int, kind: str, v: int, ts_us: int, ignorable: bool) -> bytes:
    """What of a record is beside its body, as bytes for ``check`` and ``link``."""
    return f"{seq}\x00{kind}\x00{v}\x00{ts_us}\x00{int(ignorable)}\x00".encode()


def check(head: bytes, body: bytes) -> int:
    """CRC-32 of a record: cheap enough to be checked at every read."""
    return zlib.crc32(body, zlib.crc32(head))


def link(previous: bytes, head: bytes, body_sha: bytes) -> bytes:
    """The chain's next hash. ``previous`` is the hash of the record before (``GENESIS`` before
    the first) and ``body_sha`` the SHA-256 of the body, so that no field of any earlier record can
    change, vanish or move without every later hash being wrong."""
    return hashlib.sha256(previous + head + body_sha).digest()


def merge_op(old: Operation | None, new: OpUpdate, *, gen: int, seq: int) -> Operation:
    """``old`` after ``new``, written by generation ``gen`` beside the record ``seq``.

    An update without a tool changes the state only. Raises SessionError ``operation.repeated``
    when an unsafe operation would start a second time in the same attempt.
    """
    if (
        old is not None
        and new.state == "intent"
        and old.intent_seq is not None
        and old.effect not in ("read", "idempotent")
        and new.attempt <= old.attempt
    ):
        raise SessionError("operation.repeated", op_id=new.op_id, tool=old.tool)
    what = new if new.tool or old is None else old
    return Operation(
        op_id=new.op_id,
        state=new.state,
        tool=what.tool,
        call_id=what.call_id,
        effect=what.effect,
        args_sha=what.args_sha,
        attempt=max(new.attempt, old.attempt if old else 1),
        writer_gen=gen,
        intent_seq=seq if new.state == "intent" else (old.intent_seq if old else None),
        result_seq=seq if new.state in TERMINAL else (old.result_seq if old else None),
    )


def created_ids(key: SessionKey) -> dict[str, str]:
    """The three ids as ``session.created`` carries them."""
    return {"user_id": key.user_id, "agent_id": key.agent_id, "session_id": key.session_id}
