"""A measured call as its record keeps it, so that an account outlives the program."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

from .build import Envelope
from .figures import CallCount


@dataclass(frozen=True, slots=True)
class Counted:
    """A call that the provider counted, and what of its prompt is needed to go on from there.

    ``messages``: how many stood before the tail. ``body`` and ``tail``: what these were estimated
    at, in raw tokens by the counter of that name; an equal ``body`` says that the same messages
    stand there still. ``envelope`` is a ``digest``.
    """

    call: CallCount
    messages: int
    body: float
    tail: float
    envelope: str
    counter: str

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "body": round(self.body, 3), "tail": round(self.tail, 3)}

    @classmethod
    def from_json(cls, value: Any) -> Counted | None:
        """None for what ``to_json`` never wrote."""
        if not isinstance(value, Mapping):
            return None
        found = cast("Mapping[str, Any]", value)
        try:
            call = CallCount(**found["call"])
            numbers = (call.measured, call.estimated, call.upper, call.window, found["messages"])
            sound = all(isinstance(n, int) and n >= 0 for n in numbers) and call.measured > 0
            body, tail = float(found["body"]), float(found["tail"])
            if not sound or not (math.isfinite(body) and math.isfinite(tail)):
                return None
            names = str(found["envelope"]), str(found["counter"])
            return cls(call, int(found["messages"]), body, tail, *names)
        except (KeyError, TypeError, ValueError):
            return None


def digest(envelope: Envelope) -> str:
    """A name for what goes ahead of the messages: the hash of all that is sent."""
    tools = [[t.name, t.description, t.parameters] for t in envelope.tools]
    whole = [envelope.text(), tools, sorted(envelope.mcp.items())]
    text = json.dumps(whole, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
