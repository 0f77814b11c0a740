"""The gateway's HTTP side. Routes and bodies are those of AgentScope's gateway (2.0.11), so that
its services can use this one; what is more is marked.

    GET    /health                      "ok", with a nonce {"status", "instance_nonce"}
    GET    /mcps                        the declarations of (agent_id, session_id)
    POST   /mcps                        add and connect; ?keep=1 (more): supervise whether or not
    DELETE /mcps/{name}
    PUT    /mcps/{name}/runtime-headers
    GET    /mcps/{name}/tools           camelCase, cached; asked anew only when the server says so
    POST   /mcps/{name}/tools/{tool}    {"arguments", "timeout" (more)} -> {"chunk"}
    GET    /mcps/{name}/status          (more) state, why, standard error
    GET    /mcps/{name}/watch           (more) a line of status and tools now and at each change
    POST   /mcps/{name}/restart         (more)

A call with ``Accept: application/x-ndjson`` (more) streams lines: ``{"progress": [done, total,
message]}`` as they come, at last ``{"chunk", "result"}`` or ``{"error", "status"}``. When the
caller goes away, the call is cancelled upstream.
"""

# pyright: basic

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hmac
import json
import os
import socket
import sys

import uvicorn
from mcp.shared.exceptions import MCPError
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from .chunks import chunk, failed
from .tasks import Tasks  # pyright: ignore[reportMissingImports] - packed beside this one
from .upstream import Upstream, reason

TOKEN = "SLIPWAY_GATEWAY_TOKEN"
CALL = 300.0  # seconds of a call whose caller named no limit
WAIT = 20.0  # a call waits so long for a server that is starting


class Refused(Exception):
    def __init__(self, status, detail):
        super().__init__(detail)
        self.status, self.detail = status, detail


