"""One MCP server behind a machine's gateway, as the agent's MCP manager has it.

``GatewayConnection`` looks like ``mcp.connection.Connection``: the same statuses, the same calls,
the same failures. The gateway supervises the server; here is only what it says, and making a lost
gateway whole again: it is started anew and told of the server again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any, Literal, cast

from desktop_app.core.errors import ToolFailure, WorkspaceError
from desktop_app.core.mcp.connection import Limits, RemoteTool, State, Status
from desktop_app.core.mcp.reasons import died, not_running
from desktop_app.core.mcp.ring import Ring
from desktop_app.core.mcp.spec import ServerSpec
from desktop_app.core.tasks import Tasks, cancelled, ending
from desktop_app.core.tools.base import ToolOutcome
from desktop_app.core.workspaces.remote.managed import looking

from .client import Called, GatewayClient, GatewayError
from .machine import GatewayMachine

log = logging.getLogger(__name__)

ASLEEP = "workspace.asleep"
WAKE_SECONDS = 90.0  # a call waits so long for its machine, the gateway in it and its server

_STATES: dict[str, State] = {
    "starting": "starting",
    "ok": "ok",
    "waiting": "waiting",
    "failed": "failed",
    "stopped": "stopped",
}


class GatewayConnection:
    """See the module. ``agent_id`` and ``session_id`` are whose server it is at the gateway."""

    def __init__(
        self,
        spec: ServerSpec,
        machine: GatewayMachine,
        agent_id: str,
        session_id: str,
        on_change: Callable[[Status], None],
        limits: Limits | None = None,
    ) -> None:
        self.spec = spec
        self.status = Status()
        self.ring = Ring()
        self._machine = machine
        self._who = (agent_id, session_id)
        self._on_change = on_change
        self._limits = limits or Limits(wait=WAKE_SECONDS)
        self._tasks = Tasks(lambda name, error: log.error("%s failed", name, exc_info=error))
        self._work: asyncio.Task[None] | None = None
        self._again = asyncio.Event()
        self._moved = asyncio.Event()
        self._added = 0  # the gateway's generation that knows this server
        self._wanted = 0  # calls that wait for it
        self._heard_of = False  # since the last try the gateway said something of it
        self._there = False  # the gateway tells how the server is

    def _client(self) -> GatewayClient:
        return self._machine.client(*self._who)

    # -- life ------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin; ``status`` tells how it goes. Idempotent."""
        if self._work is None or self._work.done():
            self.status = replace(self.status, state="starting", code="", params={})
            self._work = self._tasks.start(self._supervise(), name=f"MCP server {self.spec.name}")

    def restart(self) -> None:
        """Try again now, whatever the pause."""
        self._again.set()
        self.start()
        if self._added:
            self._tasks.start(self._kick(), name="restart an MCP server")

    async def _kick(self) -> None:
        try:
            await self._client().restart(self.spec.name)
        except (GatewayError, WorkspaceError) as error:
            log.info("a server was not restarted at its gateway: %s", error)

    async def stop(self) -> None:
        """Take it out of the gateway, which ends it."""
        work, self._work = self._work, None
        if work is not None:
            await cancelled(work)
        if self._added == self._machine.generation and self._machine.status.state == "ready":
            try:
                await self._client().remove(self.spec.name)
            except (GatewayError, WorkspaceError) as error:
                log.info("a server was not taken out of its gateway: %s", error)
        await self._tasks.close()
        self.status = replace(Status("stopped"), version=self.status.version)

    def _set(self, status: Status) -> None:
        self.status = status
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()
        self._on_change(status)

    def _wait(self, code: str, params: dict[str, Any], pause: float = 0.0) -> None:
        """It runs again soon: its tools stay known, so that the agent's prompt stays the same."""
        self._set(replace(self.status, state="waiting", code=code, params=params, retry=pause))

    async def _supervise(self) -> None:
        with looking():
            await self._keep()

    async def _keep(self) -> None:
        tries = 0
        stop = self._machine.listen_awake(lambda: self._again.set())
        try:
            while True:
                self._again = asyncio.Event()
                code, params = await self._live()
                if ending():
                    return
                self._added, self._there = 0, False
                if code == ASLEEP and not self._wanted:
                    tries = 0
                    self._wait(code, params)
                    await self._again.wait()
                    continue
                if code == ASLEEP:
                    try:
                        await self._machine.wake()
                        continue
                    except WorkspaceError as error:
                        code, params = _why(error)
                tries = await self._rest(tries, code, params)
        finally:
            stop()

    async def _live(self) -> tuple[str, dict[str, Any]]:
        """Have it run for as long as it does; why it does no more."""
        try:
            await self._add()
            await self._watch()
        except WorkspaceError as error:
            return _why(error)
        except GatewayError as error:
            return "mcp.failed", {"detail": error.detail}
        return "mcp.ended", {"detail": "the gateway ended"}

    async def _rest(self, tries: int, code: str, params: dict[str, Any]) -> int:
        """Wait before the next try, longer each time; how many there were. Counted anew when it was
        there, or somebody asked for it since the last began."""
        if self._heard_of or self._again.is_set():
            tries = 0
        self._heard_of = False
        if tries >= len(self._limits.pauses):
            # Its tools stay known too: to call one is to try again, which nothing else here does.
            self._set(replace(self.status, state="failed", code=code, params=params, retry=0.0))
            await self._again.wait()
            return 0
        pause = self._limits.pauses[tries]
        self._wait(code, params, pause)
        with suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._again.wait()
        return tries + 1

    async def _add(self) -> None:
        """Have the gateway run and know this server as it is declared now."""
        self._added = await self._machine.ensure()
        client = self._client()
        try:
            await client.add(declaration(self.spec), keep=True)
        except GatewayError as error:
            if error.status != 409:
                raise
            await client.remove(self.spec.name)
            await client.add(declaration(self.spec), keep=True)

    async def _watch(self) -> None:
        """What the gateway says of the server, until it says no more."""
        async with aclosing(self._client().watch(self.spec.name)) as told:
            async for said in told:
                self._heard(said)

    def _heard(self, said: dict[str, Any]) -> None:
        self._heard_of = self._there = True
        self.ring = Ring()
        self.ring.add(str(said.get("stderr", "")).encode())
        state = _STATES.get(str(said.get("state")), "failed")
        detail = str(said.get("detail", ""))
        tools = self.status.tools if state in ("starting", "waiting") else ()
        if state == "ok":
            tools = tuple(remote(one) for one in _dicts(said.get("listed")))
        bad = tuple((str(one[0]), str(one[1])) for one in _pairs(said.get("bad")))
        code = "" if state in ("ok", "starting") else "mcp.failed"
        params = {"detail": detail} if code else {}
        if state == "ok" and not tools:
            code = "mcp.no_tools"
        version = str(said.get("version", ""))
        self._set(Status(state, code, params, tools, bad, version))

    # -- calls -----------------------------------------------------------------------------------

    async def call(
        self,
        tool: str,
        args: dict[str, Any],
        *,
        images: bool,
        progress: Callable[[str], None],
        op_id: str = "",
    ) -> ToolOutcome:
        """One call. ToolFailure as ``Connection.call``. Cancelled here, it is cancelled there."""
        self.start()
        seconds = self.spec.call_seconds or self._limits.call

        def told(done: float, total: float | None, message: str | None) -> None:
            figures = f"{done:g}/{total:g}" if total else f"{done:g}"
            progress(f"{figures} {message[:500]}" if message else figures)

        for last in (False, True):
            await self._ready()
            try:
                called = await self._client().call(
                    self.spec.name, tool, args, seconds=seconds, progress=told
                )
                return await asyncio.to_thread(_outcome, called, self.spec.name, tool, images)
            except GatewayError as error:
                # A gateway that was started anew does not know us yet: nothing was done.
                if last or error.status not in (401, 404) or self._knows(tool, error):
                    raise self._failure(tool, seconds, error) from error
                self._lost()
            except WorkspaceError as error:
                self._lost()
                raise self._died(tool) from error
        raise AssertionError("unreachable")

    def _knows(self, tool: str, error: GatewayError) -> bool:
        return error.status == 404 and error.detail.startswith("Tool ")

    def _lost(self) -> None:
        """The gateway does not know us: begin again."""
        if self._work is not None:
            self._work.cancel()
        self._work, self._there = None, False
        self.start()

    async def ready(self) -> None:
        """As ``Connection.ready``: its machine is woken, its gateway and it are started."""
        self.start()
        await self._ready()
        if self.status.state == "failed":
            await self._kick()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._limits.wait):
                while self.status.state in ("starting", "waiting"):
                    await self._moved.wait()
        if self.status.state != "ok":
            raise self._not_running()

    async def _ready(self) -> None:
        """Until the gateway tells of the server: one that does not run there is tried again by the
        call itself. A gateway that gave up is tried again here, and when it gives up once more the
        call need not wait on."""
        self._wanted += 1
        self._again.set()
        if self.status.state == "failed" and not self._there:
            self._wait(self.status.code, self.status.params)
        try:
            async with asyncio.timeout(self._limits.wait):
                while not self._there or self.status.state == "starting":
                    if self.status.state == "failed":
                        break
                    await self._moved.wait()
        except TimeoutError:
            pass
        finally:
            self._wanted -= 1
        if not self._there or self.status.state == "starting":
            raise self._not_running()

    def _not_running(self) -> ToolFailure:
        now = self.status
        return not_running(self.spec.name, now.state, now.code, now.params)

    def _died(self, tool: str) -> ToolFailure:
        return died(self.spec.name, tool, ended=self._work is None)

    def _failure(self, tool: str, seconds: float, error: GatewayError) -> ToolFailure:
        name, detail = self.spec.name, error.detail
        if error.status == 504:
            return ToolFailure(
                "mcp.timeout",
                f"The MCP server {name!r} gave no answer within {seconds:g} seconds. The "
                "call was cancelled; what it had done by then stays done.",
                name=name,
                seconds=seconds,
            )
        if error.status == 503:
            text = f"The MCP server {name!r} is not running: {detail}"
            return ToolFailure("mcp.not_running", text, retryable=True, name=name)
        if error.status == 500:
            return self._died(tool)
        text = f"The MCP server {name!r} refused {tool!r}: {detail}"
        return ToolFailure("mcp.refused", text, name=name, detail=detail[:300])


