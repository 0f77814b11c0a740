"""What a model request says has happened: the person's last request, and calls with results."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from desktop_app.core.messages import DataBlock, Msg, ToolCallBlock, ToolResultBlock

from .text import Lang, mask


@dataclass(slots=True)
class Done:
    """A call that was made since the request, and its result when there is one."""

    name: str
    args: dict[str, Any]
    text: str = ""
    state: str = "missing"
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def ok(self) -> bool:
        return self.state == "success"


@dataclass(frozen=True, slots=True)
class Transcript:
    """``request`` is the person's last own message, ``done`` the calls after it, ``last_file`` the
    file that was read, written or found last before it, ``lang`` what the person writes."""

    request: str
    done: list[Done]
    last_file: str | None
    said: tuple[str, ...]  # what the Guide already said in this turn
    requests: tuple[str, ...] = ()


def kind_of(msg: Msg) -> str | None:
    """``metadata["slipway"]["kind"]``; None for what a person or the assistant said."""
    part = msg.metadata.get("slipway")
    return cast(dict[str, Any], part).get("kind") if isinstance(part, dict) else None


def is_request(msg: Msg) -> bool:
    """Whether a person said this."""
    return msg.role == "user" and kind_of(msg) is None and not msg.tool_results()


def arguments(call: ToolCallBlock) -> dict[str, Any]:
    """A call's arguments; empty when its JSON was cut."""
    try:
        value = json.loads(call.input or "{}")
    except ValueError:
        return {}
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def request_text(msg: Msg) -> str:
    """The words of a request; names of attached files follow when the words name none."""
    text = msg.text().strip()
    names = [b.name for b in msg.content if isinstance(b, DataBlock) and b.name]
    if names and not mask(text).of("file"):
        text = f"{text} {' '.join(names)}".strip()
    return text


def calls_of(messages: Sequence[Msg]) -> list[Done]:
    """Every call of ``messages`` in order, with its result. Results are found by call id, the
    nearest later one first, since ids may repeat."""
    calls: list[tuple[int, str, Done]] = []
    results: dict[str, list[tuple[int, ToolResultBlock]]] = {}
    place = 0
    for msg in messages:
        for block in msg.content:
            place += 1
            if isinstance(block, ToolCallBlock):
                calls.append((place, block.id, Done(block.name, arguments(block))))
            elif isinstance(block, ToolResultBlock):
                results.setdefault(block.id, []).append((place, block))
    for place, call_id, done in calls:
        waiting = results.get(call_id, [])
        found = next((r for r in waiting if r[0] > place), None)
        if found is not None:
            waiting.remove(found)
            done.text, done.state = found[1].text(), found[1].state
            done.metadata = found[1].metadata
    return [done for _, _, done in calls]


def _last_file(calls: list[Done]) -> str | None:
    for done in reversed(calls):
        path = done.args.get("file_path")
        if isinstance(path, str) and done.ok and done.name in ("Read", "Write", "Edit"):
            return path
    return None


def read_transcript(messages: Sequence[Msg]) -> Transcript:
    """Cut a request's messages at the person's last own one."""
    own = [n for n, msg in enumerate(messages) if is_request(msg)]
    if not own:
        return Transcript("", calls_of(messages), None, ())
    at = own[-1]
    after = messages[at + 1 :]
    return Transcript(
        request=request_text(messages[at]),
        done=calls_of(after),
        last_file=_last_file(calls_of(messages[:at])),
        said=tuple(m.text().strip() for m in after if m.role == "assistant" and m.text().strip()),
        requests=tuple(request_text(messages[n]) for n in own),
    )


def language_of(text: str) -> Lang:
    return mask(text).lang


_NOTE = re.compile(
    r"^[\[(<…].*(?:stored|kept|left out|omitted|cut|shortened|truncated|offload|tool_result-)", re.I
)
_MORE = re.compile(r"^\[.*(?:offset=\d+|there is more|stopped after)", re.I)


def was_cut(done: Done) -> bool:
    """Whether the loop put only part of a result into the context; the rest was kept."""
    part = done.metadata.get("slipway")
    if isinstance(part, dict) and {"cut", "bounded", "offload"} & set(cast(dict[str, Any], part)):
        return True
    return any(_NOTE.search(line) for line in done.text.splitlines() if line[:1] in "[(<…")


def is_part(done: Done) -> bool:
    """Whether a result is not all there is: cut by the loop, or the tool stopped at its limit."""
    notes = [line for line in done.text.splitlines() if line[:1] in "[(<…"]
    return was_cut(done) or any(_MORE.search(line) for line in notes)


def whole_in(done: Done) -> str | None:
    """Where the whole of a cut result was put, when the result says so."""
    part = done.metadata.get("slipway")
    path = cast(dict[str, Any], part).get("offload") if isinstance(part, dict) else None
    if isinstance(path, str) and path:
        return path
    m = re.search(r"(\S*tool_result-[\w.\-]+)", done.text)
    return m.group(1).strip("[]()`'\"") if m else None


def total_lines(done: Done) -> int | None:
    """How many lines the file of a Read has in all, when its result says so."""
    part = done.metadata.get("slipway")
    lines = cast(dict[str, Any], part).get("lines") if isinstance(part, dict) else None
    total = cast(dict[str, Any], lines).get("total") if isinstance(lines, dict) else None
    if isinstance(total, int):
        return total
    m = re.search(r"^\[lines \d+-\d+ of (\d+)", done.text, re.M)
    return int(m.group(1)) if m else None
