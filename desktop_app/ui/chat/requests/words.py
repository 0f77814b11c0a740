"""Words for what servers ask: what goes where, what is wrong with a value, what became of it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from desktop_app.core.agent.request_shapes import Request
from desktop_app.core.mcp.asks import Sampling, Visit
from desktop_app.core.mcp.forms import Field
from desktop_app.ui.chat import figures
from desktop_app.ui.chat.foreign import visible
from desktop_app.ui.errors import describe
from desktop_app.ui.i18n import sentences, tr, trn


def title(request: Request) -> str:
    """Who asks for what."""
    server = visible(request.server)[0]
    match request.kind:
        case "sampling":
            return tr("“{server}” asks your model", server=server)
        case "form":
            return tr("“{server}” asks you to fill this in", server=server)
        case "visit" if scopes_of(request):
            return tr("“{server}” asks for more rights", server=server)
        case "visit":
            return tr("“{server}” asks you to open an address", server=server)


def sampling_facts(request: Request, what: Sampling) -> str:
    """Which model is sent how much, and what that may cost."""
    parts = [
        tr(
            "{model} is sent ≈ {n} tokens (estimated) and answers with at most {most}.",
            model=request.model,
            n=figures.tokens(request.tokens),
            most=figures.tokens(what.max_tokens),
        )
    ]
    if request.cost is not None:
        parts.append(tr("At most {cost} (estimated).", cost=figures.dollars(request.cost)))
    n = sum(1 for msg in what.messages for block in msg.content if block.type == "data")
    if n:
        parts.append(trn("{n} picture is sent too.", "{n} pictures are sent too.", n))
    parts.append(tr("The answer goes to “{server}”.", server=visible(request.server)[0]))
    return sentences(*parts)


def form_note(server: str) -> str:
    return tr(
        "What you enter goes to “{server}”, which may keep it. It is not saved here and the model "
        "does not see it. Do not enter passwords or keys.",
        server=visible(server)[0],
    )


def scopes_of(request: Request) -> tuple[str, ...]:
    """The rights that a server wants beside those that it has; none for any other request."""
    return request.what.scopes if isinstance(request.what, Visit) else ()


def scopes_message(request: Request) -> str:
    """What it wants, and for what."""
    names = visible(", ".join(scopes_of(request)))[0]
    tool = visible(request.tool)[0]
    return tr("“{tool}” needs what you have not allowed yet: {names}", tool=tool, names=names)


def visit_note(url: str) -> str:
    """Where an address leads, as the network sees it."""
    host = host_of(url)
    if url.startswith("http://"):
        return tr("Leads to {host}, unencrypted. Nothing is opened unless you do.", host=host)
    return tr("Leads to {host}. Nothing is opened unless you do.", host=host)


def host_of(url: str) -> str:
    """The host of an address; letters that look like others are told apart (``xn--``)."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return "?"
    try:
        return host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        return visible(host)[0]


def role(name: str) -> str:
    match name:
        case "system":
            return tr("System prompt")
        case "assistant":
            return tr("Assistant")
        case _:
            return tr("Message")


def limits(field: Field) -> str:
    """What a field takes, for its placeholder."""
    kind = {
        "email": tr("name@example.org"),
        "uri": "https://…",
        "date": "2026-01-31",
        "date-time": "2026-01-31T09:00:00Z",
    }.get(field.format, "")
    low, high = field.least, field.most
    if field.kind in ("number", "integer"):
        if low is not None and high is not None:
            return tr("{low} to {high}", low=f"{low:g}", high=f"{high:g}")
        if low is not None:
            return tr("at least {n}", n=f"{low:g}")
        if high is not None:
            return tr("at most {n}", n=f"{high:g}")
    return kind