class Gateway:
    def __init__(self, token, nonce, workdir):
        self.token, self.nonce, self.workdir = token, nonce, workdir
        self.servers = {}
        self.tasks = Tasks(lambda name, error: None)  # who waits for a call hears how it failed

    # -- routes ----------------------------------------------------------------------------------

    def app(self):
        one = "/mcps/{name}"
        table = [
            ("GET", "/health", self.health),
            ("GET", "/mcps", self.list),
            ("POST", "/mcps", self.add),
            ("DELETE", one, self.remove),
            ("PUT", f"{one}/runtime-headers", self.headers),
            ("GET", f"{one}/tools", self.tools),
            ("POST", f"{one}/tools/{{tool:path}}", self.call),
            ("GET", f"{one}/status", self.status),
            ("GET", f"{one}/watch", self.watch),
            ("POST", f"{one}/restart", self.restart),
        ]
        routes = [Route(path, self.guarded(work), methods=[verb]) for verb, path, work in table]
        return Starlette(routes=routes, lifespan=self.lifespan)

    @contextlib.asynccontextmanager
    async def lifespan(self, _app):
        yield
        await asyncio.gather(*(server.stop() for server in self.servers.values()))

    def guarded(self, work):
        async def guarded(request):
            if work != self.health and self.token:  # who has no token yet may ask for its health
                given = request.headers.get("authorization", "")
                if not hmac.compare_digest(given.encode(), f"Bearer {self.token}".encode()):
                    return PlainTextResponse("invalid gateway token", 401)
            try:
                return await work(request)
            except Refused as error:
                return JSONResponse({"detail": error.detail}, error.status)

        return guarded

    def key(self, request, name):
        query = request.query_params
        return query.get("agent_id", ""), query.get("session_id", ""), name

    def server(self, request):
        agent, session, name = key = self.key(request, request.path_params["name"])
        if key not in self.servers:
            raise Refused(404, f"{name!r} not found for agent={agent!r} session={session!r}")
        return self.servers[key]

    async def health(self, _request):
        if self.nonce:
            return JSONResponse({"status": "ok", "instance_nonce": self.nonce})
        return PlainTextResponse("ok")

    async def list(self, request):
        wanted = self.key(request, "")[:2]
        found = [s.declared for key, s in self.servers.items() if key[:2] == wanted]
        return JSONResponse(found)

    async def add(self, request):
        declared = await body_of(request)
        name = declared.get("name")
        if not isinstance(name, str) or not name:
            raise Refused(400, "name required")
        config = declared.get("mcp_config")
        if not isinstance(config, dict) or not (config.get("command") or config.get("url")):
            raise Refused(400, "mcp_config needs a command or a url")
        agent, session, _ = key = self.key(request, name)
        if key in self.servers:
            raise Refused(409, f"{name!r} already exists for agent={agent!r} session={session!r}")
        headers = declared.pop("runtime_headers", None)
        if isinstance(headers, dict):
            declared = with_headers(declared, headers)
        server = self.servers[key] = Upstream(declared, self.workdir)
        if request.query_params.get("keep"):
            return JSONResponse({"ok": True})
        await server.settled(60)
        if server.state != "ok":
            why = server.detail or "no answer"  # stopping it leaves none
            del self.servers[key]
            await server.stop()
            raise Refused(500, f"connect failed: {why}")
        return JSONResponse({"ok": True})

    async def remove(self, request):
        server = self.server(request)
        del self.servers[self.key(request, server.name)]
        await server.stop()
        return JSONResponse({"ok": True})

    async def headers(self, request):
        server = self.server(request)
        headers = (await body_of(request)).get("headers")
        if not isinstance(headers, dict):
            raise Refused(400, "headers must be a JSON object")
        if "url" not in server.declared["mcp_config"]:
            raise Refused(400, "Runtime headers require a Streamable HTTP MCP client.")
        server.declared = with_headers(server.declared, headers)
        server.kick()
        return Response(status_code=204)

    async def tools(self, request):
        server = self.server(request)
        await server.settled(WAIT)
        if server.state != "ok":
            raise Refused(500, server.detail or "it is not running")
        return JSONResponse(server.tools)

    async def status(self, request):
        return JSONResponse(self.server(request).status())

    async def watch(self, request):
        server = self.server(request)

        async def lines():
            while True:
                moved = server.moved
                line = {**server.status(), "listed": server.tools}
                yield json.dumps(line, ensure_ascii=False).encode() + b"\n"
                if server.state == "stopped":
                    return
                await moved.wait()

        return StreamingResponse(lines(), media_type="application/x-ndjson")

    async def restart(self, request):
        self.server(request).kick()
        return JSONResponse({"ok": True})

    # -- calls -----------------------------------------------------------------------------------

    async def call(self, request):
        server, tool = self.server(request), request.path_params["tool"]
        body = await body_of(request)
        arguments = body.get("arguments") or {}
        if not isinstance(arguments, dict):
            raise Refused(400, "arguments must be a JSON object")
        seconds = body.get("timeout")
        seconds = float(seconds) if isinstance(seconds, int | float) and seconds > 0 else CALL
        await server.settled(WAIT)
        if server.tools and all(one["name"] != tool for one in server.tools):
            raise Refused(404, f"Tool {tool!r} not found in MCP server {server.name!r}")
        if "application/x-ndjson" in request.headers.get("accept", ""):
            lines = self.lines(server, tool, arguments, seconds)
            return StreamingResponse(lines, media_type="application/x-ndjson")
        result = self.result(server, tool, arguments, seconds, None)
        work = self.tasks.start(result, name="call")
        gone = self.tasks.start(until_gone(request), name="watch the caller")
        try:
            await asyncio.wait([work, gone], return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise Refused(499, "the caller went away")
            return JSONResponse({"chunk": (await work)["chunk"]})
        finally:
            gone.cancel()
            work.cancel()
            await asyncio.wait([work, gone])

    async def result(self, server, tool, arguments, seconds, progress):
        try:
            async with asyncio.timeout(seconds):
                client = await server.ready(WAIT)
                result = await client.call_tool(
                    tool, arguments, progress_callback=progress, read_timeout_seconds=86400.0
                )
        except TimeoutError:
            raise Refused(504, f"no answer within {seconds:g} seconds") from None
        except ConnectionError as error:
            raise Refused(503, f"{server.name!r} is not running: {error}") from None
        except MCPError as error:
            if error.code == -32000 or "closed" in str(error.message).lower():
                raise Refused(500, str(error.message)) from None
            return {"chunk": failed(str(error.message)), "result": None, "refused": error.code}
        except (RuntimeError, ValueError) as error:
            raise Refused(502, f"an answer that cannot be used: {error}"[:500]) from None
        dumped = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        return {"chunk": chunk(result), "result": dumped}

    async def lines(self, server, tool, arguments, seconds):
        queue = asyncio.Queue()

        async def progress(done, total, message):
            queue.put_nowait({"progress": [done, total, message]})

        async def work():
            try:
                last = await self.result(server, tool, arguments, seconds, progress)
            except Refused as error:
                last = {"error": error.detail, "status": error.status}
            except Exception as error:  # noqa: BLE001 - told to the caller
                last = {"error": reason(error), "status": 500}
            queue.put_nowait(last)

        task = self.tasks.start(work(), name="call")
        try:
            while True:
                item = await queue.get()
                yield json.dumps(item, ensure_ascii=False).encode() + b"\n"
                if "progress" not in item:
                    return
        finally:
            task.cancel()  # the caller went away: the SDK tells the server
            await asyncio.wait([task])


async def until_gone(request):
    while not await request.is_disconnected():  # noqa: ASYNC110 - the framework has no event
        await asyncio.sleep(0.1)


async def body_of(request):
    try:
        body = json.loads(await request.body() or b"{}")
    except ValueError:
        raise Refused(400, "the body is no JSON") from None
    if not isinstance(body, dict):
        raise Refused(400, "the body must be a JSON object")
    return body


def with_headers(declared, headers):
    config = dict(declared["mcp_config"])
    config["headers"] = {**(config.get("headers") or {}), **headers}
    return {**declared, "mcp_config": config}


def main():
    """``--port 0`` takes a free port; the first line on standard output names it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=5600)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--auth-token", default="")
    parser.add_argument("--instance-nonce", default="")
    parser.add_argument("--workdir", default="")
    parser.add_argument("--config", default="", help="taken and not read, as AgentScope does")
    options = parser.parse_args(sys.argv[1:])
    token = os.environ.pop(TOKEN, "") or options.auth_token
    gateway = Gateway(token, options.instance_nonce, options.workdir or os.getcwd())
    listening = socket.create_server((options.host, options.port), backlog=512)
    print(f"port {listening.getsockname()[1]}", flush=True)  # noqa: T201 - how the caller knows
    config = uvicorn.Config(
        gateway.app(), log_level="warning", interface="asgi3", timeout_graceful_shutdown=3
    )
    uvicorn.Server(config).run(sockets=[listening])
