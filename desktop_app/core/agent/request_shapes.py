"""A request of an MCP server as a person sees it, and as the journal keeps it.

Nothing that was typed into a form is kept, and of an address only the part without secrets.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from urllib.parse import urlsplit

from desktop_app.core.context.images import data_tokens
from desktop_app.core.context.tokens import load_counter
from desktop_app.core.mcp.asks import Form, Sampling, Visit
from desktop_app.core.mcp.forms import check
from desktop_app.core.messages import DataBlock, Msg, Usage
from desktop_app.core.models.base import ChatModel

KEPT = 4_000  # characters of a text that the journal keeps
Kind = Literal["sampling", "form", "visit"]


@dataclass(frozen=True, slots=True)
class Request:
    """A server asks for ``what`` while our operation ``op_id`` runs. Of sampling: which model would
    answer, ``tokens`` of what it would be sent (estimated), and what that and the longest answer
    would cost in US dollars (estimated; None where no price is known)."""

    id: str
    reply_id: str
    op_id: str
    server: str
    tool: str
    what: Sampling | Form | Visit
    model: str = ""
    tokens: int = 0
    cost: float | None = None

    @property
    def kind(self) -> Kind:
        match self.what:
            case Sampling():
                return "sampling"
            case Form():
                return "form"
            case Visit():
                return "visit"

    @property
    def rule(self) -> str:
        """The tool name under which permission rules know it: ``sampling:``, ``form:`` or
        ``visit:`` and the server's name."""
        return f"{self.kind}:{self.server}"


@dataclass(frozen=True, slots=True)
class Answered:
    """A person's answer. ``content`` are a form's values by name; ``edited`` is what the model is
    sent instead of what the server asked; ``always`` lets this server ask the model without a
    question, as a rule of the session."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] = field(default_factory=dict[str, Any], repr=False)
    edited: Sampling | None = None
    always: bool = False


async def measured(request: Request, what: Sampling, model: ChatModel) -> Request:
    """With what it would take; counting is beside the loop, a server may send much."""
    info = model.info
    counter = await load_counter(info)

    def count() -> int:
        total = counter.count(what.system) if what.system else 0.0
        for msg in what.messages:
            total += 4 + counter.count(msg.text())
            for block in msg.content:
                if isinstance(block, DataBlock):
                    total += data_tokens(block, info.id)
        return int(total + 0.5)

    tokens = await asyncio.to_thread(count)
    cost = None
    if info.price is not None:
        most = min(what.max_tokens, info.max_output)
        cost = info.price.cost(Usage(input_tokens=tokens, output_tokens=most))
    return replace(request, model=info.name, tokens=tokens, cost=cost)


def wrong_value(form: Form, content: dict[str, Any]) -> tuple[str, str] | None:
    """The title of the first field that is not filled in right, and a code that says why."""
    for one in form.fields:
        if (wrong := check(one, content.get(one.name))) is not None:
            return one.title, wrong[0]
    return None


def filled(form: Form, content: dict[str, Any]) -> dict[str, Any]:
    """A form's values, of the kinds that the schema wants; what was left empty is left out."""
    made: dict[str, Any] = {}
    for one in form.fields:
        value = content.get(one.name)
        if value is None or (value in ("", []) and not one.required):
            continue
        made[one.name] = int(value) if one.kind == "integer" else value
    return made


def who(request: Request) -> dict[str, Any]:
    """Which request it is, for a record's body."""
    return {
        "id": request.id,
        "reply_id": request.reply_id,
        "op_id": request.op_id,
        "server": request.server,
        "tool": request.tool,
        "kind": request.kind,
    }


def asked(request: Request) -> dict[str, Any]:
    """What was asked, for a record's body: bounded, and without what may be a secret."""
    match request.what:
        case Sampling() as what:
            return {"model": request.model, "tokens": request.tokens, **texts(what)}
        case Form() as what:
            fields = [{"name": f.name, "kind": f.kind} for f in what.fields]
            return {"message": what.message[:KEPT], "fields": fields}
        case Visit() as what:
            kept: dict[str, Any] = {"message": what.message[:KEPT], "address": address(what.url)}
            return {**kept, "scopes": list(what.scopes)} if what.scopes else kept


def texts(what: Sampling) -> dict[str, Any]:
    """What a model is sent, bounded."""
    return {
        "max_tokens": what.max_tokens,
        "system": what.system[:KEPT],
        "messages": [
            {"role": m.role, "text": m.text()[:KEPT], "pictures": pictures(m)}
            for m in what.messages[:50]
        ],
    }


def pictures(msg: Msg) -> int:
    return sum(isinstance(block, DataBlock) for block in msg.content)


def address(url: str) -> str:
    """An address without user, query and fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
