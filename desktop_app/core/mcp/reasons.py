"""Why a connection failed, as a code with parameters that hold no secret."""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import urlsplit

from desktop_app.core.errors import SecretsError, ToolFailure
from desktop_app.core.workspaces.mcp_write import split_line

from .spec import ServerSpec
from .transport import Wire
from .ways import trouble

Reason = tuple[str, dict[str, Any], bool]


def reason_of(error: BaseException, spec: ServerSpec, wire: Wire) -> Reason:
    """(code, params, whether trying again is useless)."""
    if wire.flood:
        return flood_of(spec, wire)
    error = _leaf(error)
    where = {"host": urlsplit(spec.url).netloc.rpartition("@")[2], "name": spec.name}
    program = spec.command[0] if spec.command else ""
    if isinstance(error, SecretsError):  # a keyring is asked again by itself, a person is not
        return error.code, {"name": spec.name}, error.code != "mcp.keyring"
    if spec.transport == "stdio":
        match error:
            case FileNotFoundError():
                missing = error.filename
                if missing and missing != program and spec.cwd:
                    return "mcp.no_folder", {"path": spec.cwd}, True
                if len(split_line(spec.command)) > 1:
                    return "mcp.whole_line", {"program": split_line(spec.command)[0]}, True
                return "exec.missing", {"program": program}, True
            case PermissionError():
                return "exec.denied", {"program": program}, True
            case TimeoutError():
                detail = wire.ring.last_line()
                return "mcp.start_timeout", {"name": spec.name, "detail": detail}, False
            case OSError():
                return "exec.failed", {"program": program, "detail": error.strerror or ""}, True
            case _:
                detail = wire.ring.last_line() or _detail(error)
                return "mcp.exited", {"name": spec.name, "detail": detail}, False
    if wire.sign_in and wire.sign_in != "needed":
        return "mcp.sign_in_failed", {**where, "detail": wire.sign_in}, True
    keyed = any(name.lower() == "authorization" for name in spec.headers)
    if wire.sign_in or (wire.status == 401 and not keyed):
        return "mcp.sign_in", where, True
    if wire.status in (401, 403):
        return "mcp.auth", where, True
    if wire.status in (404, 405, 410):
        return "mcp.not_mcp", {**where, "status": wire.status}, True
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        return "mcp.start_timeout", {"name": spec.name, "detail": where["host"]}, False
    code, words = trouble(error)
    if code:
        return code, {**where, "detail": words}, True
    if type(error).__name__ in ("ConnectError", "ConnectTimeout", "NetworkError"):
        return "mcp.unreachable", {**where, "detail": _detail(error)}, False
    return "mcp.failed", {"name": spec.name, "detail": _detail(error)}, False


def flood_of(spec: ServerSpec, wire: Wire) -> Reason:
    return "mcp.flood", {"name": spec.name, "detail": wire.flood}, False


def _leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        error = group.exceptions[0]
    return error


def _detail(error: BaseException) -> str:
    """Its words; a parser's error would quote what the server sent, so only its kind."""
    if type(error).__name__ == "ValidationError":
        return "an answer that is no MCP message"
    return (str(error) or type(error).__name__)[:300]


_WORDS = {
    "exec.missing": "its program {program!r} is not installed",
    "exec.denied": "its program {program!r} may not be run",
    "exec.failed": "its program {program!r} could not be started: {detail}",
    "mcp.auth": "it refused the key that the person gave it",
    "mcp.certificate": "its certificate is not trusted: {detail}",
    "mcp.certificate_changed": "it shows another certificate than the one that is trusted",
    "mcp.ended": "it ended: {detail}",
    "mcp.keyring": "the system's keyring, which holds its tokens, does not answer",
    "mcp.keys_locked": "its tokens lie in the file of keys, which the person has not unlocked",
    "mcp.no_folder": "its folder {path!r} is not there",
    "mcp.not_mcp": "its address answers with status {status}, which is no MCP server",
    "mcp.proxy": "the proxy does not let us through: {detail}",
    "mcp.sign_in": "the person has to sign in to it first, in the Tools panel",
    "mcp.sign_in_failed": "signing in to it failed: {detail}",
    "mcp.signing_in": "the person is signing in to it",
    "mcp.start_timeout": "it did not answer in time when it was started: {detail}",
    "mcp.unreachable": "its address cannot be reached: {detail}",
    "mcp.whole_line": "its command holds a whole command line; the person can split it",
    "workspace.asleep": "its machine sleeps",
}


def died(name: str, tool: str, *, ended: bool = False) -> ToolFailure:
    """A server that went while a call ran: by itself, or because we ``ended`` it (the person
    switched it off or took it away)."""
    stays = "what it had done by then stays done."
    if ended:
        text = f"The MCP server {name!r} was switched off while {tool!r} ran; {stays}"
        return ToolFailure("mcp.taken", text, name=name)
    text = f"The MCP server {name!r} ended while {tool!r} ran; {stays} It is being started again."
    return ToolFailure("mcp.died", text, retryable=True, name=name)


def not_running(name: str, state: str, code: str, params: dict[str, Any]) -> ToolFailure:
    """``mcp.not_running``: what a model is told of a server that it waited for in vain."""
    why = str(params.get("detail") or "")
    if code in _WORDS:
        known = {"program": "", "detail": "(it said nothing)", **params}
        known["detail"] = known["detail"] or "(it said nothing)"
        why = _WORDS[code].format_map(known)
    starting = state == "starting" and not why
    said = "still starting" if starting else f"not running: {why or code or 'it was ended'}"
    again = "Try again in a moment, or go on without it."
    if not starting:
        again = "To call one of its tools again is to try to start it again."
    text = f"The MCP server {name!r} is {said}. {again}"
    return ToolFailure("mcp.not_running", text, retryable=True, name=name)
