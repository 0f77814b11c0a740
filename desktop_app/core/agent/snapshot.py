"""A folded session as bytes, so that opening does not replay everything there ever was.

A snapshot is a projection of the records up to a sequence number, never the truth: one that does
not fit this version, or cannot be read, is passed over and the journal replayed instead.
"""

from __future__ import annotations

import dataclasses
import json
import logging
from typing import Any

from desktop_app.core.asleep import Stored, has_blocks, stored_json
from desktop_app.core.context.applying import record_from
from desktop_app.core.context.guards import Guards
from desktop_app.core.context.kept import Kept
from desktop_app.core.messages import Msg, Role
from desktop_app.core.state import AgentState
from desktop_app.core.tools.background import Command, Ending

from .folded import Folded, Waiting

logger = logging.getLogger(__name__)

VERSION = 9  # of what a record means to the fold: raise it when a handler changes
FORMER = 8  # which differs only in how it is written
EVERY = 200  # records between two snapshots
_ROLES: tuple[Role, ...] = ("user", "assistant", "system")
_OF: dict[str, Role] = {str(n): role for n, role in enumerate(_ROLES)}


def dump(now: Folded, read: bytes = b"") -> bytes:
    """``now`` as lines of JSON: all but the state, the state without its messages, each of these,
    and what was ``read`` of them (``kept.dump``). Nothing may change it meanwhile. Who stores it
    sees to it that it comes back whole (``core.sessions.snapshots``)."""
    context = now.state.context
    state = now.state.model_copy(update={"context": list[Msg]()}).to_json().encode()
    messages = [stored_json(m) or m.to_json().encode() for m in context]
    body: dict[str, Any] = {
        "v": VERSION,
        "state": len(state),
        "sizes": [len(m) for m in messages],
        "ids": [m.id for m in context],
        "roles": "".join([str(_ROLES.index(m.role)) for m in context]),
        "empty": [n for n, m in enumerate(context) if not has_blocks(m)],
        "waiting": [dataclasses.asdict(w) for w in now.waiting.values()],
        "commands": [dataclasses.asdict(c) for c in now.commands.values()],
        "guards": now.guards.to_body(),
        "log": [dataclasses.asdict(c) for c in now.log],
        "undo_blobs": [[gen, sha] for gen, sha in now.undo_blobs.items()],
    }
    for name in _PLAIN:
        body[name] = getattr(now, name)
    told = json.dumps(body, ensure_ascii=True, separators=(",", ":")).encode()
    return b"\n".join([b"%", told, state, *messages, read])


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
        if data.startswith(b"{"):
            body, now = _former(data)
        else:
            body, now = _read(data)
        if body["head"] != seq:
            return None
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


def _read(data: bytes) -> tuple[dict[str, Any], Folded]:
    """The first line, and the state with its messages asleep. ValueError where it is of another
    version or damaged."""
    view = memoryview(data)
    if not data.startswith(b"%\n"):
        raise ValueError("it is none")
    end = data.index(b"\n", 2)
    body = json.loads(data[2:end])
    if body["v"] != VERSION:
        raise ValueError(f"it is of version {body['v']}")
    first = end + body["state"] + 2
    sizes: list[int] = body["sizes"]
    last = first + sum(sizes) + len(sizes)
    if last > len(data):
        raise ValueError("it is cut short")
    state = AgentState.model_validate_json(data[end + 1 : first - 1])
    roles: list[Role] = [_OF[n] for n in body["roles"]]
    stored = Stored(data, first, sizes)
    state.context = stored.messages(body["ids"], roles, body["empty"])
    now = Folded(state)
    now.kept = Kept(view[last:], state, stored) if last < len(data) else None
    return body, now


def _former(data: bytes) -> tuple[dict[str, Any], Folded]:
    """Of the former version, whose state is one line of JSON; what was read of it is not used."""
    told, _, rest = data.partition(b"\n")
    state, _, _ = rest.partition(b"\n")
    body = json.loads(told)
    if body["v"] != FORMER:
        raise ValueError(f"it is of version {body['v']}")
    return body, Folded(AgentState.model_validate_json(state))


def _command(value: dict[str, Any]) -> Command:
    ended = value.pop("ended")
    return Command(**value, ended=Ending(**ended) if ended is not None else None)