def wrong(code: str, params: dict[str, Any]) -> str:
    """Why a value will not do."""
    n = params.get("n", "")
    match code:
        case "form.required":
            return tr("This is needed")
        case "form.too_short":
            return tr("At least {n} characters", n=n)
        case "form.too_long":
            return tr("At most {n} characters", n=n)
        case "form.too_small":
            return tr("At least {n}", n=n)
        case "form.too_large":
            return tr("At most {n}", n=n)
        case "form.too_few":
            return tr("Choose at least {n}", n=n)
        case "form.too_many":
            return tr("Choose at most {n}", n=n)
        case "form.not_number":
            return tr("This is not a number")
        case "form.not_integer":
            return tr("This is not a whole number")
        case "form.not_email":
            return tr("This is not an e-mail address")
        case "form.not_uri":
            return tr("This is not an address with its scheme, such as https://")
        case "form.not_date":
            return tr("This is not a date such as 2026-01-31")
        case _:
            return tr("This is not a date and time such as 2026-01-31T09:00:00Z")


def answered(body: dict[str, Any]) -> tuple[str, str]:
    """Title and text of the transcript's card about a request that has its answer."""
    server = visible(str(body.get("server") or ""))[0]
    answer, by = str(body.get("answer") or ""), str(body.get("by") or "person")
    match str(body.get("kind") or ""), answer:
        case "sampling", "accept":
            heading = tr("{model} answered “{server}”", model=body.get("model", ""), server=server)
        case "sampling", "failed":
            heading = tr("“{server}” asked your model, which gave no answer", server=server)
        case "sampling", _:
            heading = tr("“{server}” asked your model", server=server)
        case "form", "accept":
            heading = tr("You filled in a form of “{server}”", server=server)
        case "form", _:
            heading = tr("“{server}” asked you to fill in a form", server=server)
        case _, "accept" if body.get("scopes"):
            heading = tr("You went to give “{server}” more rights", server=server)
        case _, _ if body.get("scopes"):
            heading = tr("“{server}” asked for more rights", server=server)
        case _, "accept":
            heading = tr("You opened an address for “{server}”", server=server)
        case _:
            heading = tr("“{server}” asked you to open an address", server=server)
    return heading, "\n".join(part for part in (_how(answer, by), _detail(body)) if part)


def _how(answer: str, by: str) -> str:
    match answer, by:
        case "accept", "rule":
            return tr("Allowed by a rule of this session.")
        case "decline", "person":
            return tr("You refused.")
        case (("decline" | "cancel"), "rule"):
            return tr("Refused by a rule of this session.")
        case (("decline" | "cancel"), "mode"):
            return tr("Refused: in this mode nobody is asked.")
        case "cancel", _:
            return tr("You put it aside.")
        case "withdrawn", _:
            return tr("It ended before it was answered.")
        case _:
            return ""


def _detail(body: dict[str, Any]) -> str:
    parts: list[str] = []
    if isinstance(names := body.get("filled"), list) and names:
        parts.append(tr("Sent: {names}", names=visible(", ".join(map(str, names)))[0]))
    if isinstance(scopes := body.get("scopes"), list) and scopes:
        parts.append(tr("Rights: {names}", names=visible(", ".join(map(str, scopes)))[0]))
    if code := str(body.get("code") or ""):
        params = body.get("params")
        told = describe(code, params if isinstance(params, dict) else {})
        parts.append(told.reason or told.title)
    if body.get("sent"):
        parts.append(tr("You changed what was sent."))
    usage = body.get("usage")
    if isinstance(usage, dict):
        tokens = int(usage.get("input_tokens") or 0) + int(usage.get("output_tokens") or 0)
        said = tr("{n} tokens (measured)", n=figures.tokens(tokens))
        cost = body.get("cost")
        if isinstance(cost, int | float):
            said = f"{said}, {figures.dollars(cost)}"
        parts.append(said)
    if text := str(body.get("text") or ""):
        shown = " ".join(text.split())
        parts.append(visible(shown[:300] + ("…" if len(shown) > 300 else ""))[0])
    return "\n".join(parts)