def declaration(spec: ServerSpec) -> dict[str, Any]:
    """A server as AgentScope's gateway takes it (its MCPClient as JSON)."""
    config: dict[str, Any]
    if spec.transport == "stdio":
        config = {
            "type": "stdio_mcp",
            "command": spec.command[0],
            "args": list(spec.command[1:]),
            "env": spec.env or None,
            "cwd": spec.cwd,
            "encoding_error_handler": spec.errors,
        }
    else:
        way: Literal["sse", "streamable_http"] = (
            "sse" if spec.transport == "sse" else "streamable_http"
        )
        config = {
            "type": "http_mcp",
            "transport": way,
            "url": spec.url,
            "headers": spec.headers or None,
            "timeout": spec.http_seconds,
        }
    return {"name": spec.name, "is_stateful": True, "mcp_config": config}


def _dicts(value: Any) -> list[dict[str, Any]]:
    found = cast(list[Any], value) if isinstance(value, list) else []
    return [cast(dict[str, Any], one) for one in found if isinstance(one, dict)]


def _pairs(value: Any) -> list[list[Any]]:
    found = cast(list[Any], value) if isinstance(value, list) else []
    lists = [cast(list[Any], one) for one in found if isinstance(one, list)]
    return [one for one in lists if len(one) == 2]


