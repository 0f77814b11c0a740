"""Words for the state of an MCP server, and for tools of it that cannot be used."""

from __future__ import annotations

from desktop_app.core.mcp.server import ServerView
from desktop_app.ui.errors import Words, describe
from desktop_app.ui.files.visible import visible
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.widgets.badge import StateName

GLYPHS: dict[str, StateName] = {
    "off": "idle",
    "starting": "busy",
    "ok": "running",
    "waiting": "warning",
    "failed": "failed",
    "stopped": "paused",
}


def glyph(view: ServerView) -> StateName:
    """The state as a glyph; a declaration that cannot be used has failed."""
    if view.problem is not None:
        return "failed"
    if view.state == "ok" and view.status.code:
        return "warning"
    return GLYPHS[view.state]


def state(view: ServerView, *, trusted: bool = True) -> str:
    """The state in a line."""
    if view.problem is not None:
        return tr("Cannot be used")
    match view.state:
        case "ok":
            n = len(view.status.tools)
            return trn("Connected, {n} tool", "Connected, {n} tools", n)
        case "starting" if view.status.code == "mcp.signing_in":
            host = str(view.status.params.get("host", ""))
            return tr("Sign in at {host} in your browser", host=visible(host)[0])
        case "starting":
            return tr("Starting…")
        case "waiting":
            return tr("Ended; starts again in {n} s", n=f"{view.status.retry:g}")
        case "failed":
            return tr("Failed")
        case "stopped":
            return tr("Stopped")
        case _ if not view.enabled:
            return tr("Switched off")
        case _ if not trusted:
            return tr("Not started: the workspace is not trusted")
        case _:
            return tr("Starts with the next message")


def signed_in(place: str | None) -> str:
    """Where the tokens of a server lie."""
    match place:
        case "keyring":
            return tr("Signed in; the tokens are in the system's keyring.")
        case "file":
            return tr("Signed in; the tokens are in your key file.")
        case "session":
            return tr("Signed in until the program ends: the tokens are not kept.")
        case _:
            return ""


def trouble(view: ServerView) -> Words | None:
    """What is wrong and what to do, or None."""
    if view.problem is not None:
        code, params = view.problem
        return describe(code, {"name": view.name, **params})
    if view.status.code and view.state in ("ok", "waiting", "failed"):
        return describe(view.status.code, {"name": view.name, **view.status.params})
    return None


def bad_tool(code: str) -> str:
    """Why a tool that a server lists cannot be used."""
    match code:
        case "mcp.tool_not_object":
            return tr("it is not an object")
        case "mcp.tool_no_name":
            return tr("it has no name")
        case "mcp.tool_no_schema":
            return tr("its schema is missing")
        case "mcp.tool_bad_schema":
            return tr("its schema is not of type object")
        case "mcp.tool_twice":
            return tr("it is listed twice")
        case _:
            return code
