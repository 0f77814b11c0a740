"""A folded session as bytes, so that opening does not replay everything there ever was.

A snapshot is a projection of the records up to a sequence number, never the truth: one that does
not fit this version, or cannot be read, is passed over and the journal replayed instead.
"""

from __future__ import annotations

import dataclasses
import json
import logging
from typing import Any

from desktop_app.core.context.applying import record_from
from desktop_app.core.context.guards import Guards
from desktop_app.core.context.kept import Kept
from desktop_app.core.state import AgentState
from desktop_app.core.tools.background import Command, Ending

from .folded import Folded, Waiting

logger = logging.getLogger(__name__)

VERSION = 8  # of what a record means to the fold: raise it when a handler changes
EVERY = 200  # records between two snapshots


def dump(now: Folded, read: bytes = b"") -> bytes:
    """``now`` as lines of JSON: all but the state, the state, and what was ``read`` of its messages
    (``kept.dump``). Nothing may change it meanwhile."""
    body: dict[str, Any] = {
        "v": VERSION,
        "waiting": [dataclasses.asdict(w) for w in now.waiting.values()],
        "commands": [dataclasses.asdict(c) for c in now.commands.values()],
        "guards": now.guards.to_body(),
        "log": [dataclasses.asdict(c) for c in now.log],
        "undo_blobs": [[gen, sha] for gen, sha in now.undo_blobs.items()],
    }
    for name in _PLAIN:
        body[name] = getattr(now, name)
    told = json.dumps(body, ensure_ascii=True, separators=(",", ":")).encode()
    return b"\n".join([told, now.state.to_json().encode(), read])


_PLAIN = (
    "title",
    "titled_by",
    "model",
    "effort",
    "policy",
    "config",
    "open_reply",
    "decided",
    "files",
    "attempts",
    "head",
    "last_us",
    "turns",
    "counts",
    "anchored",
    "cost",
    "turn_cost",
)


def load(data: bytes, seq: int) -> Folded | None:
    """The session at ``seq``; None when the bytes are of another version or damaged."""
    try:
        told, _, rest = data.partition(b"\n")
        state, _, read = rest.partition(b"\n")
        body = json.loads(told)
        if body.get("v") != VERSION or body.get("head") != seq:
            return None
        # Until 0.1 the state was in the same line.
        whole = state or json.dumps(body["state"])
        now = Folded(AgentState.model_validate_json(whole))
        now.kept = Kept(read, now.state.context) if read else None
        for name in _PLAIN:
            setattr(now, name, body[name])
        now.waiting = {w["op_id"]: Waiting(**w) for w in body["waiting"]}
        now.commands = {c["id"]: _command(c) for c in body["commands"]}
        now.guards = Guards.from_body(body["guards"])
        now.log = [record_from(c) for c in body["log"]]
        now.undo_blobs = {int(gen): str(sha) for gen, sha in body["undo_blobs"]}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        logger.warning("a snapshot is passed over: %s", error)
        return None
    return now


def _command(value: dict[str, Any]) -> Command:
    ended = value.pop("ended")
    return Command(**value, ended=Ending(**ended) if ended is not None else None)