def remote(tool: dict[str, Any]) -> RemoteTool:
    """A tool as the gateway dumps it (camelCase)."""
    hints: Any = tool.get("annotations")
    given = cast(dict[str, Any], hints) if isinstance(hints, dict) else {}
    schema: Any = tool.get("inputSchema")
    return RemoteTool(
        str(tool.get("name", "")),
        str(tool.get("description") or tool.get("title") or ""),
        cast(dict[str, Any], schema) if isinstance(schema, dict) else {"type": "object"},
        given.get("readOnlyHint") is True,
        given.get("idempotentHint") is True,
    )


def _outcome(called: Called, server: str, tool: str, images: bool) -> ToolOutcome:
    """In a thread: the protocol's models take a while to load."""
    from desktop_app.core.mcp.results import outcome_of

    if called.result is not None:
        from mcp_types import CallToolResult

        return outcome_of(CallToolResult.model_validate(called.result), images=images)
    blocks = cast(list[dict[str, Any]], called.chunk.get("content") or [])
    text = "\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
    detail = text or "it gave no reason"
    raise ToolFailure(
        "mcp.refused",
        f"The MCP server {server!r} refused {tool!r}: {detail}",
        name=server,
        detail=detail[:300],
    )


def _why(error: WorkspaceError) -> tuple[str, dict[str, Any]]:
    if error.code == ASLEEP:
        return ASLEEP, dict(error.params)
    detail = str(error.params.get("detail") or error.code)
    return "mcp.failed", {"detail": detail[-500:]}
