"""What an engine tells by itself: that a workspace's container came up, went, was paused."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any, cast

from .container import LABEL
from .engine import Engine, told

# Actions after which a container's state is another (Docker Engine API, SystemEvents). Asked for by
# name: those of an exec come with whole command lines, which are nobody's business here.
ACTIONS = ("start", "die", "pause", "unpause", "destroy", "oom")


async def changes(engine: Engine) -> AsyncGenerator[str]:
    """Ids of workspaces whose container changed, as it happens; an empty one first, when the engine
    has begun to tell. Ends when the engine goes. WorkspaceError as ``engine.told``."""
    client = await engine.client()
    filters = {"type": ["container"], "label": [LABEL], "event": list(ACTIONS)}
    try:
        async with client._query(
            "events", "GET", params={"filters": json.dumps(filters)}, timeout=None
        ) as response:
            yield ""
            async for line in response.content:  # one event a line
                if found := _workspace(line):
                    yield found
    except Exception as error:
        raise told(error, engine) from error


def _workspace(line: bytes) -> str:
    """The workspace that an event is about; empty for none."""
    try:
        event: Any = json.loads(line)
    except ValueError:
        return ""
    actor: Any = cast(dict[str, Any], event).get("Actor") if isinstance(event, dict) else None
    said: Any = cast(dict[str, Any], actor).get("Attributes") if isinstance(actor, dict) else None
    return str(cast(dict[str, Any], said).get(LABEL) or "") if isinstance(said, dict) else ""
